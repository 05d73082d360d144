"""Anthropic's Messages API on loopback: it says what a test wants it to and keeps what it hears.

    with MessagesApi() as api:
        api.answer(tool("append_memory", {"fact": "…"}))
        api.answer("Do", "ne.")
        …  # ask at api.url
        api.requests[0].body["messages"]

Each request to /v1/messages gets the next of what was queued; with nothing left it gets a 400.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count, groupby
from threading import Event, Thread
from typing import Any, Literal, Self

from tests.standins.wire import RawResponse, ReceivedRequest

KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    529: "overloaded_error",
}

End = Literal["whole", "cut", "stalled"]


@dataclass(frozen=True)
class MessagesToolCall:
    """The model asks for a tool."""

    name: str
    arguments: dict[str, Any]


def tool(name: str, arguments: dict[str, Any]) -> MessagesToolCall:
    return MessagesToolCall(name, arguments)


@dataclass(frozen=True)
class MessagesAnswer:
    """Texts that follow each other are pieces of one block, each sent by itself."""

    pieces: tuple[str | MessagesToolCall, ...]
    stop_reason: str | None = None
    end: End = "whole"
    input_tokens: int = 100
    output_tokens: int = 10


class MessagesApi(ThreadingHTTPServer):
    """The server: answers for as long as its `with` lasts."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _MessagesHandler)
        self.requests: list[ReceivedRequest] = []
        self.stalled = Event()
        """Set once an answer has stopped coming."""
        self.closing = Event()
        self.replies = deque[MessagesAnswer | RawResponse]()
        self.numbers = count(1)

    @property
    def url(self) -> str:
        """What goes into ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self.server_port}"

    def answer(
        self,
        *pieces: str | MessagesToolCall,
        stop_reason: str | None = None,
        input_tokens: int = 100,
        output_tokens: int = 10,
    ) -> None:
        self.replies.append(
            MessagesAnswer(pieces, stop_reason, "whole", input_tokens, output_tokens)
        )

    def fail(self, status: int, message: str = "No.", *, retry_after: int | None = None) -> None:
        body = {"type": "error", "error": {"type": KINDS[status], "message": message}}
        headers = {} if retry_after is None else {"retry-after": str(retry_after)}
        self.replies.append(RawResponse(status, json.dumps(body).encode(), headers))

    def cut(self, *pieces: str | MessagesToolCall) -> None:
        """Hang up in the middle of an answer."""
        self.replies.append(MessagesAnswer(pieces, end="cut"))

    def stall(self, *pieces: str | MessagesToolCall) -> None:
        """Begin to answer, and say nothing more for as long as the server runs."""
        self.replies.append(MessagesAnswer(pieces, end="stalled"))

    def garbage(self, body: bytes = b"<html>Nothing to see</html>") -> None:
        self.replies.append(RawResponse(200, body))

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self.shutdown()
        self.server_close()


class _MessagesHandler(BaseHTTPRequestHandler):
    server: MessagesApi
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self.send(RawResponse(200, b""))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        path, _, _ = self.path.partition("?")
        if path == "/v1/messages":
            headers = {name.lower(): value for name, value in self.headers.items()}
            self.server.requests.append(ReceivedRequest(headers, body))
            self.reply(body)
        elif path == "/v1/messages/count_tokens":
            self.send(RawResponse(200, b'{"input_tokens": 100}'))
        else:
            self.send(RawResponse(404, b"{}"))

    def reply(self, asked: dict[str, Any]) -> None:
        nothing_left = RawResponse(400, _error("The test has no more answers."))
        reply = self.server.replies.popleft() if self.server.replies else nothing_left
        if isinstance(reply, RawResponse):
            self.send(reply)
        elif asked.get("stream"):
            self.stream(reply, asked["model"])
        else:
            self.send_whole(reply, asked["model"])

    def send(self, raw: RawResponse) -> None:
        self.send_response(raw.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw.body)))
        self.send_header("request-id", f"req_{next(self.server.numbers)}")
        for name, value in raw.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw.body)

    def send_whole(self, answer: MessagesAnswer, model: str) -> None:
        if answer.end == "whole":
            self.send(
                RawResponse(200, json.dumps(_message(answer, model, self.server.numbers)).encode())
            )
        else:
            self.break_off(answer)

    def stream(self, answer: MessagesAnswer, model: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in _events(answer, model, self.server.numbers):
            line = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
        if answer.end == "whole":
            self.wfile.write(b"0\r\n\r\n")
        else:
            self.break_off(answer)

    def break_off(self, answer: MessagesAnswer) -> None:
        if answer.end == "stalled":
            self.server.stalled.set()
            self.server.closing.wait()
        self.close_connection = True

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def _error(message: str) -> bytes:
    return json.dumps({"type": "error", "error": {"type": KINDS[400], "message": message}}).encode()


def _message(answer: MessagesAnswer, model: str, numbers: Iterator[int]) -> dict[str, Any]:
    content = [_block(pieces, numbers) for pieces in _blocks(answer)]
    usage = {"input_tokens": answer.input_tokens, "output_tokens": answer.output_tokens}
    head = {"id": f"msg_{next(numbers)}", "type": "message", "role": "assistant", "model": model}
    ending = {"stop_reason": _stop_reason(answer), "stop_sequence": None, "usage": usage}
    return {**head, "content": content, **ending}


def _events(answer: MessagesAnswer, model: str, numbers: Iterator[int]) -> Iterator[dict[str, Any]]:
    message = _message(answer, model, numbers)
    usage = message["usage"]
    empty: dict[str, Any] = {
        "content": [],
        "stop_reason": None,
        "usage": {**usage, "output_tokens": 1},
    }
    yield {"type": "message_start", "message": {**message, **empty}}
    blocks = list(zip(_blocks(answer), message["content"], strict=True))
    for index, (pieces, block) in enumerate(blocks):
        start = {**block, **({"input": {}} if block["type"] == "tool_use" else {"text": ""})}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        for delta in map(_delta, pieces):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        if answer.end != "whole" and index == len(blocks) - 1:
            return
        yield {"type": "content_block_stop", "index": index}
    if answer.end == "whole":
        ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
        yield {"type": "message_delta", "delta": ending, "usage": usage}
        yield {"type": "message_stop"}


def _blocks(answer: MessagesAnswer) -> list[list[str | MessagesToolCall]]:
    """Put texts that follow each other into one block; each tool is a block of its own."""
    keys = count()
    grouped = groupby(
        answer.pieces, lambda piece: next(keys) + 1 if isinstance(piece, MessagesToolCall) else 0
    )
    return [list(pieces) for _, pieces in grouped]


def _block(pieces: list[str | MessagesToolCall], numbers: Iterator[int]) -> dict[str, Any]:
    first = pieces[0]
    if isinstance(first, MessagesToolCall):
        called = {"name": first.name, "input": first.arguments}
        return {"type": "tool_use", "id": f"toolu_{next(numbers)}", **called}
    return {"type": "text", "text": "".join(map(str, pieces))}


def _delta(piece: str | MessagesToolCall) -> dict[str, Any]:
    if isinstance(piece, MessagesToolCall):
        return {"type": "input_json_delta", "partial_json": json.dumps(piece.arguments)}
    return {"type": "text_delta", "text": piece}


def _stop_reason(answer: MessagesAnswer) -> str:
    if answer.stop_reason:
        return answer.stop_reason
    return (
        "tool_use"
        if any(isinstance(each, MessagesToolCall) for each in answer.pieces)
        else "end_turn"
    )
