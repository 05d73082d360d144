"""`eval`: measures the search on a file of documents and questions."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from turnleaf.core.evaluation import Figures, judged, mean, percentile
from turnleaf.core.passages import Passage
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.faces.cli.arguments import as_json, decoded
from turnleaf.faces.cli.output import say, say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.faces.cli.progress import progress
from turnleaf.llm.embeddings import find_embedder
from turnleaf.search import weights
from turnleaf.store import files
from turnleaf.store.index import MAX_LIMIT, MODES, Index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turnleaf.core.ranking import Weights
    from turnleaf.core.vectors import Embedder

SHAPE = (
    'it needs {"scopes": [{"docs": [{"id", "text", "parent", "date"}], '
    '"queries": [{"qid", "text", "gold"}]}]}; docs/search.md describes it'
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the search gave for a query, how good that was, and how long it took."""

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
@pass_place
def evaluate(place: Place, file: str, mode: str | None, hits: str | None, *, as_json: bool) -> None:
    """Measure the search on the documents and questions in FILE.

    Your own memories are not touched. What is found is not filtered: neither the floor nor the
    removal of duplicates is at work.
    """
    embedder = find_embedder(place.settings)
    chosen = mode or ("hybrid" if embedder else "lexical")
    if chosen != "lexical" and embedder is None:
        message = f"--mode {chosen} needs a model for vectors; turnleaf doctor says how to get one"
        raise NotFound(message)
    scopes = _scopes(file)
    answers: list[Answer] = []
    with progress("searching") as tell:
        for done, scope in enumerate(scopes):
            tell(done, len(scopes))
            answers += _answered(scope, chosen, embedder, weights(place.settings))
    if hits:
        lines = (json.dumps({"qid": one.qid, "ranked": one.ranked}) for one in answers)
        files.write(files.real(hits), "".join(f"{line}\n" for line in lines).encode())
    _report(chosen, answers, as_json=as_json)


def _scopes(file: str) -> list[dict[str, Any]]:
    text = decoded(files.read(files.real(file)) or b"", file)
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


def _answered(
    scope: dict[str, Any], mode: str, embedder: Embedder | None, shares: Weights
) -> Iterator[Answer]:
    with tempfile.TemporaryDirectory(prefix="turnleaf-eval-") as folder:
        documents = Path(folder, "documents.json")
        files.write(documents, json.dumps(scope["docs"]).encode())
        index = Index(
            Path(folder, "index.db"),
            [Documents(documents)],
            None if mode == "lexical" else embedder,
            weights=shares,
        )
        with progress("embedding") as tell:
            index.embed(tell)
        for query in scope["queries"]:
            yield _answer(index, query, mode)
        index.close()


def _answer(index: Index, query: dict[str, Any], mode: str) -> Answer:
    started = time.perf_counter()
    found = index.search(query["text"], MAX_LIMIT, mode=mode, floor=False)
    seconds = time.perf_counter() - started
    ranked = [hit.id or "" for hit in found]
    return Answer(str(query["qid"]), ranked, judged(ranked, [*map(str, query["gold"])]), seconds)


def _report(mode: str, answers: Sequence[Answer], *, as_json: bool) -> None:
    means = asdict(mean([answer.figures for answer in answers]))
    milliseconds = [1000 * answer.seconds for answer in answers]
    latency = {f"p{share}": percentile(milliseconds, share / 100) for share in (50, 95)}
    if as_json:
        say_json({"mode": mode, "queries": len(answers), **means, "latency_ms": latency})
        return
    say(f"{len(answers):,} queries, {mode}")
    for name, value in means.items():
        say(f"  {name.replace('_', '@'):<10}{100 * value:6.1f} %")
    for name, value in latency.items():
        say(f"  {name:<10}{value:6.1f} ms")
