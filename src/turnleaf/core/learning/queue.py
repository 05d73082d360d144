"""What waits to be learned from, and what was decided and is not carried out yet, as values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from turnleaf.core import messages
from turnleaf.core.serialization import from_iso, to_iso
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from turnleaf.core.messages import Message


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


def decision_to_json(decision: Decision) -> dict[str, Any]:
    """Return the JSON form of a decision that is still to be carried out."""
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


def decision_from_json(record: Mapping[str, Any]) -> Decision:
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


TRUSTS = ("user", "tool", "document", "stranger", "assistant")
READ_BY_RULES = "isReadByRules"


@dataclass(frozen=True, slots=True)
class Queued:
    """A message to learn from, how far it is to be trusted, and where it came from.

    Without a `source` that is the conversation itself. `saved` are the ids of memories that were
    already saved from it; one that `is_settled` was a request that has been acted on, and there
    is nothing more to be learned from it. One that rules have read waits for a model alone.
    """

    message: Message
    trust: str = "user"
    source: str | None = None
    saved: tuple[str, ...] = ()
    is_settled: bool = False
    is_read_by_rules: bool = False


@dataclass(frozen=True, slots=True)
class Sighting:
    """A statement that is less sure, by what it is about and says, and the day that it was made."""

    statement: str
    day: date


@dataclass(frozen=True, slots=True)
class Batch:
    """What is learned from at once of one conversation, held by whoever has the token.

    That is all that waited, unless an attempt was cut off: then messages are taken one by one,
    with the requests that were acted on beside them, and `has_more` tells that others wait.
    """

    key: str
    token: str
    messages: tuple[Queued, ...]
    has_more: bool = False
    rows: tuple[int, ...] = ()
    """The places of the messages in the queue."""


@dataclass(frozen=True, slots=True)
class Unread:
    """What a model has not read of a batch, from one message to the end, and why.

    `unreadable` counts the messages from there that it answered with something that cannot be read.
    """

    start: int
    problem: str
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class SetAside:
    """A message of a conversation that is not learned from any more."""

    key: str
    queued: Queued


@dataclass(frozen=True, slots=True)
class Outgoing:
    """What was decided and is to be carried out, and what kept it from that the last time."""

    id: str
    key: str
    decision: Decision
    problem: str | None


@dataclass(frozen=True, slots=True)
class LearningProblem:
    """Why an extraction failed."""

    time: datetime
    key: str
    text: str


def queued_to_json(queued: Queued) -> dict[str, Any]:
    """Return the JSON form of a queued message; raise InvalidInput for an unknown trust."""
    if queued.trust not in TRUSTS:
        message = f"a message's trust must be one of {', '.join(TRUSTS)}, not {queued.trust!r}"
        raise InvalidInput(message)
    return {
        "message": messages.to_json(queued.message),
        "trust": queued.trust,
        "source": queued.source,
        "saved": list(queued.saved),
        "isSettled": queued.is_settled,
        READ_BY_RULES: queued.is_read_by_rules,
    }


def queued_from_json(record: Mapping[str, Any]) -> Queued:
    """Read a queued message; raise KeyError, TypeError or ValueError where it is damaged."""
    return Queued(
        message=messages.from_json(record["message"]),
        trust=record["trust"],
        source=record["source"],
        saved=tuple(record["saved"]),
        is_settled=record["isSettled"],
        # Messages that an older version queued do not have it.
        is_read_by_rules=bool(record.get(READ_BY_RULES)),
    )


def sighting_to_json(sighting: Sighting, key: str) -> dict[str, Any]:
    """Return the JSON form of a sighting, with its conversation."""
    day = sighting.day.isoformat()
    return {"statement": sighting.statement, "day": day, "conversation": key}


def sighting_from_json(record: Mapping[str, Any]) -> Sighting:
    """Read a sighting; raise KeyError, TypeError or ValueError where it is damaged."""
    return Sighting(str(record["statement"]), date.fromisoformat(record["day"]))


LEASE_SECONDS = 600
"""How long somebody may be at work before it is taken to have died."""

State: TypeAlias = Literal["idle", "flushing", "flushed"]
STATES: tuple[State, ...] = get_args(State)


def is_due(
    last: datetime | None,
    now: datetime,
    waiting: int,
    *,
    interval_seconds: float,
    min_messages: int,
) -> bool:
    """Whether enough waits, and the last extraction, if any, was long enough ago.

    One that seems to be yet to come, because the clock was set back, was long ago.
    """
    if waiting < max(min_messages, 1):
        return False
    # An extraction that seems to lie ahead, after the clock was set back, must not stop all
    # learning.
    return last is None or not 0 <= (now - last).total_seconds() < interval_seconds


def is_held(since: datetime | None, now: datetime) -> bool:
    """Whether a lease taken then still holds, also if the clock was set back since."""
    # A clock that was set back a little takes nobody's lease away.
    return since is not None and abs((now - since).total_seconds()) < LEASE_SECONDS


@dataclass(frozen=True, slots=True)
class Cycle:
    """How far the flush has come that there is once from one compaction to the next."""

    state: State = "idle"
    since: datetime | None = None

    def may_begin(self, now: datetime) -> bool:
        """Whether a flush is still to be done and none is under way."""
        is_under_way = self.state == "flushing" and is_held(self.since, now)
        return self.state != "flushed" and not is_under_way

    def begin(self, now: datetime) -> Cycle:
        """Return the cycle with a flush under way."""
        return Cycle("flushing", now)

    def finish(self, *, succeeded: bool) -> Cycle:
        """Return the cycle after a flush; one that failed is tried again."""
        if self.state != "flushing":
            return self
        return Cycle("flushed") if succeeded else Cycle()
