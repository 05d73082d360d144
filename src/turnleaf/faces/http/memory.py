"""The memory as one file, searched, and in figures."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import Field

from turnleaf.core.message_fates import note_newer
from turnleaf.core.terms import parse_query
from turnleaf.core.times import to_iso
from turnleaf.core.tokens import estimate
from turnleaf.errors import Conflict, InvalidInput
from turnleaf.faces.http.bodies import FILE, PLAIN, Received
from turnleaf.faces.http.etags import ANY, is_known, matches, quoted
from turnleaf.faces.http.facts import capacity
from turnleaf.faces.http.given import Current, Given
from turnleaf.faces.http.pending import waiting
from turnleaf.faces.http.problems import Refused, documented
from turnleaf.faces.http.shapes import Day, Hit, Shape, Time
from turnleaf.store.index import MAX_LIMIT
from turnleaf.store.journal import Journal

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant

router = APIRouter(prefix="/api/memory", tags=["memory"])

JSON = "application/json"
ETAG = {"ETag": {"description": "The file's version.", "schema": {"type": "string"}}}


class Main(Shape):
    """The memory file as it is, and its version."""

    content: str = Field(examples=["# Memory\n\n## 家\n\n- 客廳的燈叫做小明\n"])
    etag: str = Field(examples=['"0f3a9c"'])
    format: Literal["markdown", "json"]
    file: str = Field(examples=["MEMORY.md"])


class Saved(Shape):
    """The version that was saved, the change that `undo` takes back, and how many facts it has."""

    etag: str = Field(examples=['"0f3a9c"'])
    change: int | None
    facts: int


class Results(Shape):
    """What was found, best first, and how."""

    query: str
    mode: Literal["words", "words and meaning"]
    results: list[Hit]


class Stats(Shape):
    """The memory in figures; `tokens` is what it takes in a prompt, about."""

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


@router.get(
    "/main",
    operation_id="getMemory",
    summary="Give the memory file",
    response_model=Main,
    responses={
        200: {"headers": ETAG, "content": {"text/markdown": {"schema": {"type": "string"}}}},
        304: {"description": "Not Modified", "headers": ETAG},
    },
)
def get_main(
    assistant: Given,
    request: Request,
    response: Response,
    if_none_match: Annotated[str | None, Header(alias="If-None-Match")] = None,
) -> Any:  # noqa: ANN401 - by what is accepted
    """Give the file to the byte; with `Accept: text/markdown` as it is, else as JSON."""
    text, version = assistant.memory.snapshot()
    headers = {"ETag": quoted(version), "Vary": "Accept"}
    if if_none_match is not None and is_known(version, if_none_match):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    if _wants_text(request.headers.get("accept", "")):
        return Response(text.encode(), media_type=_kind(assistant), headers=headers)
    response.headers.update(headers)
    location = assistant.memory.location
    return Main(content=text, etag=quoted(version), format=_format(assistant), file=location.name)


@router.put(
    "/main",
    operation_id="putMemory",
    summary="Save the memory file",
    responses={
        200: {"headers": ETAG},
        **documented(HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED),
    },
    openapi_extra=FILE,
)
def put_main(
    assistant: Given,
    text: Received,
    response: Response,
    if_match: Annotated[
        str | None, Header(alias="If-Match", description="Save only if this is still the version.")
    ] = None,
) -> Saved:
    """Put a whole text into the file; the one that it replaces is one `undo` away."""
    expected = _expected(assistant, if_match)
    try:
        written = assistant.memory.write(text, expected=expected)
    except Conflict as error:
        if expected is None:
            raise
        raise _saved_meanwhile(assistant) from error
    response.headers["ETag"] = quoted(written.version)
    facts = len(assistant.memory.get_all())
    return Saved(etag=quoted(written.version), change=written.change, facts=facts)


@router.get(
    "/search",
    operation_id="search",
    summary="Find what fits best",
    response_model_exclude_unset=True,
)
def search(
    assistant: Current,
    *,
    q: Annotated[str, Query(min_length=1, examples=["living room lamp", "客廳的燈"])],
    limit: Annotated[int, Query(ge=1, le=MAX_LIMIT)] = 10,
    source: Annotated[Literal["memory", "older", "daily", "conversations"] | None, Query()] = None,
    since: Annotated[Day | None, Query(description="Only what is not older.")] = None,
    until: Annotated[Day | None, Query(description="Only what is not newer.")] = None,
    explain: Annotated[bool, Query(description="Tell what each score is made of.")] = False,
) -> Results:
    """Search the memory, the daily logs and the conversations, in any language, best first."""
    if not q.strip():
        message = "give some words to search for, as q"
        raise InvalidInput(message)
    found = assistant.index.search(q, limit, source=source, since=since, until=until)
    hits = note_newer(found, assistant.memory.changes)
    wanted = parse_query(q).terms
    return Results(
        query=q,
        mode="words and meaning" if any(hit.vector for hit in hits) else "words",
        results=[Hit.of(hit, assistant, wanted, explain=explain) for hit in hits],
    )


@router.get("/stats", operation_id="getStats", summary="Give the memory in figures")
def get_stats(assistant: Given) -> Stats:
    """Count what is remembered."""
    memory = assistant.memory
    known = memory.get_all()
    used = capacity(assistant, [one.content for one in known])
    last = Journal(memory.location).last()
    return Stats(
        facts=used.items,
        chars=used.chars,
        max_items=used.max_items,
        max_chars=used.max_chars,
        categories=Counter(one.category for one in known if one.category),
        days=len(assistant.daily.dates()),
        conversations=_conversations(assistant),
        pending=len(waiting(assistant)),
        last_change=to_iso(last.time) if last else None,
        tokens=estimate(memory.prompt_text()),
    )


def _conversations(assistant: Assistant) -> int:
    """Count the conversations; where there never was one, no file is made by looking."""
    store = assistant.conversations
    return store.figures().conversations if store.location.exists() else 0


def _format(assistant: Assistant) -> Literal["markdown", "json"]:
    return "json" if assistant.memory.location.suffix == ".json" else "markdown"


def _kind(assistant: Assistant) -> str:
    return "text/markdown" if _format(assistant) == "markdown" else "text/plain"


def _wants_text(accept: str) -> bool:
    kinds = [part.partition(";")[0].strip().lower() for part in accept.split(",")]
    return JSON not in kinds and any(kind in kinds for kind in PLAIN)


def _expected(assistant: Assistant, if_match: str | None) -> str | None:
    """Give the version that may be replaced, if it matters which one."""
    if if_match is None or if_match.strip() == ANY:
        return None
    version = assistant.memory.version()
    if not matches(version, if_match):
        raise _saved_meanwhile(assistant)
    return version


def _saved_meanwhile(assistant: Assistant) -> Refused:
    etag = quoted(assistant.memory.version())
    message = (
        "somebody else saved the memory meanwhile, so nothing was written; get it again, "
        "join both texts and save that with the new ETag"
    )
    return Refused(HTTPStatus.PRECONDITION_FAILED, message, {"ETag": etag}, etag=etag)
