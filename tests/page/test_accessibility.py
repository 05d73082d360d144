"""axe finds nothing to complain of, and nothing is wider than a phone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Page, expect

from tests.effort import LONG, sample
from tests.page.browsing import (
    PHONE,
    WIDE,
    answers,
    conversation,
    editor,
    fact,
    go,
    wait_until_connected,
)
from tests.page.conftest import Visiting
from tests.page.judging import find_complaints, is_too_wide
from tests.page.serving import PageServer
from turnleaf.core.changes import Source
from turnleaf.core.messages import Message, NewMessage
from turnleaf.settings import CONFIG_NAME
from turnleaf.store.files.conversations.store import ConversationStore

NOW = datetime.now(UTC)
NEVER = "0 9 1 1 *"
ADDRESS = "https://example.org/" + "a-very-long-address-without-any-space/" * 5
ANSWER = f"""\
## 關於小明

| lamp | room | since | colour | brightness | price |
| --- | --- | --- | --- | --- | --- |
| 小明 | 客廳 | 2026 | warm white | eighty per cent | 1,200 |

```python
def switch_on(lamp: str = "小明", *, brightness: float = 0.8) -> None: print(lamp, brightness)
```

1. **bright** and `quiet`
2. See {ADDRESS}
"""


@pytest.fixture
def full(server: PageServer) -> PageServer:
    """A memory in which something of every kind stands."""
    server.configure(minNewMessages=1)
    for number in range(6):
        server.memory.add(f"客廳的第{number}盞燈叫做小明{number}", "家")
        server.memory.add(f"Lamp number {number} is described at {ADDRESS}", "Home and garden")
    letter = Source(quote="會議改到星期三", name="document:信.md", trust="document")
    server.pending.add("會議在星期三", source=letter)
    server.daily.append(f"小明換了燈泡，見 {ADDRESS}")
    server.ask("POST", "api/chat", {"message": "我住在花蓮", "key": "web:learning"})
    server.conversations.add_exchange("web:lamps", f"What about 小明? {ADDRESS}", ANSWER)
    mix(server.conversations)
    for result, error in ((ANSWER, None), (None, f"the model does not answer at {ADDRESS}")):
        asked, run = server.schedules.begin(server.schedules.add(f"小明？{ADDRESS}", NEVER).id)
        server.schedules.finish(asked.id, run, result=result, error=error)
        server.schedules.pause(asked.id)
    return server


def mix(store: ConversationStore) -> None:
    """Keep messages of every kind."""
    key = "web:mixed"
    secret = Message("user", f"My code is 1234, see {ADDRESS}", NOW)
    letter = NewMessage(
        Message("assistant", "On Wednesday."), trust="document", source="document:信"
    )
    stranger = Message("user", f"The code is {ADDRESS}", name="Mallory")
    store.add_messages(key, [secret, Message("assistant", "Noted.")])
    store.hide(key, [NOW], "change:1")
    store.add_messages(key, [NewMessage(stranger, trust="stranger", source="slack:U2")])
    [*_, last] = store.add_messages(key, [Message("user", "When do we meet?"), letter])
    store.add_messages(key, [NewMessage(Message("user", "Which lamp?"), "stopped")])
    broken = NewMessage(Message("assistant", "The lamp in the"), "failed")
    store.add_messages(key, [Message("user", "Which lamps?"), broken], after=last)


def chat(page: Page) -> None:
    go(page, "#/chat")
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()


def past_conversation(page: Page) -> None:
    go(page, "#/chat/web%3Alamps")
    expect(answers(page).get_by_role("table")).to_be_visible()


def drawer(page: Page) -> None:
    opener = page.get_by_role("button", name="Past conversations")
    if opener.is_visible():
        opener.click()
        expect(page.get_by_role("dialog", name="Past conversations")).to_be_visible()


def menu(page: Page) -> None:
    one = page.locator(".chat-past-one", has_text="What about").last
    one.hover()
    one.get_by_role("button", name="Actions for “What about").click()
    expect(page.get_by_role("menuitem", name="Rename")).to_be_focused()


def erasing(page: Page) -> None:
    page.get_by_role("menuitem", name="Delete").click()
    expect(page.get_by_role("dialog", name="Delete this conversation?")).to_be_visible()


def close_dialogs(page: Page) -> None:
    for _ in range(page.get_by_role("dialog").count()):
        page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def show_mixed_conversation(page: Page) -> None:
    close_dialogs(page)
    go(page, "#/chat/web%3Amixed")
    expect(conversation(page).get_by_role("group", name="Versions")).to_be_visible()


def changing_a_message(page: Page) -> None:
    page.locator(".chat-edit").last.click(force=True)
    expect(page.get_by_role("textbox", name="Your message")).to_be_focused()


def private_conversation(page: Page) -> None:
    close_dialogs(page)
    go(page, "#/chat?private=1")
    expect(page.get_by_text("nothing is learned or kept")).to_be_visible()


def show_answer(page: Page) -> None:
    go(page, "#/chat")
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    page.get_by_role("textbox", name="Message", exact=True).fill("記住我的貓叫做米米")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text("Learned:")
    for toggle in page.get_by_role("button", name="Why this answer").all():
        if toggle.is_visible():
            toggle.click()


def prompt(page: Page) -> None:
    page.get_by_role("button", name="Show the prompt").click()
    expect(page.get_by_role("dialog")).to_be_visible()


def facts(page: Page) -> None:
    close_dialogs(page)
    go(page, "#/memory")
    expect(fact(page, "小明0")).to_be_visible()


def editing(page: Page) -> None:
    fact(page, "小明0").get_by_role("button", name="Edit").click()
    expect(page.get_by_role("textbox", name="Text of the fact")).to_be_visible()


def delete_fact(page: Page) -> None:
    page.keyboard.press("Escape")
    fact(page, "小明0").get_by_role("button", name="Delete").click()
    expect(page.locator(".toast")).to_be_visible()


def results(page: Page) -> None:
    go(page, "#/memory?q=小明")
    expect(page.get_by_role("region", name="Results").get_by_role("link").first).to_be_visible()


def file(page: Page) -> None:
    go(page, "#/memory/file")
    expect(editor(page)).to_contain_text("小明")


def days(page: Page) -> None:
    go(page, "#/memory/daily")
    expect(page.get_by_role("tabpanel").get_by_text("小明換了燈泡")).to_be_visible()


def show_learned(page: Page) -> None:
    go(page, "#/memory/learned")
    expect(page.get_by_role("list", name="Pending review")).to_be_visible()
    expect(page.get_by_role("list", name="Learned recently")).to_contain_text("花蓮")


def schedules(page: Page) -> None:
    go(page, "#/schedules")
    page.get_by_role("button", name="Past runs").first.click()
    expect(page.get_by_role("region", name="Past runs").get_by_role("table")).to_be_visible()


def scheduling(page: Page) -> None:
    page.get_by_role("article").last.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("complementary").get_by_role("listitem")).to_have_count(5)
    page.get_by_role("button", name="New schedule").click()
    expect(page.get_by_role("form", name="New schedule")).to_be_visible()


def settings(page: Page) -> None:
    go(page, "#/settings")
    expect(page.get_by_role("textbox", name="Number of facts")).to_be_visible()


def choosing_a_model(page: Page) -> None:
    page.get_by_role("combobox", name="Provider").select_option("Groq")
    expect(page.get_by_label("Key of Groq")).to_be_visible()
    page.get_by_role("combobox", name="Provider").select_option("Any OpenAI-compatible address")
    page.get_by_role("textbox", name="Address", exact=True).fill("http://192.0.2.7/v1")


def confirming_an_address(page: Page) -> None:
    page.get_by_role("button", name="Show its models").last.click()
    expect(page.get_by_role("dialog", name="Send your words to this address?")).to_be_visible()


def picking_a_model(page: Page) -> None:
    page.get_by_role("button", name="Model of this conversation").click()
    expect(page.get_by_role("menuitemradio", name="No model")).to_be_focused()


def status(page: Page) -> None:
    close_dialogs(page)
    go(page, "#/status")
    expect(page.get_by_role("table", name="Files")).to_be_visible()


VIEWS: list[Callable[[Page], None]] = [
    chat, picking_a_model, past_conversation, drawer, menu, erasing, show_mixed_conversation,
    changing_a_message, private_conversation, show_answer, prompt, facts,
    editing, delete_fact, results, file, days, show_learned, schedules, scheduling, settings,
    choosing_a_model, confirming_an_address, status,
]  # fmt: skip


OTHERWISE_ON_A_PHONE = [drawer, menu, show_answer, facts, schedules]
"""What has another form there; of the rest a short run only looks whether it fits."""


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_axe_has_nothing_to_complain_of_and_nothing_is_cut_off(
    full: PageServer, visits: Visiting, size: tuple[int, int]
) -> None:
    visit = visits(size=size)
    visit.expected |= {409}
    visit.context.request.get(full.make_link())
    page = wait_until_connected(visit.open("#/status"))
    judged = VIEWS if LONG or size == WIDE else OTHERWISE_ON_A_PHONE
    # Dark colours are the same few variables in every view: a short run looks at a third of them.
    dark = sample(VIEWS, 8) if size == WIDE else []
    found: dict[str, list[str]] = {}
    for view in VIEWS:
        view(page)
        if view in judged:
            found[view.__name__] = judge(page, is_dark_too=view in dark)
        elif is_too_wide(page):
            found[view.__name__] = ["one has to scroll sideways"]
    assert {name: told for name, told in found.items() if told} == {}


def judge(page: Page, *, is_dark_too: bool = True) -> list[str]:
    """Return what is wrong in light colours, and what is wrong with the dark ones."""
    told = find_complaints(page)
    if is_dark_too:
        page.emulate_media(color_scheme="dark")
        told += [f"dark: {one}" for one in find_complaints(page, only_of_colours=True)]
        page.emulate_media(color_scheme="light")
    return told


def test_a_model_is_chosen_on_the_first_visit_by_everybody(
    server: PageServer, visits: Visiting
) -> None:
    (server.data / CONFIG_NAME).write_text('{"embeddings": false}', "utf-8")
    visit = visits(size=PHONE)
    page = wait_until_connected(visit.open())
    expect(page.get_by_role("button", name="Not now")).to_be_visible()
    assert judge(page) == []
    visit.context.request.get(server.make_link())
    page.reload()
    expect(page.get_by_role("button", name="Stay without a model")).to_be_visible()
    page.get_by_role("combobox", name="Provider").select_option("Groq")
    expect(page.get_by_label("Key of Groq")).to_be_visible()
    assert judge(page) == []
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    assert judge(page, is_dark_too=False) == []


def test_two_versions_of_the_file_are_compared_by_everybody(
    full: PageServer, visits: Visiting
) -> None:
    page = wait_until_connected(visits(size=PHONE).open("#/memory/file"))
    editor(page).press("Control+Home")
    page.keyboard.insert_text("# Mine")
    full.write(f"# Theirs\n\n- 小明 {ADDRESS}\n")
    page.get_by_role("button", name="Compare").click()
    expect(page.get_by_role("region", name="This file was also saved elsewhere")).to_be_visible()
    assert judge(page) == []
    page.set_viewport_size({"width": WIDE[0], "height": WIDE[1]})
    assert judge(page, is_dark_too=False) == []


def test_nothing_is_wider_than_a_phone_in_chinese(full: PageServer, visits: Visiting) -> None:
    page = visits(language="zh-TW", size=PHONE).open("#/status")
    for view in (
        "status", "settings", "chat", "chat/web%3Alamps", "chat/web%3Amixed", "memory",
        "memory?q=小明", "memory/file", "memory/daily", "memory/learned", "schedules",
    ):  # fmt: skip
        go(page, f"#/{view}")
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_function("() => !document.querySelector('.skeleton')")
        assert not is_too_wide(page), view
