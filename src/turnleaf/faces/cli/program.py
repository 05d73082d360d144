"""The program around the commands: finds the one asked for, turns errors into exit codes."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

import click
from click.formatting import wrap_text
from click.shell_completion import CompletionItem, get_completion_class, shell_complete

from turnleaf import __version__
from turnleaf.errors import InvalidInput, NotFound, StorageError, TurnleafError
from turnleaf.faces.cli import COMMANDS, COMPLETION_VARIABLE, FAILED, make_overview
from turnleaf.faces.cli.arguments import Workspace
from turnleaf.faces.cli.output import complain, flatten, localize, note, show_warnings
from turnleaf.store.opening import check_argument

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

SUGGESTION = re.compile(r"\. \(?Did you mean ([^)]*)\)?$")
PLACEHOLDER = re.compile(r"[A-Z]{2,}(?: RANGE)?")
FILLER = "\0"
WRONG_USAGE = 2
NOTHING_MATCHED = 3

SILENT = {"completion", "doctor", "import"}
"""Commands that do not mention facts of an older version that were not imported."""

INSTALL = {
    "bash": 'add this line to ~/.bashrc:\n#   eval "$(turnleaf completion bash)"',
    "zsh": 'add this line to ~/.zshrc, after compinit:\n#   eval "$(turnleaf completion zsh)"',
    "fish": "run this once:\n"
    "#   turnleaf completion fish > ~/.config/fish/completions/turnleaf.fish",
}

TABLE = {name: row for section in COMMANDS.values() for name, row in section.items()}


class Program(click.Group):
    """A group that imports a command's module when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the commands in the order of the help."""
        return list(TABLE)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command."""
        if cmd_name not in TABLE:
            return super().get_command(ctx, cmd_name)
        module, function, _ = TABLE[cmd_name]
        command: click.Command = getattr(import_module(f"turnleaf.faces.cli.{module}"), function)
        for one in command.commands.values() if isinstance(command, click.Group) else ():
            # Click cuts a sentence that is longer than a line; a cut one has no translation.
            one.short_help = one.get_short_help_str(sys.maxsize)
        return command

    def get_help(self, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        """Return the same text that the quick way to --help prints."""
        return make_overview().rstrip("\n")

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem[Any]]:
        """Complete commands without importing them, as the inherited method would."""
        names = [name for name in TABLE if name.startswith(incomplete)]
        commands = [CompletionItem(name, help=localize(TABLE[name][2])) for name in names]
        return commands + click.Command.shell_complete(self, ctx, incomplete)


class LocalizedHelp(click.HelpFormatter):
    """Writes help in the terminal's language; a text is translated paragraph by paragraph."""

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how a command is called."""
        super().write_usage(prog, _localize_names(args), prefix or localize("Usage: "))

    def write_heading(self, heading: str) -> None:
        """Write the heading of a section."""
        self.write(f"{'':>{self.current_indent}}{localize(f'{heading}:')}\n")

    def write_text(self, text: str) -> None:
        """Write the description of a command."""
        said = "\n\n".join(map(_localize_paragraph, text.split("\n\n")))
        indent = " " * self.current_indent
        wrapped = wrap_text(said, self.width, indent, indent, preserve_paragraphs=True)
        self.write(f"{wrapped}\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write options or commands with their descriptions."""
        said = [(_widen(_localize_names(name)), _localize_meaning(text)) for name, text in rows]
        super().write_dl(said, col_max, col_spacing)
        self.buffer = [piece.replace(FILLER, "") for piece in self.buffer]


def _localize_names(text: str) -> str:
    """Translate the names of what is to be typed, such as `[TEXT]...`."""
    return PLACEHOLDER.sub(lambda match: localize(match[0]), text)


def _widen(text: str) -> str:
    """Put a filler after each wide character, which click would count as one column."""
    return "".join(char + FILLER * (east_asian_width(char) in "WF") for char in text)


def _localize_meaning(meaning: str) -> str:
    """Translate a description and, apart from it, what click adds in brackets."""
    text, gap, extra = meaning.partition("  [")
    return f"{localize(text)}  {localize(f'[{extra}')}" if gap else localize(text)


def _localize_paragraph(paragraph: str) -> str:
    line = " ".join(paragraph.split())
    said = localize(line)
    # A translation has its own line breaks: click would count each wide character as one column.
    return paragraph if said == line else f"\b\n{said}"


# Set for all contexts, because the commands of a group make their own.
click.Context.formatter_class = LocalizedHelp


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--data-dir",
    metavar="DIR",
    help="Use this data folder, or this postgresql:// address.",
    shell_complete=lambda *given: [CompletionItem(given[-1], type="dir")],
)
@click.option("--space", metavar="NAME", help="Use this space of the data folder (TURNLEAF_SPACE).")
@click.version_option(__version__, message="turnleaf %(version)s")
@click.pass_context
def program(ctx: click.Context, data_dir: str | None, space: str | None) -> None:
    """Find the data folder for the command that follows."""
    if data_dir == "":
        message = "--data-dir is empty; give a folder, or leave out the option"
        raise InvalidInput(message)
    check_argument(data_dir)
    try:
        Path.cwd()
    except FileNotFoundError:
        message = "the current folder no longer exists; change to another one (cd) and try again"
        raise StorageError(message) from None
    ctx.obj = Workspace(data_dir, space)
    if ctx.invoked_subcommand not in SILENT:
        _mention_unimported(ctx.obj)


def _mention_unimported(workspace: Workspace) -> None:
    # The command itself says what is wrong with them, and may change the settings that it reads.
    with suppress(TurnleafError, OSError):
        notice = workspace.stores.find_unimported()
        if notice:
            note(f"note: {notice}")


@click.command()
@click.argument("shell", type=click.Choice(list(INSTALL)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    \b
    bash: eval "$(turnleaf completion bash)"     in ~/.bashrc
    zsh:  eval "$(turnleaf completion zsh)"      in ~/.zshrc, after compinit
    fish: turnleaf completion fish > ~/.config/fish/completions/turnleaf.fish
    """  # noqa: D301 - click reads the character, not its name
    kind = get_completion_class(shell)
    if kind is None:  # pragma: no cover - the choices above are click's own
        raise click.UsageError(shell)
    script = kind(ctx.find_root().command, {}, "turnleaf", COMPLETION_VARIABLE).source()
    sys.stdout.write(f"# To enable completion in {shell}, {INSTALL[shell]}\n{script}\n")


def run(arguments: Sequence[str]) -> int:
    """Run the command and return its exit code; errors go to stderr."""
    if COMPLETION_VARIABLE in os.environ:
        return _complete(os.environ[COMPLETION_VARIABLE])
    with show_warnings():
        return report_errors(lambda: _run(list(arguments)))


def _complete(request: str) -> int:
    try:
        return shell_complete(program, {}, "turnleaf", COMPLETION_VARIABLE, request)
    except (KeyError, ValueError):
        complain(f"{COMPLETION_VARIABLE} is set, but not by a shell's completion; unset it")
        return WRONG_USAGE


def _run(arguments: list[str]) -> None:
    with program.make_context("turnleaf", arguments) as ctx:
        program.invoke(ctx)


def report_errors(work: Callable[[], object]) -> int:
    """Do something and return the exit code for it; errors go to stderr."""
    try:
        work()
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        note(error.format_message())
        return error.exit_code
    except click.ClickException as error:
        complain(_describe_misuse(error))
        return error.exit_code
    except TurnleafError as error:
        complain(str(error))
        return _choose_code(error)
    except OSError as error:
        if error.filename is None:  # Then it is the output that cannot be written.
            raise
        complain(f"{error.filename}: {error.strerror}")
        return FAILED
    return 0


def _choose_code(error: TurnleafError) -> int:
    if isinstance(error, NotFound):
        return NOTHING_MATCHED
    return WRONG_USAGE if isinstance(error, InvalidInput) else FAILED


def _describe_misuse(error: click.ClickException) -> str:
    message = flatten(error.format_message()).rstrip(".")
    message = message[:1].lower() + message[1:].replace(". Choose from:", "; choose from:")
    if isinstance(error, click.MissingParameter):
        message = _localize_names(message)
    elif isinstance(error, click.BadParameter):
        # What follows may be the person's own words.
        place, colon, problem = message.partition(": ")
        message = f"{_localize_names(place)}{colon}{problem}"
    if suggestion := SUGGESTION.search(message):
        return f"{message[: suggestion.start()]}; did you mean {suggestion[1]}"
    if isinstance(error, click.NoSuchOption):
        return f"{message}; {_advise(error)}"
    if isinstance(error, click.UsageError) and error.ctx is not None:
        return f"{message}; see {error.ctx.command_path} --help"
    return message


def _advise(error: click.NoSuchOption) -> str:
    if error.option_name == "--data-dir":
        return "put --data-dir before the command: turnleaf --data-dir DIR COMMAND"
    return 'put text that begins with "-" after "--"'
