"""What an examination of the stores finds: what each of them holds, and what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from turnleaf.core.retention import Retention

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from turnleaf.core.learning.queue import LearningProblem

Level: TypeAlias = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that is kept, where, and how much of it there is."""

    name: str
    location: str
    bytes: int | None
    holds: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A problem: an error stops something from working, a warning is for somebody to look at."""

    level: Level
    message: str


@dataclass(frozen=True, slots=True)
class LearningFigures:
    """How learning went today, what went wrong last, and how models' servers are asked for JSON."""

    calls: int
    skipped: int
    given_up: int
    last_error: LearningProblem | None
    json_formats: Mapping[tuple[str, str], str] = field(hash=False)


Part: TypeAlias = Row | Diagnosis | Retention | LearningFigures


@dataclass(frozen=True, slots=True)
class Examination:
    """All that was found; what could not be found out is None."""

    rows: tuple[Row, ...] = ()
    findings: tuple[Diagnosis, ...] = ()
    retention: Retention | None = None
    learning: LearningFigures | None = None

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Examination:
        """Return what was found one by one as a whole, each problem once."""
        found = list(parts)
        findings = (one for one in found if isinstance(one, Diagnosis))
        return cls(
            tuple(one for one in found if isinstance(one, Row)),
            tuple(dict.fromkeys(findings)),
            next((one for one in found if isinstance(one, Retention)), None),
            next((one for one in found if isinstance(one, LearningFigures)), None),
        )

    @classmethod
    def join(cls, examinations: Iterable[Examination]) -> Examination:
        """Return what several examinations found, in their order."""
        return cls.of(part for one in examinations for part in one.list_parts())

    def list_parts(self) -> Iterable[Part]:
        """Return what was found one by one."""
        single = (self.retention, self.learning)
        return *self.rows, *self.findings, *(one for one in single if one is not None)
