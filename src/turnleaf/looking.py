"""What may matter for a message: found in the index, and by the time that it speaks of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turnleaf.core.hits import Hit
from turnleaf.core.passages import of_day
from turnleaf.core.spans import span_in
from turnleaf.core.terms import parse_query, simplify

if TYPE_CHECKING:
    from datetime import date

    from turnleaf.core.spans import Span
    from turnleaf.store.daily import DailyLog
    from turnleaf.store.index import Index

MOST_HITS = 8
MOST_ENTRIES = 20
LONGEST_DAYS = 31
QUERY_CHARS = 2000
LINE_CHARS = 200
# What is said around the thing that is asked about: "what did I note about …?"
_AROUND = re.compile(
    simplify(
        r"\b(?:note[ds]?|wrote|write|written|log(?:ged)?|happen(?:ed|s)?|record(?:ed)?|entr(?:y|ies)"
        r"|mention(?:ed)?|did|do|done|what|which|show|list|all|any(?:thing)?|things?|i|me|my|we|the)\b"
        "|記了|記下|記錄|紀錄|記得|寫了|寫下|寫過|做了|做過|發生|說了|說過|提到|有什麼|什麼事情|什麼事"
        "|什麼|哪些|事情|的事|筆記|日誌|關於|有關|有沒有|我|你|了|嗎|呢"
    ),
    re.IGNORECASE,
)


def found(text: str, index: Index, daily: DailyLog, today: date) -> list[Hit]:
    """Find what fits a message, of the days that it names if it names any."""
    if len(text) > QUERY_CHARS:
        # Of a pasted text the last line asks about it, or else the first.
        first, last = text.strip().partition("\n")[0], text.strip().rpartition("\n")[2]
        lines = (last[-LINE_CHARS:], first[:LINE_CHARS])
        return next(filter(None, (found(line, index, daily, today) for line in lines)), [])
    span = span_in(text, today)
    if span is None:
        return index.search(text, MOST_HITS)
    thing = _AROUND.sub(" ", simplify(span.rest))
    if not parse_query(thing).terms:
        return _noted(span, daily)
    hits = index.search(thing, MOST_HITS, since=span.first, until=span.last)
    in_order = sorted(hits, key=lambda hit: (hit.date or "", str(hit.path), hit.line))
    return in_order or index.search(thing, MOST_HITS)


def _noted(span: Span, daily: DailyLog) -> list[Hit]:
    """Give what the daily logs of a few days hold, in order."""
    days = [day for day in daily.dates() if span.first <= day <= span.last][-LONGEST_DAYS:]
    hits = [
        Hit(
            text=passage.text,
            source="daily",
            path=daily.location / f"{day}.md",
            line=passage.line,
            heading=passage.heading,
            date=passage.date,
            conversation=None,
            speaker=None,
            id=None,
            score=0.0,
            bm25=0.0,
            vector=0.0,
        )
        for day in days
        for passage in of_day(daily.read(day), day)
    ]
    return hits[:MOST_ENTRIES]
