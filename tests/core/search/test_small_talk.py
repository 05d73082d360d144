"""Greetings and thanks are small talk; what asks or states something is not."""

from __future__ import annotations

import pytest

from tests.tables import each
from turnleaf.core.search.message_filters import is_small_talk


@each(
    "text",
    [
        *("hi", "Hello there!", "Good morning", "hey, how are you?", "Thanks, that helps a lot."),
        *("thank you so much 🙏", "ok great", "See you tomorrow!", "yes please", "", "…"),
        *("Can you help me?", "How is your day going?", "HAVE A NICE WEEKEND"),
        *(
            "你好",
            "您好！",
            "早安",
            "謝謝你，很有幫助",
            "谢谢",
            "好的，沒問題",
            "晚安",
            "哈哈哈",
            "在嗎？",
        ),
    ],
)
def test_a_greeting_or_thanks_is_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    [
        *("What is the lamp called?", "thanks, and when is my flight?", "hello 42", "Rex"),
        *("what should I do next weekend?", "tell me a joke", "good " * 40),
        *("小明是什麼?", "謝謝，我的航班幾點？", "客廳的燈叫什麼", "你知道我的生日嗎？"),
    ],
)
def test_what_asks_or_states_something_is_not(text: str) -> None:
    assert not is_small_talk(text)
