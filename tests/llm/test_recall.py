"""Without a model the answer is what is remembered, with where it stands, or that it is nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turnleaf import Message
from turnleaf.core.dialogue import Prompt
from turnleaf.core.search.hits import Hit
from turnleaf.errors import ModelError
from turnleaf.llm.recall import RecallModel

FACT = Hit("客廳的燈叫做小明", "memory", Path("/d/MEMORY.md"), 3, "家", "2026-11-16", None, None,
           "k7m2", 1.0, 1.0, 0.0)  # fmt: skip
NOTE = Hit("09:30 boiler serviced", "daily", Path("/d/2026-11-10.md"), 5, None, "2026-11-10", None,
           None, None, 0.9, 0.9, 0.0)  # fmt: skip
SAID = Hit("The boiler leaks", "conversations", Path("/d/2026-10.jsonl"), 2, None, "2026-10-02",
           "slack:1.5", "user", None, 0.8, 0.8, 0.0)  # fmt: skip


def answer(question: str, *found: Hit, history: tuple[Message, ...] = ()) -> str:
    prompt = Prompt("", (*history, Message("user", question)), question, question, found=found)
    return "".join(event.text for event in RecallModel().stream(prompt))


def test_a_fact_is_quoted_with_where_it_stands_and_since_when() -> None:
    told = answer("小明是什麼?", FACT)
    assert "關於這件事，我記得：\n- 客廳的燈叫做小明（記憶，2026-11-16，MEMORY.md:3）" in told


def test_a_question_in_simplified_characters_is_answered_in_them() -> None:
    told = answer("小明是什么?", FACT)
    assert "关于这件事，我记得：\n- 客廳的燈叫做小明（记忆，2026-11-16，MEMORY.md:3）" in told
    assert "还没有设置模型" in told


def test_chinese_that_is_the_same_in_both_scripts_is_answered_as_what_was_said_before() -> None:
    before = (Message("user", "我女儿五岁"), Message("assistant", "記住了"))
    assert "关于这件事，我记得：" in answer("小明是何人?", FACT, history=before)
    assert "關於這件事，我記得：" in answer("小明是何人?", FACT)


@pytest.mark.parametrize("question", ["小明とは何ですか？", "소명이 뭐예요?"])
def test_a_question_in_a_language_that_we_do_not_speak_is_answered_in_english(
    question: str,
) -> None:
    assert answer(question, FACT).startswith("Here is what I remember about that:")


def test_notes_and_messages_are_quoted_with_date_and_source() -> None:
    told = answer("what about the boiler?", NOTE, SAID)
    assert "- 09:30 boiler serviced (daily log, 2026-11-10, 2026-11-10.md:5)" in told
    assert "- The boiler leaks (conversation, 2026-10-02, slack:1.5)" in told


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("量子力學是什麼?", "沒有相關的內容"),
        ("What is quantum physics?", "I remember nothing about that."),
    ],
)
def test_an_unknown_question_says_that_nothing_is_remembered(question: str, said: str) -> None:
    assert said in answer(question)


@pytest.mark.parametrize(
    ("question", "advice"),
    [("小明是什麼?", "請執行 turnleaf config model"), ("What is Ming?", "turnleaf config model")],
)
def test_one_line_says_how_to_set_up_a_model(question: str, advice: str) -> None:
    last = answer(question, FACT).splitlines()[-1]
    assert last.startswith(("(", "（"))
    assert advice in last


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("客廳的燈叫做小明", "小明是什麼?"),
        ("The living room lamp is called Ming", "what is Ming?"),
        ("我女兒叫小安", "我女兒叫什麼名字？"),
    ],
)
def test_what_was_said_in_this_conversation_is_quoted(statement: str, question: str) -> None:
    history = (Message("user", statement), Message("assistant", "OK"))
    told = answer(question, history=history)
    assert f"- {statement} (" in told or f"- {statement}（" in told


def test_neither_questions_nor_other_statements_are_quoted() -> None:
    history = (
        Message("user", "小明是什麼?"),
        Message("assistant", "小明是客廳的燈"),
        Message("user", "今天好冷"),
    )
    assert "沒有相關的內容" in answer("小明在哪裡?", history=history)


def test_neither_requests_nor_what_was_taken_back_are_quoted() -> None:
    history = (
        Message("user", "remember that my dog is called Rex"),
        Message("assistant", "Remembered: my dog is called Rex"),
        Message("user", "My cat is called Momo"),
        Message("user", "forget my cat"),
        Message("user", "what is my dog called"),
    )
    for question in ("what is my dog called?", "what is my cat called?", "Do you remember me?"):
        assert "I remember nothing about that." in answer(question, history=history)


def test_words_of_asking_find_nothing() -> None:
    history = (Message("user", "I remember that my dog is called Rex"),)
    assert "I remember nothing about that." in answer(
        "Do you remember my birthday?", history=history
    )
    assert "沒有相關的內容" in answer(
        "你記得我的生日嗎？", history=(Message("user", "我記得要買茶"),)
    )


def test_what_is_remembered_and_was_said_is_quoted_once() -> None:
    history = (Message("user", "客廳的燈叫做小明"),)
    assert answer("小明是什麼?", FACT, history=history).count("客廳的燈叫做小明") == 1


def test_a_statement_is_taken_in_with_what_will_be_learnt_from_it() -> None:
    assert "我會記下：\n- 客廳的燈叫做小明" in answer("客廳的燈叫做小明")
    assert "no model to answer with" in answer("It is a nice day")


def test_at_most_ten_are_quoted() -> None:
    many = [Hit(f"note {n}", *[getattr(NOTE, name) for name in NOTE.__slots__[1:]])
            for n in range(30)]  # fmt: skip
    assert answer("notes?", *many).count("\n- ") == 10


def test_it_fills_in_no_form() -> None:
    with pytest.raises(ModelError, match="recall is no model"):
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
    told = answer(said, replace(FACT, text=known))
    assert noted in told
    assert known not in told


def test_a_statement_that_is_known_already_is_quoted() -> None:
    assert "(memory, " in answer("I live in Porto.", replace(FACT, text="I live in Porto"))


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        ("I live in Porto.", "I moved to Lisbon.", "Where do I live now, in Porto or Lisbon?"),
        ("我住在台南", "我搬到高雄了", "我住在台南，還是搬到高雄？"),
    ],
)
def test_what_was_replaced_later_in_the_conversation_is_not_quoted(
    first: str, then: str, question: str
) -> None:
    told = answer(question, history=(Message("user", first), Message("user", then)))
    assert then.rstrip(".") in told
    assert first.rstrip(".") not in told
