"""A large memory: only what may be seen is drawn, and the rest is filtered, chosen and reached."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.page.browsing import PHONE, WIDE, Visit, fact, toast, wait_until_connected
from tests.page.conftest import Visiting
from tests.page.judging import find_complaints
from tests.page.serving import PageServer
from turnleaf.core import markdown
from turnleaf.core.memories import Memory
from turnleaf.core.page_drafts import Draft

NOW = datetime.now(UTC)
MANY = 2000
MOST_NODES = 4000


def write_facts(server: PageServer, memories: Sequence[Memory]) -> None:
    server.configure(memoryMaxItems=10_000, memoryMaxChars=1_000_000)
    draft = Draft(markdown, "# Memory\n", NOW)
    draft.insert_all(memories, "import")
    server.ask("PUT", "api/memory/main", {"content": draft.text})


def make_fact(number: int, text: str, category: str, **more: object) -> Memory:
    time = NOW - timedelta(days=number)
    return Memory(f"id{number}", text, time, time, category, **more)  # type: ignore[arg-type]


@pytest.fixture
def large(server: PageServer) -> PageServer:
    """A memory of many facts, in ten categories."""
    write_facts(
        server,
        [make_fact(n, f"Fact {n} of room {n % 7}", f"Category {n % 10}") for n in range(MANY)],
    )
    return server


@pytest.fixture
def small(server: PageServer) -> PageServer:
    """A memory of ten facts of different kinds."""
    write_facts(
        server,
        [
            make_fact(0, "客廳的燈叫做小明", "家", origin="user"),
            make_fact(1, "Drinks oolong tea", "Food", origin="learnt"),
            *(make_fact(n, f"Imported {n}", "Old", origin="import") for n in range(40, 48)),
        ],
    )
    return server


def rows(page: Page) -> Locator:
    return page.locator(".fact")


def choose(page: Page, name: str, value: str) -> None:
    page.get_by_role("combobox", name=name).select_option(value)


def test_of_many_facts_those_are_drawn_that_may_be_seen_and_keys_and_filter_lead_to_the_rest(
    visit: Visit, large: PageServer
) -> None:
    large.configure(memoryMaxItems=10_000, memoryMaxChars=1_000_000, promptMaxTokens=2000)
    page = wait_until_connected(visit.open("#/memory"))
    expect(fact(page, "Fact 0 of room 0")).to_be_visible()
    expect(page.get_by_text(re.compile(r"About \d+ of 2,000 facts fit into one"))).to_be_visible()
    assert page.evaluate("document.querySelectorAll('*').length") < MOST_NODES
    expect(rows(page).first).to_have_attribute("aria-setsize", str(MANY // 10))
    assert find_complaints(page) == []

    rows(page).first.focus()
    page.keyboard.press("End")
    last = fact(page, f"Fact {MANY - 1} of")
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport()
    expect(last).to_have_attribute("aria-posinset", str(MANY // 10))
    page.keyboard.press("Home")
    expect(rows(page).first).to_be_focused()
    categories = page.get_by_role("navigation", name="Categories")
    categories.get_by_role("button", name="Category 6").click()
    expect(fact(page, "Fact 6 of room 6")).to_be_focused()

    page.keyboard.press("Control+f")
    filter_text = page.get_by_role("textbox", name="Filter facts by text")
    expect(filter_text).to_be_focused()
    filter_text.fill("room 3 1999")
    expect(page.get_by_text("No fact matches")).to_be_visible()
    filter_text.fill("ROOM 4 fact 1999")
    expect(rows(page)).to_have_count(1)
    expect(page.get_by_text("1 of 2,000")).to_be_visible()
    filter_text.press("Escape")
    expect(rows(page).nth(5)).to_be_visible()


def test_facts_are_narrowed_by_category_origin_and_age_put_in_order_and_chosen_together(
    visit: Visit, small: PageServer
) -> None:
    page = wait_until_connected(visit.open("#/memory"))
    choose(page, "Origin", "learnt")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("oolong")
    page.get_by_role("button", name="Show all").click()
    choose(page, "Changed", "week")
    expect(rows(page)).to_have_count(2)
    choose(page, "Category", "家")
    expect(rows(page)).to_have_count(1)
    page.get_by_role("button", name="Show all").click()
    choose(page, "Order", "oldest")
    expect(rows(page).first).to_contain_text("Imported 47")
    choose(page, "Order", "newest")
    expect(rows(page).first).to_contain_text("小明")
    choose(page, "Origin", "import")
    page.get_by_role("button", name="Select all 8").click()
    page.get_by_role("group", name="Selected facts").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No fact matches")).to_be_visible()
    assert small.contents() == ["客廳的燈叫做小明", "Drinks oolong tea"]


def test_facts_that_no_answer_rests_on_are_found(visit: Visit, small: PageServer) -> None:
    page = wait_until_connected(visit.open("#/memory"))
    unused = page.get_by_role("checkbox", name="Never used")
    expect(unused).to_have_accessible_description(re.compile("no stored answer rests on"))
    unused.check()
    expect(rows(page)).to_have_count(10)
    small.ask("POST", "api/chat", {"message": "客廳的燈叫什麼？", "key": "web:lamp"})
    page.reload()
    unused.check()
    expect(page.get_by_text("9 of 10")).to_be_visible()
    expect(fact(page, "小明")).to_have_count(0)
    assert find_complaints(page) == []


def test_a_fact_is_pinned_by_key_and_by_button(visit: Visit, small: PageServer) -> None:
    page = wait_until_connected(visit.open("#/memory"))
    lamp = fact(page, "小明")
    lamp.focus()
    page.keyboard.press("p")
    expect(lamp.get_by_text("Pinned", exact=True)).to_be_visible()
    assert "pinned=yes" in small.file
    page.get_by_role("checkbox", name="Pinned only").check()
    expect(rows(page)).to_have_count(1)
    lamp.hover()
    lamp.get_by_role("button", name="Unpin").click()
    expect(page.get_by_text("No fact matches")).to_be_visible()
    assert "pinned=yes" not in small.file


def test_several_facts_are_moved_pinned_and_deleted_with_one_undo(
    visit: Visit, small: PageServer
) -> None:
    page = wait_until_connected(visit.open("#/memory"))
    fact(page, "Imported 40").focus()
    page.keyboard.press("x")
    page.get_by_role("checkbox", name="Select: Imported 41").check()
    selection = page.get_by_role("group", name="Selected facts")
    expect(selection).to_contain_text("2 selected")
    assert find_complaints(page) == []
    selection.get_by_role("button", name="Pin", exact=True).click()
    expect(page.get_by_text("Pinned", exact=True)).to_have_count(2)
    selection.get_by_role("textbox", name="Other category").fill("家")
    selection.get_by_role("button", name="Move").click()
    home = page.get_by_role("list", name="Facts: 家")
    expect(home.get_by_role("listitem")).to_have_count(3)
    selection.get_by_role("button", name="Delete").click()
    expect(rows(page)).to_have_count(8)
    expect(selection).to_have_count(0)
    toast(page, "2 facts deleted").get_by_role("button", name="Undo").click()
    expect(rows(page)).to_have_count(10)
    assert len(small.contents()) == 10


def find_middle(place: Locator) -> float:
    """Return the height on the page at which the middle of something is."""
    box = place.bounding_box()
    assert box is not None
    return box["y"] + box["height"] / 2


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_the_box_that_selects_a_fact_stands_beside_its_text(
    visits: Visiting, size: tuple[int, int]
) -> None:
    row = fact(wait_until_connected(visits(size=size).open("#/memory")), "Drinks oolong tea")
    box, text = row.get_by_role("checkbox"), row.get_by_text("Drinks oolong tea")
    expect(box).to_be_visible()
    assert find_middle(box) == pytest.approx(find_middle(text), abs=3)


def test_the_list_and_its_filters_fit_a_phone(small: PageServer, visits: Visiting) -> None:
    page = visits(language="zh-TW", colours="dark", size=PHONE).open("#/memory")
    expect(page.get_by_role("textbox", name="用文字篩選記憶")).to_be_visible()
    page.get_by_role("checkbox", name="勾選：Imported 40").check()
    expect(page.get_by_role("group", name="勾選的記憶")).to_be_visible()
    assert find_complaints(page) == []
