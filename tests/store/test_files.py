"""The only module that changes a user's file: one step, durable, explained when it fails."""

from __future__ import annotations

import fcntl
import logging
import os
import signal
import stat
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import brief
from turnleaf.errors import StorageError
from turnleaf.store.files import atomic

if TYPE_CHECKING:
    from collections.abc import Callable

BOUND_SECONDS = 60


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def list_visible_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.txt"


# Changing


def swap(held: atomic.Held, new: bytes, expected: bytes) -> None:
    held.swap(new, lambda: held.read() == expected)


@brief
@given(st.lists(st.binary(max_size=200), min_size=1, max_size=4))
def test_a_change_gets_the_old_bytes_and_puts_the_new(
    tmp_path: Path, all_of_them: list[bytes]
) -> None:
    path = tmp_path / "file.txt"
    path.unlink(missing_ok=True)
    seen: list[bytes | None] = []
    for data in all_of_them:

        def edit(before: bytes | None, after: bytes = data) -> bytes:
            seen.append(before)
            return after

        assert atomic.change(path, edit) == data
        assert atomic.read(path) == data
    assert seen == [None, *all_of_them[:-1]]


def test_a_change_that_changes_nothing_does_not_touch_the_file(path: Path) -> None:
    path.write_bytes(b"x")
    before = path.stat()
    atomic.change(path, lambda data: data or b"")
    assert path.stat().st_ino == before.st_ino
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def test_an_edit_that_fails_leaves_the_file_and_lets_go_of_the_lock(path: Path) -> None:
    path.write_bytes(b"old")

    def fail(_: bytes | None) -> bytes:
        raise LookupError

    with pytest.raises(LookupError):
        atomic.change(path, fail)
    assert path.read_bytes() == b"old"
    assert atomic.change(path, lambda _: b"new") == b"new"


def test_nothing_is_left_beside_but_the_lock(path: Path) -> None:
    atomic.change(path, lambda _: b"x")
    assert sorted(one.name for one in path.parent.iterdir()) == [".file.txt.lock", "file.txt"]


def test_what_a_kill_left_beside_is_no_obstacle(path: Path) -> None:
    path.write_bytes(b"old")
    (path.parent / ".file.txt.tmp").write_bytes(b"half of somethi")
    assert atomic.change(path, lambda data: (data or b"") + b" new") == b"old new"
    assert list_visible_files(path.parent) == ["file.txt"]


def test_a_reader_never_sees_half_a_file(path: Path) -> None:
    texts = [bytes([65 + number]) * 300_000 for number in range(2)]
    path.write_bytes(texts[0])
    done = Event()
    seen: set[bytes] = set()

    def look() -> None:
        while not done.is_set():
            seen.add(atomic.read(path) or b"")

    reader = Thread(target=look)
    reader.start()
    for number in range(20):
        atomic.change(path, lambda _, n=number: texts[n % 2])  # type: ignore[misc]
    done.set()
    reader.join(BOUND_SECONDS)
    assert seen <= set(texts)
    assert seen


def test_the_lock_keeps_other_threads_out(path: Path) -> None:
    path.write_bytes(b"0")

    def work() -> None:
        for _ in range(50):
            atomic.change(path, lambda data: str(int(data or b"0") + 1).encode())

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(BOUND_SECONDS)
    assert path.read_bytes() == b"200"


def test_the_lock_keeps_other_processes_out(path: Path) -> None:
    path.write_bytes(b"0")
    program = (
        "import sys; from pathlib import Path; from turnleaf.store.files import atomic\n"
        "for _ in range(100): atomic.change(Path(sys.argv[1]), "
        "lambda data: str(int(data) + 1).encode())"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(path)]) for _ in range(3)]
    assert [process.wait(BOUND_SECONDS) for process in running] == [0, 0, 0]
    assert path.read_bytes() == b"300"


# Modes and links


def test_a_new_file_is_private_whatever_the_umask(path: Path) -> None:
    old = os.umask(0)
    try:
        atomic.change(path, lambda _: b"x")
        atomic.write(path.with_name("written"), b"x")
        with atomic.lock(path.with_name("appended")) as held:
            held.append(b"x\n")
    finally:
        os.umask(old)
    assert {mode(one) for one in path.parent.iterdir()} == {0o600}


@pytest.mark.parametrize("kept", [0o600, 0o640, 0o644, 0o664])
def test_a_file_keeps_its_mode(path: Path, kept: int) -> None:
    path.write_bytes(b"old")
    path.chmod(kept)
    atomic.change(path, lambda _: b"new")
    assert mode(path) == kept
    atomic.write(path, b"newer")
    assert mode(path) == kept
    with atomic.lock(path) as held:
        swap(held, b"newest", b"newer")
    assert mode(path) == kept


def test_a_file_keeps_its_owner_and_its_group(path: Path) -> None:
    """Only root can give files away; others have only their groups to choose from."""
    nobody = 65534
    owner, group = (nobody, nobody) if os.geteuid() == 0 else (os.geteuid(), os.getgroups()[-1])
    path.write_bytes(b"old")
    os.chown(path, owner, group)
    atomic.change(path, lambda _: b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (owner, group)


def test_links_are_followed_to_the_file_that_everybody_locks(path: Path) -> None:
    folder = path.parent / "folder"
    folder.mkdir()
    (folder / "file.txt").write_bytes(b"x")
    (path.parent / "to-folder").symlink_to(folder)
    path.symlink_to(path.parent / "to-folder" / "file.txt")
    assert atomic.resolve(path) == (folder / "file.txt").resolve()
    assert atomic.resolve(str(path)) == atomic.resolve(path)


def test_a_path_that_no_system_has_is_refused() -> None:
    with pytest.raises(StorageError, match="choose another path"):
        atomic.resolve("a\0b")


def test_folders_are_made_and_private(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        atomic.make_folder(tmp_path / "a" / "b" / "c")
    finally:
        os.umask(old)
    assert [mode(tmp_path / each) for each in ("a", "a/b", "a/b/c")] == [0o700] * 3


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    atomic.make_folder(tmp_path)
    assert mode(tmp_path) == 0o755


def test_a_file_where_a_folder_should_be_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("not a folder")
    for folder in (tmp_path / "a", tmp_path / "a" / "b"):
        with pytest.raises(StorageError, match=r"cannot create .*: a part of its path is a file"):
            atomic.make_folder(folder)


# Reading


def test_what_is_not_there_is_none_and_what_is_empty_is_empty(path: Path) -> None:
    assert atomic.read(path) is None
    path.write_bytes(b"")
    assert atomic.read(path) == b""


def test_what_cannot_be_read_is_an_error_and_never_empty(path: Path) -> None:
    path.mkdir()
    with pytest.raises(StorageError, match=r"cannot read .*file\.txt: it is a folder, not a file"):
        atomic.read(path)


def test_the_same_bytes_have_the_same_name(path: Path) -> None:
    assert atomic.name_version(b"x") == atomic.name_version(b"x")
    assert len({atomic.name_version(data) for data in (b"x", b"y", b"", None)}) == 4


def test_the_end_of_a_file_is_read_alone(path: Path) -> None:
    assert atomic.read_from(path, -3).data == b""
    path.write_bytes(b"0123456789")
    assert atomic.read_from(path, -3)[1:] == (7, b"789")
    assert atomic.read_from(path, -99)[1:] == (0, b"0123456789")
    assert atomic.read_from(path, 8)[1:] == (8, b"89")
    assert atomic.read_from(path, 99)[1:] == (99, b"")


def test_what_is_not_there_was_changed_at_the_beginning_of_time(path: Path) -> None:
    assert atomic.read_mtime(path) == datetime(1970, 1, 1, tzinfo=UTC)
    path.write_bytes(b"x")
    os.utime(path, (100, 100))
    assert atomic.read_mtime(path).timestamp() == 100


# Appending


def test_what_is_appended_can_be_taken_back(path: Path) -> None:
    with atomic.lock(path) as held:
        assert held.append(b"one\n") == 0
        size = held.append(b"two\n")
        assert held.read() == b"one\ntwo\n"
        held.cut_back(size)
    assert path.read_bytes() == b"one\n"


def test_a_line_without_an_end_is_ended_first(path: Path) -> None:
    path.write_bytes(b"torn")
    with atomic.lock(path) as held:
        size = held.append(b"whole\n")
        assert held.read() == b"torn\nwhole\n"
        held.cut_back(size)
    assert path.read_bytes() == b"torn"


def test_a_file_can_be_removed_and_removed_again(path: Path) -> None:
    path.write_bytes(b"x")
    with atomic.lock(path) as held:
        held.remove()
        held.remove()
    assert not path.exists()


# Swapping


def test_a_swap_keeps_what_it_replaced(path: Path) -> None:
    path.write_bytes(b"old")
    with atomic.lock(path) as held:
        swap(held, b"new", b"old")
    assert path.read_bytes() == b"new"
    assert atomic.find_previous(path).read_bytes() == b"old"
    assert list_visible_files(path.parent) == ["file.txt"]
    atomic.drop_previous(path)
    atomic.drop_previous(path)
    assert not atomic.find_previous(path).exists()


def test_what_somebody_writes_into_the_replaced_file_is_found(path: Path) -> None:
    path.write_bytes(b"old")
    with path.open("r+b", buffering=0) as editor:
        with atomic.lock(path) as held:
            swap(held, b"new", b"old")
        editor.write(b"edited too late")
    assert path.read_bytes() == b"new"
    assert atomic.find_previous(path).read_bytes() == b"edited too late"


def test_what_somebody_saved_since_it_was_read_is_left_alone(path: Path) -> None:
    path.write_bytes(b"saved by somebody else")
    with atomic.lock(path) as held, pytest.raises(atomic.ChangedMeanwhile):
        swap(held, b"new", b"old")
    assert path.read_bytes() == b"saved by somebody else"


def test_a_swap_that_is_overtaken_leaves_what_the_last_one_kept(path: Path) -> None:
    path.write_bytes(b"old")
    with path.open("r+b", buffering=0) as editor:
        with atomic.lock(path) as held:
            swap(held, b"new", b"old")
        editor.write(b"edited too late")
    path.write_bytes(b"saved by somebody else")
    with atomic.lock(path) as held, pytest.raises(atomic.ChangedMeanwhile):
        swap(held, b"newer", b"new")
    assert atomic.find_previous(path).read_bytes() == b"edited too late"


# Damage


def test_what_cannot_be_used_is_kept_under_another_name(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path.write_bytes(b"damaged")
    path.chmod(0o640)
    with caplog.at_level(logging.WARNING, "turnleaf"), atomic.lock(path) as held:
        copies = [held.move_aside("it is broken") for _ in range(2)]
    assert len(set(copies)) == 2
    for copy in copies:
        assert copy.name.startswith("file.txt.corrupt-")
        assert copy.read_bytes() == b"damaged"
        assert mode(copy) == 0o640
        assert f"(it is broken); it was set aside as {copy}" in caplog.text


def test_what_belongs_to_it_goes_aside_with_it(path: Path) -> None:
    for name in ("file.txt", "file.txt-wal"):
        path.with_name(name).write_bytes(name.encode())
    with atomic.lock(path) as held:
        aside = held.set_aside("it is broken", companions=("-wal", "-shm"))
    assert aside.read_bytes() == b"file.txt"
    assert Path(f"{aside}-wal").read_bytes() == b"file.txt-wal"
    assert not path.exists()
    assert not path.with_name("file.txt-wal").exists()


def test_a_content_without_a_place_gets_one(path: Path) -> None:
    with atomic.lock(path) as held:
        one, other = held.keep_copy(b"1", "conflict"), held.keep_copy(b"2", "conflict")
    assert [one.read_bytes(), other.read_bytes()] == [b"1", b"2"]
    assert one.name.startswith("file.txt.conflict-")


# A file that can only be overwritten, after a kill in the middle


def test_what_a_kill_interrupted_is_read_as_it_will_be(path: Path) -> None:
    path.write_bytes(b"new, but only ha old old old")
    (path.parent / ".file.txt.redo").write_bytes(b"new, but only half")
    assert atomic.read(path) == b"new, but only half"


def test_what_a_kill_interrupted_is_finished_by_the_next_to_lock(path: Path) -> None:
    path.write_bytes(b"new, but only ha old old old")
    (path.parent / ".file.txt.redo").write_bytes(b"new, but only half")
    with atomic.lock(path) as held:
        assert held.read() == b"new, but only half"
    assert path.read_bytes() == b"new, but only half"
    assert not (path.parent / ".file.txt.redo").exists()


# Errors


def test_a_folder_in_a_file_s_place_is_an_error_that_says_so(path: Path) -> None:
    path.mkdir()
    for attempt in (
        lambda: atomic.change(path, lambda _: b"x"),
        lambda: atomic.write(path, b"x"),
    ):
        with pytest.raises(StorageError, match="it is a folder, not a file; choose another path"):
            attempt()
    assert list_visible_files(path.parent) == ["file.txt"]


def test_a_pipe_is_not_replaced_by_a_file(path: Path) -> None:
    os.mkfifo(path)
    with pytest.raises(StorageError, match="a device or a pipe, which a file would replace"):
        atomic.write(path, b"x")
    assert path.is_fifo()
    assert list_visible_files(path.parent) == ["file.txt"]


def test_a_folder_that_is_not_there_is_an_error_that_says_so(path: Path) -> None:
    missing = path.parent / "missing" / "file.txt"
    with pytest.raises(StorageError, match="has the folder been moved or a disk been unplugged"):
        atomic.change(missing, lambda _: b"x")


def test_a_name_that_is_too_long_is_an_error_that_says_so(path: Path) -> None:
    with pytest.raises(StorageError, match="its name is too long; choose a shorter one"):
        atomic.write(path.with_name("x" * 256), b"x")


def test_links_that_go_in_a_circle_are_an_error_that_says_so(path: Path) -> None:
    path.symlink_to(path)
    with pytest.raises(StorageError, match="form a loop"):
        atomic.read(path)


def test_a_read_only_file_is_respected(ground: Path) -> None:
    program = (
        "import os, sys; from pathlib import Path; from turnleaf.store.files import atomic\n"
        "from turnleaf.errors import StorageError\n"
        "if os.geteuid() == 0: os.setgid(65534); os.setuid(65534)\n"
        "path = Path(sys.argv[1])\n"
        "for act in (lambda: atomic.write(path, b'x'), "
        "lambda: atomic.change(path, lambda _: b'x')):\n"
        "    try: act()\n"
        "    except StorageError as error: print(error)\n"
    )
    target = ground / "file.txt"
    target.write_bytes(b"old")
    target.chmod(0o444)
    ground.chmod(0o777)
    said = subprocess.run(
        [sys.executable, "-c", program, str(target)], capture_output=True, text=True, check=True
    ).stdout
    assert said.count("permission is denied; check who owns the file and its folder") == 2
    assert target.read_bytes() == b"old"
    assert list_visible_files(ground) == ["file.txt"]


def test_a_file_that_vanished_is_named_with_what_to_do(path: Path) -> None:
    assert "put it back (turnleaf restore), or restart" in str(atomic.make_vanished_error(path))
    assert str(path) in str(atomic.make_vanished_error(path))


# Locking


def hold(path: Path, has_it: Event, may_end: Event) -> None:
    with atomic.lock(path):
        has_it.set()
        assert may_end.wait(BOUND_SECONDS)


def is_locked(path: Path, suffix: str = "lock") -> bool:
    with path.with_name(f".{path.name}.{suffix}").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def wait_until(is_so: Callable[[], bool]) -> None:
    end = monotonic() + BOUND_SECONDS
    while not is_so():
        assert monotonic() < end


def test_whoever_gives_way_has_the_lock_only_after_those_who_waited(path: Path) -> None:
    order: list[str] = []

    def wait() -> None:
        with atomic.lock(path):
            order.append("waited")

    with atomic.lock(path):
        waiting = Thread(target=wait)
        waiting.start()
        wait_until(lambda: is_locked(path, "line"))
    atomic.give_way(path)
    with atomic.lock(path):
        order.append("gave way")
    waiting.join(BOUND_SECONDS)
    assert order == ["waited", "gave way"]


def test_giving_way_to_nobody_leaves_no_lock(path: Path) -> None:
    atomic.give_way(path)
    assert not is_locked(path)


def test_a_kept_lock_excludes_others_while_it_is_held_and_only_then(path: Path) -> None:
    kept = atomic.KeptLock(path)
    for _ in range(2):
        with kept:
            assert is_locked(path)
        assert not is_locked(path)


def test_a_kept_lock_waits_for_others(path: Path) -> None:
    kept, has_it, may_end, order = atomic.KeptLock(path), Event(), Event(), []
    with kept:
        pass
    other = Thread(target=hold, args=(path, has_it, may_end))
    other.start()
    assert has_it.wait(BOUND_SECONDS)

    def take() -> None:
        with kept:
            order.append("taken")

    taking = Thread(target=take)
    taking.start()
    wait_until(lambda: is_locked(path, "line"))
    assert order == []
    may_end.set()
    taking.join(BOUND_SECONDS)
    other.join(BOUND_SECONDS)
    assert order == ["taken"]


def test_a_kept_lock_whose_file_was_deleted_is_taken_on_the_new_one(path: Path) -> None:
    kept = atomic.KeptLock(path)
    with kept:
        pass
    path.with_name(f".{path.name}.lock").unlink()
    with kept:
        assert is_locked(path)


def test_a_child_does_not_keep_what_its_parent_had_locked(path: Path) -> None:
    kept = atomic.KeptLock(path)
    with kept:
        child = os.fork()
        if child == 0:
            signal.pause()
    kept.__enter__()
    kept.close()
    try:
        wait_until(lambda: not is_locked(path))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def test_a_kept_lock_finishes_what_a_kill_interrupted(path: Path) -> None:
    path.write_bytes(b"half")
    path.with_name(f".{path.name}.redo").write_bytes(b"the whole content")
    with atomic.KeptLock(path):
        assert path.read_bytes() == b"the whole content"
