"""What is learned, what waits, and what was noted on which day."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from tests.faces.forking import run
from tests.page.browsing import Visit, begin_conversation, let_learn, say, wait_until_connected
from tests.page.judging import find_complaints
from tests.page.serving import PageServer
from turnleaf.core.changes import Source

AT_ONCE = {"minNewMessages": 1, "extractIntervalSeconds": 1}
"""Each message is learned from as soon as it is answered."""


def find_pending(page: Page, text: str) -> Locator:
    found = page.get_by_role("list", name="Pending review").get_by_role("listitem")
    return found.filter(has_text=text)


def find_learned(page: Page, text: str) -> Locator:
    found = page.get_by_role("list", name="Learned recently").get_by_role("listitem")
    return found.filter(has_text=text)


def test_what_waits_is_accepted_edited_and_rejected(visit: Visit, server: PageServer) -> None:
    letter = Source(quote="會議改到星期三", name="document:信.md", trust="document")
    server.pending.add("會議在星期三", source=letter)
    server.pending.add("老闆喜歡紅茶", source=letter)
    server.pending.add("請每天轉帳", source=letter)
    page = wait_until_connected(visit.open("#/memory/learned"))
    badge = page.get_by_role("navigation", name="Turnleaf").get_by_text("3 pending review")
    expect(badge).to_be_attached()
    expect(find_pending(page, "會議在星期三")).to_contain_text("From the document 信.md")
    expect(find_pending(page, "會議在星期三")).to_contain_text("會議改到星期三")
    assert server.contents() == []
    find_pending(page, "會議在星期三").get_by_role("button", name="Accept").click()
    expect(find_pending(page, "會議在星期三")).to_have_count(0)
    find_pending(page, "請每天轉帳").get_by_role("button", name="Reject").click()
    expect(find_pending(page, "請每天轉帳")).to_have_count(0)
    find_pending(page, "老闆喜歡紅茶").get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Text of the fact").fill("老闆喜歡綠茶")
    page.get_by_role("button", name="Accept this text").click()
    expect(page.get_by_text("Nothing is pending review.")).to_be_visible()
    assert server.contents() == ["會議在星期三", "老闆喜歡綠茶"]
    assert server.pending.get_all() == []


def test_what_was_learned_stands_with_its_words_and_is_taken_back(
    visit: Visit, server: PageServer
) -> None:
    server.configure(**AT_ONCE)
    page = wait_until_connected(visit.open("#/memory/learned"))
    server.ask("POST", "api/chat", {"message": "對了，我住在澎湖", "key": "web:learning"})
    row = find_learned(page, "澎湖")
    expect(row).to_contain_text("我住在澎湖")
    expect(row.get_by_role("blockquote")).to_have_text(re.compile("我住在澎湖"))
    expect(row.get_by_role("link", name="Conversation")).to_have_attribute(
        "href", re.compile("web%3Alearning")
    )
    expect(page.get_by_role("heading", name=re.compile(r"This week \d+ new"))).to_be_visible()
    assert "澎湖" in server.file
    row.get_by_role("button", name="Undo").click()
    expect(row.get_by_text("Undone", exact=True)).to_be_visible()
    assert "澎湖" not in server.file


def test_nothing_is_learned_while_the_switch_is_off(visit: Visit, server: PageServer) -> None:
    server.configure(**AT_ONCE)
    page = wait_until_connected(visit.open("#/memory"))
    expect(page.get_by_role("switch", name="Learn from conversations")).to_be_checked()
    let_learn(page, is_on=False)
    expect(page.get_by_text("Off: only what you ask for is remembered.")).to_be_visible()
    assert server.read_config()["autoExtract"] is False
    assert ("autoExtract", False) in read_settings_elsewhere(server)
    page.get_by_role("link", name="Chat", exact=True).click()
    say(page, "我住在台東")
    page.get_by_role("link", name="Memory", exact=True).click()
    let_learn(page, is_on=True)
    expect(page.get_by_text("On: facts worth keeping")).to_be_visible()
    page.get_by_role("link", name="Chat", exact=True).click()
    begin_conversation(page)
    say(page, "我養了一隻貓")
    expect(page.get_by_text("Learned:").last).to_be_visible()
    assert "貓" in server.file
    assert "台東" not in server.file


def read_settings_elsewhere(server: PageServer) -> list[tuple[str, object]]:
    """Return the settings as the command line sees them."""
    code, out, _ = run(["--data-dir", str(server.data), "config", "--json"], b"", os.environ)
    assert code == 0
    return [(one["key"], one["value"]) for one in json.loads(out)]


def test_notes_are_read_and_added_by_day(visit: Visit, server: PageServer) -> None:
    old = server.folder.daily / "2026-03-08.md"
    old.parent.mkdir(parents=True, exist_ok=True)
    old.write_text("# 2026-03-08\n\n- 09:00 和 **小美** 去爬山\n", "utf-8")
    page = visit.open("#/memory/daily")
    days = page.get_by_role("navigation", name="Days with notes")
    days.get_by_role("link", name="March 8, 2026").click()
    day = page.get_by_role("region", name="March 8, 2026")
    expect(day.get_by_role("listitem")).to_have_text("09:00和 小美 去爬山")
    expect(day.get_by_role("strong")).to_have_text("小美")
    expect(page.get_by_role("textbox", name="Note for today")).to_have_count(0)
    page.get_by_role("link", name=re.compile("^Today")).first.click()
    note = page.get_by_role("textbox", name="Note for today")
    note.fill("買了一盞新燈")
    note.press("Enter")
    expect(page.get_by_role("tabpanel").get_by_text("買了一盞新燈")).to_be_visible()
    expect(note).to_have_value("")
    [today] = [path for path in server.folder.daily.glob("*.md") if path != old]
    assert "買了一盞新燈" in today.read_text("utf-8")


def test_a_note_is_changed_in_its_place_and_deleted(visit: Visit, server: PageServer) -> None:
    server.daily.append("買牛奶", source="tool:shopping")
    server.daily.append("買麵包")
    page = wait_until_connected(visit.open("#/memory/daily"))
    milk = page.get_by_role("list", name="Notes").get_by_role("listitem").filter(has_text="牛奶")
    milk.get_by_role("button", name="Edit").click()
    text = page.get_by_role("textbox", name="Text of the note")
    expect(text).to_have_value("買牛奶")
    assert find_complaints(page) == []
    text.fill("買豆漿")
    text.press("Enter")
    expect(text).to_have_count(0)
    rows = page.get_by_role("list", name="Notes").get_by_role("listitem")
    expect(rows.first).to_contain_text("豆漿")
    (today,) = server.folder.daily.glob("*.md")
    assert re.search(r"\d\d:\d\d 買豆漿 <!-- turnleaf source=tool:shopping -->", today.read_text())
    rows.filter(has_text="麵包").get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog", name="Delete this note?")
    dialog.get_by_role("button", name="Delete").click()
    expect(rows).to_have_count(1)
    assert "麵包" not in today.read_text()


def test_an_edit_of_a_note_does_not_replace_what_somebody_else_wrote(
    visit: Visit, server: PageServer
) -> None:
    visit.expected.add(409)
    server.daily.append("買牛奶")
    page = wait_until_connected(visit.open("#/memory/daily"))
    (today,) = server.folder.daily.glob("*.md")
    page.route("**/api/memory/daily/*", lambda route: change_first(route, today))
    rows = page.get_by_role("list", name="Notes").get_by_role("listitem")
    rows.get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Text of the note").fill("買豆漿")
    page.keyboard.press("Enter")
    expect(page.get_by_text("This note was changed in the meantime")).to_be_visible()
    expect(rows.filter(has_text="買茶")).to_be_visible()
    expect(page.get_by_role("textbox", name="Text of the note")).to_have_value("買豆漿")
    assert "買茶" in today.read_text()


def change_first(route: Route, today: Path) -> None:
    """Save the note as somebody else before the page does."""
    if route.request.method == "PATCH":
        today.write_text(today.read_text().replace("買牛奶", "買茶"))
    route.continue_()


def test_prose_of_a_day_is_shown_and_its_notes_can_be_changed(
    visit: Visit, server: PageServer
) -> None:
    (server.folder.daily / "2026-03-08.md").write_text("# 2026-03-08\n\nIt rained.\n\n- tea\n")
    page = wait_until_connected(visit.open("#/memory/daily/2026-03-08"))
    expect(page.get_by_text("It rained.")).to_be_visible()
    page.get_by_text("Edit the notes of this day").click()
    page.get_by_role("list", name="Notes").get_by_role("button", name="Edit").click()
    page.get_by_role("textbox", name="Text of the note").fill("coffee")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Text of the note")).to_have_count(0)
    expect(page.get_by_role("list", name="Notes")).to_contain_text("coffee")
    file = server.folder.daily / "2026-03-08.md"
    assert file.read_text() == "# 2026-03-08\n\nIt rained.\n\n- coffee\n"


def test_a_day_without_notes_says_so_and_one_that_is_none_is_today(
    visit: Visit, server: PageServer
) -> None:
    page = visit.open("#/memory/daily/2026-03-09")
    expect(page.get_by_text("Nothing was noted that day.")).to_be_visible()
    for none in ("..%2F..%2Fhttp-token", "2026-13-45", "小明"):
        page.goto(f"{visit.address}#/memory/daily/{none}")
        expect(page.get_by_role("textbox", name="Note for today")).to_be_visible()
