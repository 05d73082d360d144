"""changes.jsonl: the record of every acknowledged change of a memory file.

It only ever grows, unless a source is erased.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core import file_changes
from turnleaf.core.diagnosis import Diagnosis
from turnleaf.core.languages import pluralize
from turnleaf.core.serialization import dumps
from turnleaf.store.files import atomic
from turnleaf.store.files.diagnosis import collect, refuse_odd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from turnleaf.core.diagnosis import Part
    from turnleaf.core.file_changes import FileChange

NAME = "changes.jsonl"
# The newest change is nearly always in here, and the record only grows.
TAIL_BYTES = 16_384


class _Findings(NamedTuple):
    """What was found up to a place in the record.

    It only grows, unless it is rewritten (another inode) or its last changes are taken back: the
    line above the place tells that.
    """

    inode: int = 0
    size: int = 0
    line: bytes = b""
    changes: tuple[FileChange, ...] = ()


class Journal:
    """The changes of one memory file; several files in one folder share the record.

    With a file `beside`, the changes of both are counted together.
    """

    def __init__(self, memory_file: Path, beside: Path | None = None) -> None:
        self.path = memory_file.with_name(NAME)
        self._file_name = memory_file.name
        self._names = {dump(memory_file.name).encode() for dump in (dumps, json.dumps)}
        self._beside = Journal(beside) if beside else None
        self._known = _Findings()
        self._newest = _Findings()

    @contextmanager
    def hold(self) -> Iterator[HeldJournal]:
        """Lock the record, for the holder of the memory file's lock."""
        with atomic.lock(self.path) as file:
            yield HeldJournal(self, file)

    def read(self) -> list[FileChange]:
        """Read every change of this memory file, oldest first; what was read once is known."""
        known, data = self._known, self._read_after(self._known)
        if data is None:
            known, data = self._read_all()
        new = filter(None, map(self._parse, _split_whole_lines(data)))
        ours = *known.changes, *filter(self._is_ours, new)
        self._known = _advance(known, data, ours)
        return list(ours)

    def _read_after(self, known: _Findings) -> bytes | None:
        """Read what follows a place; None where the record is not the same up to there."""
        if known.size == 0:
            return None
        # The last known line is read again: an undo cuts
        # lines off, and others may follow in their place.
        rest = atomic.read_from(self.path, known.size - len(known.line))
        is_same = rest.inode == known.inode and rest.data.startswith(known.line)
        return rest.data.removeprefix(known.line) if is_same else None

    def _read_all(self) -> tuple[_Findings, bytes]:
        # Before reading: what is replaced meanwhile is read again.
        stamp = atomic.read_stamp(self.path)
        return _Findings(stamp[0] if stamp else 0), atomic.read(self.path) or b""

    def read_state(self) -> str:
        """Return what tells the record from how it was, without reading it."""
        return " ".join(map(str, atomic.read_stamp(self.path) or ()))

    def read_last(self) -> FileChange | None:
        """Read the newest change of this memory file, without reading all."""
        known, data = self._newest, self._read_after(self._newest)
        if data is None:
            self._newest = self._look_back()
        else:
            self._newest = _advance(known, data, self._find_newest(data) or known.changes)
        return next(iter(self._newest.changes), None)

    def _look_back(self) -> _Findings:
        """Find the newest change in the end of the record, or in all of it."""
        inode, start, data = atomic.read_from(self.path, -TAIL_BYTES)
        # The tail begins somewhere within a line.
        cut = data.find(b"\n") + 1 if start else 0
        known, data = _Findings(inode, start + cut), data[cut:]
        found = self._find_newest(data)
        if start and not found:
            known, data = self._read_all()
            found = self._find_newest(data)
        return _advance(known, data, found)

    def _find_newest(self, data: bytes) -> tuple[FileChange, ...]:
        """Return the last change of ours among lines, if there is one."""
        named = (line for line in reversed(_split_whole_lines(data)) if self._may_be_ours(line))
        ours = filter(self._is_ours, filter(None, map(self._parse, named)))
        return tuple(islice(ours, 1))

    def find_next_number(self) -> int:
        """Return the number of the next change."""
        last = [self.read_last()]
        # Both files have one sequence of numbers, by which their changes are put in one order.
        if self._beside is not None and self._beside.has_file():
            last.append(self._beside.read_last())
        return 1 + max((change.n for change in last if change), default=0)

    def has_file(self) -> bool:
        """Whether there is the memory file."""
        return self.path.with_name(self._file_name).exists()

    def is_step(self, line: bytes, change: FileChange) -> bool:
        """Whether a line records a step of the same change."""
        one = self._parse(line)
        return one is not None and self._is_ours(one) and one.step == change.step

    def is_kept(self, line: bytes, is_harmless: Callable[[str], bool]) -> bool:
        """Whether a line stays when ours are written anew: a neighbour's, or a riddle."""
        change = self._parse(line)
        if change:
            return not self._is_ours(change)
        return bool(line.strip()) and is_harmless(line.decode("utf-8", "replace"))

    def _may_be_ours(self, line: bytes) -> bool:
        """Whether a line names the file, which is seen much faster than what it says."""
        # JSON may have the name's letters escaped or not.
        return any(name in line for name in self._names)

    def _is_ours(self, change: FileChange) -> bool:
        return change.file == self._file_name

    def _parse(self, line: bytes) -> FileChange | None:
        if not line.strip():
            return None
        try:
            return file_changes.from_json(json.loads(line))
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            atomic.log.warning(
                "%s contains a line that cannot be read; it was left as it is", self.path
            )
            return None


class HeldJournal:
    """The record while its lock is held."""

    def __init__(self, journal: Journal, file: atomic.Held) -> None:
        self._journal = journal
        self._file = file

    def of(self, journal: Journal) -> HeldJournal:
        """Return the same record, held for another file in the folder."""
        return HeldJournal(journal, self._file)

    def append(self, new: Sequence[FileChange]) -> int:
        """Write changes durably; return what `cut_back` needs."""
        return self._file.append(_encode(new))

    def rewrite(self, ours: Sequence[FileChange], is_harmless: Callable[[str], bool]) -> None:
        """Put other changes in the place of ours, in one step.

        A line that cannot be read stays if its text is harmless.
        """
        lines = (self._file.read() or b"").split(b"\n")
        kept = [line + b"\n" for line in lines if self._journal.is_kept(line, is_harmless)]
        _replace(self._file, b"".join(kept) + _encode(ours))

    def cut_back(self, size: int) -> None:
        """Take back what `append` wrote."""
        self._file.cut_back(size)

    def strike_out(self, change: FileChange) -> bool:
        """Take back a change that was recorded and never made; False when others came after."""
        data = self._file.read() or b""
        lines = _split_whole_lines(data)
        ours = [index for index, line in enumerate(lines) if self._journal.is_step(line, change)]
        # A neighbour's change came after it; a cut would take that one, too.
        if not ours or ours != list(range(ours[0], len(lines))):
            return False
        self._file.cut_back(len(b"".join(line + b"\n" for line in lines[: ours[0]])))
        return True


def _replace(file: atomic.Held, data: bytes) -> None:
    file.replace(data)


def _encode(new: Sequence[FileChange]) -> bytes:
    return "".join(f"{dumps(file_changes.to_json(change))}\n" for change in new).encode()


def _advance(known: _Findings, data: bytes, ours: tuple[FileChange, ...]) -> _Findings:
    """Return what is known after the whole lines of more data."""
    # The end of a line that is being written is read with the next look.
    whole = data[: data.rfind(b"\n") + 1]
    line = whole[whole.rfind(b"\n", 0, -1) + 1 :]
    return _Findings(known.inode, known.size + len(whole), line or known.line, ours)


def _split_whole_lines(data: bytes) -> list[bytes]:
    """Split into lines, without one that is being written or that a power cut tore."""
    return data.split(b"\n")[:-1]


MOST_EXAMINED = 10_000
"""So many changes are looked at; when there are more, the older ones were once among them."""
_IN_A_CHANGE = {"n", "time", "op", "file"}


@collect
def examine(path: Path) -> Iterator[Part]:
    """Return what is wrong with a record, changing nothing."""
    refuse_odd(path)
    lines = _split_whole_lines(atomic.read(path) or b"")
    older = max(0, len(lines) - MOST_EXAMINED)
    newest = enumerate(lines[older:], older + 1)
    bad = [number for number, line in newest if not _is_change(line)]
    if bad:
        yield Diagnosis(
            "warning",
            f"{pluralize(len(bad), 'line')} of {path} cannot be read (the first is line "
            f"{bad[0]}), so undo and why ignore them; correct or delete them",
        )


def _is_change(line: bytes) -> bool:
    try:
        return not line.strip() or json.loads(line).keys() >= _IN_A_CHANGE
    except (AttributeError, ValueError, RecursionError):
        return False
