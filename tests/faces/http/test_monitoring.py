"""Whoever runs the server sees whether it is ready and what it does, not what is said."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Semaphore

import httpx2
import pytest

from tests.faces.http.conftest import (
    DEADLINE_SECONDS,
    RunningServer,
    Serve,
    calling,
    make_data_folder,
    operating,
    serving,
)
from tests.postgres import empty_database, make_admin
from tests.standins.chat_api import ChatApi
from turnleaf import metrics
from turnleaf.assistant import Assistant
from turnleaf.faces.http.monitoring import FRESH_SECONDS, JsonLines, Shared, log_as_json
from turnleaf.llm.api import ApiModel
from turnleaf.store.contracts import Stores

TOKEN = "a-token-that-only-the-operator-knows-0123456789"  # noqa: S105 - of no other server
SECRETS = ("櫻花祕密", "swordfish-4711", f"sk-ant-{'haddock' * 4}")
NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (-?\d+(?:\.\d+(?:e-?\d+)?)?)")
PIECES = ("_bucket", "_sum", "_count")


def parse(text: str) -> dict[str, float]:
    """Return the samples by name and labels; fail on what Prometheus would not take."""
    assert text.endswith("\n")
    kinds: dict[str, str] = {}
    samples: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in kinds
            assert kind in {"counter", "gauge", "histogram"}
            kinds[name] = kind
        elif line.startswith("# HELP "):
            assert re.fullmatch(rf"# HELP {NAME} [^\n\\]+", line)
        else:
            found = SAMPLE.fullmatch(line)
            assert found, line
            family = max((one for one in kinds if found[1].startswith(one)), key=len)
            is_histogram = kinds[family] == "histogram"
            assert found[1].removeprefix(family) in (PIECES if is_histogram else ("",))
            assert kinds[family] == "counter" or not found[1].endswith("_total")
            series = f"{found[1]}{{{found[2] or ''}}}"
            assert series not in samples
            samples[series] = float(found[3])
    check_histograms(samples, [name for name, kind in kinds.items() if kind == "histogram"])
    return samples


def check_histograms(samples: dict[str, float], names: list[str]) -> None:
    for name in names:
        counts = {one: value for one, value in samples.items() if one.startswith(f"{name}_count{{")}
        for series, count in counts.items():
            start = series.replace("_count{", "_bucket{").rstrip("}")
            buckets = [value for one, value in samples.items() if one.startswith(f"{start},le=")]
            assert buckets == sorted(buckets)
            assert buckets[-1] == samples[f'{start},le="+Inf"}}'] == count


def read(client: httpx2.Client) -> dict[str, float]:
    answer = client.get("/metrics")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == metrics.CONTENT_TYPE
    return parse(answer.text)


def test_the_figures_are_in_the_form_that_prometheus_takes(operator: httpx2.Client) -> None:
    found = read(operator)
    for name in (
        "turnleaf_turns_under_way", "turnleaf_learning_queue_messages",
        "turnleaf_index_lag_seconds", "turnleaf_index_pending_passages",
        "process_cpu_seconds_total", "process_resident_memory_bytes", "process_open_fds",
    ):  # fmt: skip
        assert found[f"{name}{{}}"] >= 0
    assert found["turnleaf_stores_measured{}"] == 1


def test_requests_are_counted_by_the_template_of_their_route(operator: httpx2.Client) -> None:
    read(operator)
    before = read(operator)
    operator.get("/api/conversations/web:swordfish-4711")
    operator.get("/swordfish-4711")
    operator.request("SWORDFISH", "/healthz")
    operator.get("/healthz")
    after = read(operator)
    grown = {one: after[one] - before.get(one, 0) for one in after if "requests_total" in one}
    name = "turnleaf_http_requests_total"
    assert {one: value for one, value in grown.items() if value and "/metrics" not in one} == {
        f'{name}{{route="/api/conversations/{{key:path}}",method="GET",status="4xx"}}': 1,
        f'{name}{{route="-",method="GET",status="4xx"}}': 1,
        f'{name}{{route="/healthz",method="other",status="4xx"}}': 1,
        f'{name}{{route="/healthz",method="GET",status="2xx"}}': 1,
    }
    took = 'turnleaf_http_request_seconds_count{route="/healthz",method="GET"}'
    assert after[took] == before.get(took, 0) + 1
    assert "swordfish" not in str(after).lower()


def test_only_the_operator_sees_the_figures(serve: Serve, client: httpx2.Client) -> None:
    refused = client.get("/metrics")
    assert (refused.status_code, refused.json()["code"]) == (403, "operator-only")
    with calling(serve(token=TOKEN)) as stranger:
        assert stranger.get("/metrics").status_code == 401
        bearer = {"Authorization": f"Bearer {TOKEN}"}
        assert parse(stranger.get("/metrics", headers=bearer).text)


def test_what_waits_to_be_learned_from_is_counted(
    server: RunningServer, operator: httpx2.Client
) -> None:
    server.assistant.stores.config.change({"extractIntervalSeconds": 3600})
    server.assistant.reply("web:1", "我想聊聊天氣")
    assert read(operator)["turnleaf_learning_queue_messages{}"] == 2


def test_what_is_due_in_other_spaces_is_counted(data: Path, operator: httpx2.Client) -> None:
    before = datetime.now(UTC) - timedelta(hours=2)
    with Stores.open(data, space="anna", now=lambda: before) as anna:
        anna.schedules.add("ask", "every 1h", zone="UTC")
    assert read(operator)["turnleaf_work_due{}"] == 1


def test_turns_and_requests_to_models_are_counted_by_how_they_ended(
    serve: Serve, operator: httpx2.Client
) -> None:
    before = read(operator)
    with ChatApi() as api:
        api.answer("好")
        api.fail(401)
        served = serve(ApiModel("compatible", "test", url=api.url))
        with operating(served) as client:
            for _ in range(2):
                client.post("/api/chat", json={"message": SECRETS[0], "key": "web:1"})
            after = read(client)
    assert_grown(before, after, {
        'turnleaf_turns_total{outcome="whole"}': 1,
        'turnleaf_turns_total{outcome="failed"}': 1,
        'turnleaf_model_calls_total{provider="compatible",purpose="answer",outcome="ok"}': 1,
        'turnleaf_model_calls_total{provider="compatible",purpose="answer",outcome="key-refused"}':
            1,
    })  # fmt: skip
    tokens = 'turnleaf_model_tokens_total{provider="compatible",purpose="answer",direction="input"}'
    assert after[tokens] > before.get(tokens, 0)
    assert after["turnleaf_turns_under_way{}"] == 0


def assert_grown(before: dict[str, float], after: dict[str, float], by: dict[str, int]) -> None:
    assert {one: after.get(one, 0) - before.get(one, 0) for one in by} == by


def test_a_turn_that_is_under_way_or_stopped_is_counted_as_such() -> None:
    def count() -> float:
        return parse(metrics.write_metrics({}))["turnleaf_turns_under_way{}"]

    def count_stopped() -> float:
        return parse(metrics.write_metrics({})).get('turnleaf_turns_total{outcome="stopped"}', 0)

    before, ended = count(), count_stopped()
    turn = metrics.count_turn(one for one in "ab")
    assert next(turn) == "a"
    assert count() == before + 1
    turn.close()
    assert (count(), count_stopped()) == (before, ended + 1)


def test_nothing_that_is_sent_comes_into_a_log_line_or_a_label(
    operator: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    operations = operator.get("/openapi.json").json()["paths"]
    with caplog.at_level(logging.INFO, "turnleaf"):
        for path, methods in operations.items():
            for method in {*methods} - {"parameters"}:
                if path not in {"/api/events", "/api/operator"}:
                    send_secrets(operator, method.upper(), path)
    lines = [JsonLines().format(record) for record in caplog.records]
    assert {json.loads(line)["logger"] for line in lines} >= {"turnleaf.http"}
    assert len(lines) > len(operations)
    shown = "\n".join([*lines, operator.get("/metrics").text])
    assert [secret for secret in SECRETS if secret in shown] == []


def send_secrets(client: httpx2.Client, method: str, path: str) -> None:
    """Send known strings in every place of a request."""
    for body in (f'{{"content": "{SECRETS[0]}", "message": "{SECRETS[0]}"}}', SECRETS[0]):
        client.request(
            method,
            re.sub(r"\{\w+\}", SECRETS[1], path),
            params={"q": SECRETS[0], "key": SECRETS[1]},
            headers={
                "Content-Type": "application/json",
                "Authorization": f"Bearer {SECRETS[2]}",
                "X-Request-ID": f"{SECRETS[1]} {SECRETS[2]}",
                "User-Agent": SECRETS[1],
            },
            content=None if method == "GET" else body.encode(),
        )


def test_an_unexpected_error_is_logged_as_json_without_its_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    try:
        int(SECRETS[0])
    except ValueError:
        logging.getLogger("turnleaf").exception("it failed with the key %s", SECRETS[2])
    line = json.loads(JsonLines().format(caplog.records[-1]))
    assert line["error"] == "ValueError"
    assert line["places"][-1].startswith("test_monitoring.py:")
    assert (line["level"], line["logger"]) == ("error", "turnleaf")
    assert line["message"].startswith("it failed with the key ")
    assert [one for one in SECRETS if one in str(line)] == []


def test_what_the_pool_of_connections_warns_of_is_a_line_of_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    pool = logging.getLogger("psycopg.pool")
    with log_as_json():
        pool.warning("error connecting in %r: it is gone\n\tDoes it run?", "pool-1")
    (line,) = capsys.readouterr().err.splitlines()
    assert json.loads(line)["logger"] == "psycopg.pool"
    assert "Does it run?" in json.loads(line)["message"]
    assert (pool.handlers, pool.propagate) == ([], True)


def test_a_problem_names_the_id_of_its_request(client: httpx2.Client) -> None:
    for path in ("/nothing", "/api/conversations/web:none", "/metrics"):
        answer = client.get(path, headers={"X-Request-ID": "trace-1"})
        assert answer.headers["x-request-id"] == answer.json()["requestId"] == "trace-1"


def test_a_server_is_ready_while_its_folder_can_be_written(
    serve: Serve, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    served = serve(token=TOKEN)
    with calling(served) as stranger:
        assert stranger.get("/readyz").json() == {"status": "ready"}
    assert not list(data.rglob(".ready*"))
    again = serve(token=TOKEN)
    shutil.rmtree(data)
    with calling(again) as stranger:
        refused = stranger.get("/readyz")
        assert (refused.status_code, refused.json()["code"]) == (503, "storage")
        assert str(data) not in refused.text
    assert str(data) in caplog.text


def test_a_server_is_ready_while_its_database_is_of_the_right_version(tmp_path: Path) -> None:
    address = empty_database()
    admin = make_admin(address)
    with make_data_folder(tmp_path), Assistant(Stores.open(address)) as assistant:
        with serving(assistant) as url, httpx2.Client(base_url=url) as client:
            assert client.get("/readyz").json() == {"status": "ready"}
            assert admin("SELECT count(*) FROM turnleaf.records") == [(0,)]
        admin("INSERT INTO turnleaf.migrations (version, floor) VALUES (9999, 9999)")
        try:
            with serving(assistant) as url, httpx2.Client(base_url=url) as client:
                refused = client.get("/readyz")
        finally:
            admin("DELETE FROM turnleaf.migrations WHERE version = 9999")
    assert refused.status_code == 503
    assert "9999" not in refused.text


def test_the_pool_of_a_database_is_measured(tmp_path: Path) -> None:
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with (
        make_data_folder(tmp_path),
        Assistant(Stores.open(empty_database())) as assistant,
        serving(assistant, token=TOKEN) as url,
        httpx2.Client(base_url=url, headers=headers) as client,
    ):
        found = read(client)
    assert found["turnleaf_pool_max_connections{}"] >= found["turnleaf_pool_connections{}"] >= 1
    assert found["turnleaf_pool_requests_total{}"] >= 1


def test_a_look_that_hangs_is_waited_for_by_nobody_and_not_begun_twice() -> None:
    looks: list[Event] = []
    begun = Semaphore(0)

    def hang() -> str:
        go_on = Event()
        looks.append(go_on)
        begun.release()
        assert go_on.wait(DEADLINE_SECONDS)
        return f"look {len(looks)}"

    async def ask() -> None:
        time = [0.0]
        shared = Shared(hang, lambda: time[0])
        for _ in range(3):
            time[0] += 10 * FRESH_SECONDS
            with pytest.raises(TimeoutError):
                await shared.get(0.001)
        assert begun.acquire(timeout=DEADLINE_SECONDS)
        assert len(looks) == 1
        looks[0].set()
        assert await shared.get(DEADLINE_SECONDS) == "look 1"
        assert await shared.get(DEADLINE_SECONDS) == "look 1"
        time[0] += FRESH_SECONDS
        with pytest.raises(TimeoutError):
            await shared.get(0.001)
        assert begun.acquire(timeout=DEADLINE_SECONDS)
        looks[1].set()
        assert await shared.get(DEADLINE_SECONDS) == "look 2"

    asyncio.run(ask())
