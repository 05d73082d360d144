"""Daily notes in a database, a row each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.jsontext import to_text
from turnleaf.core.languages import pluralize
from turnleaf.core.markdown_blocks import encode_bullet
from turnleaf.core.memories import checked_date, checked_text
from turnleaf.errors import InvalidInput
from turnleaf.store.memory.place import in_one_step
from turnleaf.store.postgres.place import SqlStore, changing
from turnleaf.store.postgres.trees import to_column

if TYPE_CHECKING:
    from datetime import date

    from turnleaf.core.examination import Examination

_LAST_DAYS = "SELECT DISTINCT day FROM turnleaf.notes ORDER BY day DESC LIMIT 2"
_ADD = "INSERT INTO turnleaf.notes (day, id, text, source, change) VALUES (%s, %s, %s, %s, %s)"
_FIND = "SELECT id FROM turnleaf.notes WHERE day = %s AND text = %s ORDER BY id LIMIT 1"
_REVISE = "UPDATE turnleaf.notes SET text = %s, change = %s WHERE day = %s AND id = %s"


class PostgresDaily(SqlStore):
    """The daily notes of a space."""

    kind = "daily"

    @changing
    def append(self, entry: str, *, source: str | None = None, once: str | None = None) -> None:
        """Add a note to today, with the time, and where it came from."""
        _check_note(entry)
        number = self.lock()
        if once is not None and any(once in self.read(day) for (day,) in self.rows(_LAST_DAYS)):
            return
        moment = self._clock()
        name = None if source is None else to_text(source)
        text = _write_note(f"{moment:%H:%M} {entry}")
        self.run(_ADD, moment.date(), number, text, name, number)

    @in_one_step
    def read(self, day: date | str) -> str:
        """Return the notes of a day; "" when there are none."""
        wanted = checked_date(day)
        notes = self.rows("SELECT text FROM turnleaf.notes WHERE day = %s ORDER BY id", wanted)
        return f"# {wanted}\n\n" + "".join(text for (text,) in notes) if notes else ""

    @in_one_step
    def has_source(self, source: str) -> bool:
        """Whether a note of any day came from a source."""
        query = "SELECT 1 FROM turnleaf.notes WHERE source = %s LIMIT 1"
        return bool(self.rows(query, to_text(source)))

    @changing
    def revise(self, day: date | str, entry: str, content: str | None) -> bool:
        """Make a note of a day say something else, or delete it; False when none says `entry`."""
        if content is not None:
            _check_note(content)
        wanted = checked_date(day)
        self.step.lock(self.kind, changes=False)
        for (note,) in self.rows(_FIND, wanted, to_column(_write_note(entry))):
            number = self.lock()
            if content is None:
                self.run("DELETE FROM turnleaf.notes WHERE day = %s AND id = %s", wanted, note)
            else:
                self.run(_REVISE, _write_note(content), number, wanted, note)
            return True
        return False

    @in_one_step
    def examine(self) -> Examination:
        """Return how many days there are."""
        return self.report("daily log", pluralize(len(self.dates()), "day"))

    @changing
    def erase(self, source: str) -> int:
        """Erase every note that came from a source, of every day; return how many."""
        self.lock()
        return self.run("DELETE FROM turnleaf.notes WHERE source = %s", to_text(source))

    @in_one_step
    def dates(self) -> list[date]:
        """Return the days that have notes, oldest first."""
        return [day for (day,) in self.rows("SELECT DISTINCT day FROM turnleaf.notes ORDER BY 1")]


def _check_note(entry: str) -> None:
    if not checked_text(entry, "a note").strip():
        message = "a note needs some text; type it"
        raise InvalidInput(message)


def _write_note(content: str) -> str:
    return "".join(f"{line}\n" for line in encode_bullet(content))
