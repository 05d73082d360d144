"""The disk that forgets forgets what it should, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.torture.disk import Disk, Tree, UnknownCallError
from tests.torture.trace import Call, parse

ROOT = "/data"


def hexadecimal(text: str) -> str:
    return '"' + "".join(f"\\x{byte:02x}" for byte in text.encode()) + '"'


def call(name: str, *arguments: str | int, result: int = 0) -> Call:
    words = [
        hexadecimal(each) if isinstance(each, str) and each.startswith(("/", "=")) else str(each)
        for each in arguments
    ]
    return Call(1, name, tuple(word.replace("\\x3d", "", 1) for word in words), result)


def create(path: str, descriptor: int, flags: str = "O_WRONLY|O_CREAT|O_TRUNC") -> Call:
    return call("openat", "AT_FDCWD", path, flags, "0600", result=descriptor)


def write(descriptor: int, text: str) -> Call:
    return call("write", descriptor, f"={text}", len(text), result=len(text))


def sync_folder() -> list[Call]:
    opened = call("openat", "AT_FDCWD", ROOT, "O_RDONLY", result=9)
    return [opened, call("fsync", 9), call("close", 9)]


def after(calls: Sequence[Call], tree: Tree | None = None) -> list[Tree]:
    disk = Disk(ROOT, tree)
    for each in calls:
        disk.replay(each)
    return list(disk.after_cut())


def contents(trees: Sequence[Tree], name: str) -> set[bytes | None]:
    return {tree.get(name) for tree in trees}


def test_what_was_there_before_stays() -> None:
    assert after([], {"a": b"old", "sub/": b"", "sub/b": b"older"}) == [
        {"a": b"old", "sub/": b"", "sub/b": b"older"}
    ]


def test_data_that_was_not_synced_is_lost_kept_torn_or_zeroed() -> None:
    found = contents(after([create("/data/a", 3), write(3, "1234"), *sync_folder()]), "a")
    assert found == {b"", b"1234", b"12", b"\0\0\0\0"}


def test_data_that_was_synced_stays_but_its_name_may_be_lost() -> None:
    calls = [create("/data/a", 3), write(3, "1234"), call("fsync", 3)]
    assert contents(after(calls), "a") == {b"1234", None}
    assert contents(after([*calls, *sync_folder()]), "a") == {b"1234"}


def test_a_rename_may_be_kept_although_the_data_is_lost() -> None:
    calls = [create("/data/t", 3), write(3, "new!"), call("rename", "/data/t", "/data/a")]
    found = contents(after(calls, {"a": b"old"}), "a")
    assert {b"old", b"", b"ne", b"new!"} <= found
    assert None not in found


def test_a_rename_that_was_synced_on_both_sides_is_certain() -> None:
    calls = [create("/data/t", 3), write(3, "new!"), call("fsync", 3)]
    calls += [call("rename", "/data/t", "/data/a"), *sync_folder()]
    assert after(calls, {"a": b"old"}) == [{"a": b"new!"}]


def test_two_names_are_exchanged_whole_or_not_at_all() -> None:
    calls = [call("renameat2", "AT_FDCWD", "/data/a", "AT_FDCWD", "/data/b", "RENAME_EXCHANGE")]
    before, exchanged = {"a": b"1", "b": b"2"}, {"a": b"2", "b": b"1"}
    assert after(calls, before) == [before, exchanged]
    assert after([*calls, *sync_folder()], before) == [exchanged]


def test_rewriting_in_place_may_lose_both_versions() -> None:
    calls = [create("/data/a", 3), write(3, "new!")]
    assert {b"", b"old", b"new!", b"ne"} <= contents(after(calls, {"a": b"old"}), "a")


def test_appending_never_touches_what_was_synced_before() -> None:
    calls = [create("/data/a", 3, "O_WRONLY|O_APPEND"), write(3, "new!")]
    found = contents(after(calls, {"a": b"old"}), "a")
    assert found == {b"old", b"oldnew!", b"oldne", b"old\0\0\0\0"}


def test_writes_may_reach_the_disk_out_of_order() -> None:
    calls = [create("/data/a", 3, "O_RDWR"), write(3, "ab")]
    calls += [call("pwrite64", 3, "=cd", 2, 6, result=2)]
    assert b"old\0\0\0cd" in contents(after(calls, {"a": b"old"}), "a")


def test_a_removed_name_may_come_back_until_the_folder_is_synced() -> None:
    calls = [call("unlink", "/data/a")]
    assert contents(after(calls, {"a": b"old"}), "a") == {b"old", None}
    assert contents(after([*calls, *sync_folder()], {"a": b"old"}), "a") == {None}


def test_a_new_folder_may_be_lost_with_all_that_is_in_it() -> None:
    calls = [call("mkdir", "/data/sub", "0700"), create("/data/sub/a", 3), write(3, "1234")]
    calls += [call("fsync", 3)]
    calls += [call("openat", "AT_FDCWD", "/data/sub", "O_RDONLY", result=9), call("fsync", 9)]
    assert contents(after(calls), "sub/a") == {b"1234", None}
    assert contents(after([*calls, *sync_folder()]), "sub/a") == {b"1234"}


def test_a_call_that_failed_did_nothing() -> None:
    assert after([call("unlink", "/data/a", result=-1)], {"a": b"old"}) == [{"a": b"old"}]


def test_duplicated_descriptors_share_their_position() -> None:
    calls = [create("/data/a", 3), write(3, "12"), call("dup", 3, result=4), write(4, "34")]
    calls += [call("lseek", 3, 1, "SEEK_SET", result=1), write(4, "x"), call("fsync", 3)]
    assert contents(after([*calls, *sync_folder()]), "a") == {b"1x34"}


def test_an_unnamed_file_gets_its_name_by_a_link() -> None:
    calls = [create("/data", 3, "O_WRONLY|O_TMPFILE"), write(3, "1234"), call("fsync", 3)]
    link = ["AT_FDCWD", "/proc/self/fd/3", "AT_FDCWD", "/data/a", "AT_SYMLINK_FOLLOW"]
    calls += [call("linkat", *link), *sync_folder()]
    assert after(calls) == [{"a": b"1234"}]


def test_a_change_that_is_not_modelled_is_an_error() -> None:
    with pytest.raises(UnknownCallError):
        after([create("/data/a", 3), call("fallocate", 3, 0, 0, 4096)])


def test_calls_are_read_from_the_log_in_the_order_in_which_they_ended() -> None:
    log = [
        f"7 openat(AT_FDCWD, {hexadecimal('/data/a')}, O_RDWR|O_CREAT, 0600) = 3",
        "7 fsync(3 <unfinished ...>",
        f"8 write(1, {hexadecimal('hello, (world')}, 13) = 13",
        "7 <... fsync resumed>) = 0",
        "7 fsync(3) = -1 EIO (Input/output error) (INJECTED)",
        "7 +++ exited with 0 +++",
    ]
    calls = list(parse(log))
    assert [(each.name, each.result) for each in calls] == [
        ("openat", 3),
        ("write", 13),
        ("fsync", 0),
        ("fsync", -1),
    ]
    assert calls[1].data(1) == b"hello, (world"
    assert calls[-1].injected


def test_a_text_that_strace_cut_short_is_an_error() -> None:
    (cut,) = parse(['write(3, "\\x61"..., 2) = 2'])
    with pytest.raises(ValueError, match="raise -s"):
        cut.data(1)
