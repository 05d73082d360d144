"""Whether a model answers, tried with one short question, and what to do where it does not.

A failure is told by its kind alone: what a server answered is never shown, since whoever names an
address could read by it what is there.
"""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnleaf.core.dialogue import Prompt, Text
from turnleaf.core.messages import Message
from turnleaf.core.model_providers import find_provider
from turnleaf.errors import ModelError, SettingsError

if TYPE_CHECKING:
    from turnleaf.core.dialogue import Model
    from turnleaf.core.model_providers import ModelProvider

LEAST_WINDOW = 4096
"""So many tokens a model's context needs for the memory and its tools."""
_QUESTION = "Answer with one word: ready."
_PROGRAM = "the program claude did not answer; run claude in a terminal, and log in there"


@dataclass(frozen=True, slots=True)
class Trial:
    """How a test of a model ended; `kind` and `sentence` are empty where it answered."""

    kind: str
    sentence: str
    milliseconds: int

    @property
    def is_good(self) -> bool:
        """Whether the model answered."""
        return not self.kind


def try_model(model: Model) -> Trial:
    """Ask a model one short question, and stop it at its first word."""
    began = time.perf_counter()
    kind = _find_failure(model)
    took = int((time.perf_counter() - began) * 1000)
    return Trial(kind, _explain(kind, model) if kind else "", took)


def _find_failure(model: Model) -> str:
    prompt = Prompt("", (Message("user", _QUESTION),), text=_QUESTION, question=_QUESTION)
    try:
        with closing(model.stream(prompt)) as events:  # type: ignore[type-var]
            has_text = any(isinstance(event, Text) and event.text.strip() for event in events)
    except ModelError as error:
        return error.kind or "unexpected"
    except SettingsError:
        return "no-key"
    window = getattr(model, "context_window", None)
    if window is not None and window < LEAST_WINDOW:
        return "context-too-small"
    return "" if has_text else "unexpected"


def _explain(kind: str, model: Model) -> str:
    provider = find_provider(model.name)
    return explain_kind(kind, provider, getattr(model, "url", "")) if provider else _PROGRAM


def explain_kind(kind: str, provider: ModelProvider, url: str) -> str:
    """Return in a sentence what a kind of failure means, and what to do."""
    who, where = provider.label, url
    sentences = {
        "no-key": f"there is no key for {who}; paste one, or run turnleaf keys set {provider.name}",
        "key-refused": f"{who} refuses the key; copy it again from your account there",
        "unreachable": f"{where} cannot be reached; check that its server runs, and the network",
        "model-unknown": f"{who} does not have this model; choose one from its list",
        "rate-limit": f"{who} takes no more requests for now; wait a minute and try again",
        "no-credit": f"the account at {who} has no credit left; add some there",
        "server-fault": f"{who} has trouble of its own; try again in a few minutes",
        "too-slow": f"{who} took too long to answer; try again, or choose a smaller model",
        "context-too-small": (
            "the context of this model is too small; give it at least 4,096 tokens where its server"
            " runs, or choose another"
        ),
        "broken-off": f"{who} broke off its answer; try again",
        "unexpected": f"{where} does not answer as a server of models; check the address",
    }
    return sentences[kind]
