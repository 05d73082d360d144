"""Tables and patterns that are loaded when first used.

The tables come with the package and are the only files that the core reads: words and patterns of a
language are easier to read and to add to as data than as code.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, cast

_CORE = Path(__file__).parent


@cache
def load_data(path: str) -> dict[str, Any]:
    """Return the table of a TOML file below `turnleaf/core`, cached: it must not be changed."""
    # Imported on first use, as the tables are read: most programs need few of them, and the import
    # of the package has to stay quick.
    table: dict[str, Any] = import_module("tomllib").loads((_CORE / path).read_text("utf-8"))
    return table


@cache
def find_folders(path: str, holding: str) -> tuple[str, ...]:
    """Return the names of the folders in `path`, below `turnleaf/core`, that hold a file."""
    return tuple(sorted(one.parent.name for one in (_CORE / path).glob(f"*/{holding}")))


def make_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that is compiled on first use."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.pattern, self._flags)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a pattern has
        value = getattr(self._pattern, name)
        # Kept on the instance, so that only the first use of a method comes through here.
        setattr(self, name, value)
        return value
