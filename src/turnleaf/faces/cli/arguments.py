"""Arguments of the commands: the workspace, text from arguments or a pipe, IDs, confirmations."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnleaf.core.serialization import is_text
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.output import flatten, localize, note
from turnleaf.llm.embeddings import use_settings
from turnleaf.store.contracts import Stores
from turnleaf.store.opening import find_folder, open_config

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turnleaf.settings import DataFolder, Settings
    from turnleaf.store.contracts import Config, Conversations, Facts, Passages

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
yes = click.option("-y", "--yes", is_flag=True, help="Do not ask for confirmation.")
force = click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")


class Workspace:
    """Where this run reads and writes; everything in it is opened when first needed."""

    def __init__(self, data_dir: str | None = None, space: str | None = None) -> None:
        self.data_dir = data_dir
        self.space = space

    @cached_property
    def folder(self) -> DataFolder:
        """The operator's own folder, or the part of it that the space has."""
        return find_folder(self.data_dir, self.space)

    @cached_property
    def stores(self) -> Stores:
        """Everything in it."""
        return Stores.open(self.data_dir, space=self.space)

    @cached_property
    def config(self) -> Config:
        """The settings that can be changed there, also where nothing else can be opened."""
        return open_config(self.data_dir)

    @cached_property
    def settings(self) -> Settings:
        """The settings that hold there."""
        return self.config.load()

    @cached_property
    def memory(self) -> Facts:
        """The live long-term memory; the folder of the daily log is made with its own."""
        if not self.stores.facts.exists():
            self.stores.daily.init()
        return self.stores.facts

    @cached_property
    def conversations(self) -> Conversations:
        """The conversations, with what an older version kept elsewhere."""
        taken = self.stores.take_over_older()
        if taken:
            note(taken)
        return self.stores.conversations

    @cached_property
    def index(self) -> Passages:
        """The search, as the settings want it, with what an older version kept elsewhere."""
        _ = self.conversations
        use_settings(self.stores.passages, self.settings)
        return self.stores.passages


pass_workspace = click.make_pass_decorator(Workspace)


class TextType(click.ParamType[str]):
    """Text in UTF-8, also where the locale made Python take the arguments for something else."""

    name = "text"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - click's signature
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """Return the text that was typed."""
        text = str(value)
        try:
            return text if is_text(text) else os.fsencode(text).decode()
        except UnicodeError:
            self.fail(f"{text!a:.80} is not UTF-8; convert the text and pipe it in", param, ctx)


TEXT = TextType()


def take_text(words: Sequence[str]) -> str:
    """Join the words, or read what was piped in."""
    if words and list(words) != ["-"]:
        return " ".join(words)
    if not words and sys.stdin.isatty():
        message = "no text was given; add it to the command, or pipe it in"
        raise click.UsageError(message, click.get_current_context())
    return read_piped().rstrip("\r\n")


def read_piped() -> str:
    """Read all of stdin."""
    return decode(sys.stdin.buffer.read(), "standard input")


def decode(data: bytes, what: str) -> str:
    """Decode UTF-8; the error names the first byte that is not."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{what} is not UTF-8 at byte {error.start}; convert it first, e.g. with iconv"
        raise InvalidInput(message) from None


def refuse_existing(file: str, *, force: bool) -> None:
    """Raise InvalidInput if the file exists, unless `force` allows to overwrite it."""
    if Path(file).exists() and not force:
        message = f"{file} exists; choose another name, or overwrite it with --force"
        raise InvalidInput(message)


def is_attended() -> bool:
    """Whether somebody is there to answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def ask(question: str) -> str:
    """Ask on the terminal; the end of the input is the empty answer."""
    sys.stdout.flush()
    sys.stderr.write(f"{localize(question)} ")
    sys.stderr.flush()
    answer = sys.stdin.readline()
    if not answer:
        note("")
    return answer.strip()


def ask_yes(question: str, instead: str) -> bool:
    """Whether the person confirms; `instead` is the error where nobody can be asked."""
    if not is_attended():
        raise InvalidInput(instead)
    if ask(f"{question} [y/N]").casefold() in {"y", "yes"}:
        return True
    note("Nothing was changed.")
    return False


def confirm(question: str, instead: str) -> None:
    """End the command unless a person says yes."""
    if not ask_yes(question, instead):
        click.get_current_context().exit(1)


def find_id(wanted: str, ids: Iterable[str]) -> str:
    """Return the ID that equals or, alone, begins with what was typed."""
    known = set(ids)
    found = [wanted] if wanted in known else [one for one in known if one.startswith(wanted)]
    if not found or not wanted:
        message = f'no fact has the ID "{flatten(wanted)}"; list them with turnleaf memories'
        raise NotFound(message)
    if len(found) > 1:
        message = f'{len(found)} IDs begin with "{flatten(wanted)}"; type more of it'
        raise InvalidInput(message)
    return found[0]
