"""Colours and languages: as the browser has them, or as somebody chose."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.page.browsing import Colours, Visit, connected
from tests.page.conftest import Visiting
from tests.page.serving import Served

IS_DARK = """wanted => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g);
    return (Number(red) + Number(green) + Number(blue) < 3 * 127) === wanted;
}"""


def wait_until_dark(page: Page, *, wanted: bool) -> None:
    """Wait until the page's background is dark, or light."""
    page.wait_for_function(IS_DARK, arg=wanted)


def choose(page: Page, group: str, choice: str) -> None:
    buttons = page.get_by_role("banner").get_by_role("radiogroup", name=group)
    buttons.get_by_role("radio", name=choice).check(force=True)


@pytest.mark.parametrize(("colours", "other"), [("light", "Dark"), ("dark", "Light")])
def test_the_colours_are_the_systems_until_others_are_chosen(
    server: Served, visits: Visiting, colours: Colours, other: str
) -> None:
    page = connected(visits(colours=colours).open("#/status"))
    is_dark = colours == "dark"
    wait_until_dark(page, wanted=is_dark)
    choose(page, "Colours", other)
    wait_until_dark(page, wanted=not is_dark)
    page.reload()
    connected(page)
    wait_until_dark(page, wanted=not is_dark)
    choose(page, "Colours", "System")
    wait_until_dark(page, wanted=is_dark)


@pytest.mark.parametrize("language", ["zh-TW", "zh-Hant-HK"])
def test_a_chinese_browser_gets_a_chinese_page(
    server: Served, visits: Visiting, language: str
) -> None:
    server.memory.add("客廳的燈叫做小明", "家")
    page = visits(language=language).open("#/memory")
    expect(page.locator("html")).to_have_attribute("lang", "zh-TW")
    expect(page.get_by_role("heading", name="記憶", exact=True)).to_be_visible()
    expect(page.get_by_role("list", name=re.compile("：家$"))).to_contain_text("客廳的燈叫做小明")
    expect(page).to_have_title("記憶 · Turnleaf")
    for view in ("對話", "排程", "狀態", "設定"):
        page.get_by_role("link", name=view, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        shown = page.get_by_role("main").inner_text()
        assert len([letter for letter in shown if "一" <= letter <= "鿿"]) > len(shown) / 5


def test_a_language_that_was_chosen_stays(visit: Visit, server: Served) -> None:
    page = visit.open("#/settings")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    choose(page, "Language", "中文")
    expect(page.get_by_role("heading", name="設定", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="設定", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-TW")
    choose(page, "語言", "EN")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
