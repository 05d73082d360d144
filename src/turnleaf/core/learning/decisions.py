"""What is to be done to the memory because of something that was said, as a value."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from turnleaf.core.times import from_iso, to_iso

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Action: TypeAlias = Literal["add", "wait", "replace", "again", "end", "withdraw"]
ACTIONS: tuple[str, ...] = get_args(Action)


@dataclass(frozen=True, slots=True)
class Decision:
    """One change of the memory, and where it comes from.

    A fact is to be added, to wait for review, to `replace` the target, to count as said `again`, to
    `end` (it held until now), or to be taken back because it was not meant (`withdraw`). The target
    must still say what is `expected`. The id is made beforehand, so that a decision is carried out
    once however often that is tried.
    """

    id: str
    action: Action
    conversation: str
    content: str = ""
    quote: str = ""
    category: str | None = None
    slot: str | None = None
    until: date | None = None
    target: str | None = None
    expected: str | None = None
    message_time: datetime | None = None
    trust: str = "user"
    source: str | None = None


def to_json(decision: Decision) -> dict[str, Any]:
    """Return the form in which a decision waits to be carried out."""
    return {
        "id": decision.id,
        "action": decision.action,
        "target": decision.target,
        "expected": decision.expected,
        "content": decision.content,
        "category": decision.category,
        "slot": decision.slot,
        "until": decision.until and decision.until.isoformat(),
        "quote": decision.quote,
        "conversation": decision.conversation,
        "messageTime": decision.message_time and to_iso(decision.message_time),
        "trust": decision.trust,
        "source": decision.source,
    }


def from_json(record: Mapping[str, Any]) -> Decision:
    """Read a decision; older versions added a fact in the place of a target."""
    action = record["action"]
    if action == "add" and record.get("target"):
        action = "replace"
    if action not in ACTIONS:
        message = f"{action!r} is not something to be done to the memory"
        raise ValueError(message)
    said, until = record.get("messageTime"), record.get("until")
    return Decision(
        id=str(record["id"]),
        action=action,
        conversation=record["conversation"],
        content=record.get("content") or "",
        quote=record.get("quote") or "",
        category=record.get("category"),
        slot=record.get("slot"),
        until=date.fromisoformat(until) if until else None,
        target=record.get("target"),
        expected=record.get("expected"),
        message_time=from_iso(said) if said else None,
        trust=record.get("trust") or "user",
        source=record.get("source"),
    )
