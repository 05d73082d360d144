from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.faces.conftest import Cli, Result
from tests.faces.screen import Screen
from tests.faces.terminal import SECONDS, terminal
from tests.standins.chat_api import ChatApi
from tests.standins.scripted_model import MARKED, WITHOUT_MARKS
from turnleaf.faces.cli.answers import MarkdownVoice, cut_blocks, find_breaks
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore

MING = "客廳的燈叫做小明"
RECENT = "cli:session-100"


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatApi]:
    with ChatApi() as api:
        monkeypatch.setenv("TURNLEAF_MODEL", "openai:test")
        monkeypatch.setenv("TURNLEAF_MODEL_URL", api.url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        monkeypatch.setenv("TURNLEAF_EXTRACT_MODEL", "rules")
        yield api


def keys(cli: Cli) -> list[str]:
    return [one.key for one in cli.conversations.summaries()]


def list_texts(cli: Cli, key: str | None = None) -> list[str]:
    return [message.text for message in cli.conversations.get_history(key or keys(cli)[0])]


def add_earlier(cli: Cli, text: str, *, minutes: float, key: str = RECENT) -> None:
    now = datetime.now(UTC) - timedelta(minutes=minutes)
    store = ConversationStore(cli.folder.conversations(Settings()), now=lambda: now)
    store.add_exchange(key, text, "Yes")
    store.close()


# Asking


def test_a_question_is_answered_from_what_is_remembered(cli: Cli) -> None:
    cli.remember(MING)
    result = cli.fork("ask", "小明", "是什麼？", environ={"FORCE_COLOR": "1"})
    assert (result.code, result.err) == (0, "")
    assert MING in result.out
    assert "\x1b" not in result.out
    assert list_texts(cli)[0] == "小明 是什麼？"


def test_the_question_can_be_piped_in(cli: Cli, api: ChatApi) -> None:
    api.answer("A lamp.")
    api.answer("Still a lamp.")
    assert cli.fork("ask", stdin="小明\n是什麼？\n".encode()).out == "A lamp.\n"
    assert cli.fork("ask", "-", stdin=b"Really?").out == "Still a lamp.\n"
    assert list_texts(cli)[::2] == ["小明\n是什麼？", "Really?"]


@pytest.mark.parametrize("arguments", [[], [""], ["  "], ["-"]])
def test_without_a_question_nothing_is_asked(cli: Cli, arguments: list[str]) -> None:
    result = cli("ask", *arguments)
    assert (result.code, result.out) == (2, "")
    assert "the question is empty" in result.err
    assert not cli.data.exists()


def test_an_explicit_request_is_carried_out_and_confirmed(cli: Cli) -> None:
    result = cli("ask", f"請記住{MING}")
    assert MING in result.out
    assert cli.contents() == [MING]


def test_an_answer_is_markdown_on_a_terminal_and_as_it_came_in_a_pipe(
    cli: Cli, api: ChatApi
) -> None:
    api.answer("**燈**\n", "is on")
    api.answer("**燈**\n", "is on")
    assert cli("ask", "Hello").out == "**燈**\nis on\n"
    with terminal("ask", "Hello") as seen:
        assert seen.end() == 0
    assert "\x1b[1m燈\x1b[0m" in seen.output
    assert "**" not in seen.output


def test_no_mark_of_what_an_answer_uses_is_printed(cli: Cli, api: ChatApi) -> None:
    api.answer(*MARKED)
    assert cli("ask", "燈？").out == f"{WITHOUT_MARKS}\n"
    assert list_texts(cli)[-1] == WITHOUT_MARKS


def test_an_escape_code_in_an_answer_does_not_act(cli: Cli, api: ChatApi) -> None:
    api.answer("a\x1b]0;owned", "\x07b")
    assert cli("ask", "Hello").out == "a\\x1b]0;owned\\x07b\n"


# Which conversation


def test_it_goes_on_with_a_conversation_of_the_last_hour(cli: Cli) -> None:
    add_earlier(cli, "Hello", minutes=55)
    add_earlier(cli, "From a phone", minutes=1, key="slack:1.5")
    cli("ask", "And then?")
    assert list_texts(cli, RECENT)[2] == "And then?"


def test_after_an_hour_it_begins_a_new_one(cli: Cli) -> None:
    add_earlier(cli, "Hello", minutes=61)
    cli("ask", "And then?")
    assert len(list_texts(cli, RECENT)) == 2
    assert list_texts(cli)[0] == "And then?"


@pytest.mark.parametrize("which", ["1", RECENT, "hello", "HELLO the"])
def test_resume_goes_on_with_the_conversation_that_is_meant(cli: Cli, which: str) -> None:
    add_earlier(cli, "Hello there", minutes=60 * 24 * 30)
    result = cli("ask", "--resume", which, "And then?", "--json")
    assert result.code == 0
    assert list_texts(cli, RECENT)[2] == "And then?"
    asked, answered = cli.conversations.messages(RECENT)[2:]
    assert (result.json["question"], result.json["answer"]) == (asked.id, answered.id)


def test_an_old_conversation_that_is_resumed_is_in_the_prompt(cli: Cli, api: ChatApi) -> None:
    add_earlier(cli, "I drink oolong tea", minutes=60 * 24 * 30)
    api.answer("Tea.")
    cli("ask", "--resume", "1", "What do I drink?")
    assert "I drink oolong tea" in str(api.requests[0].body["messages"])


def test_what_is_resumed_is_neither_new_nor_without_memory(cli: Cli) -> None:
    add_earlier(cli, "Hello", minutes=1)
    for option in ("--new", "--no-memory"):
        assert cli("ask", "--resume", "1", option, "And then?").code == 2
    assert len(list_texts(cli, RECENT)) == 2


def test_new_begins_a_new_one_at_once(cli: Cli) -> None:
    add_earlier(cli, "Hello", minutes=1)
    cli("ask", "--new", "And then?")
    assert len(list_texts(cli, RECENT)) == 2
    assert len(keys(cli)) == 2


def test_without_memory_nothing_is_used_or_kept(cli: Cli, api: ChatApi) -> None:
    cli.remember(MING)
    add_earlier(cli, "Hello", minutes=1)
    api.answer("Good day.")
    assert cli("ask", "--no-memory", "My name is Zebulon").out == "Good day.\n"
    (asked,) = api.requests
    assert MING not in str(asked.body)
    assert "Hello" not in str(asked.body)
    assert keys(cli) == [RECENT]
    everything = b"".join(path.read_bytes() for path in cli.data.rglob("*") if path.is_file())
    assert b"Zebulon" not in everything


# Files


def test_a_file_goes_along_with_its_name(cli: Cli, api: ChatApi, tmp_path: Path) -> None:
    (tmp_path / "會議.md").write_text("決定：買新的燈", "utf-8")
    (tmp_path / "b.txt").write_text("Nothing else", "utf-8")
    api.answer("A new lamp.")
    result = cli("ask", "--file", "會議.md", "--file", "b.txt", "What did we decide?")
    assert result.out == "A new lamp.\n"
    prompt = str(api.requests[0].body["messages"])
    for part in ("會議.md", "決定：買新的燈", "b.txt", "Nothing else"):
        assert part in prompt
    assert list_texts(cli)[0] == "What did we decide?"


def test_what_is_piped_in_can_be_the_file(cli: Cli, api: ChatApi) -> None:
    api.answer("Short.")
    assert cli("ask", "--file", "-", "Summarise", stdin="很長的文字").out == "Short.\n"
    assert "很長的文字" in str(api.requests[0].body["messages"])


@pytest.mark.parametrize(
    ("name", "told"),
    [("latin1.txt", "latin1.txt is not UTF-8 at byte 3"), ("none.txt", "none.txt")],
)
def test_a_file_that_cannot_be_read_is_refused_before_anything_is_asked(
    cli: Cli, tmp_path: Path, name: str, told: str
) -> None:
    (tmp_path / "latin1.txt").write_bytes(b"caf\xe9")
    result = cli("ask", "--file", name, "What does it say?")
    assert (result.code, result.out) == (2, "")
    assert told in result.err
    assert not cli.data.exists()


# For scripts


def test_json_tells_all_of_it(cli: Cli, api: ChatApi) -> None:
    api.answer("Gladly.", input_tokens=120, output_tokens=7)
    result = cli("ask", "--json", f"請記住{MING}")
    (key,) = keys(cli)
    (memory,) = cli("memories", "--json").json
    told = result.json
    assert "Gladly." in told.pop("text")
    assert told.pop("usage")["inputTokens"] == 120
    kept = cli.conversations.messages(key)
    assert [told.pop("question"), told.pop("answer")] == [one.id for one in kept]
    rest = {"asksToKeep": False, "removed": [], "learnt": []}
    assert told == {"conversation": key, "saved": [memory], **rest}
    api.answer("Done.")
    assert cli("ask", "--json", f"忘掉{MING}").json["removed"] == [memory]


def test_json_tells_what_was_learned(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_MIN_NEW_MESSAGES", "1")
    (learned,) = cli("ask", "--json", "My name is Alice").json["learnt"]
    assert learned["action"] == "added"
    assert "Alice" in learned["memory"]["content"]
    assert "Alice" in learned["quote"]


def test_instructions_for_every_answer_and_for_this_one_reach_the_model(
    cli: Cli, api: ChatApi
) -> None:
    cli("config", "instructions", "用一句話回答")
    api.answer("Arr.")
    assert cli("ask", "--system", "Be a pirate.", "Hello").out == "Arr.\n"
    system, *_ = api.requests[0].body["messages"]
    assert system["role"] == "system"
    ours, standing, added = system["content"].partition("\n用一句話回答\n")
    assert ours.endswith("The user's own instructions for every answer:")
    assert standing
    assert "Be a pirate." in added
    api.answer("Hello.")
    cli("ask", "--new", "Hello")
    assert "Be a pirate." not in str(api.requests[1].body)


# Learning


def test_a_series_of_questions_is_learned_from(cli: Cli) -> None:
    cli("ask", "My name is Alice")
    assert cli.contents() == ["My name is Alice"]
    cli("ask", "我對花生過敏")
    assert cli.contents() == ["My name is Alice", "我對花生過敏"]


def test_on_a_terminal_what_was_learned_is_said(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_MIN_NEW_MESSAGES", "1")
    with terminal("ask", "My name is Alice") as seen:
        assert seen.end() == 0
    assert "learned: " in seen.output
    assert "(turnleaf undo)" in seen.output
    assert "learned: " not in cli("ask", "My dog is called Rex").err


def test_what_a_file_says_waits_for_a_person(
    cli: Cli, api: ChatApi, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MIN_NEW_MESSAGES", "1")
    monkeypatch.delenv("TURNLEAF_EXTRACT_MODEL")
    (tmp_path / "筆記.md").write_text(MING, "utf-8")
    fact = {"fact": MING, "category": None, "quote": MING, "message": 1}
    api.answer("A name.")
    api.answer(json.dumps({"facts": [{**fact, "relation": "new", "target": None}]}))
    assert cli("ask", "--file", "筆記.md", "What does it say?").out == "A name.\n"
    cli.wait_for_worker()
    assert cli.contents() == []
    (waiting,) = cli("review", "--json").json
    assert (waiting["content"], waiting["source"]) == (MING, "document:筆記.md")


# What goes wrong


def test_what_goes_wrong_in_the_background_is_shown_by_doctor(
    cli: Cli, api: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_MIN_NEW_MESSAGES", "1")
    monkeypatch.delenv("TURNLEAF_EXTRACT_MODEL")
    api.answer("Hello Alice.")
    api.fail(401)
    assert cli("ask", "My name is Alice") == Result(0, "Hello Alice.\n", "")
    cli.wait_for_worker()
    assert "a-key" not in (error := cli("doctor", "--json").json["lastError"])["message"]
    assert error["conversation"] == keys(cli)[0]


def test_a_model_that_fails_is_one_sentence_and_the_question_is_kept(
    cli: Cli, api: ChatApi
) -> None:
    api.fail(401)
    result = cli("ask", "Hello")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: ")
    assert len(result.err.splitlines()) == 1
    (key,) = keys(cli)
    (question,) = cli.conversations.messages(key)
    assert (question.message.text, question.status) == ("Hello", "failed")


def test_what_was_asked_to_be_remembered_is_said_although_the_model_fails(
    cli: Cli, api: ChatApi
) -> None:
    api.fail(401)
    result = cli("ask", f"請記住{MING}")
    assert MING in result.out
    assert cli.contents() == [MING]


def test_an_answer_that_breaks_off_ends_its_line(cli: Cli, api: ChatApi) -> None:
    api.cut("Half an ans")
    result = cli("ask", "Hello")
    assert result.code == 1
    assert result.out == "Half an ans\n"
    assert result.err.startswith("error: ")


def test_ctrl_c_stops_the_model(cli: Cli, api: ChatApi) -> None:
    api.stall("Half an ")
    with subprocess.Popen(
        [sys.executable, "-m", "turnleaf", "ask", "Hello"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ,
    ) as process:
        try:
            assert api.stalled.wait(SECONDS)
            assert process.stdout is not None
            assert process.stdout.read(4) == b"Half"
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    assert api.left.wait(SECONDS)
    assert (process.returncode, err) == (130, b"")


# On a terminal


MIXED = "我家的 Neovim 設定檔放在 dotfiles 這個資料夾，每次換電腦的時候都會用它來安裝。"
ANSWER = """\
# 標題

A paragraph with **bold** and `code`,
on two lines.

- one
- 二

| name | 值 |
|---|---|
| lamp | 小明 |

```python
print("燈")
```

The end."""


class VoiceScreen:
    """A voice on a screen of its own."""

    def __init__(self, *, width: int = 80, height: int = 24) -> None:
        self.file = io.StringIO()
        console = Console(
            file=self.file, force_terminal=True, width=width, height=height, highlight=False
        )
        self.voice = MarkdownVoice(console)
        self.width = width

    @property
    def screen(self) -> list[str]:
        return Screen(self.width).show(self.file.getvalue()).rstrip().splitlines()


def render(markdown: str, *, width: int = 80, height: int = 24, piece: int = 3) -> list[str]:
    made = VoiceScreen(width=width, height=height)
    with made.voice as voice:
        for at in range(0, len(markdown), piece):
            voice.say(markdown[at : at + piece])
    return made.screen


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_an_answer_looks_the_same_in_whatever_pieces_it_comes(piece: int) -> None:
    assert [line.strip() for line in render(ANSWER, piece=piece)] == [
        "標題",
        "",
        "A paragraph with bold and code,",
        "on two lines.",
        "",
        "• one",
        "• 二",
        "",
        "name  值",
        "──────────",
        "lamp  小明",
        "",
        'print("燈")',
        "",
        "The end.",
    ]


def test_what_is_finished_is_written_once_and_what_is_not_is_drawn_below() -> None:
    made = VoiceScreen()
    with made.voice as voice:
        voice.say("First.\n\nSec")
        voice.say("ond.\n\nThird")
        first, second = (made.file.getvalue().count(word) for word in ("First", "Second"))
    assert (first, second) == (1, 1)
    assert made.screen == ["First.", "", "Second.", "", "Third"]


def test_a_long_wait_for_the_first_word_is_explained_until_it_comes() -> None:
    made = VoiceScreen()
    with made.voice as voice:
        voice.wait(7.5)
        assert "reading" not in made.file.getvalue()
        voice.wait(9.0)
        assert made.screen == ["The model is reading the prompt… (9 s)"]
        voice.say("Ming")
        voice.wait(20.0)
    assert made.screen == ["Ming"]


def test_what_is_not_finished_stands_where_it_will_stay() -> None:
    made = VoiceScreen()
    with made.voice as voice:
        voice.say("First.\n\nSecond\n")
        meanwhile = made.screen
    assert meanwhile == made.screen == ["First.", "", "Second"]


def test_an_answer_that_is_higher_than_the_screen_is_whole_in_the_end() -> None:
    listed = "\n".join(f"- 第 {number} 項" for number in range(60))
    assert render(listed, height=10, piece=50) == [f" • 第 {number} 項" for number in range(60)]


def test_a_tool_call_is_one_quiet_line_between_what_is_said() -> None:
    made = VoiceScreen(width=30)
    with made.voice as voice:
        voice.say("Let me look.")
        voice.hint("search_memory query: 鍋爐上次是什麼時候保養的，是誰來保養的")
        voice.hint("")
        voice.hint("append_memory failed")
        voice.say("In May.")
    first, gap, call, failure, second_gap, last = made.screen
    assert (first, last, gap, second_gap) == ("Let me look.", "In May.", "", "")
    assert call.startswith("· search_memory query: 鍋")
    assert cell_len(call) <= 30
    assert failure == "· append_memory failed"
    assert "\x1b[2m· search" in made.file.getvalue()


def test_an_answer_without_a_word_leaves_nothing_behind() -> None:
    made = VoiceScreen()
    with made.voice:
        pass
    assert made.screen == []


@pytest.mark.parametrize(
    ("hostile", "seen"),
    [
        ("\x1b]0;owned\x07 \x1b[2J", r"\x1b]0;owned\x07 \x1b[2J"),
        ("a &#x202e;b &#8238; c", r"a \u202eb \u202e c"),
        ("`\x1b[31m`", r"\x1b[31m"),
        ("[text](http://a.example/\x9b31m)", "31m"),
        ("<img src=x onerror=y>", "<img src=x onerror=y>"),
        ("<script>\nrun()\n</script>", "run()"),
    ],
)
def test_nothing_in_an_answer_acts_or_hides(hostile: str, seen: str) -> None:
    made = VoiceScreen()
    with made.voice as voice:
        voice.say(hostile)
    ours = r"\x1b\[(\?25[lh]|[0-9;]*m|[0-9]*[AK])"
    assert seen in "\n".join(made.screen)
    written = made.file.getvalue()
    assert "\x07" not in written
    assert "\u202e" not in written
    assert "\x9b" not in written
    assert "\x1b" not in re.sub(ours, "", written)


# Where lines end


@pytest.mark.parametrize("width", range(2, 90, 3))
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    ends = [0, *find_breaks(MIXED, width), len(MIXED)]
    parts = [MIXED[start:end] for start, end in pairwise(ends)]
    assert "".join(parts) == MIXED
    assert all(cell_len(part.rstrip()) <= width for part in parts)
    assert all(parts)


def test_a_line_of_chinese_is_filled_and_no_word_is_cut() -> None:
    assert render(MIXED, width=40) == [
        "我家的 Neovim 設定檔放在 dotfiles 這個資",
        "料夾，每次換電腦的時候都會用它來安裝。",
    ]
    assert render("one two three", width=8) == ["one two", "three"]
    assert render("incomprehensible", width=10) == ["incomprehe", "nsible"]


def test_no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one() -> None:
    assert render("一二三四，五六", width=8) == ["一二三", "四，五六"]
    assert render("一二三「四五」", width=8) == ["一二三", "「四五」"]


# Blocks


def test_a_text_is_cut_where_its_blocks_begin() -> None:
    assert cut_blocks("one\n\ntwo") == ["one\n", "two"]
    assert cut_blocks("# 一\n二\n") == ["# 一", "二\n"]
    for whole in ("one\ntwo", "- a\n- b\n\n  more", "```\na\n\nb", "| a |\n|---|\n| b |"):
        assert cut_blocks(whole) == [whole]
    assert cut_blocks("") == []


# What is piped in, named conversations, instructions


@pytest.mark.parametrize(
    ("notes", "asked", "quoted"),
    [
        ("Buy milk\nThe door code is 4711.\n", "what is the code?", "- The door code is 4711. ("),
        ("買牛奶\n會議在三樓\n", "會議在哪裡？", "- 會議在三樓"),
    ],
)
def test_what_is_piped_in_beside_a_question_is_searched(
    cli: Cli, notes: str, asked: str, quoted: str
) -> None:
    told = cli.fork("ask", asked, stdin=notes.encode(), environ={"TURNLEAF_MODEL": "recall"})
    assert quoted in told.out
    assert "stdin:2" in told.out


def test_a_conversation_can_be_named(cli: Cli) -> None:
    cli("ask", "--conversation", "家", "I moved to Porto")
    told = cli("ask", "--conversation", "家", "--json", "Where do I live?").json
    assert told["conversation"] == "cli:家"
    assert "Porto" in told["text"]
    assert cli("ask", "--conversation", "a", "--new", "Hi").code == 2


@pytest.mark.parametrize(
    ("said", "lang", "hint"),
    [
        ("Where do I live?", "en_US.UTF-8", "No model is set up"),
        ("我住在哪裡？", "zh_TW.UTF-8", "還沒有設定模型"),
    ],
)
def test_a_terminal_shows_once_that_no_model_is_set_up(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, said: str, lang: str, hint: str
) -> None:
    monkeypatch.delenv("TURNLEAF_MODEL", raising=False)
    monkeypatch.setenv("LANG", lang)
    for times in (1, 0):
        with terminal("ask", said) as seen:
            assert seen.end() == 0
            assert seen.output.count(hint) == times
    assert hint not in cli("ask", "--new", "--json", said).json["text"]


def test_a_secret_is_kept_by_a_flag_or_a_yes(cli: Cli) -> None:
    asked = cli("ask", "--json", "remember my door code is 4711").json
    assert asked["asksToKeep"]
    assert cli.memory.get_all() == []
    assert "4711" in cli("ask", "yes").out
    cli("ask", "--keep-secrets", "記住我的密碼是 tr0ub4dor&3")
    kept = [fact.content for fact in cli.memory.get_all()]
    assert kept == ["my door code is 4711", "我的密碼是 tr0ub4dor&3"]
