"""However it came about, an index gives the answers of one that is made from the files now."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import brief
from turnleaf.core.search.ranking import Hit
from turnleaf.store.files.index.index import Index
from turnleaf.store.files.index.writing import read_signature

WORDS = (
    *(
        "green tea",
        "black coffee",
        "running late",
        "the café in Lisbon",
        "R&D",
        "3月1日",
        "emoji 🙂",
    ),
    *(
        "使用者喜歡烏龍茶",
        "客廳的燈",
        "咖啡",
        "茶",
        "用Python寫程式",
        "台北到東京",
        "ﾃｽﾄ full-width Ａ",
    ),
)
QUERIES = (
    *("tea", "green tea in Lisbon", "run", "cafe", "March 1", "🙂"),
    *("茶", "客厅的灯", "使用者喜歡什麼茶", "テスト", "late 咖啡 tea"),
)
PAGES = ("MEMORY.md", "notes.md", "deep/more.md")
DAYS = ("2026-03-01.md", "2026-03-02.md")

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)
page_lines = st.one_of(
    texts.map("- {}".format),
    texts.map("- {} <!-- turnleaf id=x created=2026-03-01T08:30:00.000Z -->".format),
    texts,
    st.sampled_from(["", "", "# Title", "## 家", "## Work", "- same tea", "- same tea"]),
)
pages = st.lists(page_lines, max_size=8).map("\n".join)

Edit = Callable[[Path], None]


def put(name: str, text: str) -> Edit:
    def edit(folder: Path) -> None:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")

    return edit


def delete(name: str) -> Edit:
    return lambda folder: (folder / name).unlink(missing_ok=True)


def move(name: str, other: str) -> Edit:
    def edit(folder: Path) -> None:
        if (folder / name).exists():
            (folder / other).parent.mkdir(exist_ok=True)
            (folder / name).replace(folder / other)

    return edit


def touch(name: str, moment: int) -> Edit:
    def edit(folder: Path) -> None:
        if (folder / name).exists():
            os.utime(folder / name, (moment, moment))

    return edit


named_pages = st.sampled_from(PAGES + DAYS)
edits = st.one_of(
    st.builds(put, named_pages, pages),
    st.builds(put, named_pages, pages),
    st.builds(delete, named_pages),
    st.builds(move, named_pages, named_pages),
    st.builds(touch, named_pages, st.sampled_from([1_000_000_000, 1_200_000_000])),
)


def answers(index: Index) -> list[list[Hit]]:
    """Everything an index can be asked here, in every way that changes what it answers."""
    found = [index.search(query) for query in QUERIES]
    found += [index.search(query, 100, floor=False) for query in QUERIES]
    found += [index.search("tea 茶", source=source) for source in ("memory", "daily")]
    found.append(index.search("tea 茶", 100, since="2026-03-01", floor=False))
    return found


@given(st.lists(st.tuples(edits, st.booleans()), min_size=1, max_size=12))
@brief
def test_any_edits_lead_to_the_answers_of_a_new_index(steps: list[tuple[Edit, bool]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "notes")
        folder.mkdir()
        index = Index(Path(place, "index.db"), [folder])
        for edit, is_synced in steps:
            edit(folder)
            if is_synced:
                index.sync()
        found = answers(index)
        assert found == answers(Index(Path(place, "new.db"), [folder]))
        for suffix in ("", "-wal", "-shm"):
            Path(place, f"index.db{suffix}").unlink()
        assert answers(index) == found
        index.rebuild()
        assert answers(index) == found


@pytest.mark.parametrize("is_one_text", [True, False])
def test_equal_scores_come_in_the_same_order_however_many(
    tmp_path: Path, *, is_one_text: bool
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    index = Index(tmp_path / "index.db", [folder])
    chance = random.Random(7)
    names = [f"{number}.md" for number in range(10)]
    for name in [*chance.sample(names, 10), *chance.sample(names, 5)]:
        numbers = chance.sample(range(10, 99), 40)
        lines = ["- tea 茶" if is_one_text else f"- tea {name[0]}x{number}" for number in numbers]
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
        index.sync()
    new = Index(tmp_path / "new.db", [folder])
    for options in ({"floor": False}, {"floor": True}, {"floor": False, "source": "memory"}):
        found = index.search("tea", 100, **options)
        assert found == new.search("tea", 100, **options)
    assert len(index.search("tea", 100, floor=False)) == 100


def test_changes_within_one_tick_of_the_clock_are_seen(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    index = Index(tmp_path / "index.db", [path])
    for number in range(300):
        # The same inode, size and time of change: only the content tells.
        with path.open("w", encoding="utf-8") as file:
            file.write(f"- tea number{number:04}\n")
        os.utime(path, (1_000_000_000, 1_000_000_000))
        assert [hit.text for hit in index.search(f"number{number:04}")] == [
            f"tea number{number:04}"
        ]


def test_a_file_that_was_changed_just_now_is_not_known_by_its_looks(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    # A slow machine may take too long over one of them.
    looks = {path.write_bytes(b"- tea\n") and read_signature(str(path)) for _ in range(100)}
    assert "" in looks
    assert read_signature(__file__)
    assert read_signature(str(tmp_path / "missing.md")) is None


def test_an_edit_back_and_forth_changes_no_score(tmp_path: Path) -> None:
    path = tmp_path / "MEMORY.md"
    first = "- green tea\n- black coffee\n- 烏龍茶\n"
    path.write_text(first, encoding="utf-8")
    index = Index(tmp_path / "index.db", [path])
    found = answers(index)
    for number in range(200):
        path.write_text(f"{first}- tea 茶 {number}\n" * (1 + number % 3), encoding="utf-8")
        index.sync()
    path.write_text(first, encoding="utf-8")
    assert answers(index) == found
