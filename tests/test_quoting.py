"""Without a model a question is answered by what speaks of the same, and by nothing else."""

from __future__ import annotations

from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from turnleaf import Assistant, Document, Message
from turnleaf.core.model_dialogue import Prompt
from turnleaf.core.recall.judging import judge_by_words
from turnleaf.core.recall.questions import ends_asking, read_question
from turnleaf.llm.recall import RecallModel
from turnleaf.quoting import quote_documents, quote_statements

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from turnleaf.core.recall.judging import PassageReading
    from turnleaf.core.recall.questions import Names, Question

SAID = [
    "My grandma lives in Whitby, in a care home",
    "my sister is allergic to bee stings, she carries an EpiPen",
    "I can't do cilantro, it tastes like soap",
    "Our beagle Tilly gets half a tablet every morning",
    "remember that the car insurance is with Allianz",
    "My brother Callum works as a nurse",
    "Callum's kid Jonah is obsessed with excavators",
    "I swim three times a week",
    "My friend lives in Ghent",
    "奶奶住在台南安平",
    "我老公對蝦子過敏，吃到會起疹子",
    "家裡的貓叫麻糬，今年七歲",
    "記住公司的統編是 53927461",
    "我大學念的是海洋系",
    "我每個月 10 號領薪水",
]
NOTHING = ("I remember nothing about that.", "記憶裡沒有相關的內容。")


@pytest.fixture(scope="module")
def assistant(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Assistant]:
    folder: Path = tmp_path_factory.mktemp("quoting")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EMBEDDINGS", "off")
        with closing(Assistant(folder, model=RecallModel())) as own:
            for text in SAID:
                own.reply("cli:earlier", text)
            own.flush()
            yield own


def quote(assistant: Assistant, asked: str) -> list[str]:
    told = assistant.preview("cli:new", asked).prompt.found
    return [hit.text for hit in told]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("Where does my grandmother live?", "Whitby"),
        ("is there any herb I should avoid?", "cilantro"),
        ("how much medicine does the dog get", "half a tablet"),
        ("who insures my car?", "Allianz"),
        ("What does my brother do for a living?", "nurse"),
        ("a good present for my nephew?", "excavators"),
        ("what sport am I doing?", "swim"),
        ("what must my sister watch out for?", "bee"),
        ("奶奶住哪裡？", "台南"),
        ("我先生有什麼不能吃？", "蝦子"),
        ("麻糬幾歲了", "七歲"),
        ("統一編號是多少", "53927461"),
        ("幾號領薪水", "10 號"),
    ],
)
def test_the_best_passage_comes_first(assistant: Assistant, asked: str, answer: str) -> None:
    assert answer in quote(assistant, asked)[0]


@pytest.mark.parametrize(
    "asked",
    [
        "Where do I live?",
        "我住在哪裡？",
        "What am I allergic to?",
        "How old is the beagle?",
        "Who is my home insurance with?",
        "What is my uncle's job?",
        "When is Callum's birthday?",
        "What is Callum's phone number?",
        "how much do I earn?",
        "我阿姨住哪裡？",
        "老公生日幾號",
        "溏心蛋要煮幾分鐘",
        "我薪水多少",
    ],
)
def test_what_is_about_somebody_or_something_else_is_not_quoted(
    assistant: Assistant, asked: str
) -> None:
    assert quote(assistant, asked) == []


def test_a_request_and_its_fact_are_quoted_once(assistant: Assistant) -> None:
    assert quote(assistant, "Who is the car insurance with?") == [
        "the car insurance is with Allianz"
    ]
    assert quote(assistant, "公司統編多少？") == ["公司的統編是 53927461"]


def test_neither_questions_nor_earlier_answers_are_quoted(assistant: Assistant) -> None:
    for _ in range(2):
        assistant.reply("cli:asked", "Where does my grandmother live?")
    told = assistant.reply("cli:asked again", "Where does my grandmother live?").text
    assert "?" not in told
    assert "- -" not in told


def test_a_question_of_stop_words_alone_is_answered(assistant: Assistant) -> None:
    assistant.reply("cli:tea", "Remember that I like oolong tea")
    assert "oolong tea" in assistant.reply("cli:later", "What do I like?").text


@pytest.mark.parametrize(
    ("question", "quoted", "missing"),
    [
        ("What do I like?", "oolong", ("liquorice", "fireworks", "苦瓜")),
        ("我喜歡什麼？", "oolong", ("liquorice", "fireworks", "苦瓜")),
        ("What do I hate?", "fireworks", ("oolong",)),
        ("What don't I like?", "liquorice", ("oolong",)),
        ("我不喜歡什麼？", "苦瓜", ("oolong",)),
        ("我討厭什麼？", "苦瓜", ("oolong",)),
        ("Do I like fireworks?", "fireworks", ("oolong",)),
        ("What does my wife hate?", "karaoke", ("oolong", "liquorice")),
    ],
)
def test_what_is_liked_and_what_is_disliked_are_told_apart(
    question: str, quoted: str, missing: tuple[str, ...]
) -> None:
    said = (
        "I like oolong tea", "I hate fireworks", "I don't like liquorice", "我不喜歡苦瓜",
        "My wife hates karaoke",
    )  # fmt: skip
    told = [
        one.text
        for one in quote_statements(
            question, [Message("user", one) for one in said], judge_by_words
        )
    ]
    assert quoted in " ".join(told)
    assert not [word for word in missing if word in " ".join(told)]


@pytest.mark.parametrize(
    ("said", "question", "meant"),
    [
        ("The plumber comes next Tuesday", "When does the plumber come?", "that is 2026-11-24"),
        ("我下週二要去看牙醫", "我什麼時候看牙醫？", "也就是 2026-11-24"),
    ],
)
def test_a_day_that_was_said_relatively_is_told(said: str, question: str, meant: str) -> None:
    message = Message("user", said, datetime(2026, 11, 18, 12).astimezone())
    found = quote_statements(question, [message], judge_by_words)
    prompt = Prompt("", (Message("user", question),), question, question, found=found)
    (text,) = (one.text for one in RecallModel().stream(prompt))
    assert meant in text
    assert "2026-11-18" in text


def test_each_quote_has_a_reference_to_its_place(assistant: Assistant) -> None:
    told = assistant.reply("cli:reference", "how much medicine does the dog get").text
    (hit,) = assistant.preview("cli:new", "how much medicine does the dog get").prompt.found
    assert told.endswith(f"#{hit.message})")


@pytest.mark.parametrize("asked", ["Where do I live?", "我住在哪裡？"])
def test_the_missing_model_is_mentioned_once_and_never_in_the_text(
    assistant: Assistant, asked: str
) -> None:
    key = f"cli:{asked}"
    assert not assistant.reply(key, "remember that I row").lacks_model
    first, second = assistant.reply(key, asked), assistant.reply(key, asked)
    assert (first.lacks_model, second.lacks_model) == (True, False)
    assert first.text in NOTHING


def test_a_model_that_was_chosen_is_not_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNLEAF_MODEL", "recall")
    with closing(Assistant(tmp_path)) as own:
        assert not own.reply("cli:chosen", "Where do I live?").lacks_model


NOTES = Document("notes.txt", "Shopping list\n\nThe door code is 4711.\n門口的密碼是 9922\n")


@pytest.mark.parametrize(("asked", "line"), [("what is the code?", 3), ("密碼是多少？", 4)])
def test_an_attached_file_is_searched(asked: str, line: int) -> None:
    found = quote_documents(asked, [NOTES])
    assert line in [hit.line for hit in found]
    assert {hit.path.name for hit in found} == {"notes.txt"}


def test_what_an_attached_file_says_is_quoted_with_its_line(assistant: Assistant) -> None:
    text = Document("plan.txt", "Intro\nThe venue is the old brewery in Ghent\n")
    told = assistant.reply("cli:file", "where is the venue?", documents=[text]).text
    assert "- The venue is the old brewery in Ghent (attached file, plan.txt:2)" in told


@pytest.mark.parametrize(
    ("said", "asked", "masked"),
    [
        (
            "my wifi password is b4nana77",
            "what is my wifi password?",
            "my wifi password is [password]",
        ),
        ("我的提款卡密碼是 8823", "提款卡密碼是多少？", "我的提款卡密碼是 [password]"),
    ],
)
def test_a_secret_is_quoted_to_its_owner_and_masked_where_other_people_may_read_it(
    assistant: Assistant, said: str, asked: str, masked: str
) -> None:
    assistant.reply("cli:secret", said)
    assert said in assistant.reply("cli:secret", asked).text
    assert quote(assistant, asked) == [said]
    for shared in ("slack:1700000000.000100", "schedule:daily"):
        told = assistant.preview(shared, asked).prompt.found
        assert [hit.text for hit in told] == [masked]


@pytest.mark.parametrize(
    ("statement", "question"),
    [
        ("客廳的燈叫做小明", "小明是什麼?"),
        ("The living room lamp is called Ming", "what is Ming?"),
        ("我女兒叫小安", "我女兒叫什麼名字？"),
        ("our turtle Gerald lives in a tub, he's about 14 now", "How old is Gerald?"),
        ("My vet is closed on Wednesdays", "我的獸醫禮拜幾休息？"),
        ("The number plate of my car is NKT-6183", "我的車牌是幾號？"),
        ("Pin-yu's art class is 4800 a month", "how much is Pin-yu's art class?"),
        ("佩玲住新竹", "Where does Pei-ling live?"),
        ("Kuo-wei lives in Hsinchu", "國偉住在哪裡？"),
        ("the Sunday ride starts at 5:30", "what time does the Sunday ride start?"),
    ],
)
def test_what_was_said_in_a_conversation_that_is_not_stored_is_quoted(
    statement: str, question: str
) -> None:
    history = (Message("user", statement), Message("assistant", "OK"))
    assert [hit.text for hit in quote_statements(question, history, judge_by_words)] == [statement]


def test_beside_what_answers_stands_what_is_nearly_as_near() -> None:
    scores = {"the keys are with Peng": 1.0, "the keys are in a pot": -0.5, "I like tea": -3.0}
    history = [Message("user", text) for text in scores]

    def judge(question: Question, readings: Sequence[PassageReading], names: Names) -> list[float]:
        assert question.text == "where are the keys?"
        assert not names
        return [scores[one.text] + shift for one in readings]

    shift = 0.0
    found = quote_statements("where are the keys?", history, judge)
    assert [hit.text for hit in found] == ["the keys are with Peng", "the keys are in a pot"]
    shift = -1.0
    assert quote_statements("where are the keys?", history, judge) == ()


def test_the_parts_of_a_name_are_no_words_of_a_question() -> None:
    question = read_question("What time is A-Zhe's Sunday ride, and what does Pin-yu pay?")
    assert question.names >= {"zhe", "pin", "yu"}
    assert "sundai" not in question.names
    assert not any("password" in thing.meanings for thing in question.things)
    assert read_question("What's the Wi-Fi password?").names == set()


@pytest.mark.parametrize(
    "asked",
    [
        "whats my tax file number",
        "The pharmacist wants to know what I take",
        "insurance form asks about surgery: what did mum have removed",
    ],
)
def test_a_question_without_its_mark_is_no_statement(asked: str) -> None:
    assert quote_statements(asked, [Message("user", asked)], _quote_all) == ()


def test_what_says_that_somebody_is_curious_is_a_statement() -> None:
    said = "My son wants to know everything about dinosaurs"
    found = quote_statements("and?", [Message("user", said)], _quote_all)
    assert [hit.text for hit in found] == [said]


def _quote_all(question: Question, readings: Sequence[PassageReading], names: Names) -> list[float]:
    del question, names
    return [1.0] * len(readings)


def test_neither_requests_nor_what_was_taken_back_or_asked_are_quoted() -> None:
    history = [
        Message("user", "remember that my dog is called Rex"),
        Message("user", "My cat is called Momo"),
        Message("user", "forget my cat"),
        Message("user", "what is my dog called"),
    ]
    for question in ("what is my dog called?", "what is my cat called?", "Do you remember me?"):
        assert quote_statements(question, history, judge_by_words) == ()


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        ("I live in Porto.", "I moved to Lisbon.", "Where do I live now, in Porto or Lisbon?"),
        ("我住在台南", "我搬到高雄了", "我住在哪裡？"),
    ],
)
def test_what_was_replaced_later_in_the_conversation_is_not_quoted(
    first: str, then: str, question: str
) -> None:
    history = [Message("user", first), Message("user", then)]
    assert first not in [hit.text for hit in quote_statements(question, history, judge_by_words)]


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("filling in a form for the bank, where does my grandma live", "Whitby"),
        ("客戶打電話來，公司統編幾號", "53927461"),
    ],
)
def test_what_stands_beside_the_clause_that_asks_counts_little(
    assistant: Assistant, asked: str, answer: str
) -> None:
    # Another grandmother is no wrong answer to where one lives.
    assert any(answer in one for one in quote(assistant, asked))
    question = read_question(asked)
    assert {thing.is_aside for thing in question.things} == {True, False}


def test_a_message_that_ends_with_a_question_is_not_quoted(assistant: Assistant) -> None:
    said = "there are hives next to the tent, is my sister allergic to bee stings"
    assistant.reply("cli:ends", said)
    told = quote(assistant, "what must my sister watch out for?")
    assert told
    assert said not in told


def test_only_the_last_clause_tells_whether_a_message_ends_asking() -> None:
    assert ends_asking("we have guests, how do I open the gate")
    assert ends_asking("the hives are out, is my sister allergic to bee stings")
    assert ends_asking("the blue one, is called what?")
    assert not ends_asking("When I was ten, we moved to Leeds.")
    assert not ends_asking("The green thing on the piano, the lamp, is called Ming")
    assert not ends_asking("I work at Acme, which is in Leeds")
