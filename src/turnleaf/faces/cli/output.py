"""Output of the commands: results on stdout, all else on stderr, control characters escaped.

A table is as wide as the terminal; in a pipe it has one line for each line of text.
"""

from __future__ import annotations

import json
import logging
import sys
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from turnleaf.core.languages.replies import translate
from turnleaf.faces.cli import write_stderr
from turnleaf.settings import find_terminal_locale

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from datetime import datetime


CONTROLS = (*range(0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0))
DIRECTIONS = (*range(0x200E, 0x2010), *range(0x2028, 0x202F), *range(0x2066, 0x206A))

# A memory may hold anything. On a terminal an escape code would act instead of being seen.
SEEN = {code: f"\\x{code:02x}" for code in CONTROLS}
SEEN |= {code: f"\\u{code:04x}" for code in DIRECTIONS}
SEEN[ord("\t")] = "    "


def escape(text: str) -> str:
    """Replace characters that would act on a terminal by visible ones."""
    return text.translate(SEEN)


def flatten(text: str) -> str:
    """Return a text as one visible line."""
    return escape(" ".join(text.split()))


def shorten(text: str, max_chars: int) -> str:
    """Return a text as one visible line of at most that length, cut with an ellipsis."""
    line = flatten(text)
    return line if len(line) <= max_chars else f"{line[: max_chars - 1]}…"


def format_day(moment: datetime) -> str:
    """Return the local day of a time."""
    return moment.astimezone().date().isoformat()


def format_minute(moment: datetime) -> str:
    """Return the local time to the minute."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def say(text: str = "") -> None:
    """Print a line of the result."""
    sys.stdout.write(escape(text) + "\n")


def localize(text: str) -> str:
    """Return a text of ours in the terminal's language, where that is known."""
    return translate(text, find_terminal_locale())


def note(text: str) -> None:
    """Write a line for the person to stderr, in the terminal's language where that is known."""
    with suppress(OSError):  # What cannot be written now is reported at the end.
        sys.stdout.flush()
    write_stderr(escape(localize(text)))


def complain(text: str) -> None:
    """Write an error to stderr."""
    note(f"error: {text}")


def say_json(value: Any) -> None:  # noqa: ANN401 - whatever JSON takes
    """Print a value for scripts, in a form that every encoding can carry."""
    utf8 = (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
    sys.stdout.write(json.dumps(value, ensure_ascii=not utf8, indent=2) + "\n")


def say_result(value: Any, *lines: str, as_json: bool) -> None:  # noqa: ANN401 - as above
    """Print a result: the value for scripts, or the lines for people."""
    if as_json:
        say_json(value)
        return
    for line in lines:
        say(localize(line))


def format_value(value: object) -> str:
    """Return a setting's value as `config` takes it."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "on" if value else "off"
    return flatten(str(value))


@contextmanager
def show_warnings() -> Iterator[None]:
    """Show the stores' warnings as sentences on stderr."""
    log = logging.getLogger("turnleaf")
    handler = _Notes(logging.WARNING)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


class _Notes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        note(f"{record.levelname.lower()}: {record.getMessage()}")


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


@contextmanager
def show_progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes how many of all are done; the bar shows at its first call."""
    with ExitStack() as stack:
        bar = Progress(console=Console(stderr=True), transient=True)
        task = bar.add_task(localize(doing))

        def tell(done: int, total: int) -> None:
            if sys.stderr.isatty():
                if not bar.live.is_started:
                    stack.enter_context(bar)
                bar.update(task, completed=done, total=total)

        yield tell
