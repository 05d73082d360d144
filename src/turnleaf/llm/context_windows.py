"""How many tokens fit into the context of a model, as the server that runs it tells.

A server is asked before the first prompt, and once more after the first answer: only then is the
model loaded, and Ollama and LM Studio know what they gave it. That answer holds for the process,
and so does what a server says that refuses a prompt as too long.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.request import Request

from turnleaf.llm.http_calls import make_opener

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnleaf.model_keys import ModelKey

ASSUMED_TOKENS = 8192
"""The context of a model whose server does not tell: what small local models commonly get."""
ASSUMED_HOSTED_TOKENS = 32_768
"""The same for a server that is reached by https: who serves the public gives no less."""
_OLLAMA_DEFAULT_TOKENS = 4096
"""What Ollama gives a model on a small machine, whatever the model could take."""
_SECONDS = 2.0
_MAX_ANSWER_BYTES = 8 * 1024**2
_NUM_CTX = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE)
_LISTED_AS = ("max_model_len", "context_length", "context_window", "max_context_length")
"""What vLLM, OpenRouter, Groq and Mistral call it in their lists of models."""
_TOLD_WINDOW = re.compile(
    r"(?:maximum context length|context (?:size|window|length))[^\d\n]{0,40}(\d{3,7})",
    re.IGNORECASE,
)
_known: dict[tuple[str, str], int] = {}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """A model and the server that runs it."""

    url: str
    model: str
    key: ModelKey | None = field(repr=False)

    @property
    def known_window(self) -> int | None:
        """What is known of it in this process."""
        return _known.get((self.url, self.model))

    def keep_window(self, tokens: int) -> None:
        """Keep what is known of it for this process."""
        _known[self.url, self.model] = tokens

    def read_refusal(self, message: str) -> None:
        """Keep the context that a server names where it refuses a prompt that is too long."""
        if found := _TOLD_WINDOW.search(message):
            self.keep_window(int(found[1]))

    def ask_window(self) -> int | None:
        """Ask the server, and assume a small one where it does not say; None if it is silent."""
        with suppress(OSError, HTTPException):
            return next(filter(None, self._answers()), self.assumed_window)
        return None

    @property
    def assumed_window(self) -> int:
        """What is assumed of it while nobody tells."""
        return ASSUMED_TOKENS if self._is_plain_http else ASSUMED_HOSTED_TOKENS

    @property
    def _is_plain_http(self) -> bool:
        return self.url.startswith("http://")

    def _answers(self) -> Iterator[int | None]:
        yield self._read_model_list()
        # Who serves models to the public runs none of these.
        if self._is_plain_http:
            root = self.url.removesuffix("/v1")
            yield self._read_ollama_loaded(root)
            yield self._read_lm_studio_loaded(root)
            yield self._read_llama_cpp_props(root)
            # The last, since llama.cpp answers it too, with another meaning.
            yield self._read_ollama_settings(root)

    def _read_model_list(self) -> int | None:
        for entry in _entries(self._read(f"{self.url}/models"), "data"):
            if entry.get("id") == self.model:
                return next(filter(None, (_tokens(entry.get(name)) for name in _LISTED_AS)), None)
        return None

    def _read_ollama_loaded(self, root: str) -> int | None:
        names = {self.model, f"{self.model}:latest"}
        for entry in _entries(self._read(f"{root}/api/ps"), "models"):
            if names & {entry.get("name"), entry.get("model")}:
                return _tokens(entry.get("context_length"))
        return None

    def _read_ollama_settings(self, root: str) -> int | None:
        shown = self._read(f"{root}/api/show", {"model": self.model})
        if found := _NUM_CTX.search(str(_at(shown, "parameters"))):
            return int(found[1]) or None
        info = _at(shown, "model_info")
        if not isinstance(info, dict):
            return None
        longest = (_tokens(info[name]) for name in info if name.endswith(".context_length"))
        return min([_OLLAMA_DEFAULT_TOKENS, *filter(None, longest)])

    def _read_lm_studio_loaded(self, root: str) -> int | None:
        for entry in _entries(self._read(f"{root}/api/v0/models"), "data"):
            if entry.get("id") == self.model:
                return _tokens(entry.get("loaded_context_length"))
        return None

    def _read_llama_cpp_props(self, root: str) -> int | None:
        return _tokens(_at(self._read(f"{root}/props"), "default_generation_settings", "n_ctx"))

    def _read(self, url: str, question: dict[str, str] | None = None) -> object:
        """Return the JSON at an address; None where there is none."""
        headers = {"User-Agent": "turnleaf", "Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key.read()}"
        body = None if question is None else json.dumps(question).encode()
        request = Request(url, body, headers)  # noqa: S310 - checked_url has let it pass
        with make_opener(url).open(request, timeout=_SECONDS) as response:
            is_there = response.status == HTTPStatus.OK
            data = response.read(_MAX_ANSWER_BYTES) if is_there else b""
        with suppress(ValueError, RecursionError):
            return json.loads(data)
        return None


def _at(answer: object, *path: str) -> object:
    for name in path:
        answer = answer.get(name) if isinstance(answer, dict) else None
    return answer


def _entries(answer: object, name: str) -> list[dict[str, Any]]:
    found = _at(answer, name)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _tokens(value: object) -> int | None:
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value > 0 else None
