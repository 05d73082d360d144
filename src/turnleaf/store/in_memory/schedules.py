"""Schedules in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.diagnosis import describe_schedules, find_schedule_problems
from turnleaf.core.schedules import Run, Schedule
from turnleaf.store.in_memory.shared_data import Keeper, Now, PlaceOfSpaces, in_one_step
from turnleaf.store.schedules import KeptSchedules

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from turnleaf.core.diagnosis import Examination

    T = TypeVar("T")


class MemorySchedules(Keeper, KeptSchedules):
    """The schedules of a space, in the order in which they were made."""

    kind = "schedules"

    def __init__(self, place: PlaceOfSpaces, space: str, now: Now) -> None:
        Keeper.__init__(self, place, space, now)
        KeptSchedules.__init__(self, self.now)

    @property
    def _kept(self) -> dict[str, Schedule]:
        return self.place.find(self.space, self.kind, dict[str, Schedule])

    @property
    def _results(self) -> dict[str, str]:
        return self.place.find(self.space, "results", dict[str, str])

    @in_one_step
    def _change(self, edit: Callable[[dict[str, Schedule]], T]) -> T:
        kept = self._kept
        known = dict(kept)
        result = edit(known)
        if known != kept:
            kept.clear()
            kept.update(known)
            self.announce()
        return result

    @in_one_step
    def examine(self) -> Examination:
        """Return how many schedules there are and what is wrong with them."""
        known = self.get_all()
        problems = find_schedule_problems(known, self._clock())
        return self.report("schedules", describe_schedules(known), *problems)

    @in_one_step
    def get_all(self) -> list[Schedule]:
        """Return every schedule, in the order in which they were made."""
        return [*self._kept.values()]

    @in_one_step
    def add_result(self, name: str, run: Run, text: str) -> None:
        """Add what a run brought to the results of that name, once."""
        before = self.read_results(name)
        if run.id not in before:
            self._results[name] = f"{before}{text}\n\n"

    @in_one_step
    def read_results(self, name: str) -> str:
        """Return the results of a name."""
        return self._results.get(name, "")
