"""The settings that were changed, in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turnleaf.core.languages import pluralize
from turnleaf.settings import UNCHANGED, Settings, check_value, find_setting
from turnleaf.store.memory.place import Keeper, MemoryPlace, Now, in_one_step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.core.examination import Examination

ALL_SPACES = ""


class MemoryConfig(Keeper):
    """The settings of a place, the same for all its spaces."""

    kind = "config"

    def __init__(self, place: MemoryPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._values = place.find(ALL_SPACES, self.kind, dict[str, Any])

    @in_one_step
    def load(self) -> Settings:
        """Return the settings that hold now: environment over these over defaults."""
        return Settings.combine(self._values, "the settings")

    @in_one_step
    def examine(self) -> Examination:
        """Return how many settings were changed."""
        return self.report("settings", pluralize(len(self._values), "setting"))

    @in_one_step
    def change(self, values: Mapping[str, Any]) -> None:
        """Change some settings, all or none; None restores a default."""
        wanted = {find_setting(name): value for name, value in values.items()}
        new = {
            one.key: check_value(one, value, one.key, UNCHANGED)
            for one, value in wanted.items()
            if value is not None
        }
        for one in wanted:
            self._values.pop(one.key, None)
        self._values.update(new)
        self.announce()
