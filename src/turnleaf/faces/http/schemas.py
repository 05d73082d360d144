"""The JSON schemas that several routes use."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from turnleaf.core import changes, memories
from turnleaf.core.changes import Source
from turnleaf.core.search.terms import find_matches
from turnleaf.core.serialization import to_iso

if TYPE_CHECKING:
    from collections.abc import Collection

    from turnleaf.assistant import Assistant
    from turnleaf.core.memories import Memory
    from turnleaf.core.search import ranking
    from turnleaf.core.search.ranking import Hit as Found

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
SCORE_DIGITS = 4
LARGEST_ID = 2**63 - 1
"""The largest number that a message may have."""


def _check_day(day: object) -> object:
    if isinstance(day, str) and not _DAY.fullmatch(day):
        message = "write a date as 2026-11-15"
        raise ValueError(message)
    return day


Day = Annotated[date, BeforeValidator(_check_day), Field(examples=["2026-11-15"])]
"""A date in the one form that the names of files have."""

Words = Annotated[
    str,
    # The stores explain what is wrong better than a pattern; this one is documentation.
    Field(json_schema_extra={"pattern": r"^[^\x00]*[^\s\x00][^\x00]*$"}),
]
"""A text that is not empty."""

Time = Annotated[
    str,
    Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-15T08:30:00.000Z"]),
]


SettingValue = bool | int | float | str | None
SettingSource = Literal["default", "file", "environment"]
"""Where the value of a setting comes from."""


class JsonModel(BaseModel):
    """A response, or a part of one."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        populate_by_name=True,
        json_schema_serialization_defaults_required=True,
    )


class Body(JsonModel):
    """The body of a request; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class FactView(JsonModel):
    """A fact of the long-term memory, and its line in the file."""

    id: str = Field(examples=["k7m2q9x4vd"])
    content: str = Field(examples=["The living room lamp is called Ming", "客廳的燈叫做小明"])
    category: str | None = Field(default=None, examples=["Home", "家"])
    origin: str | None = Field(default=None, examples=["user", "learnt"])
    created_at: Time
    updated_at: Time
    slot: str | None = Field(default=None, examples=["home"])
    until: str | None = Field(default=None, examples=["2026-11-17"])
    said_count: int = 1
    pinned: bool = False
    line: int | None = None

    @classmethod
    def of(cls, memory: Memory, line: int | None = None) -> Self:
        """Return a fact's form."""
        return cls.model_validate({**memories.to_json(memory), "line": line})


class Sourced(JsonModel):
    """The source of a fact: the quote, where and when it was said, and its trust."""

    quote: str | None = Field(default=None, examples=["我家客廳的燈叫做小明"])
    conversation: str | None = Field(default=None, examples=["web:4f1c"])
    message_time: Time | None = None
    trust: str | None = Field(default=None, examples=["user"])
    source: str | None = Field(default=None, examples=["document:notes.md"])


def describe_source(source: Source | None) -> dict[str, str | None]:
    """Return the fields of `Sourced`."""
    given = source or Source()
    return {
        "quote": given.quote,
        "conversation": given.conversation,
        "messageTime": to_iso(given.message_time) if given.message_time else None,
        "trust": given.trust,
        "source": given.name,
    }


class ChangeView(Sourced):
    """One change of the memory, and whether it was or can be undone."""

    n: int
    time: Time
    op: str = Field(examples=["add", "update", "delete", "put"])
    id: str | None = None
    before: FactView | None = None
    after: FactView | None = None
    origin: str | None = Field(default=None, examples=["user", "learnt"])
    decision: str | None = None
    undoes: int | None = None
    removed: list[FactView] = []
    undone: bool
    undoable: bool

    @classmethod
    def of(cls, change: changes.Change, *, undone: bool, undoable: bool) -> Self:
        """Return a change's form."""
        record = changes.to_json(change)
        return cls.model_validate({**record, "undone": undone, "undoable": undoable})


class NewerView(JsonModel):
    """What replaced the fact in a message, and since when."""

    since: str = Field(examples=["2026-11-05"])
    content: str = Field(examples=["客廳的燈叫做小華"])

    @classmethod
    def of(cls, found: ranking.Newer) -> Self:
        """Return the form of what replaced a fact."""
        return cls(since=f"{found.since.astimezone():%Y-%m-%d}", content=found.content)


class HitView(JsonModel):
    """A search result: its text, its place and its score.

    `terms` are the parts of the text to highlight; `bm25` and `vector` are the parts of the score,
    if asked for, and null where there is none. The score of a passage that was added for its day
    or place alone is null. A passage of a conversation has its `message`; `shown` is false where
    another version of that message is shown now.
    """

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    text: str = Field(examples=["客廳的燈叫做小明"])
    source: Literal["memory", "older", "daily", "conversations"]
    file: str = Field(examples=["MEMORY.md", "daily/2026-11-15.md"])
    line: int
    heading: str | None
    date: str | None
    conversation: str | None = Field(examples=["web:4f1c2a9b"])
    message: int | None = Field(examples=[17])
    time: Time | None
    speaker: str | None
    trust: str = Field(examples=["user", "assistant", "stranger"])
    shown: bool
    id: str | None
    score: float | None
    terms: list[str] = Field(examples=[["小明"]])
    newer: NewerView | None
    bm25: float | None = None
    vector: float | None = None

    @classmethod
    def of(
        cls,
        found: Found,
        assistant: Assistant,
        wanted: Collection[str] = (),
        *,
        explain: bool = False,
    ) -> Self:
        """Return the form of what was found for some terms."""
        record = {
            "text": found.text,
            "source": found.source,
            "file": assistant.stores.redact(str(found.path)),
            "line": found.line,
            "heading": found.heading,
            "date": found.date,
            "conversation": found.conversation,
            "message": found.message,
            "time": found.time,
            "speaker": found.speaker,
            "trust": found.trust,
            "shown": found.is_shown,
            "id": found.id,
            "score": _round(found.score) if found.is_judged else None,
            "terms": find_matches(found.text, wanted),
            "newer": NewerView.of(found.newer) if found.newer else None,
        }
        parts = {"bm25": _round(found.bm25), "vector": _round(found.vector)}
        return cls.model_validate(record | (parts if explain else {}))


def _round(part: float | None) -> float | None:
    return None if part is None else round(part, SCORE_DIGITS)
