"""The names of conversations, the same in every interface (000)."""

import re
from datetime import UTC, datetime

from turnleaf.errors import InvalidInput

MAX_KEY_CHARS = 512
_NOT_TEXT = re.compile("[\0-\x1f\ud800-\udfff]")


def slack_key(message_ts: str, thread_ts: str | None = None) -> str:
    """Name a Slack thread, or the message that may become one."""
    return checked_key(f"slack:{thread_ts or message_ts}")


def cli_key(started: datetime | int | str) -> str:
    """Name a command line session by the moment it started."""
    if isinstance(started, datetime):
        started = int(started.astimezone(UTC).timestamp() * 1000)
    return checked_key(f"cli:session-{started}")


def schedule_key(schedule_id: str) -> str:
    """Name the conversation of a schedule."""
    return checked_key(f"schedule:{schedule_id}")


def checked_key(key: str) -> str:
    """Refuse what cannot name a conversation in a file, a URL and a terminal."""
    if not key or not key.strip():
        message = "a conversation needs a name; pass a non-empty string as its id"
        raise InvalidInput(message)
    if len(key) > MAX_KEY_CHARS:
        message = f"a conversation's name may have {MAX_KEY_CHARS} characters, this has {len(key)}"
        raise InvalidInput(message)
    if _NOT_TEXT.search(key):
        message = f"a conversation's name holds a character that is not text: {key!r}"
        raise InvalidInput(message)
    return key
