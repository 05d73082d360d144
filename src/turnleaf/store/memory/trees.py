"""Conversations as trees of messages, one path of each shown, and what a feed tells of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from turnleaf.core.jsontext import dumps
from turnleaf.core.messages import (
    ConversationSummary,
    Cursor,
    Feed,
    FeedMessage,
    make_title,
    to_json,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping
    from datetime import datetime

    from turnleaf.core.messages import Message

SEARCHED_ROLES = ("user", "assistant", "tool")


@dataclass
class TreeMessage:
    """A message in its tree."""

    id: int
    message: Message
    said_at: datetime
    status: str
    trust: str
    source: str | None
    parent: int | None
    shaped_by: Mapping[str, Any] | None
    is_resumed: bool = False
    reasons: set[str] = field(default_factory=set)
    """Why it is hidden."""

    @property
    def size(self) -> int:
        """How many bytes it takes as JSON."""
        return len(dumps(to_json(self.message)).encode())

    @property
    def is_question(self) -> bool:
        """Whether a user's words stand in it for everybody to read."""
        return self.message.role == "user" and not self.reasons and bool(self.message.text.strip())


@dataclass
class Tree:
    """A conversation; its messages are in the order of their ids."""

    key: str
    audience: str
    title: str = ""
    given_title: str = ""
    """The title that an import brought; one that somebody chose goes before it."""
    is_searched: bool = True
    leaf: int | None = None
    messages: dict[int, TreeMessage] = field(default_factory=dict)

    def list_path(self) -> list[TreeMessage]:
        """Return the shown path from its beginning."""
        path: list[TreeMessage] = []
        number = self.leaf
        while number is not None and number in self.messages:
            path.append(self.messages[number])
            number = path[-1].parent
        return path[::-1]

    def list_versions(self, one: TreeMessage) -> tuple[int, ...]:
        """Return all messages that follow the same one, if there are several."""
        same = tuple(each.id for each in self.messages.values() if each.parent == one.parent)
        return same if len(same) > 1 else ()

    def has_place(self, number: int) -> bool:
        """Whether a message is here, or was and is still named as a parent."""
        return number in self.messages or any(
            one.parent == number for one in self.messages.values()
        )

    def show(self, number: int) -> None:
        """Show the path through a message to the newest of all that follow it."""
        below = {number}
        for one in self.messages.values():
            if one.parent in below:
                below.add(one.id)
        self.leaf = max(below)

    def take_out(self, number: int) -> None:
        """Remove a message; what followed it follows its parent."""
        gone = self.messages.pop(number)
        for one in self.messages.values():
            if one.parent == number:
                one.parent = gone.parent
        if self.leaf == number:
            self.leaf = gone.parent

    def keep_only(self, kept: Collection[int]) -> None:
        """Remove all other messages, and show what is left."""
        shown = [one.id for one in self.list_path() if one.id in kept]
        self.messages = {number: one for number, one in self.messages.items() if number in kept}
        if self.messages and self.leaf not in self.messages:
            self.show(max(shown or self.messages))

    def summarize(self) -> ConversationSummary:
        """Return what is known of it."""
        times = [one.said_at for one in self.messages.values()]
        questions = (make_title(o.message.text) for o in self.messages.values() if o.is_question)
        return ConversationSummary(
            self.key,
            len(self.list_path()),
            min(times),
            max(times),
            self.title or self.given_title or next(filter(None, questions), ""),
            self.audience,
            self.is_searched,
            bool(self.title),
        )

    def holds(self, text: str) -> bool:
        """Whether its title or a message that is not hidden holds a casefolded text."""
        said = (one.message.text for one in self.messages.values() if not one.reasons)
        return text in self.summarize().title.casefold() or any(text in t.casefold() for t in said)


Told = tuple[FeedMessage, bool]
"""A message as a feed tells it, and whether it can be searched."""


class Forest:
    """The conversations of a space, and the order in which their messages changed."""

    def __init__(self) -> None:
        self.name = uuid4().hex
        self.trees: dict[str, Tree] = {}
        self.last_id = 0
        self.claims: list[int] = []
        self.forgotten: set[str] = set()
        """The facts whose messages were hidden when they were forgotten."""
        self.announce: Callable[[], None] = lambda: None
        """Called when a message has changed."""
        self._last_change = 0
        self._changed: dict[int, int] = {}
        self._told: dict[int, Told] = {}

    def find(self, number: int) -> tuple[Tree, TreeMessage] | None:
        """Return a message with its conversation."""
        trees = (tree for tree in self.trees.values() if number in tree.messages)
        return next(((tree, tree.messages[number]) for tree in trees), None)

    def note(self, tree: Tree) -> None:
        """Take note of what became new, other or gone in a conversation."""
        if not tree.messages:
            self.trees.pop(tree.key, None)
        told = {one[0].id: one for one in _tell(tree)}
        known = {n for n, (one, _) in self._told.items() if one.key == tree.key}
        for number in sorted(told.keys() | known):
            if told.get(number) != self._told.get(number):
                self._take_note(number, told.get(number))

    def _take_note(self, number: int, told: Told | None) -> None:
        self.announce()
        self._last_change += 1
        self._changed.pop(number, None)
        self._changed[number] = self._last_change
        if told:
            self._told[number] = told
        else:
            del self._told[number]

    def read_feed(self, cursor: Cursor, limit: int) -> Feed:
        """Return the next part of what changed."""
        new = [number for number, change in self._changed.items() if change > cursor.change]
        part = sorted(new[: max(limit, 1)])
        found = [self._told[n][0] for n in part if n in self._told and self._told[n][1]]
        searched = {one.id for one in found}
        change = max([cursor.change, *(self._changed[number] for number in part)])
        copies = tuple(replace(one, message=replace(one.message)) for one in found)
        reached = Cursor(max([cursor.message, *part]), change)
        gone = tuple(number for number in part if number not in searched)
        return Feed(self.name, reached, copies, gone, len(part) == len(new))


def _tell(tree: Tree) -> Iterator[Told]:
    shown = {one.id for one in tree.list_path()}
    for one in tree.messages.values():
        message = one.message
        has_text = message.role in SEARCHED_ROLES and bool(message.text.strip())
        yield (
            FeedMessage(
                one.id,
                tree.key,
                message,
                one.trust,
                one.source,
                one.parent,
                tree.audience,
                one.id in shown,
            ),
            has_text and not one.reasons and tree.is_searched,
        )
