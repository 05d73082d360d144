"""Reading a model's answer: each record by itself, and what is whole of one that was cut off.

Nothing right is lost for the sake of something wrong beside it. A record that cannot be used is
skipped and counted; one that has a quote, or else words, of the user becomes a proposal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from turnleaf.core.jsontext import is_text
from turnleaf.core.learning.extraction import RELATIONS, Candidate, Proposal, slot_names
from turnleaf.core.learning.quotes import Heard, find_carrier, is_long_enough, judge
from turnleaf.core.memories import MAX_CATEGORY_CHARS
from turnleaf.errors import UnreadableAnswer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turnleaf.core.learning.extraction import TranscriptMessage
    from turnleaf.core.memories import Memory

MOST_FACTS = 20
"""How many facts are taken from an answer, unless there are more messages than that."""
MOST_FACT_CHARS = 300
_MOST_QUOTE_CHARS = 2_000
_MOST_ANSWER_CHARS = 200_000
_MOST_BROKEN = 50
"""How many records that are no JSON are passed over before the rest is given up."""
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read from an answer, and how many of its records could not be used."""

    proposals: tuple[Proposal, ...] = ()
    skipped: int = 0
    is_cut_off: bool = False


def read_answer(
    answer: str, said: Sequence[TranscriptMessage], known: Sequence[Memory] = ()
) -> Reading:
    """Read a model's JSON; raise UnreadableAnswer where not even a part of it is any.

    An answer with more facts than the messages can hold is not trusted: what is taken of it
    waits to be reviewed.
    """
    records, is_cut_off = _records(answer)
    heard = Heard.of(said, known)
    found = [_proposal(record, heard) for record in records]
    usable = [one for one in found if one is not None]
    most = max(MOST_FACTS, sum(one.is_source for one in said))
    if len(records) > most:
        usable = [_lower_trust(one) for one in usable[:most]]
    return Reading(tuple(usable), len(records) - len(usable), is_cut_off)


def _lower_trust(proposal: Proposal) -> Proposal:
    return replace(proposal, trust="model") if proposal.trust == "user" else proposal


def _records(answer: str) -> tuple[list[object], bool]:
    """Return the records of an answer, and whether it breaks off."""
    text = answer[:_MOST_ANSWER_CHARS]
    whole = _whole(text)
    if whole is not None:
        return whole, False
    found = list(_salvage_records(text))
    if not found:
        shown = " ".join(text.split())[:80]
        message = (
            f"the model was asked for JSON and answered {shown!r}; set TURNLEAF_EXTRACT_MODEL to"
            " another model if it stays so"
        )
        raise UnreadableAnswer(message)
    return found, True


def _whole(text: str) -> list[object] | None:
    """Return the records of an answer that is JSON, whatever words stand around it."""
    for opening, closing in (("{", "}"), ("[", "]")):
        start, end = text.find(opening), text.rfind(closing)
        if start >= 0:
            read = _decode(text[start : end + 1])
            records = read.get("facts") if isinstance(read, dict) else read
            if isinstance(records, list):
                return records
            if isinstance(read, dict) and "fact" in read:
                return [read]
    return None


def _decode(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _salvage_records(text: str) -> Iterator[object]:
    """Return the records of a text that are whole, each by itself."""
    at, broken = text.find("{", text.find("[") + 1), 0
    while at >= 0 and broken < _MOST_BROKEN:
        try:
            record, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            broken, end = broken + 1, at + 1
        else:
            if isinstance(record, dict) and "fact" in record:
                yield record
        at = text.find("{", end)


def _proposal(record: object, heard: Heard) -> Proposal | None:
    """Return what a record proposes; None where it has no form or nothing to rest on."""
    if not isinstance(record, dict) or not is_long_enough(_text(record.get("fact"))):
        return None
    fact, quote = _text(record["fact"]), _text(record.get("quote"), _MOST_QUOTE_CHARS)
    number = heard.find(quote, record.get("message"))
    if number is None:
        return _propose_without_quote(fact, quote, record, heard)
    verdict = judge(fact, quote, number, heard)
    candidate = _candidate(fact, quote, record, heard.said[number])
    return _add_relation(Proposal(candidate, number, verdict.trust, source=verdict.source), record)


def _propose_without_quote(
    fact: str, quote: str, record: dict[str, Any], heard: Heard
) -> Proposal | None:
    """Return a fact whose quote nobody said: it waits, if it is made of the user's words."""
    if not is_long_enough(quote) or heard.is_settled(quote):
        return None
    number = find_carrier(fact, heard)
    if number is None:
        return None
    said = heard.said[number]
    words = " ".join(said.text.split())[:MOST_FACT_CHARS]
    return _add_relation(Proposal(_candidate(fact, words, record, said), number, "model"), record)


def _add_relation(proposal: Proposal, record: dict[str, Any]) -> Proposal:
    relation, target = record.get("relation"), record.get("target")
    if relation not in RELATIONS or not isinstance(target, str):
        return proposal
    return replace(proposal, relation=relation, target=target.strip("() "))


def _candidate(fact: str, quote: str, record: dict[str, Any], said: TranscriptMessage) -> Candidate:
    slot = record.get("slot")
    return Candidate(
        fact,
        quote,
        _category(record.get("category")),
        slot=slot if slot in slot_names() else None,
        until=_until(record.get("until"), said),
    )


def _category(value: object) -> str | None:
    """Return a heading that a model gives of itself, if it can be one."""
    heading = _text(value)
    return heading if 0 < len(heading) <= MAX_CATEGORY_CHARS else None


def _until(value: object, said: TranscriptMessage) -> date | None:
    """Return the day on which a fact ends, unless that was before it was said."""
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return None
    return day if said.time is None or day >= said.time.date() else None


def _text(value: object, most: int = MOST_FACT_CHARS) -> str:
    """Return a text on one line; nothing where no file can hold it, or it is too long."""
    if not isinstance(value, str) or not is_text(value) or "\0" in value:
        return ""
    line = " ".join(value.split())
    return line if len(line) <= most else ""
