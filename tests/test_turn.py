"""One turn: how often it asks the memory, and what it gives back of what it changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.counting import count_calls, count_questions, count_reads
from tests.standins.scripted_model import ScriptedModel
from turnleaf import Assistant, Changed, Document, ModelError, Reply
from turnleaf.settings import CONFIG_NAME
from turnleaf.store.files import atomic
from turnleaf.store.files.config import ConfigFile

KEY = "cli:session-1"
LAMP = "客廳的燈叫做小明"
FACTS = "files/facts"


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def assistant(tmp_path: Path, model: ScriptedModel) -> Iterator[Assistant]:
    ConfigFile(tmp_path / CONFIG_NAME).update({"embeddings": "off", "autoExtract": False})
    with Assistant(tmp_path, model=model) as opened:
        opened.reply(KEY, "Hello")
        yield opened


def list_changes(reply: Reply) -> list[tuple[str, str | None, str | None]]:
    return [
        (one.op, getattr(one.before, "content", None), getattr(one.after, "content", None))
        for one in reply.changes
    ]


@pytest.mark.parametrize("wish", ["remember that the lamp is called Ming", f"記住{LAMP}"])
def test_a_turn_that_remembers_asks_for_the_memory_before_and_after_it_writes(
    assistant: Assistant, wish: str
) -> None:
    asked = count_questions(lambda: assistant.reply(KEY, wish), FACTS)
    assert asked == {
        "get_all": 1, "older": 1, "remember": 1, "view": 1, "changes": 1,
    }  # fmt: skip


def test_a_turn_that_remembers_parses_the_page_of_its_prompt_alone(assistant: Assistant) -> None:
    calls = count_calls(lambda: assistant.reply(KEY, f"記住{LAMP}"))
    assert calls["markdown._read_all"] == 1
    assert [hit.text for hit in assistant.index.search(LAMP, source="memory")] == [LAMP]


def test_a_turn_that_remembers_without_a_model_reads_the_memory_at_most_three_times(
    tmp_path: Path,
) -> None:
    ConfigFile(tmp_path / CONFIG_NAME).update({"embeddings": "off", "autoExtract": False})
    with Assistant(tmp_path) as quoting:
        # Of a file that was replaced a moment ago nobody can tell whether an editor is still at it.
        for wish in ("記住臥室的燈叫做小華", "記住廚房的燈叫做小美"):
            quoting.reply(KEY, wish)
            while not atomic.is_at_rest(atomic.read_marks(quoting.memory.location) or (0, 0, 0, 0)):
                pass
        reads = count_reads(lambda: quoting.reply(KEY, f"記住{LAMP}"))
    # To look, under the lock, and for the prompt; nothing else is read as a whole.
    assert 2 <= reads <= 3


def test_a_turn_that_changes_nothing_asks_for_the_memory_once(assistant: Assistant) -> None:
    assistant.memory.add(LAMP)
    asked = count_questions(lambda: assistant.reply(KEY, "今天天氣如何？"), FACTS)
    assert asked == {"view": 1}


def test_a_reply_has_what_was_changed_at_the_users_request(assistant: Assistant) -> None:
    saved = assistant.reply(KEY, f"記住{LAMP}")
    assert list_changes(saved) == [("add", None, LAMP)]
    replaced = assistant.reply(KEY, "記住客廳的燈叫做小美，不是小明")
    ((op, before, after),) = list_changes(replaced)
    assert (op, before) == ("update", LAMP)
    assert list_changes(assistant.reply(KEY, "忘掉客廳的燈")) == [("delete", after, None)]
    assert assistant.reply(KEY, "謝謝").changes == ()
    assistant.memory.undo()
    assistant.memory.undo(replaced.changes[0].n)
    assert [one.content for one in assistant.memory.get_all()] == [LAMP]


def test_a_reply_has_what_tools_changed(assistant: Assistant, model: ScriptedModel) -> None:
    tea = assistant.memory.add("I like tea")
    model.turns = [
        [
            ("append_memory", {"fact": LAMP}),
            ("search_memory", {"query": "lamp"}),
            ("manage_memory", {"action": "update", "id": tea.id, "content": "I like coffee"}),
            "Done.",
        ]
    ]
    reply = assistant.reply(KEY, "Our lamp has a name, and I changed my mind")
    assert list_changes(reply) == [("add", None, LAMP), ("update", "I like tea", "I like coffee")]
    assert (reply.saved, reply.pending) == ((), ())


def test_a_reply_has_what_waits_because_it_was_saved_beside_a_document(
    assistant: Assistant, model: ScriptedModel
) -> None:
    model.turns = [[("append_memory", {"fact": LAMP}), "好"]]
    reply = assistant.reply(KEY, "這是什麼？", documents=[Document("信.md", "燈叫小明")])
    assert reply.changes == ()
    assert [one.content for one in reply.pending] == [LAMP]
    assert list(reply.pending) == assistant.pending.get_all()


def test_changes_are_reported_although_the_model_fails(
    assistant: Assistant, model: ScriptedModel
) -> None:
    model.turns = [[("append_memory", {"fact": LAMP}), ModelError("away")]]
    answer = assistant.stream(KEY, "燈有名字了")
    told = next(event for event in answer if isinstance(event, Changed))
    assert [one.after for one in told.changes] == assistant.memory.get_all()
    with pytest.raises(ModelError, match="away"):
        next(answer)


def test_changes_are_reported_before_the_model_answers(assistant: Assistant) -> None:
    answer = assistant.stream(KEY, f"記住{LAMP}")
    told = next(event for event in answer if isinstance(event, Changed))
    answer.close()
    assert [one.after for one in told.changes] == assistant.memory.get_all()


def test_what_another_conversation_or_a_person_changed_is_not_the_turns(
    assistant: Assistant, model: ScriptedModel
) -> None:
    assistant.reply("cli:session-2", "記住我喜歡茶")
    assistant.memory.add("我住在台北")
    assert list_changes(assistant.reply(KEY, f"記住{LAMP}")) == [("add", None, LAMP)]


def test_an_answer_cites_what_it_marks_and_shares_something_with(
    assistant: Assistant, model: ScriptedModel
) -> None:
    lamp = assistant.memory.add(LAMP)
    tea = assistant.memory.add("I like oolong tea")
    assistant.conversations.add_exchange("cli:older", "My vet says Pepper weighs 6.2 kg", "Noted.")
    model.turns = [
        [
            f"你的燈叫做小明。[#{lamp.id[:4]}", f"{lamp.id[4:]}] ",
            f"It is late [#{tea.id}]. Pepper weighs 6.2 kg [", "#p1, #nothing99]",
        ]
    ]  # fmt: skip
    reply = assistant.reply(KEY, "Pepper 和我的燈？")
    assert "[#p1] user: My vet" in model.prompts[-1].messages[-1].text
    assert reply.text == "你的燈叫做小明。 It is late. Pepper weighs 6.2 kg [#p1, #nothing99]"
    assert reply.cited.memories == (lamp.id,)
    kept = assistant.conversations.messages(KEY)[-1]
    assert kept.message.text == reply.text
    assert kept.shaped_by is not None
    assert kept.shaped_by["cited"] == [lamp.id]


def test_no_mark_is_shown_or_kept_and_a_cited_passage_leads_to_its_message(
    assistant: Assistant, model: ScriptedModel
) -> None:
    assistant.conversations.add_exchange("cli:older", "My vet says Pepper weighs 6.2 kg", "Noted.")
    model.turns = [["Pepper weighs 6.2 kg", " [#", "p1", "]", "."]]
    reply = assistant.reply(KEY, "How much does Pepper weigh?")
    assert reply.text == "Pepper weighs 6.2 kg."
    (hit,) = reply.cited.hits
    assert (hit.conversation, hit.text) == ("cli:older", "My vet says Pepper weighs 6.2 kg")
    assert reply.cited.memories == ()
    shaped = assistant.conversations.messages(KEY)[-1].shaped_by
    assert shaped is not None
    assert [one["message"] for one in shaped["hits"] if one.get("cited")] == [hit.message]


def test_what_comes_after_a_cut_mark_is_said_before_a_tool_is_used(
    assistant: Assistant, model: ScriptedModel
) -> None:
    model.turns = [["See [#", ("append_memory", {"fact": LAMP}), "p1] above"]]
    assert assistant.reply(KEY, "Hi").text == "See [#p1] above"


def test_without_a_model_what_is_quoted_is_cited(tmp_path: Path) -> None:
    ConfigFile(tmp_path / CONFIG_NAME).update({"embeddings": "off"})
    with Assistant(tmp_path) as quoting:
        lamp = quoting.memory.add(LAMP)
        quoting.memory.add("I like oolong tea")
        reply = quoting.reply(KEY, "客廳的燈叫什麼？")
    assert LAMP in reply.text
    assert reply.cited.memories == (lamp.id,)
