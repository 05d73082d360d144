from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from contextlib import closing
from pathlib import Path

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import imports as samples
from tests.faces.conftest import Cli
from tests.faces.terminal import terminal
from tests.standins.chat_api import ChatApi
from tests.store.older import archive, make_messages, write_conversations
from tests.strategies import MOMENT, facts, texts, thorough
from turnleaf.core import markdown
from turnleaf.core.memories import Memory, from_json, to_json
from turnleaf.faces.cli.transfer import render
from turnleaf.importing import FORMATS
from turnleaf.settings import Settings
from turnleaf.store.files.facts.memories import MemoryStore

RECORDS = [
    {
        "id": "m1",
        "content": "客廳的燈叫做小明",
        "createdAt": "2026-01-02T03:04:05.678Z",
        "updatedAt": "2026-02-03T04:05:06.789Z",
        "category": "家",
        "origin": "slack",
    },
    {
        "id": "m2",
        "content": "- looks like\n  a list\n\n```\n# code\n```",
        "createdAt": "2026-01-02T03:04:05.000Z",
        "updatedAt": "2026-01-02T03:04:05.000Z",
    },
    {
        "id": "m3",
        "content": "  <!-- a comment --> & \\ trailing  ",
        "createdAt": "2026-01-02T03:04:05.000Z",
        "updatedAt": "2026-01-02T03:04:05.000Z",
        "category": "home",
    },
]


def by_id(records: list[dict[str, str]]) -> dict[str, dict[str, str]]:
    return {record["id"]: record for record in records}


def write(path: Path, records: object) -> str:
    path.write_text(json.dumps(records, ensure_ascii=False), "utf-8")
    return str(path)


def test_json_comes_in_and_goes_out_with_nothing_lost(cli: Cli, tmp_path: Path) -> None:
    done = cli("import", write(tmp_path / "in.json", RECORDS))
    assert (done.code, done.out) == (0, "3 added, 0 already there\n")
    assert by_id(cli("export").json) == by_id(RECORDS)


def test_through_markdown_and_back_with_nothing_lost(cli: Cli, tmp_path: Path) -> None:
    cli("import", write(tmp_path / "in.json", RECORDS))
    assert cli("export", "out.md").code == 0
    other = str(tmp_path / "other")
    assert cli("--data-dir", other, "import", "out.md").out == "3 added, 0 already there\n"
    assert by_id(cli("--data-dir", other, "export", "--format", "json").json) == by_id(RECORDS)


@pytest.mark.parametrize(
    ("form", "suffix"), [("json", "md"), ("markdown", "json"), ("json", "json"), ("markdown", "md")]
)
def test_every_format_from_every_store(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, form: str, suffix: str
) -> None:
    monkeypatch.setenv("TURNLEAF_MEMORY", str(cli.data / f"facts.{suffix}"))
    assert cli("import", "-", stdin=json.dumps(RECORDS)).code == 0
    exported = cli("export", "--format", form).out
    monkeypatch.setenv("TURNLEAF_MEMORY", str(cli.data / "other.json"))
    assert cli("import", "-", "--json", stdin=exported).json == {"added": 3, "alreadyThere": 0}
    assert by_id(cli("memories", "--json").json) == by_id(RECORDS)


def test_what_is_there_already_is_not_added_again(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path / "in.json", RECORDS)
    cli("import", file)
    assert cli("import", file).out == "0 added, 3 already there\n"
    assert len(cli.contents()) == 3


def test_a_hand_written_page_gives_its_bullets(cli: Cli, tmp_path: Path) -> None:
    page = tmp_path / "notes.md"
    page.write_text("# Mine\n\nprose\n\n## 家\n\n- 燈\n- lamp\n", "utf-8")
    assert cli("import", str(page)).out == "2 added, 0 already there\n"
    assert [(one.content, one.category) for one in cli.memory.get_all()] == [
        ("燈", "家"),
        ("lamp", "家"),
    ]
    assert page.read_text("utf-8").startswith("# Mine")


@pytest.mark.parametrize(
    ("variable", "value"), [("MEMORY_MAX_ITEMS", "3"), ("MEMORY_MAX_CHARS", "60")]
)
def test_too_many_are_refused_whole(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    cli.remember("here before")
    monkeypatch.setenv(variable, value)
    refused = cli("import", "-", stdin=json.dumps(RECORDS))
    assert (refused.code, refused.out) == (1, "")
    assert "3 facts do not fit beside the 1" in refused.err
    assert variable in refused.err
    assert cli.contents() == ["here before"]


@pytest.mark.parametrize(
    "text",
    [
        "{",
        '{"memories": []}',
        "[1]",
        '[{"content": ""}]',
        '[{"content": "a\\u0000b"}]',
        '[{"content": "\\ud800"}]',
        '[{"content": "x", "createdAt": "yesterday"}]',
        '[{"id": 7, "content": "x"}]',
        "[" * 100_000,
    ],
    ids=lambda text: text[:30],
)
def test_a_broken_file_is_refused_and_left_alone(cli: Cli, tmp_path: Path, text: str) -> None:
    file = tmp_path / "in.json"
    file.write_text(text, "utf-8")
    refused = cli("import", str(file))
    assert (refused.code, refused.out) == (1, "")
    assert str(file) in refused.err
    assert "Traceback" not in refused.err
    assert file.read_text("utf-8") == text
    assert [path.name for path in tmp_path.iterdir() if "corrupt" in path.name] == []
    assert cli.contents() == []


def test_another_encoding_is_refused_with_its_place(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "in.md"
    file.write_bytes("- 燈\n".encode("big5"))
    refused = cli("import", str(file))
    assert refused.code == 2
    assert f"{file} is not UTF-8 at byte 2" in refused.err


@pytest.mark.parametrize("text", ["[]", "", "only prose\n"])
def test_a_file_without_memories_matches_nothing(cli: Cli, text: str) -> None:
    result = cli("import", "-", stdin=text)
    assert (result.code, result.out) == (3, "")


def test_an_empty_memory_is_exported_as_such(cli: Cli) -> None:
    assert cli("export").json == []
    assert cli("export", "--format", "markdown").out == "# Memory\n"


def test_prose_and_bytes_of_the_page_are_exported_as_they_are(cli: Cli) -> None:
    cli.memory.init()
    page = "# 我的\r\n\r\nprose\r\n\r\n* by hand\r\n".encode()
    cli.memory.location.write_bytes(page)
    cli("export", "--format", "markdown", "copy.md")
    assert Path("copy.md").read_bytes() == page


def test_a_file_is_replaced_only_by_force(cli: Cli) -> None:
    cli.remember("lamp")
    Path("out.json").write_text("precious", "utf-8")
    refused = cli("export", "out.json")
    assert refused.code == 2
    assert "--force" in refused.err
    assert Path("out.json").read_text("utf-8") == "precious"
    assert cli("export", "out.json", "--force").code == 0
    assert json.loads(Path("out.json").read_text("utf-8"))[0]["content"] == "lamp"


def test_the_memory_itself_is_no_file_to_export_to(cli: Cli) -> None:
    cli.remember("lamp")
    before = cli.memory.location.read_bytes()
    assert cli("export", str(cli.memory.location), "--force", "--format", "json").code == 2
    assert cli.memory.location.read_bytes() == before


def test_an_export_is_utf8_whatever_the_locale(cli: Cli) -> None:
    cli.remember("燈 😀")
    environ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert cli.process("export", environ=environ).json[0]["content"] == "燈 😀"


@thorough
@given(st.lists(st.tuples(facts(), texts), max_size=4, unique_by=lambda one: one[0].id))
def test_no_category_can_forge_a_fact(given_facts: list[tuple[Memory, str]]) -> None:
    memories = [
        from_json(to_json(memory) | {"category": category}, MOMENT)
        for memory, category in given_facts
    ]
    page = markdown.parse(render(memories, FORMATS["markdown"]), MOMENT)
    assert by_id([to_json(fact.memory) for fact in page.facts]) == by_id(
        [to_json(memory) for memory in memories]
    )


def test_a_category_of_several_lines_adds_no_fact(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = "home\n\n- forged\n\n## 家"
    file = write(tmp_path / "memories.json", [{"content": "燈", "category": forged}])
    monkeypatch.setenv("TURNLEAF_MEMORY", file)
    exported = cli("export", "--format", "markdown").out
    monkeypatch.delenv("TURNLEAF_MEMORY")
    assert cli("import", "-", stdin=exported).out == "1 added, 0 already there\n"
    assert cli.memory.get_all()[0].category == "home - forged ## 家"


def test_one_that_does_not_fit_is_spoken_of_as_one(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember("here before")
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "1")
    assert "1 fact does not fit beside the 1 already there" in cli("import", "-", stdin="- x\n").err


def test_what_is_wrong_with_a_file_is_told_in_plain_words(cli: Cli) -> None:
    for text in ("[1]", "[{}]", "{}", '[{"content": "x", "id": 7}]'):
        told = cli("import", "-", stdin=text).err
        assert len(told.splitlines()) == 1
        assert not [word for word in ("Error", "dict", "int ", "NoneType") if word in told]


@pytest.mark.parametrize("path", ["/dev/stdin", "/dev/fd/0"])
def test_a_pipe_is_imported_by_its_path(cli: Cli, path: str) -> None:
    done = cli.process("import", path, stdin="- 燈\n".encode())
    assert (done.code, done.out) == (0, "1 added, 0 already there\n")
    assert cli.contents() == ["燈"]


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_pipe_or_a_device_is_not_replaced(cli: Cli, tmp_path: Path, force: list[str]) -> None:
    cli.remember("lamp")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused = cli("export", str(pipe), *force)
    assert (refused.code, refused.out) == (2, "")
    assert "leave out FILE to write to stdout" in refused.err
    assert cli("backup", str(pipe), "--force").code != 0
    assert pipe.is_fifo()
    done = subprocess.run(
        [sys.executable, "-m", "turnleaf", "export", "/dev/stdout", *force],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"leave out FILE to write to stdout" in done.stderr


def test_a_file_that_is_too_large_is_not_imported(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "huge.json"
    file.touch()
    os.truncate(file, 200_000_000)
    refused = cli("import", str(file))
    assert (refused.code, refused.out) == (1, "")
    assert "200,000,000 bytes; the limit is 8,000,000" in refused.err


@pytest.mark.parametrize("name", ["memories.json", "memories/memories.json"])
def test_facts_that_the_library_wrote_are_mentioned_until_they_are_imported(
    cli: Cli, name: str
) -> None:
    cli.remember("我吃素")
    library = MemoryStore(cli.data / name)
    library.add("客廳的燈叫做小明")
    library.add("我吃素")
    told = cli("memories", "--json")
    assert [one["content"] for one in told.json] == ["我吃素"]
    assert f"{library.location} contains 1 fact that the memory lacks" in told.err
    assert told.err.count("\n") == 1
    command = f"import {library.location}"
    assert command in told.err
    (problem,) = cli("doctor", "--json").json["problems"]
    assert (problem["level"], command in problem["message"]) == ("warning", True)
    assert cli("import", str(library.location)).out == "1 added, 1 already there\n"
    assert cli("import", str(library.location)).out == "0 added, 2 already there\n"
    assert cli("memories").err == ""
    cli("forget", "客廳的燈叫做小明", "--yes")
    assert cli("doctor", "--json").json["problems"] == []
    assert cli("memories").err == ""


def test_a_fact_that_was_moved_under_another_heading_is_not_imported_again(
    cli: Cli, tmp_path: Path
) -> None:
    file = write(tmp_path / "facts.json", RECORDS[:1])
    cli("import", file)
    page = cli.memory.location
    page.write_text(page.read_text("utf-8").replace("## 家", "## 客廳"), "utf-8")
    assert cli("import", file).out == "0 added, 1 already there\n"


def test_a_memory_that_is_itself_the_librarys_file_is_not_mentioned(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TURNLEAF_MEMORY", str(cli.data / "memories.json"))
    MemoryStore(cli.data / "memories.json").add("我吃素")
    assert cli("memories").err == ""


def test_older_facts_come_back_as_older_ones(cli: Cli, tmp_path: Path) -> None:
    cli("import", write(tmp_path / "in.json", RECORDS[:2]))
    MemoryStore(cli.folder.memory(Settings())).retire(["m1"])
    older = str(tmp_path / "older.json")
    assert cli("export", "--older", older).code == 0
    assert cli("import", older, "--older").out == "0 added, 1 already there\n"
    MemoryStore(cli.folder.memory(Settings())).delete("m1")
    done = cli("import", older, "--older")
    assert (done.code, done.out) == (0, "1 added, 0 already there\n")
    assert [fact["id"] for fact in cli("memories", "--json").json] == ["m2"]
    assert [fact["id"] for fact in cli("memories", "--older", "--json").json] == ["m1"]


# backup and restore


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
    assert f"the previous contents are in {safety}" in restored.out


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
    archive(folder, "cli:1", make_messages("zero", "one"))
    write_conversations(folder, {"cli:1": make_messages("zero", "one", "two")[1:]})
    cli("backup", "older.tar.gz")
    assert cli("history").code == 0
    running = cli.conversations
    running.add_exchange("cli:1", "later", "gone again")
    restored = cli("restore", "older.tar.gz", "--yes")
    assert restored.code == 0
    assert "migrated 3 messages of 1 conversation" in restored.err
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


def test_the_past_of_another_assistant_comes_in_once(cli: Cli, tmp_path: Path) -> None:
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps(samples.chatgpt()), "utf-8")
    counted = cli("import", str(export), "--dry-run")
    assert "nothing was changed" in counted.err
    assert cli("history").out == ""
    first = cli("import", str(export))
    assert first.out == counted.out
    assert "nothing was changed" not in first.err
    assert "1 conversation (chatgpt 1), 4 new messages" in first.out
    assert "3 facts added, 0 already there" in first.out
    assert "Lamps" in cli("history").out
    again = json.loads(cli("import", str(export), "--json").out)
    assert (again["messages"], again["added"], again["alreadyThere"]) == (0, 0, 3)


def test_a_model_reads_an_import_after_a_person_agreed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps(samples.chatgpt()), "utf-8")
    refused = cli("import", str(export), "--learn-with-model")
    assert "no model is set up that could extract facts" in refused.err
    found = {
        "fact": "Lives in Tainan", "quote": "I live in Tainan", "message": 3, "slot": "other",
        "until": None, "relation": "new", "target": None,
    }  # fmt: skip
    with ChatApi() as api:
        api.answer(json.dumps({"facts": [found]}))
        monkeypatch.setenv("TURNLEAF_MODEL", "openai:stand-in")
        monkeypatch.setenv("TURNLEAF_MODEL_URL", api.url)
        asked = cli("import", str(export), "--learn-with-model")
        assert asked.code != 0
        assert "confirm with --yes" in asked.err
        assert api.requests == []
        done = cli("import", str(export), "--learn-with-model", "--max-calls", "3", "--yes")
        assert "found in 1 call, pending review: turnleaf review" in done.out
        again = cli("import", str(export), "--learn-with-model", "--yes")
        assert "0 facts found in 0 calls" in again.out
        assert len(api.requests) == 1


@pytest.mark.parametrize("given", ["pictures", "pictures/a.html"])
def test_what_nothing_understands_says_where_to_look(cli: Cli, tmp_path: Path, given: str) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.html").write_text("<p>Hello</p>")
    refused = cli("import", str(tmp_path / given))
    assert refused.code == 3
    assert "docs/use/import.md lists the supported formats" in refused.err


def test_nothing_is_imported_where_only_the_newest_messages_are_kept(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps(samples.chatgpt()), "utf-8")
    monkeypatch.setenv("TURNLEAF_CONVERSATIONS", str(tmp_path / "kept.json"))
    refused = cli("import", str(export))
    assert refused.code == 2
    variable = refused.err.partition("; set ")[2].split()[0]
    monkeypatch.setenv(variable, str(tmp_path / "kept.db"))
    assert cli("import", str(export)).code == 0
