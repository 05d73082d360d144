"""The names of conversations, the same in every interface."""

from dataclasses import dataclass
from datetime import UTC, datetime

from turnleaf.core.loading import lazy_pattern
from turnleaf.errors import InvalidInput

MAX_KEY_CHARS = 512
# Control characters and lone surrogates break terminals, addresses and files.
_NOT_TEXT = lazy_pattern("[\0-\x1f\ud800-\udfff]")


def slack_key(message_ts: str, thread_ts: str | None = None) -> str:
    """Return the key of a Slack thread, or of the message that may become one."""
    return checked_key(f"slack:{thread_ts or message_ts}")


def cli_key(started: datetime | int | str) -> str:
    """Return the key of a command line session, by the moment it started."""
    if isinstance(started, datetime):
        started = int(started.astimezone(UTC).timestamp() * 1000)
    return checked_key(f"cli:session-{started}")


def schedule_key(schedule_id: str) -> str:
    """Return the key of a schedule's conversation."""
    return checked_key(f"schedule:{schedule_id}")


def checked_key(key: str) -> str:
    """Refuse what cannot name a conversation in a file, a URL and a terminal."""
    if not key or not key.strip():
        message = "a conversation needs a key; pass a non-empty string as its id"
        raise InvalidInput(message)
    if len(key) > MAX_KEY_CHARS:
        message = (
            f"a conversation's key is limited to {MAX_KEY_CHARS} characters, and this one has "
            f"{len(key)}; shorten it"
        )
        raise InvalidInput(message)
    if _NOT_TEXT.search(key):
        message = f"a conversation's key contains a character that is not text: {key!r}; remove it"
        raise InvalidInput(message)
    return key


EVERYONE = ""
_ONLY = "only:"
_PROMPTS = "prompts:"


def only(name: str) -> str:
    """Return the audience of those conversations alone that have this audience themselves."""
    return f"{_ONLY}{name}"


def own_prompts(name: str) -> str:
    """Return the audience that every search finds, and only prompts of the same audience use."""
    return f"{_PROMPTS}{name}"


def default_audience(key: str) -> str:
    """Return the audience of a conversation of which nothing but its key is known."""
    if key.startswith("schedule:"):
        return own_prompts(key)
    if key.startswith("slack:"):
        # Of which kind its channel is, nobody knows here, and a wider audience could not be taken
        # back.
        return only(key)
    return EVERYONE


def is_shared(key: str) -> bool:
    """Whether other people may read a conversation: Slack's, or a schedule's that goes there."""
    return key.startswith(("slack:", "schedule:"))


@dataclass(frozen=True, slots=True)
class Reader:
    """Who searches."""

    conversation: str | None = None
    audience: str = EVERYONE
    is_prompt: bool = False
    """Whether a prompt is being made; otherwise somebody searches."""


def can_read(audience: str, reader: Reader) -> bool:
    """Whether a reader may see what was said to this audience."""
    if audience in (EVERYONE, reader.audience):
        return True
    # A schedule's answers are for its owner to find, but must not feed other prompts.
    return audience.startswith(_PROMPTS) and not reader.is_prompt


def is_narrower(audience: str, than: str) -> bool:
    """Whether an audience keeps more people out than another one."""
    return _rank(audience) > _rank(than)


def _rank(audience: str) -> int:
    if audience == EVERYONE:
        return 0
    return 1 if audience.startswith(_PROMPTS) else 2
