"""Measure, and print the figures: `python -m bench`, from the root of the repository."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

from bench import (
    erasing,
    exchange,
    indexing,
    machine,
    mcp,
    memory,
    messages,
    plot,
    reading,
    repetition,
    search,
    server,
    start,
    table,
    trimming,
    turn,
    vectors,
    writers,
)
from bench.scale import FULL, QUICK, Scale
from bench.timing import TimingRow

Subject: TypeAlias = Callable[[Path, Scale], Iterable[TimingRow]]

SUBJECTS: dict[str, Subject] = {
    "exchange": exchange.rows,
    "reading": reading.rows,
    "trimming": trimming.rows,
    "erasing": erasing.rows,
    "memory": memory.rows,
    "writers": writers.rows,
    "start": start.rows,
    "mcp": mcp.rows,
    "search": search.rows,
    "vectors": vectors.rows,
    "indexing": indexing.rows,
    "messages": messages.rows,
    "turn": turn.rows,
    "repetition": repetition.rows,
    "server": server.rows,
}


def main() -> None:
    """Measure what is asked for, and print one table."""
    options = _options()
    scale = QUICK if options.quick else FULL
    before = machine.describe()
    measure = SUBJECTS | {"server": partial(server.rows, seconds=options.seconds)}
    chosen = {name: measure[name] for name in options.subjects or SUBJECTS}
    rows = list(_measure(chosen, scale))
    print(before, f"at the beginning, {machine.load():.1f} in the end", end="\n\n")
    print(table.markdown(rows) if options.markdown else table.plain(rows))
    if options.plot:
        options.plot.write_text(plot.svg(search.curves(rows, scale), "passages"), "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("subjects", nargs="*", metavar="SUBJECT", help=", ".join(SUBJECTS))
    parser.add_argument("--quick", action="store_true", help="few rounds, small stores")
    parser.add_argument("--markdown", action="store_true", help="print a Markdown table")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw how search grows, as SVG")
    parser.add_argument("--seconds", type=float, help="for how long clients ask the server at once")
    options = parser.parse_args()
    unknown = set(options.subjects) - set(SUBJECTS)
    if unknown:
        parser.error(f"{', '.join(sorted(unknown))}: not one of {', '.join(SUBJECTS)}")
    if options.plot and "search" not in (options.subjects or SUBJECTS):
        parser.error("--plot draws what the subject search measures")
    return options


def _measure(subjects: Mapping[str, Subject], scale: Scale) -> Iterator[TimingRow]:
    """Measure on the disk that the repository is on: what is in memory costs no fsync."""
    build = Path("build")
    build.mkdir(exist_ok=True)
    with TemporaryDirectory(prefix="bench-", dir=build) as folder:
        for name, measure in subjects.items():
            since = time.monotonic()
            yield from measure(Path(folder), scale)
            print(f"{name}: measured in {time.monotonic() - since:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
