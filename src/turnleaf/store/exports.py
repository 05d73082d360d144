"""Reading what other programs exported: a file, a folder or a zip archive, piece by piece.

Nothing is unpacked to disk and no file is held in memory whole, so that an export may be larger
than the machine's memory. What an archive may hold is bounded before any of it is read.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from turnleaf.errors import CorruptFile, InvalidInput
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

MAX_ENTRIES = 200_000
MAX_UNPACKED_BYTES = 20_000_000_000
MAX_RATIO = 200
"""How many times its packed size an archive may unpack to; text packs to a fifth or so."""
# A small archive of text that repeats itself may pack better than that.
RATIO_FREE_BYTES = 50_000_000
MAX_LINE_BYTES = 50_000_000
CHUNK_CHARS = 1_000_000
MAX_ITEM_CHARS = 100_000_000
"""How long one conversation, or a file that is no list, may be."""
LONGEST_WORD = 32
"""So near the end of what was read, a number or a word of JSON may be cut off."""
_BLANKS = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()
_HIDDEN = re.compile(r"__MACOSX|\.(?!\.?$).*")
"""The names of files that programs keep for themselves; they hold no export."""


@dataclass(slots=True)
class ExportFile:
    """One file of an export, wherever it lies."""

    name: str
    size: int
    modified: datetime
    open: Callable[[], IO[bytes]]
    """Opens it for reading from its beginning."""
    _stream: IO[bytes] | None = None

    def count_read(self) -> int:
        """Return how many bytes of it were read, for whoever waits."""
        is_open = self._stream is not None and not self._stream.closed
        return self._stream.tell() if self._stream and is_open else 0

    def _begin(self) -> IO[bytes]:
        self._stream = self.open()
        return self._stream

    @property
    def base(self) -> str:
        """Its name without folders."""
        return PurePosixPath(self.name).name

    @property
    def suffix(self) -> str:
        """How its name ends, in small letters: ".json"."""
        return PurePosixPath(self.name).suffix.lower()

    def read(self, max_bytes: int) -> bytes:
        """Return all of it; raise InvalidInput when that is too much."""
        with self.open() as stream:
            data = stream.read(max_bytes + 1)
        if len(data) > max_bytes:
            message = f"{self.name} is too large to be read ({self.size:,} bytes)"
            raise InvalidInput(message)
        return data

    def items(self) -> Generator[Any]:
        """Yield the elements of a JSON array, or the one value that the file holds.

        Raise CorruptFile where the JSON breaks off; what stood before was yielded.
        """
        with TextIOWrapper(self._begin(), "utf-8-sig", "replace", newline="") as text:
            try:
                yield from _parse_items(text)
            except (ValueError, RecursionError) as error:
                message = f"{self.name} is incomplete JSON ({error}); it was read up to that point"
                raise CorruptFile(message) from error

    def read_first_item(self) -> Any:  # noqa: ANN401 - whatever somebody else wrote
        """Return the first of them; None where there is none, or no JSON."""
        with closing(self.items()) as items, suppress(CorruptFile):
            return next(items, None)
        return None

    def lines(self) -> Generator[Any]:
        """Yield the values of a file that has one JSON value a line; None for one that is none."""
        with self._begin() as stream:
            while line := stream.readline(MAX_LINE_BYTES):
                if line.strip():
                    yield _parse(line)


@dataclass(frozen=True, slots=True)
class Export:
    """The files of an export, in the order of their names."""

    name: str
    files: list[ExportFile]
    is_one_file: bool = False
    """Whether it is a file by itself, neither a folder nor an archive."""


@contextmanager
def open_export(path: Path) -> Iterator[Export]:
    """Open a file, a folder or an archive.

    Raise InvalidInput for an archive that is no archive, that is locked with a password, or that
    would unpack to more than anybody exports.
    """
    if path.is_dir():
        yield Export(str(path), _list_folder(path))
        return
    with path.open("rb") as file:
        time = atomic.read_mtime(path)
        with open_upload(file, str(path), time) as export:
            yield export


@contextmanager
def open_upload(file: IO[bytes], name: str, time: datetime) -> Iterator[Export]:
    """Open an export that is a file without a name on the disk, such as one that was sent."""
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            yield Export(name, _list_archive(name, archive))
    elif name.lower().endswith(".zip"):
        message = f"{name} is not a zip archive, or is damaged; download it again"
        raise InvalidInput(message)
    else:
        size = os.fstat(file.fileno()).st_size
        one = ExportFile(PurePosixPath(name).name, size, time, lambda: _begin_again(file))
        yield Export(name, [one], is_one_file=True)


def _begin_again(file: IO[bytes]) -> IO[bytes]:
    """Return a stream from the beginning of an open file; only one of them is read at a time."""
    stream = open(os.dup(file.fileno()), "rb")  # noqa: PTH123, SIM115 - no path, and not ours to close
    stream.seek(0)
    return stream


def _list_folder(folder: Path) -> list[ExportFile]:
    found = []
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _HIDDEN.fullmatch(name))
        for name in sorted(names):
            path = Path(here) / name
            # A link may lead out of the folder that somebody chose.
            if path.is_file() and not path.is_symlink() and not _HIDDEN.fullmatch(name):
                found.append(_make_entry(folder, path))
        if len(found) > MAX_ENTRIES:
            message = f"{folder} contains more than {MAX_ENTRIES:,} files; choose a subfolder"
            raise InvalidInput(message)
    return found


def _make_entry(folder: Path, path: Path) -> ExportFile:
    name = path.relative_to(folder).as_posix()
    return ExportFile(name, path.stat().st_size, atomic.read_mtime(path), lambda: path.open("rb"))


def _list_archive(name: str, archive: zipfile.ZipFile) -> list[ExportFile]:
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    _check_archive(name, entries)
    return [
        ExportFile(entry.filename, entry.file_size, _read_date(entry), _make_opener(archive, entry))
        for entry in sorted(entries, key=lambda entry: entry.filename)
        if not any(map(_HIDDEN.fullmatch, PurePosixPath(entry.filename).parts))
    ]


def _check_archive(name: str, entries: list[zipfile.ZipInfo]) -> None:
    """Raise InvalidInput for an archive that nobody exported; names are never used as paths."""
    packed = sum(entry.compress_size for entry in entries)
    unpacked = sum(entry.file_size for entry in entries)
    if any(entry.flag_bits & 1 for entry in entries):
        problem = "is locked with a password; unpack it and import the folder"
    elif len(entries) > MAX_ENTRIES:
        problem = f"contains more than {MAX_ENTRIES:,} files"
    elif unpacked > max(RATIO_FREE_BYTES, MAX_RATIO * packed) or unpacked > MAX_UNPACKED_BYTES:
        problem = f"would unpack to {unpacked:,} bytes, more than any export has"
    else:
        return
    message = f"{name} {problem}, so it was not read"
    raise InvalidInput(message)


def _make_opener(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    return lambda: archive.open(entry)


def _read_date(entry: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*entry.date_time, tzinfo=UTC)
    except ValueError:
        return datetime(1980, 1, 1, tzinfo=UTC)


def _parse_items(text: TextIOWrapper) -> Iterator[Any]:
    """Yield values as they are read; only the one that is being read is held in memory."""
    buffer = text.read(CHUNK_CHARS)
    place = _skip_blanks(buffer, 0)
    if buffer[place : place + 1] != "[":
        yield json.loads(buffer + text.read(MAX_ITEM_CHARS))
        return
    place += 1
    while True:
        place = _skip_blanks(buffer, place)
        try:
            # The standard decoder over a growing buffer: a
            # streaming parser in C crashed on deep nesting.
            value, end = _DECODER.raw_decode(buffer, place)
        except json.JSONDecodeError as error:
            if buffer[place : place + 1] == "]":
                return
            more = text.read(max(CHUNK_CHARS, len(buffer)))
            if not more or _is_mistake(error, buffer) or len(buffer) > MAX_ITEM_CHARS:
                raise
            buffer, place = buffer[place:] + more, 0
            continue
        yield value
        place = end


def _skip_blanks(buffer: str, place: int) -> int:
    found = _BLANKS.match(buffer, place)
    return found.end() if found else place


def _is_mistake(error: json.JSONDecodeError, buffer: str) -> bool:
    """Whether JSON is wrong, rather than cut off at the end of what was read so far."""
    is_cut = error.msg.startswith(("Unterminated", "Invalid \\u", "Invalid \\escape"))
    return not is_cut and error.pos < len(buffer) - LONGEST_WORD


def _parse(line: bytes) -> Any:  # noqa: ANN401 - whatever somebody else wrote
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
