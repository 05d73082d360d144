"""Requests that chat clients send by themselves: for a title, tags, follow-ups or a summary.

Nobody said these, so they are no part of a conversation. A client's template is known by how its
text begins and by what else stands in it; a person who asks for a title in other words is answered
as always.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.core.messages import Message

INSTRUCTING = ("system", "developer")
BEGINNING_CHARS = 400

# Each row: how the text begins, and what else is in it. In lower case, with single spaces.
_LAST = (
    # Open WebUI. What it asks about retrieved documents begins alike and is a person's question.
    ("### task:", "<chat_history>"),
    ("create a concise, 3-5 word ", "<chat_history>"),
    ("here is the query: ", "create a concise, 3-5 word phrase"),
    ("your task is to reflect the speaker's likely facial expression through a fitting emoji",),
    # LibreChat
    ("provide a concise, 5-word-or-less title for the conversation",),
    ("please generate a concise, 5-word-or-less title for the conversation",),
    ("please generate a concise title (max 40 characters) for a conversation that starts with",),
    ("analyze this conversation and provide: 1. the detected language", "a concise title"),
    # NextChat
    ("please generate a four to five word title summarizing our conversation",),
    ("summarize the discussion briefly in 200 words or less to use as a prompt",),
    ("使用四到五个字直接返回这句话的简要主题",),
    ("简要总结一下对话内容，用作后续的上下文提示",),
    ("使用四到五個字直接返回這句話的簡要主題",),
    ("直接返回這句話的簡要主題，無須解釋",),
    ("簡要總結一下對話內容，用作後續的上下文提示",),
    # Chatbox
    ("based on the chat history, give this conversation a name",),
    # Zed
    ("generate a concise 3-7 word title for this conversation, omitting punctuation",),
)
_INSTRUCTIONS = (
    # Open WebUI, choosing tools
    ("available tools:", "your task is to choose and return the correct tool(s)"),
    # LobeChat, Cherry Studio
    ("you are a professional conversation summarizer. generate a concise title",),
    ("你是一名擅长会话的助理，你需要将用户的会话总结为",),
    ("summarize the conversation into a title in ",),
    # opencode
    ("you are a title generator. you output only",),
)


def is_client_task(messages: Sequence[Message]) -> bool:
    """Whether a client asks for something of its own, and not for a person."""
    if not messages:
        return False
    instructions = [one for one in messages if one.role in INSTRUCTING]
    return _is_one_of(messages[-1].text, _LAST) or any(
        _is_one_of(one.text, _INSTRUCTIONS) for one in instructions
    )


def _is_one_of(text: str, templates: Sequence[tuple[str, ...]]) -> bool:
    beginning = " ".join(text[:BEGINNING_CHARS].lower().split())
    begun = [rest for first, *rest in templates if beginning.startswith(first.strip())]
    return any(all(part in " ".join(text.lower().split()) for part in rest) for rest in begun)
