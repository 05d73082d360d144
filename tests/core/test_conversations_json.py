"""conversations.json as text: plain JSON, one conversation a line."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import MOMENT, conversations, moments, texts, thorough
from turnleaf.core import conversation_formats as conversations_json
from turnleaf.core.conversation_formats import StoredConversation
from turnleaf.core.messages import Message
from turnleaf.errors import CorruptFile, InvalidInput

anything = texts | st.text(max_size=20)
lone = st.builds(Message, st.just("user"), anything | st.just("\ud800 \0 \udfff"))
records = st.builds(
    StoredConversation, moments, moments, conversations() | st.lists(lone, max_size=2)
)


def write_file(all_of_them: dict[str, StoredConversation]) -> str:
    lines = (
        conversations_json.write_line(key, conversations_json.dump(record))
        for key, record in all_of_them.items()
    )
    return conversations_json.assemble(lines).decode()


@thorough
@given(st.dictionaries(anything, records, max_size=4))
def test_any_conversations_come_back_exactly(all_of_them: dict[str, StoredConversation]) -> None:
    text = write_file(all_of_them)
    assert {
        key: conversations_json.load(body) for key, body in conversations_json.parse(text).items()
    } == all_of_them
    text.encode()
    assert sorted(json.loads(text)["conversations"]) == sorted(all_of_them)


@thorough
@given(st.dictionaries(anything, records, max_size=4))
def test_each_conversation_stands_on_a_line_of_its_own(
    all_of_them: dict[str, StoredConversation],
) -> None:
    text = write_file(all_of_them)
    assert text.count("\n") == len(all_of_them) + 2
    assert text.endswith("}}\n")


@thorough
@given(st.dictionaries(anything, records, max_size=3), st.integers(0, 4), st.booleans())
def test_a_layout_that_somebody_else_gave_it_is_read_as_well(
    all_of_them: dict[str, StoredConversation],
    indent: int,
    has_mark: bool,  # noqa: FBT001
) -> None:
    text = write_file(all_of_them)
    other = "\ufeff" * has_mark + json.dumps(json.loads(text), indent=indent or None)
    assert {
        key: conversations_json.load(body) for key, body in conversations_json.parse(other).items()
    } == all_of_them


@thorough
@given(records)
def test_the_last_update_is_read_without_the_messages(record: StoredConversation) -> None:
    assert conversations_json.read_updated_at(conversations_json.dump(record)) == record.updated_at


def test_the_last_update_is_read_whatever_the_order_of_keys() -> None:
    text = '{"messages": [], "updatedAt": "2026-03-01T08:30:00Z", "createdAt": "2026-03-01"}'
    assert conversations_json.read_updated_at(text) == MOMENT


def test_a_conversation_is_written_as_the_requirements_say() -> None:
    record = StoredConversation(MOMENT, MOMENT, [Message("user", "客廳的燈", MOMENT)])
    assert json.loads(conversations_json.dump(record)) == {
        "createdAt": "2026-03-01T08:30:00.000Z",
        "updatedAt": "2026-03-01T08:30:00.000Z",
        "messages": [
            {"role": "user", "content": "客廳的燈", "timestamp": "2026-03-01T08:30:00.000Z"}
        ],
    }
    assert "客廳的燈" in conversations_json.dump(record)


def test_an_empty_file_is_valid_json_too() -> None:
    assert json.loads(conversations_json.EMPTY) == {"version": 1, "conversations": {}}
    assert conversations_json.parse(conversations_json.EMPTY) == {}
    assert write_file({}) == conversations_json.EMPTY


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "null",
        "{}",
        '{"version": 1}',
        '{"version": 2, "conversations": {}}',
        '{"version": 1, "conversations": []}',
        conversations_json.EMPTY.replace("\n}}", "\nnonsense\n}}"),
        conversations_json.EMPTY.replace("\n}}", "\n5: {}\n}}"),
        conversations_json.EMPTY[:-3],
        "<<<<<<< HEAD\n" + conversations_json.EMPTY,
        "[" * 100_000,
    ],
)
def test_what_is_no_file_of_conversations_is_corrupt(text: str) -> None:
    with pytest.raises(CorruptFile, match=r"it "):
        conversations_json.parse(text)


def test_a_file_of_a_newer_version_says_so() -> None:
    with pytest.raises(CorruptFile, match="newer version"):
        conversations_json.parse('{"version": 2, "conversations": {}}')


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"createdAt": "2026-03-01", "updatedAt": "never", "messages": []}',
        '{"createdAt": "2026-03-01", "updatedAt": "2026-03-01", "messages": 5}',
        '{"createdAt": "2026-03-01", "updatedAt": "2026-03-01", "messages": [5]}',
        '{"createdAt": "2026-03-01", "updatedAt": "2026-03-01", "messages": [{"role": "x"}]}',
        '{"createdAt": "2026-03-01", "updatedAt": "2026-03-01", "messages": [{"content": "x"}]}',
        '{"createdAt": 5, "updatedAt": "2026-03-01", "messages": []}',
    ],
)
def test_what_is_no_conversation_is_corrupt(text: str) -> None:
    with pytest.raises(CorruptFile, match="it is not a conversation"):
        conversations_json.load(text)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, MOMENT])
def test_what_json_cannot_hold_is_refused(value: float | set[int] | datetime) -> None:
    part = {"type": "data", "value": value}
    with pytest.raises(InvalidInput, match="use plain values"):
        conversations_json.dump(StoredConversation(MOMENT, MOMENT, [Message("user", [part])]))
