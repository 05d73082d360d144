"""Awkward places: what cannot be done is refused clearly, what can be done is done rightly."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.torture.campaign import Start
from tests.torture.places import SCENES
from tests.torture.rig import program, report
from tests.torture.subjects import KINDS

A_DAY_IS_NEW = {("file_is_gone", "daily"), ("folder_is_gone", "daily")}


@pytest.mark.parametrize("scene", SCENES)
def test_every_store_copes_when_the(
    scene: str, ground: Path, start: Callable[[str], Start]
) -> None:
    kinds = [kind for kind in KINDS if (scene, kind) not in A_DAY_IS_NEW]
    for kind in kinds:
        shutil.copytree(start(kind).template or "", ground / kind)
    plays = ground / "plays.json"
    plays.write_text(json.dumps([(scene, kind, str(ground / kind)) for kind in kinds]))
    answers = json.loads(program("places", plays))
    assert report(dict(zip(kinds, answers, strict=True))) == ""
