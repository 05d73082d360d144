"""The names of conversations, the same in every interface."""

from dataclasses import dataclass
from datetime import UTC, datetime

from turnleaf.core.loading import make_pattern
from turnleaf.errors import InvalidInput

MAX_KEY_CHARS = 512
# Control characters and lone surrogates break terminals, addresses and files.
_NOT_TEXT = make_pattern("[\0-\x1f\ud800-\udfff]")


def slack_key(message_ts: str, thread_ts: str | None = None) -> str:
    """Return the key of a Slack thread, or of the message that may become one."""
    return check_key(f"slack:{thread_ts or message_ts}")


def cli_key(started: datetime | int | str) -> str:
    """Return the key of a command line session, by the moment it started."""
    if isinstance(started, datetime):
        started = int(started.astimezone(UTC).timestamp() * 1000)
    return check_key(f"cli:session-{started}")


def schedule_key(schedule_id: str) -> str:
    """Return the key of a schedule's conversation."""
    return check_key(f"schedule:{schedule_id}")


def check_key(key: str) -> str:
    """Return a key; raise InvalidInput for one that a file, URL or terminal cannot hold."""
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


def make_own_audience(name: str) -> str:
    """Return an audience that only conversations of the same audience can read."""
    return f"{_ONLY}{name}"


def make_prompt_audience(name: str) -> str:
    """Return an audience that every search can read, but only prompts of the same audience."""
    return f"{_PROMPTS}{name}"


def choose_audience(key: str) -> str:
    """Return the default audience of a conversation, by its key alone."""
    if key.startswith("schedule:"):
        return make_prompt_audience(key)
    if key.startswith("slack:"):
        # Of which kind its channel is, nobody knows here, and a wider audience could not be taken
        # back.
        return make_own_audience(key)
    return EVERYONE


def is_shared(key: str) -> bool:
    """Whether other people may read a conversation: of Slack, or of a schedule."""
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
