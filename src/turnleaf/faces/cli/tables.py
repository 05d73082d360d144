"""Tables: on a terminal as wide as it is, in a pipe one line for each line of text."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnleaf.faces.cli.output import day, one_line, say, visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from turnleaf.core.memories import Memory

PIPE_WIDTH = 1_000_000
GAP = 2
LEAST_WRAPPED = 8
LEAST_LAST = 16


class Column(NamedTuple):
    """A heading and what stands below it; `least` is the width that it cannot do without."""

    heading: str
    cells: Sequence[str]
    least: int
    wraps: bool


def show_memories(memories: Iterable[Memory]) -> None:
    """List memories."""
    rows = [(one.id, day(one.created_at), one.category or "", one.content) for one in memories]
    show(("ID", "Added", "Category", "Memory"), rows, wrapped={"Category"})


def show(
    headings: Sequence[str], rows: Iterable[Sequence[str]], wrapped: Collection[str] = ()
) -> None:
    """Print a table, without the columns that are empty.

    The last may run over several lines, and so may those in `wrapped`. On a terminal that is
    too narrow, columns between the first and the last are left out.
    """
    *others, last = zip(headings, zip(*rows, strict=True), strict=True)
    columns = [_short(*one, wraps=one[0] in wrapped) for one in others if any(one[1])]
    columns.append(Column(last[0], [*map(visible, last[1])], LEAST_LAST, wraps=True))
    console = Console(highlight=False)
    if not sys.stdout.isatty():
        _print_plain(_table(columns, PIPE_WIDTH), PIPE_WIDTH)
    elif console.no_color:
        _print_plain(_table(columns, console.width), console.width)
    else:
        console.print(_table(columns, console.width))


def _short(heading: str, values: Iterable[str], *, wraps: bool) -> Column:
    cells = [one_line(value) for value in values]
    width = max(cell_len(text) for text in (heading, *cells))
    return Column(heading, cells, min(width, LEAST_WRAPPED) if wraps else width, wraps)


def _table(columns: Sequence[Column], width: int) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    shown = _fitting(columns, width)
    spare = width - _least(shown)
    for one in shown:
        most = max(one.least, one.least + spare)
        is_whole = not one.wraps and one.least <= width // 2
        table.add_column(one.heading, no_wrap=is_whole, overflow="fold", max_width=most)
    for row in zip(*(one.cells for one in shown), strict=True):
        table.add_row(*map(Text, row))
    return table


def _fitting(columns: Sequence[Column], width: int) -> Sequence[Column]:
    shown = list(columns)
    while shown[1:-1] and _least(shown) > width:
        del shown[1]
    return shown


def _least(columns: Sequence[Column]) -> int:
    return sum(one.least for one in columns) + GAP * (len(columns) - 1)


def _print_plain(table: Table, width: int) -> None:
    plain = Console(width=width, color_system=None, force_terminal=False)
    with plain.capture() as captured:
        plain.print(table)
    for line in captured.get().splitlines():
        say(line.rstrip())
