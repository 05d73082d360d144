"""A damaged file is read as far as it can be, or kept aside with a warning; never discarded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.effort import LONG
from tests.torture.campaign import Start
from tests.torture.damage import Damaged, any_file, json_file, text_file
from tests.torture.places import main_file
from tests.torture.rig import program, report
from tests.torture.subjects import KINDS

TIMES = 20 if LONG else 1
MOST = 100_000 if LONG else 120
RECORDED = [kind for kind in KINDS if kind.startswith("memories")]


def open_all(kind: str, template: Path, name: str, worse: Iterable[Damaged], folder: Path) -> str:
    """Give the complaints about each damage, by what it is."""
    meant = {}
    places = folder / "places"
    places.mkdir()
    for number, (what, data) in enumerate(worse):
        place = places / f"{number:06}"
        shutil.copytree(template, place)
        (place / name).write_bytes(data)
        place.with_suffix(".original").write_bytes(data)
        meant[place.name] = what
    answers = json.loads(program("damaged", kind, places, name))
    return report({meant[place]: found for place, found in answers.items() if found})


def sound(start: Start, kind: str) -> tuple[Path, str, bytes]:
    template = start.template
    assert template
    file = main_file(kind, template)
    return template, str(file.relative_to(template)), file.read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_cut_and_flipped_and_garbage_files_are_not_discarded(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    template, name, data = sound(start(kind), kind)
    assert open_all(kind, template, name, any_file(data, seed=1, times=TIMES), arena) == ""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.endswith("-db")])
def test_other_encodings_and_conflict_marks_are_not_discarded(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    template, name, data = sound(start(kind), kind)
    assert open_all(kind, template, name, text_file(data), arena) == ""


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.endswith("-json")])
def test_json_of_wrong_types_is_not_discarded(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    template, name, data = sound(start(kind), kind)
    assert open_all(kind, template, name, json_file(data, most=MOST, seed=1), arena) == ""


@pytest.mark.parametrize("kind", RECORDED)
def test_damage_to_the_record_of_changes_costs_no_fact(
    kind: str, arena: Path, start: Callable[[str], Start]
) -> None:
    template, _, _ = sound(start(kind), kind)
    record = (template / "changes.jsonl").read_bytes()
    worse = any_file(record, seed=1, times=TIMES)
    assert open_all(kind, template, "changes.jsonl", worse, arena) == ""
