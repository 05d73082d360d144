from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from tests.faces.conftest import Cli, Result
from tests.faces.screen import Screen
from tests.faces.terminal import Terminal, terminal
from tests.standins.chat_api import ChatApi, tool
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore

MING = "客廳的燈叫做小明"
LAMP = "The bedroom lamp is called Moon"
HOSTILE = "Rex \x1b]0;owned\x07\x1b[2J is the dog \x9b31m\u202e"
CTRL_C, CTRL_D, ESCAPE, UP, TAB, ENTER = "\x03", "\x04", "\x1b", "\x1b[A", "\t", "\r"


@pytest.fixture(autouse=True)
def _no_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep prompt_toolkit from asking where the cursor is, which nobody here would answer."""
    monkeypatch.setenv("PROMPT_TOOLKIT_NO_CPR", "1")


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatApi]:
    with ChatApi() as api:
        monkeypatch.setenv("TURNLEAF_MODEL", "openai:test")
        monkeypatch.setenv("TURNLEAF_MODEL_URL", api.url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        monkeypatch.setenv("TURNLEAF_EXTRACT_MODEL", "rules")
        yield api


def talk(cli: Cli, *lines: str, options: tuple[str, ...] = ()) -> Result:
    return cli("chat", *options, stdin="".join(f"{line}\n" for line in lines))


def keys(cli: Cli) -> list[str]:
    return [one.key for one in cli.conversations.summaries()]


def list_texts(cli: Cli, key: str | None = None) -> list[str]:
    return [message.text for message in cli.conversations.get_history(key or keys(cli)[0])]


def read_all_bytes(cli: Cli) -> bytes:
    return b"".join(path.read_bytes() for path in cli.data.rglob("*") if path.is_file())


def add_earlier(cli: Cli, *texts: str, key: str = "cli:session-100", hours: float = 2) -> None:
    now = datetime.now(UTC) - timedelta(hours=hours)
    store = ConversationStore(cli.folder.conversations(Settings()), now=lambda: now)
    for text in texts:
        store.add_exchange(key, text, f"Answer to {text}")
    store.close()


# With a pipe


def test_in_a_pipe_each_line_is_a_message_and_its_answer_is_plain(cli: Cli) -> None:
    cli.remember(LAMP)
    lines = f"請記住{MING}\n\n小明是什麼？\n".encode()
    result = cli.fork("chat", stdin=lines, environ={"FORCE_COLOR": "1"})
    assert (result.code, result.err) == (0, "")
    first, second = result.out.split("\n", 1)
    assert MING in first
    assert MING in second
    assert "\x1b" not in result.out
    assert MING in cli.contents()
    (key,) = keys(cli)
    assert re.fullmatch(r"cli:session-\d{13}", key)
    assert len(list_texts(cli)) == 4


def test_the_last_line_needs_no_end(cli: Cli) -> None:
    assert MING in cli("chat", stdin=f"記住{MING}").out


def test_a_line_that_is_not_utf8_is_refused_and_the_next_is_answered(cli: Cli) -> None:
    result = cli("chat", stdin=b"caf\xe9\n" + f"記住{MING}\n".encode())
    assert result.code == 1
    assert "line 1 is not UTF-8" in result.err
    assert cli.contents() == [MING]


def test_when_nothing_is_said_nothing_is_kept(cli: Cli) -> None:
    result = talk(cli, "", "  ")
    assert (result.code, result.out, result.err) == (0, "", "")
    assert keys(cli) == []


def test_a_model_that_fails_is_reported_and_the_chat_goes_on(cli: Cli, api: ChatApi) -> None:
    api.fail(401)
    api.answer("Here ", "I am.")
    result = talk(cli, "Are you there?", "And now?")
    assert (result.code, result.out) == (1, "Here I am.\n")
    assert result.err.startswith("error: ")
    assert "a-key" not in result.err
    assert list_texts(cli) == ["Are you there?", "And now?", "Here I am."]


def test_tools_are_used_and_not_spoken_of_in_a_pipe(cli: Cli, api: ChatApi) -> None:
    api.answer("One moment. ", tool("append_memory", {"fact": LAMP}))
    api.answer("Saved.")
    result = talk(cli, "My bedroom lamp has a name")
    assert result.out.replace("\n", "") == "One moment. Saved."
    assert cli.contents() == [LAMP]


def test_what_was_said_is_learned_from_when_the_chat_ends(cli: Cli) -> None:
    assert talk(cli, "My name is Alice").code == 0
    assert any("Alice" in content for content in cli.contents())


# Commands


def test_memory_lists_what_is_remembered(cli: Cli) -> None:
    cli.remember(MING, LAMP)
    result = talk(cli, "/memory")
    assert result.out == cli("memories").out


def test_search_finds_what_fits(cli: Cli) -> None:
    cli.remember(MING, LAMP)
    result = talk(cli, "/search 小明")
    assert MING in result.out
    assert LAMP not in result.out
    assert "nothing was found for" in talk(cli, "/search zebra").err


def test_forget_forgets_and_undo_brings_it_back(cli: Cli) -> None:
    cli.remember(MING, LAMP)
    result = talk(cli, "/forget 小明")
    assert (result.code, cli.contents()) == (0, [LAMP])
    assert talk(cli, "/undo").code == 0
    assert cli.contents() == [MING, LAMP]


def test_undo_takes_back_what_was_just_said(cli: Cli) -> None:
    result = talk(cli, "My cat is called Momo", "/undo")
    assert (result.code, cli.contents()) == (0, [])


@pytest.mark.parametrize("line", ["/forget", "/search", "/forget -", "/search -"])
def test_a_command_without_its_words_does_not_swallow_the_next_line(cli: Cli, line: str) -> None:
    cli.remember(MING)
    result = talk(cli, line, f"記住{LAMP}")
    assert f"error: the command is incomplete; type {line.split(maxsplit=1)[0]} " in result.err
    assert sorted(cli.contents()) == sorted([MING, LAMP])


def test_why_tells_what_went_into_the_last_answer(cli: Cli) -> None:
    ming, lamp = cli.remember(MING, LAMP)
    cli("log", "The bedroom lamp flickered, 小明 was fine")
    before, *_ = talk(cli, "/why").err.splitlines()
    assert before == "There is no answer to explain yet."
    told = talk(cli, "Which lamp flickered?", "/why").out
    assert re.search(r"\d+ tokens {2}Long-term Memory", told)
    assert f"{ming}  {MING}" in told
    assert f"{lamp}  {LAMP}" in told
    assert re.search(r"[01]\.\d{3} {2}.*flickered.*\(daily", told)


def test_why_tells_what_was_left_out(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMPT_MAX_TOKENS", "600")
    cli.remember(*(f"Fact number {number}: {'tea ' * 20}" for number in range(40)))
    assert "Left out: " in talk(cli, "What about tea?", "/why").out


def test_why_with_an_id_tells_where_a_memory_came_from(cli: Cli) -> None:
    talk(cli, f"請記住{MING}")
    (memory,) = cli.memory.get_all()
    result = talk(cli, f"/why {memory.id[:5]}")
    assert f"請記住{MING}" in result.out
    assert keys(cli)[0] in result.out


def test_status_tells_how_things_stand(cli: Cli) -> None:
    cli.remember(MING)
    out = talk(cli, "/status").out
    for part in ("recall", str(cli.data), "1 fact", "0 messages", "0 of 200", "by words only"):
        assert part in out


def test_status_and_why_are_in_the_language_of_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember(MING)
    monkeypatch.setenv("LC_ALL", "zh_TW.UTF-8")
    told = talk(cli, "客廳的燈叫什麼？", "/why", "/status").out
    assert f"\n上一個回答用到：\n  {cli.memory.get_all()[0].id}  {MING}\n" in told
    assert "\n記住          1 則記憶\n" in told


def test_help_names_every_command(cli: Cli) -> None:
    out = talk(cli, "/help").out
    names = [
        "memory",
        "forget",
        "search",
        "why",
        "undo",
        "private",
        "new",
        "history",
        "resume",
        "title",
        "clear",
        "status",
        "help",
        "quit",
    ]
    assert [line.split()[0] for line in out.splitlines()] == [f"/{name}" for name in names]


def test_quit_leaves(cli: Cli) -> None:
    assert talk(cli, "/QUIT", f"記住{MING}").out == ""
    assert cli.contents() == []


@pytest.mark.parametrize(
    ("line", "hint"), [("/memroy", "did you mean /memory?"), ("/茶", "/help lists"), ("/", "/help")]
)
def test_an_unknown_command_is_refused_with_the_nearest(cli: Cli, line: str, hint: str) -> None:
    result = talk(cli, line)
    assert (result.code, result.out) == (1, "")
    assert f"there is no command {line}; " in result.err
    assert hint in result.err
    assert keys(cli) == []


@pytest.mark.parametrize("line", ["/etc/hosts is empty, why?", " /memory", "//"])
def test_a_message_may_begin_with_a_slash(cli: Cli, line: str) -> None:
    talk(cli, line)
    assert list_texts(cli)[0] == line.strip()


def test_new_learns_and_begins_another_conversation(cli: Cli) -> None:
    talk(cli, "My name is Alice", "/new", "/memory", "Hello")
    assert len(keys(cli)) == 2
    assert list_texts(cli)[0] == "Hello"
    assert any("Alice" in content for content in cli.contents())


def test_clear_erases_the_conversation_and_what_waits_to_be_learned(cli: Cli) -> None:
    refused = talk(cli, "Zebulon waves at you", "/clear", "/clear yes")
    assert "confirm with /clear yes" in refused.err
    assert keys(cli) == []
    assert b"Zebulon" not in read_all_bytes(cli)


def test_clear_leaves_other_conversations_alone(cli: Cli) -> None:
    add_earlier(cli, "Hello")
    talk(cli, "Good day", "/clear yes", "Good evening")
    assert "cli:session-100" in keys(cli)
    assert list_texts(cli)[0] == "Good evening"


# Private


def test_nothing_of_what_is_private_is_kept_learned_or_looked_up(cli: Cli, api: ChatApi) -> None:
    cli.remember(MING)
    for answer in ("One", "Two", "Three"):
        api.answer(answer)
    talk(cli, "Hello", "/private", "My name is Zebulon", "/private", "And again")
    before, private, after = ([one["content"] for one in r.body["messages"]] for r in api.requests)
    assert MING in str(before)
    assert MING not in str(private)
    assert "Zebulon" in str(private)
    assert "Zebulon" not in str(after)
    assert list_texts(cli) == ["Hello", "One", "And again", "Three"]
    assert b"Zebulon" not in read_all_bytes(cli)


def test_without_memory_the_whole_chat_is_private(cli: Cli, api: ChatApi) -> None:
    cli.remember(MING)
    api.answer("Hello Zebulon")
    api.answer("Yes")
    result = talk(cli, "My name is Zebulon", "Did I say it?", options=("--no-memory",))
    assert result.code == 0
    assert "Zebulon" in str(api.requests[1].body["messages"])
    assert MING not in str(api.requests)
    assert keys(cli) == []
    assert b"Zebulon" not in read_all_bytes(cli)


# Taking up a conversation


def test_continue_takes_up_the_latest_conversation_of_the_command_line(cli: Cli) -> None:
    add_earlier(cli, "old", key="cli:session-1", hours=30)
    add_earlier(cli, "newer", key="cli:session-2", hours=20)
    add_earlier(cli, "from a phone", key="slack:1.5", hours=10)
    talk(cli, "Hello", options=("--continue",))
    assert list_texts(cli, "cli:session-2")[2] == "Hello"


def test_where_there_is_none_to_continue_a_new_one_begins(cli: Cli) -> None:
    result = talk(cli, "Hello", options=("--continue",))
    assert result.code == 0
    assert "this is a new one" in result.err
    assert list_texts(cli)[0] == "Hello"


@pytest.mark.parametrize("given", ["cli:session-200", "cli:session-2", "200", "2", "SECOND", "sec"])
def test_resume_takes_up_the_conversation_that_is_meant(cli: Cli, given: str) -> None:
    add_earlier(cli, "first", key="cli:session-100")
    add_earlier(cli, "second", key="cli:session-200", hours=3)
    assert talk(cli, "Hello", options=("--resume", given)).code == 0
    assert list_texts(cli, "cli:session-200")[2] == "Hello"


def test_a_conversation_of_the_page_can_be_taken_up_too(cli: Cli) -> None:
    add_earlier(cli, "客廳的燈叫什麼？", key="web:4f1c")
    assert talk(cli, "Hello", options=("--resume", "客廳")).code == 0
    assert list_texts(cli, "web:4f1c")[2] == "Hello"


@pytest.mark.parametrize(
    ("given", "code", "told"),
    [
        (("--resume", "9"), 3, "there is no conversation"),
        (("--resume", "cli:session-1"), 2, "2 conversations begin with"),
        (("--resume", "Which"), 2, "(cli:session-101)"),
        (("--resume",), 2, "choose a conversation"),
    ],
)
def test_resume_refuses_what_means_no_conversation_or_several(
    cli: Cli, given: tuple[str, ...], code: int, told: str
) -> None:
    add_earlier(cli, "Which lamp?", key="cli:session-100")
    add_earlier(cli, "Which cat?", key="cli:session-101")
    result = talk(cli, "Hello", options=given)
    assert (result.code, result.out) == (code, "")
    assert told in result.err


def test_where_there_is_none_nothing_can_be_resumed(cli: Cli) -> None:
    result = talk(cli, "Hello", options=("--resume",))
    assert (result.code, result.out) == (3, "")
    assert "start one with turnleaf chat" in result.err


def test_on_a_terminal_resume_asks_which(cli: Cli) -> None:
    add_earlier(cli, "客廳的燈叫什麼？", key="web:1", hours=3)
    add_earlier(cli, "Which cat?", key="cli:session-101")
    with terminal("chat", "--resume") as seen:
        seen.wait_for("Which one?")
        assert seen.output.index("Which cat?") < seen.output.index("客廳")
        seen.type("客廳\n")
        seen.wait_for("continuing: 客廳的燈叫什麼？")
        seen.wait_for("Answer to 客廳的燈叫什麼？")
        seen.wait_for("\x1b[?2004h")
        seen.type(CTRL_D)
        assert seen.end() == 0


def test_history_resume_and_title_move_between_conversations(cli: Cli) -> None:
    add_earlier(cli, "客廳的燈叫什麼？", key="web:1")
    result = talk(
        cli, "/title", "Hello there", "/title Greetings", "/history", "/resume 客廳", "And now?"
    )
    assert result.code == 1
    assert "this conversation has no messages yet" in result.err
    assert "Greetings\n" in result.out
    [here] = [line for line in result.out.splitlines() if line.startswith("*")]
    assert "Greetings" in here
    assert "Continuing: 客廳的燈叫什麼？" in result.err
    assert list_texts(cli, "web:1")[2] == "And now?"


def test_what_is_private_cannot_be_left_for_another_conversation(cli: Cli) -> None:
    add_earlier(cli, "客廳的燈叫什麼？", key="web:1")
    result = talk(cli, "/private", "/resume 1", "secret")
    assert result.code == 1
    assert "end private mode first with /private" in result.err
    assert len(list_texts(cli, "web:1")) == 2


def test_a_conversation_that_is_not_kept_cannot_be_taken_up(cli: Cli) -> None:
    for option in ("--continue", "--resume"):
        assert talk(cli, "Hello", options=(option, "--no-memory")).code == 2


# Hostile text


@pytest.mark.parametrize("line", ["/memory", "/search Rex", "/why", "Who is Rex?", "/forget e"])
def test_an_escape_code_in_a_memory_never_acts(cli: Cli, line: str) -> None:
    cli.remember(HOSTILE, "Another one")
    result = talk(cli, "Who is the dog Rex?", line)
    shown = result.out + result.err
    assert "owned" in shown
    assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)


# On a terminal


class Chatting:
    """A chat on a terminal, and what a person does there."""

    def __init__(self, seen: Terminal) -> None:
        self.seen = seen
        self._prompts = 0
        self.wait_for_prompt()

    def wait_for_prompt(self) -> None:
        """Wait until a prompt takes keys, which is when it asks for pasted text in brackets."""
        self._prompts += 1
        self.seen.wait_for("\x1b[?2004h", self._prompts)

    def say(self, text: str) -> None:
        """Send a line and wait until it was dealt with."""
        self.seen.type(text + ENTER)
        self.wait_for_prompt()

    def leave(self) -> int:
        self.seen.type(CTRL_D)
        return self.seen.end()

    @property
    def screen(self) -> list[str]:
        return Screen().show(self.seen.output).rstrip().splitlines()


@contextmanager
def chatting(*options: str) -> Iterator[Chatting]:
    with terminal("chat", *options) as seen:
        yield Chatting(seen)


def test_a_chat_begins_with_a_greeting_before_it_says_what_is_kept_where(cli: Cli) -> None:
    with chatting() as chat:
        assert chat.leave() == 0
        seen = chat.seen.output
    assert seen.index("Hello!") < seen.index("/help lists") < seen.index(str(cli.data))


def test_on_a_terminal_answers_are_shown_as_markdown(cli: Cli, api: ChatApi) -> None:
    api.answer("**燈**", "叫做小", "明。\n\n- one\n", "- two")
    with chatting() as chat:
        chat.say("燈叫什麼？")
        assert chat.leave() == 0
    where = chat.screen.index("> 燈叫什麼？")
    assert chat.screen[where + 1 : where + 5] == ["燈叫做小明。", "", " • one", " • two"]
    assert "\x1b[1m燈" in chat.seen.output
    assert list_texts(cli) == ["燈叫什麼？", "**燈**叫做小明。\n\n- one\n- two"]


def test_a_tool_call_is_one_dim_line(cli: Cli, api: ChatApi) -> None:
    api.answer("One moment.", tool("append_memory", {"fact": LAMP}))
    api.answer("Saved.")
    with chatting() as chat:
        chat.say("My bedroom lamp has a name")
        assert chat.leave() == 0
    where = chat.screen.index("One moment.")
    assert chat.screen[where + 2 : where + 5] == [f"· append_memory fact: {LAMP}", "", "Saved."]


def test_alt_enter_begins_a_new_line_and_a_pasted_text_may_have_many(cli: Cli) -> None:
    with chatting() as chat:
        chat.say(f"第一行{ESCAPE}{ENTER}second")
        chat.say("\x1b[200~pasted\none\x1b[201~ and typed")
        assert chat.leave() == 0
    assert list_texts(cli)[::2] == ["第一行\nsecond", "pasted\none and typed"]


def test_commands_and_ids_are_completed(cli: Cli) -> None:
    (memory_id,) = cli.remember(MING)
    with chatting() as chat:
        chat.seen.type("/mem")
        chat.seen.wait_for("List the facts in memory")
        chat.say(TAB)
        chat.seen.type(f"/why {memory_id[:3]}")
        chat.seen.wait_for(memory_id, 2)
        chat.say(TAB)
        assert chat.leave() == 0
    assert "> /memory" in chat.screen
    assert f"> /why {memory_id}" in chat.screen
    assert f"id        {memory_id}" in chat.screen


def test_what_was_learned_is_said_quietly_and_can_be_taken_back(cli: Cli) -> None:
    with chatting() as chat:
        chat.say("My name is Alice")
        chat.say("/new")
        chat.say("/memory")
        chat.say("/undo")
        assert chat.leave() == 0
    (line,) = [line for line in chat.screen if line.startswith("learned: ")]
    assert "Alice" in line
    assert line.endswith("(/undo)")
    assert "\x1b[2mlearned: " in chat.seen.output
    assert cli.contents() == []


def test_what_is_learned_on_leaving_is_said_too(cli: Cli) -> None:
    with chatting() as chat:
        chat.say("我叫小美")
        assert chat.leave() == 0
    assert chat.screen[-1].startswith("learned: ")
    assert chat.screen[-1].endswith("(turnleaf undo)")


def test_ctrl_c_stops_the_answer_and_not_the_program(cli: Cli, api: ChatApi) -> None:
    api.stall("Half an ")
    api.answer("A whole answer.")
    with chatting() as chat:
        chat.seen.type(f"Hello{ENTER}")
        chat.seen.wait_for("Half an")
        assert api.stalled.wait(60)
        chat.seen.process.send_signal(signal.SIGINT)
        chat.wait_for_prompt()
        assert api.left.wait(60)
        chat.say("Again")
        assert chat.leave() == 0
    assert "stopped" in chat.screen
    assert "A whole answer." in chat.screen
    assert list_texts(cli)[-2:] == ["Again", "A whole answer."]


def test_ctrl_c_empties_the_line_and_twice_at_an_empty_one_leaves(cli: Cli) -> None:
    with chatting() as chat:
        chat.seen.type(f"never mind{CTRL_C}Hello{ENTER}")
        chat.wait_for_prompt()
        chat.seen.type(CTRL_C)
        chat.wait_for_prompt()
        chat.say("Still here")
        chat.seen.type(CTRL_C)
        chat.wait_for_prompt()
        chat.seen.type(CTRL_C)
        assert chat.seen.end() == 0
    assert list_texts(cli)[::2] == ["Hello", "Still here"]
    assert chat.screen.count("Press Ctrl-C again or Ctrl-D to quit.") == 2


def test_the_prompt_shows_what_is_private(cli: Cli) -> None:
    with chatting() as chat:
        chat.say("/private")
        chat.say("My name is Zebulon")
        chat.say("/private")
        chat.say(UP)
        assert chat.leave() == 0
    assert "private> My name is Zebulon" in chat.screen
    assert "> /private" in chat.screen
    assert b"Zebulon" not in read_all_bytes(cli)


def test_the_last_exchange_of_a_conversation_that_goes_on_is_shown(cli: Cli) -> None:
    add_earlier(cli, "Forgotten", "燈叫什麼？")
    with chatting("--continue") as chat:
        assert chat.leave() == 0
    assert "> 燈叫什麼？" in chat.screen
    assert "Answer to 燈叫什麼？" in chat.screen
    assert "Forgotten" not in "\n".join(chat.screen)


def test_the_arrow_keys_bring_back_what_was_said_in_earlier_chats(cli: Cli) -> None:
    add_earlier(cli, "first", "第二句")
    with chatting() as chat:
        chat.say(UP)
        assert chat.leave() == 0
    assert list_texts(cli)[0] == "第二句"
    assert not [path.name for path in cli.data.iterdir() if "history" in path.name]


def test_forget_asks_which_when_several_match(cli: Cli) -> None:
    cli.remember(LAMP, "The kitchen lamp is called Sun")
    with chatting() as chat:
        chat.seen.type(f"/forget lamp{ENTER}")
        chat.seen.wait_for("Forget which?")
        chat.say("1")
        assert chat.leave() == 0
    assert len(cli.contents()) == 1


def test_clear_asks_first(cli: Cli) -> None:
    with chatting() as chat:
        chat.say("Zebulon waves at you")
        for answer in ("n", "y"):
            chat.seen.type(f"/clear{ENTER}")
            chat.seen.wait_for("Permanently erase this conversation?", 1 if answer == "n" else 2)
            chat.say(answer)
            assert keys(cli) == ([] if answer == "y" else keys(cli)[:1])
        assert chat.leave() == 0
    assert b"Zebulon" not in read_all_bytes(cli)


def test_hostile_text_does_not_act_on_the_terminal(cli: Cli, api: ChatApi) -> None:
    cli.remember(HOSTILE)
    api.answer("Look: \x1b]0;owned\x07 &#x1b;[2J \x1b[5m", "\x9b31m &#x202e;")
    with chatting() as chat:
        chat.say("Hello")
        chat.say("/memory")
        chat.say("/why")
        assert chat.leave() == 0
    seen = chat.seen.output
    assert "owned" in seen
    assert not {"\x07", "\x9b", "\u202e"} & set(seen)
    assert "\x1b]" not in seen
    assert "\x1b[2J" not in seen
    assert "\x1b[5m" not in seen


def test_a_model_that_fails_is_one_line_and_the_chat_goes_on(cli: Cli, api: ChatApi) -> None:
    api.fail(401)
    api.answer("Here.")
    with chatting() as chat:
        chat.say("Hello")
        chat.say("Again")
        assert chat.leave() == 0
    assert [line for line in chat.screen if line.startswith("error: ")]
    assert "Here." in chat.screen


class _Embeddings(BaseHTTPRequestHandler):
    asked = Event()

    def do_POST(self) -> None:
        self.asked.set()
        self.send_error(400)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def test_what_is_remembered_is_made_ready_for_the_search_before_anything_is_said(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.remember(MING)
    with ThreadingHTTPServer(("127.0.0.1", 0), _Embeddings) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("EMBEDDINGS", "on")
        monkeypatch.setenv("EMBEDDINGS_URL", f"http://127.0.0.1:{server.server_port}/v1")
        monkeypatch.setenv("EMBEDDINGS_MODEL", "test")
        with chatting() as chat:
            assert _Embeddings.asked.wait(60)
            assert chat.leave() == 0
        server.shutdown()


def test_leaving_says_when_learning_takes_longer(
    cli: Cli, api: ChatApi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TURNLEAF_EXTRACT_MODEL")
    monkeypatch.setenv("CLAUDE_TIMEOUT_MS", "2000")
    api.answer("Hello Alice.")
    with chatting() as chat:
        chat.say("My name is Alice")
        api.stall()
        assert chat.leave() == 0
    assert "learning …" in chat.screen
    assert [line for line in chat.screen if line.startswith("warning: ")]
