"""Markdown on a terminal: as it was written, as wide as it is, and nothing in it acts."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.markdown import Markdown, Paragraph
from rich.segment import Segment

from turnleaf.faces.cli.output import visible

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

# What rich would join, or leave out.
AS_WRITTEN = {"softbreak": "hardbreak", "html_inline": "text", "html_block": "code_block"}
WIDE = 2
NEVER_FIRST = frozenset("，。、；：？！）」』》〉】〕…—～·％,.;:?!)]}%”’")
NEVER_LAST = frozenset("（「『《〈【〔([{“‘")


def blocks(markdown: str) -> list[str]:
    """Cut a text into its blocks. What follows can change none of them but the last."""
    tokens = Markdown(markdown).parsed
    starts = [token.map[0] for token in tokens if token.map and not token.level]
    lines = markdown.split("\n")
    cuts = [0, *starts[1:], len(lines)] if starts else []
    return ["\n".join(lines[start:end]) for start, end in pairwise(cuts)]


class Shown:
    """A text in Markdown, without empty lines around it."""

    def __init__(self, markdown: str) -> None:
        self._markdown = _Written(markdown, code_theme="ansi_dark", hyperlinks=False)
        for token in self._markdown.parsed:
            for one in (token, *(token.children or ())):
                one.type = AS_WRITTEN.get(one.type, one.type)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.lines(console, options):
            yield from line
            yield Segment.line()

    def lines(self, console: Console, options: ConsoleOptions) -> list[list[Segment]]:
        """Give it line by line."""
        lines = [_harmless(one) for one in console.render_lines(self._markdown, options, pad=False)]
        filled = [number for number, line in enumerate(lines) if line]
        return lines[filled[0] : filled[-1] + 1] if filled else []


def breaks(text: str, width: int) -> list[int]:
    """Tell where lines end: after a space, or beside a character that is two columns wide."""
    found: list[int] = []
    possible, used = 0, 0
    for place, char in enumerate(text):
        if place and _may_part(text[place - 1], char):
            possible = place
        used += cell_len(char)
        if used > width and not char.isspace():
            start = found[-1] if found else 0
            found.append(possible if possible > start else max(place, start + 1))
            used = cell_len(text[found[-1] : place + 1])
    return found


class _Lines(Paragraph):
    """A paragraph that does not take a sentence in Chinese for one long word."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.split("\n", allow_blank=True):
            for part in line.divide(breaks(line.plain, options.max_width)):
                part.rstrip()
                yield part


class _Written(Markdown):
    elements = Markdown.elements | {"paragraph_open": _Lines}


def _may_part(before: str, after: str) -> bool:
    if before.isspace() or after.isspace():
        return before.isspace()
    widths = {cell_len(before), cell_len(after)}
    is_beside_wide = WIDE in widths and 0 not in widths
    return is_beside_wide and after not in NEVER_FIRST and before not in NEVER_LAST


def _harmless(line: list[Segment]) -> list[Segment]:
    """Write out what acts, also what Markdown names, as in &#x202e;; drop spaces at the end."""
    shown = [Segment(visible(one.text), one.style) for one in line if not one.control]
    while shown and not shown[-1].text.strip():
        shown.pop()
    if shown:
        shown[-1] = Segment(shown[-1].text.rstrip(), shown[-1].style)
    return shown
