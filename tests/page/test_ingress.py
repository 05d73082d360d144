"""The page in Home Assistant's sidebar: in a frame, below a prefix, through its ingress."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, FrameLocator, expect

from tests.page.browsing import visiting
from tests.standins.home_assistant import App, app_running, ingress_to
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.schedules import ScheduleStore

LAMP = "客廳的燈叫做小明"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    data = tmp_path_factory.mktemp("sidebar") / "data"
    with app_running(data, model="recall", embeddings=False) as app:
        yield app


def go(page: FrameLocator, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()


def test_the_page_works_in_home_assistants_sidebar(app: App, browser: Browser) -> None:
    memory = MemoryStore(app.data / "prompts/memory/MEMORY.md")
    with ingress_to(app) as ingress, visiting(browser, ingress.address) as visit:
        shown = visit.open("/")
        shown.locator("iframe").evaluate("one => { one.width = 1200; one.height = 800 }")
        page = shown.frame_locator("iframe")
        expect(page.get_by_text("Connected", exact=True)).to_be_attached()

        box = page.get_by_role("textbox", name="Message", exact=True)
        box.fill(f"記住{LAMP}")
        box.press("Enter")
        answer = page.locator(".chat-answer").first
        expect(answer).to_have_attribute("aria-busy", "false")
        assert [one.content for one in memory.get_all()] == [LAMP]

        go(page, "Memory")
        facts = page.get_by_role("tabpanel").get_by_role("listitem")
        expect(facts.filter(has_text=LAMP)).to_be_visible()
        memory.add("我早上喝烏龍茶")
        expect(facts.filter(has_text="我早上喝烏龍茶")).to_be_visible()
        page.get_by_role("textbox", name="New fact").fill("書房的燈叫做小美")
        page.get_by_role("button", name="Add fact").click()
        expect(facts.filter(has_text="書房的燈叫做小美")).to_be_visible()
        page.get_by_role("tab", name="MEMORY.md").click()
        editor = page.get_by_role("textbox", name="Text of MEMORY.md")
        expect(editor).to_contain_text("小美")
        editor.press("Control+End")
        shown.keyboard.insert_text("- 陽台的花叫做小綠")
        state = page.get_by_role("tabpanel").get_by_role("status")
        expect(state.get_by_text("Unsaved changes", exact=True)).to_be_visible()
        shown.keyboard.press("Control+s")
        expect(state.get_by_text("Saved", exact=True)).to_be_visible()
        assert memory.get_all()[-1].content == "陽台的花叫做小綠"

        go(page, "Schedules")
        expect(page.get_by_text("Nothing is scheduled yet")).to_be_visible()
        schedules = ScheduleStore(app.data / "schedules.json")
        kept = schedules.add("客廳的燈叫什麼？", "0 9 1 1 *")
        pause = page.get_by_role("article").get_by_role("button", name="Pause")
        expect(pause).to_be_enabled()
        pause.click()
        expect(page.get_by_role("article").get_by_text("Paused")).to_be_visible()
        assert schedules.get(kept.id).is_paused
