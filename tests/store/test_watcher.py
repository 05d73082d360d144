"""The watcher on real files: what it notices, both ways, what it repairs, what it leaves behind."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.store.contracts.test_announcements import AnnouncementListener
from tests.store.older import make_messages, write_conversations
from turnleaf import MemoryStore
from turnleaf.errors import StorageError
from turnleaf.settings import DataFolder
from turnleaf.store.contracts import Stores
from turnleaf.store.files.sources import Files, MemoryPages
from turnleaf.store.files.watcher import SHARED, FileAnnouncements, Watcher, is_any_remote

DEADLINE_SECONDS = 60.0
NOTES, MARK = "notes", "mark"

both_ways = pytest.mark.parametrize("poll", [False, True], ids=["told", "polling"])


class Watch(AnnouncementListener):
    """Hears of some files, and of a mark that tells that all before it has been seen."""

    def __init__(self, mark: Path) -> None:
        super().__init__()
        self._mark = mark
        self._marks = 0

    def list_heard(self) -> set[str]:
        """Return what was announced until now."""
        self._marks += 1
        self._mark.write_text(str(self._marks))
        self.wait_for(MARK)
        heard, self.all = self.all - {MARK}, set()
        return heard


@contextmanager
def repeating(work: Callable[[], object]) -> Iterator[None]:
    """Do something again and again in a thread of its own."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.is_set():
            work()

    thread = threading.Thread(target=repeat)
    thread.start()
    yield
    ended.set()
    thread.join()


@contextmanager
def watching(files: Files, folder: Path, *, poll: bool) -> Iterator[Watch]:
    """Watch some files until they have been seen at rest once."""
    mark = folder / "mark.txt"
    known = {NOTES: [files], MARK: [Files(mark)]}
    heard = Watch(mark)
    unsubscribe = FileAnnouncements(known, Watcher(poll=poll)).subscribe(heard)
    while heard.list_heard():
        """What was there at first may be announced, since nobody watched before."""
    yield heard
    unsubscribe()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def aside(tmp_path: Path) -> Path:
    folder = tmp_path / "aside"
    folder.mkdir()
    return folder


def save_by_rename(path: Path, text: str) -> None:
    beside = path.with_name(f".{path.name}.new")
    beside.write_text(text, "utf-8")
    beside.replace(path)


# What is noticed.


@both_ways
def test_files_that_are_written_again_and_again_are_noticed(
    notes: Path, aside: Path, *, poll: bool
) -> None:
    with watching(Files(notes), aside, poll=poll) as heard:
        for word in ("茶", "咖啡", "tea"):
            (notes / "MEMORY.md").write_text(f"- {word}\n", "utf-8")
            heard.wait_for(NOTES)


@both_ways
def test_files_that_arrive_by_rename_and_go_away_are_noticed(
    notes: Path, aside: Path, *, poll: bool
) -> None:
    with watching(Files(notes), aside, poll=poll) as heard:
        for word in ("綠茶", "紅茶"):
            save_by_rename(notes / "MEMORY.md", f"- 喜歡{word}\n")
            heard.wait_for(NOTES)
        (notes / "MEMORY.md").rename(notes / "MEMORY.txt")
        heard.wait_for(NOTES)


@both_ways
def test_new_nested_folders_are_watched(notes: Path, aside: Path, *, poll: bool) -> None:
    with watching(Files(notes), aside, poll=poll) as heard:
        deep = notes / "二〇二六" / "三月" / "家"
        deep.mkdir(parents=True)
        (deep / "燈.md").write_text("- 客廳的燈\n", "utf-8")
        heard.wait_for(NOTES)
        while heard.list_heard():
            """The folders may be announced one by one."""
        (deep / "燈.md").write_text("- 臥室的燈\n", "utf-8")
        heard.wait_for(NOTES)


@both_ways
def test_a_folder_that_is_moved_in_is_watched(
    notes: Path, aside: Path, tmp_path: Path, *, poll: bool
) -> None:
    (tmp_path / "old/deep").mkdir(parents=True)
    (tmp_path / "old/deep/page.md").write_text("- tea\n", "utf-8")
    with watching(Files(notes), aside, poll=poll) as heard:
        (tmp_path / "old").rename(notes / "old")
        heard.wait_for(NOTES)
        while heard.list_heard():
            """It is looked at as a whole once more."""
        (notes / "old/deep/page.md").write_text("- coffee\n", "utf-8")
        heard.wait_for(NOTES)


@both_ways
@pytest.mark.parametrize("at_once", [True, False], ids=["at once", "later"])
def test_a_folder_that_is_deleted_and_made_again_is_watched(
    notes: Path, aside: Path, *, poll: bool, at_once: bool
) -> None:
    (notes / "MEMORY.md").write_text("- tea\n", "utf-8")
    with watching(Files(notes), aside, poll=poll) as heard:
        shutil.rmtree(notes)
        if not at_once:
            heard.wait_for(NOTES)
        notes.mkdir()
        while heard.list_heard():
            """It is looked at as a whole once more."""
        (notes / "MEMORY.md").write_text("- coffee\n", "utf-8")
        heard.wait_for(NOTES)


@both_ways
def test_a_folder_that_is_not_there_yet_is_waited_for(
    tmp_path: Path, aside: Path, *, poll: bool
) -> None:
    notes = tmp_path / "not/yet/there"
    with watching(Files(notes), aside, poll=poll) as heard:
        for folder in (tmp_path / "not", notes):
            folder.mkdir(parents=True)
            heard.list_heard()
        (notes / "page.md").write_text("- 烏龍茶\n", "utf-8")
        heard.wait_for(NOTES)


@both_ways
def test_a_folder_that_another_takes_the_place_of_is_watched(
    tmp_path: Path, aside: Path, *, poll: bool
) -> None:
    memory = tmp_path / "data/prompts/memory/MEMORY.md"
    backup = tmp_path / "backup/prompts/memory/MEMORY.md"
    for path, word in ((memory, "tea"), (backup, "coffee")):
        path.parent.mkdir(parents=True)
        path.write_text(f"- {word}\n", "utf-8")
    with watching(MemoryPages(memory), aside, poll=poll) as heard:
        (tmp_path / "data").rename(tmp_path / "old")
        (tmp_path / "backup").rename(tmp_path / "data")
        heard.wait_for(NOTES)
        while heard.list_heard():
            """It is looked at as a whole once more."""
        memory.write_text("- juice\n", "utf-8")
        heard.wait_for(NOTES)


@both_ways
def test_a_memory_behind_a_link_is_watched(tmp_path: Path, aside: Path, *, poll: bool) -> None:
    real = tmp_path / "cloud/MEMORY.md"
    real.parent.mkdir()
    (tmp_path / "MEMORY.md").symlink_to(real)
    with watching(MemoryPages(tmp_path / "MEMORY.md"), aside, poll=poll) as heard:
        save_by_rename(real, "- 雲端\n")
        heard.wait_for(NOTES)


@both_ways
def test_files_of_no_kind_are_not_announced(notes: Path, aside: Path, *, poll: bool) -> None:
    with watching(Files(notes), aside, poll=poll) as heard:
        for name in ("changes.jsonl", "pending.md", ".MEMORY.md.tmp", ".a.md.swp", "index.db-wal"):
            (notes / name).write_text("- tea\n", "utf-8")
        (notes / ".git").mkdir()
        assert heard.list_heard() == set()
        assert heard.list_heard() == set()


def test_a_name_that_is_no_text_does_not_end_it(notes: Path, aside: Path) -> None:
    with watching(Files(notes), aside, poll=False) as heard:
        for word in ("tea", "coffee"):
            Path(os.fsdecode(os.fsencode(notes) + b"/\xb4\xfa.md")).write_text(f"- {word}\n")
            heard.wait_for(NOTES)


def test_what_an_older_program_writes_is_announced_as_conversations(tmp_path: Path) -> None:
    with Stores.open(DataFolder(tmp_path, "a test")) as stores:
        stores.init()
        heard = AnnouncementListener()
        stores.announcements.subscribe(heard)
        write_conversations(tmp_path / "conversations", {"a": make_messages("護照在抽屜")})
        heard.wait_for("conversations")


# How it runs.


def find_threads() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "turnleaf-watcher"]


def test_many_spaces_have_one_thread_between_them(tmp_path: Path) -> None:
    opened = [Stores.open(tmp_path, space=f"s{number}") for number in range(5)]
    heard = [AnnouncementListener() for _ in opened]
    for stores, listener in zip(opened, heard, strict=True):
        stores.announcements.subscribe(listener)
    for stores, listener in zip(opened, heard, strict=True):
        stores.daily.append("記一筆")
        listener.wait_for("daily")
    assert len({thread for listener in heard for thread in listener.threads}) == 1
    for stores in opened:
        stores.close()


def handles() -> tuple[int, int]:
    """Count this process's threads and open files."""
    threads, opened = (list(Path("/proc/self", name).iterdir()) for name in ("task", "fd"))
    return len(threads), len(opened)


def has_at_most(expected: tuple[int, int]) -> bool:
    return all(now <= most for now, most in zip(handles(), expected, strict=True))


def wait_until_handles_are_at_most(expected: tuple[int, int]) -> None:
    """Wait for threads that have been told to end, which takes them a moment.

    There may be fewer: another test's may end meanwhile.
    """
    started = time.monotonic()
    while not has_at_most(expected) and time.monotonic() - started < DEADLINE_SECONDS:
        threading.Event().wait(0.01)
    assert has_at_most(expected)


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
    notes: Path, aside: Path, *, poll: bool
) -> None:
    change_much(notes, 100)
    at_first = handles()
    with watching(Files(notes), aside, poll=poll) as heard:
        before = handles()
        for _ in range(2):
            change_much(notes, 2_500)
            heard.wait_for(NOTES)
            while heard.list_heard():
                """Wait until it is idle."""
        wait_until_handles_are_at_most(before)
    wait_until_handles_are_at_most(at_first)


def test_who_unsubscribes_waits_for_nobody_and_subscribes_again_at_once(
    notes: Path, aside: Path
) -> None:
    for _ in range(3):
        with watching(Files(notes), aside, poll=False) as heard:
            (notes / "MEMORY.md").write_text("- tea\n")
            heard.wait_for(NOTES)


PROGRAM = """
import logging, sys
from pathlib import Path
from threading import Event
from turnleaf.store.contracts import Stores

logging.basicConfig(format="%(message)s")
stores = Stores.open(Path(sys.argv[1]))
stores.init()
heard = Event()
stores.announcements.subscribe(lambda kinds: "schedules" in kinds and heard.set())
stores.schedules.add("what is new?", "every 15m")
print(heard.wait(60))
stores.close()
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
    assert ended.stdout == "True\n"
    assert ended.stderr.startswith("the folders cannot be watched")
    assert ended.stderr.count("\n") == 1


def test_a_program_that_only_uses_a_store_does_not_load_what_watches_folders(notes: Path) -> None:
    program = (
        "import sys; from turnleaf import MemoryStore; MemoryStore(sys.argv[1]).add('tea');"
        " print('watchfiles' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program, str(notes / "MEMORY.md")],
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE_SECONDS,
    )
    assert ended.stdout == "False\n"


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
    assert is_any_remote([Path("/"), Path(folder)], MOUNTS) == is_remote


def test_without_a_list_of_mounts_no_folder_is_remote() -> None:
    assert not is_any_remote([Path("/home/us/net")], "")


# What is repaired.


class Repairable:
    """Something that can be repaired, and notes when it was looked at."""

    def __init__(self, *, is_saved: bool = False, is_broken: bool = False) -> None:
        self.is_saved = is_saved
        self.is_broken = is_broken
        self.looks = threading.Semaphore(0)
        self.repaired = threading.Event()

    def needs_mending(self) -> bool:
        self.looks.release()
        if self.is_broken:
            raise StorageError("the disk went away")
        return self.is_saved

    def reconcile(self) -> None:
        self.is_saved = False
        self.repaired.set()

    def wait_for_looks(self) -> None:
        assert all(self.looks.acquire(timeout=DEADLINE_SECONDS) for _ in range(2))


def test_a_store_is_looked_at_again_and_again_and_repaired_only_when_it_needs_it() -> None:
    store, watcher = Repairable(), Watcher()
    watcher.repair(store)
    store.wait_for_looks()
    assert not store.repaired.is_set()
    store.is_saved = True
    assert store.repaired.wait(DEADLINE_SECONDS)


@both_ways
def test_a_store_is_repaired_while_somebody_subscribes(
    notes: Path, aside: Path, *, poll: bool
) -> None:
    watcher, store = Watcher(poll=poll), Repairable()
    unsubscribe = FileAnnouncements({NOTES: [Files(notes)]}, watcher).subscribe(
        AnnouncementListener()
    )
    watcher.repair(store)
    store.wait_for_looks()
    store.is_saved = True
    assert store.repaired.wait(DEADLINE_SECONDS)
    unsubscribe()


def test_a_store_whose_disk_is_gone_is_named_once_and_keeps_no_other_from_being_repaired(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    broken, sound, watcher = Repairable(is_broken=True), Repairable(), Watcher()
    watcher.repair(broken)
    watcher.repair(sound)
    broken.wait_for_looks()
    sound.is_saved = True
    assert sound.repaired.wait(DEADLINE_SECONDS)
    assert caplog.text.count("the disk went away") == 1


def test_many_stores_have_one_thread_which_ends_when_nobody_uses_them() -> None:
    watcher = Watcher()
    before = find_threads()
    stores = [Repairable() for _ in range(5)]
    for store in [*stores, *stores]:
        watcher.repair(store)
    [thread] = [one for one in find_threads() if one not in before]
    assert thread.daemon
    left = weakref.ref(stores[0])
    del stores, store
    gc.collect()
    thread.join(DEADLINE_SECONDS)
    assert not thread.is_alive()
    assert left() is None
    watcher.repair(again := Repairable())
    again.wait_for_looks()


def test_a_child_that_is_forked_while_the_watcher_is_busy_can_write(tmp_path: Path) -> None:
    busy = MemoryStore(tmp_path / "busy.md")
    ends = []
    with repeating(lambda: SHARED.repair(busy)):
        for number in range(40):
            child = os.fork()
            if child == 0:
                signal.alarm(int(DEADLINE_SECONDS))  # whoever waits for ever is killed
                MemoryStore(tmp_path / f"{number}.md").add("茶")
                os._exit(0)
            ends.append(os.waitpid(child, 0)[1])
            if ends[-1]:
                break
    assert not any(ends)
    assert len(list(tmp_path.glob("*.md"))) == 40
