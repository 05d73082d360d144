"""The one place that reads the environment and the config file.

Environment over file over default. `SETTINGS` is the table behind it all: what can be set,
by which names, and what each means.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import platformdirs

from turnleaf.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

CONFIG_NAME = "memory-config.json"
TOKEN_NAME = "http-token"  # noqa: S105 - the name of a file
KEYS = (
    "embeddings_api_key", "anthropic_api_key", "openai_api_key", "slack_bot_token",
    "slack_app_token",
)  # fmt: skip
YES = ("on", "true", "yes", "1")
NO = ("off", "false", "no", "0")
LARGEST = 2**53 - 1
"""The largest number that every reader of JSON takes for what it is."""
_ID = re.compile(r"[A-Z][A-Z0-9]{2,}")
_MODEL = re.compile(r"recall|claude-cli(:\S+)?|(anthropic|openai|ollama):\S+")


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set."""

    field: str
    variable: str
    key: str
    read: Callable[[object], Any]
    meaning: str

    @property
    def default(self) -> Any:  # noqa: ANN401 - by setting
        """What holds when nobody set it."""
        return Settings.__dataclass_fields__[self.field].default

    @property
    def least(self) -> int | None:
        """The smallest number that it takes; None where it takes no whole number."""
        return LEAST.get(self.read)

    @property
    def kind(self) -> str:
        """What it takes: a switch, a number, a share, a path or a text."""
        return KINDS.get(self.read, "text")


def _whole_number(value: object, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError
    number = int(value)
    if number < least:
        raise ValueError
    if number > LARGEST:
        raise OverflowError
    return number


def _days(value: object) -> int:
    return _whole_number(value, 0)


def _tokens(value: object) -> int:
    return _whole_number(value, 0)


def _switch(value: object) -> bool:
    word = str(value).strip().lower()
    if word not in YES + NO:
        raise ValueError
    return word in YES


def _location(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    return value


def _share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    share = value if isinstance(value, int) else float(value)
    if not 0.0 <= share <= 1.0:
        raise ValueError
    return float(share)


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError
    return value.strip()


def _ids(value: object) -> str:
    ids = _name(value).replace(",", " ").split()
    if not ids or not all(map(_ID.fullmatch, ids)):
        raise ValueError
    return ",".join(ids)


def _model(value: object) -> str:
    name = _name(value)
    if not _MODEL.fullmatch(name):
        raise ValueError
    return name


def _extractor(value: object) -> str:
    return "rules" if value == "rules" else _model(value)


EXPECTED: dict[Callable[[object], Any], str] = {
    _whole_number: "a whole number of at least 1",
    _days: "a whole number of at least 0",
    _tokens: "a whole number of at least 0",
    _switch: "on or off",
    _location: "a path",
    _share: "a number from 0 to 1",
    _name: "a name or an address",
    _ids: "ids as Slack shows them, separated by commas, such as U012AB3CD",
    _model: "recall, claude-cli, or anthropic:NAME, openai:NAME or ollama:NAME",
    _extractor: "rules, claude-cli, or anthropic:NAME, openai:NAME or ollama:NAME",
}

KINDS: dict[Callable[[object], Any], str] = {
    _whole_number: "number",
    _days: "number",
    _tokens: "number",
    _switch: "switch",
    _location: "path",
    _share: "share",
}

LEAST: dict[Callable[[object], Any], int] = {_whole_number: 1, _days: 0, _tokens: 0}

SETTINGS = (
    Setting(
        "conversation_max_turns",
        "CONVERSATION_MAX_TURNS",
        "conversationMaxTurns",
        _whole_number,
        "how many of a conversation's newest messages a prompt holds",
    ),
    Setting(
        "conversation_max_chars",
        "CONVERSATION_MAX_CHARS",
        "conversationMaxChars",
        _whole_number,
        "how many characters of a conversation a prompt holds",
    ),
    Setting(
        "conversation_max_age_days",
        "CONVERSATION_MAX_AGE_DAYS",
        "conversationMaxAgeDays",
        _whole_number,
        "after how many days of silence a prompt begins anew",
    ),
    Setting(
        "conversation_keep_days",
        "CONVERSATION_KEEP_DAYS",
        "conversationKeepDays",
        _days,
        "how many days a message is kept; not set: for ever, 0: only what the window shows",
    ),
    Setting(
        "memory_max_items",
        "MEMORY_MAX_ITEMS",
        "memoryMaxItems",
        _whole_number,
        "how many facts the long-term memory holds",
    ),
    Setting(
        "memory_max_chars",
        "MEMORY_MAX_CHARS",
        "memoryMaxChars",
        _whole_number,
        "how many characters all its facts may have together",
    ),
    Setting(
        "memory_location",
        "TURNLEAF_MEMORY",
        "memoryLocation",
        _location,
        "where the programs keep the long-term memory, `.md` or `.json`",
    ),
    Setting(
        "conversations_location",
        "TURNLEAF_CONVERSATIONS",
        "conversationsLocation",
        _location,
        "where the programs keep the conversations, `.db` or `.json`",
    ),
    Setting(
        "enabled",
        "MEMORY_ENABLED",
        "enabled",
        _switch,
        "whether memory is put into prompts, and learnt",
    ),
    Setting(
        "auto_extract",
        "MEMORY_AUTO_EXTRACT",
        "autoExtract",
        _switch,
        "whether facts are learnt from conversations without being asked",
    ),
    Setting(
        "extract_interval_seconds",
        "MEMORY_EXTRACT_INTERVAL_SECONDS",
        "extractIntervalSeconds",
        _whole_number,
        "how many seconds lie between two looks for facts in one conversation",
    ),
    Setting(
        "min_new_messages",
        "MEMORY_MIN_NEW_MESSAGES",
        "minNewMessages",
        _whole_number,
        "how many new messages such a look needs",
    ),
    Setting(
        "flush_threshold",
        "MEMORY_FLUSH_THRESHOLD",
        "flushThreshold",
        _share,
        "at which share of a model's context facts are looked for at once",
    ),
    Setting(
        "model",
        "TURNLEAF_MODEL",
        "model",
        _model,
        "which model answers, such as claude-cli or openai:NAME; recall is none at all",
    ),
    Setting(
        "model_url",
        "TURNLEAF_MODEL_URL",
        "modelUrl",
        _name,
        "where that model is served, if not at its usual place",
    ),
    Setting(
        "context_window",
        "TURNLEAF_CONTEXT_WINDOW",
        "contextWindow",
        _whole_number,
        "how many tokens fit into the context of an API model, if not as many as its server says",
    ),
    Setting(
        "model_timeout_ms",
        "CLAUDE_TIMEOUT_MS",
        "claudeTimeoutMs",
        _whole_number,
        "for how many milliseconds an answer is waited for",
    ),
    Setting(
        "extract_model",
        "TURNLEAF_EXTRACT_MODEL",
        "extractModel",
        _extractor,
        "which model looks for facts, if not the same; rules is none",
    ),
    Setting(
        "extract_daily_calls",
        "MEMORY_EXTRACT_DAILY_CALLS",
        "extractDailyCalls",
        _whole_number,
        "how often a day it may be asked; after that rules look for facts",
    ),
    Setting(
        "prompt_max_tokens",
        "PROMPT_MAX_TOKENS",
        "promptMaxTokens",
        _whole_number,
        "how many tokens a prompt may have",
    ),
    Setting(
        "context_max_tokens",
        "CONTEXT_MAX_TOKENS",
        "contextMaxTokens",
        _tokens,
        "how many tokens of a prompt what was found may take; 0: nothing is looked for",
    ),
    Setting(
        "embeddings",
        "EMBEDDINGS",
        "embeddings",
        _switch,
        "whether search compares meanings, where a model for that is found",
    ),
    Setting(
        "embeddings_url",
        "EMBEDDINGS_URL",
        "embeddingsUrl",
        _name,
        "where a model for embeddings is served, such as http://localhost:11434/v1",
    ),
    Setting(
        "embeddings_model",
        "EMBEDDINGS_MODEL",
        "embeddingsModel",
        _name,
        "which model is asked there",
    ),
    Setting(
        "search_vector_weight",
        "SEARCH_VECTOR_WEIGHT",
        "searchVectorWeight",
        _share,
        "how much meaning counts in a search",
    ),
    Setting(
        "search_bm25_weight",
        "SEARCH_BM25_WEIGHT",
        "searchBm25Weight",
        _share,
        "how much words count in a search",
    ),
    Setting(
        "slack_allowed_users",
        "SLACK_ALLOWED_USERS",
        "slackAllowedUsers",
        _ids,
        "whom the Slack bot answers, by their ids; nobody else shares this memory",
    ),
    Setting(
        "slack_allowed_channels",
        "SLACK_ALLOWED_CHANNELS",
        "slackAllowedChannels",
        _ids,
        "in which channels it answers every member of the workspace, by their ids",
    ),
)


_ARCHIVE = Setting(
    "archive", "CONVERSATION_ARCHIVE", "conversationArchive", _switch, "replaced by keep days"
)
_ARCHIVE_DAYS = Setting(
    "archive_days",
    "CONVERSATION_ARCHIVE_MAX_AGE_DAYS",
    "conversationArchiveMaxAgeDays",
    _whole_number,
    "replaced by keep days",
)
_ARCHIVE_DEFAULT_DAYS = 365
REPLACED = {"conversationKeepDays": (_ARCHIVE, _ARCHIVE_DAYS)}
"""Settings of older versions by the key that stands for them now; still read, never written."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds now.

    `sources` says for each field that was set where, and `older_names` by which names of an
    older version, if it was by such.
    """

    conversation_max_turns: int = 20
    conversation_max_chars: int = 8000
    conversation_max_age_days: int = 7
    conversation_keep_days: int | None = None
    memory_max_items: int = 100
    memory_max_chars: int = 10000
    memory_location: str | None = None
    conversations_location: str | None = None
    enabled: bool = True
    auto_extract: bool = True
    extract_interval_seconds: int = 60
    min_new_messages: int = 4
    flush_threshold: float = 0.75
    model: str | None = None
    model_url: str | None = None
    context_window: int | None = None
    model_timeout_ms: int = 180_000
    extract_model: str | None = None
    extract_daily_calls: int = 200
    prompt_max_tokens: int = 32_000
    context_max_tokens: int = 1_750
    embeddings: bool = True
    embeddings_url: str | None = None
    embeddings_model: str | None = None
    search_vector_weight: float = 0.7
    search_bm25_weight: float = 0.3
    slack_allowed_users: str | None = None
    slack_allowed_channels: str | None = None
    embeddings_api_key: str | None = field(default=None, repr=False)
    anthropic_api_key: str | None = field(default=None, repr=False)
    openai_api_key: str | None = field(default=None, repr=False)
    slack_bot_token: str | None = field(default=None, repr=False)
    slack_app_token: str | None = field(default=None, repr=False)
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    older_names: Mapping[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def load(
        cls, data_dir: str | Path | None = None, environ: Mapping[str, str] = os.environ
    ) -> Settings:
        """Read the environment and the data folder's config file."""
        folder = default_data_dir(environ) if data_dir is None else Path(data_dir)
        path = folder / CONFIG_NAME
        given = _Given(environ, _read_config(path), path)
        found = {setting.field: given.find(setting) for setting in SETTINGS}
        values = {name: one.value for name, one in found.items() if one}
        sources = {name: one.source for name, one in found.items() if one}
        older_names: dict[str, str] = {}
        older = None if found["conversation_keep_days"] else given.find_older_keep_days()
        if older:
            values["conversation_keep_days"] = older.value
            sources["conversation_keep_days"] = older.source
            older_names["conversation_keep_days"] = older.name
        # A key that opens something is read from the environment only, and never shown.
        values |= {name: environ.get(name.upper()) or None for name in KEYS}
        return replace(cls(sources=sources, older_names=older_names), **values)

    def is_locked(self, setting: Setting) -> bool:
        """Whether the environment sets it, so that a change of the file would change nothing."""
        is_older = setting.field in self.older_names
        return self.sources.get(setting.field) == "environment" and not is_older


class _Found(NamedTuple):
    """A value that was set: where, and by which name."""

    value: Any
    source: str
    name: str


@dataclass(frozen=True, slots=True)
class _Given:
    """What the environment and the config file say."""

    environ: Mapping[str, str]
    config: Mapping[str, Any]
    path: Path

    def find(self, setting: Setting) -> _Found | None:
        """Return what was set, the environment before the file."""
        text = self.environ.get(setting.variable)
        if text:
            value = checked(setting, text, setting.variable)
            return _Found(value, "environment", setting.variable)
        if setting.key in self.config:
            where = f'"{setting.key}" in {self.path}'
            value = checked(setting, self.config[setting.key], where)
            return _Found(value, "file", setting.key)
        return None

    def find_older_keep_days(self) -> _Found | None:
        """Return for how many days messages were kept where an older version was told so."""
        archive, days = self.find(_ARCHIVE), self.find(_ARCHIVE_DAYS)
        if archive and not archive.value:
            return archive._replace(value=0)
        if archive and not days:
            return archive._replace(value=_ARCHIVE_DEFAULT_DAYS)
        return days


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Where the programs keep everything, why there, and where else something lies."""

    path: Path
    why: str
    others: tuple[Path, ...] = ()

    def memory(self, settings: Settings) -> Path:
        """Give the live long-term memory's location."""
        return self._named(settings, "memory_location") or self.path / "prompts/memory/MEMORY.md"

    def conversations(self, settings: Settings) -> Path:
        """Give the conversations' location."""
        named = self._named(settings, "conversations_location")
        return named or self.path / "conversations/conversations.db"

    @property
    def index(self) -> Path:
        """Give the search index's location."""
        return self.path / "index.db"

    @property
    def learning(self) -> Path:
        """Give the location of what is yet to be learnt from."""
        return self.path / "learning.db"

    @property
    def schedules(self) -> Path:
        """Give the location of what is asked by the clock."""
        return self.path / "schedules.json"

    @property
    def results(self) -> Path:
        """Give the folder of what schedules write to files."""
        return self.path / "results"

    @property
    def config(self) -> Path:
        """Give the settings' location."""
        return self.path / CONFIG_NAME

    @property
    def token(self) -> Path:
        """Give the location of the server's token."""
        return self.path / TOKEN_NAME

    @property
    def daily(self) -> Path:
        """Give the daily log's folder."""
        return self.path / "prompts/memory/daily"

    def _named(self, settings: Settings, field: str) -> Path | None:
        """Give a location that was set; one in the config file is relative to its folder."""
        name = getattr(settings, field)
        if not name:
            return None
        is_in_file = settings.sources.get(field) == "file"
        return self.path / _expanded(name) if is_in_file else _expanded(name)


def data_folder(
    option: str | Path | None = None,
    environ: Mapping[str, str] = os.environ,
    cwd: Path | None = None,
) -> DataFolder:
    """Find the programs' data folder, so that a program started anywhere finds the same memory."""
    here = (cwd or Path.cwd()) / "data"
    user = Path(platformdirs.user_data_dir("turnleaf", appauthor=False))
    found = [path for path in (here, user) if path.is_dir()]
    if option:
        chosen, why = Path(option), "--data-dir names it"
    elif environ.get("TURNLEAF_DATA_DIR"):
        chosen, why = Path(environ["TURNLEAF_DATA_DIR"]), "TURNLEAF_DATA_DIR names it"
    elif in_home_assistant(environ):
        chosen, why = Path("/data"), "this is Home Assistant (SUPERVISOR_TOKEN is set)"
    elif here.is_dir():
        chosen, why = here, "there is a folder named data here"
    else:
        chosen, why = user, "it is the user's data folder"
    chosen = _expanded(chosen).absolute()
    return DataFolder(chosen, why, tuple(path for path in found if path != chosen))


def in_home_assistant(environ: Mapping[str, str] = os.environ) -> bool:
    """Tell whether this runs as a Home Assistant app."""
    return bool(environ.get("SUPERVISOR_TOKEN"))


def find_terminal_language(environ: Mapping[str, str] = os.environ) -> str:
    """Return the code of the language that a terminal asks for, as programs are told on Unix."""
    names = (environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return next((name for name in names if name), "")[:2]


def default_data_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Give the requirements' own data folder, which a store without an argument uses."""
    return Path("/data") if in_home_assistant(environ) else Path("data")


def _expanded(path: str | Path) -> Path:
    """Let a `~` at the beginning stand for the home folder, as in a shell."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        message = f"nobody's home folder is meant by {str(path)!r}; write the whole path"
        raise SettingsError(message) from error


def checked(setting: Setting, value: object, where: str) -> Any:  # noqa: ANN401 - by setting
    """Give a value as the setting takes it, or say where and why it does not."""
    try:
        return setting.read(value)
    except (TypeError, ValueError):
        expected = EXPECTED[setting.read]
        message = f"{where} must be {expected}, not {value!r:.80}; change it or remove it"
        raise SettingsError(message) from None
    except OverflowError:
        message = f"{where} must be at most {LARGEST}; change it or remove it"
        raise SettingsError(message) from None


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_text("utf-8-sig"))
    except FileNotFoundError:
        return {}
    except NotADirectoryError:
        return {}
    except OSError as error:
        message = f"the settings in {path} cannot be read ({error.strerror}); check its permissions"
        raise SettingsError(message) from error
    except (ValueError, RecursionError) as error:
        message = f"{path} is not valid JSON ({error}); correct it or remove it"
        raise SettingsError(message) from error
    if not isinstance(config, dict):
        message = f"{path} must hold one JSON object of settings; correct it or remove it"
        raise SettingsError(message)
    return config
