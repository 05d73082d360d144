"""Folders for the torture: one in memory, where syncing costs nothing, and one that may not be."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import pytest

from tests.effort import LONG
from tests.torture.campaign import Start, fill_stores
from tests.torture.rig import KEPT, MEMORY


@pytest.fixture(scope="session")
def start() -> Iterator[Callable[[str], Start]]:
    """Return for each kind a store in which somebody wrote before; copy it, do not use it."""
    for folder in _folder(MEMORY if MEMORY.is_dir() else None):
        yield partial(_fill_once, folder)


@cache
def _fill_all(folder: Path) -> dict[str, Start]:
    return fill_stores(KEPT, folder)


def _fill_once(folder: Path, kind: str) -> Start:
    return _fill_all(folder)[kind]


@pytest.fixture
def arena() -> Iterator[Path]:
    """A folder in memory, where there is one."""
    yield from _folder(MEMORY if MEMORY.is_dir() else None)


@pytest.fixture
def ground() -> Iterator[Path]:
    """A folder that other users can reach; if long, on the disk."""
    yield from _folder(Path("/var/tmp") if LONG else None)  # noqa: S108


def _folder(above: Path | None) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="turnleaf-", dir=above))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)
