"""Marks are taken out of an answer however it is cut, and are believed if the words bear it out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnleaf.core.prompt.citations import MarkRemover, find_cited, find_quoted, has_in_common

LAMP, DOG = "8b7pzdbrrb", "p12"
SOURCES = {LAMP: "客廳的燈叫做小明", DOG: "The vet said Pepper weighs 6.2 kg."}


def read(pieces: list[str]) -> tuple[str, tuple[str, ...]]:
    remover = MarkRemover((*SOURCES,))
    answer = "".join([*map(remover.feed, pieces), remover.finish()])
    return answer, find_cited(answer, remover.marks, SOURCES)


@pytest.mark.parametrize(
    ("said", "shown", "cited"),
    [
        (f"你的燈叫做小明。[#{LAMP}]", "你的燈叫做小明。", (LAMP,)),
        (f"你的燈叫做小明 [#{LAMP}]。很好聽！", "你的燈叫做小明。很好聽！", (LAMP,)),
        (f"Pepper weighs 6.2 kg [#{DOG}].", "Pepper weighs 6.2 kg.", (DOG,)),
        (f"Pepper weighs 6.2 kg. [#{DOG}] Fine.", "Pepper weighs 6.2 kg. Fine.", (DOG,)),
        (
            f"燈叫小明，Pepper 重 6.2 kg【#{DOG}、#{LAMP}】",
            "燈叫小明，Pepper 重 6.2 kg",
            (DOG, LAMP),
        ),
        (f"It is late. [#{DOG}]", "It is late.", ()),
        ("Pepper weighs 6.2 kg. [#p99]", "Pepper weighs 6.2 kg.", ()),
        ("See [#123], x[#a] and [#todo].", "See [#123], x[#a] and [#todo].", ()),
        ("a [b] [ #p1] [#p1", "a [b] [ #p1] [#p1", ()),
    ],
)
def test_marks_are_taken_out_and_checked(said: str, shown: str, cited: tuple[str, ...]) -> None:
    assert read([said]) == (shown, cited)
    assert read([*said]) == (shown, cited)


@given(st.lists(st.sampled_from(["[", "#", "p12", LAMP, "]", ", ", " ", "貓", ".", "【", "\n"])))
def test_an_answer_is_the_same_wherever_it_is_cut(pieces: list[str]) -> None:
    assert read(pieces) == read(["".join(pieces)])


def test_text_without_marks_is_said_at_once_and_whole() -> None:
    remover = MarkRemover(())
    assert remover.feed("One, two") == "One, two"
    assert remover.feed("[" * 10_000) + remover.finish() == "[" * 10_000


@pytest.mark.parametrize(
    ("sentence", "source", "is_common"),
    [
        ("Pepper is overweight at 6.2 kg.", SOURCES[DOG], True),
        ("Pepper was adopted from the shelter in spring.", SOURCES[DOG], False),
        ("思涵的生日是十二月。", "我室友思涵下個月搬走，房間空出來", False),
        ("熱水器是 2019 年裝的，已經用了好幾年。", "後陽台的熱水器是櫻花牌，2019 年裝的", True),
        ("", "", False),
    ],
)
def test_a_name_alone_is_not_enough(sentence: str, source: str, *, is_common: bool) -> None:
    assert has_in_common(sentence, source) is is_common


def test_what_is_quoted_word_for_word_is_found() -> None:
    assert find_quoted(f"I remember:\n- {SOURCES[LAMP]} (memory)", SOURCES) == (LAMP,)
