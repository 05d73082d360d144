"""The settings of a database, the same for all its spaces."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from turnleaf.core.jsontext import dumps
from turnleaf.core.languages import pluralize
from turnleaf.settings import UNCHANGED, Settings, check_value, find_setting
from turnleaf.store.memory.place import FOR_ALL_SPACES, in_one_step
from turnleaf.store.postgres.place import SqlStore, changing

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.core.examination import Examination

_SET = """
INSERT INTO turnleaf.settings (key, value) VALUES (%s, %s)
ON CONFLICT (key) DO UPDATE SET value = excluded.value
"""


class PostgresConfig(SqlStore):
    """The settings that an operator changed."""

    kind = FOR_ALL_SPACES

    @in_one_step
    def load(self) -> Settings:
        """Return the settings that hold now: environment over these over defaults."""
        rows = self.rows("SELECT key, value FROM turnleaf.settings")
        return Settings.combine({key: json.loads(value) for key, value in rows}, "the settings")

    @in_one_step
    def examine(self) -> Examination:
        """Return how many settings were changed."""
        ((count,),) = self.rows("SELECT count(*) FROM turnleaf.settings")
        return self.report("settings", pluralize(count, "setting"))

    @changing
    def change(self, values: Mapping[str, Any]) -> None:
        """Change some settings, all or none; None restores a default."""
        wanted = {find_setting(name): value for name, value in values.items()}
        new = {
            one.key: check_value(one, value, one.key, UNCHANGED)
            for one, value in wanted.items()
            if value is not None
        }
        self.lock()
        self.run("DELETE FROM turnleaf.settings WHERE key = ANY(%s)", [one.key for one in wanted])
        self.step.run_many(_SET, [(key, dumps(value)) for key, value in new.items()])
