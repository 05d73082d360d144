"""`forget --source`, `forget --conversation` and `why` of a conversation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faces.conftest import Cli
from tests.standins.scripted import ScriptedModel, learnt
from turnleaf import Assistant
from turnleaf.assistant import Document

KEY = "cli:session-1"
SECRET = "Zanzibarine 住在第七街"  # noqa: S105 - a name


@pytest.fixture
def assistant(cli: Cli) -> Iterator[Assistant]:
    assistant = Assistant(cli.data, model=ScriptedModel())
    yield assistant
    assistant.close(flush=False)


def model(assistant: Assistant) -> ScriptedModel:
    assert isinstance(assistant.model, ScriptedModel)
    return assistant.model


def holding(folder: Path, text: str) -> list[str]:
    """Name the files that hold a text, as it is or as JSON writes it."""
    forms = [text.encode(), json.dumps(text)[1:-1].encode(), text.encode("utf-16-le")]
    found = (path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in found if any(form in path.read_bytes() for form in forms)]


def fill(assistant: Assistant, key: str = KEY) -> None:
    """Leave a trace in every place that there is."""
    model(assistant).turns = [[("append_daily_log", {"entry": f"met {SECRET}"}), "Noted."]]
    model(assistant).facts = [[learnt(SECRET)], [learnt(f"{SECRET}, says the paper")]]
    assistant.reply(key, f"My friend is {SECRET}")
    assistant.flush()
    paper = Document("paper.txt", f"{SECRET}, says the paper")
    assistant.reply(key, "Read this", documents=[paper])
    assistant.flush()
    assistant.reply(key, f"Remember that {SECRET} is kind")
    assistant.reply(key, f"{SECRET} again")
    assistant.index.search(SECRET)
    assistant.close(flush=False)


def test_everything_that_came_from_a_conversation_is_erased(cli: Cli, assistant: Assistant) -> None:
    cli.memory.add("I drink tea")
    fill(assistant)
    assert len(holding(cli.data, SECRET)) >= 5
    result = cli("forget", "--source", KEY, "--yes")
    assert result.code == 0
    assert re.fullmatch(r"erased \d facts, 1 note and 8 messages from cli:session-1\n", result.out)
    assert holding(cli.data, SECRET) == []
    assert holding(cli.data, "Zanzibarine") == []
    assert [memory.content for memory in cli.memory.get_all()] == ["I drink tea"]


def test_what_came_from_a_document_is_erased_and_the_rest_stays(
    cli: Cli, assistant: Assistant
) -> None:
    claim = "倉庫的鎖是鐵衛牌"
    model(assistant).facts = [[learnt(claim)]]
    assistant.reply(KEY, "看看這份說明書", documents=[Document("說明書.md", claim)])
    assistant.flush()
    (waiting,) = assistant.pending.get_all()
    assistant.pending.accept(waiting.id)
    assistant.memory.add("I drink tea")
    assistant.close(flush=False)
    result = cli("forget", "--source", "document:說明書.md", "--yes", "--json")
    assert result.json["facts"] == 1
    assert holding(cli.data, claim) == []
    assert [memory.content for memory in cli.memory.get_all()] == ["I drink tea"]
    assert cli("history", KEY).code == 0


def test_a_conversation_is_erased_with_its_queue_and_its_facts_stay(
    cli: Cli, assistant: Assistant
) -> None:
    assistant.memory.add("I drink tea")
    assistant.reply(KEY, f"nothing but {SECRET}")
    assistant.close(flush=False)
    assert "learning.db" in holding(cli.data, SECRET)
    assert cli("forget", "--conversation", KEY, "--yes").code == 0
    assert holding(cli.data, SECRET) == []
    assert len(cli.memory.get_all()) == 1


@pytest.mark.parametrize("option", ["--source", "--conversation"])
def test_nothing_is_erased_without_a_yes(cli: Cli, assistant: Assistant, option: str) -> None:
    assistant.reply(KEY, SECRET)
    assistant.close(flush=False)
    result = cli("forget", option, KEY)
    assert result.code == 2
    assert "nothing brings back what is erased; --yes erases it" in result.err
    assert holding(cli.data, SECRET)


def test_a_text_and_a_source_are_not_taken_together(cli: Cli) -> None:
    result = cli("forget", "tea", "--source", KEY, "--yes")
    assert result.code == 2
    assert "give a text, --conversation or --source, not two of them" in result.err


@pytest.mark.parametrize("source", ["document:docs/paper.txt", "nonsense", "tool:"])
def test_a_source_that_nothing_came_from_is_told_with_those_that_there_are(
    cli: Cli, assistant: Assistant, source: str
) -> None:
    assistant.reply(KEY, "Remember that I like tea")
    assistant.close(flush=False)
    result = cli("forget", "--source", source, "--yes")
    assert result.code == 3
    assert f'nothing came from "{source}"; there is {KEY}' in result.err


@pytest.mark.parametrize("source", ["", "  "])
def test_a_source_needs_a_name(cli: Cli, source: str) -> None:
    assert cli("forget", "--source", source, "--yes").code == 2


def test_why_of_a_conversation_tells_what_went_into_each_answer(
    cli: Cli, assistant: Assistant
) -> None:
    fact = assistant.memory.add("客廳的燈叫做小明")
    assistant.daily.append("換了小明的燈泡")
    assistant.reply(KEY, "小明是什麼?")
    assistant.memory.delete(fact.id)
    assistant.close(flush=False)
    told = cli("why", KEY).out
    assert "小明是什麼?" in told
    assert f"memory {fact.id}: (forgotten since)" in told
    assert re.search(r"found in \d{4}-\d\d-\d\d\.md:3, score", told)
    assert cli("why", KEY, "--json").json[0]["memories"] == [fact.id]


def test_why_of_a_conversation_leads_to_the_messages_that_were_found(
    cli: Cli, assistant: Assistant
) -> None:
    other = "cli:session-77"
    for text in ("Hello", "護照在書房的抽屜裡", "Thanks", "Bye"):
        assistant.reply(other, text)
    assistant.reply(KEY, "護照在哪裡?")
    number = assistant.conversations.messages(other)[2].id
    assistant.close(flush=False)
    told = cli("why", KEY).out
    assert f"found in {other}, message {number}, score" in told
    assert re.search(rf"found in {other}, message \d+, beside what was found", told)
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d user: 護照在書房的抽屜裡", told)
    there = cli("history", "show", other, "--message", str(number)).out
    assert re.search(rf"user  \(message {number}\)\n  護照在書房的抽屜裡", there)
    assert "Hello" in there
    assert "Bye" not in there
    assert cli("history", "show", KEY, "--message", str(number)).code == 3


def test_why_of_a_learnt_fact_tells_the_words_and_the_conversation(
    cli: Cli, assistant: Assistant
) -> None:
    assistant.reply(KEY, "對了，客廳的燈叫做小明")
    assistant.flush()
    (fact,) = assistant.memory.get_all()
    assistant.close(flush=False)
    told = cli("why", fact.id).out
    assert "learnt from a conversation" in told
    assert "quote: 客廳的燈叫做小明" in told
    assert f"conversation: {KEY}" in told
