from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.store import others
from turnleaf.errors import StorageError
from turnleaf.settings import Settings
from turnleaf.store.files.backup import backup, restore, verify
from turnleaf.store.files.conversations.store import ConversationStore

NAME = "conversations/conversations.db"
PLENTY = Settings(conversation_max_turns=10_000)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "saved.tar.gz"


def make_database(data: Path, *texts: str) -> Path:
    """Make a database of conversations and close it."""
    store = ConversationStore(data / NAME, settings=PLENTY)
    for text in texts:
        store.add_exchange("key", text, "好")
    store.close()
    return data / NAME


def list_questions(data: Path) -> list[str]:
    store = ConversationStore(data / NAME, settings=PLENTY)
    history = store.get_history("key")
    store.close()
    return [message.text for message in history if message.role == "user"]


def table(path: Path, page_size: int, journal: str, rows: int = 100) -> None:
    """Make somebody else's database."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(apsw.Connection(str(path))) as database:
        database.pragma("page_size", page_size)
        database.pragma("journal_mode", journal)
        database.execute("CREATE TABLE lamps (name TEXT)")
        names = [(f"小明 {number} " + "x" * 300,) for number in range(rows)]
        with database:
            database.executemany("INSERT INTO lamps VALUES (?)", names)


def rows(path: Path) -> int:
    with closing(apsw.Connection(str(path))) as database:
        assert database.pragma("integrity_check") == "ok"
        count: int = database.execute("SELECT count(*) FROM lamps").get
        return count


def cut(whole: bytes) -> bytes:
    return whole[:3000]


def noise(_: bytes) -> bytes:
    return b"\x8f\x00noise" * 1500


def noise_after_the_opening(whole: bytes) -> bytes:
    return whole[:16] + noise(whole)


def words(_: bytes) -> bytes:
    return "這不是資料庫\n".encode()


def opening_alone(whole: bytes) -> bytes:
    return whole[:50]


def nothing(_: bytes) -> bytes:
    return b""


DAMAGES = [cut, noise, noise_after_the_opening, words, opening_alone, nothing]
each_damage = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)


# What a killed program left

KILLED = """
import os, signal, sys
from turnleaf.store.files.conversations.store import ConversationStore

store = ConversationStore(sys.argv[1])
for number in range(50):
    store.add_exchange("key", f"later {number}", "ok")
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("is_missing", [True, False])
def test_the_log_of_a_killed_program_is_not_added_to_what_comes_back(
    data: Path, file: Path, *, is_missing: bool
) -> None:
    path = make_database(data, "一", "二")
    backup(data, file)
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, timeout=60)
    assert path.with_name(path.name + "-wal").stat().st_size > 0
    if is_missing:
        path.unlink()
    restore(data, file)
    assert list_questions(data) == ["一", "二"]


@pytest.mark.parametrize("suffix", ["-wal", "-shm", "-journal"])
def test_no_companion_of_a_lost_database_stays(data: Path, file: Path, suffix: str) -> None:
    path = make_database(data, "一")
    backup(data, file)
    path.unlink()
    path.with_name(path.name + suffix).write_bytes(b"stale" * 1000)
    restore(data, file)
    assert not path.with_name(path.name + suffix).exists()
    assert list_questions(data) == ["一"]


def test_no_companion_stays_beside_what_was_never_a_database(data: Path, file: Path) -> None:
    path = data / "mine.db"
    data.mkdir()
    path.write_bytes(b"mine")
    backup(data, file)
    path.unlink()
    table(path, 4096, "wal")
    path.with_name("mine.db-wal").write_bytes(b"stale")
    restore(data, file)
    assert path.read_bytes() == b"mine"
    assert not path.with_name("mine.db-wal").exists()


# What is damaged


@each_damage
def test_a_damaged_database_is_saved_and_comes_back_as_it_is(
    data: Path, file: Path, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = make_database(data, "一")
    path.write_bytes(damage(path.read_bytes()))
    backup(data, file)
    assert verify(file) == {NAME: path.stat().st_size}
    restore(tmp_path / "other", file)
    assert (tmp_path / "other" / NAME).read_bytes() == path.read_bytes()


@each_damage
def test_a_backup_replaces_a_damaged_database(
    data: Path, file: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = make_database(data, "一", "二")
    backup(data, file)
    path.write_bytes(damage(path.read_bytes()))
    restored = restore(data, file)
    assert list_questions(data) == ["一", "二"]
    assert restored.safety


@pytest.mark.parametrize("damage", [cut, noise, words])
def test_what_was_no_database_is_kept_and_named(
    data: Path,
    file: Path,
    damage: Callable[[bytes], bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    path = make_database(data, "一")
    backup(data, file)
    path.write_bytes(damage(path.read_bytes()))
    damaged = path.read_bytes()
    caplog.clear()
    restore(data, file)
    (aside,) = path.parent.glob("*.corrupt-*Z")
    assert aside.read_bytes() == damaged
    assert str(aside) in caplog.text


@each_damage
def test_a_damaged_database_that_was_saved_replaces_a_sound_one(
    data: Path, file: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = make_database(data, "一")
    whole = path.read_bytes()
    path.write_bytes(damage(whole))
    damaged = path.read_bytes()
    backup(data, file)
    path.write_bytes(whole)
    restored = restore(data, file)
    assert path.read_bytes() == damaged
    assert restored.safety
    restore(data, restored.safety)
    assert list_questions(data) == ["一"]


def test_a_backup_says_that_a_database_is_damaged(
    data: Path, file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = make_database(data, "一")
    path.write_bytes(cut(path.read_bytes()))
    backup(data, file)
    assert f"{path} is damaged; it was backed up as it is, without its log file" in caplog.text


def test_a_database_that_is_kept_busy_is_named_with_what_sqlite_says(
    data: Path, file: Path
) -> None:
    path = make_database(data, "一")
    with closing(apsw.Connection(str(path))) as other:
        other.pragma("locking_mode", "exclusive")
        other.execute("BEGIN IMMEDIATE; UPDATE messages SET text = 'x'; COMMIT")
        with pytest.raises(StorageError, match=r"conversations\.db \(BusyError\)") as caught:
            backup(data, file)
    assert "not an error" not in str(caught.value)
    assert not file.exists()


# What differs


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("page_size", [512, 1024, 8192, 65536])
def test_a_database_comes_back_over_one_with_other_pages(
    data: Path, file: Path, page_size: int, journal: str
) -> None:
    path = data / "lamps.db"
    table(path, 4096, "wal", rows=7)
    backup(data, file)
    path.unlink()
    table(path, page_size, journal, rows=300)
    with closing(apsw.Connection(str(path))) as open_meanwhile:
        open_meanwhile.execute("INSERT INTO lamps VALUES ('later')")
        restored = restore(data, file)
    assert rows(path) == 7
    assert restored.safety
    restore(data, restored.safety)
    assert rows(path) == 301


def test_a_read_only_folder_with_a_database_is_saved(ground: Path) -> None:
    data, saved = ground / "資料 #1?", ground / "saved"
    make_database(data, "一", "二")
    saved.mkdir()
    saved.chmod(0o777)
    paths = [data, *data.rglob("*")]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    arguments = ["-m", "tests.store.test_backup_databases", str(data), str(saved / "a.tar.gz")]
    said = subprocess.run(
        [sys.executable, *arguments], cwd=others.ROOT, capture_output=True, timeout=60, check=False
    )
    for path in paths:
        path.chmod(0o755)
    assert (said.returncode, said.stderr) == (0, b"")
    restore(ground / "other", saved / "a.tar.gz")
    assert list_questions(ground / "other") == ["一", "二"]


if __name__ == "__main__":
    others.become_nobody()
    backup(*sys.argv[1:])
