"""A page that stays open for long: several tabs at once, and answers that failed."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit

from playwright.sync_api import Request, Route, expect

from tests.page.browsing import (
    Visit,
    answers,
    conversation,
    fact,
    questions,
    say,
    wait_until_connected,
)
from tests.page.conftest import Visiting
from tests.page.serving import SECONDS, PageServer
from tests.standins.chat_api import ChatAnswer, ChatApi

LAMP = "客廳的燈叫做小明"
TEA = "我早上喝烏龍茶"
TABS = 7
"""More than the lines that a browser opens to one server."""


def test_many_tabs_hear_of_everything_over_one_line(visits: Visiting, server: PageServer) -> None:
    visit = visits()
    lines: list[Request] = []

    def note(request: Request) -> None:
        if request.url.endswith("/api/events"):
            lines.append(request)

    visit.context.on("request", note)
    tabs = [wait_until_connected(visit.open("#/memory")) for _ in range(TABS)]
    assert len(lines) == 1
    server.memory.add(LAMP)
    for tab in tabs:
        expect(fact(tab, LAMP)).to_be_visible()
    tabs.pop(0).close()
    server.memory.add(TEA)
    for tab in tabs:
        expect(fact(tab, TEA)).to_be_visible()
    tab = tabs[-1]
    tab.get_by_role("link", name="Chat", exact=True).click()
    expect(say(tab, "客廳的燈叫什麼？")).to_contain_text(LAMP)
    assert len(lines) == 2, "the tab that listened is gone, so one other listens"


def test_what_changed_before_the_line_was_open_is_shown(
    visits: Visiting, server: PageServer
) -> None:
    visit = visits()
    held: list[Route] = []

    def hold(line: Route) -> None:
        held.append(line)

    visit.context.route("**/api/events", hold)
    first, second = visit.open("#/memory"), visit.open("#/memory")
    for tab in (first, second):
        expect(tab.get_by_text("Nothing is remembered yet")).to_be_visible()
    with server.listening() as told:
        server.memory.add(LAMP)
        next(one for one in told if one.get("facts") == 1)
    expect(fact(first, LAMP)).to_have_count(0)
    [line] = held
    line.continue_()
    for tab in (first, second):
        expect(fact(tab, LAMP)).to_be_visible()


class GatedAnswer:
    """An answer that begins when it is let."""

    def __init__(self) -> None:
        self.is_asked = threading.Event()
        self.go = threading.Event()

    def __iter__(self) -> Iterator[str]:
        self.is_asked.set()
        assert self.go.wait(SECONDS)
        yield "It is 小明."


def test_a_question_that_waits_for_its_answer_is_no_stopped_one_in_another_tab(
    visit: Visit, api: ChatApi
) -> None:
    held = GatedAnswer()
    api.replies.append(ChatAnswer(cast("tuple[str, ...]", held)))
    first = visit.open()
    first.get_by_role("textbox", name="Message", exact=True).fill("客廳的燈叫什麼？")
    first.get_by_role("button", name="Send").click()
    expect(first.get_by_text("Thinking…")).to_be_visible()
    expect(first).to_have_url(re.compile("#/chat/.+"))
    assert held.is_asked.wait(SECONDS)  # What is asked of a model is stored by then.
    second = visit.open(f"#{urlsplit(first.url).fragment}")
    expect(conversation(second).get_by_text("Answering…")).to_be_visible()
    expect(conversation(second).get_by_text("Stopped")).to_have_count(0)
    held.go.set()
    for tab in (first, second):
        expect(answers(tab)).to_contain_text("It is 小明.")
    expect(conversation(second).get_by_text("Answering…")).to_have_count(0)


def test_what_failed_is_asked_again_after_what_was_said_since(
    visit: Visit, server: PageServer, api: ChatApi
) -> None:
    api.fail(401, "Incorrect API key provided.")
    page = visit.open()
    say(page, "小明在嗎？")
    api.answer("很好。")
    say(page, "今天好嗎？")
    api.answer("在。")
    conversation(page).get_by_role("button", name="Try again").click()
    expect(answers(page).last).to_contain_text("在。")
    expect(answers(page)).to_have_count(3)
    expect(answers(page).first.get_by_role("alert")).to_be_visible()
    expect(answers(page).nth(1)).to_contain_text("很好。")
    expect(questions(page)).to_have_text(["小明在嗎？", "今天好嗎？", "小明在嗎？"])
