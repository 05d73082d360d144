"""What is said in one conversation and used in others: versions, forgetting, trust, audiences."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.clocks import TickingClock
from tests.counting import count_calls
from tests.standins.scripted_model import ScriptedModel
from turnleaf import Assistant, Message
from turnleaf.core.keys import only
from turnleaf.core.prompt.composer import Document
from turnleaf.core.search.message_filters import note_newer
from turnleaf.llm.recall import RecallModel
from turnleaf.settings import CONFIG_NAME
from turnleaf.store.files.config import ConfigFile

KEY = "cli:session-1"
OTHER = "cli:session-2"
START = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
PLUMBER = "The plumber of the cellar is called Lin"
ASKED = "What is the plumber called?"
SEARCHING = {"context_search", "passage_search", "quoting"}
"""The modules that look for passages."""


@pytest.fixture
def clock() -> TickingClock:
    return TickingClock(START)


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


Open = Callable[[], Assistant]


@pytest.fixture
def open_assistant(tmp_path: Path, clock: TickingClock, model: ScriptedModel) -> Iterator[Open]:
    ConfigFile(tmp_path / CONFIG_NAME).update({"embeddings": "off"})
    opened: list[Assistant] = []

    def open_one() -> Assistant:
        opened.append(Assistant(tmp_path, model=model, now=clock))
        return opened[-1]

    yield open_one
    for assistant in opened:
        assistant.close(flush=False)


@pytest.fixture
def assistant(open_assistant: Open) -> Assistant:
    return open_assistant()


def prompt(assistant: Assistant, text: str = ASKED, key: str = OTHER) -> str:
    return assistant.preview(key, text).prompt.text


def texts(assistant: Assistant, key: str = KEY) -> list[str]:
    return [one.message.text for one in assistant.conversations.messages(key)]


def test_an_answer_that_only_repeats_is_not_found_in_place_of_what_was_said(
    open_assistant: Open, tmp_path: Path, clock: TickingClock
) -> None:
    with Assistant(tmp_path, model=RecallModel(), now=clock) as assistant:
        assistant.reply(KEY, "My plumber is called Lin")
        assistant.reply(OTHER, "客廳的燈叫做小明")
        for question in (ASKED, "燈叫什麼？"):
            assistant.reply("cli:session-3", question)
        for question in (ASKED, "燈叫什麼？"):
            found = assistant.index.search(question, source="conversations")
            assert {hit.speaker for hit in found} == {"user"}


# Taking up, editing, choosing


def test_an_old_conversation_is_taken_up_with_what_was_said_and_the_date_of_the_break(
    assistant: Assistant, clock: TickingClock, model: ScriptedModel
) -> None:
    assistant.reply(KEY, PLUMBER)
    clock.now += timedelta(days=40)
    assert "Lin" not in assistant.preview(KEY, "Go on").prompt.messages[0].text
    assistant.reply(KEY, "Where were we?", resume=True)
    taken_up = model.prompts[-1]
    assert taken_up.messages[0].text == PLUMBER
    assert "paused on 2026-11-02 and was taken up again on 2026-12-12" in taken_up.text
    assistant.reply(KEY, "And then?")
    assert model.prompts[-1].messages[0].text == PLUMBER


def test_an_edited_message_is_another_version_and_the_old_one_is_in_no_prompt(
    assistant: Assistant, model: ScriptedModel
) -> None:
    assistant.reply(KEY, "Hello")
    assistant.reply(KEY, PLUMBER)
    first = assistant.conversations.messages(KEY)[1].id
    assistant.reply(KEY, "The plumber is called Wang", after=first)
    assert texts(assistant) == ["Hello", "Fine.", "The plumber is called Wang", "Fine."]
    assert [one.text for one in model.prompts[-1].messages[:-1]] == ["Hello", "Fine."]
    assert "Lin" not in assistant.preview(KEY, "Go on").prompt.text


def test_hidden_messages_take_no_place_among_those_an_edited_one_follows(
    open_assistant: Open, model: ScriptedModel, tmp_path: Path
) -> None:
    ConfigFile(tmp_path / CONFIG_NAME).update({"conversationMaxTurns": 4})
    assistant = open_assistant()
    for number in range(6):
        assistant.reply(KEY, f"message {number}")
    stored = assistant.conversations.messages(KEY)
    times = [one.message.timestamp for one in stored[2:10] if one.message.timestamp]
    assistant.stores.conversations.hide(KEY, times, "change:1")
    assistant.reply(KEY, "something else", after=stored[9].id)
    before = [one.text for one in model.prompts[-1].messages[:-1]]
    assert before == ["message 0", "Fine."]


def test_a_fact_that_rests_only_on_a_replaced_message_is_withdrawn(assistant: Assistant) -> None:
    assistant.reply(KEY, "Hello")
    first = assistant.conversations.messages(KEY)[1].id
    assistant.reply(KEY, f"Remember: {PLUMBER}")
    kept = assistant.memory.add("The cellar is damp in spring")
    assistant.reply(KEY, "How are you?", after=first)
    assert assistant.memory.get_all() == [kept]


def test_nothing_is_learned_from_a_replaced_message(
    assistant: Assistant, model: ScriptedModel
) -> None:
    assistant.reply(KEY, "My dog is called Rex")
    assistant.reply(KEY, "My cat is called Tom", after=0)
    assistant.flush()
    assert "Rex" not in "".join(model.extractions)
    assert "Tom" in "".join(model.extractions)


def test_choosing_the_old_version_withdraws_what_the_new_one_brought(assistant: Assistant) -> None:
    assistant.reply(KEY, "Hello")
    old = assistant.conversations.messages(KEY)[0].id
    assistant.reply(KEY, f"Remember: {PLUMBER}", after=0)
    assistant.show_version(KEY, old)
    assert texts(assistant) == ["Hello", "Fine."]
    assert assistant.memory.get_all() == []


@pytest.mark.parametrize("said", ["我住在台南", "記住我住在台南"])
def test_what_an_edited_message_gave_is_not_in_the_prompt_of_the_edit(
    assistant: Assistant, model: ScriptedModel, said: str
) -> None:
    assistant.reply(KEY, said)
    assistant.wait()
    assert "台南" in prompt(assistant, "我住在哪裡？")
    assistant.reply(KEY, "我住在台中，那裡的天氣怎麼樣？", after=0)
    assert "台南" not in f"{model.prompts[-1].system}{model.prompts[-1].text}"


def test_an_edit_that_recalls_does_not_quote_what_it_replaces(tmp_path: Path) -> None:
    with Assistant(tmp_path, model=RecallModel()) as assistant:
        assistant.reply(KEY, "我住在台南")
        assistant.wait()
        assert "台南" not in assistant.reply(KEY, "我住在台中，台中在哪裡？", after=0).text


def test_a_request_that_is_edited_and_asks_for_the_same_is_kept(assistant: Assistant) -> None:
    assistant.reply(KEY, f"Remember: {PLUMBER}")
    assistant.reply(KEY, f"Please remember: {PLUMBER}", after=0)
    assert [fact.content for fact in assistant.memory.get_all()] == [PLUMBER]


@pytest.mark.parametrize(
    ("said", "fact"), [("我住在台南", "我住在台南"), (f"Remember: {PLUMBER}", PLUMBER)]
)
def test_an_older_version_that_is_shown_again_is_learned_from_again(
    assistant: Assistant, said: str, fact: str
) -> None:
    assistant.reply(KEY, said)
    assistant.wait()
    old = assistant.conversations.messages(KEY)[0].id
    assistant.reply(KEY, "我住在台中", after=0)
    assistant.wait()
    assistant.show_version(KEY, old)
    assistant.wait()
    assert [one.content for one in assistant.memory.get_all()] == [fact]


def test_what_an_older_version_asks_to_forget_is_not_forgotten_once_more(
    assistant: Assistant,
) -> None:
    assistant.reply(OTHER, f"Remember: {PLUMBER}")
    assistant.reply(KEY, "Forget the plumber of the cellar")
    old = assistant.conversations.messages(KEY)[0].id
    assistant.reply(KEY, f"Remember: {PLUMBER}", after=0)
    kept = assistant.memory.add(f"{PLUMBER}, and his number is on the fridge")
    assistant.show_version(KEY, old)
    assert kept in assistant.memory.get_all()


# Forgetting


@pytest.mark.parametrize(
    ("said", "forget", "question", "word"),
    [
        (f"Remember: {PLUMBER}", "Forget the plumber of the cellar", ASKED, "Lin"),
        ("記住地下室的水電工姓林", "忘掉地下室的水電工", "水電工姓什麼？", "姓林"),
    ],
)
def test_what_a_forgotten_fact_rests_on_is_in_no_prompt_until_it_is_back(
    assistant: Assistant, said: str, forget: str, question: str, word: str
) -> None:
    assistant.reply(KEY, said)
    assistant.reply(OTHER, forget)
    assert word not in prompt(assistant, question, "cli:session-3")
    assert all(word not in hit.text for hit in assistant.index.search(question))
    assert [one.is_hidden for one in assistant.conversations.messages(KEY)] == [True, True]
    assert [one.is_hidden for one in assistant.conversations.messages(OTHER)] == [True, True]
    assistant.memory.undo()
    assert word in prompt(assistant, question, "cli:session-3")
    assert any(word in hit.text for hit in assistant.index.search(question))
    assert not any(one.is_hidden for one in assistant.conversations.messages(KEY))


@pytest.fixture
def quoting(tmp_path: Path, clock: TickingClock) -> Iterator[Assistant]:
    """An assistant without a model."""
    ConfigFile(tmp_path / CONFIG_NAME).update({"embeddings": "off"})
    with Assistant(tmp_path, model=RecallModel(), now=clock) as opened:
        yield opened


def test_without_a_model_a_request_hides_what_is_forgotten_and_looks_for_no_passage(
    quoting: Assistant,
) -> None:
    calls = count_calls(lambda: quoting.reply(KEY, f"Remember: {PLUMBER}"))
    calls += count_calls(lambda: quoting.reply(OTHER, "Forget the plumber of the cellar"))
    assert not [name for name in calls if name.split(".")[0] in SEARCHING]
    for key in (KEY, OTHER):
        assert [one.is_hidden for one in quoting.conversations.messages(key)] == [True, True]


def test_a_request_without_a_model_is_explained_by_the_facts_alone(quoting: Assistant) -> None:
    quoting.record(OTHER, [Message("user", "The plumber came on Monday")])
    known = quoting.memory.add("The cellar is damp in spring")
    bill = Document("bill.md", "The plumber charges 90 euros")
    reply = quoting.reply(KEY, f"Remember: {PLUMBER}", documents=[bill])
    (saved,) = reply.saved
    assert reply.explanation.memories == (known.id, saved.id)
    assert reply.explanation.hits == ()
    assert reply.cited.memories == (saved.id,)


def test_what_is_to_be_remembered_again_is_found_although_it_was_deleted_before(
    quoting: Assistant,
) -> None:
    quoting.reply(KEY, f"Remember: {PLUMBER}")
    quoting.memory.delete(quoting.memory.get_all()[0].id)
    quoting.reply(OTHER, f"Remember: {PLUMBER}")
    assert "Lin" in prompt(quoting, key="cli:session-3")
    assert [one.is_hidden for one in quoting.conversations.messages(KEY)] == [True, True]
    assert not any(one.is_hidden for one in quoting.conversations.messages(OTHER))


def test_a_fact_that_another_program_forgot_is_forgotten_here(
    assistant: Assistant, open_assistant: Open
) -> None:
    assistant.reply(KEY, f"Remember: {PLUMBER}")
    assert "Lin" in prompt(assistant)
    other = open_assistant()
    other.memory.delete(other.memory.get_all()[0].id)
    assert "Lin" not in prompt(assistant)


def test_what_is_said_once_more_after_it_was_forgotten_is_found(assistant: Assistant) -> None:
    assistant.reply(KEY, f"Remember: {PLUMBER}")
    assistant.reply(KEY, "Forget the plumber of the cellar")
    assistant.reply(KEY, f"By the way, {PLUMBER}")
    assert "By the way" in prompt(assistant)


def test_a_message_whose_fact_was_replaced_says_what_holds_now(
    assistant: Assistant, clock: TickingClock
) -> None:
    assistant.reply(KEY, f"Remember: {PLUMBER}")
    clock.now += timedelta(days=3)
    (fact,) = assistant.memory.get_all()
    assistant.memory.update(fact.id, "The plumber of the cellar is called Wang")
    note = "until 2026-11-05; now: The plumber of the cellar is called Wang"
    assert f"({note})" in prompt(assistant)
    hits = note_newer(assistant.index.search(PLUMBER), assistant.memory.changes)
    assert {hit.note for hit in hits if "Lin" in hit.text and hit.speaker == "user"} == {note}
    assert {hit.note for hit in hits if not hit.message} == {None}


# Trust


def test_what_a_stranger_said_is_found_and_marked_but_enters_no_other_prompt(
    assistant: Assistant,
) -> None:
    assistant.record(KEY, [Message("user", PLUMBER), Message("assistant", "I see: Lin")],
                     trust="stranger")  # fmt: skip
    assert "Lin" not in prompt(assistant)
    assert {hit.trust for hit in assistant.index.search(ASKED)} == {"stranger"}


def test_an_answer_beside_a_document_enters_no_other_prompt(
    assistant: Assistant, model: ScriptedModel
) -> None:
    model.turns = [["The plumber is called Lin, says the file."]]
    notes = Document("notes.md", PLUMBER)
    assistant.reply(KEY, "Who is named in the file?", documents=[notes])
    assert "Lin" not in prompt(assistant)
    answer = assistant.conversations.messages(KEY)[-1]
    assert (answer.trust, answer.source) == ("document", "document:notes.md")


# Audiences


def test_a_direct_message_is_found_only_from_direct_messages_of_that_person(
    assistant: Assistant,
) -> None:
    mine, theirs = only("slack:D1"), only("slack:D2")
    assistant.reply("slack:1.1", PLUMBER, audience=mine)
    assert "Lin" in assistant.preview("slack:1.2", ASKED, audience=mine).prompt.text
    for key, audience in (("slack:1.3", theirs), ("slack:1.4", ""), (OTHER, None)):
        assert "Lin" not in assistant.preview(key, ASKED, audience=audience).prompt.text
    assert assistant.index.search(ASKED) == []


def test_a_tool_finds_no_more_than_the_conversation_it_is_used_in(
    assistant: Assistant, model: ScriptedModel
) -> None:
    assistant.reply("slack:1.1", PLUMBER, audience=only("slack:D1"))
    model.turns = [[("search_memory", {"query": "plumber"}), "Done."]] * 2
    assistant.reply(OTHER, "Look it up")
    assistant.reply("slack:1.2", "Look it up", audience=only("slack:D1"))
    assert [len(one["results"]) > 0 for one in model.results] == [False, True]


def test_a_schedules_words_are_searched_but_enter_the_prompts_of_that_schedule_only(
    assistant: Assistant,
) -> None:
    assistant.reply("schedule:a", PLUMBER)
    assert "Lin" not in prompt(assistant)
    assert "Lin" not in prompt(assistant, key="schedule:b")
    assert assistant.index.search(ASKED)[0].conversation == "schedule:a"


def test_a_conversation_that_is_kept_out_of_search_enters_no_other_prompt(
    assistant: Assistant,
) -> None:
    assistant.reply(KEY, PLUMBER)
    assistant.conversations.set_searched(KEY, searched=False)
    assert "Lin" not in prompt(assistant)
    assistant.conversations.set_searched(KEY, searched=True)
    assert "Lin" in prompt(assistant)
