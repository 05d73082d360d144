"""How much of a question's words passages hold, through the whole index."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.scores import require
from turnleaf.core.search.ranking import Hit
from turnleaf.store.files.index.database import connect
from turnleaf.store.files.index.index import Index, measure_typical_length

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "MEMORY.md"


def find(notes: Path, facts: list[str], query: str) -> list[Hit]:
    notes.write_text("".join(f"- {fact}\n" for fact in facts), encoding="utf-8")
    return Index(notes.with_name("index.db"), [notes]).search(query, 100, floor=False)


def test_a_note_that_is_the_question_scores_one_and_a_longer_one_less(notes: Path) -> None:
    hits = find(
        notes, ["green tea", "green tea in the office kitchen", "black coffee"], "green tea"
    )
    assert [hit.text for hit in hits] == ["green tea", "green tea in the office kitchen"]
    assert hits[0].score == hits[0].bm25 == 1.0
    assert 0.5 < hits[1].score < 1.0
    assert {hit.vector for hit in hits} == {None}


def test_a_note_with_the_rare_word_comes_before_many_with_the_common_one(notes: Path) -> None:
    facts = [f"tea on day {number}" for number in range(50)]
    hits = find(notes, [*facts, "a zebra on day 51"], "zebra tea")
    assert hits[0].text == "a zebra on day 51"
    assert require(hits[0].bm25) > 0.6
    assert require(hits[1].bm25) < 0.4


def test_a_word_that_nobody_used_makes_every_share_smaller(notes: Path) -> None:
    whole = find(notes, ["green tea", "black coffee"], "tea")[0]
    partly = find(notes, ["green tea", "black coffee"], "tea xylophone")[0]
    assert require(partly.bm25) < 0.6 * require(whole.bm25)


def test_the_end_of_a_long_chinese_question_finds(notes: Path) -> None:
    daily = "天去市場買菜然後回家煮飯給大家吃再洗碗掃地"
    asked = f"我們每{daily}" * 4 + "阿嬤的生日"
    facts = [f"第{number}{daily}" for number in range(40)]
    hits = find(notes, [*facts, "阿嬤的生日是端午節"], asked)
    assert "阿嬤的生日是端午節" in [hit.text for hit in hits]


def test_a_passage_too_long_to_be_read_is_found_by_its_last_word(notes: Path) -> None:
    hits = find(notes, ["much ado " * 7_000 + "about zebras", "nothing else"], "zebras")
    assert len(hits) == 1
    assert require(hits[0].bm25) > 0.2


def test_the_typical_length_is_that_of_the_passages() -> None:
    database = connect(None)
    assert measure_typical_length(database) == 0
    for number, (own, context) in enumerate([("a b c", "d"), ("e " * 300, "")], 1):
        row = (number, own, context)
        database.execute("INSERT INTO words (rowid, own, context) VALUES (?, ?, ?)", row)
    assert measure_typical_length(database) == (4 + 300) / 2
    database.execute("DELETE FROM words WHERE rowid = 2")
    assert measure_typical_length(database) == 4
