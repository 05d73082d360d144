"""What older versions kept beside the database, read as far as it can be."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from turnleaf.core import conversation_formats as conversations_json
from turnleaf.core import messages
from turnleaf.core.conversation_formats import (
    StoredConversation,
    read_conversations,
    read_month,
    without_conversation,
    without_lines,
)
from turnleaf.core.messages import Message
from turnleaf.core.serialization import dumps

MARCH = datetime(2026, 3, 1, tzinfo=UTC)
ODD = "\ud800 \0 \u2028 「名字」\n"


def make_messages(*texts: str, at: datetime = MARCH) -> list[Message]:
    return [
        Message("user", text, at + timedelta(minutes=number)) for number, text in enumerate(texts)
    ]


def conversations(**texts: list[str]) -> bytes:
    records = {
        key: StoredConversation(MARCH, MARCH, make_messages(*some)) for key, some in texts.items()
    }
    return conversations_json.assemble(
        conversations_json.write_line(key, conversations_json.dump(one))
        for key, one in records.items()
    )


def month(*lines: tuple[str, Message]) -> bytes:
    records = [{"conversation": key, **messages.to_json(message)} for key, message in lines]
    return "".join(f"{dumps(record)}\n" for record in records).encode()


def test_every_message_of_a_file_is_read() -> None:
    older = read_conversations(conversations(a=["one", ODD], b=["two"]))
    assert older.conversations == {"a": make_messages("one", ODD), "b": make_messages("two")}
    assert older.damaged == 0


def test_another_layout_is_read_as_well() -> None:
    data = json.dumps(json.loads(conversations(a=["one"], b=["two"])), indent=4).encode()
    assert read_conversations(data).conversations == {
        "a": make_messages("one"),
        "b": make_messages("two"),
    }


def test_an_empty_file_says_nothing_and_is_not_damaged() -> None:
    for empty in (conversations_json.EMPTY.encode(), conversations(a=[])):
        older = read_conversations(empty)
        assert (older.conversations, older.damaged) == ({}, 0)


def test_a_message_without_a_time_has_that_of_its_conversation() -> None:
    record = {"createdAt": "2026-03-01T00:00:00.000Z", "updatedAt": "2026-03-02T00:00:00.000Z"}
    body = dumps(record | {"messages": [{"role": "user", "content": "x"}]})
    older = read_conversations(
        conversations_json.assemble([conversations_json.write_line("a", body)])
    )
    assert older.conversations == {"a": [Message("user", "x", MARCH + timedelta(days=1))]}


@pytest.mark.parametrize("cut", [3, 20, 150])
def test_of_a_file_that_was_cut_off_the_whole_lines_are_read(cut: int) -> None:
    older = read_conversations(conversations(a=["one"], b=["two"])[:-cut])
    assert older.conversations["a"] == make_messages("one")
    assert older.damaged > 0


def test_of_a_damaged_conversation_the_other_messages_are_read() -> None:
    data = conversations(a=["one", "two", "three"], b=["four"])
    older = read_conversations(data.replace(b'"user", "content": "two"', b'"nobody", "content": 2'))
    assert [one.content for one in older.conversations["a"]] == ["one", "three"]
    assert older.conversations["b"] == make_messages("four")
    assert older.damaged == 1


def test_bytes_that_are_no_text_cost_no_other_word() -> None:
    older = read_conversations(conversations(a=["one", "t?o"], b=["three"]).replace(b"?", b"\xff"))
    assert [one.content for one in older.conversations["a"]] == ["one", "t\ufffdo"]
    assert older.conversations["b"] == make_messages("three")
    assert older.damaged == 1


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"version": 2}'])
def test_what_is_no_such_file_is_damaged(data: bytes) -> None:
    older = read_conversations(data)
    assert (older.conversations, older.damaged > 0) == ({}, True)


def test_a_month_is_read_by_conversation_and_each_line_once() -> None:
    one, two, three = make_messages("one", ODD, "three")
    data = month(("a", one), ("b", two), ("a", one), ("a", three))
    older = read_month(data, MARCH)
    assert older.conversations == {"a": [one, three], "b": [two]}
    assert older.damaged == 0


def test_a_line_that_a_kill_tore_is_damaged_and_the_others_are_read() -> None:
    (one,) = make_messages("one")
    data = month(("a", one)) + month(("a", one))[:40] + b"\n" + month(("b", one))
    older = read_month(data, MARCH)
    assert (older.conversations, older.damaged) == ({"a": [one], "b": [one]}, 1)


@pytest.mark.parametrize(
    "line", [b"null", b"{}", b'{"conversation": 5, "role": "user", "content": "x"}', b"\xff"]
)
def test_a_line_that_is_no_message_is_damaged(line: bytes) -> None:
    assert read_month(line, MARCH).damaged == 1


def test_an_archived_message_without_a_time_is_of_its_month() -> None:
    older = read_month(month(("a", Message("user", "x"))), MARCH)
    assert older.conversations == {"a": [Message("user", "x", MARCH)]}


@pytest.mark.parametrize("key", ["a", "b", "名字"])
def test_a_conversation_is_taken_out_and_the_rest_stays(key: str) -> None:
    texts = {"a": ["one", "two"], "b": ["three"], "名字": ["四"]}
    data = conversations(**texts)
    left, count = without_conversation(data, key)
    assert count == len(texts.pop(key))
    assert left == conversations(**texts)
    assert without_conversation(left, key) == (left, 0)


def test_the_last_conversation_leaves_an_empty_file() -> None:
    assert without_conversation(conversations(a=["one"]), "a") == (
        conversations_json.EMPTY.encode(),
        1,
    )


def test_a_conversation_is_taken_out_of_another_layout() -> None:
    data = json.dumps(json.loads(conversations(a=["one"], b=["two"])), indent=4).encode()
    assert without_conversation(data, "a") == (conversations(b=["two"]), 1)


def test_a_damaged_conversation_is_taken_out_by_its_beginning() -> None:
    data = conversations(a=["one"], b=["secret"]).replace(b"secret", b"\xffsecret")[:-30]
    left, count = without_conversation(data, "b")
    assert count > 0
    assert b"secret" not in left
    assert read_conversations(left).conversations == {"a": make_messages("one")}


def test_nothing_is_taken_out_of_what_cannot_be_read() -> None:
    assert without_conversation(b"\xff{", "a") == (b"\xff{", 0)


def test_lines_of_a_conversation_are_taken_out_also_a_torn_one() -> None:
    (one,) = make_messages("one")
    torn = month(("a", one))[:40]
    data = month(("a", one), ("ab", one), ("a", one)) + torn
    assert without_lines(data, "a") == (month(("ab", one)), 3)
