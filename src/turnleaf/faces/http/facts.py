"""The facts of the long-term memory: one by one, those that wait, and what was changed."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field, StrictBool, StrictInt

from turnleaf.core import changes, jsonfacts, markdown
from turnleaf.core.memories import to_json
from turnleaf.errors import NotFound
from turnleaf.faces.http.problems import document_problems
from turnleaf.faces.http.requests import JSON_ONLY, Current, Given, make_etag
from turnleaf.faces.http.schemas import (
    Body,
    ChangeView,
    FactView,
    JsonModel,
    Sourced,
    Words,
    describe_source,
)
from turnleaf.memory_commands import remember_fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turnleaf.assistant import Assistant
    from turnleaf.core.changes import Source
    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format

router = APIRouter(prefix="/api/memory/facts", tags=["facts"], dependencies=[JSON_ONLY])
pending_router = APIRouter(prefix="/api/memory/pending", tags=["memory"], dependencies=[JSON_ONLY])
changes_router = APIRouter(prefix="/api/memory", tags=["changes"], dependencies=[JSON_ONLY])

FORMATS: dict[str, Format] = {".json": jsonfacts, ".md": markdown}
MOST_CHANGES = 500
LEARNT = "learnt"
Id = Annotated[str, Path(alias="id", examples=["k7m2q9x4vd"])]


class Capacity(JsonModel):
    """How much of the memory is used."""

    items: int
    max_items: int
    chars: int
    max_chars: int


class Facts(JsonModel):
    """Facts, and how much of the memory all of them take."""

    facts: list[FactView]
    capacity: Capacity


class NewFact(Body):
    """A fact to remember."""

    content: Words = Field(examples=["The living room lamp is called Ming", "客廳的燈叫做小明"])
    category: str | None = Field(default=None, examples=["Home", "家"])


class Added(FactView):
    """A fact that is remembered now, and those that made room for it."""

    displaced: list[FactView] = Field(default_factory=list)


class OtherWords(Body):
    """What a fact is to say; with `expected` only if it still says that."""

    content: Words = Field(examples=["The living room lamp is called Mei", "客廳的燈叫做小美"])
    expected: str | None = None


class Deleted(JsonModel):
    """A fact that was forgotten, and the change that `undo` takes back."""

    deleted: FactView
    change: int


@router.get("", summary="List the facts")
def get_facts(
    assistant: Given,
    category: Annotated[
        str | None, Query(description="Only those below this heading; empty: below none.")
    ] = None,
) -> Facts:
    """Return the facts in the file's order, and how much room is left."""
    known = read_facts(assistant)
    return Facts(
        facts=[one for one in known if category is None or (one.category or "") == category],
        capacity=measure_capacity(assistant, [one.content for one in known]),
    )


@router.post(
    "", status_code=HTTPStatus.CREATED, summary="Remember a fact", responses=document_problems(409)
)
def add_fact(assistant: Current, fact: NewFact, response: Response) -> Added:
    """Add a fact at the end of its category; where there is no room, learned ones make it.

    Those that moved to the older facts for it are `displaced`. A memory that is full of other
    facts answers 409, in the language of the fact.
    """
    kept = remember_fact(assistant.memory, fact.content, fact.category)
    response.headers["Location"] = f"facts/{quote(kept.memory.id, safe='')}"
    added = _view_fact(assistant, kept.memory)
    return Added(**added.model_dump(), displaced=[FactView.of(one) for one in kept.displaced])


@router.get("/{id:path}", summary="Give a fact", responses=document_problems(404))
def get_fact(assistant: Given, memory_id: Id) -> FactView:
    """Return the fact of that id."""
    found = next((one for one in read_facts(assistant) if one.id == memory_id), None)
    if found is None:
        raise _make_unknown()
    return found


@router.patch(
    "/{id:path}", summary="Let a fact say something else", responses=document_problems(404, 409)
)
def change_fact(assistant: Current, memory_id: Id, words: OtherWords) -> FactView:
    """Change a fact in its place."""
    memory = assistant.memory.update(memory_id, words.content, expected=words.expected)
    if memory is None:
        raise _make_unknown()
    return _view_fact(assistant, memory)


@router.delete("/{id:path}", summary="Forget a fact", responses=document_problems(404))
def delete_fact(assistant: Given, memory_id: Id) -> Deleted:
    """Forget a fact; `POST /api/memory/undo` with the change's number brings it back."""
    if not assistant.memory.delete(memory_id):
        raise _make_unknown()
    deletions = (one for one in assistant.memory.changes(memory_id) if one.op == "delete")
    *_, last = deletions
    assert last.before is not None  # noqa: S101 - what was deleted is on record
    return Deleted(deleted=FactView.of(last.before), change=last.n)


def read_facts(assistant: Assistant) -> list[FactView]:
    """Return the facts with the lines that they stand on, both of one and the same text."""
    return [FactView.of(memory, line) for memory, line in assistant.memory.list_with_lines()]


def measure_capacity(assistant: Assistant, contents: Sequence[str]) -> Capacity:
    """Return how much of the memory some facts take."""
    settings = assistant.settings
    return Capacity(
        items=len(contents),
        max_items=settings.memory_max_items,
        chars=sum(map(len, contents)),
        max_chars=settings.memory_max_chars,
    )


def _view_fact(assistant: Assistant, memory: Memory) -> FactView:
    lines = {one.id: line for one, line in assistant.memory.list_with_lines()}
    return FactView.of(memory, lines.get(memory.id))


def _make_unknown() -> NotFound:
    return NotFound("no fact has that id; it may have been forgotten meanwhile, so list the facts")


# What waits until a person has accepted it


class Waiting(FactView, Sourced):
    """A fact that waits, and what it rests on."""


class Pending(JsonModel):
    """All that waits."""

    pending: list[Waiting]


class PendingDecision(Body):
    """What is to become of a fact that waits; with `content` it is accepted saying that."""

    id: str = Field(examples=["k7m2q9x4vd"])
    action: Literal["accept", "reject"]
    content: Words | None = None


class Decided(JsonModel):
    """What became of it."""

    action: Literal["accept", "reject"]
    fact: FactView | None


@pending_router.get("", summary="List what waits to be accepted")
def get_pending(assistant: Given) -> Pending:
    """Return what was learned from a document, a tool or a stranger; it is in no prompt."""
    found = list_waiting(assistant)
    recorded = assistant.pending.changes() if found else []
    sources = {change.id: change.source for change in recorded if change.source}
    return Pending(pending=[_view_waiting(one, sources.get(one.id)) for one in found])


@pending_router.post(
    "", summary="Accept or reject what waits", responses=document_problems(404, 409)
)
def decide_pending(assistant: Current, decision: PendingDecision) -> Decided:
    """Move a fact to the memory under its id, or drop it."""
    if decision.action == "accept":
        accepted = assistant.pending.accept(decision.id, decision.content)
        return Decided(action="accept", fact=FactView.of(accepted))
    if not assistant.pending.reject(decision.id):
        message = "nothing waits by that id; it may have been decided already, so list what waits"
        raise NotFound(message)
    return Decided(action="reject", fact=None)


def list_waiting(assistant: Assistant) -> list[Memory]:
    """Return what waits; where nothing ever did, no file is made by looking."""
    pending = assistant.pending
    return pending.get_all() if pending.exists() else []


def _view_waiting(memory: Memory, source: Source | None) -> Waiting:
    return Waiting.model_validate({**to_json(memory), **describe_source(source)})


# What was changed, and taking it back


class ChangeList(JsonModel):
    """Changes, the newest first, and whether there are older ones."""

    changes: list[ChangeView]
    more: bool


class Undo(Body):
    """Which change to take back; without a number the newest, or the newest that can be."""

    change: StrictInt | None = Field(default=None, ge=1)
    skip: StrictBool = Field(
        default=False, description="Leave alone what changed since, and go on to what did not."
    )


class Undone(JsonModel):
    """What was taken back, and the version of the file since."""

    undone: list[ChangeView]
    etag: str = Field(examples=['"0f3a9c"'])


@changes_router.get("/changes", summary="List the changes of the memory")
def get_changes(
    assistant: Given,
    *,
    limit: Annotated[int, Query(ge=1, le=MOST_CHANGES)] = 50,
    before: Annotated[
        int | None, Query(ge=1, description="Only those before the change of this number.")
    ] = None,
    learnt: Annotated[
        bool, Query(description="Only what was learned from conversations, with its quote.")
    ] = False,
) -> ChangeList:
    """Return the newest changes first; for the next page give the last number as `before`."""
    history = assistant.memory.changes()
    wanted = [
        change
        for change in reversed(history)
        if (before is None or change.n < before) and (not learnt or change.origin == LEARNT)
    ]
    return ChangeList(changes=_list_changes(wanted[:limit], history), more=len(wanted) > limit)


@changes_router.post("/undo", summary="Take a change back", responses=document_problems(404, 409))
def undo(assistant: Given, wanted: Undo | None = None) -> Undone:
    """Take back one change, with all that was made in the same step; 409 if it changed since."""
    memory, asked = assistant.memory, wanted or Undo()
    undone = memory.undo(asked.change, skip=asked.skip)
    if not undone:
        message = "there is nothing to undo"
        raise NotFound(message)
    return Undone(undone=_list_changes(undone, memory.changes()), etag=make_etag(memory.version()))


def _list_changes(
    some: Iterable[changes.Change], history: Sequence[changes.Change]
) -> list[ChangeView]:
    undone, undoable = changes.undone(history), changes.can_be_undone(history)
    return [
        ChangeView.of(change, undone=change.n in undone, undoable=change.n in undoable)
        for change in some
    ]
