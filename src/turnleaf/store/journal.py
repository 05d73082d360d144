"""changes.jsonl: the record of every acknowledged change of a memory file.

It only ever grows, unless a source is erased.
"""

from __future__ import annotations

import hashlib
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core import changes
from turnleaf.core.jsontext import dumps
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from turnleaf.core.changes import Change

NAME = "changes.jsonl"
TAIL_BYTES = 16_384


class _Known(NamedTuple):
    """What was parsed, and by what it is known again."""

    size: int = 0
    digest: bytes = hashlib.blake2b().digest()
    changes: tuple[Change, ...] = ()


class Journal:
    """The changes of one memory file; several files in one folder share the record.

    With a file `beside`, the changes of both are counted together.
    """

    def __init__(self, memory_file: Path, beside: Path | None = None) -> None:
        self.path = memory_file.with_name(NAME)
        self._file_name = memory_file.name
        self._beside = beside
        self._known = _Known()

    @contextmanager
    def held(self) -> Iterator[HeldJournal]:
        """Lock the record, for the holder of the memory file's lock."""
        with files.locked(self.path) as file:
            yield HeldJournal(self, file)

    def read(self) -> list[Change]:
        """Read every change of this memory file, oldest first; only what is new is parsed."""
        data = files.read(self.path) or b""
        whole = data[: data.rfind(b"\n") + 1]
        known = self._known
        digest = hashlib.blake2b(whole[: known.size])
        if digest.digest() != known.digest:
            known, digest = _Known(), hashlib.blake2b()
        rest = whole[known.size :]
        digest.update(rest)
        new = map(self._parse, rest.split(b"\n"))
        changes = *known.changes, *(one for one in new if one and self._is_ours(one))
        self._known = _Known(len(whole), digest.digest(), changes)
        return list(changes)

    def state(self) -> str:
        """Return what tells the record from how it was, without reading it."""
        try:
            found = self.path.stat()
        except OSError:
            return ""
        return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}"

    def last(self) -> Change | None:
        """Read the newest change of this memory file, without reading all."""
        tail = files.tail(self.path, TAIL_BYTES)
        is_cut = len(tail) == TAIL_BYTES
        for line in reversed(_whole_lines(tail)[is_cut:]):
            change = self._parse(line)
            if change and self._is_ours(change):
                return change
        if not is_cut:
            return None
        return next(reversed(self.read()), None)

    def next_number(self) -> int:
        """Return the number of the next change."""
        last = [self.last()]
        if self._beside is not None and self._beside.exists():
            last.append(Journal(self._beside).last())
        return 1 + max((change.n for change in last if change), default=0)

    def is_step(self, line: bytes, change: Change) -> bool:
        """Tell whether a line records a step of the same change."""
        one = self._parse(line)
        return (
            one is not None
            and self._is_ours(one)
            and (one.old, one.new, one.time)
            == (
                change.old,
                change.new,
                change.time,
            )
        )

    def is_kept(self, line: bytes, is_harmless: Callable[[str], bool]) -> bool:
        """Tell whether a line stays when ours are written anew: a neighbour's, or a riddle."""
        change = self._parse(line)
        if change:
            return not self._is_ours(change)
        return bool(line.strip()) and is_harmless(line.decode("utf-8", "replace"))

    def _is_ours(self, change: Change) -> bool:
        return change.file == self._file_name

    def _parse(self, line: bytes) -> Change | None:
        if not line.strip():
            return None
        try:
            return changes.from_json(json.loads(line))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            files.log.warning("%s holds a line that cannot be read; it is left alone", self.path)
            return None


class HeldJournal:
    """The record while its lock is held."""

    def __init__(self, journal: Journal, file: files.Held) -> None:
        self._journal = journal
        self._file = file

    def of(self, journal: Journal) -> HeldJournal:
        """Return the same record, held for another file in the folder."""
        return HeldJournal(journal, self._file)

    def append(self, new: Sequence[Change]) -> int:
        """Write changes durably; give what `cut_back` needs."""
        return self._file.append(_written(new))

    def rewrite(self, ours: Sequence[Change], is_harmless: Callable[[str], bool]) -> None:
        """Put other changes in the place of ours, in one step.

        A line that cannot be read stays if its text is harmless.
        """
        lines = (self._file.read() or b"").split(b"\n")
        kept = [line + b"\n" for line in lines if self._journal.is_kept(line, is_harmless)]
        _replace(self._file, b"".join(kept) + _written(ours))

    def cut_back(self, size: int) -> None:
        """Take back what `append` wrote."""
        self._file.cut_back(size)

    def strike_out(self, change: Change) -> bool:
        """Take back a change that was recorded and never made; False when others came after."""
        data = self._file.read() or b""
        lines = _whole_lines(data)
        ours = [index for index, line in enumerate(lines) if self._journal.is_step(line, change)]
        if not ours or ours != list(range(ours[0], len(lines))):
            return False
        self._file.cut_back(len(b"".join(line + b"\n" for line in lines[: ours[0]])))
        return True


def _replace(file: files.Held, data: bytes) -> None:
    file.replace(data)


def _written(new: Sequence[Change]) -> bytes:
    return "".join(f"{dumps(changes.to_json(change))}\n" for change in new).encode()


def _whole_lines(data: bytes) -> list[bytes]:
    """Split into lines, without one that is being written or that a power cut tore."""
    return data.split(b"\n")[:-1]
