from __future__ import annotations

import pytest

from tests.growth import grows_with_its_text
from turnleaf.core.host_events import is_client_task
from turnleaf.core.messages import Message


@pytest.mark.parametrize(
    "text",
    [
        "### Task:\r\nAnalyze the chat history\n\n<chat_history>\n…\n</chat_history>",
        "  ### TASK:\nYou are an autocompletion system.\n<chat_history></chat_history>",
        "直接返回這句話的簡要主題，無須解釋，若無主題，請直接返回「閒聊」",
        "Based on the chat history, give this conversation a name.\nKeep it short",
        "Generate 1-3 broad tags for this chat.\n<chat_history>\nUSER: hi\n</chat_history>",
        "<chat_history>\nUSER: hi\n</chat_history>\n\nSuggest 3 follow-up questions as JSON.",
        "You write titles. Return one short title.\n<chat_history>…</chat_history>\nJSON:",
        "Determine the search queries that help.\n<chat_history>…</chat_history>",
        "請根據以下對話產生一個簡短的標題：\n<chat_history>\n嗨\n</chat_history>",
        "<chat_history>\n嗨\n</chat_history>\n请生成三个后续问题，用 JSON 返回。",
    ],
)
def test_a_template_is_known_whatever_its_case_and_spaces(text: str) -> None:
    assert is_client_task([Message("user", text)])


def test_a_template_counts_only_where_the_client_puts_it() -> None:
    title = Message(
        "user", "Please generate a four to five word title summarizing our conversation"
    )
    assert is_client_task([Message("user", "哈囉"), title])
    assert not is_client_task([title, Message("assistant", "Lamps"), Message("user", "謝謝")])
    asked = Message("user", "What does this do? ### Task: <chat_history></chat_history>")
    assert not is_client_task([asked])


@pytest.mark.parametrize(
    "text",
    [
        "Why does Open WebUI send </chat_history> before <chat_history> with a generated title?",
        "My template holds <chat_history>; how do I generate a title with it?",
        "What is this? <chat_history>\nUSER: generate a title\n</chat_history>",
        "這是什麼？<chat_history>請產生標題</chat_history>",
    ],
)
def test_a_person_who_talks_about_a_template_is_answered(text: str) -> None:
    assert not is_client_task([Message("user", text)])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\0",
        "\ud800",
        " " * 100_000,
        "### Task:" * 100_000,
        "generate 生" * 100_000 + "<chat_history></chat_history>" + "generate 生" * 100_000,
    ],
)
def test_no_text_takes_long_or_fails(text: str) -> None:
    assert not is_client_task([Message("user", text)])
    assert not is_client_task([])
    assert grows_with_its_text(lambda part: is_client_task([Message("user", part)]), text)
