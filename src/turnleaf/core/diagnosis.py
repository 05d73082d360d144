"""What stores say of themselves: for how long they keep messages, what they hold, what is wrong."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, TypeAlias

from turnleaf.core import schedules
from turnleaf.core.languages import pluralize
from turnleaf.core.languages.language import DEFAULT, choose_language
from turnleaf.core.languages.replies import FILE, find_replies
from turnleaf.core.serialization import to_iso


@dataclass(frozen=True, slots=True)
class Retention:
    """For how many days a store keeps its messages; None: forever, 0: only what a window shows.

    A store that cannot keep everything has only the window, whatever the days.
    """

    keeps_everything: bool
    days: int | None = None

    @property
    def span(self) -> str:
        """The span in a word for programs: "forever", "N days" or "window"."""
        if not self.keeps_everything or self.days == 0:
            return "window"
        return "forever" if self.days is None else pluralize(self.days, "day")

    def describe(self, language: str = DEFAULT) -> str:
        """Return the span in words for people."""
        words = find_replies(language, "keeping")
        if self.span in words:
            return words[self.span]
        return words["one_day"] if self.days == 1 else words["days"].format(self.days)

    def announce(self, location: object, wanted: str = DEFAULT) -> str:
        """Return in one line what is kept from now on, where, and how to change that.

        That is in the language that is `wanted`, if we have it.
        """
        language = choose_language(wanted, FILE).name
        said = find_replies(language, "keeping")["announced"].format(
            self.describe(language), location
        )
        return said[:1].upper() + said[1:]


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.learning.queue import LearningProblem, Outgoing, SetAside
    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import StoredFigures
    from turnleaf.core.schedules import Schedule

    DayOf = Callable[[datetime], str]

Level: TypeAlias = Literal["error", "warning"]

LATE = timedelta(minutes=1)
"""So long after its time nobody seems to run what is due."""
_UNHAPPY = {"failed", "interrupted", "missed"}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a space is kept, why there, and whether anything is there yet."""

    location: str
    why: str
    exists: bool


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


Part: TypeAlias = Place | Row | Diagnosis | Retention | LearningFigures


@dataclass(frozen=True, slots=True)
class Examination:
    """All that was found; what could not be found out is None."""

    rows: tuple[Row, ...] = ()
    findings: tuple[Diagnosis, ...] = ()
    retention: Retention | None = None
    learning: LearningFigures | None = None
    place: Place | None = None

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
            next((one for one in found if isinstance(one, Place)), None),
        )

    @classmethod
    def join(cls, examinations: Iterable[Examination]) -> Examination:
        """Return what several examinations found, in their order."""
        return cls.of(part for one in examinations for part in one.list_parts())

    def list_parts(self) -> Iterable[Part]:
        """Return what was found one by one."""
        single = (self.retention, self.learning, self.place)
        return *self.rows, *self.findings, *(one for one in single if one is not None)


def describe_facts(facts: Sequence[Memory]) -> str:
    """Return in words how many facts there are, and how long."""
    chars = sum(len(fact.content) for fact in facts)
    return f"{pluralize(len(facts), 'fact')}, {pluralize(chars, 'character')}"


def describe_figures(figures: StoredFigures, day_of: DayOf) -> str:
    """Return in words how much of conversations there is, and since when."""
    conversations = pluralize(figures.conversations, "conversation")
    messages = pluralize(figures.messages, "message")
    since = f", oldest {day_of(figures.oldest)}" if figures.oldest else ""
    return f"{conversations}, {messages}{since}, {figures.bytes:,} bytes"


def describe_schedules(known: Sequence[Schedule]) -> str:
    """Return in words how many schedules there are."""
    paused = sum(one.is_paused for one in known)
    return pluralize(len(known), "schedule") + (f", {paused} of them paused" if paused else "")


def find_schedule_problems(known: Iterable[Schedule], now: datetime) -> Iterator[Diagnosis]:
    """Yield which schedules failed last, and which nobody runs."""
    for one in known:
        name = f"the schedule {one.name or one.id}"
        last = schedules.mark_if_interrupted(one.runs[-1], now) if one.runs else None
        if last and last.state in _UNHAPPY:
            why = last.error or last.state
            message = f"the last run of {name} (due {to_iso(last.due)}): {last.state}; {why}"
            yield Diagnosis("warning", message)
        if one.next_due and one.is_due(now - LATE) and not one.is_running(now):
            program = "turnleaf slack" if one.kind == "slack" else "turnleaf serve"
            since = to_iso(one.next_due)
            message = f"{name} has been due since {since}, but no program runs it; start {program}"
            yield Diagnosis("warning", message)


def describe_backlog(backlog: Mapping[str, int], *, has_unread: bool) -> str:
    """Return in words how many messages wait to be learned from."""
    messages = pluralize(sum(backlog.values()), "message")
    if not backlog or has_unread:
        return f"{messages} to learn from"
    return f"{messages} waiting for a model; already read by rules"


def find_learning_problems(
    set_aside: Iterable[SetAside], outbox: Iterable[Outgoing], error: LearningProblem | None
) -> list[Diagnosis]:
    """Return what could not be read or kept, and what failed last."""
    messages = [_describe_set_aside(one) for one in set_aside]
    problems = sorted({one.problem for one in outbox if one.problem})
    messages += [f"an extracted fact could not be stored: {one}" for one in problems]
    if error:
        messages.append(f"learning failed and will be retried: {error.text}")
    return [Diagnosis("warning", message) for message in messages]


def _describe_set_aside(one: SetAside) -> str:
    said = one.queued.message.timestamp
    return (
        f"a message of {one.key}{f' ({to_iso(said)})' if said else ''} was set aside because"
        " learning from it was interrupted twice; turnleaf forget --conversation erases it with"
        " the rest"
    )
