"""The settings, and which of them may be changed over HTTP.

Whoever sets an address makes this machine send requests there, with the user's words and keys.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from http import HTTPStatus
from threading import Lock
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Depends
from fastapi import Body as Sent
from pydantic import Field, WithJsonSchema, create_model

from turnleaf.core.model_providers import PROVIDERS, find_provider
from turnleaf.core.setting_kinds import LARGEST
from turnleaf.errors import SettingsError
from turnleaf.faces.http.models import check_address
from turnleaf.faces.http.operator_sessions import HasSpaceToken, IsOperator, refuse_unless
from turnleaf.faces.http.problems import Refused, document_problems
from turnleaf.faces.http.request_reading import JSON_ONLY, Given
from turnleaf.faces.http.schemas import JsonModel, SettingSource, SettingValue
from turnleaf.settings import SETTINGS, Settings, check_value, find_setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from turnleaf.core.model_providers import ModelProvider
    from turnleaf.settings import Setting

router = APIRouter(prefix="/api/memory/config", tags=["settings"], dependencies=[JSON_ONLY])

LOCKED = "locked"
CONFIRM = "confirm"
ADDRESSED = ("model", "model_url", "extract_model")
"""The fields that decide which server is shown which provider's key."""
WORDS_GO = (*ADDRESSED, "embeddings_url", "embeddings_model")
"""The fields that decide who is sent the user's words; they are the operator's."""
OPENAI = (PROVIDERS["openai"].url or "",)
"""Where a key for embeddings may be sent without a question."""
TYPES: dict[str, Any] = {"switch": bool, "number": int, "share": float, "path": str, "text": str}
SCHEMAS: dict[str, dict[str, Any]] = {
    "switch": {"type": "boolean"},
    "number": {"type": "integer", "maximum": LARGEST},
    "share": {"type": "number", "minimum": 0, "maximum": 1},
    "path": {"type": "string"},
    "text": {"type": "string"},
}

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
} | {
    LOCKED: {"description": "Ignored, so that a response can be sent back."},
    CONFIRM: {
        "type": "boolean",
        "description": "Whether an address outside this machine is meant to be sent words.",
    },
}
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


OF_OPERATOR = (
    "memory_location", "conversations_location", "model_url", "embeddings_url",
    "slack_allowed_users", "slack_allowed_channels", "slack_spaces",
)  # fmt: skip
"""The fields whose values whoever has a space's token is not shown: addresses and people."""


def hide_settings(settings: Settings) -> Settings:
    """Return the settings as somebody with a space's token sees them."""
    hidden = {one.field: one.default for one in SETTINGS if one.field in OF_OPERATOR}
    return replace(settings, **hidden)


def _find_shown(assistant: Given, has_space_token: HasSpaceToken) -> Settings:
    return hide_settings(assistant.settings) if has_space_token else assistant.settings


Shown = Annotated[Settings, Depends(_find_shown)]


@router.get("", summary="Get all settings by key")
def get_config(settings: Shown) -> Config:
    """Return the values in effect; `locked` are those that the environment fixes."""
    return _list_values(settings)


@router.get("/settings", summary="Describe all settings")
def get_settings(settings: Shown) -> SettingList:
    """Return the values in effect, their sources and their meanings."""
    return SettingList(settings=[_view(one, settings) for one in SETTINGS])


@router.put("", summary="Change some settings", responses=document_problems(403, 409))
def put_config(
    assistant: Given, values: ConfigPart, operator: IsOperator, has_space_token: HasSpaceToken
) -> Config:
    """Change all of these settings or none; they take effect at once.

    All spaces have the same, so they are not for somebody with a space's token.
    """
    refuse_unless(operator or not has_space_token)
    change = _Change(
        assistant.settings, is_operator=operator, is_confirmed=values.get(CONFIRM) is True
    )
    with _CHANGING:
        new = change.find(values)
        if new:
            assistant.stores.config.change(new)
    return _list_values(assistant.settings)


def _list_values(settings: Settings) -> dict[str, Any]:
    locked = [one.key for one in SETTINGS if settings.is_locked(one)]
    return {one.key: getattr(settings, one.field) for one in SETTINGS} | {LOCKED: locked}


def _view(setting: Setting, settings: Settings) -> SettingView:
    more = {"kind": setting.kind, "least": setting.least, "remote": setting.kind != "path"}
    return SettingView.model_validate(settings.describe(setting) | more)


@dataclass(frozen=True, slots=True)
class _Change:
    """A change that somebody wants."""

    settings: Settings
    is_operator: bool
    is_confirmed: bool

    def find(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that differ; refuse those that may not be changed."""
        given = {key: value for key, value in values.items() if key not in {LOCKED, CONFIRM}}
        wanted = dict(_check_value(key, value) for key, value in given.items())
        new = {one: value for one, value in wanted.items() if not _is_so(one, value, self.settings)}
        for one, value in new.items():
            _refuse_locked(one, self.settings)
            self._refuse_reaching_out(one, value)
        if any(one.field in ADDRESSED for one in new):
            self._refuse_showing_a_key(_replace(new, self.settings))
        return {one.key: value for one, value in new.items()}

    def _refuse_reaching_out(self, setting: Setting, value: str | None) -> None:
        """Refuse to choose which files are used, and what only the operator may choose."""
        # Whoever reaches the server must not read another file by it.
        if setting.kind == "path":
            message = (
                f"{setting.key} cannot be changed here; where the server runs, use turnleaf "
                f"config {setting.key}, or set {setting.variable}"
            )
            raise Refused(HTTPStatus.FORBIDDEN, message, code="fixed-setting")
        if setting.field in WORDS_GO:
            refuse_unless(self.is_operator)
        if setting.field.endswith("_url") and value is not None:
            present = getattr(self.settings, setting.field)
            is_keyed = setting.field == "embeddings_url" and self.settings.embeddings_api_key
            check_address(
                value, present, own=OPENAI if is_keyed else None, is_confirmed=self.is_confirmed
            )

    def _refuse_showing_a_key(self, new: Settings) -> None:
        """Refuse to send a provider's key to a server that is not its own, unless confirmed."""
        provider, address = _find_provider(new), new.model_url
        if provider is None or provider.url is None or address is None:
            return
        present = self.settings.model_url if provider == _find_provider(self.settings) else None
        check_address(address, present, own=(provider.url,), is_confirmed=self.is_confirmed)


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
            f"{setting.key} is set by {setting.variable} in the server's environment; change "
            "it there, or unset it and restart the server"
        )
        raise Refused(HTTPStatus.CONFLICT, message, code="locked-setting")


def _find_provider(settings: Settings) -> ModelProvider | None:
    """Return the provider whose key is sent to modelUrl: that of the model, or of extraction."""
    found = (find_provider(name) for name in (settings.model, settings.extract_model))
    return next((one for one in found if one is not None and one.needs_key), None)


def _replace(new: Mapping[Setting, Any], settings: Settings) -> Settings:
    """Return the settings as they would be."""
    values = {
        one.field: one.default if value is None else value
        for one, value in new.items()
        if one.field in ADDRESSED
    }
    return replace(settings, **values)
