"""`Watcher`: brings an index up to date while its files change, before anybody searches.

The system says when something happens in a folder. Where it cannot, on network drives or when
its watches are used up, the files themselves are looked at, twice a second. What happened is never
believed in detail: any change means that the index looks at everything again.
"""

from __future__ import annotations

import math
import re
import time
from contextlib import closing
from enum import Enum
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Self, TypeVar, cast

from watchfiles import watch

from turnleaf.errors import TurnleafError
from turnleaf.store.files import atomic
from turnleaf.store.files.index.sync import untold

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from turnleaf.store.contracts import Passages
    from turnleaf.store.files.index.index import Index
    from turnleaf.store.files.index.sync import Progress

__all__ = ["Debounce", "Watcher"]

QUIET_SECONDS = 1.5
LONGEST_SECONDS = 15.0
"""How long a change waits at most while others keep coming."""
SAID_SECONDS = 0.2
SAID_LONGEST_SECONDS = 1.0
"""The same for messages, which nobody writes bit by bit as a file in an editor."""
EMBED_SECONDS = 0.5
"""For how long vectors are made before the files and `stop` are heeded again."""
RETRY_SECONDS = 60.0
"""For how long an embedder that failed is left alone, unless something changes."""
STOP_SECONDS = 1.0
LOOKS = 3
"""How often the files are looked at, where that is needed, in the time that must be quiet."""
LOOKING_SHARE = 0.05
"""The part of the time that this may take where there are very many files."""

_BATCH_MILLISECONDS = 100
_STEP_MILLISECONDS = 50
_MOUNTS = Path("/proc/self/mountinfo")
# Here a change that another machine makes is not told to this one.
_REMOTE = re.compile(
    r"9p|afs|ceph|cifs|fuse|fuse\..*|lustre|nfs4?|prl_fs|smb.*|vboxsf|virtiofs|vmhgfs"
)

T = TypeVar("T")
Identity = tuple[int, int] | None


class Change(Enum):
    """What was seen to have changed."""

    WRITTEN = "a file"
    SAID = "only databases of messages"


class Watcher:
    """A thread that syncs an index, and makes its vectors, when its files have changed.

    Without `poll` it is decided by what the folders lie on: True looks at the files in any case,
    False only if the system refuses to watch them. `clock` counts seconds; `progress` is told
    how much of what is to be taken in is done.
    """

    def __init__(
        self,
        index: Passages,
        *,
        quiet_seconds: float = QUIET_SECONDS,
        poll: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
        progress: Progress | None = None,
    ) -> None:
        self.syncs = 0
        self._index = cast("Index", index)
        self._progress = progress or untold
        self._quiet_seconds = quiet_seconds
        self._poll = poll
        self._clock = clock
        self._embeds_at = math.inf
        self._said: dict[str, str] = {}
        self._stop = Event()
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin to watch; that counts as a change, since nobody watched before."""
        if self._thread is None:
            self._stop = Event()
            self._thread = Thread(
                target=self._run, args=(self._stop,), name="turnleaf-watcher", daemon=True
            )
            self._thread.start()

    def stop(self) -> None:
        """Watch no more; what takes longer than a second is left to end by itself."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)
            self._thread = None

    def _run(self, stop: Event) -> None:
        written = Debounce(self._quiet_seconds, LONGEST_SECONDS)
        said = Debounce(min(self._quiet_seconds, SAID_SECONDS), SAID_LONGEST_SECONDS)
        for change in self._looks(stop):
            now = self._clock()
            if change is not None:
                (said if change is Change.SAID else written).changed(now)
            if written.is_due(now) or said.is_due(now):
                # Both are taken in at once; a file that is being written is looked at again.
                said.acted()
                if written.is_due(now):
                    written.acted()
                self._sync()
                self._embed()
            elif now >= self._embeds_at and not (written.is_pending or said.is_pending):
                self._embed()

    # What is done.

    def _sync(self) -> None:
        problem = "the index could not be brought up to date"
        if self._attempt(problem, lambda: self._index.sync(self._progress)) is not None:
            self.syncs += 1
            self._attempt("expired messages are still in the index", self._index.scrub)

    def _embed(self) -> None:
        """Make some of the vectors that are missing, and say when to go on."""
        self._embeds_at = math.inf
        if not self._index.has_embedder:
            return
        made = self._attempt(
            "no vectors could be made",
            lambda: self._index.embed(self._progress, seconds=EMBED_SECONDS),
        )
        if made is None:
            self._embeds_at = self._clock() + RETRY_SECONDS
        elif made:
            self._embeds_at = -math.inf

    def _attempt(self, problem: str, work: Callable[[], T]) -> T | None:
        """Do some work; what goes wrong is said once and ends nothing."""
        try:
            done = work()
        except Exception as error:  # noqa: BLE001 - nobody would notice that the thread has ended
            if self._said.get(problem) != str(error):
                is_surprise = not isinstance(error, TurnleafError | OSError)
                atomic.log.warning("%s: %s", problem, error, exc_info=is_surprise)
            self._said[problem] = str(error)
            return None
        self._said.pop(problem, None)
        return done

    # What is seen: again and again, whether something changed since the time before.

    def _looks(self, stop: Event) -> Iterator[Change | None]:
        if not self._poll:
            try:
                yield from self._notified(stop)
            except (OSError, UnicodeError, RuntimeError) as error:  # the last is watchfiles' own
                instead = "the files are looked at again and again instead"
                atomic.log.warning("the folders cannot be watched (%s); %s", error, instead)
        yield from self._polled(stop)

    def _notified(self, stop: Event) -> Iterator[Change | None]:
        """Go by what the system says, as long as it can be relied on."""
        while not stop.is_set():
            folders = _identities(self._index.folders())
            if self._poll is None and any_remote(folders, _mounts()):
                return
            try:
                yield from self._told(folders, stop)
            except FileNotFoundError:
                if folders == _identities(self._index.folders()):
                    raise

    def _told(self, folders: dict[Path, Identity], stop: Event) -> Iterator[Change | None]:
        """Go by what the system says of some folders, until they are others."""
        is_first = True
        for paths in _batches(folders, stop):
            touched = {path for path in paths if path in folders or self._index.concerns(path)}
            yield Change.WRITTEN if is_first else self._find_change(touched)
            now = _identities(self._index.folders() if is_first else folders)
            if now != folders or any(path in folders or path.is_dir() for path in touched):
                return
            is_first = False

    def _find_change(self, touched: Collection[Path]) -> Change | None:
        if not touched:
            return None
        return Change.SAID if all(map(self._index.follows, touched)) else Change.WRITTEN

    def _polled(self, stop: Event) -> Iterator[Change | None]:
        """Look at the files themselves."""
        before: frozenset[tuple[str, str | None]] | None = None
        pause = 0.0
        while not stop.wait(pause):
            started = time.perf_counter()
            state = self._attempt("the files could not be looked at", self._index.state)
            took = time.perf_counter() - started
            if state is None or before is None:
                yield None if state == before else Change.WRITTEN
            else:
                yield self._find_change({Path(path) for path, _ in state ^ before})
            before = state
            pause = max(self._quiet_seconds / LOOKS, took / LOOKING_SHARE)


def _batches(folders: Iterable[Path], stop: Event) -> Iterator[set[Path]]:
    """Return the paths at which something happened, none when nothing did for a moment."""
    happened = watch(
        *folders,
        watch_filter=None,
        debounce=_BATCH_MILLISECONDS,
        step=_STEP_MILLISECONDS,
        stop_event=stop,
        rust_timeout=_BATCH_MILLISECONDS,
        yield_on_timeout=True,
        raise_interrupt=False,
        force_polling=False,
        recursive=False,
        ignore_permission_denied=False,
    )
    with closing(happened):
        for batch in happened:
            yield {Path(path) for _, path in batch}


def _identities(folders: Iterable[Path]) -> dict[Path, Identity]:
    """Tell each folder from another that takes its name."""
    return {folder: atomic.identity_if_any(folder) for folder in folders}


def _mounts() -> str:
    try:
        return _MOUNTS.read_text("utf-8", "surrogateescape")
    except OSError:
        return ""


def any_remote(folders: Iterable[Path], mounts: str) -> bool:
    """Whether a folder lies where other machines write, by the system's list of mounts."""
    kinds = {}
    for line in mounts.splitlines():
        place, _, what = line.partition(" - ")
        kinds[Path(_unescaped(place.split(" ")[4]))] = what.split(" ")[0]
    return any(_REMOTE.fullmatch(_kind(folder, kinds)) for folder in folders)


def _kind(folder: Path, kinds: Mapping[Path, str]) -> str:
    return next((kinds[above] for above in (folder, *folder.parents) if above in kinds), "")


def _unescaped(text: str) -> str:
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found[1], 8)), text)


class Debounce:
    """Waits until it has been quiet for some seconds since the last change.

    Where changes do not end, `longest_seconds` after the first of them is late enough. The time
    is whatever its caller says that it is.
    """

    def __init__(self, quiet_seconds: float, longest_seconds: float) -> None:
        self._quiet_seconds = quiet_seconds
        self._longest_seconds = longest_seconds
        self._first: float | None = None
        self._last = 0.0

    @property
    def is_pending(self) -> bool:
        """Whether there were changes that nobody has acted on."""
        return self._first is not None

    def changed(self, now: float) -> None:
        """Take note of a change."""
        if self._first is None:
            self._first = now
        self._last = now

    def is_due(self, now: float) -> bool:
        """Whether it is time to act."""
        if self._first is None:
            return False
        is_quiet = now - self._last >= self._quiet_seconds
        return is_quiet or now - self._first >= self._longest_seconds

    def acted(self) -> None:
        """Begin anew: whatever changed until now has been acted on."""
        self._first = None
