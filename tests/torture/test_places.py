"""Awkward places: what cannot be done is refused clearly, what can be done is done rightly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.effort import together
from tests.torture.campaign import Start
from tests.torture.places import SCENES
from tests.torture.rig import program, report
from tests.torture.subjects import KINDS

A_DAY_IS_NEW = {("file_is_gone", "daily"), ("folder_is_gone", "daily")}


@pytest.mark.parametrize("scenes", together([*SCENES]), ids=", ".join)
def test_every_store_copes_when_the(
    scenes: tuple[str, ...], ground: Path, start: Callable[[str], Start]
) -> None:
    pairs = [
        (scene, kind) for scene in scenes for kind in KINDS if (scene, kind) not in A_DAY_IS_NEW
    ]
    for scene, kind in pairs:
        shutil.copytree(start(kind).template or "", ground / scene / kind)
    plays = ground / "plays.json"
    plays.write_text(
        json.dumps([(scene, kind, str(ground / scene / kind)) for scene, kind in pairs])
    )
    answers = json.loads(program("places", plays))
    assert report(dict(zip(map(" ".join, pairs), answers, strict=True))) == ""
