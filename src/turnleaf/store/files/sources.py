"""What is searched: the memory and the daily logs file by file, conversations by their feed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from turnleaf.core.search import passages
from turnleaf.errors import CorruptFile, InvalidInput
from turnleaf.store.clock_and_ids import find_local_day
from turnleaf.store.files import atomic
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.older import NAMES, find_older_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turnleaf.core.messages import Cursor, Feed
    from turnleaf.core.search.passages import Passage


MAX_NOTES_BYTES = 64_000_000
"""How large a file of a folder may be that is only searched, and nobody's memory."""

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\.md")
_PAGE = re.compile(r"[^.].*\.(?:md|markdown)", re.IGNORECASE)
# What waits for a person to accept it is no memory yet.
_PENDING = "pending.md"
OLDER_NAMES = frozenset(NAMES.values())


@runtime_checkable
class FileSource(Protocol):
    """Files, and how each is cut into passages."""

    def paths(self) -> Iterator[str]:
        """Yield the files that exist."""

    def cut(self, path: Path, data: bytes) -> tuple[str, Sequence[Passage]]:
        """Return a file's kind, one of `KINDS`, and its passages."""


@runtime_checkable
class Followed(Protocol):
    """A database of messages that says what changed in it; how its file looks says nothing."""

    location: Path

    @property
    def older(self) -> tuple[Path, ...]:
        """The files from which messages may still come into it."""

    def changes_since(self, cursor: Cursor | None, limit: int = 1000) -> Feed:
        """Return what changed since a reader of the feed has come to a cursor."""


@runtime_checkable
class Store(Protocol):
    """Anything that says where it keeps its files."""

    location: Path


@dataclass(frozen=True, slots=True)
class Files:
    """A file, or all files in a folder whose name tells what they hold."""

    root: Path

    def paths(self) -> Iterator[str]:
        """Yield the files that exist."""
        if self.root.is_dir():
            yield from _list_files(self.root)
        elif self.root.is_file():
            yield str(self.root)

    def folders(self) -> Iterator[Path]:
        """Yield the folders in which a change of the files would show."""
        root = atomic.resolve(self.root)
        if root.is_dir():
            yield from (Path(here) for here, _ in _walk(root))
        else:
            yield next(folder for folder in root.parents if folder.is_dir())

    def concerns(self, path: Path) -> bool:
        """Whether a change at this path may be one of the files."""
        root = atomic.resolve(self.root)
        if not path.is_relative_to(root) or path == root:
            return root.is_relative_to(path)
        return _is_searched(path.name) or (not _is_hidden(path.name) and path.is_dir())

    def cut(self, path: Path, data: bytes) -> tuple[str, Sequence[Passage]]:
        """Cut a file by what its name says that it is; what cannot be read has no passages."""
        text = "" if b"\0" in data else data.decode("utf-8-sig", "replace")
        if _DAY.fullmatch(path.name) and (day := _read_day(path.stem)):
            return "daily", passages.cut_day(text, day)
        kind = "older" if path.name in OLDER_NAMES else "memory"
        try:
            return kind, passages.cut_memory(text, path.name, find_local_day)
        except CorruptFile:
            return kind, []


@dataclass(frozen=True, slots=True)
class MemoryPages(Files):
    """A memory file, and the older facts beside it; `store` may have parsed it already."""

    store: MemoryStore | None = None

    def paths(self) -> Iterator[str]:
        """Yield the files that exist."""
        for path in (self.root, find_older_path(atomic.resolve(self.root))):
            yield from Files(path).paths()

    def concerns(self, path: Path) -> bool:
        """Whether a change at this path may be one of the files."""
        root = atomic.resolve(self.root)
        return root.is_relative_to(path) or path == find_older_path(root)

    def cut(self, path: Path, data: bytes) -> tuple[str, Sequence[Passage]]:
        """Cut a file; what its store made of just these bytes is taken from there."""
        page = self.store.find_page(data) if self.store and path == self.root else None
        if page is None or b"\0" in data:
            return Files.cut(self, path, data)
        return "memory", passages.cut_page(page, find_local_day)


@dataclass(frozen=True, slots=True)
class ConversationsFile(Files):
    """A JSON file of conversations."""

    def cut(self, path: Path, data: bytes) -> tuple[str, Sequence[Passage]]:  # noqa: ARG002
        """Cut the file into messages; what cannot be read has no passages."""
        try:
            return "conversations", passages.cut_conversations(data.decode(), find_local_day)
        except (CorruptFile, UnicodeDecodeError):
            return "conversations", []


def find_max_bytes(source: FileSource, path: Path) -> int | None:
    """Return how large a file may be to be searched; one of conversations has its own limits."""
    if not isinstance(source, Files) or isinstance(source, ConversationsFile):
        return None
    is_page = isinstance(source, MemoryPages) or path == source.root or _DAY.fullmatch(path.name)
    return atomic.MAX_PAGE_BYTES if is_page else MAX_NOTES_BYTES


def find_source(thing: object) -> FileSource | Followed:
    """Take a path, a folder or a store for the source that it is."""
    if isinstance(thing, ConversationStore):
        return thing if thing.keeps_everything else ConversationsFile(thing.location)
    if isinstance(thing, str | os.PathLike):
        return Files(atomic.resolve(Path(thing)))
    if isinstance(thing, FileSource | Followed):
        return thing
    if isinstance(thing, MemoryStore):
        return MemoryPages(thing.location, thing)
    if isinstance(thing, Store):
        return Files(thing.location)
    message = f"{thing!r} cannot be searched; pass a path or a store"
    raise InvalidInput(message)


def _list_files(folder: Path) -> Iterator[str]:
    for here, names in _walk(folder):
        for name in sorted(names):
            if _is_searched(name):
                yield f"{here}{os.sep}{name}"


def _walk(folder: Path) -> Iterator[tuple[str, list[str]]]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        yield here, names


def _is_searched(name: str) -> bool:
    return bool(_PAGE.fullmatch(name)) and name != _PENDING


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
