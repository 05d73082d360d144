from __future__ import annotations

import time

import pytest

from turnleaf.core.client_tasks import is_client_task
from turnleaf.core.messages import Message


@pytest.mark.parametrize(
    "text",
    [
        "### Task:\r\nAnalyze the chat history\n\n<chat_history>\n…\n</chat_history>",
        "  ### TASK:\nYou are an autocompletion system.\n<chat_history></chat_history>",
        "直接返回這句話的簡要主題，無須解釋，若無主題，請直接返回「閒聊」",
        "Based on the chat history, give this conversation a name.\nKeep it short",
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


@pytest.mark.parametrize("text", ["", "\0", "\ud800", " " * 100_000, "### Task:" * 100_000])
def test_no_text_takes_long_or_fails(text: str) -> None:
    started = time.process_time()
    assert not is_client_task([Message("user", text)])
    assert not is_client_task([])
    assert time.process_time() - started < 1
