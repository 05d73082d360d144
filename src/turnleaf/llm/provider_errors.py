"""What the errors of the libraries mean for a person, and which of them pass by themselves."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2
from pydantic_ai.exceptions import (
    AgentRunError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    UserError,
)

from turnleaf.errors import ModelError
from turnleaf.llm.context_windows import ServedModel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnleaf.llm.api import Endpoint

_MAX_PAUSE_SECONDS = 5.0
_MAX_DETAIL_CHARS = 200

_NOT_ABOUT_FORMAT = (
    ModelAuthenticationError,
    ModelContextWindowExceededError,
    ModelQuotaExceededError,
    ModelUnavailableError,
)
_FORMAT_STATUSES = frozenset({400, 404, 422, 500, 501})
"""How servers refuse a request for JSON: some call the unknown field a fault of their own."""

_UNREACHED = ("cannot be reached ({detail})", "{reach}")
_EXPLANATIONS: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str, str], ...] = (
    (ModelAuthenticationError, "does not let us in ({detail})", "check {variable}"),
    (ModelNotFoundError, "has no model {model!r} ({detail})", "{other_model}"),
    (
        ModelQuotaExceededError,
        "says that the account is used up ({detail})",
        "look at your account there",
    ),
    (ModelRateLimitError, "takes no more requests for now (429){wait}", "try again later"),
    (
        ModelContextWindowExceededError,
        "cannot read that much at once ({detail})",
        "begin a new conversation, or set PROMPT_MAX_TOKENS lower",
    ),
    (
        (ModelTimeoutError, httpx2.TimeoutException),
        "said nothing for {seconds}",
        "try again, or set CLAUDE_TIMEOUT_MS higher",
    ),
    ((ModelConnectionError, httpx2.HTTPError), "broke off its answer ({detail})", "try again"),
    (
        (ModelServerError, ModelUnavailableError),
        "is in trouble of its own ({detail})",
        "try again in a few minutes",
    ),
    (
        Exception,
        "did not answer as it should ({detail})",
        "try again, and if it stays so check TURNLEAF_MODEL and TURNLEAF_MODEL_URL",
    ),
)


@contextmanager
def explaining(endpoint: Endpoint) -> Iterator[None]:
    """Turn every error of the libraries into one that says what to do, and shows no key."""
    try:
        yield
    except (AgentRunError, UserError, httpx2.HTTPError) as error:
        if isinstance(error, ModelContextWindowExceededError):
            ServedModel(endpoint.url, endpoint.model, None).read_refusal(_detail(error, None))
        # The errors of the libraries may hold the key.
        raise ModelError(_explain(endpoint, error)) from None


def _explain(endpoint: Endpoint, error: Exception) -> str:
    """Return what happened, and what to do."""
    is_unreached = isinstance(error, ModelConnectionError) and error.phase in {"connect", "pool"}
    found = next(texts for kinds, *texts in _EXPLANATIONS if isinstance(error, kinds))
    happened, advice = _UNREACHED if is_unreached else found
    asked = error.retry_after if isinstance(error, ModelAPIError) else None
    explanation = f"{happened}; {advice}".format(
        detail=_detail(error, endpoint.api_key),
        model=endpoint.model,
        variable=endpoint.variable,
        seconds=f"{endpoint.timeout_seconds:g} s",
        wait=f", and asks to wait {asked:.0f} s" if asked else "",
        other_model=_other_model(endpoint),
        reach=_how_to_reach(endpoint),
    )
    return f"{endpoint.url} {explanation}"


def _other_model(endpoint: Endpoint) -> str:
    if endpoint.provider == "ollama":
        return f"run `ollama pull {endpoint.model}`, or set TURNLEAF_MODEL to a model that is there"
    return (
        "set TURNLEAF_MODEL to a model that is there, and TURNLEAF_MODEL_URL, if you use it, to an"
        " address such as http://localhost:11434/v1"
    )


def _how_to_reach(endpoint: Endpoint) -> str:
    if endpoint.provider == "ollama":
        return "start Ollama with `ollama serve`, or set TURNLEAF_MODEL to another model"
    return "check the network, and TURNLEAF_MODEL_URL if you use it"


def _detail(error: Exception, key: str | None) -> str:
    """Return the beginning of what a server or the system says, on one line and without the key."""
    body = error.body if isinstance(error, ModelAPIError) else None
    inner = body.get("error", body) if isinstance(body, dict) else body
    said = inner.get("message") if isinstance(inner, dict) else inner
    status = f"{error.status_code}: " if isinstance(error, ModelHTTPError) else ""
    text = str(said or ("it says nothing" if status else _reason(error)))
    return status + brief(text.replace(key, "…") if key else text)


def _reason(error: BaseException) -> str:
    """Return why nothing came back, in the words of the system where it has some."""
    reason, seen = str(error), error.__cause__ or error.__context__
    while seen is not None:
        reason = str(seen) or reason
        if isinstance(seen, OSError) and seen.errno:
            return os.strerror(seen.errno) if seen.errno > 0 else str(seen.strerror)
        seen = seen.__cause__ or seen.__context__
    return reason or type(error).__name__


def brief(text: str) -> str:
    """Return the beginning of a text on one line."""
    printable = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(printable.split())[:_MAX_DETAIL_CHARS]


def may_refuse_format(error: Exception) -> bool:
    """Whether a server may have failed because of the format that JSON was asked for in.

    Only a request without it can tell whether it did.
    """
    if isinstance(error, UserError):
        return True
    is_status = isinstance(error, ModelHTTPError) and error.status_code in _FORMAT_STATUSES
    return is_status and not isinstance(error, _NOT_ABOUT_FORMAT)


def wait_before_asking_again(error: ModelAPIError, pause: float | None) -> float | None:
    """Return the seconds after which to ask again, or nothing where that is no use."""
    is_busy = isinstance(error, ModelRateLimitError | ModelUnavailableError | ModelServerError)
    if pause is None or not is_busy or error.in_stream:
        return None
    wait = pause if error.retry_after is None else error.retry_after
    return wait if wait <= _MAX_PAUSE_SECONDS else None
