"""Conversations in memory, as trees of messages of which one path is shown."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from turnleaf.core.diagnosis import Retention, describe_figures
from turnleaf.core.keys import Reader, can_read, check_key, choose_audience, is_narrower
from turnleaf.core.messages import (
    ANSWERING,
    TRUSTED,
    Content,
    ConversationSummary,
    Cursor,
    Feed,
    FeedMessage,
    Message,
    NewMessage,
    StoredFigures,
    StoredMessage,
    TreeNode,
    find_trust,
    from_json,
    list_cited,
    make_title,
    to_json,
)
from turnleaf.core.search.message_filters import FactTraces, make_reason
from turnleaf.core.serialization import dumps, to_millisecond, to_text
from turnleaf.core.tokens import count_content_chars
from turnleaf.core.window import trim_to_limits
from turnleaf.errors import NotFound
from turnleaf.settings import Settings
from turnleaf.store.clock_and_ids import find_local_day
from turnleaf.store.in_memory.shared_data import Keeper, MemoryPlace, Now, in_one_step

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from turnleaf.core.diagnosis import Examination


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
        # One pass is enough: a message follows only one with a smaller number.
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
        # Two may claim the same question, and each claim ends by itself.
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
        told = {one[0].id: one for one in _list_told(tree)}
        known = {n for n, (one, _) in self._told.items() if one.key == tree.key}
        for number in sorted(told.keys() | known):
            if told.get(number) != self._told.get(number):
                self._take_note(number, told.get(number))

    def _take_note(self, number: int, told: Told | None) -> None:
        self.announce()
        self._last_change += 1
        # At the end again: the feed goes in the order of the last changes.
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


def _list_told(tree: Tree) -> Iterator[Told]:
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


_MILLISECOND = timedelta(milliseconds=1)
_DAY = timedelta(days=1) // _MILLISECOND


class EndableClaim:
    """Marks a question as being answered until it is ended."""

    def __init__(self, end: Callable[[], None]) -> None:
        self._end: Callable[[], None] | None = end

    def end(self) -> None:
        """End the claim; a second time is nothing."""
        ending, self._end = self._end, None
        if ending:
            ending()


class MemoryConversations(Keeper):
    """The conversations of a space."""

    keeps_everything = True
    kind = "conversations"

    def __init__(self, place: MemoryPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._forest = place.find(space, self.kind, Forest)
        self._forest.announce = self.announce
        self._limits = Settings()

    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self._forest.last_id > 0

    def use(self, settings: Settings) -> None:
        """Apply other limits from now on."""
        self._limits = settings

    def init(self) -> None:
        """Remove what has expired."""
        self.cleanup()

    def add_exchange(
        self, conversation_id: str, user_message: Content, assistant_response: Content
    ) -> None:
        """Add what the user said and what the assistant answered."""
        said = [Message("user", user_message), Message("assistant", assistant_response)]
        self.add_messages(conversation_id, said)

    @in_one_step
    def add_messages(
        self,
        conversation_id: str,
        messages: Sequence[Message | NewMessage],
        *,
        again: str | None = None,
        after: int | None = None,
        resumed: bool = False,
        audience: str | None = None,
        opened: int | None = None,
    ) -> list[int]:
        """Add messages in one step, in their order; return their ids."""
        check_key(conversation_id)
        new = [self._make(one) for one in messages]
        if not new:
            return []
        self.cleanup()
        tree = self._find_or_make(conversation_id, audience)
        new[0].is_resumed = resumed
        if opened is not None and opened == tree.leaf:
            _complete(tree.messages[opened], new.pop(0))
            ids = [opened, *self._append(tree, new)]
        else:
            tree_after = _find_parent(tree, again, after)
            if opened in tree.messages:
                tree_after = tree.messages[opened].parent if tree_after == opened else tree_after
                tree.take_out(opened)
            tree.leaf = tree_after
            ids = self._append(tree, new)
        self._narrow_to(tree, audience)
        return ids

    @in_one_step
    def import_tree(
        self,
        conversation_id: str,
        nodes: Sequence[TreeNode],
        *,
        leaf: int = -1,
        title: str | None = None,
    ) -> int:
        """Add a whole conversation in one step, less what is there; return how many were new."""
        check_key(conversation_id)
        new = [self._make(node.new) for node in nodes]
        before = self._forest.trees.get(conversation_id)
        shown = before.leaf if before else None
        tree = before or self._find_or_make(conversation_id, None)
        known = _list_known(tree)
        old = set(known.values())

        def add(one: TreeMessage, above: int | None) -> int:
            tree.leaf = above
            return self._append(tree, [one])[0]

        numbers = _find_places(nodes, new, known, add)
        added = set(numbers) - old
        if added:
            tree.show(numbers[leaf] if shown is None or shown in numbers else shown)
            tree.given_title = tree.given_title or (make_title(title) if title else "")
            self._forest.note(tree)
        return len(added)

    @in_one_step
    def count_new(self, conversation_id: str, nodes: Sequence[TreeNode]) -> int:
        """Return how many messages `import_tree` would add; nothing is changed."""
        tree = self._forest.trees.get(check_key(conversation_id))
        known, new = _list_known(tree) if tree else {}, [self._make(node.new) for node in nodes]
        numbers = _find_places(nodes, new, known, lambda _new, _above: -1 - len(known))
        return len({number for number in numbers if number < 0})

    def _find_or_make(self, key: str, audience: str | None) -> Tree:
        chosen = choose_audience(key) if audience is None else audience
        return self._forest.trees.get(check_key(key)) or Tree(key, chosen)

    def _make(self, given: Message | NewMessage) -> TreeMessage:
        new = given if isinstance(given, NewMessage) else NewMessage(given)
        said_at = (new.message.timestamp or self.now()).astimezone(UTC)
        # Through JSON, so that it comes back as it would from another backend.
        message = from_json(json.loads(dumps(to_json(replace(new.message, timestamp=said_at)))))
        shape = None if new.shaped_by is None else json.loads(dumps(new.shaped_by))
        trust = new.trust or find_trust(message.role)
        source = None if new.source is None else to_text(new.source)
        return TreeMessage(0, message, said_at, new.status, trust, source, None, shape)

    def _append(self, tree: Tree, new: Sequence[TreeMessage]) -> list[int]:
        for one in new:
            self._forest.last_id += 1
            one.id, one.parent = self._forest.last_id, tree.leaf
            tree.messages[one.id] = one
            tree.leaf = one.id
        self._forest.trees[tree.key] = tree
        return [one.id for one in new]

    def _narrow_to(self, tree: Tree, audience: str | None) -> None:
        if audience is not None and is_narrower(audience, tree.audience):
            tree.audience = audience
        self._forest.note(tree)
        if self._limits.conversation_keep_days == 0:
            self._clean(tree)

    def get_history(self, conversation_id: str) -> list[Message]:
        """Return the newest messages within the limits, oldest first."""
        return [one.message for one in self.window(conversation_id)]

    @in_one_step
    def window(self, conversation_id: str, *, resumed: bool = False) -> list[StoredMessage]:
        """Return the same as stored messages."""
        tree = self._forest.trees.get(check_key(conversation_id))
        return [self._show(tree, one) for one in self._cut(tree, resumed=resumed)] if tree else []

    def _cut(self, tree: Tree, *, resumed: bool) -> list[TreeMessage]:
        limits, path = self._limits, tree.list_path()
        start, following, is_joined = len(path), self.now(), resumed
        while start and (is_joined or not self._is_silence(path[start - 1].said_at, following)):
            start -= 1
            following, is_joined = path[start].said_at, path[start].is_resumed
        seen = [one for one in path[start:] if not one.reasons]
        kept = trim_to_limits(
            [one.message for one in seen],
            limits.conversation_max_turns,
            limits.conversation_max_chars,
            lambda message: count_content_chars(message.content),
        )
        return seen[len(seen) - len(kept) :]

    def _is_silence(self, earlier: datetime, later: datetime) -> bool:
        return _is_longer(later - earlier, self._limits.conversation_max_age_days)

    @in_one_step
    def messages(
        self, conversation_id: str, before: int | None = None, limit: int | None = None
    ) -> list[StoredMessage]:
        """Return the newest messages of the shown path below an id, oldest first."""
        tree = self._forest.trees.get(check_key(conversation_id))
        if tree is None:
            return []
        path = [one for one in tree.list_path() if before is None or one.id < before]
        start = 0 if limit is None else max(0, len(path) - limit)
        return [self._show(tree, one) for one in path[start:]]

    def _show(self, tree: Tree, one: TreeMessage) -> StoredMessage:
        is_stopped = one.status == "stopped" and one.message.role == "user"
        is_claimed = is_stopped and one.id in self._forest.claims
        return StoredMessage(
            id=one.id,
            # A copy, so that nobody outside changes what is kept.
            message=replace(one.message),
            status=ANSWERING if is_claimed else one.status,
            trust=one.trust,
            source=one.source,
            parent=one.parent,
            versions=tree.list_versions(one),
            is_hidden=bool(one.reasons),
            shaped_by=None if one.shaped_by is None else json.loads(dumps(one.shaped_by)),
        )

    @in_one_step
    def find_message(self, message_id: int) -> tuple[str, StoredMessage] | None:
        """Return a message with the key of its conversation."""
        found = self._forest.find(message_id)
        return (found[0].key, self._show(*found)) if found else None

    @in_one_step
    def claim(self, message_id: int) -> EndableClaim:
        """Mark a stored question as being answered until the claim is ended."""
        self._forest.claims.append(message_id)
        return EndableClaim(lambda: self._unclaim(message_id))

    @in_one_step
    def _unclaim(self, message_id: int) -> None:
        self._forest.claims.remove(message_id)

    @in_one_step
    def clear(self, conversation_id: str) -> bool:
        """Erase a conversation with every version; False when there is none."""
        tree = self._forest.trees.get(check_key(conversation_id))
        if tree is None:
            return False
        tree.messages.clear()
        self._forest.note(tree)
        return True

    def erase_copies(self, conversation_id: str) -> int:
        """Return 0: nothing was taken over from older versions."""
        check_key(conversation_id)
        return 0

    @in_one_step
    def cleanup(self) -> int:
        """Remove what has expired; return how many conversations went."""
        before = len(self._forest.trees)
        if self._limits.conversation_keep_days is not None:
            for tree in [*self._forest.trees.values()]:
                self._clean(tree)
        return before - len(self._forest.trees)

    def _clean(self, tree: Tree) -> None:
        days, now = self._limits.conversation_keep_days, self.now()
        kept = tree.messages.values() if days else self._cut(tree, resumed=False)
        young = {one.id for one in kept if not days or not _is_longer(now - one.said_at, days)}
        if len(young) < len(tree.messages):
            tree.keep_only(young)
            self._forest.note(tree)

    @in_one_step
    def summaries(
        self, query: str | None = None, limit: int | None = None
    ) -> list[ConversationSummary]:
        """Return what there is, the newest first; with `query`, whose title or text holds it."""
        trees = [*self._forest.trees.values()]
        if query is not None:
            readable = (tree for tree in trees if can_read(tree.audience, Reader()))
            trees = [tree for tree in readable if tree.holds(query.casefold())]
        leaves = {tree.key: tree.leaf or 0 for tree in trees}
        found = [tree.summarize() for tree in trees]
        found.sort(key=lambda one: (one.updated_at, leaves[one.key]), reverse=True)
        return found[:limit]

    @in_one_step
    def summary(self, conversation_id: str) -> ConversationSummary | None:
        """Return what is known of one conversation."""
        tree = self._forest.trees.get(check_key(conversation_id))
        return tree.summarize() if tree else None

    @in_one_step
    def show_version(self, conversation_id: str, message_id: int) -> None:
        """Show the path through a message and on to the newest of all that follow it."""
        tree = self._get(conversation_id)
        if message_id not in tree.messages:
            raise NotFound(_describe_missing(conversation_id, message_id))
        tree.show(message_id)
        self._forest.note(tree)

    @in_one_step
    def rename(self, conversation_id: str, title: str) -> None:
        """Set a title; one without text brings back the question's."""
        self._get(conversation_id).title = make_title(title)
        self.announce()

    @in_one_step
    def set_searched(self, conversation_id: str, searched: bool) -> None:  # noqa: FBT001 - a value
        """Keep a conversation out of search and other prompts, or include it again."""
        tree = self._get(conversation_id)
        tree.is_searched = searched
        self._forest.note(tree)

    def _get(self, key: str) -> Tree:
        tree = self._forest.trees.get(check_key(key))
        if tree is None:
            message = f"there is no conversation {key!r}"
            raise NotFound(message)
        return tree

    @in_one_step
    def hide(self, conversation_id: str, times: Collection[datetime], reason: str) -> list[int]:
        """Hide what was said at these times, and answered, for a reason; return the ids."""
        tree = self._forest.trees.get(check_key(conversation_id))
        if tree is None:
            return []
        hidden = _find_said(tree, times)
        for number in hidden:
            tree.messages[number].reasons.add(to_text(reason))
        self._forest.note(tree)
        return hidden

    @in_one_step
    def settle(self, forgotten: Mapping[str, FactTraces]) -> None:
        """Hide what forgotten facts rest on, once for each, and show what came back."""
        done = self._forest.forgotten
        for fact in done - forgotten.keys():
            self.show_again(make_reason(fact))
        for fact in forgotten.keys() - done:
            for key, moment in forgotten[fact].places:
                self.hide(key, [moment], make_reason(fact))
            self._hide_saying(forgotten[fact].texts, make_reason(fact))
        self._forest.forgotten = {*forgotten}

    def _hide_saying(self, texts: Collection[str], reason: str) -> None:
        wanted = [text.casefold() for text in texts]
        for tree in self._forest.trees.values():
            for one in tree.messages.values():
                if any(text in one.message.text.casefold() for text in wanted):
                    one.reasons.add(to_text(reason))
            self._forest.note(tree)

    @in_one_step
    def show_again(self, reason: str) -> int:
        """Show what was hidden for a reason and for no other; return how many messages."""
        shown = 0
        for tree in self._forest.trees.values():
            hidden = [one for one in tree.messages.values() if to_text(reason) in one.reasons]
            for one in hidden:
                one.reasons.discard(to_text(reason))
            shown += sum(not one.reasons for one in hidden)
            self._forest.note(tree)
        return shown

    @in_one_step
    def accept(self, conversation_id: str, times: Collection[datetime]) -> int:
        """Trust what others said at these times as the user's own words; return how many."""
        tree = self._forest.trees.get(check_key(conversation_id))
        if tree is None:
            return 0
        moments = {to_millisecond(time) for time in times}
        said = [one for one in tree.messages.values() if one.said_at in moments]
        others = [one for one in said if one.trust not in TRUSTED]
        for one in others:
            one.trust = "user"
        self._forest.note(tree)
        return len(others)

    @in_one_step
    def audience(self, conversation_id: str) -> str:
        """Return who may find what is said in a conversation."""
        return self._find_or_make(conversation_id, None).audience

    @in_one_step
    def examine(self) -> Examination:
        """Return how much there is, and for how long it is kept."""
        kept = Retention(self.keeps_everything, self._limits.conversation_keep_days)
        return self.report("conversations", describe_figures(self.figures(), find_local_day), kept)

    @in_one_step
    def figures(self) -> StoredFigures:
        """Count bytes, conversations and messages; find the time of the oldest."""
        trees = self._forest.trees.values()
        kept = [one for tree in trees for one in tree.messages.values()]
        oldest = min((one.said_at for one in kept), default=None)
        return StoredFigures(sum(one.size for one in kept), len(trees), len(kept), oldest)

    @in_one_step
    def find_cited_facts(self) -> frozenset[str]:
        """Return the ids of all facts that a stored answer rests on."""
        trees = self._forest.trees.values()
        kept = (one for tree in trees for one in tree.messages.values())
        return frozenset(cited for one in kept for cited in list_cited(one.shaped_by))

    @in_one_step
    def changes_since(self, cursor: Cursor | None, limit: int = 1000) -> Feed:
        """Return what a reader that has come to `cursor` must take in and remove."""
        return self._forest.read_feed(cursor or Cursor(), limit)


def _complete(known: TreeMessage, first: TreeMessage) -> None:
    known.status = first.status
    known.is_resumed = known.is_resumed or first.is_resumed


def _find_parent(tree: Tree, again: str | None, after: int | None) -> int | None:
    """Return the message that new ones follow."""
    if after is not None:
        if after and not tree.has_place(after):
            raise NotFound(_describe_missing(tree.key, after))
        return after or None
    asked = [one for one in tree.list_path() if one.message.role == "user"]
    is_again = again is not None and asked and asked[-1].message.text == again
    return asked[-1].parent if is_again else tree.leaf


def _find_said(tree: Tree, times: Collection[datetime]) -> list[int]:
    """Return what a user said at these times, and what of others follows it."""
    moments = {to_millisecond(time) for time in times}
    found: dict[int, None] = {}
    for one in tree.messages.values():
        is_user = one.message.role == "user"
        if one.said_at in moments if is_user else one.parent in found:
            found[one.id] = None
    return [*found]


def _is_longer(span: timedelta, days: int) -> bool:
    return span // _MILLISECOND > days * _DAY


def _describe_missing(key: str, number: int) -> str:
    return f"there is no message {number} in the conversation {key!r}"


def _find_places(
    nodes: Sequence[TreeNode],
    new: Sequence[TreeMessage],
    known: dict[tuple[object, ...], int],
    add: Callable[[TreeMessage, int | None], int],
) -> list[int]:
    """Return the numbers of all messages; one that is not known gets its number by `add`."""
    numbers: list[int] = []
    for node, one in zip(nodes, new, strict=True):
        above = None if node.parent is None else numbers[node.parent]
        place = above, *_describe(one)
        if place not in known:
            known[place] = add(one, above)
        numbers.append(known[place])
    return numbers


def _list_known(tree: Tree) -> dict[tuple[object, ...], int]:
    return {(one.parent, *_describe(one)): one.id for one in tree.messages.values()}


def _describe(one: TreeMessage) -> tuple[str, str, datetime]:
    return one.message.role, one.message.text, one.said_at
