"""Two ways of doing a thing, timed in turn, so that both meet the same disturbances."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TypeAlias

Work: TypeAlias = Callable[[], object]
Batch: TypeAlias = Callable[[], Sequence[Work]]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of one call; CPU includes the time that the system spent on its behalf."""

    wall: float
    cpu: float | None = None


@dataclass(frozen=True, slots=True)
class Aim:
    """The largest ratios, and the longest times, that are good enough."""

    cpu: float | None = None
    wall: float | None = None
    seconds: float | None = None
    cpu_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class TimingRow:
    """What was measured, what it cost, and what the yardstick cost."""

    name: str
    ours: Cost
    yardstick: Cost
    aim: Aim | None = None

    @property
    def cpu_ratio(self) -> float | None:
        """How many times the CPU time of the yardstick."""
        if self.ours.cpu is None or self.yardstick.cpu is None:
            return None
        return self.ours.cpu / self.yardstick.cpu

    @property
    def wall_ratio(self) -> float:
        """How many times the wall time of the yardstick."""
        return self.ours.wall / self.yardstick.wall


def compare(
    ours: Batch,
    yardstick: Batch,
    rounds: int,
    cpu_clock: Callable[[], float] = time.process_time,
) -> tuple[Cost, Cost]:
    """Return the median cost of a call of each; preparing batches is not timed."""
    _time(ours(), cpu_clock)
    _time(yardstick(), cpu_clock)
    first, second = [], []
    for _ in range(rounds):
        first.append(_time(ours(), cpu_clock))
        second.append(_time(yardstick(), cpu_clock))
    return _median(first), _median(second)


def _time(batch: Sequence[Work], cpu_clock: Callable[[], float]) -> Cost:
    gc.collect()
    wall, cpu = time.perf_counter(), cpu_clock()
    for work in batch:
        work()
    cpu, wall = cpu_clock() - cpu, time.perf_counter() - wall
    return Cost(wall / len(batch), cpu / len(batch))


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(median(one.wall for one in costs), median(one.cpu or 0.0 for one in costs))
