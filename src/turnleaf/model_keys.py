"""The keys of model providers: from the environment, or from a file of the user's own.

The file is outside the data folder, and so outside back-ups, exports and copies. A key of the file
is sent to the address that it was set for, and to no other.
"""

from __future__ import annotations

import shlex
import stat
import subprocess
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from turnleaf.core.model_providers import parse_keys
from turnleaf.errors import SettingsError
from turnleaf.settings import find_keys_path

if TYPE_CHECKING:
    from pathlib import Path

    from turnleaf.core.model_providers import ModelProvider, StoredKey
    from turnleaf.settings import Settings

KeySource: TypeAlias = Literal["environment", "file", "command"]

_COMMAND_SECONDS = 60.0
_FRESH_SECONDS = 600.0
_printed: dict[str, tuple[float, str]] = {}
"""What commands printed, and when: a password manager may ask its user each time."""


@dataclass(frozen=True, slots=True)
class ModelKey:
    """A key that is there, without being read yet: a command may take its time."""

    provider: ModelProvider
    source: KeySource
    value: str | None = field(default=None, repr=False)
    command: str | None = None

    def read(self) -> str:
        """Return the key itself."""
        return self.value if self.value is not None else self._run(self.command or "")

    def _run(self, command: str) -> str:
        known = _printed.get(command)
        if known and time.monotonic() - known[0] < _FRESH_SECONDS:
            return known[1]
        key = _read_first_line(command, self.provider.name)
        _printed[command] = (time.monotonic(), key)
        return key


def find_key(provider: ModelProvider, url: str | None, settings: Settings) -> ModelKey | None:
    """Return the key for a provider at an address; the environment comes before the file."""
    value = getattr(settings, f"{provider.name}_api_key", None)
    # Whoever sets a variable also starts the program, so it needs no address of its own.
    if value:
        return ModelKey(provider, "environment", value)
    stored = read_stored_keys().get(provider.name)
    if stored is None or url is None or not stored.is_for(url):
        return None
    source: KeySource = "file" if stored.key is not None else "command"
    return ModelKey(provider, source, stored.key, stored.command)


def read_stored_keys(path: Path | None = None) -> dict[str, StoredKey]:
    """Return the keys of the file by provider; raise SettingsError if it cannot be read."""
    place = path or find_keys_path()
    try:
        data = place.read_bytes()
        # A key that other accounts of the machine can read is no secret any more.
        is_private = not stat.S_IMODE(place.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        message = f"the keys in {place} cannot be read ({error.strerror}); check its permissions"
        raise SettingsError(message) from None
    if not is_private:
        raise SettingsError(f"others can read the keys in {place}; run chmod 600 {place}")
    try:
        return parse_keys(data)
    except (ValueError, RecursionError):
        message = (
            f"{place} is not a file of keys; remove it, and set the keys again with turnleaf "
            "keys set"
        )
        raise SettingsError(message) from None


def _read_first_line(command: str, provider: str) -> str:
    try:
        done = subprocess.run(  # noqa: S603 - the user's own command, from the user's own file
            shlex.split(command), capture_output=True, timeout=_COMMAND_SECONDS, check=True
        )
        lines = done.stdout.decode().splitlines()
    except (OSError, ValueError, subprocess.SubprocessError):
        lines = []
    if not lines or not lines[0].strip():
        # What it printed may hold a secret, so it is not shown.
        raise SettingsError(
            f"the command for the key of {provider} printed no key; run it yourself to see "
            f"why: {command}"
        )
    return lines[0].strip()
