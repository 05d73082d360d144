"""The config file is changed key by key, and nothing in it is lost."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from turnleaf import Settings
from turnleaf.errors import SettingsError
from turnleaf.settings import CONFIG_NAME
from turnleaf.store.files.config import ConfigFile


def config(folder: Path) -> ConfigFile:
    return ConfigFile(folder / CONFIG_NAME)


def read_settings(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((folder / CONFIG_NAME).read_text("utf-8"))
    return found


def test_a_setting_is_written_and_holds(tmp_path: Path) -> None:
    config(tmp_path).update({"autoExtract": False, "minNewMessages": 8})
    settings = Settings.load(tmp_path, {})
    assert (settings.auto_extract, settings.min_new_messages) == (False, 8)


def test_what_is_typed_as_text_is_written_as_the_value_it_means(tmp_path: Path) -> None:
    config(tmp_path).update({"autoExtract": "off", "flushThreshold": "0.5", "model": "recall"})
    assert read_settings(tmp_path) == {
        "autoExtract": False,
        "flushThreshold": 0.5,
        "model": "recall",
    }


def test_what_is_there_stays(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_text('{"somebodyElses": 1, "memoryMaxItems": 5}', "utf-8")
    config(tmp_path).update({"enabled": False})
    assert read_settings(tmp_path) == {"somebodyElses": 1, "memoryMaxItems": 5, "enabled": False}


def test_a_setting_that_is_unset_has_its_default_again(tmp_path: Path) -> None:
    config(tmp_path).update({"enabled": False, "memoryMaxItems": 5})
    config(tmp_path).change({"enabled": None})
    assert read_settings(tmp_path) == {"memoryMaxItems": 5}


@pytest.mark.parametrize("days", [90, 0, None])
def test_the_days_to_keep_take_the_place_of_the_archive(tmp_path: Path, days: int | None) -> None:
    older = {"conversationArchive": True, "conversationArchiveMaxAgeDays": 30, "enabled": False}
    (tmp_path / CONFIG_NAME).write_text(json.dumps(older))
    config(tmp_path).change({"memoryMaxItems": 5})
    assert read_settings(tmp_path) == {**older, "memoryMaxItems": 5}
    config(tmp_path).change({"conversationKeepDays": days})
    new = {} if days is None else {"conversationKeepDays": days}
    assert read_settings(tmp_path) == {"enabled": False, "memoryMaxItems": 5, **new}


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    config(tmp_path).update({"enabled": False})
    assert stat.S_IMODE((tmp_path / CONFIG_NAME).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"flushTreshold": 0.5}, 'no setting "flushTreshold"; did you mean "flushThreshold"?'),
        ({"bogus": 1}, 'there is no setting "bogus"; turnleaf config lists them'),
        ({"minNewMessages": 0}, "minNewMessages must be a whole number of at least 1, not 0"),
        ({"enabled": "perhaps"}, "enabled must be on or off, not 'perhaps'"),
        ({"embeddingsApiKey": "secret"}, "there is no setting"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_and_nothing_is_written(
    tmp_path: Path, values: dict[str, object], said: str
) -> None:
    config(tmp_path).update({"memoryMaxItems": 5})
    with pytest.raises(SettingsError) as error:
        config(tmp_path).update({"memoryMaxItems": 6, **values})
    assert said in str(error.value)
    assert read_settings(tmp_path) == {"memoryMaxItems": 5}


@pytest.mark.parametrize("damage", [b"{", b"[]", b"\xff\xfe"])
def test_a_damaged_file_is_left_alone(tmp_path: Path, damage: bytes) -> None:
    (tmp_path / CONFIG_NAME).write_bytes(damage)
    with pytest.raises(SettingsError, match="correct it or remove it"):
        config(tmp_path).update({"enabled": False})
    assert (tmp_path / CONFIG_NAME).read_bytes() == damage
