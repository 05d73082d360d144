"""The file that a backup is: a `.tar.gz` that proves what it holds.

Its first member is a manifest with the size and the SHA-256 sum of every other.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
import zlib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from turnleaf import __version__
from turnleaf.core.times import to_iso
from turnleaf.errors import CorruptFile, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

MANIFEST = "turnleaf-backup.json"
PREFIX = "data/"
FORMAT = 1
FILE_MODE = 0o600
CHUNK = 1 << 16


def packed(contents: Mapping[str, bytes], time: datetime) -> bytes:
    """Put files, by their paths in the data folder, into one."""
    made = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=made, mode="wb", mtime=0) as plain,
        tarfile.open(fileobj=plain, mode="w|", format=tarfile.PAX_FORMAT) as archive,
    ):
        _add(archive, MANIFEST, _manifest(contents, time), time)
        for path, data in contents.items():
            _add(archive, PREFIX + path, data, time)
    return made.getvalue()


def unpacked(file: str | Path, room: int | None = None) -> Iterator[tuple[str, bytes]]:
    """Give each file of an archive once it has proved to be what the manifest says."""
    with (
        _blaming(file),
        Path(file).open("rb") as raw,
        gzip.GzipFile(fileobj=raw) as plain,
        tarfile.open(fileobj=plain, mode="r|") as archive,
    ):
        entries = _entries(archive)
        _check_room(entries, room)
        for path, entry in entries.items():
            yield path, _checked(archive, path, entry)
        if archive.next() is not None:
            message = "it holds more than its manifest names"
            raise ValueError(message)
        while plain.read(CHUNK):  # The sum over everything is at the very end.
            pass


def parents_of(path: str) -> list[str]:
    """Name the folders that a path lies in, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


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
        message = f"{file} is damaged or not a backup of turnleaf ({error}); nothing was changed"
        raise CorruptFile(message) from error
    except OSError as error:
        message = f"cannot read {file}: {error.strerror}"
        raise StorageError(message) from error


def _entries(archive: tarfile.TarFile) -> dict[str, dict[str, Any]]:
    member = archive.next()
    if member is None or member.name != MANIFEST:
        message = "it does not begin with a manifest"
        raise ValueError(message)
    record = json.loads(_read(archive, member))
    if record["format"] != FORMAT:
        message = "it was made by a newer version of turnleaf; install that"
        raise ValueError(message)
    entries = {_checked_path(entry["path"]): entry for entry in record["files"]}
    for path in entries:
        if any(parent in entries for parent in parents_of(path)):
            message = f"{path!r} lies inside what is a file"
            raise ValueError(message)
    return entries


def _checked_path(path: Any) -> str:  # noqa: ANN401 - it was read from JSON
    name = str(path)
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") for part in parts):
        message = f"the name {name!r} leads somewhere else"
        raise ValueError(message)
    return name


def _checked(archive: tarfile.TarFile, path: str, entry: Mapping[str, Any]) -> bytes:
    member = archive.next()
    if member is None or member.name != PREFIX + path or member.size != entry["size"]:
        message = f"{path!r} is missing"
        raise ValueError(message)
    data = _read(archive, member)
    if hashlib.sha256(data).hexdigest() != entry["sha256"]:
        message = f"{path!r} is not what the manifest says"
        raise ValueError(message)
    return data


def _read(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    file = archive.extractfile(member) if member.type == tarfile.REGTYPE else None
    if file is None or member.issparse():
        message = f"{member.name!r} is not an ordinary file"
        raise ValueError(message)
    return file.read()


def _check_room(entries: Mapping[str, Mapping[str, Any]], room: int | None) -> None:
    needed = sum(int(entry["size"]) for entry in entries.values())
    if room is not None and needed > room:
        message = f"the backup needs {needed:,} bytes and the disk has {room:,}; free some space"
        raise StorageError(message)
