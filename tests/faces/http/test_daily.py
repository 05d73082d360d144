"""The daily log is read and written over HTTP."""

from __future__ import annotations

from datetime import date, timedelta

import httpx2
import pytest

from tests.faces.conftest import Cli
from tests.faces.http.conftest import Served

pytestmark = pytest.mark.usefixtures("at_noon")

DAILY = "/api/memory/daily"
BULB = "換了客廳的燈泡"


def today(server: Served) -> date:
    return server.assistant.now().date()


def test_a_note_is_added_to_today_with_its_time(server: Served, client: httpx2.Client) -> None:
    day = today(server)
    added = client.post(f"{DAILY}/{day}", json={"entry": BULB})
    assert added.status_code == 201
    log = added.json()
    assert (log["date"], log["exists"]) == (day.isoformat(), True)
    assert log["content"].startswith(f"# {day}\n\n- ")
    assert log["content"].endswith(f" {BULB}\n")
    assert (server.folder / f"prompts/memory/daily/{day}.md").read_text("utf-8") == log["content"]
    assert client.get(f"{DAILY}/{day}").json() == log


def test_a_day_without_notes_is_empty(visitor: httpx2.Client) -> None:
    empty = {"date": "2020-02-29", "content": "", "exists": False}
    assert visitor.get(f"{DAILY}/2020-02-29").json() == empty


def test_the_days_are_listed_with_what_they_hold_newest_first(
    server: Served, client: httpx2.Client
) -> None:
    folder = server.assistant.daily.location
    folder.mkdir(parents=True, exist_ok=True)
    older = f"# 2026-11-14\n\n- 08:30 {BULB}\n  第二行\n- 09:00 Watered the plants\n"
    (folder / "2026-11-14.md").write_text(older, "utf-8")
    (folder / "2026-11-15.md").write_text("# 2026-11-15\n", "utf-8")
    (folder / "notes.md").write_text("- no day\n", "utf-8")
    assert client.get(DAILY).json()["days"] == [
        {"date": "2026-11-15", "entries": 0, "chars": 13},
        {"date": "2026-11-14", "entries": 2, "chars": len(older)},
    ]


@pytest.mark.parametrize("days", [-1, 1])
def test_another_day_takes_no_note_and_says_why(
    shared: Served, visitor: httpx2.Client, days: int
) -> None:
    other = today(shared) + timedelta(days=days)
    answer = visitor.post(f"{DAILY}/{other}", json={"entry": BULB})
    assert answer.status_code == 422
    assert f"only today, {today(shared)}" in answer.json()["detail"]
    assert shared.assistant.daily.dates() == []


@pytest.mark.parametrize(
    "day",
    ["2026-13-01", "2026-02-30", "20261115", "1700006400", "2026-11-15T00:00:00", "today", "..",
     "..%2F..%2Fmemory-config", "2026-11-15.md", "２０２６-11-15"],
)  # fmt: skip
def test_what_is_no_date_is_refused(visitor: httpx2.Client, day: str) -> None:
    answer = visitor.get(f"{DAILY}/{day}")
    assert answer.status_code in {404, 422}
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("body", [{}, {"entry": "  "}, {"entry": "a\0b"}, {"entry": 1}, []])
def test_what_is_no_note_is_refused(shared: Served, visitor: httpx2.Client, body: object) -> None:
    answer = visitor.post(f"{DAILY}/{today(shared)}", json=body)
    assert answer.status_code == 422
    assert shared.assistant.daily.dates() == []


def test_the_command_line_and_the_server_write_the_same_day(
    cli: Cli, server: Served, client: httpx2.Client
) -> None:
    assert cli.process("log", BULB).code == 0
    day = client.get(DAILY).json()["days"][0]["date"]
    assert BULB in client.get(f"{DAILY}/{day}").json()["content"]
