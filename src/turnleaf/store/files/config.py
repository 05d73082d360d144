"""What a person set: `ConfigFile` for memory-config.json, and the keys of model providers.

The keys are the operator's, outside every data folder, and for their owner's eyes only.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from turnleaf.core.diagnosis import Row
from turnleaf.core.model_providers import serialize_keys
from turnleaf.errors import SettingsError
from turnleaf.model_keys import read_stored_keys
from turnleaf.settings import (
    REPLACED,
    UNCHANGED,
    Settings,
    check_changes,
    check_value,
    find_keys_path,
    find_setting,
)
from turnleaf.store.files import atomic
from turnleaf.store.files.diagnosis import collect, refuse_odd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from turnleaf.core.diagnosis import Examination, Part
    from turnleaf.core.model_providers import StoredKey

    Keys = dict[str, StoredKey]


class ConfigFile:
    """The config file of a data folder; what it does not mention keeps its default."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def location(self) -> Path:
        """Where it is, to be shown to people."""
        return self.path

    def load(self) -> Settings:
        """Return the settings that hold now: environment over this file over defaults."""
        refuse_odd(self.path)
        return Settings.load(self.path.parent)

    def examine(self) -> Examination:
        """Return whether there is a config file."""
        return _examine(self.path)

    def update(self, values: Mapping[str, Any]) -> None:
        """Change some settings, all or none; an unknown key or a bad value is refused by name."""
        self.change(
            {
                key: check_value(find_setting(key), value, key, UNCHANGED)
                for key, value in values.items()
            }
        )

    def change(self, values: Mapping[str, Any]) -> None:
        """Change some settings in one step; those given as None have their default again."""
        given = check_changes(values)
        new = {key: value for key, value in given.items() if value is not None}
        gone = {key for key in given if key not in new}
        # A setting under its former name is still read, and would contradict the new one.
        gone |= {older.key for key in given for older in REPLACED.get(key, ())}
        self._change(
            lambda config: {name: config[name] for name in config if name not in gone} | new
        )

    def _change(self, edit: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        atomic.make_folder(self.path.parent)
        atomic.change(self.path, lambda data: _serialize(edit(self._parse(data))))

    def _parse(self, data: bytes | None) -> dict[str, Any]:
        try:
            config = json.loads((data or b"{}").decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            # Not begun anew: a fallback could keep or delete data in a way that nobody asked for.
            message = f"{self.path} is not valid JSON ({error}); correct it or remove it"
            raise SettingsError(message) from error
        if not isinstance(config, dict):
            message = (
                f"{self.path} must contain one JSON object with settings; correct it or remove it"
            )
            raise SettingsError(message)
        return config


def _serialize(config: Mapping[str, Any]) -> bytes:
    return f"{json.dumps(config, ensure_ascii=False, indent=2)}\n".encode()


@collect
def _examine(path: Path) -> Iterator[Part]:
    holds = "found" if path.exists() else "none (optional)"
    yield Row("settings", str(path), None, holds)


def store_key(provider: str, key: StoredKey) -> Path:
    """Store a provider's key in the place of any other; return the file."""
    return _change(lambda keys: keys | {provider: key})


def remove_key(provider: str) -> bool:
    """Remove a provider's key; False where there is none."""
    if provider not in read_stored_keys():
        return False
    _change(lambda keys: {name: key for name, key in keys.items() if name != provider})
    return True


def _change(edit: Callable[[Keys], Keys]) -> Path:
    path = find_keys_path()
    atomic.make_folder(path.parent)
    with atomic.lock(path) as file:
        # Read within the lock, so that two programs do not lose each other's keys.
        file.replace(serialize_keys(edit(read_stored_keys(path))))
    return path
