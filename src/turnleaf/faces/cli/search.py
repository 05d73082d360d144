"""`search` and `reindex`."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.text import Text

from turnleaf.core.marks import marks
from turnleaf.core.message_fates import note_newer
from turnleaf.core.stored_messages import TRUSTED
from turnleaf.core.terms import parse_query
from turnleaf.core.wording import counted
from turnleaf.errors import EmbeddingError, NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json, given_text
from turnleaf.faces.cli.output import complain, one_line, say, say_json, visible
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.cli.progress import progress
from turnleaf.search import open_index, weights
from turnleaf.store.index import MAX_LIMIT
from turnleaf.store.sources import KINDS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from turnleaf.core.ranking import Weights
    from turnleaf.store.index import Hit, Index

SHOWN_LINES = 6
SECONDS_AFTERWARDS = 2.0


@click.command()
@click.argument("words", metavar="QUERY...", nargs=-1, type=TEXT, required=True)
@click.option(
    "-n", "--limit", type=click.IntRange(1, MAX_LIMIT), default=10, help="How many at most (10)."
)
@click.option("-s", "--source", type=click.Choice(KINDS), help="Only from there.")
@click.option("--since", type=TEXT, metavar="YYYY-MM-DD", help="Only what is not older.")
@click.option("--explain", is_flag=True, help="Show the scores, and what they are made of.")
@as_json
@pass_place
def search(
    place: Place,
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
    query = given_text(words)
    index = open_index(place.folder, place.settings, place.conversations)
    with progress("indexing") as tell:
        index.sync(tell)
    found = note_newer(index.search(query, limit, source=source, since=since), place.memory.changes)
    if as_json:
        say_json([_record(hit) for hit in found])
    else:
        _show(found, query, weights(place.settings) if explain else None)
    if found:
        _catch_up(index)
        return
    message = f'nothing is remembered about "{one_line(query)}"; try other words'
    raise NotFound(message)


@click.command()
@click.option("--embed", is_flag=True, help="Also compute every vector that is missing.")
@as_json
@pass_place
def reindex(place: Place, *, embed: bool, as_json: bool) -> None:
    """Build the search index anew from the files.

    That is never needed: the index keeps itself up to date, and mends itself.
    """
    started = time.monotonic()
    index = open_index(place.folder, place.settings, place.conversations)
    if embed and not index.has_embedder:
        message = "there is no model for vectors; turnleaf doctor says how to get one"
        raise NotFound(message)
    with progress("indexing") as tell:
        passages = index.rebuild(tell)
    vectors = 0
    if embed:
        with progress("embedding") as tell:
            vectors = index.embed(tell)
    seconds = time.monotonic() - started
    if as_json:
        say_json({"passages": passages, "embedded": vectors, "seconds": round(seconds, 3)})
        return
    embedded = f", {counted(vectors, 'text')} embedded" if embed else ""
    say(f"{counted(passages, 'passage')} indexed{embedded} in {seconds:.1f} s")


def _catch_up(index: Index) -> None:
    """Compute some of the missing vectors, now that the answer is on the screen."""
    sys.stdout.flush()
    try:
        index.embed(seconds=SECONDS_AFTERWARDS)
    except EmbeddingError as error:
        complain(str(error))


def _record(hit: Hit) -> dict[str, Any]:
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


def _show(found: Sequence[Hit], query: str, explained: Weights | None) -> None:
    wanted = parse_query(query).terms
    for hit in found:
        _print(_text(hit, wanted))
        _print(Text(f"  {_origin(hit)}", style="dim"))
        if hit.note:
            _print(Text(f"  {visible(hit.note)}", style="dim"))
        if explained:
            _print(Text(f"  {_reason(hit, explained)}", style="dim"))


def _print(text: Text) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if sys.stdout.isatty() and not console.no_color:
        console.print(text)
    else:
        say(text.plain)


def _text(hit: Hit, wanted: Collection[str]) -> Text:
    lines = visible(hit.text).strip().split("\n")
    rest = len(lines) - SHOWN_LINES
    shown = "\n  ".join(lines[:SHOWN_LINES])
    text = Text(shown)
    for start, end in marks(shown, wanted):
        text.stylize("bold yellow", start, end)
    if rest > 0:
        text.append(f"\n  … {counted(rest, 'more line')}", "dim")
    return text


def _origin(hit: Hit) -> str:
    place = hit.conversation or f"{hit.path.name}:{hit.line}"
    foreign = "" if hit.trust in TRUSTED else f"{hit.trust}: not your own words"
    version = "" if hit.is_shown else "in another version"
    parts = (hit.source, hit.heading, hit.date, hit.speaker, place, hit.id, foreign, version)
    return "  ".join(visible(part) for part in parts if part)


def _reason(hit: Hit, weights: Weights) -> str:
    if hit.vector is None:
        return f"score {hit.score:.3f}, by words alone"
    if hit.bm25 is None:
        return f"score {hit.score:.3f}, by meaning alone"
    return (
        f"score {hit.score:.3f} = {weights.vector:g} x {hit.vector:.3f} meaning "
        f"+ {weights.bm25:g} x {hit.bm25:.3f} words"
    )
