"""Everything without a mouse."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from tests import imports as samples
from tests.page.browsing import (
    Visit,
    answers,
    conversation,
    editor,
    fact,
    find_focus,
    say,
    shaping,
    tab_to,
    wait_for_answer,
)
from tests.page.serving import PageServer

LAMP = "客廳的燈叫做小明"
TEA = "我早上喝烏龍茶"


def outline(page: Page) -> bool:
    """Whether what has the focus visibly has it."""
    style = "getComputedStyle(document.activeElement)"
    return bool(page.evaluate(f"{style}.outlineStyle !== 'none' || {style}.boxShadow !== 'none'"))


def test_the_first_step_leads_past_the_navigation(visit: Visit, server: PageServer) -> None:
    page = visit.open("#/memory")
    expect(page.get_by_role("heading", name="Memory", exact=True)).to_be_visible()
    order = []
    for _ in range(7):
        page.keyboard.press("Tab")
        order.append(find_focus(page))
        assert outline(page), order
    views = ["Chat", "Memory", "Schedules", "Status", "Settings"]
    assert order == ["Skip to the content", "Turnleaf", *views]
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="Settings", exact=True)).to_be_visible()
    page.keyboard.press("Tab")
    assert find_focus(page) == "Skip to the content"
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    tab_to(page, "Learn from conversations")
    page.keyboard.press("Space")
    expect(page.get_by_text("Turnleaf learns only what you tell it")).to_be_visible()


def test_a_message_is_sent(visit: Visit, server: PageServer) -> None:
    server.memory.add(LAMP)
    page = visit.open()
    expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_focused()
    page.keyboard.insert_text("客廳的燈叫什麼？")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text(LAMP)
    wait_for_answer(answers(page))
    expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_role("textbox", name="Message", exact=True)).to_have_value(
        "客廳的燈叫什麼？"
    )


def test_the_file_is_saved(visit: Visit, server: PageServer) -> None:
    server.write("# 記憶\n")
    page = visit.open("#/memory")
    expect(page.get_by_role("tab", name="Facts")).to_be_visible()
    tab_to(page, "Facts")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="MEMORY.md")).to_be_focused()
    expect(editor(page)).to_be_visible()
    tab_to(page, "Text of MEMORY.md")
    page.keyboard.press("Control+End")
    page.keyboard.insert_text(f"- {LAMP}")
    tab_to(page, "Chat")
    page.keyboard.press("Control+s")
    expect(page.locator(".toast")).to_contain_text("Saved")
    assert server.contents() == [LAMP]


def test_a_schedule_is_made_paused_deleted_and_brought_back(
    visit: Visit, server: PageServer
) -> None:
    page = visit.open("#/schedules")
    expect(page.get_by_role("button", name="New schedule")).to_be_enabled()
    tab_to(page, "New schedule")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="What to ask")).to_be_focused()
    page.keyboard.insert_text("客廳的燈叫什麼？")
    tab_to(page, "When")
    page.keyboard.insert_text("every 2h")
    page.keyboard.press("Enter")
    made = page.get_by_role("article", name="客廳的燈叫什麼？")
    expect(made.get_by_role("heading")).to_be_focused()
    tab_to(page, "Pause")
    page.keyboard.press("Space")
    expect(made.get_by_role("button", name="Resume")).to_be_focused()
    assert [one.is_paused for one in server.schedules.get_all()] == [True]
    tab_to(page, "Delete")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="New schedule")).to_be_focused()
    expect(page.locator(".toast")).to_be_visible()
    assert server.schedules.get_all() == []
    tab_to(page, "Undo")
    page.keyboard.press("Enter")
    expect(made.get_by_text("Paused")).to_be_visible()
    assert [one.timing for one in server.schedules.get_all()] == ["every 2h"]


def test_a_fact_is_deleted_and_brought_back(visit: Visit, server: PageServer) -> None:
    server.write(f"- {LAMP}\n- {TEA}\n- The third\n")
    page = visit.open("#/memory")
    expect(fact(page, LAMP)).to_be_visible()
    tab_to(page, "Add fact")
    page.keyboard.press("Tab")
    expect(fact(page, LAMP)).to_be_focused()
    page.keyboard.press("j")
    expect(fact(page, TEA)).to_be_focused()
    page.keyboard.press("Delete")
    expect(fact(page, TEA)).to_have_count(0)
    expect(fact(page, "The third")).to_be_focused()
    expect(page.locator(".toast")).to_be_visible()
    assert server.contents() == [LAMP, "The third"]
    tab_to(page, "Undo")
    page.keyboard.press("Enter")
    expect(fact(page, TEA)).to_be_visible()
    assert server.contents() == [LAMP, TEA, "The third"]


def test_facts_are_filtered_chosen_and_pinned(visit: Visit, server: PageServer) -> None:
    for number in range(8):
        server.memory.add(f"Fact {number}")
    server.memory.add(LAMP)
    page = visit.open("#/chat")
    say(page, "客廳的燈叫什麼？")
    page = visit.open("#/memory")
    expect(fact(page, LAMP)).to_be_visible()
    tab_to(page, "Filter facts by text")
    tab_to(page, "Never used")
    page.keyboard.press("Space")
    expect(page.get_by_text("8 of 9")).to_be_visible()
    expect(fact(page, LAMP)).to_have_count(0)
    tab_to(page, "Show all")
    page.keyboard.press("Enter")
    expect(fact(page, LAMP)).to_be_visible()
    tab_to(page, "Select all 9")
    page.keyboard.press("Tab")
    expect(page.locator(".fact").first).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    page.keyboard.press("p")
    expect(fact(page, "Fact 1").get_by_text("Pinned", exact=True)).to_be_visible()
    expect(page.get_by_text("1 selected")).to_be_visible()
    assert [one.content for one in server.memory.get_all() if one.pinned] == ["Fact 1"]


def test_a_fact_leads_from_an_answer_to_its_words_and_is_corrected(
    visit: Visit, server: PageServer
) -> None:
    page = visit.open("#/chat")
    say(page, f"記住{LAMP}")
    say(page, "客廳的燈叫什麼？")
    tab_to(page, LAMP, back=True)
    page.keyboard.press("Enter")
    tab_to(page, "Correct")
    page.keyboard.press("Enter")
    expect(shaping(page).get_by_role("textbox", name="Correct")).to_be_focused()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("客廳的燈叫做小美")
    tab_to(page, "Save")
    page.keyboard.press("Enter")
    expect(shaping(page).get_by_role("button", name="客廳的燈叫做小美")).to_be_visible()
    assert server.contents() == ["客廳的燈叫做小美"]
    tab_to(page, "Show in the conversation", back=True)
    page.keyboard.press("Enter")
    expect(conversation(page).locator("[data-marked]")).to_contain_text(f"記住{LAMP}")
    assert server.contents() == ["客廳的燈叫做小美"]


def test_a_past_is_imported(visit: Visit, server: PageServer, tmp_path: Path) -> None:
    export = tmp_path / "conversations.json"
    text = json.dumps(samples.claude())
    for shared, own in (("Max", "Rex"), ('"u1"', '"u9"'), ('"m1"', '"m8"'), ('"m2"', '"m9"')):
        text = text.replace(shared, own)  # What another test has imported is imported no more.
    export.write_text(text, "utf-8")
    page = visit.open("#/memory/import")
    choose = page.get_by_role("button", name="Choose a file")
    another = page.get_by_role("button", name="Import another file")
    expect(choose.or_(another)).to_be_visible()
    if another.is_visible():
        tab_to(page, "Import another file")
        page.keyboard.press("Enter")
    with page.expect_file_chooser() as chosen:  # The steps of Tab give it time to take effect.
        tab_to(page, "Choose a file")
        page.keyboard.press("Enter")
    chosen.value.set_files(export)
    expect(page.get_by_role("heading", name="In conversations.json")).to_be_focused()
    tab_to(page, "Import")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Imported: conversations.json")).to_be_focused()
    tab_to(page, "Review the facts")
    page.keyboard.press("Enter")
    expect(page.locator(".pending-fact").first).to_be_visible()
