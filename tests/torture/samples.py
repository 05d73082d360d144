"""Small writers, two right and five wrong, that show that the rig can see a loss."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from tests.torture.plan import PlanStep

if TYPE_CHECKING:
    from tests.torture.subjects import Subject

Save = Callable[[Path, bytes], None]


class TextFileSample:
    """Lines of text in one file; `save` replaces the file's content."""

    def __init__(self, path: Path, save: Save, *, locked: bool = True) -> None:
        self.path, self.save, self.locked = path, save, locked
        with self._lock():
            if not path.exists():
                save(path, b"")

    @contextmanager
    def _lock(self) -> Iterator[None]:
        lock = os.open(f"{self.path}.lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            if self.locked:
                fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def perform(self, step: PlanStep) -> str:
        line = step.text.encode("unicode_escape") + b"\n"
        with self._lock():
            self.save(self.path, self.path.read_bytes() + line)
        return "ok"

    def list_texts(self) -> list[str]:
        lines = self.path.read_bytes().splitlines()
        return [line.decode("unicode_escape") for line in lines]

    def list_recorded_keys(self) -> list[str]:
        return []

    def close(self) -> None:
        pass


class WriteAheadSample:
    """Rows in SQLite's write-ahead log, synced at each commit or not."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self.connection = apsw.Connection(str(path))
        self.connection.set_busy_timeout(60_000)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(f"PRAGMA synchronous = {synchronous}")
        self.connection.execute("PRAGMA wal_autocheckpoint = 4")
        self.connection.execute("CREATE TABLE IF NOT EXISTS lines (text TEXT)")

    def perform(self, step: PlanStep) -> str:
        self.connection.execute("INSERT INTO lines VALUES (?)", (step.text,))
        return "ok"

    def list_texts(self) -> list[str]:
        rows = self.connection.execute("SELECT text FROM lines ORDER BY rowid")
        return [str(text) for (text,) in rows]

    def list_recorded_keys(self) -> list[str]:
        return []

    def close(self) -> None:
        self.connection.close()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    os.fsync(descriptor)
    os.close(descriptor)


def _write(path: Path, content: bytes, *, sync: bool) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    os.write(descriptor, content)
    if sync:
        os.fsync(descriptor)
    os.close(descriptor)


def save_rightly(path: Path, content: bytes) -> None:
    _write(path.with_suffix(".tmp"), content, sync=True)
    path.with_suffix(".tmp").replace(path)
    _sync_folder(path.parent)


def save_under_own_name(path: Path, content: bytes) -> None:
    temporary = path.with_suffix(f".{os.getpid()}")
    _write(temporary, content, sync=True)
    temporary.replace(path)
    _sync_folder(path.parent)


def save_unsynced(path: Path, content: bytes) -> None:
    _write(path.with_suffix(".tmp"), content, sync=False)
    path.with_suffix(".tmp").replace(path)
    _sync_folder(path.parent)


def save_without_folder(path: Path, content: bytes) -> None:
    _write(path.with_suffix(".tmp"), content, sync=True)
    path.with_suffix(".tmp").replace(path)


def save_in_place(path: Path, content: bytes) -> None:
    _write(path, content, sync=True)
    _sync_folder(path.parent)


SAMPLES: dict[str, Callable[[Path], Subject]] = {
    "sample-right": lambda path: TextFileSample(path, save_rightly),
    "sample-unsynced": lambda path: TextFileSample(path, save_unsynced),
    "sample-no_folder": lambda path: TextFileSample(path, save_without_folder),
    "sample-in_place": lambda path: TextFileSample(path, save_in_place),
    "sample-database": lambda path: WriteAheadSample(path, "FULL"),
    "sample-database_normal": lambda path: WriteAheadSample(path, "NORMAL"),
    "sample-unlocked": lambda path: TextFileSample(path, save_under_own_name, locked=False),
}
