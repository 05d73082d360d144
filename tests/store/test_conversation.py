"""A conversation that is being held: its context, its tokens, its file."""

from __future__ import annotations

import json
import stat
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import brief, conversations, thorough
from turnleaf.core.messages import Message
from turnleaf.core.tokens import count_message_tokens
from turnleaf.errors import CorruptFile, InvalidInput, NotFound, StorageError
from turnleaf.store import token_vocabulary
from turnleaf.store.files.conversation_file import Conversation

NOW = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


def conversation(prompt: str | None = None) -> Conversation:
    return Conversation(prompt, now=lambda: NOW)


def fill_conversation(messages: list[Message], prompt: str | None = None) -> Conversation:
    held = conversation(prompt)
    for one in messages:
        if one.role == "tool":
            held.add_tool_result(one.tool_call_id or "", one.content)
        else:
            held.add(one.role, one.content, tool_calls=one.tool_calls)
    return held


def tokens(messages: list[Message]) -> int:
    return sum(
        count_message_tokens(message, token_vocabulary.choose_counter()) for message in messages
    )


def test_messages_stand_in_the_order_in_which_they_were_added() -> None:
    held = conversation("be kind")
    held.add("user", "weather?", name="Ann")
    held.add("assistant", None, tool_calls=[CALL])
    held.add_tool_result("call_1", "72°F")
    assert held.messages == [
        Message("system", "be kind", NOW),
        Message("user", "weather?", NOW, name="Ann"),
        Message("assistant", None, NOW, tool_calls=[CALL]),
        Message("tool", "72°F", NOW, tool_call_id="call_1"),
    ]


def test_returned_values_cannot_change_what_is_inside() -> None:
    held = conversation()
    held.add("user", "hi")
    held.messages.clear()
    held.to_openai_format()[0]["content"] = "changed"
    assert [message.content for message in held.messages] == ["hi"]


@pytest.mark.parametrize("prompt", [None, "be kind", ""])
def test_clearing_keeps_the_system_prompt_only(prompt: str | None) -> None:
    held = conversation(prompt)
    held.add("user", "hi")
    held.clear()
    assert [message.content for message in held.messages] == ([] if prompt is None else [prompt])


@thorough
@given(conversations(), st.integers(0, 120), st.none() | st.just("be kind"))
def test_a_context_fits_and_is_the_newest_part(
    messages: list[Message], max_tokens: int, prompt: str | None
) -> None:
    held = fill_conversation(messages, prompt)
    context = held.get_context(max_tokens)
    first = held.messages[:1]
    begins = [one for one in first if one.role == "system"]
    assert context[: len(begins)] == begins
    rest = context[len(begins) :]
    assert rest == held.messages[len(held.messages) - len(rest) :]
    if tokens(begins) <= max_tokens:
        assert tokens(context) <= max_tokens
    else:
        assert context == begins


def test_a_context_with_room_for_all_is_all() -> None:
    held = fill_conversation([Message("user", "x"), Message("assistant", "y")] * 20, "be kind")
    assert held.get_context(10**6) == held.messages
    assert held.get_context(held.token_count()) == held.messages
    assert len(held.get_context(held.token_count() - 1)) < len(held.messages)


def test_a_context_of_less_than_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="max_tokens must not be negative, but is -1"):
        conversation().get_context(-1)


def test_pictures_are_counted() -> None:
    held = conversation()
    held.add("user", [{"type": "text", "text": "what is this?"}])
    without = held.token_count()
    held.add("user", [{"type": "image_url", "image_url": {"url": "data:,x"}}])
    assert held.token_count() > without + 50


def test_what_is_no_message_is_refused_and_not_added() -> None:
    held = conversation()
    with pytest.raises(InvalidInput):
        held.add("king", "x")
    with pytest.raises(InvalidInput):
        held.add_tool_result("", "x")
    assert held.messages == []


# Files


@brief
@given(conversations() | st.lists(st.text(max_size=9).map(lambda text: Message("user", text))))
def test_any_conversation_comes_back_from_its_file(tmp_path: Path, messages: list[Message]) -> None:
    held = fill_conversation(messages, "be kind")
    held.save(tmp_path / "saved.json")
    assert Conversation.load(tmp_path / "saved.json").messages == held.messages


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "", "two\nlines", "客廳"])
def test_any_text_comes_back_exactly(tmp_path: Path, text: str) -> None:
    held = conversation()
    held.add("user", text)
    held.save(str(tmp_path / "saved.json"))
    assert Conversation.load(str(tmp_path / "saved.json")).messages == held.messages


def test_an_empty_conversation_can_be_saved(tmp_path: Path) -> None:
    conversation().save(tmp_path / "saved.json")
    assert Conversation.load(tmp_path / "saved.json").messages == []


def test_a_loaded_conversation_goes_on(tmp_path: Path) -> None:
    held = conversation("be kind")
    held.save(tmp_path / "saved.json")
    loaded = Conversation.load(tmp_path / "saved.json")
    loaded.add("user", "hi")
    loaded.save(tmp_path / "saved.json")
    assert len(Conversation.load(tmp_path / "saved.json").messages) == 2


def test_a_file_and_its_folder_are_made_and_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "deep" / "saved.json"
    conversation().save(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert [one.name for one in path.parent.iterdir()] == ["saved.json"]


def test_what_was_there_is_replaced_whole_and_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    held = fill_conversation([Message("user", "x" * 1000)])
    held.save(path)
    path.chmod(0o640)
    conversation().save(path)
    assert json.loads(path.read_text())["messages"] == []
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_link_is_followed(tmp_path: Path) -> None:
    target = tmp_path / "elsewhere.json"
    conversation().save(target)
    link = tmp_path / "link.json"
    link.symlink_to(target)
    fill_conversation([Message("user", "hi")]).save(link)
    assert link.is_symlink()
    assert len(Conversation.load(target).messages) == 1


def test_two_who_save_at_once_leave_one_of_both(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    sizes = (10, 10_000)

    def work(size: int) -> None:
        held = fill_conversation([Message("user", "x" * size)])
        for _ in range(20):
            held.save(path)

    threads = [Thread(target=work, args=(size,)) for size in sizes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(Conversation.load(path).messages[0].text) in sizes
    assert [one.name for one in tmp_path.iterdir()] == ["saved.json"]


def test_what_is_not_there_cannot_be_loaded(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no conversation at .*saved\.json"):
        Conversation.load(tmp_path / "saved.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "data",
    [b"", b"not json", b"[]", b"{}", b"\xff\xfe", b'{"messages": []}', b'{"createdAt": 5}'],
)
def test_what_is_no_conversation_cannot_be_loaded_and_stays(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "saved.json"
    path.write_bytes(data)
    with pytest.raises(CorruptFile, match=r"saved\.json is not a saved conversation"):
        Conversation.load(path)
    assert path.read_bytes() == data


def test_a_byte_order_mark_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    fill_conversation([Message("user", "hi")]).save(path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert len(Conversation.load(path).messages) == 1


def test_a_conversation_that_json_cannot_hold_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    conversation().save(path)
    before = path.read_bytes()
    held = conversation()
    held.add("user", [{"type": "data", "value": float("nan")}])
    with pytest.raises(InvalidInput, match="use plain values"):
        held.save(path)
    assert path.read_bytes() == before


def test_a_folder_in_the_file_s_place_is_an_error_that_says_so(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="it is a folder, not a file"):
        conversation().save(tmp_path)
    with pytest.raises(StorageError, match="it is a folder, not a file"):
        Conversation.load(tmp_path)
