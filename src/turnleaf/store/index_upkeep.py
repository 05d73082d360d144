"""`IndexUpkeep`: brings the search up to date when something changed, before anybody searches."""

from __future__ import annotations

import math
import time
from threading import Condition, Thread
from typing import TYPE_CHECKING, Self

from turnleaf.store.announcements import ProblemLog

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from turnleaf.store.contracts import Announcements, Passages, Progress

FILES = frozenset({"facts", "daily"})
MESSAGES = frozenset({"conversations"})
# An editor may save in several steps; the quiet time counts from the last change.
QUIET_SECONDS = 1.5
LONGEST_SECONDS = 15.0
"""How long a change waits at most while others keep coming."""
MESSAGE_QUIET_SECONDS = 0.2
MESSAGE_LONGEST_SECONDS = 1.0
"""The same for messages, which nobody writes bit by bit as a file in an editor."""
EMBED_SECONDS = 0.5
"""For how long vectors are made before changes and `stop` are heeded again."""
RETRY_SECONDS = 60.0
"""For how long an embedder that failed is left alone, unless something changes."""
STOP_SECONDS = 1.0


class IndexUpkeep:
    """A thread that syncs what is searched, and makes its vectors, when something is announced.

    It is apart from the one that announces: nobody else waits for an embedder. `progress` is told
    how much of what is to be taken in is done.
    """

    def __init__(
        self,
        passages: Passages,
        announcements: Announcements,
        *,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        self._passages = passages
        self._announcements = announcements
        self._progress = progress
        self._problems = ProblemLog()
        self._files = Debounce(QUIET_SECONDS, LONGEST_SECONDS)
        self._messages = Debounce(MESSAGE_QUIET_SECONDS, MESSAGE_LONGEST_SECONDS)
        self._embeds_at = math.inf
        self._behind_since = math.inf
        self._announced: set[str] = set()
        self._is_stopped = False
        self._unsubscribe: Callable[[], None] = lambda: None
        self._woken = Condition()
        # A daemon: an embedder may take minutes, and a program must be able to end meanwhile.
        self._thread = Thread(target=self._run, name="turnleaf-index", daemon=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Begin; that counts as a change, since nobody looked before."""
        self._unsubscribe = self._announcements.subscribe(self._note)
        self._note(FILES)
        self._thread.start()

    def stop(self) -> None:
        """End; what takes longer than a second is left to end by itself."""
        self._unsubscribe()
        with self._woken:
            self._is_stopped = True
            self._woken.notify()
        self._thread.join(STOP_SECONDS)

    def _note(self, kinds: Collection[str]) -> None:
        with self._woken:
            self._announced.update(kinds)
            self._woken.notify()

    def _run(self) -> None:
        while not self._is_stopped:
            with self._woken:
                kinds, self._announced = self._announced, set()
            wait = self.work(kinds, time.monotonic()) - time.monotonic()
            with self._woken:
                self._woken.wait_for(
                    lambda: self._announced or self._is_stopped,
                    None if wait == math.inf else max(0.0, wait),
                )

    def work(self, kinds: Collection[str], now: float) -> float:
        """Take note of changes and do what is due; return when something is due next."""
        if FILES & {*kinds}:
            self._files.note_change(now)
        if MESSAGES & {*kinds}:
            self._messages.note_change(now)
        if now >= min(self._files.due_at, self._messages.due_at):
            # Both are taken in at once; a file that is being written is looked at again.
            self._behind_since = min(self._behind_since, self._files.first, self._messages.first)
            self._messages.reset()
            if now >= self._files.due_at:
                self._files.reset()
            self._sync()
            self._embed(now)
        elif now >= self._embeds_at:
            self._embed(now)
        return min(self._files.due_at, self._messages.due_at, self._embeds_at)

    def measure_lag(self, now: float) -> float:
        """Return for how many seconds the oldest change waits to be taken in; 0.0 if none does."""
        since = min(self._behind_since, self._files.first, self._messages.first)
        return max(0.0, now - since)

    def _sync(self) -> None:
        problem = "the index could not be brought up to date"
        if self._problems.attempt(problem, lambda: self._passages.sync(self._progress)) is not None:
            self._behind_since = math.inf
            self._problems.attempt("expired messages are still in the index", self._passages.scrub)

    def _embed(self, now: float) -> None:
        """Make some of the vectors that are missing, and note when to go on."""
        self._embeds_at = math.inf
        if not self._passages.has_embedder:
            return
        made = self._problems.attempt(
            "no vectors could be made",
            lambda: self._passages.embed(self._progress, seconds=EMBED_SECONDS),
        )
        if made is None:
            self._embeds_at = now + RETRY_SECONDS
        elif made:
            self._embeds_at = now


class Debounce:
    """Waits until it has been quiet for some seconds since the last change.

    Where changes do not end, `longest_seconds` after the first of them is late enough. The time
    is whatever its caller says that it is.
    """

    def __init__(self, quiet_seconds: float, longest_seconds: float) -> None:
        self._quiet_seconds = quiet_seconds
        self._longest_seconds = longest_seconds
        self._first = self._last = math.inf

    @property
    def due_at(self) -> float:
        """When it is time to act; never where nothing changed."""
        return min(self._last + self._quiet_seconds, self._first + self._longest_seconds)

    @property
    def first(self) -> float:
        """When the first change was that nothing was done about; never where nothing changed."""
        return self._first

    def note_change(self, now: float) -> None:
        """Take note of a change."""
        self._first = min(self._first, now)
        self._last = now

    def reset(self) -> None:
        """Begin anew: whatever changed until now has been acted on."""
        self._first = self._last = math.inf
