"""The search over what is in memory; nothing is indexed, all is read when it is asked for."""

from __future__ import annotations

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from turnleaf.core.keys import Reader, can_read
from turnleaf.core.memories import check_date
from turnleaf.core.messages import TRUSTED, Cursor
from turnleaf.core.search.message_filters import is_other_talk
from turnleaf.core.search.passages import (
    Passage,
    are_close,
    cut_day,
    cut_feed_message,
    cut_memory,
    find_neighbours,
)
from turnleaf.core.search.ranking import (
    HeldWords,
    Hit,
    Ranked,
    Unrelated,
    Weights,
    rank,
    score_by_meaning,
    score_by_words,
    share_with_neighbours,
    weigh_word,
)
from turnleaf.core.search.terms import list_date_terms, list_terms, parse_query
from turnleaf.core.serialization import to_iso
from turnleaf.errors import EmbeddingError
from turnleaf.store.clock_and_ids import find_local_day
from turnleaf.store.in_memory.conversations import Forest
from turnleaf.store.in_memory.fact_pages import Book
from turnleaf.store.in_memory.shared_data import Keeper, MemoryPlace, Now, in_one_step
from turnleaf.store.passage_search import check_search

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from turnleaf.core.diagnosis import Examination
    from turnleaf.core.search.vectors import Embedder
    from turnleaf.store.in_memory.daily import MemoryDaily


USUAL = Unrelated(0.0, 0.1)
"""What is taken to be the cosine of unrelated texts before any is known."""
_find_terms = lru_cache(maxsize=4096)(list_terms)


def score_words(query: str, passages: Sequence[Passage]) -> dict[int, HeldWords]:
    """Return how much of a question passages hold, by their place; only of those that do."""
    placed = find_neighbours(passages)
    own = [[*_find_terms(one.spoken_text), *list_date_terms(one.date or "")] for one in passages]
    around = [_join(one.before, one.after) for one in placed]
    asked = _weigh(query, own)
    sizes = [len(mine) + len(beside) for mine, beside in zip(own, around, strict=True)]
    typical = fmean(sizes) if sizes else 1.0
    held = {n: score_by_words(asked, own[n], around[n], typical) for n in range(len(passages))}
    numbers = {id(one): n for n, one in enumerate(passages)}
    beside = {
        n: [numbers[id(o)] for o in (one.before, one.after) if o] for n, one in enumerate(placed)
    }
    shares = share_with_neighbours({n: share for n, share in held.items() if share > 0}, beside)
    return {n: HeldWords(share, asked.keys() <= {*own[n]}) for n, share in shares.items()}


def _join(*beside: Passage | None) -> list[str]:
    return [term for one in beside if one for term in _find_terms(one.spoken_text)]


def _weigh(query: str, own: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return what each word of a question weighs; one that is repeated counts double."""
    asked = parse_query(query)
    counts = Counter(term for said in own for term in {*said}.intersection(asked.terms))
    return {
        term: weigh_word(counts[term], len(own)) * (2 if term in asked.repeated else 1)
        for term in asked.terms
    }


def compare(query: bytes, vectors: Mapping[int, bytes]) -> dict[int, float]:
    """Return the cosines of a question with passages."""
    asked = array("f", query)
    return {
        n: sum(a * b for a, b in zip(asked, array("f", vector), strict=True))
        for n, vector in vectors.items()
    }


def find_unrelated(cosines: Mapping[int, float]) -> Unrelated:
    """Return the cosines that unrelated passages have here."""
    found = [*cosines.values()]
    if not found:
        return USUAL
    return USUAL.pool(Unrelated(fmean(found), pstdev(found)), len(found))


Progress = Callable[[int, int], None]
BATCH = 32
FLOOR, FLOOR_SHARE = 0.05, 0.25
"""What a passage must be worth at least, by itself and beside the best."""


@dataclass
class Vectors:
    """The vectors of one model, by text, and the passages that were taken in."""

    model: str = ""
    by_text: dict[str, bytes] = field(default_factory=dict)
    known: Counter[tuple[object, ...]] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage and the source that it is of."""

    source: str
    passage: Passage

    @property
    def identity(self) -> tuple[object, ...]:
        """What makes it the same passage wherever it stands."""
        one = self.passage
        return self.source, one.text, one.heading, one.date, one.id, one.part


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is searched for, and by whom."""

    reader: Reader
    source: str | None = None
    since: str = ""
    until: str = ""

    def has(self, found: FoundPassage) -> bool:
        """Whether a passage is one of those that are asked for, and may be found."""
        day = found.passage.date or ""
        if self.source not in (None, found.source) or not may_find(found.passage, self.reader):
            return False
        return (not self.since or day >= self.since) and (not self.until or "" < day <= self.until)


def may_find(passage: Passage, reader: Reader) -> bool:
    """Whether a reader may find a passage."""
    is_own = passage.conversation is not None and passage.conversation == reader.conversation
    is_trusted = passage.trust in TRUSTED or is_own or not reader.is_prompt
    return is_trusted and can_read(passage.audience, reader)


def _ignore(done: int, of: int) -> None:
    """Do nothing with what is told."""


class MemoryPassages(Keeper):
    """The search of a space."""

    place: MemoryPlace

    def __init__(
        self,
        place: MemoryPlace,
        space: str,
        now: Now,
        settle: Callable[[], None],
        daily: MemoryDaily,
    ) -> None:
        super().__init__(place, space, now)
        self._settle = settle
        self._daily = daily
        self._book = place.find(space, "facts", Book)
        self._forest = place.find(space, "conversations", Forest)
        self._vectors = place.find(space, "vectors", Vectors)
        self._embedder: Embedder | None = None
        self._weights = Weights()

    @property
    def has_embedder(self) -> bool:
        """Whether meanings can be compared here."""
        return self._embedder is not None

    @in_one_step
    def use_embedder(self, embedder: Embedder | None, weights: Weights) -> None:
        """Compare meanings here with this model from now on; None: words."""
        self._embedder, self._weights = embedder, weights
        if embedder and embedder.name != self._vectors.model:
            self._vectors.model = embedder.name
            self._vectors.by_text.clear()

    def _read_all(self) -> list[FoundPassage]:
        """Return all passages, and forget the vectors of texts that are gone."""
        self._settle()
        found = [*self._read_facts(), *self._read_days(), *self._read_messages()]
        said = {one.passage.spoken_text for one in found}
        for text in self._vectors.by_text.keys() - said:
            del self._vectors.by_text[text]
        return found

    def _read_facts(self) -> Iterator[FoundPassage]:
        today = find_local_day(self._clock())
        for one in cut_memory(self._book.text, "MEMORY.md", find_local_day):
            yield FoundPassage("older" if one.until and one.until < today else "memory", one)
        for one in cut_memory(self._book.older, "OLDER.md", find_local_day):
            yield FoundPassage("older", one)

    def _read_days(self) -> Iterator[FoundPassage]:
        for day in self._daily.dates():
            for one in cut_day(self._daily.read(day), day):
                yield FoundPassage("daily", one)

    def _read_messages(self) -> Iterator[FoundPassage]:
        feed = self._forest.read_feed(Cursor(), 10**9)
        for message in feed.found:
            for one in cut_feed_message(message, find_local_day):
                yield FoundPassage("conversations", one)

    def examine(self) -> Examination:
        """Return that there is no index."""
        return self.report("search index", "none; all is read when it is asked for")

    @in_one_step
    def sync(self, progress: Progress = _ignore) -> int:  # noqa: ARG002 - there is little to do
        """Take in what changed; return how many passages are new."""
        now = Counter(one.identity for one in self._read_all())
        new = (now - self._vectors.known).total()
        self._vectors.known = now
        return new

    @in_one_step
    def rebuild(self, progress: Progress = _ignore) -> int:
        """Take in everything anew; return how many passages there are."""
        self._vectors.known.clear()
        return self.sync(progress)

    @in_one_step
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
        check_search(limit, source, mode, who)
        days = ("" if one is None else check_date(one).isoformat() for one in (since, until))
        wanted = Wanted(who, source, *days)
        asked = parse_query(query).terms
        if not asked:
            return []
        found = self._read_all()
        ranked = [one for one in self._rank(query, found, mode) if wanted.has(found[one[0].id])]
        ranked.sort(key=lambda one: (not found[one[0].id].passage.is_shown, -one[0].score))
        if floor:
            told = [one for one in ranked if not _is_other_talk(found[one[0].id], asked)]
            ranked = _cut(told, found)
        return [self._make_hit(found[one.id], one, nearness) for one, nearness in ranked[:limit]]

    def _rank(
        self, query: str, found: Sequence[FoundPassage], mode: str
    ) -> list[tuple[Ranked, float | None]]:
        """Return all that is worth something, each with its nearness."""
        held = {} if mode == "vector" else score_words(query, [one.passage for one in found])
        cosines = {} if mode == "lexical" else self._compare(query, found)
        usual = find_unrelated(cosines)
        none = None if mode == "vector" else HeldWords(0.0)
        ranked: list[tuple[Ranked, float | None]] = []
        for n in sorted(held.keys() | cosines.keys()):
            near = cosines[n] - usual.mean if n in cosines else None
            meant = score_by_meaning(cosines[n], usual, len(found)) if n in cosines else None
            ranked.append((rank(n, held.get(n, none), meant, self._weights), near))
        return [one for one in ranked if one[0].score > 0]

    def _compare(self, query: str, found: Sequence[FoundPassage]) -> dict[int, float]:
        known = self._vectors.by_text
        texts = enumerate(one.passage.spoken_text for one in found)
        vectors = {n: known[text] for n, text in texts if text in known}
        if self._embedder is None or not vectors:
            return {}
        try:
            return compare(self._embedder.embed([query])[0], vectors)
        except EmbeddingError:
            return {}

    def _make_hit(
        self, found: FoundPassage, ranked: Ranked | None, nearness: float | None = None
    ) -> Hit:
        one = found.passage
        return Hit(
            text=one.text,
            source=found.source,
            path=Path(self.location, found.source),
            line=one.line,
            heading=one.heading,
            date=one.date,
            conversation=one.conversation,
            speaker=one.speaker,
            id=one.id,
            score=ranked.score if ranked else 0.0,
            bm25=ranked.words if ranked else None,
            vector=ranked.meaning if ranked else None,
            message=one.message,
            parent=one.parent,
            time=to_iso(one.time) if one.time else None,
            trust=one.trust,
            is_shown=one.is_shown,
            part=one.part,
            earlier=one.earlier,
            later=one.later,
            audience=one.audience,
            nearness=nearness,
            blended=ranked.blended if ranked else None,
        )

    @in_one_step
    def list_between(
        self, first: date, last: date, limit: int, *, source: str, reader: Reader
    ) -> list[Hit]:
        """Return the newest `limit` passages of one source of some days, oldest first."""
        wanted = Wanted(reader, source, first.isoformat(), last.isoformat())
        found = [one for one in self._read_all() if wanted.has(one) and one.passage.is_shown]
        found.sort(key=lambda one: (one.passage.date or "", _find_time(one.passage)))
        return [self._make_hit(one, None) for one in found[max(0, len(found) - limit) :]]

    @in_one_step
    def around(self, hit: Hit, before: int = 1, after: int = 1) -> list[Hit]:
        """Return what was said right before and after a hit, so many passages of each."""
        told = [one for one in self._read_all() if one.passage.has_neighbours]
        said = [one for one in told if one.passage.conversation == hit.conversation]
        places = {(one.passage.message, one.passage.part): n for n, one in enumerate(said)}
        here = places.get((hit.message, hit.part))
        if here is None:
            return []
        earlier = _follow(said[here::-1])[:before][::-1]
        return [self._make_hit(one, None) for one in (*earlier, *_follow(said[here:])[:after])]

    @in_one_step
    def missing_vectors(self) -> int:
        """Count the different texts that have no vector yet; 0 without a model."""
        return len(self._list_missing())

    def _list_missing(self) -> list[str]:
        """Return the texts without a vector, what was said last first."""
        if self._embedder is None:
            return []
        passages = sorted((one.passage for one in self._read_all()), key=_find_time, reverse=True)
        known = self._vectors.by_text
        return [*dict.fromkeys(one.spoken_text for one in passages if one.spoken_text not in known)]

    def embed(self, progress: Progress = _ignore, *, seconds: float | None = None) -> int:
        """Make missing vectors, one batch and then for so many seconds; return how many."""
        with self.place.lock:
            missing = self._list_missing()
        begun, done = time.monotonic(), 0
        while done < len(missing):
            if done and seconds is not None and time.monotonic() - begun >= seconds:
                break
            done += self._embed(missing[done : done + BATCH])
            progress(done, len(missing))
        return done

    def _embed(self, texts: Sequence[str]) -> int:
        if self._embedder:
            # Outside the lock, because a model may take minutes.
            vectors = self._embedder.embed(texts)
            with self.place.lock:
                self._vectors.by_text.update(zip(texts, vectors, strict=True))
        return len(texts)

    @contextmanager
    def erasing(self) -> Iterator[None]:
        """Forget, at the end, the vectors of what leaves the other stores within."""
        try:
            yield
        finally:
            with self.place.lock:
                self._read_all()

    def scrub(self) -> None:
        """Do nothing: what is gone is nowhere."""


def _is_other_talk(found: FoundPassage, asked: Sequence[str]) -> bool:
    return found.source == "conversations" and is_other_talk(found.passage.text, asked)


def _cut(
    ranked: Sequence[tuple[Ranked, float | None]], found: Sequence[FoundPassage]
) -> list[tuple[Ranked, float | None]]:
    """Leave out what hardly fits, and what was said before."""
    least = max([FLOOR, *(FLOOR_SHARE * one.score for one, _ in ranked)])
    firsts: dict[bytes, tuple[Ranked, float | None]] = {}
    for one in ranked:
        if one[0].score >= least:
            firsts.setdefault(found[one[0].id].passage.fingerprint, one)
    return [*firsts.values()]


def _follow(said: Sequence[FoundPassage]) -> list[FoundPassage]:
    """Return what was said next, as long as each was said close to the one before."""
    found: list[FoundPassage] = []
    for one, other in pairwise(said):
        if not are_close(one.passage.time, other.passage.time):
            break
        found.append(other)
    return found


def _find_time(passage: Passage) -> tuple[float, int, int]:
    moment = passage.time.timestamp() if passage.time else 0.0
    return moment, passage.line, passage.part
