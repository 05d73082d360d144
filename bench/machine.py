"""Where the figures come from."""

from __future__ import annotations

import os
import platform

import apsw

from turnleaf.store import token_vocabulary


def describe() -> str:
    """Name the machine, and how busy it is, in a line."""
    system = f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}"
    versions = f"Python {platform.python_version()}, SQLite {apsw.sqlite_lib_version()}"
    return f"{system}, {versions}, tokens: {token_vocabulary.describe()}, load {load():.1f}"


def load() -> float:
    """Return the mean number of runnable processes in the last minute."""
    return os.getloadavg()[0]
