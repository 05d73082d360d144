from __future__ import annotations

import time
from datetime import datetime

import pytest

from tests.faces.conftest import Cli

pytestmark = pytest.mark.usefixtures("at_noon")


def local_day() -> str:
    return datetime.now().astimezone().date().isoformat()


# log and today


def test_what_is_logged_is_shown_today(cli: Cli) -> None:
    assert cli("log", "今天", "澆花了").code == 0
    assert cli("log", stdin="one\ntwo\n").code == 0
    shown = cli("today")
    assert shown.code == 0
    assert "今天 澆花了" in shown.out
    assert "one\n  two" in shown.out
    assert cli("today", "--json").json == {
        "date": local_day(),
        "text": cli.daily.read(local_day()),
    }


def test_an_empty_day_says_how_to_begin(cli: Cli) -> None:
    shown = cli("today")
    assert (shown.code, shown.out) == (0, "")
    assert "turnleaf log" in shown.err
    assert cli("today", "--json").json["text"] == ""
    assert not cli.data.exists()


def test_another_day_is_shown_by_its_date(cli: Cli) -> None:
    cli.daily.init()
    (cli.folder.daily / "2026-01-02.md").write_text("# 2026-01-02\n\n- 08:00 早\n", "utf-8")
    assert "08:00 早" in cli("today", "--date", "2026-01-02").out
    missing = cli("today", "--date", "2026-01-03")
    assert (missing.code, missing.out) == (3, "")


def test_the_day_is_the_local_one(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    # Two zones that are never on the same date at the same moment.
    days = []
    for zone in ("Etc/GMT-14", "Etc/GMT+12"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        cli("log", zone)
        days.append(cli("today", "--json").json)
    monkeypatch.delenv("TZ")
    time.tzset()
    assert days[0]["date"] != days[1]["date"]
    assert "GMT-14" in days[0]["text"]
    assert "GMT-14" not in days[1]["text"]


@pytest.mark.parametrize("text", ["", " \n", "a\0b"])
def test_what_cannot_be_logged_is_refused(cli: Cli, text: str) -> None:
    result = cli("log", stdin=text)
    assert (result.code, result.out) == (2, "")
    assert not cli.daily.dates()


def test_escape_codes_in_a_log_are_written_out(cli: Cli) -> None:
    cli("log", "a \x1b[2J b")
    assert "a \\x1b[2J b" in cli("today").out
