"""Talking with a model that is served on loopback."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import cast

from playwright.sync_api import expect

from tests.page.browsing import Visit, answers, conversation, say, shaping
from tests.page.conftest import Visiting
from tests.page.serving import SECONDS, PageServer
from tests.standins.chat_api import ChatAnswer, ChatApi, tool

LAMP = "客廳的燈叫做小明"
MARKDOWN = """\
### 小明

| lamp | room |
| --- | --- |
| 小明 | 客廳 |

1. **bright**
2. `quiet`

```python
print("小明")
```

See [its page](https://example.org/lamp), [not this](javascript:alert(1)) and <b>this</b>.
"""


class Endless:
    """An answer that goes on until nobody reads it any more."""

    def __init__(self) -> None:
        self.left = threading.Event()

    def __iter__(self) -> Iterator[str]:
        try:
            yield "The lamp is called **小明**, "
            while not self.left.wait(0.02):
                yield "and "
        finally:
            self.left.set()


LISTEN = """
    // What a screen reader hears that takes no notice of aria-busy.
    window.heard = [];
    const live = "[aria-live=polite], [aria-live=assertive], [role=status], [role=alert]";
    const listen = (changes) => {
        for (const { target, addedNodes } of changes) {
            const place = target.nodeType === Node.TEXT_NODE ? target.parentElement : target;
            const added = addedNodes.length ? [...addedNodes] : [target];
            const isHeard = place?.closest?.(live);
            for (const one of added) if (isHeard && one.textContent) heard.push(one.textContent);
        }
    };
    new MutationObserver(listen)
        .observe(document, { childList: true, characterData: true, subtree: true });
"""


def test_a_screen_reader_hears_an_answer_once_and_only_when_it_is_whole(
    visits: Visiting, api: ChatApi
) -> None:
    visit = visits()
    visit.context.add_init_script(LISTEN)
    endless = Endless()
    api.replies.append(ChatAnswer(cast("tuple[str, ...]", endless)))
    page = visit.open()
    page.get_by_role("textbox", name="Message", exact=True).fill("客廳的燈叫什麼？")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text("The lamp is called 小明, and and")
    assert not [one for one in page.evaluate("heard") if "lamp" in one]
    page.get_by_role("button", name="Stop").click()
    expect(answers(page)).to_have_attribute("aria-busy", "false")
    page.wait_for_function("() => heard.some((one) => one.includes('The lamp is called 小明'))")
    api.answer("**Mi", "mi** is ", "the cat.")
    say(page, "Who is the cat?")
    page.wait_for_function("() => heard.some((one) => one.includes('cat.'))")
    expect(page.locator(".chat-thread > [role=status]")).to_be_empty()
    heard = page.evaluate("heard")
    assert sum("The lamp" in one for one in heard) == 1
    assert [one.strip() for one in heard if "cat." in one or "Mi" in one] == ["Mimi is the cat."]


def test_an_answer_is_shown_while_it_comes_and_is_stopped(
    visit: Visit, server: PageServer, api: ChatApi
) -> None:
    server.memory.add(LAMP)
    endless = Endless()
    api.replies.append(ChatAnswer(cast("tuple[str, ...]", endless)))
    page = visit.open()
    page.get_by_role("textbox", name="Message", exact=True).fill("客廳的燈叫什麼？")
    page.get_by_role("button", name="Send").click()
    expect(answers(page)).to_contain_text("The lamp is called 小明, and")
    expect(answers(page)).to_have_attribute("aria-busy", "true")
    expect(shaping(page)).to_contain_text("1 fact was in the prompt")
    page.get_by_role("button", name="Stop").click()
    expect(answers(page)).to_contain_text("Stopped.")
    assert endless.left.wait(SECONDS), "the model went on"
    expect(page.get_by_role("button", name="Send")).to_be_visible()
    api.answer("Yes.")
    say(page, "還在嗎？")
    page.reload()
    expect(answers(page)).to_have_count(2)
    expect(answers(page).first).to_contain_text("The lamp is called 小明, and")
    assert LAMP in str(api.requests[0].body["messages"])


def test_markdown_is_shown_as_what_it_means(
    visits: Visiting, server: PageServer, api: ChatApi
) -> None:
    visit = visits()
    visit.context.grant_permissions(["clipboard-read", "clipboard-write"])
    api.answer(*re.findall(r"(?s).{1,7}", MARKDOWN), input_tokens=1234, output_tokens=56)
    page = visit.open()
    answer = say(page, "Tell me about 小明")
    expect(answer.get_by_role("heading", name="小明")).to_be_visible()
    expect(answer.get_by_role("cell", name="客廳")).to_be_visible()
    expect(answer.get_by_role("listitem")).to_have_text(["bright", "quiet"])
    expect(answer.get_by_role("strong")).to_have_text("bright")
    expect(answer.locator(".markdown").get_by_role("link")).to_have_count(1)
    link = answer.get_by_role("link", name="its page")
    expect(link).to_have_attribute("href", "https://example.org/lamp")
    expect(link).to_have_attribute("rel", re.compile("noopener"))
    expect(answer).to_contain_text("not this and <b>this</b>.")
    expect(answer).to_contain_text("1,234 tokens read, 56 written")
    answer.locator("figure").get_by_role("button", name="Copy").click()
    page.wait_for_function(
        "async () => (await navigator.clipboard.readText()).trim() === 'print(\"小明\")'"
    )


def test_tools_are_told_and_what_they_save_is_taken_back(
    visit: Visit, server: PageServer, api: ChatApi
) -> None:
    server.memory.add(LAMP)
    api.answer(tool("search_memory", {"query": "小明"}))
    api.answer(tool("append_memory", {"fact": "小明是黃光"}))
    api.answer("Noted.")
    page = visit.open()
    answer = say(page, "小明是黃光的燈")
    expect(answer.get_by_text("Searched memory: 小明")).to_be_visible()
    answer.get_by_text("Searched memory: 小明").click()
    expect(answer.get_by_text("search_memory")).to_be_visible()
    expect(answer).to_contain_text("Noted.")
    expect(answer).to_contain_text("Learned: 小明是黃光")
    assert server.contents() == [LAMP, "小明是黃光"]
    answer.get_by_role("button", name="Undo").click()
    expect(answer).to_contain_text("Undone")
    assert server.contents() == [LAMP]


def test_what_rests_on_a_file_waits_to_be_accepted(
    visit: Visit, server: PageServer, api: ChatApi
) -> None:
    api.answer(tool("append_memory", {"fact": "會議在星期三"}))
    api.answer("It says so.")
    page = visit.open()
    files = page.locator("input[type=file]")
    files.set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": b"\x89PNG\xff"})
    expect(page.get_by_role("alert")).to_contain_text("a.png is not a text file.")
    letter = "會議改到星期三\n".encode()
    files.set_input_files({"name": "信.md", "mimeType": "text/markdown", "buffer": letter})
    expect(page.get_by_text("Facts learned from a file are not used")).to_be_visible()
    answer = say(page, "這封信說什麼？")
    expect(conversation(page).get_by_text("With 信.md")).to_be_visible()
    assert "會議改到星期三" in str(api.requests[0].body["messages"])
    expect(answer).to_contain_text("Pending review: 會議在星期三")
    assert server.contents() == []
    answer.get_by_role("link", name="Review").click()
    waiting = page.get_by_role("list", name="Pending review")
    waiting.get_by_role("button", name="Accept").click()
    expect(page.get_by_text("Nothing is pending review.")).to_be_visible()
    assert server.contents() == ["會議在星期三"]
