"""The facts of the long-term memory, one by one."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from turnleaf.core import jsonfacts, markdown
from turnleaf.core.lines import fact_lines
from turnleaf.errors import CorruptFile, NotFound
from turnleaf.faces.http.bodies import JSON_ONLY
from turnleaf.faces.http.given import Current, Given
from turnleaf.faces.http.problems import documented
from turnleaf.faces.http.shapes import Body, Fact, Shape, Words
from turnleaf.remembering import remember_fact
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path as Location

    from turnleaf.assistant import Assistant
    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format

router = APIRouter(prefix="/api/memory/facts", tags=["facts"], dependencies=[JSON_ONLY])

FORMATS: dict[str, Format] = {".json": jsonfacts, ".md": markdown}
Id = Annotated[str, Path(alias="id", examples=["k7m2q9x4vd"])]


class Capacity(Shape):
    """How much of the memory is used."""

    items: int
    max_items: int
    chars: int
    max_chars: int


class Facts(Shape):
    """Facts, and how much of the memory all of them take."""

    facts: list[Fact]
    capacity: Capacity


class NewFact(Body):
    """A fact to remember."""

    content: Words = Field(examples=["The living room lamp is called Ming", "客廳的燈叫做小明"])
    category: str | None = Field(default=None, examples=["Home", "家"])


class Added(Fact):
    """A fact that is remembered now, and those that made room for it."""

    displaced: list[Fact] = Field(default_factory=list)


class OtherWords(Body):
    """What a fact is to say; with `expected` only if it still says that."""

    content: Words = Field(examples=["The living room lamp is called Mei", "客廳的燈叫做小美"])
    expected: str | None = None


class Deleted(Shape):
    """A fact that was forgotten, and the change that `undo` takes back."""

    deleted: Fact
    change: int


@router.get("", operation_id="getFacts", summary="List the facts")
def get_facts(
    assistant: Given,
    category: Annotated[
        str | None, Query(description="Only those below this heading; empty: below none.")
    ] = None,
) -> Facts:
    """Give the facts in the file's order, and how much room is left."""
    known = read_facts(assistant)
    return Facts(
        facts=[one for one in known if category is None or (one.category or "") == category],
        capacity=capacity(assistant, [one.content for one in known]),
    )


@router.post(
    "",
    status_code=HTTPStatus.CREATED,
    operation_id="addFact",
    summary="Remember a fact",
    responses=documented(HTTPStatus.CONFLICT),
)
def add_fact(assistant: Current, fact: NewFact, response: Response) -> Added:
    """Add a fact at the end of its category; where there is no room, learned ones make it.

    Those that moved to the older facts for it are `displaced`. A memory that is full of other
    facts answers 409, in the language of the fact.
    """
    kept = remember_fact(assistant.memory, fact.content, fact.category)
    response.headers["Location"] = f"facts/{quote(kept.memory.id, safe='')}"
    added = _fact(assistant, kept.memory)
    return Added(**added.model_dump(), displaced=[Fact.of(one) for one in kept.displaced])


@router.get(
    "/{id:path}",
    operation_id="getFact",
    summary="Give a fact",
    responses=documented(HTTPStatus.NOT_FOUND),
)
def get_fact(assistant: Given, memory_id: Id) -> Fact:
    """Give the fact of that id."""
    found = next((one for one in read_facts(assistant) if one.id == memory_id), None)
    if found is None:
        raise _unknown()
    return found


@router.patch(
    "/{id:path}",
    operation_id="changeFact",
    summary="Let a fact say something else",
    responses=documented(HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT),
)
def change_fact(assistant: Current, memory_id: Id, words: OtherWords) -> Fact:
    """Change a fact in its place."""
    memory = assistant.memory.update(memory_id, words.content, expected=words.expected)
    if memory is None:
        raise _unknown()
    return _fact(assistant, memory)


@router.delete(
    "/{id:path}",
    operation_id="deleteFact",
    summary="Forget a fact",
    responses=documented(HTTPStatus.NOT_FOUND),
)
def delete_fact(assistant: Given, memory_id: Id) -> Deleted:
    """Forget a fact; `POST /api/memory/undo` with the change's number brings it back."""
    if not assistant.memory.delete(memory_id):
        raise _unknown()
    deletions = (one for one in assistant.memory.changes(memory_id) if one.op == "delete")
    *_, last = deletions
    assert last.before is not None  # noqa: S101 - what was deleted is on record
    return Deleted(deleted=Fact.of(last.before), change=last.n)


def read_facts(assistant: Assistant) -> list[Fact]:
    """Give the facts with the lines that they stand on, both of one and the same text."""
    memory = assistant.memory
    try:
        found = _facts_in(memory.snapshot()[0], memory.location)
    except CorruptFile:
        memory.get_all()  # That sets the file aside, and brings back what it held.
        found = _facts_in(memory.snapshot()[0], memory.location)
    ended = {one.id for one in memory.ended()}
    return [one for one in found if one.id not in ended]


def capacity(assistant: Assistant, contents: Sequence[str]) -> Capacity:
    """Tell how much of the memory some facts take."""
    settings = assistant.settings
    return Capacity(
        items=len(contents),
        max_items=settings.memory_max_items,
        chars=sum(map(len, contents)),
        max_chars=settings.memory_max_chars,
    )


def _fact(assistant: Assistant, memory: Memory) -> Fact:
    store = assistant.memory
    return Fact.of(memory, fact_lines(store.text(), store.location.name).get(memory.id))


def _facts_in(text: str, location: Location) -> list[Fact]:
    page = FORMATS[location.suffix].parse(text, files.modified(location))
    lines = fact_lines(text, location.name)
    return [Fact.of(one.memory, lines.get(one.memory.id)) for one in page.facts]


def _unknown() -> NotFound:
    return NotFound("no fact has that id; it may have been forgotten meanwhile, so list the facts")
