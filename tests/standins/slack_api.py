"""Slack on loopback: its Web API, Socket Mode, and what people there say and see.

    with SlackApi() as slack:
        …  # a bot connects, with SLACK_API_URL at slack.url
        ts = slack.say("<@UBOT> hello", user="U01", channel="C01")
        slack.wait_for(lambda: slack.list_texts(ts))

It refuses what Slack refuses: wrong tokens, texts that are too long, streams that are none.
"""

from __future__ import annotations

import base64
import hashlib
import json
import socket
import struct
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Condition, Lock, Thread
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl

BOT = "UBOT"
TEAM = "T1"
BOT_TOKEN = "xoxb-the-bots-own-token"  # noqa: S105 - nobody's
APP_TOKEN = "xapp-the-apps-own-token"  # noqa: S105
SECONDS = 60
MOST_MARKDOWN = 12_000
TEXT, CLOSE, PING, PONG = 1, 8, 9, 10

T = TypeVar("T")
Body = dict[str, Any]


@dataclass(frozen=True)
class ApiCall:
    """A request to the Web API."""

    method: str
    body: Body


@dataclass
class Post:
    """A message as it is shown now."""

    channel: str
    ts: str
    thread: str | None
    text: str
    blocks: list[Body] = field(default_factory=list)
    metadata: Body = field(default_factory=dict)
    is_streaming: bool = False
    edits: int = 0
    only_for: str | None = None

    @property
    def lines(self) -> list[str]:
        """What its blocks say."""
        return [block["text"]["text"] for block in self.blocks]

    @property
    def buttons(self) -> list[Body]:
        """The blocks with a button."""
        return [block for block in self.blocks if "accessory" in block]


class SlackRefusal(Exception):
    """What Slack says no to."""


class SlackApi(ThreadingHTTPServer):
    """The server: runs for as long as its `with` lasts."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _SlackHandler)
        self.calls: list[ApiCall] = []
        self.posts: list[Post] = []
        self.people: dict[str, Body] = {}
        self.channels: dict[str, Body] = {}
        """What is known of channels; all others are public."""
        self.refused: dict[str, str] = {}
        """Methods that are not to be had here, and why."""
        self.connections = 0
        self.acknowledged: set[str] = set()
        self._once: dict[str, deque[tuple[str, str]]] = {}
        self._links: list[_SlackHandler] = []
        self._changed = Condition()
        self._numbers = count(100)
        self._newest = 0.0

    @property
    def url(self) -> str:
        """What goes into SLACK_API_URL."""
        return f"http://127.0.0.1:{self.server_port}/api/"

    # What a test has happen.

    def say(self, text: str, *, user: str = "U01", channel: str = "C01", **more: Any) -> str:  # noqa: ANN401
        """Post a message as somebody; once the bot has taken it, return the message's ts."""
        event = {"type": "message", "user": user, "channel": channel, "text": text, "team": TEAM}
        event |= {"channel_type": "channel", "ts": self._ts(), **more}
        self.deliver(event)
        return str(event["ts"])

    def mention(self, text: str, **more: Any) -> str:  # noqa: ANN401 - as in `say`
        """Mention the bot as somebody: Slack reports it twice, once without the channel."""
        ts = self.say(f"<@{BOT}> {text}", **more)
        again = {"type": "app_mention", "ts": ts, "channel_type": None}
        self.say(f"<@{BOT}> {text}", **(more | again))
        return ts

    def direct(self, text: str, **more: Any) -> str:  # noqa: ANN401 - as in `say`
        """Send the bot a direct message as somebody."""
        return self.say(text, **({"channel": "D1", "channel_type": "im"} | more))

    def press(self, post: Post, *, user: str = "U01", number: int = 0) -> None:
        """Press a button as somebody."""
        block = post.buttons[number]
        message = {"ts": post.ts, "thread_ts": post.thread, "text": post.text}
        self.send(
            "interactive",
            {
                "type": "block_actions",
                "user": {"id": user, "team_id": TEAM},
                "team": {"id": TEAM},
                "channel": {"id": post.channel},
                "container": {"type": "message", "message_ts": post.ts},
                "message": {**message, "blocks": [dict(one) for one in post.blocks]},
                "actions": [{**block["accessory"], "block_id": block["block_id"]}],
            },
        )

    def deliver(self, event: Body) -> None:
        """Send the bot an event."""
        self.send("events_api", {"type": "event_callback", "team_id": TEAM, "event": event})

    def send(self, kind: str, payload: Body) -> None:
        """Send an envelope, and wait until it is acknowledged."""
        envelope = f"envelope-{next(self._numbers)}"
        self._newest_link().tell({"type": kind, "envelope_id": envelope, "payload": payload})
        self.wait_for(lambda: envelope in self.acknowledged)

    def once(self, method: str, error: str, *, times: int = 1) -> None:
        """Refuse the next calls; "429:N" asks to wait N seconds, "gone" hangs up."""
        kind, _, rest = error.partition(":")
        with self._changed:
            self._once.setdefault(method, deque()).extend([(kind, rest)] * times)

    def drop(self) -> None:
        """Cut the line without a word."""
        self._newest_link().cut()

    def ask_to_reconnect(self) -> None:
        """Announce that this connection will be closed soon."""
        self._newest_link().tell({"type": "disconnect", "reason": "refresh_requested"})

    # What a test looks at.

    def wait_for(self, look: Callable[[], T]) -> T:
        """Wait until something is there, and return it."""
        with self._changed:
            found = self._changed.wait_for(look, SECONDS)
        assert found, f"it never came; there were {self.calls[-8:]} and {self.posts[-4:]}"
        return found

    def bodies_of(self, method: str) -> list[Body]:
        return [call.body for call in self.calls if call.method == method]

    def thread(self, ts: str) -> list[Post]:
        return [post for post in self.posts if post.thread == ts]

    def list_texts(self, ts: str) -> list[str]:
        """Return what the thread shows, without notes."""
        shown = [post for post in self.thread(ts) if not post.blocks and not post.only_for]
        return [post.text for post in shown if not post.is_streaming]

    def notes(self, ts: str) -> list[Post]:
        return [post for post in self.thread(ts) if post.blocks]

    # Serving.

    def change(self, note: Callable[[], None]) -> None:
        """Note something and wake whoever waits."""
        with self._changed:
            note()
            self._changed.notify_all()

    def note_link(self, link: _SlackHandler, *, is_open: bool) -> None:
        def note() -> None:
            if is_open:
                self._links.append(link)
                self.connections += 1
            elif link in self._links:
                self._links.remove(link)

        self.change(note)

    def _newest_link(self) -> _SlackHandler:
        """Wait for a line: a bot may think itself connected before its line is known here."""
        return self.wait_for(lambda: self._links[-1:])[0]

    def answer(self, method: str, body: Body, token: str) -> tuple[str, Body]:
        """Return a status and the answer to a call."""
        with self._changed:
            self.calls.append(ApiCall(method, body))
            waiting = self._once.get(method)
            kind, rest = waiting.popleft() if waiting else ("", "")
            try:
                if kind in {"429", "gone"}:
                    return kind, {"ok": False, "error": "ratelimited", "wait": rest}
                self._check(method, token, kind or self.refused.get(method))
                return "200", {"ok": True, **self._perform(method, body)}
            except SlackRefusal as refusal:
                return "200", {"ok": False, "error": str(refusal)}
            finally:
                self._changed.notify_all()

    def _check(self, method: str, token: str, error: str | None) -> None:
        wanted = APP_TOKEN if method == "apps.connections.open" else BOT_TOKEN
        if error or token != wanted:
            raise SlackRefusal(error or "invalid_auth")

    def _perform(self, method: str, body: Body) -> Body:
        does: dict[str, Callable[[Body], Body]] = {
            "auth.test": lambda _: {
                "user_id": BOT, "user": "turnleaf", "team_id": TEAM, "team": "Home", "bot_id": "B1",
                "enterprise_id": "E1", "url": "http://127.0.0.1/",
            },
            "apps.connections.open": lambda _: {
                "url": f"ws://127.0.0.1:{self.server_port}/link?ticket=a-secret-ticket"
            },
            "users.info": self._person,
            "assistant.threads.setStatus": lambda _: {},
            "chat.postMessage": self._post,
            "chat.postEphemeral": lambda body: self._post(body, only_for=body["user"]),
            "chat.update": self._update,
            "chat.startStream": self._start,
            "chat.appendStream": self._append,
            "chat.stopStream": lambda body: self._append(body, is_over=True),
            "conversations.history": self._history,
            "conversations.info": self._channel,
            "conversations.replies": self._replies,
        }  # fmt: skip
        if method not in does:
            raise SlackRefusal("unknown_method")
        return does[method](body)

    def _person(self, body: Body) -> Body:
        if body["user"] not in self.people:
            raise SlackRefusal("user_not_found")
        return {"user": {"id": body["user"], "team_id": TEAM, **self.people[body["user"]]}}

    def _channel(self, body: Body) -> Body:
        about = {"is_channel": True, "is_private": False, **self.channels.get(body["channel"], {})}
        return {"channel": {"id": body["channel"], **about}}

    def _post(self, body: Body, only_for: str | None = None) -> Body:
        if body["channel"] == "C0NONE":
            raise SlackRefusal("channel_not_found")
        post = Post(body["channel"], self._ts(), body.get("thread_ts"), "", only_for=only_for)
        _fill(post, body)
        post.metadata = body.get("metadata", {})
        self.posts.append(post)
        return {"ts": post.ts, "channel": post.channel}

    def _update(self, body: Body) -> Body:
        post = self._find_post(body)
        if post.is_streaming:
            raise SlackRefusal("streaming_state_conflict")
        _fill(post, body)
        post.edits += 1
        return {"ts": post.ts}

    def _start(self, body: Body) -> Body:
        if not body.get("thread_ts"):
            raise SlackRefusal("invalid_thread_ts")
        if body["channel"][0] != "D" and not body.get("recipient_user_id"):
            raise SlackRefusal("missing_recipient_user_id")
        answer = self._post(body)
        self.posts[-1].is_streaming = True
        return answer

    def _append(self, body: Body, *, is_over: bool = False) -> Body:
        post = self._find_post(body)
        if not post.is_streaming:
            raise SlackRefusal("message_not_in_streaming_state")
        more = _text_of(body)
        if not is_over and not more:
            raise SlackRefusal("no_text")
        post.text += more
        post.edits += 1
        post.is_streaming = not is_over
        return {"ts": post.ts}

    def _history(self, body: Body) -> Body:
        """Return what is in a channel, without what is below it in threads."""
        there = [one for one in self.posts if (one.channel, one.thread) == (body["channel"], None)]
        return {"messages": [{"ts": one.ts, "metadata": one.metadata} for one in there[::-1]]}

    def _replies(self, body: Body) -> Body:
        there = [one for one in self.posts if body["ts"] in {one.ts, one.thread}]
        return {"messages": [{"ts": one.ts, "metadata": one.metadata} for one in there]}

    def _find_post(self, body: Body) -> Post:
        found = [
            one for one in self.posts if (one.channel, one.ts) == (body["channel"], body["ts"])
        ]
        if not found:
            raise SlackRefusal("message_not_found")
        return found[0]

    def _ts(self) -> str:
        """Name a message by its time, as Slack does; no two have the same."""
        self._newest = max(self._newest + 1e-6, time.time())
        return f"{self._newest:.6f}"

    def __enter__(self) -> Self:
        Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        for link in list(self._links):
            link.cut()
        self.shutdown()
        self.server_close()


def _text_of(body: Body) -> str:
    pieces = "".join(chunk["text"] for chunk in body.get("chunks", ()))
    return str(body.get("markdown_text") or body.get("text") or pieces)


def _fill(post: Post, body: Body) -> None:
    """Show a text and blocks, or say why Slack would not."""
    text = _text_of(body)
    if not text.strip() and not body.get("blocks"):
        raise SlackRefusal("no_text")
    if len(text) > MOST_MARKDOWN:
        raise SlackRefusal("msg_too_long")
    blocks = body.get("blocks", [])
    named = [block["block_id"] for block in blocks if "block_id" in block]
    if len(blocks) > 50 or len({*named}) < len(named) or any(map(_is_bad, blocks)):
        raise SlackRefusal("invalid_blocks")
    post.text = text
    post.blocks = [{"block_id": f"b{place}", **block} for place, block in enumerate(blocks)]


def _is_bad(block: Body) -> bool:
    button = block.get("accessory", {})
    return not 0 < len(block["text"]["text"]) <= 3000 or len(button.get("value", "")) > 2000


class _SlackHandler(BaseHTTPRequestHandler):
    server: SlackApi
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self._sending = Lock()

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        is_json = self.headers.get_content_type() == "application/json"
        body = json.loads(data or "{}") if is_json else dict(parse_qsl(data))
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        method = self.path.removeprefix("/api/")
        status, answer = self.server.answer(method, body, token)
        if status == "gone":
            self.close_connection = True
            return
        sent = json.dumps(answer).encode()
        self.send_response(int(status))
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(sent)))
        if status == "429":
            self.send_header("Retry-After", answer["wait"])
        self.end_headers()
        self.wfile.write(sent)

    def do_GET(self) -> None:
        """Open a line of Socket Mode, and serve it to its end."""
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()  # noqa: S324
        self.send_response(101)
        for name, value in (
            ("Upgrade", "websocket"), ("Connection", "Upgrade"), ("Sec-WebSocket-Accept", accept),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        try:
            self.tell({"type": "hello", "num_connections": 1})
            self.server.note_link(self, is_open=True)
            for kind, data in self._frames():
                self._take_frame(kind, data)
        except OSError:
            pass
        finally:
            self.server.note_link(self, is_open=False)

    def tell(self, message: Body) -> None:
        self._send(TEXT, json.dumps(message).encode())

    def cut(self) -> None:
        with suppress(OSError):  # the bot may have hung up first
            self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _take_frame(self, kind: int, data: bytes) -> None:
        if kind == PING:
            self._send(PONG, data)
        elif kind == TEXT:
            envelope = json.loads(data)["envelope_id"]
            self.server.change(lambda: self.server.acknowledged.add(envelope))

    def _send(self, kind: int, data: bytes) -> None:
        size, first = len(data), 0x80 | kind
        if size > 0xFFFF:
            head = struct.pack("!BBQ", first, 127, size)
        elif size > 125:
            head = struct.pack("!BBH", first, 126, size)
        else:
            head = struct.pack("!BB", first, size)
        with self._sending:
            self.wfile.write(head + data)
            self.wfile.flush()

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        while len(head := self.rfile.read(2)) == 2 and (kind := head[0] & 15) != CLOSE:
            size = head[1] & 127
            if size == 126:
                size = struct.unpack("!H", self.rfile.read(2))[0]
            mask = self.rfile.read(4)
            data = self.rfile.read(size)
            yield kind, bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
