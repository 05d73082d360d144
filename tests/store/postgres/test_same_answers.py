"""A search in a database gives the answers that a search in files gives."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.effort import sample
from tests.postgres import empty_database
from turnleaf.core.messages import Message
from turnleaf.core.search.ranking import Weights
from turnleaf.llm.embeddings import LocalEmbedder
from turnleaf.store.contracts import Stores

DATA = Path(__file__).parents[2] / "data" / "bilingual.json"
SCOPES: list[dict[str, Any]] = json.loads(DATA.read_text("utf-8"))["scopes"]
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
QUESTIONS = [
    (scope, query["text"])
    for scope in range(len(SCOPES))
    for query in sample(SCOPES[scope]["queries"], 40)
]


def fill(stores: Stores, docs: list[dict[str, Any]]) -> Stores:
    """Store what can be found, some of it side by side, in chats and in the memory."""
    for number, doc in enumerate(docs):
        said_at = START + timedelta(hours=number // 3, minutes=number % 3)
        stores.conversations.add_messages(
            f"cli:{number % 2}", [Message("user", doc["text"], said_at)]
        )
    for doc in docs[::7]:
        stores.facts.add(doc["text"])
    stores.passages.use_embedder(LocalEmbedder(), Weights())
    stores.passages.embed()
    return stores


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[Stores, Stores]]]:
    address, opened = empty_database(), list[tuple[Stores, Stores]]()
    for number, scope in enumerate(SCOPES):
        folder = tmp_path_factory.mktemp("files")
        pair = Stores.open(folder), Stores.open(address, space=f"scope{number}")
        opened.append((fill(pair[0], scope["docs"]), fill(pair[1], scope["docs"])))
    yield opened
    for files, database in opened:
        files.close()
        database.close()


def ask(stores: Stores, question: str, mode: str) -> list[tuple[str, str, float]]:
    found = stores.passages.search(question, 10, mode=mode)
    return [(one.source, one.text, round(one.score, 2)) for one in found]


def test_words_find_the_same_in_the_same_order_and_with_meaning_nearly_the_same(
    both: list[tuple[Stores, Stores]],
) -> None:
    """Files keep a vector in bytes, the database in floats: the last digits differ."""
    same = 0
    for scope, question in QUESTIONS:
        files, database = both[scope]
        assert ask(database, question, "lexical") == ask(files, question, "lexical"), question
        first, second = (
            {hit[:2] for hit in ask(one, question, "hybrid")[:5]} for one in both[scope]
        )
        same += first == second
    assert same >= 0.97 * len(QUESTIONS)
