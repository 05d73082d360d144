"""`ask`, and streaming an answer: Markdown on a terminal, plain text elsewhere."""

from __future__ import annotations

import json
import os
import stat
import sys
import termios
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click
from rich.cells import cell_len
from rich.console import Console
from rich.live import Live
from rich.markdown import Markdown, Paragraph
from rich.segment import Segment
from rich.text import Text as RichText

from turnleaf.core.keys import cli_key
from turnleaf.core.memories import to_json
from turnleaf.core.model_dialogue import SILENCE_SECONDS, Silence, Text, ToolCall, ToolResult
from turnleaf.core.prompt.composer import Document
from turnleaf.errors import InvalidInput, ModelError
from turnleaf.faces.cli.arguments import (
    TEXT,
    Workspace,
    as_json,
    decode,
    pass_workspace,
    read_piped,
    take_text,
)
from turnleaf.faces.cli.output import escape, flatten, localize, murmur, say_json, shorten
from turnleaf.faces.cli.sessions import (
    CLI,
    list_conversations,
    mention_keeping,
    report_news,
    take_up,
    talk,
)
from turnleaf.turn import Done

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    from rich.console import ConsoleOptions, RenderableType, RenderResult

    from turnleaf.assistant import Assistant
    from turnleaf.learning import LearnedFact
    from turnleaf.turn import Reply, TurnEvent

GOES_ON_FOR = timedelta(hours=1)
FRAMES_PER_SECOND = 10
MAX_HINT_CHARS = 100
LONG_WAIT_SECONDS = 8
"""After so long without a word it is said what the model does."""
LOCAL_FLAGS = 3
NO_MODEL = (
    "No model is set up, so answers only quote what is remembered. To choose a model, run: "
    "turnleaf setup"
)

# What rich would join, or leave out.
AS_WRITTEN = {"softbreak": "hardbreak", "html_inline": "text", "html_block": "code_block"}
WIDE = 2
NEVER_FIRST = frozenset("，。、；：？！）」』》〉】〕…—～·％,.;:?!)]}%”’")
NEVER_LAST = frozenset("（「『《〈【〔([{“‘")


@click.command()
@click.argument("words", metavar="[TEXT]...", nargs=-1, type=TEXT)
@click.option("--new", is_flag=True, help="Start a new conversation.")
@click.option(
    "--resume", metavar="WHICH", type=TEXT, help="Continue this conversation: number, key or title."
)
@click.option(
    "--conversation", metavar="NAME", type=TEXT, help="Use the conversation of this name."
)
@click.option(
    "--model", metavar="NAME", type=TEXT, help="Answer with this model in this conversation."
)
@click.option("--no-memory", is_flag=True, help="Store, learn and look up nothing.")
@click.option(
    "--system", metavar="TEXT", type=TEXT, default="", help="Instructions for this answer."
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Attach this text file (repeatable); - reads standard input.",
)
@click.option("--keep-secrets", is_flag=True, help="Remember passwords and codes unmasked.")
@as_json
@pass_workspace
def ask(  # noqa: PLR0913 - the options of a command
    workspace: Workspace,
    words: tuple[str, ...],
    files: tuple[str, ...],
    resume: str | None,
    conversation: str | None,
    system: str,
    model: str | None,
    *,
    new: bool,
    no_memory: bool,
    keep_secrets: bool,
    as_json: bool,
) -> None:
    """Ask the assistant one question.

    Without TEXT, or with -, the question is read from standard input; with TEXT, piped input is
    attached to the question. The latest conversation of the command line is continued if it is less
    than an hour old. WHICH is a number in turnleaf history, a key, or the beginning of a title.
    NAME is any name; if no conversation has it, a new one is started.

    \b
    turnleaf ask What is the lamp in the living room called?
    turnleaf ask --file notes.txt What did we decide?
    cat notes.txt | turnleaf ask What is the code?
    turnleaf ask --model ollama:qwen3 --new 你好
    """  # noqa: D301 - click reads the character, not its name
    if sum((resume is not None, conversation is not None, new or no_memory)) > 1:
        message = "use only one of --resume, --conversation, --new and --no-memory"
        raise InvalidInput(message)
    documents = [_read_document(file) for file in files]
    if words and list(words) != ["-"] and "-" not in files:
        documents += _read_pipe()
    text = take_text(words)
    if not text.strip():
        message = "the question is empty; type some text"
        raise InvalidInput(message)
    if not no_memory:
        mention_keeping(workspace)
    with talk(workspace, flush=False) as assistant:
        key = (
            f"{CLI}{conversation}"
            if conversation is not None
            else _choose_key(assistant, resume, is_new=new or no_memory)
        )
        stream = assistant.stream(
            key,
            text,
            private=no_memory,
            documents=documents,
            instructions=system,
            resume=resume is not None or conversation is not None,
            keep_secrets=keep_secrets,
            model=model,
        )
        if as_json:
            reply = next(event.reply for event in stream if isinstance(event, Done))
        else:
            reply = show_answer(stream)
    news = report_news(assistant, undo="turnleaf undo")
    if as_json:
        say_json(_make_record(key, reply, news))


def _choose_key(assistant: Assistant, resume: str | None, *, is_new: bool) -> str:
    if resume is not None:
        return take_up(assistant, resume)
    now = datetime.now(UTC)
    if is_new:
        return cli_key(now)
    recent = [one for one in list_conversations(assistant) if now - one.updated_at < GOES_ON_FOR]
    return recent[0].key if recent else cli_key(now)


def _read_pipe() -> list[Document]:
    """Return what is piped in beside a question; a terminal or no input at all is not read."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return []
    is_piped = stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
    text = read_piped() if is_piped else ""
    return [Document("stdin", text)] if text.strip() else []


def _read_document(file: str) -> Document:
    if file == "-":
        return Document("stdin", read_piped())
    path = Path(file)
    return Document(path.name, decode(path.read_bytes(), file))


def _make_record(key: str, reply: Reply, news: Sequence[LearnedFact]) -> dict[str, Any]:
    usage = reply.usage
    return {
        "text": reply.text,
        "conversation": key,
        "question": reply.question_id,
        "answer": reply.answer_id,
        "asksToKeep": reply.asks_to_keep,
        "saved": [to_json(memory) for memory in reply.saved],
        "removed": [to_json(memory) for memory in reply.removed],
        "learnt": [
            {
                "action": one.action,
                "memory": to_json(one.memory),
                "before": one.before and to_json(one.before),
                "quote": one.quote,
            }
            for one in news
        ],
        "usage": usage
        and {
            "inputTokens": usage.input_tokens,
            "outputTokens": usage.output_tokens,
            "contextWindow": usage.context_window,
        },
    }


def show_answer(stream: Generator[TurnEvent]) -> Reply:
    """Show an answer to its end; an interruption stops the model."""
    with ExitStack() as stack:
        stack.callback(stream.close)
        stack.enter_context(_stop_echo())
        voice = stack.enter_context(_choose_voice())
        silent = 0.0
        for event in stream:
            silent = silent + SILENCE_SECONDS if isinstance(event, Silence) else 0.0
            if isinstance(event, Silence):
                voice.wait(silent)
            elif isinstance(event, Text):
                voice.say(event.text)
            elif isinstance(event, ToolCall):
                voice.hint(_describe_call(event))
            elif isinstance(event, ToolResult):
                voice.hint(_describe_failure(event))
            elif isinstance(event, Done):
                stack.close()
                _mention_lack(event.reply)
                return event.reply
    message = "the assistant ended without an answer; ask again"
    raise ModelError(message)


def _mention_lack(reply: Reply) -> None:
    """Mention on a terminal that no model is set up, once in a conversation, and how to add one."""
    if reply.lacks_model and sys.stderr.isatty():
        murmur(NO_MODEL)


@contextmanager
def _stop_echo() -> Iterator[None]:
    """Turn the terminal's echo off, so that typing does not show up in the answer."""
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


def _describe_call(call: ToolCall) -> str:
    arguments = ", ".join(f"{name}: {value}" for name, value in call.arguments.items())
    return shorten(f"{call.name} {arguments}", MAX_HINT_CHARS)


def _describe_failure(done: ToolResult) -> str:
    try:
        result = json.loads(done.result)
    except ValueError:
        return ""
    if isinstance(result, dict) and result.get("success") is False:
        reason = result.get("error", "no reason given")
        return shorten(localize(f"{done.name} failed: {reason}"), MAX_HINT_CHARS)
    return ""


def _choose_voice() -> PlainVoice:
    console = Console(highlight=False)
    is_capable = sys.stdout.isatty() and not console.is_dumb_terminal
    return MarkdownVoice(console) if is_capable else PlainVoice()


class PlainVoice:
    """Shows an answer as plain text."""

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
            self._write(escape(text))

    def hint(self, line: str) -> None:
        """Ignore the hint: the output is the answer alone."""

    def wait(self, seconds: float) -> None:
        """Ignore the silence."""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()
        self._last = text[-1]


class MarkdownVoice(PlainVoice):
    """Shows growing Markdown: finished blocks stay, the unfinished one below is redrawn."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = _Calm(
            RichText("…", "dim"),
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
        self._open += escape(text)
        if "\n" in text:
            *done, self._open = cut_blocks(self._open) or [self._open]
        is_apart = bool(done or self._before)
        self._settle(map(Shown, done), _Tail(self._open, is_apart=is_apart))

    def hint(self, line: str) -> None:
        """Show a dim line below the text so far, unless it is empty."""
        if line:
            self._finish()
            quiet = RichText(f"· {flatten(line)}", "dim")
            quiet.truncate(self._console.width, overflow="ellipsis")
            self._settle([quiet], RichText("…", "dim"))

    def wait(self, seconds: float) -> None:
        """Show what takes long before a word is said: a model on this machine reads slowly."""
        if seconds >= LONG_WAIT_SECONDS and not self._open:
            line = localize(f"The model is reading the prompt… ({int(seconds)} s)")
            self._live.update(RichText(line, "dim"), refresh=True)

    def _finish(self) -> None:
        self._settle(map(Shown, cut_blocks(self._open)), RichText(""))
        self._open = ""

    def _settle(self, done: Iterable[Shown | RichText], below: RenderableType) -> None:
        lines: list[Shown | RichText] = []
        for block in done:
            is_apart = self._before is Shown or self._before not in (None, type(block))
            lines += [RichText(""), block] if is_apart else [block]
            self._before = type(block)
        self._live.settle(lines, below)


class _Calm(Live):
    """A live display that draws nothing twice."""

    _drawn: object = None

    def refresh(self) -> None:
        """Draw it."""
        current = self.get_renderable()
        if current is not self._drawn or not self.is_started:
            self._drawn = current
            super().refresh()

    def settle(self, done: Sequence[RenderableType], below: RenderableType) -> None:
        """Print finished blocks and the live one below them in one step."""
        if not done:
            self.update(below)
            return
        with self._lock, self.console:
            self.update(RichText(""), refresh=True)
            for block in done:
                self.console.print(block)
            self.update(below, refresh=True)


class Shown:
    """A text in Markdown, without empty lines around it."""

    def __init__(self, markdown: str) -> None:
        self._text = markdown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._draw_lines(console, options):
            yield from line
            yield Segment.line()

    def _draw_lines(self, console: Console, options: ConsoleOptions) -> list[list[Segment]]:
        markdown = _AnswerMarkdown(self._text, code_theme="ansi_dark", hyperlinks=False)
        for token in markdown.parsed:
            for one in (token, *(token.children or ())):
                one.type = AS_WRITTEN.get(one.type, one.type)
        drawn = console.render_lines(markdown, options, pad=False)
        lines = [_make_harmless(one) for one in drawn]
        filled = [number for number, line in enumerate(lines) if line]
        return lines[filled[0] : filled[-1] + 1] if filled else []


class _Tail(Shown):
    """The end of a text, as much as fits on the screen."""

    def __init__(self, markdown: str, *, is_apart: bool) -> None:
        super().__init__(markdown)
        self._gap: list[list[Segment]] = [[]] if is_apart else []

    def _draw_lines(self, console: Console, options: ConsoleOptions) -> list[list[Segment]]:
        lines = [*self._gap, *super()._draw_lines(console, options)]
        return lines[-max(1, options.size.height - 2) :]


class _Lines(Paragraph):
    """A paragraph that also breaks lines between Chinese characters."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self.text.split("\n", allow_blank=True):
            for part in line.divide(find_breaks(line.plain, options.max_width)):
                part.rstrip()
                yield part


class _AnswerMarkdown(Markdown):
    elements = Markdown.elements | {"paragraph_open": _Lines}


def cut_blocks(markdown: str) -> list[str]:
    """Cut a text into blocks; text that is added can change only the last of them."""
    tokens = Markdown(markdown).parsed
    starts = [token.map[0] for token in tokens if token.map and not token.level]
    lines = markdown.split("\n")
    cuts = [0, *starts[1:], len(lines)] if starts else []
    return ["\n".join(lines[start:end]) for start, end in pairwise(cuts)]


def find_breaks(text: str, width: int) -> list[int]:
    """Return where lines end: after a space, or beside a character that is two columns wide."""
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


def _may_part(before: str, after: str) -> bool:
    if before.isspace() or after.isspace():
        return before.isspace()
    widths = {cell_len(before), cell_len(after)}
    is_beside_wide = WIDE in widths and 0 not in widths
    return is_beside_wide and after not in NEVER_FIRST and before not in NEVER_LAST


def _make_harmless(line: list[Segment]) -> list[Segment]:
    """Escape control characters, also those from entities such as &#x202e;; strip the end."""
    shown = [Segment(escape(one.text), one.style) for one in line if not one.control]
    while shown and not shown[-1].text.strip():
        shown.pop()
    if shown:
        shown[-1] = Segment(shown[-1].text.rstrip(), shown[-1].style)
    return shown
