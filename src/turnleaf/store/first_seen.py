"""When each fact that was typed by hand was first seen; the page itself does not say.

It is kept in a small file beside the page, written only when a fact appears that is not in it.
Where it cannot be written, such a fact has the time of the page.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from turnleaf.core.memories import content_id
from turnleaf.core.times import from_iso, to_iso, to_millisecond
from turnleaf.errors import StorageError
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.memories import Memory


class FirstSeen:
    """The times beside one memory file."""

    def __init__(self, memory_file: Path) -> None:
        self._path = files.seen_path(memory_file)

    def date(self, memories: Sequence[Memory], page_time: datetime) -> list[Memory]:
        """Return the facts, those without a time of their own dated by when they were seen."""
        typed = {memory.id for memory in memories if _is_typed(memory, page_time)}
        if not typed:
            return list(memories)
        known = self._read()
        times = {key: known.get(key, to_millisecond(page_time)) for key in typed}
        if not typed <= known.keys():
            self._write(times)
        return [_set_time(memory, times.get(memory.id)) for memory in memories]

    def _read(self) -> dict[str, datetime]:
        with suppress(StorageError, ValueError, TypeError, AttributeError, RecursionError):
            record = json.loads(files.read(self._path, files.MAX_PAGE_BYTES) or b"{}")
            return {str(key): from_iso(time) for key, time in record.items()}
        return {}

    def _write(self, times: Mapping[str, datetime]) -> None:
        """Keep the times of the facts that are there, and of no other."""
        record = {key: to_iso(time) for key, time in sorted(times.items())}
        with suppress(StorageError):
            files.write(self._path, (json.dumps(record, indent=0) + "\n").encode())


def _is_typed(memory: Memory, page_time: datetime) -> bool:
    return memory.created_at == page_time and memory.id.startswith(content_id(memory.content))


def _set_time(memory: Memory, time: datetime | None) -> Memory:
    return replace(memory, created_at=time, updated_at=time) if time else memory
