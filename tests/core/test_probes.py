"""An embedder is judged by sentences whose meaning is known."""

from __future__ import annotations

import math
import random

import pytest

from turnleaf.core.probes import DEVIATIONS, PAIRS, SENTENCES, Profile, profile, script
from turnleaf.core.vectors import pack

COUNT = 8


def axis(number: int) -> list[float]:
    return [float(place == number) for place in range(COUNT)]


def understood(swapped: int = 0) -> list[bytes]:
    """Vectors of one script: each sentence is near its counterpart, and a little near the next.

    Of the first few, each counterpart stands in the place of another.
    """
    firsts = [pack(axis(number)) for number in range(COUNT)]
    seconds = [
        pack([0.8 * own + 0.6 * near for own, near in zip(axis(n), axis((n + 1) % 8), strict=True)])
        for n in range(COUNT)
    ]
    order = [*range(1, swapped), 0, *range(swapped, COUNT)][: max(swapped, 1)]
    seconds = [*(seconds[place] for place in order), *seconds[len(order) :]]
    return [vector for pair in zip(firsts, seconds, strict=True) for vector in pair]


SAME = [pack(axis(0))] * (2 * COUNT)
# Of 56 unrelated pairs, 8 are alike to 0.6 and the others not at all.
FLOOR = 0.6 / 7 + DEVIATIONS * 0.6 * math.sqrt(6) / 7


def test_there_are_as_many_pairs_of_each_script() -> None:
    assert {name: len(pairs) for name, pairs in PAIRS.items()} == {"spaced": 8, "unspaced": 8}
    assert len(SENTENCES) == len(set(SENTENCES)) == 32


@pytest.mark.parametrize("name", PAIRS)
def test_each_sentence_is_of_the_script_that_it_stands_for(name: str) -> None:
    assert {script(text) for pair in PAIRS[name] for text in pair} == {name}


def test_an_embedder_that_tells_everything_apart_fits_both_scripts() -> None:
    found = profile([*understood(), *understood()])
    assert found.scripts == ("spaced", "unspaced")
    assert found.floor == pytest.approx(FLOOR, abs=1e-6)


def test_one_to_which_all_chinese_is_the_same_fits_only_english() -> None:
    found = profile([*understood(), *SAME])
    assert found.scripts == ("spaced",)
    assert found.floor == pytest.approx(FLOOR, abs=1e-6)


def test_one_to_which_all_english_is_the_same_fits_only_chinese() -> None:
    assert profile([*SAME, *understood()]).scripts == ("unspaced",)


def test_one_to_which_everything_is_the_same_fits_nothing_and_nothing_is_near() -> None:
    assert profile([*SAME, *SAME]) == Profile((), math.inf)


@pytest.mark.parametrize(("swapped", "fits"), [(2, True), (3, True), (4, False), (8, False)])
def test_three_fifths_of_the_sentences_must_be_nearest_to_their_counterparts(
    *, swapped: int, fits: bool
) -> None:
    assert profile([*understood(), *understood(swapped)]).scripts == (
        ("spaced", "unspaced") if fits else ("spaced",)
    )


def test_chance_fits_nothing() -> None:
    chance = random.Random(1)
    vectors = [pack([chance.gauss(0, 1) for _ in range(64)]) for _ in SENTENCES]
    assert profile(vectors).scripts == ()


def test_what_it_understands_depends_on_what_a_text_is_written_in() -> None:
    english = Profile(("spaced",), 0.3)
    assert english.understands("Where do I keep my tea?")
    assert not english.understands("我的茶放在哪裡？")
    assert Profile(("spaced", "unspaced"), 0.3).understands("我的茶放在哪裡？")
    assert not Profile((), math.inf).understands("tea")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I like tea", "spaced"),
        ("我喜歡茶", "unspaced"),
        ("我每天早上喝一杯latte", "unspaced"),
        ("I say 你好 to everybody", "spaced"),
        ("ab茶茶", "spaced"),
        ("ab茶茶茶", "unspaced"),
        ("コーヒー", "unspaced"),
        ("커피를 마신다", "unspaced"),
        ("กาแฟ", "unspaced"),
        ("Привет", "spaced"),
        ("हिन्दी", "spaced"),
        ("12,345 。。。 我", "unspaced"),
        ("", "spaced"),
        ("🙂 123", "spaced"),
    ],
)
def test_the_script_is_what_most_letters_are_of(text: str, expected: str) -> None:
    assert script(text) == expected
