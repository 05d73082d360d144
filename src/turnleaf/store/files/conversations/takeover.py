"""Takes what older versions wrote into the database that keeps every message.

That is a conversations.json and the months of an archive beside the database. They go away only
when all they say is in the database, and in a copy that was read back. Every step can be made
again: the database takes no message twice, so after a kill the next start finishes.
"""

from __future__ import annotations

import os
import re
import shlex
import time
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

from turnleaf.core import conversation_formats, json_facts
from turnleaf.core.conversation_formats import (
    read_conversations,
    read_month,
    without_conversation,
    without_lines,
)
from turnleaf.core.diagnosis import Diagnosis, Row
from turnleaf.core.languages import pluralize
from turnleaf.errors import InvalidInput, StorageError, TurnleafError
from turnleaf.store.clock_and_ids import utc_now
from turnleaf.store.files import atomic
from turnleaf.store.files.diagnosis import collect
from turnleaf.store.files.facts.memory_file import MemoryFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path
    from typing import TypeVar

    from turnleaf.core.conversation_formats import Older
    from turnleaf.core.diagnosis import Part
    from turnleaf.core.messages import Message
    from turnleaf.settings import DataFolder

    T = TypeVar("T")

NAME = "conversations.json"
ARCHIVE = "archive"
BACKUP = "taken-over"
EMPTY = (b"", conversation_formats.EMPTY.encode())
LOOK_SECONDS = 60.0
"""So often is looked into a folder that seems to be as it was."""

_MONTH = re.compile(r"\d{4}-(?:0[1-9]|1[0-2])\.jsonl")
_OLDER = rf"(?:{re.escape(NAME)}|{_MONTH.pattern})"
_TIME = r"\d{8}T\d{6}Z"
_BACKUP = re.compile(rf"(?P<name>{_OLDER})\.(?P<why>{BACKUP}|corrupt)-(?P<time>{_TIME})(?:-\d+)?")
_UNFINISHED = re.compile(rf"\.(?P<name>{_OLDER}(?:\.{BACKUP}-{_TIME}(?:-\d+)?)?)\.tmp")


class Taker(Protocol):
    """The store that takes conversations over."""

    @property
    def location(self) -> Path:
        """Where its database is."""

    def take_over(self, key: str, messages: Sequence[Message], *, title: str | None = None) -> int:
        """Add the messages that are not there yet, in one step; return how many."""


@dataclass(frozen=True, slots=True)
class TakenOver:
    """What came into the database, and where the older files are kept."""

    conversations: int
    messages: int
    backups: tuple[Path, ...]

    def __str__(self) -> str:
        """Describe in one line what was done."""
        messages = pluralize(self.messages, "message")
        conversations = pluralize(self.conversations, "conversation")
        kept = f", which are kept as {', '.join(map(str, self.backups))}"
        return (
            f"migrated {messages} of {conversations} from older files{kept if self.backups else ''}"
        )


@dataclass(slots=True)
class _Source:
    """An older file as it was read."""

    path: Path
    data: bytes
    older: Older
    refused: int = 0

    @property
    def damaged_count(self) -> int:
        """How many parts of it are in the backup only."""
        return self.older.damaged + self.refused


class OlderFiles:
    """The older files beside a store's database, taken over whenever there are such."""

    def __init__(
        self, store: Taker, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._store = store
        self._now = now
        self._paths = tuple(map(str, name_older(store.location.parent)))
        self._seen: object = None
        self._seen_at = 0.0
        self._tidied: object = None

    def take_over(self, keep_days: int | None = None) -> TakenOver | None:
        """Take over what is there; a look at two names where nothing is new.

        What fails is a warning, and is tried again a minute later: nothing is lost by waiting.
        With `keep_days` a copy goes when every message in it is so old.
        """
        location = self._store.location
        if keep_days is not None:
            self._tidy_daily(keep_days)
        looks = self._look()
        # Asked before every read and write: an older program may still write here.
        is_known = looks == self._seen and time.monotonic() - self._seen_at < LOOK_SECONDS
        if looks is None or is_known:
            return None
        take = partial(take_over_older, location, self._store)
        taken = _warn_of_failure("older conversations are not taken over yet", take)
        if taken and taken.messages:
            atomic.log.info("%s", taken)
        # Also after a failure, or each read and write would try again and warn again.
        self._seen, self._seen_at = self._look(), time.monotonic()
        return taken

    def _tidy_daily(self, keep_days: int) -> None:
        now = self._now()
        if (keep_days, now.date()) != self._tidied:
            self._tidied = keep_days, now.date()
            expire = partial(expire_backups, self._store.location.parent, keep_days, now)
            _warn_of_failure("copies of older conversations stay for now", expire)

    def _look(self) -> object:
        """Return what changes when an older program writes; None when there never was one."""
        looks = tuple(map(_read_marks, self._paths))
        return looks if any(looks) else None


def take_over_older(location: Path, store: Taker) -> TakenOver | None:
    """Take a conversations.json and an archive beside a database into it; None: there is neither.

    The lock of conversations.json is held from the first look to the last removal, so that no
    program writes there or erases meanwhile. A month of the archive is not locked while the
    database is: an older program takes those two locks in the other order.
    """
    if location.suffix != ".db" or not list_older(location.parent):
        return None
    with atomic.lock(atomic.resolve(location.parent / NAME)) as file:
        # The archive is older, and _merge keeps the order of equal times.
        sources = [*_read_months(location.parent), *_read_conversations(location.parent, file)]
        conversations = _merge(sources)
        # The database takes no message twice, so a kill here needs no record of how far it was.
        added = [_take(store, key, conversations[key], sources) for key in conversations]
        backups = [_retire_locked(source, file) for source in sources]
    return TakenOver(sum(count > 0 for count in added), sum(added), tuple(filter(None, backups)))


def erase_from_backups(folder: Path, key: str) -> int:
    """Erase a conversation from the older files of a folder and from their copies.

    Call it before the conversation is erased from the database, into which a takeover that is
    under way may still bring it. Return how many messages there were.
    """
    if not list_older(folder) and not any(_list_backups(folder)):
        return 0
    with atomic.lock(atomic.resolve(folder / NAME)) as file:
        count = _erase(file, key, without_conversation)
        for path in _list_months(folder):
            with atomic.lock(path) as month:
                count += _erase(month, key, without_lines)
        for copy in _list_backups(folder):
            without = without_conversation if copy.name.startswith(NAME) else without_lines
            count += _erase(atomic.Held(copy), key, without)
        _drop_unfinished(folder)
        return count


def expire_backups(folder: Path, keep_days: int | None, now: datetime) -> int:
    """Delete the copies in which every message is older than it may be; return how many."""
    if keep_days is None:
        return 0
    old = [copy for copy in _list_backups(folder) if _is_expired(copy, keep_days, now)]
    for copy in old:
        atomic.Held(copy).remove()
    return len(old)


def describe_backups(folder: Path) -> tuple[int, int]:
    """Return how many copies of older files there are, and their bytes."""
    sizes = [copy.stat().st_size for copy in _list_backups(folder) if f".{BACKUP}-" in copy.name]
    return len(sizes), sum(sizes)


# What is there


def name_older(folder: Path) -> tuple[Path, ...]:
    """Return where a program of an older version writes."""
    return folder / NAME, folder / ARCHIVE


def _read_marks(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - before every look; a Path takes three times as long
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def list_older(folder: Path) -> list[Path]:
    """Return the files of a folder that are to be taken over."""
    path = folder / NAME
    return [*_list_months(folder), *([path] if path.is_file() else [])]


def _list_months(folder: Path) -> list[Path]:
    return [path for path in atomic.list_folder(folder / ARCHIVE) if _MONTH.fullmatch(path.name)]


def _list_backups(folder: Path) -> Iterator[Path]:
    for place in (folder, folder / ARCHIVE):
        yield from (path for path in atomic.list_folder(place) if _BACKUP.fullmatch(path.name))


def _is_expired(copy: Path, keep_days: int, now: datetime) -> bool:
    found = _BACKUP.fullmatch(copy.name)
    if found is None or found["why"] != BACKUP:
        return False
    made = datetime.strptime(found["time"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    # By the age of the copy: every message in it is at least as old.
    return (now - made).days >= max(1, keep_days)


# Reading


def _read_months(folder: Path) -> Iterator[_Source]:
    for path in _list_months(folder):
        with atomic.lock(path) as file:
            data = file.read()
        if data is not None:
            month = datetime.strptime(path.stem, "%Y-%m").replace(tzinfo=UTC)
            yield _Source(path, data, read_month(data, month))


def _read_conversations(folder: Path, file: atomic.Held) -> Iterator[_Source]:
    data = file.read()
    if data is not None:
        yield _Source(folder / NAME, data, read_conversations(data))


def _merge(sources: Sequence[_Source]) -> dict[str, list[Message]]:
    """Return all messages by conversation, in the order of time: the archive's are older."""
    merged: dict[str, list[Message]] = {}
    for source in sources:
        for key, messages in source.older.conversations.items():
            merged.setdefault(key, []).extend(messages)
    return {key: sorted(some, key=_find_time) for key, some in merged.items()}


def _find_time(message: Message) -> datetime:
    return message.timestamp or datetime.min.replace(tzinfo=UTC)


def _take(store: Taker, key: str, messages: Sequence[Message], sources: Sequence[_Source]) -> int:
    try:
        return store.take_over(key, messages)
    except InvalidInput:
        for source in sources:
            # It stays in the copy of the file, which is therefore kept.
            source.refused += key in source.older.conversations
        return 0


# Putting away


def _retire_locked(source: _Source, conversations: atomic.Held) -> Path | None:
    if source.path.name == NAME:
        return _retire(source, conversations)
    with atomic.lock(source.path) as month:
        return _retire(source, month)


def _retire(source: _Source, file: atomic.Held) -> Path | None:
    """Keep a copy of a file that was taken over, and remove it unless it changed meanwhile."""
    # An older program wrote to the month while it was not locked; the next look takes that over.
    if file.read() != source.data:
        return None
    copy = _keep(source) if source.older.conversations or source.damaged_count else None
    if source.damaged_count:
        atomic.log.warning(
            "%s of %s could not be read and migrated; the whole file is kept as %s",
            pluralize(source.damaged_count, "part"),
            source.path,
            copy,
        )
    file.remove()
    return copy


def _keep(source: _Source) -> Path:
    why = BACKUP if source.older.conversations else "corrupt"
    # A takeover that was killed after its copy begins again; it must not leave a second one.
    copy = _find_copy(source) or atomic.Held(source.path).keep_copy(source.data, why)
    # Read back before the only other copy is removed.
    if atomic.read_raw(copy) != source.data:
        message = f"{copy} does not contain what was written to it; check the disk"
        raise StorageError(message)
    return copy


def _find_copy(source: _Source) -> Path | None:
    """Return the copy that a takeover made before it was killed."""
    for copy in atomic.list_folder(source.path.parent):
        found = _BACKUP.fullmatch(copy.name)
        is_alike = found is not None and found["name"] == source.path.name
        if is_alike and atomic.read_raw(copy) == source.data:
            return copy
    return None


def _drop_unfinished(folder: Path) -> None:
    """Delete what a kill left of a new content, which nobody may ever write again."""
    for place in (folder, folder / ARCHIVE):
        for path in atomic.list_folder(place):
            found = _UNFINISHED.fullmatch(path.name)
            if found:
                is_month = _MONTH.fullmatch(found["name"]) is not None
                with atomic.lock(place / found["name"]) if is_month else nullcontext():
                    atomic.Held(path).remove()


def _erase(file: atomic.Held, key: str, without: Callable[[bytes, str], tuple[bytes, int]]) -> int:
    """Take a conversation out of an older file or a copy of one."""
    data = file.read()
    kept, count = without(data, key) if data else (b"", 0)
    # Only copies are deleted; an older program may still use the file itself.
    if count and kept in EMPTY and _BACKUP.fullmatch(file.path.name):
        file.remove()
    elif count:
        file.replace(kept)
    return count


def _warn_of_failure(problem: str, work: Callable[[], T]) -> T | None:
    try:
        return work()
    except TurnleafError as error:
        atomic.log.warning("%s: %s", problem, error)
        return None


@collect
def examine(location: Path) -> Iterator[Part]:
    """Return what an older version left beside a database, or beside a file, changing nothing."""
    folder = location.parent
    waiting = list_older(folder)
    if location.suffix == ".db":
        for path in waiting:
            message = f"{path} was written by an older version; the next command will migrate it"
            yield Diagnosis("warning", message)
    elif (folder / ARCHIVE) in {path.parent for path in waiting}:
        yield Diagnosis(
            "warning",
            f"{folder / ARCHIVE} was written by an older version and is no longer read; it "
            "is migrated when conversations are stored in a .db file",
        )
    copies, size = describe_backups(folder)
    if copies:
        holds = (
            f"{pluralize(copies, 'file')} of an older version, already migrated; you may "
            "delete them"
        )
        yield Row("older files", str(folder), size, holds)


NAMES = ("memories.json", "memories/memories.json")
"""Where a store without an argument keeps its facts, at home and in Home Assistant."""


def describe_unimported(folder: DataFolder, memory: Path) -> str | None:
    """Return in one line which facts were never imported, and how to import them; else None.

    A fact that was imported once and forgotten since is not missed.
    """
    for path in (folder.path / name for name in NAMES):
        count = 0 if atomic.resolve(path) == memory else _count_unknown(path, memory)
        if count:
            command = f"turnleaf --data-dir {shlex.quote(str(folder.path))} import"
            return (
                f"{path} contains {pluralize(count, 'fact')} that the memory lacks; "
                f"{command} {shlex.quote(str(path))} adds them, and renaming the file ends "
                "this notice"
            )
    return None


def _count_unknown(path: Path, memory: Path) -> int:
    data = atomic.read(path, atomic.MAX_PAGE_BYTES) if path.is_file() else None
    if not data:
        return 0
    found = json_facts.parse(data.decode("utf-8-sig", "replace"), utc_now()).facts
    return len({fact.memory.content for fact in found} - _read_known_contents(memory))


def _read_known_contents(memory: Path) -> set[str]:
    """Return what the facts say, and what they ever said."""
    file = MemoryFile(memory, utc_now)
    data = atomic.read(memory, atomic.MAX_PAGE_BYTES) or b""
    page = file.format.parse(data.decode("utf-8", "replace") or file.format.EMPTY, utc_now())
    once = {one.content for change in file.journal.read() for one in change.states()}
    return once.union(fact.memory.content for fact in page.facts)
