"""One wording for how long messages are kept, wherever it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnleaf.core.diagnosis import Retention

DATABASE = Path("/d/conversations.db")


@pytest.mark.parametrize(
    ("kept", "span", "words"),
    [
        (Retention(keeps_everything=True), "forever", "every message is kept forever"),
        (Retention(keeps_everything=True, days=1), "1 day", "every message is kept for 1 day"),
        (
            Retention(keeps_everything=True, days=365),
            "365 days",
            "every message is kept for 365 days",
        ),
        (
            Retention(keeps_everything=True, days=1000),
            "1,000 days",
            "every message is kept for 1000 days",
        ),
        (
            Retention(keeps_everything=True, days=0),
            "window",
            "only the latest messages are kept",
        ),
        (
            Retention(keeps_everything=False),
            "window",
            "only the latest messages are kept",
        ),
        (
            Retention(keeps_everything=False, days=365),
            "window",
            "only the latest messages are kept",
        ),
    ],
)
def test_how_long_messages_are_kept(kept: Retention, span: str, words: str) -> None:
    assert (kept.span, kept.describe()) == (span, words)


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (None, "每則訊息都會永久保留，存放在 /d/conversations.db。"),
        (30, "每則訊息會保留 30 天，存放在 /d/conversations.db。"),
        (0, "只保留對話中最近的訊息，存放在 /d/conversations.db。"),
    ],
)
def test_it_is_announced_in_chinese(days: int | None, said: str) -> None:
    assert Retention(keeps_everything=True, days=days).announce(DATABASE, "zh").startswith(said)


def test_it_is_announced_in_english_where_the_terminal_asks_for_what_we_do_not_speak() -> None:
    said = [Retention(keeps_everything=True).announce(DATABASE, name) for name in ("en", "xx", "")]
    assert len({*said}) == 1
