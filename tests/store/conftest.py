"""An environment that says nothing about Turnleaf, and a folder that other users can reach."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

OURS = ("TURNLEAF_", "CONVERSATION_", "MEMORY_", "SUPERVISOR_")


@pytest.fixture(autouse=True)
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith(OURS)]:
        monkeypatch.delenv(variable)


@pytest.fixture
def ground() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="turnleaf-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
