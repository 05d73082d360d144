"""The `claude` program as a model: a fresh session for each call, with our tools and none of its.

It brings its own memory, commands, tools and a way to read files into a prompt (`@/a/path`). All
of that is turned off: what the model is told is what the prompt says, whoever wrote it.

It is run with a time limit, and whatever it started ends with it. What goes in and what it
complains about are files without a name, so that neither side ever waits for the other, and nothing
of it is left when we are killed.
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import ExitStack, contextmanager, suppress
from selectors import EVENT_READ, DefaultSelector
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from turnleaf import metrics
from turnleaf.core.model_dialogue import SILENCE_SECONDS, Silence, Text, ToolCall, ToolResult, Usage
from turnleaf.errors import InvalidInput, ModelError
from turnleaf.installation import advise_install

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from turnleaf.core.model_dialogue import Event, Prompt, Toolbox

__all__ = [
    "ClaudeCli",
    "Running",
    "open_nameless_file",
    "run_program",
]


_GRACE_SECONDS = 3.0
_LOOK_SECONDS = 0.02
_PIECE_BYTES = 1 << 16
# A line without an end must not fill the memory.
_MAX_PIECES = 20_000
_COMPLAINT_BYTES = 2_000
_COMPLAINT_LINES = 5


class Running:
    """A program at work, until its deadline."""

    def __init__(self, process: Popen[bytes], stderr: IO[bytes], seconds: float) -> None:
        self._process = process
        self._stderr = stderr
        self._deadline = time.monotonic() + seconds

    def read_lines(self, silence_seconds: float) -> Iterator[bytes | None]:
        """Return what it prints, line by line; at the deadline there is a TimeoutError.

        None is a silence of that long. A line that is longer than any that makes sense is cut
        off, and is the last.
        """
        held: list[bytes] = []
        for piece in self._read_pieces(silence_seconds):
            if piece is None:
                yield None
                continue
            first, *others = piece.split(b"\n")
            held.append(first)
            for other in others:
                yield b"".join(held)
                held = [other]
            # The rest of such a line is no message that makes sense.
            if len(held) > _MAX_PIECES:
                break
        yield b"".join(held)

    def wait_for_exit(self) -> int | None:
        """Return the code with which it ends, or nothing when it should have ended and lingers."""
        try:
            return self._process.wait(_GRACE_SECONDS)
        except TimeoutExpired:
            return None

    def read_complaint(self) -> str:
        """Return the last lines of its standard error, as one."""
        size = self._stderr.seek(0, os.SEEK_END)
        # A program may complain for megabytes, and its last words tell why it ended.
        self._stderr.seek(max(0, size - _COMPLAINT_BYTES))
        lines = self._stderr.read().decode("utf-8", "replace").splitlines()
        said = [" ".join(line.split()) for line in lines]
        return " / ".join(list(filter(None, said))[-_COMPLAINT_LINES:])

    def _read_pieces(self, silence_seconds: float) -> Iterator[bytes | None]:
        assert self._process.stdout is not None  # noqa: S101 - `run_program` asks for a pipe
        output = self._process.stdout.fileno()
        with DefaultSelector() as selector:
            selector.register(output, EVENT_READ)
            # Asked first, as a program that never stops printing is always ready to be read.
            while (left := self._deadline - time.monotonic()) > 0:
                if not selector.select(min(left, silence_seconds)):
                    yield None
                    continue
                piece = os.read(output, _PIECE_BYTES)
                if not piece:
                    return
                yield piece
        raise TimeoutError


@contextmanager
def run_program(
    command: Sequence[str],
    stdin: IO[bytes],
    *,
    environ: Mapping[str, str],
    seconds: float,
    shared: Sequence[IO[bytes]] = (),
) -> Iterator[Running]:
    """Run a program in an empty folder and a process group of its own, and end the whole group.

    It reads `stdin`, and may open the `shared` files as /dev/fd/NUMBER.
    """
    # An empty folder, or the program would read the instructions of whatever project is here.
    with TemporaryDirectory(prefix="turnleaf-") as folder, TemporaryFile() as stderr:
        process = Popen(  # noqa: S603 - no shell, and the user's own program
            command,
            stdin=stdin,
            stdout=PIPE,
            stderr=stderr,
            cwd=folder,
            env=environ,
            pass_fds=[file.fileno() for file in shared],
            # A group of its own, so that whatever it starts can be ended with it.
            start_new_session=True,
        )
        with process, ExitStack() as after:
            try:
                after.enter_context(_guard_group(process.pid))
                yield Running(process, stderr, seconds)
            finally:
                _end(process)


@contextmanager
def open_nameless_file(text: str) -> Iterator[IO[bytes]]:
    """Keep a text in a file that only we, and whoever we give it to, can open."""
    with TemporaryFile() as file:
        file.write(text.encode("utf-8", "replace"))
        file.seek(0)
        yield file


@contextmanager
def _guard_group(group: int) -> Iterator[None]:
    """Kill a process group as soon as this process is gone, however it ended.

    The shell waits on a pipe that nobody writes to and only we hold open.
    """
    command = ["/bin/sh", "-c", 'read -r _; kill -9 -"$0"', str(group)]
    with Popen(  # noqa: S603 - no word of anybody else's is in it
        command, stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
    ) as guard:
        try:
            yield
        finally:
            guard.kill()


def _end(process: Popen[bytes]) -> None:
    try:
        _send_signal(process, signal.SIGTERM)
        _await_end(process)
    finally:
        # Also when somebody presses Ctrl-C again and does not want to wait.
        _send_signal(process, signal.SIGKILL)
        _await_end(process)


def _await_end(process: Popen[bytes]) -> None:
    deadline = time.monotonic() + _GRACE_SECONDS
    while _is_alive(process) and time.monotonic() < deadline:
        time.sleep(_LOOK_SECONDS)


def _send_signal(process: Popen[bytes], number: int) -> None:
    # A group whose last process has just ended is denied on some systems, and unknown on others.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _is_alive(process: Popen[bytes]) -> bool:
    process.poll()
    try:
        os.killpg(process.pid, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


_SERVER = "turnleaf"
_PREFIX = f"mcp__{_SERVER}__"

_ARGUMENTS = (
    "--print",
    *("--output-format", "stream-json", "--verbose", "--include-partial-messages"),
    "--no-session-persistence",
    *("--setting-sources", ""),
    "--strict-mcp-config",
    "--disable-slash-commands",
    *("--tools", ""),
    # A second guard before `@/a/path` in a prompt, should the first in _SWITCHES change its name.
    *("--disallowedTools", "Read(//**)"),
)
_SWITCHES = {
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1",
    "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1",
    # Without this the whole prompt is sent twice, once to be given a title that nobody sees.
    "CLAUDE_CODE_DISABLE_TERMINAL_TITLE": "1",
    "DISABLE_AUTOUPDATER": "1",
    # It waits so long for our tools; by itself it would begin without them after two seconds.
    "MCP_CONNECT_TIMEOUT_MS": "30000",
}

_INPUT = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
_RECALL = "set TURNLEAF_MODEL=recall to use no model"
_MAX_DETAIL_CHARS = 300


class ClaudeCli:
    """The program as it is installed and logged in on this machine."""

    def __init__(
        self,
        model: str | None,
        *,
        timeout_seconds: float,
        program: str = "claude",
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._model = model
        self._timeout_seconds = timeout_seconds
        self._program = program
        self._environ = environ

    @property
    def name(self) -> str:
        """Its name, as the setting `model` names it."""
        return f"claude-cli:{self._model}" if self._model else "claude-cli"

    def stream(self, prompt: Prompt, tools: Toolbox | None = None) -> Iterator[Event]:
        """Answer, piece by piece; closing the iterator ends the program and its tools."""
        turn = _Turn()
        with _count(turn, "answer"):
            yield from self._run(turn, prompt.instructions, prompt.text, _list_options(tools))
            if not turn.has_text:
                raise ModelError(f"claude gave an empty answer; ask again, or {_RECALL}")
        yield turn.read_usage()

    def generate_json(self, system: str, text: str, schema: Mapping[str, Any]) -> str:
        """Answer with JSON that should follow a schema; whoever asked checks it."""
        turn = _Turn()
        with _count(turn, "json"):
            for _ in self._run(turn, system, text, ["--json-schema", json.dumps(schema)]):
                pass
            answer = turn.answer_json()
            if not answer:
                raise ModelError("claude gave an empty answer instead of JSON; ask again")
        return answer

    def _run(
        self, turn: _Turn, system: str, text: str, arguments: Sequence[str]
    ) -> Iterator[Event]:
        with ExitStack() as stack:
            program = self._start(stack, system, text, arguments)
            try:
                yield from _listen(turn, program)
            except TimeoutError:
                raise ModelError(self._describe_timeout(turn)) from None
            _check(turn, program)

    def _start(self, stack: ExitStack, system: str, text: str, arguments: Sequence[str]) -> Running:
        model = [f"--model={self._model}"] if self._model else []
        try:
            # As files: arguments are in the list of processes, which everybody on the machine can
            # read.
            said = stack.enter_context(open_nameless_file(_make_harmless(text)))
            told = stack.enter_context(open_nameless_file(_refuse_nul(system)))
            told_at = ["--system-prompt-file", f"/dev/fd/{told.fileno()}"]
            program = run_program(
                [self._program, *_ARGUMENTS, *model, *told_at, *arguments],
                said,
                environ={**self._environ, **_SWITCHES},
                seconds=self._timeout_seconds,
                shared=[told],
            )
            return stack.enter_context(program)
        except FileNotFoundError:
            raise ModelError(
                f"the program {self._program!r} is not installed; install it with"
                f" `npm install -g @anthropic-ai/claude-code` and log in, or {_RECALL}"
            ) from None
        except OSError as fault:
            raise ModelError(
                f"the program {self._program!r} cannot be started ({fault.strerror}); run"
                f" `{self._program} --version` to see why, or {_RECALL}"
            ) from None

    def _describe_timeout(self, turn: _Turn) -> str:
        waiting = f" (it waits because of: {_format_fault(turn.fault)})" if turn.fault else ""
        return (
            f"claude did not answer within {self._timeout_seconds:g} s{waiting}; try again, "
            "or raise CLAUDE_TIMEOUT_MS"
        )


@contextmanager
def _count(turn: _Turn, purpose: str) -> Iterator[None]:
    """Count a run of the program, and the tokens that it speaks of."""
    with metrics.count_call("claude-cli", purpose):
        yield
        used = turn.read_usage()
        metrics.count_tokens(
            "claude-cli", purpose, taken=used.input_tokens, given=used.output_tokens
        )


class _Turn:
    """What the program has said so far in one turn."""

    def __init__(self) -> None:
        self.result: dict[str, Any] | None = None
        self.has_text = False
        self.fault = ""
        """Its own word for what goes wrong, such as rate_limit."""
        self.noise = b""
        self._model = ""
        self._names: dict[str, str] = {}
        self._block = ""
        self._input_tokens = 0

    def hear(self, line: bytes) -> Iterator[Event]:
        """Take one line of its output, and give what it means."""
        try:
            message = json.loads(line) if line.strip() else {}
        # A stray line of another program must not spoil an answer.
        except (ValueError, RecursionError):
            self.noise = self.noise or line
            return
        if isinstance(message, dict):
            yield from self._take(message)

    def read_usage(self) -> Usage:
        """Return how full the context of the model that answered is."""
        match self._look_up("modelUsage"):
            case dict(models) if models:
                used = models.get(self._model) or next(iter(models.values()))
                return Usage(
                    self._input_tokens, used.get("outputTokens", 0), used.get("contextWindow")
                )
            case _:
                return Usage(self._input_tokens, 0)

    def answer_json(self) -> str:
        """Return the JSON that was asked for, or what was said instead of it."""
        answer = self._look_up("structured_output")
        if answer is not None:
            return json.dumps(answer, ensure_ascii=False)
        return str(self._look_up("result") or "")

    def find_error_text(self) -> str:
        """Return its own words for what went wrong."""
        errors = self._look_up("errors")
        listed = " / ".join(map(str, errors)) if isinstance(errors, list) else ""
        return _cut_line(str(self._look_up("result") or listed or self._look_up("subtype")))

    def is_refusal(self) -> bool:
        """Whether the model would not answer this."""
        return bool(self._look_up("stop_reason") == "refusal")

    def _take(self, message: dict[str, Any]) -> Iterator[Event]:
        match message:
            case {"type": "system"}:
                self._note(message)
            case {"type": "stream_event", "event": event}:
                yield from self._read_piece(event)
            # The program makes up this message itself, to tell of an error.
            case {"type": "assistant", "message": {"model": "<synthetic>"}}:
                self.fault = str(message.get("error") or self.fault)
            case {"type": "assistant", "message": {"content": list(blocks)}}:
                self._count(message["message"])
                for block in blocks:
                    yield from self._read_block(block)
            case {"type": "user", "message": {"content": list(blocks)}}:
                yield from self._read_results(blocks)
            case {"type": "result"}:
                self.result = message
                yield from self._read_rest(message)

    def _look_up(self, name: str) -> object:
        return (self.result or {}).get(name)

    def _note(self, message: dict[str, Any]) -> None:
        match message:
            case {"subtype": "api_retry", "error": str(error)}:
                self.fault = error
            case {"subtype": "init"}:
                self._model = str(message.get("model"))
                _check_servers(message.get("mcp_servers"))

    def _read_piece(self, event: object) -> Iterator[Event]:
        match event:
            case {"type": "content_block_start"}:
                self._block = ""
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}:
                yield from self._add_text(str(text))

    def _read_block(self, block: object) -> Iterator[Event]:
        """Take a block that is complete; most or all of its text has come in pieces."""
        match block:
            case {"type": "text", "text": str(text)}:
                # An answer that was begun anew is another paragraph, not the rest of the first.
                if not text.startswith(self._block):
                    self._block = ""
                yield from self._add_text(text.removeprefix(self._block))
                self._block = ""
            case {"type": "tool_use", "id": str(call), "name": str(name), "input": dict(given)}:
                self._names[call] = name.removeprefix(_PREFIX)
                yield ToolCall(call, self._names[call], given)

    def _add_text(self, piece: str) -> Iterator[Event]:
        if piece:
            # What is said before and after a tool is used are two paragraphs.
            gap = "\n\n" if self.has_text and not self._block else ""
            self._block += piece
            self.has_text = True
            yield Text(gap + piece)

    def _read_rest(self, result: dict[str, Any]) -> Iterator[Event]:
        if not result.get("is_error") and not self.has_text:
            yield from self._add_text(str(result.get("result") or ""))

    def _read_results(self, blocks: list[object]) -> Iterator[Event]:
        for block in blocks:
            match block:
                case {"type": "tool_result", "tool_use_id": str(call), "content": content}:
                    yield ToolResult(call, self._names.get(call, ""), _read_result_text(content))

    def _count(self, message: dict[str, Any]) -> None:
        usage = message.get("usage")
        if isinstance(usage, dict):
            # What comes from a cache fills the context just the same.
            self._input_tokens = sum(int(usage.get(kind) or 0) for kind in _INPUT)


def _check_servers(servers: object) -> None:
    for server in servers if isinstance(servers, list) else []:
        match server:
            case {"name": "turnleaf", "status": "failed"}:
                raise ModelError(
                    "claude could not start the memory tools; to find out why, run `turnleaf mcp`;"
                    f" if a package is missing, {advise_install('mcp')}"
                )


def _listen(turn: _Turn, program: Running) -> Iterator[Event]:
    for line in program.read_lines(SILENCE_SECONDS):
        yield from [Silence()] if line is None else turn.hear(line)
        # The answer is whole; whoever waits for it need not wait for the program to end.
        if turn.result is not None:
            return


def _check(turn: _Turn, program: Running) -> None:
    """Raise what happened, unless there is a result that is no error and it ended well."""
    code = program.wait_for_exit()
    if turn.result is not None and turn.result.get("is_error"):
        raise ModelError(_explain(turn))
    if turn.result is None or code:
        raise ModelError(_describe_failure(turn, code, program.read_complaint()))


def _explain(turn: _Turn) -> str:
    """Return what an answer that is an error means, and what to do."""
    match "refusal" if turn.is_refusal() else turn.fault:
        case "refusal":
            happened, advice = "refused to answer", "rephrase the question"
        case "authentication_failed":
            happened = "is not logged in, or its key is not accepted"
            advice = f"run `claude` and type /login, or set ANTHROPIC_API_KEY, or {_RECALL}"
        case "rate_limit":
            happened = "accepts no more requests at the moment"
            advice = "try again later, or check the limits of the account"
        case "billing_error":
            happened, advice = "has a billing problem", "check the account"
        case "server_error" | "overloaded":
            happened, advice = "has a server problem", "try again later"
        case _:
            happened = "reported an error"
            advice = "run `claude --print hello` to see whether claude works by itself"
    return f"claude {happened} ({turn.find_error_text()}); {advice}"


def _describe_failure(turn: _Turn, code: int | None, complaint: str) -> str:
    """Return how the program went wrong without telling us in its own way."""
    advice = (
        "run `claude update`, then `claude --print hello` to see whether claude works by itself"
    )
    detail = f": {_cut_line(complaint)}" if complaint else ""
    if turn.noise and not complaint:
        noise = _cut_line(turn.noise.decode("utf-8", "replace"))
        return f"claude printed something that is not JSON ({noise}); {advice}"
    if code is not None and code < 0:
        return f"claude was stopped by signal {-code}{detail}; {advice}"
    return f"claude ended without a valid answer (exit code {code}){detail}; {advice}"


def _list_options(tools: Toolbox | None) -> list[str]:
    if tools is None or not tools.command:
        return []
    command, *arguments = tools.command
    # Else the first turn begins before the tools are there.
    server = {"command": command, "args": arguments, "alwaysLoad": True}
    config = json.dumps({"mcpServers": {_SERVER: server}})
    return ["--mcp-config", config, "--allowedTools", _PREFIX.rstrip("_")]


def _refuse_nul(text: str) -> str:
    if "\0" in text:
        raise InvalidInput("the prompt contains a NUL character, which is not text; remove it")
    return text


def _make_harmless(text: str) -> str:
    """Keep a message that begins with a slash from being a command to the program."""
    return f"\n{_refuse_nul(text)}" if text.startswith("/") else _refuse_nul(text)


def _read_result_text(content: object) -> str:
    """Return the text of a tool's result, which comes as a text or as blocks."""
    if isinstance(content, list):
        return "\n".join(str(block.get("text", "")) for block in content if isinstance(block, dict))
    return str(content)


def _format_fault(fault: str) -> str:
    return fault.replace("_", " ")


def _cut_line(text: str) -> str:
    """Return the beginning of a text on one line."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())[:_MAX_DETAIL_CHARS] or "it says nothing"
