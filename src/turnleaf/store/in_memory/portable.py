"""What a space in memory holds, part by part; facts, schedules and lessons also of a database."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

from turnleaf.core import markdown
from turnleaf.core.learning.queue import (
    Cycle,
    LearningProblem,
    Outgoing,
    decision_from_json,
    decision_to_json,
    queued_from_json,
    queued_to_json,
    sighting_from_json,
    sighting_to_json,
)
from turnleaf.core.messages import make_title
from turnleaf.core.portable import (
    ConversationImage,
    FactsImage,
    ImageEntry,
    MessageImage,
    PortablePart,
    is_marker,
    make_day,
    make_learning,
    make_record,
    make_schedules,
    make_settings,
    number_steps,
    split_record_name,
)
from turnleaf.core.search.message_filters import find_forgotten
from turnleaf.core.serialization import from_iso, to_iso
from turnleaf.store.in_memory.conversations import Forest, Tree, TreeMessage
from turnleaf.store.in_memory.daily import Diary, KeptNote
from turnleaf.store.in_memory.fact_pages import Book, Entry
from turnleaf.store.in_memory.learning import Lessons, ReportedProblem, WaitingMessage
from turnleaf.store.in_memory.shared_data import (
    ALL_SPACES,
    Keeper,
    MemoryConfig,
    Shelves,
    in_one_step,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from turnleaf.core.schedules import Schedule
    from turnleaf.store.contracts import Config, Portable
    from turnleaf.store.in_memory.shared_data import MemoryPlace, Now, PlaceOfSpaces

T = TypeVar("T")


class PortableFacts(Keeper):
    """The facts of a space, or those that wait."""

    def __init__(self, place: PlaceOfSpaces, space: str, now: Now, kind: str) -> None:
        super().__init__(place, space, now)
        self.kind = self.name = kind

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:  # noqa: ARG002
        """Return all as one part."""
        if after is not None:
            return []
        book = self.place.find(self.space, self.kind, Book)
        facts, older = (
            tuple(one.memory for one in markdown.parse(text, book.written_at).facts)
            for text in (book.text, book.older)
        )
        entries = number_steps(
            ImageEntry(o.change, o.reversal, o.version, o.text, o.is_older, o.left)
            for o in book.record
        )
        image = FactsImage(
            book.text, book.older, facts, older, book.written_at, entries, book.last_number
        )
        return image.to_parts()

    @in_one_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:  # noqa: ARG002
        """Replace all."""
        book, new = self.place.find(self.space, self.kind, Book), Book()
        for part in parts:
            image: FactsImage = part.value.with_own_times()
            record = [
                Entry(o.change, o.reversal, o.version, o.text, is_older=o.is_older, left=o.left)
                for o in image.entries
            ]
            numbers = [image.last_number, *(one.change.n for one in record)]
            older = image.older if image.older_facts else markdown.EMPTY
            new = Book(image.text, older, image.written_at, record, max(numbers))
        book.text, book.older, book.written_at = new.text, new.older, new.written_at
        book.record, book.last_number = new.record, new.last_number
        self.announce()


class PortableSchedules(Keeper):
    """The schedules of a space, their runs and what these brought."""

    kind = name = "schedules"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:  # noqa: ARG002
        """Return all as one part."""
        return [] if after else make_schedules(self._kept.values(), self._results)

    @in_one_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:  # noqa: ARG002
        """Replace all."""
        known, results = parts[0].value if parts else ((), {})
        _replace(self._kept, {one.id: one for one in known})
        _replace(self._results, results)
        self.announce()

    @property
    def _kept(self) -> dict[str, Schedule]:
        return self.place.find(self.space, self.kind, dict[str, Any])

    @property
    def _results(self) -> dict[str, str]:
        return self.place.find(self.space, "results", dict[str, str])


class PortableLearning(Keeper):
    """What is kept for learning; what somebody holds waits again in a copy."""

    kind = name = "learning"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:  # noqa: ARG002
        """Return all as one part."""
        if after is not None:
            return []
        kept = self.place.find(self.space, self.kind, Lessons)
        return make_learning(
            {
                "queue": [_write_waiting(one) for one in kept.rows],
                "outbox": [
                    [one.id, one.key, decision_to_json(one.decision), one.problem]
                    for one in kept.outbox
                ],
                "sightings": [sighting_to_json(one, key) for key, one in kept.sightings],
                "problems": [
                    [
                        o.problem.key,
                        to_iso(o.problem.time),
                        o.problem.text,
                        sorted(filter(None, o.sources)),
                    ]
                    for o in kept.reported
                ],
                "last": {key: to_iso(one) for key, one in kept.last.items()},
                "cycles": {
                    key: [one.state, one.since and to_iso(one.since)]
                    for key, one in kept.cycles.items()
                    if one != Cycle()
                },
                "calls": _write_counts(kept.calls),
                "tallies": _write_counts(kept.tallies),
                "formats": sorted(
                    [*name, chosen, to_iso(since)] for name, (chosen, since) in kept.formats.items()
                ),
            }
        )

    @in_one_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:  # noqa: ARG002
        """Replace all."""
        kept = self.place.find(self.space, self.kind, Lessons)
        body: Mapping[str, Any] = parts[0].value if parts else {}
        rows = [
            _read_waiting(kept.last_row + at, *one)
            for at, one in enumerate(body.get("queue", ()), 1)
        ]
        kept.last_row += len(rows)
        kept.rows, kept.is_used = rows, True
        kept.outbox = [
            Outgoing(name, key, decision_from_json(one), problem)
            for name, key, one, problem in body.get("outbox", ())
        ]
        kept.sightings = [
            (one["conversation"], sighting_from_json(one)) for one in body.get("sightings", ())
        ]
        kept.reported = [
            ReportedProblem(LearningProblem(from_iso(time), key, text), frozenset(sources))
            for key, time, text, sources in body.get("problems", ())
        ]
        kept.last = {key: from_iso(time) for key, time in body.get("last", {}).items()}
        kept.cycles = {
            key: Cycle(state, since and from_iso(since))
            for key, (state, since) in body.get("cycles", {}).items()
        }
        kept.calls = _read_counts(body.get("calls", ()))
        kept.tallies = _read_counts(body.get("tallies", ()))
        kept.formats = {
            (url, model): (chosen, from_iso(since))
            for url, model, chosen, since in body.get("formats", ())
        }


def _write_waiting(one: WaitingMessage) -> list[object]:
    # Nobody holds the copy, so that whoever holds the message has not tried that.
    attempts = one.attempts if one.token is None or one.is_set_aside else 0
    queued = queued_to_json(one.queued)
    return [one.key, queued, attempts, one.unreadable, one.is_set_aside]


def _read_waiting(
    row: int,
    key: str,
    queued: Mapping[str, Any],
    attempts: int,
    unreadable: int,
    is_aside: bool,  # noqa: FBT001
) -> WaitingMessage:
    one = WaitingMessage(row, key, queued_from_json(queued), attempts, unreadable)
    one.is_set_aside = is_aside
    return one


def _write_counts(counts: Mapping[tuple[date, str], int]) -> list[list[object]]:
    return sorted([day.isoformat(), name, count] for (day, name), count in counts.items())


def _read_counts(rows: Iterable[Sequence[Any]]) -> Counter[tuple[date, str]]:
    return Counter({(date.fromisoformat(day), name): count for day, name, count in rows})


def _replace(kept: dict[str, T], new: Mapping[str, T]) -> None:
    kept.clear()
    kept.update(new)


class _KeptConversations(Keeper):
    kind = name = "conversations"

    @property
    def _forest(self) -> Forest:
        return self.place.find(self.space, "conversations", Forest)

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return conversations by key."""
        trees = self._forest.trees
        keys = sorted(
            key for key in trees if trees[key].messages and (after is None or key > after)
        )
        return [_describe_tree(trees[key]).to_part() for key in keys[:limit]]

    @in_one_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store conversations, which show their messages when these are there, too."""
        forest = self._forest
        for key in gone:
            forest.trees[key].messages.clear()
            forest.note(forest.trees[key])
        for part in parts:
            image: ConversationImage = part.value
            tree = forest.trees.setdefault(image.key, Tree(image.key, image.audience))
            tree.audience, tree.is_searched = image.audience, image.is_searched
            tree.title = image.title if image.is_renamed else ""
            tree.given_title = "" if image.is_renamed else image.title
            tree.leaf = image.leaf or None
            if tree.messages:
                forest.note(tree)


def _describe_tree(tree: Tree) -> ConversationImage:
    told = tree.summarize()
    return ConversationImage(
        tree.key, tree.leaf or 0, told.turns, told.created_at, told.updated_at, told.title,
        told.is_renamed, told.audience, told.is_searched,
    )  # fmt: skip


class _KeptMessages(_KeptConversations):
    name = "messages"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return messages by id."""
        found = {
            one.id: (tree, one)
            for tree in self._forest.trees.values()
            for one in tree.messages.values()
            if one.id > int(after or 0)
        }
        return [_describe_message(*found[number]).to_part() for number in sorted(found)[:limit]]

    @in_one_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store messages in their conversations, and remove others."""
        forest = self._forest
        changed = set[str]()
        for number in map(int, gone):
            found = forest.find(number)
            if found:
                del found[0].messages[number]
                changed.add(found[0].key)
        for part in parts:
            one: MessageImage = part.value
            tree = forest.trees.setdefault(one.key, Tree(one.key, ""))
            tree.messages[one.id] = _make_message(one)
            changed.add(one.key)
            forest.last_id = max(forest.last_id, one.id)
        for key in changed:
            tree = forest.trees[key]
            tree.messages = dict(sorted(tree.messages.items()))
            forest.note(tree)


def _make_message(one: MessageImage) -> TreeMessage:
    return TreeMessage(
        one.id, one.message, one.said_at, one.status, one.trust, one.source, one.parent or None,
        one.shaped_by, one.is_resumed, set(one.reasons),
    )  # fmt: skip


def _describe_message(tree: Tree, one: TreeMessage) -> MessageImage:
    is_shown = any(other is one for other in tree.list_path())
    return MessageImage(
        one.id, tree.key, one.parent or 0, one.message, one.said_at, one.status, one.trust,
        one.source, one.shaped_by, is_shown, one.is_resumed, tuple(sorted(one.reasons)),
    )  # fmt: skip


class _KeptDaily(Keeper):
    kind = name = "daily"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return days."""
        days = self.place.find(self.space, self.kind, Diary).days
        wanted = sorted(
            day for day, notes in days.items() if notes and day.isoformat() > (after or "")
        )
        return [make_day(day, days[day]) for day in wanted[:limit]]

    @in_one_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Replace days."""
        days = self.place.find(self.space, self.kind, Diary).days
        for name in gone:
            days[date.fromisoformat(name)] = []
        for part in parts:
            day, notes = part.value
            days[day] = [KeptNote(*one) for one in notes]
        self.announce()


class _KeptRecords(Keeper):
    kind = name = "records"

    @in_one_step
    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:
        """Return records by collection and key."""
        kept, now = self.place.find(self.space, self.kind, Shelves).kept, self.now()
        names = sorted(
            name
            for name, one in kept.items()
            if name > split_record_name(after)
            and not is_marker(*name)
            and (one.expires_at is None or now < one.expires_at)
        )
        return [make_record(kept[name]) for name in names[:limit]]

    @in_one_step
    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:
        """Store records with their versions, and remove others."""
        shelves = self.place.find(self.space, self.kind, Shelves)
        for name in gone:
            shelves.kept.pop(split_record_name(name), None)
        for part in parts:
            record = part.value
            shelves.kept[record.collection, record.key] = record
            shelves.last_version = max(shelves.last_version, record.version)
        self.announce()


class PortableSettings(ABC):
    """The settings of a place, less its paths."""

    name = "settings"

    def __init__(self, config: Config) -> None:
        self._config = config

    @abstractmethod
    def read_values(self) -> Mapping[str, Any]:
        """Return what was set here, whatever the environment says."""

    def read_parts(self, after: str | None = None, limit: int = 500) -> list[PortablePart]:  # noqa: ARG002
        """Return all as one part."""
        return [] if after else make_settings(self.read_values())

    def write_parts(self, parts: Sequence[PortablePart], gone: Collection[str] = ()) -> None:  # noqa: ARG002
        """Replace all."""
        new = parts[0].value if parts else {}
        known = make_settings(self.read_values())
        # What the other side does not set has its default again.
        removed = dict.fromkeys(known[0].value if known else ())
        self._config.change(removed | new)


class _KeptSettings(PortableSettings):
    def __init__(self, place: MemoryPlace, now: Now) -> None:
        super().__init__(MemoryConfig(place, ALL_SPACES, now))
        self._values = place.find(ALL_SPACES, "config", dict[str, Any])

    def read_values(self) -> Mapping[str, Any]:
        """Return what was set here."""
        return self._values


class MemoryPortableSpace(Keeper):
    """A space in memory, to be copied."""

    place: MemoryPlace

    def list_stores(self) -> Sequence[Portable]:
        """Return the stores in the order in which they are copied."""
        where = self.place, self.space, self._clock
        return (
            _KeptSettings(self.place, self._clock),
            PortableFacts(*where, "facts"),
            PortableFacts(*where, "pending"),
            _KeptConversations(*where),
            _KeptMessages(*where),
            _KeptDaily(*where),
            PortableSchedules(*where),
            PortableLearning(*where),
            _KeptRecords(*where),
        )

    @in_one_step
    def read_numbers(self) -> Mapping[str, int]:
        """Return the last numbers that were given to messages and records."""
        shelves = self.place.find(self.space, "records", Shelves)
        forest = self.place.find(self.space, "conversations", Forest)
        return {"messages": forest.last_id, "records": shelves.last_version}

    @in_one_step
    def finish(self, numbers: Mapping[str, int]) -> None:
        """Avoid numbers that were used elsewhere, and make derived values right."""
        shelves = self.place.find(self.space, "records", Shelves)
        forest = self.place.find(self.space, "conversations", Forest)
        forest.last_id = max(forest.last_id, numbers["messages"])
        shelves.last_version = max(shelves.last_version, numbers["records"])
        book = self.place.find(self.space, "facts", Book)
        # What was forgotten before the copy has hidden its messages already.
        forest.forgotten = {*find_forgotten(book.changes)}
        for tree in forest.trees.values():
            said = (make_title(o.message.text) for o in tree.messages.values() if o.is_question)
            if tree.given_title == next(filter(None, said), ""):
                tree.given_title = ""
