"""What a question asks for: its known words, and the terms by which a passage speaks of them."""

from __future__ import annotations

import pytest

from turnleaf.core.recall.questions import find_words, read_question


@pytest.mark.parametrize("word", ["牧羊少年奇幻之旅", "护照"])
def test_a_known_chinese_word_is_found_whole(word: str) -> None:
    assert [found.key for found in find_words(f"我的{word}在哪里")][-1:] == [word]


@pytest.mark.parametrize(
    ("question", "terms"), [("我的狗幾歲？", {"狗"}), ("我的護照放在哪裡？", {"护照"})]
)
def test_only_a_word_of_one_character_is_asked_for_by_a_single_one(
    question: str, terms: set[str]
) -> None:
    thing, *_ = read_question(question).things
    assert thing.terms == terms
