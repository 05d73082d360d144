"""The file that a backup is: a `.tar.gz` that proves what it holds.

Its first member is a manifest with the size and the SHA-256 sum of every other. It is read in
pieces, and no further than it says: a small file may unpack to more than any memory holds.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from turnleaf import __version__
from turnleaf.core.times import to_iso
from turnleaf.errors import CorruptFile, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

MANIFEST = "turnleaf-backup.json"
MANIFEST_BYTES = 16_000_000
PREFIX = "data/"
FORMAT = 1
FILE_MODE = 0o600
NAME_BYTES = 255
CHUNK = 1 << 16
"""How much is read at once, and more than the headers of any member take."""


def pack_files(contents: Mapping[str, bytes], time: datetime) -> bytes:
    """Put files, by their paths in the data folder, into one."""
    manifest = _manifest(contents, time)
    if len(manifest) > MANIFEST_BYTES:
        message = f"{len(contents):,} files are too many for a backup; move some elsewhere"
        raise StorageError(message)
    made = io.BytesIO()
    with (
        # Else gzip adds the present time, whatever time is passed in.
        gzip.GzipFile(fileobj=made, mode="wb", mtime=0) as plain,
        tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        _add(archive, MANIFEST, manifest, time)
        for path, data in contents.items():
            _add(archive, PREFIX + path, data, time)
    return made.getvalue()


def iterate_files(
    file: str | Path, room: int | None = None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    """Yield each file of an archive in pieces, which must be read before the next file.

    The pieces end in an error unless they are what the manifest says.
    """
    with (
        _blaming(file),
        Path(file).open("rb") as raw,
        _Metered(fileobj=raw) as source,
        tarfile.open(fileobj=source, mode="r|") as archive,
    ):
        entries = _entries(archive, source)
        _check_room(entries, room)
        for path, entry in entries.items():
            yield path, _pieces(file, _member(archive, source, path, entry), entry)
        source.left = CHUNK
        if archive.next() is not None:
            message = "it holds more than its manifest names"
            raise ValueError(message)
        while source.read(CHUNK):  # The sum over everything is at the very end.
            pass


def parents_of(path: str) -> list[str]:
    """Return the folders that a path lies in, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


# Writing


def _add(archive: tarfile.TarFile, name: str, data: bytes, time: datetime) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = len(data), FILE_MODE, int(time.timestamp())
    archive.addfile(member, io.BytesIO(data))


def _manifest(contents: Mapping[str, bytes], time: datetime) -> bytes:
    entries = [
        {"path": path, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for path, data in contents.items()
    ]
    record = {
        "format": FORMAT,
        "turnleaf": __version__,
        "createdAt": to_iso(time),
        "files": entries,
    }
    return json.dumps(record, indent=1).encode()


# Reading


class _Entry(NamedTuple):
    """What the manifest says of a file."""

    size: int
    sha256: str


class _Metered(gzip.GzipFile):
    """A stream that gives no more than is left of what it was allowed."""

    left = CHUNK

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        self.left -= len(data)
        if self.left < 0:
            message = "it unpacks to more than it says"
            raise ValueError(message)
        return data


@contextmanager
def _blaming(file: str | Path) -> Iterator[None]:
    try:
        yield
    except (
        tarfile.TarError,
        gzip.BadGzipFile,
        zlib.error,
        EOFError,
        ValueError,
        LookupError,
        TypeError,
        RecursionError,
    ) as error:
        message = f"{file} is damaged or not a backup of turnleaf ({error})"
        raise CorruptFile(message) from error
    except OSError as error:
        message = f"cannot read {file}: {error.strerror}"
        raise StorageError(message) from error


def _entries(archive: tarfile.TarFile, source: _Metered) -> dict[str, _Entry]:
    member = archive.next()
    if member is None or member.name != MANIFEST:
        message = "it does not begin with a manifest"
        raise ValueError(message)
    if member.size > MANIFEST_BYTES:
        message = "its manifest is too large"
        raise ValueError(message)
    record = json.loads(_open_member(archive, source, member).read())
    _check_format(record["format"])
    entries = {_checked_path(entry["path"]): _entry(entry) for entry in record["files"]}
    for path in entries:
        if any(parent in entries for parent in parents_of(path)):
            message = f"{path!r} lies inside what is a file"
            raise ValueError(message)
    return entries


def _check_format(number: Any) -> None:  # noqa: ANN401 - it was read from JSON
    if number != FORMAT:
        is_newer = isinstance(number, int) and number > FORMAT
        message = (
            "it was made by a newer version of turnleaf; install that"
            if is_newer
            else f"its format is {number!r}, which no version of turnleaf makes"
        )
        raise ValueError(message)


def _entry(entry: Mapping[str, Any]) -> _Entry:
    size = entry["size"]
    if not isinstance(size, int) or size < 0:
        message = f"{size!r} is not a size"
        raise ValueError(message)
    return _Entry(size, str(entry["sha256"]))


def _checked_path(path: Any) -> str:  # noqa: ANN401 - it was read from JSON
    name = str(path)
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") for part in parts):
        message = f"the name {name!r} leads somewhere else"
        raise ValueError(message)
    if any(len(os.fsencode(part)) > NAME_BYTES for part in parts):
        message = f"the name {name!r} is too long"
        raise ValueError(message)
    return name


def _member(archive: tarfile.TarFile, source: _Metered, path: str, entry: _Entry) -> IO[bytes]:
    source.left = CHUNK
    member = archive.next()
    # In the manifest's own order: an archive that is read once cannot be searched.
    if member is None or member.name != PREFIX + path or member.size != entry.size:
        message = f"{path!r} is missing"
        raise ValueError(message)
    return _open_member(archive, source, member)


def _open_member(archive: tarfile.TarFile, source: _Metered, member: tarfile.TarInfo) -> IO[bytes]:
    # A link or a device in the archive could lead a restore out of the data folder.
    file = archive.extractfile(member) if member.type == tarfile.REGTYPE else None
    if file is None or member.issparse():
        message = f"{member.name!r} is not an ordinary file"
        raise ValueError(message)
    # So that an archive cannot unpack to more than its manifest, which was checked against the
    # disk.
    source.left = member.size + CHUNK
    return file


def _pieces(file: str | Path, member: IO[bytes], entry: _Entry) -> Iterator[bytes]:
    with _blaming(file):
        summed = hashlib.sha256()
        while piece := member.read(CHUNK):
            summed.update(piece)
            yield piece
        if summed.hexdigest() != entry.sha256:
            message = f"{member.name!r} is not what the manifest says"
            raise ValueError(message)


def _check_room(entries: Mapping[str, _Entry], room: int | None) -> None:
    needed = sum(entry.size for entry in entries.values())
    if room is not None and needed > room:
        message = f"the backup needs {needed:,} bytes and the disk has {room:,}; free some space"
        raise StorageError(message)
