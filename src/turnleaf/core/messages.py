"""Messages as values: as they are said, as a store keeps them, and the feed for an index."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from turnleaf.core.serialization import check_aware, from_iso, to_iso, to_millisecond, to_text
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime


ROLES = ("system", "developer", "user", "assistant", "tool")
_SPEAKERS = frozenset(ROLES) - {"tool"}

Part: TypeAlias = dict[str, Any]
Content: TypeAlias = str | list[Part] | None


@dataclass(frozen=True, slots=True)
class Message:
    """Who said what, and when; `ConversationTurn` is the same class.

    `content` is text, a list of OpenAI's content parts, or None beside `tool_calls`.
    """

    role: str
    content: Content
    timestamp: datetime | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        stamp = self.timestamp
        # Files keep milliseconds, and what is read has to equal what was said.
        if stamp is not None and (stamp.tzinfo is None or stamp.microsecond % 1000):
            object.__setattr__(self, "timestamp", to_millisecond(check_aware(stamp)))
        # Thousands of plain messages are made at once, and these need no further look.
        is_plain = self.tool_calls is None and self.tool_call_id is None
        if is_plain and type(self.content) is str and self.role in _SPEAKERS:
            return
        _check(self)
        # A frozen message must not change with the list that it was made of.
        if isinstance(self.content, list):
            object.__setattr__(self, "content", deepcopy(self.content))
        if self.tool_calls is not None:
            object.__setattr__(self, "tool_calls", deepcopy(list(self.tool_calls)) or None)

    @property
    def text(self) -> str:
        """Only what can be read: the content, or its text parts one below the other."""
        if isinstance(self.content, list):
            return "\n".join(part["text"] for part in self.content if _is_text(part))
        return self.content or ""

    @property
    def call_ids(self) -> list[str]:
        """The ids of the tool calls that it makes."""
        return [call["id"] for call in self.tool_calls or ()]


ConversationTurn = Message


class _Draft:
    """A message while it is made: a frozen dataclass sets each field by name, which takes long."""

    __slots__ = Message.__slots__

    role: str
    content: Content
    timestamp: datetime | None
    tool_calls: list[dict[str, Any]] | None
    tool_call_id: str | None
    name: str | None


def make_stored(role: str, text: str, timestamp: datetime) -> Message:
    """Return a plain message, unchecked: its parts were checked when they were stored."""
    return make_many_stored((role,), (text,), (timestamp,))[0]


def make_many_stored(
    roles: Sequence[str], texts: Sequence[str], timestamps: Sequence[datetime]
) -> list[Message]:
    """Return plain messages, unchecked: their parts were checked when they were stored."""
    made: list[Any] = []
    for role, text, timestamp in zip(roles, texts, timestamps, strict=True):
        one = _Draft()
        one.role, one.content, one.timestamp = role, text, timestamp
        one.tool_calls = one.tool_call_id = one.name = None
        # They have the same slots, so a draft becomes a message as it is.
        one.__class__ = Message  # type: ignore[assignment]
        made.append(one)
    return made


def to_json(message: Message) -> dict[str, Any]:
    """Return the form that every file of ours holds."""
    record: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.timestamp is not None:
        record["timestamp"] = to_iso(message.timestamp)
    if message.tool_calls:
        record["toolCalls"] = message.tool_calls
    if message.tool_call_id is not None:
        record["toolCallId"] = message.tool_call_id
    if message.name is not None:
        record["name"] = message.name
    return record


def from_json(record: Mapping[str, Any]) -> Message:
    """Return the message that `to_json` wrote; raise ValueError for any other record."""
    stamp = record.get("timestamp")
    return Message(
        role=record["role"],
        content=record["content"],
        timestamp=None if stamp is None else from_iso(stamp),
        tool_calls=record.get("toolCalls"),
        tool_call_id=record.get("toolCallId"),
        name=record.get("name"),
    )


def to_openai(message: Message) -> dict[str, Any]:
    """Return a message in the form of OpenAI's chat completions."""
    record: dict[str, Any] = {"role": message.role, "content": deepcopy(message.content)}
    if message.tool_calls:
        record["tool_calls"] = deepcopy(message.tool_calls)
    if message.tool_call_id is not None:
        record["tool_call_id"] = message.tool_call_id
    # A tool's message takes no name there.
    if message.name is not None and message.role != "tool":
        record["name"] = message.name
    return record


def _is_text(part: Part) -> bool:
    return isinstance(part.get("text"), str)


def _check(message: Message) -> None:
    problem = _find_problem(message)
    if problem:
        raise InvalidInput(problem)


def _find_problem(message: Message) -> str | None:
    role, content, calls = message.role, message.content, message.tool_calls
    if role not in ROLES:
        return f"a message's role must be one of {', '.join(ROLES)}, not {role!r}"
    if calls is not None and role != "assistant":
        return f"only an assistant's message can have tool calls, not one with the role {role!r}"
    if role == "tool" and not message.tool_call_id:
        return "a tool's message needs the tool_call_id of the call that it answers"
    if role != "tool" and message.tool_call_id is not None:
        return f"only a tool's message can have a tool_call_id, not one with the role {role!r}"
    if content is None and not calls:
        return f"the {role}'s message has no content; pass text or a list of content parts"
    return _find_content_problem(content) or _find_calls_problem(calls)


def _find_content_problem(content: object) -> str | None:
    if content is None or isinstance(content, str):
        return None
    if not isinstance(content, list):
        return f"content must be text or a list of content parts, not {type(content).__name__}"
    if not all(isinstance(part, dict) and isinstance(part.get("type"), str) for part in content):
        return 'each content part is a dict with a "type", as in {"type": "text", "text": "…"}'
    return None


def _find_calls_problem(calls: object) -> str | None:
    if calls is None:
        return None
    if not isinstance(calls, list | tuple):
        return f"tool_calls must be a list of OpenAI tool call dicts, not {type(calls).__name__}"
    if not all(isinstance(call, dict) and isinstance(call.get("id"), str) for call in calls):
        return 'each tool call is a dict with an "id", as OpenAI\'s API gives it'
    return None


STATUSES = ("complete", "stopped", "failed")
ANSWERING = "answering"
"""What is stored as stopped while a process that lives is at the answer."""
TRUSTED = ("user", "assistant")
TRUSTS = (*TRUSTED, "tool", "document", "stranger")
TITLE_CHARS = 80
BEGINNING_CHARS = 1000
"""How much of a question is read to make a title."""


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message to be stored, with what a bare `Message` does not say."""

    message: Message
    status: str = "complete"
    trust: str | None = None
    """Whose words these are; None: by its role."""
    source: str | None = None
    """Where they come from: "tool:NAME", "document:NAME", "slack:U123"."""
    shaped_by: Mapping[str, Any] | None = None
    """What went into the prompt of this answer, as JSON."""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            message = (
                f"a message's status must be one of {', '.join(STATUSES)}, not {self.status!r}"
            )
            raise InvalidInput(message)
        if self.trust is not None and self.trust not in TRUSTS:
            message = f"a message's trust must be one of {', '.join(TRUSTS)}, not {self.trust!r}"
            raise InvalidInput(message)


def list_cited(shaped_by: Mapping[str, Any] | None) -> list[str]:
    """Return the ids of the facts that an answer rests on, by what shaped it."""
    cited = shaped_by.get("cited") if shaped_by else None
    found = cited if isinstance(cited, list | tuple) else ()
    return [one for one in found if isinstance(one, str)]


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A message of a whole conversation that is imported.

    `parent` is the place, among the nodes before it, of the message that it follows.
    """

    new: NewMessage
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class StoredMessage:
    """A message in its place in a conversation."""

    id: int
    """Lasts, and is never used again; a larger one was stored later."""
    message: Message
    status: str = "complete"
    trust: str = "user"
    source: str | None = None
    parent: int | None = None
    """The message that it follows; None: it is the first."""
    versions: tuple[int, ...] = ()
    """All messages that follow the same one, if there are several."""
    is_hidden: bool = False
    """Forgotten by its user: in no prompt and not searched."""
    shaped_by: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class ConversationSummary:
    """A conversation without its messages; its title is its first question until it is renamed."""

    key: str
    turns: int
    created_at: datetime
    updated_at: datetime
    title: str
    audience: str = ""
    is_searched: bool = True
    is_renamed: bool = False


@dataclass(frozen=True, slots=True)
class StoredFigures:
    """How much a store holds."""

    bytes: int
    conversations: int
    messages: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a reader of the feed has come."""

    message: int = 0
    change: int = 0


@dataclass(frozen=True, slots=True)
class FeedMessage:
    """A message that can be searched, with what decides who may find it."""

    id: int
    key: str
    message: Message
    trust: str
    source: str | None
    parent: int | None
    audience: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Feed:
    """What changed since a cursor: what is to be searched now, and what no longer."""

    database: str
    """The identity of the database that the cursor belongs to; if it differs, all is read anew."""
    cursor: Cursor
    found: tuple[FeedMessage, ...]
    gone: tuple[int, ...]
    is_last: bool
    """Whether there is nothing more for now."""


def find_trust(role: str) -> str:
    """Return the trust of a message by its role alone."""
    return role if role in TRUSTED else "tool"


def make_title(question: str) -> str:
    """Return the beginning of a question as a title, on one line and in valid UTF-8."""
    return to_text(" ".join(question[:BEGINNING_CHARS].split())[:TITLE_CHARS])
