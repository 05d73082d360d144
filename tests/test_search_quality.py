"""How well the search finds what it should, on our own questions in Chinese and English.

The floors are a few points below what was reached, so that a change for the worse is noticed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from turnleaf.evaluation import Documents, Figures, average, judge_ranking
from turnleaf.llm.embeddings import LocalEmbedder
from turnleaf.store.files.index.index import Index

DATA = Path(__file__).parent / "data" / "bilingual.json"
SCOPES: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))["scopes"]
QUERIES = [(place, query) for place, scope in enumerate(SCOPES) for query in scope["queries"]]

LEXICAL = {"all": 0.65, "keyword": 0.94, "question": 0.95, "date": 0.85}
HYBRID = {
    "all": 0.87,
    "keyword": 0.95,
    "question": 0.95,
    "date": 0.85,
    "paraphrase": 0.64,
    "cross-language": 0.78,
}


@pytest.fixture(scope="module")
def indexes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Index]]:
    made = []
    for scope in SCOPES:
        folder = tmp_path_factory.mktemp("scope")
        (folder / "documents.json").write_text(json.dumps(scope["docs"]), "utf-8")
        documents = Documents(folder / "documents.json")
        made.append(Index(folder / "index.db", [documents], LocalEmbedder()))
    for index in made:
        index.embed()
    yield made
    for index in made:
        index.close()


def recall(indexes: list[Index], mode: str) -> dict[str, float]:
    """Return how much is found, by category and as a whole."""
    figures = defaultdict[str, list[Figures]](list)
    for place, query in QUERIES:
        found = indexes[place].search(query["text"], 100, mode=mode, floor=False)
        figure = judge_ranking([hit.id or "" for hit in found], query["gold"])
        figures[query["cat"]].append(figure)
        figures["all"].append(figure)
    return {category: average(each).recall_5 for category, each in figures.items()}


def test_words_find_what_they_stand_in_and_with_meaning_more(indexes: list[Index]) -> None:
    lexical, hybrid = (recall(indexes, mode) for mode in ("lexical", "hybrid"))
    assert {one: lexical[one] for one, least in LEXICAL.items() if lexical[one] < least} == {}
    assert {one: hybrid[one] for one, least in HYBRID.items() if hybrid[one] < least} == {}
    assert hybrid["all"] >= lexical["all"]


def test_most_questions_about_somebody_else_find_nothing(indexes: list[Index]) -> None:
    """Each asks the other scope, which knows nothing of it."""
    asked = [(place, query) for place, query in QUERIES if query["cat"] != "date"]
    empty = sum(not indexes[1 - place].search(query["text"]) for place, query in asked)
    assert empty >= 0.7 * len(asked)


def test_the_floor_keeps_what_was_asked_for_in_its_own_words(indexes: list[Index]) -> None:
    for category, least in (("keyword", 0.98), ("question", 0.95), ("date", 0.95)):
        asked = [(place, query) for place, query in QUERIES if query["cat"] == category]
        found = sum(
            not {hit.id for hit in indexes[place].search(query["text"])}.isdisjoint(query["gold"])
            for place, query in asked
        )
        assert found >= least * len(asked), category
