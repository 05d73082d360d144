"""Facts as a list, and what a search finds."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.page.browsing import Visit, fact, toast, wait_until_connected
from tests.page.serving import PageServer

LAMP = "客廳的燈叫做小明"
TEA = "我早上喝烏龍茶"


def add(page: Page, content: str, category: str = "") -> None:
    page.get_by_role("textbox", name="New fact").fill(content)
    page.get_by_role("textbox", name="Category").fill(category)
    page.get_by_role("button", name="Add fact").click()


def search(page: Page, query: str) -> None:
    page.get_by_role("searchbox", name="Search memory").fill(query)


def test_a_fact_is_added_below_its_category_and_one_of_another_program_appears(
    visit: Visit, server: PageServer
) -> None:
    page = wait_until_connected(visit.open("#/memory"))
    expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()
    room = page.get_by_role("meter", name="Facts")
    expect(room).to_have_attribute("aria-valuetext", "0 of 100")
    add(page, LAMP, "家")
    expect(page.get_by_role("list", name="Facts: 家")).to_contain_text(LAMP)
    expect(fact(page, LAMP)).to_contain_text("Written by you")
    expect(room).to_have_attribute("aria-valuetext", "1 of 100")
    expect(page.get_by_role("textbox", name="New fact")).to_have_value("")
    assert [(one.content, one.category) for one in server.memory.get_all()] == [(LAMP, "家")]
    server.memory.add(TEA)
    expect(fact(page, TEA)).to_be_visible()


def test_a_fact_is_edited_in_its_place(visit: Visit, server: PageServer) -> None:
    server.memory.add(LAMP)
    page = visit.open("#/memory")
    fact(page, LAMP).get_by_role("button", name="Edit").click()
    text = page.get_by_role("textbox", name="Text of the fact")
    text.fill("不要這樣")
    text.press("Escape")
    expect(fact(page, LAMP)).to_be_visible()
    fact(page, LAMP).get_by_role("button", name="Edit").click()
    text.fill("客廳的燈叫做小華")
    text.press("Enter")
    expect(text).to_have_count(0)
    expect(fact(page, "客廳的燈叫做小華")).to_be_visible()
    assert server.contents() == ["客廳的燈叫做小華"]


def test_an_edit_does_not_replace_what_somebody_else_wrote(
    visit: Visit, server: PageServer
) -> None:
    visit.expected.add(409)
    kept = server.memory.add(LAMP)
    page = visit.open("#/memory")
    fact(page, LAMP).get_by_role("button", name="Edit").click()
    server.memory.update(kept.id, "客廳的燈叫做小美")
    text = page.get_by_role("textbox", name="Text of the fact")
    text.fill("客廳的燈叫做小華")
    text.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("was changed in the meantime")
    expect(text).to_have_value("客廳的燈叫做小華")
    assert server.contents() == ["客廳的燈叫做小美"]


def test_a_deleted_fact_comes_back(visit: Visit, server: PageServer) -> None:
    server.write(f"# 記憶\n\n- {LAMP}\n- {TEA}\n")
    page = visit.open("#/memory")
    fact(page, LAMP).get_by_role("button", name="Delete").click()
    deleted = toast(page, f"Deleted: {LAMP}")
    expect(deleted).to_be_visible()
    expect(fact(page, LAMP)).to_have_count(0)
    assert server.contents() == [TEA]
    deleted.get_by_role("button", name="Undo").click()
    expect(fact(page, LAMP)).to_be_visible()
    assert server.file == f"# 記憶\n\n- {LAMP}\n- {TEA}\n"


def test_a_full_memory_says_so_and_keeps_what_was_typed(visit: Visit, server: PageServer) -> None:
    visit.expected.add(409)
    server.memory.add(LAMP)
    server.configure(memoryMaxItems=1)
    page = visit.open("#/memory")
    expect(page.get_by_text("The memory is full.")).to_be_visible()
    add(page, TEA)
    expect(page.get_by_role("alert")).to_contain_text("Delete facts that no longer matter")
    expect(page.get_by_role("textbox", name="New fact")).to_have_value(TEA)
    assert server.contents() == [LAMP]


def test_what_is_searched_is_found_marked_and_led_to_in_the_file_or_not_found(
    visit: Visit, server: PageServer
) -> None:
    others = "\n".join(f"- 第{number}件和燈無關的事" for number in range(80))
    server.write(f"# 記憶\n\n{others}\n- {LAMP}\n{others}\n")
    page = visit.open("#/memory")
    search(page, "鯨魚")
    expect(page.get_by_text("Nothing matches “鯨魚”")).to_be_visible()
    page.get_by_role("button", name="Clear the search").click()
    expect(fact(page, "第0件").first).to_be_visible()
    search(page, "小明")
    results = page.get_by_role("region", name="Results")
    expect(results.get_by_role("status")).to_contain_text("1 result")
    hit = results.get_by_role("link").filter(has_text=LAMP)
    expect(hit.locator("mark")).to_have_text("小明")
    expect(hit).to_contain_text("Memory")
    expect(hit).to_contain_text(re.compile(r"\d+% match, by words alone"))
    hit.click()
    line = page.locator(".cm-found")
    expect(line).to_have_text(f"- {LAMP}")
    expect(line).to_be_in_viewport()
    page.go_back()
    expect(page.get_by_role("searchbox", name="Search memory")).to_have_value("小明")


def test_days_and_conversations_are_found_and_can_be_told_apart(
    visit: Visit, server: PageServer
) -> None:
    server.memory.add(LAMP)
    server.daily.append("小明換了燈泡")
    page = wait_until_connected(visit.open("#/memory?q=小明"))
    results = page.get_by_role("region", name="Results")
    expect(results.get_by_role("listitem")).to_have_count(2)
    expect(results.get_by_role("radio")).to_have_count(5)
    server.conversations.add_exchange("cli:session-1", "小明亮不亮？", "小明很亮。")
    results.get_by_role("radio", name="Conversations").check(force=True)
    for said in ("小明亮不亮？", "小明很亮。"):
        expect(results.get_by_role("link").filter(has_text=said)).to_have_count(1)
    results.get_by_role("radio", name="Everywhere").check(force=True)
    expect(results.get_by_role("listitem")).to_have_count(4)
    results.get_by_role("radio", name="Daily").check(force=True)
    expect(results.get_by_role("link")).to_have_count(1)
    expect(results.get_by_role("link")).to_contain_text("小明換了燈泡")
    results.get_by_role("link").click()
    expect(page.get_by_role("tab", name="Daily")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_role("tabpanel").get_by_text("小明換了燈泡")).to_be_visible()
