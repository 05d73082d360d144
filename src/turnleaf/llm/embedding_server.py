"""Vectors from a server that speaks as OpenAI's does, at an address that the user names."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.request import Request

from turnleaf.core.model_providers import check_key, check_url
from turnleaf.core.search.vectors import pack, prepare_text
from turnleaf.errors import EmbeddingError
from turnleaf.llm.http_calls import make_opener

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["EndpointEmbedder"]

_BATCH = 64
_QUERY_SECONDS = 5.0
"""How long a single text may take: it is a question whose answer somebody waits for."""
_MAX_ANSWER_BYTES = 64 * 1024 * 1024
_PAUSES_SECONDS = (0.5, 1.0)
_MAX_PAUSE_SECONDS = 20.0
_MAX_DETAIL_CHARS = 200
_NO_ANSWER = 0


class EndpointEmbedder:
    """A model behind an address that speaks as OpenAI's: Ollama, LM Studio, OpenAI and others."""

    def __init__(
        self,
        url: str,
        model: str,
        api_key: str | None = None,
        timeout: float = 30.0,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._url = check_url(url, "EMBEDDINGS_URL")
        self._model = model
        self._api_key = check_key(api_key, "EMBEDDINGS_API_KEY")
        self._timeout = timeout
        self._sleep = sleep
        self._clock = clock

    @property
    def name(self) -> str:
        """What its vectors are stored under."""
        # Vectors of one model from two servers may differ, so they are kept apart.
        return f"{self._model} at {self._url}"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one packed vector for each text."""
        # An empty text is refused by some servers and gets an empty vector from others.
        prepared = [prepare_text(text) or " " for text in texts]
        batches = (prepared[at : at + _BATCH] for at in range(0, len(prepared), _BATCH))
        vectors = [vector for batch in batches for vector in self._embed_batch(batch)]
        if len(set(map(len, vectors))) > 1:
            raise self._make_error("vectors of different dimensions")
        return vectors

    def _embed_batch(self, texts: list[str]) -> list[bytes]:
        question = {"model": self._model, "input": texts}
        answer = self._ask(json.dumps(question).encode(), is_query=len(texts) == 1)
        try:
            entries = json.loads(answer)["data"]
            found = {entry["index"]: entry["embedding"] for entry in entries}
        except (ValueError, TypeError, LookupError, RecursionError):
            raise self._make_error("something that is not a list of embeddings") from None
        # Vectors in another order would belong to other texts, and nobody would notice.
        if len(entries) != len(texts) or found.keys() != set(range(len(texts))):
            raise self._make_error(f"{len(entries)} vectors for {len(texts)} texts")
        try:
            return [pack(found[index]) for index in range(len(texts))]
        except (TypeError, ValueError, OverflowError):
            raise self._make_error("a vector that is zero or not made of finite numbers") from None

    def _ask(self, body: bytes, *, is_query: bool) -> bytes:
        timeout = min(self._timeout, _QUERY_SECONDS) if is_query else self._timeout
        reply = self._post(body, timeout)
        # For a single text somebody waits, so it is tried once.
        for pause in () if is_query else _PAUSES_SECONDS:
            wait = self._wait(reply, pause)
            if wait is None:
                break
            self._sleep(wait)
            reply = self._post(body, timeout)
        if reply.status != HTTPStatus.OK:
            raise EmbeddingError(self._explain(reply))
        return reply.data

    def _post(self, body: bytes, timeout: float) -> _Reply:
        headers = {"Content-Type": "application/json", "User-Agent": "turnleaf"}
        if self._api_key:
            headers["Authorization"] = f"Bearer {self._api_key}"
        # Only http and https pass checked_url.
        request = Request(f"{self._url}/embeddings", body, headers)  # noqa: S310
        try:
            with make_opener(self._url).open(request, timeout=timeout) as response:
                after = response.headers.get("Retry-After")
                data = self._read(response, timeout)
                return _Reply(response.status, data, self._read_seconds(after))
        except (OSError, HTTPException) as fault:
            return _Reply(_NO_ANSWER, _find_reason(fault).encode())

    def _read(self, response: Any, timeout: float) -> bytes:  # noqa: ANN401 - as urllib says
        # The timeout of a socket is for each read: an answer that trickles would never end.
        deadline = self._clock() + timeout
        data = bytearray()
        while piece := response.read1(65536):
            data += piece
            if len(data) > _MAX_ANSWER_BYTES:
                raise self._make_error(f"more than {_MAX_ANSWER_BYTES // 1024**2} MB")
            if self._clock() > deadline:
                raise TimeoutError("its answer took too long")
        # A connection that ends early looks like the end of an answer.
        if response.length:
            raise ConnectionError("its answer was cut short")
        return bytes(data)

    def _wait(self, reply: _Reply, pause: float) -> float | None:
        """Return the seconds after which to ask again, or nothing where that is no use."""
        is_busy = reply.status in {_NO_ANSWER, HTTPStatus.TOO_MANY_REQUESTS}
        if not is_busy and reply.status < HTTPStatus.INTERNAL_SERVER_ERROR:
            return None
        wait = pause if reply.wait is None else reply.wait
        return wait if wait <= _MAX_PAUSE_SECONDS else None

    def _read_seconds(self, after: str | None) -> float | None:
        """Read a Retry-After, which is a number of seconds or a date."""
        if after is None:
            return None
        if after.isdecimal():
            return float(after)
        try:
            return max(0.0, parsedate_to_datetime(after).timestamp() - self._clock())
        except (ValueError, OverflowError):
            return None

    def _explain(self, reply: _Reply) -> str:
        """Return what an answer without vectors means, and what to do."""
        match reply.status:
            case 0:
                happened = f"cannot be reached ({self._read_detail(reply)})"
                advice = "start it, or unset EMBEDDINGS_URL"
            case 401 | 403:
                happened = f"rejects the key ({reply.status})"
                advice = "check EMBEDDINGS_API_KEY"
            case 404:
                happened = f"has no model {self._model!r} (404)"
                advice = (
                    f"with Ollama run `ollama pull {self._model}`, else check EMBEDDINGS_MODEL,"
                    " and that EMBEDDINGS_URL is an address such as http://localhost:11434/v1"
                )
            case 429:
                asked = "" if reply.wait is None else f", and asks to wait {reply.wait:.0f} s"
                happened = f"accepts no more requests at the moment (429){asked}"
                advice = "try again later, or check the limits of the account"
            case status if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
                happened = f"redirects to another address ({status}), where your texts are not sent"
                advice = "set EMBEDDINGS_URL to that address"
            case status:
                happened = f"answered {status} ({self._read_detail(reply)})"
                advice = "check its log, EMBEDDINGS_URL and EMBEDDINGS_MODEL"
        return f"{self._url} {happened}; {advice}"

    def _read_detail(self, reply: _Reply) -> str:
        """Return the beginning of what the server says, on one line and without the key."""
        text = reply.data.decode("utf-8", "replace")
        if self._api_key:
            # A server may repeat the key that it was sent.
            text = text.replace(self._api_key, "…")
        printable = "".join(char if char.isprintable() else " " for char in text)
        return " ".join(printable.split())[:_MAX_DETAIL_CHARS] or "no details"

    def _make_error(self, what: str) -> EmbeddingError:
        return EmbeddingError(
            f"{self._url} answered with {what}; check that {self._model!r} is an embedding "
            "model and that EMBEDDINGS_URL is an address such as http://localhost:11434/v1"
        )


@dataclass(frozen=True, slots=True)
class _Reply:
    """What came back: a status, the bytes, and the seconds for which the server asks to wait."""

    status: int
    data: bytes
    wait: float | None = None


def _find_reason(fault: BaseException) -> str:
    """Return why nothing came back, in the words of the system where it has some."""
    cause = getattr(fault, "reason", fault)
    return str(getattr(cause, "strerror", None) or cause)
