"""What messages give to the memory: facts as they would be written, corrections, withdrawals.

Imported conversations are read in the order of time, whatever order they were imported in: the
newest value holds, and what ended since is no candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.learning.dates import make_dates_absolute
from turnleaf.core.learning.recogniser import read_message
from turnleaf.core.learning.reconciling import is_implied, judge, tells_of_kin
from turnleaf.core.learning.slots import (
    Correction,
    Statement,
    Withdrawal,
    choose_category,
    write_fact,
)
from turnleaf.core.memories import Memory, make_content_id
from turnleaf.core.secrets import mask_fact, mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date, datetime

    from turnleaf.core.learning.slots import Names


@dataclass(frozen=True, slots=True)
class Finding:
    """A statement, the fact that it makes, its last day if it has one, and its words."""

    statement: Statement
    content: str
    quote: str
    until: date | None = None


Found: TypeAlias = Finding | Correction | Withdrawal


def find_facts(text: str, said_at: datetime, names: Names | None = None) -> list[Found]:
    """Return the facts, corrections and withdrawals of a user's message; `names` are known."""
    said = read_message(text, names)
    told = [one for one in said if isinstance(one, Statement)]
    return [
        _make_finding(one, text, said_at) if isinstance(one, Statement) else one
        for one in said
        # "My dog Rex" also says that there is a dog; on the page that would be one line too many.
        if not (isinstance(one, Statement) and _goes_without_saying(one, told))
    ]


def _goes_without_saying(one: Statement, told: Sequence[Statement]) -> bool:
    others = (other for other in told if other is not one)
    return any(is_implied(one, other) or tells_of_kin(one, other) for other in others)


def make_finding(statement: Statement, quote: str, said_at: datetime, message: str = "") -> Finding:
    """Return a statement with the text of its fact, in the script of the message."""
    fact = write_fact(statement, said_at.date(), message=message or quote)
    dated = make_dates_absolute(fact, said_at)
    return Finding(statement, dated.text, quote, dated.until)


def _make_finding(statement: Statement, text: str, said_at: datetime) -> Finding:
    return make_finding(statement, text[statement.start : statement.end], said_at, text)


def find_sure_facts(text: str, said_at: datetime) -> list[Finding]:
    """Return the facts that are certain enough to be learned from a message at once."""
    found = (one for one in find_facts(text, said_at) if isinstance(one, Finding))
    # What is less certain waits for another day, and what is over is no fact to add.
    return [one for one in found if not (one.statement.is_weak or one.statement.is_over)]


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact that a message states, with where and when."""

    conversation: str
    time: datetime
    message: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class ProposedFact:
    """A fact to be reviewed, and the words that it rests on."""

    memory: Memory
    stated: Stated

    @property
    def quote(self) -> str:
        """The words, with secrets masked."""
        return mask_secrets(self.stated.finding.quote, self.stated.message)


def find_stated(conversation: str, text: str, time: datetime, names: Names) -> list[Stated]:
    """Return the certain facts that a message states."""
    found = (one for one in find_facts(text, time, names) if isinstance(one, Finding))
    return [Stated(conversation, time, text, one) for one in found if not one.statement.is_weak]


def choose_candidates(stated: Iterable[Stated], known: Sequence[Memory]) -> list[ProposedFact]:
    """Return the facts that still hold after all that was said, without known ones."""
    chosen: dict[str, ProposedFact] = {}
    # Exports come in any order, and the value that was said last is the one that holds.
    for one in sorted(stated, key=lambda one: one.time):
        candidates = [each.memory for each in chosen.values()]
        verdict = judge(one.finding.statement, [*known, *candidates])
        if verdict.effect == "same":
            continue
        touched = {memory.id for memory in (*verdict.targets, *verdict.ended)}
        for memory_id in touched & chosen.keys():
            del chosen[memory_id]
        # What is known was said later than this old message, so it holds.
        is_outdated = any(memory.id in touched and memory.updated_at > one.time for memory in known)
        if verdict.effect != "ends" and not is_outdated:
            _add(chosen, one, known)
    return list(chosen.values())


def _add(chosen: dict[str, ProposedFact], one: Stated, known: Sequence[Memory]) -> None:
    content = mask_fact(one.finding.content, one.message)
    if not content or any(memory.content == content for memory in known):
        return
    used = {memory.category for memory in known if memory.category}
    memory = Memory(
        make_content_id(content),
        content,
        one.time,
        one.time,
        choose_category(one.finding.statement, used),
        "import",
        one.finding.statement.slot,
        one.finding.until,
    )
    chosen[memory.id] = ProposedFact(memory, one)
