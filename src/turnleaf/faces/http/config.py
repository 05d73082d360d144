"""The settings, and which of them may be changed over HTTP.

Whoever sets an address makes this machine send requests there, with the user's words and keys.
"""

from __future__ import annotations

import re
from dataclasses import replace
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from fastapi import APIRouter
from fastapi import Body as Sent
from pydantic import Field, WithJsonSchema, create_model

from turnleaf.core.setting_kinds import LARGEST
from turnleaf.errors import SettingsError
from turnleaf.faces.http.problems import Refused, document_problems
from turnleaf.faces.http.requests import JSON_ONLY, Given
from turnleaf.faces.http.schemas import JsonModel, SettingSource, SettingValue
from turnleaf.settings import ENVIRONMENT, SETTINGS, check_value, find_setting, list_allowed_urls

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from turnleaf.settings import Setting, Settings

router = APIRouter(prefix="/api/memory/config", tags=["settings"], dependencies=[JSON_ONLY])

LOCKED = "locked"
ADDRESSED = ("model", "model_url", "extract_model")
"""The fields that decide which server is shown which provider's key."""
ELSEWHERE = (
    "to allow another server, set TURNLEAF_ALLOWED_URLS where this one runs, "
    "or use turnleaf config there"
)
TYPES: dict[str, Any] = {"switch": bool, "number": int, "share": float, "path": str, "text": str}
SCHEMAS: dict[str, dict[str, Any]] = {
    "switch": {"type": "boolean"},
    "number": {"type": "integer", "maximum": LARGEST},
    "share": {"type": "number", "minimum": 0, "maximum": 1},
    "path": {"type": "string"},
    "text": {"type": "string"},
}

OWN = {
    "anthropic": ("https://api.anthropic.com",),
    "openai": ("https://api.openai.com",),
    "ollama": ("http://localhost:11434", "http://127.0.0.1:11434"),
}
"""The servers of each provider of models; its key may not be sent to others."""
KEYLESS = "ollama"
USUAL = tuple(address for own in OWN.values() for address in own)
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

_CHANGING = Lock()
"""Two changes that are allowed one by one may not be allowed together."""


def _describe_value(setting: Setting) -> dict[str, Any]:
    least = {} if setting.least is None else {"minimum": setting.least}
    return SCHEMAS[setting.kind] | least


_FIELDS: dict[str, Any] = {
    one.key: (TYPES[one.kind] if one.default is not None else TYPES[one.kind] | None, ...)
    for one in SETTINGS
}
Config: Any = create_model(
    "Config",
    __doc__="All settings by key, and which of them the environment fixes.",
    **_FIELDS,
    locked=(list[str], ...),
)
_PROPERTIES: dict[str, Any] = {
    one.key: {"anyOf": [_describe_value(one), {"type": "null"}], "description": one.meaning}
    for one in SETTINGS
} | {LOCKED: {"description": "Ignored, so that a response can be sent back."}}
ConfigPart = Annotated[
    dict[str, Any],
    Sent(examples=[{"autoExtract": False, "flushThreshold": 0.6}, {"model": None}]),
    WithJsonSchema({"type": "object", "properties": _PROPERTIES, "additionalProperties": False}),
]
"""Some of the settings; null resets one to its default."""


class SettingView(JsonModel):
    """One setting: its value, where that comes from, and what it means."""

    key: str = Field(examples=["autoExtract"])
    value: SettingValue
    default: SettingValue
    source: SettingSource = Field(alias="from")
    locked: bool
    variable: str = Field(examples=["MEMORY_AUTO_EXTRACT"])
    meaning: str
    kind: Literal["switch", "number", "share", "text", "path"]
    least: int | None = Field(description="The smallest whole number that is allowed.")
    remote: bool = Field(description="Whether it can be changed over HTTP.")


class SettingList(JsonModel):
    """All settings."""

    settings: list[SettingView]


@router.get("", summary="Get all settings by key")
def get_config(assistant: Given) -> Config:
    """Return the values in effect; `locked` are those that the environment fixes."""
    return _list_values(assistant.settings)


@router.get("/settings", summary="Describe all settings")
def get_settings(assistant: Given) -> SettingList:
    """Return the values in effect, their sources and their meanings."""
    settings = assistant.settings
    return SettingList(settings=[_view(one, settings) for one in SETTINGS])


@router.put("", summary="Change some settings", responses=document_problems(409))
def put_config(assistant: Given, values: ConfigPart) -> Config:
    """Change all of these settings or none; they take effect at once."""
    with _CHANGING:
        new = _find_changes(values, assistant.settings)
        if new:
            assistant.stores.config.change(new)
    return _list_values(assistant.settings)


def _list_values(settings: Settings) -> dict[str, Any]:
    locked = [one.key for one in SETTINGS if settings.is_locked(one)]
    return {one.key: getattr(settings, one.field) for one in SETTINGS} | {LOCKED: locked}


def _view(setting: Setting, settings: Settings) -> SettingView:
    more = {"kind": setting.kind, "least": setting.least, "remote": setting.kind != "path"}
    return SettingView.model_validate(settings.describe(setting) | more)


def _find_changes(values: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Return the settings that differ; refuse those that may not be changed."""
    wanted = dict(_check_value(key, value) for key, value in values.items() if key != LOCKED)
    new = {one: value for one, value in wanted.items() if not _is_so(one, value, settings)}
    for one, value in new.items():
        _refuse_locked(one, settings)
        _refuse_reaching_out(one, value, settings)
    if any(one.field in ADDRESSED for one in new):
        _refuse_showing_a_key(_replace(new, settings), settings)
    return {one.key: value for one, value in new.items()}


def _check_value(key: str, value: object) -> tuple[Setting, Any]:
    try:
        setting = _find_setting(key)
        return setting, None if value is None else check_value(setting, value, key)
    except SettingsError as error:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        raise Refused(status, str(error), code="settings") from error


def _find_setting(key: str) -> Setting:
    setting = find_setting(key)
    if key != setting.key:
        message = f'there is no setting "{key}"; did you mean "{setting.key}"?'
        raise SettingsError(message)
    return setting


def _is_so(setting: Setting, value: object, settings: Settings) -> bool:
    if value is None:
        return settings.find_source(setting) == "default"
    return bool(value == getattr(settings, setting.field))


def _refuse_locked(setting: Setting, settings: Settings) -> None:
    if settings.is_locked(setting):
        message = (
            f"{setting.key} is fixed by {setting.variable} in the environment of the server; "
            "change it there, or unset it and restart the server"
        )
        raise Refused(HTTPStatus.CONFLICT, message, code="locked-setting")


def _refuse_reaching_out(setting: Setting, value: str | None, settings: Settings) -> None:
    """Refuse to choose over HTTP which files are used and which servers are contacted."""
    if setting.kind == "path":
        message = (
            f"{setting.key} cannot be changed here; where the server runs, use turnleaf "
            f"config {setting.key}, or set {setting.variable}"
        )
        raise Refused(HTTPStatus.FORBIDDEN, message, code="fixed-setting")
    usual = _list_usual(setting, settings)
    is_address = setting.field.endswith("_url") and value is not None
    if is_address and not is_allowed(str(value), getattr(settings, setting.field), usual=usual):
        message = f"{setting.key} must be an address at {', '.join(usual)}; {ELSEWHERE}"
        raise Refused(HTTPStatus.FORBIDDEN, message, code="foreign-address")


def _list_usual(setting: Setting, settings: Settings) -> tuple[str, ...]:
    is_keyed = setting.field == "embeddings_url" and settings.embeddings_api_key
    return OWN["openai"] if is_keyed else USUAL


def _refuse_showing_a_key(new: Settings, settings: Settings) -> None:
    """Refuse to send a provider's key to a server that is not its own."""
    provider, address = _find_provider(new), new.model_url
    if provider is None or address is None:
        return
    was_so = provider in {_find_provider(settings), KEYLESS}
    if not is_allowed(address, settings.model_url if was_so else None, usual=OWN[provider]):
        message = (
            f"with the provider {provider}, modelUrl must be an address at "
            f"{', '.join(OWN[provider])}, or null; {ELSEWHERE}"
        )
        raise Refused(HTTPStatus.FORBIDDEN, message, code="foreign-address")


def _find_provider(settings: Settings) -> str | None:
    """Return the provider whose key is sent to modelUrl: that of the model, or of extraction."""
    kinds = [(name or "").partition(":")[0] for name in (settings.model, settings.extract_model)]
    return next((kind for kind in kinds if kind in OWN), None)


def _replace(new: Mapping[Setting, Any], settings: Settings) -> Settings:
    """Return the settings as they would be."""
    values = {
        one.field: one.default if value is None else value
        for one, value in new.items()
        if one.field in ADDRESSED
    }
    return replace(settings, **values)


# Addresses


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


def is_allowed(
    address: str,
    present: str | None = None,
    environ: Mapping[str, str] = ENVIRONMENT,
    *,
    usual: Sequence[str] = USUAL,
) -> bool:
    """Whether an address may be set: a usual one, one allowed here, or the present server."""
    known = {
        parse_origin(one) for one in (*usual, *list_allowed(environ), *filter(None, [present]))
    }
    wanted = parse_origin(address)
    return wanted is not None and wanted in known


def list_allowed(environ: Mapping[str, str] = ENVIRONMENT) -> list[str]:
    """Return the addresses that the operator of the server allows."""
    addresses = list_allowed_urls(environ)
    for one in addresses:
        if parse_origin(one) is None:
            message = (
                "TURNLEAF_ALLOWED_URLS must be addresses such as http://192.168.1.5:11434, with "
                f"commas between them, not {one!r}; correct it or remove it"
            )
            raise SettingsError(message)
    return addresses
