"""The facts of the long-term memory, those that are pending review, and changes."""

from __future__ import annotations

from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Literal
from urllib.parse import quote

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field, StrictBool, StrictInt

from turnleaf.core import changes, json_facts, markdown
from turnleaf.core.languages.replies import translate
from turnleaf.core.memories import to_json
from turnleaf.errors import MemoryFull, NotFound
from turnleaf.faces.http.idempotency import REPEATABLE
from turnleaf.faces.http.problems import document_problems, request_language
from turnleaf.faces.http.request_reading import JSON_ONLY, Current, Given, make_etag
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
    from collections.abc import Iterable, Mapping, Sequence

    from turnleaf.assistant import Assistant
    from turnleaf.core.changes import Source
    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format

router = APIRouter(prefix="/api/memory/facts", tags=["facts"], dependencies=[JSON_ONLY])
pending_router = APIRouter(prefix="/api/memory/pending", tags=["memory"], dependencies=[JSON_ONLY])
changes_router = APIRouter(prefix="/api/memory", tags=["changes"], dependencies=[JSON_ONLY])

FORMATS: dict[str, Format] = {".json": json_facts, ".md": markdown}
MOST_CHANGES = 500
MOST_AT_ONCE = 10_000
FROM_CONVERSATIONS = ("learnt", "request")
Id = Annotated[str, Path(alias="id", examples=["k7m2q9x4vd"])]


class Capacity(JsonModel):
    """How much of the memory is used."""

    items: int
    max_items: int
    chars: int
    max_chars: int


class FactList(JsonModel):
    """The facts, which of them answers rest on, and how much of the memory is used by all."""

    facts: list[FactView]
    used: list[str] = Field(
        description="The IDs of those that a stored answer rests on.", examples=[["k7m2q9x4vd"]]
    )
    capacity: Capacity


class NewFact(Body):
    """A fact to remember."""

    content: Words = Field(examples=["The living room lamp is called Ming", "客廳的燈叫做小明"])
    category: str | None = Field(default=None, examples=["Home", "家"])


class Added(FactView):
    """A new fact, and those that made room for it."""

    displaced: list[FactView] = Field(default_factory=list)


class OtherWords(Body):
    """The new content of a fact; with `expected` only if it still has that content."""

    content: Words = Field(examples=["The living room lamp is called Mei", "客廳的燈叫做小美"])
    expected: str | None = None


class Deleted(JsonModel):
    """A forgotten fact, and the change to undo."""

    deleted: FactView
    change: int


class FactsChange(Body):
    """What to do with several facts, in one change that can be undone."""

    ids: list[str] = Field(min_length=1, max_length=MOST_AT_ONCE, examples=[["k7m2q9x4vd"]])
    action: Literal["forget", "pin", "unpin", "categorize"]
    category: str | None = Field(
        default=None, description="For `categorize`; null: below none.", examples=["Home", "家"]
    )


class FactsChanged(JsonModel):
    """The facts that were there, as they are now or were, and the change to undo."""

    facts: list[FactView]
    change: int | None


@router.post("/batch", summary="Forget, pin or move several facts")
def change_facts(assistant: Current, wanted: FactsChange) -> FactsChanged:
    """Change several facts at once; `POST /api/memory/undo` with the change's number restores them.

    IDs of facts that are gone are ignored.
    """
    memory = assistant.memory
    before = memory.last_change()
    if wanted.action == "forget":
        facts = memory.delete_all(wanted.ids)
    elif wanted.action == "categorize":
        facts = memory.arrange(wanted.ids, category=wanted.category)
    else:
        facts = memory.arrange(wanted.ids, pinned=wanted.action == "pin")
    made = memory.last_change()
    number = made.n if made and (before is None or made.n > before.n) else None
    return FactsChanged(facts=[FactView.of(one) for one in facts], change=number)


@router.get("", summary="List the facts")
def get_facts(
    assistant: Given,
    category: Annotated[
        str | None, Query(description="Only facts below this heading; empty: below none.")
    ] = None,
) -> FactList:
    """Return the facts in the file's order, and how much room is left."""
    known = read_facts(assistant)
    listed = [one for one in known if category is None or (one.category or "") == category]
    conversations = assistant.conversations
    cited = conversations.find_cited_facts() if conversations.exists() else frozenset[str]()
    return FactList(
        facts=listed,
        used=[one.id for one in listed if one.id in cited],
        capacity=measure_capacity(assistant, [one.content for one in known]),
    )


@router.post(
    "",
    status_code=HTTPStatus.CREATED,
    summary="Remember a fact",
    responses=document_problems(409),
    dependencies=[REPEATABLE],
)
def add_fact(assistant: Current, fact: NewFact, response: Response) -> Added:
    """Add a fact at the end of its category; where there is no room, learned facts make it.

    FactList that moved to the older ones are `displaced`. If the memory is full of other facts, the
    response is 409, in the language of the fact.
    """
    kept = remember_fact(assistant.memory, fact.content, fact.category)
    response.headers["Location"] = f"facts/{quote(kept.memory.id, safe='')}"
    added = _view_fact(assistant, kept.memory)
    return Added(**added.model_dump(), displaced=[FactView.of(one) for one in kept.displaced])


@router.get("/{id:path}", summary="Get a fact", responses=document_problems(404))
def get_fact(assistant: Given, memory_id: Id) -> FactView:
    """Return the fact with that ID."""
    found = next((one for one in read_facts(assistant) if one.id == memory_id), None)
    if found is None:
        raise _make_unknown()
    return found


@router.patch("/{id:path}", summary="Change a fact", responses=document_problems(404, 409))
def change_fact(assistant: Current, memory_id: Id, words: OtherWords) -> FactView:
    """Change a fact in its place."""
    memory = assistant.memory.update(memory_id, words.content, expected=words.expected)
    if memory is None:
        raise _make_unknown()
    return _view_fact(assistant, memory)


@router.delete("/{id:path}", summary="Forget a fact", responses=document_problems(404))
def delete_fact(assistant: Given, memory_id: Id) -> Deleted:
    """Forget a fact; `POST /api/memory/undo` with the change's number restores it."""
    if not assistant.memory.delete(memory_id):
        raise _make_unknown()
    deletions = (one for one in assistant.memory.changes(memory_id) if one.op == "delete")
    *_, last = deletions
    assert last.before is not None  # noqa: S101 - what was deleted is on record
    return Deleted(deleted=FactView.of(last.before), change=last.n)


def read_facts(assistant: Assistant) -> list[FactView]:
    """Return the facts with their lines, both from one read of the file."""
    return [FactView.of(memory, line) for memory, line in assistant.memory.list_with_lines()]


def measure_capacity(assistant: Assistant, contents: Sequence[str]) -> Capacity:
    """Return how much of the memory these facts take."""
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
    return NotFound(
        "no fact has that ID; it may have been forgotten meanwhile, so list the facts again"
    )


# FactList that are pending review


class Waiting(FactView, Sourced):
    """A fact that is pending review, its source, and what the conversation is called."""

    title: str | None = Field(default=None, examples=["A trip to Hualien"])


class Pending(JsonModel):
    """The facts that are pending review."""

    pending: list[Waiting]


class PendingDecision(Body):
    """A decision about a pending fact; with `content` it is accepted with that text."""

    id: str = Field(examples=["k7m2q9x4vd"])
    action: Literal["accept", "reject"]
    content: Words | None = None


class Decided(JsonModel):
    """The decision, and the fact that was accepted."""

    action: Literal["accept", "reject"]
    fact: FactView | None


@pending_router.get("", summary="List the facts that are pending review")
def get_pending(assistant: Given) -> Pending:
    """Return facts learned from documents, tools or strangers, which are in no prompt."""
    found = list_waiting(assistant)
    recorded = assistant.pending.changes() if found else []
    sources = {change.id: change.source for change in recorded if change.source}
    titles = _find_titles(assistant, {one.conversation for one in sources.values()})
    return Pending(pending=[_view_waiting(one, sources.get(one.id), titles) for one in found])


@pending_router.post(
    "", summary="Accept or reject a pending fact", responses=document_problems(404, 409)
)
def decide_pending(assistant: Current, decision: PendingDecision) -> Decided:
    """Move a fact to the memory under its ID, or delete it."""
    if decision.action == "accept":
        accepted = assistant.pending.accept(decision.id, decision.content)
        return Decided(action="accept", fact=FactView.of(accepted))
    if not assistant.pending.reject(decision.id):
        message = (
            "no pending fact has that ID; it may already have been accepted or rejected, so list "
            "the pending facts again"
        )
        raise NotFound(message)
    return Decided(action="reject", fact=None)


class PendingDecisions(Body):
    """One decision about several pending facts."""

    ids: list[str] = Field(min_length=1, max_length=MOST_AT_ONCE, examples=[["k7m2q9x4vd"]])
    action: Literal["accept", "reject"]


class DecidedAll(JsonModel):
    """The facts that were accepted or rejected, and why the rest was not."""

    decided: list[str]
    problem: str | None


@pending_router.post("/batch", summary="Accept or reject several pending facts")
def decide_all_pending(assistant: Current, wanted: PendingDecisions) -> DecidedAll:
    """Decide in the order given; where the memory becomes full, the rest stays pending.

    IDs of facts that are not pending are ignored.
    """
    if wanted.action == "reject":
        gone = assistant.pending.delete_all(wanted.ids)
        return DecidedAll(decided=[one.id for one in gone], problem=None)
    decided: list[str] = []
    try:
        for memory_id in wanted.ids:
            with suppress(NotFound):
                decided.append(assistant.pending.accept(memory_id).id)
    except MemoryFull as error:
        return DecidedAll(decided=decided, problem=translate(str(error), request_language.get()))
    return DecidedAll(decided=decided, problem=None)


def list_waiting(assistant: Assistant) -> list[Memory]:
    """Return the pending facts, without creating their file if there is none."""
    pending = assistant.pending
    return pending.get_all() if pending.exists() else []


def _find_titles(assistant: Assistant, keys: Iterable[str | None]) -> dict[str | None, str]:
    """Return what conversations are called, without creating the database if there is none."""
    store = assistant.conversations
    found = (store.summary(key) for key in keys if key and store.exists())
    return {one.key: one.title for one in found if one}


def _view_waiting(
    memory: Memory, source: Source | None, titles: Mapping[str | None, str]
) -> Waiting:
    title = titles.get(source.conversation) if source else None
    return Waiting.model_validate({**to_json(memory), **describe_source(source), "title": title})


# Changes, and undoing them


class ChangeList(JsonModel):
    """Changes, the newest first, and whether there are older ones."""

    changes: list[ChangeView]
    more: bool


class Undo(Body):
    """The change to undo; by default the newest, or the newest that can be undone."""

    change: StrictInt | None = Field(default=None, ge=1)
    skip: StrictBool = Field(
        default=False, description=("Skip facts that were changed again since then.")
    )


class Undone(JsonModel):
    """The undone changes, and the new version of the file."""

    undone: list[ChangeView]
    etag: str = Field(examples=['"0f3a9c"'])


@changes_router.get("/changes", summary="List the changes of the memory")
def get_changes(
    assistant: Given,
    *,
    limit: Annotated[int, Query(ge=1, le=MOST_CHANGES)] = 50,
    before: Annotated[
        int | None, Query(ge=1, description="Only changes before this number.")
    ] = None,
    learnt: Annotated[
        bool,
        Query(description="Only what was learned from conversations, asked for or not."),
    ] = False,
) -> ChangeList:
    """Return changes, newest first; the next page is `before` the last number."""
    history = assistant.memory.changes()
    wanted = [
        change
        for change in reversed(history)
        if (before is None or change.n < before)
        and (not learnt or change.origin in FROM_CONVERSATIONS)
    ]
    return ChangeList(changes=_list_changes(wanted[:limit], history), more=len(wanted) > limit)


@changes_router.post("/undo", summary="Undo a change", responses=document_problems(404, 409))
def undo(assistant: Given, wanted: Undo | None = None) -> Undone:
    """Undo one change, with all that was made in the same step; 409 if it changed since."""
    memory, asked = assistant.memory, wanted or Undo()
    undone = memory.undo(asked.change, skip=asked.skip)
    if not undone:
        message = "there is nothing to undo; every change has been undone"
        raise NotFound(message)
    return Undone(undone=_list_changes(undone, memory.changes()), etag=make_etag(memory.version()))


def _list_changes(
    some: Iterable[changes.Change], history: Sequence[changes.Change]
) -> list[ChangeView]:
    undone, undoable = changes.find_undone(history), changes.find_undoable_numbers(history)
    return [
        ChangeView.of(change, undone=change.n in undone, undoable=change.n in undoable)
        for change in some
    ]
