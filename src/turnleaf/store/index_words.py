"""How much of a question's words the candidates of a search hold, looked up in their texts."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from turnleaf.core import ranking
from turnleaf.core.passages import Passage
from turnleaf.core.ranking import HeldWords
from turnleaf.core.terms import any_of, date_terms, terms

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import apsw

CONTEXT_TERMS = 64
CONTEXT_CHARS = 1_000
"""As much of what is said before and after holds the terms that count."""

SHORT_CHARS = 2_000
LONG_CHARS = 50_000

terms_of_day = lru_cache(maxsize=1024)(date_terms)
_terms_of_short = lru_cache(maxsize=4096)(terms)


class _Text(NamedTuple):
    """What of a passage is looked through."""

    number: int
    text: str
    day: str | None
    heading: str | None
    speaker: str | None
    before: int | None
    after: int | None


def find_held(
    database: apsw.Connection, numbers: Collection[int], weights: Mapping[str, float]
) -> dict[int, HeldWords]:
    """Return how much of the question's words each passage holds; nothing without words."""
    if not weights:
        return {}
    rows: Any = database.execute(
        "SELECT id, text, date, heading, speaker, before, after FROM passages "
        "WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps([*numbers]),),
    )
    texts = [_Text(*row) for row in rows]
    beside = _read_beside(database, texts)
    typical = typical_length(database)
    own = {one.number: _own_terms(database, one, weights) for one in texts}
    shares = {
        one.number: ranking.words(weights, own[one.number], _terms_around(one, beside), typical)
        for one in texts
    }
    neighbours = {one.number: (one.before, one.after) for one in texts}
    return {
        number: HeldWords(share, is_whole=weights.keys() <= {*own[number]})
        for number, share in ranking.spread(shares, neighbours).items()
    }


def _terms_of(text: str) -> Sequence[str]:
    """Return the terms of a text; the same messages are candidates again and again."""
    return _terms_of_short(text) if len(text) <= SHORT_CHARS else terms(text)


def _own_terms(database: apsw.Connection, one: _Text, asked: Collection[str]) -> list[str]:
    """Return the terms of a passage with its day and speaker."""
    own = (
        [*_terms_of(one.text)]
        if len(one.text) <= LONG_CHARS
        else _find_terms(database, one.number, asked)
    )
    name = Passage(one.text, 0, speaker=one.speaker).name
    added = (*terms_of_day(one.day or ""), *_terms_of(name))
    return own + [term for term in added if term in asked and term not in own]


def _find_terms(database: apsw.Connection, number: int, asked: Collection[str]) -> list[str]:
    """Return the asked terms that a passage holds: a very long one takes too long to be read."""
    holds = "SELECT 1 FROM words WHERE rowid = ? AND words MATCH ?"
    return [
        term for term in asked if database.execute(holds, (number, f"own:{any_of([term])}")).get
    ]


def _read_beside(database: apsw.Connection, texts: Sequence[_Text]) -> dict[int | None, str]:
    """Return what is said right before and after some passages."""
    known: dict[int | None, str] = {one.number: one.text for one in texts}
    wanted = {side for one in texts for side in (one.before, one.after) if side is not None}
    rows: Any = database.execute(
        "SELECT id, text FROM passages WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps([*(wanted - known.keys())]),),
    )
    return known | dict(rows)


def _terms_around(one: _Text, beside: Mapping[int | None, str]) -> list[str]:
    """Return the nearest terms of what stands around a passage, as they are indexed."""
    around = [*_terms_of(one.heading or "")[:CONTEXT_TERMS]]
    around += _terms_of(_last_part(beside.get(one.before, "")))[-CONTEXT_TERMS:]
    around += _terms_of(_first_part(beside.get(one.after, "")))[:CONTEXT_TERMS]
    return around


def _last_part(text: str) -> str:
    return text if len(text) <= SHORT_CHARS else text[-CONTEXT_CHARS:]


def _first_part(text: str) -> str:
    return text if len(text) <= SHORT_CHARS else text[:CONTEXT_CHARS]


def typical_length(database: apsw.Connection) -> float:
    """Return how many terms FTS5 says a passage has on average, with those around it."""
    record = database.execute("SELECT block FROM words_data WHERE id = 1").get
    count, *totals = _read_varints(bytes(record or b""))
    return sum(totals) / max(count, 1)


def _read_varints(data: bytes) -> list[int]:
    """Read SQLite's numbers of variable length, none of which here has more than eight bytes."""
    numbers = [0]
    for byte in data:
        numbers[-1] = numbers[-1] << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004
            numbers.append(0)
    return numbers[:-1] or [0]
