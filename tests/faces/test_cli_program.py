from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from rich.cells import cell_len

from tests.faces.conftest import Cli
from tests.faces.terminal import terminal
from turnleaf import __version__
from turnleaf.core.languages.replies import translate
from turnleaf.faces.cli import COMMANDS, make_overview
from turnleaf.faces.cli.program import program
from turnleaf.settings import SETTINGS

LAMP = "The living room lamp is called Ming"
MING = "客廳的燈叫做小明"
TURNLEAF = [sys.executable, "-m", "turnleaf"]


# Help


@pytest.mark.parametrize("arguments", [(), ("-h",), ("--help",)])
def test_the_help_shows_every_command_and_an_example(cli: Cli, arguments: tuple[str]) -> None:
    result = cli(*arguments)
    assert (result.code, result.err) == (0, "")
    assert "Try: turnleaf remember" in result.out
    for section in COMMANDS.values():
        for name, (_, _, summary) in section.items():
            assert f"  {name} " in result.out
            assert summary in result.out
    assert max(map(len, result.out.splitlines())) <= 80


def test_both_ways_to_the_help_print_the_same(cli: Cli) -> None:
    assert cli("--data-dir", "x", "--help").out == make_overview() == cli("--help").out


def test_the_help_names_the_options_of_the_program() -> None:
    options = [option for parameter in program.params for option in parameter.opts]
    assert [option for option in [*options, "--help"] if option not in make_overview()] == []


def test_the_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from turnleaf.faces.cli import main; main(['--help'])\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    loaded = set(done.stderr.decode().split())
    heavy = {"rich", "apsw", "json", "dataclasses", "pathlib", "platformdirs", "importlib.metadata"}
    assert loaded & {*heavy, "click", "turnleaf.store", "turnleaf.settings"} == set()


@pytest.mark.parametrize("name", [name for section in COMMANDS.values() for name in section])
def test_each_command_explains_itself(cli: Cli, name: str) -> None:
    result = cli(name, "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: turnleaf {name} ")
    assert "\\b" not in result.out
    command = program.get_command(click.Context(program), name)
    assert command is not None
    assert command.help


def list_contexts(context: click.Context) -> Iterator[click.Context]:
    """Yield the contexts of all commands below one, without that of the program."""
    command = context.command
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        found = command.get_command(context, name)
        assert found is not None
        child = click.Context(found, info_name=name, parent=context)
        yield child
        yield from list_contexts(child)


CONTEXTS = [*list_contexts(click.Context(program, info_name="turnleaf"))]
HAN = re.compile(r"[\u4e00-\u9fff]")
ENGLISH = re.compile(r"[a-z]{2,}(?: [a-z]{2,}){3}")
"""More words in a row than a command has."""
EXAMPLE = re.compile(r"  (?:turnleaf|fish:) ")
CAPITALS = re.compile(r"(?<![A-Za-z0-9_-])[A-Z]{2,}(?![A-Za-z0-9_-])")
"""What stands in a help for what is to be typed, and names such as HTTP."""
REMARK = re.compile(r"\[[a-z]+[]:]")
"""What click adds to an option, such as its default."""
NAMES = {"AI", "API", "EDITOR", "GPT", "HTTP", "ID", "JSON", "MCP", "SQL", "URL", "VISUAL"}


def list_entries(shown: str) -> Iterator[str]:
    """Yield the paragraphs, examples, options and commands of a help, each as one line."""
    _, *blocks = shown.split("\n\n")
    for block in blocks:
        lines = re.sub(r"\n {3,}", " ", block).splitlines()
        if lines[0].startswith("  ") and not EXAMPLE.match(lines[0]):
            yield " ".join(lines)
        else:
            yield from lines


@pytest.mark.parametrize("context", CONTEXTS, ids=lambda one: one.command_path)
def test_every_help_is_translated_whole_and_fits(
    context: click.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    shown = context.command.get_help(context)
    entries = [*list_entries(shown)]
    assert len(entries) > 1
    said = [one for one in entries if not EXAMPLE.match(one)]
    assert [one for one in said if not HAN.search(one)] == []
    assert [one for one in entries if ENGLISH.search(one.removeprefix("  turnleaf "))] == []
    assert shown.startswith("用法：turnleaf ")
    assert {*CAPITALS.findall(shown)} - NAMES == set()
    assert REMARK.findall(shown) == []
    assert [one for one in shown.splitlines() if cell_len(one) > 80] == []


def test_every_setting_and_summary_is_translated() -> None:
    texts = {text for one in SETTINGS for text in (one.meaning, one.takes.expected)}
    texts |= {row[2] for section in COMMANDS.values() for row in section.values()}
    assert {one for one in texts if one and not HAN.search(translate(one, "zh"))} == set()


def test_the_help_is_in_the_language_of_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    overview = cli("--help").out
    assert overview == cli("--data-dir", "x", "--help").out
    assert "\n對話：\n  chat        和助理聊天。\n" in overview
    told = cli("schedule", "add", "--help").out
    assert told.startswith("用法：turnleaf schedule add [選項] 提示詞...\n\n  加入定時執行")
    assert "  --when 時間  執行的時間。  [必填]\n" in told
    assert "  --json       輸出 JSON。\n" in told
    assert "用法：turnleaf db [選項] 指令 [參數]...\n" in cli("db", "--help").out
    assert "-n, --limit 整數" in cli("search", "--help").out
    assert "缺少參數「文字...」" in cli("search").err
    assert max(cell_len(line) for line in cli("import", "--help").out.splitlines()) <= 80


def test_the_version_is_shown(cli: Cli) -> None:
    assert cli("--version").out == f"turnleaf {__version__}\n"


# Wrong usage


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["forget"],
        ["search"],
        ["edit"],
        ["memories", "--frobnicate"],
        ["--data-dir"],
        ["export", "--format", "xml"],
        ["import", "no-such-file.json"],
        ["completion"],
        ["completion", "tcsh"],
        ["today", "--date", "../../etc/passwd"],
        ["today", "--date", "2026-13-01"],
    ],
)
def test_wrong_usage_exits_with_2_and_one_line(cli: Cli, arguments: list[str]) -> None:
    result = cli(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert len(result.err.splitlines()) == 1
    assert not cli.data.exists()


def test_the_place_of_data_dir_is_told(cli: Cli) -> None:
    assert "turnleaf --data-dir DIR COMMAND" in cli("memories", "--data-dir", "x").err


# The data folder


@pytest.mark.parametrize("is_option", [True, False])
@pytest.mark.parametrize(
    "command",
    [
        ("remember", "x"),
        ("config", "enabled"),
        ("doctor",),
        ("mcp", "config", "--client", "claude"),
    ],
)
def test_an_address_is_not_taken_for_a_folder(
    cli: Cli,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    *,
    is_option: bool,
) -> None:
    address = "redis://me:secret@host/memory"
    monkeypatch.setenv("TURNLEAF_DATA_DIR", "" if is_option else address)
    result = cli(*(("--data-dir", address) if is_option else ()), *command)
    assert result.code == 2
    assert "cannot store data at a redis:// address; use a folder" in result.err
    assert "secret" not in result.err
    assert list(tmp_path.iterdir()) == []


def test_data_dir_goes_before_the_environment(cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "茶 other"
    cli("--data-dir", str(other), "remember", MING)
    assert not cli.data.exists()
    assert MING in (other / "prompts" / "memory" / "MEMORY.md").read_text("utf-8")
    assert MING in cli("--data-dir", str(other), "memories").out


@pytest.mark.parametrize(
    ("folder", "code", "told"),
    [("", 2, "--data-dir is empty"), ("~nobody-of-that-name/x", 1, "write the full path")],
)
def test_what_names_no_folder_is_refused(cli: Cli, folder: str, code: int, told: str) -> None:
    result = cli("--data-dir", folder, "memories")
    assert (result.code, result.out) == (code, "")
    assert told in result.err
    assert not cli.data.exists()


def test_from_a_folder_that_is_gone_the_error_says_so(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    result = cli("memories")
    assert (result.code, result.out) == (1, "")
    assert "the current folder no longer exists" in result.err


def test_what_is_made_is_its_owner_s_alone(cli: Cli) -> None:
    cli("remember", LAMP)
    cli("log", LAMP)
    made = list(cli.data.rglob("*"))
    assert len(made) > 4
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


@contextmanager
def make_read_only(folder: Path) -> Iterator[None]:
    places = [path for path in (folder, *folder.rglob("*")) if path.is_dir()]
    for place in places:
        place.chmod(0o500)
    try:
        yield
    finally:
        for place in places:
            place.chmod(0o700)


@pytest.mark.parametrize("arguments", ["remember x", "log x", "forget lamp", "undo", "edit ID x"])
def test_a_read_only_folder_is_an_error_that_says_so(cli: Cli, arguments: str) -> None:
    (lamp,) = cli.remember(LAMP)
    before = cli.memory.location.read_bytes()
    with make_read_only(cli.data):
        done = cli.fork(*arguments.replace("ID", lamp).split(), is_powerless=True)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: cannot ")
    assert "permission is denied" in done.err
    assert cli.memory.location.read_bytes() == before


@pytest.mark.parametrize("command", ["history", "history slack:1"])
def test_conversations_can_be_read_in_a_read_only_folder(cli: Cli, command: str) -> None:
    cli.conversations.add_exchange("slack:1", MING, "好")
    with make_read_only(cli.data):
        done = cli.fork(*command.split(), is_powerless=True)
    assert (done.code, done.err) == (0, "")
    assert ("slack:1" if command == "history" else MING) in done.out


def test_a_read_only_folder_can_be_read(cli: Cli, tmp_path: Path) -> None:
    cli.remember(LAMP)
    cli.daily.append(LAMP)
    with make_read_only(cli.data):
        for command in ("memories", "search lamp", "today", "export", "backup ../copy.tar.gz"):
            words = command.replace("..", str(tmp_path)).split()
            done = cli.fork(*words, is_powerless=True)
            assert (done.code, done.err) == (0, ""), command


# Streams


@pytest.mark.parametrize("group", ["keys", "token", "space", "db"])
def test_a_group_without_a_command_shows_its_help_as_it_is(cli: Cli, group: str) -> None:
    told = cli(group)
    assert (told.code, told.out) == (2, "")
    assert told.err == cli(group, "--help").out


@pytest.mark.parametrize("command", [["memories"], ["--help"]])
def test_a_closed_pipe_is_quiet(cli: Cli, command: list[str]) -> None:
    cli.remember(LAMP)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*TURNLEAF, *command], stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def run_in_shell(line: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-c", f'exec "$0" -m turnleaf {line}', sys.executable],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("line", ["memories --json", "export", "--help"])
def test_a_full_disk_at_the_output_is_one_line(cli: Cli, line: str) -> None:
    cli.remember(LAMP)
    done = run_in_shell(f"{line} >/dev/full")
    assert done.returncode == 1
    assert done.stderr == "error: cannot write the output: No space left on device\n"


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("memories >&-", 0),
        ("remember x >&- 2>&- <&-", 0),
        ("remember <&-", 2),
        ("memories --frobnicate 2>/dev/full", 2),
    ],
)
def test_closed_streams_lead_nowhere(cli: Cli, line: str, code: int) -> None:
    cli.remember(LAMP)
    done = run_in_shell(line)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert cli.contents()[0] == LAMP


def test_a_warning_that_cannot_be_shown_stops_nothing(cli: Cli) -> None:
    cli.conversations.init()
    cli.conversations.location.write_text("{broken", "utf-8")
    assert run_in_shell("history 2>/dev/full").returncode == 0
    assert len(list(cli.conversations.location.parent.glob("*.corrupt-*"))) == 1


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def test_a_plain_ascii_locale_shows_and_takes_any_text(cli: Cli) -> None:
    assert cli.process("remember", f"{MING} 😀", environ=ASCII).code == 0
    assert cli.contents() == [f"{MING} 😀"]
    listed = cli.process("search", "小明", environ=ASCII)
    assert listed.code == 0
    assert "\\u5ba2" in listed.out
    assert "Traceback" not in listed.err


@pytest.mark.parametrize("encoding", ["ascii", "gbk"])
def test_json_is_json_in_every_encoding(cli: Cli, encoding: str) -> None:
    text = f"é {MING} 😀"
    cli.remember(text)
    done = subprocess.run(
        [*TURNLEAF, "memories", "--json"],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert json.loads(done.stdout.decode(encoding))[0]["content"] == text


def test_a_terminal_gets_colour_unless_no_color_is_set(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember(LAMP)
    with terminal("search", "lamp") as coloured:
        assert coloured.end() == 0
    monkeypatch.setenv("NO_COLOR", "1")
    with terminal("search", "lamp") as plain:
        assert plain.end() == 0
    assert "\x1b[" in coloured.output
    assert "\x1b" not in plain.output
    assert LAMP in plain.output


def test_a_pipe_gets_no_colour_even_by_force(cli: Cli) -> None:
    cli.remember(MING * 20)
    forced = {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "COLUMNS": "30"}
    assert cli.process("memories", environ=forced) == cli("memories")


@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        (60, ["ID", "Added", "Category", "Memory"]),
        (40, ["ID", "Category", "Memory"]),
        (30, ["ID", "Memory"]),
        (20, ["ID", "Memory"]),
    ],
)
def test_a_narrow_terminal_keeps_ids_whole_and_shows_the_memory(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int, headings: list[str]
) -> None:
    memory = cli("remember", "-c", "居家生活與雜事", MING, "--json").json
    monkeypatch.setenv("NO_COLOR", "1")
    with terminal("memories", columns=columns) as narrow:
        assert narrow.end() == 0
    header, *lines = narrow.output.splitlines()
    assert header.split() == headings
    assert lines[0].startswith(f"{memory['id']}  ")
    assert MING.startswith(lines[0].split()[-1])


def test_a_narrow_terminal_wraps_an_id_that_would_fill_it(cli: Cli) -> None:
    cli("import", "-", stdin=json.dumps([{"id": "x" * 70, "content": MING}]))
    with terminal("memories", columns=60) as narrow:
        assert narrow.end() == 0
    assert MING in narrow.output
    assert narrow.output.count("x") == 70


def test_a_narrow_terminal_loses_no_character(cli: Cli) -> None:
    cli.remember(MING * 5)
    with terminal("memories", columns=44) as narrow:
        assert narrow.end() == 0
    lines = [line.split()[-1] for line in narrow.output.splitlines()[1:]]
    assert "".join(lines).endswith(MING)
    assert "".join(lines).count("小明") == 5


# A person at the terminal


def test_forget_asks_which_and_forgets_the_chosen(cli: Cli) -> None:
    cli.remember("green tea", "black tea", "烏龍 tea", LAMP)
    with terminal("forget", "tea") as person:
        question = person.wait_for("Forget which?")
        assert "烏龍 tea" in question
        person.type("1, 3\n")
        assert person.end() == 0
    assert cli.contents() == ["black tea", LAMP]


@pytest.mark.parametrize(
    ("answer", "code", "left"), [("all\n", 0, 0), ("\n", 1, 2), ("7\n", 2, 2), ("\x04", 1, 2)]
)
def test_other_answers_to_the_question(cli: Cli, answer: str, code: int, left: int) -> None:
    cli.remember("green tea", "black tea")
    with terminal("forget", "tea") as person:
        person.wait_for("Forget which?")
        person.type(answer)
        assert person.end() == code
    assert len(cli.contents()) == left


def test_an_interrupted_question_exits_quietly_with_130(cli: Cli) -> None:
    cli.remember("green tea", "black tea")
    with terminal("forget", "tea") as person:
        person.wait_for("for none:")
        person.process.interrupt()
        assert person.end() == 130
    assert "Traceback" not in person.output
    assert len(cli.contents()) == 2


def test_remember_at_a_terminal_without_text_says_what_to_give(cli: Cli) -> None:
    with terminal("remember") as person:
        assert person.end() == 2
    assert "no text was given" in person.output


# Completion


def test_completion_names_commands_and_options(cli: Cli) -> None:
    def complete(*words: str) -> list[str]:
        environ = {
            "_TURNLEAF_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["turnleaf", *words]),
            "COMP_CWORD": str(len(words)),
        }
        return cli.fork(environ=environ).out.split()

    assert complete("rem") == ["plain,remember"]
    assert "plain,--category" in complete("remember", "--")
    assert complete("export", "--format", "m") == ["plain,markdown"]
    assert complete("--data-dir", "da") == ["dir,da"]


@pytest.mark.parametrize("environ", [{}, {"COMP_WORDS": "turnleaf", "COMP_CWORD": "x"}])
def test_completion_that_no_shell_asked_for_is_refused(cli: Cli, environ: dict[str, str]) -> None:
    result = cli.fork(environ={"_TURNLEAF_COMPLETE": "bash_complete", **environ})
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: _TURNLEAF_COMPLETE is set, but not by")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_says_how_to_install_it(cli: Cli, shell: str) -> None:
    result = cli("completion", shell)
    assert result.code == 0
    assert f"turnleaf completion {shell}" in result.out
    assert "_TURNLEAF_COMPLETE" in result.out


def test_bash_takes_the_completion_script(cli: Cli) -> None:
    bash = shutil.which("bash")
    assert bash
    script = cli("completion", "bash").out + "complete -p turnleaf\n"
    done = subprocess.run(
        [bash, "--norc", "-e"], input=script.encode(), capture_output=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert b"turnleaf" in done.stdout
