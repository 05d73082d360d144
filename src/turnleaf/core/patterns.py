"""Patterns that are compiled when first used: what is never looked for costs no start anything."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast

__all__ = ["lazy_pattern"]


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """Return what behaves as the compiled pattern does, without compiling it yet."""
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
