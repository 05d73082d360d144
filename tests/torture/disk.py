"""A disk that forgets: what may be on it when the power fails after each system call.

What was written and not synced is lost, kept, torn, zeroed or kept out of order. A name that
was made, moved or removed is lost or kept until its folder is synced. A file's data and its
name do not wait for each other: a name may be kept whose data is lost.

Pure: it replays calls (see `trace`) and gives trees, each a mapping of paths to bytes; a
folder's path ends with a slash.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tests.torture.trace import Call

Tree = Mapping[str, bytes]
Place = tuple[int, str]
ROOT = 0
EVERY_SUBSET_UP_TO = 4
TRACED = (
    "open,openat,creat,close,dup,dup2,dup3,fcntl,lseek,read,write,writev,pwrite64,pwritev,"
    "ftruncate,truncate,fallocate,sendfile,copy_file_range,mmap,fsync,fdatasync,rename,"
    "renameat,renameat2,link,linkat,symlink,symlinkat,unlink,unlinkat,mkdir,mkdirat,rmdir"
)


class UnknownCallError(Exception):
    """The calls do something that the disk does not model."""


@dataclass(frozen=True, slots=True)
class Write:
    offset: int
    data: bytes

    def on(self, old: bytes) -> bytes:
        end = self.offset + len(self.data)
        return old[: self.offset].ljust(self.offset, b"\0") + self.data + old[end:]

    def tear(self) -> Change:
        return Write(self.offset, self.data[: len(self.data) // 2])

    def zero(self) -> Change:
        return Write(self.offset, bytes(len(self.data)))


@dataclass(frozen=True, slots=True)
class Truncate:
    size: int

    def on(self, old: bytes) -> bytes:
        return old[: self.size].ljust(self.size, b"\0")

    def tear(self) -> Change:
        return self

    def zero(self) -> Change:
        return self


Change = Write | Truncate
Fate = Callable[[Sequence[Change]], Sequence[Change]]


def _lose(_pending: Sequence[Change]) -> Sequence[Change]:
    return ()


def _keep(pending: Sequence[Change]) -> Sequence[Change]:
    return pending


def _tear(pending: Sequence[Change]) -> Sequence[Change]:
    return [*pending[:-1], pending[-1].tear()]


def _zero(pending: Sequence[Change]) -> Sequence[Change]:
    return [change.zero() for change in pending]


def _keep_first(pending: Sequence[Change]) -> Sequence[Change]:
    return pending[:1]


def _keep_last(pending: Sequence[Change]) -> Sequence[Change]:
    return pending[-1:]


FATES: tuple[Fate, ...] = (_lose, _keep, _tear, _zero, _keep_first, _keep_last)


@dataclass(slots=True)
class File:
    synced: bytes = b""
    now: bytes = b""
    pending: list[Change] = field(default_factory=list)

    def change(self, change: Change) -> None:
        self.now = change.on(self.now)
        self.pending.append(change)

    def sync(self) -> None:
        self.synced = self.now
        self.pending.clear()

    def after(self, fate: Fate) -> bytes:
        content = self.synced
        for change in fate(self.pending) if self.pending else ():
            content = change.on(content)
        return content


@dataclass(slots=True)
class Open:
    """An open file; duplicated descriptors share it."""

    inode: int
    appends: bool
    position: int = 0


@dataclass(frozen=True, slots=True)
class Rename:
    """A change of names that happens whole or not at all; None takes a name away."""

    edits: tuple[tuple[Place, int | None], ...]

    def touches(self, folder: int) -> bool:
        return any(place[0] == folder for place, _ in self.edits)


class Disk:
    def __init__(self, root: str, tree: Tree | None = None) -> None:
        self.root = root.rstrip("/")
        self.files: dict[int, File] = {}
        self.folders: set[int] = {ROOT}
        self.synced: dict[Place, int] = {}
        self.now: dict[Place, int] = {}
        self.pending: list[Rename] = []
        self.open: dict[int, Open] = {}
        self.inodes = itertools.count(1)
        for path, data in sorted((tree or {}).items()):
            self._put(path, data)

    def _put(self, path: str, data: bytes) -> None:
        place = self._place(f"{self.root}/{path.rstrip('/')}")
        if place is not None:
            inode = self._new(None if path.endswith("/") else data)
            self.now[place] = self.synced[place] = inode

    def _new(self, data: bytes | None) -> int:
        inode = next(self.inodes)
        if data is None:
            self.folders.add(inode)
        else:
            self.files[inode] = File(data, data)
        return inode

    # Names

    def _place(self, path: str, folder: str = "AT_FDCWD") -> Place | None:
        """The folder and the name that a path speaks of; None outside the root."""
        parent = ROOT
        if not path.startswith("/"):
            opened = self.open.get(int(folder)) if folder != "AT_FDCWD" else None
            if opened is None or opened.inode not in self.folders:
                return None
            parent, inside = opened.inode, path
        elif path.startswith(f"{self.root}/"):
            inside = path[len(self.root) + 1 :]
        else:
            return None
        *above, name = inside.rstrip("/").split("/")
        for part in above:
            if (parent, part) not in self.now:
                return None
            parent = self.now[parent, part]
        return parent, name

    def _inode(self, path: str, folder: str = "AT_FDCWD") -> int | None:
        if path.rstrip("/") == self.root:
            return ROOT
        place = self._place(path, folder)
        return None if place is None else self.now.get(place)

    def _rename(self, *edits: tuple[Place | None, int | None]) -> None:
        known = tuple((place, inode) for place, inode in edits if place is not None)
        if len(known) != len(edits):
            if known:
                message = f"a name moves across the border of {self.root}"
                raise UnknownCallError(message)
            return
        for place, inode in known:
            if inode is None:
                self.now.pop(place, None)
            else:
                self.now[place] = inode
        self.pending.append(Rename(known))

    # Calls

    def replay(self, call: Call) -> None:
        """Do what a call did; one that failed did nothing."""
        if call.result >= 0 and call.name in self.CALLS:
            self.CALLS[call.name](self, call)

    def _openat(self, call: Call) -> None:
        at = call.name == "openat"
        folder, path = (call.arguments[0], call.path(1)) if at else ("AT_FDCWD", call.path(0))
        flags = 2 if at else 1
        inode = self._inode(path, folder)
        if call.has(flags, "O_TMPFILE"):
            inode = None if inode is None else self._new(b"")
        elif inode is None and (place := self._place(path, folder)):
            inode = self._new(b"")
            self._rename((place, inode))
        if inode is None:
            self.open.pop(call.result, None)
            return
        self.open[call.result] = Open(inode, call.has(flags, "O_APPEND"))
        if (call.has(flags, "O_TRUNC") or call.name == "creat") and self.files[inode].now:
            self.files[inode].change(Truncate(0))

    def _close(self, call: Call) -> None:
        self.open.pop(call.number(0), None)

    def _duplicate(self, call: Call) -> None:
        if call.name == "fcntl" and not call.arguments[1].startswith("F_DUPFD"):
            return
        opened = self.open.get(call.number(0))
        if opened is not None:
            self.open[call.result] = opened
        else:
            self.open.pop(call.result, None)

    def _seek(self, call: Call) -> None:
        if opened := self.open.get(call.number(0)):
            opened.position = call.result

    def _read(self, call: Call) -> None:
        if opened := self.open.get(call.number(0)):
            opened.position += call.result

    def _write(self, call: Call) -> None:
        opened = self.open.get(call.number(0))
        if opened is None or not call.result:
            return
        file = self.files[opened.inode]
        if call.name == "pwrite64":
            offset = call.number(3)
        else:
            offset = len(file.now) if opened.appends else opened.position
            opened.position = offset + call.result
        file.change(Write(offset, call.data(1)[: call.result]))

    def _truncate(self, call: Call) -> None:
        if opened := self.open.get(call.number(0)):
            self.files[opened.inode].change(Truncate(call.number(1)))

    def _sync(self, call: Call) -> None:
        opened = self.open.get(call.number(0))
        if opened is None:
            return
        if opened.inode not in self.folders:
            self.files[opened.inode].sync()
            return
        for rename in [each for each in self.pending if each.touches(opened.inode)]:
            _apply(self.synced, rename)
            self.pending.remove(rename)

    def _move(self, call: Call) -> None:
        old, new = self._two_places(call, call.name != "rename")
        moved = None if old is None else self.now[old]
        stays = None
        if new is not None and call.name == "renameat2" and call.has(4, "RENAME_EXCHANGE"):
            stays = self.now[new]
        self._rename((old, stays), (new, moved))

    def _link(self, call: Call) -> None:
        at = call.name == "linkat"
        old, new = self._two_places(call, at)
        source = call.path(1 if at else 0)
        if source.startswith("/proc/self/fd/"):
            self._rename((new, self.open[int(source.rsplit("/", 1)[1])].inode))
        elif old in self.now:
            self._rename((new, self.now[old]))

    def _two_places(self, call: Call, at: bool) -> tuple[Place | None, Place | None]:  # noqa: FBT001
        if at:
            old = self._place(call.path(1), call.arguments[0])
            return old, self._place(call.path(3), call.arguments[2])
        return self._place(call.path(0)), self._place(call.path(1))

    def _unlink(self, call: Call) -> None:
        at = call.name == "unlinkat"
        folder, path = (call.arguments[0], call.path(1)) if at else ("AT_FDCWD", call.path(0))
        if place := self._place(path, folder):
            self._rename((place, None))

    def _mkdir(self, call: Call) -> None:
        at = call.name == "mkdirat"
        folder, path = (call.arguments[0], call.path(1)) if at else ("AT_FDCWD", call.path(0))
        if place := self._place(path, folder):
            self._rename((place, self._new(None)))

    def _map(self, call: Call) -> None:
        writable = call.has(2, "PROT_WRITE") and call.has(3, "MAP_SHARED")
        opened = self.open.get(call.number(4))
        if writable and opened and not self._is_memory(opened.inode):
            self._refuse(call)

    def _refuse(self, call: Call) -> None:
        if any(number in self.open for number in _numbers(call)):
            message = f"{call.name}{call.arguments} changes a file in a way that is not modelled"
            raise UnknownCallError(message)

    def _is_memory(self, inode: int) -> bool:
        """SQLite's -shm file is shared memory that a restart builds anew."""
        return any(i == inode and name.endswith("-shm") for (_, name), i in self.now.items())

    CALLS: ClassVar[dict[str, Callable[[Disk, Call], None]]] = {
        **dict.fromkeys(("open", "openat", "creat"), _openat),
        **dict.fromkeys(("dup", "dup2", "dup3", "fcntl"), _duplicate),
        **dict.fromkeys(("write", "writev", "pwrite64"), _write),
        **dict.fromkeys(("fsync", "fdatasync"), _sync),
        **dict.fromkeys(("rename", "renameat", "renameat2"), _move),
        **dict.fromkeys(("link", "linkat"), _link),
        **dict.fromkeys(("unlink", "unlinkat", "rmdir"), _unlink),
        **dict.fromkeys(("mkdir", "mkdirat"), _mkdir),
        **dict.fromkeys(("fallocate", "sendfile", "copy_file_range", "pwritev"), _refuse),
        "close": _close,
        "lseek": _seek,
        "read": _read,
        "ftruncate": _truncate,
        "mmap": _map,
    }

    def tree(self) -> Tree:
        """What a program sees."""
        return self._tree(self.now, {})

    # What a power cut leaves

    def after_cut(self) -> Iterator[Tree]:
        """Every tree that may be there if the power fails now; the same one may come twice."""
        unsynced = [inode for inode, file in self.files.items() if file.pending]
        for names in self._names():
            for fate in FATES if unsynced else (_keep,):
                yield self._tree(names, dict.fromkeys(unsynced, fate))
            if len(unsynced) > 1:
                for inode, fate, others in itertools.product(unsynced, FATES, (_lose, _keep)):
                    yield self._tree(names, {**dict.fromkeys(unsynced, others), inode: fate})

    def _names(self) -> Iterator[dict[Place, int]]:
        for kept in _selections(self.pending):
            names = dict(self.synced)
            for rename in kept:
                _apply(names, rename)
            yield names

    def _tree(self, names: Mapping[Place, int], fates: Mapping[int, Fate]) -> Tree:
        tree: dict[str, bytes] = {}
        folders = [(ROOT, "")]
        while folders:
            folder, path = folders.pop()
            for (parent, name), inode in names.items():
                if parent != folder or name.endswith(("-shm", ".line")):
                    continue
                if inode in self.folders:
                    folders.append((inode, f"{path}{name}/"))
                    tree[f"{path}{name}/"] = b""
                else:
                    tree[path + name] = self.files[inode].after(fates.get(inode, _keep))
        return tree


def _numbers(call: Call) -> list[int]:
    return [int(argument) for argument in call.arguments if argument.isdigit()]


def _apply(names: dict[Place, int], rename: Rename) -> None:
    for place, inode in rename.edits:
        if inode is None:
            names.pop(place, None)
        else:
            names[place] = inode


def _selections(pending: Sequence[Rename]) -> Iterator[Sequence[Rename]]:
    """Which of the unsynced changes of names may have reached the disk: any of them."""
    if len(pending) <= EVERY_SUBSET_UP_TO:
        for size in range(len(pending) + 1):
            yield from itertools.combinations(pending, size)
        return
    for size in range(len(pending) + 1):
        yield pending[:size]
    for rename in pending:
        yield (rename,)
