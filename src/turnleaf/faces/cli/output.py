"""Output of the commands: results on stdout, all else on stderr, control characters escaped."""

from __future__ import annotations

import json
import logging
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from turnleaf.core.languages.replies import translate
from turnleaf.faces.cli import write_stderr
from turnleaf.settings import find_terminal_locale

if TYPE_CHECKING:
    from collections.abc import Iterator
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
