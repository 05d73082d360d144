from __future__ import annotations

import json
import sys
import time
from datetime import datetime
from pathlib import Path

import pytest

from tests.faces.conftest import Cli
from tests.postgres import empty_database
from turnleaf.core.memories import make_content_id

LAMP = "The living room lamp is called Ming"
MING = "客廳的燈叫做小明"


# remember


def test_words_are_joined_and_remembered(cli: Cli) -> None:
    result = cli("remember", *LAMP.split())
    assert (result.code, result.err) == (0, "")
    (memory,) = cli.memory.get_all()
    assert memory.content == LAMP
    assert result.out == f"remembered {memory.id}: {LAMP}\n"


def test_chinese_is_remembered_under_its_category(cli: Cli) -> None:
    result = cli("remember", "--category", "家", MING, "--json")
    assert result.json["content"] == MING
    assert result.json["category"] == "家"
    assert cli("memories", "--category", "家", "--json").json == [result.json]


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_what_is_piped_in_is_remembered_with_its_lines(cli: Cli, arguments: tuple[str]) -> None:
    assert cli("remember", *arguments, stdin="one\n\n  二\n").code == 0
    assert cli.contents() == ["one\n\n  二"]


def test_text_that_begins_with_a_dash_comes_after_two(cli: Cli) -> None:
    refused = cli("remember", "-5", "degrees")
    assert refused.code == 2
    assert 'after "--"' in refused.err
    assert cli("remember", "--", "-5", "degrees").code == 0
    assert cli.contents() == ["-5 degrees"]


@pytest.mark.parametrize("stdin", ["", "\n", " \t\n"])
def test_empty_text_is_refused(cli: Cli, stdin: str) -> None:
    for result in (cli("remember", stdin=stdin), cli("remember", stdin)):
        assert (result.code, result.out) == (2, "")
        assert result.err.startswith("error: ")
    assert cli.contents() == []


def test_what_is_no_text_is_refused_and_says_where(cli: Cli) -> None:
    nul = cli("remember", stdin="a\0b")
    latin = cli("remember", stdin="caf\xe9".encode("latin-1"))
    assert (nul.code, latin.code) == (2, 2)
    assert "U+0000" in nul.err
    assert "not UTF-8 at byte 3" in latin.err
    assert cli.contents() == []


def test_arguments_that_are_not_utf8_are_refused(cli: Cli) -> None:
    result = cli.process("remember", b"caf\xe9")
    assert (result.code, result.out) == (2, "")
    assert "is not UTF-8" in result.err
    assert "Traceback" not in result.err


def test_a_huge_text_is_refused_with_the_limit(cli: Cli) -> None:
    result = cli("remember", stdin="長" * 2_000_000)
    assert (result.code, result.out) == (1, "")
    assert "MEMORY_MAX_CHARS" in result.err
    assert cli.contents() == []


# memories


def test_an_empty_memory_says_how_to_begin(cli: Cli) -> None:
    listed, as_json = cli("memories"), cli("memories", "--json")
    assert (listed.code, listed.out) == (0, "")
    assert "turnleaf remember" in listed.err
    assert (as_json.code, as_json.json) == (0, [])


def test_columns_stand_under_each_other_beside_wide_characters(cli: Cli) -> None:
    cli("remember", "-c", "客廳", MING)
    cli("remember", "-c", "home", LAMP)
    header, *rows = cli("memories").out.splitlines()
    where = header.index("Memory")
    # A wide character takes two columns, so its line has fewer characters than columns.
    assert [row.index(text) for row, text in zip(rows, (MING, LAMP), strict=True)] == [
        where - len("客廳"),
        where,
    ]


def test_a_pipe_gets_whole_lines_without_codes(cli: Cli) -> None:
    long = "word " * 200 + "end"
    cli.remember(long, "two\nlines")
    out = cli("memories").out
    assert long in out
    assert "\x1b" not in out
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_what_would_act_on_a_terminal_is_written_out(cli: Cli) -> None:
    cli.remember("red \x1b[31m bell \x07 \u202eflow")
    out = cli("memories").out + cli("search", "flow").out
    assert not set(out) & {"\x1b", "\x07", "\u202e"}
    assert r"\x1b[31m bell \x07 \u202eflow" in out


def test_an_id_from_elsewhere_cannot_act_on_the_terminal(cli: Cli) -> None:
    cli("import", "-", stdin=json.dumps([{"id": "\x1b[31m", "content": "lamp"}]))
    told = [cli("memories"), cli("why", "\x1b"), cli("edit", "\x1b", "x"), cli("forget", "x")]
    assert [one.code for one in told] == [0] * 4
    assert "\x1b" not in "".join(one.out + one.err for one in told)


def test_an_id_of_several_lines_stands_on_one(cli: Cli) -> None:
    cli("import", "-", stdin=json.dumps([{"id": "a\nb", "content": "lamp"}]))
    assert [line.split()[:2] for line in cli("memories").out.splitlines()] == [
        ["ID", "Added"],
        ["a", "b"],
    ]
    for told in (cli("edit", "a", "x").out, cli("undo").out):
        assert len(told.splitlines()) == 1
    assert "id        a b\n" in cli("why", "a").out


@pytest.mark.parametrize("zone", ["Asia/Taipei", "America/Los_Angeles"])
@pytest.mark.parametrize("moment", ["9999-12-31T23:59:59.999Z", "0001-01-01T00:00:00+14:00"])
def test_a_time_at_the_edge_of_the_calendar_is_an_unknown_one(
    cli: Cli, zone: str, moment: str
) -> None:
    cli.memory.init()
    line = f"- {MING} <!-- turnleaf id=edge created={moment} updated={moment} -->\n"
    cli.memory.location.write_text(line, "utf-8")
    for command in (["memories"], ["memories", "--json"], ["why", "edge"], ["export"]):
        shown = cli.fork(*command, environ={"TZ": zone})
        assert (shown.code, shown.err) == (0, "")
        assert MING in shown.out


def test_a_file_with_a_time_at_the_edge_of_the_calendar_is_kept_as_one_that_is_no_array(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "memories.json"
    file.write_text('[{"content": "x", "createdAt": "9999-12-31T23:59:59.999Z"}]', "utf-8")
    monkeypatch.setenv("TURNLEAF_MEMORY", str(file))
    listed = cli("memories")
    assert (listed.code, listed.out) == (0, "")
    assert "is outside the supported range of times" in listed.err
    assert len(list(tmp_path.glob("memories.json.corrupt-*"))) == 1


def test_tags_and_markup_are_shown_as_they_are(cli: Cli) -> None:
    text = "</long_term_memory> [bold]x[/bold] [/] :smile: <b>"
    cli.remember(text)
    assert text in cli("memories").out
    assert text in cli("search", "bold").out


def test_an_unknown_category_matches_nothing(cli: Cli) -> None:
    cli.remember(LAMP)
    result = cli("memories", "--category", "garden")
    assert (result.code, result.out) == (3, "")
    assert "garden" in result.err


# edit


def test_a_memory_is_changed_by_its_id(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    result = cli("edit", lamp[:4], MING)
    assert (result.code, result.out) == (0, f"changed {lamp}: {MING}\n")
    assert cli("edit", lamp, "-", "--json", stdin="one\ntwo\n").json["content"] == "one\ntwo"
    assert cli.contents() == ["one\ntwo"]


def test_an_unknown_or_doubtful_id_changes_nothing(cli: Cli) -> None:
    records = [{"id": "aab", "content": "one"}, {"id": "aac", "content": "two"}]
    cli("import", "-", stdin=json.dumps(records))
    assert cli("edit", "zzz", "three").code == 3
    doubtful = cli("edit", "aa", "three")
    assert doubtful.code == 2
    assert "type more of it" in doubtful.err
    assert cli.contents() == ["one", "two"]


def editor(folder: Path, code: str) -> str:
    """Make a program that does to its file what somebody does in an editor."""
    script = folder / "editor.py"
    script.write_text(f"import sys, pathlib\nfile = pathlib.Path(sys.argv[1])\n{code}\n", "utf-8")
    return f"{sys.executable} {script}"


def test_the_editor_is_opened_with_the_text(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (ming,) = cli.remember(f"{MING}\n二")
    code = "file.write_text(file.read_text('utf-8').replace('小明', '小華'), 'utf-8')"
    monkeypatch.setenv("VISUAL", editor(tmp_path, code))
    assert cli("edit", ming).code == 0
    assert cli.contents() == ["客廳的燈叫做小華\n二"]


def test_an_editor_that_saves_nothing_changes_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lamp,) = cli.remember(LAMP)
    monkeypatch.setenv("VISUAL", editor(tmp_path, "pass"))
    result = cli("edit", lamp)
    assert (result.code, result.out) == (0, "")
    assert "Nothing was changed" in result.err
    assert cli.contents() == [LAMP]


def test_text_typed_while_somebody_else_changed_it_is_kept(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lamp,) = cli.remember(LAMP)
    code = (
        f"page = pathlib.Path({str(cli.memory.location)!r})\n"
        f"page.write_text(page.read_text('utf-8').replace({LAMP!r}, 'theirs'), 'utf-8')\n"
        "file.write_text('我的', 'utf-8')"
    )
    monkeypatch.setenv("VISUAL", editor(tmp_path, code))
    result = cli("edit", lamp)
    assert result.code == 1
    assert "changed meanwhile" in result.err
    assert cli.contents() == ["theirs"]
    kept = result.err.partition("saved to ")[2].splitlines()[0]
    assert Path(kept).read_text("utf-8") == "我的"
    assert Path(kept).is_relative_to(cli.data)


@pytest.mark.parametrize("memory_id", ["a/b", "../../up", "茶" * 200, "-"])
def test_typed_text_is_kept_whatever_the_id(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory_id: str
) -> None:
    cli("import", "-", stdin=json.dumps([{"id": memory_id, "content": LAMP}]))
    before = set(tmp_path.iterdir())
    code = "file.write_text('too long 長' * 2000, 'utf-8')"
    monkeypatch.setenv("VISUAL", editor(tmp_path, code))
    results = [cli("edit", "--", memory_id) for _ in range(2)]
    kept = [Path(one.err.partition("saved to ")[2].splitlines()[0]) for one in results]
    assert [one.code for one in results] == [1, 1]
    assert len(set(kept)) == 2
    for path in kept:
        assert path.parent == cli.data
        assert path.read_text("utf-8") == "too long 長" * 2000
    assert set(tmp_path.iterdir()) - before == {tmp_path / "editor.py"}


def test_without_a_change_scripts_get_the_memory_too(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    result = cli("edit", lamp, LAMP, "--json")
    assert (result.code, result.json["content"]) == (0, LAMP)
    assert "Nothing was changed" in result.err


def test_text_in_another_encoding_is_kept(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lamp,) = cli.remember(LAMP)
    monkeypatch.setenv("VISUAL", editor(tmp_path, "file.write_bytes('小明'.encode('big5'))"))
    result = cli("edit", lamp)
    assert result.code == 2
    kept = result.err.partition("your text is in ")[2].partition(", so")[0]
    assert Path(kept).read_bytes().decode("big5") == "小明"
    assert cli.contents() == [LAMP]


MEANWHILE = """
from turnleaf.store.contracts import Stores
with Stores.open({place!r}) as stores:
    {change}
"""


@pytest.fixture(params=["folder", "database"])
def place(request: pytest.FixtureRequest, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the program with a folder, then with a database."""
    named = str(cli.data) if request.param == "folder" else empty_database()
    monkeypatch.setenv("TURNLEAF_DATA_DIR", named)
    return named


def edit_while(change: str, place: str, edit: str) -> str:
    """Return what an editor does whose user saves after somebody else has changed something."""
    said = MEANWHILE.format(place=place, change=change)
    return f"text = file.read_text('utf-8')\n{said}\nfile.write_text({edit}, 'utf-8')"


def test_the_whole_memory_opens_in_the_editor_and_is_saved(
    cli: Cli, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert place
    cli("remember", LAMP)
    code = "file.write_text(file.read_text('utf-8') + '\\n## 家\\n\\n- 手寫的\\n', 'utf-8')"
    monkeypatch.setenv("VISUAL", editor(tmp_path, code))
    saved = cli("edit")
    assert (saved.code, saved.out) == (0, "saved; the memory now has 2 facts\n")
    assert {one["content"] for one in cli("memories", "--json").json} == {LAMP, "手寫的"}
    assert cli("undo").code == 0
    assert [one["content"] for one in cli("memories", "--json").json] == [LAMP]
    monkeypatch.setenv("VISUAL", editor(tmp_path, "pass"))
    unchanged = cli("edit", "--json")
    assert unchanged.json == {"change": None, "facts": 1}
    assert "Nothing was changed" in unchanged.err


def test_what_others_change_while_the_editor_is_open_is_merged(
    cli: Cli, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for fact in ("One", "Two", "Three", "Four"):
        cli("remember", fact)
    known = {one["content"]: one["id"] for one in cli("memories", "--json").json}
    change = (
        f"stores.facts.update({known['Two']!r}, 'Two, by another')\n"
        f"    stores.facts.delete({known['Four']!r})\n"
        "    stores.facts.add('小明，別人加的')\n"
        f"    stores.facts.update({known['Three']!r}, 'Three, by another')"
    )
    edit = (
        "text.replace('- One', '- One, by me').replace('- Three', '- Three, by me') + '- Mine\\n'"
    )
    monkeypatch.setenv("VISUAL", editor(tmp_path, edit_while(change, place, edit)))
    assert cli("edit").code == 0
    assert {one["content"] for one in cli("memories", "--json").json} == {
        "One, by me", "Two, by another", "Three, by me", "小明，別人加的", "Mine",
    }  # fmt: skip
    assert "Three, by another" in cli("why", known["Three"]).out


def test_a_text_that_cannot_be_merged_is_kept_in_a_file(
    cli: Cli, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("remember", LAMP)
    change = "stores.facts.write(stores.facts.text().replace('# Memory', '# Their title'))"
    edit = "text.replace('# Memory', '# My title')"
    monkeypatch.setenv("VISUAL", editor(tmp_path, edit_while(change, place, edit)))
    refused = cli("edit")
    assert refused.code == 1
    assert "the same lines were changed" in refused.err
    kept = refused.err.partition("Your text was saved to ")[2].splitlines()[0]
    assert "# My title" in Path(kept).read_text("utf-8")
    assert "# Their title" in cli("export", "--format", "markdown").out


def test_an_editor_that_fails_changes_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (lamp,) = cli.remember(LAMP)
    monkeypatch.setenv("VISUAL", editor(tmp_path, "sys.exit(1)"))
    result = cli("edit", lamp)
    assert result.code == 1
    assert result.err.startswith("error: ")
    assert cli.contents() == [LAMP]


def test_a_fact_is_pinned_and_unpinned(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    assert cli("pin", lamp).out == f"pinned {lamp}: {LAMP}\n"
    assert cli("memories", "--json").json[0]["pinned"] is True
    assert "pinned    in every prompt" in cli("why", lamp).out
    assert cli("unpin", lamp).out == f"unpinned {lamp}: {LAMP}\n"
    assert "pinned" not in cli("memories", "--json").json[0]
    assert cli("pin", "nobody").code == 3


# undo and why


def test_undo_says_what_it_did_until_nothing_is_left(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    cli("edit", lamp, MING)
    assert cli("undo").out == f"changed back {lamp}: {LAMP}\n"
    assert cli("undo", "--json").json[0]["op"] == "add"
    nothing = cli("undo")
    assert (nothing.code, nothing.out) == (3, "")
    assert "nothing to undo" in nothing.err
    assert cli.contents() == []


def test_undo_says_how_to_get_past_what_was_edited_by_hand(cli: Cli) -> None:
    cli.remember(LAMP, MING)
    location = cli.memory.location
    location.write_text(location.read_text("utf-8").replace(MING, "自己改的"), "utf-8")
    refused = cli("undo")
    assert (refused.code, refused.out) == (1, "")
    assert "was changed again since" in refused.err
    assert "turnleaf undo --skip" in refused.err
    assert LAMP in cli("undo", "--skip").out
    assert cli.contents() == ["自己改的"]
    assert cli("undo", "--skip").code == 3


def test_a_file_that_was_saved_as_a_whole_is_told_of_and_taken_back(cli: Cli) -> None:
    lamp, ming = cli.remember(LAMP, MING)
    kept, _, gone = cli.memory.text().rpartition(f"- {MING}")
    assert gone
    cli.memory.write(kept.replace("Ming", "Ling") + "- typed\n")
    assert f"written by saving the whole file by you\n{'':18}was: {LAMP}" in (cli("why", lamp).out)
    assert "deleted by saving the whole file by you" in cli("why", ming).out
    assert sorted(cli("undo").out.splitlines()) == sorted(
        [
            "undone: the change of the whole file",
            f"restored {ming}: {MING}",
            f"changed back {lamp}: {LAMP}",
            f"undone: no longer remembered {make_content_id('typed')}: typed",
        ]
    )
    assert cli.contents() == [LAMP, MING]


def test_why_tells_the_whole_story_of_a_memory(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    cli("edit", lamp, MING)
    told = cli("why", lamp[:6]).out
    for piece in (MING, LAMP, lamp, "remembered by you", "changed by you"):
        assert piece in told
    as_json = cli("why", lamp, "--json").json
    assert as_json["memory"]["content"] == MING
    assert [change["op"] for change in as_json["changes"]] == ["add", "update"]


def test_why_takes_a_text_that_one_fact_contains(cli: Cli) -> None:
    cli.remember("客廳的燈叫做小明")
    cli.remember("The lamp in the hall is called Momo")
    assert "Momo" in cli("why", "momo").out
    assert "客廳的燈叫做小明" in cli("why", "小明").out
    cli.remember("Momo likes tuna")
    assert '2 facts contain "Momo"' in cli("why", "Momo").err
    assert 'no fact has the ID or contains "tea"' in cli("why", "tea").err


def test_why_knows_a_forgotten_memory(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    cli("forget", lamp)
    told = cli("why", lamp)
    assert told.code == 0
    assert "is forgotten" in told.out
    assert cli("why", lamp, "--json").json["memory"] is None


def test_why_says_that_a_fact_was_typed_by_hand(cli: Cli) -> None:
    cli.remember(LAMP)
    location = cli.memory.location
    location.write_text(location.read_text("utf-8") + "- 手寫的\n", "utf-8")
    typed = cli("search", "手寫的", "--json").json[0]["id"]
    assert "by hand" in cli("why", typed).out


def test_why_of_nobody_matches_nothing(cli: Cli) -> None:
    result = cli("why", "nobody")
    assert (result.code, result.out) == (3, "")


# What goes wrong


def test_a_broken_memory_file_is_kept_and_named(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    broken = tmp_path / "memories.json"
    broken.write_text('[{"content": "half', "utf-8")
    monkeypatch.setenv("TURNLEAF_MEMORY", str(broken))
    result = cli("remember", LAMP)
    assert result.code == 0
    (aside,) = tmp_path.glob("memories.json.corrupt-*")
    assert aside.read_text("utf-8") == '[{"content": "half'
    assert result.err.startswith("warning: ")
    assert aside.name in result.err
    assert [one["content"] for one in cli("memories", "--json").json] == [LAMP]


def test_a_data_folder_that_cannot_be_is_an_error_that_says_what_to_do(
    cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "file"
    file.write_text("mine", "utf-8")
    for command in (["remember", "x"], ["memories"], ["log", "x"], ["history"]):
        result = cli("--data-dir", str(file / "data"), *command)
        assert (result.code, result.out) == (1, "")
        assert "is a file, not a folder" in result.err
    assert file.read_text("utf-8") == "mine"


def test_a_bad_setting_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "many")
    result = cli("remember", LAMP)
    assert (result.code, result.out) == (1, "")
    assert "MEMORY_MAX_ITEMS" in result.err
    assert not cli.data.exists()


def test_a_full_memory_answers_in_the_language_of_the_fact(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "1")
    cli.remember("one")
    full = cli("remember", "我對青黴素過敏")
    assert full.code == 1
    assert "沒辦法記住：記憶已滿" in full.err
    assert "turnleaf config memoryMaxItems 2" in full.err


def test_a_full_memory_says_what_to_do(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "1")
    assert cli("remember", LAMP).code == 0
    result = cli("remember", "I drink tea in the morning")
    assert result.code == 1
    assert "MEMORY_MAX_ITEMS" in result.err
    assert cli.contents() == [LAMP]


# older facts


def test_older_facts_are_listed_explained_exported_and_forgotten(cli: Cli) -> None:
    lamp = cli.memory.add(LAMP)
    cli.memory.retire([lamp.id])
    assert cli("memories", "--json").json == []
    assert [one["id"] for one in cli("memories", "--older", "--json").json] == [lamp.id]
    assert "moved to the older facts" in cli("why", lamp.id).out
    assert "not put into prompts" in cli("why", lamp.id).out
    assert LAMP in cli("export", "--older").out
    assert cli("forget", "lamp").out == f"forgot {lamp.id}: {LAMP}\n"
    assert "There are no older facts" in cli("memories", "--older").err
    cli("undo")
    cli("undo")
    assert cli.contents() == [LAMP]


def test_a_learned_fact_makes_room_and_its_name_is_told(cli: Cli) -> None:
    cli("config", "memoryMaxItems", "2")
    zoo = cli.memory.add("I went to the zoo", origin="learnt")
    cli("remember", LAMP)
    result = cli("remember", MING)
    assert f"moved to the older facts to make room: {zoo.id}" in result.err
    assert cli.contents() == [LAMP, MING]
    full = cli("remember", "one more")
    assert (full.code, "turnleaf config memoryMaxItems 4" in full.err) == (1, True)


# log and today


def local_day() -> str:
    return datetime.now().astimezone().date().isoformat()


@pytest.mark.usefixtures("at_noon")
def test_what_is_logged_is_shown_today(cli: Cli) -> None:
    assert cli("log", "今天", "澆花了").code == 0
    assert cli("log", stdin="one\ntwo\n").code == 0
    shown = cli("today")
    assert shown.code == 0
    assert "今天 澆花了" in shown.out
    assert "one\n  two" in shown.out
    assert cli("today", "--json").json == {
        "date": local_day(),
        "text": cli.daily.read(local_day()),
    }


@pytest.mark.usefixtures("at_noon")
def test_an_empty_day_says_how_to_begin(cli: Cli) -> None:
    shown = cli("today")
    assert (shown.code, shown.out) == (0, "")
    assert "turnleaf log" in shown.err
    assert cli("today", "--json").json["text"] == ""
    assert not cli.data.exists()


@pytest.mark.usefixtures("at_noon")
def test_another_day_is_shown_by_its_date(cli: Cli) -> None:
    cli.daily.init()
    (cli.folder.daily / "2026-01-02.md").write_text("# 2026-01-02\n\n- 08:00 早\n", "utf-8")
    assert "08:00 早" in cli("today", "--date", "2026-01-02").out
    missing = cli("today", "--date", "2026-01-03")
    assert (missing.code, missing.out) == (3, "")


@pytest.mark.usefixtures("at_noon")
def test_the_day_is_the_local_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two zones that are never on the same date at the same moment.
    days = []
    for zone in ("Etc/GMT-14", "Etc/GMT+12"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        cli("log", zone)
        days.append(cli("today", "--json").json)
    monkeypatch.delenv("TZ")
    time.tzset()
    assert days[0]["date"] != days[1]["date"]
    assert "GMT-14" in days[0]["text"]
    assert "GMT-14" not in days[1]["text"]


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize("text", ["", " \n", "a\0b"])
def test_what_cannot_be_logged_is_refused(cli: Cli, text: str) -> None:
    result = cli("log", stdin=text)
    assert (result.code, result.out) == (2, "")
    assert not cli.daily.dates()


@pytest.mark.usefixtures("at_noon")
def test_escape_codes_in_a_log_are_written_out(cli: Cli) -> None:
    cli("log", "a \x1b[2J b")
    assert "a \\x1b[2J b" in cli("today").out


def test_a_note_is_confirmed_in_the_language_of_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    assert cli("log", "澆了花").out == "已加到今天的筆記；請看 turnleaf today\n"


def test_a_terminal_with_simplified_characters_gets_those(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert cli("log", "浇了花").out == "已加到今天的笔记；请看 turnleaf today\n"


def test_a_missing_argument_is_named_in_the_language_of_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    assert cli("why").err == "錯誤：缺少參數「ID」；請看 turnleaf why --help\n"


def test_a_fact_that_is_remembered_already_is_kept_once(cli: Cli) -> None:
    (lamp,) = cli.remember(LAMP)
    assert cli("remember", LAMP).out == f"already remembered {lamp}: {LAMP}\n"
    assert cli.contents() == [LAMP]


def test_why_names_what_no_fact_or_conversation_begins_with(cli: Cli) -> None:
    result = cli("why", "cli:session-")
    assert result.code == 3
    assert result.err.startswith('error: no fact or conversation begins with "cli:session-"; see ')


def test_a_table_has_headings_in_the_language_of_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember(MING)
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    assert cli("memories").out.split()[:3] == ["ID", "加入日期", "記憶"]
