"""memories.json: an array of facts, and how to change one and nothing else.

Keys that we do not know stay with their fact.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.memories import OPTIONAL_KEYS, Ids, Memory, from_json, to_json
from turnleaf.core.pages import Shape, Splice, Tally
from turnleaf.core.serialization import dumps
from turnleaf.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

EMPTY = "[]\n"
_HEAD, _BETWEEN, _FOOT = "[\n  ", ",\n  ", "\n]\n"
MAX_SHOWN_CHARS = 40
_NEVER = datetime.min.replace(tzinfo=UTC)


class JsonFact(NamedTuple):
    """A fact and its place in the array."""

    memory: Memory
    start: int
    is_typed: bool = False
    """Whether it has the file's time, having none of its own."""


@dataclass(frozen=True, slots=True)
class JsonPage:
    """A parsed memories.json; each record is also kept as its text, on a line of its own."""

    records: list[str]
    facts: list[JsonFact]
    tally: Tally

    @property
    def text(self) -> str:
        """The file as we write it."""
        return _assemble(self.records)

    def get_raw(self, fact: JsonFact) -> str:
        """Return a fact's record as it stands."""
        return self.records[fact.start]

    def group(self, memories: Sequence[Memory]) -> Sequence[Sequence[Memory]]:
        """Return facts in groups that are added at one place: all in one."""
        return [memories] if memories else []

    def insert(self, *memories: Memory) -> Splice:
        """Return the change that adds facts at the end."""
        raws = tuple(dumps(to_json(memory)) for memory in memories)
        return Splice(len(self.records), (), raws, raws)

    def replace(self, fact: JsonFact, memory: Memory) -> Splice:
        """Return the change that replaces a fact, in its place."""
        record = to_json(memory)
        gone = {key for key in OPTIONAL_KEYS if key not in record}
        # Keys that another program or a later version has put there stay.
        known = json.loads(self.get_raw(fact)).items()
        raw = dumps({key: value for key, value in known if key not in gone} | record)
        return Splice(fact.start, (self.get_raw(fact),), (raw,), (raw,))

    def remove(self, fact: JsonFact) -> Splice:
        """Return the change that removes a fact."""
        return Splice(fact.start, (self.get_raw(fact),), ())

    def apply(self, splice: Splice) -> str:
        """Return the text after a change."""
        return _assemble(splice.make_in(self.records))

    def with_splice(self, splice: Splice, unknown_time: datetime) -> JsonPage:
        """Return the file after a change: what parsing its text would give, with less work."""
        end, moved = splice.start + len(splice.took), len(splice.put) - len(splice.took)
        records, ids = splice.make_in(self.records), Ids()
        new = _read_facts(splice.put, unknown_time, ids, splice.start)
        tally = self.tally.change(self.facts[splice.start : end], new)
        # Where two facts share an id, they are told apart by counting, which depends on all of
        # them.
        if tally is None or ids.has_twins:
            return _make_page(records, unknown_time)
        below = [JsonFact(memory, at + moved, typed) for memory, at, typed in self.facts[end:]]
        return JsonPage(records, [*self.facts[: splice.start], *new, *below], tally)

    def with_time(self, time: datetime) -> JsonPage:
        """Return the file as if it had been saved at another time."""
        return _make_page(self.records, time) if self.tally.typed else self

    def shape(self) -> Shape:
        """Return a fingerprint of the records, whatever their order."""
        return self.shape_of(self.records)

    def shape_of(self, raws: Iterable[str]) -> Shape:
        """Return the fingerprint of records that need not be on this page."""
        return Shape.of(raws)


def parse(text: str, unknown_time: datetime) -> JsonPage:
    """Return the page in a JSON array; raise CorruptFile for anything else."""
    try:
        # Our own layout is split line by line, which is much cheaper than to parse it.
        return _make_page(_split_our_layout(text), unknown_time)
    except (ValueError, RecursionError):
        pass
    try:
        return _make_page(_read_records(text), unknown_time)
    except (ValueError, RecursionError) as error:
        problem = error if isinstance(error, ValueError) else "it is nested too deeply"
        message = f"it is not a JSON array of memories: {problem}"
        raise CorruptFile(message) from error


def _split_our_layout(text: str) -> list[str]:
    """Return the records of a file in our layout, without parsing it; raise ValueError else."""
    if text == EMPTY:
        return []
    if not (text.startswith(_HEAD) and text.endswith(_FOOT)):
        message = "it has another layout"
        raise ValueError(message)
    # No line break can stand inside of a record: JSON escapes those of texts.
    return text[len(_HEAD) : -len(_FOOT)].split(_BETWEEN)


def _read_records(text: str) -> list[str]:
    # Some editors save a byte order mark, which JSON does not allow.
    records = json.loads(text.removeprefix("\ufeff"))
    if not isinstance(records, list):
        message = "it holds something else"
        raise ValueError(message)
    return [dumps(record) for record in records]


def _assemble(records: list[str]) -> str:
    return _HEAD + _BETWEEN.join(records) + _FOOT if records else EMPTY


def _load_record(record: str) -> dict[str, Any]:
    value = json.loads(record)
    if not isinstance(value, dict):
        message = f"{record[:MAX_SHOWN_CHARS]} is no object with content"
        raise ValueError(message)
    return value


def _make_page(records: list[str], unknown_time: datetime) -> JsonPage:
    ids = Ids()
    facts = _read_facts(records, unknown_time, ids)
    return JsonPage(records, facts, Tally.of(facts, has_twins=ids.has_twins))


def _read_facts(
    records: Sequence[str], unknown_time: datetime, ids: Ids, start: int = 0
) -> list[JsonFact]:
    facts: list[JsonFact] = []
    for index, record in enumerate(records, start):
        ours = _read_ours(record)
        memory = ours or from_json(_load_record(record), unknown_time)
        facts.append(JsonFact(ids.tell_apart(memory), index, ours is None))
    return facts


@lru_cache(maxsize=16_384)
def _read_ours(record: str) -> Memory | None:
    """Return a fact that has times of its own; None for one typed by hand."""
    memory = from_json(_load_record(record), _NEVER)
    return memory if memory.created_at != _NEVER else None
