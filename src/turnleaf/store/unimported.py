"""Notices facts that the library's own `MemoryStore()` wrote and the programs do not read."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from turnleaf.core import jsonfacts
from turnleaf.core.wording import counted
from turnleaf.store import files
from turnleaf.store.memories import utc_now
from turnleaf.store.memory_file import MemoryFile

if TYPE_CHECKING:
    from pathlib import Path

    from turnleaf.settings import DataFolder, Settings

NAMES = ("memories.json", "memories/memories.json")
"""Where a store without an argument keeps its facts, at home and in Home Assistant."""


def describe_unimported(folder: DataFolder, settings: Settings) -> str | None:
    """Return in one line which facts were never imported, and how to import them; else None.

    A fact that was imported once and forgotten since is not missed.
    """
    memory = files.real(folder.memory(settings))
    for path in (folder.path / name for name in NAMES):
        count = 0 if files.real(path) == memory else _count_unknown(path, memory)
        if count:
            command = f"turnleaf --data-dir {shlex.quote(str(folder.path))} import"
            return (
                f"{path} holds {counted(count, 'fact')} that the memory lacks; "
                f"{command} {shlex.quote(str(path))} adds them, renaming the file ends this notice"
            )
    return None


def _count_unknown(path: Path, memory: Path) -> int:
    data = files.read(path, files.MAX_PAGE_BYTES) if path.is_file() else None
    if not data:
        return 0
    found = jsonfacts.parse(data.decode("utf-8-sig", "replace"), utc_now()).facts
    return len({fact.memory.content for fact in found} - _known_contents(memory))


def _known_contents(memory: Path) -> set[str]:
    """Return what the facts say, and what they ever said."""
    file = MemoryFile(memory, utc_now)
    data = files.read(memory, files.MAX_PAGE_BYTES) or b""
    page = file.format.parse(data.decode("utf-8", "replace") or file.format.EMPTY, utc_now())
    once = {one.content for change in file.journal.read() for one in change.states()}
    return once.union(fact.memory.content for fact in page.facts)
