"""Whatever the API's own description allows is answered as it says, and the data stays whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
import pytest
import schemathesis
from schemathesis import engine
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events
from schemathesis.engine.recorder import ScenarioRecorder

from tests.effort import LONG
from tests.faces.http.conftest import DEADLINE_SECONDS, RunningServer, Serve
from turnleaf.doctor_report import make_doctor_report

EXAMPLES = 30 if LONG else 1
OF_SCHEMA = "response_schema_conformance"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    OF_SCHEMA,
    "response_headers_conformance",
    "unsupported_method",
)
ENDLESS = "GET /api/events"
REPLACING = "PUT /api/memory/main"
LAMPS = [f"客廳的第 {number} 盞燈叫做小明" for number in range(40)]
PROSE = "這一行不是事實。"
PLANTED = f"# Memory\n\n{PROSE}\n\n## 家\n\n" + "".join(f"- {lamp}\n" for lamp in LAMPS)
LOG = "# 2026-01-02\n\n- 08:30 換了客廳的燈泡\n"


@dataclass(slots=True)
class ContractTrial:
    """What was asked of a server, and what was wrong with its answers."""

    operations: set[str] = field(default_factory=set)
    changing: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)


def try_operations(server: RunningServer, wanted: set[str]) -> ContractTrial:
    """Ask for what the description of these operations allows, and for some that it forbids."""
    result = ContractTrial()
    for event in engine.from_schema(load_schema(server, wanted)).execute():
        match event:
            case events.ScenarioFinished():
                note(event.recorder, result)
            case events.NonFatalError() | events.FatalError():
                result.complaints.append(repr(event))
    return result


def load_schema(server: RunningServer, wanted: set[str]) -> Any:  # noqa: ANN401 - its own class
    settings = {
        "checks": {"enabled": False, **{name: {"enabled": True} for name in CHECKS}},
        "generation": {"deterministic": True, "database": "none", "max-examples": EXAMPLES},
        "phases": {"coverage": {"enabled": False}},
        "request-timeout": DEADLINE_SECONDS,
        "operations": [
            {"include-name": sorted(operations(server) - wanted), "enabled": False},
            # What is described is the stream as one string, and that is taken for each event.
            {"include-name": "POST /api/chat", "checks": {OF_SCHEMA: {"enabled": False}}},
        ],
    }
    config = SchemathesisConfig.from_dict(settings)
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json", config=config)


def note(recorder: ScenarioRecorder, result: ContractTrial) -> None:
    for number, case in recorder.cases.items():
        asked = recorder.interactions[number].request
        result.operations.add(case.value.operation.label)
        if asked.method != "GET":
            result.changing.append(f"{asked.method} {asked.uri} {asked.body!r}")
    result.complaints += [
        f"{node.failure_info.failure}\n{node.failure_info.code_sample}"
        for nodes in recorder.checks.values()
        for node in nodes
        if node.failure_info
    ]


def asking(server: RunningServer) -> httpx2.Client:
    return httpx2.Client(base_url=server.url, timeout=DEADLINE_SECONDS, trust_env=False)


def operations(server: RunningServer) -> set[str]:
    """Name everything that is described."""
    with asking(server) as client:
        paths = client.get("/openapi.json").json()["paths"]
    return {f"{method.upper()} {path}" for path, item in paths.items() for method in item}


@pytest.fixture
def server(data: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """A server that has a memory, that asks nobody, and whose files must be in order in the end."""
    monkeypatch.setenv("TURNLEAF_MODEL", "recall")
    monkeypatch.setenv("EMBEDDINGS", "off")
    memory = data / "prompts" / "memory"
    (memory / "daily").mkdir(parents=True, exist_ok=True)
    (memory / "MEMORY.md").write_text(PLANTED, "utf-8")
    (memory / "daily" / "2026-01-02.md").write_text(LOG, "utf-8")
    server = serve()
    yield server
    for line in (memory / "changes.jsonl").read_text("utf-8").splitlines():
        assert json.loads(line)["file"] == "MEMORY.md"
    assert make_doctor_report(server.assistant.stores)["problems"] == []


def test_every_answer_is_as_described_and_no_fact_is_lost(server: RunningServer) -> None:
    memory = server.assistant.memory
    ids = {one.content: one.id for one in memory.get_all()}
    wanted = operations(server) - {ENDLESS, REPLACING}
    result = try_operations(server, wanted)
    assert result.complaints == []
    assert result.operations == wanted
    changing = "\n".join(result.changing)
    unnamed = {lamp for lamp in LAMPS if ids[lamp] not in changing}
    assert unnamed
    assert unnamed <= {one.content for one in memory.get_all()}
    assert PROSE in server.memory.read_text("utf-8")
    if "PATCH" not in changing or "/api/memory/daily/2026-01-02" not in changing:
        assert (memory.location.parent / "daily" / "2026-01-02.md").read_text("utf-8") == LOG


def test_whatever_replaced_the_memory_can_be_taken_back(server: RunningServer) -> None:
    result = try_operations(server, {REPLACING})
    assert result.complaints == []
    assert result.operations == {REPLACING}
    with asking(server) as client:
        taken_back = [client.post("/api/memory/undo").status_code]
        while taken_back[-1] == 200:
            taken_back.append(client.post("/api/memory/undo").status_code)
    assert taken_back[0] == 200
    assert taken_back[-1] == 404
    assert server.memory.read_text("utf-8") == PLANTED


def test_the_endless_answer_is_as_described(server: RunningServer) -> None:
    assert ENDLESS in operations(server)
    server.assistant.memory.add("廚房的燈叫做小華")
    with asking(server) as client, client.stream("GET", "/api/events") as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert next(answer.iter_lines()) == "event: hello"
