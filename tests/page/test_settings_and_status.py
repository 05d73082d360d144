"""What can be set, and how everything is."""

from __future__ import annotations

import re

from playwright.sync_api import Locator, Page, expect

from tests.page.browsing import Visit, wait_until_connected
from tests.page.serving import PageServer


def setting(page: Page, name: str) -> Locator:
    return page.locator(".setting").filter(has=page.get_by_text(name, exact=True))


def test_a_setting_holds_at_once_and_can_be_as_it_was(visit: Visit, server: PageServer) -> None:
    page = visit.open("#/settings")
    limit = page.get_by_role("textbox", name="Number of facts")
    limit.fill("7")
    limit.press("Enter")
    expect(setting(page, "Number of facts").get_by_role("status")).to_have_text("Saved")
    assert server.read_config()["memoryMaxItems"] == 7
    assert server.ask("GET", "api/memory/stats")["maxItems"] == 7
    page.get_by_role("button", name="Reset to default (100)").click()
    expect(limit).to_have_value("100")
    expect(limit).to_be_focused()
    assert "memoryMaxItems" not in server.read_config()
    share = setting(page, "Extract at once when the context is this full")
    share.get_by_role("textbox", name="percent").fill("60")
    share.get_by_role("textbox", name="percent").press("Enter")
    expect(share.get_by_role("slider")).to_have_value("60")
    expect(share.get_by_role("status")).to_have_text("Saved")
    assert server.read_config()["flushThreshold"] == 0.6
    people = page.get_by_role("region", name="Slack").get_by_role("textbox").first
    people.fill("U012AB3CD, W45")
    people.press("Enter")
    expect(people).to_have_value("U012AB3CD,W45")
    assert server.read_config()["slackAllowedUsers"] == "U012AB3CD,W45"


def test_a_refused_value_shows_why_beside_it_and_changes_nothing(
    visit: Visit, server: PageServer
) -> None:
    visit.expected |= {403, 422}
    before = server.read_config()
    page = visit.open("#/settings")
    for name, value, told in (
        ("Number of facts", "0", "a whole number of at least 1"),
        ("Channels where it answers every member", "客廳", "IDs as Slack shows them"),
        ("Address of an embeddings model", "http://192.0.2.7/v1", "Only whoever runs the server"),
    ):
        row = setting(page, name)
        row.get_by_role("combobox").or_(row.get_by_role("textbox")).fill(value)
        page.keyboard.press("Enter")
        expect(row.get_by_role("alert")).to_contain_text(told)
    assert server.read_config() == before


def test_an_address_elsewhere_is_set_once_it_is_confirmed(visit: Visit, server: PageServer) -> None:
    visit.expected |= {409}
    visit.context.request.get(server.make_link())
    page = wait_until_connected(visit.open("#/settings"))
    row = setting(page, "Address of an embeddings model")
    address = "http://192.0.2.7/v1"
    row.get_by_role("combobox").fill(address)
    page.keyboard.press("Enter")
    asked = page.get_by_role("dialog", name="Send your words to this address?")
    expect(asked).to_contain_text(address)
    assert "embeddingsUrl" not in server.read_config()
    asked.get_by_role("button", name="Yes, send them there").click()
    expect(row.get_by_role("status")).to_have_text("Saved")
    assert server.read_config()["embeddingsUrl"] == address


def test_the_status_tells_the_model_and_what_needs_a_look(visit: Visit, server: PageServer) -> None:
    lost = server.memory.location.with_name("MEMORY.md.corrupt-20261115T080000Z")
    lost.write_text("- 小明", "utf-8")
    server.memory.add("客廳的燈叫做小明")
    page = wait_until_connected(visit.open("#/status"))
    expect(page.get_by_text("Running. One thing needs your attention.")).to_be_visible()
    expect(page.get_by_text(lost.name)).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text(re.compile("Model.*No model", re.DOTALL))
    files = page.get_by_role("table", name="Files")
    expect(files.get_by_role("row").filter(has_text="MEMORY.md")).to_contain_text("1 fact")
    expect(page.get_by_role("progressbar", name="Search index")).to_have_attribute(
        "aria-valuetext", "Up to date"
    )
    lost.unlink()
    page.get_by_role("button", name="Check again").click()
    expect(page.get_by_text("Everything works.")).to_be_visible()
    server.configure(model="openai:gpt-5")
    expect(page.get_by_text("openai:gpt-5", exact=True)).to_be_visible()
    expect(page.get_by_text("Your words go to OpenAI.")).to_be_visible()
