"""`DailyLog`: notes of the day, one Markdown file for each local date."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from turnleaf.core import markdown
from turnleaf.core.diagnosis import Row
from turnleaf.core.languages import pluralize
from turnleaf.core.markdown_blocks import BULLET, COMMENT, LINES, encode_bullet, is_blank
from turnleaf.core.memories import check_date, check_note, read_day
from turnleaf.core.pages import Splice
from turnleaf.core.serialization import to_text
from turnleaf.settings import find_data_dir
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.files import atomic
from turnleaf.store.files.diagnosis import collect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from turnleaf.core.diagnosis import Examination, Part

# An editor may save again and again; a program that never stops must not hang this one.
TRIES = 100
_NEVER = datetime.min.replace(tzinfo=UTC)

_SOURCE = re.compile(
    rf"{re.escape(COMMENT)}(?>(?:(?!\bsource=)[^<>])*)source=([^ <>]++)[^<>]*+(?<=--)>"
)

MOST_BLANK_BYTES = 8
"""With so many bytes more than its title a file may still be without notes."""
LATEST_DAYS = 2
"""A note that is made once is not tried again for so long that it could be on an older day."""


class DailyLog:
    """A folder of notes: `2026-11-15.md` holds what was noted on that day."""

    def __init__(
        self, folder: str | Path | None = None, *, now: Callable[[], datetime] = local_now
    ) -> None:
        default = find_data_dir() / "prompts" / "memory" / "daily"
        self.location = atomic.resolve(default if folder is None else folder)
        self._now = now

    def init(self) -> None:
        """Make the folder where it is missing."""
        atomic.make_folder(self.location)

    def append(self, entry: str, *, source: str | None = None, once: str | None = None) -> None:
        """Add a note to today, with the time and where it came from.

        Not where one of the last days holds `once`: whoever was killed after it tries again.
        """
        text = check_note(entry)
        now = self._now()
        self.init()
        if once is None:
            self._append(text, now, source)
            return
        # A day is locked while it is written; here looking at it and writing are one step.
        with atomic.lock(self.location / "results"):
            if not any(once in self.read(day) for day in self.dates()[-LATEST_DAYS:]):
                self._append(text, now, source)

    def _append(self, text: str, now: datetime, source: str | None) -> None:
        with atomic.lock(self._find_path(now.date())) as file:
            before = file.read(atomic.MAX_PAGE_BYTES) or b""
            title = "" if before else f"# {now.date()}\n\n"
            lines = with_source(encode_bullet(f"{now:%H:%M} {text}"), source)
            note = (title + "".join(f"{line}\n" for line in lines)).encode()
            atomic.check_size(file.path, len(before) + len(note))
            file.append(note)

    def read(self, day: date | str) -> str:
        """Return a day's notes as a person reads them; nothing when there are none."""
        path = self._find_path(check_date(day))
        data = atomic.read(path, atomic.MAX_PAGE_BYTES) or b""
        # A power cut may have left half a character at the end of what was appended.
        data = data[: len(data) - atomic.count_torn_bytes(data)]
        try:
            return markdown.without_comments(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            atomic.log.warning(
                "%s is not valid UTF-8 everywhere (%s); the rest was read", path, error
            )
            return markdown.without_comments(data.decode("utf-8-sig", "replace"))

    def has_source(self, source: str) -> bool:
        """Whether a note of any day came from a source."""
        days = (
            atomic.read(self._find_path(day), atomic.MAX_PAGE_BYTES) or b"" for day in self.dates()
        )
        return any(_without(data, to_text(source))[0] for data in days)

    def revise(self, day: date | str, entry: str, content: str | None) -> bool:
        """Make a note of a day say something else, or delete it; False when none says `entry`."""
        path = self._find_path(check_date(day))
        new = None if content is None else check_note(content)
        with atomic.lock(path) as file:
            for _ in range(TRIES):
                data = file.read(atomic.MAX_PAGE_BYTES) or b""
                changed = _revise(data, entry, new)
                if changed is None:
                    return False
                with suppress(atomic.ChangedMeanwhile):
                    _swap(file, data, changed)
                    # Else an editor saved in that instant, and what it saved is changed next.
                    if file.read() == changed:
                        break
            atomic.drop_previous(path)
        return True

    def erase(self, source: str) -> int:
        """Remove every note that came from a source; return how many."""
        return sum(_erase(self._find_path(day), to_text(source)) for day in self.dates())

    def examine(self) -> Examination:
        """Return how many days the folder has."""
        return _examine(self.location)

    def dates(self) -> list[date]:
        """Return the days that have notes, oldest first."""
        if not self.location.is_dir():
            return []
        paths = (path for path in self.location.glob("*.md") if read_day(path.stem))
        return sorted(date.fromisoformat(path.stem) for path in paths if _has_notes(path))

    def _find_path(self, day: date) -> Path:
        return self.location / f"{day.isoformat()}.md"


def _revise(data: bytes, entry: str, new: str | None) -> bytes | None:
    """Return a day on which a note says something else or is gone; None where it has no such."""
    # Bytes that are no UTF-8 come out as they went in: only the note is changed.
    page = markdown.parse(data.decode("utf-8", "surrogateescape"), _NEVER)
    fact = next((one for one in page.facts if one.memory.content == entry), None)
    if fact is None:
        return None
    splice = page.remove(fact)
    if new is not None:
        source = _SOURCE.search(page.get_raw(fact))
        lines = with_source(encode_bullet(new), source and unquote(source[1]))
        took = tuple(page.lines[fact.start : fact.end])
        splice = Splice(fact.start, took, tuple(f"{line}\n" for line in lines))
    return page.apply(splice).encode("utf-8", "surrogateescape")


def _has_notes(path: Path) -> bool:
    """Whether a day's file holds more than its title; only a short one is read for that."""
    title = f"# {path.stem}"
    with suppress(OSError):
        if path.stat().st_size <= len(title) + MOST_BLANK_BYTES:
            return path.read_text("utf-8", "replace").strip() not in {"", title}
    return True


def read_source(note: str) -> str | None:
    """Return where a note came from, by its invisible comment."""
    found = _SOURCE.search(note)
    return unquote(found[1]) if found else None


def with_source(lines: list[str], source: str | None) -> list[str]:
    """End a note in an invisible comment, on a line of its own where the note has several."""
    if source is None:
        return lines
    # Two hyphens would end the comment.
    comment = f"{COMMENT}source={quote(to_text(source), safe=':+.').replace('--', '-%2D')} -->"
    if len(lines) == 1:
        return [f"{lines[0]} {comment}"]
    return [*lines, f"{' ' * len(BULLET)}{comment}"]


def _erase(path: Path, source: str) -> int:
    """Remove a source's notes from a day, again when an editor saves it in that instant."""
    removed = 0
    with atomic.lock(path) as file:
        for _ in range(TRIES):
            data = file.read(atomic.MAX_PAGE_BYTES) or b""
            count, kept = _without(data, source)
            if not count:
                break
            with suppress(atomic.ChangedMeanwhile):
                _swap(file, data, kept)
                removed = max(removed, count)
        # The replaced file still holds what is being erased.
        atomic.drop_previous(path)
    return removed


def _swap(file: atomic.Held, data: bytes, kept: bytes) -> None:
    """Put in the place of `data` what is kept of it; lose nothing that is saved meanwhile."""
    file.swap(kept, lambda: file.read() == data)
    # An editor knows no lock; what it saved in this instant counts, and the caller tries again.
    late = atomic.read_raw(atomic.find_previous(file.path))
    if late not in {None, data}:
        file.replace(late or b"")


def _without(data: bytes, source: str) -> tuple[int, bytes]:
    """Take a source's notes away, each with the lines above its comment that belong to it."""
    kept: list[str] = []
    count = 0
    for line in LINES.findall(data.decode("utf-8", "surrogateescape")):
        found = _SOURCE.search(line)
        if found is None or unquote(found[1]) != source:
            kept.append(line)
            continue
        count += 1
        if is_blank(markdown.without_comments(line)):
            _drop_note(kept)
    return count, "".join(kept).encode("utf-8", "surrogateescape")


def _drop_note(lines: list[str]) -> None:
    """Take the last note away, up to the line that it begins with."""
    while lines and (is_blank(lines[-1]) or lines[-1][0] in " \t"):
        lines.pop()
    del lines[-1:]


@collect
def _examine(folder: Path) -> Iterator[Part]:
    holds = "not there yet"
    if folder.is_dir():
        is_readable = os.access(folder, os.R_OK | os.X_OK)
        holds = pluralize(len(DailyLog(folder).dates()), "day") if is_readable else "cannot be read"
    yield Row("daily log", str(folder), None, holds)
