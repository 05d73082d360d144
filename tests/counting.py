"""How often functions are called while something is done, without changing any of them."""

from __future__ import annotations

import cProfile
import pstats
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

READ = "<method 'readall' of '_io.FileIO' objects>"


def count_calls(work: Callable[[], object]) -> Counter[str]:
    """Count the calls of functions by module and name, in this thread."""
    calls = Counter[str]()
    for (file, _, name), (_, count, *_) in _profile(work).items():
        calls[f"{Path(file).stem}.{name}"] += count
    return calls


def count_questions(work: Callable[[], object], to: str) -> Counter[str]:
    """Count the calls from the modules right above `store/` to a folder in it, in this thread."""
    calls = Counter[str]()
    for (file, _, name), (*_, callers) in _profile(work).items():
        if f"/store/{to}/" in file:
            asked = [count for (caller, *_), (_, count, *_) in callers.items() if _asks(caller)]
            calls[name] += sum(asked)
    return +calls


def count_reads(work: Callable[[], object]) -> int:
    """Count the files that are read as a whole, in this thread; a record is read from a place."""
    found = _profile(work)
    callers = next(of for key, (*_, of) in found.items() if key[2] == READ)
    return sum(count for (_, _, name), (_, count, *_) in callers.items() if name == "_read")


def _asks(file: str) -> bool:
    return Path(file).parent.name == "turnleaf"


def _profile(work: Callable[[], object]) -> dict[tuple[str, int, str], Any]:
    profile = cProfile.Profile()
    profile.runcall(work)
    found: dict[tuple[str, int, str], Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    return found
