"""What a message gives to the memory: facts as they would be written, corrections, withdrawals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.learning.dates import make_dates_absolute
from turnleaf.core.learning.recogniser import read_message
from turnleaf.core.learning.reconciling import is_implied, tells_of_kin
from turnleaf.core.learning.rendering import write_fact
from turnleaf.core.learning.slots import Correction, Statement, Withdrawal

if TYPE_CHECKING:
    from collections.abc import Sequence
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
    """Return what a message of the user gives, in order; `names` are known already."""
    said = read_message(text, names)
    told = [one for one in said if isinstance(one, Statement)]
    return [
        _find(one, text, said_at) if isinstance(one, Statement) else one
        for one in said
        if not (isinstance(one, Statement) and _goes_without_saying(one, told))
    ]


def _goes_without_saying(one: Statement, told: Sequence[Statement]) -> bool:
    others = (other for other in told if other is not one)
    return any(is_implied(one, other) or tells_of_kin(one, other) for other in others)


def make_finding(statement: Statement, quote: str, said_at: datetime, message: str = "") -> Finding:
    """Return a statement as it would be written down, in the script of the message."""
    fact = write_fact(statement, said_at.date(), message=message or quote)
    dated = make_dates_absolute(fact, said_at)
    return Finding(statement, dated.text, quote, dated.until)


def _find(statement: Statement, text: str, said_at: datetime) -> Finding:
    return make_finding(statement, text[statement.start : statement.end], said_at, text)


def sure_facts(text: str, said_at: datetime) -> list[Finding]:
    """Return the facts that are learned from a message as soon as it is said."""
    found = (one for one in find_facts(text, said_at) if isinstance(one, Finding))
    return [one for one in found if not (one.statement.is_weak or one.statement.is_over)]
