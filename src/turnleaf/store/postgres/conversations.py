"""Conversations in a database, every message of each."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import count, islice
from typing import TYPE_CHECKING

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
    make_title,
)
from turnleaf.core.search.message_filters import FactTraces, make_reason
from turnleaf.core.serialization import to_millisecond
from turnleaf.core.window import collect_window, stop_at_silence, subtract_days
from turnleaf.errors import NotFound
from turnleaf.settings import Settings
from turnleaf.store.clock_and_ids import find_local_day
from turnleaf.store.in_memory.conversations import SEARCHED_ROLES
from turnleaf.store.in_memory.shared_data import in_one_step
from turnleaf.store.postgres import tree_statements
from turnleaf.store.postgres.coordination import AnswerClaims
from turnleaf.store.postgres.space_transactions import SqlStore, in_writing_step

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from turnleaf.core.diagnosis import Examination
    from turnleaf.store.in_memory.conversations import EndableClaim
    from turnleaf.store.in_memory.shared_data import Now
    from turnleaf.store.postgres.space_transactions import PostgresPlace, Row
    from turnleaf.store.postgres.tree_statements import MessageRow

_CLEANUP_INTERVAL = timedelta(days=1)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_FIND = "SELECT leaf, audience, question_title FROM turnleaf.conversations WHERE key = %s"
_CREATE = """
INSERT INTO turnleaf.conversations (key, created_at, updated_at, audience)
VALUES (%s, %s, %s, %s)
"""
_TOUCH = """
UPDATE turnleaf.conversations SET leaf = %s, turns = turns + %s,
    created_at = least(created_at, %s), updated_at = greatest(updated_at, %s),
    question_title = %s
WHERE key = %s
"""
_LAST_QUESTION = """
SELECT parent, body FROM turnleaf.messages
WHERE key = %s AND is_shown AND role = 'user' ORDER BY id DESC LIMIT 1
"""
_HAS_PLACE = "SELECT 1 FROM turnleaf.messages WHERE key = %s AND (id = %s OR parent = %s) LIMIT 1"
_SUMMARY = """
SELECT key, turns, created_at, updated_at,
    coalesce(nullif(title, ''), nullif(imported_title, ''), question_title),
    audience, is_searched, title <> ''
FROM turnleaf.conversations
"""
_CHANGED = """
SELECT change, id, key, role, body, trust, source, parent, audience, is_shown,
    NOT is_hidden AND is_searched
FROM turnleaf.messages JOIN turnleaf.conversations USING (space, key)
WHERE (change, id) > (%s, %s) ORDER BY change, id LIMIT %s
"""
_REMOVED = """
SELECT change, id FROM turnleaf.removed_messages
WHERE (change, id) > (%s, %s) ORDER BY change, id LIMIT %s
"""
_HIDE = """
INSERT INTO turnleaf.hidden_messages (reason, message) SELECT %s, unnest(%s::bigint[])
ON CONFLICT DO NOTHING
"""


class PostgresConversations(SqlStore):
    """The conversations of a space."""

    keeps_everything = True
    kind = "conversations"

    def __init__(self, place: PostgresPlace, space: str, now: Now) -> None:
        super().__init__(place, space, now)
        self._claims = AnswerClaims(place, space, now)
        self._cleaned_at = _LONG_AGO
        self.use(Settings())

    @in_one_step
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        query = "SELECT 1 FROM turnleaf.counters WHERE kind = 'conversations' AND last_id > 0"
        return bool(self.rows(query))

    def use(self, settings: Settings) -> None:
        """Apply other limits from now on."""
        self._limits = settings.window_limits

    def init(self) -> None:
        """Remove what has expired."""
        self.cleanup()

    def add_exchange(
        self, conversation_id: str, user_message: Content, assistant_response: Content
    ) -> None:
        """Add what the user said and what the assistant answered."""
        said = [Message("user", user_message), Message("assistant", assistant_response)]
        self.add_messages(conversation_id, said)

    @in_writing_step
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
        key = check_key(conversation_id)
        new = [self._make_row(one) for one in messages]
        if not new:
            return []
        change = self.lock()
        self._clean_up_daily()
        leaf, title = self._prepare(key, new, audience, change)
        if opened is not None and opened == leaf:
            ids = self._complete(key, opened, new, change, is_resumed=resumed)
            self._touch(key, new, ids[-1], len(ids) - 1, title)
        else:
            above = self._find_place(key, leaf, again, after)
            above, is_other = self._branch(key, leaf, above, opened, change)
            ids = self._insert(key, above, new, change, is_resumed=resumed)
            self._touch(key, new, ids[-1], len(ids), title)
            if is_other:
                tree_statements.show_through(self.step, key, ids[-1], change)
                tree_statements.retitle(self.step, key)
        if self._limits.keep_days == 0:
            self._clean(key)
        return ids

    def _make_row(self, given: Message | NewMessage) -> MessageRow:
        new = given if isinstance(given, NewMessage) else NewMessage(given)
        # Facts name the messages that they rest on by time, and files keep that to the millisecond.
        said_at = to_millisecond((new.message.timestamp or self.now()).astimezone(UTC))
        trust = new.trust or find_trust(new.message.role)
        return tree_statements.make_row(new, replace(new.message, timestamp=said_at), trust)

    def _prepare(
        self, key: str, new: Sequence[MessageRow], audience: str | None, change: int
    ) -> tuple[int, str]:
        """Return the leaf and title of a conversation, which is made where it is missing."""
        for leaf, known, title in self.rows(_FIND, key):
            # An audience may only become smaller: what was
            # said to few is not found by many afterwards.
            if audience is not None and is_narrower(audience, known):
                query = "UPDATE turnleaf.conversations SET audience = %s WHERE key = %s"
                self.run(query, audience, key)
                tree_statements.note_changed(self.step, key, change)
            return leaf, title
        chosen = choose_audience(key) if audience is None else audience
        times = [one.said_at for one in new]
        self.run(_CREATE, key, min(times), max(times), tree_statements.to_column(chosen))
        return 0, ""

    def _touch(self, key: str, new: Sequence[MessageRow], leaf: int, more: int, title: str) -> None:
        times = [one.said_at for one in new]
        titled = title or tree_statements.find_title([one.message for one in new])
        self.run(_TOUCH, leaf, more, min(times), max(times), titled, key)

    def _complete(
        self, key: str, opened: int, new: Sequence[MessageRow], change: int, *, is_resumed: bool
    ) -> list[int]:
        """Add what follows a question that is stored; return the ids of all."""
        query = (
            "UPDATE turnleaf.messages SET status = %s, is_resumed = is_resumed OR %s WHERE id = %s"
        )
        self.run(query, new[0].status, is_resumed, opened)
        return [opened, *self._insert(key, opened, new[1:], change, is_resumed=False)]

    def _find_place(self, key: str, leaf: int, again: str | None, after: int | None) -> int:
        """Return the message that new ones follow, 0 for none."""
        if after is not None:
            if after and not self.rows(_HAS_PLACE, key, after, after):
                raise NotFound(_describe_missing(key, after))
            return after
        if again is not None:
            for parent, body in self.rows(_LAST_QUESTION, key):
                if tree_statements.read_body(body).text == again:
                    return int(parent)
        return leaf

    def _branch(
        self, key: str, leaf: int, above: int, opened: int | None, change: int
    ) -> tuple[int, bool]:
        """Show the path to a message without what was opened; whether it is another path."""
        parent = (
            None if opened is None else tree_statements.take_out(self.step, key, opened, change)
        )
        if parent is not None and above == opened:
            above = parent
        is_other = above != leaf or parent is not None
        if is_other:
            tree_statements.show_path(self.step, key, above, change)
        return above, is_other

    def _insert(
        self, key: str, above: int, new: Sequence[MessageRow], change: int, *, is_resumed: bool
    ) -> list[int]:
        if not new:
            return []
        ids = tree_statements.take_ids(self.step, len(new))
        parents = (above, *ids)
        rows = [(number, parents[at], new[at]) for at, number in enumerate(ids)]
        tree_statements.insert(self.step, key, rows, change, resumed=is_resumed)
        return [*ids]

    @in_writing_step
    def import_tree(
        self,
        conversation_id: str,
        nodes: Sequence[TreeNode],
        *,
        leaf: int = -1,
        title: str | None = None,
    ) -> int:
        """Add a whole conversation in one step, less what is there; return how many were new."""
        key = check_key(conversation_id)
        new = [self._make_row(node.new) for node in nodes]
        if not new:
            return 0
        change = self.lock()
        shown = next((row[0] for row in self.rows(_FIND, key)), None)
        numbers, added = self._insert_missing(key, nodes, new, change)
        if added:
            is_left = shown is None or shown in numbers
            tree_statements.show_through(
                self.step, key, numbers[leaf] if is_left else shown or 0, change
            )
            tree_statements.retitle(self.step, key)
            query = (
                "UPDATE turnleaf.conversations SET imported_title = %s "
                "WHERE key = %s AND imported_title = ''"
            )
            self.run(query, tree_statements.to_column(make_title(title or "")), key)
        return added

    def _insert_missing(
        self, key: str, nodes: Sequence[TreeNode], new: Sequence[MessageRow], change: int
    ) -> tuple[list[int], int]:
        """Store the messages that are missing; return the ids of all, and how many are new."""
        # Ids that stay unused are a gap, which does no harm; to give one twice would.
        unused = iter(tree_statements.take_ids(self.step, len(new)))
        numbers, rows = self._find_missing(key, nodes, new, unused)
        if rows:
            added = [one for _, _, one in rows]
            _, titled = self._prepare(key, added, None, change)
            tree_statements.insert(self.step, key, rows, change, resumed=False)
            self._touch(key, added, rows[-1][0], 0, titled)
        return numbers, len(rows)

    @in_one_step
    def count_new(self, conversation_id: str, nodes: Sequence[TreeNode]) -> int:
        """Return how many messages `import_tree` would add; nothing is changed."""
        new = [self._make_row(node.new) for node in nodes]
        return len(self._find_missing(check_key(conversation_id), nodes, new, count(-1, -1))[1])

    def _find_missing(
        self, key: str, nodes: Sequence[TreeNode], new: Sequence[MessageRow], ids: Iterator[int]
    ) -> tuple[list[int], list[tuple[int, int, MessageRow]]]:
        """Return the ids of all messages, and the missing ones with theirs and their parents'."""
        known = self._list_known(key)
        numbers: list[int] = []
        rows: list[tuple[int, int, MessageRow]] = []
        for node, one in zip(nodes, new, strict=True):
            above = 0 if node.parent is None else numbers[node.parent]
            place = above, *one.identity
            if place not in known:
                known[place] = next(ids)
                rows.append((known[place], above, one))
            numbers.append(known[place])
        return numbers, rows

    def _list_known(self, key: str) -> dict[tuple[object, ...], int]:
        query = "SELECT id, parent, said_at, body FROM turnleaf.messages WHERE key = %s"
        known: dict[tuple[object, ...], int] = {}
        for number, parent, said_at, body in self.rows(query, key):
            message = tree_statements.read_body(body)
            known[parent, message.role, message.text, said_at] = number
        return known

    @in_one_step
    def get_history(self, conversation_id: str) -> list[Message]:
        """Return the newest messages within the limits, oldest first."""
        return [*self._read_window(check_key(conversation_id)).values()]

    def _read_window(self, key: str, *, resumed: bool = False) -> dict[int, Message]:
        path = tree_statements.read_back(self.step, key)
        said = stop_at_silence(path, self._limits, self.now(), is_joined=resumed)
        return {one.n: one.message for one in collect_window(said, self._limits)}

    @in_one_step
    def window(self, conversation_id: str, *, resumed: bool = False) -> list[StoredMessage]:
        """Return the same as stored messages."""
        numbers = [*self._read_window(check_key(conversation_id), resumed=resumed)]
        return self._show(
            tree_statements.read_stored(self.step, "id = ANY(%s) ORDER BY id", numbers)
        )

    @in_one_step
    def messages(
        self, conversation_id: str, before: int | None = None, limit: int | None = None
    ) -> list[StoredMessage]:
        """Return the newest messages of the shown path below an id, oldest first."""
        values = (check_key(conversation_id), 2**62 if before is None else before, limit)
        condition = "key = %s AND is_shown AND id < %s ORDER BY id DESC LIMIT %s"
        return self._show(tree_statements.read_stored(self.step, condition, *values)[::-1])

    def _show(self, rows: Sequence[Row]) -> list[StoredMessage]:
        """Make stored messages of rows; questions that somebody answers now are marked."""
        found = tree_statements.show(self.step, rows)
        open_ones = [o.id for o in found if o.status == "stopped" and o.message.role == "user"]
        claimed = self._claims.find(open_ones)
        return [replace(one, status=ANSWERING) if one.id in claimed else one for one in found]

    @in_one_step
    def find_message(self, message_id: int) -> tuple[str, StoredMessage] | None:
        """Return a message with the key of its conversation."""
        rows = tree_statements.read_stored(self.step, "id = %s", message_id)
        return (rows[0][0], self._show(rows)[0]) if rows else None

    def claim(self, message_id: int) -> EndableClaim:
        """Mark a stored question as being answered until the claim is ended."""
        return self._claims.claim(message_id)

    @in_writing_step
    def clear(self, conversation_id: str) -> bool:
        """Erase a conversation with every version; False when there is none."""
        key = check_key(conversation_id)
        if not self.rows(_FIND, key):
            return False
        self._remove("key = %s", key)
        return True

    def erase_copies(self, conversation_id: str) -> int:
        """Return 0: nothing was taken over from older versions."""
        check_key(conversation_id)
        return 0

    def _remove(self, condition: str, *values: object) -> int:
        """Remove messages; return how many conversations went with them."""
        change = self.lock()
        query = f"DELETE FROM turnleaf.messages WHERE {condition} RETURNING id, key"  # noqa: S608
        gone = self.rows(query, *values)
        tree_statements.note_removed(self.step, [number for number, _ in gone], change)
        keys = sorted({key for _, key in gone})
        return sum(tree_statements.settle_removal(self.step, key, change) for key in keys)

    @in_one_step
    def cleanup(self) -> int:
        """Remove what has expired; return how many conversations went."""
        self._cleaned_at = self.now()
        days = self._limits.keep_days
        if days is None:
            return 0
        if days == 0:
            keys = [key for (key,) in self.rows("SELECT key FROM turnleaf.conversations")]
            return sum(self._clean(key) for key in keys)
        cutoff = max(subtract_days(self.now(), days), _LONG_AGO.replace(year=2))
        query = "SELECT key FROM turnleaf.conversations WHERE created_at < %s"
        old = [key for (key,) in self.rows(query, cutoff)]
        return self._remove("key = ANY(%s) AND said_at < %s", old, cutoff) if old else 0

    def _clean(self, key: str) -> int:
        """Remove what the window of a conversation does not show."""
        window = [*self._read_window(key)]
        query = "SELECT 1 FROM turnleaf.messages WHERE key = %s AND id <> ALL(%s) LIMIT 1"
        if not self.rows(query, key, window):
            return 0
        return self._remove("key = %s AND id <> ALL(%s)", key, window)

    def _clean_up_daily(self) -> None:
        """Clean up in programs that run for months."""
        is_limited = self._limits.keep_days is not None
        if is_limited and self.now() - self._cleaned_at > _CLEANUP_INTERVAL:
            self.cleanup()

    @in_one_step
    def summaries(
        self, query: str | None = None, limit: int | None = None
    ) -> list[ConversationSummary]:
        """Return what there is, the newest first; with `query`, whose title or text holds it."""
        # With a query the limit counts only what holds it.
        cut = limit if query is None else None
        rows = self.rows(f"{_SUMMARY} ORDER BY updated_at DESC, leaf DESC LIMIT %s", cut)
        found = [ConversationSummary(*row) for row in rows]
        if query is not None:
            holding = self._find_holding(query.casefold())
            readable = (one for one in found if can_read(one.audience, Reader()))
            found = [
                one
                for one in readable
                if one.key in holding or query.casefold() in one.title.casefold()
            ]
        return found[:limit]

    def _find_holding(self, wanted: str) -> set[str]:
        """Return the conversations of which a message that is not hidden holds a text."""
        return {
            key
            for key, _, is_hidden, text in tree_statements.read_texts(self.step)
            if not is_hidden and wanted in text.casefold()
        }

    @in_one_step
    def summary(self, conversation_id: str) -> ConversationSummary | None:
        """Return what is known of one conversation."""
        rows = self.rows(f"{_SUMMARY} WHERE key = %s", check_key(conversation_id))
        return next((ConversationSummary(*row) for row in rows), None)

    @in_writing_step
    def show_version(self, conversation_id: str, message_id: int) -> None:
        """Show the path through a message and on to the newest of all that follow it."""
        key = check_key(conversation_id)
        change = self.lock()
        query = "SELECT 1 FROM turnleaf.messages WHERE key = %s AND id = %s"
        if not self.rows(query, key, message_id):
            raise NotFound(_describe_missing(key, message_id))
        tree_statements.show_through(self.step, key, message_id, change)

    @in_writing_step
    def rename(self, conversation_id: str, title: str) -> None:
        """Set a title; one without text brings back the question's."""
        query = "UPDATE turnleaf.conversations SET title = %s WHERE key = %s"
        self._set(query, check_key(conversation_id), tree_statements.to_column(make_title(title)))

    @in_writing_step
    def set_searched(self, conversation_id: str, searched: bool) -> None:  # noqa: FBT001 - a value
        """Keep a conversation out of search and other prompts, or include it again."""
        known = self.summary(conversation_id)
        if known and known.is_searched == searched:
            return
        query = "UPDATE turnleaf.conversations SET is_searched = %s WHERE key = %s"
        change = self._set(query, check_key(conversation_id), searched)
        tree_statements.note_changed(self.step, conversation_id, change)

    def _set(self, query: str, key: str, value: object) -> int:
        change = self.lock()
        if not self.run(query, value, key):
            message = f"there is no conversation {key!r}; list them with turnleaf history"
            raise NotFound(message)
        return change

    @in_writing_step
    def hide(self, conversation_id: str, times: Collection[datetime], reason: str) -> list[int]:
        """Hide what was said at these times, and answered, for a reason; return the ids."""
        moments = [to_millisecond(one) for one in times]
        self.lock()
        hidden = tree_statements.find_said(self.step, check_key(conversation_id), moments)
        self._hide(hidden, reason)
        return hidden

    def _hide(self, numbers: Sequence[int], reason: str) -> None:
        self.run(_HIDE, tree_statements.to_column(reason), [*numbers])
        self._mark_hidden(numbers, is_hidden=True)

    def _mark_hidden(self, numbers: Sequence[int], *, is_hidden: bool) -> int:
        """Mark messages; a title that was of one of them is made anew; return how many differ."""
        query = (
            "UPDATE turnleaf.messages SET is_hidden = %s, change = %s "
            "WHERE id = ANY(%s) AND is_hidden <> %s RETURNING key"
        )
        rows = self.rows(query, is_hidden, self.lock(), [*numbers], is_hidden)
        for key in {key for (key,) in rows}:
            tree_statements.retitle(self.step, key)
        return len(rows)

    @in_writing_step
    def settle(self, forgotten: Mapping[str, FactTraces]) -> None:
        """Hide what forgotten facts rest on, once for each, and show what came back."""
        self.lock()
        done = {fact for (fact,) in self.rows("SELECT fact FROM turnleaf.forgotten_facts")}
        for fact in sorted(done - forgotten.keys()):
            self.show_again(make_reason(fact))
        new = sorted(forgotten.keys() - done)
        for fact in new:
            for key, moment in forgotten[fact].places:
                self.hide(key, [moment], make_reason(fact))
        self._hide_saying({fact: forgotten[fact].texts for fact in new})
        self.run("DELETE FROM turnleaf.forgotten_facts WHERE fact <> ALL(%s)", [*forgotten])
        query = "INSERT INTO turnleaf.forgotten_facts (fact) SELECT unnest(%s::text[])"
        self.run(query, new)

    def _hide_saying(self, texts: Mapping[str, Collection[str]]) -> None:
        """Hide every message that holds one of the texts of a fact, in any case."""
        # One pass over the messages, however many facts were forgotten.
        wanted = [(fact, text.casefold()) for fact in texts for text in texts[fact]]
        found: dict[str, list[int]] = {}
        for _, number, _, said in tree_statements.read_texts(self.step) if wanted else ():
            folded = said.casefold()
            for fact in {fact for fact, text in wanted if text in folded}:
                found.setdefault(fact, []).append(number)
        for fact, numbers in found.items():
            self._hide(numbers, make_reason(fact))

    @in_writing_step
    def show_again(self, reason: str) -> int:
        """Show what was hidden for a reason and for no other; return how many messages."""
        self.lock()
        query = "DELETE FROM turnleaf.hidden_messages WHERE reason = %s RETURNING message"
        gone = [number for (number,) in self.rows(query, tree_statements.to_column(reason))]
        query = "SELECT message FROM turnleaf.hidden_messages WHERE message = ANY(%s)"
        still = {number for (number,) in self.rows(query, gone)}
        return self._mark_hidden([one for one in gone if one not in still], is_hidden=False)

    @in_writing_step
    def accept(self, conversation_id: str, times: Collection[datetime]) -> int:
        """Trust what others said at these times as the user's own words; return how many."""
        query = (
            "UPDATE turnleaf.messages SET trust = 'user', change = %s "
            "WHERE key = %s AND said_at = ANY(%s) AND trust <> ALL(%s)"
        )
        moments = [to_millisecond(one) for one in times]
        key = check_key(conversation_id)
        return self.run(query, self.lock(), key, moments, [*TRUSTED])

    @in_one_step
    def audience(self, conversation_id: str) -> str:
        """Return who may find what is said in a conversation."""
        known = self.summary(conversation_id)
        return known.audience if known else choose_audience(conversation_id)

    @in_one_step
    def examine(self) -> Examination:
        """Return how much there is, and for how long it is kept."""
        kept = Retention(self.keeps_everything, self._limits.keep_days)
        return self.report("conversations", describe_figures(self.figures(), find_local_day), kept)

    @in_one_step
    def figures(self) -> StoredFigures:
        """Count bytes, conversations and messages; find the time of the oldest."""
        ((size, count, oldest),) = self.rows(
            "SELECT coalesce(sum(octet_length(body)), 0)::bigint, count(*), min(said_at) "
            "FROM turnleaf.messages"
        )
        ((conversations,),) = self.rows("SELECT count(*) FROM turnleaf.conversations")
        return StoredFigures(size, conversations, count, oldest)

    @in_one_step
    def find_cited_facts(self) -> frozenset[str]:
        """Return the ids of all facts that a stored answer rests on."""
        rows = self.rows("SELECT DISTINCT cited FROM turnleaf.messages WHERE cited IS NOT NULL")
        return frozenset(one for (cited,) in rows for one in json.loads(cited))

    @in_one_step
    def changes_since(self, cursor: Cursor | None, limit: int = 1000) -> Feed:
        """Return what a reader that has come to `cursor` must take in and remove."""
        at, most = cursor or Cursor(), max(limit, 1)
        # One more than wanted shows whether there is more.
        place = (at.change, at.message, most + 1)
        changed, removed = self.rows(_CHANGED, *place), self.rows(_REMOVED, *place)
        part = [*islice(merge(changed, removed, key=lambda row: row[:2]), most)]
        if part:
            at = Cursor(message=part[-1][1], change=part[-1][0])
        found = [one for row in part if (one := _read_fed(row))]
        told = {one.id for one in found}
        gone = sorted(row[1] for row in part if row[1] not in told)
        is_last = len(changed) + len(removed) == len(part)
        ordered = sorted(found, key=lambda one: one.id)
        return Feed(self._find_name(), at, tuple(ordered), tuple(gone), is_last)

    def _find_name(self) -> str:
        """Return the name of this place, which it gets when somebody first asks for it."""
        for (name,) in self.rows("SELECT name FROM turnleaf.feeds"):
            return str(name)
        # In a step that only reads this raises, and the step is done again to write.
        self.step.lock(self.kind, changes=False)
        made = "INSERT INTO turnleaf.feeds DEFAULT VALUES ON CONFLICT DO NOTHING"
        self.run(made)
        return self._find_name()

    def close(self) -> None:
        """End the claims of this store."""
        self._claims.close()


def _read_fed(row: Row) -> FeedMessage | None:
    """Return a message that can be searched; None for any other."""
    if len(row) == len(("change", "id")) or not row[-1] or row[3] not in SEARCHED_ROLES:
        return None
    _, number, key, _, body, trust, source, parent, audience, is_shown, _ = row
    message = tree_statements.read_body(body)
    if not message.text.strip():
        return None
    return FeedMessage(number, key, message, trust, source, parent or None, audience, is_shown)


def _describe_missing(key: str, number: int) -> str:
    return f"there is no message {number} in the conversation {key!r}"
