"""The memory file, search, statistics, and daily notes."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Header, Path, Query, Request, Response
from pydantic import Field

from turnleaf.core import markdown
from turnleaf.core.prompt.composer import MEMORY_SECTION, PromptComposer
from turnleaf.core.search.message_filters import note_newer
from turnleaf.core.search.ranking import MAX_LIMIT
from turnleaf.core.search.terms import parse_query
from turnleaf.core.serialization import to_iso
from turnleaf.errors import Conflict, InvalidInput, NotFound
from turnleaf.faces.http.facts import list_waiting, measure_capacity
from turnleaf.faces.http.idempotency import REPEATABLE
from turnleaf.faces.http.problems import Refused, document_problems
from turnleaf.faces.http.request_reading import (
    ANY,
    FILE,
    JSON_ONLY,
    PLAIN,
    Current,
    Given,
    Received,
    is_known,
    is_matched,
    make_etag,
)
from turnleaf.faces.http.schemas import (
    Body,
    Day,
    FactView,
    HitView,
    JsonModel,
    Sourced,
    Time,
    Words,
    describe_source,
)

if TYPE_CHECKING:
    from datetime import date

    from turnleaf.assistant import Assistant
    from turnleaf.core.changes import Change
    from turnleaf.core.memories import MemoryView

router = APIRouter(prefix="/api/memory", tags=["memory"])
daily_router = APIRouter(prefix="/api/memory/daily", tags=["daily log"], dependencies=[JSON_ONLY])

JSON = "application/json"
NamedDay = Annotated[Day, Path(alias="date")]
ETAG = {"ETag": {"description": "The file's version.", "schema": {"type": "string"}}}

_NEVER = datetime.min.replace(tzinfo=UTC)


class MainMemory(JsonModel):
    """The memory file and its version."""

    content: str = Field(examples=["# Memory\n\n## 家\n\n- 客廳的燈叫做小明\n"])
    etag: str = Field(examples=['"0f3a9c"'])
    format: Literal["markdown", "json"]
    file: str = Field(examples=["MEMORY.md"])


class FactWords(Sourced):
    """What was said for a fact, and the message that says it, if that still exists."""

    message: int | None = None
    time: Time


class FactStory(JsonModel):
    """A fact, null if it was forgotten, and all that was said for it."""

    fact: FactView | None
    said: list[FactWords]


class SavedMemory(JsonModel):
    """The version that was saved, the change to undo, and the number of facts."""

    etag: str = Field(examples=['"0f3a9c"'])
    change: int | None
    facts: int


class Results(JsonModel):
    """Search results, best first, and how they were found."""

    query: str
    mode: Literal["words", "words and meaning"]
    results: list[HitView]


class Stats(JsonModel):
    """Statistics of the memory; `tokens` is about what it takes in a prompt.

    `inPrompt` is how many facts fit into one: where not all do, the nearest to the question.
    """

    facts: int
    chars: int
    max_items: int
    max_chars: int
    categories: dict[str, int] = Field(examples=[{"Home": 2, "家": 1}])
    days: int
    conversations: int
    pending: int
    last_change: Time | None
    tokens: int
    in_prompt: int


@router.get(
    "/main",
    summary="Get the memory file",
    response_model=MainMemory,
    responses={
        200: {"headers": ETAG, "content": {"text/markdown": {"schema": {"type": "string"}}}},
        304: {"description": "Not Modified", "headers": ETAG},
    },
)
def get_memory(
    assistant: Given,
    request: Request,
    response: Response,
    if_none_match: Annotated[str | None, Header(alias="If-None-Match")] = None,
) -> Any:  # noqa: ANN401 - by what is accepted
    """Return the exact file: with `Accept: text/markdown` as text, else in JSON."""
    # Both of one look: with the ETag of a newer text, a client would replace what it never saw.
    text, version = assistant.memory.snapshot()
    headers = {"ETag": make_etag(version), "Vary": "Accept"}
    if if_none_match is not None and is_known(version, if_none_match):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    if _wants_text(request.headers.get("accept", "")):
        return Response(text.encode(), media_type=_find_media_type(assistant), headers=headers)
    response.headers.update(headers)
    return MainMemory(
        content=text,
        etag=make_etag(version),
        format=_find_format(assistant),
        file=assistant.stores.redact(str(assistant.memory.location)),
    )


@router.put(
    "/main",
    summary="Save the memory file",
    responses={
        200: {"headers": ETAG},
        **document_problems(409, 412),
    },
    openapi_extra=FILE,
)
def put_memory(
    assistant: Given,
    text: Received,
    response: Response,
    if_match: Annotated[
        str | None,
        Header(alias="If-Match", description="Save only if this is still the current version."),
    ] = None,
) -> SavedMemory:
    """Replace the whole text of the file; `undo` restores the previous one."""
    expected = _find_expected(assistant, if_match)
    try:
        written = assistant.memory.write(text, expected=expected)
    except Conflict as error:
        if expected is None:
            raise
        raise _refuse_changed(assistant) from error
    response.headers["ETag"] = make_etag(written.version)
    facts = len(assistant.memory.get_all())
    return SavedMemory(etag=make_etag(written.version), change=written.change, facts=facts)


@router.get("/search", summary="Search", response_model_exclude_unset=True)
def search(
    assistant: Current,
    *,
    q: Annotated[str, Query(min_length=1, examples=["living room lamp", "客廳的燈"])],
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 10,
    source: Annotated[Literal["memory", "older", "daily", "conversations"] | None, Query()] = None,
    since: Annotated[Day | None, Query(description="Only results from this day on.")] = None,
    until: Annotated[Day | None, Query(description="Only results up to that day.")] = None,
    explain: Annotated[bool, Query(description="Include the parts of each score.")] = False,
) -> Results:
    """Search facts, daily notes and conversations, in any language, best first."""
    if not q.strip():
        message = "the search is empty; send some words as q"
        raise InvalidInput(message)
    found = assistant.index.search(q, limit, source=source, since=since, until=until)
    hits = note_newer(found, assistant.memory.changes)
    wanted = parse_query(q).terms
    return Results(
        query=q,
        mode="words and meaning" if any(hit.vector for hit in hits) else "words",
        results=[HitView.of(hit, assistant, wanted, explain=explain) for hit in hits],
    )


@router.get("/why", summary="Show what a fact rests on", responses=document_problems(404))
def explain_fact(
    assistant: Given, fact: Annotated[str, Query(min_length=1, examples=["k7m2q9x4vd"])]
) -> FactStory:
    """Return the words that a fact rests on, the newest first, each with its place."""
    changes = assistant.memory.changes(fact)
    now = assistant.memory.get(fact)
    if now is None and not changes:
        message = "no fact has that ID; list the facts and use one of their IDs"
        raise NotFound(message)
    said = [_view_words(assistant, one) for one in reversed(changes) if one.source]
    return FactStory(fact=FactView.of(now) if now else None, said=said)


def _view_words(assistant: Assistant, change: Change) -> FactWords:
    source = change.source
    message = None
    if source and source.conversation and source.message_time:
        stored = assistant.conversations.messages(source.conversation)
        at = source.message_time
        message = next((one.id for one in stored if one.message.timestamp == at), None)
    return FactWords.model_validate(
        {**describe_source(source), "message": message, "time": to_iso(change.time)}
    )


@router.get("/stats", summary="Get statistics of the memory")
def get_stats(assistant: Given) -> Stats:
    """Return the numbers of facts, notes, conversations and more."""
    memory = assistant.memory
    view = memory.view()
    known = view.facts
    used = measure_capacity(assistant, [one.content for one in known])
    last = memory.last_change()
    return Stats(
        facts=used.items,
        chars=used.chars,
        max_items=used.max_items,
        max_chars=used.max_chars,
        categories=Counter(one.category for one in known if one.category),
        days=len(assistant.daily.dates()),
        conversations=_count_conversations(assistant),
        pending=len(list_waiting(assistant)),
        last_change=to_iso(last.time) if last else None,
        **_measure_prompt(assistant, view),
    )


def _measure_prompt(assistant: Assistant, view: MemoryView) -> dict[str, int]:
    """Return what the memory takes of a prompt in which nothing else is said."""
    if not assistant.settings.enabled:
        return {"tokens": 0, "in_prompt": 0}
    composer = PromptComposer(max_tokens=assistant.prompt_max_tokens)
    composer.compose("", memories=view.facts, page=view.page)
    explained = composer.explain()
    tokens = sum(part.tokens for part in explained.sections if part.name == MEMORY_SECTION)
    return {"tokens": tokens, "in_prompt": len(explained.memories)}


def _count_conversations(assistant: Assistant) -> int:
    """Count the conversations, without creating the database if there is none."""
    store = assistant.conversations
    return store.figures().conversations if store.exists() else 0


def _find_format(assistant: Assistant) -> Literal["markdown", "json"]:
    return "json" if assistant.memory.format == "json" else "markdown"


def _find_media_type(assistant: Assistant) -> str:
    return "text/markdown" if _find_format(assistant) == "markdown" else "text/plain"


def _wants_text(accept: str) -> bool:
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return JSON not in kinds and any(kind in kinds for kind in PLAIN)


def _find_expected(assistant: Assistant, if_match: str | None) -> str | None:
    """Return the version that may be replaced, or None for any."""
    if if_match is None or if_match.strip() == ANY:
        return None
    version = assistant.memory.version()
    if not is_matched(version, if_match):
        raise _refuse_changed(assistant)
    return version


def _refuse_changed(assistant: Assistant) -> Refused:
    etag = make_etag(assistant.memory.version())
    message = (
        "the memory was saved elsewhere meanwhile, so nothing was written; get it again, "
        "merge both texts and save the result with the new ETag"
    )
    return Refused(HTTPStatus.PRECONDITION_FAILED, message, {"ETag": etag}, etag=etag)


# Daily notes


class DaySummary(JsonModel):
    """The size of a day's note."""

    date: Day
    entries: int
    chars: int


class Days(JsonModel):
    """The days that have a note."""

    days: list[DaySummary]


class DayLog(JsonModel):
    """The note of a day."""

    date: Day
    content: str = Field(examples=["# 2026-11-15\n\n- 08:30 換了客廳的燈泡\n"])
    entries: list[str] = Field(examples=[["08:30 換了客廳的燈泡"]])
    exists: bool


class Note(Body):
    """An entry to add."""

    entry: Words = Field(examples=["Changed the bulb in the living room", "換了客廳的燈泡"])


class NoteChange(Body):
    """An entry as it is now, and its new text; null deletes it."""

    entry: str = Field(examples=["09:15 買了牛奶"])
    content: Words | None = Field(examples=["09:15 買了豆漿"])


@daily_router.get("", summary="List the days that have a note")
def get_days(assistant: Given) -> Days:
    """Return the days, newest first."""
    return Days(days=[_summarize(assistant, day) for day in reversed(assistant.daily.dates())])


@daily_router.get("/{date}", summary="Get the note of a day")
def get_day(assistant: Given, day: NamedDay) -> DayLog:
    """Return a day's note, or an empty text if there is none."""
    content = assistant.daily.read(day)
    entries = [one.memory.content for one in markdown.parse(content, _NEVER).facts]
    return DayLog(date=day, content=content, entries=entries, exists=bool(content))


@daily_router.patch(
    "/{date}", summary="Change or delete an entry", responses=document_problems(409)
)
def change_note(assistant: Given, day: NamedDay, change: NoteChange) -> DayLog:
    """Change an entry in its place, if it still says what `entry` does, else answer 409."""
    if not assistant.daily.revise(day, change.entry, change.content):
        message = "this entry was changed or deleted meanwhile; reload the day's note"
        raise Conflict(message)
    return get_day(assistant, day)


@daily_router.post(
    "/{date}",
    status_code=HTTPStatus.CREATED,
    summary="Add an entry to today's note",
    responses=document_problems(409),
    dependencies=[REPEATABLE],
)
def add_note(assistant: Given, day: NamedDay, note: Note) -> DayLog:
    """Add an entry with the present time, which is why only today is accepted."""
    today = assistant.now().date()
    if day != today:
        message = f"entries can only be added to today's note; use {today}"
        raise InvalidInput(message)
    assistant.daily.append(note.entry)
    return get_day(assistant, day)


def _summarize(assistant: Assistant, day: date) -> DaySummary:
    text = assistant.daily.read(day)
    return DaySummary(date=day, entries=len(markdown.parse(text, _NEVER).facts), chars=len(text))
