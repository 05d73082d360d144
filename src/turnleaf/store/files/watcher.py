"""`Watcher`: the one thread of a process that notices what happens to its files.

The system says when something happens in a folder. Where it cannot, on network drives or when its
watches are used up, the files themselves are looked at, twice a second. What happened is never
believed in detail: a change at a path announces the kind of thing that is kept there, and whoever
wants to know more looks. The same thread repairs memory files after an editor's save; without it a
fact that an editor wiped would come back only at the next call.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Event, RLock, Thread
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakKeyDictionary

from turnleaf.store.announcements import ProblemLog, Subscribers, log
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from turnleaf.store.announcements import Callback

    Changes = Iterator[dict["FileAnnouncements", frozenset[str]]]

LOOK_SECONDS = 0.5
LOOKING_SHARE = 0.05
"""The part of the time that looking may take where there are very many files."""

_BATCH_MILLISECONDS = 100
_STEP_MILLISECONDS = 50
_MOUNTS = Path("/proc/self/mountinfo")
# Here a change that another machine makes is not told to this one.
_REMOTE = re.compile(
    r"9p|afs|ceph|cifs|fuse|fuse\..*|lustre|nfs4?|prl_fs|smb.*|vboxsf|virtiofs|vmhgfs"
)

Identity = tuple[int, int] | None


class WatchedFiles(Protocol):
    """Some files of one kind."""

    def paths(self) -> Iterator[str]:
        """Yield the files that exist."""

    def folders(self) -> Iterator[Path]:
        """Yield the folders in which a change of the files would show."""

    def concerns(self, path: Path) -> bool:
        """Whether a change at this path may be one of the files."""


class Repairable(Protocol):
    """A store whose file somebody else may save."""

    def needs_mending(self) -> bool:
        """Whether somebody did, and left it quiet."""

    def reconcile(self) -> object:
        """Bring back what that save wiped unseen."""


class FileAnnouncements:
    """Announces which kinds of files of a space may have changed."""

    def __init__(
        self, files: Mapping[str, Sequence[WatchedFiles]], watcher: Watcher | None = None
    ) -> None:
        self._files = files
        self._watcher = watcher or SHARED
        self._subscribers = Subscribers()
        self._seen: frozenset[tuple[str, object]] = frozenset()

    def subscribe(self, callback: Callback) -> Callable[[], None]:
        """Call `callback` with the kinds that may have changed; return what ends that."""
        if not self._subscribers:
            # From here on every change counts, also before the thread has begun to watch.
            self._seen = self._look()
        added = self._subscribers.add(callback)
        self._watcher.watch(self)

        def unsubscribe() -> None:
            self._subscribers.remove(added)
            if not self._subscribers:
                self._watcher.release(self)

        return unsubscribe

    def close(self) -> None:
        """End all subscriptions."""
        self._subscribers.clear()
        self._watcher.release(self)

    def announce(self, kinds: frozenset[str]) -> None:
        """Call all subscribers."""
        if kinds:
            self._subscribers.tell(kinds)

    def list_folders(self) -> set[Path]:
        """Return the folders in which a change would show."""
        sources = [one for several in self._files.values() for one in several]
        return {folder for one in sources for folder in one.folders()}

    def find_kinds(self, paths: Iterable[Path]) -> frozenset[str]:
        """Return the kinds that a change at these paths may concern."""
        known = [*paths]
        return frozenset(
            kind
            for kind, several in self._files.items()
            if any(one.concerns(path) for one in several for path in known)
        )

    def find_changed(self) -> frozenset[str]:
        """Return the kinds whose files look other than the last time."""
        before, self._seen = self._seen, self._look()
        return frozenset(kind for kind, _ in before ^ self._seen)

    def _look(self) -> frozenset[tuple[str, object]]:
        return frozenset(
            (kind, (path, _get_marks(path)))
            for kind, several in self._files.items()
            for one in several
            for path in one.paths()
        )


class Watcher:
    """A daemon thread that runs while somebody subscribes, or a memory file may need repair.

    Without `poll` it is decided by what the folders lie on: True looks at the files in any case,
    False only if the system refuses to watch them.
    """

    def __init__(self, *, poll: bool | None = None) -> None:
        self._poll = poll
        self._lock = RLock()
        self._watched: set[FileAnnouncements] = set()
        # Weak, so that a store that nobody uses any more ends its repair, and with the last one the
        # thread.
        self._repaired: WeakKeyDictionary[Repairable, ProblemLog] = WeakKeyDictionary()
        self._problems = ProblemLog()
        self._changed = Event()
        self._thread: Thread | None = None
        self._repairs_at = 0.0

    def watch(self, files: FileAnnouncements) -> None:
        """Announce changes of some files until they are released."""
        with self._lock:
            if files not in self._watched:
                self._watched.add(files)
                self._changed.set()
            self._start()

    def release(self, files: FileAnnouncements) -> None:
        """Look at some files no more."""
        with self._lock:
            self._watched.discard(files)
            self._changed.set()

    def repair(self, store: Repairable) -> None:
        """Repair the file of a store for as long as the store is in use."""
        with self._lock:
            self._repaired.setdefault(store, ProblemLog())
            self._start()

    def hold_for_fork(self) -> None:
        """Keep the thread from changing anything while the process forks."""
        self._lock.acquire()

    def go_on_after_fork(self, *, is_child: bool) -> None:
        """Release what was held; a child has no thread until something needs one."""
        if is_child:
            # The thread of the parent may have been waiting at the old one, and left it locked.
            self._changed = Event()
        self._lock.release()

    def _start(self) -> None:
        # After a fork it is not alive.
        if self._thread is None or not self._thread.is_alive():
            # A daemon, so that watching keeps no program from ending.
            self._thread = Thread(target=self._run, name="turnleaf-watcher", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (watched := self._begin()) is not None:
            for changes in self._follow(watched):
                self._repair_all()
                for files, kinds in changes.items():
                    files.announce(kinds)

    def _begin(self) -> list[FileAnnouncements] | None:
        """Return what to watch until that changes; None where there is nothing to do at all."""
        with self._lock:
            self._changed.clear()
            if self._watched or self._repaired:
                return [*self._watched]
            # Within the lock: whoever subscribes at this moment sees that a new thread is needed.
            self._thread = None
            return None

    def _repair_all(self) -> None:
        # Events may come by the hundred; a repair needs no more than two looks a second.
        if time.monotonic() < self._repairs_at:
            return
        with self._lock:
            # A copy, because a repair may wait for a file's
            # lock and subscribing must not wait with it.
            known = [*self._repaired.items()]
        for store, problems in known:
            problems.attempt("a memory file could not be repaired", partial(_repair, store))
        self._repairs_at = time.monotonic() + LOOK_SECONDS

    # What is seen: again and again, what changed since the time before.

    def _follow(self, watched: Sequence[FileAnnouncements]) -> Changes:
        if watched and not self._poll:
            try:
                yield from self._notice(watched)
            except (OSError, UnicodeError, RuntimeError) as error:  # the last is watchfiles' own
                self._poll = True
                instead = "the files are checked at intervals instead"
                log.warning("the folders cannot be watched (%s); %s", error, instead)
        yield from self._look(watched)

    def _notice(self, watched: Sequence[FileAnnouncements]) -> Changes:
        """Go by what the system says, as long as it can be relied on."""
        while not self._changed.is_set():
            folders = _identify(watched)
            # The system tells nothing of what another machine writes.
            if self._poll is None and is_any_remote(folders, _read_mounts()):
                return
            try:
                yield from self._read_events(watched, folders)
            # A folder that went away between the list and the watch is no fault; the next round has
            # a new list.
            except FileNotFoundError:
                if folders == _identify(watched):
                    raise

    def _read_events(
        self, watched: Sequence[FileAnnouncements], folders: dict[Path, Identity]
    ) -> Changes:
        """Go by what the system says of some folders, until they are others."""
        is_first = True
        for paths in _read_batches(folders, self._changed):
            if is_first:
                # Events in folders made a moment ago are lost: look at the files.
                yield {files: files.find_changed() for files in watched}
            elif paths:
                yield {files: files.find_kinds(paths) for files in watched}
            else:
                yield {}
            # A folder that was replaced gives no event: the watch stays on the old one.
            now = _identify(watched) if is_first else _identify_all(folders)
            if now != folders or any(path in folders or path.is_dir() for path in paths):
                return
            is_first = False

    def _look(self, watched: Sequence[FileAnnouncements]) -> Changes:
        """Look at the files themselves."""
        pause = 0.0
        while not self._changed.wait(pause) and (watched or self._repaired):
            started = time.perf_counter()
            changes = self._problems.attempt(
                "the files could not be looked at",
                lambda: {files: files.find_changed() for files in watched},
            )
            took = time.perf_counter() - started
            yield changes or {}
            # Else a folder with very many files would keep a core busy.
            pause = max(LOOK_SECONDS, took / LOOKING_SHARE)


SHARED = Watcher()
"""The one of this process."""
# Else a child could inherit a lock that nobody in it will ever release.
os.register_at_fork(
    before=SHARED.hold_for_fork,
    after_in_parent=partial(SHARED.go_on_after_fork, is_child=False),
    after_in_child=partial(SHARED.go_on_after_fork, is_child=True),
)


def _repair(store: Repairable) -> None:
    if store.needs_mending():
        store.reconcile()


def _get_marks(path: str) -> object:
    """Return what is another after every save; what is saved just now is like nothing else.

    The file is not opened: closing a database would end the locks that SQLite has on it.
    """
    try:
        found = os.stat(path)  # noqa: PTH116 - asked of every file at each look
    except OSError:
        return None
    marks = found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    # Never equal to the look before, so that a second save in the same tick is not missed.
    return marks if atomic.is_at_rest(marks) else time.monotonic()


def _read_batches(folders: Iterable[Path], stop: Event) -> Iterator[set[Path]]:
    """Yield the paths at which something happened, none when nothing did for a moment."""
    # It takes longer to load than most commands take.
    watchfiles: Any = import_module("watchfiles")
    happened = watchfiles.watch(
        *folders,
        watch_filter=None,
        # In watchfiles this is the longest batch and not
        # a quiet time, which the index keeps itself.
        debounce=_BATCH_MILLISECONDS,
        step=_STEP_MILLISECONDS,
        stop_event=stop,
        rust_timeout=_BATCH_MILLISECONDS,
        # An empty batch is the occasion to compare the folders and to repair files.
        yield_on_timeout=True,
        raise_interrupt=False,
        # Its polling compares whole seconds and misses a second save within one.
        force_polling=False,
        # Folder by folder, because hidden ones are not searched.
        recursive=False,
        ignore_permission_denied=False,
    )
    with closing(happened):
        for batch in happened:
            yield {Path(path) for _, path in batch}


def _identify(watched: Iterable[FileAnnouncements]) -> dict[Path, Identity]:
    return _identify_all({folder for files in watched for folder in files.list_folders()})


def _identify_all(folders: Iterable[Path]) -> dict[Path, Identity]:
    """Return what tells each folder from another that takes its name."""
    return {folder: atomic.read_identity_if_any(folder) for folder in folders}


def _read_mounts() -> str:
    try:
        return _MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def is_any_remote(folders: Iterable[Path], mounts: str) -> bool:
    """Whether a folder lies where other machines write, by the system's list of mounts."""
    kinds = {}
    for line in mounts.splitlines():
        place, _, what = line.partition(" - ")
        kinds[Path(_unescape(place.split(" ")[4]))] = what.split(" ")[0]
    return any(_REMOTE.fullmatch(_find_kind(folder, kinds)) for folder in folders)


def _find_kind(folder: Path, kinds: Mapping[Path, str]) -> str:
    return next((kinds[above] for above in (folder, *folder.parents) if above in kinds), "")


def _unescape(text: str) -> str:
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), text)
