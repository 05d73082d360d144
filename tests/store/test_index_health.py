"""Whatever happens to the index's file, the next search gives the right answers.

    python -m tests.store.test_index_health FOLDER

makes an index on a disk that is full.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.effort import LONG
from tests.meanings import Meanings
from tests.store.others import ROOT, become_nobody
from turnleaf.core.messages import Message
from turnleaf.core.search.ranking import Hit
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.index.database import SCHEMA_VERSION, connect
from turnleaf.store.files.index.index import Index

FORK = multiprocessing.get_context("fork")
PATIENCE_SECONDS = 120.0
QUERIES = ("tea", "烏龍茶", "the number 7 of the kettles", "客廳的燈 12", "zebra")
SUFFIXES = ("", "-wal", "-shm")
FILES = [f"{name}{suffix}" for name in ("index.db", "vectors.db") for suffix in SUFFIXES]
OURS = {".index.db.lock", ".index.db.line", *FILES}
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def fill(folder: Path, facts: int = 120 if LONG else 40) -> Path:
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    lines = [f"- tea 烏龍茶 {number} and the kettles\n" for number in range(facts)]
    (notes / "MEMORY.md").write_text("".join(lines), encoding="utf-8")
    (notes / "2026-03-01.md").write_text("- 客廳的燈 12\n- a zebra\n", encoding="utf-8")
    return notes


def talk(folder: Path) -> Path:
    """Send messages of which some were repeated in other words."""
    said = ConversationStore(folder / "said" / "conversations.db")
    numbers = said.add_messages("k", [Message("user", f"number {at}", NOON) for at in range(30)])
    said.add_messages("k", [Message("user", "a number 7 again", NOON)], after=numbers[20])
    said.add_messages("other", [Message("user", "the kettles 烏龍茶", NOON, name="王小明")])
    said.close()
    return said.location


def answers(index: Index) -> list[list[Hit]]:
    return [index.search(query, 30, floor=False) for query in QUERIES]


class IndexedNotes:
    """A folder of notes with an index beside it, and what it must answer."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes = fill(folder)
        self.said = talk(folder)
        self.location = folder / "at" / "index.db"
        self.location.parent.mkdir(exist_ok=True)
        self.learn()

    def learn(self) -> None:
        """Find out, with an index of its own, what is right now."""
        new = self.folder / "other.db"
        self.right = answers(Index(new, [self.notes, ConversationStore(self.said)]))
        for path in self.folder.glob("*other*.db*"):
            path.unlink()
        self.bytes = self.read()

    def be_silent(self) -> None:
        """Index no conversations: their database cannot be read where nobody may write."""
        self.said = self.said.with_name("none.db")
        self.learn()

    def read(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.notes.iterdir()}

    def index(self) -> Index:
        return Index(self.location, [self.notes, ConversationStore(self.said)])

    def make_index(self) -> None:
        """Make the index and close it."""
        index = self.index()
        index.sync()
        index.close()

    def files(self) -> list[Path]:
        return sorted(path for path in self.location.parent.glob("*.db*") if path.name in FILES)

    def check(self, index: Index | None = None) -> None:
        started = time.monotonic()
        used = index or self.index()
        assert answers(used) == self.right
        assert time.monotonic() - started < PATIENCE_SECONDS
        used.close()
        assert self.index().sync() == 0, "the file itself must hold it again"
        assert {path.name for path in self.location.parent.iterdir()} <= OURS
        assert self.read() == self.bytes


@pytest.fixture
def place(tmp_path: Path) -> IndexedNotes:
    return IndexedNotes(tmp_path)


@pytest.fixture
def indexed_place(place: IndexedNotes) -> IndexedNotes:
    place.make_index()
    return place


# Damage.


@pytest.mark.parametrize(
    ("names", "is_open"),
    [
        *(((name,), True) for name in FILES),
        *((names, True) for names in (FILES[:3], FILES[3:], FILES, ["index.db", "vectors.db"])),
        *((names, False) for names in (FILES[:1], FILES[1:2], FILES[3:4], FILES)),
    ],
)
def test_deleted(indexed_place: IndexedNotes, names: Sequence[str], *, is_open: bool) -> None:
    index = indexed_place.index()
    index.sync()
    if not is_open:
        index.close()
    for name in names:
        indexed_place.location.with_name(name).unlink()
    (indexed_place.notes / "MEMORY.md").write_text("- zebra 烏龍茶 tea\n", encoding="utf-8")
    indexed_place.learn()
    assert answers(index) == indexed_place.right
    indexed_place.check()
    (indexed_place.notes / "MEMORY.md").write_text("- tea\n", encoding="utf-8")
    indexed_place.learn()
    indexed_place.check()
    indexed_place.check(index)


@pytest.mark.parametrize("name", FILES)
def test_deleted_while_another_process_has_it_open(indexed_place: IndexedNotes, name: str) -> None:
    index = indexed_place.index()
    index.sync()
    with peer(indexed_place) as other:
        assert other("answers") == indexed_place.right
        indexed_place.location.with_name(name).unlink()
        new = indexed_place.index()
        for number in range(12 if LONG else 3):
            text = f"- zebra 烏龍茶 tea {number}\n" * (1 + number)
            (indexed_place.notes / "MEMORY.md").write_text(text, encoding="utf-8")
            indexed_place.learn()
            for turn in range(number, number + 3):
                asked = (index, new, None)[turn % 3]
                assert (answers(asked) if asked else other("answers")) == indexed_place.right


def garble(path: Path, chance: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = chance.randrange(len(data))
    for at in range(start, min(len(data), start + chance.choice([1, 1, 8, 300, 9000]))):
        data[at] ^= chance.randrange(1, 256)
    path.write_bytes(data)


def execute(place: IndexedNotes, statements: str, name: str = "index.db") -> None:
    """Change a database behind the index's back, checksums included."""
    file_system = "cksmvfs" if "cksmvfs" in apsw.vfs_names() else None
    database = apsw.Connection(str(place.location.with_name(name)), vfs=file_system)
    database.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    database.execute(statements)
    database.close()


def checkpoint(place: IndexedNotes) -> None:
    """Put most of it into the file itself and the newest into its log."""
    execute(place, "PRAGMA wal_checkpoint(TRUNCATE)")
    (place.notes / "new.md").write_text("- the newest tea\n", encoding="utf-8")
    place.learn()
    place.make_index()


def test_garbled(indexed_place: IndexedNotes) -> None:
    kept = indexed_place.folder / "kept"
    for is_in_log in (True, False):
        if not is_in_log:
            checkpoint(indexed_place)
        shutil.copytree(indexed_place.location.parent, kept, dirs_exist_ok=True)
        for seed in range(1000 if LONG else 6):
            chance = random.Random(seed)
            shutil.copytree(kept, indexed_place.location.parent, dirs_exist_ok=True)
            sizes = [path.stat().st_size for path in indexed_place.files()]
            garble(chance.choices(indexed_place.files(), sizes)[0], chance)
            indexed_place.check()


def test_garbled_in_any_byte_of_its_header(indexed_place: IndexedNotes) -> None:
    checkpoint(indexed_place)
    kept = indexed_place.folder / "kept"
    shutil.copytree(indexed_place.location.parent, kept)
    for at in range(0, 100, 1 if LONG else 11):
        shutil.copytree(kept, indexed_place.location.parent, dirs_exist_ok=True)
        with indexed_place.location.open("r+b") as file:
            file.seek(at)
            old = file.read(1)[0]
            file.seek(at)
            file.write(bytes([old ^ (1 + at % 255)]))
        indexed_place.check()


def test_garbled_while_it_is_open(indexed_place: IndexedNotes) -> None:
    for seed in range(200 if LONG else 3):
        checkpoint(indexed_place)
        index = indexed_place.index()
        index.sync()
        with indexed_place.location.open("r+b") as file:
            chance = random.Random(seed)
            file.seek(chance.randrange(indexed_place.location.stat().st_size))
            file.write(chance.randbytes(5000))
        # It may still answer from pages that it read before; whoever opens the file may not.
        assert answers(index) == indexed_place.right
        index.close()
        indexed_place.check()


def test_truncated(indexed_place: IndexedNotes) -> None:
    kept = indexed_place.folder / "kept"
    shutil.copytree(indexed_place.location.parent, kept)
    chance = random.Random(3)
    whole = (kept / "index.db").stat().st_size
    for size in (0, 1, 100, 8192, whole // 2, whole - 1, *chance.choices(range(whole), k=6)):
        shutil.copytree(kept, indexed_place.location.parent, dirs_exist_ok=True)
        os.truncate(indexed_place.location, size)
        indexed_place.check()


@pytest.mark.parametrize("data", [b"", b"x", b"some text \xe8\x8c\xb6\n" * 2000, bytes(20_000)])
@pytest.mark.parametrize("is_log_kept", [True, False])
def test_replaced(indexed_place: IndexedNotes, data: bytes, *, is_log_kept: bool) -> None:
    indexed_place.location.write_bytes(data)
    if not is_log_kept:
        indexed_place.location.with_name("index.db-wal").unlink()
    indexed_place.check()


def test_a_log_that_belongs_to_another_index(indexed_place: IndexedNotes) -> None:
    other = indexed_place.folder / "other" / "index.db"
    other.parent.mkdir()
    Index(other, [__file__]).sync()
    shutil.copy(f"{other}-wal", f"{indexed_place.location}-wal")
    indexed_place.check()


@pytest.mark.parametrize("version", [SCHEMA_VERSION - 1, SCHEMA_VERSION + 1])
def test_of_another_version(indexed_place: IndexedNotes, version: int) -> None:
    execute(indexed_place, "UPDATE passages SET text = 'wrong'")
    assert answers(indexed_place.index()) != indexed_place.right
    execute(indexed_place, f"PRAGMA user_version = {version}")
    indexed_place.check()


@pytest.mark.parametrize(
    ("name", "table"),
    [
        *(("index.db", table) for table in ("files", "passages", "words", "feeds", "circles")),
        *(("vectors.db", table) for table in ("slots", "blocks", "model", "owner")),
    ],
)
def test_with_a_table_missing(indexed_place: IndexedNotes, name: str, table: str) -> None:
    execute(indexed_place, f"DROP TABLE {table}", name)
    indexed_place.check()
    embed(indexed_place)
    indexed_place.check()


# Other processes.


def serve(place: IndexedNotes, pipe: Connection) -> None:
    index = place.index()
    deeds: dict[str, Callable[[], object]] = {
        "answers": lambda: answers(index), "rebuild": index.rebuild, "sync": index.sync
    }  # fmt: skip
    while (deed := pipe.recv()) is not None:
        try:
            pipe.send(deeds[deed]())
        except Exception as error:  # noqa: BLE001 - whatever it is, the other side must see it
            pipe.send(f"{type(error).__name__}: {error}")


@contextmanager
def peer(place: IndexedNotes) -> Iterator[Callable[[str], object]]:
    """Another process with an index of its own."""
    mine, its = FORK.Pipe()
    process = FORK.Process(target=serve, args=(place, its))
    process.start()

    def ask(deed: str) -> object:
        mine.send(deed)
        assert mine.poll(60), "no answer"
        return mine.recv()

    yield ask
    mine.send(None)
    process.join(60)
    assert process.exitcode == 0


def run_in_fork(work: Callable[[], object]) -> int | None:
    """Do something in another process and return its exit code."""
    process = FORK.Process(target=work)
    process.start()
    process.join(60)
    return process.exitcode


def sync(place: IndexedNotes) -> None:
    place.index().sync()


def rebuild(place: IndexedNotes) -> None:
    place.index().rebuild()


def embed(place: IndexedNotes) -> None:
    said = ConversationStore(place.said)
    index = Index(place.location, [place.notes, said], Meanings())
    index.embed()
    assert index.missing_vectors() == 0
    index.close()


def counting(work: Callable[[], object], count: Callable[[], None]) -> None:
    sys.setprofile(lambda *_: count())
    try:
        work()
    finally:
        sys.setprofile(None)


def steps(work: Callable[[], object]) -> int:
    """Count the calls and returns in some work done in another process."""
    mine, its = FORK.Pipe()

    def count_steps() -> None:
        seen = iter(range(10**9))
        counting(work, lambda: (next(seen), None)[1])
        its.send(next(seen))

    assert run_in_fork(count_steps) == 0
    return int(mine.recv())


def die_at(step: int, work: Callable[[], object]) -> None:
    left = iter(range(step))

    def count() -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    counting(work, count)


def die_when_a_file_has(size: int, work: Callable[[], object]) -> None:
    """Be killed in the middle of a write, where a file grows beyond a size."""
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    work()


@pytest.mark.parametrize("work", [sync, rebuild, embed])
@pytest.mark.parametrize("is_new", [True, False])
def test_killed(
    indexed_place: IndexedNotes, work: Callable[[IndexedNotes], None], *, is_new: bool
) -> None:
    kept = indexed_place.folder / "kept"
    shutil.copytree(indexed_place.location.parent, kept)
    with (indexed_place.notes / "MEMORY.md").open("a", encoding="utf-8") as file:
        file.write("- one zebra more\n" * 3)
    indexed_place.learn()

    def begin() -> None:
        for path in indexed_place.location.parent.iterdir():
            path.unlink()
        if not is_new:
            shutil.copytree(kept, indexed_place.location.parent, dirs_exist_ok=True)

    begin()
    total = steps(lambda: work(indexed_place))
    size = max(path.stat().st_size for path in indexed_place.files())
    chance = random.Random(total)
    instants = 100 if LONG else 2
    killed = 0
    for number in range(instants):
        begin()
        step = (total * number + chance.randrange(total)) // instants
        assert run_in_fork(lambda: die_at(step, lambda: work(indexed_place))) == -signal.SIGKILL  # noqa: B023
        indexed_place.check()
        begin()
        room = 1 + (size * number + chance.randrange(size)) // instants
        exit_code = run_in_fork(lambda: die_when_a_file_has(room, lambda: work(indexed_place)))  # noqa: B023
        assert exit_code in {-signal.SIGXFSZ, 0}
        killed += exit_code != 0
        indexed_place.check()
        embed(indexed_place)
        indexed_place.check()
    assert killed > instants // 2


def test_killed_again_and_again_it_still_gets_done(place: IndexedNotes) -> None:
    total = steps(lambda: sync(place))
    place.location.unlink()
    for number in range(1, 6):
        run_in_fork(lambda: die_at(total * number // 6, lambda: sync(place)))  # noqa: B023
    place.check()


def busy(place: IndexedNotes, seed: int) -> None:
    """Search, sync and rebuild while others do the same; what always stands is always found."""
    chance = random.Random(seed)
    index = place.index()
    for _ in range(60 if LONG else 8):
        if chance.randrange(2):
            index.rebuild() if chance.randrange(2) else index.close()
        assert [hit.text for hit in index.search("zebra")] == ["a zebra"]
    index.close()


@pytest.mark.parametrize("count", [2, 4])
def test_several_processes_at_once(place: IndexedNotes, count: int) -> None:
    processes = [FORK.Process(target=busy, args=(place, seed)) for seed in range(count)]
    for process in processes:
        process.start()
    number = 0
    while any(process.is_alive() for process in processes):
        number += 1
        lines = [f"- tea 烏龍茶 {line}\n" for line in range(number % 40)]
        (place.folder / "new").write_text("".join(lines), encoding="utf-8")
        (place.folder / "new").replace(place.notes / "MEMORY.md")
        processes[number % count].join(0.005)
    assert [process.exitcode for process in processes] == [0] * count
    place.learn()
    place.check()


def has_locks(path: Path) -> bool:
    """Whether this process itself, and not its parent, has opened a database."""
    listed = Path("/proc/locks")
    if not listed.exists():
        return True
    mine = [line.split() for line in listed.read_text().splitlines()]
    inode = str(path.stat().st_ino)
    return any(f"{os.getpid()}" in line and line[5].endswith(f":{inode}") for line in mine)


def test_a_forked_child_uses_its_parents_index(indexed_place: IndexedNotes) -> None:
    index = indexed_place.index()
    assert answers(index) == indexed_place.right
    (indexed_place.notes / "MEMORY.md").write_text("- zebra 烏龍茶 tea\n", encoding="utf-8")
    indexed_place.learn()

    def use() -> None:
        assert answers(index) == indexed_place.right
        assert has_locks(indexed_place.location.with_name("index.db-shm"))
        index.rebuild()
        assert answers(index) == indexed_place.right

    assert run_in_fork(use) == 0
    assert answers(index) == indexed_place.right
    (indexed_place.notes / "MEMORY.md").write_text("- zebra\n", encoding="utf-8")
    indexed_place.learn()
    assert run_in_fork(use) == 0
    indexed_place.check(index)


def test_a_forked_child_that_outlives_its_parents_connection(indexed_place: IndexedNotes) -> None:
    index = indexed_place.index()
    index.sync()
    mine, its = FORK.Pipe()

    def use() -> None:
        for _ in range(5):
            its.recv()
            its.send(answers(index))

    process = FORK.Process(target=use)
    process.start()
    for number in range(5):
        (indexed_place.notes / "MEMORY.md").write_text(f"- tea 烏龍茶 {number}\n", encoding="utf-8")
        indexed_place.learn()
        index.close()
        assert answers(indexed_place.index()) == indexed_place.right
        mine.send(None)
        assert mine.poll(60)
        assert mine.recv() == indexed_place.right
    process.join(60)
    assert process.exitcode == 0


# A power cut.


@pytest.mark.parametrize(
    "kept",
    [
        "DELETE FROM passages WHERE id = 1",
        "DELETE FROM words WHERE rowid = 1",
        "UPDATE totals SET passages = passages + 1",
        "UPDATE passages SET text = 'older', shape = x'00' WHERE id = 1",
    ],
)
def test_pages_that_a_power_cut_left_behind_the_others_are_noticed(
    indexed_place: IndexedNotes, kept: str
) -> None:
    """Nothing in such a page is wrong, and the files look as they did when they were taken in."""
    database = connect(indexed_place.location)
    database.execute(kept)
    database.execute("UPDATE totals SET boot = 'another'")
    database.close()
    indexed_place.check()


# No room, no permission.


def search_in_fork(place: IndexedNotes, prepare: Callable[[], object]) -> Any:  # noqa: ANN401 - whatever it sends
    """Search in another process after some preparation and return its answers."""
    mine, its = FORK.Pipe()

    def work() -> None:
        prepare()
        its.send(answers(place.index()))

    process = FORK.Process(target=work)
    process.start()
    assert mine.poll(60)
    found = mine.recv()
    process.join(60)
    assert process.exitcode == 0
    return found


@pytest.mark.parametrize("state", ["missing", "there", "readable", "writable", "damaged"])
def test_in_a_folder_that_cannot_be_written(ground: Path, state: str) -> None:
    place = IndexedNotes(ground)
    place.be_silent()
    for path in place.notes.iterdir():
        path.chmod(0o644)
    place.notes.chmod(0o755)
    if state != "missing":
        place.make_index()
    for path in place.location.parent.iterdir():
        path.chmod({"there": 0o600, "readable": 0o644}.get(state, 0o666))
    if state == "damaged":
        place.location.write_bytes(b"no database" * 1000)
        for suffix in ("-wal", "-shm"):
            place.location.with_name(f"index.db{suffix}").unlink()
    before = {path.name: path.read_bytes() for path in place.location.parent.iterdir()}
    place.location.parent.chmod(0o555)
    assert search_in_fork(place, become_nobody) == place.right
    # Who is no root before is the owner of the files after, and may write into them.
    if state != "writable" and os.geteuid() == 0:
        after = {path.name: path.read_bytes() for path in place.location.parent.iterdir()}
        assert after == before
    place.location.parent.chmod(0o755)
    place.check()


def test_where_no_file_may_grow(place: IndexedNotes) -> None:
    place.be_silent()
    place.make_index()
    sizes = [path.stat().st_size for path in place.files()]
    for size in (0, 1, 512, 8192, 40_000, max(sizes) - 1):
        (place.notes / "MEMORY.md").write_text(f"- zebra 烏龍茶 {size}\n", encoding="utf-8")
        place.learn()

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))  # noqa: B023

        assert search_in_fork(place, limit) == place.right
        place.check()
        for path in place.files() if size % 2 else ():
            path.unlink()


def on_a_full_disk(folder: Path) -> None:
    """Search where less and less room is left."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "turnleaf", str(disk)]
    subprocess.run(mount, check=True)
    place = IndexedNotes(folder)
    place.location = disk / "index.db"
    filler = disk / "filler"
    for kilobytes in (0, 4, 20, 60, 100, 200, 300):
        with filler.open("wb") as file, suppress(OSError):
            file.write(bytes(2**20))
        os.truncate(filler, max(0, filler.stat().st_size - 1024 * kilobytes))
        assert answers(place.index()) == place.right
        filler.unlink()
        assert answers(place.index()) == place.right
        for path in disk.iterdir():
            path.unlink()


def test_on_a_full_disk(tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.store.test_index_health", str(tmp_path)]
    command = ["unshare", "-rm", *program]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# Size.


def test_hundreds_of_edits_leave_it_small(tmp_path: Path) -> None:
    page = tmp_path / "MEMORY.md"
    index = Index(tmp_path / "index.db", [page])
    chance = random.Random(5)
    for _ in range(200):
        lines = [f"- tea 茶 {chance.randrange(10**6)}\n" for _ in range(chance.randrange(1, 20))]
        page.write_text("".join(lines), encoding="utf-8")
        index.sync()
    new = Index(tmp_path / "new.db", [page])
    assert answers(new) == answers(index)
    assert size_of(index) < 4 * size_of(new)


def size_of(index: Index) -> int:
    found = index.location.parent.glob(f"{index.location.name}*")
    return sum(path.stat().st_size for path in found)


if __name__ == "__main__":
    on_a_full_disk(Path(sys.argv[1]))
