"""What is embedded: a long text in pieces, a short one with what is said around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import texts, thorough
from turnleaf.core.search.passages import (
    CONTEXT_COLUMNS,
    FEW_COLUMNS,
    LEAST_CONTEXT_COLUMNS,
    MOST_PIECES,
    PART_COLUMNS,
    PIECE_COLUMNS,
    SMALL_PART_COLUMNS,
    WHOLE_COLUMNS,
    cut_message,
    cut_pieces,
    list_texts_to_embed,
)

ENGLISH = "She keeps the spare key under the third pot. "
CHINESE = "備用鑰匙放在第三個花盆下面。"
ENDS = ("\n", "。", "！", "？", ". ", "! ", "? ", "...", "?!", ".", " ", "3.14", "，")

sentences = st.sampled_from(
    ["short", "a somewhat longer sentence " * 4, "茶", "客廳的燈不會亮" * 12]
)
prose = st.lists(st.tuples(sentences, st.sampled_from(ENDS)), max_size=40).map(
    lambda parts: "".join(f"{said}{end}" for said, end in parts)
)


def columns(text: str) -> int:
    """How wide a text is, when only what these tests use is known."""
    return sum(2 if "\u2e80" <= char <= "\U000323af" else 1 for char in text)


# Long texts


@pytest.mark.parametrize(
    "text", ["", " ", "tea", "茶", "x" * WHOLE_COLUMNS, "茶" * (WHOLE_COLUMNS // 2)]
)
def test_a_short_text_stays_whole(text: str) -> None:
    assert cut_pieces(text) == [text]


@pytest.mark.parametrize(("sentence", "end"), [(ENGLISH, ". "), (CHINESE, "。")])
def test_a_long_text_is_cut_between_sentences(sentence: str, end: str) -> None:
    found = cut_pieces(sentence * 40)
    assert len(found) > 1
    assert "".join(found) == sentence * 40
    for piece in found:
        assert piece.endswith(end)
        assert columns(piece) <= PIECE_COLUMNS
        assert piece == sentence * piece.count(sentence)


def test_pieces_in_both_languages_weigh_the_same() -> None:
    english = {columns(piece) for piece in cut_pieces(ENGLISH * 40)[:-1]}
    chinese = {columns(piece) for piece in cut_pieces(CHINESE * 40)[:-1]}
    assert min(*english, *chinese) > PIECE_COLUMNS - max(columns(ENGLISH), columns(CHINESE))


def test_mixed_text_is_cut_between_sentences_of_either_language() -> None:
    found = cut_pieces((ENGLISH + CHINESE) * 20)
    assert "".join(found) == (ENGLISH + CHINESE) * 20
    assert {piece.startswith(("She", "備用")) for piece in found} == {True}


def test_lines_are_sentences() -> None:
    found = cut_pieces("\n".join(["a line without a full stop"] * 60))
    assert all(piece.startswith("a line") for piece in found)
    assert max(map(columns, found)) <= PIECE_COLUMNS


def test_a_sentence_is_never_cut_however_long_it_is() -> None:
    monster = "word " * 400
    assert cut_pieces(f"{ENGLISH}{monster}. {ENGLISH}") == [ENGLISH, f"{monster}. ", ENGLISH]


def test_white_space_is_no_piece() -> None:
    assert cut_pieces("\n" * 5000) == ["\n" * 5000]
    assert cut_pieces(f"{ENGLISH * 20}{' ' * 5000}\n{ENGLISH * 20}")[-1].strip()


@thorough
@given(prose | texts)
def test_nothing_is_lost(text: str) -> None:
    found = cut_pieces(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert len(found) == 1 or all(piece.strip() for piece in found)


@thorough
@given(prose)
def test_no_piece_but_a_single_sentence_is_too_wide(text: str) -> None:
    widest = max(map(columns, ["a somewhat longer sentence " * 4, "客廳的燈不會亮" * 12])) + 10
    unbroken = any(end in text for end in ("，", " "))
    for piece in cut_pieces(text):
        assert columns(piece) <= max(WHOLE_COLUMNS, PIECE_COLUMNS + widest) or unbroken


def test_a_text_of_monstrous_length_has_a_bounded_number_of_pieces() -> None:
    found = cut_pieces(CHINESE * 20_000)
    assert len(found) == MOST_PIECES
    assert (CHINESE * 20_000).startswith("".join(found))


@pytest.mark.parametrize("char", [".", "。", "\n", "!?", " ", "x", "茶", ". ", "a."])
def test_a_megabyte_of_one_thing_is_cut_at_once(char: str) -> None:
    text = char * (1_000_000 // len(char))
    assert 0 < len(cut_pieces(f"{text}x")) <= MOST_PIECES


# Short texts with what is said around them


def test_a_short_text_is_embedded_with_what_is_said_around_it() -> None:
    assert list_texts_to_embed("At nine.", "When does it leave?", "好，謝謝") == [
        "When does it leave?\nAt nine.\n好，謝謝"
    ]
    assert list_texts_to_embed("茶", after="熱的？") == ["茶\n熱的？"]
    assert list_texts_to_embed("茶", before="喝什麼？") == ["喝什麼？\n茶"]


def test_a_text_that_stands_alone_is_embedded_as_it_is() -> None:
    assert list_texts_to_embed("茶") == ["茶"]
    assert list_texts_to_embed("") == [""]


def test_a_long_text_needs_nothing_around_it() -> None:
    assert list_texts_to_embed(ENGLISH * 40, "before", "after") == cut_pieces(ENGLISH * 40)


@pytest.mark.parametrize(("char", "columns"), [("x", 1), ("茶", 2), ("é", 1)])
def test_of_what_is_around_only_the_nearest_counts(char: str, columns: int) -> None:
    for said, most in [
        ("Yes.", LEAST_CONTEXT_COLUMNS),
        ("Yes. " * 20, 100),
        ("Yes. " * 80, CONTEXT_COLUMNS),
    ]:
        (text,) = list_texts_to_embed(said, f"far{char * 500}", f"{char * 500}far")
        kept = char * (most // columns)
        assert text == f"{kept}\n{said}\n{kept}"


@thorough
@given(texts, texts, texts)
def test_the_nearest_of_what_is_around_is_never_wide(before: str, text: str, after: str) -> None:
    (found,) = list_texts_to_embed(text, before * 20, after * 20)
    assert text in found
    assert columns(found) <= columns(text) + 2 * (CONTEXT_COLUMNS + 1)


# Long messages


def cut(text: str) -> list[str]:
    return [part.text for part in cut_message(text)]


@pytest.mark.parametrize("paragraph", [ENGLISH * 6, CHINESE * 9])
def test_a_long_message_is_cut_between_paragraphs(paragraph: str) -> None:
    text = "\n\n".join([paragraph.strip()] * 12)
    parts = cut(text)
    assert len(parts) > 3
    assert "\n\n".join(parts) == text


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_a_long_paragraph_is_cut_between_sentences(sentence: str) -> None:
    parts = cut(sentence * 80)
    assert {part.replace(sentence.strip(), "").strip() for part in parts} == {""}
    assert min(map(columns, parts[:-1])) > SMALL_PART_COLUMNS / 2


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_what_is_longer_than_two_parts_is_cut_into_smaller_ones(sentence: str) -> None:
    count = 2 * PART_COLUMNS // columns(sentence)
    assert len(cut(sentence * count)) == 2
    parts = cut(sentence * 2 * count)
    assert len(parts) >= 2 * 2 * PART_COLUMNS // SMALL_PART_COLUMNS
    assert max(map(columns, parts)) <= SMALL_PART_COLUMNS


def test_a_paragraph_of_some_length_stays_whole_in_a_very_long_message() -> None:
    paragraph = (ENGLISH * 10).strip()
    assert cut("\n\n".join([paragraph] * 6)) == [paragraph] * 6


@pytest.mark.parametrize("sentence", [ENGLISH, CHINESE])
def test_each_paragraph_of_a_very_long_message_is_a_part(sentence: str) -> None:
    paragraphs = [(sentence * (3 + number % 9)).strip() for number in range(20)]
    for end in ("\n\n", "\n \n", "\r\n\r\n"):
        assert cut(end.join(paragraphs)) == paragraphs


def test_lines_of_one_paragraph_stay_together() -> None:
    recipe = "120 g blueberries\n80 g strawberries\n20 g raspberries\n1 spoon of honey, if you like"
    text = "\n\n".join([ENGLISH * 10, recipe, ENGLISH * 10, ENGLISH * 10])
    assert recipe in cut(text)


def test_a_part_says_how_much_of_its_paragraph_stands_before_and_after_it() -> None:
    short, long = (ENGLISH * 6).strip(), ENGLISH * 15
    parts = cut_message(f"{short}\n\n{long}\n\n{short}")
    beside = [(part.earlier, part.later) for part in parts]
    assert beside == [(0, 0), (0, 2), (1, 1), (2, 0), (0, 0)]
    halves = cut_message(long)
    assert [(part.earlier, part.later) for part in halves] == [(0, 1), (1, 0)]


def test_short_paragraphs_are_joined_and_a_heading_stays_with_what_follows() -> None:
    paragraph = (ENGLISH * 6).strip()
    greeting = ["Dear Emma,", "how are you?", "I am well."]
    headed = f"## The key\n\n{paragraph}"
    listed = f"What I know of it:\n\n{paragraph}"
    text = "\n\n".join([*greeting, paragraph, headed, listed, paragraph])
    assert cut(text) == ["\n\n".join(greeting), paragraph, headed, listed, paragraph]


def test_of_many_short_paragraphs_only_few_are_joined() -> None:
    parts = cut("\n\n".join(["# tea: yes"] * 500))
    assert max(map(columns, parts)) <= 2 * FEW_COLUMNS
    assert min(map(columns, parts[:-1])) >= FEW_COLUMNS - 2


@pytest.mark.parametrize("text", ["", "hi", "茶", ENGLISH * 12])
def test_a_short_message_stays_whole(text: str) -> None:
    assert cut(text) == [text]


@thorough
@given(prose | texts | st.sampled_from(["x", "茶", "\n", "a ", "."]).map(lambda one: one * 10_000))
def test_nothing_of_a_message_is_lost_and_no_part_is_long(text: str) -> None:
    parts = cut(text)
    assert "".join("".join(parts).split()) == "".join(text.split())
    assert len(parts) <= 1 or max(map(columns, parts)) <= PART_COLUMNS
