"""Who serves models: names, addresses and keys, in one table, and the keys that a file has.

Addresses and keys are checked before they are used or shown.
"""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from turnleaf.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping


WireFormat: TypeAlias = Literal["anthropic", "openai"]


@dataclass(frozen=True, slots=True)
class ModelProvider:
    """One provider; `name` stands before the colon of a model's name.

    `url` is None where it has no usual address. `window` is how many tokens may be taken to fit
    into the context of its models; None where its server or another table is asked.
    """

    name: str
    label: str
    wire: WireFormat
    url: str | None
    variable: str | None = None
    """The environment variable of its key."""
    needs_key: bool = False
    window: int | None = None

    @property
    def address_variable(self) -> str | None:
        """The environment variable of its address, where other programs know one, too."""
        is_known = self.name in {"anthropic", "openai", "ollama"}
        return f"{self.name.upper()}_BASE_URL" if is_known else None

    @property
    def is_local(self) -> bool:
        """Whether it usually runs on the user's own machine."""
        return self.url is not None and self.url.startswith("http://localhost")


def _make_host(
    name: str, label: str, url: str, variable: str, window: int = 128_000
) -> ModelProvider:
    return ModelProvider(name, label, "openai", url, variable, needs_key=True, window=window)


PROVIDERS = {
    one.name: one
    for one in (
        ModelProvider(
            "anthropic", "Anthropic", "anthropic", "https://api.anthropic.com",
            "ANTHROPIC_API_KEY", needs_key=True,
        ),
        _make_host("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        _make_host(
            "gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai",
            "GEMINI_API_KEY", window=1_000_000,
        ),
        _make_host(
            "openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"
        ),
        _make_host("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        _make_host("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        _make_host("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        _make_host("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY"),
        ModelProvider("ollama", "Ollama", "openai", "http://localhost:11434/v1"),
        ModelProvider("lmstudio", "LM Studio", "openai", "http://localhost:1234/v1"),
        ModelProvider("llamacpp", "llama.cpp", "openai", "http://localhost:8080/v1"),
        ModelProvider(
            "compatible", "OpenAI-compatible address", "openai", None, "COMPATIBLE_API_KEY"
        ),
    )
}  # fmt: skip
"""By name, in the order in which they are shown."""


def find_provider(model: str | None) -> ModelProvider | None:
    """Return the provider of a model by its name; None for a model without a server."""
    kind, _, name = (model or "").partition(":")
    return PROVIDERS.get(kind) if name else None


_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key, or the command that prints it, and the address that it may be sent to."""

    address: str
    key: str | None = field(default=None, repr=False)
    command: str | None = None

    def is_for(self, url: str) -> bool:
        """Whether the key may be sent to a server: only to the one that it was set for."""
        # A key of one server must not be sent wherever the address of that provider points next.
        return find_server(self.address) == find_server(url)


def find_server(url: str) -> tuple[str, str, int | None]:
    """Return the part of an address that decides who answers: scheme, host and port."""
    parts = urlsplit(url)
    # An address with its usual port written out names the same server.
    return parts.scheme, parts.hostname or "", parts.port or _PORTS.get(parts.scheme)


def parse_keys(data: bytes) -> dict[str, StoredKey]:
    """Return the keys of a file by provider; raise ValueError for any other file."""
    found = json.loads(data.decode("utf-8-sig"))
    if not isinstance(found, dict):
        raise ValueError
    return {name: _parse_key(entry) for name, entry in found.items()}


def _parse_key(entry: object) -> StoredKey:
    if not isinstance(entry, dict) or set(entry) - {"address", "key", "command"}:
        raise ValueError
    address, key, command = (entry.get(name) for name in ("address", "key", "command"))
    has_one = isinstance(key, str) != isinstance(command, str)
    if not isinstance(address, str) or not has_one:
        raise ValueError
    return StoredKey(address, key, command)


def serialize_keys(keys: Mapping[str, StoredKey]) -> bytes:
    """Return the content of a file of keys."""
    return f"{json.dumps({name: _to_json(key) for name, key in keys.items()}, indent=2)}\n".encode()


def _to_json(stored: StoredKey) -> dict[str, Any]:
    record = {"address": stored.address, "key": stored.key, "command": stored.command}
    return {name: value for name, value in record.items() if value is not None}


def check_url(url: str, variable: str) -> str:
    """Return an address; raise SettingsError for a bad one, or one that may hold a secret."""
    try:
        parts = urlsplit(url)
        is_good = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    else:
        # What stands there may be a password, and addresses are shown.
        is_good &= parts.scheme in {"http", "https"} and not {"@", "?", "#"} & set(url)
    if not is_good or not url.isascii() or not url.isprintable() or " " in url:
        raise SettingsError(
            f"{variable} must be an address such as http://localhost:11434/v1, without a name,"
            " a password or a question mark in it; correct it or remove it"
        )
    return url.rstrip("/")


def check_key(key: str | None, variable: str) -> str | None:
    """Return a key; raise SettingsError for one that no header can hold."""
    if key and not (key.isascii() and key.isprintable()):
        raise SettingsError(
            f"{variable} contains a character that no key has, such as a line break; copy it again"
        )
    return key


def is_on_loopback(url: str) -> bool:
    """Whether an address is on this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
