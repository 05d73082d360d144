"""What holds for all tests, however and whenever they are started."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from tzlocal import reload_localzone

from tests import forker, postgres, scratch
from tests.effort import load_profile


def pytest_configure(config: pytest.Config) -> None:
    """Choose how many examples are tried, and have Ctrl-C reach the programs that tests start.

    A job that a script starts in the background ignores it, and so would every program below it.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("dist", "no") == "no":
        gc.disable()  # Until all tests are collected, which stay to the end.
    load_profile()
    # No key of whoever runs the tests is found, nor sent anywhere.
    os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
    if not hasattr(config, "workerinput"):
        scratch.make_folder(config)
        postgres.choose_folder()
        forker.start()


def pytest_collection_finish() -> None:
    """Keep the garbage collector away from the tests themselves: they stay to the end."""
    gc.collect()
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Keep the files of this run if a test failed, until the next run."""
    if exitstatus == pytest.ExitCode.OK and not hasattr(session.config, "workerinput"):
        atexit.register(scratch.remove_folder)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the PostgreSQL of this run, if a test needed one."""
    postgres.disconnect()
    if not hasattr(config, "workerinput"):
        postgres.remove_server()
        forker.end()


@pytest.fixture
def at_noon() -> Iterator[None]:
    """Put the test into a time zone where it is noon, so that its day does not end meanwhile."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", f"Etc/GMT{datetime.now(UTC).hour - 12:+d}")
        _take_zone()
        yield
    _take_zone()


def _take_zone() -> None:
    """Apply the process's variable TZ."""
    time.tzset()
    reload_localzone()
