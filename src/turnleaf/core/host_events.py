"""What hosts and chat clients send by themselves: events, and requests for a title or a summary.

Nobody said these requests, so they are no part of a conversation. A client's template is known by
how its text begins and by what else stands in it, or by the block of a chat that it quotes and
wants a title, tags or the like of, whose words users may set; a person who asks for a title in
other words is answered as always.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from turnleaf.core.loading import make_pattern
from turnleaf.core.messages import Message, from_json
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


IDLE = frozenset({"stream:idle", "session.idle", "Stop"})
USAGE = frozenset({"session.usage_info"})
COMPACTION_START = frozenset({"session.compaction_start", "PreCompact"})
COMPACTION_COMPLETE = frozenset({"session.compaction_complete", "compact_boundary"})
KNOWN = IDLE | USAGE | COMPACTION_START | COMPACTION_COMPLETE


def read_key(payload: Mapping[str, Any]) -> str:
    """Return the key of an event's conversation; raise InvalidInput where there is none."""
    names = ("conversation", "sessionId", "session_id")
    key = next((payload[name] for name in names if payload.get(name)), None)
    if not isinstance(key, str):
        message = 'an event needs "conversation", the key of its conversation'
        raise InvalidInput(message)
    return key


def read_messages(payload: Mapping[str, Any]) -> list[Message]:
    """Return the messages that an event brings."""
    try:
        return [from_json(record) for record in payload.get("messages", ())]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f'each of an event\'s messages needs "role" and "content" ({error})'
        raise InvalidInput(message) from error


def read_usage(payload: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens in use and the limit; raise InvalidInput where one is missing."""
    tokens, limit = payload.get("currentTokens"), payload.get("tokenLimit")
    if not isinstance(tokens, int) or not isinstance(limit, int):
        message = "session.usage_info needs currentTokens and tokenLimit, as whole numbers"
        raise InvalidInput(message)
    return tokens, limit


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

# A chat that a client quotes, with what is to be made of it before or after.
_CHAT = ("<chat_history>", "</chat_history>")
# What surrounds a chat may be long, and the pattern would search all of it.
_AROUND_CHARS = 10_000
_WANTED = make_pattern(
    r"\b(?:generat|creat|suggest|writ|provid|giv|produc|propos|return|output|com(?:e|ing) up"
    r"|summari[sz]|analy[sz]|determin|predict)[a-z]{0,5}\b.{0,100}?"
    r"\b(?:title|name|tag|topic|categor|follow[- ]?up|question|quer|search|keyword|emoji|summar)"
    r"|[生產产建創创給给提寫写列擬拟取總总摘預预補补回].{0,60}?"
    r"(?:標題|标题|題目|题目|標籤|标签|主題|主题|分類|分类|後續|后续|追問|追问|查詢|查询|搜尋|搜索|關鍵|关键"
    r"|摘要|建議|建议|表情)",
    re.DOTALL,
)


def is_client_task(messages: Sequence[Message]) -> bool:
    """Whether a client asks for itself, such as for a title, and not for a person."""
    if not messages:
        return False
    instructions = [one for one in messages if one.role in INSTRUCTING]
    last = messages[-1].text
    is_known = _is_one_of(last, _LAST) or any(
        _is_one_of(one.text, _INSTRUCTIONS) for one in instructions
    )
    return is_known or _is_about_chat(last)


def _is_about_chat(text: str) -> bool:
    """Whether a text quotes a chat and asks for a title, tags or a summary of it."""
    plain = text.lower()
    # The last end: a chat may quote such a tag itself.
    start, end = plain.find(_CHAT[0]), plain.rfind(_CHAT[1])
    if start < 0 or end < start:
        return False
    before = plain[max(0, start - _AROUND_CHARS) : start]
    after = plain[end + len(_CHAT[1]) :][:_AROUND_CHARS]
    return any(_WANTED.search(part) for part in (before, after))


def _is_one_of(text: str, templates: Sequence[tuple[str, ...]]) -> bool:
    # The beginning decides, so a long document is not searched whole for each template.
    beginning = " ".join(text[:BEGINNING_CHARS].lower().split())
    begun = [rest for first, *rest in templates if beginning.startswith(first.strip())]
    return any(all(part in " ".join(text.lower().split()) for part in rest) for rest in begun)
