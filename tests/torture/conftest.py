"""Folders for the torture: one in memory, where syncing costs nothing, and one on a disk."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import pytest

from tests.torture.campaign import Start, filled
from tests.torture.rig import KEPT, MEMORY


@pytest.fixture(scope="session")
def start() -> Iterator[Callable[[str], Start]]:
    """Return for each kind a store in which somebody wrote before; copy it, do not use it."""
    for folder in _folder(MEMORY if MEMORY.is_dir() else None):
        yield partial(_fill_once, folder)


@cache
def _fill_all(folder: Path) -> dict[str, Start]:
    return filled(KEPT, folder)


def _fill_once(folder: Path, kind: str) -> Start:
    return _fill_all(folder)[kind]


@pytest.fixture
def arena() -> Iterator[Path]:
    """A folder in memory, where there is one."""
    yield from _folder(MEMORY if MEMORY.is_dir() else None)


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder on the disk that other users can reach."""
    yield from _folder(None)


def _folder(above: Path | None) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="turnleaf-", dir=above))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
