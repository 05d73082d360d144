"""`search`, `reindex` and `eval`."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from turnleaf.core.languages import pluralize
from turnleaf.core.messages import TRUSTED
from turnleaf.core.search.message_filters import note_newer
from turnleaf.core.search.ranking import KINDS, MAX_LIMIT, MODES
from turnleaf.core.search.terms import find_places, parse_query
from turnleaf.errors import EmbeddingError, InvalidInput, NotFound
from turnleaf.evaluation import QueryResult, average, find_percentile, parse_scopes, run_queries
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, decode, pass_workspace, take_text
from turnleaf.faces.cli.output import (
    complain,
    escape,
    flatten,
    localize,
    say,
    say_json,
    say_result,
    show_progress,
)
from turnleaf.llm.embeddings import find_embedder, read_weights
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from turnleaf.core.search.ranking import Hit, Weights
    from turnleaf.store.contracts import Passages

SHOWN = (
    "text", "source", "line", "heading", "date", "conversation", "message", "time", "speaker",
    "trust", "id", "note",
)  # fmt: skip
SCORES = ("score", "bm25", "vector")
SHOWN_LINES = 6
SECONDS_AFTERWARDS = 2.0


@click.command()
@click.argument("words", metavar="QUERY...", nargs=-1, type=TEXT, required=True)
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, MAX_LIMIT),
    default=10,
    help="Maximum number of results (10).",
)
@click.option("-s", "--source", type=click.Choice(KINDS), help="Search only this source.")
@click.option("--since", type=TEXT, metavar="YYYY-MM-DD", help="Only results from this day on.")
@click.option("--explain", is_flag=True, help="Show how the scores are computed.")
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
    """Search facts, daily notes and conversations.

    QUERY may be in any language; no character has a special meaning.
    """
    query = take_text(words)
    if not query.strip():
        message = "the search is empty; type some words"
        raise InvalidInput(message)
    index = workspace.index
    with show_progress("indexing") as tell:
        index.sync(tell)
    found = note_newer(
        index.search(query, limit, source=source, since=since), workspace.memory.changes
    )
    if as_json:
        say_json([_make_record(hit) for hit in found])
    else:
        _show_hits(found, query, read_weights(workspace.settings) if explain else None)
    if found:
        _catch_up(index)
        return
    message = f'nothing was found for "{flatten(query)}"; try other words'
    raise NotFound(message)


@click.command()
@click.option("--embed", is_flag=True, help="Also compute all missing vectors.")
@as_json
@pass_workspace
def reindex(workspace: Workspace, *, embed: bool, as_json: bool) -> None:
    """Rebuild the search index from the files.

    This is rarely needed: the index stays up to date and repairs itself.
    """
    started = time.monotonic()
    index = workspace.index
    if embed and not index.has_embedder:
        message = "no embedding model is available; turnleaf doctor shows how to get one"
        raise NotFound(message)
    with show_progress("indexing") as tell:
        passages = index.rebuild(tell)
    vectors = 0
    if embed:
        with show_progress("embedding") as tell:
            vectors = index.embed(tell)
    seconds = time.monotonic() - started
    done = f"{pluralize(passages, 'passage')} indexed"
    if embed:
        done = f"{done}, {pluralize(vectors, 'text')} embedded"
    say_result(
        {"passages": passages, "embedded": vectors, "seconds": round(seconds, 3)},
        f"{done} in {seconds:.1f} s",
        as_json=as_json,
    )


def _catch_up(index: Passages) -> None:
    """Compute some of the missing vectors, now that the answer is on the screen."""
    sys.stdout.flush()
    try:
        index.embed(seconds=SECONDS_AFTERWARDS)
    except EmbeddingError as error:
        complain(str(error))


def _make_record(hit: Hit) -> dict[str, Any]:
    scores = {name: getattr(hit, name) for name in SCORES}
    return {
        **{name: getattr(hit, name) for name in SHOWN},
        "path": str(hit.path),
        "shown": hit.is_shown,
        **{name: None if value is None else round(value, 4) for name, value in scores.items()},
    }


def _show_hits(found: Sequence[Hit], query: str, explained: Weights | None) -> None:
    wanted = parse_query(query).terms
    for hit in found:
        _print(_mark_text(hit, wanted))
        _print(Text(f"  {_describe_origin(hit)}", style="dim"))
        if hit.note:
            _print(Text(f"  {localize(escape(hit.note))}", style="dim"))
        if explained:
            _print(Text(f"  {localize(_explain_score(hit, explained))}", style="dim"))


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
        more = localize(f"… {pluralize(rest, 'more line')}")
        text.append(f"\n  {more}", "dim")
    return text


def _describe_origin(hit: Hit) -> str:
    place = hit.conversation or f"{hit.path.name}:{hit.line}"
    foreign = "" if hit.trust in TRUSTED else localize(f"{hit.trust}: not your own words")
    version = "" if hit.is_shown else localize("in another version")
    parts = (
        localize(hit.source),
        hit.heading,
        hit.date,
        localize(hit.speaker or ""),
        place,
        hit.id,
        foreign,
        version,
    )
    return "  ".join(escape(part) for part in parts if part)


def _explain_score(hit: Hit, weights: Weights) -> str:
    if hit.vector is None:
        return f"score {hit.score:.3f}, by words only"
    if hit.bm25 is None:
        return f"score {hit.score:.3f}, by meaning only"
    return (
        f"score {hit.score:.3f} = {weights.vector:g} x {hit.vector:.3f} meaning "
        f"+ {weights.bm25:g} x {hit.bm25:.3f} words"
    )


@click.command("eval")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--mode", type=click.Choice(MODES), help="Search mode (hybrid if possible).")
@click.option(
    "--hits", type=click.Path(dir_okay=False), help="Write the results to this file as JSON Lines."
)
@as_json
@pass_workspace
def evaluate(
    workspace: Workspace, file: str, mode: str | None, hits: str | None, *, as_json: bool
) -> None:
    """Measure search quality on the documents and questions in FILE.

    Your own memory is not touched. Results are neither cut at the relevance floor nor
    deduplicated.
    """
    embedder = find_embedder(workspace.settings)
    chosen = mode or ("hybrid" if embedder else "lexical")
    if chosen != "lexical" and embedder is None:
        message = f"--mode {chosen} needs an embedding model; turnleaf doctor shows how to get one"
        raise NotFound(message)
    scopes = parse_scopes(decode(atomic.read(atomic.resolve(file)) or b"", file), file)
    answers: list[QueryResult] = []
    with show_progress("searching") as tell, show_progress("embedding") as tell_embedded:
        for done, scope in enumerate(scopes):
            tell(done, len(scopes))
            answers += run_queries(
                scope, chosen, embedder, read_weights(workspace.settings), tell_embedded
            )
    if hits:
        lines = (json.dumps({"qid": one.qid, "ranked": one.ranked}) for one in answers)
        atomic.write(atomic.resolve(hits), "".join(f"{line}\n" for line in lines).encode())
    _report(chosen, answers, as_json=as_json)


def _report(mode: str, answers: Sequence[QueryResult], *, as_json: bool) -> None:
    means = asdict(average([answer.figures for answer in answers]))
    milliseconds = [1000 * answer.seconds for answer in answers]
    latency = {f"p{share}": find_percentile(milliseconds, share / 100) for share in (50, 95)}
    say_result(
        {"mode": mode, "queries": len(answers), **means, "latency_ms": latency},
        f"{len(answers):,} queries, {mode}",
        *(f"  {name.replace('_', '@'):<10}{100 * value:6.1f} %" for name, value in means.items()),
        *(f"  {name:<10}{value:6.1f} ms" for name, value in latency.items()),
        as_json=as_json,
    )
