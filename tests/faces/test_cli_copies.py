"""`turnleaf copy` between folders and databases."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from watchfiles import watch

from tests.clocks import Clock
from tests.faces.conftest import Cli
from tests.postgres import empty_database, make_admin
from tests.store.contracts.conftest import START
from tests.store.contracts.contents import KEY, LAMP, fill, read_all, undo_all
from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.transfer import FollowingFolder
from turnleaf.store.contracts import Stores

ALL = ("facts", "daily", "conversations")
SAYS_COPY = "<!-- A copy by Turnleaf: this file is overwritten; edits here are not read -->"
TOKEN = "a-secret-token"  # noqa: S105 - what must not be copied


@pytest.fixture
def address() -> str:
    return empty_database()


def fill_folder(folder: Path, space: str = "default") -> None:
    """Put something of everything into a folder."""
    with Stores.open(folder, space=space, now=(clock := Clock(START))) as stores:
        fill(stores, clock)


def look(place: str | Path, space: str = "default") -> dict[str, object]:
    """Return all that can be read at a place."""
    with Stores.open(place, space=space, now=_late()) as stores:
        return read_all(stores)


def _late() -> Clock:
    clock = Clock(START)
    clock.pass_time(days=2)
    return clock


def test_a_folder_goes_into_a_database_and_back(cli: Cli, address: str, tmp_path: Path) -> None:
    fill_folder(cli.data)
    (cli.data / "http-token").write_text(TOKEN, "utf-8")
    there = cli("copy", str(cli.data), address)
    assert there.code == 0
    assert "Keys, tokens and paths of this computer were not copied." in there.err
    back = tmp_path / "back"
    assert cli("copy", address, str(back)).code == 0
    known = look(cli.data)
    assert look(address) == known
    assert look(back) == known
    assert TOKEN not in str(make_admin(address)("SELECT * FROM turnleaf.settings"))
    assert not (back / "http-token").exists()
    assert (back / "prompts/memory/MEMORY.md").read_text("utf-8") == (
        cli.data / "prompts/memory/MEMORY.md"
    ).read_text("utf-8")
    undone = []
    for place in (cli.data, address, back):
        with Stores.open(place, now=_late()) as stores:
            undone.append(undo_all(stores))
    assert undone[0] == undone[1] == undone[2]
    assert cli("--data-dir", str(back), "doctor").code == 0
    assert cli("--data-dir", address, "doctor").code == 0


def test_the_table_tells_how_much_is_the_same_on_both_sides(cli: Cli, tmp_path: Path) -> None:
    fill_folder(cli.data)
    target = str(tmp_path / "copy")
    dry = cli("copy", str(cli.data), target, "--dry-run", "--json").json
    assert not (tmp_path / "copy").exists()
    done = cli("copy", str(cli.data), target, "--json").json
    for before, after in zip(dry[0]["stores"], done[0]["stores"], strict=True):
        assert (before["name"], before["entries"]) == (after["name"], after["entries"])
        assert before["digest"] == after["digest"]
        assert before["copied"] == after["copied"] > 0
    again = cli("copy", str(cli.data), target)
    assert [line.split()[2] for line in again.out.splitlines()[2:]] == ["0"] * 9
    assert again.out.count("the same") == 9


def test_all_spaces_are_copied_or_one(cli: Cli, address: str, tmp_path: Path) -> None:
    cli("remember", "tea")
    cli("--space", "小美", "remember", LAMP)
    cli("--space", "ben", "remember", "coffee")
    assert cli("copy", str(cli.data), address).code == 0
    for space, fact in (("default", "tea"), ("小美", LAMP), ("ben", "coffee")):
        listed = cli("--data-dir", address, "--space", space, "memories", "--json").json
        assert [one["content"] for one in listed] == [fact]
    one = tmp_path / "one"
    assert cli("copy", address, str(one), "--space", "小美").code == 0
    assert [path.name for path in (one / "spaces").iterdir()] == ["小美"]
    assert cli("--data-dir", str(one), "memories", "--json").json == []
    every = tmp_path / "every"
    copied = cli("copy", address, str(every), "--json").json
    assert [one["space"] for one in copied] == ["ben", "default", "小美"]
    assert LAMP in cli("--data-dir", str(every), "--space", "小美", "memories").out


@pytest.mark.parametrize("direction", ["to a database", "to a folder"])
def test_a_copy_that_is_killed_goes_on(
    cli: Cli, address: str, tmp_path: Path, direction: str
) -> None:
    fill_folder(cli.data)
    source, target = str(cli.data), address
    if direction == "to a folder":
        assert cli("copy", source, target).code == 0
        source, target = address, str(tmp_path / "back")
    for writes in ("0", "4"):
        done = subprocess.run(
            [sys.executable, "-m", "tests.killed_copy", source, target, writes],
            env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
            timeout=120,
            check=False,
        )
        assert done.returncode == -signal.SIGKILL
    assert cli("copy", source, target).code == 0
    assert look(target) == look(source)
    assert {one["copied"] for one in cli("copy", source, target, "--json").json[0]["stores"]} == {0}


def test_what_cannot_be_copied_is_refused_with_what_to_do(
    cli: Cli, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("remember", LAMP)
    source = str(cli.data)
    refused: dict[str, Callable[[], object]] = {
        "there is no data folder": lambda: cli("copy", str(tmp_path / "none"), address),
        "to itself": lambda: cli("copy", source, source),
        "contains the other": lambda: cli("copy", source, str(cli.data / "inner")),
        "mysql:// address": lambda: cli("copy", source, "mysql://x/y"),
    }
    for message, run in refused.items():
        result = run()
        assert getattr(result, "code") in {2, 3}, message  # noqa: B009 - of a union
        assert message in getattr(result, "err")  # noqa: B009
    cli("--data-dir", address, "remember", "somebody else's")
    merged = cli("copy", source, address)
    assert merged.code == 1
    assert "two memories are never merged" in merged.err
    monkeypatch.setenv("TURNLEAF_MEMORY", str(tmp_path / "one.md"))
    shared = cli("copy", source, str(tmp_path / "copy"))
    assert (shared.code, "to itself" in shared.err) == (2, True)


def test_a_file_that_keeps_only_a_window_is_not_copied(cli: Cli, tmp_path: Path) -> None:
    cli("config", "conversationsLocation", "conversations.json")
    cli("remember", LAMP)
    refused = cli("copy", str(cli.data), str(tmp_path / "copy"))
    assert refused.code == 2
    assert "conversationsLocation" in refused.err


def test_facts_of_json_become_markdown(cli: Cli, tmp_path: Path) -> None:
    cli("config", "memoryLocation", "memories.json")
    cli("remember", LAMP)
    cli("remember", "tea")
    known = cli("memories", "--json").json
    target = str(tmp_path / "copy")
    assert cli("copy", str(cli.data), target).code == 0
    assert cli("--data-dir", target, "memories", "--json").json == known
    assert LAMP in (tmp_path / "copy/prompts/memory/MEMORY.md").read_text("utf-8")
    assert cli("--data-dir", target, "undo").code == 0
    assert LAMP in cli("--data-dir", target, "memories").out


def test_bullets_typed_by_hand_keep_their_days(cli: Cli, address: str, tmp_path: Path) -> None:
    page = cli.data / "prompts/memory/MEMORY.md"
    cli("remember", LAMP)
    for day, line in (("2020-01-01", "- old\n"), ("2024-01-01", "- newer\n")):
        page.write_text(page.read_text("utf-8") + line, "utf-8")
        moment = (int(day[:4]) - 1970) * 31_557_600
        os.utime(page, (moment, moment))
        cli("memories")
    known = cli("memories", "--json").json
    assert len({one["createdAt"][:4] for one in known}) == 3
    assert cli("copy", str(cli.data), address).code == 0
    assert cli("--data-dir", address, "memories", "--json").json == known
    assert cli("copy", address, str(tmp_path / "back")).code == 0
    assert cli("--data-dir", str(tmp_path / "back"), "memories", "--json").json == known


def test_a_conversation_goes_on_in_the_copy(cli: Cli, address: str) -> None:
    fill_folder(cli.data)
    assert cli("copy", str(cli.data), address).code == 0
    with Stores.open(address) as stores:
        last = stores.conversations.messages(KEY)[-1].id
        stores.conversations.add_exchange(KEY, "還在嗎？", "在。")
        assert stores.conversations.messages(KEY)[-2].parent == last
        assert any("還在嗎" in one.text for one in stores.passages.search("還在嗎"))
    refused = cli("copy", str(cli.data), address)
    assert (refused.code, "has been used since" in refused.err) == (1, True)


# export --watch


@pytest.fixture(params=["folder", "database"])
def place(request: pytest.FixtureRequest, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the program with a folder, then with a database."""
    named = str(cli.data) if request.param == "folder" else empty_database()
    monkeypatch.setenv("TURNLEAF_DATA_DIR", named)
    return named


def read_files(folder: Path) -> dict[str, str]:
    """Return the files of a folder, which all begin by saying what they are."""
    paths = [one for one in folder.rglob("*") if one.is_file()]
    texts = {one.relative_to(folder).as_posix(): one.read_text("utf-8") for one in paths}
    assert all(text.splitlines()[0].startswith(SAYS_COPY) for text in texts.values())
    return texts


def test_a_watched_folder_has_memory_notes_and_conversations_and_follows_them(
    place: str, tmp_path: Path
) -> None:
    folder = tmp_path / "watched"
    with Stores.open(place, now=(clock := Clock(START))) as stores:
        fill(stores, clock)
        following = FollowingFolder(stores, folder)
        following.update(ALL)
        first = read_files(folder)
        assert "手寫的一行" in first["MEMORY.md"]
        assert "Used to row" in first["OLDER.md"]
        assert "換了燈泡" in first["daily/2026-03-02.md"]
        (lamp,) = [name for name in first if name.startswith("transcripts/2026-03-01-燈-")]
        assert "好，我記住了。" not in first["MEMORY.md"]
        stores.facts.add("new fact")
        stores.conversations.rename(KEY, "新標題")
        stores.conversations.add_exchange("cli:new", "後來說的", "好。")
        following.update(ALL)
        then = read_files(folder)
        assert "new fact" in then["MEMORY.md"]
        assert lamp not in then
        assert any("後來說的" in text for text in then.values())
        stores.conversations.clear("cli:new")
        (folder / "transcripts/mine.md").write_text("my own", "utf-8")
        following.update({"conversations"})
        assert (folder / "transcripts/mine.md").read_text("utf-8") == "my own"
        assert not any("後來說的" in one.read_text("utf-8") for one in folder.rglob("*.md"))


def test_watching_takes_in_changes_and_ends_with_ctrl_c(
    cli: Cli, place: str, tmp_path: Path
) -> None:
    folder = tmp_path / "watched"
    cli("remember", "tea")
    program = [sys.executable, "-m", "turnleaf", "export", "--watch", str(folder)]
    with subprocess.Popen(program, stderr=subprocess.PIPE, text=True) as running:
        assert running.stderr
        assert "up to date" in running.stderr.readline()
        with Stores.open(place) as stores:
            stores.facts.add(LAMP)
        page = folder / "MEMORY.md"
        for _ in watch(folder, rust_timeout=200, yield_on_timeout=True):
            if LAMP in page.read_text("utf-8"):
                break
        running.send_signal(signal.SIGINT)
        assert "Stopped." in running.stderr.read()
        assert running.wait(60) == 0
    assert {one.name for one in folder.iterdir()} == {"MEMORY.md", "OLDER.md"}


def test_a_folder_with_anything_else_in_it_is_not_watched_into(cli: Cli, tmp_path: Path) -> None:
    cli("remember", LAMP)
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine", "utf-8")
    (tmp_path / "file").write_text("mine", "utf-8")
    for folder in (cli.data, cli.data / "inner", tmp_path, other, tmp_path / "file"):
        refused = cli("export", "--watch", str(folder))
        assert (refused.code, refused.out) == (2, "")
    assert cli("export", "x.md", "--watch", str(tmp_path / "new")).code == 2
    assert [one.name for one in other.iterdir()] == ["mine.txt"]


def test_nothing_is_written_through_a_link_that_leads_elsewhere(cli: Cli, tmp_path: Path) -> None:
    cli("log", "met Ann")
    folder, elsewhere = tmp_path / "watched", tmp_path / "elsewhere"
    elsewhere.mkdir()
    with Stores.open(cli.data) as stores:
        following = FollowingFolder(stores, folder)
        following.update({"facts"})
        (folder / "daily").symlink_to(elsewhere)
        with pytest.raises(InvalidInput, match="leads out"):
            following.update({"daily"})
    assert list(elsewhere.iterdir()) == []
