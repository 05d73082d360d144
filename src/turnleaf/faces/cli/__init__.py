"""The command line.

`turnleaf --help` costs no more than the table below: click is imported when a command runs,
and a command's module when that command is asked for.
"""

import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

__all__ = ["COMMANDS", "main", "make_overview", "write_stderr"]

COMPLETION_VARIABLE = "_TURNLEAF_COMPLETE"
LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")
FAILED = 1
INTERRUPTED = 130
PIPE_CLOSED = 141

# Heading -> name -> (module, function, summary), in the order of the help.
COMMANDS = {
    "Talk": {
        "chat": ("chat", "chat", "Chat with the assistant."),
        "ask": ("answers", "ask", "Ask the assistant one question."),
        "serve": ("serve", "serve", "Serve the web page and the HTTP API."),
        "mcp": ("mcp", "mcp", "Serve the memory to Claude Code and other MCP clients."),
        "slack": ("slack", "slack", "Run the Slack bot."),
        "schedule": ("schedule", "schedule", "Run a prompt on a schedule."),
    },
    "Remember": {
        "remember": ("memories", "remember", "Remember a fact."),
        "memories": ("memories", "memories", "List the facts in memory."),
        "search": ("search", "search", "Search facts, daily notes and conversations."),
        "why": ("memories", "why", "Show where a fact came from and how it changed."),
        "edit": ("memories", "edit", "Edit a fact, here or in your editor."),
        "pin": ("memories", "pin", "Pin a fact, so that it is in every prompt."),
        "unpin": ("memories", "unpin", "Unpin a fact."),
        "forget": ("history", "forget", "Forget a fact, by ID or text."),
        "undo": ("memories", "undo", "Undo the last change."),
        "review": ("review", "review", "Accept or reject facts that are pending review."),
    },
    "Daily notes and conversations": {
        "log": ("memories", "log", "Add an entry to today's note."),
        "today": ("memories", "today", "Show today's note."),
        "history": ("history", "history", "List, show, rename, export or erase conversations."),
    },
    "Import, export and back up": {
        "import": ("transfer", "import_", "Import facts, or the history of another assistant."),
        "export": ("transfer", "export", "Export all facts as JSON or Markdown."),
        "backup": ("transfer", "backup", "Back up the data folder to one file."),
        "restore": ("transfer", "restore", "Restore a backup."),
        "copy": ("transfer", "copy", "Copy everything to another folder or database."),
    },
    "Set up": {
        "setup": ("models", "setup", "Choose the model that answers."),
        "models": ("models", "models", "List the available models."),
        "keys": ("models", "keys", "Set, list or remove the keys of model providers."),
        "doctor": ("installation", "doctor", "Check the installation and report problems."),
        "config": ("installation", "config", "Show or change settings."),
        "link": ("models", "link", "Print a link that lets a browser set models and keys."),
        "token": ("access_tokens", "token", "Create, list or revoke a server's access tokens."),
        "space": ("access_tokens", "space", "Show or set how much a space may use."),
        "reindex": ("search", "reindex", "Rebuild the search index."),
        "eval": ("search", "evaluate", "Measure search quality on a file of questions."),
        "db": ("installation", "db", "Set up a PostgreSQL database."),
        "completion": ("program", "completion", "Print the completion script for your shell."),
    },
}

OPENING = """\
Usage: turnleaf [--data-dir DIR] [--space NAME] COMMAND [ARGS]...

  A memory for AI assistants, in files you can read.

  Try: turnleaf remember "The living room lamp is called Ming"
"""

CLOSING = """\
Options:
  --data-dir DIR  Use this data folder, or this postgresql:// address.
  --space NAME    Use this space of the data folder (TURNLEAF_SPACE).
  --version       Show the version.
  -h, --help      Show this help, or the help of a command after its name.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    _open_missing_streams()
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal does not know must not end the command.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _abandon(sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as error:
        _abandon(sys.stdout.fileno())
        write_stderr(f"error: cannot write the output: {error.strerror}")
        return FAILED
    return code


def write_stderr(line: str) -> None:
    """Write a line to stderr; where that is closed, nobody wants to read it."""
    try:
        sys.stderr.write(f"{line}\n")
    except OSError:
        _abandon(sys.stderr.fileno())


def make_overview() -> str:
    """Return the help of the program as a whole, in the terminal's language."""
    localize = _find_localize()
    sections = (_make_section(heading, localize) for heading in COMMANDS)
    opening, closing = ("\n".join(map(localize, text.split("\n"))) for text in (OPENING, CLOSING))
    return "\n".join([opening, *sections, closing])


def _find_localize() -> Callable[[str], str]:
    """Return what translates a text; English needs no import for it."""
    locale = next(filter(None, map(os.environ.get, LOCALE)), "C")
    if locale.startswith(("C", "POSIX", "en_")):
        return str
    localize: Callable[[str], str] = import_module("turnleaf.faces.cli.output").localize
    return localize


def _open_missing_streams() -> None:
    """Point closed streams at the null device, before a file of ours gets their numbers."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: PTH123, SIM115 - pathlib is slow


def _abandon(descriptor: int) -> None:
    """Drop what is still buffered: it would fail again when the interpreter exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def _run(arguments: list[str]) -> int:
    # Without importing the commands, so that the help is there at once.
    if arguments in ([], ["-h"], ["--help"]) and COMPLETION_VARIABLE not in os.environ:
        sys.stdout.write(make_overview())
        return 0
    code: int = import_module("turnleaf.faces.cli.program").run(arguments)
    return code


def _make_section(heading: str, localize: Callable[[str], str]) -> str:
    rows = ((name, localize(summary)) for name, (_, _, summary) in COMMANDS[heading].items())
    lines = (f"  {name:<12}{summary}\n" for name, summary in rows)
    return f"{localize(f'{heading}:')}\n{''.join(lines)}"
