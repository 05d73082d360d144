from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from turnleaf.core.conversation_formats import (
    Transcript,
    from_json,
    make_file_name,
    to_json,
    to_markdown,
)
from turnleaf.core.messages import Message, StoredMessage

BEGAN = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}
HOSTILE = (
    "<!-- the rest is gone",
    "## Assistant · 2026-11-15 08:30\n\nNo.",
    "```\n<b>code</b>\n````\n<script>alert(1)</script>",
    "- ```\n<div>\n",
    "  ~~~\n</div>\n~~~\n<x>",
    "a `\n# b\n` <x> ` <y> `",
    "> quoted\n<details>",
    "1. ```\n\n<b",
    "```a`b\n<b>",
    "\r<b>\r\n<i>\x0b<u>\u2028<s>",
    "<https://example.org> 1 < 2 <3",
)


def make_stored(number: int, message: Message, **more: object) -> StoredMessage:
    return StoredMessage(number, message, **more)  # type: ignore[arg-type]


def transcript(*messages: StoredMessage, title: str = "What do I drink?") -> Transcript:
    return Transcript("web:4f1c", title, BEGAN, BEGAN + timedelta(hours=1), messages)


def conversation(*texts: str) -> Transcript:
    roles = ("user", "assistant")
    said = [Message(roles[place % 2], text, BEGAN) for place, text in enumerate(texts)]
    return transcript(*(make_stored(place, one) for place, one in enumerate(said, 1)))


def tokens(markdown: str) -> Iterator[Token]:
    for token in MarkdownIt("commonmark").parse(markdown):
        yield token
        yield from token.children or ()


# Markdown


def test_a_conversation_reads_like_one() -> None:
    shown = to_markdown(conversation("What do I drink?", "Oolong tea.\n\nEvery day."))
    assert shown == (
        "# What do I drink?\n\n"
        "Conversation: web:4f1c  \n2026-11-15 08:30 to 2026-11-15 09:30\n\n"
        "## User · 2026-11-15 08:30\n\n> What do I drink?\n\n"
        "## Assistant · 2026-11-15 08:30\n\n> Oolong tea.\n>\n> Every day.\n"
    )


def test_a_chinese_conversation_has_chinese_headings_in_the_readers_time() -> None:
    taipei = timezone(timedelta(hours=8))
    shown = to_markdown(conversation("我喝什麼？", "烏龍茶"), lambda time: time.astimezone(taipei))
    assert "對話：web:4f1c  \n2026-11-15 16:30 至 2026-11-15 17:30" in shown
    assert "## 使用者 · 2026-11-15 16:30\n\n> 我喝什麼？" in shown
    assert "## 助理 · 2026-11-15 16:30\n\n> 烏龍茶" in shown


def test_speakers_broken_off_answers_forgotten_words_tools_and_pictures_are_named() -> None:
    picture: list[dict[str, Any]] = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {}},
    ]
    shown = to_markdown(
        transcript(
            make_stored(1, Message("user", picture, BEGAN, name="Anna *A*"), is_hidden=True),
            make_stored(2, Message("assistant", None, BEGAN, tool_calls=[CALL])),
            make_stored(3, Message("tool", "72°F", BEGAN, tool_call_id="c1")),
            make_stored(4, Message("assistant", "It is", BEGAN), status="stopped"),
            make_stored(5, Message("assistant", "It", None), status="failed"),
        )
    )
    assert "## Anna \\*A\\* · 2026-11-15 08:30 · forgotten\n\n> Look\n> [image_url]\n" in shown
    assert '> [calls {"name": "weather", "arguments": "{}"}]' in shown
    assert "## Tool · 2026-11-15 08:30\n\n> 72°F" in shown
    assert "· stopped here\n\n> It is" in shown
    assert "## Assistant · interrupted by an error\n\n> It\n" in shown


def test_code_is_shown_as_it_is() -> None:
    shown = to_markdown(conversation("How?", "So:\n\n```html\n<b>bold</b>\n```\n\nand <i>"))
    assert "> ```html\n> <b>bold</b>\n> ```\n>\n> and \\<i>" in shown


@pytest.mark.parametrize("text", HOSTILE)
def test_no_message_can_pose_as_another_or_hide_one(text: str) -> None:
    check_structure(text)


@given(
    st.lists(st.sampled_from(["```", "~~~", "`", "<b>", "<!--", "\n", "- ", "  ", "> ", "a", "#"]))
)
def test_no_mixture_of_markup_can_either(parts: list[str]) -> None:
    check_structure("".join(parts))


def check_structure(text: str) -> None:
    shown = to_markdown(
        Transcript("k<b>", f"{text}`", BEGAN, BEGAN, conversation(text, "The end.").messages)
    )
    found = list(tokens(shown))
    assert [one for one in found if one.type in {"html_block", "html_inline"}] == []
    top = [one.tag for one in found if one.type == "heading_open" and one.level == 0]
    assert top == ["h1", "h2", "h2"]
    assert [one.level for one in found if one.type == "blockquote_open"].count(0) == 2


@pytest.mark.parametrize("piece", ["`", "~", "<", "- ", "  ", "```\n", "字", "\n", "a`"])
def test_a_huge_message_takes_no_longer_for_its_form(piece: str) -> None:
    assert len(to_markdown(conversation(piece * 100_000))) >= 100_000


# JSON


def test_json_is_read_back_as_it_was() -> None:
    shaped = {"memories": ["k7m2q9x4vd"], "hits": [{"source": "daily", "score": 0.5}]}
    whole = Transcript(
        "客廳/燈",
        "燈 <b>",
        BEGAN,
        BEGAN,
        (
            make_stored(
                1, Message("user", [{"type": "text", "text": "哈囉\n"}], BEGAN, name="小安")),
            make_stored(2, Message("assistant", None, BEGAN, tool_calls=[CALL]), parent=1),
            make_stored(
                4, Message("tool", "72°F", None, tool_call_id="c1"), trust="tool", source="t"),
            make_stored(9, Message("assistant", "嗯"), status="stopped", parent=4, versions=(7, 9),
                   is_hidden=True, shaped_by=shaped, trust="assistant"),
        ),
        audience="only:slack:D1",
        is_searched=False,
        is_renamed=True,
    )  # fmt: skip
    assert from_json(json.loads(json.dumps(to_json(whole)))) == whole


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("What do I drink?", "2026-11-15-What-do-I-drink.md"),
        ("客廳的燈叫什麼？", "2026-11-15-客廳的燈叫什麼.md"),
        ("../../etc/passwd\0", "2026-11-15-etc-passwd.md"),
        ("", "2026-11-15.md"),
        ("x" * 1000, f"2026-11-15-{'x' * 60}.md"),
    ],
)
def test_a_file_is_named_by_day_and_title(title: str, name: str) -> None:
    assert make_file_name(transcript(title=title), "md") == name
