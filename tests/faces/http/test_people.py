"""Many people on one server: each token has its space, and sees, finds and changes no other."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.effort import LONG
from tests.faces.http.conftest import DEADLINE_SECONDS, make_data_folder, operating, serving
from tests.faces.http.conftest import RunningServer as Running
from tests.faces.http.listening import NO_TLS, EndlessModel
from tests.postgres import empty_database
from tests.standins.scripted_model import ScriptedModel
from turnleaf.access_tokens import Tokens
from turnleaf.assistant import Assistant
from turnleaf.core.changes import Source
from turnleaf.core.messages import Message
from turnleaf.core.serialization import to_iso
from turnleaf.settings import DataFolder
from turnleaf.space_limits import read_limits, set_limits
from turnleaf.spaces import MOST_OPEN
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.in_memory.shared_data import MemoryPlace
from turnleaf.store.in_memory.stores import MemoryStores

CRYSTAL = "紫水晶"
FACT = f"保險箱的密碼詞是{CRYSTAL}"
QUESTION = "保險箱的密碼詞是什麼？"
KEY = "web:bobs"
OPERATORS_TOKEN = "operator-" * 6
ENDLESS = "GET /api/events"

BACKENDS: dict[str, Callable[[Path], Stores]] = {
    "files": lambda folder: Stores.open(DataFolder(folder, "a test")),
    "memory": lambda _: MemoryStores(MemoryPlace(), now=local_now),
    "postgres": lambda _: Stores.open(empty_database()),
}


class SpacesServer:
    """A server with spaces, and clients with tokens."""

    def __init__(self, url: str, own: Assistant) -> None:
        self.url = url
        self.own = own
        self.tokens = Tokens(own.stores.operator_records)

    def call(self, space: str | None, **headers: str) -> httpx2.Client:
        """Return a client with a new token, the operator's if None."""
        return self.call_with(self.tokens.add(space)[1], **headers)

    def call_with(self, token: str | None, **headers: str) -> httpx2.Client:
        given = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(
            base_url=self.url,
            timeout=DEADLINE_SECONDS,
            trust_env=False,
            verify=NO_TLS,
            headers=given | {name.replace("_", "-"): one for name, one in headers.items()},
        )


@contextmanager
def serve_people(
    home: Path, backend: str, model: ScriptedModel | None = None, token: str | None = None
) -> Iterator[SpacesServer]:
    with make_data_folder(home) as folder:
        stores = BACKENDS[backend](folder)
        stores.config.change({"model": "recall", "embeddings": False})
        with closing(Assistant(stores, model=model)) as own, serving(own, token=token) as url:
            yield SpacesServer(url, own)


@pytest.fixture(params=BACKENDS if LONG else ["files", "postgres"])
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SpacesServer]:
    with serve_people(tmp_path, request.param) as found:
        yield found


@pytest.fixture
def on_files(tmp_path: Path) -> Iterator[SpacesServer]:
    with serve_people(tmp_path, "files") as found:
        yield found


def fill(space: Assistant) -> dict[str, Any]:
    """Leave something secret in every store; return what names it."""
    source = Source(FACT, KEY, space.now(), "user")
    fact = space.memory.add(FACT, source=source)
    pending = space.pending.add(FACT, source=Source(FACT, KEY, space.now(), "document"))
    space.daily.append(FACT)
    space.record(KEY, [Message("user", FACT), Message("assistant", f"好，{CRYSTAL}")])
    schedule = space.schedules.add(FACT, "@daily", zone="UTC", name=CRYSTAL)
    (message, *_) = space.conversations.messages(KEY)
    return {
        "fact": fact.id, "pending": pending.id, "schedule": schedule.id, "message": message.id,
        "change": space.memory.changes()[-1].n,
    }  # fmt: skip


def dump(space: Assistant) -> list[object]:
    """Return all that a space has."""
    shown = space.conversations.messages(KEY)
    return [
        space.memory.get_all(), space.memory.changes(), space.pending.get_all(),
        [space.daily.read(day) for day in space.daily.dates()], shown,
        space.conversations.summaries(), space.schedules.get_all(),
    ]  # fmt: skip


class Walk:
    """Every operation that the server describes, asked about somebody's things."""

    def __init__(self, client: httpx2.Client, things: dict[str, Any]) -> None:
        self.client = client
        self.things = things
        self.described = client.get("/openapi.json").json()

    def run(self) -> dict[str, httpx2.Response]:
        """Ask for each, what only reads first, and return the answers."""
        wanted = [
            (method.upper(), path, operation)
            for path, methods in self.described["paths"].items()
            for method, operation in methods.items()
            if f"{method.upper()} {path}" != ENDLESS
        ]
        order = ["GET", "POST", "PATCH", "PUT", "DELETE"]
        wanted.sort(key=lambda one: (order.index(one[0]), one[1]))
        return {f"{method} {path}": self._ask(method, path, one) for method, path, one in wanted}

    def _ask(self, method: str, path: str, operation: dict[str, Any]) -> httpx2.Response:
        given = {
            one["name"]: self._choose(path, one["name"], one["schema"])
            for one in operation.get("parameters", ())
            if one["in"] == "path" or (one["in"] == "query" and one.get("required"))
        }
        address = re.sub(r"{(\w+)}", lambda found: str(given.pop(found[1])), path)
        bodies = operation.get("requestBody", {}).get("content", {})
        if "application/octet-stream" in bodies:
            kind = {"Content-Type": "application/octet-stream"}
            return self.client.request(method, address, params=given, content=b"{}", headers=kind)
        schema = bodies.get("application/json", {}).get("schema")
        body = self._build(path, schema) if schema else None
        return self.client.request(method, address, params=given, json=body)

    def _choose(self, path: str, name: str, schema: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        things = self.things
        kind = next((one for one in ("pending", "schedule") if one in path), "fact")
        known = {
            "id": things[kind], "ids": [things[kind]], "fact": things["fact"], "key": KEY,
            "message": QUESTION if "chat" in path or "prompt" in path else things["message"],
            "change": things["change"], "q": QUESTION, "content": QUESTION,
            "date": local_now().date().isoformat(),
            "name": "bob", "space": "bob", "provider": "openai", "model": "turnleaf", "user": "bob",
            "messages": [{"role": "user", "content": QUESTION}], "timing": "@daily",
            "entry": QUESTION, "after": None, "before": None,
        }  # fmt: skip
        if name in known:
            return known[name]
        return self._build(path, schema)

    def _build(self, path: str, schema: dict[str, Any]) -> Any:  # noqa: ANN401 - JSON
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            schema = self.described["components"]["schemas"][name]
        if "examples" in schema:
            return schema["examples"][0]
        for choice in ("enum", "anyOf", "oneOf"):
            if choice in schema:
                one = schema[choice][0]
                return one if choice == "enum" else self._build(path, one)
        if schema.get("type") == "object":
            needed = {*schema.get("required", ()), "key", "after", "ids", "change", "user"}
            return {
                name: self._choose(path, name, one)
                for name, one in schema.get("properties", {}).items()
                if name in needed
            }
        return {"array": [], "integer": 1, "boolean": False, "number": 0.5}.get(
            schema.get("type", ""), schema.get("default", "x")
        )


def test_no_route_shows_or_changes_anything_of_another_space(people: SpacesServer) -> None:
    bob = people.own.open_space("bob")
    things = fill(bob)
    things_of_own = fill(people.own)
    before, own_before = dump(bob), dump(people.own)
    with people.call("anna") as anna:
        for asked in (things, things_of_own):
            answers = Walk(anna, asked).run()
            leaky = [name for name, one in answers.items() if CRYSTAL in one.text]
            assert leaky == []
            assert [name for name, one in answers.items() if one.status_code >= 500] == []
    assert dump(bob) == before
    assert dump(people.own) == own_before
    with people.call("bob") as client:
        shown = {name for name, one in Walk(client, things).run().items() if CRYSTAL in one.text}
    # The same walk with the right token finds it, so the one above was no walk in the dark.
    assert shown >= {
        "GET /api/memory/main", "GET /api/memory/facts", "GET /api/memory/facts/{id}",
        "GET /api/memory/search", "GET /api/memory/why", "GET /api/memory/changes",
        "GET /api/memory/pending", "GET /api/memory/daily/{date}", "GET /api/conversations",
        "GET /api/conversations/{key}", "GET /api/conversations/{key}/export",
        "GET /api/schedules", "POST /api/prompt/preview", "POST /api/chat",
        "POST /v1/chat/completions",
    }  # fmt: skip
    bob.close(flush=False)


def test_tools_of_mcp_are_those_of_the_tokens_space(people: SpacesServer) -> None:
    with closing(people.own.open_space("bob")) as bob:
        fill(bob)
    call = {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "search_memory", "arguments": {"query": QUESTION}},
    }  # fmt: skip
    accept = "application/json, text/event-stream"
    with people.call("anna", Accept=accept) as anna, people.call("bob", Accept=accept) as bobs:
        assert CRYSTAL not in anna.post("/mcp", json=call).text
        assert CRYSTAL in bobs.post("/mcp", json=call).text


def test_events_of_a_space_are_heard_in_no_other(people: SpacesServer) -> None:
    with (
        people.call("anna") as anna,
        people.call("bob") as bob,
        anna.stream("GET", "/api/events") as heard,
    ):
        lines = heard.iter_lines()
        assert next(lines) == "event: hello"
        bob.post("/api/memory/facts", json={"content": FACT})
        bob.post("/api/memory/facts", json={"content": "another fact of Bob's"})
        anna.post("/api/memory/facts", json={"content": "a fact of Anna's"})
        told = next(one for one in lines if '"facts":' in one)
        assert json.loads(told.removeprefix("data: "))["facts"] == 1


@pytest.mark.parametrize(
    ("named", "status"),
    [("anna", 200), ("bob", 403), ("default", 403), ("../bob", 422), ("_operator", 422)],
)
def test_a_spaces_token_names_no_other_space(
    on_files: SpacesServer, named: str, status: int
) -> None:
    with on_files.call("anna", Turnleaf_Space=named) as anna:
        answer = anna.get("/api/memory/facts")
    assert answer.status_code == status
    assert answer.json().get("code") == {403: "other-space", 422: "invalid"}.get(status)


def test_the_operators_token_names_a_space_and_has_the_servers_own_without(
    people: SpacesServer,
) -> None:
    with closing(people.own.open_space("小美")) as mei:
        fill(mei)
    with people.call(None) as operator:
        assert CRYSTAL not in operator.get("/api/memory/main").text
        named = {b"Turnleaf-Space": "小美".encode()}
        assert CRYSTAL in operator.get("/api/memory/main", headers=named).text
        assert operator.get("/api/operator").json() == {"operator": True}


def test_the_token_of_the_data_folder_is_the_operators(tmp_path: Path) -> None:
    with serve_people(tmp_path, "files", token=OPERATORS_TOKEN) as people:
        with closing(people.own.open_space("bob")) as bob:
            fill(bob)
        with people.call_with(OPERATORS_TOKEN, Turnleaf_Space="bob") as operator:
            assert CRYSTAL in operator.get("/api/memory/main").text
            made = operator.post("/api/tokens", json={"space": "bob"})
        with people.call_with(made.json()["token"]) as bobs:
            assert CRYSTAL in bobs.get("/api/memory/main").text
        with people.call_with(None) as nobody:
            assert nobody.get("/api/memory/main").status_code == 401


def test_from_the_first_token_on_nobody_is_answered_without_one(on_files: SpacesServer) -> None:
    with on_files.call_with(None) as nobody, on_files.call_with("sk-anything") as other:
        assert nobody.get("/api/memory/facts").status_code == 200
        assert nobody.get("/api/memory/facts", headers={"Turnleaf-Space": "bob"}).status_code == 403
        assert other.get("/v1/models").status_code == 200
        with operating(Running(on_files.url, Path(), on_files.own)) as operator:
            assert operator.post("/api/tokens", json={"space": "bob"}).status_code == 201
            for client in (nobody, other):
                answer = client.get("/api/memory/facts")
                assert answer.status_code == 401
                assert "operator" in answer.json()["detail"]
            assert operator.get("/api/memory/facts").status_code == 200
            assert nobody.get("/healthz").status_code == 200


def test_only_the_operator_makes_lists_and_revokes_tokens_and_sets_limits(
    people: SpacesServer,
) -> None:
    with people.call("bob") as bob, people.call(None) as operator:
        for method, path, body in [
            ("GET", "/api/tokens", None),
            ("POST", "/api/tokens", {"space": "anna"}),
            ("DELETE", f"/api/tokens/{people.tokens.list_all()[-1].id}", None),
            ("GET", "/api/spaces/bob", None),
            ("PATCH", "/api/spaces/bob", {"messages": 0}),
            ("PUT", "/api/memory/config", {"enabled": False}),
            ("GET", "/a-route-of-tomorrow", None),
        ]:
            refused = bob.request(method, path, json=body)
            assert (refused.status_code, refused.json()["code"]) == (403, "operator-only"), path
        made = operator.post("/api/tokens", json={"space": "anna", "name": "手機"}).json()
        assert made["token"].startswith(f"tl_{made['id']}_")
        listed = operator.get("/api/tokens").text
        assert made["token"] not in listed
        assert "手機" in listed
        assert operator.delete(f"/api/tokens/{made['id']}").status_code == 204
        assert operator.delete(f"/api/tokens/{made['id']}").status_code == 404
        changed = operator.patch("/api/spaces/anna", json={"messages": 7}).json()
        assert (changed["messages"], changed["turnsAtOnce"]) == (7, 4)
        assert read_limits(people.own.stores.operator_records, "anna").messages == 7


def test_a_space_is_not_told_the_operators_addresses_people_and_places(
    on_files: SpacesServer,
) -> None:
    on_files.own.stores.config.change(
        {"slackSpaces": "U012AB3CD=carol", "modelUrl": "http://10.1.2.3:1234/v1"}
    )
    folder = str(on_files.own.folder.path)
    with on_files.call("bob") as bob, on_files.call(None) as operator:
        for path in (
            "/api/memory/config", "/api/memory/config/settings", "/api/status", "/api/models",
        ):  # fmt: skip
            text = bob.get(path).text
            assert [one for one in ("carol", "10.1.2.3", folder) if one in text] == [], path
        assert "carol" in operator.get("/api/memory/config").text


def test_a_token_that_is_over_wrong_or_revoked_is_refused(people: SpacesServer) -> None:
    token, text = people.tokens.add("bob", ends=local_now().date())
    assert token.ends_at is not None
    later = Tokens(people.own.stores.operator_records, now=lambda: token.ends_at or local_now())
    assert later.find(text) is None
    with people.call_with(text) as bob, people.call_with(text[:-1] + "~") as wrong:
        assert bob.get("/api/memory/facts").status_code == 200
        assert wrong.get("/api/memory/facts").status_code == 401
        with people.call(None) as operator:
            operator.delete(f"/api/tokens/{token.id}")
        assert bob.get("/api/memory/facts").status_code == 401


def test_too_many_wrong_tokens_are_slowed_down(on_files: SpacesServer) -> None:
    on_files.tokens.add("bob")
    answers = []
    for number in range(11):
        with on_files.call_with(f"tl_bcdfg_{number:040}") as guessing:
            answers.append(guessing.get("/api/memory/facts"))
    assert [one.status_code for one in answers] == [401] * 10 + [429]
    assert "Retry-After" in answers[-1].headers


def list_open_spaces(folder: Path) -> set[str]:
    """Return the spaces of which this process has a file open."""
    opened = set()
    for one in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # Another thread has closed it meanwhile.
            file = one.readlink()
            opened |= {file.relative_to(folder).parts[0]} if file.is_relative_to(folder) else set()
    return opened


def test_many_spaces_are_served_and_few_are_open(on_files: SpacesServer) -> None:
    names = [f"s{number}" for number in range(20)]
    for name in names:
        with on_files.call(name) as client:
            client.post("/api/memory/facts", json={"content": f"I am {name}"})
    # A request is answered before its space is closed, if that has to be.
    end = time.monotonic() + DEADLINE_SECONDS
    while len(opened := list_open_spaces(on_files.own.folder.path / "spaces")) > MOST_OPEN + 1:
        assert time.monotonic() < end, opened
    with on_files.call("s3") as client:
        assert [one["content"] for one in client.get("/api/memory/facts").json()["facts"]] == [
            "I am s3"
        ]


# Limits


def test_requests_over_the_limit_are_told_when_to_come_back(people: SpacesServer) -> None:
    set_limits(people.own.stores.operator_records, "bob", requests_per_minute=3)
    with people.call("bob", Accept_Language="zh-TW") as bob, people.call("anna") as anna:
        answers = [bob.get("/api/memory/facts") for _ in range(4)]
        assert [one.status_code for one in answers] == [200, 200, 200, 429]
        assert answers[-1].json()["code"] == "limit-reached"
        assert re.search(r"每分鐘.*3", answers[-1].json()["detail"])
        assert 1 <= int(answers[-1].headers["Retry-After"]) <= 60
        assert anna.get("/api/memory/facts").status_code == 200


@pytest.mark.parametrize("name", ["model_calls_per_day", "model_tokens_per_day"])
def test_a_space_that_has_asked_enough_today_is_told_so(tmp_path: Path, name: str) -> None:
    with serve_people(tmp_path, "files", ScriptedModel("hello")) as people:
        set_limits(people.own.stores.operator_records, "bob", **{name: 1})
        with people.call("bob") as bob, people.call(None) as operator:
            assert bob.post("/api/chat", json={"message": "hi"}).status_code == 200
            for path, body in (
                ("/api/chat", {"message": "hi"}),
                ("/v1/chat/completions", {"model": "turnleaf", "messages": [
                    {"role": "user", "content": "hi"}]}),
            ):  # fmt: skip
                refused = bob.post(path, json=body)
                assert refused.status_code == 429
                assert 1 <= int(refused.headers["Retry-After"]) <= 86_401
                assert "for today; the limit resets at 00:00 UTC" in refused.json()["detail"]
            assert operator.get("/api/spaces/bob").json()["callsToday"] == 1
            assert operator.get("/api/spaces/bob").json()["tokensToday"] > 0
            assert operator.post("/api/chat", json={"message": "hi"}).status_code == 200


def test_a_space_that_has_as_many_bytes_as_it_may_takes_more_when_some_are_erased(
    people: SpacesServer,
) -> None:
    set_limits(people.own.stores.operator_records, "bob", bytes=260_000)
    long = "".join(f"{number:x} " for number in range(27_000))
    assert len(long) > 120_000
    with people.call("bob") as bob, closing(people.own.open_space("bob")) as space:
        for key in ("web:1", "web:2"):
            assert bob.post("/api/chat", json={"message": "hi", "key": key}).status_code == 200
            space.conversations.add_exchange(key, long, "ok")
        full = bob.post("/api/chat", json={"message": "hi", "key": "web:3"})
        assert (full.status_code, full.json()["code"]) == (429, "space-full")
        assert full.headers["Retry-After"] == "3600"
        assert "limit of 260,000 bytes" in full.json()["detail"]
        assert bob.delete("/api/conversations/web:2").status_code == 204
        assert bob.post("/api/chat", json={"message": "hi", "key": "web:3"}).status_code == 200


def test_a_full_space_keeps_what_it_has_and_takes_no_more(people: SpacesServer) -> None:
    set_limits(people.own.stores.operator_records, "bob", messages=2)
    with people.call("bob") as bob:
        assert bob.post("/api/chat", json={"message": "hi", "key": "web:1"}).status_code == 200
        full = bob.post("/api/chat", json={"message": "hi", "key": "web:2"})
        assert (full.status_code, full.json()["code"]) == (429, "space-full")
        assert full.headers["Retry-After"] == "3600"
        assert "limit of 2 messages" in full.json()["detail"]
        upload = {"Content-Type": "application/octet-stream"}
        sent = bob.post("/api/import?name=a.json", content=b"[]", headers=upload)
        assert sent.status_code == 429
        assert len(bob.get("/api/conversations/web:1").json()["messages"]) == 2
        assert bob.delete("/api/conversations/web:1").status_code == 204
        assert bob.post("/api/chat", json={"message": "hi", "key": "web:2"}).status_code == 200


def test_a_space_has_no_more_answers_at_once_than_it_may(tmp_path: Path) -> None:
    with serve_people(tmp_path, "files", EndlessModel()) as people:
        set_limits(people.own.stores.operator_records, "bob", turns_at_once=1)
        with (
            people.call("bob") as bob,
            people.call("anna") as anna,
            bob.stream("POST", "/api/chat", json={"message": "hi"}) as first,
        ):
            assert first.status_code == 200
            second = bob.post("/api/chat", json={"message": "hi"})
            assert (second.status_code, second.json()["code"]) == (429, "limit-reached")
            assert second.headers["Retry-After"] == "1"
            with anna.stream("POST", "/api/chat", json={"message": "hi"}) as other:
                assert other.status_code == 200


def test_the_last_use_of_a_token_is_kept_to_the_minute(on_files: SpacesServer) -> None:
    moment = local_now()
    times = iter([0.0, 59.0, 61.0])
    seconds = [0.0]
    tokens = Tokens(
        on_files.own.stores.operator_records,
        now=lambda: moment + timedelta(seconds=seconds[0]),
        clock=lambda: seconds[0],
    )
    token, _ = tokens.add("bob")
    used = []
    for one in times:
        seconds[0] = one
        tokens.note_use(token)
        tokens.close()
        used.append(tokens.list_all()[0].last_used_at)
    assert [to_iso(one) for one in used if one] == [
        to_iso(moment), to_iso(moment), to_iso(moment + timedelta(seconds=61)),
    ]  # fmt: skip
