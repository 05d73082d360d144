"""The watcher on real files: what it sees, how often it acts, and what it leaves behind.

Its clock stands still until a test moves it on, so that no count depends on the machine's speed.
"""

from __future__ import annotations

import logging
import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.store.older import said, write_conversations
from turnleaf.core.messages import Message
from turnleaf.core.search.vectors import SENTENCES, pack
from turnleaf.errors import EmbeddingError
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.index.index import Index
from turnleaf.store.files.watcher import SAID_SECONDS, Watcher, any_remote

DEADLINE_SECONDS = 60.0
QUIET_SECONDS = 0.25


class Clock:
    """Goes on when it is told to, and knows how often it was asked."""

    def __init__(self) -> None:
        self._now = 0.0
        self._asked = 0
        self._asking = threading.Condition()

    def __call__(self) -> float:
        with self._asking:
            self._asked += 1
            self._asking.notify_all()
            return self._now

    def advance(self, seconds: float) -> None:
        with self._asking:
            self._now += seconds

    def wait_for(self, condition: Callable[[], bool]) -> None:
        """Wait for what must come, judging anew at each look."""
        with self._asking:
            assert self._asking.wait_for(condition, DEADLINE_SECONDS)

    def wait_for_looks(self, count: int) -> None:
        last = self._asked + count
        self.wait_for(lambda: self._asked >= last)


class Watched:
    """An index with a watcher that has seen all there was at the beginning."""

    def __init__(self, index: Index, *, poll: bool) -> None:
        self.index = index
        self.clock = Clock()
        self.watcher = Watcher(index, quiet_seconds=QUIET_SECONDS, poll=poll, clock=self.clock)

    def let_it_look(self) -> None:
        """Let it see everything; what the system tells arrives a moment later."""
        self.clock.wait_for_looks(5)

    def settle(self) -> None:
        """Let it see everything, be quiet for long enough, and let it act."""
        self.let_it_look()
        self.clock.advance(QUIET_SECONDS)
        self.clock.wait_for_looks(2)

    def idle(self) -> None:
        """Let much time pass in which it could act."""
        for _ in range(10):
            self.clock.advance(QUIET_SECONDS)
            self.clock.wait_for_looks(1)

    @property
    def syncs(self) -> int:
        return self.watcher.syncs - 1

    def has_taken_in(self, word: str) -> bool:
        """Tell whether the watcher took a text in, so that nothing was left for a search to do."""
        return self.index.sync() == 0 and word in "".join(
            hit.text for hit in self.index.search(word)
        )


@contextmanager
def watching(index: Index, *, poll: bool = False) -> Iterator[Watched]:
    watched = Watched(index, poll=poll)
    with watched.watcher:
        watched.settle()
        watched.clock.wait_for(lambda: watched.watcher.syncs == 1)
        yield watched
    index.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def index(tmp_path: Path, notes: Path) -> Index:
    return Index(tmp_path / "index.db", [notes])


def save_by_rename(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    beside.replace(path)


both_ways = pytest.mark.parametrize("poll", [False, True], ids=["told", "polling"])


@both_ways
def test_a_burst_of_saves_is_one_sync(index: Index, notes: Path, *, poll: bool) -> None:
    with watching(index, poll=poll) as watched:
        for number in range(50):
            (notes / "MEMORY.md").write_text(f"- 住在台北 {number}\n", "utf-8")
        watched.settle()
        assert watched.syncs == 1
        watched.idle()
        assert watched.syncs == 1
        assert watched.has_taken_in("台北 49")


@both_ways
def test_the_time_counts_from_the_last_save(index: Index, notes: Path, *, poll: bool) -> None:
    with watching(index, poll=poll) as watched:
        for _ in range(3):
            (notes / "MEMORY.md").write_text(f"- {random.random()}\n", "utf-8")
            watched.let_it_look()
            watched.clock.advance(QUIET_SECONDS / 2)
            watched.let_it_look()
            assert watched.syncs == 0
        watched.clock.advance(QUIET_SECONDS / 2)
        watched.let_it_look()
        assert watched.syncs == 1


@both_ways
def test_saves_within_one_second_are_all_seen(index: Index, notes: Path, *, poll: bool) -> None:
    with watching(index, poll=poll) as watched:
        for count, word in enumerate(["茶", "咖啡", "tea"], 1):
            (notes / "MEMORY.md").write_text(f"- {word}\n", "utf-8")
            watched.settle()
            assert watched.syncs == count
            assert watched.has_taken_in(word)


@both_ways
def test_a_file_that_arrives_by_rename_is_seen(index: Index, notes: Path, *, poll: bool) -> None:
    with watching(index, poll=poll) as watched:
        for count, word in enumerate(["綠茶", "紅茶"], 1):
            save_by_rename(notes / "MEMORY.md", f"- 喜歡{word}\n")
            watched.settle()
            assert watched.syncs == count
            assert watched.has_taken_in(word)


@both_ways
def test_a_file_that_goes_away_is_seen(index: Index, notes: Path, *, poll: bool) -> None:
    (notes / "MEMORY.md").write_text("- tea\n", "utf-8")
    with watching(index, poll=poll) as watched:
        (notes / "MEMORY.md").rename(notes / "MEMORY.txt")
        watched.settle()
        assert watched.syncs == 1
        assert index.search("tea") == []


@both_ways
def test_new_nested_folders_are_watched(index: Index, notes: Path, *, poll: bool) -> None:
    with watching(index, poll=poll) as watched:
        deep = notes / "二〇二六" / "三月" / "家"
        deep.mkdir(parents=True)
        (deep / "燈.md").write_text("- 客廳的燈\n", "utf-8")
        watched.settle()
        assert watched.has_taken_in("客廳的燈")
        before = watched.syncs
        (deep / "燈.md").write_text("- 臥室的燈\n", "utf-8")
        watched.settle()
        assert watched.syncs == before + 1
        assert watched.has_taken_in("臥室的燈")


@both_ways
def test_a_folder_that_is_moved_in_is_watched(
    index: Index, notes: Path, tmp_path: Path, *, poll: bool
) -> None:
    (tmp_path / "old/deep").mkdir(parents=True)
    (tmp_path / "old/deep/page.md").write_text("- tea\n", "utf-8")
    with watching(index, poll=poll) as watched:
        (tmp_path / "old").rename(notes / "old")
        watched.settle()
        assert watched.has_taken_in("tea")
        (notes / "old/deep/page.md").write_text("- coffee\n", "utf-8")
        watched.settle()
        assert watched.has_taken_in("coffee")


@both_ways
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "later"])
def test_a_folder_that_is_deleted_and_made_again_is_watched(
    index: Index, notes: Path, *, poll: bool, at_once: bool
) -> None:
    (notes / "MEMORY.md").write_text("- tea\n", "utf-8")
    with watching(index, poll=poll) as watched:
        shutil.rmtree(notes)
        if not at_once:
            watched.settle()
            assert index.search("tea") == []
        notes.mkdir()
        watched.settle()
        before = watched.syncs
        (notes / "MEMORY.md").write_text("- coffee\n", "utf-8")
        watched.settle()
        assert watched.syncs == before + 1
        assert watched.has_taken_in("coffee")


@both_ways
def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path, *, poll: bool) -> None:
    notes = tmp_path / "not/yet/there"
    with watching(Index(tmp_path / "index.db", [notes]), poll=poll) as watched:
        for count, folder in enumerate([tmp_path / "not", notes], 1):
            folder.mkdir(parents=True)
            watched.settle()
            assert watched.syncs == (0 if poll else count)
        (notes / "page.md").write_text("- 烏龍茶\n", "utf-8")
        watched.settle()
        assert watched.has_taken_in("烏龍茶")


@both_ways
def test_a_folder_that_another_takes_the_place_of_is_watched(tmp_path: Path, *, poll: bool) -> None:
    memory = tmp_path / "data/prompts/memory/MEMORY.md"
    backup = tmp_path / "backup/prompts/memory/MEMORY.md"
    for path, word in ((memory, "tea"), (backup, "coffee")):
        path.parent.mkdir(parents=True)
        path.write_text(f"- {word}\n", "utf-8")
    with watching(Index(tmp_path / "index.db", [memory]), poll=poll) as watched:
        (tmp_path / "data").rename(tmp_path / "old")
        (tmp_path / "backup").rename(tmp_path / "data")
        watched.settle()
        assert watched.has_taken_in("coffee")
        memory.write_text("- juice\n", "utf-8")
        watched.settle()
        assert watched.has_taken_in("juice")


@both_ways
def test_a_memory_behind_a_link_is_watched(tmp_path: Path, *, poll: bool) -> None:
    real = tmp_path / "cloud/MEMORY.md"
    real.parent.mkdir()
    (tmp_path / "MEMORY.md").symlink_to(real)
    index = Index(tmp_path / "index.db", [tmp_path / "MEMORY.md"])
    with watching(index, poll=poll) as watched:
        save_by_rename(real, "- 雲端\n")
        watched.settle()
        assert watched.syncs == 1
        assert watched.has_taken_in("雲端")


@both_ways
def test_its_own_index_gives_it_nothing_to_do(notes: Path, *, poll: bool) -> None:
    index = Index(notes / "index.db", [notes])
    with watching(index, poll=poll) as watched:
        (notes / "MEMORY.md").write_text("- tea\n", "utf-8")
        watched.settle()
        assert watched.syncs == 1
        watched.idle()
        index.rebuild()
        watched.idle()
        assert watched.syncs == 1


@both_ways
def test_files_that_are_not_searched_give_it_nothing_to_do(
    index: Index, notes: Path, *, poll: bool
) -> None:
    with watching(index, poll=poll) as watched:
        for name in ("changes.jsonl", "pending.md", ".MEMORY.md.tmp", ".a.md.swp", "photo.jpg"):
            (notes / name).write_text("- tea\n", "utf-8")
        (notes / ".git").mkdir()
        watched.idle()
        assert watched.syncs == 0


def test_stop_ends_the_thread_and_lets_go_of_everything(index: Index, notes: Path) -> None:
    before = threading.enumerate()
    watcher = Watcher(index)
    for _ in range(3):
        watcher.start()
        watcher.start()
        assert len(threading.enumerate()) == len(before) + 1
        watcher.stop()
        watcher.stop()
        assert threading.enumerate() == before


class Toy:
    """Gives counterparts the same vector, and any other text one of its own."""

    name = "toy"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> bytes:
        key = str(SENTENCES.index(text) // 2) if text in SENTENCES else text
        chance = random.Random(key)
        return pack([chance.gauss(0, 1) for _ in range(16)])


class Broken(Toy):
    """Fails until it is mended."""

    def __init__(self, error: Exception) -> None:
        self.asked = 0
        self.error: Exception | None = error

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.asked += 1
        if self.error:
            raise self.error
        return super().embed(texts)


class Slow(Toy):
    """Is waited for until it is let go on."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()
        self.may_go_on = threading.Event()

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        self.is_asked.set()
        assert self.may_go_on.wait(DEADLINE_SECONDS)
        return super().embed(texts)


def remember(notes: Path, count: int) -> None:
    text = "".join(f"- 第 {number} 件事\n" for number in range(count))
    (notes / "MEMORY.md").write_text(text, "utf-8")


@both_ways
def test_vectors_are_made_after_a_sync(tmp_path: Path, notes: Path, *, poll: bool) -> None:
    index = Index(tmp_path / "index.db", [notes], Toy())
    with watching(index, poll=poll) as watched:
        remember(notes, 300)
        watched.settle()
        watched.clock.wait_for(lambda: index.missing_vectors() == 0)
        assert watched.syncs == 1
        assert watched.has_taken_in("第 299 件事")


@pytest.mark.parametrize("error", [EmbeddingError("it is off"), ValueError("it is off")])
def test_a_failing_embedder_is_told_of_once_and_asked_again_later(
    tmp_path: Path, notes: Path, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    caplog.set_level(logging.WARNING)
    embedder = Broken(error)
    remember(notes, 3)
    index = Index(tmp_path / "index.db", [notes], embedder)
    with watching(index) as watched:
        for asked in (2, 3):
            remember(notes, 3 + asked)
            watched.settle()
            assert (watched.syncs, embedder.asked) == (asked - 1, asked)
        watched.clock.advance(58)
        watched.let_it_look()
        assert embedder.asked == 3
        watched.clock.advance(3)
        watched.let_it_look()
        assert embedder.asked == 4
        assert [record.getMessage() for record in caplog.records] == [
            "no vectors could be made: it is off"
        ]
        embedder.error = None
        watched.clock.advance(60)
        watched.clock.wait_for(lambda: index.missing_vectors() == 0)


def test_stop_does_not_wait_until_an_embedder_has_answered(tmp_path: Path, notes: Path) -> None:
    embedder = Slow()
    remember(notes, 3)
    index = Index(tmp_path / "index.db", [notes], embedder)
    watcher = Watcher(index, quiet_seconds=0)
    with watcher:
        assert embedder.is_asked.wait(DEADLINE_SECONDS)
        working = [each for each in threading.enumerate() if each.name == "turnleaf-watcher"]
        watcher.stop()
        assert any(each.is_alive() for each in working)
    embedder.may_go_on.set()
    for each in working:
        each.join(DEADLINE_SECONDS)
        assert not each.is_alive()


def handles() -> tuple[int, int]:
    """Count this process's threads and open files."""
    threads, opened = (list(Path("/proc/self", name).iterdir()) for name in ("task", "fd"))
    return len(threads), len(opened)


def wait_until_handles_are(expected: tuple[int, int]) -> None:
    """Wait for threads that have been told to end, which takes them a moment."""
    started = time.monotonic()
    while handles() != expected and time.monotonic() - started < DEADLINE_SECONDS:
        threading.Event().wait(0.01)
    assert handles() == expected


def change_much(notes: Path, count: int) -> None:
    for number in range(count // 100):
        for change in range(95):
            with (notes / f"頁{change % 20}.md").open("a", encoding="utf-8") as page:
                page.write(f"- {change}\n")
        save_by_rename(notes / "頁.md", f"- 第 {number} 次\n")
        folder = notes / f"folder{number % 7}"
        folder.mkdir()
        (folder / "page.md").touch()
        shutil.rmtree(folder)


@both_ways
def test_thousands_of_changes_leave_no_threads_and_no_open_files(
    index: Index, notes: Path, *, poll: bool
) -> None:
    change_much(notes, 100)
    index.sync()
    index.close()
    at_first = handles()
    with watching(index, poll=poll) as watched:
        before = handles()
        for _ in range(2):
            change_much(notes, 2_500)
            watched.settle()
        assert watched.has_taken_in("第 24 次")
        wait_until_handles_are(before)
    wait_until_handles_are(at_first)


def test_a_name_that_is_no_text_does_not_end_it(index: Index, notes: Path) -> None:
    with watching(index) as watched:
        for count, word in enumerate(["tea", "coffee"], 1):
            Path(os.fsdecode(os.fsencode(notes) + b"/\xb4\xfa.md")).write_text(f"- {word}\n")
            watched.settle()
            assert watched.syncs == count
            assert watched.has_taken_in(word)


PROGRAM = """
import logging, sys
from pathlib import Path
from threading import Event
from turnleaf.core.messages import Message
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.index.index import Index
from turnleaf.store.files.watcher import Watcher

logging.basicConfig(format="%(message)s")
folder = Path(sys.argv[1])
index = Index(folder / "index.db", [folder])
seen = Event()
with Watcher(index, quiet_seconds=0.1) as watcher:
    while watcher.syncs < 1: seen.wait(0.01)
    (folder / "MEMORY.md").write_text("- tea\\n")
    while watcher.syncs < 2: seen.wait(0.01)
print(index.sync(), len(index.search("tea")))
"""


@pytest.mark.parametrize(
    "failure", ["inotify_init1:error=EMFILE", "inotify_add_watch:error=ENOSPC"]
)
def test_where_the_system_refuses_to_watch_the_files_are_looked_at(
    notes: Path, failure: str
) -> None:
    calls = failure.partition(":")[0]
    strace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", "/dev/null", "-e", f"trace={calls}"]
    ended = subprocess.run(
        [*strace, "-e", f"inject={failure}", sys.executable, "-c", PROGRAM, str(notes)],
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE_SECONDS,
    )
    assert ended.stdout == "0 1\n"
    assert ended.stderr.startswith("the folders cannot be watched")
    assert ended.stderr.count("\n") == 1


MOUNTS = r"""
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /home/us/net rw,nosuid - nfs4 server:/export rw
31 30 0:27 / /home/us/net/here rw - tmpfs tmpfs rw
32 22 0:28 / /mnt/my\040share rw - cifs //server/share rw
33 22 0:29 / /mnt/雲端 rw - fuse.rclone remote: rw
34 22 8:1 / /mnt/disk rw - fuseblk /dev/sda1 rw
""".strip()


@pytest.mark.parametrize(
    ("folder", "is_remote"),
    [
        ("/", False),
        ("/home/us", False),
        ("/home/us/net", True),
        ("/home/us/net/notes/daily", True),
        ("/home/us/network", False),
        ("/home/us/net/here/notes", False),
        ("/mnt/my share/notes", True),
        ("/mnt/雲端/筆記", True),
        ("/mnt/disk/notes", False),
    ],
)
def test_folders_where_other_machines_write_are_known(folder: str, *, is_remote: bool) -> None:
    assert any_remote([Path("/"), Path(folder)], MOUNTS) == is_remote


def test_without_a_list_of_mounts_no_folder_is_remote() -> None:
    assert not any_remote([Path("/home/us/net")], "")


@both_ways
def test_what_an_older_program_writes_is_taken_in(tmp_path: Path, *, poll: bool) -> None:
    store = ConversationStore(tmp_path / "c" / "conversations.db", takes_over=True)
    store.init()
    index = Index(tmp_path / "index.db", [store])
    with watching(index, poll=poll) as watched:
        write_conversations(tmp_path / "c", {"a": said("護照在抽屜")})
        watched.let_it_look()
        watched.clock.advance(SAID_SECONDS)
        watched.clock.wait_for(lambda: watched.syncs >= 1)
        assert not (tmp_path / "c" / "conversations.json").exists()
        assert watched.has_taken_in("護照在抽屜")
    store.close()


@both_ways
def test_a_new_message_is_taken_in_and_gets_its_vector_in_a_fifth_of_a_second(
    tmp_path: Path, *, poll: bool
) -> None:
    store = ConversationStore(tmp_path / "c" / "conversations.db")
    store.init()
    index = Index(tmp_path / "index.db", [store], Toy())
    with watching(index, poll=poll) as watched:
        store.add_messages("k", [Message("user", "第 299 件事")])
        watched.let_it_look()
        watched.clock.advance(SAID_SECONDS)
        watched.clock.wait_for(lambda: watched.syncs == 1)
        watched.clock.wait_for(lambda: index.missing_vectors() == 0)
        assert watched.has_taken_in("第 299 件事")
    store.close()
