"""Taking facts, notes and messages into the search of a space: only what changed, nothing twice."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core.jsontext import dumps
from turnleaf.core.messages import TRUSTED
from turnleaf.core.search.passages import Passage, Placed, are_close, of_message, place
from turnleaf.store.files.index.writing import make_columns, meaning_of, shape_of
from turnleaf.store.postgres.trees import to_column

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.messages import Feed
    from turnleaf.store.postgres.place import Transaction

CONVERSATIONS = "conversations"
_COLUMNS = {
    "id": "bigint", "place": "text", "kind": "text", "shape": "bytea", "fingerprint": "bytea",
    "meaning": "bytea", "body": "text", "terms": "int", "line": "bigint", "before": "bigint",
    "after": "bigint", "date": "text", "conversation": "text", "message": "bigint", "part": "int",
    "time": "timestamptz", "trust": "text", "audience": "text", "is_shown": "boolean",
}  # fmt: skip
_TERMS = {"term": "text", "passage": "bigint", "own": "int", "around": "int", "length": "int"}
BEGIN = "INSERT INTO turnleaf.indexes DEFAULT VALUES ON CONFLICT DO NOTHING"
NOTE_UNEMBEDDED = """
INSERT INTO turnleaf.unembedded (embedder, passage)
SELECT embedders.id, passages.id FROM turnleaf.embedders CROSS JOIN turnleaf.passages
WHERE scripts <> '' AND NOT EXISTS (
    SELECT 1 FROM turnleaf.vectors
    WHERE vectors.embedder = embedders.id AND vectors.meaning = passages.meaning
)
"""
_NOTE_SOME = f"{NOTE_UNEMBEDDED} AND passages.id = ANY(%s)"
_FORGET_UNEMBEDDED = "DELETE FROM turnleaf.unembedded WHERE passage = ANY(%s)"
FORGET_VECTORS = """
DELETE FROM turnleaf.vectors WHERE embedder IN (SELECT id FROM turnleaf.embedders)
AND meaning = ANY(%s) AND NOT EXISTS (
    SELECT 1 FROM turnleaf.passages WHERE passages.meaning = vectors.meaning
)
"""
_BESIDE = f"""
SELECT id, message, part, time, before, after FROM turnleaf.passages
WHERE conversation = %s AND is_shown AND trust IN {TRUSTED} AND message
"""  # noqa: S608 - of constants
_RELINK = """
UPDATE turnleaf.passages AS one SET before = new.before, after = new.after, terms = new.terms,
    meaning = new.meaning
FROM unnest(%s::bigint[], %s::bigint[], %s::bigint[], %s::int[], %s::bytea[])
    AS new (id, before, after, terms, meaning)
WHERE one.id = new.id
"""


class PassageRow(NamedTuple):
    """A passage with its number and place."""

    number: int
    placed: Placed
    place: str
    kind: str
    shape: bytes
    before: int | None = None
    after: int | None = None

    def to_columns(self, terms: int) -> tuple[object, ...]:
        """Return what a row of it holds."""
        one, meaning = self.placed.passage, meaning_of(self.placed)
        return (
            self.number, self.place, self.kind, self.shape, one.fingerprint, meaning,
            dumps(to_body(one)), terms, one.line, self.before, self.after, one.date,
            one.conversation, one.message, one.part, one.time, one.trust,
            to_column(one.audience), one.is_shown,
        )  # fmt: skip


def to_body(one: Passage) -> dict[str, Any]:
    """Return what of a passage no statement looks at."""
    return {
        "text": one.text,
        "heading": one.heading,
        "speaker": one.speaker,
        "id": one.id,
        "parent": one.parent,
        "earlier": one.earlier,
        "later": one.later,
    }


def read_passage(body: str, day: str | None = None, message: int | None = None) -> Passage:
    """Return a passage as far as its neighbours and its vector need it."""
    told = json.loads(body)
    return Passage(
        told["text"], 0, told["heading"], date=day, speaker=told["speaker"], message=message
    )


def replace_place(
    step: Transaction, name: str, passages: Sequence[Passage], kind_of: Callable[[Passage], str]
) -> int:
    """Make a page's passages those that it has now; what is as it was stays; return what is new."""
    query = "SELECT shape, id, line FROM turnleaf.passages WHERE place = %s ORDER BY id DESC"
    stood: dict[bytes, list[tuple[int, int]]] = {}
    for shape, number, line in step.rows(query, name):
        stood.setdefault(bytes(shape), []).append((number, line))
    moved: list[tuple[int, int]] = []
    new: list[tuple[Placed, str, bytes]] = []
    for one in place(passages):
        kind = kind_of(one.passage)
        shape = shape_of(one) + kind.encode()
        if stood.get(shape):
            number, line = stood[shape].pop()
            moved += [(one.passage.line, number)] if line != one.passage.line else []
        else:
            new.append((one, kind, shape))
    step.run_many("UPDATE turnleaf.passages SET line = %s WHERE id = %s", moved)
    forget(step, [number for several in stood.values() for number, _ in several])
    numbers = _take_numbers(step, len(new))
    rows = [PassageRow(n, one[0], name, *one[1:]) for n, one in zip(numbers, new, strict=True)]
    insert(step, rows)
    return len(rows)


def _take_numbers(step: Transaction, count: int) -> range:
    query = "UPDATE turnleaf.indexes SET last_passage = last_passage + %s RETURNING last_passage"
    ((last,),) = step.rows(query, count)
    return range(last - count + 1, last + 1)


def insert(step: Transaction, rows: Sequence[PassageRow]) -> None:
    """Keep passages with their words."""
    if not rows:
        return
    lengths = add_terms(step, {one.number: one.placed for one in rows})
    step.insert_rows("passages", _COLUMNS, [one.to_columns(lengths[one.number]) for one in rows])
    step.run(_NOTE_SOME, [*lengths])
    _count(step, len(rows), sum(lengths.values()))


def add_terms(step: Transaction, placed: Mapping[int, Placed]) -> dict[int, int]:
    """Keep the words of passages; return how many each has, with those around it."""
    entries: list[tuple[str, int, int, int, int]] = []
    lengths: dict[int, int] = {}
    for number, one in placed.items():
        own, around = (Counter(words.split()) for words in make_columns(one))
        lengths[number] = own.total() + around.total()
        entries += [
            (to_column(term), number, own[term], around[term], lengths[number])
            for term in own.keys() | around.keys()
        ]
    step.insert_rows("terms", _TERMS, entries)
    return lengths


def forget(step: Transaction, numbers: Sequence[int]) -> None:
    """Take passages out, and vectors that stand for nothing any more."""
    if not numbers:
        return
    step.run("DELETE FROM turnleaf.terms WHERE passage = ANY(%s)", [*numbers])
    query = "DELETE FROM turnleaf.passages WHERE id = ANY(%s) RETURNING terms, meaning"
    gone = step.rows(query, [*numbers])
    _count(step, -len(gone), -sum(terms for terms, _ in gone))
    step.run(_FORGET_UNEMBEDDED, [*numbers])
    step.run(FORGET_VECTORS, [meaning for _, meaning in gone])


def _count(step: Transaction, passages: int, terms: int) -> None:
    query = "UPDATE turnleaf.indexes SET passages = passages + %s, terms = terms + %s"
    step.run(query, passages, terms)


def take_in(step: Transaction, feed: Feed, day_of: Callable[[datetime], str]) -> int:
    """Take in what a feed of messages tells; return how many passages are new."""
    told = [*feed.gone, *(one.id for one in feed.found)]
    query = (
        "SELECT id, conversation, message FROM turnleaf.passages "
        "WHERE place = %s AND message = ANY(%s)"
    )
    stood = step.rows(query, CONVERSATIONS, told)
    forget(step, [number for number, _, _ in stood])
    said = [passage for one in feed.found for passage in of_message(one, day_of)]
    numbers = _take_numbers(step, len(said)) if said else range(0)
    neighbours = Neighbours(step, dict(zip(numbers, said, strict=True)))
    for conversation, first, last in sorted(_find_spans(stood, said)):
        neighbours.join(conversation, first, last)
    neighbours.write()
    return len(said)


def _find_spans(
    stood: Iterable[Sequence[Any]], said: Iterable[Passage]
) -> set[tuple[str, int, int]]:
    """Return, by conversation, from which to which message something changed.

    What is new of a conversation is mostly its end; what changed in it may be anywhere.
    """
    spans = {(conversation, message, message) for _, conversation, message in stood}
    again = {message for _, _, message in stood}
    new: dict[str, list[int]] = {}
    for one in said:
        if one.message is not None and one.message not in again:
            new.setdefault(one.conversation or "", []).append(one.message)
    return spans | {(key, min(several), max(several)) for key, several in new.items()}


class NeighbourRow(NamedTuple):
    """A passage that has neighbours, as it stands."""

    id: int
    message: int
    part: int
    time: datetime | None
    before: int | None = None
    after: int | None = None


class Neighbours:
    """Joins passages to those right before and after; their words and meanings follow."""

    def __init__(self, step: Transaction, fresh: Mapping[int, Passage]) -> None:
        self._step = step
        self._fresh = fresh
        self._said = dict(fresh)
        self._links: dict[int, tuple[int | None, int | None]] = {}
        self._new: dict[str, list[NeighbourRow]] = {}
        for number, one in fresh.items():
            if one.conversation is not None and one.message is not None and one.has_neighbours:
                row = NeighbourRow(number, one.message, one.part, one.time)
                self._new.setdefault(one.conversation, []).append(row)

    def join(self, conversation: str, first: int, last: int) -> None:
        """Join the passages of some messages to each other and to what stands around them."""
        rows = self._read(conversation, first, last)
        for at, row in enumerate(rows):
            before, after = self._links.get(row.id, (row.before, row.after))
            links = (
                before if row.message < first else _find_close(row, rows[max(0, at - 1) : at]),
                after if row.message > last else _find_close(row, rows[at + 1 : at + 2]),
            )
            if links != (row.before, row.after):
                self._links[row.id] = links

    def _read(self, conversation: str, first: int, last: int) -> list[NeighbourRow]:
        """Read the passages of some messages that have neighbours, with one on either side."""
        before = self._select("< %s ORDER BY message DESC, part DESC LIMIT 1", conversation, first)
        among = self._select("BETWEEN %s AND %s", conversation, first, last)
        after = self._select("> %s ORDER BY message, part LIMIT 1", conversation, last)
        new = self._new.get(conversation, [])
        earlier = [one for one in new if one.message < first]
        later = [one for one in new if one.message > last]
        among += [one for one in new if first <= one.message <= last]
        return [
            *sorted((*before, *earlier), key=_find_order)[-1:],
            *sorted(among, key=_find_order),
            *sorted((*after, *later), key=_find_order)[:1],
        ]

    def _select(self, which: str, *values: object) -> list[NeighbourRow]:
        return [NeighbourRow(*row) for row in self._step.rows(f"{_BESIDE} {which}", *values)]

    def write(self) -> None:
        """Keep what is new; write words and meanings anew where neighbours changed."""
        beside = {one for links in self._links.values() for one in links if one}
        self._recall(self._links.keys() | beside)
        insert(
            self._step,
            [
                PassageRow(
                    number, self._place(number), CONVERSATIONS, CONVERSATIONS, b"",
                    *self._links.get(number, (None, None)),
                )
                for number in self._fresh
            ],
        )  # fmt: skip
        self._relink([number for number in sorted(self._links) if number not in self._fresh])

    def _relink(self, numbers: Sequence[int]) -> None:
        if not numbers:
            return
        step, placed = self._step, {number: self._place(number) for number in numbers}
        step.run("DELETE FROM turnleaf.terms WHERE passage = ANY(%s)", [*numbers])
        query = "SELECT terms, meaning FROM turnleaf.passages WHERE id = ANY(%s)"
        before = step.rows(query, [*numbers])
        lengths = add_terms(step, placed)
        _count(step, 0, sum(lengths.values()) - sum(terms for terms, _ in before))
        rows = [
            (number, *self._links[number], lengths[number], meaning_of(placed[number]))
            for number in numbers
        ]
        step.run(_RELINK, *(list(column) for column in zip(*rows, strict=True)))
        step.run(_FORGET_UNEMBEDDED, [*numbers])
        step.run(_NOTE_SOME, [*numbers])
        step.run(FORGET_VECTORS, [meaning for _, meaning in before])

    def _recall(self, numbers: Collection[int]) -> None:
        """Read what is said in passages that were not taken in just now."""
        unknown = [number for number in numbers if number not in self._said]
        query = "SELECT id, body, date, message FROM turnleaf.passages WHERE id = ANY(%s)"
        for number, body, day, message in self._step.rows(query, unknown) if unknown else ():
            self._said[number] = read_passage(body, day, message)

    def _place(self, number: int) -> Placed:
        links = self._links.get(number, (None, None))
        before, after = (one and self._said.get(one) for one in links)
        return Placed(self._said[number], before or None, after or None)


def _find_order(row: NeighbourRow) -> tuple[int, int]:
    return row.message, row.part


def _find_close(row: NeighbourRow, beside: Sequence[NeighbourRow]) -> int | None:
    """Return the number of what stands beside a passage, if it was said at about that time."""
    return next((other.id for other in beside if are_close(row.time, other.time)), None)
