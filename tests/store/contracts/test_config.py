"""The contract of `Config`: what an operator changed holds for everybody, at once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.store.contracts.conftest import Backend
from tests.store.contracts.together import do_at_once
from turnleaf.errors import SettingsError
from turnleaf.settings import SETTINGS, Settings
from turnleaf.store.contracts import Config, Stores


@pytest.fixture
def config(space: Stores) -> Config:
    return space.config


def test_without_a_change_the_defaults_hold(config: Config) -> None:
    assert config.load() == Settings()
    assert config.load().sources == {}
    assert str(config.location)


def test_a_change_holds_for_everybody_and_says_where_it_was_made(
    backend: Backend, config: Config
) -> None:
    other = backend.open()
    config.change({"autoExtract": False, "minNewMessages": 8, "model": "ollama:模型"})
    for settings in (config.load(), other.config.load(), other.settings, backend.open().settings):
        assert (settings.auto_extract, settings.min_new_messages) == (False, 8)
        assert settings.model == "ollama:模型"
        assert settings.memory_max_items == Settings().memory_max_items
        assert set(settings.sources) == {"auto_extract", "min_new_messages", "model"}
        assert set(settings.sources.values()) == {"file"}


def test_a_limit_that_is_changed_holds_in_stores_that_are_open(
    backend: Backend, space: Stores
) -> None:
    space.conversations.add_exchange("k", "Q1", "A1")
    space.conversations.add_exchange("k", "Q2", "A2")
    backend.open().config.change({"conversationMaxTurns": 2, "memoryMaxItems": 7})
    assert space.settings.conversation_max_turns == 2
    assert len(space.conversations.get_history("k")) == 2
    assert space.facts.room().items == 7


def test_a_value_may_be_text_as_it_is_typed(config: Config) -> None:
    config.change({"autoExtract": "off", "flushThreshold": "0.5", "minNewMessages": "8"})
    settings = config.load()
    assert (settings.auto_extract, settings.flush_threshold) == (False, 0.5)
    assert settings.min_new_messages == 8


def test_a_setting_may_be_named_by_its_variable(config: Config) -> None:
    config.change({"TURNLEAF_MODEL": "ollama:qwen3"})
    assert config.load().model == "ollama:qwen3"
    config.change({"model": None})
    assert config.load().model is None


def test_settings_are_set_and_given_their_defaults_again_in_one_step(config: Config) -> None:
    config.change({"enabled": False, "memoryMaxItems": 5})
    config.change({"enabled": None, "minNewMessages": 8, "MEMORY_MAX_ITEMS": 6, "model": None})
    settings = config.load()
    assert (settings.enabled, settings.min_new_messages) == (True, 8)
    assert set(settings.sources) == {"min_new_messages", "memory_max_items"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"flushTreshold": 0.5}, 'no setting "flushTreshold"; did you mean "flushThreshold"?'),
        ({"bogus": None}, 'there is no setting "bogus"; turnleaf config lists them'),
        ({"minNewMessages": 0}, "minNewMessages must be a whole number of at least 1, not 0"),
        ({"enabled": "perhaps"}, "enabled must be on or off, not 'perhaps'"),
        ({"embeddingsApiKey": "secret"}, "there is no setting"),
    ],
)
def test_of_a_step_with_something_wrong_in_it_nothing_is_done_and_it_is_named(
    config: Config, wrong: dict[str, Any], said: str
) -> None:
    config.change({"enabled": False})
    before = config.load()
    with pytest.raises(SettingsError) as error:
        config.change({"enabled": None, "memoryMaxItems": 6, **wrong})
    assert said in str(error.value)
    assert config.load() == before


def test_nothing_changed_is_nothing_set(config: Config) -> None:
    config.change({})
    assert config.load().sources == {}


def test_the_environment_has_the_last_word(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    config.change({"memoryMaxItems": 5})
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "9")
    settings = config.load()
    assert settings.memory_max_items == 9
    assert settings.sources["memory_max_items"] == "environment"


def test_changes_made_at_once_are_all_kept(backend: Backend, config: Config) -> None:
    keys = [setting.key for setting in SETTINGS if isinstance(setting.default, int)][:6]
    do_at_once(lambda key: backend.open().config.change({key: "1"}), keys)
    assert len(config.load().sources) == 6
