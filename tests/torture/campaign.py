"""A store hit at each of its system calls, one run for each: kills and errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.effort import LONG
from tests.torture.checker import Case
from tests.torture.injected import Job
from tests.torture.plan import Writer
from tests.torture.rig import Hit, Nth, check, copies, count_calls, inject, report, write
from tests.torture.worker import outcomes

BEFORE = 5
KILLED = 9


@dataclass(frozen=True, slots=True)
class Start:
    """A folder to begin from, and who wrote what is in it."""

    template: Path | None
    written: list[tuple[Writer, list[str]]]


NOTHING = Start(None, [])


def filled(kind: str, folder: Path) -> Start:
    """A store in which somebody wrote before."""
    writer = Writer(kind, 0, BEFORE)
    said = write(writer, folder / kind)
    assert said == ["ok"] * BEFORE
    return Start(folder / kind, [(writer, said)])


def aimed(
    writer: Writer,
    starts: Sequence[Start],
    calls: Sequence[str],
    folder: Path,
    only: Callable[[Nth], bool] = lambda _: True,
) -> list[list[Job]]:
    """For each start, give a job for each call that the writer makes from there, to be hit."""
    bases = [copies(start.template, folder, 1, f"base-{n}")[0] for n, start in enumerate(starts)]
    counted = count_calls([Job(writer, str(base)) for base in bases], calls, folder)
    return [
        jobs_at(each, writer, start, folder, f"case-{number}", only)
        for number, (start, each) in enumerate(zip(starts, counted, strict=True))
    ]


def jobs_at(
    counted: Sequence[Nth],
    writer: Writer,
    start: Start,
    folder: Path,
    name: str,
    only: Callable[[Nth], bool],
) -> list[Job]:
    """Aim at each of the calls; in the short form at every third."""
    chosen = [nth for nth in counted if only(nth)][:: 1 if LONG else 3]
    places = copies(start.template, folder, len(chosen), name)
    pairs = zip(places, chosen, strict=True)
    return [Job(writer, str(place), nth.call, nth.nth) for place, nth in pairs]


def killed_each(
    writer: Writer, starts: Sequence[Start], calls: Sequence[str], folder: Path
) -> list[tuple[Start, list[Hit]]]:
    """From each start, run the writer once for each call that it makes, and kill it there."""
    groups = aimed(writer, starts, calls, folder, lambda nth: nth.changes)
    hits = iter(inject([job for jobs in groups for job in jobs], "signal=KILL", calls, folder))
    found = [
        (start, [next(hits) for _ in jobs]) for start, jobs in zip(starts, groups, strict=True)
    ]
    assert {hit.status for _, each in found for hit in each} == {KILLED}
    return found


def left_by(hits: Sequence[Hit], start: Start) -> list[Case]:
    """What the hits left, to be checked."""
    return [
        Case(
            hit.job.folder,
            hit.job.writer.kind,
            [*start.written, (hit.job.writer, outcomes(hit.said))],
            later=number % 2 == 0,
        )
        for number, hit in enumerate(hits)
    ]


def complaints(
    groups: Sequence[tuple[Start, Sequence[Hit]]], folder: Path, under: Sequence[str] = ()
) -> str:
    """What a fresh process has to complain of, and at which hits."""
    cases = [case for start, hits in groups for case in left_by(hits, start)]
    lines = {hit.job.folder: hit.line for _, hits in groups for hit in hits}
    found = check(cases, folder, under)
    return report({f"{place} {lines[place]}": said for place, said in found.items()})
