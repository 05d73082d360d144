"""`Conversation`: messages in order, and what a program does with them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from turnleaf.core import conversation_formats
from turnleaf.core.messages import Message, to_openai
from turnleaf.core.tokens import count_message_tokens
from turnleaf.core.window import newest_within
from turnleaf.errors import CorruptFile, InvalidInput, NotFound
from turnleaf.store import token_vocabulary
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from turnleaf.core.messages import Content


class Conversation:
    """A conversation that is being held; its system prompt, if any, is its first message."""

    def __init__(
        self,
        system_prompt: str | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._now = now
        self._messages: list[Message] = []
        if system_prompt is not None:
            self.add("system", system_prompt)

    @property
    def messages(self) -> list[Message]:
        """All messages, in order."""
        return list(self._messages)

    def add(
        self,
        role: str,
        content: Content,
        *,
        tool_calls: list[dict[str, Any]] | None = None,
        name: str | None = None,
    ) -> Message:
        """Add a message."""
        message = Message(role, content, self._now(), tool_calls=tool_calls, name=name)
        self._messages.append(message)
        return message

    def add_tool_result(self, tool_call_id: str, content: Content) -> Message:
        """Add what a tool that the assistant called has answered."""
        message = Message("tool", content, self._now(), tool_call_id=tool_call_id)
        self._messages.append(message)
        return message

    def clear(self) -> None:
        """Remove all messages except the system prompt."""
        self._messages = self._find_prompt()

    def get_context(self, max_tokens: int) -> list[Message]:
        """Return the system prompt and the newest messages that fit, none of them cut."""
        if max_tokens < 0:
            message = f"max_tokens must not be negative, but is {max_tokens}"
            raise InvalidInput(message)
        prompt = self._find_prompt()
        left = max_tokens - sum(map(_count_tokens, prompt))
        return [*prompt, *newest_within(self._messages[len(prompt) :], left, _count_tokens)]

    def token_count(self) -> int:
        """Count the tokens of all messages; an estimate unless turnleaf[tokens] is there."""
        return sum(map(_count_tokens, self._messages))

    def to_openai_format(self) -> list[dict[str, Any]]:
        """Return the messages in the form of OpenAI's chat completions."""
        return [to_openai(message) for message in self._messages]

    def save(self, path: str | Path) -> None:
        """Write the conversation to a file, in the form that the store uses."""
        now = self._now()
        created = self._messages[0].timestamp if self._messages else None
        text = conversation_formats.dump(
            conversation_formats.StoredConversation(created or now, now, self._messages)
        )
        target = atomic.resolve(path)
        atomic.make_folder(target.parent)
        atomic.write(target, f"{text}\n".encode())

    @classmethod
    def load(cls, path: str | Path) -> Conversation:
        """Read a conversation that was saved."""
        source = atomic.resolve(path)
        data = atomic.read(source)
        if data is None:
            message = f"there is no conversation at {source}"
            raise NotFound(message)
        try:
            record = conversation_formats.load(data.decode("utf-8-sig"))
        except (UnicodeDecodeError, CorruptFile) as error:
            message = f"{source} is not a saved conversation ({error}); it was left as it is"
            raise CorruptFile(message) from error
        conversation = cls()
        conversation._messages = list(record.messages)
        return conversation

    def _find_prompt(self) -> list[Message]:
        first = self._messages[:1]
        return first if first and first[0].role in {"system", "developer"} else []


def _count_tokens(message: Message) -> int:
    return count_message_tokens(message, token_vocabulary.choose_counter())
