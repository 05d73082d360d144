"""What other hosts tell of a conversation, by the names that they use for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from turnleaf.core.messages import Message, from_json
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping

IDLE = frozenset({"stream:idle", "session.idle", "Stop"})
USAGE = frozenset({"session.usage_info"})
COMPACTION_START = frozenset({"session.compaction_start", "PreCompact"})
COMPACTION_COMPLETE = frozenset({"session.compaction_complete", "compact_boundary"})
KNOWN = IDLE | USAGE | COMPACTION_START | COMPACTION_COMPLETE


def key_in(payload: Mapping[str, Any]) -> str:
    """Return the key of the conversation that an event is about."""
    names = ("conversation", "sessionId", "session_id")
    key = next((payload[name] for name in names if payload.get(name)), None)
    if not isinstance(key, str):
        message = 'an event needs its "conversation", the key of the conversation that it is about'
        raise InvalidInput(message)
    return key


def messages_in(payload: Mapping[str, Any]) -> list[Message]:
    """Return the messages that an event brings."""
    try:
        return [from_json(record) for record in payload.get("messages", ())]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f'each of an event\'s messages needs "role" and "content" ({error})'
        raise InvalidInput(message) from error


def usage_in(payload: Mapping[str, Any]) -> tuple[int, int]:
    """Return the tokens that are used, and how many there is room for."""
    tokens, limit = payload.get("currentTokens"), payload.get("tokenLimit")
    if not isinstance(tokens, int) or not isinstance(limit, int):
        message = "session.usage_info needs currentTokens and tokenLimit, as whole numbers"
        raise InvalidInput(message)
    return tokens, limit
