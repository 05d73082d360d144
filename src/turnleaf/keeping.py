"""How long messages are kept here, and how to change that: one wording for every program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.wording import counted

if TYPE_CHECKING:
    from pathlib import Path

    from turnleaf.core.stored_messages import StoredFigures
    from turnleaf.settings import Settings

FOREVER = "forever"
WINDOW = "window"
CHANGE = "turnleaf config conversationKeepDays DAYS"


def find_span(location: Path, settings: Settings) -> str:
    """Return for how long messages are kept: "forever", "N days" or "window"."""
    days = settings.conversation_keep_days
    if location.suffix != ".db" or days == 0:
        return WINDOW
    return FOREVER if days is None else counted(days, "day")


def describe_span(span: str) -> str:
    """Say what `find_span` found."""
    if span == WINDOW:
        return "only what the window of a conversation shows"
    return f"every message, {'for ever' if span == FOREVER else f'for {span}'}"


def describe_figures(figures: StoredFigures) -> str:
    """Say how much there is, and since when."""
    said = (
        f"{counted(figures.conversations, 'conversation')}, {counted(figures.messages, 'message')}"
    )
    since = f", the oldest of {figures.oldest.astimezone():%Y-%m-%d}" if figures.oldest else ""
    return f"{said}{since}, {figures.bytes:,} bytes"


def announce(location: Path, settings: Settings, *, in_chinese: bool) -> str:
    """Say in one line what is kept from now on, where, and how to change that."""
    span = find_span(location, settings)
    if in_chinese:
        return f"{_CHINESE.get(span) or _count_days(settings)}，存放在 {location}；{_HOW_CHINESE}"
    return f"kept: {describe_span(span)}, in {location}; {_HOW}"


_HOW = f"{CHANGE} changes that (0: only the latest messages)"
_HOW_CHINESE = "要更改請用 turnleaf config conversationKeepDays 天數（0 表示只留最近的訊息）"
_CHINESE = {FOREVER: "每則訊息都會永久保留", WINDOW: "只保留對話中最近的訊息"}


def _count_days(settings: Settings) -> str:
    return f"每則訊息會保留 {settings.conversation_keep_days} 天"
