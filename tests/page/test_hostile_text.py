"""Text that would like to be a script is text everywhere."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.page.browsing import Visit, answers, conversation, editor, fact, go, say, shaping, toast
from tests.page.serving import PageServer
from tests.standins.chat_api import ChatApi
from turnleaf.core.changes import Source

SCRIPT = "<script>window.ran = 1</script>"
IMAGE = "<img src=x onerror='window.ran = 2'>"
LINK = "[press](javascript:window.ran=3)"
HOSTILE = f"{SCRIPT} {IMAGE} {LINK}"
MADE = "body script, img:not(.cm-widgetBuffer), iframe, svg image, [onerror]"
"""What it would have become; the editor has images of its own, with nothing in them."""


def assert_is_text(page: Page) -> None:
    """Nothing of it has become a part of the page, and nothing of it has run."""
    assert page.evaluate("window.ran ?? null") is None
    assert page.locator(MADE).count() == 0
    assert page.locator("[href^='javascript:' i]").count() == 0


def test_a_memory_cannot_run(visit: Visit, server: PageServer) -> None:
    kept = server.memory.add(HOSTILE, IMAGE)
    source = Source(quote=HOSTILE, name=f"document:{IMAGE}", trust="document")
    server.pending.add(HOSTILE, source=source)
    server.daily.append(HOSTILE)
    page = visit.open("#/memory")
    expect(fact(page, SCRIPT)).to_contain_text(HOSTILE)
    expect(page.get_by_role("heading", name=IMAGE)).to_be_visible()
    assert_is_text(page)
    go(page, "#/memory?q=window%20press")
    results = page.get_by_role("region", name="Results")
    expect(results.get_by_role("link").first).to_contain_text(SCRIPT)
    assert_is_text(page)
    go(page, "#/memory/file")
    expect(editor(page)).to_contain_text(HOSTILE)
    assert_is_text(page)
    go(page, "#/memory/daily")
    expect(page.get_by_role("tabpanel")).to_contain_text(SCRIPT)
    expect(page.get_by_role("tabpanel").get_by_role("listitem").last).to_contain_text(IMAGE)
    assert_is_text(page)
    go(page, "#/memory/learned")
    expect(page.get_by_role("list", name="Pending review")).to_contain_text(HOSTILE)
    assert_is_text(page)
    page.get_by_role("button", name="Reject").click()
    expect(toast(page, "Rejected")).to_contain_text(HOSTILE)
    go(page, "#/memory")
    fact(page, SCRIPT).get_by_role("button", name="Delete").click()
    expect(toast(page, "Deleted")).to_contain_text(HOSTILE)
    assert_is_text(page)
    assert server.memory.get(kept.id) is None


def test_a_conversation_cannot_run(visit: Visit, server: PageServer, api: ChatApi) -> None:
    server.memory.add(HOSTILE)
    api.answer(SCRIPT[:9], SCRIPT[9:], f"\n\n{IMAGE}\n\n{LINK} <a href='javascript:1'>x</a>")
    page = visit.open()
    answer = say(page, HOSTILE)
    expect(conversation(page).get_by_text(HOSTILE, exact=True).first).to_be_visible()
    expect(answer).to_contain_text(SCRIPT)
    expect(answer).to_contain_text(IMAGE)
    expect(answer.get_by_text("press")).to_be_visible()
    answer.get_by_text("press").click()
    shaping(page).get_by_role("button", name="in the prompt").click()
    expect(shaping(page)).to_contain_text(HOSTILE)
    assert_is_text(page)
    shaping(page).get_by_role("button", name="Show the prompt").click()
    expect(page.get_by_role("dialog")).to_contain_text(IMAGE)
    assert_is_text(page)
    page.reload()
    expect(answers(page)).to_contain_text(SCRIPT)
    past = page.get_by_role("list", name="Conversations", exact=True)
    expect(past.get_by_role("link")).to_contain_text("<script>")
    assert_is_text(page)
