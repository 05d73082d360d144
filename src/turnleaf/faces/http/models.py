"""Models and keys: what is there, what a provider lists, whether a model answers.

Whoever names an address makes this machine send requests there, with the user's words and keys.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal, NamedTuple

from fastapi import APIRouter, Response
from pydantic import Field

from turnleaf.core.model_providers import (
    PROVIDERS,
    ModelProvider,
    StoredKey,
    check_key,
    check_url,
)
from turnleaf.errors import NotFound, SettingsError
from turnleaf.faces.http.operator_sessions import (
    OPERATOR_ONLY,
    HasSpaceToken,
    IsOperator,
    refuse_unless,
)
from turnleaf.faces.http.problems import Refused, document_problems, localize
from turnleaf.faces.http.request_reading import JSON_ONLY, Given
from turnleaf.faces.http.schemas import Body, JsonModel
from turnleaf.llm.discovery import FoundModels, find_local, list_models, try_model
from turnleaf.llm.models import choose_model, describe_destinations, find_model, find_url
from turnleaf.model_keys import KeySource, find_key
from turnleaf.settings import ENVIRONMENT, Settings, list_allowed_urls
from turnleaf.store.files.config import remove_key, store_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


USUAL = tuple(one.url for one in PROVIDERS.values() if one.url)
LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
PORTS = {"http": 80, "https": 443}
HIGHEST_PORT = 65_535

# Stricter than any library's parser, so that none can take an address for another one.
_ADDRESS = re.compile(
    r"(?P<scheme>https?)://"
    r"(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])"
    r"(?::(?P<port>[1-9][0-9]{0,4}))?"
    r"(?:/[a-z0-9._~/-]*)?",
    re.ASCII | re.IGNORECASE,
)


class Origin(NamedTuple):
    """A server: the part of an address that decides who answers."""

    scheme: str
    host: str
    port: int


def parse_origin(address: str) -> Origin | None:
    """Parse a plain address; return None for any other."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return None
    scheme = found["scheme"].lower()
    port = int(found["port"] or PORTS[scheme])
    return Origin(scheme, found["host"].lower(), port) if port <= HIGHEST_PORT else None


def check_address(
    address: str,
    present: str | None = None,
    *,
    own: Sequence[str] | None = None,
    is_confirmed: bool,
) -> None:
    """Refuse what is no address, and one that the operator has yet to confirm.

    `own` are the servers that a key belongs to; without one, those of all providers and every
    server on this machine need no question.
    """
    wanted = parse_origin(address)
    if wanted is None:
        message = f"{address!r:.80} is not an address; write one such as http://localhost:1234/v1"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, message, code="settings")
    is_known = is_allowed(address, present, own=own)
    if not is_known and not is_confirmed:
        message = f"your words would be sent to {wanted.host}; confirm that this is what you want"
        if own:
            message = (
                f"your words and a key would be sent to {wanted.host}; confirm that this is "
                "what you want"
            )
        raise Refused(HTTPStatus.CONFLICT, message, code="unconfirmed-address")


def is_allowed(
    address: str,
    present: str | None = None,
    environ: Mapping[str, str] = ENVIRONMENT,
    *,
    own: Sequence[str] | None = None,
) -> bool:
    """Whether an address needs no question: a usual one, one allowed here, or the present one."""
    usual = USUAL if own is None else own
    known = {
        parse_origin(one) for one in (*usual, *list_allowed(environ), *filter(None, [present]))
    }
    wanted = parse_origin(address)
    # With a key, being on this machine is not enough: anybody's program may listen there.
    is_local = own is None and wanted is not None and wanted.host in LOOPBACK
    return wanted is not None and (wanted in known or is_local)


def list_allowed(environ: Mapping[str, str] = ENVIRONMENT) -> list[str]:
    """Return the addresses that whoever started the server allows."""
    addresses = list_allowed_urls(environ)
    for one in addresses:
        if parse_origin(one) is None:
            message = (
                "TURNLEAF_ALLOWED_URLS must be addresses such as http://192.168.1.5:11434, "
                f"separated by commas, not {one!r}; correct it or remove it"
            )
            raise SettingsError(message)
    return addresses


router = APIRouter(prefix="/api", tags=["models"], dependencies=[JSON_ONLY])

TRIAL_SECONDS = 60.0


class ProviderView(JsonModel):
    """A provider of models, and whether there is a key for it; never the key."""

    name: str = Field(examples=["openai"])
    label: str = Field(examples=["OpenAI"])
    local: bool = Field(description="Whether it usually runs on this machine.")
    url: str | None = Field(description="Its address; null where one has to be given.")
    needs_key: bool
    key: KeySource | None = Field(description="Where its key comes from, if there is one.")
    variable: str | None = Field(examples=["OPENAI_API_KEY"])


class FoundView(JsonModel):
    """A server or a program that was found on the server's machine, and its models."""

    provider: str = Field(examples=["ollama"])
    label: str = Field(examples=["Ollama"])
    url: str | None
    models: list[str] = Field(
        description="As the setting `model` names them.", examples=[["ollama:qwen3:8b"]]
    )


class CurrentModel(JsonModel):
    """The model that answers, and what keeps it from answering."""

    name: str = Field(examples=["ollama:qwen3:8b", "recall"])
    why: str = Field(description="Why it is this one.")
    url: str | None
    lack: str | None = Field(description="What is missing, in a sentence; null if nothing is.")


class WordsGo(JsonModel):
    """Who is sent what the user says."""

    local: bool = Field(description="Whether all of it stays on the server's machine.")
    to: list[str] = Field(examples=[["OpenAI"]])
    sentence: str


class ModelsView(JsonModel):
    """The model in use, where words go, what was found, and the providers."""

    current: CurrentModel
    words_go: WordsGo
    found: list[FoundView]
    providers: list[ProviderView]
    operator: bool = Field(description="Whether this client may change any of it.")


class ModelList(JsonModel):
    """The models of a provider that chat."""

    provider: str
    url: str | None
    models: list[str] = Field(
        description="As the setting `model` names them.", examples=[["groq:llama-3.3-70b"]]
    )


class TestRequest(Body):
    """Which model to test; `url` where it is not at the provider's address."""

    model: str = Field(examples=["openai:gpt-5.4-mini"])
    url: str | None = None
    confirm: bool = False


class TestResult(JsonModel):
    """Whether the model answered; else the kind of failure and what to do."""

    ok: bool
    kind: Literal[
        "no-key", "key-refused", "unreachable", "model-unknown", "rate-limit", "no-credit",
        "context-too-small", "too-slow", "broken-off", "server-fault", "unexpected",
    ] | None  # fmt: skip
    sentence: str | None
    milliseconds: int


class KeyRequest(Body):
    """A key, and the address that it may be sent to: the provider's own, unless given."""

    key: str = Field(min_length=1, max_length=4096, examples=["sk-…"])
    url: str | None = None
    confirm: bool = False


class KeyView(JsonModel):
    """Where a provider's key comes from now, and which address it is sent to; never the key."""

    provider: str
    key: KeySource | None
    url: str | None


@router.get("/models", summary="Get models, providers and where words go")
def get_models(
    assistant: Given, operator: IsOperator, has_space_token: HasSpaceToken
) -> ModelsView:
    """Look for servers on this machine (for up to a second); nobody else is asked.

    Somebody with a space's token is told which model answers, and nothing of the operator's.
    """
    settings = assistant.settings
    if has_space_token:
        current = _describe_current(settings).model_copy(update={"url": None})
        words = _describe_words(settings)
        return ModelsView(current=current, words_go=words, found=[], providers=[], operator=False)
    return ModelsView(
        current=_describe_current(settings),
        words_go=_describe_words(settings),
        found=[_describe_found(one) for one in find_local(settings)],
        providers=[_describe_provider(one, settings) for one in PROVIDERS.values()],
        operator=operator,
    )


def _describe_current(settings: Settings) -> CurrentModel:
    try:
        name, why = choose_model(settings)
        model = find_model(settings, name)
    except SettingsError as error:
        return CurrentModel(name=settings.model or "", why="", url=None, lack=localize(str(error)))
    lack = getattr(model, "lack", None)
    return CurrentModel(
        name=name,
        why=localize(why),
        url=getattr(model, "url", None),
        lack=localize(lack) if lack else None,
    )


def _describe_words(settings: Settings) -> WordsGo:
    names, sentence = describe_destinations(settings)
    return WordsGo(local=not names, to=names, sentence=localize(sentence))


def _describe_found(found: FoundModels) -> FoundView:
    names = [name if found.url is None else f"{found.provider}:{name}" for name in found.models]
    return FoundView(provider=found.provider, label=found.label, url=found.url, models=names)


def _describe_provider(provider: ModelProvider, settings: Settings) -> ProviderView:
    url = find_url(provider, settings)
    return ProviderView(
        name=provider.name,
        label=provider.label,
        local=provider.is_local,
        url=url,
        needs_key=provider.needs_key,
        key=_find_source(provider, url, settings),
        variable=provider.variable,
    )


def _find_source(provider: ModelProvider, url: str | None, settings: Settings) -> KeySource | None:
    key = find_key(provider, url, settings)
    return key.source if key else None


@router.get(
    "/models/{provider}",
    summary="List the models of a provider",
    responses=document_problems(403, 404, 409, 502),
)
def get_provider_models(
    provider: str,
    assistant: Given,
    operator: IsOperator,
    has_space_token: HasSpaceToken,
    url: str | None = None,
    *,
    confirm: bool = False,
) -> ModelList:
    """Ask the provider, with its key; only the operator may ask at another address."""
    refuse_unless(operator or not has_space_token)
    known = _find_provider(provider)
    settings = assistant.settings
    if url is not None and url != find_url(known, settings):
        refuse_unless(operator)
        check_address(url, is_confirmed=confirm)
    names = list_models(known, settings, url)
    models = [f"{known.name}:{name}" for name in names]
    return ModelList(provider=known.name, url=url or find_url(known, settings), models=models)


@router.post(
    "/models/test",
    summary="Test whether a model answers",
    responses=document_problems(403, 409, 422),
    dependencies=[OPERATOR_ONLY],
)
def test_model(asked: TestRequest, assistant: Given) -> TestResult:
    """Ask the model one short question; a failure is reported by its kind, never by its words."""
    settings = assistant.settings
    if asked.url is not None:
        check_address(asked.url, settings.model_url, is_confirmed=asked.confirm)
    try:
        model = find_model(settings, asked.model, url=asked.url, most_seconds=TRIAL_SECONDS)
    except SettingsError as error:
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), code="settings") from error
    # By the words of the answer, whoever may name an address could read what is there.
    trial = try_model(model)
    return TestResult.model_validate(
        {
            "ok": trial.is_good,
            "kind": trial.kind or None,
            "sentence": localize(trial.sentence) if trial.sentence else None,
            "milliseconds": trial.milliseconds,
        }
    )


@router.put(
    "/keys/{provider}",
    summary="Store the key of a provider",
    responses=document_problems(403, 404, 409, 422),
    dependencies=[OPERATOR_ONLY],
)
def put_key(provider: str, sent: KeyRequest, assistant: Given) -> KeyView:
    """Store a key outside the data folder, for one address; the environment comes before it."""
    known, settings = _find_provider(provider), assistant.settings
    url = sent.url or find_url(known, settings)
    if url is None:
        message = f"{known.name} needs an address; send it as url"
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, message, code="settings")
    if sent.url is not None:
        own = (known.url,) if known.url else None
        check_address(url, settings.model_url, own=own, is_confirmed=sent.confirm)
    try:
        address, key = check_url(url, "url"), check_key(sent.key.strip(), "key")
    except SettingsError as error:
        raise Refused(HTTPStatus.UNPROCESSABLE_ENTITY, str(error), code="settings") from error
    store_key(known.name, StoredKey(address, key))
    return _view_key(known, address, settings)


@router.delete(
    "/keys/{provider}",
    summary="Remove the stored key of a provider",
    status_code=204,
    response_class=Response,
    responses=document_problems(403, 404),
    dependencies=[OPERATOR_ONLY],
)
def delete_key(provider: str) -> None:
    """Remove a key from the file; one in the environment stays."""
    if not remove_key(_find_provider(provider).name):
        raise NotFound(f"no key is stored for {provider}; there is nothing to remove")


def _view_key(provider: ModelProvider, url: str | None, settings: Settings) -> KeyView:
    return KeyView(provider=provider.name, key=_find_source(provider, url, settings), url=url)


def _find_provider(name: str) -> ModelProvider:
    if name not in PROVIDERS:
        raise NotFound(f"there is no provider {name}; the providers are: {', '.join(PROVIDERS)}")
    return PROVIDERS[name]
