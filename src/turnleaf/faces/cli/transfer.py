"""`import` and `export`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnleaf.core import jsonfacts, markdown
from turnleaf.core.drafts import Draft
from turnleaf.core.wording import counted
from turnleaf.errors import CorruptFile, InvalidInput, MemoryFull, NotFound
from turnleaf.faces.cli.arguments import as_json, decoded, piped, refuse_existing
from turnleaf.faces.cli.output import note, say, say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format
    from turnleaf.store.memories import MemoryStore

FORMATS: dict[str, Format] = {"json": jsonfacts, "markdown": markdown}
SUFFIXES = {".json": "json", ".md": "markdown", ".markdown": "markdown"}

format_option = click.option(
    "--format", "form", type=click.Choice(list(FORMATS)), help="If FILE's name does not tell."
)


@click.command("import")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, allow_dash=True))
@format_option
@click.option("--older", is_flag=True, help="Add them to the older facts, which no prompt carries.")
@as_json
@pass_place
def import_(place: Place, file: str, form: str | None, *, older: bool, as_json: bool) -> None:
    """Add the memories in FILE, a JSON array or Markdown bullets; - reads stdin.

    Ids, times, categories and origins are kept; what is there already is not added again.
    All are added, or none when they do not all fit.
    """
    text, time = _read(file)
    found = _parsed(file, text, form or SUFFIXES.get(Path(file).suffix.lower()), time)
    if not found:
        message = f"{file} holds no memories; it needs a JSON array or Markdown bullets"
        raise NotFound(message)
    added = place.memory.import_older(found) if older else _add(place, found)
    if as_json:
        say_json({"added": added, "alreadyThere": len(found) - added})
    else:
        say(f"{added} added, {len(found) - added} there already")


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@format_option
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@click.option("--older", is_flag=True, help="Write the older facts instead.")
@pass_place
def export(place: Place, file: str | None, form: str | None, *, force: bool, older: bool) -> None:
    """Write all memories to FILE, or to stdout, as JSON or as Markdown.

    turnleaf import reads both, with every id, time, category and origin.
    """
    if file is not None:
        _check_target(file, place.memory, force=force)
    wanted = form or SUFFIXES.get(Path(file or "").suffix.lower(), "json")
    found = place.memory.older() if older else place.memory.get_all()
    text = rendered(found, FORMATS[wanted]) if older else _rendered(place.memory, wanted)
    data = text.encode()
    if file is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    files.write(files.real(file), data)
    note(f"wrote {counted(len(found), 'memory')} to {file}")


def _read(file: str) -> tuple[str, datetime]:
    if file == "-":
        return piped(), datetime.now(UTC)
    # The path as it was given: what it leads to may be a pipe, which has no name of its own.
    path = Path(file)
    files.check_size(path, path.stat().st_size)
    return decoded(path.read_bytes(), file), files.modified(path)


def _parsed(file: str, text: str, form: str | None, time: datetime) -> list[Memory]:
    guess = "json" if text.lstrip().startswith(("[", "{")) else "markdown"
    try:
        page = FORMATS[form or guess].parse(text, time)
    except CorruptFile as error:
        message = f"{file} cannot be imported: {error}"
        raise CorruptFile(message) from error
    return [fact.memory for fact in page.facts]


def _add(place: Place, found: Sequence[Memory]) -> int:
    try:
        return place.memory.import_memories(found)
    except MemoryFull as error:
        present = place.memory.get_all()
        fit = "does not fit" if len(found) == 1 else "do not fit"
        message = (
            f"nothing was imported: {counted(len(found), 'memory')} {fit} "
            f"beside the {len(present)} there; {error}"
        )
        raise MemoryFull(message) from error


def _rendered(store: MemoryStore, form: str) -> str:
    if form == SUFFIXES[store.location.suffix]:
        return store.text()
    return rendered(store.get_all(), FORMATS[form])


def rendered(memories: Sequence[Memory], kind: Format) -> str:
    """Write a file of these facts."""
    draft = Draft(kind, kind.EMPTY, datetime.now(UTC))
    draft.insert_all(memories, "import")
    return draft.text


def _check_target(file: str, store: MemoryStore, *, force: bool) -> None:
    if Path(file).exists() and not Path(file).is_file():
        message = f"{file} is a device or a pipe; leave it out to write to stdout"
        raise InvalidInput(message)
    if files.real(file) == store.location:
        message = f"{file} is the memory itself; choose another file"
        raise InvalidInput(message)
    refuse_existing(file, force=force)
