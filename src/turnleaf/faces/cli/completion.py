"""`completion`."""

from __future__ import annotations

import sys

import click
from click.shell_completion import get_completion_class

from turnleaf.faces.cli import COMPLETION_VARIABLE

INSTALL = {
    "bash": 'add this line to ~/.bashrc:\n#   eval "$(turnleaf completion bash)"',
    "zsh": 'add this line to ~/.zshrc, after compinit:\n#   eval "$(turnleaf completion zsh)"',
    "fish": "run this once:\n"
    "#   turnleaf completion fish > ~/.config/fish/completions/turnleaf.fish",
}


@click.command()
@click.argument("shell", type=click.Choice(list(INSTALL)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes commands and options in your SHELL.

    \b
    bash: eval "$(turnleaf completion bash)"     in ~/.bashrc
    zsh:  eval "$(turnleaf completion zsh)"      in ~/.zshrc, after compinit
    fish: turnleaf completion fish > ~/.config/fish/completions/turnleaf.fish
    """  # noqa: D301 - click reads the character, not its name
    made = get_completion_class(shell)
    if made is None:  # pragma: no cover - the choices above are click's own
        raise click.UsageError(shell)
    script = made(ctx.find_root().command, {}, "turnleaf", COMPLETION_VARIABLE).source()
    sys.stdout.write(f"# To complete turnleaf in {shell}, {INSTALL[shell]}\n{script}\n")
