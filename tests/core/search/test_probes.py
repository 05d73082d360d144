"""An embedder is judged by sentences whose meaning is known."""

from __future__ import annotations

import math
import random
import zlib
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from turnleaf.core.search.ranking import Unrelated
from turnleaf.core.search.terms import fold, list_terms
from turnleaf.core.search.vectors import (
    DEVIATIONS,
    DISTRACTORS,
    PAIRS,
    SENTENCES,
    Profile,
    detect_script,
    pack,
    profile_embedder,
)
from turnleaf.llm.embeddings import LocalEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable

COUNT = 8


def axis(number: int) -> list[float]:
    return [float(place == number) for place in range(COUNT + 1)]


def make_counterparts(swapped: int = 0) -> list[bytes]:
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


def bag(parts: list[str]) -> bytes:
    """A vector that knows which parts a text has, and nothing of what they mean."""
    values = [1e-9] * 512
    for part, count in Counter(parts).items():
        values[zlib.crc32(part.encode()) % 512] += count
    return pack(values)


def of_characters(text: str) -> bytes:
    return bag([*fold(text)])


def of_pairs(text: str) -> bytes:
    return bag([*map("".join, pairwise(fold(text)))])


def of_words(text: str) -> bytes:
    return bag(fold(text).split())


def of_terms(text: str) -> bytes:
    return bag(list_terms(text))


ELSEWHERE = [pack(axis(COUNT))] * (2 * COUNT)
SAME = [pack(axis(0))] * (2 * COUNT)
# Of 56 unrelated pairs, 8 are alike to 0.6 and the others not at all.
LEVEL = pytest.approx(Unrelated(0.6 / 7, 0.6 * math.sqrt(6) / 7), abs=1e-6)
NOTHING = Profile((), Unrelated(1.0, 0.0))


def test_there_are_as_many_pairs_of_each_script() -> None:
    assert {name: len(pairs) for name, pairs in PAIRS.items()} == {"spaced": 8, "unspaced": 8}
    assert {name: len(texts) for name, texts in DISTRACTORS.items()} == {"spaced": 8, "unspaced": 8}
    assert len(SENTENCES) == len(set(SENTENCES)) == 48


def test_sentences_that_mean_the_same_share_no_word_and_no_character() -> None:
    for one, other in PAIRS["spaced"]:
        assert not set(list_terms(one)) & set(list_terms(other))
    for one, other in PAIRS["unspaced"]:
        assert not set(fold(one)) & set(fold(other))


@pytest.mark.parametrize("name", PAIRS)
def test_each_distractor_shares_words_or_characters_with_its_sentence(name: str) -> None:
    for (one, _), other in zip(PAIRS[name], DISTRACTORS[name], strict=True):
        assert len(set(list_terms(one)) & set(list_terms(other))) >= 2


@pytest.mark.parametrize("embed", [of_characters, of_pairs, of_words, of_terms])
def test_one_that_only_compares_what_is_written_fits_nothing(embed: Callable[[str], bytes]) -> None:
    assert profile_embedder([*map(embed, SENTENCES)]) == NOTHING


def test_the_model_on_this_machine_fits_both_scripts() -> None:
    found = profile_embedder(LocalEmbedder().embed(SENTENCES))
    assert found.scripts == ("spaced", "unspaced")
    assert 0.0 < found.unrelated.mean < found.floor < 0.5


@pytest.mark.parametrize("name", PAIRS)
def test_each_sentence_is_of_the_script_that_it_stands_for(name: str) -> None:
    texts = [*DISTRACTORS[name], *(text for pair in PAIRS[name] for text in pair)]
    assert {detect_script(text) for text in texts} == {name}


def test_an_embedder_that_tells_everything_apart_fits_both_scripts() -> None:
    found = profile_embedder([*make_counterparts(), *make_counterparts(), *ELSEWHERE])
    assert found.scripts == ("spaced", "unspaced")
    assert found.unrelated == LEVEL
    assert found.floor == found.unrelated.mean + DEVIATIONS * found.unrelated.deviation


def test_one_to_which_all_chinese_is_the_same_fits_only_english() -> None:
    found = profile_embedder([*make_counterparts(), *SAME, *ELSEWHERE])
    assert found.scripts == ("spaced",)
    assert found.unrelated == LEVEL


def test_one_to_which_all_english_is_the_same_fits_only_chinese() -> None:
    assert profile_embedder([*SAME, *make_counterparts(), *ELSEWHERE]).scripts == ("unspaced",)


def test_one_to_which_everything_is_the_same_fits_nothing_and_nothing_is_near() -> None:
    assert profile_embedder([*SAME, *SAME, *SAME]) == NOTHING
    assert NOTHING.floor == 1


@pytest.mark.parametrize(("swapped", "fits"), [(2, True), (3, True), (4, False), (8, False)])
def test_three_fifths_of_the_sentences_must_be_nearest_to_their_counterparts(
    *, swapped: int, fits: bool
) -> None:
    assert profile_embedder(
        [*make_counterparts(), *make_counterparts(swapped), *ELSEWHERE]
    ).scripts == (("spaced", "unspaced") if fits else ("spaced",))


def test_one_to_which_what_looks_alike_is_nearer_fits_nothing() -> None:
    firsts = make_counterparts()[::2]
    assert (
        profile_embedder([*make_counterparts(), *make_counterparts(), *firsts, *firsts]) == NOTHING
    )


def test_chance_fits_nothing() -> None:
    chance = random.Random(1)
    vectors = [pack([chance.gauss(0, 1) for _ in range(64)]) for _ in SENTENCES]
    assert profile_embedder(vectors).scripts == ()


def test_what_it_understands_depends_on_what_a_text_is_written_in() -> None:
    english = Profile(("spaced",), Unrelated(0.1, 0.1))
    assert english.understands("Where do I keep my tea?")
    assert not english.understands("我的茶放在哪裡？")
    assert Profile(("spaced", "unspaced"), Unrelated(0.1, 0.1)).understands("我的茶放在哪裡？")
    assert not NOTHING.understands("tea")


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
    assert detect_script(text) == expected
