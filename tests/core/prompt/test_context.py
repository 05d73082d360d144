"""What goes into a prompt is what answers, once, as much as there is room for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turnleaf.core.prompt.context import (
    HIT_CHARS,
    MOST_FACTS,
    ContextRoom,
    choose,
    estimate_confidence,
    fill_room,
    put_clusters_first,
    shorten,
    write_context_lines,
)
from turnleaf.core.search.ranking import Hit
from turnleaf.core.tokens import estimate

PLAIN = Hit(
    "The lamp is called Ming.", "conversations", Path("c.db"), 1, None, "2026-11-10", "cli:a",
    "user", "1", 0.6, 0.5, 0.4, message=1, nearness=0.2,
)  # fmt: skip
QUESTION = "What is the lamp called?"


def make_hit(text: str, number: int, **fields: object) -> Hit:
    hit = replace(PLAIN, text=text, message=number, line=number, id=str(number))
    return replace(hit, **fields)  # type: ignore[arg-type]


def make_answer_hit(text: str, number: int) -> Hit:
    return make_hit(text, number, speaker="assistant", trust="assistant")


def list_texts(hits: list[Hit]) -> list[str]:
    return [hit.text for hit in hits]


def test_nothing_is_sure_where_nothing_was_found() -> None:
    assert estimate_confidence(QUESTION, []) == 0.0


@pytest.mark.parametrize(
    ("nearness", "words", "least", "most"),
    [
        (0.2, 0.0, 1.0, 1.0),
        (0.02, 0.0, 0.3, 0.6),
        (-0.2, 0.2, 0.0, 0.0),
        (-0.05, 0.9, 1.0, 1.0),
        (-0.5, 0.8, 1.0, 1.0),
        (-0.5, 0.4, 0.0, 0.3),
    ],
)
def test_meaning_and_words_together_say_how_sure_it_is(
    nearness: float, words: float, least: float, most: float
) -> None:
    hit = make_hit("a", 1, nearness=nearness, bm25=words)
    assert least <= estimate_confidence(QUESTION, [hit]) <= most


@pytest.mark.parametrize(("words", "sure"), [(0.5, 1.0), (0.1, 0.0)])
def test_without_vectors_the_words_decide(words: float, sure: float) -> None:
    assert (
        estimate_confidence(QUESTION, [make_hit("a", 1, nearness=None, vector=None, bm25=words)])
        == sure
    )


def test_a_name_of_which_nothing_speaks_makes_it_less_sure() -> None:
    hits = [make_hit("Ann likes pottery.", 1, nearness=0.05, bm25=0.2)]
    assert estimate_confidence("What does Melanie like?", hits) == 0.0
    assert estimate_confidence("What does Ann like?", hits) > 0.5


def test_days_on_which_something_was_found_make_it_surer() -> None:
    hits = [make_hit("Ann likes pottery.", 1, nearness=-0.08, bm25=0.1)]
    assert estimate_confidence("pottery", hits) == 0.0
    assert estimate_confidence("pottery", hits, is_dated=True) > 0.0


def test_who_asks_the_same_again_finds_neither_the_question_nor_that_nothing_was_known() -> None:
    hits = [
        make_hit("what is the lamp called", 1),
        make_answer_hit("Sorry, I do not know that.", 2),
        make_answer_hit("This is remembered about it:\n- The lamp is called Ming.", 3),
        make_hit("The lamp is called Ming.", 4),
    ]
    assert list_texts(choose(QUESTION, hits)) == ["The lamp is called Ming."]


def test_a_statement_comes_before_an_answer_that_repeats_it() -> None:
    answer = make_answer_hit("Noted: the lamp in your kitchen is called Ming, how nice.", 2)
    stated = make_hit("The lamp in the kitchen is called Ming", 1)
    other = make_hit("The lamp is broken", 3)
    assert choose(QUESTION, [answer, other, stated]) == [stated, answer, other]


def test_what_says_the_same_again_is_there_once() -> None:
    hits = [make_hit("The lamp is called Ming.", 1), make_hit("the lamp is called Ming!", 9)]
    assert choose(QUESTION, hits) == hits[:1]


@pytest.mark.parametrize(
    "text", ["{}號的倉鼠叫做餅乾。", "The rent of the flat by the lake was {} in May"]
)
def test_another_number_says_something_else(text: str) -> None:
    hits = [make_hit(text.format(6), 1), make_hit(text.format(7), 9)]
    assert choose(QUESTION, hits) == hits


def test_what_the_prompt_holds_already_is_left_out_also_a_part_of_it() -> None:
    hits = [
        make_hit("The lamp is called Ming.", 1),
        make_hit("second paragraph about the lamp", 2, part=1),
    ]
    known = {"The lamp is called Ming.", "first paragraph\n\nsecond paragraph about the lamp"}
    assert choose(QUESTION, hits, known) == []


def test_a_message_that_its_conversation_no_longer_shows_is_left_out() -> None:
    assert choose(QUESTION, [make_hit("The lamp is called Ming.", 1, is_shown=False)]) == []


def test_secrets_are_masked_as_in_facts() -> None:
    hits = [
        make_hit("My wifi password is hunter2secret", 1),
        make_hit(
            "The lamp is Ming and my GitHub token is ghp_0123456789abcdefghijABCDEFGHIJ012345", 2
        ),
    ]
    (kept,) = choose(QUESTION, hits)
    assert "Ming" in kept.text
    assert "ghp_" not in kept.text


def test_the_part_of_a_long_text_is_shown_that_fits_the_question() -> None:
    filler = "We talked about the weather for quite a while. " * 40
    long = make_hit(f"{filler}The lamp is called Ming. {filler}", 1)
    shown = shorten(long, QUESTION).text
    assert "The lamp is called Ming." in shown
    assert len(shown) <= HIT_CHARS + 4
    assert shown.startswith("… ")
    assert shown.endswith(" …")
    assert len(shorten(make_hit("哈" * 10_000, 1), QUESTION).text) <= HIT_CHARS + 4


def test_the_best_are_taken_until_the_room_is_full() -> None:
    hits = [
        make_hit(f"{number}: the lamp of room {number} is green", number) for number in range(50)
    ]
    filled = fill_room(hits, ContextRoom(300, estimate))
    assert filled == hits[: len(filled)]
    lines = "\n".join(write_context_lines(filled))
    assert 200 < estimate(lines) <= 300
    assert fill_room(hits, ContextRoom(0, estimate)) == []


@pytest.mark.parametrize("step", [1, 2])
def test_hardly_any_room_is_left_whether_messages_follow_each_other_or_not(step: int) -> None:
    hits = [
        make_hit(f"{n}: the lamp is green", n, parent=n - 1, date=f"2026-11-{10 + n // 20}")
        for n in range(0, 60 * step, step)
    ]
    filled = fill_room([*hits[1::2], *hits[::2]], ContextRoom(500, estimate))
    assert 470 < estimate("\n".join(write_context_lines(filled))) <= 500


def test_conversations_of_one_day_have_room_for_their_openings() -> None:
    hits = [make_hit(f"{n}: the lamp is green", n, conversation=f"cli:{n}") for n in range(99)]
    filled = fill_room(hits, ContextRoom(300, estimate))
    assert estimate("\n".join(write_context_lines(filled))) <= 300


def test_what_stands_beside_hits_is_taken_before_something_else_of_the_same_score() -> None:
    alone = make_hit("alone", 50, score=0.41, date="2026-11-12")
    best = make_hit("best", 2, score=0.8, parent=1)
    after = make_hit("after", 3, score=0.4, parent=2)
    same_day = make_hit("same day", 9, score=0.4, parent=8)
    ordered = put_clusters_first([best, alone, same_day, after])
    assert list_texts(ordered) == ["best", "after", "same day", "alone"]


def test_a_prompt_is_filled_by_both_sides_also_where_words_count_alone() -> None:
    named = make_hit("tea", 1, score=0.9, bm25=0.9, vector=None, blended=0.3)
    meant = make_hit(
        "what we drink in the morning", 5, score=0.6, bm25=0.3, vector=0.7, blended=0.6
    )
    assert list_texts(put_clusters_first([named, meant])) == [meant.text, named.text]


def test_what_is_far_below_the_best_is_left_out_however_much_room_there_is() -> None:
    far = [
        make_hit("Nice weather", n, score=0.0, date=f"2026-10-{n}", parent=None) for n in (20, 21)
    ]
    assert put_clusters_first([PLAIN, *far]) == [PLAIN]


def test_a_note_that_fits_best_stays_before_the_messages_of_a_conversation() -> None:
    note = replace(PLAIN, source="daily", text="note", conversation=None, message=None, score=0.9)
    pair = [make_hit("one", 1, score=0.5), make_hit("two", 2, score=0.5, parent=1)]
    assert list_texts(put_clusters_first([note, *pair])) == ["note", "one", "two"]


def test_what_is_too_long_does_not_keep_the_next_out() -> None:
    hits = [make_hit("lamp " * 500, 1), make_hit("The lamp is called Ming.", 2)]
    assert fill_room(hits, ContextRoom(100, estimate)) == hits[1:]


def test_neighbours_come_after_the_hits_and_each_passage_once() -> None:
    hits = [make_hit("The lamp is called Ming.", 2)]
    beside = [make_hit("I bought a lamp.", 1), *hits, make_answer_hit("What a nice name!", 3)]
    room = ContextRoom(300, estimate)
    assert fill_room(beside, room, fill_room(hits, room)) == [hits[0], beside[0], beside[2]]


def test_facts_take_no_room_but_are_not_more_than_a_few() -> None:
    facts = [
        replace(PLAIN, source="memory", line=number, message=None, text=f"fact {number}")
        for number in range(MOST_FACTS + 5)
    ]
    room = ContextRoom(100, estimate)
    assert fill_room(facts, room) == facts[:MOST_FACTS]
    assert room.left == 100
