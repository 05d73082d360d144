"""`search` and `reindex`, and `eval`, which measures the search on documents and questions."""

from __future__ import annotations

import json
import math
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from turnleaf.core.plurals import pluralize
from turnleaf.core.search.hits import KINDS, MAX_LIMIT, MODES
from turnleaf.core.search.message_outcomes import note_newer
from turnleaf.core.search.passages import Passage
from turnleaf.core.search.terms import find_places, parse_query
from turnleaf.core.stored_messages import TRUSTED
from turnleaf.errors import EmbeddingError, InvalidInput, NotFound
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, decode, pass_workspace, take_text
from turnleaf.faces.cli.output import complain, escape, flatten, say, say_json, say_result
from turnleaf.llm.embeddings import find_embedder
from turnleaf.search import weights
from turnleaf.store.files import atomic
from turnleaf.store.files.index.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from turnleaf.core.search.hits import Hit
    from turnleaf.core.search.ranking import Weights
    from turnleaf.core.search.vectors import Embedder
    from turnleaf.store.contracts import Passages

SHOWN_LINES = 6
SECONDS_AFTERWARDS = 2.0
SHAPE = (
    'it needs {"scopes": [{"docs": [{"id", "text", "parent", "date"}], '
    '"queries": [{"qid", "text", "gold"}]}]}; docs/search.md describes it'
)


@click.command()
@click.argument("words", metavar="QUERY...", nargs=-1, type=TEXT, required=True)
@click.option(
    "-n", "--limit", type=click.IntRange(1, MAX_LIMIT), default=10, help="How many at most (10)."
)
@click.option("-s", "--source", type=click.Choice(KINDS), help="Only from there.")
@click.option("--since", type=TEXT, metavar="YYYY-MM-DD", help="Only what is not older.")
@click.option("--explain", is_flag=True, help="Show the scores, and what they are made of.")
@as_json
@pass_workspace
def search(
    workspace: Workspace,
    words: tuple[str, ...],
    limit: int,
    source: str | None,
    since: str | None,
    *,
    explain: bool,
    as_json: bool,
) -> None:
    """Find what fits QUERY best in the memories, the daily logs and the conversations.

    Ask in your own words, in any language; no character has a special meaning.
    """
    query = take_text(words)
    index = workspace.index
    with _show_progress("indexing") as tell:
        index.sync(tell)
    found = note_newer(
        index.search(query, limit, source=source, since=since), workspace.memory.changes
    )
    if as_json:
        say_json([_make_record(hit) for hit in found])
    else:
        _show_hits(found, query, weights(workspace.settings) if explain else None)
    if found:
        _catch_up(index)
        return
    message = f'nothing is remembered about "{flatten(query)}"; try other words'
    raise NotFound(message)


@click.command()
@click.option("--embed", is_flag=True, help="Also compute every vector that is missing.")
@as_json
@pass_workspace
def reindex(workspace: Workspace, *, embed: bool, as_json: bool) -> None:
    """Build the search index anew from the files.

    That is never needed: the index keeps itself up to date, and mends itself.
    """
    started = time.monotonic()
    index = workspace.index
    if embed and not index.has_embedder:
        message = "there is no model for vectors; turnleaf doctor says how to get one"
        raise NotFound(message)
    with _show_progress("indexing") as tell:
        passages = index.rebuild(tell)
    vectors = 0
    if embed:
        with _show_progress("embedding") as tell:
            vectors = index.embed(tell)
    seconds = time.monotonic() - started
    embedded = f", {pluralize(vectors, 'text')} embedded" if embed else ""
    say_result(
        {"passages": passages, "embedded": vectors, "seconds": round(seconds, 3)},
        f"{pluralize(passages, 'passage')} indexed{embedded} in {seconds:.1f} s",
        as_json=as_json,
    )


@contextmanager
def _show_progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that is told how many of all are done; the bar comes with the first."""
    with ExitStack() as stack:
        bar = Progress(console=Console(stderr=True), transient=True)
        task = bar.add_task(doing)

        def tell(done: int, total: int) -> None:
            if sys.stderr.isatty():
                if not bar.live.is_started:
                    stack.enter_context(bar)
                bar.update(task, completed=done, total=total)

        yield tell


def _catch_up(index: Passages) -> None:
    """Compute some of the missing vectors, now that the answer is on the screen."""
    sys.stdout.flush()
    try:
        index.embed(seconds=SECONDS_AFTERWARDS)
    except EmbeddingError as error:
        complain(str(error))


def _make_record(hit: Hit) -> dict[str, Any]:
    return {
        "text": hit.text,
        "source": hit.source,
        "path": str(hit.path),
        "line": hit.line,
        "heading": hit.heading,
        "date": hit.date,
        "conversation": hit.conversation,
        "message": hit.message,
        "time": hit.time,
        "speaker": hit.speaker,
        "trust": hit.trust,
        "shown": hit.is_shown,
        "id": hit.id,
        "score": round(hit.score, 4),
        "bm25": None if hit.bm25 is None else round(hit.bm25, 4),
        "vector": None if hit.vector is None else round(hit.vector, 4),
        "note": hit.note,
    }


def _show_hits(found: Sequence[Hit], query: str, explained: Weights | None) -> None:
    wanted = parse_query(query).terms
    for hit in found:
        _print(_mark_text(hit, wanted))
        _print(Text(f"  {_describe_origin(hit)}", style="dim"))
        if hit.note:
            _print(Text(f"  {escape(hit.note)}", style="dim"))
        if explained:
            _print(Text(f"  {_explain_score(hit, explained)}", style="dim"))


def _print(text: Text) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if sys.stdout.isatty() and not console.no_color:
        console.print(text)
    else:
        say(text.plain)


def _mark_text(hit: Hit, wanted: Collection[str]) -> Text:
    lines = escape(hit.text).strip().split("\n")
    rest = len(lines) - SHOWN_LINES
    shown = "\n  ".join(lines[:SHOWN_LINES])
    text = Text(shown)
    for start, end in find_places(shown, wanted):
        text.stylize("bold yellow", start, end)
    if rest > 0:
        text.append(f"\n  … {pluralize(rest, 'more line')}", "dim")
    return text


def _describe_origin(hit: Hit) -> str:
    place = hit.conversation or f"{hit.path.name}:{hit.line}"
    foreign = "" if hit.trust in TRUSTED else f"{hit.trust}: not your own words"
    version = "" if hit.is_shown else "in another version"
    parts = (hit.source, hit.heading, hit.date, hit.speaker, place, hit.id, foreign, version)
    return "  ".join(escape(part) for part in parts if part)


def _explain_score(hit: Hit, weights: Weights) -> str:
    if hit.vector is None:
        return f"score {hit.score:.3f}, by words alone"
    if hit.bm25 is None:
        return f"score {hit.score:.3f}, by meaning alone"
    return (
        f"score {hit.score:.3f} = {weights.vector:g} x {hit.vector:.3f} meaning "
        f"+ {weights.bm25:g} x {hit.bm25:.3f} words"
    )


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
        """Name the file."""
        yield str(self.path)

    def folders(self) -> Iterator[Path]:
        """Name the folder that the file is in."""
        yield self.path.parent

    def concerns(self, path: Path) -> bool:
        """Whether this is the file."""
        return path == self.path

    def cut(self, path: Path, data: bytes) -> tuple[str, Sequence[Passage]]:  # noqa: ARG002 - as in Source
        """Take each document for a passage; dated ones with one parent follow each other.

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


@click.command("eval")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--mode", type=click.Choice(MODES), help="How to search (hybrid if possible).")
@click.option(
    "--hits", type=click.Path(dir_okay=False), help="Write what was found, as JSON lines."
)
@as_json
@pass_workspace
def evaluate(
    workspace: Workspace, file: str, mode: str | None, hits: str | None, *, as_json: bool
) -> None:
    """Measure the search on the documents and questions in FILE.

    Your own memories are not touched. What is found is not filtered: neither the floor nor the
    removal of duplicates is at work.
    """
    embedder = find_embedder(workspace.settings)
    chosen = mode or ("hybrid" if embedder else "lexical")
    if chosen != "lexical" and embedder is None:
        message = f"--mode {chosen} needs a model for vectors; turnleaf doctor says how to get one"
        raise NotFound(message)
    scopes = _read_scopes(file)
    answers: list[QueryResult] = []
    with _show_progress("searching") as tell:
        for done, scope in enumerate(scopes):
            tell(done, len(scopes))
            answers += _run_queries(scope, chosen, embedder, weights(workspace.settings))
    if hits:
        lines = (json.dumps({"qid": one.qid, "ranked": one.ranked}) for one in answers)
        atomic.write(atomic.real(hits), "".join(f"{line}\n" for line in lines).encode())
    _report(chosen, answers, as_json=as_json)


def _read_scopes(file: str) -> list[dict[str, Any]]:
    text = decode(atomic.read(atomic.real(file)) or b"", file)
    try:
        scopes: list[dict[str, Any]] = json.loads(text)["scopes"]
        for scope in scopes:
            _check_scope(scope)
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        message = f"{file} cannot be used ({error!r}); {SHAPE}"
        raise InvalidInput(message) from error
    if not any(scope["queries"] for scope in scopes):
        message = f"{file} holds no queries; {SHAPE}"
        raise InvalidInput(message)
    return scopes


def _check_scope(scope: dict[str, Any]) -> None:
    known = {str(one["id"]) for one in scope["docs"] if isinstance(one["text"], str)}
    for query in scope["queries"]:
        missing = [one for one in query["gold"] if str(one) not in known]
        if missing or not query["gold"] or not isinstance(query["text"], str):
            message = f"the query {query['qid']!r} has no right answer among the documents"
            raise ValueError(message)


def _run_queries(
    scope: dict[str, Any], mode: str, embedder: Embedder | None, shares: Weights
) -> Iterator[QueryResult]:
    with tempfile.TemporaryDirectory(prefix="turnleaf-eval-") as folder:
        documents = Path(folder, "documents.json")
        atomic.write(documents, json.dumps(scope["docs"]).encode())
        index = Index(
            Path(folder, "index.db"),
            [Documents(documents)],
            None if mode == "lexical" else embedder,
            weights=shares,
        )
        with _show_progress("embedding") as tell:
            index.embed(tell)
        for query in scope["queries"]:
            yield _run_query(index, query, mode)
        index.close()


def _run_query(index: Index, query: dict[str, Any], mode: str) -> QueryResult:
    started = time.perf_counter()
    found = index.search(query["text"], MAX_LIMIT, mode=mode, floor=False)
    seconds = time.perf_counter() - started
    ranked = [hit.id or "" for hit in found]
    return QueryResult(
        str(query["qid"]), ranked, judged(ranked, [*map(str, query["gold"])]), seconds
    )


def _report(mode: str, answers: Sequence[QueryResult], *, as_json: bool) -> None:
    means = asdict(mean([answer.figures for answer in answers]))
    milliseconds = [1000 * answer.seconds for answer in answers]
    latency = {f"p{share}": percentile(milliseconds, share / 100) for share in (50, 95)}
    say_result(
        {"mode": mode, "queries": len(answers), **means, "latency_ms": latency},
        f"{len(answers):,} queries, {mode}",
        *(f"  {name.replace('_', '@'):<10}{100 * value:6.1f} %" for name, value in means.items()),
        *(f"  {name:<10}{value:6.1f} ms" for name, value in latency.items()),
        as_json=as_json,
    )


CUTS = (1, 5, 10)
DEPTH = 10


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one query, or their means over several."""

    recall_1: float
    recall_5: float
    recall_10: float
    mrr: float
    ndcg_10: float
    empty: float


def judged(ranked: Sequence[str], gold: Collection[str]) -> Figures:
    """Compare what was found, best first, with what should have been.

    Recall is the share of the right documents among the first; the reciprocal rank and nDCG look
    at the first ten.
    """
    good = set(gold)
    hits = [document in good for document in ranked]
    first_1, first_5, first_10 = (sum(hits[:cut]) / len(good) for cut in CUTS)
    reciprocal = next((1 / place for place, hit in enumerate(hits[:DEPTH], 1) if hit), 0.0)
    gain = _gain(place for place, hit in enumerate(hits[:DEPTH]) if hit)
    best = _gain(range(min(DEPTH, len(good))))
    return Figures(first_1, first_5, first_10, reciprocal, gain / best, float(not ranked))


def mean(figures: Sequence[Figures]) -> Figures:
    """Give the mean of each figure."""
    names = Figures.__dataclass_fields__
    return Figures(**{name: fmean(getattr(one, name) for one in figures) for name in names})


def percentile(values: Sequence[float], share: float) -> float:
    """Give the value below which that share of the values lies."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def _gain(places: Iterable[int]) -> float:
    return sum(1 / math.log2(place + 2) for place in places)
