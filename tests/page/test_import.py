"""A past is brought in the page: chosen, counted, imported, and its facts reviewed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests import imports as samples
from tests.page.browsing import PHONE, Visit, wait_until_connected
from tests.page.conftest import Visiting
from tests.page.judging import find_complaints
from tests.page.serving import PageServer
from tests.standins.chat_api import ChatApi
from turnleaf.core.changes import Source


@pytest.fixture
def export(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(samples.claude()), "utf-8")
    return path


@pytest.fixture
def other_export(export: Path) -> Path:
    """An export of another conversation: what one test has imported is imported no more."""
    text = export.read_text("utf-8")
    for shared, own in (("Max", "Bella"), ('"u1"', '"u5"'), ('"m1"', '"m5"'), ('"m2"', '"m6"')):
        text = text.replace(shared, own)
    export.write_text(text, "utf-8")
    return export


def choose(page: Page, file: Path, another: str = "Import another file") -> None:
    """Choose a file, also where the last import is still shown."""
    button = page.get_by_role("button", name="Choose a file")
    expect(button.or_(page.get_by_role("button", name=another))).to_be_visible()
    if not button.is_visible():
        page.get_by_role("button", name=another).click()
    with page.expect_file_chooser() as chosen:
        button.click()
    chosen.value.set_files(file)


def card(page: Page, title: str) -> Locator:
    return page.locator(".import-card", has=page.get_by_role("heading", name=title))


def group(page: Page, name: str) -> Locator:
    return page.locator(".pending-group", has_text=name)


def test_an_export_is_counted_before_it_is_imported(
    visit: Visit, server: PageServer, export: Path
) -> None:
    page = wait_until_connected(visit.open("#/memory"))
    page.get_by_role("link", name="Import your past").click()
    choose(page, export)
    found = card(page, "In conversations.json")
    expect(found).to_contain_text("1 conversation (Claude) from Mar 1, 2025")
    expect(found.get_by_role("heading")).to_be_focused()
    assert server.conversations.summaries() == []
    found.get_by_text("Left out").click()
    expect(found).to_contain_text("1 attachments")
    assert find_complaints(page) == []
    found.get_by_role("button", name="Import", exact=True).click()
    done = card(page, "Imported: conversations.json")
    expect(done).to_contain_text("Every word of it can be searched now.")
    assert [one.key for one in server.conversations.summaries()] == ["import:claude:u1"]
    done.get_by_role("link", name="Review the facts").click()
    expect(page.get_by_role("listitem").filter(has_text="Max").first).to_be_visible()


def test_what_is_not_imported_leaves_nothing(
    visit: Visit, server: PageServer, export: Path
) -> None:
    page = wait_until_connected(visit.open("#/memory/import"))
    choose(page, export)
    card(page, "In conversations.json").get_by_role("button", name="Do not import").click()
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    assert server.conversations.summaries() == []


def test_a_file_can_be_dropped_and_one_that_is_no_export_says_so(
    visit: Visit, server: PageServer, tmp_path: Path
) -> None:
    page = wait_until_connected(visit.open("#/memory/import"))
    button = page.get_by_role("button", name="Choose a file")
    expect(button.or_(page.get_by_role("button", name="Import another file"))).to_be_visible()
    if not button.is_visible():
        page.get_by_role("button", name="Import another file").click()
    dropped = page.evaluate_handle(
        """() => {
            const carried = new DataTransfer();
            carried.items.add(new File(["no archive"], "export.zip"));
            return carried;
        }"""
    )
    page.dispatch_event(".import-drop", "drop", {"dataTransfer": dropped})
    failed = card(page, "Not imported: export.zip")
    expect(failed).to_contain_text("is not a zip archive, or is damaged; download it again")
    assert server.contents() == []


def test_a_new_conversation_offers_to_bring_the_past(visit: Visit) -> None:
    page = visit.open("#/chat")
    page.get_by_role("link", name="Import conversations from ChatGPT").click()
    expect(page.get_by_role("heading", name="Import your past")).to_be_visible()


def test_the_view_fits_a_phone_and_speaks_chinese(
    server: PageServer, visits: Visiting, export: Path
) -> None:
    page = wait_in_chinese(
        visits(language="zh-TW", colours="dark", size=PHONE).open("#/memory/import")
    )
    assert find_complaints(page) == []
    page.locator("input[type=file]").set_input_files(export)
    expect(page.get_by_text("1 段對話（Claude），2025年3月1日")).to_be_visible()
    assert find_complaints(page) == []
    page.get_by_role("button", name="不要匯入").click()
    expect(page.get_by_role("button", name="選擇檔案")).to_be_visible()
    assert server.contents() == []


def wait_in_chinese(page: Page) -> Page:
    another = page.get_by_role("button", name="匯入另一個檔案")
    expect(another.or_(page.get_by_role("button", name="選擇檔案"))).to_be_visible()
    if another.is_visible():
        another.click()
    return page


def test_a_model_reads_an_import_after_it_was_said_what_that_takes(
    visit: Visit, server: PageServer, other_export: Path
) -> None:
    with ChatApi() as api:
        api.answer(json.dumps({"facts": []}))
        server.configure(model="openai:stand-in", modelUrl=api.url)
        page = wait_until_connected(visit.open("#/memory/import"))
        choose(page, other_export)
        card(page, "In conversations.json").get_by_role("button", name="Import", exact=True).click()
        reading = card(page, "Let a model look for more facts")
        expect(reading).to_contain_text("openai:stand-in has not read yet: 1. Calls needed: 1,")
        assert find_complaints(page) == []
        assert api.requests == []
        reading.get_by_role("spinbutton", name="Calls at most").fill("1")
        reading.get_by_role("button", name="Start reading").click()
        expect(reading).to_contain_text("Facts found and pending your review: 0.")
        assert len(api.requests) == 1


# Reviewing


def wait_for_review(server: PageServer) -> None:
    for name in ("trip", "work"):
        key = f"import:chatgpt:{name}"
        server.conversations.add_exchange(key, f"About my {name}", "Noted.")
        for number in range(3):
            said = Source(quote=f"I said {number}", conversation=key, trust="user")
            server.pending.add(f"{name} fact {number}", origin="import", source=said)


def test_facts_stand_below_their_conversation_and_are_decided_together(
    visit: Visit, server: PageServer
) -> None:
    wait_for_review(server)
    page = wait_until_connected(visit.open("#/memory/learned"))
    expect(group(page, "About my trip").get_by_role("listitem")).to_have_count(3)
    expect(group(page, "About my trip").get_by_role("link", name="About my trip")).to_be_visible()
    assert find_complaints(page) == []
    page.get_by_role("button", name="Reject all from About my work").click()
    expect(group(page, "About my work")).to_have_count(0)
    page.get_by_role("button", name="Accept all", exact=True).click()
    expect(page.get_by_text("Nothing is pending review.")).to_be_visible()
    assert server.contents() == ["trip fact 0", "trip fact 1", "trip fact 2"]


def test_facts_are_decided_one_by_one_by_keyboard_alone(visit: Visit, server: PageServer) -> None:
    wait_for_review(server)
    page = wait_until_connected(visit.open("#/memory/learned"))
    rows = page.locator(".pending-fact")
    rows.first.focus()
    page.keyboard.press("ArrowDown")
    expect(rows.nth(1)).to_be_focused()
    page.keyboard.press("a")
    expect(rows).to_have_count(5)
    expect(rows.filter(has_text="trip fact 2")).to_be_focused()
    page.keyboard.press("r")
    expect(rows).to_have_count(4)
    expect(rows.filter(has_text="work fact 0")).to_be_focused()
    page.keyboard.press("e")
    page.get_by_role("textbox", name="Text of the fact").fill("I work at home")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(3)
    assert server.contents() == ["trip fact 1", "I work at home"]
    assert {one.content for one in server.pending.get_all()} == {
        "trip fact 0", "work fact 1", "work fact 2",
    }  # fmt: skip


def test_what_does_not_fit_stays_pending_and_the_page_says_why(
    visit: Visit, server: PageServer
) -> None:
    server.configure(memoryMaxItems=4)
    wait_for_review(server)
    page = wait_until_connected(visit.open("#/memory/learned"))
    page.get_by_role("button", name="Accept all", exact=True).click()
    expect(page.get_by_text("the memory is full")).to_be_visible()
    expect(page.locator(".pending-fact")).to_have_count(2)
    assert len(server.contents()) == 4
