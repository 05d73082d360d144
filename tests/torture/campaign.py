"""A store hit at each of its system calls, one run for each: kills and errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.effort import sample
from tests.torture.checker import Case
from tests.torture.injection import ChildJob
from tests.torture.plan import Writer
from tests.torture.rig import HitChild, Nth, check, copies, count_calls, inject, report, write_each
from tests.torture.worker import outcomes

BEFORE = 5
MOST_HITS = 4
MOST_SECOND_HITS = 2
KILLED = 9


@dataclass(frozen=True, slots=True)
class Start:
    """A folder to begin from, and who wrote what is in it."""

    template: Path | None
    written: list[tuple[Writer, list[str]]]


NOTHING = Start(None, [])


def fill_stores(kinds: Sequence[str], folder: Path) -> dict[str, Start]:
    """Return for each kind a store in which somebody wrote before."""
    writers = [Writer(kind, 0, BEFORE) for kind in kinds]
    said = write_each([ChildJob(writer, str(folder / writer.kind)) for writer in writers], folder)
    assert said == [["ok"] * BEFORE for _ in kinds]
    return {
        writer.kind: Start(folder / writer.kind, [(writer, each)])
        for writer, each in zip(writers, said, strict=True)
    }


def aim(
    turns: Sequence[tuple[Writer, Start]],
    calls: Sequence[str],
    folder: Path,
    only: Callable[[Nth], bool] = lambda _: True,
    most: int = MOST_HITS,
) -> list[list[ChildJob]]:
    """For each writer and where it starts, return a job for each call that it makes, to be hit."""
    bases = [
        copies(start.template, folder, 1, f"base-{number}-{writer.kind}")[0]
        for number, (writer, start) in enumerate(turns)
    ]
    undisturbed = [ChildJob(turn[0], str(base)) for turn, base in zip(turns, bases, strict=True)]
    counted = count_calls(undisturbed, calls, folder)
    return [
        jobs_at(each, writer, start, folder, f"case-{number}-{writer.kind}", only, most)
        for number, ((writer, start), each) in enumerate(zip(turns, counted, strict=True))
    ]


def jobs_at(
    counted: Sequence[Nth],
    writer: Writer,
    start: Start,
    folder: Path,
    name: str,
    only: Callable[[Nth], bool] = lambda _: True,
    most: int = MOST_HITS,
) -> list[ChildJob]:
    """Aim at each of the calls; in the short form at a few, from the first to the last."""
    chosen = sample([nth for nth in counted if only(nth)], most)
    places = copies(start.template, folder, len(chosen), name)
    pairs = zip(places, chosen, strict=True)
    return [ChildJob(writer, str(place), nth.call, nth.nth) for place, nth in pairs]


def kill_each(
    turns: Sequence[tuple[Writer, Start]],
    calls: Sequence[str],
    folder: Path,
    most: int = MOST_HITS,
) -> list[tuple[Start, list[HitChild]]]:
    """From each start, run the writer once for each call that it makes, and kill it there."""
    groups = aim(turns, calls, folder, lambda nth: nth.changes, most)
    hits = iter(inject([job for jobs in groups for job in jobs], "signal=KILL", calls, folder))
    found = [
        (start, [next(hits) for _ in jobs]) for (_, start), jobs in zip(turns, groups, strict=True)
    ]
    assert {hit.status for _, each in found for hit in each} == {KILLED}
    return found


def kill_again(
    killed: Sequence[tuple[Start, Sequence[HitChild]]], calls: Sequence[str], folder: Path
) -> list[tuple[Start, list[HitChild]]]:
    """Where one was killed, start the next one, and kill it, too."""
    again = [
        (
            Writer(hit.job.writer.kind, 2, 1),
            Start(Path(hit.job.folder), [*before.written, (hit.job.writer, outcomes(hit.said))]),
        )
        for before, hits in killed
        for hit in hits
    ]
    return kill_each(again, calls, folder, MOST_SECOND_HITS)


def make_cases(hits: Sequence[HitChild], start: Start) -> list[Case]:
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


def find_complaints(
    groups: Sequence[tuple[Start, Sequence[HitChild]]], folder: Path, under: Sequence[str] = ()
) -> str:
    """What a fresh process has to complain of, and at which hits."""
    cases = [case for start, hits in groups for case in make_cases(hits, start)]
    lines = {hit.job.folder: hit.line for _, hits in groups for hit in hits}
    found = check(cases, folder, under)
    return report({f"{place} {lines[place]}": said for place, said in found.items()})
