"""A question is no evidence, and neither is an answer that nothing was found."""

from __future__ import annotations

import pytest

from tests.tables import each
from turnleaf.core.languages.replies import find_replies
from turnleaf.core.search.message_filters import asks_again, is_question, says_nothing

RECALL = [find_replies(name, "recall") for name in ("en", "zh")]


@pytest.mark.parametrize(
    "text",
    [
        *("What is the lamp called?", "what is the lamp called", "Is Elise vegan?", "really?"),
        *("燈叫什麼名字？", "小明是誰", "你記得嗎？", "我的生日是哪天呢"),
    ],
)
def test_a_message_that_only_asks_is_a_question(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        *("The lamp is called Ming.", "I moved to Taipei. What is the weather there?", ""),
        *("客廳的燈叫做小明", "我搬到台北了。天氣怎麼樣？", "?" + "a" * 10_000),
    ],
)
def test_a_message_that_states_something_is_no_question(text: str) -> None:
    assert not is_question(text)


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ("What is the lamp called?", "what is the lamp called"),
        ("What's the lamp called?", "What is the lamp in the kitchen called?"),
        ("tell me about the lamp", "Tell me about the lamp"),
        ("燈叫什麼名字？", "客廳的燈叫什麼名字？"),
        ("灯叫什么名字？", "燈叫什麼名字？"),
    ],
)
def test_an_earlier_message_may_only_ask_what_is_asked_now(earlier: str, now: str) -> None:
    assert asks_again(earlier, now)


@pytest.mark.parametrize(
    ("earlier", "now"),
    [
        ("The lamp is called Ming.", "Is the lamp called Ming?"),
        ("Is the lamp from the flea market in Lyon?", "What is the lamp called?"),
        ("客廳的燈叫做小明", "小明是什麼？"),
    ],
)
def test_a_statement_and_another_question_are_not_the_same(earlier: str, now: str) -> None:
    assert not asks_again(earlier, now)


@each(
    "text",
    [
        *("Sorry, I do not know that.", "I don't know.", "I’m sorry, but I can't find that."),
        "I don't have any information about that. Could you tell me more?",
        "Unfortunately, there is no record of it.",
        *("我不知道", "沒有相關的內容。", "抱歉，我找不到關於這件事的記錄，請再告訴我一次。"),
        *(f"{words['found']}\n- The lamp is called Ming" for words in RECALL),
        *(words["nothing"] for words in RECALL),
        *(words["heard"] for words in RECALL),
        *(f"{words['noted']}\n- 燈叫小明" for words in RECALL),
        *("Remembered: the lamp is called Ming", "已記住：燈叫小明", "Forgotten: the lamp"),
        *("已记住：灯叫小明", "我已經記得：燈叫小明", "已忘掉：燈叫小明"),
    ],
)
def test_an_answer_that_nothing_was_found_or_that_quotes_says_nothing(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "This is remembered about it:\n- The lamp is called Ming (memory, MEMORY.md:3)",
        "Nothing is remembered about that.\n\n(No model is set up, so I only quote.)",
        "I have no model to answer with, and nothing is remembered about that.",
        "I will learn this from our conversation:\n- The lamp is called Ming",
        *("我會從這次對話學到：\n- 燈叫小明", "我会从这次对话学到：\n- 灯叫小明"),
    ],
)
def test_what_an_older_version_answered_is_still_recognised(text: str) -> None:
    assert says_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        *("The lamp is called Ming.", "I do not know, but your lamp is called Ming.", ""),
        "Nothing beats a good curry.",
        "Remembered: the lamp is called Ming\n\nThe bulb you need is an E27.",
        "I do not know that. Your sister Ann bought it in Lyon.",
        *("客廳的燈叫做小明。", "我不知道這件事。不過你的生日是五月三日。", "哈" * 10_000),
    ],
)
def test_an_answer_that_holds_something_does_not(text: str) -> None:
    assert not says_nothing(text)
