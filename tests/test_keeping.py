"""One wording for what is kept, wherever it is said."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from turnleaf.core.stored_messages import StoredFigures
from turnleaf.keeping import announce, describe_figures, describe_span, find_span
from turnleaf.settings import Settings, find_terminal_language

DATABASE, FILE = Path("/d/conversations.db"), Path("/d/conversations.json")


@pytest.mark.parametrize(
    ("location", "days", "span"),
    [
        (DATABASE, None, "forever"),
        (DATABASE, 1, "1 day"),
        (DATABASE, 365, "365 days"),
        (DATABASE, 0, "window"),
        (FILE, None, "window"),
        (FILE, 365, "window"),
    ],
)
def test_how_long_messages_are_kept(location: Path, days: int | None, span: str) -> None:
    assert find_span(location, Settings(conversation_keep_days=days)) == span


def test_a_span_is_said_in_words() -> None:
    assert describe_span("forever") == "every message, for ever"
    assert describe_span("3 days") == "every message, for 3 days"
    assert describe_span("window") == "only what the window of a conversation shows"


def test_figures_are_said_with_the_day_of_the_oldest_message() -> None:
    noon = datetime(2026, 3, 1, 12, tzinfo=UTC)
    said = describe_figures(StoredFigures(40_960, 1, 1_200, noon))
    assert said == "1 conversation, 1,200 messages, the oldest of 2026-03-01, 40,960 bytes"
    assert describe_figures(StoredFigures(0, 0, 0, None)) == "0 conversations, 0 messages, 0 bytes"


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (None, "每則訊息都會永久保留，存放在 /d/conversations.db；"),
        (30, "每則訊息會保留 30 天，存放在 /d/conversations.db；"),
        (0, "只保留對話中最近的訊息，存放在 /d/conversations.db；"),
    ],
)
def test_it_is_announced_in_chinese(days: int | None, said: str) -> None:
    settings = Settings(conversation_keep_days=days)
    assert announce(DATABASE, settings, "zh").startswith(said)


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({}, ""),
        ({"LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": ""}, "zh"),
    ],
)
def test_the_language_is_the_one_of_the_terminal(environ: dict[str, str], language: str) -> None:
    assert find_terminal_language(environ) == language


def test_it_is_announced_in_english_where_the_terminal_asks_for_what_we_do_not_speak() -> None:
    said = [announce(DATABASE, Settings(), name) for name in ("en", "xx", "")]
    assert len({*said}) == 1
