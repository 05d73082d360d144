"""Colours and languages: as the browser has them, or as somebody chose."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.page.browsing import Visit, wait_until_connected
from tests.page.conftest import Visiting
from tests.page.serving import PageServer

IS_DARK = """wanted => {
    const [red, green, blue] = getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g);
    return (Number(red) + Number(green) + Number(blue) < 3 * 127) === wanted;
}"""

IS_CHINESE = """() => {
    // What is still loading says little.
    const shown = document.querySelector("main").innerText;
    const letters = shown.match(/[一-鿿]/g) ?? [];
    return !document.querySelector(".skeleton") && letters.length > shown.length / 5;
}"""


def wait_until_dark(page: Page, *, wanted: bool) -> None:
    """Wait until the page's background is dark, or light."""
    page.wait_for_function(IS_DARK, arg=wanted)


def choose(page: Page, group: str, choice: str) -> None:
    buttons = page.get_by_role("banner").get_by_role("radiogroup", name=group)
    buttons.get_by_role("radio", name=choice).check(force=True)


def test_the_colours_are_the_systems_until_others_are_chosen(visit: Visit) -> None:
    page = wait_until_connected(visit.open("#/status"))
    wait_until_dark(page, wanted=False)
    page.emulate_media(color_scheme="dark")
    wait_until_dark(page, wanted=True)
    choose(page, "Colours", "Light")
    wait_until_dark(page, wanted=False)
    page.reload()
    wait_until_connected(page)
    wait_until_dark(page, wanted=False)
    choose(page, "Colours", "System")
    wait_until_dark(page, wanted=True)
    page.emulate_media(color_scheme="light")
    choose(page, "Colours", "Dark")
    wait_until_dark(page, wanted=True)


def test_a_chinese_browser_gets_a_chinese_page(server: PageServer, visits: Visiting) -> None:
    server.memory.add("客廳的燈叫做小明", "家")
    page = visits(language="zh-Hant-HK").open("#/memory")
    expect(page.locator("html")).to_have_attribute("lang", "zh-TW")
    expect(page.get_by_role("heading", name="記憶", exact=True)).to_be_visible()
    expect(page.get_by_role("list", name=re.compile("：家$"))).to_contain_text("客廳的燈叫做小明")
    expect(page).to_have_title("記憶 · Turnleaf")
    for view, title in (("對話", "新對話"), ("排程", "排程"), ("狀態", "狀態"), ("設定", "設定")):
        page.get_by_role("link", name=view, exact=True).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(title)
        page.wait_for_function(IS_CHINESE)


def test_a_language_that_was_chosen_stays(visit: Visit, server: PageServer) -> None:
    page = visit.open("#/settings")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
    choose(page, "Language", "中文")
    expect(page.get_by_role("heading", name="設定", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="設定", exact=True)).to_be_visible()
    expect(page.locator("html")).to_have_attribute("lang", "zh-TW")
    choose(page, "語言", "EN")
    expect(page.get_by_role("heading", name="Settings")).to_be_visible()
