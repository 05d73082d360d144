"""Whatever is asked and whatever lies in the folder, nothing breaks and the rest is found."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.effort import LONG
from tests.strategies import brief
from turnleaf.core.search.terms import parse_query
from turnleaf.store.files.index.index import Index
from turnleaf.store.files.sources import Files

SYNTAX = (
    *('"', "'", "AND", "OR", "NOT", "NEAR(", "NEAR(tea coffee, 2)", "*", "-", "+", ":", "^", "("),
    *(
        ")",
        "{",
        "}",
        "own:",
        "context:",
        "own : tea",
        "rank",
        "rowid:1",
        "words",
        ",",
        "\\",
        "tea*",
    ),
    *('"tea" OR', '""', "';--", "%", "_", "?1", "@x", "$y", ":z", "`", "[tea]", "<b>", "&amp;"),
)
STRANGE = (
    *("\0", "\ud800", "\udfff", "\u200b", "\u202e", "\ufeff", "\uffff", "\U0010ffff", "\x1b[31m"),
    *("🙂", "👩‍👩‍👧", "🇹🇼", "e\u0301", "a" + "\u0301" * 50, "שלום", "مرحبا", "हिन्दी", "ไทย"),
    *("\n", "\t", "\r", "\u3000", "ﬁ", "Ⅷ", "²", "ß", "İ", "ſ", "ﷺ", "𝔱𝔢𝔞", "ｔｅａ", "1" * 500),
)
PLAIN = (
    *("tea", "coffee", "running", "kettle", "Lisbon", "March 1", "2026-03-01", "what", "is", "the"),
    *(
        "茶",
        "客廳",
        "咖啡",
        "使用者喜歡什麼",
        "テスト",
        "한국어",
        "用Python寫",
        "燈",
        "3月1日",
        "的",
    ),
)
MOST_TERMS = 1024


def corpus() -> Iterator[str]:
    chance = random.Random(1)
    for number in range(60):
        yield " ".join(chance.choices(PLAIN + STRANGE[8:], k=6)).replace("\0", "") + f" n{number}"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("hostile")
    facts = (" ".join(text.split()) for text in corpus())
    text = "".join(f"- {fact}\n" for fact in facts)
    (folder / "MEMORY.md").write_text(text, encoding="utf-8")
    index = Index(folder / "index.db", [folder / "MEMORY.md"])
    yield index
    index.close()


def queries(count: int, seed: int) -> Iterator[str]:
    chance = random.Random(seed)
    for _ in range(count):
        kind = chance.randrange(4)
        if kind == 0:
            yield "".join(chr(chance.randrange(0x110000)) for _ in range(chance.randrange(40)))
        elif kind == 1:
            yield "".join(chance.choices(SYNTAX + PLAIN + STRANGE, k=chance.randrange(12)))
        else:
            yield " ".join(chance.choices(SYNTAX + PLAIN + STRANGE, k=chance.randrange(12)))


def test_thousands_of_hostile_queries(index: Index) -> None:
    found, count = 0, 100_000 if LONG else 1_000
    for query in queries(count, seed=2):
        assert len(parse_query(query).terms) <= MOST_TERMS
        found += bool(index.search(query, 3))
    assert found > count // 10


@pytest.mark.parametrize(
    "unit",
    ["tea ", "茶", "a b c d ", '"', "\0", "🙂", "\u0301", "x", "AND ", "\ud800", "(", "שלום "],
)
def test_a_megabyte_is_asked(index: Index, unit: str) -> None:
    query = unit * (2**20 // len(unit))
    assert len(parse_query(query).terms) <= MOST_TERMS
    index.search(query)


def test_many_different_words_are_asked(index: Index) -> None:
    for query in (
        " ".join(f"word{number}" for number in range(20_000)),
        "".join(map(chr, range(0x4E00, 0x9FFF))),
        " ".join(PLAIN * 100),
    ):
        assert 1 <= len(parse_query(query).terms) <= MOST_TERMS
        index.search(query)


def test_syntax_is_only_text(index: Index) -> None:
    alone = {hit.text for hit in index.search("kettle", 100, floor=False)}
    for query in ('"kettle"', "kettle*", "(kettle", "kettle:", "-kettle", "^kettle", "kettle'"):
        assert {hit.text for hit in index.search(query, 100, floor=False)} == alone
    assert index.search("ket*") == []


def test_every_text_is_found_by_its_own_words(index: Index) -> None:
    for text in corpus():
        fact = " ".join(text.split())
        assert fact in [hit.text for hit in index.search(fact)]


@given(st.lists(st.text(max_size=30), min_size=1, max_size=8))
@brief
def test_any_text_with_a_letter_is_found_by_its_own_words(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    path = tmp_path_factory.mktemp("any") / "a.md"
    data = "\n\n".join(texts).replace("\0", "").encode("utf-8", "replace")
    path.write_bytes(data)
    index = Index(path.with_name("index.db"), [path])
    _, passages = Files(path).cut(path, data)
    for passage in passages:
        if any(char.isalnum() for char in passage.text):
            assert passage.text in [hit.text for hit in index.search(passage.text, 100)]
    index.close()


# What may lie in the folder.

PARAGRAPH = "The kettle is on and the tea is nearly ready, 茶快泡好了. " * 30 + "\n\n"


def hostile_contents() -> Iterator[bytes]:
    yield bytes(5_000_000)
    yield random.Random(3).randbytes(3_000_000)
    yield "綠茶 tea\n".encode("utf-16") * 10_000
    yield "綠茶".encode("utf-16")
    yield b"\n" * 100_000
    yield b"word " * 1_000_000
    yield b"- " + b"word " * 1_000_000
    yield b"\xff\xfe\xfd" * 1000
    yield b"- " * 20_000
    yield b"#" * 100_000
    yield b"> " * 5_000 + b"deep"
    yield b"```\n" + b"- x\n" * 50_000
    yield b"<!-- " * 50_000
    yield b"[" * 50_000
    yield b"\r" * 50_000
    yield b"{" * 10_000
    yield "\u0301".encode() * 50_000


@pytest.mark.parametrize("name", ["x.md", "2026-03-01.md"])
def test_strange_files_do_no_harm(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- a zebra\n- 烏龍茶\n", encoding="utf-8")
    index = Index(tmp_path / "index.db", [folder])
    for data in hostile_contents():
        (folder / name).write_bytes(data)
        assert [hit.text for hit in index.search("zebra")] == ["a zebra"]
        assert [hit.text for hit in index.search("烏龍茶")] == ["烏龍茶"]


def test_a_strange_json_file_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "MEMORY.md").write_text("- a zebra\n", encoding="utf-8")
    path = tmp_path / "memories.json"
    index = Index(tmp_path / "index.db", [tmp_path / "MEMORY.md", path])
    for data in (b"[" * 100_000, b"{}", b"null", b'[{"id": 1}]', b"\xff", b"", b'["a zebra"]'):
        path.write_bytes(data)
        assert "a zebra" in [hit.text for hit in index.search("zebra")]


def test_many_megabytes_of_markdown(tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "MEMORY.md").write_text("- a zebra\n", encoding="utf-8")
    count = (50 if LONG else 2) * 2**20 // len(PARAGRAPH.encode())
    parts = ["# First\n\nthe walrus\n\n", *[PARAGRAPH] * count, "# Last\n\nthe 海象\n"]
    (folder / "big.md").write_text("".join(parts), encoding="utf-8")
    index = Index(tmp_path / "index.db", [folder])
    assert [hit.text for hit in index.search("zebra")] == ["a zebra"]
    assert [hit.heading for hit in index.search("walrus")] == ["First"]
    assert [hit.heading for hit in index.search("海象")] == ["Last"]
    (folder / "big.md").unlink()
    assert index.search("walrus") == []
