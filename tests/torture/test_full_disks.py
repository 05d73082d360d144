"""A disk that is full at any byte: a clear refusal, the old data intact, the next write works."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.effort import LONG
from tests.torture.campaign import Start
from tests.torture.checker import Case
from tests.torture.full import PAGE, Limit
from tests.torture.plan import Writer
from tests.torture.rig import USUAL, check, copies, listing, program, report, spoken, write
from tests.torture.subjects import KINDS
from tests.torture.worker import outcomes

STEPS = 5
BYTES = 2000 if LONG else 20
PAGES = range(40) if LONG else range(0, 24, 3)
OWN_MOUNTS = ("unshare", "-rm")


def run(limits: Sequence[Limit], start: Start, folder: Path, under: Sequence[str] = ()) -> str:
    """Give what was wrong with what the workers said or left, by their folders."""
    said = folder / "said"
    ends = json.loads(program("full", listing(limits, folder / "limits.json"), said, under=under))
    assert {status for _, status in ends} == {0}
    lines = spoken(said, len(limits))
    found = {}
    for limit, each in zip(limits, lines, strict=True):
        refused = [line for line in each if "raw:" in line or "refused:" in line]
        if len(refused) > 1 or any("raw:" in line for line in refused):
            found[f"{limit.room} {limit.unit}"] = refused
    assert any("refused:" in line for each in lines for line in each), "no disk was ever full"
    cases = [
        Case(limit.folder, limit.writer.kind, [*start.written, (limit.writer, outcomes(each))])
        for limit, each in zip(limits, lines, strict=True)
    ]
    return report(found | check(cases, folder))


@pytest.mark.parametrize("kind", KINDS)
def test_a_write_that_ends_at_any_byte_loses_nothing(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    before, writer = start(kind), Writer(kind, 1, STEPS)
    (base,) = copies(before.template, arena, 1, "base")
    write(writer, base)
    most = max(path.stat().st_size for path in base.rglob("*") if path.is_file())
    rooms = range(0, most + 100, max(1, most // BYTES))
    places = copies(before.template, arena, len(rooms))
    limits = [
        Limit(writer, str(place), "bytes", room) for place, room in zip(places, rooms, strict=True)
    ]
    assert run(limits, before, arena) == ""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in USUAL])
def test_a_file_system_with_few_pages_left_loses_nothing(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    assert PAGE * max(PAGES) < 200_000
    before = start(kind)
    places = copies(before.template, arena, len(PAGES))
    limits = [
        Limit(Writer(kind, 1, STEPS), str(place), "pages", pages)
        for place, pages in zip(places, PAGES, strict=True)
    ]
    assert run(limits, before, arena, OWN_MOUNTS) == ""
