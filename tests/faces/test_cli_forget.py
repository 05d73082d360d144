"""`forget`: a memory, a conversation or a source; and `why` of a conversation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faces.conftest import Cli
from tests.standins.scripted_model import ScriptedModel, make_fact
from turnleaf import Assistant
from turnleaf.core.prompt.composer import Document

LAMP = "The living room lamp is called Ming"
MING = "客廳的燈叫做小明"
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


def find_files_with(folder: Path, text: str) -> list[str]:
    """Name the files that hold a text, as it is or as JSON writes it."""
    forms = [text.encode(), json.dumps(text)[1:-1].encode(), text.encode("utf-16-le")]
    found = (path for path in folder.rglob("*") if path.is_file())
    return [path.name for path in found if any(form in path.read_bytes() for form in forms)]


def fill(assistant: Assistant, key: str = KEY) -> None:
    """Leave a trace in every place that there is."""
    model(assistant).turns = [[("append_daily_log", {"entry": f"met {SECRET}"}), "Noted."]]
    model(assistant).facts = [[make_fact(SECRET)], [make_fact(f"{SECRET}, says the paper")]]
    assistant.reply(key, f"My friend is {SECRET}")
    assistant.flush()
    paper = Document("paper.txt", f"{SECRET}, says the paper")
    assistant.reply(key, "Read this", documents=[paper])
    assistant.flush()
    assistant.reply(key, f"Remember that {SECRET} is kind")
    assistant.reply(key, f"{SECRET} again")
    assistant.index.search(SECRET)
    assistant.close(flush=False)


# forget


def test_one_match_is_forgotten_and_undo_brings_it_back(cli: Cli) -> None:
    (lamp, ming) = cli.remember(LAMP, MING)
    result = cli("forget", "小明")
    assert (result.code, result.out) == (0, f"forgot {ming}: {MING}\n")
    assert "restore it with turnleaf undo" in result.err
    assert cli.contents() == [LAMP]
    assert MING in cli("undo").out
    assert sorted(cli.contents()) == sorted([LAMP, MING])
    assert cli("forget", lamp[:5], "--json").json[0]["content"] == LAMP


def test_an_id_means_that_memory_even_if_others_speak_of_it(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    cli.remember(f"see {lamp}")
    assert cli("forget", lamp).code == 0
    assert cli.contents() == [f"see {lamp}"]


def test_a_text_of_several_lines_is_forgotten(cli: Cli) -> None:
    cli.remember("one\n二", "one")
    assert cli("forget", "one\n二").code == 0
    assert cli.contents() == ["one"]


def test_several_matches_are_listed_and_none_forgotten_without_a_person(cli: Cli) -> None:
    cli.remember("tea at four", "green tea", LAMP)
    result = cli("forget", "tea")
    assert (result.code, result.out) == (2, "")
    assert "tea at four" in result.err
    assert "green tea" in result.err
    assert "--yes" in result.err
    assert len(cli.contents()) == 3
    assert cli("forget", "tea", "--yes").code == 0
    assert cli.contents() == [LAMP]


def test_a_few_letters_are_text_before_they_are_an_id(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    result = cli("forget", lamp[:2])
    assert result.code == 3
    assert cli.contents() == [LAMP]


def test_what_is_not_there_cannot_be_forgotten(cli: Cli) -> None:
    cli.remember(LAMP)
    result = cli("forget", "piano")
    assert (result.code, result.out) == (3, "")
    assert "piano" in result.err


# --source and --conversation


def test_everything_that_came_from_a_conversation_is_erased(cli: Cli, assistant: Assistant) -> None:
    cli.memory.add("I drink tea")
    fill(assistant)
    assert len(find_files_with(cli.data, SECRET)) >= 5
    result = cli("forget", "--source", KEY, "--yes")
    assert result.code == 0
    assert re.fullmatch(r"erased \d facts, 1 note and 8 messages from cli:session-1\n", result.out)
    assert find_files_with(cli.data, SECRET) == []
    assert find_files_with(cli.data, "Zanzibarine") == []
    assert [memory.content for memory in cli.memory.get_all()] == ["I drink tea"]


def test_what_came_from_a_document_is_erased_and_the_rest_stays(
    cli: Cli, assistant: Assistant
) -> None:
    claim = "倉庫的鎖是鐵衛牌"
    model(assistant).facts = [[make_fact(claim)]]
    assistant.reply(KEY, "看看這份說明書", documents=[Document("說明書.md", claim)])
    assistant.flush()
    (waiting,) = assistant.pending.get_all()
    assistant.pending.accept(waiting.id)
    assistant.memory.add("I drink tea")
    assistant.close(flush=False)
    result = cli("forget", "--source", "document:說明書.md", "--yes", "--json")
    assert result.json["facts"] == 1
    assert find_files_with(cli.data, claim) == []
    assert [memory.content for memory in cli.memory.get_all()] == ["I drink tea"]
    assert cli("history", KEY).code == 0


def test_a_conversation_is_erased_with_its_queue_and_its_facts_stay(
    cli: Cli, assistant: Assistant
) -> None:
    assistant.memory.add("I drink tea")
    assistant.reply(KEY, f"nothing but {SECRET}")
    assistant.close(flush=False)
    assert "learning.db" in find_files_with(cli.data, SECRET)
    assert cli("forget", "--conversation", KEY, "--yes").code == 0
    assert find_files_with(cli.data, SECRET) == []
    assert len(cli.memory.get_all()) == 1


@pytest.mark.parametrize("option", ["--source", "--conversation"])
def test_nothing_is_erased_without_a_yes(cli: Cli, assistant: Assistant, option: str) -> None:
    assistant.reply(KEY, SECRET)
    assistant.close(flush=False)
    result = cli("forget", option, KEY)
    assert result.code == 2
    assert "this cannot be undone; confirm with --yes" in result.err
    assert find_files_with(cli.data, SECRET)


def test_a_text_and_a_source_are_not_taken_together(cli: Cli) -> None:
    result = cli("forget", "tea", "--source", KEY, "--yes")
    assert result.code == 2
    assert "use only one of TEXT, --conversation and --source" in result.err


@pytest.mark.parametrize("source", ["document:docs/paper.txt", "nonsense", "tool:"])
def test_a_source_that_nothing_came_from_is_told_with_those_that_there_are(
    cli: Cli, assistant: Assistant, source: str
) -> None:
    assistant.reply(KEY, "Remember that I like tea")
    assistant.close(flush=False)
    result = cli("forget", "--source", source, "--yes")
    assert result.code == 3
    assert f'nothing came from "{source}"; known sources are {KEY}' in result.err


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
    assert re.search(rf"found in {other}, message \d+, next to a hit", told)
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d user: 護照在書房的抽屜裡", told)
    there = cli("history", "show", other, "--message", str(number)).out
    assert re.search(rf"user  \(message {number}\)\n  護照在書房的抽屜裡", there)
    assert "Hello" in there
    assert "Bye" not in there
    assert cli("history", "show", KEY, "--message", str(number)).code == 3


def test_why_of_a_learned_fact_tells_the_words_and_the_conversation(
    cli: Cli, assistant: Assistant
) -> None:
    assistant.reply(KEY, "對了，客廳的燈叫做小明")
    assistant.flush()
    (fact,) = assistant.memory.get_all()
    assistant.close(flush=False)
    told = cli("why", fact.id).out
    assert "learned from a conversation" in told
    assert "quote: 客廳的燈叫做小明" in told
    assert f"conversation: {KEY}" in told


@pytest.mark.parametrize("source", ["cli:session-2", "document:other.txt", "tool:別的工具"])
def test_nobody_is_asked_to_confirm_erasing_what_never_was(
    cli: Cli, assistant: Assistant, source: str
) -> None:
    fill(assistant)
    result = cli("forget", "--source", source)
    assert result.code != 0
    assert f'nothing came from "{source}"' in result.err
    assert "Permanently" not in result.err
    assert find_files_with(cli.data, SECRET)


@pytest.mark.parametrize("source", [KEY, "document:paper.txt"])
def test_erasing_what_is_there_is_still_asked_about(
    cli: Cli, assistant: Assistant, source: str
) -> None:
    fill(assistant)
    result = cli("forget", "--source", source)
    assert "nothing came from" not in result.err
    assert find_files_with(cli.data, SECRET)


def test_a_source_that_left_only_a_daily_note_is_known(cli: Cli, assistant: Assistant) -> None:
    assistant.daily.append("met somebody", source="tool:日曆")
    assert cli("forget", "--source", "tool:日曆", "--yes").code == 0
    assert "met somebody" not in "".join(map(assistant.daily.read, assistant.daily.dates()))
