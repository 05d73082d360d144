"""Who serves models: names, addresses and the variables of their keys, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

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


def _host(name: str, label: str, url: str, variable: str, window: int = 128_000) -> ModelProvider:
    return ModelProvider(name, label, "openai", url, variable, needs_key=True, window=window)


PROVIDERS = {
    one.name: one
    for one in (
        ModelProvider(
            "anthropic", "Anthropic", "anthropic", "https://api.anthropic.com",
            "ANTHROPIC_API_KEY", needs_key=True,
        ),
        _host("openai", "OpenAI", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        _host(
            "gemini", "Google Gemini", "https://generativelanguage.googleapis.com/v1beta/openai",
            "GEMINI_API_KEY", window=1_000_000,
        ),
        _host("openrouter", "OpenRouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
        _host("groq", "Groq", "https://api.groq.com/openai/v1", "GROQ_API_KEY"),
        _host("deepseek", "DeepSeek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
        _host("mistral", "Mistral", "https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
        _host("xai", "xAI", "https://api.x.ai/v1", "XAI_API_KEY"),
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
    """Return the provider of a model by its name; None for one that no server is asked for."""
    kind, _, name = (model or "").partition(":")
    return PROVIDERS.get(kind) if name else None
