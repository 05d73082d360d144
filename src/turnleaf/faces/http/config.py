"""The settings: what holds, and what of it may be changed over HTTP."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter
from fastapi import Body as Sent
from pydantic import Field, WithJsonSchema, create_model

from turnleaf.errors import SettingsError
from turnleaf.faces.http.allowed import KEYLESS, OWN, USUAL, is_allowed
from turnleaf.faces.http.bodies import JSON_ONLY
from turnleaf.faces.http.given import Given
from turnleaf.faces.http.problems import Refused, documented
from turnleaf.faces.http.shapes import Shape
from turnleaf.settings import LARGEST, SETTINGS, checked
from turnleaf.store.config import ConfigFile, named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.settings import Setting, Settings

router = APIRouter(prefix="/api/memory/config", tags=["settings"], dependencies=[JSON_ONLY])

LOCKED = "locked"
ADDRESSED = ("model", "model_url", "extract_model")
"""The fields that decide which server is shown which provider's key."""
ELSEWHERE = (
    "for another server set TURNLEAF_ALLOWED_URLS in the environment of this one, "
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

_CHANGING = Lock()
"""Two changes that are allowed one by one need not be so together."""


def _schema(setting: Setting) -> dict[str, Any]:
    least = {} if setting.least is None else {"minimum": setting.least}
    return SCHEMAS[setting.kind] | least


Value = bool | int | float | str | None
_FIELDS: dict[str, Any] = {
    one.key: (TYPES[one.kind] if one.default is not None else TYPES[one.kind] | None, ...)
    for one in SETTINGS
}
Config: Any = create_model(
    "Config",
    __doc__="Every setting by its key, and which of them the environment fixes.",
    **_FIELDS,
    locked=(list[str], ...),
)
_PROPERTIES: dict[str, Any] = {
    one.key: {"anyOf": [_schema(one), {"type": "null"}], "description": one.meaning}
    for one in SETTINGS
} | {LOCKED: {"description": "ignored, so that an answer can be sent back"}}
Part = Annotated[
    dict[str, Any],
    Sent(examples=[{"autoExtract": False, "flushThreshold": 0.6}, {"model": None}]),
    WithJsonSchema({"type": "object", "properties": _PROPERTIES, "additionalProperties": False}),
]
"""Some of the settings; null lets one have its default again."""


class Described(Shape):
    """One setting: its value, where that comes from, and what it means."""

    key: str = Field(examples=["autoExtract"])
    value: Value
    default: Value
    source: Literal["default", "file", "environment"] = Field(alias="from")
    locked: bool
    variable: str = Field(examples=["MEMORY_AUTO_EXTRACT"])
    meaning: str
    kind: Literal["switch", "number", "share", "text", "path"]
    least: int | None = Field(description="The smallest whole number that it takes.")
    remote: bool = Field(description="Whether it can be changed over HTTP.")


class AllDescribed(Shape):
    """Every setting."""

    settings: list[Described]


@router.get("", operation_id="getConfig", summary="Give every setting by its key")
def get_config(assistant: Given) -> Config:
    """Give what holds; `locked` names what the environment fixes."""
    return _flat(assistant.settings)


@router.get("/settings", operation_id="getSettings", summary="Describe every setting")
def get_settings(assistant: Given) -> AllDescribed:
    """Give what holds, where it comes from, and what it means."""
    settings = assistant.settings
    return AllDescribed(settings=[_described(one, settings) for one in SETTINGS])


@router.put(
    "",
    operation_id="putConfig",
    summary="Change some settings",
    responses=documented(HTTPStatus.CONFLICT),
)
def put_config(assistant: Given, values: Part) -> Config:
    """Change all that are given, or none; it holds at once."""
    with _CHANGING:
        new = _changed(values, assistant.settings)
        if new:
            ConfigFile(assistant.folder.config).change(new)
    return _flat(assistant.settings)


def _flat(settings: Settings) -> dict[str, Any]:
    locked = [one.key for one in SETTINGS if settings.is_locked(one)]
    return {one.key: getattr(settings, one.field) for one in SETTINGS} | {LOCKED: locked}


def _described(setting: Setting, settings: Settings) -> Described:
    source = _source(setting, settings)
    record = {
        "key": setting.key,
        "value": getattr(settings, setting.field),
        "default": setting.default,
        "from": source,
        "locked": settings.is_locked(setting),
        "variable": setting.variable,
        "meaning": setting.meaning,
        "kind": setting.kind,
        "least": setting.least,
        "remote": setting.kind != "path",
    }
    return Described.model_validate(record)


def _changed(values: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Give what is to be other than it is, having refused what may not be changed."""
    wanted = dict(_read(key, value) for key, value in values.items() if key != LOCKED)
    new = {one: value for one, value in wanted.items() if not _holds(one, value, settings)}
    for one, value in new.items():
        _refuse_locked(one, settings)
        _refuse_reaching_out(one, value, settings)
    if any(one.field in ADDRESSED for one in new):
        _refuse_showing_a_key(_with(new, settings), settings)
    return {one.key: value for one, value in new.items()}


def _read(key: str, value: object) -> tuple[Setting, Any]:
    try:
        setting = _known(key)
        return setting, None if value is None else checked(setting, value, key)
    except SettingsError as error:
        status = HTTPStatus.UNPROCESSABLE_ENTITY
        raise Refused(status, str(error), code="settings") from error


def _known(key: str) -> Setting:
    setting = named(key)
    if key != setting.key:
        message = f'there is no setting "{key}"; did you mean "{setting.key}"?'
        raise SettingsError(message)
    return setting


def _holds(setting: Setting, value: object, settings: Settings) -> bool:
    if value is None:
        return _source(setting, settings) == "default"
    return bool(value == getattr(settings, setting.field))


def _refuse_locked(setting: Setting, settings: Settings) -> None:
    if settings.is_locked(setting):
        message = (
            f"{setting.key} is fixed by {setting.variable} in the environment of the server; "
            "change it there, or unset it and start the server again"
        )
        raise Refused(HTTPStatus.CONFLICT, message, code="locked-setting")


def _refuse_reaching_out(setting: Setting, value: str | None, settings: Settings) -> None:
    """Let nobody choose over HTTP which files are used, and which servers are asked."""
    if setting.kind == "path":
        message = (
            f"{setting.key} cannot be changed over HTTP; on the server's machine use turnleaf "
            f"config {setting.key}, or set {setting.variable}"
        )
        raise Refused(HTTPStatus.FORBIDDEN, message, code="fixed-setting")
    usual = _usual(setting, settings)
    is_address = setting.field.endswith("_url") and value is not None
    if is_address and not is_allowed(str(value), getattr(settings, setting.field), usual=usual):
        message = f"{setting.key} may be an address at {', '.join(usual)}; {ELSEWHERE}"
        raise Refused(HTTPStatus.FORBIDDEN, message, code="foreign-address")


def _usual(setting: Setting, settings: Settings) -> tuple[str, ...]:
    is_keyed = setting.field == "embeddings_url" and settings.embeddings_api_key
    return OWN["openai"] if is_keyed else USUAL


def _refuse_showing_a_key(new: Settings, settings: Settings) -> None:
    """Let nobody have a provider's key sent to a server that is not its own."""
    provider, address = _asked_there(new), new.model_url
    if provider is None or address is None:
        return
    was_so = provider in {_asked_there(settings), KEYLESS}
    if not is_allowed(address, settings.model_url if was_so else None, usual=OWN[provider]):
        message = (
            f"with {provider}: as the model, modelUrl may be an address at "
            f"{', '.join(OWN[provider])}, or null; {ELSEWHERE}"
        )
        raise Refused(HTTPStatus.FORBIDDEN, message, code="foreign-address")


def _asked_there(settings: Settings) -> str | None:
    """Name the provider whose model is asked at modelUrl: the one that answers comes first."""
    kinds = [(name or "").partition(":")[0] for name in (settings.model, settings.extract_model)]
    return next((kind for kind in kinds if kind in OWN), None)


def _with(new: Mapping[Setting, Any], settings: Settings) -> Settings:
    """Give the settings as they would be."""
    values = {
        one.field: one.default if value is None else value
        for one, value in new.items()
        if one.field in ADDRESSED
    }
    return replace(settings, **values)


def _source(setting: Setting, settings: Settings) -> str:
    return settings.sources.get(setting.field, "default")
