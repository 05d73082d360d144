"""Erasing from an index to the last byte, without making any of the rest anew.

Deleted words stay in FTS5's lists until these are merged, and cells that SQLite moves leave copies
behind. So the lists are merged, in steps between which others can write, and then a copy of the
index without unused space takes its place. Vectors are overwritten where they stand; only the list
of whose they are is written anew. That an erasure has begun is on record until it is complete: the
next program that opens the index finishes what a kill left.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import apsw

from turnleaf.store import index_filters, index_vectors

if TYPE_CHECKING:
    from turnleaf.store.index_file import IndexFile

PAGES_PER_STEP = 500
NO_PROGRESS = 2
"""As many changes of the database, or more, does each step of a merge make that did something."""
SCRUB_SECONDS = 86_400.0
ABANDONED_SECONDS = 600.0
"""After so long, whoever began an erasure is not at it any more."""


def mark(database: apsw.Connection, file: IndexFile) -> float:
    """Put on record, durably, that something is being erased; return when that was."""
    now = time.time()
    with file.locked():
        database.pragma("synchronous", "FULL", schema="main")
        with database:
            database.execute("UPDATE totals SET erased_at = ?", (now,))
        database.pragma("synchronous", "OFF", schema="main")
    return now


def is_marked(database: apsw.Connection) -> bool:
    """Whether an erasure has begun and is not complete."""
    return database.execute("SELECT erased_at FROM totals").get is not None


def note_removal(database: apsw.Connection) -> None:
    """Put on record that words of messages that are gone, having expired, are still in the file."""
    database.execute("UPDATE totals SET removed_at = coalesce(removed_at, ?)", (time.time(),))


def scrub_daily(database: apsw.Connection, file: IndexFile) -> None:
    """Leave no byte of messages that are gone, once a day at most: it costs a pass over all."""
    now = time.time()
    due = (
        "SELECT 1 FROM totals WHERE removed_at IS NOT NULL AND (scrubbed_at IS NULL "
        "OR scrubbed_at NOT BETWEEN ? AND ?)"
    )
    if database.execute(due, (now - SCRUB_SECONDS, now)).get:
        finish(database, file, mark(database, file))


def finish(database: apsw.Connection, file: IndexFile, marked: float | None = None) -> None:
    """Leave no byte of anything that was deleted; then take the mark off.

    Without the mark of one's own it may be that of a program that is still at it.
    """
    with file.locked(), database:
        index_vectors.sweep(database)
        index_filters.forget_empty_circles(database)
        scrubbed = "UPDATE totals SET removed_at = NULL, scrubbed_at = ?"
        database.execute(scrubbed, (time.time(),))
    with file.locked():
        with database:
            index_vectors.rewrite_slots(database)
        database.wal_checkpoint("vectors", apsw.SQLITE_CHECKPOINT_TRUNCATE)
    _merge_words(database, file)
    file.write_anew(database, marked or time.time() - ABANDONED_SECONDS)


def _merge_words(database: apsw.Connection, file: IndexFile) -> None:
    """Write the lists of words anew, without what was deleted."""
    step = -PAGES_PER_STEP
    while True:
        before = database.total_changes()
        with file.locked(), database:
            database.execute("INSERT INTO words(words, rank) VALUES ('merge', ?)", (step,))
        if database.total_changes() - before < NO_PROGRESS:
            return
        step = PAGES_PER_STEP
        file.give_way()
