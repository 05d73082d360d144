"""Talking with nothing but the memory."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.page.browsing import (
    Visit,
    answers,
    begin_conversation,
    choose,
    conversation,
    go,
    past,
    say,
    shaping,
    wait_for_answer,
    wait_until_connected,
)
from tests.page.serving import PageServer

LAMP = "客廳的燈叫做小明"


def read_everything_in(server: PageServer) -> bytes:
    """All bytes that the server keeps."""
    paths = (path for path in sorted(server.data.rglob("*")) if path.is_file())
    return b"".join(path.read_bytes() for path in paths)


def test_an_answer_stands_beside_what_it_rests_on(visit: Visit, server: PageServer) -> None:
    server.memory.add(LAMP, "家")
    server.daily.append("小明換了燈泡")
    page = visit.open()
    expect(page.get_by_text("No model is set")).to_be_visible()
    answer = say(page, "小明怎麼了？")
    expect(answer).to_contain_text("小明換了燈泡")
    expect(shaping(page).get_by_role("button", name=LAMP)).to_be_visible()
    expect(shaping(page)).to_contain_text("小明換了燈泡")
    expect(page).to_have_url(re.compile("#/chat/web%3A"))


def test_from_an_answer_a_fact_leads_to_its_words_and_can_be_corrected_and_forgotten(
    visit: Visit, server: PageServer
) -> None:
    page = visit.open()
    wait_for_answer(say(page, f"記住{LAMP}"))
    begin_conversation(page)
    wait_for_answer(say(page, "客廳的燈叫什麼？"))
    shaping(page).get_by_role("button", name=LAMP).click()
    expect(shaping(page).get_by_role("blockquote")).to_contain_text(LAMP)
    place = shaping(page).get_by_role("link", name="Show in the conversation")
    expect(place).to_be_in_viewport(ratio=1)
    expect(place).to_have_attribute("href", re.compile(r"#/chat/web%3A\w+\?message=\d+$"))
    shaping(page).get_by_role("button", name="Correct").click()
    shaping(page).get_by_role("textbox", name="Correct").fill("客廳的燈叫做小美")
    shaping(page).get_by_role("button", name="Save").click()
    expect(shaping(page).get_by_role("button", name="客廳的燈叫做小美")).to_be_visible()
    assert server.contents() == ["客廳的燈叫做小美"]
    shaping(page).get_by_role("button", name="Forget").click()
    expect(shaping(page)).to_contain_text("has been deleted since")
    assert server.contents() == []
    page.get_by_role("button", name="Undo").last.click()
    expect(shaping(page).get_by_role("button", name="客廳的燈叫做小美")).to_be_visible()
    assert server.contents() == ["客廳的燈叫做小美"]
    place.click()
    expect(conversation(page).get_by_text(f"記住{LAMP}")).to_be_visible()


def test_the_whole_prompt_is_shown_with_its_tokens(visit: Visit, server: PageServer) -> None:
    server.memory.add(LAMP, "家")
    page = visit.open()
    say(page, "Who is 小明?")
    button = shaping(page).get_by_role("button", name="Show the prompt")
    button.click()
    dialog = page.get_by_role("dialog", name="The whole prompt")
    expect(dialog.get_by_role("img")).to_have_attribute(
        "aria-label", re.compile(r"^\d+ of 32,000 tokens")
    )
    for part in ("Instructions", "Long-term memory", "Your message"):
        line = dialog.locator("summary", has_text=part)
        expect(line).to_contain_text(re.compile(r"[1-9]\d* tokens"))
    expect(dialog).to_contain_text(LAMP)
    expect(dialog).to_contain_text("Who is 小明?")
    # There is no model here, so nobody was given anything.
    expect(dialog).to_contain_text("Everything that a model would be given")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(button).to_be_focused()


def test_a_requested_fact_is_shown_and_can_be_undone(visit: Visit, server: PageServer) -> None:
    page = visit.open()
    page.get_by_role("button", name=re.compile("^Remember that the living room lamp")).click()
    box = page.get_by_role("textbox", name="Message", exact=True)
    expect(box).to_be_focused()
    page.keyboard.press("Enter")
    note = answers(page).last
    expect(note).to_contain_text("Learned: the living room lamp is called Ming")
    assert server.contents() == ["the living room lamp is called Ming"]
    note.get_by_role("button", name="Undo").click()
    expect(note).to_contain_text("Undone")
    assert server.contents() == []


def test_what_is_learned_in_the_background_is_shown_where_it_was_said(
    visit: Visit, server: PageServer
) -> None:
    server.configure(minNewMessages=1)
    page = wait_until_connected(visit.open())
    answer = say(page, "我住在台南")
    expect(answer).to_contain_text(re.compile("Learned: .*台南"))
    answer.get_by_role("button", name="Undo").click()
    expect(answer).to_contain_text("Undone")
    assert "台南" not in server.file


def test_enter_sends_and_what_is_being_composed_is_not_sent(
    visit: Visit, server: PageServer
) -> None:
    page = visit.open()
    box = page.get_by_role("textbox", name="Message", exact=True)
    box.fill("ㄒㄧㄠˇ")
    box.dispatch_event("keydown", {"key": "Enter", "isComposing": True, "bubbles": True})
    expect(box).to_have_value("ㄒㄧㄠˇ")
    box.fill("小明")
    box.press("Shift+Enter")
    page.keyboard.insert_text("是誰？")
    expect(answers(page)).to_have_count(0)
    box.press("Enter")
    expect(conversation(page).get_by_text("小明\n是誰？")).to_be_visible()
    expect(box).to_have_value("")
    wait_for_answer(answers(page))


def test_a_past_conversation_is_reopened_gone_on_with_and_erased(
    visit: Visit, server: PageServer
) -> None:
    server.memory.add(LAMP)
    page = visit.open()
    say(page, "客廳的燈叫什麼？")
    begin_conversation(page)
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    say(page, "Is anything else called so?")
    page = visit.open()
    expect(past(page).get_by_role("link")).to_have_text(
        ["Is anything else called so?", "客廳的燈叫什麼？"]
    )
    past(page).get_by_role("link", name="客廳的燈叫什麼？").click()
    expect(answers(page)).to_have_count(1)
    expect(answers(page)).to_contain_text(LAMP)
    expect(shaping(page)).to_contain_text(LAMP)
    say(page, "還有呢？")
    expect(answers(page)).to_have_count(2)
    choose(page, "客廳的燈叫什麼？", "Delete")
    dialog = page.get_by_role("dialog", name="Delete this conversation?")
    dialog.get_by_role("button", name="Cancel").click()
    expect(past(page).get_by_role("link")).to_have_count(2)
    choose(page, "客廳的燈叫什麼？", "Delete")
    dialog.get_by_role("button", name="Delete").click()
    expect(past(page).get_by_role("link")).to_have_text(["Is anything else called so?"])
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    assert "客廳的燈叫什麼".encode() not in read_everything_in(server)


def test_a_private_conversation_leaves_nothing(visit: Visit, server: PageServer) -> None:
    server.memory.add(LAMP)
    page = visit.open()
    page.get_by_role("switch", name="Private").click(force=True)
    expect(conversation(page).get_by_text("nothing is learned or kept")).to_be_visible()
    answer = say(page, "I live in Quuxville, remember that")
    expect(answer).not_to_contain_text(LAMP)
    expect(shaping(page)).to_contain_text("Private: your memory was not used.")
    expect(past(page)).to_have_count(0)
    assert b"Quuxville" not in read_everything_in(server)
    page.get_by_role("switch", name="Private").click(force=True)
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    go(page, "#/chat?private=1")
    expect(page.get_by_role("switch", name="Private")).to_be_checked()
    expect(answers(page)).to_have_count(0)
    go(page, "#/chat")
    say(page, "I live in Quuxville, remember that")
    assert b"Quuxville" in read_everything_in(server)


def test_a_quote_is_a_link_to_its_place(visit: Visit, server: PageServer) -> None:
    fact = server.memory.add(LAMP, "家")
    page = visit.open()
    answer = say(page, "小明是什麼？")
    link = answer.get_by_role("link", name=f"#{fact.id}")
    expect(link).to_have_attribute("href", re.compile(r"#/memory/file\?line=5"))
    link.click()
    expect(page).to_have_url(re.compile(r"#/memory/file\?line=5"))


def test_a_secret_is_kept_by_a_button(visit: Visit, server: PageServer) -> None:
    page = visit.open()
    answer = say(page, "remember that my door code is 4711")
    assert server.memory.get_all() == []
    answer.get_by_role("button", name="Keep it as it is").click()
    wait_for_answer(answers(page).last)
    expect(answers(page).last).to_contain_text("Remembered: my door code is 4711")
    assert [fact.content for fact in server.memory.get_all()] == ["my door code is 4711"]
    expect(page.get_by_role("button", name="Keep it as it is")).to_have_count(0)
