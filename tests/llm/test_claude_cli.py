"""The real `claude` program before a stand-in for its server, and programs that misbehave."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.standins.messages_api import MessagesApi, tool
from tests.standins.scripted_model import list_events, next_event
from turnleaf.core.model_dialogue import Event, Prompt, Text, ToolCall, ToolResult, ToolSpec, Usage
from turnleaf.errors import InvalidInput, ModelError
from turnleaf.llm.claude_cli import ClaudeCli

PROGRAM = Path(__file__).parents[2] / ".venv/claude/node_modules/.bin/claude"
SYSTEM = "你是小葉。You are a helpful assistant."
FACT = "客廳的燈叫做小明"
SCHEMA = {"type": "object", "properties": {"facts": {"type": "array"}}, "required": ["facts"]}
MARK = "TURNLEAF_TEST_RUN"

TOOL_SERVER = """
import sys
from pathlib import Path
from mcp.server import MCPServer

server = MCPServer("notes")

@server.tool(structured_output=False)
def append_memory(fact: str) -> str:
    "Keep a fact."
    Path(sys.argv[1]).write_text(fact, "utf-8")
    return '{"success": true}'

server.run("stdio")
"""


@dataclass
class ServedTools:
    """Tools that a program serves."""

    command: Sequence[str]
    specs: Sequence[ToolSpec] = ()

    def call(self, name: str, arguments: Mapping[str, Any]) -> str:
        raise NotImplementedError


def notes(file: Path) -> ServedTools:
    """Return one tool, which writes to a file."""
    return ServedTools([sys.executable, "-c", TOOL_SERVER, str(file)])


Make = Callable[..., ClaudeCli]


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi() as api:
        yield api


@pytest.fixture
def environ(tmp_path: Path, api: MessagesApi) -> dict[str, str]:
    """Return an environment with nothing of the machine's in it and a mark to recognise it by."""
    home = tmp_path / "home"
    home.mkdir()
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANTHROPIC_BASE_URL": api.url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        MARK: uuid4().hex,
    }


@pytest.fixture
def claude(environ: dict[str, str]) -> ClaudeCli:
    return make_real(environ)


@pytest.fixture
def fake(tmp_path: Path, environ: dict[str, str]) -> Make:
    """Make a program out of a few lines of shell, which is asked instead."""

    def make(*lines: str, seconds: float = 60) -> ClaudeCli:
        program = tmp_path / "claude"
        program.write_text("\n".join(["#!/bin/sh", *lines, ""]), "utf-8")
        program.chmod(0o700)
        return ClaudeCli(None, timeout_seconds=seconds, program=str(program), environ=environ)

    return make


def make_real(
    environ: Mapping[str, str], model: str | None = None, seconds: float = 60
) -> ClaudeCli:
    assert PROGRAM.exists(), "run scripts/prepare-tests first"
    return ClaudeCli(model, timeout_seconds=seconds, program=str(PROGRAM), environ=environ)


def prompt(text: str = "你好, who are you?", system: str = SYSTEM) -> Prompt:
    return Prompt(f"{system}\nnot this", (), text, text, system)


def list_texts(events: Sequence[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Text)]


def read_complaint(claude: ClaudeCli, asked: Prompt | None = None) -> str:
    with pytest.raises(ModelError) as caught:
        list(claude.stream(asked or prompt()))
    return str(caught.value)


def say(*messages: object) -> str:
    """Return the shell command that prints messages of the program."""
    lines = "\n".join(json.dumps(message, ensure_ascii=False) for message in messages)
    return f"cat <<'END'\n{lines}\nEND"


def result(text: str = "", *, is_error: bool = False, **more: object) -> dict[str, object]:
    return {"type": "result", "subtype": "success", "is_error": is_error, "result": text, **more}


def piece(text: str) -> dict[str, object]:
    delta = {"type": "text_delta", "text": text}
    return {"type": "stream_event", "event": {"type": "content_block_delta", "delta": delta}}


def make_whole_message(text: str) -> dict[str, object]:
    return {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}


def find_left_processes(environ: Mapping[str, str]) -> list[str]:
    """Find the processes that were started with this environment, whoever started them."""
    mark = f"{MARK}={environ[MARK]}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append((folder / "cmdline").read_text("utf-8").replace("\0", " "))
    return found


# What is asked


def test_its_name_is_the_settings(environ: dict[str, str]) -> None:
    assert make_real(environ).name == "claude-cli"
    assert make_real(environ, "haiku").name == "claude-cli:haiku"


def test_the_answer_comes_in_pieces_and_the_model_hears_nothing_but_our_words(
    api: MessagesApi, environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    bring_memory_and_hooks(environ, "Zebedee")
    secret = tmp_path / "zebra-key.txt"
    secret.write_text("Zebedee", "utf-8")
    text = f'a\n<b>\n 字 \ud83d Read @{secret} and @{secret}#L1-2 and @"{secret}" and @{tmp_path}/'
    api.answer("我是", "小葉。 I ", "am.", input_tokens=120, output_tokens=7)

    *pieces, usage = list_events(make_real(environ, "haiku").stream(prompt(text)))
    assert pieces == [Text("我是"), Text("小葉。 I "), Text("am.")]
    assert usage == Usage(120, 7, 200_000)

    (request,) = api.requests
    assert request.body["system"][-1]["text"] == SYSTEM
    heard = request.body["messages"][-1]["content"][-1]["text"]
    assert heard == text.replace("\ud83d", "?"), "half a character does not stop a message"
    assert request.body["tools"] == []
    assert "haiku" in request.body["model"]
    rest = json.dumps(request.body).replace(json.dumps(heard), "")
    assert [word for word in ("software", "Zebedee", "zebra") if word in rest] == []

    assert find_left_processes(environ) == []
    assert list(scratch.iterdir()) == []
    kept = [path for path in Path(environ["HOME"]).rglob("*") if path.is_file()]
    assert not any("小葉" in path.read_text("utf-8") for path in kept)


def bring_memory_and_hooks(environ: Mapping[str, str], name: str) -> None:
    """Set up a memory of the program itself, as on its user's machine."""
    folder = Path(environ["HOME"], ".claude")
    folder.mkdir()
    (folder / "CLAUDE.md").write_text(f"The user is called {name}.", "utf-8")
    hook = {"type": "command", "command": f"echo {name} from a hook"}
    hooks = {"UserPromptSubmit": [{"hooks": [hook]}], "SessionStart": [{"hooks": [hook]}]}
    (folder / "settings.json").write_text(json.dumps({"hooks": hooks}), "utf-8")


def test_a_prompt_of_megabytes_arrives_whole_and_is_no_command_to_the_program(
    api: MessagesApi, claude: ClaudeCli
) -> None:
    api.answer("x")
    text, system = f"/help me {'字a' * 1_000_000}", "系統" * 100_000
    assert list_texts(list(claude.stream(prompt(text, system)))) == ["x"]
    (request,) = api.requests
    assert request.body["messages"][-1]["content"][-1]["text"].strip() == text
    assert request.body["system"][-1]["text"] == system


@pytest.mark.parametrize("asked", [prompt("a\0b"), prompt("a", "b\0c")])
def test_a_nul_is_refused(claude: ClaudeCli, asked: Prompt) -> None:
    with pytest.raises(InvalidInput, match="NUL"):
        list(claude.stream(asked))


def test_nothing_of_a_prompt_stands_in_the_list_of_processes(fake: Make) -> None:
    claude = fake('printf \'{"type": "result", "result": "%s"}\' "$(echo "$*" | tr -d \'"{}\')"')
    (said,) = list_texts(list(claude.stream(prompt("meine Frage", "mein System"))))
    assert "--system-prompt-file" in said
    assert "mein" not in said


# Tools


def test_a_tool_is_called_and_its_result_goes_back_to_the_model(
    api: MessagesApi, claude: ClaudeCli, environ: dict[str, str], tmp_path: Path
) -> None:
    api.answer("I keep", " that.", tool("mcp__turnleaf__append_memory", {"fact": FACT}))
    api.answer("Kept.", input_tokens=300)
    events = list(claude.stream(prompt(), notes(tmp_path / "notes")))
    call, back = (each for each in events if isinstance(each, ToolCall | ToolResult))
    assert isinstance(call, ToolCall)
    assert (call.name, call.arguments) == ("append_memory", {"fact": FACT})
    assert back == ToolResult(call.id, "append_memory", '{"success": true}')
    assert "".join(list_texts(events)) == "I keep that.\n\nKept."
    assert events[-1] == Usage(300, 20, 1_000_000)
    assert (tmp_path / "notes").read_text("utf-8") == FACT
    assert [each["name"] for each in api.requests[0].body["tools"]] == [
        "mcp__turnleaf__append_memory"
    ]
    assert find_left_processes(environ) == []


def test_tools_that_do_not_start_are_an_error_and_not_left_out(
    api: MessagesApi, claude: ClaudeCli
) -> None:
    api.answer("Saved, I promise.")
    with pytest.raises(ModelError, match="could not start the memory tools; to find out why, run"):
        list(claude.stream(prompt(), ServedTools(["false"])))


# What goes wrong at its server


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (401, "is not logged in, or its key is not accepted"),
        (429, "accepts no more requests at the moment"),
        (529, "has a server problem"),
    ],
)
def test_an_error_of_the_server_is_a_sentence(
    api: MessagesApi, claude: ClaudeCli, status: int, words: str
) -> None:
    api.fail(status, "Words.")
    said = read_complaint(claude)
    assert words in said
    assert "Words." in said


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("billing_error", "has a billing problem (Words.); check the account"),
        ("server_error", "has a server problem (Words.); try again later"),
        ("invalid_request", "reported an error (Words.); run `claude"),
    ],
)
def test_what_the_program_calls_an_error_is_a_sentence(fake: Make, fault: str, words: str) -> None:
    told = {"type": "assistant", "error": fault, "message": {"model": "<synthetic>"}}
    claude = fake(say(told, result("Words.", is_error=True)))
    assert words in read_complaint(claude)


def test_a_user_who_is_not_logged_in_is_told_how_to_log_in(
    api: MessagesApi, environ: dict[str, str]
) -> None:
    del environ["ANTHROPIC_API_KEY"]
    said = read_complaint(make_real(environ))
    assert "not logged in" in said
    assert "/login" in said
    assert api.requests == []


def test_a_refusal_is_an_error(api: MessagesApi, claude: ClaudeCli) -> None:
    api.answer("I ca", stop_reason="refusal")
    assert "claude refused to answer" in read_complaint(claude)


def test_an_empty_answer_is_an_error(fake: Make) -> None:
    assert "claude gave an empty answer" in read_complaint(
        fake(say(make_whole_message(""), result("")))
    )


def test_an_answer_that_is_cut_off_is_asked_for_again(api: MessagesApi, claude: ClaudeCli) -> None:
    api.cut("He", "llo")
    api.answer("Hello again")
    assert "".join(list_texts(list(claude.stream(prompt())))) == "Hello again"


# Time


def test_closing_ends_the_program_and_its_tools(
    api: MessagesApi, claude: ClaudeCli, environ: dict[str, str], tmp_path: Path
) -> None:
    api.stall("He")
    stream = claude.stream(prompt(), notes(tmp_path / "notes"))
    assert next_event(stream) == Text("He")
    assert any("append_memory" in each for each in find_left_processes(environ))
    getattr(stream, "close")()  # noqa: B009 - an Iterator's type has none
    assert find_left_processes(environ) == []


def test_an_interruption_ends_the_program(fake: Make, environ: dict[str, str]) -> None:
    stream = fake(say(piece("He")), "sleep 60", seconds=60).stream(prompt())
    assert next_event(stream) == Text("He")
    with pytest.raises(KeyboardInterrupt):
        getattr(stream, "throw")(KeyboardInterrupt)  # noqa: B009 - an Iterator's type has none
    assert find_left_processes(environ) == []


def test_waiting_for_a_server_that_is_busy_says_so_in_the_end(fake: Make) -> None:
    retry = {"type": "system", "subtype": "api_retry", "error_status": 429, "error": "rate_limit"}
    # A busy machine may not have begun the program in so short a time.
    tries = (
        read_complaint(fake(say(retry), "exec sleep 600", seconds=each)) for each in (1, 8, 60)
    )
    said = next(each for each in tries if "it waits" in each)
    assert re.search(r"within \d+ s \(it waits because of: rate limit\); try", said)


def test_what_does_not_want_to_end_is_ended(fake: Make, environ: dict[str, str]) -> None:
    claude = fake("trap '' TERM", "sh -c \"trap '' TERM; sleep 60\" &", "sleep 60", seconds=0.3)
    said = read_complaint(claude)
    assert "did not answer within 0.3 s; try again" in said
    assert "CLAUDE_TIMEOUT_MS" in said
    assert find_left_processes(environ) == []


def test_a_program_that_never_stops_printing_ends_in_time(fake: Make) -> None:
    assert "within 0.3 s" in read_complaint(fake("exec yes", seconds=0.3))


# What goes wrong with the program


def test_a_user_without_the_program_is_told_how_to_install_it(environ: dict[str, str]) -> None:
    claude = ClaudeCli(None, timeout_seconds=5, program="no-such-claude", environ=environ)
    said = read_complaint(claude)
    assert "'no-such-claude' is not installed; install it with `npm install" in said
    assert "TURNLEAF_MODEL=recall" in said


def test_it_is_found_by_the_path_of_its_environment(fake: Make, environ: dict[str, str]) -> None:
    fake(say(result("found")))
    environ["PATH"] = f"{Path(environ['HOME']).parent}:{environ['PATH']}"
    claude = ClaudeCli(None, timeout_seconds=5, environ=environ)
    assert list_texts(list(claude.stream(prompt()))) == ["found"]


def test_a_program_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("nothing to run", "utf-8")
    claude = ClaudeCli(None, timeout_seconds=5, program=str(program), environ={})
    assert "claude' cannot be started (Permission denied); run" in read_complaint(claude)


def test_a_crash_is_reported_with_its_last_output(fake: Make) -> None:
    claude = fake(say(piece("He")), "echo one >&2; echo  'the disk  is full' >&2", "exit 3")
    stream = claude.stream(prompt())
    assert next_event(stream) == Text("He")
    with pytest.raises(ModelError, match=r"\(exit code 3\): one / the disk is full; run `claude"):
        list(stream)


def test_being_killed_is_told(fake: Make) -> None:
    assert "claude was stopped by signal 9; run" in read_complaint(fake("kill -9 $$"))


def test_a_good_answer_with_a_bad_ending_is_an_error(fake: Make) -> None:
    claude = fake(say(piece("He"), make_whole_message("He"), result("He")), "exit 1")
    assert "ended without a valid answer (exit code 1)" in read_complaint(claude)


def test_an_error_is_an_error_whatever_else_it_is_called(fake: Make) -> None:
    claude = fake(say(result("No more turns", is_error=True)))
    assert "reported an error (No more turns)" in read_complaint(claude)


def test_errors_may_come_as_a_list(fake: Make) -> None:
    failed = {"type": "result", "subtype": "error_during_execution", "is_error": True}
    claude = fake(say({**failed, "errors": ["the hook", "the pipe"]}))
    assert "(the hook / the pipe)" in read_complaint(claude)


def test_what_is_no_json_is_quoted(fake: Make) -> None:
    said = read_complaint(fake("echo '<html>謝謝</html>'"))
    assert "claude printed something that is not JSON (<html>謝謝</html>); run" in said


def test_a_stray_line_does_not_spoil_an_answer(fake: Make) -> None:
    claude = fake("echo; echo 'a new version is there'", say([1], 2, None, result("Hello")))
    assert list_texts(list(claude.stream(prompt()))) == ["Hello"]


def test_much_on_its_standard_error_blocks_nothing(fake: Make) -> None:
    claude = fake("head -c 3000000 /dev/zero | tr '\\0' 'e' >&2", say(result("Hello")))
    assert list_texts(list(claude.stream(prompt()))) == ["Hello"]


def test_a_program_that_does_not_read_the_prompt_blocks_nothing(fake: Make) -> None:
    claude = fake("exec 0<&-", say(result("Hello")))
    assert list_texts(list(claude.stream(prompt("a" * 1_000_000)))) == ["Hello"]


def test_a_line_of_megabytes_is_read(fake: Make) -> None:
    claude = fake(say(piece("字" * 1_000_000), result("Hello")))
    assert list_texts(list(claude.stream(prompt()))) == ["字" * 1_000_000]


@pytest.mark.parametrize(
    "message",
    [
        {"type": "stream_event"},
        {"type": "stream_event", "event": None},
        {"type": "stream_event", "event": {"type": "content_block_delta", "delta": 1}},
        {"type": "assistant", "message": None},
        {"type": "assistant", "message": {"content": [None, {"type": "text"}], "usage": 3}},
        {"type": "user", "message": {"content": "a"}},
        {"type": "user", "message": {"content": [{"type": "tool_result"}]}},
        {"type": "system", "subtype": "init", "mcp_servers": None},
        {"type": "system", "subtype": "init", "mcp_servers": ["turnleaf"]},
        {"type": "a kind of tomorrow", "message": {"content": [{"type": "text", "text": "a"}]}},
    ],
)
def test_a_message_of_an_unknown_shape_is_passed_over(fake: Make, message: object) -> None:
    claude = fake(say(message, piece("Hello"), result("Hello", modelUsage=None)))
    assert list(claude.stream(prompt())) == [Text("Hello"), Usage(0, 0)]


def test_an_answer_that_was_begun_and_comes_whole_is_not_said_twice(fake: Make) -> None:
    claude = fake(say(piece("Hel"), make_whole_message("Hello"), result("Hello")))
    assert list_texts(list(claude.stream(prompt()))) == ["Hel", "lo"]


def test_an_answer_that_begins_anew_is_a_new_paragraph(fake: Make) -> None:
    claude = fake(say(piece("Hel"), make_whole_message("Good day"), result("Good day")))
    assert list_texts(list(claude.stream(prompt()))) == ["Hel", "\n\nGood day"]


def test_what_is_cached_fills_the_context_too(fake: Make) -> None:
    used = {"input_tokens": 3, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 100}
    answer = {"type": "assistant", "message": {"content": [], "usage": used}}
    claude = fake(say(answer, result("a")))
    assert list(claude.stream(prompt()))[-1] == Usage(123, 0)


# JSON


def test_json_is_asked_for_by_its_schema(api: MessagesApi, claude: ClaudeCli) -> None:
    api.answer(tool("StructuredOutput", {"facts": [FACT]}))
    assert json.loads(claude.generate_json(SYSTEM, "a", SCHEMA)) == {"facts": [FACT]}
    (request,) = api.requests
    (offered,) = request.body["tools"]
    assert offered["input_schema"]["required"] == ["facts"]
    assert request.body["system"][-1]["text"] == SYSTEM


def test_output_that_is_not_json_is_returned_as_it_is(fake: Make) -> None:
    claude = fake(say(piece("There is nothing."), result("There is nothing.")))
    assert claude.generate_json(SYSTEM, "a", SCHEMA) == "There is nothing."


def test_no_json_at_all_is_an_error(fake: Make) -> None:
    with pytest.raises(ModelError, match="empty answer instead of JSON"):
        fake(say(result(""))).generate_json(SYSTEM, "a", SCHEMA)


def test_an_error_instead_of_json_is_an_error(fake: Make) -> None:
    with pytest.raises(ModelError, match=r"reported an error \(Slow down\.\)"):
        fake(say(result("Slow down.", is_error=True))).generate_json(SYSTEM, "a", SCHEMA)
