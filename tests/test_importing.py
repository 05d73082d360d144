"""A past is brought whole, once, and nothing that was not understood is dropped in silence."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests import imports as samples
from turnleaf import Assistant
from turnleaf.errors import InvalidInput
from turnleaf.importing import Importer, ImportReport
from turnleaf.store.exports import open_export

NOW = datetime(2026, 11, 17, 12, tzinfo=UTC)
Run = Callable[..., ImportReport]


@pytest.fixture
def assistant(tmp_path: Path) -> Assistant:
    return Assistant(tmp_path / "data", now=lambda: NOW)


@pytest.fixture
def run(assistant: Assistant) -> Run:
    def run(path: Path, *, dry_run: bool = False) -> ImportReport:
        with open_export(path) as export:
            return Importer(assistant.stores, lambda: NOW, dry_run=dry_run).run(export)

    return run


def write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    return path


def write_lines(path: Path, values: list[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(value)}\n" for value in values), "utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Everything that can be imported, in one folder."""
    past = tmp_path / "past"
    write(past / "conversations-000.json", samples.chatgpt())
    write(past / "export_manifest.json", {"files": ["conversations-000.json"]})
    write(past / "claude" / "conversations.json", samples.claude())
    write(past / "claude" / "memories.json", samples.CLAUDE_MEMORY)
    write(past / "claude" / "projects" / "p1.json", samples.CLAUDE_PROJECT)
    write(past / "Gemini Apps" / "MyActivity.json", samples.GEMINI)
    write_lines(past / "code" / "s1.jsonl", list(samples.CLAUDE_CODE))
    write_lines(past / "codex" / "rollout-1.jsonl", list(samples.CODEX))
    write_lines(past / "memory.jsonl", list(samples.GRAPH))
    write(past / "own.json", [samples.OWN_FORM])
    (past / "vault").mkdir()
    (past / "vault" / "花蓮.md").write_text("We went to Hualien in spring.\n", "utf-8")
    (past / "picture.png").write_bytes(b"\x89PNG")
    return past


def keys(assistant: Assistant) -> set[str]:
    return {one.key for one in assistant.conversations.summaries()}


def test_a_folder_brings_all_that_is_in_it(run: Run, assistant: Assistant, folder: Path) -> None:
    report = run(folder)
    assert {
        "import:chatgpt:c1", "import:claude:u1", "import:gemini:2025-06-02",
        "import:claude-code:s1", "import:codex:x1", "import:file:talk-1",
        "import:notes:vault/花蓮.md",
    } <= keys(assistant)  # fmt: skip
    assert report.programs["claude"] == 4  # a conversation, a project's memory, a project, a page
    contents = {memory.content for memory in assistant.memory.get_all()}
    assert {"Is allergic to peanuts.", "喜歡爬山", "Ann: likes tea"} <= contents
    assert report.problems == []


def test_what_was_not_understood_is_counted(run: Run, folder: Path) -> None:
    skipped = run(folder).skipped
    assert skipped[".png files that hold nothing to import"] == 1
    assert skipped[".json files that hold nothing to import"] == 1
    assert skipped["attachments"] == 1


def test_twice_is_once(run: Run, assistant: Assistant, folder: Path) -> None:
    run(folder)
    before = (assistant.conversations.figures().messages, assistant.memory.text())
    waiting = assistant.pending.get_all()
    again = run(folder)
    assert (again.messages, again.memories, again.to_review) == (0, 0, 0)
    assert (assistant.conversations.figures().messages, assistant.memory.text()) == before
    assert assistant.pending.get_all() == waiting


def test_a_dry_run_counts_and_changes_nothing(run: Run, assistant: Assistant, folder: Path) -> None:
    counted = run(folder, dry_run=True)
    assert keys(assistant) == set()
    assert assistant.memory.get_all() == []
    done = run(folder)
    assert (counted.conversations, counted.messages) == (done.conversations, done.messages)
    assert (counted.memories, counted.to_review) == (done.memories, done.to_review)
    again = run(folder, dry_run=True)
    assert (again.conversations, again.messages) == (done.conversations, 0)
    assert (again.memories, again.to_review) == (0, 0)


def test_an_archive_is_read_as_the_folder_is(
    run: Run, assistant: Assistant, folder: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in folder.rglob("*"):
            packed.write(path, f"../../{path.relative_to(folder)}")
    assert run(archive).conversations == 10
    assert "import:chatgpt:c1" in keys(assistant)
    assert not (tmp_path.parent / "vault").exists()


def test_facts_of_conversations_wait_with_their_words(
    run: Run, assistant: Assistant, folder: Path
) -> None:
    report = run(folder)
    waiting = assistant.pending.get_all()
    assert report.to_review == len(waiting)
    dog = next(memory for memory in waiting if "Max" in memory.content)
    (change,) = [one for one in assistant.pending.changes(dog.id) if one.source]
    assert change.source
    assert change.source.quote
    assert change.source.quote in "My dog is called Max."
    assert change.source.conversation == "import:claude:u1"
    assert "Max" not in assistant.memory.text()


def test_a_fact_that_was_rejected_does_not_come_back(
    run: Run, assistant: Assistant, folder: Path
) -> None:
    run(folder)
    rejected = assistant.pending.get_all()
    assert rejected
    for memory in rejected:
        assistant.pending.reject(memory.id)
    run(folder)
    assert assistant.pending.get_all() == []


def test_the_newest_value_is_what_is_proposed(
    run: Run, assistant: Assistant, tmp_path: Path
) -> None:
    def say(text: str, day: int) -> dict[str, str]:
        return {"role": "user", "content": text, "time": f"2025-01-{day:02}T00:00:00Z"}

    later = {"id": "b", "messages": [say("I moved, I live in Taipei now.", 9)]}
    earlier = {"id": "a", "messages": [say("I live in Tainan.", 2)]}
    run(write(tmp_path / "talks.json", [later, earlier]))
    contents = " ".join(memory.content for memory in assistant.pending.get_all())
    assert "Taipei" in contents
    assert "Tainan" not in contents


def test_memories_without_room_are_kept_for_the_search(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "3")
    assistant = Assistant(tmp_path / "small", now=lambda: NOW)
    with open_export(folder) as export:
        report = Importer(assistant.stores, lambda: NOW).run(export)
    assert len(assistant.memory.get_all()) + report.older == report.memories
    assert len(assistant.memory.older()) == report.older > 0


def test_what_stands_before_a_break_is_imported_and_the_break_is_told(
    run: Run, assistant: Assistant, tmp_path: Path
) -> None:
    broken = tmp_path / "conversations.json"
    broken.write_text(json.dumps(samples.claude())[:-1] + ', {"uuid": "u2", "chat_me', "utf-8")
    report = run(broken)
    assert keys(assistant) == {"import:claude:u1"}
    assert "conversations.json is incomplete JSON" in report.problems[0]


def test_an_archive_that_swells_is_refused(run: Run, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.zip"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("conversations.json", b"[" + b" " * 60_000_000 + b"]")
    with pytest.raises(InvalidInput, match="would unpack to"):
        run(bomb)


def test_a_damaged_archive_says_what_to_do(run: Run, tmp_path: Path) -> None:
    (tmp_path / "export.zip").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InvalidInput, match="download it again"):
        run(tmp_path / "export.zip")


def test_a_conversation_that_was_imported_is_found(
    run: Run, assistant: Assistant, folder: Path
) -> None:
    run(folder)
    assistant.index.sync()
    hits = assistant.index.search("玉山在哪裡")
    assert any("玉山" in hit.text for hit in hits)


def test_progress_is_reported_within_a_file(assistant: Assistant, tmp_path: Path) -> None:
    said = [{"role": "assistant", "content": "long " * 200, "time": "2025-01-01T00:00:00Z"}]
    talks = [{"id": f"talk-{number}", "messages": said} for number in range(3000)]
    path = write(tmp_path / "talks.json", talks)
    told: list[tuple[int, int]] = []
    importer = Importer(assistant.stores, lambda: NOW, dry_run=True)
    with open_export(path) as export:
        importer.run(export, lambda done, whole: told.append((done, whole)))
    assert told[-1] == (path.stat().st_size, path.stat().st_size)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert any(0 < done < whole for done, whole in told)
