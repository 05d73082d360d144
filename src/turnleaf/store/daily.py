"""`DailyLog`: notes of the day, one Markdown file for each local date (003)."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import TYPE_CHECKING

from turnleaf.core import bullets
from turnleaf.core.memories import checked_text
from turnleaf.errors import InvalidInput
from turnleaf.settings import default_data_dir
from turnleaf.store import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def local_now() -> datetime:
    """Read the clock, in the zone of the person whose day it is."""
    return datetime.now().astimezone()


class DailyLog:
    """A folder of notes: `2026-11-15.md` holds what was noted on that day."""

    def __init__(
        self, folder: str | Path | None = None, *, now: Callable[[], datetime] = local_now
    ) -> None:
        default = default_data_dir() / "prompts" / "memory" / "daily"
        self.location = files.real(default if folder is None else folder)
        self._now = now

    def init(self) -> None:
        """Make the folder where it is missing."""
        files.make_folder(self.location)

    def append(self, entry: str) -> None:
        """Note something under today's date, with the time."""
        text = checked_text(entry, "a note")
        if not text.strip():
            message = "a note needs some text; this is empty"
            raise InvalidInput(message)
        now = self._now()
        self.init()
        with files.locked(self._path(now.date())) as file:
            title = "" if file.read() else f"# {now.date()}\n\n"
            lines = bullets.encode(f"{now:%H:%M} {text}")
            file.append((title + "".join(f"{line}\n" for line in lines)).encode())

    def read(self, day: date | str) -> str:
        """Give a day's notes as they stand in the file; nothing when there are none."""
        path = self._path(_checked(day))
        data = files.read(path) or b""
        data = data[: len(data) - files.torn_bytes(data)]
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            files.log.warning("%s is not all UTF-8 text (%s); the rest of it was read", path, error)
            return data.decode("utf-8-sig", "replace")

    def dates(self) -> list[date]:
        """Give the days that have notes, oldest first."""
        if not self.location.is_dir():
            return []
        names = (path.stem for path in self.location.glob("*.md"))
        return sorted(day for name in names if (day := _day(name)) is not None)

    def _path(self, day: date) -> Path:
        return self.location / f"{day.isoformat()}.md"


def _checked(day: date | str) -> date:
    if isinstance(day, datetime):
        return day.date()
    if isinstance(day, date):
        return day
    parsed = _day(day)
    if parsed is None:
        message = f"{day!r} is no date; write it as 2026-11-15"
        raise InvalidInput(message)
    return parsed


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if _DAY.fullmatch(text) else None
    except (TypeError, ValueError):
        return None
