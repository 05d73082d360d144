"""What became of the facts that messages gave: forgotten ones hide them, newer ones date them.

Both are read from the record of changes alone, so that an undo needs no record of its own.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.search.hits import Newer
from turnleaf.core.times import from_iso

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.changes import Change
    from turnleaf.core.search.hits import Hit

Place: TypeAlias = "tuple[str, datetime]"
"""A conversation's key and the time of one of its messages."""

ACCEPTED = "accept"
"""The origin of the change by which an accepted fact leaves those pending review."""
FEWEST_BYTES = 12
"""A shorter text stands in too many messages to say that they are about the fact."""


@dataclass(frozen=True, slots=True)
class FactTraces:
    """Where a fact comes from, and the words in which it may have been said elsewhere."""

    places: frozenset[Place]
    texts: frozenset[str]


@dataclass(frozen=True, slots=True)
class MessageOutcomes:
    """What is forgotten, by the fact's id, and whose words a person has accepted."""

    forgotten: Mapping[str, FactTraces]
    accepted: frozenset[Place]


def reason_of(fact: str) -> str:
    """Return the reason for hiding the messages that a fact rests on."""
    return f"fact:{fact}"


def find_forgotten(changes: Iterable[Change]) -> dict[str, FactTraces]:
    """Return the facts that somebody asked to forget and that have not come back, by id."""
    places: dict[str, set[Place]] = defaultdict(set)
    texts: dict[str, set[str]] = defaultdict(set)
    gone: set[str] = set()
    for change in changes:
        for fact in change.ids():
            places[fact] |= _places(change)
            texts[fact] |= _texts(change, fact)
            if change.op == "delete":
                gone.add(fact)
            elif change.after is not None or fact != change.id:
                gone.discard(fact)
    return {
        fact: FactTraces(frozenset(places[fact]), frozenset(texts[fact])) for fact in sorted(gone)
    }


def find_accepted(changes: Iterable[Change]) -> frozenset[Place]:
    """Return where facts come from that a person has accepted."""
    places: dict[str, set[Place]] = defaultdict(set)
    accepted: set[str] = set()
    for change in changes:
        places[change.id] |= _places(change)
        if change.op == "delete" and change.origin == ACCEPTED:
            accepted.add(change.id)
    return frozenset(place for fact in accepted for place in places[fact])


def find_superseded(changes: Iterable[Change]) -> dict[Place, Newer]:
    """Return what the messages' facts say now, where that is something else than they said."""
    stories: dict[str, list[Change]] = defaultdict(list)
    for change in changes:
        if change.id:
            stories[change.id].append(change)
    found: dict[Place, Newer] = {}
    for story in stories.values():
        last = story[-1].after
        if last is None:
            continue
        for change, following in pairwise(story):
            is_other = change.after is not None and change.after.content != last.content
            for place in _places(change) if is_other else ():
                found[place] = Newer(following.time, last.content)
    return found


def note_newer(hits: Sequence[Hit], read: Callable[[], Iterable[Change]]) -> list[Hit]:
    """Return hits, messages whose facts were replaced with what replaced them.

    The changes are read only where there is a message.
    """
    if not any(hit.message is not None for hit in hits):
        return [*hits]
    newer = find_superseded(read())
    return [replace(hit, newer=_find_newer(hit, newer)) for hit in hits]


def _find_newer(hit: Hit, newer: Mapping[Place, Newer]) -> Newer | None:
    if hit.conversation is None or hit.time is None:
        return None
    return newer.get((hit.conversation, from_iso(hit.time)))


def _places(change: Change) -> set[Place]:
    source = change.source
    if source is None or source.conversation is None or source.message_time is None:
        return set()
    return {(source.conversation, source.message_time)}


def _texts(change: Change, fact: str) -> set[str]:
    said = {memory.content for memory in change.states() if memory.id == fact}
    if change.source is not None and change.source.quote and change.op != "delete":
        said.add(change.source.quote)
    return {text for text in said if len(text.encode("utf-8", "replace")) >= FEWEST_BYTES}
