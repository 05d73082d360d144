"""How long messages are kept here, and how to change that: one wording for every program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.languages.language import DEFAULT, choose_language
from turnleaf.core.languages.replies import FILE, words_in
from turnleaf.core.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from turnleaf.core.stored_messages import StoredFigures
    from turnleaf.settings import Settings

FOREVER = "forever"
WINDOW = "window"


def find_span(location: Path, settings: Settings) -> str:
    """Return for how long messages are kept: "forever", "N days" or "window"."""
    days = settings.conversation_keep_days
    if location.suffix != ".db" or days == 0:
        return WINDOW
    return FOREVER if days is None else counted(days, "day")


def describe_span(span: str, language: str = DEFAULT) -> str:
    """Say what `find_span` found."""
    words = words_in(language, "keeping")
    if span in {FOREVER, WINDOW}:
        return words[span]
    days = int(span.split(maxsplit=1)[0])
    return words["one_day"] if days == 1 else words["days"].format(days)


def describe_figures(figures: StoredFigures) -> str:
    """Say how much there is, and since when."""
    said = (
        f"{counted(figures.conversations, 'conversation')}, {counted(figures.messages, 'message')}"
    )
    since = f", the oldest of {figures.oldest.astimezone():%Y-%m-%d}" if figures.oldest else ""
    return f"{said}{since}, {figures.bytes:,} bytes"


def announce(location: Path, settings: Settings, wanted: str = DEFAULT) -> str:
    """Say in one line what is kept from now on, where, and how to change that.

    That is in the language that is `wanted`, if we have it.
    """
    language = choose_language(wanted, FILE).name
    span = describe_span(find_span(location, settings), language)
    return words_in(language, "keeping")["announced"].format(span, location)
