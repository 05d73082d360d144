"""`edit`."""

from __future__ import annotations

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from turnleaf.core.memories import Memory, to_json
from turnleaf.errors import InvalidInput, NotFound, StorageError, TurnleafError
from turnleaf.faces.cli.arguments import TEXT, as_json, full_id, given_text
from turnleaf.faces.cli.output import note, one_line, say, say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.store import files

MAX_NAME_CHARS = 40


@click.command()
@click.argument("memory_id", metavar="ID", type=TEXT)
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=TEXT)
@as_json
@pass_place
def edit(place: Place, memory_id: str, words: tuple[str, ...], *, as_json: bool) -> None:
    """Change the memory with this ID to TEXT; with - to what is piped in.

    Without TEXT it opens in your editor ($VISUAL or $EDITOR). If the memory was changed by
    somebody else meanwhile, nothing is overwritten and your text is kept in a file.
    """
    known = {memory.id: memory for memory in place.memory.get_all()}
    old = known[full_id(memory_id, known)]
    text = given_text(words) if words else _from_editor(place, old)
    new = old
    if text == old.content:
        note("Nothing was changed.")
    else:
        new = _updated(place, old, text) if words else _kept_on_failure(place, old, text)
    if as_json:
        say_json(to_json(new))
    elif new != old:
        say(f"changed {one_line(new.id)}: {one_line(new.content)}")


def _from_editor(place: Place, old: Memory) -> str:
    ends_line = old.content.endswith("\n")
    typed = click.edit((old.content if ends_line else f"{old.content}\n").encode(), extension=".md")
    if typed is None:
        return old.content
    try:
        text = typed.decode()
    except UnicodeDecodeError:
        kept = _kept(place, old.id, typed)
        message = f"your editor did not save UTF-8; your text was kept in {kept}, convert it"
        raise InvalidInput(message) from None
    return text if ends_line else text.removesuffix("\n")


def _updated(place: Place, old: Memory, text: str) -> Memory:
    new = place.memory.update(old.id, text, expected=old.content)
    if new is None:
        message = f"the memory {old.id} was forgotten meanwhile; turnleaf remember adds it anew"
        raise NotFound(message)
    return new


def _kept_on_failure(place: Place, old: Memory, text: str) -> Memory:
    try:
        return _updated(place, old, text)
    except TurnleafError:
        if text.strip():
            note(f"Your text was kept in {_kept(place, old.id, text.encode())}")
        raise


def _kept(place: Place, memory_id: str, data: bytes) -> Path:
    harmless = re.sub(r"[^\w-]", "_", memory_id)[:MAX_NAME_CHARS]
    name = f"unsaved-{harmless}-{datetime.now(UTC):%Y%m%dT%H%M%S.%fZ}.md"
    path = place.folder.path / name
    try:
        files.write(path, data)
    except StorageError:
        path = Path(tempfile.mkdtemp(prefix="turnleaf-")) / name
        files.write(path, data)
    return path
