"""Everything of a space in files and SQLite databases.

A space is one memory: a person's, a team's, a bot's. In a folder, the space "default" is the
folder itself, and every other one is `spaces/NAME` inside it with the same content.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from turnleaf.core.diagnosis import Diagnosis, Examination, Place
from turnleaf.core.search.message_filters import MessageOutcomes, find_accepted, find_forgotten
from turnleaf.core.setting_kinds import is_space_name
from turnleaf.errors import InvalidInput, SettingsError, StorageError, TurnleafError
from turnleaf.settings import CONFIG_NAME, SPACES, Settings, find_space_folder
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.due_work import SCHEDULES, ScannedWork, look_at_queue, look_at_schedules
from turnleaf.store.files import atomic
from turnleaf.store.files.config import ConfigFile
from turnleaf.store.files.conversations import takeover
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.conversations.takeover import ARCHIVE
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.diagnosis import collect
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.pending import PendingStore
from turnleaf.store.files.index.index import Index
from turnleaf.store.files.learning_queue import LearningStore
from turnleaf.store.files.opaque_records import RecordStore
from turnleaf.store.files.portable import FilePortableSpace
from turnleaf.store.files.schedules import ScheduleStore
from turnleaf.store.files.sources import Files, MemoryPages
from turnleaf.store.files.watcher import FileAnnouncements

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from datetime import datetime

    from turnleaf.core.diagnosis import Part
    from turnleaf.core.messages import Cursor, Feed
    from turnleaf.settings import DataFolder
    from turnleaf.store.contracts import (
        Announcements,
        Config,
        Conversations,
        DailyNotes,
        Facts,
        LearningQueue,
        Passages,
        PendingFacts,
        PortableSpace,
        Records,
        Schedules,
        Work,
    )
    from turnleaf.store.due_work import SeenWork

# Not those with a process and a thread in their name: they are
# written without a lock, so their writer may still be at it.
_UNFINISHED = re.compile(r"\.(?!.*\.\d+-\d+\.tmp$)(.+)\.tmp")
_SET_ASIDE = ("*.corrupt-*", "*.conflict-*")
_NOBODY = "web:nobody"
"""The key of no conversation: to look for it reads the database."""
_SIGNS = ("prompts/memory/MEMORY.md", "memories.json", "conversations", CONFIG_NAME)
_COPY = re.compile(r".+\.(?:corrupt|conflict)-\d{8}T\d{6}Z(?:-\d+)?")


class FileStores(Stores):
    """Everything of one space, in a folder."""

    def __init__(
        self,
        folder: DataFolder,
        *,
        now: Callable[[], datetime] = local_now,
        settings: Settings | None = None,
    ) -> None:
        self._folder = folder
        self._now = now
        self.config: Config = ConfigFile(folder.config)
        self._configured = (_read_state(folder.config), settings) if settings else None
        settings = self.settings
        memory = MemoryStore(folder.memory(settings), settings=settings, now=now)
        conversations = ConversationStore(
            folder.conversations(settings), settings=settings, now=now, takes_over=True
        )
        pending = PendingStore(memory, now=now)
        self._memory, self._now = memory, now
        self.facts: Facts = memory
        self.pending: PendingFacts = pending
        self.conversations: Conversations = conversations
        self._older = conversations
        self.daily: DailyNotes = DailyLog(folder.daily, now=now)
        self.schedules: Schedules = ScheduleStore(folder.schedules, now=now)
        self.learning: LearningQueue = LearningStore(folder.learning, now=now)
        self.records: Records = RecordStore(folder.records, now=now)
        self.operator_records: Records = RecordStore(folder.operator_records, now=now)
        self._settled = (
            SettledConversations(conversations, memory, pending)
            if conversations.keeps_everything
            else None
        )
        sources = [
            MemoryPages(memory.location, memory),
            Files(folder.daily),
            self._settled or conversations,
        ]
        self.passages: Passages = Index(folder.index, sources, now=now)
        self.announcements: Announcements = FileAnnouncements(
            {
                "config": [Files(folder.config)],
                "conversations": _list_database(conversations.location, conversations.older),
                "daily": [Files(folder.daily)],
                "facts": [MemoryPages(memory.location)],
                "pending": [Files(pending.location)],
                "records": _list_database(folder.records),
                "schedules": [Files(folder.schedules)],
            }
        )
        self.work: Work = ScannedWork(now, partial(_look, folder, now), partial(_hold, folder))

    @staticmethod
    def list_spaces(folder: DataFolder) -> list[str]:
        """Return the names of the spaces of a folder."""
        inside = folder.path / SPACES
        names = (one.name for one in inside.iterdir() if one.is_dir()) if inside.is_dir() else ()
        return [folder.space, *sorted(filter(is_space_name, names))]

    @classmethod
    def open_to_examine(
        cls, folder: DataFolder, *, now: Callable[[], datetime] = local_now
    ) -> tuple[FileStores, list[Diagnosis]]:
        """Open also a folder whose settings cannot be used: with defaults instead, and why."""
        settings = Settings()
        with suppress(SettingsError, StorageError):  # Whoever examines it reads them as well.
            settings = ConfigFile(folder.config).load()
        problems: list[Diagnosis] = []
        try:
            MemoryStore(folder.memory(settings))
        except (InvalidInput, SettingsError) as error:
            problems.append(Diagnosis("error", f"the memory's location cannot be used: {error}"))
            settings = replace(settings, memory_location=None)
        try:
            ConversationStore(folder.conversations(settings))
        except (InvalidInput, SettingsError) as error:
            message = f"the conversations' location cannot be used: {error}"
            problems.append(Diagnosis("error", message))
            settings = replace(settings, conversations_location=None)
        return cls(folder, now=now, settings=settings), problems

    def open_space(self, space: str) -> FileStores:
        """Open another space of the same folder."""
        return FileStores(find_space_folder(self._folder.leave_space(), space), now=self._now)

    def examine(self) -> Examination:
        """Return what each store finds, and what is wrong with the folders that they are in."""
        memory, talk = (Path(one.location) for one in (self.facts, self.conversations))
        folder = self._folder
        homes = (folder.path, memory.parent, folder.daily, talk.parent)
        found = [
            *map(_examine_folder, homes),
            Examination(place=self.find_place()),
            *(one.examine() for one in self.list_examined()),
            *map(_find_leftovers, sorted({memory.parent, talk.parent, folder.schedules.parent})),
            *map(_examine_other_folder, folder.others),
        ]
        # What cannot be read is reported where it is kept.
        with suppress(TurnleafError, OSError):
            notice = self.find_unimported()
            found += [Examination(findings=(Diagnosis("warning", notice),))] if notice else []
        return Examination.join(found)

    def find_place(self) -> Place:
        """Return the folder, and why it is this one."""
        return Place(self.location, self._folder.why, self._folder.path.is_dir())

    @property
    def folder(self) -> DataFolder:
        """The operator's own folder."""
        return self._folder

    @property
    def space(self) -> str:
        """The name of the space."""
        return self._folder.space

    @property
    def location(self) -> str:
        """Where it is, to be shown to people."""
        return str(self._folder.path)

    @property
    def options(self) -> Sequence[str]:
        """The options with which another program opens the same space."""
        folder = self._folder
        space = ("--space", folder.space) if folder.root else ()
        return ("--data-dir", str(folder.root or folder.path), *space)

    def claim_learning(self) -> int | None:
        """Return a descriptor that makes one process learn for this space; None: another does."""
        return atomic.claim_for_child(self._folder.learning, "worker")

    @property
    def settings(self) -> Settings:
        """The settings that hold now, read again when somebody changed them."""
        state = _read_state(self._folder.config)
        if self._configured is None or self._configured[0] != state:
            is_new = self._configured is not None
            self._configured = state, Settings.load(self._folder.config.parent)
            if is_new:
                self.facts.use(self._configured[1])
                self.conversations.use(self._configured[1])
        return self._configured[1]

    def init(self) -> None:
        """Make what is missing, and remove what has expired."""
        self.facts.init()
        self.daily.init()
        self.conversations.init()

    def check_ready(self) -> None:
        """Raise a TurnleafError where the folder cannot be written, or a database not be read."""
        _ = self.settings
        for folder in {self._folder.path, *(Path(str(one.location)).parent for one in self._kept)}:
            # Tried, because the rights of a folder say nothing of a full disk.
            atomic.try_writing(folder)
        if self.conversations.exists():
            self.conversations.summary(_NOBODY)

    @property
    def _kept(self) -> tuple[Facts, Conversations]:
        return self.facts, self.conversations

    def settle_messages(self) -> None:
        """Hide the messages that forgotten facts rest on, and show those of facts that are back."""
        if self._settled:
            self._settled.settle()

    def take_over_older(self) -> str | None:
        """Take in what an older version kept elsewhere; return a sentence about it, if it did."""
        taken = self._older.take_over_older()
        return str(taken) if taken and taken.messages else None

    def find_unimported(self) -> str | None:
        """Return in one line which facts were never imported, and how to import them; else None."""
        return takeover.describe_unimported(self._folder, Path(self.facts.location))

    def redact(self, text: str) -> str:
        """Return a text without the folders of this machine, for people elsewhere."""
        stores = (self.facts, self.conversations)
        places = [Path(str(one.location)).parent for one in stores]
        places += [self._folder.daily.parent, self._folder.path]
        return without_folders(text, [path for one in places for path in (one, one.resolve())])

    def open_portable(self) -> PortableSpace:
        """Return the space as it is copied."""
        conversations = Path(self.conversations.location)
        return FilePortableSpace(
            self._folder, ConfigFile(self._folder.config), self._memory, conversations, self._now
        )

    def tidy(self) -> list[str]:
        """Remove what kills left of unfinished writes; return the copies that were set aside."""
        stores = (self.facts, self.conversations, self.schedules)
        folders = [Path(str(one.location)).parent for one in stores]
        folders += [self._folder.daily, folders[1] / ARCHIVE]
        return [str(copy) for folder in dict.fromkeys(folders) for copy in _tidy(folder)]

    def close(self) -> None:
        """Release what is open; the next call opens it again."""
        # Each part is closed, also when the one before it fails.
        with ExitStack() as parts_closing:
            parts = (self.learning, self.conversations, self.passages, self.records)
            for part in (*parts, self.operator_records, self.announcements, self.work):
                parts_closing.callback(part.close)


def _tidy(folder: Path) -> list[Path]:
    names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    for found in filter(None, map(_UNFINISHED.fullmatch, names)):
        with atomic.lock(folder / found[1]):
            atomic.Held(folder / found[0]).remove()
    return [folder / name for name in names if _COPY.fullmatch(name)]


def _list_database(path: Path, older: Iterable[Path] = ()) -> list[Files]:
    """Return the files of a database, and those from which something may come into it."""
    # In WAL mode a change is in the log long before it is in the file.
    return [Files(one) for one in (path, path.with_name(f"{path.name}-wal"), *older)]


def _read_state(path: Path) -> object:
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino
    return None


@collect
def _examine_folder(path: Path) -> Iterator[Part]:
    there = next(place for place in (path, *path.parents) if place.exists())
    if not there.is_dir():
        message = f"{there} is a file, but must be a folder; choose another data folder"
        yield Diagnosis("error", message)
    elif path == there and not os.access(path, os.R_OK | os.X_OK):
        message = f"{path} cannot be read; check who owns it and its permissions"
        yield Diagnosis("error", message)
    elif not os.access(there, os.W_OK | os.X_OK):
        message = f"{there} cannot be written to; check who owns it and its permissions"
        yield Diagnosis("error", message)


@collect
def _find_leftovers(folder: Path) -> Iterator[Part]:
    for path in sorted(path for name in _SET_ASIDE for path in folder.glob(name)):
        yield Diagnosis(
            "warning",
            f"{path} was set aside because it could not be used; copy from it what you need, "
            "then delete it",
        )


@collect
def _examine_other_folder(path: Path) -> Iterator[Part]:
    if any((path / name).exists() for name in _SIGNS):
        yield Diagnosis(
            "warning",
            f"there is a second data folder at {path}, which is not used; "
            "--data-dir or TURNLEAF_DATA_DIR chooses between them",
        )


_FOLDERS = re.compile(r"(?<![\w:/.])/(?:[^\s/:;,'\"()]+/)+")


def without_folders(sentence: str, known: Iterable[Path]) -> str:
    """Leave only the names of files; a known folder may have spaces in its name."""
    for folder in known:
        sentence = sentence.replace(f"{folder}/", "")
    return _FOLDERS.sub("", sentence)


class SettledConversations:
    """The feed of conversations, settled before it is read.

    Facts are forgotten, brought back and accepted in many programs, and by undoing; so messages
    are brought in line where that matters: before they are searched.
    """

    def __init__(
        self, conversations: ConversationStore, memory: MemoryStore, pending: PendingStore
    ) -> None:
        self.location = conversations.location
        self._conversations = conversations
        self._memory = memory
        self._pending = pending

    @property
    def older(self) -> tuple[Path, ...]:
        """The files from which messages may still come into the database."""
        return self._conversations.older

    def changes_since(self, cursor: Cursor | None, limit: int = 1000) -> Feed:
        """Return what changed since a reader of the feed has come to a cursor."""
        self.settle()
        return self._conversations.changes_since(cursor, limit)

    def settle(self) -> None:
        """Hide the messages that forgotten facts rest on, and show those of facts that are back."""
        # Before the record is read: what is added meanwhile
        # makes it another state, which is settled next.
        state = self._memory.read_record_state()
        if state == self._conversations.read_settled_state():
            return
        # To look for the record of what never was would make its file.
        pending = self._pending.changes() if self._pending.exists() else ()
        outcomes = MessageOutcomes(
            find_forgotten(self._memory.read_record()), find_accepted(pending)
        )
        self._conversations.settle(outcomes, state)


def _list_spaces(folder: DataFolder) -> Iterator[DataFolder]:
    """Yield all spaces of the folder that a space is in."""
    path = folder.root or folder.path
    whole = replace(folder, path=path, root=None, space="default")
    yield whole
    if (path / SPACES).is_dir():
        for one in atomic.list_folder(path / SPACES):
            if is_space_name(one.name):
                yield whole.of_space(one.name)


def _look(folder: DataFolder, now: Callable[[], datetime]) -> Iterator[SeenWork]:
    """Yield what there is to do in all spaces; what cannot be read is told by who opens it."""
    for one in _list_spaces(folder):
        with suppress(TurnleafError, OSError):
            if one.schedules.exists():
                known = ScheduleStore(one.schedules, now=now).get_all()
                yield from look_at_schedules(one.space, known)
            if one.learning.exists():
                with closing(LearningStore(one.learning, now=now)) as queue:
                    yield from look_at_queue(one.space, queue.backlog(), queue.outbox(), now())


def _hold(folder: DataFolder, space: str, kind: str) -> Callable[[], None] | None:
    """Keep other programs from some work; return what ends that, or None where one has it."""
    chosen = next(one for one in _list_spaces(folder) if one.space == space)
    path = chosen.schedules if kind == SCHEDULES else chosen.learning
    descriptor = atomic.claim_for_child(path, "work")
    return None if descriptor is None else partial(os.close, descriptor)
