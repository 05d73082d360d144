"""The search of a space in a database: up to date when asked, by words and by vectors."""

from __future__ import annotations

import json
import math
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from turnleaf.core.examination import Diagnosis
from turnleaf.core.keys import Reader
from turnleaf.core.languages import pluralize
from turnleaf.core.memories import checked_date
from turnleaf.core.messages import Cursor
from turnleaf.core.search.hits import KINDS, MAX_LIMIT, MODES, PROMPT_LIMIT, Hit
from turnleaf.core.search.passages import of_day, of_memory
from turnleaf.core.search.ranking import Weights
from turnleaf.core.search.terms import parse_query
from turnleaf.errors import InvalidInput
from turnleaf.store.ambient import local_day
from turnleaf.store.memory.book import name_text
from turnleaf.store.memory.place import in_one_step
from turnleaf.store.passage_search import Asked, Floors, search_passages
from turnleaf.store.postgres import indexing, sources
from turnleaf.store.postgres.place import SqlStore, changing
from turnleaf.store.postgres.vectors import PostgresVectors

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import date

    from turnleaf.core.examination import Examination, Part
    from turnleaf.core.search.passages import Passage
    from turnleaf.core.search.terms import Query
    from turnleaf.core.search.vectors import Embedder
    from turnleaf.store.contracts import Progress
    from turnleaf.store.memory.place import Now
    from turnleaf.store.postgres.conversations import PostgresConversations
    from turnleaf.store.postgres.place import PostgresPlace
    from turnleaf.store.postgres.vectors import QueryVector

VERSION = 1
"""Of how texts become passages and terms; another one takes everything in anew."""
MESSAGES_PER_STEP = 2000
_SEARCHED = ("facts", "daily", "conversations")
_STATE = """
SELECT (SELECT state FROM turnleaf.indexes),
    (SELECT json_object_agg(kind, n) FROM turnleaf.counters WHERE kind = ANY(%s) AND space <> '')
"""
_NOTE_PLACE = """
INSERT INTO turnleaf.indexed_places (place, version) VALUES (%s, %s)
ON CONFLICT (space, place) DO UPDATE SET version = excluded.version
"""
_DAYS = "SELECT day, count(*) || ' ' || max(change) FROM turnleaf.notes GROUP BY day ORDER BY day"


def _ignore(done: int, of: int) -> None:
    """Do nothing with what is told."""


class PostgresPassages(SqlStore):
    """The search of a space."""

    kind = "passages"

    def __init__(
        self,
        place: PostgresPlace,
        space: str,
        now: Now,
        conversations: PostgresConversations,
        settle: Callable[[], None],
    ) -> None:
        super().__init__(place, space, now)
        self._conversations = conversations
        self._settle = settle
        self._vectors = PostgresVectors(place, space, now)
        self._weights = Weights()

    @property
    def has_embedder(self) -> bool:
        """Whether meanings can be compared here."""
        return self._vectors.embedder is not None

    def use_embedder(self, embedder: Embedder | None, weights: Weights) -> None:
        """Compare meanings here with this model from now on; None: words."""
        self._vectors.use(embedder)
        self._weights = weights

    def sync(self, progress: Progress = _ignore) -> int:
        """Take in what changed; return how many passages are new."""
        added, is_last = 0, False
        while not is_last:
            new, is_last = self._take_in_part()
            added += new
            if not is_last:
                progress(added, added + MESSAGES_PER_STEP)
        return added

    def rebuild(self, progress: Progress = _ignore) -> int:
        """Take in everything anew; return how many passages there are."""
        self._empty()
        return self.sync(progress)

    @in_one_step
    def examine(self) -> Examination:
        """Return how many passages are indexed, and whether so many should have an index."""
        ((count,),) = self.rows("SELECT coalesce(sum(passages), 0) FROM turnleaf.indexes")
        found: list[Part] = []
        if count >= sources.LARGE_SPACE and self._vectors.lacks_index():
            message = (
                f"the space has {count:,} passages and no index over their vectors, so searches "
                "take long; run, as the role that owns the tables: turnleaf db tune ADDRESS"
            )
            found.append(Diagnosis("warning", message))
        return self.report("search index", pluralize(int(count), "passage"), *found)

    @changing
    def _empty(self) -> None:
        self.step.lock(self.kind, changes=False)
        for table in ("terms", "passages", "unembedded", "indexed_places"):
            self.run(f"DELETE FROM turnleaf.{table}")  # noqa: S608 - of constants
        self.run("UPDATE turnleaf.indexes SET state = '{}', passages = 0, terms = 0")

    @in_one_step
    def _take_in_part(self) -> tuple[int, bool]:
        """Take in some of what changed; return how many passages are new, and whether it is all."""
        self._settle()
        state, now = self._read_state()
        if state.get("seen") == now and state.get("isLast"):
            return 0, True
        self.step.lock(self.kind, changes=False)
        self.run(indexing.BEGIN)
        if state.get("version", VERSION) != VERSION:
            self._empty()
        state, now = self._read_state()
        added = self._take_in_pages(state.get("seen", {}), now)
        cursor = Cursor(*state.get("cursor", ()))
        feed = self._conversations.changes_since(cursor, MESSAGES_PER_STEP)
        added += indexing.take_in(self.step, feed, local_day)
        reached = [feed.cursor.message, feed.cursor.change]
        known = {"version": VERSION, "seen": now, "cursor": reached, "isLast": feed.is_last}
        self.run("UPDATE turnleaf.indexes SET state = %s", json.dumps(known))
        return added, feed.is_last

    def _take_in_pages(self, seen: Mapping[str, object], now: Mapping[str, object]) -> int:
        """Take in facts and notes where any changed, or another day has begun."""
        changed = {kind for kind in (*_SEARCHED, "day") if seen.get(kind) != now.get(kind)}
        added = self._take_in_facts() if changed & {"facts", "day"} else 0
        return added + (self._take_in_days() if "daily" in changed else 0)

    def _read_state(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what was taken in, and how what is searched stands now."""
        ((state, counts),) = self.rows(_STATE, [*_SEARCHED])
        return json.loads(state or "{}"), {**(counts or {}), "day": local_day(self._clock())}

    def _take_in_facts(self) -> int:
        query = "SELECT text, older FROM turnleaf.books WHERE kind = 'facts'"
        added, today = 0, local_day(self._clock())
        for text, older in self.rows(query):
            for name, page, kind in (("MEMORY.md", text, "memory"), ("OLDER.md", older, "older")):
                # With the day: a fact that ended is an older one, though its page did not change.
                version = f"{today} {name_text(page)}"
                cut = partial(of_memory, page, name, local_day)
                added += self._replace(name, version, cut, partial(_find_kind, kind, today))
        return added

    def _take_in_days(self) -> int:
        query = (
            "SELECT place, version FROM turnleaf.indexed_places WHERE starts_with(place, 'daily/')"
        )
        known: dict[str, str] = dict(self.rows(query))
        added = 0
        for day, version in self.rows(_DAYS):
            name = f"daily/{day}.md"
            if known.pop(name, None) != version:
                added += self._replace(
                    name, version, partial(self._cut_day, day), lambda _: "daily"
                )
        for name in known:
            indexing.replace_place(self.step, name, [], str)
            self.run("DELETE FROM turnleaf.indexed_places WHERE place = %s", name)
        return added

    def _cut_day(self, day: date) -> list[Passage]:
        notes = self.rows("SELECT text FROM turnleaf.notes WHERE day = %s ORDER BY id", day)
        return of_day(f"# {day}\n\n" + "".join(text for (text,) in notes), day)

    def _replace(
        self,
        name: str,
        version: str,
        cut: Callable[[], list[Passage]],
        kind_of: Callable[[Passage], str],
    ) -> int:
        query = "SELECT 1 FROM turnleaf.indexed_places WHERE place = %s AND version = %s"
        if self.rows(query, name, version):
            return 0
        self.run(_NOTE_PLACE, name, version)
        return indexing.replace_place(self.step, name, cut(), kind_of)

    def search(
        self,
        query: str,
        limit: int = 10,
        *,
        source: str | None = None,
        since: date | str | None = None,
        until: date | str | None = None,
        mode: str = "hybrid",
        floor: bool = True,
        reader: Reader | None = None,
    ) -> list[Hit]:
        """Return the passages that fit best, best first; [] for a query without a word."""
        who = reader or Reader()
        _check(limit, source, mode, who)
        first, last = (
            None if day is None else checked_date(day).isoformat() for day in (since, until)
        )
        wanted = parse_query(query)
        if not wanted.terms:
            return []
        self.sync()
        meant = None if mode == "lexical" else self._vectors.embed_query(query)
        return self._search(
            wanted, meant, limit, (who, source, first, last), mode=mode, has_floor=floor
        )

    @in_one_step
    def _search(
        self,
        query: Query,
        meant: QueryVector | None,
        limit: int,
        wanted: tuple[Reader, str | None, str | None, str | None],
        *,
        mode: str,
        has_floor: bool,
    ) -> list[Hit]:
        narrowed = sources.narrow(self.step, *wanted)
        source = sources.DatabasePassages(self.step, narrowed, meant.model if meant else None)
        known = meant.model.profile if meant else None
        asked = Asked(
            query,
            meant.vector if meant else None,
            known.unrelated if known else None,
            by_words=mode != "vector",
        )
        floors = Floors(known.floor if known else math.inf)
        return search_passages(
            source, asked, self._weights, limit, floors=floors, has_floor=has_floor
        )

    def list_between(
        self, first: date, last: date, limit: int, *, source: str, reader: Reader
    ) -> list[Hit]:
        """Return the newest `limit` passages of one source of some days, oldest first."""
        self.sync()
        return self._list_between(first.isoformat(), last.isoformat(), limit, source, reader)

    @in_one_step
    def _list_between(
        self, first: str, last: str, limit: int, source: str, reader: Reader
    ) -> list[Hit]:
        narrowed = sources.narrow(self.step, reader, source, first, last)
        return sources.list_hits(self.step, narrowed, limit)

    def around(self, hit: Hit, before: int = 1, after: int = 1) -> list[Hit]:
        """Return what was said right before and after a hit, so many passages of each."""
        self.sync()
        return self._find_around(hit, before, after)

    @in_one_step
    def _find_around(self, hit: Hit, before: int, after: int) -> list[Hit]:
        query = (
            "SELECT id FROM turnleaf.passages "
            "WHERE conversation = %s AND message = %s AND part = %s"
        )
        for (number,) in self.rows(query, hit.conversation, hit.message, hit.part):
            earlier = sources.follow(self.step, number, "before", before)
            order = [*reversed(earlier), *sources.follow(self.step, number, "after", after)]
            found = sources.DatabasePassages(self.step, sources.Narrowed()).read_hits(order)
            return [found[one][0] for one in order]
        return []

    def missing_vectors(self) -> int:
        """Count the different texts that have no vector yet; 0 without a model."""
        if not self.has_embedder:
            return 0
        self.sync()
        return self._vectors.count_missing()

    def embed(self, progress: Progress = _ignore, *, seconds: float | None = None) -> int:
        """Make missing vectors, one batch and then for so many seconds; return how many."""
        return self._vectors.embed(self.missing_vectors(), progress, seconds)

    @contextmanager
    def erasing(self) -> Iterator[None]:
        """Take out, at the end, what leaves the other stores within."""
        yield
        self.sync()

    def scrub(self) -> None:
        """Do nothing: what is gone has no row."""


def _find_kind(kind: str, today: str, one: Passage) -> str:
    return "older" if one.until and one.until < today else kind


def _check(limit: int, source: str | None, mode: str, reader: Reader) -> None:
    most = PROMPT_LIMIT if reader.is_prompt else MAX_LIMIT
    if not 1 <= limit <= most:
        message = f"the limit is between 1 and {most}, not {limit}"
        raise InvalidInput(message)
    if source is not None and source not in KINDS:
        message = f"the source is one of {', '.join(KINDS)}, not {source!r:.80}"
        raise InvalidInput(message)
    if mode not in MODES:
        message = f"the mode is one of {', '.join(MODES)}, not {mode!r:.80}"
        raise InvalidInput(message)
