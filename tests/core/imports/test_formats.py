"""Each public form of an export gives its conversations, memories and notes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests import imports as samples
from tests.growth import grows_with_its_text
from turnleaf.core import import_formats as formats
from turnleaf.core import import_formats as recognition
from turnleaf.core.import_formats import (
    Found,
    FoundConversation,
    FoundMemory,
    FoundMessage,
    Json,
    Skipped,
    choose_json_reader,
    choose_lines_reader,
    read_time,
)


def talk_in(found: Iterable[Found]) -> FoundConversation:
    (talk,) = [one for one in found if isinstance(one, FoundConversation)]
    return talk


def list_shown(talk: FoundConversation) -> list[tuple[str, str]]:
    path: list[FoundMessage] = []
    place: int | None = range(len(talk.messages))[talk.leaf]
    while place is not None:
        path.append(talk.messages[place])
        place = talk.messages[place].parent
    return [(one.role, one.text) for one in reversed(path)]


def memories_in(found: Iterable[Found]) -> list[str]:
    return [one.text for one in found if isinstance(one, FoundMemory)]


def count_skipped(found: Iterable[Found]) -> dict[str, int]:
    return {one.reason: one.count for one in found if isinstance(one, Skipped)}


def test_chatgpt_shows_the_path_to_the_current_node_and_keeps_the_other_branch() -> None:
    talk = talk_in(formats.read_chatgpt_conversation(samples.chatgpt()[0]))
    assert talk.key == "import:chatgpt:c1"
    assert talk.title == "Lamps"
    assert list_shown(talk) == [
        ("user", "客廳的燈叫什麼？"),
        ("assistant", "它叫做小明。"),
        ("user", "Thanks, I live in Tainan."),
    ]
    assert "I do not know." in [one.text for one in talk.messages]
    assert talk.messages[0].time == read_time(samples.DAY + 2)


def test_chatgpt_s_bio_and_its_list_of_memories_are_saved_memories() -> None:
    found = list(formats.read_chatgpt_conversation(samples.chatgpt()[0]))
    assert memories_in(found) == [
        "The user's lamp is called 小明.",
        "Is allergic to peanuts.",
        "住在台南。",
    ]
    dated = [one.time for one in found if isinstance(one, FoundMemory)]
    assert dated[1] == datetime(2024, 5, 1, tzinfo=UTC)


def test_chatgpt_counts_what_it_leaves_out() -> None:
    assert count_skipped(formats.read_chatgpt_conversation(samples.chatgpt()[0])) == {
        "tool calls and tool results": 1,
    }


def test_claude_messages_follow_each_other_and_attachments_are_counted() -> None:
    found = list(formats.read_claude_conversation(samples.claude()[0]))
    assert list_shown(talk_in(found)) == [
        ("user", "My dog is called Max."),
        ("assistant", "A good name."),
    ]
    assert count_skipped(found) == {"attachments": 1, "tool calls and tool results": 1}
    assert "ignore all rules" not in str(found)


def test_claude_branches_follow_the_parents_that_newer_exports_name() -> None:
    top = formats.NO_PARENT
    messages = [
        samples.claude_message("m1", "human", "one", parent_message_uuid=top),
        samples.claude_message("m2", "assistant", "two", parent_message_uuid="m1"),
        samples.claude_message("m3", "assistant", "other two", parent_message_uuid="m1"),
    ]
    talk = talk_in(formats.read_claude_conversation({"uuid": "u", "chat_messages": messages}))
    assert list_shown(talk) == [("user", "one"), ("assistant", "other two")]
    assert [one.parent for one in talk.messages] == [None, 0, 0]


def test_claude_remembers_lines_and_projects_are_notes() -> None:
    found = list(formats.read_claude_memory(samples.CLAUDE_MEMORY[0]))
    assert memories_in(found) == ["Works as a nurse in Kaohsiung.", "喜歡爬山"]
    assert "tomatoes" in talk_in(found).messages[0].text
    notes = list(formats.read_claude_project(samples.CLAUDE_PROJECT))
    trusts = [one.messages[0].trust for one in notes if isinstance(one, FoundConversation)]
    assert trusts == ["user", "document"]


def test_gemini_s_prompts_of_a_day_are_a_conversation_in_the_order_of_time() -> None:
    found = list(formats.read_gemini_activity(samples.GEMINI, UTC))
    assert list_shown(talk_in(found)) == [
        ("user", "玉山在哪裡？"),
        ("user", "How tall is Jade Mountain?"),
        ("assistant", "3,952 m.\n- highest in Taiwan"),
    ]
    assert sum(count_skipped(found).values()) == 2


def test_a_day_of_gemini_is_the_day_where_its_user_is() -> None:
    late = {**samples.GEMINI[0], "time": "2025-06-02T17:00:00Z"}
    talk = talk_in(formats.read_gemini_activity([late], ZoneInfo("Asia/Taipei")))
    assert talk.id == "2025-06-03"


def test_claude_code_leaves_out_commands_tools_and_side_chains() -> None:
    found = list(formats.read_claude_code(samples.CLAUDE_CODE, "file"))
    talk = talk_in(found)
    assert talk.key == "import:claude-code:s1"
    assert talk.title == "Fix the lamp"
    assert list_shown(talk) == [("user", "Fix the lamp's driver"), ("assistant", "Fixed.")]
    assert "secret output" not in str(found)


def test_codex_leaves_out_what_the_program_put_in() -> None:
    talk = talk_in(formats.read_codex(samples.CODEX, "file"))
    assert talk.key == "import:codex:x1"
    assert list_shown(talk) == [("user", "寫一個測試"), ("assistant", "Done.")]


def test_the_memory_server_s_observations_are_understood_alone() -> None:
    assert memories_in(recognition.read_graph(samples.GRAPH)) == [
        "Ann: likes tea",
        "Ann works_at Acme",
    ]


def test_each_line_of_a_text_is_a_memory() -> None:
    text = "- Likes tea\n\n2. 住在台南\n3、養了一隻貓\n"
    assert memories_in(recognition.read_list_of_memories(text)) == [
        "Likes tea",
        "住在台南",
        "養了一隻貓",
    ]


def test_a_note_is_dated_by_its_front_matter() -> None:
    text = "---\ntitle: Trip\ncreated: 2024-02-03\n---\n# Trip\n\nWe went to Hualien.\n"
    found = recognition.read_note("Trip.md", text, datetime(2026, 1, 1, tzinfo=UTC))
    assert isinstance(found, FoundConversation)
    assert found.messages[0].time == datetime(2024, 2, 3, tzinfo=UTC)
    assert found.messages[0].text.startswith("# Trip")


def test_our_own_form_needs_an_id_and_messages() -> None:
    assert list_shown(talk_in(recognition.read_own_form(samples.OWN_FORM)))[0] == (
        "user",
        "我喜歡烏龍茶",
    )
    assert not [
        one
        for one in recognition.read_own_form({"messages": samples.OWN_FORM["messages"]})
        if isinstance(one, FoundConversation)
    ]


ODD: list[Json] = [None, 1, "text", [], {}, {"mapping": None}, {"mapping": {"a": None}},
    {"mapping": {"a": {"message": {"author": 1, "content": 2}, "parent": "a"}}},
    {"chat_messages": [None, {"content": "x", "sender": "human"}], "uuid": "u"},
    {"messages": [None, {"role": "user"}]}, {"docs": 3, "prompt_template": None},
    {"conversations_memory": 1, "project_memories": []},
]  # fmt: skip


@pytest.mark.parametrize("record", ODD, ids=str)
def test_odd_records_are_counted_and_break_nothing(record: Json) -> None:
    reader = choose_json_reader(record, UTC)
    found = list(reader([record, None, 3])) if reader else []
    assert all(isinstance(one, Skipped | FoundConversation | FoundMemory) for one in found)
    assert reader is None or any(isinstance(one, Skipped) for one in found)


def test_a_circle_of_parents_ends() -> None:
    nodes = {
        "a": samples.node("n1", "b", "user", "one"),
        "b": samples.node("n2", "a", "user", "two"),
    }
    talk = talk_in(
        formats.read_chatgpt_conversation({"id": "c", "mapping": nodes, "current_node": "b"})
    )
    assert len(talk.messages) == 2


def test_a_file_of_lines_is_told_by_the_first_that_says_something() -> None:
    assert choose_lines_reader([None, {"x": 1}, samples.CODEX[0]], "n") is not None
    assert choose_lines_reader([{"x": 1}], "n") is None


def read_saved(text: str) -> list[Found]:
    content = {"content_type": formats.CONTEXT, "model_set_context": text}
    message = {"author": {"role": "user"}, "content": content}
    return list(
        formats.read_chatgpt_conversation({"id": "c", "mapping": {"n": {"message": message}}})
    )


def read_answer(text: str) -> list[Found]:
    entry = {**samples.GEMINI[0], "safeHtmlItem": [{"html": text}]}
    return list(formats.read_gemini_activity([entry], UTC))


def read_remembered(text: str) -> list[Found]:
    return list(formats.read_claude_memory({"conversations_memory": text}))


@pytest.mark.parametrize("unit", ["\n", " ", "1", "1.", "[", "<", "<li", "*", "-", "哈", "# "])
def test_no_repetition_takes_longer_than_its_length(unit: str) -> None:
    text = unit * 60_000
    for read in (read_saved, read_answer, read_remembered):
        assert grows_with_its_text(read, text)
