"""003: the memory is edited, searched and switched in the page, by a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.page.browsing import begin_conversation, chromium, editor, fact, let_learn, say, visiting
from tests.page.serving import PageServer, run_server

LAMP = "客廳的燈叫做小明"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PageServer]:
    with run_server(tmp_path_factory.mktemp("scenarios") / "data") as server:
        yield server


@pytest.fixture
def page(browser: Browser, server: PageServer) -> Iterator[Page]:
    """The page, as somebody finds who opens it for the first time."""
    server.begin_again()
    with visiting(browser, server.address) as visit:
        yield visit.open("")


def open_memory(page: Page) -> None:
    page.get_by_role("link", name="Memory", exact=True).click()


@pytest.mark.scenario("003.page-edit")
def test_an_edit_of_the_memory_file_is_saved(page: Page, server: PageServer) -> None:
    open_memory(page)
    page.get_by_role("tab", name="MEMORY.md").click()
    editor(page).press("Control+End")
    page.keyboard.insert_text(f"- {LAMP}")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("status").get_by_text("Saved", exact=True)).to_be_visible()
    path = server.data / "prompts/memory/MEMORY.md"
    assert path.read_text("utf-8") == f"# Memory\n- {LAMP}"


@pytest.mark.scenario("003.page-switch")
def test_the_switch_turns_learning_off_and_on(page: Page, server: PageServer) -> None:
    server.configure(minNewMessages=1)
    open_memory(page)
    for is_on, said in ((False, "我住在基隆"), (True, "客廳的燈叫做小明")):
        let_learn(page, is_on=is_on)
        expect(page.get_by_text("On: facts" if is_on else "Off: only")).to_be_visible()
        page.get_by_role("link", name="Chat", exact=True).click()
        begin_conversation(page)
        answer = say(page, said)
        if is_on:
            expect(answer).to_contain_text("Learned: 客廳的燈叫做小明")
        assert server.read_config()["autoExtract"] is is_on
        open_memory(page)
    assert server.contents() == ["客廳的燈叫做小明"]


@pytest.mark.scenario("003.page-search")
def test_what_is_typed_shows_the_memories_that_match(page: Page, server: PageServer) -> None:
    server.write(f"- {LAMP}\n- 我早上喝烏龍茶\n- The kitchen lamp has no name\n")
    open_memory(page)
    expect(fact(page, "烏龍茶")).to_be_visible()
    for query, found in (("客廳的燈", LAMP), ("kitchen", "The kitchen lamp has no name")):
        page.get_by_role("searchbox", name="Search memory").fill(query)
        results = page.get_by_role("region", name="Results").get_by_role("link")
        expect(results.first).to_contain_text(found)
        expect(results.filter(has_text="烏龍茶")).to_have_count(0)
