"""How many tokens fit into a model's context, as the servers that people run say it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.standins.chat_api import ChatApi
from turnleaf.llm.api import ASSUMED_HOSTED_TOKENS, ASSUMED_TOKENS, ServedModel

OTHER = {"id": "other", "name": "other", "model": "other", "context_length": 1}
OLLAMA_SHOW = "/api/show"


@pytest.fixture
def api() -> Iterator[ChatApi]:
    with ChatApi() as api:
        yield api


def running(**told: object) -> dict[str, Any]:
    return {"/api/ps": {"models": [OTHER, {"name": "m:latest", "model": "m:latest", **told}]}}


def make_model_details(parameters: str | None, longest: int) -> dict[str, Any]:
    told = {"model_info": {"general.architecture": "llama", "llama.context_length": longest}}
    return {OLLAMA_SHOW: told if parameters is None else {**told, "parameters": parameters}}


def make_model_list(path: str, **told: object) -> dict[str, Any]:
    return {path: {"object": "list", "data": [OTHER, {"id": "m", **told}]}}


@pytest.mark.parametrize(
    ("tells", "tokens"),
    [
        ({**running(context_length=16384), **make_model_details("num_ctx 2048", 131072)}, 16384),
        (
            {
                **running(),
                **make_model_details("stop  x\nnum_ctx                        32768", 131072),
            },
            32768,
        ),
        (make_model_details(None, 131072), 4096),
        (make_model_details("temperature 0.7", 2048), 2048),
        (make_model_list("/v1/models", max_model_len=40960), 40960),
        (make_model_list("/v1/models", context_length=262144), 262144),
        (make_model_list("/v1/models", context_window=131072), 131072),
        (
            make_model_list("/api/v0/models", max_context_length=32768, loaded_context_length=4096),
            4096,
        ),
        (
            {
                "/props": {"default_generation_settings": {"n_ctx": 12288}},
                **make_model_details(None, 12288),
            },
            12288,
        ),
    ],
    ids=[
        *("Ollama, loaded", "Ollama, set", "Ollama", "Ollama, a small model", "vLLM", "OpenRouter"),
        *("Groq", "LM Studio", "llama.cpp"),
    ],
)
def test_the_server_says_it(api: ChatApi, tells: dict[str, Any], tokens: int) -> None:
    api.tells = tells
    assert ServedModel(api.url, "m", None).ask_window() == tokens


@pytest.mark.parametrize(
    "tells",
    [
        {},
        make_model_list("/v1/models"),
        make_model_list("/api/v0/models", max_context_length=32768),
        {"/v1/models": {"data": "m"}, "/api/ps": [1], "/props": {"default_generation_settings": 1}},
        make_model_list("/v1/models", context_length="many", max_model_len=True),
        {OLLAMA_SHOW: {"parameters": "num_ctx 0", "model_info": None}},
    ],
)
def test_a_small_one_is_assumed_where_the_server_does_not_say(
    api: ChatApi, tells: dict[str, Any]
) -> None:
    api.tells = tells
    assert ServedModel(api.url, "m", None).ask_window() == ASSUMED_TOKENS


def test_behind_https_more_is_assumed_than_of_a_server_at_home() -> None:
    hosted, at_home = (
        ServedModel(f"{scheme}://127.0.0.1/v1", "m", None) for scheme in ("https", "http")
    )
    assert (hosted.assumed_window, at_home.assumed_window) == (
        ASSUMED_HOSTED_TOKENS,
        ASSUMED_TOKENS,
    )


def test_a_server_that_cannot_be_reached_says_nothing() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/v1"
    assert ServedModel(url, "m", None).ask_window() is None
