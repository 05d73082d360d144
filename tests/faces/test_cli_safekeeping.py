from __future__ import annotations

import io
import json
import os
import tarfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from tests.faces.conftest import Cli
from tests.faces.terminal import terminal
from tests.store.older import archive, said, write_conversations

MING = "客廳的燈叫做小明"


def test_a_backup_is_made_and_brought_back(cli: Cli) -> None:
    cli.remember(MING)
    made = cli("backup", "備份.tar.gz")
    assert (made.code, made.err) == (0, "")
    assert "saved 2 files in 備份.tar.gz" in made.out
    cli("forget", MING)
    restored = cli("restore", "備份.tar.gz", "--yes")
    assert (restored.code, restored.err) == (0, "")
    assert cli.contents() == [MING]
    (safety,) = cli.data.parent.glob("data.before-restore-*.tar.gz")
    assert f"what was there before is in {safety}" in restored.out


def test_scripts_get_json(cli: Cli) -> None:
    cli.remember(MING)
    made = cli("backup", "saved.tar.gz", "--json").json
    assert made["files"] == 2
    assert made["bytes"] == Path(made["file"]).stat().st_size
    restored = cli("restore", "saved.tar.gz", "--yes", "--json").json
    assert (restored["files"], restored["removed"]) == (2, [])
    assert tarfile.is_tarfile(restored["safetyBackup"])


def test_an_empty_folder_needs_no_question(cli: Cli, tmp_path: Path) -> None:
    cli.remember(MING)
    cli("backup", "saved.tar.gz")
    other = str(tmp_path / "other")
    restored = cli("--data-dir", other, "restore", "saved.tar.gz")
    assert restored.code == 0
    assert "before" not in restored.out
    assert MING in cli("--data-dir", other, "memories").out


def test_a_backup_of_an_older_version_is_shown_whole_and_once(cli: Cli) -> None:
    folder = cli.data / "conversations"
    archive(folder, "cli:1", said("zero", "one"))
    write_conversations(folder, {"cli:1": said("zero", "one", "two")[1:]})
    cli("backup", "older.tar.gz")
    assert cli("history").code == 0
    running = cli.conversations
    running.add_exchange("cli:1", "later", "gone again")
    restored = cli("restore", "older.tar.gz", "--yes")
    assert restored.code == 0
    assert "took over 3 messages of 1 conversation" in restored.err
    texts = [one.message.content for one in running.messages("cli:1")]
    assert texts == ["zero", "one", "two"]
    running.close()


def test_nothing_to_back_up(cli: Cli) -> None:
    result = cli("backup", "saved.tar.gz")
    assert (result.code, result.out) == (3, "")
    assert not Path("saved.tar.gz").exists()
    assert not cli.data.exists()


def test_a_backup_is_replaced_only_by_force(cli: Cli) -> None:
    cli.remember(MING)
    Path("saved.tar.gz").write_text("precious", "utf-8")
    refused = cli("backup", "saved.tar.gz")
    assert refused.code == 2
    assert "--force" in refused.err
    assert Path("saved.tar.gz").read_text("utf-8") == "precious"
    assert cli("backup", "saved.tar.gz", "--force").code == 0


def test_without_a_person_yes_is_needed(cli: Cli) -> None:
    cli.remember(MING)
    cli("backup", "saved.tar.gz")
    cli.remember("later")
    refused = cli("restore", "saved.tar.gz")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert cli.contents() == [MING, "later"]


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 1), ("\n", 1, 2), ("no\n", 1, 2)])
def test_a_person_is_asked_first(cli: Cli, answer: str, code: int, left: int) -> None:
    cli.remember(MING)
    cli("backup", "saved.tar.gz")
    cli.remember("later")
    with terminal("restore", "saved.tar.gz") as person:
        assert str(cli.data) in person.wait_for("[y/N]")
        person.type(answer)
        assert person.end() == code
    assert len(cli.contents()) == left


def test_a_damaged_backup_changes_nothing_and_asks_nothing(cli: Cli) -> None:
    cli.remember(MING)
    cli("backup", "saved.tar.gz")
    whole = Path("saved.tar.gz").read_bytes()
    Path("saved.tar.gz").write_bytes(whole[: len(whole) // 2])
    refused = cli("restore", "saved.tar.gz", "--yes")
    assert (refused.code, refused.out) == (1, "")
    assert "nothing was changed" in refused.err
    assert cli.contents() == [MING]
    assert list(cli.data.parent.glob("data.before-restore-*")) == []


def test_what_lies_outside_the_folder_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.daily.append("x")
    monkeypatch.setenv("TURNLEAF_MEMORY", str(tmp_path / "elsewhere.md"))
    cli("remember", MING)
    made = cli("backup", "saved.tar.gz")
    assert made.code == 0
    assert f"{tmp_path / 'elsewhere.md'} is outside the data folder" in made.err


def test_a_backup_with_settings_that_cannot_be_read_is_made_all_the_same(cli: Cli) -> None:
    cli.remember(MING)
    (cli.data / "memory-config.json").write_text("{broken", "utf-8")
    made = cli("backup", "saved.tar.gz")
    assert made.code == 0
    assert "saved 3 files" in made.out
    assert made.err.startswith("warning: ")
    assert "memory-config.json" in made.err


def test_a_backup_too_large_for_the_disk_is_refused_before_anybody_is_asked(cli: Cli) -> None:
    cli.remember(MING)
    entry = {"path": "a", "size": 1 << 60, "sha256": ""}
    record = json.dumps({"format": 1, "files": [entry]}).encode()
    member = tarfile.TarInfo("turnleaf-backup.json")
    member.size = len(record)
    with tarfile.open("large.tar.gz", "w:gz") as made:
        made.addfile(member, io.BytesIO(record))
    for arguments in ([], ["--yes"]):
        refused = cli("restore", "large.tar.gz", *arguments)
        assert refused.code == 1
        assert "free some space" in refused.err
    assert cli.contents() == [MING]


def test_a_damaged_database_is_named_and_kept(cli: Cli) -> None:
    cli.remember(MING)
    with closing(apsw.Connection(str(cli.data / "mine.db"))) as database:
        database.execute("CREATE TABLE lamps (name TEXT)")
        database.execute("INSERT INTO lamps VALUES (zeroblob(100000))")
    os.truncate(cli.data / "mine.db", 3000)
    made = cli("backup", "saved.tar.gz")
    assert made.code == 0
    assert f"warning: {cli.data / 'mine.db'} is damaged" in made.err
