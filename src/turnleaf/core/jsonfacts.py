"""memories.json: an array of facts, and how to change one and nothing else (002).

Keys that we do not know stay with their fact.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turnleaf.core.jsontext import dumps
from turnleaf.core.memories import Memory, from_json, to_json, unique_id
from turnleaf.core.pages import Splice
from turnleaf.core.shapes import Shape
from turnleaf.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

EMPTY = "[]\n"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact and its place in the array."""

    memory: Memory
    start: int


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed memories.json; each record is also kept as its text, on a line of its own."""

    records: list[str]
    facts: list[Fact]

    def raw(self, fact: Fact) -> str:
        """Give a fact's record as it stands."""
        return self.records[fact.start]

    def insert(self, memory: Memory) -> Splice:
        """Add a fact at the end."""
        raw = dumps(to_json(memory))
        return Splice(len(self.records), (), (raw,), raw)

    def replace(self, fact: Fact, memory: Memory) -> Splice:
        """Let a fact say something else, in its place."""
        raw = dumps(json.loads(self.raw(fact)) | to_json(memory))
        return Splice(fact.start, (self.raw(fact),), (raw,), raw)

    def remove(self, fact: Fact) -> Splice:
        """Take a fact away."""
        return Splice(fact.start, (self.raw(fact),), ())

    def spliced(self, splice: Splice) -> str:
        """Give the text after a change."""
        end = splice.start + len(splice.took)
        records = [*self.records[: splice.start], *splice.put, *self.records[end:]]
        return (
            "[\n" + ",\n".join(f"  {record}" for record in records) + "\n]\n" if records else EMPTY
        )

    def shape(self) -> Shape:
        """Fingerprint the records, whatever their order."""
        return self.shape_of(self.records)

    def shape_of(self, raws: Iterable[str]) -> Shape:
        """Fingerprint records that may stand here no more."""
        return Shape.of(raws)


def parse(text: str, unknown_time: datetime) -> Page:
    """Read the array; raise CorruptFile when it is none."""
    try:
        records = json.loads(text.removeprefix("\ufeff"))
        facts = _facts(records, unknown_time)
        return Page([dumps(record) for record in records], facts)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        message = f"it is not a JSON array of memories: {type(error).__name__} {error}"
        raise CorruptFile(message) from error


def _facts(records: Any, unknown_time: datetime) -> list[Fact]:  # noqa: ANN401 - from a file
    if not isinstance(records, list):
        message = f"an array was expected, not {type(records).__name__}"
        raise TypeError(message)
    facts: list[Fact] = []
    taken: set[str] = set()
    for index, record in enumerate(records):
        memory = from_json(record, unknown_time)
        memory = dataclasses.replace(memory, id=unique_id(memory.id, taken))
        taken.add(memory.id)
        facts.append(Fact(memory, index))
    return facts
