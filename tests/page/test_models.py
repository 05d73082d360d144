"""Choosing a model: on the first visit, in the settings, and for one conversation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.page.browsing import (
    BrowserProfile,
    Visit,
    answers,
    begin_conversation,
    say,
    tab_to,
    toast,
    wait_until_connected,
)
from tests.page.conftest import Visiting
from tests.page.judging import find_complaints
from tests.page.serving import PageServer, run_server
from tests.standins.chat_api import ChatApi
from turnleaf.settings import CONFIG_NAME

KEY = "sk-very-secret-key"
FAR = "http://192.0.2.7/v1"


@dataclass(frozen=True)
class Town:
    """A server that nobody has set up, and the servers of models around it."""

    server: PageServer
    ollama: ChatApi
    openai: ChatApi

    def configure(self, **values: object) -> None:
        """Write the file of settings; without a model nobody has chosen one."""
        path = self.server.data / CONFIG_NAME
        path.write_text(json.dumps({"embeddings": False, **values}), "utf-8")

    def read_setting(self, key: str) -> object:
        """Return a setting as the file has it."""
        return self.server.read_config().get(key)


@pytest.fixture(scope="module")
def shared_town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    with ExitStack() as running:
        ollama, openai = (running.enter_context(ChatApi()) for _ in range(2))
        ollama.tells["/v1/models"] = {"data": [{"id": "qwen3:8b"}, {"id": "gemma3:4b"}]}
        openai.tells["/v1/models"] = {"data": [{"id": "gpt-5.4"}, {"id": "gpt-5.4-mini"}]}
        environ = {
            "OLLAMA_BASE_URL": ollama.url,
            "OPENAI_BASE_URL": openai.url,
            "OPENAI_API_KEY": "",
            "PATH": "/usr/bin:/bin",
        }
        data = tmp_path_factory.mktemp("models") / "data"
        yield Town(running.enter_context(run_server(data, environ=environ)), ollama, openai)


@pytest.fixture
def town(shared_town: Town) -> Town:
    """The same, as it was before anybody came."""
    shared_town.server.begin_again()
    shared_town.configure()
    for one in (shared_town.ollama, shared_town.openai):
        one.replies.clear()
        one.requests.clear()
    for keys in shared_town.server.data.parent.rglob("keys.json"):
        keys.unlink()
    return shared_town


@pytest.fixture(scope="module")
def town_profile(browser: Browser, shared_town: Town) -> BrowserProfile:
    """A profile for the visits to that server."""
    return BrowserProfile(browser, shared_town.server.address)


@pytest.fixture
def visit(town: Town, town_profile: BrowserProfile) -> Iterator[Visit]:
    """A visit of whoever came by the link that the server printed."""
    with town_profile.visiting() as visit:
        yield come_by_link(town, visit)


def come_by_link(town: Town, visit: Visit) -> Visit:
    """Make a visitor the operator."""
    visit.context.request.get(town.server.make_link())
    return visit


def row(page: Page, label: str) -> Locator:
    return page.locator(".models-row").filter(has=page.get_by_text(label, exact=True))


def test_from_the_first_visit_to_an_answer_is_one_press(visit: Visit, town: Town) -> None:
    page = wait_until_connected(visit.open())
    expect(page.get_by_role("heading", name="Choose a model")).to_be_visible()
    town.ollama.answer("ready")
    page.get_by_role("button", name="Use Ollama qwen3:8b").click()
    expect(toast(page, "From now on qwen3:8b answers.")).to_be_visible()
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_focused()
    assert town.read_setting("model") == "ollama:qwen3:8b"
    expect(page.get_by_text("Your words stay on this computer.")).to_be_visible()
    town.ollama.answer("小明。")
    expect(say(page, "客廳的燈叫什麼？")).to_contain_text("小明。")
    page.reload()
    begin_conversation(page)
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()


def test_a_pasted_key_lists_the_models_and_a_test_is_green(visit: Visit, town: Town) -> None:
    page = wait_until_connected(visit.open())
    page.get_by_role("combobox", name="Provider").select_option("OpenAI")
    field = page.get_by_label("Key of OpenAI")
    expect(field).to_have_attribute("type", "password")
    expect(field).to_have_attribute("autocomplete", "off")
    field.fill(KEY)
    field.press("Enter")
    page.get_by_role("combobox", name="Model", exact=True).select_option("gpt-5.4-mini")
    town.openai.answer("ready")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_text("It answers (after")).to_be_visible()
    assert town.openai.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    page.get_by_role("button", name="Use this model").click()
    expect(toast(page, "gpt-5.4-mini answers")).to_be_visible()
    assert len(town.openai.requests) == 1
    assert KEY not in page.content()
    page.goto(f"{visit.address}#/settings?group=model")
    expect(row(page, "OpenAI")).to_contain_text("key is set")


def test_a_wrong_key_is_explained_in_a_sentence_and_replaced(visit: Visit, town: Town) -> None:
    page = wait_until_connected(visit.open("#/settings?group=model"))
    page.get_by_role("combobox", name="Provider").select_option("OpenAI")
    page.get_by_label("Key of OpenAI").fill(KEY)
    page.get_by_role("button", name="Save the key").click()
    page.get_by_role("combobox", name="Model", exact=True).select_option("gpt-5.4")
    town.openai.fail(401, "Incorrect API key provided.")
    page.get_by_role("button", name="Use this model").click()
    expect(page.get_by_text("OpenAI rejects the key; copy it again")).to_be_visible()
    assert town.read_setting("model") is None
    page.get_by_role("button", name="Replace").click()
    page.get_by_label("Key of OpenAI").fill(f"{KEY}-2")
    page.get_by_role("button", name="Save the key").click()
    page.get_by_role("combobox", name="Model", exact=True).select_option("gpt-5.4")
    town.openai.answer("ready")
    page.get_by_role("button", name="Use this model").click()
    expect(page.get_by_text("openai:gpt-5.4 answers. Your words stay")).to_be_visible()
    assert town.openai.requests[-1].headers["authorization"] == f"Bearer {KEY}-2"
    page.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_label("Key of OpenAI")).to_be_visible()
    expect(row(page, "OpenAI")).to_have_count(0)


def test_whoever_did_not_come_by_the_link_sees_no_key_field_and_how_to_get_one(
    town: Town, visits: Visiting
) -> None:
    page = wait_until_connected(visits(town.server.address).open())
    expect(row(page, "Ollama")).to_contain_text("qwen3:8b, gemma3:4b")
    expect(page.get_by_text("open the page by the one-time link")).to_be_visible()
    expect(page.locator("input[type=password]")).to_have_count(0)
    expect(page.get_by_role("button", name="Use Ollama")).to_have_count(0)
    expect(page.get_by_role("combobox", name="Provider")).to_have_count(0)
    page.get_by_role("button", name="Not now").click()
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    page.reload()
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    assert town.read_setting("model") is None


def test_the_composer_is_as_wide_as_the_panel_above_it(visit: Visit) -> None:
    page = wait_until_connected(visit.open())
    panel, composer = (page.locator(one) for one in (".chat-setup > .models", ".chat-composer"))
    expect(panel).to_be_visible()
    above, below = panel.bounding_box(), composer.bounding_box()
    assert above is not None
    assert below is not None
    assert (above["x"], above["width"]) == (below["x"], below["width"])


def test_staying_without_a_model_is_a_choice(visit: Visit, town: Town) -> None:
    page = wait_until_connected(visit.open())
    expect(page.get_by_text("it writes no answers of its own")).to_be_visible()
    page.get_by_role("button", name="Stay without a model").click()
    expect(page.get_by_text("What would you like me to remember?")).to_be_visible()
    assert town.read_setting("model") == "recall"


def test_a_conversation_has_a_model_of_its_own(visit: Visit, town: Town) -> None:
    town.configure(model="ollama:qwen3:8b", extractModel="rules")
    page = wait_until_connected(visit.open())
    picker = page.get_by_role("button", name="Model of this conversation")
    expect(picker).to_have_text("qwen3:8b")
    picker.press("Enter")
    expect(page.get_by_role("menuitemradio", name="qwen3:8b")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menuitemradio", name="gemma3:4b")).to_be_focused()
    page.keyboard.press("Enter")
    expect(picker).to_have_text("gemma3:4b")
    town.ollama.answer("燈。")
    say(page, "這是什麼？")
    assert town.ollama.requests[-1].body["model"] == "gemma3:4b"
    begin_conversation(page)
    expect(picker).to_have_text("qwen3:8b")
    town.ollama.answer("門。")
    say(page, "那是什麼？")
    assert town.ollama.requests[-1].body["model"] == "qwen3:8b"
    page.reload()
    page.get_by_role("link", name="這是什麼？").click()
    expect(answers(page)).to_contain_text("燈。")
    expect(picker).to_have_text("gemma3:4b")
    assert town.read_setting("model") == "ollama:qwen3:8b"
    picker.click()
    page.get_by_role("menuitemradio", name="qwen3:8b").click()
    town.ollama.answer("小明。")
    say(page, "它叫什麼？")
    assert town.ollama.requests[-1].body["model"] == "qwen3:8b"


def test_a_conversation_is_given_any_model_of_a_provider_with_a_key(
    visit: Visit, town: Town
) -> None:
    town.configure(model="ollama:qwen3:8b", extractModel="rules")
    stored = visit.context.request.put(f"{visit.address}api/keys/openai", data={"key": KEY})
    assert stored.ok
    page = wait_until_connected(visit.open())
    picker = page.get_by_role("button", name="Model of this conversation")
    expect(picker).to_have_text("qwen3:8b")
    picker.press("Enter")
    expect(page.get_by_role("menuitemradio", name="qwen3:8b")).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    more = page.get_by_role("dialog", name="A model for this conversation")
    expect(more.get_by_role("combobox", name="Provider")).to_be_visible()
    expect(more.get_by_role("combobox", name="Model")).to_be_visible()
    assert find_complaints(page) == []
    tab_to(page, "Model")
    page.keyboard.type("gpt-5.4-mini")
    tab_to(page, "Use this model")
    page.keyboard.press("Enter")
    expect(picker).to_have_text("gpt-5.4-mini")
    town.openai.answer("燈。")
    say(page, "這是什麼？")
    assert town.openai.requests[-1].body["model"] == "gpt-5.4-mini"
    assert town.read_setting("model") == "ollama:qwen3:8b"


def test_a_model_is_chosen_and_tested_by_keyboard_alone(visit: Visit, town: Town) -> None:
    page = wait_until_connected(visit.open())
    expect(page.get_by_role("button", name="Use Ollama qwen3:8b")).to_be_visible()
    tab_to(page, "Provider", back=True)
    page.keyboard.type("OpenAI")
    tab_to(page, "Key of OpenAI")
    page.keyboard.insert_text(KEY)
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Model", exact=True)).to_be_visible()
    tab_to(page, "Model")
    page.keyboard.type("gpt-5.4-mini")
    town.openai.answer("ready")
    tab_to(page, "Test")
    page.keyboard.press("Enter")
    told = page.get_by_role("status").filter(has_text="It answers (after")
    expect(told).to_have_count(1)
    tab_to(page, "Use this model")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_focused()
    assert town.read_setting("model") == "openai:gpt-5.4-mini"


def test_an_address_outside_this_machine_is_confirmed_once(visit: Visit, town: Town) -> None:
    visit.expected |= {409, 502}
    page = wait_until_connected(visit.open("#/settings?group=model"))
    page.get_by_role("combobox", name="Provider").select_option("Any OpenAI-compatible address")
    page.get_by_role("textbox", name="Address", exact=True).fill(FAR)
    page.get_by_label("Key, if it needs one").fill(KEY)
    page.get_by_role("button", name="Show its models").click()
    asked = page.get_by_role("dialog", name="Send your words to this address?")
    expect(asked).to_contain_text(FAR)
    asked.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("alert")).to_contain_text("outside this computer")
    assert not list(town.server.data.parent.rglob("keys.json"))


def test_an_address_on_this_machine_needs_no_question(visit: Visit, town: Town) -> None:
    page = wait_until_connected(visit.open("#/settings?group=model"))
    page.get_by_role("combobox", name="Provider").select_option("Any OpenAI-compatible address")
    page.get_by_role("textbox", name="Address", exact=True).fill(town.openai.url)
    page.get_by_role("button", name="Show its models").click()
    page.get_by_role("combobox", name="Model", exact=True).select_option("gpt-5.4")
    town.openai.answer("ready")
    page.get_by_role("button", name="Use this model").click()
    expect(page.get_by_text("compatible:gpt-5.4 answers. Your words stay")).to_be_visible()
    assert town.read_setting("modelUrl") == town.openai.url


def test_the_status_says_whether_the_model_can_answer_and_where_words_go(
    visit: Visit, town: Town
) -> None:
    town.configure(model="groq:llama")
    page = wait_until_connected(visit.open("#/status"))
    expect(page.get_by_text("Something does not work.")).to_be_visible()
    expect(page.get_by_text("groq:llama cannot answer: its key is missing")).to_be_visible()
    expect(page.get_by_text("Your words go to Groq.")).to_be_visible()
    town.configure(model="ollama:qwen3:8b")
    expect(page.get_by_text("Everything works.")).to_be_visible()
    expect(page.get_by_text("Your words stay on this computer.")).to_be_visible()
    town.ollama.answer("ready")
    page.get_by_role("button", name="Test").click()
    expect(page.get_by_text("It answers (after")).to_be_visible()
    town.configure(model="ollama:llama9")
    expect(page.get_by_text("Ollama does not have this model.")).to_be_visible()
    expect(page.get_by_text("Running. One thing needs your attention.")).to_be_visible()
