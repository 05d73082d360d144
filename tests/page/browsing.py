"""A real browser, what must never happen in it, and the page's places as a person names them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import which
from typing import Literal, TypeAlias, TypedDict, Unpack
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Locator,
    Page,
    Request,
    WebError,
    expect,
    sync_playwright,
)

from tests.page.serving import SECONDS

PROGRAM = which("chromium-headless-shell") or which("chromium")
"""The first has no windows, and takes a third of the time for a visit."""
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The tabs of one profile share a process, and with it what it has compiled.
    "--process-per-site",
]
Colours: TypeAlias = Literal["light", "dark"]
WIDE = (1280, 800)
PHONE = (375, 740)
UNREACHABLE = 0
_REFUSED = re.compile(r"Failed to load resource: .*status of (\d+)")
_PATIENCE = """
    // What goes away after some seconds must not go before a busy machine has looked at it.
    const soon = window.setTimeout;
    window.setTimeout = (act, ms, ...rest) => soon(act, ms >= 5000 ? ms * 100 : ms, ...rest);
"""
MOST_STEPS = 60
NAME = """() => {
    const one = document.activeElement;
    const label = one.labels?.[0]?.innerText;
    return (one.getAttribute("aria-label") ?? label ?? one.innerText ?? "").trim();
}"""

expect.set_options(timeout=SECONDS * 1000)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser; while it runs, nothing else on this thread can run an event loop."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A browser's profile in which pages are opened, and what went wrong in them."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.context = context
        self.address = address
        self.wrong: list[str] = []
        self.expected: set[int] = set()
        """The statuses that a test provokes; UNREACHABLE is a server that is not there."""
        self.held_back = 0
        """How often the page asked before it let somebody leave."""
        context.set_default_timeout(SECONDS * 1000)
        context.on("request", self._check_request)
        context.on("console", self._note_console)
        context.on("weberror", self._note_error)
        context.on("dialog", self._dismiss)

    def end(self) -> None:
        """Watch no longer."""
        self.context.remove_listener("request", self._check_request)
        self.context.remove_listener("console", self._note_console)
        self.context.remove_listener("weberror", self._note_error)
        self.context.remove_listener("dialog", self._dismiss)

    def open(self, view: str = "#/chat") -> Page:
        """Open a view of the page in a tab of its own."""
        page = self.context.new_page()
        page.goto(self.address + view)
        return page

    def _check_request(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme not in ("data", "blob") and asked.netloc != urlsplit(self.address).netloc:
            self.wrong.append(f"asked elsewhere: {request.url}")

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and _status(message.text) not in self.expected:
            self.wrong.append(f"console: {message.text}")

    def _note_error(self, error: WebError) -> None:
        self.wrong.append(f"thrown: {error.error}")

    def _dismiss(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            self.held_back += 1
        else:
            self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def _status(told: str) -> int | None:
    """Return the status that the browser complains about, if it is about a response."""
    refused = _REFUSED.search(told)
    if refused:
        return int(refused[1])
    return UNREACHABLE if "net::ERR_" in told else None


class Visitor(TypedDict, total=False):
    """Who visits: by default in English, with light colours, on a wide screen."""

    language: str
    colours: Colours
    size: tuple[int, int]
    is_patient: bool
    """Whether what goes away after some seconds stays."""


@contextmanager
def visiting(browser: Browser, address: str, **visitor: Unpack[Visitor]) -> Iterator[Visit]:
    """Visit a server with a fresh profile; at the end nothing may have gone wrong."""
    context = _make_context(browser, **visitor)
    visit = Visit(context, address)
    try:
        yield visit
    finally:
        context.close()
    assert not visit.wrong, visit.wrong


class BrowserProfile:
    """A profile for many visits, one after the other; each finds nothing of those before.

    A tab that stays open keeps the process in which the page is compiled, which is half of
    what a visit costs. What else a test gives its profile (permissions, scripts, routes) would
    stay for the next test: such a test takes a fresh profile.
    """

    def __init__(self, browser: Browser, address: str) -> None:
        self.context = _make_context(browser)
        self.address = address
        self.kept = self.context.new_page()
        self.kept.goto(f"{address}early.js")

    @contextmanager
    def visiting(self) -> Iterator[Visit]:
        """Visit the server; at the end nothing may have gone wrong."""
        visit = Visit(self.context, self.address)
        try:
            yield visit
        finally:
            for page in self.context.pages:
                if page != self.kept:
                    page.close()
            self.context.clear_cookies()
            # From the same process: no later tab can see what was stored before.
            self.kept.evaluate("localStorage.clear()")
            visit.end()
        assert not visit.wrong, visit.wrong


def _make_context(browser: Browser, **visitor: Unpack[Visitor]) -> BrowserContext:
    """Make a fresh profile for a visitor."""
    width, height = size = visitor.get("size", WIDE)
    context = browser.new_context(
        locale=visitor.get("language", "en-US"),
        color_scheme=visitor.get("colours", "light"),
        reduced_motion="reduce",
        viewport={"width": width, "height": height},
        has_touch=size == PHONE,
    )
    if visitor.get("is_patient", True):
        context.add_init_script(_PATIENCE)
    return context


# Places


def editor(page: Page) -> Locator:
    """The text of MEMORY.md."""
    return page.get_by_role("textbox", name="Text of MEMORY.md")


def fact(page: Page, text: str) -> Locator:
    """A fact in the list."""
    return page.get_by_role("tabpanel").get_by_role("listitem").filter(has_text=text)


def toast(page: Page, text: str) -> Locator:
    """The note at the page's edge that says so."""
    return page.locator(".toast", has_text=text)


def conversation(page: Page) -> Locator:
    """What was said."""
    return page.get_by_role("region", name="Conversation", exact=True)


def answers(page: Page) -> Locator:
    """All answers of a conversation."""
    return conversation(page).locator(".chat-answer")


def questions(page: Page) -> Locator:
    """All messages of a conversation that were not answers."""
    return conversation(page).locator(".chat-question")


def past(page: Page) -> Locator:
    """The list of conversations."""
    return page.get_by_role("list", name="Conversations", exact=True)


def versions(page: Page) -> Locator:
    """What leads from one version of a message to the others."""
    return conversation(page).get_by_role("group", name="Versions")


def shaping(page: Page) -> Locator:
    """What stands beside the last answer."""
    return conversation(page).get_by_role("group", name="Why this answer").last


# Doing


def wait_until_connected(page: Page) -> Page:
    """Wait until the page hears of what happens elsewhere."""
    expect(page.get_by_text("Connected", exact=True)).to_be_attached()
    return page


def begin_conversation(page: Page) -> None:
    """Begin a new conversation, and wait until nothing is shown of the one before."""
    page.get_by_role("button", name="New conversation").first.click()
    expect(answers(page)).to_have_count(0)


def say(page: Page, text: str) -> Locator:
    """Send a message in the chat and return the answer when it is complete."""
    expect(page.locator(".skeleton")).to_have_count(0)  # What was said before may still load.
    count = answers(page).count()
    page.get_by_role("textbox", name="Message", exact=True).fill(text)
    page.keyboard.press("Enter")
    answer = answers(page).nth(count)
    wait_for_answer(answer)
    return answer


def choose(page: Page, title: str, action: str) -> None:
    """Choose an action in the menu of a conversation in the list."""
    menu = past(page).get_by_role("button", name=f"Actions for “{title}”")
    menu.locator("xpath=..").hover()
    menu.click()
    page.locator("[role=menu]:popover-open").get_by_text(action, exact=True).click()


def wait_for_answer(answer: Locator) -> None:
    """Wait until an answer is whole, so that it is not stored in the midst of the next test."""
    expect(answer).to_have_attribute("aria-busy", "false")


def let_learn(page: Page, *, is_on: bool) -> None:
    """Turn learning on or off, and wait until the server has taken it."""
    switch = page.get_by_role("switch", name="Learn from conversations")
    expect(switch).to_be_enabled()
    with page.expect_response(lambda answer: answer.request.method == "PUT"):
        switch.set_checked(is_on, force=True)


def go(page: Page, view: str) -> None:
    """Go to another view of the page that is open."""
    page.evaluate("view => { location.hash = view; }", view)


def find_focus(page: Page) -> str:
    """Return the name of what has the focus."""
    return str(page.evaluate(NAME))


def tab_to(page: Page, name: str, *, back: bool = False) -> None:
    """Press Tab until something of that name has the focus."""
    expect(page.locator(".skeleton")).to_have_count(0)  # What still loads cannot be reached.
    for _ in range(MOST_STEPS):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if find_focus(page) == name:
            return
    message = f"Tab never leads to {name!r}"
    raise AssertionError(message)
