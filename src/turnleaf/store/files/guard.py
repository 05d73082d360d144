"""One daemon thread for a whole process that mends its memory files after an editor's save.

Without it a fact that an editor wiped would come back only at the next call.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Protocol

from turnleaf.errors import TurnleafError
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from turnleaf.core.memories import Memory

POLL_SECONDS = 0.5


class Mendable(Protocol):
    """A store whose file somebody else may save."""

    def needs_mending(self) -> bool:
        """Tell whether somebody did."""

    def reconcile(self) -> list[Memory]:
        """Mend it."""


_stores: weakref.WeakSet[Mendable] = weakref.WeakSet()
_trouble: weakref.WeakKeyDictionary[Mendable, str] = weakref.WeakKeyDictionary()
_start = threading.Lock()
_thread: threading.Thread | None = None


def watch(store: Mendable) -> None:
    """Look after a store for as long as it is in use."""
    global _thread  # noqa: PLW0603 - one thread for the process
    with _start:
        _stores.add(store)
        if _thread is None or not _thread.is_alive():
            _thread = threading.Thread(target=_run, name="turnleaf-guard", daemon=True)
            _thread.start()


def _run() -> None:
    pause = threading.Event()
    while not pause.wait(POLL_SECONDS):
        with _start:
            stores = list(_stores)
        for store in stores:
            _mend(store)
        del stores


def _mend(store: Mendable) -> None:
    try:
        if store.needs_mending():
            store.reconcile()
        _trouble.pop(store, None)
    except TurnleafError as error:
        if _trouble.get(store) != str(error):
            atomic.log.warning("%s", error)
        _trouble[store] = str(error)
