"""The memory file and the daily log are read, written, searched and counted over HTTP."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import httpx2
import pytest

from tests.faces.conftest import Cli
from tests.faces.http.conftest import RunningServer, Serve, calling
from tests.store.older import make_messages, write_conversations
from turnleaf import DailyLog
from turnleaf.core.messages import Message
from turnleaf.faces.http.request_reading import MAX_FILE_BYTES
from turnleaf.store.files.facts import journal

MAIN = "/api/memory/main"
SEARCH = "/api/memory/search"
STATS = "/api/memory/stats"
FACTS = "/api/memory/facts"
UNDO = "/api/memory/undo"
LAMP = "客廳的燈叫做小明"
TEA = "I drink oolong tea in the morning"
TEXT = f"# Memory\n\nMy own words.\n\n## 家\n\n- {LAMP}\n"
JSON = {"content-type": "application/json"}
MARKDOWN = {"content-type": "text/markdown"}


# The file


def test_the_file_is_returned_with_its_version(
    server: RunningServer, client: httpx2.Client
) -> None:
    server.assistant.memory.add(LAMP, "家")
    answer = client.get(MAIN)
    assert answer.json() == {
        "content": server.memory.read_text("utf-8"),
        "etag": answer.headers["etag"],
        "format": "markdown",
        "file": "MEMORY.md",
    }
    assert answer.headers["etag"].startswith('"')


@pytest.mark.parametrize("accept", ["text/markdown", "text/plain", "text/markdown;q=0.9, */*"])
def test_the_raw_file_is_returned_on_request(
    server: RunningServer, client: httpx2.Client, accept: str
) -> None:
    data = f"\ufeff# 記憶\r\n\r\n- {LAMP}\r\n".encode()
    server.memory.parent.mkdir(parents=True, exist_ok=True)
    server.memory.write_bytes(data)
    answer = client.get(MAIN, headers={"accept": accept})
    assert answer.content == data
    assert answer.headers["content-type"] == "text/markdown; charset=utf-8"
    assert answer.headers["etag"] == client.get(MAIN).headers["etag"]


@pytest.mark.parametrize("accept", ["*/*", "text/html", "application/json", ""])
def test_everybody_else_gets_json(visitor: httpx2.Client, accept: str) -> None:
    assert visitor.get(MAIN, headers={"accept": accept}).json()["format"] == "markdown"


def test_who_has_the_version_gets_nothing_anew(
    server: RunningServer, client: httpx2.Client
) -> None:
    etag = client.get(MAIN).headers["etag"]
    for known in (etag, f"W/{etag}", f'"other", {etag}', "*"):
        answer = client.get(MAIN, headers={"if-none-match": known})
        assert (answer.status_code, answer.content) == (304, b"")
        assert answer.headers["etag"] == etag
    server.assistant.memory.add(LAMP)
    assert client.get(MAIN, headers={"if-none-match": etag}).status_code == 200


@pytest.mark.parametrize(
    "sent",
    [
        {"json": {"content": TEXT}},
        {"content": TEXT.encode(), "headers": MARKDOWN},
        {"content": TEXT.encode(), "headers": {"content-type": "text/plain; charset=UTF-8"}},
    ],
)
def test_a_text_is_saved_to_the_byte(
    server: RunningServer, client: httpx2.Client, sent: dict[str, object]
) -> None:
    answer = client.put(MAIN, **sent)  # type: ignore[arg-type]
    assert answer.status_code == 200
    assert server.memory.read_bytes() == TEXT.encode()
    saved = answer.json()
    assert saved["facts"] == 1
    assert saved["etag"] == answer.headers["etag"] == client.get(MAIN).headers["etag"]
    changes = {one["n"]: one["op"] for one in client.get("/api/memory/changes").json()["changes"]}
    assert changes[saved["change"]] == "put"


@pytest.mark.parametrize("text", ["", "\ufeff# 記憶\r\n- 茶\r\n", "no end of line", "- a\r- b\n\n"])
def test_odd_texts_are_saved_to_the_byte_as_well(
    server: RunningServer, client: httpx2.Client, text: str
) -> None:
    assert client.put(MAIN, json={"content": text}).status_code == 200
    assert server.memory.read_bytes() == text.encode()
    assert client.get(MAIN).json()["content"] == text


def test_what_is_the_same_is_no_change(client: httpx2.Client) -> None:
    first = client.put(MAIN, json={"content": TEXT}).json()
    again = client.put(MAIN, json={"content": TEXT}).json()
    assert again == {**first, "change": None}


def test_what_a_text_replaced_is_one_undo_away(
    server: RunningServer, client: httpx2.Client
) -> None:
    server.assistant.memory.add(TEA)
    before = server.memory.read_bytes()
    fact = client.get(FACTS).json()["facts"][0]
    change = client.put(MAIN, json={"content": TEXT}).json()["change"]
    assert [one["content"] for one in client.get(FACTS).json()["facts"]] == [LAMP]
    undone = client.post(UNDO, json={"change": change}).json()
    assert server.memory.read_bytes() == before
    assert undone["etag"] == client.get(MAIN).headers["etag"]
    assert client.get(FACTS).json()["facts"] == [fact]


# Conflicts


def test_a_save_of_the_version_that_was_read_succeeds(client: httpx2.Client) -> None:
    etag = client.get(MAIN).headers["etag"]
    for condition in (etag, f'"other", {etag}', "*"):
        answer = client.put(MAIN, json={"content": TEXT}, headers={"if-match": condition})
        assert answer.status_code == 200
        etag = client.put(MAIN, json={"content": "# Memory\n"}).headers["etag"]


def test_a_save_after_an_editors_save_is_refused_and_loses_nothing(
    server: RunningServer, client: httpx2.Client
) -> None:
    etag = client.put(MAIN, json={"content": TEXT}).headers["etag"]
    edited = TEXT + "- 陽台有三盆花\n"
    server.memory.write_text(edited, "utf-8")
    answer = client.put(MAIN, json={"content": "# Memory\n"}, headers={"if-match": etag})
    assert answer.status_code == 412
    assert answer.headers["content-type"] == "application/problem+json"
    assert "was saved elsewhere" in answer.json()["detail"]
    assert server.memory.read_text("utf-8") == edited
    current = answer.headers["etag"]
    assert answer.json()["etag"] == current == client.get(MAIN).headers["etag"]
    again = client.put(MAIN, json={"content": "# Memory\n"}, headers={"if-match": current})
    assert again.status_code == 200
    assert server.memory.read_text("utf-8") == "# Memory\n"


@pytest.mark.parametrize("condition", ["W/{}", "{bare}", '"other"', "", '"', "**", '"*"'])
def test_what_names_no_version_strongly_matches_none(
    shared_server: RunningServer, visitor: httpx2.Client, condition: str
) -> None:
    etag = visitor.get(MAIN).headers["etag"]
    header = condition.format(etag, bare=etag.strip('"'))
    before = shared_server.memory.read_bytes()
    answer = visitor.put(MAIN, json={"content": TEXT}, headers={"if-match": header})
    assert answer.status_code == 412
    assert answer.headers["etag"] == etag
    assert shared_server.memory.read_bytes() == before


def test_without_a_condition_a_save_succeeds_after_an_editors_save(
    server: RunningServer, client: httpx2.Client
) -> None:
    client.put(MAIN, json={"content": TEXT})
    edited = TEXT + "- 陽台有三盆花\n"
    server.memory.write_text(edited, "utf-8")
    change = client.put(MAIN, json={"content": "# Memory\n"}).json()["change"]
    assert server.memory.read_text("utf-8") == "# Memory\n"
    client.post(UNDO, json={"change": change})
    assert server.memory.read_text("utf-8") == edited


def test_of_many_saves_of_one_version_one_succeeds(
    server: RunningServer, client: httpx2.Client
) -> None:
    etag = client.get(MAIN).headers["etag"]
    answers: list[httpx2.Response] = []

    def save(number: int) -> None:
        text = f"# Memory\n\n- 第{number}位存的\n"
        answers.append(client.put(MAIN, json={"content": text}, headers={"if-match": etag}))

    threads = [threading.Thread(target=save, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status_code for answer in answers) == [200, *[412] * 7]
    (saved,) = [answer for answer in answers if answer.status_code == 200]
    assert client.get(MAIN).headers["etag"] == saved.headers["etag"]


# What is no memory


@pytest.mark.parametrize(
    ("data", "headers", "status", "said"),
    [
        (b"- \xff\xfe\n", MARKDOWN, 422, "not UTF-8 (at byte 2)"),
        (b"- a\0b\n", MARKDOWN, 422, "U+0000"),
        (b'{"content": "a\\u0000b"}', JSON, 422, "U+0000"),
        (b'{"content": "\\ud83d"}', JSON, 422, "body"),
        (b'{"content": 7}', JSON, 422, "body.content"),
        (b'{"text": "a"}', JSON, 422, "body.text"),
        (b"{}", JSON, 422, "body.content"),
        (b"[]", JSON, 422, "body"),
        (b"", JSON, 422, "body"),
        (b'{"content": ', JSON, 422, "body"),
        (b"[" * 100_000, JSON, 422, "body"),
        (b'{"content": "\xff"}', JSON, 422, "body"),
        (b"- a\n", {"content-type": "text/markdown; charset=latin-1"}, 415, "UTF-8"),
        (b"- a\n", {"content-type": "text/html"}, 415, "text/markdown"),
        (b"content=a", {"content-type": "application/x-www-form-urlencoded"}, 415, "text/markdown"),
        (b"- a\n", {}, 415, "text/markdown"),
        (b"- " + b"a" * MAX_FILE_BYTES, MARKDOWN, 413, "shorten it"),
        ("茶".encode() * (MAX_FILE_BYTES // 3 + 1), MARKDOWN, 413, "shorten it"),
    ],
)
def test_what_is_no_text_is_refused_and_nothing_is_written(
    shared_server: RunningServer,
    visitor: httpx2.Client,
    data: bytes,
    headers: dict[str, str],
    status: int,
    said: str,
) -> None:
    visitor.get(MAIN)
    before = shared_server.memory.read_bytes()
    answer = visitor.put(MAIN, content=data, headers=headers)
    assert (answer.status_code, answer.headers["content-type"]) == (
        status,
        "application/problem+json",
    )
    assert said in answer.json()["detail"]
    assert shared_server.memory.read_bytes() == before


def test_a_memory_in_json_is_returned_and_saved_as_json(
    data: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = data / "memories.json"
    monkeypatch.setenv("TURNLEAF_MEMORY", str(location))
    with calling(serve()) as client:
        client.post(FACTS, json={"content": LAMP})
        main = client.get(MAIN).json()
        assert (main["format"], main["file"]) == ("json", "memories.json")
        raw = client.get(MAIN, headers={"accept": "text/markdown"})
        assert raw.headers["content-type"] == "text/plain; charset=utf-8"
        assert raw.content == location.read_bytes()
        refused = client.put(MAIN, json={"content": "# Memory\n"})
        assert refused.status_code == 422
        assert location.read_text("utf-8") == main["content"]
        facts = json.dumps([*json.loads(main["content"]), {"content": TEA}], ensure_ascii=False)
        assert client.put(MAIN, json={"content": facts}).json()["facts"] == 2
        assert location.read_text("utf-8") == facts
        (hit,) = client.get(SEARCH, params={"q": "小明"}).json()["results"]
        assert hit["file"] == "memories.json"


# Search


def test_a_search_finds_what_is_remembered_and_where(
    server: RunningServer, client: httpx2.Client
) -> None:
    fact = server.assistant.memory.add(LAMP, "家")
    server.assistant.memory.add(TEA)
    answer = client.get(SEARCH, params={"q": "小明"}).json()
    assert (answer["query"], answer["mode"]) == ("小明", "words")
    (hit,) = answer["results"]
    assert set(hit) == {
        "text", "source", "file", "line", "heading", "date", "conversation", "message", "time",
        "speaker", "trust", "shown", "newer", "id", "score", "terms",
    }  # fmt: skip
    assert (hit["text"], hit["source"], hit["file"]) == (LAMP, "memory", "MEMORY.md")
    assert (hit["heading"], hit["id"], hit["terms"]) == ("家", fact.id, ["小明"])
    assert LAMP in server.memory.read_text("utf-8").split("\n")[hit["line"] - 1]


def test_the_terms_of_a_hit_are_as_they_stand_in_its_text(
    server: RunningServer, client: httpx2.Client
) -> None:
    server.assistant.memory.add("Ming likes Running by the river; running shoes wear out")
    (hit,) = client.get(SEARCH, params={"q": "who runs?"}).json()["results"]
    assert hit["terms"] == ["Running", "running"]


def test_a_message_whose_fact_was_replaced_is_found_with_what_holds_now(
    server: RunningServer, client: httpx2.Client
) -> None:
    server.assistant.reply("cli:1", f"Remember: {LAMP}")
    (fact,) = server.assistant.memory.get_all()
    server.assistant.memory.update(fact.id, "客廳的燈叫做小華")
    found = client.get(SEARCH, params={"q": "小明"}).json()["results"]
    assert [hit["newer"]["content"] for hit in found if hit["message"]] == ["客廳的燈叫做小華"]


def test_a_score_can_be_explained(server: RunningServer, client: httpx2.Client) -> None:
    server.assistant.memory.add(LAMP)
    (hit,) = client.get(SEARCH, params={"q": "客廳", "explain": True}).json()["results"]
    assert hit["score"] == hit["bm25"] > 0
    assert hit["vector"] is None


def test_with_vectors_a_search_compares_meanings_from_the_moment_they_are_switched_on(
    server: RunningServer, client: httpx2.Client
) -> None:
    server.assistant.memory.add(LAMP)
    question = {"q": "What is the name of the lamp in the living room?", "explain": "true"}
    assert client.get(SEARCH, params=question).json()["results"] == []
    client.put("/api/memory/config", json={"embeddings": True})
    server.assistant.index.embed()
    answer = client.get(SEARCH, params=question).json()
    assert answer["mode"] == "words and meaning"
    (hit,) = answer["results"]
    assert (hit["text"], hit["terms"], hit["bm25"]) == (LAMP, [], 0)
    assert hit["vector"] > 0


def test_a_search_is_narrowed_by_source_and_date(
    server: RunningServer, client: httpx2.Client
) -> None:
    server.assistant.memory.add(LAMP)
    folder = DailyLog(server.folder / "prompts/memory/daily").location
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "2026-11-14.md").write_text("- 08:30 客廳換了燈泡\n", "utf-8")
    (folder / "2026-11-15.md").write_text("- 08:30 客廳換了窗簾\n", "utf-8")

    def files(**narrowing: object) -> set[str]:
        query: dict[str, object] = {"q": "客廳", **narrowing}
        results = client.get(SEARCH, params=query).json()["results"]  # type: ignore[arg-type]
        return {hit["file"] for hit in results}

    days = {"daily/2026-11-14.md", "daily/2026-11-15.md"}
    assert files() == {"MEMORY.md", *days}
    assert files(source="daily") == days
    assert files(source="daily", since="2026-11-15") == {"daily/2026-11-15.md"}
    assert files(source="daily", until="2026-11-14") == {"daily/2026-11-14.md"}
    assert files(source="conversations") == set()
    assert len(client.get(SEARCH, params={"q": "客廳", "limit": 1}).json()["results"]) == 1


def test_a_message_is_found_with_its_place_in_its_conversation(
    server: RunningServer, client: httpx2.Client
) -> None:
    store = server.assistant.conversations
    [asked, _] = store.add_messages("web:1", [Message("user", LAMP), Message("assistant", "好")])
    [hit] = client.get(SEARCH, params={"q": "小明", "limit": 1}).json()["results"]
    assert (hit["source"], hit["speaker"], hit["trust"]) == ("conversations", "user", "user")
    assert (hit["conversation"], hit["message"], hit["shown"]) == ("web:1", asked, True)
    assert hit["time"].endswith("Z")
    assert hit["file"] == "conversations.db"


def test_nothing_found_is_an_empty_answer(visitor: httpx2.Client) -> None:
    answer = visitor.get(SEARCH, params={"q": "無"})
    assert (answer.status_code, answer.json()["results"]) == (200, [])


@pytest.mark.parametrize(
    "query",
    [
        '"',
        "NEAR(",
        "a AND",
        "*",
        "col:x",
        "'; DROP TABLE",
        "\0",
        "!!!",
        "茶" * 600,
        "💡",
        "%",
        "\\",
    ],
)
def test_no_character_of_a_question_has_a_meaning_of_its_own(
    visitor: httpx2.Client, query: str
) -> None:
    assert visitor.get(SEARCH, params={"q": query}).status_code == 200


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"q": ""},
        {"q": " \t"},
        {"q": "tea", "limit": "0"},
        {"q": "tea", "limit": "101"},
        {"q": "tea", "limit": "many"},
        {"q": "tea", "source": "everywhere"},
        {"q": "tea", "since": "yesterday"},
        {"q": "tea", "until": "2026-02-30"},
        {"q": "tea", "explain": "perhaps"},
    ],
)
def test_a_bad_question_is_refused(visitor: httpx2.Client, query: dict[str, str]) -> None:
    answer = visitor.get(SEARCH, params=query)
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


def test_a_search_sees_at_once_what_another_program_wrote(
    cli: Cli, server: RunningServer, client: httpx2.Client
) -> None:
    assert client.get(SEARCH, params={"q": "小明"}).json()["results"] == []
    assert cli.fork("remember", LAMP).code == 0
    assert len(client.get(SEARCH, params={"q": "小明"}).json()["results"]) == 1
    client.put(MAIN, json={"content": f"- {TEA}\n"})
    assert cli.fork("search", "oolong", "--json").json[0]["text"] == TEA


# Figures


def test_the_memory_is_counted(server: RunningServer, client: httpx2.Client) -> None:
    assistant = server.assistant
    for content, category in ((LAMP, "家"), ("書房的燈叫做小美", "家"), (TEA, "Tea"), ("x", None)):
        assistant.memory.add(content, category)
    assistant.pending.add("waits")
    assistant.daily.append("note")
    assistant.conversations.add_exchange("web:1", "hello", "hi")
    stats = client.get(STATS).json()
    last = client.get("/api/memory/changes").json()["changes"][0]
    chars = len(LAMP) + len("書房的燈叫做小美") + len(TEA) + 1
    assert 10 < stats.pop("tokens") < 200
    assert stats == {
        "facts": 4,
        "inPrompt": 4,
        "chars": chars,
        "maxItems": 100,
        "maxChars": 10000,
        "categories": {"家": 2, "Tea": 1},
        "days": 1,
        "conversations": 1,
        "pending": 1,
        "lastChange": last["time"],
    }


def test_a_long_record_is_not_read_for_the_figures(
    server: RunningServer, client: httpx2.Client, caplog: pytest.LogCaptureFixture
) -> None:
    server.assistant.memory.add(LAMP)
    record = server.memory.with_name(journal.NAME)
    line = record.read_bytes()
    record.write_bytes(b"garbage\n" + line * (journal.TAIL_BYTES // len(line) + 2))
    with caplog.at_level(logging.WARNING, "turnleaf"):
        assert client.get(STATS).json()["lastChange"] == json.loads(line)["time"]
    assert "cannot be read" not in caplog.text
    server.assistant.memory.changes()
    assert "cannot be read" in caplog.text


def test_an_empty_memory_has_figures_too(server: RunningServer, client: httpx2.Client) -> None:
    stats = client.get(STATS).json()
    assert (stats["facts"], stats["categories"], stats["lastChange"]) == (0, {}, None)


# A folder that nobody may write to


@pytest.fixture
def ground() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="turnleaf-"))
    folder.chmod(0o755)
    yield folder
    for inner in [path for path in folder.rglob("*") if path.is_dir()]:
        inner.chmod(0o755)
    shutil.rmtree(folder)


def test_a_read_only_folder_is_read_and_says_why_it_is_not_written(ground: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faces.http.powerless", ground],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    answers = json.loads(done.stdout)
    assert set(answers["read"].values()) == {200}
    assert answers["found"] == [LAMP]
    assert {status for status, _ in answers["written"]} == {503}
    assert all("permission is denied" in detail for _, detail in answers["written"])
    assert LAMP in (ground / "data/prompts/memory/MEMORY.md").read_text("utf-8")


def test_a_running_server_shows_what_an_older_program_writes(
    server: RunningServer, client: httpx2.Client
) -> None:
    folder = server.assistant.conversations.location.parent
    assert client.get(SEARCH, params={"q": "護照"}).json()["results"] == []
    write_conversations(folder, {"cli:a": make_messages("護照在抽屜")})
    (hit,) = client.get(SEARCH, params={"q": "護照"}).json()["results"]
    assert hit["conversation"] == "cli:a"
    write_conversations(folder, {"cli:b": make_messages("機票在桌上")})
    listed = client.get("/api/conversations").json()["conversations"]
    assert {one["key"] for one in listed} == {"cli:a", "cli:b"}


# The daily log


DAILY = "/api/memory/daily"
BULB = "換了客廳的燈泡"


def today(server: RunningServer) -> date:
    return server.assistant.now().date()


@pytest.mark.usefixtures("at_noon")
def test_a_note_is_added_to_today_with_its_time(
    server: RunningServer, client: httpx2.Client
) -> None:
    day = today(server)
    added = client.post(f"{DAILY}/{day}", json={"entry": BULB})
    assert added.status_code == 201
    log = added.json()
    assert (log["date"], log["exists"]) == (day.isoformat(), True)
    assert log["content"].startswith(f"# {day}\n\n- ")
    assert log["content"].endswith(f" {BULB}\n")
    assert (server.folder / f"prompts/memory/daily/{day}.md").read_text("utf-8") == log["content"]
    assert client.get(f"{DAILY}/{day}").json() == log


@pytest.mark.usefixtures("at_noon")
def test_a_note_is_changed_and_deleted_if_it_still_says_the_same(
    server: RunningServer, client: httpx2.Client
) -> None:
    day = server.assistant.now().date()
    server.assistant.daily.append("買牛奶")
    (entry,) = client.get(f"/api/memory/daily/{day}").json()["entries"]

    def change(entry: str, content: str | None) -> httpx2.Response:
        return client.patch(f"/api/memory/daily/{day}", json={"entry": entry, "content": content})

    assert change(entry, f"{entry}與麵包").json()["entries"] == [f"{entry}與麵包"]
    late = change(entry, "x")
    assert (late.status_code, late.json()["code"]) == (409, "conflict")
    gone = change(f"{entry}與麵包", None).json()
    assert gone["entries"] == []
    assert client.get("/api/memory/daily").json()["days"] == []


def test_a_day_without_notes_is_empty(visitor: httpx2.Client) -> None:
    empty = {"date": "2020-02-29", "content": "", "entries": [], "exists": False}
    assert visitor.get(f"{DAILY}/2020-02-29").json() == empty


@pytest.mark.usefixtures("at_noon")
def test_the_days_are_listed_with_what_they_hold_newest_first(
    server: RunningServer, client: httpx2.Client
) -> None:
    folder = server.assistant.daily.location
    folder.mkdir(parents=True, exist_ok=True)
    older = f"# 2026-11-14\n\n- 08:30 {BULB}\n  第二行\n- 09:00 Watered the plants\n"
    (folder / "2026-11-14.md").write_text(older, "utf-8")
    (folder / "2026-11-15.md").write_text("# 2026-11-15\n", "utf-8")
    (folder / "notes.md").write_text("- no day\n", "utf-8")
    (folder / "2026-11-13.md").write_text("- 10:00 tea\n", "utf-8")
    assert client.get(DAILY).json()["days"] == [
        {"date": "2026-11-14", "entries": 2, "chars": len(older)},
        {"date": "2026-11-13", "entries": 1, "chars": 12},
    ]


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize("days", [-1, 1])
def test_another_day_takes_no_note_and_says_why(
    shared_server: RunningServer, visitor: httpx2.Client, days: int
) -> None:
    other = today(shared_server) + timedelta(days=days)
    answer = visitor.post(f"{DAILY}/{other}", json={"entry": BULB})
    assert answer.status_code == 422
    assert f"today's note; use {today(shared_server)}" in answer.json()["detail"]
    assert shared_server.assistant.daily.dates() == []


@pytest.mark.parametrize(
    "day",
    ["2026-13-01", "2026-02-30", "20261115", "1700006400", "2026-11-15T00:00:00", "today", "..",
     "..%2F..%2Fmemory-config", "2026-11-15.md", "２０２６-11-15"],
)  # fmt: skip
@pytest.mark.usefixtures("at_noon")
def test_what_is_no_date_is_refused(visitor: httpx2.Client, day: str) -> None:
    answer = visitor.get(f"{DAILY}/{day}")
    assert answer.status_code in {404, 422}
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.usefixtures("at_noon")
@pytest.mark.parametrize("body", [{}, {"entry": "  "}, {"entry": "a\0b"}, {"entry": 1}, []])
def test_what_is_no_note_is_refused(
    shared_server: RunningServer, visitor: httpx2.Client, body: object
) -> None:
    answer = visitor.post(f"{DAILY}/{today(shared_server)}", json=body)
    assert answer.status_code == 422
    assert shared_server.assistant.daily.dates() == []


@pytest.mark.usefixtures("at_noon")
def test_the_command_line_and_the_server_write_the_same_day(
    cli: Cli, server: RunningServer, client: httpx2.Client
) -> None:
    assert cli.fork("log", BULB).code == 0
    day = client.get(DAILY).json()["days"][0]["date"]
    assert BULB in client.get(f"{DAILY}/{day}").json()["content"]
