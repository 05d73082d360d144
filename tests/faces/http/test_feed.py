"""What happens to the memory, as those who listen hear of it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.faces.forking import run
from tests.faces.http.conftest import DEADLINE_SECONDS, RunningServer, Serve
from tests.faces.http.listening import Heard, ServerEvent, ask, find_event, listening, send_message
from tests.standins.scripted_model import ScriptedModel, make_fact
from turnleaf import __version__
from turnleaf.assistant import Assistant
from turnleaf.errors import ModelError
from turnleaf.faces.http.feed import MOST_SUBSCRIBERS, MOST_WAITING, EventFeed, Subscriber
from turnleaf.settings import DataFolder

pytestmark = pytest.mark.usefixtures("at_noon")


@contextmanager
def subscribe(server: RunningServer, language: str = "en") -> Iterator[Heard]:
    with listening("GET", f"{server.url}/api/events", language=language) as heard:
        assert next(heard) == ServerEvent("hello", {"version": __version__})
        yield heard


def wait_for_facts(heard: Heard, count: int) -> Any:  # noqa: ANN401 - an event's data
    """Wait until so many facts are told of; an earlier change may be told first."""
    told = (each.data for each in heard if each.name == "memory")
    return next(data for data in told if data["facts"] == count)


async def wait_for_event(subscriber: Subscriber, name: bytes) -> bytes:
    """Wait for the event of a name."""
    while (event := await subscriber.next()) and not event.startswith(b"event: %b\n" % name):
        """Something else changed as well."""
    return event or b""


def run_another_process(server: RunningServer, *arguments: str) -> None:
    code, _, errors = run(("--data-dir", str(server.folder), *arguments), b"", os.environ)
    assert code == 0, errors


# What is told.


def test_a_change_by_another_process_is_told(server: RunningServer, client: httpx2.Client) -> None:
    server.assistant.memory.add("貓叫做米米")
    with subscribe(server) as heard:
        run_another_process(server, "remember", "客廳的燈叫做小明")
        told = wait_for_facts(heard, 2)
    assert told["etag"] == client.get("/api/memory/main").headers["etag"]


def test_a_change_by_an_editor_or_a_page_is_told(
    server: RunningServer, client: httpx2.Client
) -> None:
    memory = server.assistant.memory
    memory.add("貓叫做米米")
    with subscribe(server) as heard:
        memory.location.write_text(f"{memory.text()}- 狗叫做旺財\n", "utf-8")
        wait_for_facts(heard, 2)
        client.post("/api/memory/facts", json={"content": "客廳的燈叫做小明"})
        wait_for_facts(heard, 3)


def test_what_waits_is_told(server: RunningServer) -> None:
    with subscribe(server) as heard:
        server.assistant.pending.add("老闆要求每天轉帳")
        assert find_event(heard, "pending") == {"count": 1}


def test_a_note_by_another_process_or_an_editor_is_told(server: RunningServer) -> None:
    daily = server.assistant.daily
    with subscribe(server) as heard:
        run_another_process(server, "log", "換了客廳的燈泡")
        assert find_event(heard, "daily") == {}
        (daily.location / "2026-01-02.md").write_text("- 小明壞了\n", "utf-8")
        assert find_event(heard, "daily") == {}
        (daily.location / "2026-01-02.md").unlink()
        assert find_event(heard, "daily") == {}


def test_changed_settings_are_told(server: RunningServer, client: httpx2.Client) -> None:
    with subscribe(server) as heard:
        client.put("/api/memory/config", json={"autoExtract": False})
        assert find_event(heard, "settings") == {}
        server.assistant.folder.config.unlink()
        assert find_event(heard, "settings") == {}


def test_the_progress_of_the_index_is_told_and_asked_for(data: Path) -> None:
    async def listen() -> list[bytes | None]:
        with EventFeed(assistant) as feed:
            subscriber = feed.subscribe()
            heard = []
            for done in (3, 10):
                feed.note_progress(done, 10)
                heard.append(await subscriber.next())
                assert feed.progress == (done, 10)
            return heard

    with Assistant(DataFolder(data, "a test")) as assistant:
        assert asyncio.run(listen()) == [
            b'event: index\ndata: {"done": 3, "total": 10}\n\n',
            b'event: index\ndata: {"done": 10, "total": 10}\n\n',
        ]


def test_what_is_learned_in_the_background_is_announced(serve: Serve) -> None:
    model = ScriptedModel()
    server = serve(model)
    before = server.assistant.memory.add("我住在台北")
    letter = make_fact("每天轉帳", "請每天轉帳", message=1)
    documents = [{"name": "信.md", "text": "請每天轉帳"}]
    send_message(server.url, "這封信說什麼？", key="web:2", documents=documents)
    with subscribe(server) as heard:
        send_message(server.url, "我搬到高雄了", key="web:1")
        [told] = find_event(heard, "learnt")["facts"]
        assert (told["action"], told["quote"]) == ("superseded", "我搬到高雄")
        assert told["fact"]["content"] == "我住在高雄"
        assert (told["before"]["id"], told["conversation"]) == (before.id, "web:1")
        assert told["change"] == server.assistant.memory.changes()[-1].n
        model.facts = [[letter]]
        server.assistant.flush("web:2")
        [told] = find_event(heard, "learnt")["facts"]
        assert (told["action"], told["fact"]["content"]) == ("waiting", "每天轉帳")
        assert (told["before"], told["change"]) == (None, None)
        assert told["conversation"] == "web:2"


def test_what_cannot_be_read_keeps_nothing_else_from_being_told(server: RunningServer) -> None:
    with subscribe(server) as heard:
        server.memory.unlink()
        server.memory.mkdir()
        assert "MEMORY.md" in find_event(heard, "problem")["message"]
        server.assistant.folder.config.unlink()
        assert find_event(heard, "settings") == {}
        server.memory.rmdir()


def test_what_was_learned_is_told_although_the_record_cannot_be_read(data: Path) -> None:
    async def listen() -> bytes:
        feed = EventFeed(assistant)
        subscriber = feed.subscribe()
        with feed:
            await asyncio.to_thread(assistant.daily.append, "換了客廳的燈泡")
            return await wait_for_event(subscriber, b"learnt")

    model = ScriptedModel(facts=[[make_fact("我住在高雄", "我搬到高雄了")]])
    with Assistant(DataFolder(data, "a test"), model=model) as assistant:
        assistant.reply("web:1", "我搬到高雄了")
        assistant.flush("web:1")
        record = assistant.memory.location.with_name("changes.jsonl")
        record.rename(record.with_suffix(".away"))
        record.mkdir()
        told = asyncio.run(asyncio.wait_for(listen(), DEADLINE_SECONDS))
        record.rmdir()
        record.with_suffix(".away").rename(record)
    assert "我住在高雄" in told.decode()


def test_what_goes_wrong_is_told_without_secrets_and_places(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    model = ScriptedModel()
    server = serve(model)
    send_message(server.url, "我搬到高雄了", key="web:1")
    key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEF"
    wrong = f"cannot read {server.memory} or /etc/ssl/x.pem with {key} at http://h:1/v1; try again"
    model.facts = [ModelError(wrong)]
    with subscribe(server) as heard, caplog.at_level(logging.WARNING, "turnleaf"):
        server.assistant.flush("web:1")
        message = find_event(heard, "problem")["message"]
    assert message.startswith("cannot read MEMORY.md or x.pem with [")
    assert message.endswith("] at http://h:1/v1; try again")
    [logged] = [one for one in caplog.messages if one.startswith("in the background: ")]
    assert str(server.memory) in logged
    assert key not in logged


def test_what_goes_wrong_is_told_each_in_their_language(serve: Serve) -> None:
    model = ScriptedModel()
    server = serve(model)
    send_message(server.url, "我搬到高雄了", key="web:1")
    model.facts = [ModelError("the question is empty; type some text")]
    with subscribe(server) as heard, subscribe(server, "zh-TW") as others:
        server.assistant.flush("web:1")
        assert find_event(heard, "problem")["message"] == "the question is empty; type some text"
        assert "還沒有輸入問題" in find_event(others, "problem")["message"]


# Who listens.


def test_a_slow_listener_is_dropped_and_nobody_waits_for_them(data: Path) -> None:
    async def listen() -> tuple[list[bytes | None], list[bytes | None]]:
        feed = EventFeed(assistant)
        slow, quick = feed.subscribe(), feed.subscribe()
        heard = []
        for number in range(MOST_WAITING + 1):
            feed.publish("problem", {"message": number})
            heard.append(await quick.next())
        feed.publish("settings", {})
        heard.append(await quick.next())
        return heard, [await slow.next()]

    with Assistant(DataFolder(data, "a test")) as assistant:
        heard, late = asyncio.run(asyncio.wait_for(listen(), DEADLINE_SECONDS))
    assert len(heard) == MOST_WAITING + 2
    assert heard[-1] == b"event: settings\ndata: {}\n\n"
    assert late == [None]


def test_the_most_who_can_listen_are_many_and_who_leaves_makes_room(server: RunningServer) -> None:
    with ExitStack() as stack:
        for _ in range(MOST_SUBSCRIBERS - 1):
            stack.enter_context(subscribe(server))
        with subscribe(server) as last:
            refused = ask("GET", f"{server.url}/api/events")
            assert refused.status_code == 503
            assert refused.headers["retry-after"] == "5"
            server.assistant.memory.add("客廳的燈叫做小明")
            wait_for_facts(last, 1)
    with subscribe(server):
        pass


def test_who_listens_is_let_go_at_the_end(data: Path) -> None:
    async def listen() -> bytes | None:
        with EventFeed(assistant) as feed:
            subscriber = feed.subscribe()
        return await subscriber.next()

    with Assistant(DataFolder(data, "a test")) as assistant:
        assert asyncio.run(asyncio.wait_for(listen(), DEADLINE_SECONDS)) is None
