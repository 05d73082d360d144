"""Search quality: documents and questions from a file, searched and compared with the answers."""

from __future__ import annotations

import json
import math
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from turnleaf.core.search.passages import Passage
from turnleaf.core.search.ranking import MAX_LIMIT
from turnleaf.errors import InvalidInput
from turnleaf.store.files import atomic
from turnleaf.store.files.index.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from turnleaf.core.search.ranking import Weights
    from turnleaf.core.search.vectors import Embedder

CUTS = (1, 5, 10)
DEPTH = 10
SHAPE = (
    'it needs {"scopes": [{"docs": [{"id", "text", "parent", "date"}], '
    '"queries": [{"qid", "text", "gold"}]}]}; docs/internals/ranking.md describes it'
)

Scope = dict[str, Any]
"""Documents, and questions about them."""


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one query, or their means over several."""

    recall_1: float
    recall_5: float
    recall_10: float
    mrr: float
    ndcg_10: float
    empty: float


@dataclass(frozen=True, slots=True)
class QueryResult:
    """What the search found for a query, how good that was, and how long it took."""

    qid: str
    ranked: list[str]
    figures: Figures
    seconds: float


@dataclass(frozen=True, slots=True)
class Documents:
    """The documents of one scope as a source, in a file of their own that may be of any size."""

    path: Path

    def paths(self) -> Iterator[str]:
        """Yield the path of the file."""
        yield str(self.path)

    def folders(self) -> Iterator[Path]:
        """Yield the folder that the file is in."""
        yield self.path.parent

    def concerns(self, path: Path) -> bool:
        """Whether this is the file."""
        return path == self.path

    def cut(self, path: Path, data: bytes) -> tuple[str, Sequence[Passage]]:  # noqa: ARG002 - as in FileSource
        """Return each document as a passage; dated ones with one parent follow each other.

        Of undated ones it is not known whether they were said at about the same time, or only
        belong to one topic.
        """
        documents = json.loads(data)
        return "conversations", [
            Passage(
                text=one["text"],
                line=line,
                date=one.get("date") or None,
                conversation=(one.get("date") and one.get("parent")) or None,
                id=str(one["id"]),
            )
            for line, one in enumerate(documents, 1)
        ]


def parse_scopes(text: str, name: str) -> list[Scope]:
    """Return the scopes of a file; `name` is for the error where it cannot be used."""
    try:
        scopes: list[Scope] = json.loads(text)["scopes"]
        for scope in scopes:
            _check_scope(scope)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        message = f"{name} cannot be used ({error!r}); {SHAPE}"
        raise InvalidInput(message) from error
    if not any(scope["queries"] for scope in scopes):
        message = f"{name} contains no queries; {SHAPE}"
        raise InvalidInput(message)
    return scopes


def _check_scope(scope: Scope) -> None:
    known = {str(one["id"]) for one in scope["docs"] if isinstance(one["text"], str)}
    for query in scope["queries"]:
        missing = [one for one in query["gold"] if str(one) not in known]
        if missing or not query["gold"] or not isinstance(query["text"], str):
            message = f"the query {query['qid']!r} has no right answer among the documents"
            raise ValueError(message)


def run_queries(
    scope: Scope,
    mode: str,
    embedder: Embedder | None,
    weights: Weights,
    progress: Callable[[int, int], None],
) -> Iterator[QueryResult]:
    """Index the documents of a scope in a folder of their own, and search them."""
    with tempfile.TemporaryDirectory(prefix="turnleaf-eval-") as folder:
        documents = Path(folder, "documents.json")
        atomic.write(documents, json.dumps(scope["docs"]).encode())
        source, used = Documents(documents), None if mode == "lexical" else embedder
        index = Index(Path(folder, "index.db"), [source], used, weights=weights)
        index.embed(progress)
        for query in scope["queries"]:
            yield _run_query(index, query, mode)
        index.close()


def _run_query(index: Index, query: dict[str, Any], mode: str) -> QueryResult:
    started = time.perf_counter()
    found = index.search(query["text"], MAX_LIMIT, mode=mode, floor=False)
    seconds = time.perf_counter() - started
    ranked = [hit.id or "" for hit in found]
    figures = judge_ranking(ranked, [*map(str, query["gold"])])
    return QueryResult(str(query["qid"]), ranked, figures, seconds)


def judge_ranking(ranked: Sequence[str], gold: Collection[str]) -> Figures:
    """Compare what was found, best first, with what should have been.

    Recall is the share of the right documents among the first; the reciprocal rank and nDCG look
    at the first ten.
    """
    good = set(gold)
    hits = [document in good for document in ranked]
    first_1, first_5, first_10 = (sum(hits[:cut]) / len(good) for cut in CUTS)
    reciprocal = next((1 / place for place, hit in enumerate(hits[:DEPTH], 1) if hit), 0.0)
    gain = _sum_gains(place for place, hit in enumerate(hits[:DEPTH]) if hit)
    best = _sum_gains(range(min(DEPTH, len(good))))
    return Figures(first_1, first_5, first_10, reciprocal, gain / best, float(not ranked))


def average(figures: Sequence[Figures]) -> Figures:
    """Return the mean of each figure."""
    names = Figures.__dataclass_fields__
    return Figures(**{name: fmean(getattr(one, name) for one in figures) for name in names})


def find_percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which that share of the values lies."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _sum_gains(places: Iterable[int]) -> float:
    return sum(1 / math.log2(place + 2) for place in places)
