"""A fact of the long-term memory, as a value, and the rules for its text."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from turnleaf.core.times import from_iso, to_iso
from turnleaf.errors import InvalidInput, MemoryFull

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

MAX_CATEGORY_CHARS = 100
_NOT_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Memory:
    """One fact. `origin` tells who brought it: "user", "import", a tool, a face."""

    id: str
    content: str
    created_at: datetime
    updated_at: datetime
    category: str | None = None
    origin: str | None = None


def to_json(memory: Memory) -> dict[str, Any]:
    """Give 002's form, with what came later only where it says something."""
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
    return record


def from_json(record: Mapping[str, Any], unknown_time: datetime) -> Memory:
    """Read 002's form; raise ValueError for any other.

    One typed by hand may lack its id and times.
    """
    if "content" not in record:
        message = "a memory has no content"
        raise InvalidInput(message)
    checked_content(record["content"])
    return recorded(record, unknown_time)


def recorded(record: Mapping[str, Any], unknown_time: datetime) -> Memory:
    """Read a fact that stood in a file once, even if nobody could add it today."""
    content = str(record["content"])
    created = _time(record.get("createdAt"), unknown_time)
    return Memory(
        id=_text(record, "id") or content_id(content),
        content=content,
        created_at=created,
        updated_at=_time(record.get("updatedAt"), created),
        category=_heading(_text(record, "category") or ""),
        origin=_text(record, "origin"),
    )


def content_id(content: str) -> str:
    """Name a fact that nobody named, by what it says."""
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    return f"h{digest[:11]}"


class Ids:
    """Ids that are taken; facts that say or are named the same are told apart by counting them."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._counted: dict[str, int] = {}

    def take(self, wanted: str) -> str:
        """Take an id, or one like it that is free."""
        number = self._counted.get(wanted, 0)
        while (candidate := f"{wanted}-{number}" if number > 1 else wanted) in self._taken:
            number += 1
        self._taken.add(candidate)
        self._counted[wanted] = number
        return candidate

    def told_apart(self, memory: Memory) -> Memory:
        """Give a fact under an id that no other has."""
        taken = self.take(memory.id)
        return memory if taken == memory.id else replace(memory, id=taken)


def unique_id(wanted: str, taken: Iterable[str]) -> str:
    """Give an id, or one like it that is not taken."""
    return Ids(taken).take(wanted)


def checked_content(content: object) -> str:
    """Refuse what cannot be a fact in a file that people read."""
    text = checked_text(content, "a memory")
    if not text.strip():
        message = "a memory needs some text; this is empty"
        raise InvalidInput(message)
    return text


def checked_category(category: str | None) -> str | None:
    """Refuse what cannot be a heading; nothing but spaces is no category."""
    if category is None:
        return None
    heading = _heading(category)
    if heading and len(heading) > MAX_CATEGORY_CHARS:
        message = f"a category may have {MAX_CATEGORY_CHARS} characters, this has {len(heading)}"
        raise InvalidInput(message)
    return heading


def checked_text(text: object, what: str) -> str:
    """Refuse what no text file can hold."""
    if not isinstance(text, str):
        message = f"{what} is text, not {type(text).__name__}"
        raise InvalidInput(message)
    wrong = _NOT_TEXT.search(text)
    if wrong:
        message = (
            f"{what} cannot hold the character U+{ord(wrong[0]):04X} (at position "
            f"{wrong.start()}), which is not text; remove it"
        )
        raise InvalidInput(message)
    return text


def check_capacity(facts: Iterable[str], max_items: int, max_chars: int) -> None:
    """Refuse more facts, or more characters of facts, than the limits allow."""
    sizes = [len(fact) for fact in facts]
    if len(sizes) > max_items:
        message = (
            f"the memory is full: it holds {max_items} facts (MEMORY_MAX_ITEMS); "
            "forget some or raise the limit"
        )
        raise MemoryFull(message)
    if sum(sizes) > max_chars:
        message = (
            f"the memory is full: this would make {sum(sizes)} characters of {max_chars} "
            "(MEMORY_MAX_CHARS); forget or shorten some, or raise the limit"
        )
        raise MemoryFull(message)


def contains(memory: Memory, keyword: str) -> bool:
    """Tell whether a fact holds a keyword, whatever the case (002)."""
    return keyword.casefold() in memory.content.casefold()


def _time(value: object, otherwise: datetime) -> datetime:
    return from_iso(value) if isinstance(value, str) else otherwise


def _text(record: Mapping[str, Any], key: str) -> str | None:
    value = record.get(key)
    if value is None or isinstance(value, str):
        return value or None
    message = f"a memory's {key} is text, not {value!r}"
    raise InvalidInput(message)


def _heading(category: str) -> str | None:
    """Give a category as one line that can stand in a heading."""
    words = checked_text(category, "a category").split()
    is_mark = [not word.strip("#") for word in words]
    if all(is_mark):
        return None
    return " ".join(words[is_mark.index(False) : len(words) - is_mark[::-1].index(False)])
