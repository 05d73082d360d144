"""Messages as a store keeps them, and the feed by which an index follows a store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turnleaf.core.jsontext import to_text
from turnleaf.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from turnleaf.core.messages import Message

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
            message = f"a message's status is one of {', '.join(STATUSES)}, not {self.status!r}"
            raise InvalidInput(message)
        if self.trust is not None and self.trust not in TRUSTS:
            message = f"a message's trust is one of {', '.join(TRUSTS)}, not {self.trust!r}"
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


def trust_by_role(role: str) -> str:
    """Return whose words a message holds of which nothing but its role is known."""
    return role if role in TRUSTED else "tool"


def make_title(question: str) -> str:
    """Return how a question begins, on one line and as text that any file can hold."""
    return to_text(" ".join(question[:BEGINNING_CHARS].split())[:TITLE_CHARS])
