"""Without a model the answer is what is remembered, with where it stands, or that it is nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from turnleaf import Memory, Message
from turnleaf.core.model_dialogue import Prompt
from turnleaf.core.search.ranking import Hit
from turnleaf.errors import ModelError
from turnleaf.llm.recall import RecallModel

FACT = Hit("客廳的燈叫做小明", "memory", Path("/d/MEMORY.md"), 3, "家", "2026-11-16", None, None,
           "k7m2", 1.0, 1.0, 0.0)  # fmt: skip
NOTE = Hit("09:30 boiler serviced", "daily", Path("/d/2026-11-10.md"), 5, None, "2026-11-10", None,
           None, None, 0.9, 0.9, 0.0)  # fmt: skip
SAID = Hit("The boiler leaks", "conversations", Path("/d/2026-10.jsonl"), 2, None, "2026-10-02",
           "slack:1.5", "user", None, 0.8, 0.8, 0.0)  # fmt: skip


def answer(question: str, *found: Hit, facts: tuple[Memory, ...] = ()) -> str:
    prompt = Prompt("", (Message("user", question),), question, question, found=found, facts=facts)
    return "".join(event.text for event in RecallModel().stream(prompt))


def make_fact(content: str, category: str | None = None) -> Memory:
    time = datetime(2026, 11, 16, tzinfo=UTC)
    return Memory("k7m2", content, time, time, category)


def test_a_fact_is_quoted_with_its_date_and_the_id_that_why_takes() -> None:
    told = answer("小明是什麼?", FACT)
    assert told == "關於這件事，我記得：\n- 客廳的燈叫做小明（記憶，2026-11-16，#k7m2）"


def test_a_question_in_simplified_characters_is_answered_in_them() -> None:
    told = answer("小明是什么?", FACT)
    assert "关于这件事，我记得：\n- 客廳的燈叫做小明（记忆，2026-11-16，#k7m2）" in told


def test_chinese_that_is_the_same_in_both_scripts_is_answered_as_what_was_said_before() -> None:
    history = (Message("user", "我女儿五岁"), Message("assistant", "記住了"))
    asked = "小明是何人?"
    prompt = Prompt("", (*history, Message("user", asked)), asked, asked, found=(FACT,))
    (told,) = RecallModel().stream(prompt)
    assert "关于这件事，我记得：" in told.text
    assert "關於這件事，我記得：" in answer(asked, FACT)


@pytest.mark.parametrize("question", ["小明とは何ですか？", "소명이 뭐예요?"])
def test_a_question_in_a_language_that_we_do_not_speak_is_answered_in_english(
    question: str,
) -> None:
    assert answer(question, FACT).startswith("Here is what I remember about that:")


def test_notes_messages_and_files_are_quoted_with_where_they_stand() -> None:
    line = replace(NOTE, source="document", path=Path("notes.txt"), line=7, date=None)
    numbered = replace(SAID, message=17, id="17")
    told = answer("what about the boiler?", NOTE, SAID, numbered, line)
    assert "- 09:30 boiler serviced (daily log, 2026-11-10, 2026-11-10.md:5)" in told
    assert "- The boiler leaks (conversation, 2026-10-02, slack:1.5)" in told
    assert "- The boiler leaks (conversation, 2026-10-02, #17)" in told
    assert "- 09:30 boiler serviced (attached file, notes.txt:7)" in told


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("量子力學是什麼?", "記憶裡沒有相關的內容。"),
        ("What is quantum physics?", "I remember nothing about that."),
    ],
)
def test_an_unknown_question_says_that_nothing_is_remembered(question: str, said: str) -> None:
    assert answer(question) == said


def test_no_answer_speaks_of_a_model_or_of_commands() -> None:
    said = ["What is Ming?", "小明是什麼?", "It is a nice day", "hello", "help", "你會做什麼？"]
    for told in map(answer, said):
        assert "model" not in told
        assert "模型" not in told
        assert "turnleaf" not in told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("hello", "Hello!"),
        ("Hi there!", "Hello!"),
        ("help", "I remember what you tell me"),
        ("What can you do?", "I remember what you tell me"),
        ("thanks a lot!", "You are welcome."),
        ("good night", "Goodbye!"),
        ("ok cool", "OK."),
        ("你好", "你好！"),
        ("你會做什麼？", "我會記住你告訴我的事"),
        ("謝謝你", "不客氣。"),
        ("掰掰", "再見！"),
        ("好的", "好。"),
    ],
)
def test_small_talk_gets_a_short_answer(said: str, told: str) -> None:
    assert answer(said, FACT).startswith(told)


@pytest.mark.parametrize(
    "asked",
    [
        "What do you know about me?",
        "what do you remember",
        "Tell me everything you know about me",
        "What have you learned about me so far?",
        "list my memories",
        "Who am I?",
    ],
)
def test_all_facts_are_listed_under_their_headings(asked: str) -> None:
    facts = (make_fact("I live in Porto", "Places"), make_fact("I row"), make_fact("b", "Places"))
    told = answer(asked, FACT, facts=facts)
    assert told.endswith(":\n\n**Places**\n- I live in Porto\n- b\n\n**Other**\n- I row")


@pytest.mark.parametrize(
    "asked",
    ["你記得我什麼？", "你知道我哪些事", "你對我了解多少？", "關於我，你知道什麼？", "我是誰？"],
)
def test_all_facts_are_listed_in_chinese_too(asked: str) -> None:
    told = answer(asked, facts=(make_fact("我住在台南", "地點"),))
    assert told == "我記得關於你的這些事：\n\n**地點**\n- 我住在台南"
    assert answer(asked).startswith("我還不記得你的任何事")


@pytest.mark.parametrize("asked", ["What do you know about my sister?", "你記得我的生日嗎？"])
def test_a_question_about_one_thing_lists_nothing_else(asked: str) -> None:
    assert "I row" not in answer(asked, facts=(make_fact("I row"),))


def test_of_very_many_facts_the_rest_are_counted() -> None:
    facts = tuple(make_fact(f"fact {number}") for number in range(100))
    told = answer("what do you know about me?", facts=facts)
    assert told.count("\n- ") == 60
    assert told.endswith("… and 40 more.")


def test_a_statement_is_taken_in_with_what_will_be_learned_from_it() -> None:
    assert "我會記下：\n- 客廳的燈叫做小明" in answer("客廳的燈叫做小明")
    assert answer("The bus was late again").startswith("OK. That stays in this conversation")


def test_it_fills_in_no_form() -> None:
    with pytest.raises(ModelError, match="recall model cannot produce structured output"):
        RecallModel().generate_json("", "", {})


@pytest.mark.parametrize(
    ("known", "said", "noted"),
    [
        ("I live in Porto", "We moved to Lisbon last week.", "- I live in Lisbon"),
        ("我住在台南", "我上週搬到高雄了", "- 我住在高雄"),
    ],
)
def test_a_new_statement_is_noted_instead_of_quoting_what_it_replaces(
    known: str, said: str, noted: str
) -> None:
    told = answer(said, replace(FACT, text=known), facts=(make_fact(known),))
    assert noted in told
    assert known not in told


def test_a_statement_that_is_known_already_is_quoted() -> None:
    known = "I live in Porto"
    assert "(memory, " in answer(f"{known}.", replace(FACT, text=known), facts=(make_fact(known),))
