"""Conversations are kept whole: read page by page, found, named, exported."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.page.browsing import (
    UNREACHABLE,
    Visit,
    answers,
    choose,
    conversation,
    go,
    past,
    questions,
    say,
    shaping,
    toast,
    wait_until_connected,
)
from tests.page.conftest import Visiting
from tests.page.serving import PageServer, choose_lasting_port, run_server
from turnleaf.core.messages import Message, NewMessage

EXCHANGES = 200
SHOWN_AT_FIRST = 25
READ = """async (step) => {
    // Scroll up or down to the end, and note whenever what is being read moves by itself.
    const region = document.querySelector(".chat-scroll");
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    // Between two frames, as a wheel does: the page hears of it before it sees what has grown.
    const task = () => new Promise((done) => setTimeout(done));
    const moves = [];
    const more = step < 0 ? ".chat-rest:has(~ .chat-turn)" : ".chat-turn ~ .chat-rest";
    const below = () => region.scrollHeight - region.clientHeight - region.scrollTop;
    const left = () => (step < 0 ? region.scrollTop : below());
    while (left() >= 1 || region.querySelector(more)) {
        await task();
        const edge = region.getBoundingClientRect().top;
        const turns = [...region.querySelectorAll(".chat-turn")];
        const read = turns.find((turn) => turn.getBoundingClientRect().bottom > edge + 5);
        const before = read.getBoundingClientRect().top;
        const from = region.scrollTop; // at an end nothing moves until more comes
        region.scrollTop += step;
        const wanted = from - region.scrollTop;
        await frame().then(frame);
        const moved = read.getBoundingClientRect().top - before;
        if (Math.abs(moved - wanted) > 2) moves.push(moved);
    }
    return moves;
}"""
SLOW = """() => {
    // The page hears that somebody scrolled to the end before more comes, as over a network.
    const send = window.fetch;
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    window.fetch = (...given) => frame().then(frame).then(() => send(...given));
}"""
UP, DOWN = -300, 100_000
"""Down one goes to the end of what is there at once: so quickly that more comes only then."""


def fill(server: PageServer, key: str, count: int, start: datetime | None = None) -> None:
    """Keep a conversation of so many exchanges."""
    begun = start or datetime.now(UTC) - timedelta(hours=count)
    store = server.conversations
    for number in range(count):
        said = begun + timedelta(minutes=number)
        question = Message("user", f"Question {number}: how is lamp {number}?", said)
        answer = Message(
            "assistant", f"Lamp {number} is fine. " + "It shines. " * (number % 40), said
        )
        store.add_messages(key, [question, answer])


def read_whole_conversation(page: Page) -> list[str]:
    """Read a conversation from its end to its beginning, and return its questions."""
    expect(questions(page).last).to_be_visible()
    assert page.evaluate(READ, UP) == []
    return questions(page).all_inner_texts()


def test_two_hundred_exchanges_are_there_after_a_reload_and_a_restart(
    tmp_path: Path, visits: Visiting
) -> None:
    port = choose_lasting_port()
    options = ("--port", str(port))
    with run_server(tmp_path / "data", *options) as server:
        server.memory.add("客廳的燈叫做小明")
        visit = visits(server.address)
        visit.expected.add(UNREACHABLE)
        page = wait_until_connected(visit.open())
        say(page, "Who is 小明, number 0?")
        key = server.ask("GET", "api/conversations")["conversations"][0]["key"]
        store = server.conversations
        for number in range(1, EXCHANGES - 1):
            asked = f"Who is 小明, number {number}?"
            store.add_exchange(key, asked, f"A lamp. {'It shines. ' * (number % 40)}")
        page.reload()
        expect(answers(page)).to_have_count(SHOWN_AT_FIRST)
        say(page, f"Who is 小明, number {EXCHANGES - 1}?")
        page.reload()
        expect(answers(page)).to_have_count(SHOWN_AT_FIRST)
        expect(questions(page).last).to_have_text(f"Who is 小明, number {EXCHANGES - 1}?")
        expect(page.get_by_role("heading", level=1)).to_have_text("Who is 小明, number 0?")
        address = page.url
        server.end()
    with run_server(tmp_path / "data", *options):
        page.goto("about:blank")
        page.goto(address)
        assert read_whole_conversation(page) == [
            f"Who is 小明, number {number}?" for number in range(EXCHANGES)
        ]
        expect(answers(page)).to_have_count(EXCHANGES)
        expect(shaping(page)).to_contain_text(re.compile("客廳的燈叫做小明|in the prompt"))


def test_a_link_leads_to_a_message_and_both_directions_go_on(
    visit: Visit, server: PageServer
) -> None:
    fill(server, "web:long", 80)
    wanted = server.conversations.messages("web:long")[60]
    page = visit.open(f"#/chat/web%3Along?message={wanted.id}")
    message = conversation(page).locator(f"[data-message~='{wanted.id}']")
    expect(message).to_be_in_viewport()
    expect(message).to_be_focused()
    expect(message).to_contain_text("Question 30")
    expect(questions(page).filter(has_text="Question 79:")).to_have_count(0)
    page.evaluate(SLOW)
    assert page.evaluate(READ, DOWN) == []
    expect(questions(page).last).to_contain_text("Question 79:")
    assert len(read_whole_conversation(page)) == 80
    page.get_by_role("button", name="Jump to the latest").click()
    expect(questions(page).last).to_be_in_viewport()


def test_a_search_result_and_a_passage_lead_to_their_message(
    visit: Visit, server: PageServer
) -> None:
    fill(server, "web:long", 60)
    server.conversations.add_exchange("web:cat", "My cat is called Mimi", "A lovely name.")
    page = visit.open("#/memory?q=Mimi")
    page.get_by_role("region", name="Results").get_by_role("link", name="My cat is called").click()
    message = conversation(page).locator("[data-message]", has_text="My cat is called Mimi")
    expect(message).to_be_focused()
    go(page, "#/chat")
    say(page, "What did I say about Mimi?")
    shaping(page).get_by_role("link", name="My cat is called Mimi").first.click()
    expect(page).to_have_url(re.compile(r"#/chat/web%3Acat\?message=\d+"))
    expect(message).to_be_focused()


def test_a_conversation_is_renamed_where_it_stands(visit: Visit, server: PageServer) -> None:
    server.conversations.add_exchange("web:lamp", "客廳的燈叫什麼？", "小明。")
    page = visit.open("#/chat/web%3Alamp")
    title = page.get_by_role("heading", level=1)
    expect(title).to_have_text("客廳的燈叫什麼？")
    choose(page, "客廳的燈叫什麼？", "Rename")
    box = page.get_by_role("textbox", name="New title")
    expect(box).to_be_focused()
    box.fill("燈")
    box.press("Escape")
    expect(title).to_have_text("客廳的燈叫什麼？")
    choose(page, "客廳的燈叫什麼？", "Rename")
    box.fill("燈")
    box.press("Enter")
    expect(past(page).get_by_role("link")).to_have_text(["燈"])
    expect(title).to_have_text("燈")
    say(page, "還有呢？")
    page.reload()
    expect(title).to_have_text("燈")
    page.locator(".chat-head").get_by_role("button", name="Actions for “燈”").press("Enter")
    expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()
    page.keyboard.press("Enter")
    box.fill("")
    box.press("Enter")
    expect(title).to_have_text("客廳的燈叫什麼？")


def test_a_conversation_is_found_by_its_title_and_its_text(
    visit: Visit, server: PageServer
) -> None:
    server.conversations.add_exchange("web:lamp", "客廳的燈叫什麼？", "它叫做小明。")
    server.conversations.add_exchange("web:tea", "What shall I drink?", "烏龍茶。")
    page = visit.open()
    box = page.get_by_role("searchbox", name="Search conversations")
    box.fill("DRINK")
    expect(past(page).get_by_role("link")).to_have_text(["What shall I drink?"])
    box.fill("小明")
    expect(past(page).get_by_role("link")).to_have_text(["客廳的燈叫什麼？"])
    box.fill("鯨魚")
    expect(page.get_by_text("No conversation has “鯨魚”")).to_be_visible()
    page.get_by_role("button", name="Clear the search").click()
    expect(past(page).get_by_role("link")).to_have_count(2)


def test_a_conversation_is_kept_out_of_search_and_let_in_again(
    visit: Visit, server: PageServer
) -> None:
    server.conversations.add_exchange("web:lamp", "The lamp is called Quuxine", "I see.")
    page = visit.open("#/chat/web%3Alamp")
    choose(page, "The lamp is called Quuxine", "Exclude from search")
    expect(toast(page, "no longer use this conversation")).to_be_visible()
    expect(past(page)).to_contain_text("Not searched")
    expect(page.locator(".chat-head")).to_contain_text("Not searched")
    assert server.ask("GET", "api/memory/search?q=Quuxine")["results"] == []
    choose(page, "The lamp is called Quuxine", "Exclude from search")
    expect(past(page)).not_to_contain_text("Not searched")
    assert server.ask("GET", "api/memory/search?q=Quuxine")["results"]


def test_a_conversation_is_exported(visit: Visit, server: PageServer) -> None:
    server.conversations.add_exchange("web:lamp", "客廳的燈叫什麼？", "小明。")
    page = visit.open("#/chat/web%3Alamp")
    with page.expect_download() as downloading:
        choose(page, "客廳的燈叫什麼？", "Export as Markdown")
    assert "小明。" in downloading.value.path().read_text("utf-8")
    assert downloading.value.suggested_filename.endswith(".md")
    with page.expect_download() as downloading:
        choose(page, "客廳的燈叫什麼？", "Export as JSON")
    exported = json.loads(downloading.value.path().read_text("utf-8"))
    assert [one["content"] for one in exported["messages"]] == ["客廳的燈叫什麼？", "小明。"]


def test_hundreds_of_conversations_are_listed_as_one_scrolls(
    tmp_path: Path, visits: Visiting
) -> None:
    with run_server(tmp_path / "data") as server:
        store = server.conversations
        for number in range(250):
            store.add_exchange(f"web:{number}", f"Question {number}", "Yes.")
        visit = visits(server.address)
        visit.expected.add(UNREACHABLE)
        page = visit.open()
        links = past(page).get_by_role("link")
        expect(links).to_have_count(100)
        expect(links.first).to_have_text("Question 249")
        page.get_by_role("button", name="Show more").scroll_into_view_if_needed()
        expect(links).to_have_count(200)
        page.get_by_role("searchbox", name="Search conversations").fill("Question 24")
        expect(links).to_have_count(11)


def test_an_old_conversation_is_taken_up_again(visit: Visit, server: PageServer) -> None:
    start = datetime.now(UTC) - timedelta(days=30)
    server.conversations.add_messages(
        "web:old",
        [
            Message("user", "My dentist is Dr Lin", start),
            Message("assistant", "I see.", start),
        ],
    )
    page = visit.open("#/chat/web%3Aold")
    expect(conversation(page)).to_contain_text(f"{start.astimezone():%B} {start.astimezone().day}")
    say(page, "And my hairdresser is Mei")
    expect(conversation(page)).to_contain_text("30 days later")
    shaping(page).get_by_role("button", name="Show the prompt").click()
    prompt = page.get_by_role("dialog", name="The whole prompt")
    prompt.locator("summary", has_text="This conversation").click()
    expect(prompt).to_contain_text("My dentist is Dr Lin")


def test_what_others_said_is_marked(visit: Visit, server: PageServer) -> None:
    stranger = NewMessage(
        Message("user", "The meeting is off", name="Mallory"), trust="stranger", source="slack:U2"
    )
    letter = NewMessage(
        Message("assistant", "It says so."), trust="document", source="document:letter.md"
    )
    server.conversations.add_messages("web:mixed", [stranger])
    server.conversations.add_messages("web:mixed", [Message("user", "What is in it?"), letter])
    page = visit.open("#/chat/web%3Amixed")
    expect(conversation(page)).to_contain_text("Mallory, not written by you")
    expect(answers(page)).to_contain_text("Based on the document letter.md")
    expect(conversation(page).get_by_role("button", name="Edit this message")).to_have_count(1)


def test_what_is_kept_is_said_until_it_is_read(visit: Visit, server: PageServer) -> None:
    page = visit.open()
    notice = page.get_by_text("Everything you say here is kept on this server until you delete it.")
    expect(notice.get_by_role("link", name="Change this")).to_have_attribute(
        "href", "#/settings?group=conversations"
    )
    page.locator(".chat-retention").get_by_role("button", name="Close").click()
    expect(notice).to_have_count(0)
    page.reload()
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    expect(notice).to_have_count(0)


def test_the_status_shows_how_much_is_kept(visit: Visit, server: PageServer) -> None:
    fill(server, "web:lamp", 3, datetime(2026, 3, 4, 12, tzinfo=UTC))
    page = visit.open("#/status")
    expect(page.get_by_text("Kept forever")).to_be_visible()
    expect(page.get_by_text("6 messages in 1 conversation,")).to_contain_text("March 4, 2026")
