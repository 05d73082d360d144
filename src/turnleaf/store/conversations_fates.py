"""Bringing messages in line with the facts that they gave: hidden, shown again, accepted."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from turnleaf.core.message_fates import reason_of
from turnleaf.core.times import to_iso
from turnleaf.store.conversations_marking import accept, hide, hide_numbers, show_again
from turnleaf.store.conversations_schema import select

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turnleaf.core.message_fates import Fates, Place, Traces
    from turnleaf.store.databases import Connection

# A message that is no plain text is kept as JSON.
CONTAINING = """
    SELECT n FROM messages
    WHERE is_hidden IS NULL AND instr(lower(coalesce(text, json)), lower(?)) > 0
"""


def read_state(database: Connection) -> str:
    """Return how the record of facts looked when messages were last brought in line with it."""
    found: str | None = database.execute("SELECT state FROM record").get
    return found or ""


def settle(database: Connection, fates: Fates, state: str) -> None:
    """Hide and show messages, and trust them, as the record of facts says by now.

    What is hidden for a fact that is forgotten still is not looked for again: whoever says it
    once more means it.
    """
    known = {reason for (reason,) in select(database, "SELECT DISTINCT reason FROM hidden")}
    forgotten = {reason_of(fact): traces for fact, traces in fates.forgotten.items()}
    for reason in known - forgotten.keys():
        show_again(database, reason)
    for reason, traces in forgotten.items():
        if reason not in known:
            _hide_traces(database, traces, reason)
    for key, stamps in _by_conversation(fates.accepted).items():
        accept(database, key, stamps)
    database.execute("DELETE FROM record")
    database.execute("INSERT INTO record (state) VALUES (?)", (state,))


def _hide_traces(database: Connection, traces: Traces, reason: str) -> None:
    for key, stamps in _by_conversation(traces.places).items():
        hide(database, key, stamps, reason)
    for text in traces.texts:
        hide_numbers(database, [n for (n,) in select(database, CONTAINING, (text,))], reason)


def _by_conversation(places: Iterable[Place]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for key, time in places:
        found[key].add(to_iso(time))
    return found
