"""What the commands take: text from the arguments or from a pipe, and memories by their id."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.output import note, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
yes = click.option("-y", "--yes", is_flag=True, help="Do not ask.")


class TextType(click.ParamType[str]):
    """Text in UTF-8, also where the locale made Python take the arguments for something else."""

    name = "text"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Give the text that was typed."""
        text = str(value)
        try:
            text.encode()
        except UnicodeEncodeError:
            return self._decoded(text, param, ctx)
        return text

    def _decoded(self, text: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return os.fsencode(text).decode()
        except UnicodeError:
            self.fail(
                f"{text!a:.80} is not UTF-8; pipe the text in after converting it", param, ctx
            )


TEXT = TextType()


def given_text(words: Sequence[str]) -> str:
    """Join the words, or read what was piped in."""
    if words and list(words) != ["-"]:
        return " ".join(words)
    if not words and sys.stdin.isatty():
        message = "give the text, or pipe it in"
        raise click.UsageError(message, click.get_current_context())
    return piped().rstrip("\r\n")


def piped() -> str:
    """Read all of stdin."""
    return decoded(sys.stdin.buffer.read(), "what was piped in")


def decoded(data: bytes, what: str) -> str:
    """Read UTF-8, and say where it is not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{what} is not UTF-8 at byte {error.start}; convert it first, e.g. with iconv"
        raise InvalidInput(message) from None


def refuse_existing(file: str, *, force: bool) -> None:
    """Refuse a file that would be replaced, unless that is wanted."""
    if Path(file).exists() and not force:
        message = f"{file} exists; choose another name, or --force to replace it"
        raise InvalidInput(message)


def on_terminal() -> bool:
    """Tell whether somebody is there to answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """Ask on the terminal; the end of the input is the empty answer."""
    sys.stdout.flush()
    sys.stderr.write(f"{question} ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        note("")
    return answer.strip()


def full_id(wanted: str, ids: Iterable[str]) -> str:
    """Give the id that was meant: this one, or the only one that begins so."""
    known = set(ids)
    found = [wanted] if wanted in known else [one for one in known if one.startswith(wanted)]
    if not found or not wanted:
        message = f'no memory has the id "{one_line(wanted)}"; turnleaf memories lists them'
        raise NotFound(message)
    if len(found) > 1:
        message = f'{len(found)} ids begin with "{one_line(wanted)}"; give more of it'
        raise InvalidInput(message)
    return found[0]
