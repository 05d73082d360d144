"""Where the page can be reached: with a token, below a prefix, and after the server was away."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Request, expect

from tests.page.browsing import PHONE, UNREACHABLE, Visit, fact, say, wait_until_connected
from tests.page.conftest import OTHER_NAME, Visiting
from tests.page.judging import find_complaints
from tests.page.proxying import PREFIX, run_proxy
from tests.page.serving import PageServer, choose_lasting_port, run_server

LAMP = "客廳的燈叫做小明"
STATUS_CODE = re.compile(r"/assets/StatusPage-[^/]+\.js$")
MARK = "() => { window.isTheSame = true; }"
IS_MARKED = "() => window.isTheSame === true"
EVERYWHERE = ("--host", "0.0.0.0")  # noqa: S104 - that is what is tested


def test_from_elsewhere_the_page_asks_for_the_token(tmp_path: Path, visits: Visiting) -> None:
    with run_server(tmp_path / "data", *EVERYWHERE, environ={"MEMORY_MAX_ITEMS": "7"}) as server:
        server.memory.add(LAMP)
        address = f"http://127.0.0.1:{server.port}/"
        token = (server.data / "http-token").read_text("utf-8").strip()
        visit = visits(address, colours="dark", size=PHONE)
        visit.expected.add(401)
        page = visit.open("#/memory")
        box = page.get_by_label("Token")
        expect(box).to_be_focused()
        assert find_complaints(page) == []
        expect(page.get_by_text(LAMP)).to_have_count(0)
        box.fill("a" * 43)
        page.get_by_role("button", name="Open").click()
        expect(page.get_by_role("alert")).to_contain_text("That token was not accepted.")
        box.fill(f" {token} ")
        box.press("Enter")
        expect(fact(page, LAMP)).to_be_visible()
        page.reload()
        expect(fact(page, LAMP)).to_be_visible()

        page = wait_until_connected(visits(address).open(f"#token={token}"))
        assert token not in page.url
        say(page, "客廳的燈叫什麼？")
        expect(page.get_by_role("region", name="Conversation")).to_contain_text(LAMP)
        page.get_by_role("link", name="Settings", exact=True).click()
        fixed = page.get_by_role("textbox", name="Number of facts")
        expect(fixed).to_have_value("7")
        expect(fixed).to_be_disabled()
        expect(page.get_by_text("Whoever runs the server has fixed this setting.")).to_be_visible()
        expect(page.get_by_role("textbox", name="Memory file")).to_be_disabled()
        page.context.close()
        visit.context.close()


def test_the_operator_makes_a_token_sees_its_last_use_and_revokes_it(
    tmp_path: Path, visits: Visiting
) -> None:
    with run_server(tmp_path / "data") as server:
        visit = visits(server.address)
        visit.context.request.get(server.make_link())
        page = wait_until_connected(visit.open("#/settings/tokens"))
        people = page.get_by_role("region", name="People")
        people.get_by_label("Space").fill("bob")
        people.get_by_label("Name").fill("Bob's phone")
        people.get_by_label("Last day").fill("2099-12-31")
        people.get_by_role("button", name="Create token").click()
        token = people.locator("code").inner_text()
        row = people.get_by_role("listitem").filter(has_text="Bob's phone")
        expect(row).to_contain_text("not used yet")
        expect(row).to_contain_text("2099")
        assert find_complaints(page) == []

        bob = visits(server.address)
        bob.expected.add(401)
        wait_until_connected(bob.open(f"#token={token}"))
        page.reload()
        expect(row).to_contain_text("last used")
        expect(people.get_by_text(token)).to_have_count(0)

        row.get_by_role("button", name="Revoke").click()
        row.get_by_role("button", name="Revoke it now").click()
        expect(row).to_have_count(0)
        page.context.close()
        bob.context.close()


def test_it_works_below_a_prefix(server: PageServer, visits: Visiting) -> None:
    server.memory.add(LAMP)
    with run_proxy(server.port) as proxy:
        address = f"http://{OTHER_NAME}:{proxy.server_port}{PREFIX}/"
        page = wait_until_connected(visits(address).open())
        expect(say(page, "客廳的燈叫什麼？")).to_contain_text(LAMP)
        page.get_by_role("link", name="Memory", exact=True).click()
        server.memory.add("我早上喝烏龍茶")
        expect(fact(page, "我早上喝烏龍茶")).to_be_visible()
        page.get_by_role("tab", name="MEMORY.md").click()
        expect(page.get_by_role("textbox", name="Text of MEMORY.md")).to_contain_text(LAMP)
        page.get_by_role("link", name="Status", exact=True).click()
        description = page.get_by_role("link", name="Read the API reference")
        expect(description).to_have_attribute("href", re.compile(f"{PREFIX}/docs"))
        page.context.close()


def test_a_lost_server_is_reported_and_reconnected_also_by_a_view_opened_meanwhile(
    tmp_path: Path, visits: Visiting
) -> None:
    data, port = tmp_path / "data", str(choose_lasting_port())
    with run_server(data, "--port", port) as server:
        visit = visits(server.address, is_patient=False)
        visit.expected.add(UNREACHABLE)
        page = wait_until_connected(visit.open("#/memory"))
        expect(page.get_by_text("Nothing is remembered yet")).to_be_visible()
        expect(page.get_by_role("switch", name="Learn from conversations")).to_be_enabled()
        other = wait_until_connected(visit.open())
        other.evaluate(MARK)
        server.end()
    for tab in (page, other):
        away = tab.get_by_role("banner").get_by_text("Not connected. Trying again…")
        expect(away).to_be_attached()
    page.get_by_role("textbox", name="New fact").fill("我早上喝烏龍茶")
    page.get_by_role("button", name="Add fact").click()
    expect(page.get_by_role("alert")).to_contain_text("The server is not responding.")
    other.get_by_role("link", name="Memory", exact=True).click()
    waiting = other.get_by_role("main").get_by_role("status")
    expect(waiting).to_have_text("Not connected. Trying again…")
    server.memory.add(LAMP)
    with run_server(data, "--port", port):
        wait_until_connected(page)
        expect(fact(page, LAMP)).to_be_visible()
        page.get_by_role("button", name="Add fact").click()
        expect(fact(page, "我早上喝烏龍茶")).to_be_visible()
        assert server.contents() == [LAMP, "我早上喝烏龍茶"]
        expect(fact(other, LAMP)).to_be_visible()
        assert other.evaluate(IS_MARKED)
        visit.context.close()


def test_a_page_older_than_its_server_is_loaded_again_once_nothing_would_be_lost(
    visit: Visit,
) -> None:
    visit.expected.add(404)
    page = wait_until_connected(visit.open())
    page.evaluate(MARK)
    page.route(STATUS_CODE, lambda route: route.fulfill(status=404))
    box = page.get_by_role("textbox", name="Message", exact=True)
    box.fill("客廳的燈叫什麼？")
    page.get_by_role("link", name="Status", exact=True).click()
    expect(page.get_by_text("Save or send what you have written first")).to_be_visible()
    page.get_by_role("link", name="Chat", exact=True).click()
    expect(box).to_have_value("客廳的燈叫什麼？")
    assert page.evaluate(IS_MARKED)
    box.fill("")
    page.unroute(STATUS_CODE)
    page.get_by_role("link", name="Status", exact=True).click()
    expect(page.get_by_role("heading", name="Status", level=1)).to_be_visible()
    assert not page.evaluate(IS_MARKED)


def test_a_page_whose_file_is_missing_is_loaded_again_only_once(visit: Visit) -> None:
    visit.expected.add(404)
    page = wait_until_connected(visit.open())
    loads: list[Request] = []
    page.on("request", lambda one: loads.append(one) if one.is_navigation_request() else None)
    page.route(STATUS_CODE, lambda route: route.fulfill(status=404))
    page.get_by_role("link", name="Status", exact=True).click()
    expect(page.get_by_text("This view stopped working")).to_be_visible()
    expect(page.get_by_role("button", name="Reload")).to_be_visible()
    assert len(loads) == 1
