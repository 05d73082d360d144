"""Daily notes in memory."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from turnleaf.core.languages import pluralize
from turnleaf.core.markdown_blocks import write_bullet
from turnleaf.core.memories import check_date, check_note
from turnleaf.core.serialization import to_text
from turnleaf.store.in_memory.shared_data import Keeper, MemoryPlace, Now, in_one_step

if TYPE_CHECKING:
    from datetime import date

    from turnleaf.core.diagnosis import Examination


class KeptNote(NamedTuple):
    """A note as it is read, and where it came from."""

    text: str
    source: str | None


class Diary:
    """The notes of each day."""

    def __init__(self) -> None:
        self.days: defaultdict[date, list[KeptNote]] = defaultdict(list)


class MemoryDaily(Keeper):
    """The daily notes of a space."""

    kind = "daily"

    def __init__(self, place: MemoryPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._days = place.find(space, self.kind, Diary).days

    @in_one_step
    def append(self, entry: str, *, source: str | None = None, once: str | None = None) -> None:
        """Add a note to today, with the time, and where it came from."""
        check_note(entry)
        if once is not None and any(once in self.read(day) for day in self.dates()[-2:]):
            return
        moment = self._clock()
        text = write_bullet(f"{moment:%H:%M} {entry}")
        note = KeptNote(text, None if source is None else to_text(source))
        self._days[moment.date()].append(note)
        self.announce()

    @in_one_step
    def read(self, day: date | str) -> str:
        """Return the notes of a day; "" when there are none."""
        wanted = check_date(day)
        notes = self._days.get(wanted)
        return f"# {wanted}\n\n" + "".join(note.text for note in notes) if notes else ""

    @in_one_step
    def has_source(self, source: str) -> bool:
        """Whether a note of any day came from a source."""
        name = to_text(source)
        return any(note.source == name for notes in self._days.values() for note in notes)

    @in_one_step
    def revise(self, day: date | str, entry: str, content: str | None) -> bool:
        """Make a note of a day say something else, or delete it; False when none says `entry`."""
        notes = self._days.get(check_date(day), [])
        if content is not None:
            check_note(content)
        lines = write_bullet(entry)
        at = next((at for at, note in enumerate(notes) if note.text == lines), None)
        if at is None:
            return False
        new = [] if content is None else [notes[at]._replace(text=write_bullet(content))]
        notes[at : at + 1] = new
        self.announce()
        return True

    @in_one_step
    def erase(self, source: str) -> int:
        """Erase every note that came from a source, of every day; return how many."""
        erased = 0
        for day, notes in [*self._days.items()]:
            left = [note for note in notes if note.source != to_text(source)]
            erased += len(notes) - len(left)
            self._days[day] = left
        self.announce()
        return erased

    @in_one_step
    def examine(self) -> Examination:
        """Return how many days there are."""
        return self.report("daily log", pluralize(len(self.dates()), "day"))

    @in_one_step
    def dates(self) -> list[date]:
        """Return the days that have notes, oldest first."""
        return sorted(day for day, notes in self._days.items() if notes)
