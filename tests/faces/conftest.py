from __future__ import annotations

import fcntl
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.faces.forking import run
from turnleaf.faces.cli import main
from turnleaf.settings import SETTINGS, DataFolder, Settings
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.facts.memories import MemoryStore


@dataclass(frozen=True, slots=True)
class Result:
    """What a run of the program gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - whatever was printed
        return json.loads(self.out)


class Cli:
    """The program, run in this process, in another by `fork`, or from its start by `process`."""

    def __init__(
        self, folder: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]
    ) -> None:
        self.data = folder / "data"
        self.folder = DataFolder(self.data, "a test")
        self._patch = patch
        self._capture = capture

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> Result:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        self._patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        self._capture.readouterr()
        code = main(arguments)
        captured = self._capture.readouterr()
        return Result(code, captured.out, captured.err)

    def fork(
        self,
        *arguments: str,
        stdin: bytes = b"",
        environ: Mapping[str, str] | None = None,
        is_powerless: bool = False,
    ) -> Result:
        variables = {**os.environ, **(environ or {})}
        return Result(*run(arguments, stdin, variables, is_powerless=is_powerless))

    def process(
        self,
        *arguments: str | bytes,
        stdin: bytes = b"",
        environ: Mapping[str, str] | None = None,
    ) -> Result:
        done = subprocess.run(
            [sys.executable, "-m", "turnleaf", *arguments],
            input=stdin,
            capture_output=True,
            env={**os.environ, **(environ or {})},
            timeout=60,
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    def wait_for_worker(self) -> None:
        """Wait until nothing more is learned in the background."""
        with (self.data / ".learning.db.worker").open() as claim:
            fcntl.flock(claim, fcntl.LOCK_EX)

    @property
    def memory(self) -> MemoryStore:
        return MemoryStore(self.folder.memory(Settings()))

    @property
    def daily(self) -> DailyLog:
        return DailyLog(self.folder.daily)

    @property
    def conversations(self) -> ConversationStore:
        return ConversationStore(self.folder.conversations(Settings()))

    def contents(self) -> list[str]:
        return [memory.content for memory in self.memory.get_all()]

    def remember(self, *contents: str) -> list[str]:
        """Remember facts and return their ids."""
        store = self.memory
        return [store.add(content).id for content in contents]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    others = ("SUPERVISOR_TOKEN", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLUMNS")
    for variable in (*(setting.variable for setting in SETTINGS), *others):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TURNLEAF_DATA_DIR", str(tmp_path / "data"))
    # Loading the model takes longer than all the rest of a test; those that need it say so.
    monkeypatch.setenv("EMBEDDINGS", "off")
    monkeypatch.setenv("TURNLEAF_MODEL", "recall")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    return Cli(tmp_path, monkeypatch, capsys)
