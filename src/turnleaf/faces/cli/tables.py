"""Tables: on a terminal as wide as it is, in a pipe one line for each line of text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from turnleaf.faces.cli.output import day, say, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from turnleaf.core.memories import Memory

PIPE_WIDTH = 1_000_000


def show_memories(memories: Iterable[Memory], marked: str = "") -> None:
    """List memories, each place that matches `marked` set off."""
    rows = [
        (one.id, day(one.created_at), one.category or "", _set_off(one.content, marked))
        for one in memories
    ]
    show(("ID", "Added", "Category", "Memory"), rows)


def show(headings: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> None:
    """Print a table, without the columns that are empty; the last may run over several lines."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    cells = [[_cell(value) for value in row] for row in rows]
    filled = [number for number in range(len(headings)) if any(row[number] for row in cells)]
    for number in filled:
        table.add_column(headings[number], no_wrap=number < filled[-1], overflow="fold")
    for row in cells:
        table.add_row(*(row[number] for number in filled))
    _print(table)


def _cell(value: str | Text) -> Text:
    return value if isinstance(value, Text) else Text(visible(value))


def _set_off(content: str, marked: str) -> Text:
    text = Text(visible(content))
    if marked:
        pattern = re.compile(re.escape(visible(marked)), re.IGNORECASE)
        text.highlight_regex(pattern, "bold yellow")
    return text


def _print(table: Table) -> None:
    console = Console(highlight=False)
    if console.is_terminal and not console.no_color:
        console.print(table)
        return
    width = console.width if console.is_terminal else PIPE_WIDTH
    plain = Console(width=width, color_system=None, force_terminal=False)
    with plain.capture() as captured:
        plain.print(table)
    for line in captured.get().splitlines():
        say(line.rstrip())
