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
        self._rewrite(old, lambda _, message: (message.timestamp or before) >= before)

    def erase(self, key: str) -> bool:
        """Remove every message of a conversation; False when there is none."""
        return self._rewrite(self._months(), lambda conversation, _: conversation != key)

    def _months(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _MONTH.fullmatch(path.name))

    def _rewrite(self, paths: Sequence[Path], is_kept: Callable[[str, Message], bool]) -> bool:
        removed = 0
        for path in paths:
            with files.locked(path) as file:
                lines = (file.read() or b"").splitlines(keepends=True)
                kept = [line for line in lines if _is_kept(line, is_kept)]
                removed += len(lines) - len(kept)
                if not kept:
                    file.remove()
                elif kept != lines:
                    file.replace(b"".join(kept))
        return removed > 0


def _is_kept(line: bytes, is_kept: Callable[[str, Message], bool]) -> bool:
    """Keep what cannot be read: it may be somebody's only copy."""
    entry = _parsed(line)
    return entry is None or is_kept(*entry)


def _parsed(line: bytes) -> tuple[str, Message] | None:
    try:
        record = json.loads(line)
        return record["conversation"], messages.from_json(record)
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return None
