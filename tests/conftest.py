"""What holds for all tests, however they are started."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    """Have Ctrl-C reach the programs that tests start.

    A job that a script starts in the background ignores it, and so would every program below it.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
