"""What is asked by the clock: made, changed, run, and taken away."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.page.browsing import PHONE, Visit, go, toast, wait_until_connected
from tests.page.conftest import Visiting
from tests.page.serving import PageServer
from tests.standins.chat_api import ChatApi

LAMP = "客廳的燈叫做小明"
ASKED = "客廳的燈叫什麼？"
NEVER = "0 9 1 1 *"


def card(page: Page, text: str) -> Locator:
    """A schedule in the list."""
    return page.get_by_role("list", name="Schedules").get_by_role("article").filter(has_text=text)


def press(where: Locator, name: str) -> None:
    """Press a button as soon as that is possible."""
    button = where.get_by_role("button", name=name)
    expect(button).to_be_enabled()
    button.click()


def test_a_schedule_is_made_with_its_next_times_in_sight(visit: Visit, server: PageServer) -> None:
    visit.expected.add(422)
    page = visit.open("#/schedules")
    expect(page.get_by_text("Nothing is scheduled yet")).to_be_visible()
    press(page.get_by_role("main"), "Start with this")
    form = page.get_by_role("form", name="New schedule")
    asked = form.get_by_role("textbox", name="What to ask")
    expect(asked).to_be_focused()
    times = form.get_by_role("complementary", name="Next times")
    expect(times.get_by_role("listitem")).to_have_count(5)
    asked.fill("今天有什麼事？\n看看昨天的筆記。")
    when = form.get_by_role("textbox", name="When", exact=True)
    when.fill("晚上九點")
    expect(times.get_by_role("status")).to_contain_text("'晚上九點' is not a time")
    expect(times.get_by_role("listitem")).to_have_count(0)
    when.fill("2020-12-24 18:00")
    expect(times.get_by_role("status")).to_have_text("This is in the past, or never happens.")
    press(form, "Mondays")
    form.get_by_role("combobox", name="Time zone").fill("Asia/Taipei")
    expect(times.get_by_role("status")).to_have_text("Every Monday at 09:00")
    expect(times.get_by_role("listitem")).to_have_text([re.compile("Mon, .*09:00")] * 5)
    form.get_by_role("radio", name="File").check(force=True)
    press(form, "Create schedule")
    expect(form.get_by_role("alert")).to_contain_text("Enter where the result goes.")
    form.get_by_role("textbox", name="File name").fill("早報.md")
    go(page, "#/status")
    go(page, "#/schedules")
    expect(asked).to_have_value("今天有什麼事？\n看看昨天的筆記。")
    press(form, "Create schedule")
    made = card(page, "Morning briefing")
    expect(made.get_by_role("heading")).to_be_focused()
    expect(made).to_contain_text(re.compile("Every Monday at 09:00.*Asia/Taipei", re.DOTALL))
    expect(made).to_contain_text(re.compile("Mon, .*09:00.*File 早報.md", re.DOTALL))
    [kept] = server.schedules.get_all()
    assert (kept.timing, kept.zone) == ("0 9 * * 1", "Asia/Taipei")
    assert (kept.name, kept.deliver) == ("Morning briefing", "file:早報.md")
    assert kept.prompt == "今天有什麼事？\n看看昨天的筆記。"


def test_a_schedule_is_changed_paused_and_comes_back_after_deleting(
    visit: Visit, server: PageServer
) -> None:
    page = wait_until_connected(visit.open("#/schedules"))
    expect(page.get_by_text("Nothing is scheduled yet")).to_be_visible()
    kept = server.schedules.add(ASKED, "every 3h", name="小明")
    press(card(page, "小明"), "Edit")
    form = page.get_by_role("form", name="Edit “小明”")
    form.get_by_role("textbox", name="Name", exact=True).fill("")
    form.get_by_role("radio", name="Slack").check(force=True)
    expect(form).to_contain_text("Slack is not set up on this server")
    form.get_by_role("textbox", name="Channel ID").fill("C012AB3CD")
    form.get_by_role("textbox", name="When", exact=True).fill("@daily")
    press(form, "Save")
    changed = card(page, ASKED)
    expect(changed).to_contain_text("Every day at 00:00")
    expect(changed).to_contain_text("Slack, C012AB3CD")
    press(changed, "Pause")
    expect(changed.get_by_text("Paused")).to_be_visible()
    paused = server.schedules.get(kept.id)
    assert (paused.name, paused.timing, paused.is_paused) == (None, "@daily", True)
    press(changed, "Delete")
    deleted = toast(page, f"Deleted: {ASKED}")
    expect(page.get_by_text("Nothing is scheduled yet")).to_be_visible()
    expect(page.get_by_role("button", name="New schedule")).to_be_focused()
    assert server.schedules.get_all() == []
    press(deleted, "Undo")
    expect(changed.get_by_text("Paused")).to_be_visible()
    press(changed, "Resume")
    expect(changed.get_by_text("Paused")).to_have_count(0)
    [again] = server.schedules.get_all()
    assert (again.prompt, again.timing, again.deliver) == (ASKED, "@daily", "slack:C012AB3CD")
    assert not again.is_paused


def test_a_run_is_begun_and_what_came_of_it_is_read(
    server: PageServer, visits: Visiting, api: ChatApi
) -> None:
    server.memory.add(LAMP)
    server.schedules.add(ASKED, NEVER, name="小明")
    visit = visits(size=PHONE)
    page = wait_until_connected(visit.open("#/schedules"))
    lamp = card(page, "小明")
    expect(lamp).to_contain_text("Has not run yet")
    api.answer("叫做**小明**。")
    press(lamp, "Run now")
    runs = lamp.get_by_role("region", name="Past runs")
    expect(runs.get_by_role("strong")).to_have_text("小明")
    expect(runs.get_by_role("group")).to_contain_text("Done")
    expect(lamp.get_by_role("definition").nth(1)).to_contain_text("Done")
    assert LAMP in str(api.requests[0].body["messages"])
    api.fail(401, "Incorrect API key provided.")
    press(lamp, "Run now")
    expect(runs.get_by_role("group")).to_have_count(2)
    expect(runs.get_by_role("group").first).to_contain_text("Incorrect API key")
    press(lamp, "Past runs")
    expect(runs).to_have_count(0)
    expect(lamp).to_contain_text(re.compile("Failed.*Incorrect API key", re.DOTALL))
    lamp.get_by_role("link", name="Daily notes").click()
    expect(page.get_by_role("tabpanel").get_by_role("strong")).to_have_text("小明")


def test_a_time_is_put_into_words_only_where_they_are_true(
    visit: Visit, server: PageServer
) -> None:
    server.schedules.add("甲", "*/45 * * * *", name="uneven")
    server.schedules.add("乙", "*/15 * * * *", name="even")
    server.schedules.add("丙", "2099-01-01T09:00+08:00", name="elsewhere", zone="America/New_York")
    page = visit.open("#/schedules")
    expect(card(page, "uneven")).to_contain_text("*/45 * * * *")
    expect(card(page, "elsewhere")).to_contain_text("Dec 31, 2098, 20:00")
    expect(page.get_by_text("Every 15 minutes")).to_be_visible()
