"""Searching by meaning: whose vectors are kept, when they count, and what happens without them."""

from __future__ import annotations

import json
import logging
import sys
import zlib
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.meanings import DIMENSION, FACTS, Ailing, Meanings, weigh
from tests.scores import require
from turnleaf.core.search.ranking import Hit, Weights
from turnleaf.core.search.vectors import SENTENCES, pack
from turnleaf.errors import EmbeddingError
from turnleaf.llm.embeddings import use_settings
from turnleaf.settings import DataFolder, Settings
from turnleaf.store.contracts import Stores
from turnleaf.store.files.index.database import connect
from turnleaf.store.files.index.index import TEXTS_PER_SEARCH, Index
from turnleaf.store.files.index.vectors import PER_BLOCK, SCALE_BYTES


class English(Meanings):
    """A model that takes all Chinese for the same."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return super().embed([text if text.isascii() else "?" for text in texts])


class Constant(Meanings):
    """A model to which everything is the same."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return super().embed(["?" for _ in texts])


class Noise(Meanings):
    """A model whose vectors mean nothing."""

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [
            pack([zlib.crc32(f"{text}{number}".encode()) - 2**31 for number in range(DIMENSION)])
            for text in texts
        ]


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return write(tmp_path / "MEMORY.md", FACTS)


def write(path: Path, facts: Sequence[str]) -> Path:
    path.write_text("".join(f"- {fact}\n" for fact in facts), encoding="utf-8")
    return path


def list_texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.text for hit in hits]


def rows(index: Index, query: str) -> list[Any]:
    """Look into the databases themselves."""
    index.close()
    database = connect(index.location)
    found = database.execute(query).fetchall()
    database.close()
    return found


STRAY = "SELECT count(*) FROM slots WHERE meaning NOT IN (SELECT meaning FROM passages)"
LENGTHS = (
    f"SELECT length(vectors) / {PER_BLOCK} - {SCALE_BYTES}, count(*) "  # noqa: S608 - of constants
    "FROM blocks, slots"
)
BARE = "SELECT count(*) FROM passages WHERE meaning NOT IN (SELECT meaning FROM slots)"
COUNT = "SELECT count(*) FROM slots"


# Both sides together.


def test_what_means_something_else_stays_below_the_floor(memory: Path) -> None:
    index = Index(memory.with_name("index.db"), [memory], Meanings())
    index.embed()
    assert FACTS[2] not in list_texts(index.search("beverage"))
    assert FACTS[2] in list_texts(index.search("beverage", floor=False))


def test_sources_and_days_narrow_meanings_too(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    write(folder / "MEMORY.md", ["I enjoy tea"])
    for day in ("2026-03-01", "2026-03-02"):
        write(folder / f"{day}.md", [f"coffee at {day[-1]}"])
    index = Index(tmp_path / "index.db", [folder], Meanings())
    index.embed()
    assert len(index.search("beverage")) == 3
    assert list_texts(index.search("beverage", source="memory")) == ["I enjoy tea"]
    assert list_texts(index.search("beverage", since="2026-03-02")) == ["coffee at 2"]


def test_a_long_text_is_found_by_any_of_its_parts(tmp_path: Path) -> None:
    parts = ["We talked about nothing at all. " * 30, "At last came a cat. ", "So it went. " * 60]
    memory = write(tmp_path / "MEMORY.md", ["".join(parts), "the office is far"])
    index = Index(tmp_path / "index.db", [memory], Meanings())
    index.embed()
    assert rows(index, COUNT)[0][0] > 3
    assert list_texts(index.search("animal"))[0].startswith("We talked")


def test_weights_are_what_they_are_set_to(memory: Path) -> None:
    weights = Weights(vector=0.1, bm25=0.9)
    index = Index(memory.with_name("index.db"), [memory], Meanings(), weights=weights)
    index.embed()
    for hit in index.search("green beverage", floor=False):
        assert hit.score == pytest.approx(
            0.1 * require(hit.vector) + 0.9 * require(hit.bm25), abs=1e-12
        )


@pytest.mark.parametrize(
    ("weights", "side"), [(Weights.of(1, 0.3), "vector"), (Weights.of(0.7, 1), "bm25")]
)
def test_a_side_that_counts_in_full_is_the_order(memory: Path, weights: Weights, side: str) -> None:
    index = Index(memory.with_name("index.db"), [memory], Meanings(), weights=weights)
    index.embed()
    hits = index.search("green beverage for my cat", floor=False)
    numbers = [getattr(hit, side) for hit in hits]
    assert [hit.score for hit in hits] == numbers == sorted(numbers, reverse=True)
    assert len(set(numbers)) > 1


@pytest.mark.parametrize("fact", FACTS)
def test_an_exact_match_fits_by_its_words_and_by_its_meaning(memory: Path, fact: str) -> None:
    index = Index(memory.with_name("index.db"), [memory], Meanings())
    index.embed()
    hit = index.search(fact)[0]
    assert hit.text == fact
    assert require(hit.bm25) > 0.75
    assert require(hit.vector) > 0.95
    assert hit.score == 0.7 * require(hit.vector) + 0.3 * require(hit.bm25)


@pytest.mark.parametrize("query", ["far", "asleep", "一隻"])
def test_a_word_that_a_fact_holds_is_judged_by_words_alone_where_its_meaning_is_unknown(
    memory: Path, query: str
) -> None:
    index = Index(memory.with_name("index.db"), [memory], Meanings())
    index.embed()
    hit = index.search(query)[0]
    assert query in hit.text
    assert (hit.vector, hit.score) == (None, hit.bm25)
    assert require(hit.bm25) > 0.5
    assert index.search(query, mode="vector", floor=False)[0].vector is not None


def test_what_has_no_vector_yet_counts_by_its_words_alone_and_says_so(memory: Path) -> None:
    index = Index(memory.with_name("index.db"), [memory], Meanings())
    index.embed()
    many = [f"dish {number}" for number in range(TEXTS_PER_SEARCH)]
    write(memory, [*FACTS, *many, "a dog in the office"])
    found = {hit.text: hit for hit in index.search("office dog", floor=False)}
    hit = found["a dog in the office"]
    assert (hit.vector, hit.score) == (None, hit.bm25)
    assert found["the office is far"].vector is not None


def test_a_few_new_texts_get_their_vectors_within_a_search(memory: Path) -> None:
    model = Meanings()
    index = Index(memory.with_name("index.db"), [memory], model)
    index.embed()
    write(memory, [*FACTS, "a dog in the office"])
    hit = index.search("office dog", floor=False)[0]
    assert hit.text == "a dog in the office"
    assert hit.score == 0.7 * require(hit.vector) + 0.3 * require(hit.bm25)
    assert index.missing_vectors() == 0
    model.asked.clear()
    index.search("office dog")
    assert model.asked == ["office dog"]


def test_the_words_of_a_hit_are_the_same_however_it_was_found(memory: Path) -> None:
    index = Index(memory.with_name("index.db"), [memory], Meanings())
    words = {hit.text: hit.bm25 for hit in index.search("green office tea", floor=False)}
    index.embed()
    both = {hit.text: hit.bm25 for hit in index.search("green office tea", floor=False)}
    assert set(words) < set(both)
    assert both == dict.fromkeys(both, 0.0) | words


class VectorsHandler(BaseHTTPRequestHandler):
    """Vectors as an endpoint gives them."""

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        texts = [texts] if isinstance(texts, str) else texts
        data = [{"index": at, "embedding": weigh(text)} for at, text in enumerate(texts)]
        body = json.dumps({"data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), VectorsHandler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_settings_say_the_weights_and_the_endpoint(tmp_path: Path, endpoint: str) -> None:
    settings = Settings(
        embeddings_url=endpoint,
        embeddings_model="meanings",
        search_vector_weight=0.4,
        search_bm25_weight=0.6,
    )
    folder = DataFolder(tmp_path, "it is a test")
    location = folder.memory(settings)
    location.parent.mkdir(parents=True)
    write(location, FACTS)
    index = Stores.open(folder).passages
    use_settings(index, settings)
    assert index.embed() == len(FACTS)
    hits = index.search("green beverage")
    assert require(hits[0].vector) > 0.0
    for hit in hits:
        assert hit.score == pytest.approx(
            0.4 * require(hit.vector) + 0.6 * require(hit.bm25), abs=1e-12
        )


# Whose vectors are kept.


def test_a_text_gets_its_vector_once(memory: Path) -> None:
    model = Meanings()
    index = Index(memory.with_name("index.db"), [memory], model)
    told: list[tuple[int, int]] = []
    assert index.missing_vectors() == len(FACTS)
    assert index.embed(lambda done, of: told.append((done, of))) == len(FACTS)
    assert told == [(len(FACTS), len(FACTS))]
    write(memory, [*reversed(FACTS), "my dog barks", FACTS[0]])
    assert index.missing_vectors() == 1
    assert index.embed() == 1
    assert sorted(model.asked) == sorted([*SENTENCES, *FACTS, "my dog barks"])


def test_no_vector_of_a_deleted_text_remains(memory: Path) -> None:
    index = Index(memory.with_name("index.db"), [memory], Meanings())
    index.embed()
    write(memory, [FACTS[0], FACTS[0], "a new dog"])
    index.sync()
    assert rows(index, STRAY) == [(0,)]
    assert rows(index, COUNT) == [(1,)]
    write(memory, ["a new dog"])
    index.embed()
    assert rows(index, COUNT) == [(1,)]
    memory.unlink()
    index.sync()
    assert rows(index, COUNT) == [(0,)]


def test_the_vector_of_a_text_that_still_stands_elsewhere_remains(memory: Path) -> None:
    other = write(memory.with_name("other.md"), FACTS)
    index = Index(memory.with_name("index.db"), [memory, other], Meanings())
    index.embed()
    memory.unlink()
    assert index.missing_vectors() == 0
    assert FACTS[0] in list_texts(index.search("beverage"))


def test_a_text_that_is_deleted_while_it_is_embedded_leaves_no_vector(memory: Path) -> None:
    class ChangingMeanings(Meanings):
        def embed(self, texts: Sequence[str]) -> list[bytes]:
            if FACTS[0] in texts:
                write(memory, FACTS[1:])
            return super().embed(texts)

    index = Index(memory.with_name("index.db"), [memory], ChangingMeanings())
    index.embed()
    assert rows(index, STRAY) == [(0,)]
    assert rows(index, BARE) == [(0,)]


@pytest.mark.parametrize("name", ["other", "meanings"])
def test_another_model_never_mixes_with_the_first(memory: Path, name: str) -> None:
    location = memory.with_name("index.db")
    first = Index(location, [memory], Meanings())
    first.embed()
    first.close()
    other = Meanings(name, dimension=128)
    index = Index(location, [memory], other)
    assert list_texts(index.search("green tea"))[0] == FACTS[0]
    index.embed()
    assert rows(index, LENGTHS) == [(128, len(FACTS))]
    assert FACTS[3] in list_texts(index.search("beverage"))


def test_a_model_of_the_same_size_is_not_compared_with_the_first(memory: Path) -> None:
    location = memory.with_name("index.db")
    first = Index(location, [memory], Meanings())
    first.embed()
    other = Index(location, [memory], Meanings("other"))
    assert other.search("beverage") == []
    assert other.missing_vectors() == len(FACTS)
    assert rows(other, COUNT) == [(0,)]
    other.embed()
    assert rows(other, "SELECT name FROM model") == [("other",)]
    assert FACTS[0] in list_texts(other.search("beverage"))
    assert first.search("beverage") == []


# When a model is away, or no good.


def test_what_was_embedded_before_a_failure_stays(tmp_path: Path) -> None:
    memory = write(tmp_path / "MEMORY.md", [f"fact 茶 {number}" for number in range(150)])
    model = Ailing(calls_left=2)
    index = Index(tmp_path / "index.db", [memory], model)
    with pytest.raises(EmbeddingError, match="the model is away"):
        index.embed()
    assert index.missing_vectors() == 150 - 64
    model.calls_left = 0
    assert list_texts(index.search("fact 149", mode="lexical")) != []
    model.calls_left = 10
    assert index.embed() == 150 - 64
    assert len(model.asked) == len(SENTENCES) + 150
    assert rows(index, BARE) == [(0,)]


def test_a_model_that_fails_at_once_leaves_the_words(memory: Path) -> None:
    index = Index(memory.with_name("index.db"), [memory], Ailing(calls_left=0))
    with pytest.raises(EmbeddingError):
        index.embed()
    assert list_texts(index.search("tea")) == [FACTS[0]]


def test_a_query_without_the_model_goes_by_words_and_says_so_once(
    memory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    model = Ailing()
    index = Index(memory.with_name("index.db"), [memory], model)
    index.embed()
    plain = Index(memory.with_name("plain.db"), [memory])
    model.calls_left = 0
    with caplog.at_level(logging.WARNING, "turnleaf"):
        for query in ("green tea", "貓", "beverage"):
            assert index.search(query) == plain.search(query)
    (warning,) = caplog.messages
    assert "words only" in warning
    assert "the model is away; start it" in warning
    model.calls_left = 10
    index.search("green tea")
    assert model.calls_left == 10, "it rests before it is asked again"


def test_embedding_may_be_stopped_at_any_batch(tmp_path: Path) -> None:
    memory = write(tmp_path / "MEMORY.md", [f"fact {number}" for number in range(150)])
    index = Index(tmp_path / "index.db", [memory], Meanings())
    assert index.embed(seconds=0.0) == 64
    assert index.missing_vectors() == 150 - 64

    def stop(done: int, _of: int) -> None:
        if done >= 64:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        index.embed(stop)
    assert index.missing_vectors() == 150 - 128


@pytest.mark.parametrize("model", [Constant("constant"), Noise("noise")])
def test_a_model_that_tells_nothing_apart_is_not_used(
    memory: Path, model: Meanings, caplog: pytest.LogCaptureFixture
) -> None:
    index = Index(memory.with_name("index.db"), [memory], model)
    assert index.embed() == 0
    assert f"{model.name} does not distinguish meanings" in caplog.text
    assert index.missing_vectors() == 0
    assert [hit.vector for hit in index.search("green tea office", floor=False)] == [None, None]
    assert rows(index, COUNT) == [(0,)]


def test_a_model_is_not_used_for_a_script_that_it_does_not_know(memory: Path) -> None:
    index = Index(memory.with_name("index.db"), [memory], English())
    index.embed()
    assert FACTS[0] in list_texts(index.search("beverage"))
    assert index.search("飲料") == []
    assert [(hit.text, hit.vector) for hit in index.search("咖啡")] == [(FACTS[3], None)]


def test_without_numpy_the_words_decide(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numpy", None)
    model = Meanings()
    index = Index(memory.with_name("index.db"), [memory], model)
    assert not index.has_embedder
    assert (index.embed(), index.missing_vectors(), model.asked) == (0, 0, [])
    assert [(hit.text, hit.vector) for hit in index.search("tea")] == [(FACTS[0], None)]
    assert index.search("飲料") == []


def test_an_index_with_vectors_can_be_read_without_numpy(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = Index(memory.with_name("index.db"), [memory], Meanings())
    index.embed()
    index.close()
    with monkeypatch.context() as hidden:
        hidden.setitem(sys.modules, "numpy", None)
        without = Index(index.location, [memory], Meanings())
        write(memory, FACTS[1:])
        assert list_texts(without.search("cat")) == [FACTS[1]]
        without.close()
    assert rows(index, STRAY) == [(0,)]
    assert index.missing_vectors() == 0


def test_a_rebuilt_index_with_new_vectors_gives_the_same_answers(tmp_path: Path) -> None:
    memory = tmp_path / "MEMORY.md"
    index = Index(tmp_path / "index.db", [memory], Meanings())
    for count in (3, 5, 2, 5):
        write(memory, [*FACTS[:count], *FACTS[count::-1]])
        index.embed()
    queries = ("beverage", "寵物", "green tea", "我的工作")
    before = [index.search(query, 100, floor=False) for query in queries]
    index.rebuild()
    index.embed()
    assert [index.search(query, 100, floor=False) for query in queries] == before
