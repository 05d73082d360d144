"""changes.jsonl: every acknowledged change, one a line."""

from __future__ import annotations

import dataclasses
import json
import logging
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.counting import count_calls
from tests.strategies import brief, recorded_changes
from turnleaf.core.changes import Source
from turnleaf.core.file_changes import FileChange, to_json
from turnleaf.core.memories import Memory
from turnleaf.core.serialization import dumps
from turnleaf.store.files.facts.journal import TAIL_BYTES, Journal

NOW = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)


def change(n: int, file: str = "MEMORY.md", content: str = "x") -> FileChange:
    memory = Memory(f"id{n}", content, NOW, NOW)
    return FileChange(n=n, time=NOW, op="add", file=file, id=memory.id, after=memory)


def append(journal: Journal, *changes: FileChange) -> None:
    with journal.hold() as held:
        held.append(changes)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "MEMORY.md")


def test_it_lies_beside_the_memory_file(journal: Journal, tmp_path: Path) -> None:
    assert journal.path == tmp_path / "changes.jsonl"
    assert journal.read() == []
    assert journal.read_last() is None


def test_changes_are_read_in_the_order_in_which_they_were_made(journal: Journal) -> None:
    append(journal, change(1), change(2))
    append(journal, change(3))
    assert [one.n for one in journal.read()] == [1, 2, 3]
    assert journal.read_last() == change(3)


@brief
@given(st.lists(recorded_changes(), min_size=1, max_size=4))
def test_any_changes_come_back(tmp_path: Path, changes: list[FileChange]) -> None:
    journal = Journal(tmp_path / "MEMORY.md")
    journal.path.unlink(missing_ok=True)
    append(journal, *changes)
    ours = [one for one in changes if one.file == "MEMORY.md"]
    assert journal.read() == ours
    assert journal.read_last() == (ours[-1] if ours else None)
    lines = journal.path.read_text("utf-8").split("\n")
    assert len(lines) == len(changes) + 1
    assert all(json.loads(line) for line in lines[:-1])


def test_a_neighbour_s_changes_are_not_ours(journal: Journal, tmp_path: Path) -> None:
    other = Journal(tmp_path / "other.md")
    append(journal, change(1))
    append(other, change(1, "other.md"))
    assert journal.read_last() == change(1)
    assert other.read() == [change(1, "other.md")]


def test_the_last_of_ours_is_found_behind_many_of_a_neighbour(
    journal: Journal, tmp_path: Path
) -> None:
    append(journal, change(1))
    many = [change(n, "other.md", "x" * 1000) for n in range(TAIL_BYTES // 500)]
    append(Journal(tmp_path / "other.md"), *many)
    assert journal.path.stat().st_size > 2 * TAIL_BYTES
    assert journal.read_last() == change(1)


@pytest.mark.parametrize("size", [TAIL_BYTES // 2, TAIL_BYTES, 3 * TAIL_BYTES])
def test_the_last_is_found_however_long_it_is(journal: Journal, size: int) -> None:
    append(journal, change(1), change(2, content="x" * size))
    last = journal.read_last()
    assert last is not None
    assert last.n == 2


@pytest.mark.parametrize(
    "damage", [b"{damaged\n", b"[]\n", b"null\n", b"\xff\xfe\n", b'{"n": 1}\n', b"\n", b"5\n"]
)
def test_a_line_that_cannot_be_read_is_named_and_left_alone(
    journal: Journal, damage: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    append(journal, change(1))
    with journal.path.open("ab") as file:
        file.write(damage)
    append(journal, change(2))
    with caplog.at_level(logging.WARNING, "turnleaf"):
        assert [one.n for one in journal.read()] == [1, 2]
    assert damage in journal.path.read_bytes()
    assert not damage.strip() or "changes.jsonl contains a line that cannot be read" in caplog.text


def test_a_line_that_a_power_cut_tore_does_not_spoil_the_next(journal: Journal) -> None:
    append(journal, change(1), change(2))
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-10])
    assert [one.n for one in journal.read()] == [1]
    append(journal, change(3))
    assert [one.n for one in journal.read()] == [1, 3]


def test_what_was_read_once_is_not_parsed_again(journal: Journal) -> None:
    append(journal, change(1), change(2))
    journal.read()
    append(journal, change(3))
    assert count_calls(journal.read)["file_changes.from_json"] == 1
    assert count_calls(journal.read)["file_changes.from_json"] == 0
    journal.read_last()
    append(journal, change(4, "other.md"), change(5))
    assert count_calls(journal.read_last)["file_changes.from_json"] == 1
    assert count_calls(journal.read_last)["file_changes.from_json"] == 0


@brief
@given(st.lists(st.tuples(st.integers(0, 3), st.lists(st.integers(1, 3), max_size=3))))
def test_a_record_that_was_cut_or_rewritten_is_read_as_it_is(
    tmp_path: Path, steps: list[tuple[int, list[int]]]
) -> None:
    journal, kept = Journal(tmp_path / "MEMORY.md"), list[FileChange]()
    journal.path.unlink(missing_ok=True)
    for left, numbers in steps:
        kept = [*kept[:left], *map(change, numbers)]
        with journal.hold() as held:
            held.rewrite(kept, lambda _: True)
        assert journal.read() == kept
        assert journal.read_last() == (kept[-1] if kept else None)


@brief
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), max_size=6))
def test_a_line_of_the_same_length_in_the_place_of_another_is_seen(
    tmp_path: Path, steps: list[tuple[int, int]]
) -> None:
    journal, kept = Journal(tmp_path / "MEMORY.md"), list[FileChange]()
    journal.path.unlink(missing_ok=True)
    for left, number in steps:
        kept = kept[:left]
        with journal.hold() as held:
            held.append([])
            held.cut_back(sum(len(f"{dumps(to_json(one))}\n".encode()) for one in kept))
            held.append([change(number)])
        kept.append(change(number))
        assert journal.read() == kept
        assert journal.read_last() == kept[-1]


def test_what_could_not_be_done_is_taken_back(journal: Journal) -> None:
    append(journal, change(1))
    before = journal.path.read_bytes()
    with journal.hold() as held:
        held.cut_back(held.append([change(2), change(3)]))
    assert journal.path.read_bytes() == before
    assert journal.read_last() == change(1)


def test_it_is_private(journal: Journal) -> None:
    append(journal, change(1))
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600


def test_rewriting_puts_other_changes_in_the_place_of_ours_alone(
    journal: Journal, tmp_path: Path
) -> None:
    other = Journal(tmp_path / "pending.md")
    append(journal, change(1), change(2))
    append(other, change(1, "pending.md"))
    append(journal, change(3))
    with journal.hold() as held:
        held.rewrite([change(2), change(4)], lambda _: True)
    assert journal.read() == [change(2), change(4)]
    assert other.read() == [change(1, "pending.md")]
    append(journal, change(5))
    assert journal.read_last() == change(5)


def test_rewriting_keeps_of_what_cannot_be_read_only_what_is_harmless(journal: Journal) -> None:
    append(journal, change(1))
    with journal.path.open("ab") as file:
        file.write("{damaged\n{with 斑馬\n\n{torn".encode())
    with journal.hold() as held:
        held.rewrite([change(1)], lambda text: "斑馬" not in text)
    lines = journal.path.read_bytes().split(b"\n")
    assert lines[:2] == [b"{damaged", b"{torn"]
    assert journal.read() == [change(1)]


def test_a_source_and_traces_come_back(journal: Journal) -> None:
    source = Source("說", "cli:session-1", NOW, "document", "document:筆記.md")
    one = dataclasses.replace(change(1), source=source)
    other = FileChange(
        n=2, time=NOW, op="erase", file="MEMORY.md", id="id1", traces=("ab12", "cd34")
    )
    append(journal, one, other)
    assert journal.read() == [one, other]
    assert '"source": "document:筆記.md"' in journal.path.read_text("utf-8")
