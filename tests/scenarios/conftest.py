"""Each test begins in an empty folder, in an environment that says nothing about Turnleaf."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

OURS = ("TURNLEAF_", "CONVERSATION_", "MEMORY_", "SUPERVISOR_", "XDG_DATA_")


@pytest.fixture(autouse=True)
def fresh_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave nothing around that a test did not put there."""
    for variable in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
