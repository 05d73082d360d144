"""Putting history and memories into a prompt, so that nothing in them can pose as the prompt.

Only what could be read as our own tags and marks is altered (see `escaping`).
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING

from turnleaf.core import markdown
from turnleaf.core.prompt import escaping

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import Message, Part

HISTORY_TAG = "conversation_history"
MEMORY_TAG = "long_term_memory"
_NEVER = datetime.min.replace(tzinfo=UTC)
SPEAKERS = {"user": "User", "assistant": "Assistant", "tool": "Tool"}


def build_prompt_with_history(history: Sequence[Message], prompt: str) -> str:
    """Put a conversation's history before a prompt; without history, only the prompt."""
    if not history:
        return prompt
    lines = (f"[{_speaker(message)}]: {_speech_of(message)}" for message in history)
    return f"{block(HISTORY_TAG, lines)}\n\n{prompt}"


def build_prompt_with_memory(memories: Sequence[Memory], prompt: str) -> str:
    """Put all memories before a prompt; without memories, only the prompt."""
    lines = memory_lines(memories)
    return f"{block(MEMORY_TAG, lines)}\n\n{prompt}" if lines else prompt


def memory_lines(memories: Iterable[Memory]) -> list[str]:
    """Return each memory that says something as an item that cannot pose as anything else."""
    told = (memory.content for memory in memories if memory.content.strip())
    return [f"- {escaping.item(content)}" for content in told]


@lru_cache(maxsize=8)
def page_text(page: str) -> str:
    """Return a page of facts or notes, on which each fact is safe as an item is."""
    return rewrite_facts(page, escaping.item)


def rewrite_facts(page: str, rewrite: Callable[[str], str]) -> str:
    """Return a page with each fact rewritten, and all else as it stands, safe as a passage is."""
    parsed = markdown.parse(page, _NEVER)
    lines = ["" if at in parsed.empty else line for at, line in enumerate(parsed.lines)]
    for fact in parsed.facts:
        lines[fact.start] = f"{fact.marker}{rewrite(fact.memory.content)}\n"
        lines[fact.start + 1 : fact.end] = [""] * (fact.end - fact.start - 1)
    return escaping.passage("".join(lines))


def history_message(message: Message) -> Message:
    """Return a message of a history as a model may be told it, whoever wrote it."""
    content = message.content
    if isinstance(content, str):
        said = escaping.speech(content)
        return message if said == content else replace(message, content=said)
    if content is None:
        return message
    return replace(message, content=[_part(part) for part in content])


def _part(part: Part) -> Part:
    text = part.get("text")
    return {**part, "text": escaping.speech(text)} if isinstance(text, str) else part


def block(tag: str, lines: Iterable[str]) -> str:
    """Put lines between a tag's beginning and its end."""
    body = "\n".join(lines)
    return f"<{tag}>\n{body}\n</{tag}>"


def _speaker(message: Message) -> str:
    return SPEAKERS.get(message.role, "System")


def _speech_of(message: Message) -> str:
    text = message.text
    if message.tool_calls and not text:
        names = (str(call.get("function", {}).get("name", "")) for call in message.tool_calls)
        text = f"(called {', '.join(filter(None, names)) or 'a tool'})"
    return escaping.speech(text)
