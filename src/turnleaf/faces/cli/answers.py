"""An answer as it comes: Markdown on a terminal, plain text elsewhere, nothing that acts."""

from __future__ import annotations

import json
import sys
import termios
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol, Self

from rich.console import Console
from rich.live import Live
from rich.segment import Segment
from rich.text import Text as Line

from turnleaf.assistant import Done
from turnleaf.core.dialogue import Text, ToolCall, ToolResult
from turnleaf.errors import ModelError
from turnleaf.faces.cli.markdown import Shown, blocks
from turnleaf.faces.cli.output import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from rich.console import ConsoleOptions, RenderableType, RenderResult

    from turnleaf.assistant import Composed, Reply
    from turnleaf.core.dialogue import Event

FRAMES_PER_SECOND = 10
MAX_HINT_CHARS = 100
LOCAL_FLAGS = 3


def show_answer(stream: Generator[Event | Composed | Done]) -> Reply:
    """Show an answer to its end; what interrupts it, also stops the model."""
    with ExitStack() as stack:
        stack.callback(stream.close)
        stack.enter_context(_without_echo())
        speaker = stack.enter_context(voice())
        for event in stream:
            if isinstance(event, Text):
                speaker.say(event.text)
            elif isinstance(event, ToolCall):
                speaker.hint(_called(event))
            elif isinstance(event, ToolResult):
                speaker.hint(_failed(event))
            elif isinstance(event, Done):
                return event.reply
    message = "the assistant ended without an answer; ask again"
    raise ModelError(message)


@contextmanager
def _without_echo() -> Iterator[None]:
    """Keep what is typed meanwhile from being written into the answer."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        yield
        return
    before = termios.tcgetattr(sys.stdin)
    quiet = [*before]
    quiet[LOCAL_FLAGS] &= ~termios.ECHO
    termios.tcsetattr(sys.stdin, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSANOW, before)


class Voice(AbstractContextManager["Voice"], Protocol):
    """How an answer is shown."""

    def say(self, text: str) -> None:
        """Show the next piece."""

    def hint(self, line: str) -> None:
        """Tell quietly of something beside the answer; nothing where the line is empty."""


def voice() -> Voice:
    """Give what suits the output."""
    console = Console(highlight=False)
    is_capable = sys.stdout.isatty() and not console.is_dumb_terminal
    return MarkdownVoice(console) if is_capable else PlainVoice()


class PlainVoice:
    """The text and nothing else."""

    def __init__(self) -> None:
        self._last = "\n"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._last != "\n":
            self._write("\n")

    def say(self, text: str) -> None:
        """Show the next piece."""
        if text:
            self._write(visible(text))

    def hint(self, line: str) -> None:
        """Keep it out of the text."""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
        self._last = text[-1]


class MarkdownVoice:
    """Markdown that grows: finished blocks stay, the unfinished one below them is drawn anew."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = _Calm(
            Line("…", "dim"),
            console=console,
            transient=True,
            refresh_per_second=FRAMES_PER_SECOND,
            vertical_overflow="visible",
        )
        self._open = ""
        self._before: type | None = None

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._finish()
        self._live.stop()

    def say(self, text: str) -> None:
        """Show the next piece."""
        done: list[str] = []
        self._open += visible(text)
        if "\n" in text:
            *done, self._open = blocks(self._open) or [self._open]
        is_apart = bool(done or self._before)
        self._settle(map(Shown, done), _Tail(self._open, is_apart=is_apart))

    def hint(self, line: str) -> None:
        """Show it dimly, below what was said so far."""
        if line:
            self._finish()
            quiet = Line(f"· {one_line(line)}", "dim")
            quiet.truncate(self._console.width, overflow="ellipsis")
            self._settle([quiet], Line("…", "dim"))

    def _finish(self) -> None:
        self._settle(map(Shown, blocks(self._open)), Line(""))
        self._open = ""

    def _settle(self, done: Iterable[Shown | Line], below: RenderableType) -> None:
        lines: list[Shown | Line] = []
        for block in done:
            is_apart = self._before is Shown or self._before not in (None, type(block))
            lines += [Line(""), block] if is_apart else [block]
            self._before = type(block)
        self._live.settle(lines, below)


class _Tail:
    """What of a text fits on the screen: its end."""

    def __init__(self, markdown: str, *, is_apart: bool) -> None:
        self._text = markdown
        self._gap: list[list[Segment]] = [[]] if is_apart else []

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = [*self._gap, *Shown(self._text).lines(console, options)]
        for line in lines[-max(1, options.size.height - 2) :]:
            yield from line
            yield Segment.line()


class _Calm(Live):
    """A live display that draws what is new, and nothing twice."""

    _drawn: object = None

    def refresh(self) -> None:
        """Draw it."""
        current = self.get_renderable()
        if current is not self._drawn or not self.is_started:
            self._drawn = current
            super().refresh()

    def settle(self, done: Sequence[RenderableType], below: RenderableType) -> None:
        """Print what stays, and what is live below it, in one step."""
        if not done:
            self.update(below)
            return
        with self._lock, self.console:
            self.update(Line(""), refresh=True)
            for block in done:
                self.console.print(block)
            self.update(below, refresh=True)


def _called(call: ToolCall) -> str:
    given = ", ".join(f"{name}: {value}" for name, value in call.arguments.items())
    return _short(f"{call.name} {given}")


def _failed(done: ToolResult) -> str:
    try:
        result = json.loads(done.result)
    except ValueError:
        return ""
    if isinstance(result, dict) and result.get("success") is False:
        return _short(f"{done.name} failed: {result.get('error', 'no reason given')}")
    return ""


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= MAX_HINT_CHARS else f"{line[: MAX_HINT_CHARS - 1]}…"
