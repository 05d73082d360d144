"""A whole data folder in one file, consistent although others write, and back again.

Its first member is a manifest with the size and the SHA-256 sum of every other. It is read in
pieces, and no further than it says: a small file may unpack to more than any memory holds.

While files are copied, the locks of the stores are held, always taken in the same order;
databases are copied by SQLite itself. A restore changes nothing before the whole archive has
been checked and what is there has been saved.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from turnleaf import __version__
from turnleaf.core.serialization import to_iso
from turnleaf.errors import CorruptFile, InvalidInput, NotFound, StorageError, TurnleafError
from turnleaf.settings import OPERATOR_NAME, SPACES, TOKEN_NAME
from turnleaf.store.clock_and_ids import utc_now
from turnleaf.store.files import atomic, databases
from turnleaf.store.files.conversations.schema import renew_identity
from turnleaf.store.files.conversations.takeover import BACKUP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
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
    manifest = _make_manifest(contents, time)
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
        _blame(file),
        Path(file).open("rb") as raw,
        _Meter(fileobj=raw) as source,
        tarfile.open(fileobj=source, mode="r|") as archive,
    ):
        entries = _find_entries(archive, source)
        _check_room(entries, room)
        for path, entry in entries.items():
            yield path, _read_pieces(file, _open_next_member(archive, source, path, entry), entry)
        source.left = CHUNK
        if archive.next() is not None:
            message = "it holds more than its manifest names"
            raise ValueError(message)
        while source.read(CHUNK):  # The sum over everything is at the very end.
            pass


def list_parents(path: str) -> list[str]:
    """Return the folders that a path lies in, outermost first."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


# Writing


def _add(archive: tarfile.TarFile, name: str, data: bytes, time: datetime) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = len(data), FILE_MODE, int(time.timestamp())
    archive.addfile(member, io.BytesIO(data))


def _make_manifest(contents: Mapping[str, bytes], time: datetime) -> bytes:
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


class _Meter(gzip.GzipFile):
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
def _blame(file: str | Path) -> Iterator[None]:
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
        message = f"{file} is damaged or not a Turnleaf backup ({error})"
        raise CorruptFile(message) from error
    except OSError as error:
        message = f"cannot read {file}: {error.strerror}"
        raise StorageError(message) from error


def _find_entries(archive: tarfile.TarFile, source: _Meter) -> dict[str, _Entry]:
    member = archive.next()
    if member is None or member.name != MANIFEST:
        message = "it does not begin with a manifest"
        raise ValueError(message)
    if member.size > MANIFEST_BYTES:
        message = "its manifest is too large"
        raise ValueError(message)
    record = json.loads(_open_member(archive, source, member).read())
    _check_format(record["format"])
    entries = {_check_path(entry["path"]): _read_entry(entry) for entry in record["files"]}
    for path in entries:
        if any(parent in entries for parent in list_parents(path)):
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


def _read_entry(entry: Mapping[str, Any]) -> _Entry:
    size = entry["size"]
    if not isinstance(size, int) or size < 0:
        message = f"{size!r} is not a size"
        raise ValueError(message)
    return _Entry(size, str(entry["sha256"]))


def _check_path(path: Any) -> str:  # noqa: ANN401 - it was read from JSON
    name = str(path)
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") for part in parts):
        message = f"the name {name!r} leads somewhere else"
        raise ValueError(message)
    if any(len(os.fsencode(part)) > NAME_BYTES for part in parts):
        message = f"the name {name!r} is too long"
        raise ValueError(message)
    return name


def _open_next_member(
    archive: tarfile.TarFile, source: _Meter, path: str, entry: _Entry
) -> IO[bytes]:
    source.left = CHUNK
    member = archive.next()
    # In the manifest's own order: an archive that is read once cannot be searched.
    if member is None or member.name != PREFIX + path or member.size != entry.size:
        message = f"{path!r} is missing"
        raise ValueError(message)
    return _open_member(archive, source, member)


def _open_member(archive: tarfile.TarFile, source: _Meter, member: tarfile.TarInfo) -> IO[bytes]:
    # A link or a device in the archive could lead a restore out of the data folder.
    file = archive.extractfile(member) if member.type == tarfile.REGTYPE else None
    if file is None or member.issparse():
        message = f"{member.name!r} is not an ordinary file"
        raise ValueError(message)
    # So that an archive cannot unpack to more than its manifest, which was checked against the
    # disk.
    source.left = member.size + CHUNK
    return file


def _read_pieces(file: str | Path, member: IO[bytes], entry: _Entry) -> Iterator[bytes]:
    with _blame(file):
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
        message = (
            f"the backup needs {needed:,} bytes, but the disk has only {room:,}; free some space"
        )
        raise StorageError(message)


# Every lock is an open file, and logs of past days and months are written no more.
NEWEST_LOCKED = 40

_DATABASE = re.compile(r".+\.(db|sqlite|sqlite3)")
_SPACE = rf"({SPACES}/[^/]+/)?"
# What is derived, and what a restore must not bring back: a token may have been revoked since.
_LEFT_OUT = re.compile(
    rf"{_SPACE}(index|vectors)\.db(-.+)?|{TOKEN_NAME}|{re.escape(OPERATOR_NAME)}"
    r"|(.*/)?\.[^/]+\.(lock|tmp|previous|redo|in-place)"
    r"|.+\.(db|sqlite|sqlite3)-(wal|shm|journal)"
)
_OURS = re.compile(
    rf"{_SPACE}(memory-config\.json|schedules\.json|learning\.db|records\.db"
    r"|(memories/)?(memories\.json|older\.json|changes\.jsonl)"
    r"|prompts/memory/(MEMORY\.md|OLDER\.md|pending\.md|changes\.jsonl|daily/\d{4}-\d\d-\d\d\.md)"
    r"|conversations/(conversations\.(db|json)|archive/\d{4}-\d\d\.jsonl))"
)
_TAKEN_OVER = re.compile(rf"{_SPACE}conversations/(.+)\.{BACKUP}-\d{{8}}T\d{{6}}Z(-\d+)?")
# A store that holds the lock of its main file takes the lock of one of these after it.
_LOCKED_AFTER = re.compile(r"(.*/)?(OLDER\.md|older\.json|changes\.jsonl|archive/[^/]+)")


@dataclass(frozen=True, slots=True)
class Saved:
    """What a backup holds, and where it is."""

    path: Path
    files: int
    size: int


@dataclass(frozen=True, slots=True)
class Restored:
    """How many files came back, which of ours went away, and where the old ones are."""

    files: int
    removed: tuple[str, ...]
    safety: Path | None


def backup(
    data_dir: str | Path, file: str | Path, *, now: Callable[[], datetime] = utc_now
) -> Saved:
    """Save the whole data folder to a file."""
    folder, target = atomic.resolve(data_dir), atomic.resolve(file)
    # The next backup would contain this one.
    if target.is_relative_to(folder):
        message = f"{file} is inside the data folder; choose a place outside {data_dir}"
        raise InvalidInput(message)
    if is_empty(folder):
        message = f"there is nothing to back up in {data_dir}; --data-dir names another folder"
        raise NotFound(message)
    with _lock_files(folder, _list_paths(folder), may_be_read_only=True) as held:
        contents = _read_contents(folder, held)
    return _save(target, contents, now())


def restore(
    data_dir: str | Path, file: str | Path, *, now: Callable[[], datetime] = utc_now
) -> Restored:
    """Bring a backup back; what was there is saved beside the data folder first."""
    folder = atomic.resolve(data_dir)
    # All of it is read before anything is changed: a backup that
    # is damaged in its middle must not replace half of the memory.
    sizes = verify(file, room=count_free_bytes(folder))
    _check_fit(folder, sizes)
    for path in sizes:
        atomic.make_folder((folder / path).parent)
    with _lock_files(folder, {*_list_paths(folder), *sizes}) as held:
        there, safety = _save_first(folder, file, _read_contents(folder, held), now())
        gone = tuple(path for path in there if path not in sizes and _is_ours(path))
        # What was there is saved by now: from here on an error can leave files of both.
        with _tell_what_is_left(safety):
            for path, pieces in _read_entries(file):
                _put(folder / path, held, b"".join(pieces))
            for path in gone:
                with _hold(folder / path, held) as one:
                    one.remove()
                    if _DATABASE.fullmatch(path):
                        databases.drop_companions(one)
    return Restored(len(sizes), gone, safety)


def verify(file: str | Path, room: int | None = None) -> dict[str, int]:
    """Read a whole archive and give the sizes of what it holds; raise CorruptFile if it is bad."""
    try:
        return {path: sum(map(len, pieces)) for path, pieces in _read_entries(file, room)}
    except CorruptFile as error:
        message = f"{error}; nothing was changed"
        raise CorruptFile(message) from error


def count_free_bytes(data_dir: str | Path) -> int:
    """Return the free bytes on the disk of a data folder."""
    folder = atomic.resolve(data_dir)
    there = next(path for path in (folder, *folder.parents) if path.exists())
    return shutil.disk_usage(there).free


def is_empty(data_dir: str | Path) -> bool:
    """Whether a data folder holds nothing that a backup would save."""
    return not _list_paths(atomic.resolve(data_dir))


# What is in the folder


def _list_paths(folder: Path) -> list[str]:
    """List the files to save, following symbolic links as the stores do, each folder once."""
    found: list[str] = []
    seen: set[str] = set()
    for here, folders, names in os.walk(folder, followlinks=True, onerror=_refuse_unless_missing):
        # A link may lead to a folder above itself.
        if os.path.realpath(here) in seen:
            folders.clear()
            continue
        seen.add(os.path.realpath(here))
        found += [Path(here, name).relative_to(folder).as_posix() for name in names]
    return sorted(path for path in found if _is_saved(folder, path))


def _refuse_unless_missing(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        message = f"cannot read {error.filename}: {error.strerror}; check its permissions"
        raise StorageError(message) from error


def _is_ours(path: str) -> bool:
    return any(names.fullmatch(path) for names in (_OURS, _TAKEN_OVER))


def _is_saved(folder: Path, path: str) -> bool:
    return not _LEFT_OUT.fullmatch(path) and (folder / path).is_file()


def _read_contents(folder: Path, held: Mapping[Path, atomic.Held]) -> dict[str, bytes]:
    read = {path: _read_content(folder / path, held) for path in _list_paths(folder)}
    return {path: data for path, data in read.items() if data is not None}


def _read_content(path: Path, held: Mapping[Path, atomic.Held]) -> bytes | None:
    real = atomic.resolve(path)
    # By SQLite's own backup, which takes in the log and waits for writers; the bytes of the file
    # alone may be half of a transaction.
    data = databases.copy_as_file(real) if _DATABASE.fullmatch(path.name) else None
    if data is not None:
        return data
    return held[real].read() if real in held else atomic.read(real)


# Locks


@contextmanager
def _lock_files(
    folder: Path, paths: Iterable[str], *, may_be_read_only: bool = False
) -> Iterator[dict[Path, atomic.Held]]:
    """Hold the locks of the files that anybody may be writing."""
    with ExitStack() as stack:
        held: dict[Path, atomic.Held] = {}
        shared = [path for path in paths if _is_shared(folder, path)]
        # In one order for all programs, or a store and a backup could wait for each other for ever.
        for path in sorted(_choose_newest(shared), key=_find_lock_order):
            real = atomic.resolve(folder / path)
            if real not in held:
                try:
                    held[real] = stack.enter_context(atomic.lock(real))
                except StorageError as error:
                    if not (may_be_read_only and _is_read_only(error)):
                        raise
        yield held


def _find_lock_order(path: str) -> tuple[bool, bool, str]:
    """Put the databases after the files that are taken over into one."""
    is_database = _DATABASE.fullmatch(path) is not None
    return _LOCKED_AFTER.fullmatch(path) is not None, is_database, path


def _is_shared(folder: Path, path: str) -> bool:
    """Whether one of our programs writes this file, or ever wrote it."""
    place = folder / path
    # A name may be so long that none can be made from it.
    has_lock = os.access(place.with_name(f".{place.name}.lock"), os.F_OK)
    return has_lock or bool(_OURS.fullmatch(path) or _DATABASE.fullmatch(path))


def _choose_newest(paths: Iterable[str]) -> list[str]:
    """Leave out the older of many files in one folder: logs of past days and months."""
    folders: dict[str, list[str]] = {}
    for path in sorted(paths):
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    return [path for inside in folders.values() for path in inside[-NEWEST_LOCKED:]]


def _is_read_only(error: StorageError) -> bool:
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in {errno.EACCES, errno.EROFS, errno.EPERM}


@contextmanager
def _hold(path: Path, held: Mapping[Path, atomic.Held]) -> Iterator[atomic.Held]:
    real = atomic.resolve(path)
    if real in held:
        yield held[real]
        return
    with atomic.lock(real) as file:
        yield file


# Archives


def _save(target: Path, contents: Mapping[str, bytes], time: datetime) -> Saved:
    data = pack_files(contents, time)
    atomic.write(target, data)
    return Saved(target, len(contents), len(data))


def _read_entries(
    file: str | Path, room: int | None = None
) -> Iterator[tuple[str, Iterator[bytes]]]:
    for path, pieces in iterate_files(file, room):
        if _LEFT_OUT.fullmatch(path):
            message = f"{file} contains {path!r}, which does not belong in a backup"
            raise CorruptFile(message)
        yield path, pieces


# Putting it back


def _save_first(
    folder: Path, file: str | Path, contents: Mapping[str, bytes], time: datetime
) -> tuple[list[str], Path | None]:
    """Save what is there, beside the data folder or else beside the backup; tell what and where."""
    if not contents:
        return [], None
    data = pack_files(contents, time)
    problem = StorageError(f"no folder outside {folder} can be written")
    for place in (folder.parent, atomic.resolve(file).parent):
        if not place.is_relative_to(folder):
            try:
                target = _find_free(place, f"{folder.name}.before-restore-{time:%Y%m%dT%H%M%S}")
                atomic.write(target, data)
            except StorageError as error:
                problem = error
            else:
                return [*contents], target
    message = (
        f"the contents of {folder} could not be backed up first ({problem}); nothing was changed"
    )
    raise StorageError(message) from problem


def _find_free(place: Path, name: str) -> Path:
    target = place / f"{name}.tar.gz"
    number = 1
    while target.exists():
        number += 1
        target = place / f"{name}-{number}.tar.gz"
    return target


@contextmanager
def _tell_what_is_left(safety: Path | None) -> Iterator[None]:
    try:
        yield
    except (TurnleafError, OSError) as error:
        kept = f"the previous contents are in {safety}; " if safety else ""
        message = f"{error}; some files may already be restored; {kept}run the command again"
        raise StorageError(message) from error


def _check_fit(folder: Path, paths: Iterable[str]) -> None:
    for path in paths:
        above = [folder / parent for parent in list_parents(path)]
        wrong = [place for place in above if place.exists() and not place.is_dir()]
        wrong += [folder / path] if (folder / path).is_dir() else []
        if wrong:
            message = (
                f"{wrong[0]} is where {path!r} must be written; move it elsewhere and try again"
            )
            raise StorageError(message)


def _put(path: Path, held: Mapping[Path, atomic.Held], data: bytes) -> None:
    with _hold(path, held) as file:
        if _DATABASE.fullmatch(path.name):
            # Its numbers are used again from here, so whoever followed it must begin anew.
            data = databases.edit_copy(data, renew_identity)
            if databases.put_inside(file, data):
                return
            databases.drop_companions(file)
        if file.read() != data:
            file.replace(data)
        # Else the replaced page would be taken for what an editor saved in the instant of our
        # change.
        atomic.drop_previous(file.path)
