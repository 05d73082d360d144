"""004: one conversation, its context window, its OpenAI form and its file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from turnleaf import Conversation, CorruptFile, Message, TurnleafError

NOW = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
PROMPT = "You are a helpful assistant."
FILE = Path("conversation.json")
CALL: dict[str, Any] = {
    "id": "call_123",
    "type": "function",
    "function": {"name": "weather", "arguments": '{"city": "台北"}'},
}
PICTURE: list[dict[str, Any]] = [
    {"type": "text", "text": "這是什麼?"},
    {
        "type": "image_url",
        "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"},
    },
]


def conversation(system_prompt: str | None = PROMPT) -> Conversation:
    return Conversation(system_prompt, now=lambda: NOW)


def with_everything() -> Conversation:
    """Hold each kind of message once."""
    conv = conversation()
    conv.add("user", "How warm is it? 客廳的燈叫做小明")
    conv.add("assistant", None, tool_calls=[CALL])
    conv.add_tool_result("call_123", "Weather: 72°F sunny")
    conv.add("assistant", "It is 72°F.")
    conv.add("user", PICTURE)
    conv.add("assistant", "A lamp.")
    return conv


def list_spoken(messages: Sequence[Message]) -> list[tuple[str, object]]:
    return [(message.role, message.content) for message in messages]


@pytest.mark.scenario("004.create-empty")
def test_a_new_conversation_has_no_messages() -> None:
    assert Conversation().messages == []


@pytest.mark.scenario("004.create-empty")
def test_two_new_conversations_share_nothing() -> None:
    one, other = Conversation(), Conversation()
    one.add("user", "Hello")
    assert other.messages == []


@pytest.mark.scenario("004.create-with-system-prompt")
def test_a_system_prompt_is_the_first_message() -> None:
    conv = Conversation(system_prompt="You are a helpful assistant.")
    assert list_spoken(conv.messages) == [("system", "You are a helpful assistant.")]
    conv.add("user", "Hello")
    assert list_spoken(conv.messages)[0] == ("system", "You are a helpful assistant.")


@pytest.mark.scenario("004.add-user-message")
def test_a_users_message_is_added_at_the_end() -> None:
    conv = conversation()
    added = conv.add("user", "Hello, world!")
    assert added == Message(role="user", content="Hello, world!", timestamp=NOW)
    assert conv.messages[-1] == added
    assert len(conv.messages) == 2


@pytest.mark.scenario("004.add-user-message")
def test_a_users_message_may_have_parts() -> None:
    conv = conversation()
    conv.add("user", PICTURE)
    assert conv.messages[-1].content == PICTURE


@pytest.mark.scenario("004.add-user-message")
@pytest.mark.parametrize("role", ["", "robot", "User", "tool"])
def test_a_message_of_nobody_is_refused(role: str) -> None:
    conv = conversation()
    with pytest.raises(TurnleafError):
        conv.add(role, "Hello")
    assert len(conv.messages) == 1


@pytest.mark.scenario("004.add-user-message")
def test_a_users_message_without_content_is_refused() -> None:
    conv = conversation()
    with pytest.raises(TurnleafError):
        conv.add("user", None)
    assert len(conv.messages) == 1


@pytest.mark.scenario("004.add-assistant-message")
def test_an_assistants_message_is_added_after_the_users() -> None:
    conv = conversation(None)
    conv.add("user", "Hello, world!")
    conv.add("assistant", "Hello! How can I help you?")
    assert list_spoken(conv.messages) == [
        ("user", "Hello, world!"),
        ("assistant", "Hello! How can I help you?"),
    ]


@pytest.mark.scenario("004.add-assistant-message")
def test_an_assistants_message_may_be_a_tool_call_without_text() -> None:
    conv = conversation()
    added = conv.add("assistant", None, tool_calls=[CALL])
    assert (added.content, added.tool_calls) == (None, [CALL])
    assert conv.messages[-1] == added


@pytest.mark.scenario("004.add-assistant-message")
def test_an_assistants_message_with_neither_text_nor_call_is_refused() -> None:
    conv = conversation()
    with pytest.raises(TurnleafError):
        conv.add("assistant", None)
    assert len(conv.messages) == 1


@pytest.mark.scenario("004.add-tool-result")
def test_a_tools_result_is_added_with_the_id_of_its_call() -> None:
    conv = conversation()
    conv.add("user", "How warm is it?")
    conv.add("assistant", None, tool_calls=[CALL])
    added = conv.add_tool_result("call_123", "Weather: 72°F sunny")
    assert (added.role, added.tool_call_id) == ("tool", "call_123")
    assert added.content == "Weather: 72°F sunny"
    assert conv.messages[-1] == added


@pytest.mark.scenario("004.get-messages")
def test_all_messages_come_in_order() -> None:
    conv = with_everything()
    assert [message.role for message in conv.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert all(isinstance(message, Message) for message in conv.messages)


@pytest.mark.scenario("004.get-messages")
def test_changing_the_returned_list_does_not_change_the_conversation() -> None:
    conv = with_everything()
    conv.messages.clear()
    assert len(conv.messages) == 7


@pytest.mark.scenario("004.clear")
def test_clear_leaves_the_system_prompt() -> None:
    conv = with_everything()
    conv.clear()
    assert list_spoken(conv.messages) == [("system", PROMPT)]


@pytest.mark.scenario("004.clear")
def test_clear_leaves_nothing_where_there_is_no_system_prompt() -> None:
    conv = conversation(None)
    conv.add("user", "Hello")
    conv.clear()
    assert conv.messages == []


@pytest.mark.scenario("004.clear")
def test_a_cleared_conversation_goes_on() -> None:
    conv = with_everything()
    conv.clear()
    conv.clear()
    conv.add("user", "Hello again")
    assert list_spoken(conv.messages) == [("system", PROMPT), ("user", "Hello again")]


def make_conversation(messages: Sequence[Message]) -> Conversation:
    """Make a conversation of these messages, to count them."""
    has_prompt = bool(messages) and messages[0].role == "system"
    conv = Conversation(str(messages[0].content) if has_prompt else None)
    for message in messages[has_prompt:]:
        if message.tool_call_id is not None:
            conv.add_tool_result(message.tool_call_id, str(message.content))
        else:
            conv.add(message.role, message.content, tool_calls=message.tool_calls)
    return conv


def tokens(messages: Sequence[Message]) -> int:
    return make_conversation(messages).token_count()


def long_conversation(system_prompt: str | None = PROMPT) -> Conversation:
    """Hold at least ten thousand tokens in exchanges of different lengths."""
    conv = conversation(system_prompt)
    n = 0
    while conv.token_count() < 10_000:
        n += 1
        conv.add("user", f"Question {n}: how is the weather in 台北 today? " * (1 + n % 7))
        conv.add("assistant", f"Answer {n}: 72°F and sunny, 適合散步。 " * (1 + n % 5))
    return conv


@pytest.mark.scenario("004.context-within-limit")
@pytest.mark.parametrize("limit", [500, 1000, 4000, 9999])
def test_the_context_is_the_prompt_and_the_newest_messages_that_fit(limit: int) -> None:
    conv = long_conversation()
    context = conv.get_context(max_tokens=limit)
    newest = context[1:]
    assert tokens(context) <= limit
    assert context[0] == conv.messages[0]
    assert newest == conv.messages[-len(newest) :]
    assert newest[0].role == "user"
    with_one_exchange_more = [context[0], *conv.messages[-len(newest) - 2 :]]
    assert tokens(with_one_exchange_more) > limit


@pytest.mark.scenario("004.context-within-limit")
def test_the_context_without_a_prompt_is_the_newest_messages_that_fit() -> None:
    conv = long_conversation(None)
    context = conv.get_context(4000)
    assert 3000 < tokens(context) <= 4000
    assert context == conv.messages[-len(context) :]
    assert context[0].role == "user"


@pytest.mark.scenario("004.context-within-limit")
def test_all_messages_are_the_context_when_they_fit() -> None:
    conv = with_everything()
    assert conv.get_context(conv.token_count()) == conv.messages
    assert conv.get_context(1_000_000) == conv.messages
    assert len(conv.get_context(conv.token_count() - 1)) < len(conv.messages)


@pytest.mark.scenario("004.context-within-limit")
def test_asking_for_the_context_changes_nothing() -> None:
    conv = long_conversation()
    before = conv.messages
    conv.get_context(500)
    assert conv.messages == before


@pytest.mark.scenario("004.context-within-limit")
@pytest.mark.parametrize("limit", [0, 1, 50])
def test_a_system_prompt_over_the_limit_is_all_there_is(limit: int) -> None:
    conv = conversation("You are very careful. " * 50)
    conv.add("user", "Hello")
    assert list_spoken(conv.get_context(limit)) == [("system", "You are very careful. " * 50)]


@pytest.mark.scenario("004.context-within-limit")
def test_a_message_is_never_cut_to_make_it_fit() -> None:
    conv = conversation()
    conv.add("user", "Hello")
    conv.add("assistant", "Hi")
    conv.add("user", "word " * 5000)
    assert list_spoken(conv.get_context(1000)) == [("system", PROMPT)]


@pytest.mark.scenario("004.context-within-limit")
def test_a_tool_call_and_its_result_are_never_separated() -> None:
    conv = conversation()
    for n in range(6):
        conv.add("user", f"How warm is it in room {n}?")
        conv.add("assistant", None, tool_calls=[{**CALL, "id": f"call_{n}"}])
        conv.add_tool_result(f"call_{n}", "Weather: 72°F sunny " * 3)
        conv.add("assistant", "It is 72°F.")
    for limit in range(1, conv.token_count() + 1):
        context = conv.get_context(limit)
        asked = [call["id"] for message in context for call in message.tool_calls or []]
        answered = [message.tool_call_id for message in context if message.role == "tool"]
        assert asked == answered
        assert [message.role for message in context[1:2]] in ([], ["user"])


@pytest.mark.scenario("004.token-count")
def test_an_empty_conversation_has_no_tokens() -> None:
    assert Conversation().token_count() == 0


@pytest.mark.scenario("004.token-count")
def test_every_message_counts() -> None:
    conv = conversation(None)
    counts = [conv.token_count()]
    for message in with_everything().messages[1:]:
        conv = make_conversation([*conv.messages, message])
        counts.append(conv.token_count())
    assert counts == sorted(set(counts))


@pytest.mark.scenario("004.token-count")
@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("The quick brown fox jumps over the lazy dog. " * 40, 400),
        ("客廳的燈叫做小明，臥室的燈叫做小華。" * 30, 500),
    ],
)
def test_the_count_is_about_right_in_english_and_chinese(text: str, about: int) -> None:
    conv = conversation(None)
    conv.add("user", text)
    assert about * 0.7 <= conv.token_count() <= about * 1.4


@pytest.mark.scenario("004.token-count")
def test_system_prompt_parts_calls_and_results_are_counted() -> None:
    long = "word " * 500
    call = {**CALL, "function": {"name": "write", "arguments": json.dumps({"text": long})}}
    plain = conversation(None)
    plain.add("user", [{"type": "text", "text": long}])
    prompted = conversation(long)
    calling = conversation(None)
    calling.add("assistant", None, tool_calls=[call])
    answered = conversation(None)
    answered.add("assistant", None, tool_calls=[CALL])
    answered.add_tool_result("call_123", long)
    for conv in [plain, prompted, calling, answered]:
        assert 400 <= conv.token_count() <= 700


OPENAI = TypeAdapter(list[ChatCompletionMessageParam])


def validate(messages: list[dict[str, Any]]) -> object:
    """Return what OpenAI's own types keep of the messages; they drop what they do not know."""
    return plain(OPENAI.validate_python(messages))


def plain(value: object) -> object:
    """Go through the lazy iterators that pydantic makes, which check as they are read."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value


@pytest.mark.scenario("004.openai-format")
def test_the_format_is_a_list_of_roles_and_contents() -> None:
    conv = conversation()
    conv.add("user", "Hello, world!")
    conv.add("assistant", "Hello! How can I help you?")
    assert conv.to_openai_format() == [
        {"role": "system", "content": "You are a helpful assistant."},
        {"role": "user", "content": "Hello, world!"},
        {"role": "assistant", "content": "Hello! How can I help you?"},
    ]


@pytest.mark.scenario("004.openai-format")
def test_calls_results_and_parts_are_as_openai_writes_them() -> None:
    assert with_everything().to_openai_format()[1:] == [
        {"role": "user", "content": "How warm is it? 客廳的燈叫做小明"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_123", "content": "Weather: 72°F sunny"},
        {"role": "assistant", "content": "It is 72°F."},
        {"role": "user", "content": PICTURE},
        {"role": "assistant", "content": "A lamp."},
    ]


@pytest.mark.scenario("004.openai-format")
def test_openais_own_types_accept_all_of_it() -> None:
    conv = with_everything()
    conv.add("user", "By name", name="Ming")
    messages = conv.to_openai_format()
    assert validate(messages) == messages


@pytest.mark.scenario("004.openai-format")
def test_openais_own_types_accept_what_was_saved_and_loaded() -> None:
    with_everything().save(FILE)
    messages = Conversation.load(FILE).to_openai_format()
    assert validate(messages) == messages == with_everything().to_openai_format()


@pytest.mark.scenario("004.openai-format")
def test_an_empty_conversation_is_an_empty_list() -> None:
    assert Conversation().to_openai_format() == []


@pytest.mark.scenario("004.openai-format")
def test_changing_the_result_does_not_change_the_conversation() -> None:
    conv = with_everything()
    messages = conv.to_openai_format()
    messages[2]["tool_calls"][0]["id"] = "changed"
    messages[5]["content"][0]["text"] = "changed"
    messages.clear()
    assert conv.messages == with_everything().messages


@pytest.mark.scenario("004.save")
@pytest.mark.parametrize("path", ["conversation.json", FILE])
def test_a_saved_conversation_is_json_that_can_be_read(path: str | Path) -> None:
    with_everything().save(path)
    text = FILE.read_text("utf-8")
    saved = json.loads(text)
    assert [message["role"] for message in saved["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
        "assistant",
    ]
    assert "客廳的燈叫做小明" in text
    assert "72°F" in text


@pytest.mark.scenario("004.save")
def test_saving_again_replaces_what_was_saved_before() -> None:
    conv = with_everything()
    conv.save(FILE)
    conv.clear()
    conv.save(FILE)
    assert list_spoken(Conversation.load(FILE).messages) == [("system", PROMPT)]


@pytest.mark.scenario("004.save")
def test_saving_does_not_change_the_conversation() -> None:
    conv = with_everything()
    conv.save(FILE)
    assert conv.messages == with_everything().messages


@pytest.mark.scenario("004.save")
def test_where_nothing_can_be_saved_the_error_says_so() -> None:
    FILE.mkdir()
    with pytest.raises(TurnleafError, match=r"conversation\.json"):
        with_everything().save(FILE)


@pytest.mark.scenario("004.load")
def test_a_loaded_conversation_has_the_saved_messages() -> None:
    with_everything().save("conversation.json")
    loaded = Conversation.load("conversation.json")
    assert isinstance(loaded, Conversation)
    assert loaded.messages == with_everything().messages
    assert loaded.token_count() == with_everything().token_count()


@pytest.mark.scenario("004.load")
def test_messages_come_back_with_their_times_to_the_last_digit() -> None:
    conv = Conversation(now=lambda: NOW.replace(microsecond=123456))
    conv.add("user", "Hello")
    conv.save(FILE)
    assert Conversation.load(FILE).messages == conv.messages


@pytest.mark.scenario("004.load")
@pytest.mark.parametrize(
    "text", ["", "客廳的燈叫做小明", "72°F", "a\nb\r\nc", "\t 👩‍👩‍👧 \u2028", 'q"\\', "</script>"]
)
def test_text_comes_back_exactly(text: str) -> None:
    conv = conversation(f"x{text}")
    conv.add("user", f"{text}x")
    conv.save(FILE)
    assert Conversation.load(FILE).messages == conv.messages


@pytest.mark.scenario("004.load")
def test_a_loaded_conversation_goes_on_and_knows_its_system_prompt() -> None:
    with_everything().save(FILE)
    conv = Conversation.load(FILE)
    conv.add("user", "Hello again")
    assert list_spoken(conv.messages)[-1] == ("user", "Hello again")
    conv.clear()
    assert list_spoken(conv.messages) == [("system", PROMPT)]


@pytest.mark.scenario("004.load")
def test_an_empty_conversation_can_be_saved_and_loaded() -> None:
    Conversation().save(FILE)
    assert Conversation.load(FILE).messages == []


@pytest.mark.scenario("004.load")
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"null", b'{"messages": 1}', b'{"messages": [{"role": "robot"}]}', b"\xff"],
)
def test_a_file_that_holds_no_conversation_is_an_error_and_stays_as_it_is(content: bytes) -> None:
    FILE.write_bytes(content)
    with pytest.raises(CorruptFile, match=r"conversation\.json"):
        Conversation.load(FILE)
    assert FILE.read_bytes() == content


@pytest.mark.scenario("004.load")
def test_a_file_that_is_not_there_is_an_error_that_names_it() -> None:
    with pytest.raises(TurnleafError, match=r"missing\.json"):
        Conversation.load("missing.json")
