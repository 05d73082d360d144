from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import stat
import subprocess
import sys
import tarfile
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from tests.store import others
from tests.store.older import archive as archive_messages
from tests.store.older import make_messages, write_conversations
from turnleaf.errors import CorruptFile, InvalidInput, NotFound, StorageError, TurnleafError
from turnleaf.settings import Settings
from turnleaf.store.contracts import Stores
from turnleaf.store.files.backup import MANIFEST, backup, is_empty, pack_files, restore, verify
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.conversations.takeover import take_over_older
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.facts.memories import MemoryStore

ROOMY = Settings(memory_max_items=100_000, memory_max_chars=10_000_000)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "saved.tar.gz"


def memory(data: Path) -> MemoryStore:
    return MemoryStore(data / "prompts" / "memory" / "MEMORY.md", settings=ROOMY)


def conversations(data: Path, suffix: str = "json") -> ConversationStore:
    location = data / "conversations" / f"conversations.{suffix}"
    return ConversationStore(location, settings=ROOMY)


def fill(data: Path) -> None:
    store = memory(data)
    store.add("客廳的燈叫做小明", "家")
    store.add("two\nlines")
    conversations(data).add_exchange("slack:1", "早安", "hello")
    DailyLog(data / "prompts" / "memory" / "daily").append("澆花")
    (data / "memory-config.json").write_text('{"memoryMaxItems": 50}\n', "utf-8")
    (data / "prompts" / "我的 notes.txt").write_bytes(b"mine\r\n\xff\0")
    (data / "empty.txt").touch()


def test_older_facts_are_saved_restored_and_taken_away_with_the_memory(
    data: Path, file: Path
) -> None:
    store = memory(data)
    store.retire([store.add("I have a cat").id])
    backup(data, file)
    store.retire([store.add("I like tea").id])
    restore(data, file)
    assert [one.content for one in memory(data).older()] == ["I have a cat"]
    empty = file.with_name("empty.tar.gz")
    other = data.with_name("other")
    memory(other).add("something else")
    backup(other, empty)
    restore(data, empty)
    assert memory(data).older() == []
    assert not store.location.with_name("OLDER.md").exists()


def contents(folder: Path) -> dict[str, bytes]:
    """Read what a person would call the folder's files."""
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in paths
        if not path.name.startswith(".")
    }


# The round trip


def test_a_restore_gives_every_byte_back(data: Path, file: Path, tmp_path: Path) -> None:
    fill(data)
    before = contents(data)
    saved = backup(data, file)
    assert saved.files == len(before)
    restored = restore(tmp_path / "other", file)
    assert contents(tmp_path / "other") == before
    assert (restored.files, restored.removed, restored.safety) == (len(before), (), None)


def test_a_restore_takes_back_all_that_happened_since(data: Path, file: Path) -> None:
    fill(data)
    before = contents(data)
    backup(data, file)
    memory(data).add("later")
    memory(data).delete(memory(data).get_all()[0].id)
    conversations(data).add_exchange("slack:2", "more", "more")
    (data / "prompts" / "我的 notes.txt").write_text("changed", "utf-8")
    (data / "schedules.json").write_text("[]", "utf-8")
    later = contents(data)
    restored = restore(data, file)
    assert contents(data) == before
    assert restored.removed == ("schedules.json",)
    assert restored.safety is not None
    restore(data, restored.safety)
    assert contents(data) == later


def test_what_is_not_ours_and_not_in_the_backup_stays(data: Path, file: Path) -> None:
    fill(data)
    backup(data, file)
    (data / "diary.txt").write_text("mine", "utf-8")
    assert restore(data, file).removed == ()
    assert (data / "diary.txt").read_text("utf-8") == "mine"


def test_the_stores_work_on_after_a_restore(data: Path, file: Path) -> None:
    running = memory(data)
    running.add("one")
    backup(data, file)
    running.add("two")
    restore(data, file)
    assert [one.content for one in running.get_all()] == ["one"]
    assert [one.content for one in running.reconcile()] == []
    running.add("three")
    assert [one.content for one in memory(data).get_all()] == ["one", "three"]
    assert [change.op for change in memory(data).changes()] == ["add", "add"]


def test_a_database_is_saved_with_what_is_still_in_its_log(
    data: Path, file: Path, tmp_path: Path
) -> None:
    store = conversations(data, "db")
    for number in range(50):
        store.add_exchange(f"key {number % 5}", f"問 {number}", "答")
    assert (data / "conversations" / "conversations.db-wal").stat().st_size > 0
    backup(data, file)
    assert list(verify(file)) == ["conversations/conversations.db"]
    restore(tmp_path / "other", file)
    copy = conversations(tmp_path / "other", "db")
    assert copy.get_history("key 3") == store.get_history("key 3")
    store.close()
    copy.close()


def test_a_database_that_is_open_is_restored_in_place(data: Path, file: Path) -> None:
    store = conversations(data, "db")
    store.add_exchange("a", "one", "1")
    backup(data, file)
    store.add_exchange("a", "two", "2")
    store.add_exchange("b", "three", "3")
    restore(data, file)
    assert [one.content for one in store.get_history("a")] == ["one", "1"]
    assert store.get_history("b") == []
    store.add_exchange("b", "four", "4")
    again = conversations(data, "db")
    assert [one.key for one in again.summaries()] == ["b", "a"]
    store.close()
    again.close()


def test_a_file_that_only_looks_like_a_database_is_saved_as_it_is(
    data: Path, file: Path, tmp_path: Path
) -> None:
    data.mkdir()
    (data / "mine.db").write_bytes(b"not a database at all" * 100)
    backup(data, file)
    restore(tmp_path / "other", file)
    assert contents(tmp_path / "other") == contents(data)


# What is saved, and how


def test_derived_and_passing_files_are_left_out(data: Path, file: Path) -> None:
    fill(data)
    names = {*contents(data)}
    passing = ("index.db", "index.db-wal", ".MEMORY.md.tmp", "prompts/.x.previous", "a.db-shm")
    for name in (*passing, "http-token"):
        (data / name).write_bytes(b"x")
    backup(data, file)
    assert {*verify(file)} == names


def test_spaces_are_saved_and_restored_as_the_folder_itself_is(data: Path, file: Path) -> None:
    with Stores.open(data) as stores, Stores.open(data, space="anna") as anna:
        stores.facts.add("客廳的燈叫做小明")
        anna.facts.add("I like tea")
        anna.records.put("sessions", "1", b"one")
        anna.passages.search("tea")
    backup(data, file)
    assert not any("index.db" in path for path in verify(file))
    with Stores.open(data, space="anna") as anna:
        anna.facts.add("I like coffee")
        anna.daily.append("since then")
    with Stores.open(data, space="bob") as bob:
        bob.facts.add("I came later")
    restore(data, file)
    with Stores.open(data, space="anna") as anna, Stores.open(data, space="bob") as bob:
        assert [one.content for one in anna.facts.get_all()] == ["I like tea"]
        assert anna.records.get("sessions", "1") is not None
        assert anna.daily.dates() == []
        assert bob.facts.get_all() == []


def test_a_backup_can_be_read_with_ordinary_tools(data: Path, file: Path) -> None:
    fill(data)
    backup(data, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with tarfile.open(file) as archive:
        first, *others = archive.getnames()
        assert first == MANIFEST
        assert others == sorted(others)
        assert {name.removeprefix("data/") for name in others} == {*contents(data)}
        manifest = json.loads(archive.extractfile(MANIFEST).read())  # type: ignore[union-attr]
    sums = {entry["path"]: entry["sha256"] for entry in manifest["files"]}
    assert sums == {
        name: hashlib.sha256(content).hexdigest() for name, content in contents(data).items()
    }


def test_the_same_folder_at_the_same_time_gives_the_same_bytes(data: Path, tmp_path: Path) -> None:
    fill(data)
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    for name in ("one", "two"):
        backup(data, tmp_path / name, now=lambda: moment)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_symbolic_links_are_followed_as_the_stores_follow_them(
    data: Path, file: Path, tmp_path: Path
) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "MEMORY.md").write_text("- linked\n", "utf-8")
    data.mkdir()
    (data / "prompts").symlink_to(notes)
    (notes / "loop").symlink_to(notes)
    (data / "dangling").symlink_to(tmp_path / "nowhere")
    backup(data, file)
    assert list(verify(file)) == ["prompts/MEMORY.md"]
    (notes / "MEMORY.md").write_text("- changed\n", "utf-8")
    restore(data, file)
    assert (data / "prompts").is_symlink()
    assert (notes / "MEMORY.md").read_text("utf-8") == "- linked\n"


def test_what_is_no_file_is_not_waited_for(data: Path, file: Path) -> None:
    fill(data)
    os.mkfifo(data / "pipe")
    backup(data, file)
    assert "pipe" not in verify(file)


def test_names_in_any_bytes_come_back(data: Path, file: Path, tmp_path: Path) -> None:
    data.mkdir()
    odd = Path(os.fsdecode(os.fsencode(data) + b"/caf\xe9 \n.txt"))
    odd.write_text("x", "utf-8")
    backup(data, file)
    restore(tmp_path / "other", file)
    assert contents(tmp_path / "other") == contents(data)


def test_a_name_as_long_as_a_name_can_be_comes_back(data: Path, file: Path, tmp_path: Path) -> None:
    data.mkdir()
    (data / ("長" * 83 + "a.md")).write_text("x", "utf-8")
    backup(data, file)
    restore(data, file)
    restore(tmp_path / "other", file)
    assert contents(tmp_path / "other") == contents(data)


def test_hundreds_of_days_are_saved(data: Path, file: Path) -> None:
    folder = data / "prompts" / "memory" / "daily"
    folder.mkdir(parents=True)
    for number in range(700):
        (folder / f"{2000 + number // 360}-{number % 12 + 1:02}-{number % 30 + 1:02}.md").touch()
    count = len(list(folder.iterdir()))
    assert backup(data, file).files == count


def test_a_place_inside_the_folder_is_refused(data: Path) -> None:
    fill(data)
    with pytest.raises(InvalidInput, match="outside"):
        backup(data, data / "saved.tar.gz")


@pytest.mark.parametrize("inside", ["", "data", "data/prompts"])
def test_nothing_cannot_be_saved(data: Path, file: Path, inside: str) -> None:
    (data.parent / inside).mkdir(parents=True, exist_ok=True)
    assert is_empty(data)
    with pytest.raises(NotFound):
        backup(data, file)
    assert not file.exists()


def test_a_place_that_cannot_be_written_leaves_the_folder_alone(data: Path, tmp_path: Path) -> None:
    fill(data)
    before = contents(data)
    with pytest.raises(StorageError):
        backup(data, tmp_path / "missing" / "saved.tar.gz")
    assert contents(data) == before


# While others write

WRITER = """
import sys
from pathlib import Path
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.daily import DailyLog
from turnleaf.store.files.facts.memories import MemoryStore

data = Path(sys.argv[1])
settings = Settings(memory_max_items=100_000, memory_max_chars=10_000_000,
                    conversation_max_turns=10)
memory = MemoryStore(data / "prompts" / "memory" / "MEMORY.md", settings=settings)
json = ConversationStore(data / "conversations" / "conversations.json", settings=settings)
database = ConversationStore(data / "conversations" / "conversations.db", settings=settings)
daily = DailyLog(data / "prompts" / "memory" / "daily")
for number in range(1_000_000):
    memory.add(f"fact {number}")
    json.add_exchange("json", f"number {number}", "ok")
    database.add_exchange("database", f"number {number}", "ok")
    daily.append(f"entry {number}")
    print(number, flush=True)
"""


@contextmanager
def writing(data: Path) -> Iterator[subprocess.Popen[str]]:
    """Run a process that writes to every store and reports each round that it has finished."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(data)], stdout=subprocess.PIPE, encoding="utf-8"
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


def read_rounds(process: subprocess.Popen[str], rounds: int) -> int:
    assert process.stdout
    return [int(process.stdout.readline()) for _ in range(rounds)][-1]


def number_of(text: str) -> int:
    return int(text.rsplit(maxsplit=1)[-1])


def test_a_backup_while_another_process_writes_is_one_moment(data: Path, tmp_path: Path) -> None:
    with writing(data) as process:
        for attempt in range(4):
            done = read_rounds(process, 5)
            backup(data, tmp_path / f"{attempt}.tar.gz")
            copy = tmp_path / f"copy {attempt}"
            restore(copy, tmp_path / f"{attempt}.tar.gz")
            check_moment(copy, done)


def check_moment(copy: Path, done: int) -> None:
    """See that every store is complete and that none is ahead of another by more than one step."""
    store = memory(copy)
    record = [change.after.content for change in store.changes() if change.after]
    facts = [one.content for one in store.get_all()]
    assert facts == record
    assert facts == [f"fact {number}" for number in range(len(facts))]
    ends = [number_of(facts[-1])]
    for suffix in ("json", "db"):
        shelf = conversations(copy, suffix)
        key = "json" if suffix == "json" else "database"
        ends.append(number_of(str(shelf.get_history(key)[-2].content)))
        shelf.close()
    days = sorted((copy / "prompts" / "memory" / "daily").glob("*.md"))
    ends.append(number_of(days[-1].read_text("utf-8").splitlines()[-1]))
    assert ends == sorted(ends, reverse=True)
    assert done <= ends[-1] <= ends[0] <= ends[-1] + 1


def test_a_restore_while_another_process_writes_loses_nothing(data: Path, tmp_path: Path) -> None:
    with writing(data) as process:
        read_rounds(process, 5)
        backup(data, tmp_path / "saved.tar.gz")
        done = read_rounds(process, 5)
        restored = restore(data, tmp_path / "saved.tar.gz")
        read_rounds(process, 5)
    assert restored.safety
    restore(tmp_path / "before", restored.safety)
    check_moment(tmp_path / "before", done)
    facts = [number_of(one.content) for one in memory(data).get_all()]
    assert facts == sorted(set(facts))


# Conversations of older versions


def write_older(data: Path) -> None:
    folder = data / "conversations"
    archive_messages(folder, "a", make_messages("zero", "one"))
    write_conversations(
        folder, {"a": make_messages("two", "three", after=2), "b": make_messages("four")}
    )


def list_texts(store: ConversationStore, key: str) -> list[object]:
    return [one.message.content for one in store.messages(key)]


def test_an_older_backup_is_restored_and_then_taken_over(data: Path, file: Path) -> None:
    write_older(data)
    backup(data, file)
    store = conversations(data, "db")
    take_over_older(store.location, store)
    store.add_exchange("a", "later", "gone again")
    store.close()
    restored = restore(data, file)
    assert "conversations/conversations.db" in restored.removed
    assert sum(".taken-over-" in path for path in restored.removed) == 2
    take_over_older(store.location, store)
    assert list_texts(store, "a") == ["zero", "one", "two", "three"]
    assert list_texts(store, "b") == ["four"]
    store.close()


def test_a_restored_database_has_another_identity(data: Path, file: Path) -> None:
    store = conversations(data, "db")
    store.add_exchange("a", "one", "1")
    before = store.changes_since(None)
    backup(data, file)
    store.add_exchange("a", "two", "2")
    restore(data, file)
    after = store.changes_since(None)
    assert [one.message for one in after.found] == [one.message for one in before.found]
    assert after.database != before.database
    store.close()


def test_a_takeover_and_a_backup_do_not_wait_for_each_other_for_ever(
    data: Path, tmp_path: Path
) -> None:
    store = conversations(data, "db")
    store.init()
    stop = threading.Event()

    def save() -> None:
        number = 0
        while not stop.is_set():
            backup(data, tmp_path / f"{number}.tar.gz")
            number += 1

    saving = threading.Thread(target=save, daemon=True)
    saving.start()
    for _ in range(30):
        write_older(data)
        take_over_older(store.location, store)
    stop.set()
    saving.join(60)
    assert not saving.is_alive()
    assert list_texts(store, "b") == ["four"]
    store.close()


# When it cannot be finished


def test_a_restore_that_fails_half_way_says_what_to_do(data: Path, file: Path) -> None:
    fill(data)
    (data / "zzz.txt").write_text("last", "utf-8")
    before = contents(data)
    backup(data, file)
    memory(data).add("later")
    (data / "zzz.txt").write_text("changed", "utf-8")
    in_the_way = data / ".zzz.txt.tmp"
    in_the_way.mkdir()
    with pytest.raises(StorageError, match="zzz") as caught:
        restore(data, file)
    (safety,) = data.parent.glob("data.before-restore-*")
    assert "some files may already be restored" in str(caught.value)
    assert f"the previous contents are in {safety}; run the command again" in str(caught.value)
    in_the_way.rmdir()
    restore(data, file)
    assert contents(data) == before


def test_without_anything_before_no_place_of_it_is_named(data: Path, file: Path) -> None:
    fill(data)
    backup(data, file)
    other = data.parent / "other"
    (other / ".empty.txt.tmp").mkdir(parents=True)
    with pytest.raises(
        StorageError, match="some files may already be restored; run the command again"
    ):
        restore(other, file)


def restore_as_nobody(data: Path, file: Path) -> str:
    """Restore as a user to whom permissions apply and return what is printed."""
    done = subprocess.run(
        [sys.executable, "-c", NOBODY, str(data), str(file)],
        cwd=others.ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return done.stdout


NOBODY = """
import sys
from tests.store import others
from turnleaf.store.files.backup import restore

others.become_nobody()
print(others.catch_refusal(lambda: print(restore(*sys.argv[1:]).safety)))
"""


@pytest.fixture
def fenced_folder(ground: Path) -> Path:
    """Make a data folder that anybody may write, in a folder that only its owner may."""
    data = ground / "fence" / "data"
    data.mkdir(parents=True)
    for name in ("a.txt", "b.txt"):
        (data / name).write_text("舊", "utf-8")
        (data / name).chmod(0o666)
    data.chmod(0o777)
    data.parent.chmod(0o755)
    return data


def test_what_was_there_is_saved_beside_the_backup_when_not_beside_the_folder(
    fenced_folder: Path, ground: Path
) -> None:
    kept = ground / "kept"
    kept.mkdir()
    kept.chmod(0o777)
    backup(fenced_folder, kept / "saved.tar.gz")
    (kept / "saved.tar.gz").chmod(0o644)
    (fenced_folder / "a.txt").write_text("新", "utf-8")
    said = restore_as_nobody(fenced_folder, kept / "saved.tar.gz").splitlines()
    (safety,) = kept.glob("data.before-restore-*")
    assert said == [str(safety), "it was done"]
    assert (fenced_folder / "a.txt").read_text("utf-8") == "舊"
    restore(ground / "other", safety)
    assert (ground / "other" / "a.txt").read_text("utf-8") == "新"


@pytest.mark.parametrize("inside", [True, False])
def test_without_a_place_for_what_was_there_nothing_is_changed(
    fenced_folder: Path, ground: Path, *, inside: bool
) -> None:
    backup(fenced_folder, ground / "saved.tar.gz")
    file = (ground / "saved.tar.gz").rename((fenced_folder if inside else ground) / "moved.tar.gz")
    file.chmod(0o644)
    (fenced_folder / "a.txt").write_text("新", "utf-8")
    said = restore_as_nobody(fenced_folder, file)
    assert said.startswith(
        f"StorageError: the contents of {fenced_folder} could not be backed up first"
    )
    assert "permission is denied" in said
    assert "nothing was changed" in said
    assert (fenced_folder / "a.txt").read_text("utf-8") == "新"


# Bad archives


def archive(path: Path, *members: tuple[tarfile.TarInfo | str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as made:
        for member, content in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            info.size = len(content)
            made.addfile(info, io.BytesIO(content))
    return path


def manifest(contents: dict[str, bytes]) -> bytes:
    entries = [
        {"path": path, "size": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for path, content in contents.items()
    ]
    return json.dumps({"format": 1, "files": entries}).encode()


def refuses(data: Path, path: Path, *kinds: type[TurnleafError]) -> None:
    """See that a restore is refused and that nothing changed, not even a name."""
    fill(data)
    before = contents(data.parent)
    with pytest.raises(kinds or (CorruptFile,)) as caught:
        restore(data, path)
    assert str(path) in str(caught.value) or kinds
    assert contents(data.parent) == before


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "prompts/../../evil",
        "/etc/evil",
        "//evil",
        "./evil",
        "a//b",
        "",
        "..",
        "a\0b",
        "長" * 86,
        "\ud800",
        ".MEMORY.md.lock",
        "prompts/.MEMORY.md.redo",
        "index.db",
    ],
)
def test_a_name_that_leads_elsewhere_is_refused(data: Path, file: Path, name: str) -> None:
    content = b"evil"
    member = f"data/{name}".encode(errors="replace").decode()
    archive(file, (MANIFEST, manifest({name: content})), (member, content))
    refuses(data, file)


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE],
)
def test_what_is_no_ordinary_file_is_refused(data: Path, file: Path, kind: bytes) -> None:
    member = tarfile.TarInfo("data/evil")
    member.type = kind
    member.linkname = "/etc/passwd"
    archive(file, (MANIFEST, manifest({"evil": b""})), (member, b""))
    refuses(data, file)


def test_a_file_beyond_the_manifest_is_refused(data: Path, file: Path) -> None:
    archive(file, (MANIFEST, manifest({"a": b"1"})), ("data/a", b"1"), ("data/../evil", b"2"))
    refuses(data, file)


def test_a_file_that_the_manifest_misses_is_refused(data: Path, file: Path) -> None:
    archive(file, (MANIFEST, manifest({"a": b"1", "b": b"2"})), ("data/a", b"1"))
    refuses(data, file)


def test_another_content_than_the_manifest_says_is_refused(data: Path, file: Path) -> None:
    archive(file, (MANIFEST, manifest({"a": b"1"})), ("data/a", b"2"))
    refuses(data, file)


def test_a_file_inside_a_file_is_refused(data: Path, file: Path) -> None:
    entries = {"a": b"1", "a/b": b"2"}
    archive(file, (MANIFEST, manifest(entries)), ("data/a", b"1"), ("data/a/b", b"2"))
    refuses(data, file)


def test_a_folder_in_the_way_is_refused_before_anything_changes(data: Path, file: Path) -> None:
    archive(file, (MANIFEST, manifest({"prompts": b"1"})), ("data/prompts", b"1"))
    refuses(data, file, StorageError)


def test_more_than_the_disk_holds_is_refused_before_it_is_read(data: Path, file: Path) -> None:
    record = {"format": 1, "files": [{"path": "a", "size": 1 << 60, "sha256": ""}]}
    archive(file, (MANIFEST, json.dumps(record).encode()), ("data/a", b"1"))
    refuses(data, file, StorageError)


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"[" * 100_000,
        b'{"format": 2, "files": []}',
        b'{"format": "1", "files": []}',
        b'{"format": 1}',
        b'{"format": 1, "files": [{}]}',
        b'{"format": 1, "files": [{"path": 7}]}',
        b'{"format": 1, "files": [{"path": "a", "size": 1e999, "sha256": ""}]}',
        b'{"format": 1, "files": [{"path": "a", "size": -1, "sha256": ""}]}',
        b'{"format": 1, "files": [{"path": "a", "size": "1", "sha256": ""}]}',
    ],
    ids=lambda record: record[:40],
)
def test_a_bad_manifest_is_refused(data: Path, file: Path, record: bytes) -> None:
    refuses(data, archive(file, (MANIFEST, record)))


@pytest.mark.parametrize(("number", "said"), [(0, "no version"), (2, "a newer version")])
def test_another_format_is_called_what_it_is(file: Path, number: int, said: str) -> None:
    archive(file, (MANIFEST, json.dumps({"format": number, "files": []}).encode()))
    with pytest.raises(CorruptFile, match=said):
        verify(file)


# Small files that unpack to large ones

ROOM = 30_000_000


def zeros(path: Path, size: int, *parts: tuple[tarfile.TarInfo, bytes]) -> Path:
    """Write members of which the last is followed by zeros instead of what it holds."""
    with gzip.open(path, "wb", compresslevel=1) as made:
        for member, content in parts:
            made.write(member.tobuf() + content + bytes(-len(content) % 512))
        for _ in range(size // 1_000_000):
            made.write(bytes(1_000_000))
    return path


def member_of(name: str, size: int, kind: bytes = tarfile.REGTYPE) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    return info


def most_memory(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_large_file_is_never_held_whole(file: Path) -> None:
    size = 2 * ROOM
    summed = hashlib.sha256()
    for _ in range(size // 1_000_000):
        summed.update(bytes(1_000_000))
    entry = {"path": "a", "size": size, "sha256": summed.hexdigest()}
    record = json.dumps({"format": 1, "files": [entry]}).encode()
    zeros(file, size, (member_of(MANIFEST, len(record)), record), (member_of("data/a", size), b""))
    with gzip.open(file, "ab") as made:
        made.write(bytes(-size % 512 + 1024))
    assert most_memory(lambda: verify(file)) < 2_000_000
    with pytest.raises(StorageError, match="free some space"):
        verify(file, room=ROOM)


@pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_manifest_that_is_too_large_is_not_read(file: Path, kind: bytes) -> None:
    zeros(file, 2 * ROOM, (member_of(MANIFEST, 2 * ROOM, kind), b""))
    assert most_memory(lambda: refuses(file.parent / "data", file)) < 2_000_000


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
def test_a_header_that_is_too_large_is_not_read(file: Path, kind: bytes) -> None:
    record = manifest({"a": b"1"})
    parts = (member_of(MANIFEST, len(record)), record), (member_of("data/a", 2 * ROOM, kind), b"")
    zeros(file, 2 * ROOM, *parts)
    assert most_memory(lambda: refuses(file.parent / "data", file)) < 2_000_000


def test_what_follows_the_end_is_not_read(file: Path) -> None:
    record = manifest({})
    zeros(file, 2 * ROOM, (member_of(MANIFEST, len(record)), record))
    with pytest.raises(CorruptFile, match="more than it says"):
        verify(file)


def test_too_many_files_for_a_manifest_are_not_saved() -> None:
    path = "客" * 80 + "/"
    many = {f"{path * 100}{number}": b"" for number in range(400)}
    with pytest.raises(StorageError, match="400 files are too many"):
        pack_files(many, datetime(2026, 1, 2, tzinfo=UTC))


def test_an_archive_of_something_else_is_refused(data: Path, file: Path) -> None:
    refuses(data, archive(file, ("photo.jpg", b"x")))


@pytest.mark.parametrize("content", [b"", b"hello", gzip.compress(b"hello", mtime=0), b"\x1f\x8b"])
def test_what_is_no_archive_is_refused(data: Path, file: Path, content: bytes) -> None:
    file.write_bytes(content)
    refuses(data, file)


def test_a_missing_archive_is_an_error(data: Path, file: Path) -> None:
    refuses(data, file, StorageError)


def test_a_cut_or_flipped_archive_changes_nothing(tmp_path: Path, file: Path) -> None:
    fill(tmp_path / "source")
    backup(tmp_path / "source", file)
    whole = file.read_bytes()
    target = tmp_path / "target"
    for place in range(0, len(whole), max(1, len(whole) // 150)):
        flipped = bytearray(whole)
        flipped[place] ^= 0x10
        for bad in (whole[:place], bytes(flipped)):
            file.write_bytes(bad)
            try:
                verify(file)
            except CorruptFile:
                continue
            # A few bits mean nothing to gzip.
            assert gzip.decompress(bad) == gzip.decompress(whole)
    assert not target.exists()


def test_apsw_is_left_without_open_files(data: Path, file: Path) -> None:
    conversations(data, "db").add_exchange("a", "b", "c")
    open_before = len(apsw.connections())
    backup(data, file)
    restore(data, file)
    assert len(apsw.connections()) == open_before
