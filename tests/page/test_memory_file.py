"""MEMORY.md in the page's editor."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.browsing import PHONE, WIDE, Visit, editor, go, toast, wait_until_connected
from tests.page.conftest import Visiting
from tests.page.serving import PageServer

LAMP = "客廳的燈叫做小明"
TEA = "我早上喝烏龍茶"
TWO = f"# 記憶\n\n- {LAMP}\n- Between them stands this line\n- {TEA}\n"


def state(page: Page, words: str) -> Locator:
    """What stands beside the file's name."""
    return page.get_by_role("tabpanel").get_by_role("status").get_by_text(words, exact=True)


def write_below(page: Page, text: str) -> None:
    """Write at the end of the file."""
    editor(page).press("Control+End")
    page.keyboard.insert_text(text)


def merging(page: Page) -> Locator:
    """Where two versions are made one."""
    return page.get_by_role("region", name="This file was also saved elsewhere")


def test_what_is_written_is_saved_with_ctrl_s(visit: Visit, server: PageServer) -> None:
    kept = server.memory.add(LAMP, "家")
    page = visit.open("#/memory/file")
    expect(editor(page)).to_contain_text(LAMP)
    expect(editor(page)).not_to_contain_text(kept.id)
    expect(state(page, "Saved")).to_be_visible()
    write_below(page, f"- {TEA}")
    expect(state(page, "Unsaved changes")).to_be_visible()
    expect(page).to_have_title(re.compile("^● Memory"))
    assert TEA not in server.file
    page.keyboard.press("Control+s")
    expect(state(page, "Saved")).to_be_visible()
    expect(page).to_have_title(re.compile("^Memory"))
    assert server.contents() == [LAMP, TEA]
    assert server.memory.get(kept.id)


def test_a_save_is_taken_back_to_the_byte(visit: Visit, server: PageServer) -> None:
    server.write(TWO)
    page = visit.open("#/memory/file")
    editor(page).press("Control+a")
    page.keyboard.press("Delete")
    page.get_by_role("button", name="Save", exact=True).click()
    toast(page, "Saved, with 0 facts").get_by_role("button", name="Undo").click()
    expect(editor(page)).to_contain_text(LAMP)
    assert server.file == TWO


def test_what_is_not_saved_stays_until_it_is_discarded(
    visits: Visiting, server: PageServer
) -> None:
    visit = visits()
    server.write(TWO)
    page = visit.open("#/memory/file")
    page.clock.set_fixed_time("2026-11-16T08:00:00Z")  # all of it within the same moment
    write_below(page, "- 還沒寫完")
    page.get_by_role("tab", name="Facts").click()
    expect(page.get_by_role("tab", name="MEMORY.md")).to_contain_text("Unsaved changes")
    page.evaluate("location.reload()")
    page.wait_for_function("() => document.title.startsWith('●')")
    assert visit.held_back == 1
    page.get_by_role("tab", name="MEMORY.md").click()
    expect(editor(page)).to_contain_text("還沒寫完")
    page.get_by_role("button", name="Discard changes").click()
    expect(editor(page)).not_to_contain_text("還沒寫完")
    toast(page, "discarded").get_by_role("button", name="Undo").click()
    expect(editor(page)).to_contain_text("還沒寫完")
    assert server.file == TWO


def test_what_others_save_is_shown_while_nothing_is_being_written(
    visit: Visit, server: PageServer
) -> None:
    server.write(TWO)
    page = wait_until_connected(visit.open("#/memory/file"))
    expect(editor(page)).to_contain_text(LAMP)
    server.memory.location.write_text(f"{TWO}- 從編輯器寫的\n", "utf-8")
    expect(editor(page)).to_contain_text("從編輯器寫的")
    expect(state(page, "Saved")).to_be_visible()


def test_a_save_that_comes_too_late_is_merged(visits: Visiting, server: PageServer) -> None:
    visit = visits()
    visit.expected.add(412)
    visit.context.route("**/api/events", lambda _: None)
    server.write(TWO)
    page = visit.open("#/memory/file")
    write_below(page, "- I drink coffee at night")
    server.write(TWO.replace(LAMP, "客廳的燈叫做小華"))
    page.keyboard.press("Control+s")
    expect(merging(page)).to_contain_text("The changes do not touch each other")
    assert "coffee" not in server.file
    page.get_by_role("button", name="Save", exact=True).click()
    expect(state(page, "Saved")).to_be_visible()
    assert server.file == f"{TWO.replace(LAMP, '客廳的燈叫做小華')}- I drink coffee at night"
    expect(editor(page)).to_contain_text("客廳的燈叫做小華")


@pytest.mark.parametrize(
    ("size", "choice", "kept"),
    [
        (WIDE, "Keep both", ["客廳的燈叫做小華", "客廳的燈叫做小明和小美"]),
        (WIDE, "Use theirs", ["客廳的燈叫做小華"]),
        (PHONE, "Keep mine", ["客廳的燈叫做小明和小美"]),
    ],
)
def test_where_both_changed_one_line_a_person_chooses(
    server: PageServer, visits: Visiting, size: tuple[int, int], choice: str, kept: list[str]
) -> None:
    server.write(f"- {LAMP}\n")
    page = wait_until_connected(visits(size=size).open("#/memory/file"))
    editor(page).press("Control+Home")
    page.keyboard.press("End")
    page.keyboard.insert_text("和小美")
    server.write("- 客廳的燈叫做小華\n")
    expect(page.get_by_text("This file was changed elsewhere")).to_be_visible()
    page.get_by_role("button", name="Compare").click()
    expect(merging(page)).to_contain_text("One place was changed on both sides")
    merging(page).get_by_role("button", name=choice).click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(state(page, "Saved")).to_be_visible()
    assert server.contents() == kept
    go(page, "#/memory")
    expect(page.get_by_role("tab", name="MEMORY.md")).not_to_contain_text("Unsaved")
