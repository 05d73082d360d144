"""A damaged file is read as far as it can be, or kept aside with a warning; never discarded."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from tests.effort import LONG, together
from tests.torture.campaign import Start
from tests.torture.damage import Damaged, any_file, json_file, text_file
from tests.torture.places import main_file
from tests.torture.rig import program, report
from tests.torture.subjects import KINDS

TIMES = 80 if LONG else 1
MOST = 100_000 if LONG else 30
TEXTS = [kind for kind in KINDS if not kind.endswith("-db")]
JSON_FILES = [kind for kind in KINDS if kind.endswith("-json")]
RECORDED = [kind for kind in KINDS if kind.startswith("memories")]
RECORD = "changes.jsonl"


def open_all(
    kinds: tuple[str, ...],
    start: Callable[[str], Start],
    damage: Callable[[bytes], Iterable[Damaged]],
    folder: Path,
    name: str | None = None,
) -> str:
    """Return the complaints about each damage to a file of each kind, by what it is."""
    meant, damages = {}, []
    for kind in kinds:
        template = start(kind).template
        assert template
        file = template / name if name else main_file(kind, template)
        within = str(file.relative_to(template))
        places = folder / kind
        places.mkdir()
        for number, (what, data) in enumerate(damage(file.read_bytes())):
            place = places / f"{number:06}"
            shutil.copytree(template, place)
            (place / within).write_bytes(data)
            place.with_suffix(".original").write_bytes(data)
            meant[str(place)] = f"{kind} {what}"
        damages.append((kind, str(places), within))
    listed = folder / "damages.json"
    listed.write_text(json.dumps(damages))
    answers = json.loads(program("damage_check", listed))
    assert answers.keys() == meant.keys()
    return report({meant[place]: found for place, found in answers.items() if found})


def any_damage(data: bytes) -> Iterable[Damaged]:
    return any_file(data, seed=1, times=TIMES)


@pytest.mark.parametrize("kinds", together(KINDS), ids=" ".join)
def test_cut_and_flipped_and_garbage_files_are_not_discarded(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    assert open_all(kinds, start, any_damage, arena) == ""


@pytest.mark.parametrize("kinds", together(TEXTS), ids=" ".join)
def test_other_encodings_and_conflict_marks_are_not_discarded(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    assert open_all(kinds, start, text_file, arena) == ""


@pytest.mark.parametrize("kinds", together(JSON_FILES), ids=" ".join)
def test_json_of_wrong_types_is_not_discarded(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    damage = partial(json_file, most=MOST, seed=1)
    assert open_all(kinds, start, damage, arena) == ""


@pytest.mark.parametrize("kinds", together(RECORDED), ids=" ".join)
def test_damage_to_the_record_of_changes_costs_no_fact(
    kinds: tuple[str, ...], arena: Path, start: Callable[[str], Start]
) -> None:
    assert open_all(kinds, start, any_damage, arena, RECORD) == ""
