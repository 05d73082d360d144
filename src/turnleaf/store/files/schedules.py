"""`ScheduleStore`: schedules in one JSON file; each run is claimed by one process."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from turnleaf.core import schedules
from turnleaf.core.diagnosis import describe_schedules, find_schedule_problems
from turnleaf.core.schedules import Run, Schedule
from turnleaf.errors import CorruptFile, InvalidInput
from turnleaf.settings import find_data_dir
from turnleaf.store.clock_and_ids import make_id
from turnleaf.store.files import atomic
from turnleaf.store.files.diagnosis import collect, examine_file
from turnleaf.store.schedules import KeptSchedules, find_next_due

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import TypeVar

    from turnleaf.core.diagnosis import Examination, Part

    T = TypeVar("T")

__all__ = ["Run", "Schedule", "ScheduleStore"]

NAME = "schedules.json"
EMPTY = "[]\n"
_PROBLEMS = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


class ScheduleStore(KeptSchedules):
    """Schedules in a file that people can read and edit."""

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = make_id,
    ) -> None:
        super().__init__(now, new_id)
        self.location = atomic.resolve(find_data_dir() / NAME if location is None else location)
        if self.location.suffix != ".json":
            message = f"schedules must be kept in a .json file, not in {self.location.name!r}"
            raise InvalidInput(message)
        self._results = self.location.with_name("results")

    def init(self) -> None:
        """Make the file where it is missing, and see that it can be read."""
        self._change(lambda _: None)

    def examine(self) -> Examination:
        """Return how many schedules there are and what is wrong with them."""
        return _examine(self.location, self._now())

    def get_all(self) -> list[Schedule]:
        """Return all schedules, in the order in which they were made."""
        try:
            return list(parse(atomic.read(self.location)).values())
        except CorruptFile:
            self.init()
            return list(parse(atomic.read(self.location)).values())

    def erase(self, key: str) -> int:
        """Erase what the runs of a schedule said; return how many results."""
        return super().erase(key) if self.location.exists() else 0

    def add_result(self, name: str, run: Run, text: str) -> None:
        """Add what a run brought to a file of the folder `results`, once."""
        path = self._results / name
        atomic.make_folder(path.parent)
        with atomic.lock(path) as file:
            before = file.read() or b""
            if run.id.encode() not in before:
                # What a kill leaves half of would be taken for delivered.
                file.replace(before + f"{text}\n\n".encode())

    def read_results(self, name: str) -> str:
        """Return the results of a name."""
        return (atomic.read(self._results / name) or b"").decode("utf-8", "replace")

    def _change(self, edit: Callable[[dict[str, Schedule]], T]) -> T:
        atomic.make_folder(self.location.parent)
        with atomic.lock(self.location) as file:
            data = file.read()
            try:
                known = parse(data)
            except CorruptFile as problem:
                file.move_aside(str(problem))
                data, known = EMPTY.encode(), {}
                file.replace(data)
            result = edit(known)
            written = _serialize(known)
            if written != data:
                file.replace(written)
            return result


def parse(data: bytes | None) -> dict[str, Schedule]:
    """Read the schedules of a file by their ids; raise CorruptFile if it holds none."""
    try:
        records = json.loads((data or EMPTY.encode()).decode("utf-8-sig"))
        known = {one.id: one for one in map(_read, count(1), records)}
    except _PROBLEMS as error:
        message = f"it is not a file of schedules: {error}"
        raise CorruptFile(message) from error
    if len(known) < len(records):
        message = "two of its schedules have the same id"
        raise CorruptFile(message)
    return known


def _read(number: int, record: dict[str, Any]) -> Schedule:
    try:
        one = schedules.from_json(record)
    except _PROBLEMS as error:
        wrong = f"has no {error}" if isinstance(error, KeyError) else f"cannot be read ({error})"
        message = f"its schedule number {number} {wrong}"
        raise CorruptFile(message) from error
    return one if one.next_due or one.runs else replace(one, next_due=_find_first_due(one))


def _find_first_due(one: Schedule) -> datetime | None:
    """Return when a schedule that was written into the file by hand is due."""
    try:
        return find_next_due(one, one.created_at)
    except InvalidInput:
        # Whoever claims it puts on record what is wrong with it.
        return one.created_at


def _serialize(known: dict[str, Schedule]) -> bytes:
    records = [schedules.to_json(one) for one in known.values()]
    return f"{json.dumps(records, ensure_ascii=False, indent=2)}\n".encode()


@collect
def _examine(path: Path, now: datetime) -> Iterator[Part]:
    known: list[Schedule] = []

    def describe() -> str:
        known.extend(parse(atomic.read(path)).values())
        return describe_schedules(known)

    yield from examine_file("schedules", path, describe)
    yield from find_schedule_problems(known, now)
