"""A fact of the long-term memory, as a value, and the rules for its text."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Literal

from turnleaf.core.serialization import from_iso, to_iso, to_millisecond
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping


MAX_CATEGORY_CHARS = 100
MAX_SLOT_CHARS = 100
OPTIONAL_KEYS = ("category", "origin", "slot", "until", "saidCount", "pinned")
"""The keys of a fact's JSON form that are there only where they say something."""
# Facts are in a file that people read, and no text file holds these.
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")
_COUNT = re.compile(r"[1-9]\d{0,8}", re.ASCII)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


class Kept(Enum):
    """In the place of a new value: the old one stays."""

    KEPT = "kept"


KEPT: Final = Kept.KEPT
OrKept = Literal[Kept.KEPT]


@dataclass(frozen=True, slots=True)
class Memory:
    """One fact. `origin` tells who brought it: "user", "import", a tool, a face.

    `slot` names what it is a value of ("home", "allergy"), `until` is the last day on which it
    holds, and `said_count` how often it was said. A `pinned` one is in every prompt.
    """

    id: str
    content: str
    created_at: datetime
    updated_at: datetime
    category: str | None = None
    origin: str | None = None
    slot: str | None = None
    until: date | None = None
    said_count: int = 1
    pinned: bool = False

    def has_ended(self, today: date) -> bool:
        """Whether the last day on which it holds is over."""
        return self.until is not None and self.until < today


def to_json(memory: Memory) -> dict[str, Any]:
    """Return the fields of a JSON record; optional ones only where they have a value."""
    record: dict[str, Any] = {
        "id": memory.id,
        "content": memory.content,
        "createdAt": to_iso(memory.created_at),
        "updatedAt": to_iso(memory.updated_at),
    }
    if memory.category is not None:
        record["category"] = memory.category
    if memory.origin is not None:
        record["origin"] = memory.origin
    if memory.slot is not None:
        record["slot"] = memory.slot
    if memory.until is not None:
        record["until"] = memory.until.isoformat()
    if memory.said_count > 1:
        record["saidCount"] = memory.said_count
    if memory.pinned:
        record["pinned"] = True
    return record


def from_json(record: Mapping[str, Any], unknown_time: datetime) -> Memory:
    """Read a JSON record; raise ValueError for any other.

    One typed by hand may lack its id and times.
    """
    if "content" not in record:
        message = "a fact has no content"
        raise InvalidInput(message)
    check_content(record["content"])
    return read_recorded(record, unknown_time)


def read_recorded(record: Mapping[str, Any], unknown_time: datetime) -> Memory:
    """Read a fact that stood in a file once, even if nobody could add it today."""
    content = str(record["content"])
    created = _read_time(record.get("createdAt"), unknown_time)
    return Memory(
        id=_read_text(record, "id") or make_content_id(content),
        content=content,
        created_at=created,
        updated_at=_read_time(record.get("updatedAt"), created),
        category=_make_heading(_read_text(record, "category") or ""),
        origin=_read_text(record, "origin"),
        slot=read_slot(record.get("slot")),
        until=read_day(record.get("until")),
        said_count=read_count(record.get("saidCount")),
        pinned=record.get("pinned") is True,
    )


def read_slot(value: object) -> str | None:
    """Return the name of a slot from a file; None where it is damaged."""
    if not isinstance(value, str) or _NOT_TEXT.search(value):
        return None
    return value if value.strip() and len(value) <= MAX_SLOT_CHARS else None


def read_day(value: object) -> date | None:
    """Return a day from a file; None where it is damaged."""
    if not isinstance(value, str) or not _DAY.fullmatch(value):
        return None
    try:
        return date.fromisoformat(value)
    except ValueError:
        return None


def check_date(day: object) -> date:
    """Return the day of a date, a datetime or a text; raise InvalidInput for anything else."""
    found = day if isinstance(day, date) else read_day(day)
    if found is None:
        message = f"{day!r:.80} is not a date; write it as 2026-11-15"
        raise InvalidInput(message)
    return found.date() if isinstance(found, datetime) else found


def read_count(value: object) -> int:
    """Return from a file how often a fact was said; 1 where that is damaged."""
    text = str(value)
    is_count = not isinstance(value, bool) and _COUNT.fullmatch(text)
    return int(text) if is_count else 1


def make_content_id(content: str) -> str:
    """Return an id for a fact that has none, as a hash of its content."""
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return f"h{digest[:11]}"


class Ids:
    """Ids that are taken; facts that say or are named the same are told apart by counting them."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counted: dict[str, int] = {}
        self.has_twins = False

    def take(self, wanted: str) -> str:
        """Return an id, or one like it that is free, and mark it as taken."""
        # Counting goes on from the last number, or many equal facts would take quadratic time.
        number = self._counted.get(wanted, 0)
        while (candidate := f"{wanted}-{number}" if number > 1 else wanted) in self._taken:
            number += 1
        self._taken.add(candidate)
        self._counted[wanted] = number
        return candidate

    def tell_apart(self, memory: Memory) -> Memory:
        """Return a fact with an id that no other has."""
        taken = self.take(memory.id)
        if taken == memory.id:
            return memory
        self.has_twins = True
        return replace(memory, id=taken)


def make_unique_id(wanted: str, taken: Collection[str]) -> str:
    """Return an id, or one like it that is not taken."""
    return Ids(taken).take(wanted) if wanted in taken else wanted


def check_content(content: object) -> str:
    """Return the content of a fact; raise InvalidInput for what is no text, or blank."""
    text = check_text(content, "a memory")
    if not text.strip():
        message = "the fact is empty; type some text"
        raise InvalidInput(message)
    return text


def check_category(category: str | None) -> str | None:
    """Return a category as one line, None if it is blank; raise InvalidInput if too long."""
    if category is None:
        return None
    heading = _make_heading(category)
    if heading and len(heading) > MAX_CATEGORY_CHARS:
        message = (
            f"a category is limited to {MAX_CATEGORY_CHARS} characters, and this one has "
            f"{len(heading)}; shorten it"
        )
        raise InvalidInput(message)
    return heading


def check_slot(slot: str | None) -> str | None:
    """Return a slot; raise InvalidInput for what cannot name one."""
    if slot is not None and read_slot(slot) is None:
        message = f"a slot must be a name of up to {MAX_SLOT_CHARS} characters, not {slot!r:.120}"
        raise InvalidInput(message)
    return slot


def check_day(day: object) -> date | None:
    """Return the last day of a fact; raise InvalidInput for what is no date."""
    if day is None or (isinstance(day, date) and not isinstance(day, datetime)):
        return day
    message = f"the last day of a fact must be a date, not {day!r:.120}"
    raise InvalidInput(message)


def check_text(text: object, what: str) -> str:
    """Return a text; raise InvalidInput for what no text file can hold."""
    if not isinstance(text, str):
        message = f"{what} must be text, not {type(text).__name__}"
        raise InvalidInput(message)
    wrong = _NOT_TEXT.search(text)
    if wrong:
        message = (
            f"{what} cannot contain the character U+{ord(wrong[0]):04X} (at position "
            f"{wrong.start()}), which is not text; remove it"
        )
        raise InvalidInput(message)
    return text


def check_note(entry: object) -> str:
    """Return the text of a daily note; raise InvalidInput if it is blank."""
    text = check_text(entry, "a note")
    if not text.strip():
        message = "the entry is empty; type some text"
        raise InvalidInput(message)
    return text


def find_new(
    incoming: Iterable[Memory], present: Iterable[Memory], older: Iterable[Memory] = ()
) -> list[Memory]:
    """Return the facts that are not present, each with an id that no other has.

    Those that left (`older`) keep theirs: the same fact may come back under it.
    """
    known = [*present]
    said = {(one.content, one.category) for one in known}
    named = {(one.id, one.content) for one in known}
    ids, left = {one.id for one in known}, {one.id: one.content for one in older}
    new: list[Memory] = []
    for one in map(_check_fact, incoming):
        if (one.content, one.category) in said or (one.id, one.content) in named:
            continue
        others = {one.id} if left.get(one.id, one.content) != one.content else set()
        new.append(replace(one, id=make_unique_id(one.id, ids | others)))
        said.add((one.content, one.category))
        ids.add(new[-1].id)
    return new


def _check_fact(memory: Memory) -> Memory:
    return replace(
        memory,
        content=check_content(memory.content),
        category=check_category(memory.category),
        slot=check_slot(memory.slot),
        until=check_day(memory.until),
        created_at=to_millisecond(memory.created_at),
        updated_at=to_millisecond(memory.updated_at),
    )


def contains(memory: Memory, keyword: str) -> bool:
    """Whether a fact holds a keyword, whatever the case."""
    return keyword.casefold() in memory.content.casefold()


def _read_time(value: object, otherwise: datetime) -> datetime:
    return from_iso(value) if isinstance(value, str) else otherwise


def _read_text(record: Mapping[str, Any], key: str) -> str | None:
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value or None
    message = f"a fact's {key} must be text, not {value!r}"
    raise InvalidInput(message)


def _make_heading(category: str) -> str | None:
    """Return a category as one line that can stand in a heading."""
    words = check_text(category, "a category").split()
    is_mark = [not word.strip("#") for word in words]
    if all(is_mark):
        return None
    return " ".join(words[is_mark.index(False) : len(words) - is_mark[::-1].index(False)])


@dataclass(frozen=True, slots=True)
class Written:
    """The version of a file that a person saved, and the number of that change, if it is one."""

    version: str
    change: int | None


@dataclass(frozen=True, slots=True)
class MemoryView:
    """What a turn has to know of the memory, as it was at one moment."""

    facts: list[Memory]
    """Every fact in its order, without those whose last day is over."""
    ended: list[Memory]
    """The facts whose last day is over, and which are not among the older ones yet."""
    page: str
    """The facts as a person reads them, in Markdown without ids."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A fact that somebody asked to be kept, and those that made room for it."""

    memory: Memory
    displaced: tuple[Memory, ...] = ()
