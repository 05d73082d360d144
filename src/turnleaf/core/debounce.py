"""When to act on changes that come in bursts: after the last one, yet not never."""

from __future__ import annotations

__all__ = ["Debounce"]


class Debounce:
    """Waits until it has been quiet for some seconds since the last change.

    Where changes do not end, `longest_seconds` after the first of them is late enough. The time
    is whatever its caller says that it is.
    """

    def __init__(self, quiet_seconds: float, longest_seconds: float) -> None:
        self._quiet_seconds = quiet_seconds
        self._longest_seconds = longest_seconds
        self._first: float | None = None
        self._last = 0.0

    @property
    def is_pending(self) -> bool:
        """Tell whether there were changes that nobody has acted on."""
        return self._first is not None

    def changed(self, now: float) -> None:
        """Take note of a change."""
        if self._first is None:
            self._first = now
        self._last = now

    def is_due(self, now: float) -> bool:
        """Tell whether it is time to act."""
        if self._first is None:
            return False
        is_quiet = now - self._last >= self._quiet_seconds
        return is_quiet or now - self._first >= self._longest_seconds

    def acted(self) -> None:
        """Begin anew: whatever changed until now has been acted on."""
        self._first = None
