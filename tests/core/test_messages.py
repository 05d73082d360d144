"""A message is a value: who said what, and when."""

from __future__ import annotations

import dataclasses
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import MOMENT, conversations, moments, texts, thorough
from turnleaf.core import messages
from turnleaf.core.messages import ROLES, Message
from turnleaf.errors import InvalidInput

CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": "what is"},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    {"type": "text", "text": "this?"},
]


@thorough
@given(conversations(), st.none() | moments, st.none() | texts)
def test_any_message_comes_back_from_json(
    said: list[Message], moment: datetime | None, name: str | None
) -> None:
    for message in said:
        full = dataclasses.replace(message, timestamp=moment, name=name)
        assert messages.from_json(messages.to_json(full)) == full


def test_a_message_is_written_as_the_requirements_say() -> None:
    asked = Message("assistant", None, MOMENT, tool_calls=[CALL])
    answered = Message("tool", "72°F", MOMENT, tool_call_id="call_1")
    assert messages.to_json(asked) == {
        "role": "assistant",
        "content": None,
        "timestamp": "2026-03-01T08:30:00.000Z",
        "toolCalls": [CALL],
    }
    assert messages.to_json(answered)["toolCallId"] == "call_1"


def test_a_message_s_text_is_what_can_be_read_of_it() -> None:
    assert Message("user", "hi").text == "hi"
    assert Message("user", PARTS).text == "what is\nthis?"
    assert Message("assistant", None, tool_calls=[CALL]).text == ""


def test_a_message_does_not_change_with_what_it_was_made_of() -> None:
    parts = [{"type": "text", "text": "before"}]
    calls = [{"id": "a", "function": {"name": "before"}}]
    said = Message("user", parts)
    asked = Message("assistant", None, tool_calls=calls)
    parts[0]["text"] = "after"
    calls[0]["function"] = {"name": "after"}
    assert said.text == "before"
    assert asked.tool_calls == [{"id": "a", "function": {"name": "before"}}]


def test_a_message_keeps_its_time_as_files_do() -> None:
    moment = MOMENT.replace(microsecond=123_456)
    assert Message("user", "x", moment).timestamp == MOMENT.replace(microsecond=123_000)


@pytest.mark.parametrize("role", ROLES)
def test_each_role_can_speak(role: str) -> None:
    answers = "call_1" if role == "tool" else None
    assert Message(role, "", tool_call_id=answers).role == role


naive = datetime(2026, 3, 1)  # noqa: DTZ001 - that is what is refused


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"role": "king", "content": "x"}, "role must be one of system, .* not 'king'"),
        ({"role": "user", "content": None}, "no content"),
        ({"role": "user", "content": 5}, "not int"),
        ({"role": "user", "content": b"x"}, "not bytes"),
        ({"role": "user", "content": ["x"]}, 'a dict with a "type"'),
        ({"role": "user", "content": [{"text": "x"}]}, 'a dict with a "type"'),
        ({"role": "user", "content": "x", "tool_calls": [CALL]}, "only an assistant's"),
        ({"role": "user", "content": "x", "tool_call_id": "a"}, "only a tool's"),
        ({"role": "tool", "content": "x"}, "needs the tool_call_id"),
        ({"role": "tool", "content": "x", "tool_call_id": ""}, "needs the tool_call_id"),
        ({"role": "assistant", "content": None, "tool_calls": []}, "no content"),
        ({"role": "assistant", "content": None, "tool_calls": "x"}, "not str"),
        ({"role": "assistant", "content": None, "tool_calls": [{}]}, 'a dict with an "id"'),
        ({"role": "user", "content": "x", "timestamp": naive}, "no time zone"),
    ],
)
def test_what_is_no_message_is_refused_with_a_reason(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Message(**fields)


@pytest.mark.parametrize(
    "record", [{}, {"role": "user"}, {"content": "x"}, {"role": "x", "content": "y"}]
)
def test_a_record_that_is_no_message_is_refused(record: dict[str, Any]) -> None:
    with pytest.raises((KeyError, ValueError)):
        messages.from_json(record)


def test_openai_gets_its_own_form() -> None:
    asked = Message("assistant", None, MOMENT, tool_calls=[CALL], name="helper")
    assert messages.to_openai(asked) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [CALL],
        "name": "helper",
    }
    answered = Message("tool", "72°F", MOMENT, tool_call_id="call_1", name="weather")
    assert messages.to_openai(answered) == {
        "role": "tool",
        "content": "72°F",
        "tool_call_id": "call_1",
    }


def test_what_openai_gets_is_a_copy() -> None:
    message = Message("user", PARTS)
    messages.to_openai(message)["content"][0]["text"] = "changed"
    assert message.content == PARTS
