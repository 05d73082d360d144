"""What was asked or answered again: the other versions stay, and can be shown."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.page.browsing import (
    Visit,
    answers,
    conversation,
    questions,
    say,
    shaping,
    versions,
    wait_for_answer,
)
from tests.page.serving import PageServer
from tests.standins.chat_api import ChatApi
from turnleaf.core.messages import Message

KEY = "web:weather"


def edit(page: Page, text: str, other: str) -> None:
    """Replace a message with another."""
    message = conversation(page).locator("[data-message]", has_text=text)
    message.hover()
    message.get_by_role("button", name="Edit this message").click()
    page.get_by_role("textbox", name="Your message").fill(other)
    page.keyboard.press("Enter")


def test_a_message_is_edited_and_what_followed_it_stays_reachable(
    visit: Visit, server: PageServer, api: ChatApi
) -> None:
    server.conversations.add_exchange(KEY, "How is Taipei?", "Rainy.")
    server.conversations.add_exchange(KEY, "And Tainan?", "Sunny.")
    api.answer("Windy.")
    page = visit.open("#/chat/web%3Aweather")
    edit(page, "How is Taipei?", "How is Hualien?")
    expect(questions(page)).to_have_text(["How is Hualien?"])
    expect(answers(page)).to_contain_text("Windy.")
    expect(versions(page)).to_contain_text("Version 2 of 2")
    assert "Taipei" not in str(api.requests[0].body["messages"])
    versions(page).get_by_role("button", name="Previous version").click()
    expect(questions(page)).to_have_text(["How is Taipei?", "And Tainan?"])
    expect(versions(page).get_by_role("button", name="Next version")).to_be_focused()
    page.reload()
    expect(questions(page)).to_have_text(["How is Taipei?", "And Tainan?"])
    page.keyboard.press("Escape")
    versions(page).get_by_role("button", name="Next version").click()
    expect(questions(page)).to_have_text(["How is Hualien?"])


def test_editing_is_given_up_with_escape(visit: Visit, server: PageServer) -> None:
    server.conversations.add_exchange(KEY, "How is Taipei?", "Rainy.")
    page = visit.open("#/chat/web%3Aweather")
    button = conversation(page).get_by_role("button", name="Edit this message")
    button.focus()
    button.press("Enter")
    page.get_by_role("textbox", name="Your message").fill("How is Hualien?")
    page.keyboard.press("Escape")
    expect(questions(page)).to_have_text(["How is Taipei?"])
    expect(button).to_be_focused()


def test_the_last_answer_is_made_again(visit: Visit, server: PageServer, api: ChatApi) -> None:
    api.answer("Rainy.")
    page = visit.open()
    say(page, "How is Taipei?")
    api.answer("Sunny.")
    answers(page).get_by_role("button", name="Answer again").click()
    expect(answers(page)).to_contain_text("Sunny.")
    expect(answers(page)).to_have_count(1)
    expect(versions(page)).to_contain_text("2/2")
    page.reload()
    expect(answers(page)).to_contain_text("Sunny.")
    versions(page).get_by_role("button", name="Previous version").click()
    expect(answers(page)).to_contain_text("Rainy.")


def test_a_link_to_a_message_of_another_version_offers_to_show_it(
    visit: Visit, server: PageServer
) -> None:
    store = server.conversations
    [first, _] = store.add_messages(KEY, _exchange("How is Taipei?", "Rainy."))
    store.add_messages(KEY, _exchange("How is Hualien?", "Windy."), after=0)
    page = visit.open(f"#/chat/web%3Aweather?message={first}")
    expect(questions(page)).to_have_text(["How is Hualien?"])
    page.get_by_role("button", name="Show that version").click()
    expect(questions(page)).to_have_text(["How is Taipei?"])


def test_an_answer_that_failed_is_shown_as_such_after_a_reload_and_asked_again(
    visit: Visit, server: PageServer, api: ChatApi
) -> None:
    api.fail(401, "Incorrect API key provided.")
    page = visit.open()
    say(page, "How is Taipei?")
    expect(conversation(page).get_by_role("alert")).to_contain_text(re.compile(r"key.*\."))
    page.reload()
    expect(conversation(page).get_by_role("alert")).to_contain_text("There is no answer")
    api.answer("Rainy.")
    conversation(page).get_by_role("button", name="Try again").click()
    expect(answers(page)).to_have_count(1)
    expect(answers(page)).to_contain_text("Rainy.")
    expect(conversation(page).get_by_role("alert")).to_have_count(0)
    page.reload()
    expect(answers(page)).to_have_count(1)
    expect(answers(page)).to_contain_text("Rainy.")


def test_a_forgotten_message_is_struck_through_until_that_is_undone(
    visit: Visit, server: PageServer
) -> None:
    page = visit.open()
    say(page, "Remember that my neighbour is called Quuxbert")
    forgetting = say(page, "Forget that my neighbour is called Quuxbert")
    said = conversation(page).locator(".chat-asked").first
    expect(said).to_contain_text("Forgotten: prompts and searches leave it out.")
    expect(said.locator("p", has_text="Quuxbert")).to_have_css(
        "text-decoration-line", "line-through"
    )
    page.reload()
    expect(said).to_contain_text("Forgotten:")
    forgetting = answers(page).last
    forgetting.get_by_role("button", name="Undo").click()
    expect(forgetting).to_contain_text("Undone")
    expect(said).not_to_contain_text("Forgotten:")


def test_why_an_answer_is_as_it_is_stands_there_after_a_reload(
    visit: Visit, server: PageServer
) -> None:
    server.memory.add("客廳的燈叫做小明")
    server.conversations.add_exchange("web:cat", "My cat is called Mimi", "A lovely name.")
    page = visit.open()
    wait_for_answer(say(page, "What did I say about Mimi and 小明?"))
    for _ in range(2):
        used = shaping(page).get_by_role("list").first
        expect(used.get_by_role("button", name="客廳的燈叫做小明")).to_be_visible()
        expect(used.get_by_role("link", name="My cat is called Mimi")).to_be_visible()
        page.reload()


def _exchange(question: str, answer: str) -> list[Message]:
    return [Message("user", question), Message("assistant", answer)]
