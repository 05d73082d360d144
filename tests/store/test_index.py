"""`Index`: what is found, where it is said to stand, and what is read again after a change."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from turnleaf.core.search.passages import Passage
from turnleaf.core.search.ranking import Hit
from turnleaf.errors import InvalidInput
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.index.index import Index
from turnleaf.store.files.sources import Files

MARCH = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(frozen=True)
class CountedFiles(Files):
    """Files in a folder, with the names of those that were cut."""

    cut_files: list[str] = field(default_factory=list)

    def cut(self, path: Path, data: bytes) -> tuple[str, Sequence[Passage]]:
        self.cut_files.append(path.name)
        return Files(self.root).cut(path, data)

    def since_last(self) -> list[str]:
        names = [*self.cut_files]
        self.cut_files.clear()
        return names


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def index(tmp_path: Path, notes: Path) -> Iterator[Index]:
    index = Index(tmp_path / "index.db", [notes])
    yield index
    index.close()


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def search_texts(index: Index, query: str, **options: object) -> list[str]:
    return [hit.text for hit in index.search(query, **options)]  # type: ignore[arg-type]


def take_only(hits: list[Hit]) -> Hit:
    assert len(hits) == 1
    return hits[0]


# What is read.


def test_sync_takes_in_only_what_changed(tmp_path: Path, notes: Path) -> None:
    counted = CountedFiles(notes)
    index = Index(tmp_path / "index.db", [counted])
    write(notes / "a.md", "- green tea\n")
    write(notes / "b.md", "- 黑咖啡\n")
    assert index.sync() == 2
    assert counted.since_last() == ["a.md", "b.md"]
    assert index.sync() == 0
    write(notes / "b.md", "- 黑咖啡\n- 牛奶\n")
    assert index.sync() == 1
    assert search_texts(index, "牛奶") == ["牛奶"]
    assert counted.since_last() == ["b.md"]


def test_a_file_that_looks_the_same_is_not_even_opened(tmp_path: Path) -> None:
    # A file that was changed just now is read again, to be sure; this one is older.
    opened = []
    sys.addaudithook(lambda event, args: opened.append(args[0]) if event == "open" else None)
    index = Index(tmp_path / "index.db", [__file__])
    index.sync()
    assert opened.count(__file__) == 1
    index.sync()
    assert index.search("index")
    assert opened.count(__file__) == 1


def test_a_file_that_is_given_twice_is_taken_in_once(tmp_path: Path, notes: Path) -> None:
    path = write(notes / "a.md", "- green tea\n")
    index = Index(tmp_path / "index.db", [notes, path, str(notes)])
    assert index.sync() == 1
    assert search_texts(index, "tea", floor=False) == ["green tea"]


def test_an_edit_takes_in_only_the_new_passages(index: Index, notes: Path) -> None:
    path = write(notes / "a.md", "- one tea\n- two coffee\n- three 牛奶\n")
    assert index.sync() == 3
    write(path, "- one tea\n- two cocoa\n- three 牛奶\n")
    assert index.sync() == 1
    assert search_texts(index, "coffee") == []
    assert search_texts(index, "cocoa") == ["two cocoa"]


def test_lines_move_without_taking_anything_in(index: Index, notes: Path) -> None:
    path = write(notes / "a.md", "- green tea\n- 黑咖啡\n")
    index.sync()
    write(path, "\n\n\n- green tea\n\n- 黑咖啡\n")
    assert index.sync() == 0
    assert [take_only(index.search(query)).line for query in ("tea", "咖啡")] == [4, 6]


def test_what_is_deleted_is_not_found(index: Index, notes: Path) -> None:
    path = write(notes / "a.md", "- green tea\n- black coffee\n")
    other = write(notes / "b.md", "- 烏龍茶\n")
    assert search_texts(index, "coffee") == ["black coffee"]
    write(path, "- green tea\n")
    assert search_texts(index, "coffee") == []
    other.unlink()
    assert search_texts(index, "烏龍茶") == []
    assert search_texts(index, "tea") == ["green tea"]


def test_a_renamed_file_is_found_under_its_new_name(index: Index, notes: Path) -> None:
    path = write(notes / "a.md", "- green tea\n")
    index.sync()
    path.rename(notes / "b.md")
    assert take_only(index.search("tea")).path == notes / "b.md"
    (notes / "deep").mkdir()
    (notes / "b.md").rename(notes / "deep" / "c.md")
    assert take_only(index.search("tea")).path == notes / "deep" / "c.md"


def test_a_replaced_file_is_read(index: Index, notes: Path, tmp_path: Path) -> None:
    path = write(notes / "a.md", "- green tea\n")
    index.sync()
    write(tmp_path / "new", "- green cup\n").replace(path)
    assert search_texts(index, "tea") == []
    assert search_texts(index, "cup") == ["green cup"]


def test_a_touched_file_gives_the_answers_of_a_rebuilt_index(index: Index, notes: Path) -> None:
    path = write(notes / "a.md", "- green tea\n")
    before = index.search("tea")
    for moment in (1_000_000_000, 1_200_000_000):
        os.utime(path, (moment, moment))
        assert index.search("tea") == before
    index.rebuild()
    assert index.search("tea") == before


def test_a_page_that_is_too_large_is_searched_as_it_was_before(
    index: Index, notes: Path, caplog: pytest.LogCaptureFixture
) -> None:
    page = write(notes / "MEMORY.md", "- green tea\n")
    assert len(index.search("tea")) == 1
    os.truncate(page, 200_000_000)
    assert len(index.search("tea")) == 1
    assert "the limit is 64,000,000" in caplog.text
    os.truncate(page, 9_000_000)
    with closing(Index(notes / ".index.db", [page])) as own:
        own.sync()
    assert "the limit is 8,000,000" in caplog.text
    write(page, "- black coffee\n")
    assert index.search("tea") == []
    assert len(index.search("coffee")) == 1


def test_an_unreadable_file_keeps_its_place(index: Index, notes: Path) -> None:
    write(notes / "a.md", "- green tea\n")
    (notes / "loop.md").symlink_to("loop.md")
    assert search_texts(index, "tea") == ["green tea"]


def test_only_files_are_read(index: Index, notes: Path) -> None:
    write(notes / "a.md", "- green tea\n")
    os.mkfifo(notes / "pipe.md")
    (notes / "folder.md").mkdir()
    (notes / "nowhere.md").symlink_to("missing.md")
    assert search_texts(index, "tea") == ["green tea"]


def test_a_file_name_that_is_no_text_is_read_too(index: Index, notes: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(notes) + b"/caf\xe9.md"))
    write(path, "- green tea\n")
    assert take_only(index.search("tea")).path == path
    path.unlink()
    assert index.search("tea") == []


def test_rebuild_counts_the_passages_and_tells_of_its_progress(tmp_path: Path) -> None:
    for number in range(3):
        text = "".join(f"- fact {number} {line}\n" for line in range(3000))
        write(tmp_path / f"notes/{number}.md", text)
    told: list[tuple[int, int]] = []
    index = Index(tmp_path / "index.db", [tmp_path / "notes"])
    assert index.rebuild(lambda done, of: told.append((done, of))) == 9000
    assert told == [(2, 3), (3, 3)]


# What a hit says.


def test_a_fact_says_in_which_file_and_line_it_stands(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "MEMORY.md")
    store.init()
    memory = store.add("使用者喜歡烏龍茶", "Drinks")
    hit = take_only(Index(tmp_path / "index.db", [store]).search("烏龍茶"))
    text = store.location.read_text(encoding="utf-8")
    line = 1 + text[: text.index("使用者")].count("\n")
    assert (hit.source, hit.path, hit.line) == ("memory", store.location, line)
    assert hit.date == memory.created_at.astimezone().date().isoformat()


def test_a_fact_in_json_is_found_as_well(tmp_path: Path) -> None:
    store = MemoryStore(tmp_path / "memories.json")
    store.init()
    memory = store.add("likes oolong tea")
    hit = take_only(Index(tmp_path / "index.db", [store]).search("oolong"))
    assert (hit.source, hit.id, hit.text) == ("memory", memory.id, "likes oolong tea")


def test_a_log_entry_says_its_day_and_heading(index: Index, notes: Path) -> None:
    path = write(notes / "2026-03-01.md", "# 2026-03-01\n\n## Home\n\n- 09:30 bought a kettle\n")
    hit = take_only(index.search("kettle"))
    assert (hit.source, hit.path, hit.line) == ("daily", path, 5)
    assert (hit.heading, hit.date, hit.id) == ("Home", "2026-03-01", None)


def test_prose_is_found_under_its_heading(index: Index, notes: Path) -> None:
    write(notes / "a.md", "# Garden\n\nThe roses need water.\n\n- a fact\n\nThe 茶樹 too.\n")
    hit = take_only(index.search("roses"))
    assert (hit.line, hit.heading, hit.text) == (3, "Garden", "The roses need water.")
    assert take_only(index.search("茶樹")).line == 7


# What is asked.


@pytest.mark.parametrize("others", [[], ["小明的燈泡換了"], ["小明壞了", "I like tea"]])
def test_a_question_finds_the_fact_in_a_memory_of_hardly_any(
    index: Index, notes: Path, others: list[str]
) -> None:
    write(notes / "a.md", "".join(f"- {fact}\n" for fact in ["客廳的燈叫做小明", *others]))
    assert "客廳的燈叫做小明" in [hit.text for hit in index.search("小明是什麼?")]
    assert index.search("冰箱裡還有牛奶嗎?") == []


def test_what_says_the_same_is_returned_once(index: Index, notes: Path) -> None:
    write(notes / "a.md", "- green tea\n- green tea\n")
    write(notes / "b.md", "- green tea\n\ngreen tea\n")
    assert search_texts(index, "tea") == ["green tea"]
    assert search_texts(index, "tea", floor=False) == ["green tea"] * 4


def test_what_waits_or_is_recorded_is_never_found(index: Index, notes: Path) -> None:
    write(notes / "pending.md", "- green tea waits\n")
    write(notes / "changes.jsonl", '{"op": "add", "after": "green tea changed"}\n')
    write(notes / ".hidden.md", "- green tea hidden\n")
    write(notes / ".folder/a.md", "- green tea below\n")
    write(notes / "a.txt", "- green tea in text\n")
    write(notes / "MEMORY.md.corrupt-20260301T000000Z", "- green tea aside\n")
    write(notes / "MEMORY.md", "- green tea\n")
    assert search_texts(index, "green tea", floor=False) == ["green tea"]


# What may be given as a source, and as the index.


@pytest.mark.parametrize("name", ["conversations.db", "conversations.json"])
def test_stores_are_sources(tmp_path: Path, name: str) -> None:
    memory = MemoryStore(tmp_path / "MEMORY.md")
    memory.init()
    memory.add("tea in memory")
    log = DailyLog(tmp_path / "daily")
    log.append("tea in the log")
    store = ConversationStore(tmp_path / "c" / name)
    store.add_exchange("k", "tea in a conversation", "yes")
    index = Index(tmp_path / "index.db", [memory, log, store])
    sources = {hit.source for hit in index.search("tea")}
    assert sources == {"memory", "daily", "conversations"}


def test_a_path_may_come_into_being_later(tmp_path: Path) -> None:
    index = Index(tmp_path / "index.db", [tmp_path / "later", str(tmp_path / "MEMORY.md")])
    assert index.search("tea") == []
    write(tmp_path / "later" / "a.md", "- tea one\n")
    write(tmp_path / "MEMORY.md", "- tea two\n")
    assert sorted(search_texts(index, "tea")) == ["tea one", "tea two"]


def test_what_has_no_place_is_no_source(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be searched"):
        Index(tmp_path / "index.db", [3])  # type: ignore[list-item]


@pytest.mark.parametrize("name", ["MEMORY.md", "index", "index.json", "index.db.md"])
def test_an_index_is_not_made_under_another_name(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, "- green tea\n")
    with pytest.raises(InvalidInput, match=r"ends in \.db"):
        Index(path, [path])
    assert path.read_text(encoding="utf-8") == "- green tea\n"


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_another_database_is_refused_and_left_as_it_is(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "mine.db"
    database = apsw.Connection(str(path))
    database.pragma("journal_mode", mode)
    database.execute("CREATE TABLE mine (text); INSERT INTO mine VALUES ('green tea')")
    database.close()
    before = path.read_bytes()
    index = Index(path, [tmp_path])
    for attempt in (index.sync, index.rebuild, lambda: index.search("tea")):
        with pytest.raises(InvalidInput, match="is a database, but not an index"):
            attempt()
    assert path.read_bytes() == before
    names = sorted(entry.name for entry in tmp_path.iterdir())
    assert names == ["mine.db"]


def test_no_byte_of_a_deleted_text_stays(tmp_path: Path) -> None:
    page = tmp_path / "MEMORY.md"
    page.write_text("- a zebra lives here\n- tea\n", "utf-8")
    index = Index(tmp_path / "index" / "index.db", [page])
    assert index.search("zebra")
    page.write_text("- tea\n", "utf-8")
    assert index.search("zebra") == []
    left = b"".join(path.read_bytes() for path in index.location.parent.iterdir())
    assert b"a zebra lives here" not in left


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    page = tmp_path / "MEMORY.md"
    page.write_text("- tea\n", "utf-8")
    index = Index(tmp_path / "index" / "index.db", [page])
    for build in (index.sync, index.rebuild):
        build()
        modes = {path.name: path.stat().st_mode & 0o777 for path in index.location.parent.iterdir()}
        assert set(modes.values()) == {0o600}, modes


@pytest.mark.parametrize("data", [b"my notes\n", b"x" * 5000, b"SQLite format 3\0 or so" * 50])
def test_a_file_that_was_never_an_index_is_refused_and_left_alone(
    tmp_path: Path, data: bytes
) -> None:
    page = tmp_path / "MEMORY.md"
    page.write_text("- tea\n", "utf-8")
    mine = tmp_path / "mine.db"
    mine.write_bytes(data)
    for _ in range(2):
        with pytest.raises(InvalidInput, match="choose another name"):
            Index(mine, [page]).search("tea")
    assert mine.read_bytes() == data
    assert {path.name for path in tmp_path.iterdir()} == {"MEMORY.md", "mine.db"}


def test_an_index_of_any_name_mends_itself_once_it_was_one(tmp_path: Path) -> None:
    page = tmp_path / "MEMORY.md"
    page.write_text("- tea\n", "utf-8")
    index = Index(tmp_path / "mine.db", [page])
    index.sync()
    index.close()
    index.location.write_bytes(b"garbage" * 5000)
    assert [hit.text for hit in Index(tmp_path / "mine.db", [page]).search("tea")] == ["tea"]
