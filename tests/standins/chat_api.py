"""OpenAI's chat completions on loopback: it says what a test wants it to and keeps what it hears.

    with ChatApi() as api:
        api.answer(tool("append_memory", {"fact": "…"}))
        api.answer("Do", "ne.")
        …  # ask at api.url
        api.requests[0].body["messages"]

Each request to /v1/chat/completions gets the next of what was queued; with nothing left it gets
a 400. What else the server tells stands in `tells`, by path.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Event, Thread
from typing import Any, Literal, Self

from tests.standins.wire import RawResponse, ReceivedRequest

End = Literal["whole", "cut", "unfinished", "stalled"]


@dataclass(frozen=True)
class ChatToolCall:
    """The model asks for a tool; its arguments are sent in pieces of a few characters."""

    name: str
    arguments: str


def tool(name: str, arguments: dict[str, Any] | str) -> ChatToolCall:
    if isinstance(arguments, str):
        return ChatToolCall(name, arguments)
    return ChatToolCall(name, json.dumps(arguments, ensure_ascii=False))


@dataclass(frozen=True)
class ChatAnswer:
    """Each text is sent by itself."""

    pieces: tuple[str | ChatToolCall, ...]
    finish_reason: str | None = None
    refusal: str | None = None
    end: End = "whole"
    input_tokens: int = 100
    output_tokens: int = 10


@dataclass(frozen=True)
class HeldAnswer:
    """An answer that is not sent until the test wants it to be."""

    answer: ChatAnswer
    asked: Event = field(default_factory=Event)
    """Set once somebody waits for it."""
    released: Event = field(default_factory=Event)


class ChatApi(ThreadingHTTPServer):
    """The server: answers for as long as its `with` lasts."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _ChatHandler)
        self.requests: list[ReceivedRequest] = []
        self.tells: dict[str, Any] = {}
        self.asked: list[str] = []
        """The paths that were asked for beside completions."""
        self.stalled = Event()
        """Set once an answer has stopped coming."""
        self.left = Event()
        """Set once whoever waited for it has gone."""
        self.closing = Event()
        self.replies = deque[ChatAnswer | RawResponse | HeldAnswer]()
        self.numbers = count(1)

    @property
    def url(self) -> str:
        """What goes into TURNLEAF_MODEL_URL."""
        return f"http://127.0.0.1:{self.server_port}/v1"

    def answer(
        self,
        *pieces: str | ChatToolCall,
        finish_reason: str | None = None,
        input_tokens: int = 100,
        output_tokens: int = 10,
    ) -> None:
        self.replies.append(
            ChatAnswer(
                pieces, finish_reason, input_tokens=input_tokens, output_tokens=output_tokens
            )
        )

    def refuse(self, reason: str) -> None:
        """Decline to answer, as a model does."""
        self.replies.append(ChatAnswer((), "stop", reason))

    def fail(
        self,
        status: int,
        message: str = "No.",
        *,
        code: str | None = None,
        retry_after: int | None = None,
    ) -> None:
        headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
        self.replies.append(RawResponse(status, _error(message, code), headers))

    def cut(self, *pieces: str | ChatToolCall) -> None:
        """Hang up in the middle of an answer."""
        self.replies.append(ChatAnswer(pieces, end="cut"))

    def leave_unfinished(self, *pieces: str | ChatToolCall) -> None:
        """End the stream properly in the middle of an answer."""
        self.replies.append(ChatAnswer(pieces, end="unfinished"))

    def stall(self, *pieces: str | ChatToolCall) -> None:
        """Begin to answer, and say nothing more for as long as the server runs."""
        self.replies.append(ChatAnswer(pieces, end="stalled"))

    def hold(self, *pieces: str | ChatToolCall) -> HeldAnswer:
        """Answer only when the test releases it."""
        held = HeldAnswer(ChatAnswer(pieces))
        self.replies.append(held)
        return held

    def garbage(self, body: bytes = b"<html>Nothing to see</html>") -> None:
        self.replies.append(RawResponse(200, body, {"Content-Type": "text/event-stream"}))

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()


class _ChatHandler(BaseHTTPRequestHandler):
    server: ChatApi
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path != "/v1/chat/completions":
            self.tell()
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append(ReceivedRequest(headers, body))
        nothing_left = RawResponse(400, _error("The test has no more answers."))
        reply = self.server.replies.popleft() if self.server.replies else nothing_left
        if isinstance(reply, HeldAnswer):
            reply.asked.set()
            reply.released.wait()
            reply = reply.answer
        if isinstance(reply, RawResponse):
            self.send(reply)
        elif body.get("stream"):
            self.stream(reply, body["model"])
        else:
            message = _whole(reply, body["model"], self.server.numbers)
            self.send(RawResponse(200, json.dumps(message).encode()))

    def do_GET(self) -> None:
        self.tell()

    def tell(self) -> None:
        self.server.asked.append(self.path)
        told = self.server.tells.get(self.path)
        self.send(
            RawResponse(404, b"{}") if told is None else RawResponse(200, json.dumps(told).encode())
        )

    def send(self, raw: RawResponse) -> None:
        if raw.status:
            headers = {"Content-Type": "application/json", **raw.headers}
            self.send_response(raw.status)
            for name, value in {**headers, "Content-Length": str(len(raw.body))}.items():
                self.send_header(name, value)
            self.end_headers()
        self.wfile.write(raw.body)
        self.close_connection = not raw.status

    def stream(self, answer: ChatAnswer, model: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in _chunks(answer, model, self.server.numbers):
            self.write(f"data: {json.dumps(event)}\n\n".encode())
        if answer.end == "whole":
            self.write(b"data: [DONE]\n\n")
        if answer.end in {"whole", "unfinished"}:
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.break_off(answer)

    def write(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def break_off(self, answer: ChatAnswer) -> None:
        self.close_connection = True
        if answer.end == "stalled":
            self.server.stalled.set()
            self.connection.settimeout(0.01)
            while not self.server.closing.is_set() and not self.is_abandoned():
                pass

    def is_abandoned(self) -> bool:
        """Whether the other side has hung up."""
        try:
            has_gone = not self.connection.recv(1)
        except TimeoutError:
            return False
        except ConnectionError:
            has_gone = True
        if has_gone:
            self.server.left.set()
        return has_gone

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _error(message: str, code: str | None = None) -> bytes:
    error = {"message": message, "type": "error", "param": None, "code": code}
    return json.dumps({"error": error}).encode()


def _whole(answer: ChatAnswer, model: str, numbers: Iterator[int]) -> dict[str, Any]:
    text = "".join(piece for piece in answer.pieces if isinstance(piece, str))
    calls = [_call(piece, numbers) for piece in answer.pieces if isinstance(piece, ChatToolCall)]
    message = {
        "role": "assistant",
        "content": text or None,
        "refusal": answer.refusal,
        **({"tool_calls": calls} if calls else {}),
    }
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(answer)}
    head = _head("chat.completion", model, numbers)
    return {**head, "choices": [choice], "usage": _usage(answer)}


def _chunks(answer: ChatAnswer, model: str, numbers: Iterator[int]) -> Iterator[dict[str, Any]]:
    head = _head("chat.completion.chunk", model, numbers)

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return {**head, "choices": [choice], "usage": None}

    yield chunk({"role": "assistant", "content": ""})
    if answer.refusal:
        yield chunk({"refusal": answer.refusal})
    places = count()
    for piece in answer.pieces:
        if isinstance(piece, str):
            yield chunk({"content": piece})
        else:
            for part in _call_in_pieces(piece, next(places), numbers):
                yield chunk({"tool_calls": [part]})
    if answer.end == "whole":
        yield chunk({}, _finish_reason(answer))
        yield {**head, "choices": [], "usage": _usage(answer)}


def _head(kind: str, model: str, numbers: Iterator[int]) -> dict[str, Any]:
    return {"id": f"chat_{next(numbers)}", "object": kind, "created": 1_700_000_000, "model": model}


def _call(asked: ChatToolCall, numbers: Iterator[int]) -> dict[str, Any]:
    function = {"name": asked.name, "arguments": asked.arguments}
    return {"id": f"call_{next(numbers)}", "type": "function", "function": function}


def _call_in_pieces(
    asked: ChatToolCall, place: int, numbers: Iterator[int]
) -> Iterator[dict[str, Any]]:
    yield {"index": place, **_call(ChatToolCall(asked.name, ""), numbers)}
    for at in range(0, len(asked.arguments), 5):
        yield {"index": place, "function": {"arguments": asked.arguments[at : at + 5]}}


def _usage(answer: ChatAnswer) -> dict[str, int]:
    total = answer.input_tokens + answer.output_tokens
    return {
        "prompt_tokens": answer.input_tokens,
        "completion_tokens": answer.output_tokens,
        "total_tokens": total,
    }


def _finish_reason(answer: ChatAnswer) -> str:
    if answer.finish_reason:
        return answer.finish_reason
    return "tool_calls" if any(isinstance(each, ChatToolCall) for each in answer.pieces) else "stop"
