"""Tables and dim remarks for a person at a terminal.

A table is as wide as the terminal; in a pipe it has one line for each line of text.
"""

from __future__ import annotations

import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnleaf.faces.cli.output import escape, flatten, localize, say

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

PIPE_WIDTH = 1_000_000
GAP = 2
LEAST_WRAPPED = 8
LEAST_LAST = 16
A_MOMENT_SECONDS = 0.7


class Column(NamedTuple):
    """A heading and its cells; `least` is the smallest width that it can have."""

    heading: str
    cells: Sequence[str]
    least: int
    wraps: bool


def show_table(
    headings: Sequence[str], rows: Iterable[Sequence[str]], wrapped: Collection[str] = ()
) -> None:
    """Print a table without its empty columns.

    The last column wraps, and so do those in `wrapped`. On a terminal that is too narrow,
    columns between the first and the last are left out.
    """
    *others, last = zip(headings, zip(*rows, strict=True), strict=True)
    columns = [_make_column(*one, wraps=one[0] in wrapped) for one in others if any(one[1])]
    columns.append(Column(localize(last[0]), [*map(escape, last[1])], LEAST_LAST, wraps=True))
    console = Console(highlight=False)
    width = console.width if sys.stdout.isatty() else PIPE_WIDTH
    table = _make_table(columns, width)
    if sys.stdout.isatty() and not console.no_color:
        console.print(table)
        return
    plain = Console(width=width, color_system=None, force_terminal=False)
    with plain.capture() as captured:
        plain.print(table)
    for line in captured.get().splitlines():
        say(line.rstrip())


def _make_column(heading: str, values: Iterable[str], *, wraps: bool) -> Column:
    cells = [flatten(value) for value in values]
    width = max(cell_len(text) for text in (localize(heading), *cells))
    return Column(localize(heading), cells, min(width, LEAST_WRAPPED) if wraps else width, wraps)


def _make_table(columns: Sequence[Column], width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    shown = list(columns)
    while shown[1:-1] and _measure(shown) > width:
        del shown[1]
    spare = width - _measure(shown)
    for one in shown:
        most = max(one.least, one.least + spare)
        is_whole = not one.wraps and one.least <= width // 2
        table.add_column(one.heading, no_wrap=is_whole, overflow="fold", max_width=most)
    for row in zip(*(one.cells for one in shown), strict=True):
        table.add_row(*map(Text, row))
    return table


def _measure(columns: Sequence[Column]) -> int:
    return sum(one.least for one in columns) + GAP * (len(columns) - 1)


@contextmanager
def mention_wait(doing: str) -> Iterator[None]:
    """Show on a terminal what is being done, if it takes longer than a moment."""
    timer = threading.Timer(A_MOMENT_SECONDS, murmur, [doing])
    timer.daemon = True
    if sys.stderr.isatty():
        timer.start()
    try:
        yield
    finally:
        timer.cancel()


def label(name: str, width: int) -> str:
    """Return a name of ours in the terminal's language, with spaces up to a width in columns."""
    text = localize(name)
    return text + " " * (width - cell_len(text))


def murmur(line: str) -> None:
    """Write a dim line to the terminal."""
    sys.stdout.flush()
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    console.print(Text(escape(localize(line)), "dim"))
