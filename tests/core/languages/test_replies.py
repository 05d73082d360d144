"""What Turnleaf says itself is said in the language of whom it answers, the same in each."""

from __future__ import annotations

import re

import pytest

from turnleaf.core.languages.language import find_languages
from turnleaf.core.languages.replies import FILE, choose_words, find_replies

PARTS = ("memory", "recall", "transcript", "slack", "slack_notes", "keeping")
LANGUAGES = find_languages(FILE)


def test_words_are_chosen_by_the_language_and_are_english_where_there_are_no_others() -> None:
    texts = ("你們", "你们", "猫です", "안녕", "Hi")
    assert [choose_words(text, "slack_notes")["undone"].format("記") for text in texts] == [
        "已復原：記",
        "已撤销：記",
        *["taken back: 記"] * 3,
    ]


def test_chinese_of_either_script_is_answered_in_the_script_of_what_was_said_before() -> None:
    said = choose_words("忘掉我的生日", "memory", earlier=["我女儿五岁"])["several"]
    assert said == "符合的不只一件，所以还没有忘掉。你说的是哪一件？"


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("part", PARTS)
def test_every_language_says_the_same_things_with_the_same_places(language: str, part: str) -> None:
    assert _places(language, part) == _places("en", part)


@pytest.mark.parametrize("part", PARTS)
def test_no_chinese_reply_has_narrow_punctuation_beside_a_chinese_character(part: str) -> None:
    texts = find_replies("zh", part).values()
    assert not [
        text
        for text in texts
        if re.search(r"[\u4e00-\u9fff][,;:?!()]|[,;?!()][\u4e00-\u9fff]", text)
    ]


def _places(language: str, part: str) -> dict[str, list[str]]:
    """Return the places to fill in of each reply."""
    words = find_replies(language, part)
    return {name: re.findall(r"\{[^}]*\}", said) for name, said in words.items()}
