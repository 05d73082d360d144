"""A disk that is full at any byte: a clear refusal, the old data intact, the next write works."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from tests.effort import LONG, together
from tests.torture.campaign import Start
from tests.torture.checker import Case
from tests.torture.full_disk import PAGE, Limit
from tests.torture.injection import ChildJob
from tests.torture.plan import Writer
from tests.torture.rig import (
    USUAL,
    check,
    copies,
    listing,
    program,
    read_outcomes,
    report,
    write_each,
)
from tests.torture.subjects import KINDS
from tests.torture.worker import outcomes

STEPS = 5
BYTES = 2000 if LONG else 8
PAGES = range(40) if LONG else range(0, 24, 6)
USUAL_KINDS = [kind for kind in KINDS if kind in USUAL]
OWN_MOUNTS = ("unshare", "-rm")


def run(
    limits: Sequence[Limit], starts: Mapping[str, Start], folder: Path, under: Sequence[str] = ()
) -> str:
    """Return what was wrong with what the workers said or left, by their folders."""
    said = folder / "said"
    ends = json.loads(
        program("full_disk", listing(limits, folder / "limits.json"), said, under=under)
    )
    assert {status for _, status in ends} == {0}
    lines = read_outcomes(said, len(limits))
    found = {}
    full = set[str]()
    for limit, each in zip(limits, lines, strict=True):
        refused = [line for line in each if "raw:" in line or "refused:" in line]
        if len(refused) > 1 or any("raw:" in line for line in refused):
            found[f"{limit.writer.kind} {limit.room} {limit.unit}"] = refused
        full |= {limit.writer.kind for line in refused if "refused:" in line}
    assert full == {*starts}, "not every disk was ever full"
    cases = [
        Case(limit.folder, kind, [*starts[kind].written, (limit.writer, outcomes(each))])
        for limit, each in zip(limits, lines, strict=True)
        if (kind := limit.writer.kind)
    ]
    return report(found | check(cases, folder))


@pytest.mark.parametrize("kinds", together(KINDS), ids=" ".join)
def test_a_write_that_ends_at_any_byte_loses_nothing(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    starts = {kind: start(kind) for kind in kinds}
    bases = {kind: copies(starts[kind].template, arena, 1, f"base-{kind}")[0] for kind in kinds}
    write_each([ChildJob(Writer(kind, 1, STEPS), str(base)) for kind, base in bases.items()], arena)
    limits = []
    for kind, base in bases.items():
        most = max(path.stat().st_size for path in base.rglob("*") if path.is_file())
        rooms = range(0, most + 100, max(1, most // BYTES))
        places = copies(starts[kind].template, arena, len(rooms), kind)
        limits += [
            Limit(Writer(kind, 1, STEPS), str(place), "bytes", room)
            for place, room in zip(places, rooms, strict=True)
        ]
    assert run(limits, starts, arena) == ""


@pytest.mark.parametrize("kinds", together(USUAL_KINDS), ids=" ".join)
def test_a_file_system_with_few_pages_left_loses_nothing(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    assert PAGE * max(PAGES) < 200_000
    starts = {kind: start(kind) for kind in kinds}
    limits = [
        Limit(Writer(kind, 1, STEPS), str(place), "pages", pages)
        for kind in kinds
        for place, pages in zip(
            copies(starts[kind].template, arena, len(PAGES), kind), PAGES, strict=True
        )
    ]
    assert run(limits, starts, arena, OWN_MOUNTS) == ""
