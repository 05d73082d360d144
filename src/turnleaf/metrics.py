"""What this process counts about itself, and its text form for Prometheus.

Every layer may count here, as it may log; only the HTTP server shows it. A label's value is a word
that the program itself knows, such as a route's template: never something that anybody sent.
"""

from __future__ import annotations

import os
import resource
import time
from bisect import bisect_left
from contextlib import contextmanager
from pathlib import Path
from threading import Lock, active_count
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 120.0)
INFINITE = "+Inf"

T = TypeVar("T")
_STARTED = time.time()


class Figure:
    """A counter or a gauge: a number for each combination of its labels."""

    def __init__(self, name: str, kind: str, about: str, labels: Sequence[str] = ()) -> None:
        self.name = name
        self.kind = kind
        self.about = about
        self._labels = tuple(labels)
        self._lock = Lock()
        # Without labels there is one number, and it is shown before anything was counted.
        self._values: dict[tuple[str, ...], float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, amount: float = 1) -> None:
        """Count something."""
        with self._lock:
            self._values[labels] = self._values.get(labels, 0.0) + amount

    def set(self, value: float) -> None:
        """Replace the number of a gauge without labels."""
        with self._lock:
            self._values = {(): value}

    def write(self) -> Iterator[str]:
        """Yield its lines."""
        with self._lock:
            values = sorted(self._values.items())
        yield from _write_head(self.name, self.kind, self.about)
        for labels, value in values:
            yield _write_line(self.name, zip(self._labels, labels, strict=True), value)


class Histogram:
    """How often something took how long, for each combination of its labels."""

    def __init__(self, name: str, about: str, labels: Sequence[str]) -> None:
        self.name = name
        self.about = about
        self._labels = tuple(labels)
        self._lock = Lock()
        self._counts: dict[tuple[str, ...], list[int]] = {}
        self._sums: dict[tuple[str, ...], float] = {}

    def observe(self, *labels: str, seconds: float) -> None:
        """Count something that took so long."""
        with self._lock:
            counts = self._counts.setdefault(labels, [0] * (len(SECONDS) + 1))
            counts[bisect_left(SECONDS, seconds)] += 1
            self._sums[labels] = self._sums.get(labels, 0.0) + seconds

    def write(self) -> Iterator[str]:
        """Yield its lines."""
        with self._lock:
            found = [(one, [*self._counts[one]], self._sums[one]) for one in sorted(self._counts)]
        yield from _write_head(self.name, "histogram", self.about)
        for labels, counts, total in found:
            own = [*zip(self._labels, labels, strict=True)]
            below = 0
            for most, count in zip((*map(str, SECONDS), INFINITE), counts, strict=True):
                below += count
                yield _write_line(f"{self.name}_bucket", [*own, ("le", most)], below)
            yield _write_line(f"{self.name}_sum", own, total)
            yield _write_line(f"{self.name}_count", own, below)


REQUESTS = Figure(
    "turnleaf_http_requests_total", "counter", "HTTP requests by route, method and status class.",
    ("route", "method", "status"),
)  # fmt: skip
REQUEST_SECONDS = Histogram(
    "turnleaf_http_request_seconds",
    "Seconds until a response was complete; of an event stream until it began.",
    ("route", "method"),
)
TURNS_UNDER_WAY = Figure("turnleaf_turns_under_way", "gauge", "Turns that are being answered.")
TURNS = Figure("turnleaf_turns_total", "counter", "Turns that are over.", ("outcome",))
MODEL_CALLS = Figure(
    "turnleaf_model_calls_total", "counter",
    "Requests to models; the outcome is ok, stopped or the kind of failure.",
    ("provider", "purpose", "outcome"),
)  # fmt: skip
MODEL_TOKENS = Figure(
    "turnleaf_model_tokens_total", "counter", "Tokens as providers count them.",
    ("provider", "purpose", "direction"),
)  # fmt: skip
COUNTED = (REQUESTS, REQUEST_SECONDS, TURNS_UNDER_WAY, TURNS, MODEL_CALLS, MODEL_TOKENS)


def count_turn(events: Generator[T]) -> Generator[T]:
    """Yield the events of a turn, and count it."""
    outcome = "failed"
    TURNS_UNDER_WAY.add()
    try:
        yield from events
        outcome = "whole"
    # A reader who closes the answer has stopped it, which is no failure.
    except (GeneratorExit, KeyboardInterrupt):
        outcome = "stopped"
        raise
    finally:
        TURNS_UNDER_WAY.add(amount=-1)
        TURNS.add(outcome)


@contextmanager
def count_call(provider: str, purpose: str) -> Iterator[None]:
    """Count a request to a model; a failure may have a `kind`."""
    outcome = "ok"
    try:
        yield
    except (GeneratorExit, KeyboardInterrupt):
        outcome = "stopped"
        raise
    except Exception as error:
        outcome = getattr(error, "kind", None) or "unexpected"
        raise
    finally:
        MODEL_CALLS.add(provider, purpose, outcome)


def count_tokens(provider: str, purpose: str, *, taken: int, given: int) -> None:
    """Count the tokens that a model took in and gave out."""
    MODEL_TOKENS.add(provider, purpose, "input", amount=taken)
    MODEL_TOKENS.add(provider, purpose, "output", amount=given)


def write_metrics(gauges: Mapping[str, tuple[str, float]]) -> str:
    """Return everything that was counted, and gauges by name with what they mean."""
    lines = [line for one in COUNTED for line in one.write()]
    for name, (about, value) in {**gauges, **_measure_process()}.items():
        kind = "counter" if name.endswith("_total") else "gauge"
        lines += [*_write_head(name, kind, about), _write_line(name, (), value)]
    return "\n".join([*lines, ""])


def _measure_process() -> dict[str, tuple[str, float]]:
    """Return what the system knows of this process, under the names that Prometheus gives it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    found = {
        "process_cpu_seconds_total": ("CPU time in seconds.", used.ru_utime + used.ru_stime),
        "process_start_time_seconds": ("Start in seconds since 1970.", _STARTED),
        "turnleaf_process_threads": ("Threads of Python.", float(active_count())),
    }
    own = Path("/proc/self")
    if own.exists():  # Not on every system.
        pages = int((own / "statm").read_text("ascii").split()[1])
        memory = float(pages * os.sysconf("SC_PAGE_SIZE"))
        found["process_resident_memory_bytes"] = ("Memory in bytes.", memory)
        found["process_open_fds"] = ("Open files.", float(sum(1 for _ in (own / "fd").iterdir())))
    return found


def _write_head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP {name} {about}"
    yield f"# TYPE {name} {kind}"


def _write_line(name: str, labels: Iterable[tuple[str, str]], value: float) -> str:
    shown = ",".join(f'{label}="{_escape(text)}"' for label, text in labels)
    number = str(int(value)) if float(value).is_integer() else repr(float(value))
    return f"{name}{{{shown}}} {number}" if shown else f"{name} {number}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
