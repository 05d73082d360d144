"""The only module that changes a user's file.

A change is: lock, read, a pure function from old bytes to new, a temporary file in the same
folder, fsync, rename, fsync of the folder. Whoever reads sees the old file or the new one, and
a kill or a power cut at any instant leaves one of the two. What cannot be done is a
`StorageError` that says what to do, and the old content stays.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import logging
import os
import stat
import sys
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from weakref import WeakSet

from turnleaf.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

log = logging.getLogger("turnleaf")

FILE_MODE = 0o600
FOLDER_MODE = 0o700
NAME_BYTES = 255
"""How long a name may be on the usual file systems."""
MAX_PAGE_BYTES = 8_000_000
"""How large a page of memory may be: four times what the HTTP API takes, and some seconds to parse.

Parsing takes many times a page's size in memory, so one that is larger is not even read.
"""
TICK_SECONDS = 0.02
COARSE_TICK_SECONDS = 2.0
"""For how long a file system's clock stands still, also one that knows whole seconds only.

Two saves within a tick may have one time.
"""
MADE_BY_US = 3
"""How many folders above a store's own we may have made ourselves."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2

Stamp: TypeAlias = tuple[int, int, int]
Marks: TypeAlias = tuple[int, int, int, int]

# Names whose folder this process has fsynced: once is enough for each.
_names_known_durable: set[Path] = set()


class ChangedMeanwhile(Exception):
    """Somebody else saved the file since it was read."""


ADVICE = {
    errno.ENOSPC: "the disk is full; free some space and try again",
    errno.EDQUOT: "your disk quota is used up; free some space and try again",
    errno.EFBIG: "it would be larger than this system allows; shorten or split it",
    errno.EROFS: "the file system is read-only; use another folder",
    errno.EACCES: "permission is denied; check who owns the file and its folder",
    errno.EPERM: "permission is denied; check who owns the file and its folder",
    errno.ENOENT: "it is not there; has the folder been moved or a disk been unplugged?",
    errno.ENOTDIR: "a part of its path is a file, not a folder; choose another path",
    errno.EISDIR: "it is a folder, not a file; choose another path",
    errno.ENAMETOOLONG: "its name is too long; choose a shorter one",
    errno.ELOOP: "its symbolic links form a loop; correct them",
    errno.EMFILE: "too many files are open; close some or raise the limit (ulimit -n)",
    errno.ENFILE: "too many files are open on this computer; close some",
    errno.EIO: "the disk reported an error; check it and keep a backup",
    errno.ESTALE: "the network folder is no longer connected; mount it again",
}


def resolve(path: str | Path) -> Path:
    """Follow symbolic links, so that everybody locks and replaces the same file."""
    with _explain_errors("use", Path(path)):
        return Path(os.path.realpath(path))


def name_version(data: bytes | None) -> str:
    """Return a name for some content: the same name means the same bytes."""
    return "" if data is None else hashlib.sha256(data).hexdigest()[:32]


def read(path: Path, max_bytes: int | None = None) -> bytes | None:
    """Read a whole file, or None when there is none; unreadable is an error, never empty."""
    return read_settled(path, max_bytes)[0]


def read_settled(
    path: Path, max_bytes: int | None = None, known: Marks | None = None
) -> tuple[bytes | None, Marks | None]:
    """Read a whole file, and its marks if it had stopped changing before it was read.

    One that has the marks that are `known` is not read: they are returned without its content.
    """
    with _explain_errors("read", path):
        found = _read(path, max_bytes, known)
        # Asked after the reading: an overwriting that began meanwhile is then seen, too.
        if _is_written_in_place(path):
            return _read_settled(path, max_bytes), None
        return found


def check_size(path: Path, size: int, max_bytes: int = MAX_PAGE_BYTES) -> None:
    """Raise StorageError when a file is, or would become, larger than it may be."""
    if size > max_bytes:
        message = (
            f"{path} is too large ({size:,} bytes; the limit is {max_bytes:,}) and was left "
            "as it is; shorten it or move it elsewhere"
        )
        raise StorageError(message)


def read_mtime(path: Path) -> datetime:
    """Return when a file was last changed; the epoch when there is none."""
    try:
        return datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except OSError:
        return datetime.fromtimestamp(0, UTC)


def read_marks(path: Path) -> Marks | None:
    """Return values that change with every save, even one that puts the file's time back.

    None where there is no file, or none that can be read. It is opened, because a network folder
    may remember for a while how a file looked.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
    finally:
        os.close(descriptor)
    return _list_marks(found)


def _list_marks(found: os.stat_result) -> Marks:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def is_at_rest(known: Marks) -> bool:
    """Whether a save from now on would leave other marks."""
    seconds, rest = divmod(known[3], 1_000_000_000)
    # Whole seconds are the sign of a file system that knows nothing finer.
    tick = TICK_SECONDS if rest else COARSE_TICK_SECONDS
    return time.time() - (seconds + rest / 1e9) >= tick


def read_stamp(path: Path) -> Stamp | None:
    """Return the marks of a file that survive a rename."""
    found = read_marks(path)
    return found and found[:3]


@contextmanager
def lock(path: Path) -> Iterator[Held]:
    """Keep every other thread and process from changing this file meanwhile.

    The lock is on a file of its own, because the file itself is replaced.
    """
    descriptor = -1
    try:
        try:
            descriptor = os.open(_name_beside(path, "lock"), os.O_RDWR | os.O_CREAT, FILE_MODE)
            _wait_for(descriptor, path)
            # A kill may have left a file half overwritten that cannot be replaced.
            _finish_in_place(path)
        except (OSError, ValueError) as error:
            raise _explain("lock", path, error) from error
        yield Held(path)
    finally:
        # Closing releases the lock. Its file stays: after a deletion
        # two programs could lock two different files under one name.
        if descriptor >= 0:
            os.close(descriptor)


class KeptLock:
    """The same for whoever changes a file again and again, one thread at a time.

    It stays open: to open it each time would add half as much again to a small write.
    """

    __slots__ = ("__weakref__", "_descriptor", "_path", "_redo")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._redo = str(_name_beside(path, "redo"))
        self._descriptor = -1
        _kept.add(self)

    def __enter__(self) -> None:
        try:
            self._take()
            # Nearly always there is nothing to finish, and one look at a name says so.
            if os.access(self._redo, os.F_OK):
                _finish_in_place(self._path)
        except (OSError, ValueError) as error:
            # `__exit__` is not called after an error in here, so the lock must not stay held.
            self.close()
            raise _explain("lock", self._path, error) from error

    def __exit__(self, *_: object) -> None:
        if self._descriptor >= 0:
            fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Release the lock, if it is held, and close its file."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _take(self) -> None:
        if self._descriptor >= 0:
            _wait_for(self._descriptor, self._path)
            if os.fstat(self._descriptor).st_nlink > 0:
                return
            # Somebody has deleted it, and others lock another file by now.
            self.close()
        self._descriptor = os.open(
            _name_beside(self._path, "lock"), os.O_RDWR | os.O_CREAT, FILE_MODE
        )
        _wait_for(self._descriptor, self._path)

    def __del__(self) -> None:
        self.close()


class Claim:
    """A sign that this process is at work on something, until the work is done or the process ends.

    It is a lock on a file of its own, which the system releases when the process is killed. Where
    the file cannot be made, there is no sign.
    """

    __slots__ = ("__weakref__", "_descriptor", "_path")

    def __init__(self, path: Path, name: str) -> None:
        self._path = _name_beside(path, name)
        self._descriptor = -1
        with suppress(OSError):
            # Somebody may take the new file for one left behind and remove it before it is locked.
            while self._descriptor < 0:
                self._take()
        _claims.add(self)

    def end(self) -> None:
        """End the claim, and remove its file."""
        if self._descriptor >= 0:
            with suppress(OSError):
                # While the lock is still held: nobody may find the file without its owner.
                self._path.unlink()
        self.let_go()

    def let_go(self) -> None:
        """Close the file, and leave it."""
        descriptor, self._descriptor = self._descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)

    def _take(self) -> None:
        self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, FILE_MODE)
        # It cannot be held for long: others take it shared, for the instant of a look.
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        if os.fstat(self._descriptor).st_nlink == 0:  # somebody took it for one left behind
            self.let_go()

    def __del__(self) -> None:
        self.let_go()


def is_claimed(path: Path, name: str) -> bool:
    """Whether a process that lives says that it is at work; what a dead one left is removed."""
    claim = _name_beside(path, name)
    try:
        descriptor = os.open(claim, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Shared, so that two who look at the same time do not take each other for the owner.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        claim.unlink()
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def claim_for_child(path: Path, name: str) -> int | None:
    """Return a descriptor that claims some work until every process that has it closes it.

    None where another process has claimed the work, or the file cannot be made.
    """
    try:
        descriptor = os.open(_name_beside(path, name), os.O_RDWR | os.O_CREAT, FILE_MODE)
    except OSError:
        return None
    try:
        # A flock belongs to the open file: a child that inherits the descriptor
        # holds the lock, too, and a parent's end does not release it.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


_kept: WeakSet[KeptLock] = WeakSet()
_claims: WeakSet[Claim] = WeakSet()


def _let_go_after_fork() -> None:
    """Close in a child what its parent locks: else the lock would outlive a parent's death."""
    for lock in list(_kept):
        lock.close()
    for claim in list(_claims):
        claim.let_go()


os.register_at_fork(after_in_child=_let_go_after_fork)


def give_way(path: Path) -> None:
    """Wait until whoever waits for a file's lock has it.

    Else whoever lets go of a lock has it again before those who wait for it are awake.
    """
    with _explain_errors("lock", path), _wait_in_line(path):
        pass


def _wait_for(descriptor: int, path: Path) -> None:
    try:
        # The line costs a second file; a lock that is free is taken without it.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with _wait_in_line(path):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextmanager
def _wait_in_line(path: Path) -> Iterator[None]:
    """Wait in line for a file's lock, where the file of the line can be made beside it."""
    descriptor = -1
    try:
        with suppress(OSError):
            # The line only makes waiting fair. Where its file
            # cannot be made, the lock itself still holds.
            descriptor = os.open(_name_beside(path, "line"), os.O_RDWR | os.O_CREAT, FILE_MODE)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        if descriptor >= 0:
            os.close(descriptor)


def was_locked(path: Path) -> bool:
    """Whether one of our programs ever used this file."""
    return _name_beside(path, "lock").exists()


class Held:
    """A file whose lock we hold: all that may be done to it meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, max_bytes: int | None = None) -> bytes | None:
        """Read the whole file, or None when there is none."""
        return read_raw(self.path, max_bytes)

    def replace(self, data: bytes) -> None:
        """Put new content into the file."""
        with _explain_errors("write", self.path):
            _refuse_read_only(self.path)
            temporary = _write_beside(self.path, data, "tmp")
            try:
                temporary.replace(self.path)
            except OSError as error:
                # EBUSY: the file is a mount point, as when Docker binds a single file.
                if error.errno != errno.EBUSY:
                    temporary.unlink(missing_ok=True)
                    raise
                _overwrite_in_place(self.path, temporary, data)
            _sync_folder(self.path.parent)

    def swap(self, data: bytes, is_current: Callable[[], bool]) -> Stamp | None:
        """Put new content in the place of what was read, and keep that; return its stamp.

        A person's editor knows nothing of our lock. What it saved since we read is left
        alone (`ChangedMeanwhile`); what it saves in this very instant, or writes later into the
        file that it had open, is found at `find_previous`.
        """
        kept = find_previous(self.path)
        with _explain_errors("write", self.path):
            _refuse_read_only(self.path)
            temporary = _write_beside(self.path, data, "tmp")
            # As late as possible: what is left of the gap is covered by the exchange below.
            if not is_current():
                temporary.unlink(missing_ok=True)
                raise ChangedMeanwhile
            # Before the rename, which keeps inode, size and time of change: by these our own save
            # is known again.
            written = read_stamp(temporary)
            # The exchange leaves the replaced file, inode and all, at `kept`: what an editor still
            # writes into its open descriptor is found there.
            temporary.replace(kept)
            try:
                _exchange(kept, self.path)
            except OSError:
                kept.unlink(missing_ok=True)
                # Some file systems cannot exchange; a hard link keeps the inode nearly as well.
                self._replace_linked(data, kept)
                written = None
            _sync_folder(self.path.parent)
            return written

    def _replace_linked(self, data: bytes, kept: Path) -> None:
        with suppress(OSError):
            # Where there are no hard links either, nothing is kept of what an editor may still
            # write.
            kept.hardlink_to(self.path)
        self.replace(data)

    def append(self, data: bytes) -> int:
        """Add to the end, durably; give the size before, for `cut_back`."""
        with _explain_errors("write", self.path):
            size = _append(self.path, data)
            # Whoever made the file may have been killed before its name was durable.
            if size == 0 or self.path not in _names_known_durable:
                _sync_folder(self.path.parent)
                _names_known_durable.add(self.path)
            return size

    def cut_back(self, size: int) -> None:
        """Take back what `append` added."""
        with _explain_errors("write", self.path):
            descriptor = os.open(self.path, os.O_RDWR)
            try:
                os.ftruncate(descriptor, size)
                _sync(descriptor)
            finally:
                os.close(descriptor)

    def remove(self) -> None:
        """Delete the file, durably; it is no error when there is none."""
        with _explain_errors("delete", self.path):
            self.path.unlink(missing_ok=True)
            # Until then a power cut may bring the name back.
            _sync_folder(self.path.parent)

    def discard(self, companions: Sequence[str] = ()) -> None:
        """Delete what can be made again, with the files that belong to it."""
        with _explain_errors("delete", self.path):
            for suffix in ("", *companions):
                # No fsync: what can be made again need not stay deleted after a power cut.
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def make_way(self, other: Path, companions: Sequence[str]) -> None:
        """Delete what can be made again and put another file in its place.

        First the file goes, so that what belongs to it never stands beside the other one.
        """
        self.discard(companions)
        with _explain_errors("replace", self.path):
            other.replace(self.path)

    def move_aside(self, problem: str) -> Path:
        """Keep a file that cannot be used under another name, and say so."""
        # A copy and no rename: to other programs a missing
        # file means that a disk or folder went away.
        aside = self.keep_copy(self.read() or b"", "corrupt")
        log.warning("%s cannot be used (%s); it was set aside as %s", self.path, problem, aside)
        return aside

    def set_aside(self, problem: str, companions: Sequence[str] = ()) -> Path:
        """Rename a file that cannot be used, with those that belong to it, and say so."""
        with _explain_errors("move", self.path):
            aside = _find_free_name(self.path, f"corrupt-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
            for suffix in ("", *companions):
                with suppress(FileNotFoundError):
                    self.path.with_name(self.path.name + suffix).rename(f"{aside}{suffix}")
            _sync_folder(self.path.parent)
        log.warning("%s cannot be used (%s); it was set aside as %s", self.path, problem, aside)
        return aside

    def keep_copy(self, data: bytes, why: str) -> Path:
        """Keep a content that has no other place in a new file beside this one."""
        with _explain_errors("write", self.path):
            copy = _find_free_name(self.path, f"{why}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
            _write_beside(self.path, data, "tmp").replace(copy)
            _sync_folder(copy.parent)
        return copy


def change(path: Path, edit: Callable[[bytes | None], bytes]) -> bytes:
    """Change a file in one step that nobody sees half of; give what it holds now."""
    with lock(path) as file:
        before = file.read()
        after = edit(before)
        if after != before:
            file.replace(after)
        return after


def write(path: Path, data: bytes) -> None:
    """Write a file that nobody else writes, such as an export, in one step."""
    with _explain_errors("write", path):
        if path.exists() and not (path.is_file() or path.is_dir()):
            message = "it is a device or a pipe, which a file would replace"
            raise ValueError(message)
        _refuse_read_only(path)
        # No lock is held here, so two writers must not share a temporary file.
        temporary = _write_beside(path, data, f"{os.getpid()}-{threading.get_ident()}.tmp")
        try:
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def find_previous(path: Path) -> Path:
    """Return the path at which `swap` keeps what it replaced."""
    return _name_beside(path, "previous")


def find_seen_path(path: Path) -> Path:
    """Return where it is kept when the facts of a page were first seen."""
    return _name_beside(path, "seen")


def read_raw(path: Path, max_bytes: int | None = None) -> bytes | None:
    """Read a file inside its lock; None when there is none."""
    return read_marked(path, max_bytes)[0]


def read_marked(path: Path, max_bytes: int | None = None) -> tuple[bytes | None, Marks | None]:
    """Read a file inside its lock, with its marks if it was at rest before it was read.

    Whoever saves it from then on leaves others.
    """
    with _explain_errors("read", path):
        return _read(path, max_bytes)


def drop_previous(path: Path) -> None:
    """Forget the kept link, so that no byte of an older version stays."""
    with _explain_errors("write", path):
        find_previous(path).unlink(missing_ok=True)


class Rest(NamedTuple):
    """A file from a place on, and its inode."""

    inode: int
    start: int
    data: bytes


def read_from(path: Path, start: int) -> Rest:
    """Read a file from a place on, a negative one counted from the end; a missing one is empty."""
    with _explain_errors("read", path):
        try:
            descriptor = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            return Rest(0, 0, b"")
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            found = os.fstat(descriptor)
            place = start if start >= 0 else max(0, found.st_size + start)
            file.seek(place)
            return Rest(found.st_ino, place, file.readall())


def make_vanished_error(path: Path) -> StorageError:
    """Return the error for a file that vanished in use: it must not silently begin anew."""
    message = (
        f"{path} has been removed since it was opened, so nothing was written; put it back "
        "(turnleaf restore), or restart to begin with an empty one"
    )
    return StorageError(message)


def count_torn_bytes(data: bytes) -> int:
    """Count the bytes at an end that are half of a character, as a power cut leaves them."""
    for count in range(1, min(4, len(data) + 1)):
        lead = data[-count]
        if lead >= 0xC0:  # noqa: PLR2004 - the first byte of a character of several
            return count if count < _find_char_width(lead) else 0
        if lead < 0x80:  # noqa: PLR2004 - a character of its own
            return 0
    return 0


def _find_char_width(lead: int) -> int:
    return 2 + (lead >= 0xE0) + (lead >= 0xF0)  # noqa: PLR2004 - UTF-8's own numbers


def make_folder(path: Path) -> None:
    """Make a folder and those above it, durably, readable by their owner only."""
    if path in _names_known_durable and path.is_dir():
        return
    with _explain_errors("create", path):
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        for folder in reversed(missing):
            # Another program may make it at the same moment.
            with suppress(FileExistsError):
                folder.mkdir(FOLDER_MODE)
            _sync_folder(folder.parent)
        if not path.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path))
        # Another program may have made them and been killed before their names were durable.
        for folder in (path, *path.parents[:MADE_BY_US]):
            # A folder further up may belong to somebody else.
            with suppress(PermissionError):
                _sync_folder(folder.parent)
    _names_known_durable.add(path)


def list_folder(path: Path) -> list[Path]:
    """Return what is in a folder, sorted; nothing when there is none."""
    with _explain_errors("read", path):
        return sorted(path.iterdir()) if path.is_dir() else []


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable."""
    with _explain_errors("write", path):
        _sync_folder(path)


def try_writing(folder: Path) -> None:
    """Write a few bytes into a folder and remove them; raise StorageError where that fails."""
    # Other processes may try at the same moment.
    name = folder / f"ready-{os.getpid()}-{threading.get_ident()}"
    with _explain_errors("write", folder):
        _write_beside(name, b"ready\n", "tmp").unlink()


def is_writable(path: Path) -> bool:
    """Whether we may change a file, or make it where there is none."""
    return os.access(path if path.exists() else path.parent, os.W_OK)


def read_identity(path: Path | str) -> tuple[int, int]:
    """Return what tells a file from another that took its name; raise where there is none."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise make_vanished_error(Path(path)) from None
    return found.st_dev, found.st_ino


def read_identity_if_any(path: Path) -> tuple[int, int] | None:
    """Return the same for a file or folder; None where there is none."""
    try:
        return read_identity(path)
    except (OSError, StorageError):
        return None


@contextmanager
def _explain_errors(doing: str, path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise _explain(doing, path, error) from error


def _explain(doing: str, path: Path, error: OSError | ValueError) -> StorageError:
    if isinstance(error, OSError):
        advice = ADVICE.get(error.errno or 0, os.strerror(error.errno or 0).lower())
        return StorageError(f"cannot {doing} {path}: {advice}")
    return StorageError(f"cannot {doing} {path}: {error}; choose another path")


@lru_cache(maxsize=1024)
def _name_beside(path: Path, suffix: str) -> Path:
    name = path.name
    # The file's own name may already be as long as the file system allows.
    if len(os.fsencode(f".{name}.{suffix}")) > NAME_BYTES:
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    return path.with_name(f".{name}.{suffix}")


def _find_free_name(path: Path, suffix: str) -> Path:
    candidate = path.with_name(f"{path.name}.{suffix}")
    number = 1
    # What was set aside is never overwritten, also when two come within one second.
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}.{suffix}-{number}")
    return candidate


def _read(
    path: Path, max_bytes: int | None = None, known: Marks | None = None
) -> tuple[bytes | None, Marks | None]:
    try:
        # A pipe would else wait for somebody at its other end.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except FileNotFoundError:
        return None, None
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            message = "it is not a regular file"
            raise ValueError(message)
        if max_bytes is not None:
            check_size(path, found.st_size, max_bytes)
        # From before the reading: a save that comes during it then leaves other marks.
        marked = _list_marks(found)
        if marked == known:
            return None, known
        resting = marked if is_at_rest(marked) else None
        return file.readall(), resting


def _write_beside(path: Path, data: bytes, suffix: str) -> Path:
    """Write a hidden file beside, with the mode and owner of the file it will replace.

    Its name is always the same: only the holder of the lock writes it, and what a kill left
    there is overwritten.
    """
    target = _name_beside(path, suffix)
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE_MODE)
    try:
        # Before the first byte: nobody may read the new content who could not read the old.
        _copy_rights(descriptor, path)
        _write_all(descriptor, data)
        # Before the rename, which may reach the disk ahead of the data that was written.
        _sync(descriptor)
    except OSError:
        # On a full disk the useless part would take the room that is missing.
        target.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    return target


def _append(path: Path, data: bytes) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, FILE_MODE)
    try:
        size = os.fstat(descriptor).st_size
        end = os.pread(descriptor, 4, max(0, size - 4))
        # Half a character, and the file would be no UTF-8 text any more.
        if count_torn_bytes(end):
            size -= count_torn_bytes(end)
            os.ftruncate(descriptor, size)
        try:
            # A torn line is ended and stays: readers leave it out, and a person may mend it.
            _write_all(descriptor, data if end[-1:] in {b"", b"\n"} else b"\n" + data)
            _sync(descriptor)
        except OSError:
            os.ftruncate(descriptor, size)
            raise
        return size
    finally:
        os.close(descriptor)


def _refuse_read_only(path: Path) -> None:
    """Respect a file made read-only: renaming over it would not even notice."""
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _copy_rights(descriptor: int, path: Path) -> None:
    try:
        old = path.stat()
    except FileNotFoundError:
        return
    # Renaming over a file would else change who may read it.
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):
            # Only root may give a file away; for others it becomes their own.
            os.fchown(descriptor, old.st_uid, old.st_gid)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        # The system may take less than it is given.
        view = view[os.write(descriptor, view) :]


def _sync(descriptor: int) -> None:
    if hasattr(fcntl, "F_FULLFSYNC"):  # macOS: fsync alone stops at the drive's cache
        with suppress(OSError):
            # Where the file system does not know it, plain fsync is the best there is.
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _exchange(one: Path, other: Path) -> None:
    """Exchange two files' names in one step; raise OSError where the system cannot."""
    # Python itself has no call that exchanges two names.
    libc = _load_libc()
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(*names, _RENAME_SWAP)
    elif hasattr(libc, "renameat2"):
        failed = libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    else:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(other))
    if failed:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(other))


@cache
def _load_libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


# A file that is itself a mount point (Docker binds single files) cannot be replaced, only
# overwritten. Its whole new content is first made durable as `.NAME.redo`, which is renamed to
# `.NAME.in-place` when the overwriting is done. A reader that finds either waits for the lock,
# and whoever takes the lock finishes what a kill interrupted.


def _is_written_in_place(path: Path) -> bool:
    return _name_beside(path, "in-place").exists() or _name_beside(path, "redo").exists()


def _overwrite_in_place(path: Path, temporary: Path, data: bytes) -> None:
    redo = _name_beside(path, "redo")
    # From here on a kill can be made good: the whole new content has a name of its own.
    temporary.replace(redo)
    _sync_folder(path.parent)
    _overwrite(path, data)
    redo.replace(_name_beside(path, "in-place"))


def _overwrite(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        _write_all(descriptor, data)
        os.ftruncate(descriptor, len(data))
        _sync(descriptor)
    finally:
        os.close(descriptor)


def _finish_in_place(path: Path) -> None:
    redo = _name_beside(path, "redo")
    data = _read(redo)[0] if os.path.lexists(redo) else None
    if data is not None:
        _overwrite(path, data)
        redo.replace(_name_beside(path, "in-place"))


def _read_settled(path: Path, max_bytes: int | None) -> bytes | None:
    descriptor = os.open(_name_beside(path, "lock"), os.O_RDWR | os.O_CREAT, FILE_MODE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        # Whoever may only read cannot finish it, but the new content is whole in there.
        redone, _ = _read(_name_beside(path, "redo"))
        return _read(path, max_bytes)[0] if redone is None else redone
    finally:
        os.close(descriptor)
