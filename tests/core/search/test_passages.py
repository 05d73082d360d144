"""Files are cut into passages: nothing is lost, nothing is ours, each says where it stands."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import MOMENT, brief, facts, pages, thorough, tidy_pages
from turnleaf.core import conversation_formats as conversations_json
from turnleaf.core import json_facts, markdown
from turnleaf.core.conversation_formats import StoredConversation
from turnleaf.core.memories import Memory
from turnleaf.core.messages import Message
from turnleaf.core.search import passages
from turnleaf.core.search.passages import LONGEST, PROSE_CHARS, Passage, Placed, find_neighbours
from turnleaf.errors import CorruptFile

DAY = date(2026, 3, 1)
FACT = markdown.render(Memory("k3", "likes tea", MOMENT, MOMENT, "Home", "user"))


def day_of(moment: datetime) -> str:
    return moment.date().isoformat()


def split_memory(text: str, name: str = "MEMORY.md") -> list[Passage]:
    return passages.cut_memory(text, name, day_of)


def split_day(text: str) -> list[Passage]:
    return passages.cut_day(text, DAY)


def list_passages(found: list[Passage]) -> list[tuple[str, int, str | None]]:
    return [(one.text, one.line, one.heading) for one in found]


# MEMORY.md


def test_each_fact_is_a_passage_with_its_category_line_id_and_day() -> None:
    text = f"# Memory\n\n- by hand\n\n## Home\n\n{FACT}"
    by_hand, ours = split_memory(text)
    assert (by_hand.text, by_hand.line, by_hand.heading, by_hand.date) == ("by hand", 3, None, None)
    assert by_hand.id == markdown.parse(text, MOMENT).facts[0].memory.id
    assert ours == Passage("likes tea", 7, "Home", "2026-03-01", id="k3")


def test_a_fact_is_never_cut() -> None:
    content = "\n\n".join(["茶" * 3000] * 5)
    (found,) = split_memory(markdown.render(Memory("k", content, MOMENT, MOMENT)))
    assert found.text == content


def test_prose_between_facts_stands_under_its_heading() -> None:
    text = "intro\n\n# One\nfirst\n- fact\nlast\n\n### Two ##\n\nsecond\n"
    assert list_passages(split_memory(text)) == [
        ("intro", 1, None),
        ("first", 4, "One"),
        ("fact", 5, None),
        ("last", 6, "One"),
        ("second", 10, "Two"),
    ]


def test_a_bullet_that_says_nothing_is_no_passage() -> None:
    text = (
        "Prose.\n\n- \n-\n* \n- <!-- turnleaf id=a1 created=2026-03-01T08:30:00.000Z -->\n- tea\n"
    )
    assert [one.text for one in split_memory(text)] == ["Prose.", "tea"]
    assert [one.text for one in split_day("- \n- tea\n-\n")] == ["tea"]


def test_an_empty_heading_ends_the_one_above() -> None:
    assert list_passages(split_memory("# One\na\n\n#\n\nb\n")) == [("a", 2, "One"), ("b", 6, None)]


def test_code_is_prose_whatever_it_looks_like() -> None:
    code = "```sh\n# no heading\n- no fact\n\n## nor this\n```"
    assert list_passages(split_memory(f"# Notes\n\n{code}\n")) == [(code, 3, "Notes")]


def test_paragraphs_stand_together_while_they_are_short() -> None:
    assert list_passages(split_memory("one\n\ntwo\n\n\nthree\n")) == [
        ("one\n\ntwo\n\n\nthree", 1, None)
    ]


@pytest.mark.parametrize("word", ["word ", "字"])
def test_long_prose_is_cut_between_paragraphs(word: str) -> None:
    paragraph = (word * (PROSE_CHARS // len(word) // 2)).strip()
    found = split_memory("\n\n".join([paragraph] * 7))
    assert [one.text.count(paragraph) for one in found] == [2, 2, 2, 1]
    assert [one.line for one in found] == [1, 5, 9, 13]
    assert all(one.text.startswith(paragraph) and one.text.endswith(paragraph) for one in found)


def test_a_long_paragraph_stays_whole() -> None:
    paragraph = "a line of it\n" * 500
    (found,) = split_memory(f"before\n\n{paragraph}")
    assert found.text == f"before\n\n{paragraph.strip()}"


def test_a_paragraph_of_monstrous_length_is_cut_between_lines() -> None:
    lines = [f"line {number} of the same paragraph" for number in range(1000)]
    found = split_memory("\n".join(lines))
    assert len(found) > 3
    assert "\n".join(one.text for one in found) == "\n".join(lines)
    assert all(LONGEST - 40 <= len(one.text) <= LONGEST for one in found[:-1])
    assert [one.text.split("\n")[0] for one in found] == [lines[one.line - 1] for one in found]


def test_a_line_of_monstrous_length_is_cut_anywhere() -> None:
    line = "茶" * (2 * LONGEST + 5)
    found = split_memory(f"# Tea\n\nbefore\n{line}\nafter")
    assert [(len(one.text), one.line) for one in found] == [
        (6, 3),
        (LONGEST, 4),
        (LONGEST, 4),
        (5, 4),
        (5, 5),
    ]


def test_no_passage_is_blank() -> None:
    assert (
        split_memory("")
        == split_memory("\n \n\t\n\u00a0\n\u2028\n")
        == split_memory("# Memory\n")
        == []
    )
    spaced = f"a{' ' * (3 * LONGEST)}b"
    assert [one.text for one in split_memory(spaced)] == ["a", "b"]


def test_our_comments_are_in_no_passage_and_do_not_move_what_stands_below() -> None:
    comment = "<!-- turnleaf id=x created=2026-03-01T08:30:00.000Z -->"
    text = f"{comment}\nprose {comment}\n{comment}\nmore\n"
    assert list_passages(split_memory(text)) == [("prose\nmore", 2, None)]
    assert list_passages(split_memory(f"\u00a0\n\u2028\n{comment}\nx\n")) == [("x", 4, None)]


def test_comments_of_the_user_are_kept() -> None:
    assert list_passages(split_memory("<!-- mine -->\n")) == [("<!-- mine -->", 1, None)]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_any_line_ending_counts(ending: str) -> None:
    found = split_memory(ending.join(["# A", "", "one", "- two", "", "three"]))
    assert [(one.text, one.line) for one in found] == [("one", 3), ("two", 4), ("three", 6)]


def test_many_lines_that_say_nothing_are_cut_at_once() -> None:
    comment = "<!-- turnleaf id=x -->\n"
    assert len(split_memory("word\n" + comment * 20_000)) == 1
    assert len(split_memory("word\n" + "\n" * 50_000)) == 1


WORDS = re.compile(r"[^\W\d_]+")
HEADING = re.compile(r"[ >*+-]*#")
ENTITY = re.compile(r"&#?\w+;")


def find_words(text: str) -> set[str]:
    return set(WORDS.findall(ENTITY.sub(" ", text)))


def drop_headings(text: str) -> str:
    lines = re.split(r"\r\n?|\n", markdown.without_comments(text))
    return "\n".join(line for line in lines if not HEADING.match(line))


@thorough
@given(pages() | tidy_pages())
def test_no_word_of_a_page_is_lost(text: str) -> None:
    found = split_memory(text)
    assert find_words(drop_headings(text)) <= {
        word for one in found for word in find_words(one.text)
    }
    assert [one.text for one in split_day(text)] == [one.text for one in found]


@thorough
@given(pages() | tidy_pages())
def test_every_passage_begins_on_its_line_and_nothing_in_it_is_ours(text: str) -> None:
    lines = re.split(r"\r\n?|\n", text.removeprefix(markdown.BOM))
    found = split_memory(text)
    assert [one.line for one in found] == sorted(one.line for one in found)
    for one in found:
        source = markdown.without_comments(lines[one.line - 1])
        if one.id is None:
            assert source.strip() == re.split(r"\r\n?|\n", one.text)[0].strip()
        else:
            assert re.match(r" {0,3}[-+*]", source)
        assert one.text.strip()
        assert "<!-- turnleaf id=" not in one.text


@thorough
@given(st.lists(facts(), max_size=5, unique_by=lambda fact: fact.id))
def test_every_fact_that_we_wrote_is_one_passage_as_it_was(known: list[Memory]) -> None:
    text = "# Memory\n"
    for fact in known:
        page = markdown.parse(text, MOMENT)
        text = page.apply(page.insert(fact))
    found = {one.id: one for one in split_memory(text)}
    for fact in known:
        one = found[fact.id]
        assert (one.text, one.heading, one.date) == (
            fact.content,
            fact.category,
            day_of(fact.created_at),
        )


# memories.json


def test_the_facts_of_a_json_file_stand_on_lines_of_their_own() -> None:
    known = [Memory(f"k{number}", f"fact {number}", MOMENT, MOMENT) for number in range(3)]
    text = json_facts.EMPTY
    for fact in known:
        page = json_facts.parse(text, MOMENT)
        text = page.apply(page.insert(fact))
    found = split_memory(text, "memories.json")
    assert [(one.id, one.text, one.date) for one in found] == [
        (fact.id, fact.content, "2026-03-01") for fact in known
    ]
    for one in found:
        assert one.text in text.split("\n")[one.line - 1]


def test_a_json_file_that_is_none_is_refused() -> None:
    with pytest.raises(CorruptFile):
        split_memory("{", "memories.json")


# Daily logs


def test_the_entries_and_the_prose_of_a_day_have_its_date() -> None:
    found = split_day("# 2026-03-01\n\nSunny.\n\n## Work\n\n- 08:30 買咖啡\n  豆子\n- done\n")
    assert found == [
        Passage("Sunny.", 3, "2026-03-01", "2026-03-01"),
        Passage("08:30 買咖啡\n豆子", 7, "Work", "2026-03-01"),
        Passage("done", 9, "Work", "2026-03-01"),
    ]


# Conversations


def write_conversation(*said: Message) -> str:
    return conversations_json.assemble(
        [
            conversations_json.write_line(
                "k", conversations_json.dump(StoredConversation(MOMENT, MOMENT, said))
            )
        ]
    ).decode()


def split_conversations(text: str) -> list[Passage]:
    try:
        return passages.cut_conversations(text, day_of)
    except CorruptFile:
        return []


def test_each_message_is_a_passage_with_its_conversation_speaker_and_day() -> None:
    said = [Message("user", "喝茶嗎？", MOMENT), Message("assistant", "Yes.", MOMENT, name="Ann")]
    tea, yes = split_conversations(write_conversation(*said))
    day = day_of(MOMENT)
    assert (tea.text, tea.line, tea.date, tea.conversation) == ("喝茶嗎？", 1, day, "k")
    assert (tea.speaker, tea.name, tea.spoken_text) == ("user", "", "喝茶嗎？")
    assert (yes.speaker, yes.name, yes.spoken_text) == ("Ann", "Ann", "Ann: Yes.")
    assert [(one.message, one.parent, one.time) for one in (tea, yes)] == [
        (1, None, MOMENT),
        (2, 1, MOMENT),
    ]


def test_a_long_message_is_several_passages_in_order() -> None:
    content = "\n\n".join(f"{number} {'字' * 200}" for number in range(9))
    found = split_conversations(write_conversation(Message("user", content, MOMENT)))
    assert [one.part for one in found] == [*range(len(found))]
    assert "\n\n".join(one.text for one in found) == content


@pytest.mark.parametrize(
    "message",
    [
        Message("system", "be kind", MOMENT),
        Message("developer", "be kind", MOMENT),
        Message("assistant", None, MOMENT, tool_calls=[{"id": "x"}]),
        Message("assistant", " \n", MOMENT),
        Message("user", [{"type": "image_url", "image_url": {"url": "x"}}], MOMENT),
    ],
)
def test_what_nobody_said_is_left_out(message: Message) -> None:
    assert split_conversations(write_conversation(message)) == []


def test_a_tools_words_are_not_trusted() -> None:
    (found,) = split_conversations(
        write_conversation(Message("tool", "result", MOMENT, tool_call_id="x"))
    )
    assert (found.trust, found.has_neighbours) == ("tool", False)


def test_a_conversation_that_cannot_be_read_is_left_out() -> None:
    text = write_conversation(Message("user", "zebra", MOMENT)).replace(
        '"k": ', '"bad": {},\n"k": '
    )
    assert [one.text for one in split_conversations(text)] == ["zebra"]


def test_of_a_message_with_pictures_the_text_is_found() -> None:
    parts: list[dict[str, Any]] = [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:,x"}},
        {"type": "text", "text": "a cat"},
    ]
    (found,) = split_conversations(write_conversation(Message("user", parts, MOMENT)))
    assert found.text == "look\na cat"


# Neighbours


def test_neighbours_are_what_is_said_before_and_after_in_the_same_conversation() -> None:
    a, b, c, x = (
        Passage(text, line, conversation=key)
        for line, (text, key) in enumerate([("a", "k"), ("b", "k"), ("c", "k"), ("x", "other")])
    )
    assert find_neighbours([a, x, b, c]) == [
        Placed(a, None, b),
        Placed(x),
        Placed(b, a, c),
        Placed(c, b),
    ]


def test_what_was_said_later_or_by_strangers_is_no_neighbour() -> None:
    later = MOMENT + passages.CLOSE + timedelta(milliseconds=1)
    now = Passage("a", 1, conversation="k", time=MOMENT)
    assert find_neighbours([now, replace(now, time=later)])[0] == Placed(now)
    assert find_neighbours([now, replace(now, trust="stranger"), replace(now, is_shown=False)]) == [
        Placed(now),
        Placed(replace(now, trust="stranger")),
        Placed(replace(now, is_shown=False)),
    ]
    close = replace(now, time=MOMENT + passages.CLOSE)
    assert find_neighbours([now, close]) == [Placed(now, None, close), Placed(close, now)]


def test_facts_and_prose_have_no_neighbours() -> None:
    found = split_memory("prose\n\n- one\n- two\n")
    assert find_neighbours(found) == [Placed(one) for one in found]
    assert find_neighbours([]) == []


def test_messages_that_say_the_same_have_neighbours_of_their_own() -> None:
    one, other = Passage("ok", 1, conversation="k"), Passage("ok", 1, conversation="k")
    assert [(found.before, found.after) for found in find_neighbours([one, other])] == [
        (None, other),
        (one, None),
    ]


# What tells passages apart


def test_a_fingerprint_names_what_is_said_wherever_it_stands() -> None:
    one = Passage("茶", 1)
    assert one.fingerprint == Passage("茶", 9, "Home", "2026-03-01", "c", "user", "id").fingerprint
    assert one.fingerprint != Passage("咖啡", 1).fingerprint
    assert len(Passage("\ud800", 1).fingerprint) == len(one.fingerprint) == 16


@pytest.mark.parametrize("cut", [split_memory, split_day, split_conversations])
@brief
@given(st.text(max_size=200))
def test_no_text_at_all_breaks_it(cut: Callable[[str], list[Passage]], text: str) -> None:
    assert all(one.text.strip() and one.line >= 1 for one in cut(text))
