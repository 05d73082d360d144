"""Messages that left their conversation, append-only, one file a month."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from turnleaf.core import messages
from turnleaf.core.jsontext import dumps
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.messages import Message

_MONTH = re.compile(r"\d{4}-\d{2}\.jsonl")


class Archive:
    """The folder `archive` beside the conversations.

    A kill between archiving and trimming archives a message twice; whoever reads it leaves
    out what is the same to the letter.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def append(self, key: str, dropped: Sequence[Message], now: datetime) -> None:
        """Keep messages, each in the month in which it was said."""
        months: dict[str, list[str]] = {}
        for message in dropped:
            month = (message.timestamp or now).strftime("%Y-%m")
            record = {"conversation": key, **messages.to_json(message)}
            months.setdefault(month, []).append(dumps(record))
        for month, lines in months.items():
            files.make_folder(self.folder)
            with files.locked(self.folder / f"{month}.jsonl") as file:
                file.append("".join(f"{line}\n" for line in lines).encode())

    def read(self) -> Iterator[tuple[str, Message]]:
        """Go over all that is kept, oldest month first: conversation and message."""
        for path in self._months():
            for line in dict.fromkeys((files.read(path) or b"").splitlines()):
                entry = _parsed(line)
                if entry:
                    yield entry

    def expire(self, before: datetime) -> None:
        """Remove what was said before that moment."""
        this_month = before.strftime("%Y-%m")
        old = [path for path in self._months() if path.stem <= this_month]
        self._rewrite(old, lambda line: _is_since(line, before))

    def erase(self, key: str) -> bool:
        """Remove every message of a conversation; False when there is none."""
        return self._rewrite(self._months(), lambda line: not _is_of(line, key))

    def _months(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _MONTH.fullmatch(path.name))

    def _rewrite(self, paths: Sequence[Path], is_kept: Callable[[bytes], bool]) -> bool:
        removed = 0
        for path in paths:
            with files.locked(path) as file:
                lines = (file.read() or b"").splitlines(keepends=True)
                kept = [line for line in lines if is_kept(line)]
                removed += len(lines) - len(kept)
                if not kept:
                    file.remove()
                elif kept != lines:
                    file.replace(b"".join(kept))
        return removed > 0


def _is_since(line: bytes, moment: datetime) -> bool:
    """Keep what cannot be read: it may be somebody's only copy."""
    entry = _parsed(line)
    return entry is None or (entry[1].timestamp or moment) >= moment


def _is_of(line: bytes, key: str) -> bool:
    """Tell whether a line belongs to a conversation, also one that a kill tore."""
    entry = _parsed(line)
    return line.startswith(_beginning(key)) if entry is None else entry[0] == key


def _beginning(key: str) -> bytes:
    return f"{dumps({'conversation': key})[:-1]},".encode()


def _parsed(line: bytes) -> tuple[str, Message] | None:
    try:
        record = json.loads(line)
        return record["conversation"], messages.from_json(record)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
