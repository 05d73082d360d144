"""The one place that reads the environment and the config file.

Environment over file over default. Each setting is declared once, as a field of `Settings`;
`SETTINGS` is the table of them all.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import platformdirs
from platformdirs.unix import Unix

from turnleaf.core.setting_kinds import (
    COUNT,
    COUNT_OR_NONE,
    EXTRACTOR,
    IDS,
    LARGEST,
    MODEL_NAME,
    NAME,
    PATH,
    SHARE,
    SPACES_OF,
    SWITCH,
    TEXT,
    is_space_name,
)
from turnleaf.core.window import Limits
from turnleaf.errors import InvalidInput, SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import Field

    from turnleaf.core.model_providers import ModelProvider
    from turnleaf.core.setting_kinds import SettingKind

CONFIG_NAME = "memory-config.json"
TOKEN_NAME = "http-token"  # noqa: S105 - the name of a file
LINK_NAME = "operator-link.json"
OPERATOR_NAME = "operator.db"
SPACES = "spaces"
UNCHANGED = "nothing was changed"
"""What a refused change ends with."""
SIGNS = frozenset(
    ("prompts", "conversations", "memories.json", "index.db", "learning.db", "records.db",
     "schedules.json", "results", SPACES, CONFIG_NAME, TOKEN_NAME, LINK_NAME, OPERATOR_NAME)
)  # fmt: skip
"""What a data folder may have in it."""
MOST_DATABASE_CONNECTIONS = 10_000
MOST_DATABASE_SECONDS = 86_400
ENVIRONMENT: Mapping[str, str] = os.environ
"""The environment of this process; only functions of this module look into it."""
_ON = True


@dataclass(frozen=True, slots=True)
class Setting:
    """One thing that can be set."""

    field: str
    variable: str
    key: str
    takes: SettingKind
    default: Any
    meaning: str

    @property
    def least(self) -> int | None:
        """The smallest number that it takes; None where it takes no whole number."""
        return self.takes.least

    @property
    def kind(self) -> str:
        """What it takes: a switch, a number, a share, a path or a text."""
        return self.takes.name


def _declare(takes: SettingKind, default: object, meaning: str, **names: str) -> Any:  # noqa: ANN401
    """Declare a field that can be set, by default under its own name in both spellings."""
    return field(default=default, metadata={"takes": takes, "meaning": meaning, **names})


def _declare_secret() -> Any:  # noqa: ANN401 - it stands for a field of its own type
    """Declare a key that opens something: from the environment only, and never shown."""
    return field(default=None, repr=False, metadata={"is_secret": True})


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds now.

    `sources` says for each field that was set where, and `older_names` by which names of an
    older version, if it was by such.
    """

    conversation_max_turns: int = _declare(
        COUNT, 20, "how many of a conversation's newest messages a prompt holds"
    )
    conversation_max_chars: int = _declare(
        COUNT, 8000, "how many characters of a conversation a prompt holds"
    )
    conversation_max_age_days: int = _declare(
        COUNT, 7, "after how many days of silence a prompt begins anew"
    )
    conversation_keep_days: int | None = _declare(
        COUNT_OR_NONE, None,
        "how many days a message is kept; not set: forever, 0: only the latest messages",
    )  # fmt: skip
    memory_max_items: int = _declare(COUNT, 100, "how many facts the long-term memory holds")
    memory_max_chars: int = _declare(
        COUNT, 10_000, "how many characters all its facts may have together"
    )
    memory_location: str | None = _declare(
        PATH, None, "where the programs keep the long-term memory, `.md` or `.json`",
        variable="TURNLEAF_MEMORY",
    )  # fmt: skip
    conversations_location: str | None = _declare(
        PATH, None, "where the programs keep the conversations, `.db` or `.json`",
        variable="TURNLEAF_CONVERSATIONS",
    )  # fmt: skip
    enabled: bool = _declare(
        SWITCH, _ON, "whether memory is put into prompts, and learned", variable="MEMORY_ENABLED"
    )
    auto_extract: bool = _declare(
        SWITCH, _ON, "whether facts are learned from conversations without being asked",
        variable="MEMORY_AUTO_EXTRACT",
    )  # fmt: skip
    extract_interval_seconds: int = _declare(
        COUNT, 60, "minimum seconds between two extractions in one conversation",
        variable="MEMORY_EXTRACT_INTERVAL_SECONDS",
    )  # fmt: skip
    min_new_messages: int = _declare(
        COUNT, 4, "minimum new messages before an extraction", variable="MEMORY_MIN_NEW_MESSAGES"
    )
    flush_threshold: float = _declare(
        SHARE, 0.75, "share of the context at which facts are extracted immediately",
        variable="MEMORY_FLUSH_THRESHOLD",
    )  # fmt: skip
    model: str | None = _declare(
        MODEL_NAME, None,
        "which model answers, such as claude-cli or openai:NAME; recall means no model",
        variable="TURNLEAF_MODEL",
    )  # fmt: skip
    model_url: str | None = _declare(
        NAME, None, "where that model is served, if not at its usual place",
        variable="TURNLEAF_MODEL_URL",
    )  # fmt: skip
    context_window: int | None = _declare(
        COUNT, None,
        "how many tokens fit into the context of an API model, if not as many as its server says",
        variable="TURNLEAF_CONTEXT_WINDOW",
    )  # fmt: skip
    instructions: str | None = _declare(
        TEXT, None, "what you want every answer to follow, such as: answer in one sentence",
        variable="TURNLEAF_INSTRUCTIONS",
    )  # fmt: skip
    model_timeout_ms: int = _declare(
        COUNT, 180_000, "time limit for an answer of any model, in milliseconds",
        variable="CLAUDE_TIMEOUT_MS", key="claudeTimeoutMs",
    )  # fmt: skip
    extract_model: str | None = _declare(
        EXTRACTOR, None, "which model extracts facts, if not the same; rules means no model",
        variable="TURNLEAF_EXTRACT_MODEL",
    )  # fmt: skip
    extract_daily_calls: int = _declare(
        COUNT, 200, "maximum calls of it a day; after that only rules extract facts",
        variable="MEMORY_EXTRACT_DAILY_CALLS",
    )  # fmt: skip
    prompt_max_tokens: int = _declare(COUNT, 32_000, "how many tokens a prompt may have")
    context_max_tokens: int = _declare(
        COUNT_OR_NONE, 1750,
        "maximum tokens for search results in a prompt; 0 turns the search off",
    )  # fmt: skip
    embeddings: bool = _declare(
        SWITCH, _ON, "whether search compares meanings, where a model for that is found"
    )
    embeddings_url: str | None = _declare(
        NAME, None, "where a model for embeddings is served, such as http://localhost:11434/v1"
    )
    embeddings_model: str | None = _declare(NAME, None, "which model is asked there")
    search_vector_weight: float = _declare(SHARE, 0.7, "how much meaning counts in a search")
    search_bm25_weight: float = _declare(SHARE, 0.3, "how much words count in a search")
    slack_allowed_users: str | None = _declare(
        IDS, None, "whom the Slack bot answers, by their ids; nobody else shares this memory"
    )
    slack_allowed_channels: str | None = _declare(
        IDS, None, "in which channels it answers every member of the workspace, by their ids"
    )
    slack_spaces: str | None = _declare(
        SPACES_OF, None, "who has a space of their own in Slack, such as U012AB3CD=anna"
    )
    embeddings_api_key: str | None = _declare_secret()
    anthropic_api_key: str | None = _declare_secret()
    openai_api_key: str | None = _declare_secret()
    gemini_api_key: str | None = _declare_secret()
    openrouter_api_key: str | None = _declare_secret()
    groq_api_key: str | None = _declare_secret()
    deepseek_api_key: str | None = _declare_secret()
    mistral_api_key: str | None = _declare_secret()
    xai_api_key: str | None = _declare_secret()
    compatible_api_key: str | None = _declare_secret()
    slack_bot_token: str | None = _declare_secret()
    slack_app_token: str | None = _declare_secret()
    sources: Mapping[str, str] = field(default_factory=dict, compare=False)
    older_names: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def window_limits(self) -> Limits:
        """How much of a conversation a prompt holds, and how long it is kept."""
        return Limits(
            max_turns=self.conversation_max_turns,
            max_chars=self.conversation_max_chars,
            max_age_days=self.conversation_max_age_days,
            keep_days=self.conversation_keep_days,
        )

    @classmethod
    def load(
        cls, data_dir: str | Path | None = None, environ: Mapping[str, str] = ENVIRONMENT
    ) -> Settings:
        """Read the environment and the data folder's config file."""
        folder = default_data_dir(environ) if data_dir is None else Path(data_dir)
        path = folder / CONFIG_NAME
        return cls.combine(_read_config(path), path, environ)

    @classmethod
    def combine(
        cls,
        config: Mapping[str, Any],
        where: str | Path,
        environ: Mapping[str, str] = ENVIRONMENT,
    ) -> Settings:
        """Return what holds where `config`, which is kept at a place, says something by key."""
        given = _SettingSources(environ, config, where)
        found = {one.field: value for one in SETTINGS if (value := given.find(one))}
        older = None if _KEEP_DAYS in found else given.find_older_keep_days()
        found |= {_KEEP_DAYS: older} if older else {}
        # A key that opens something is read from the environment only, and never shown.
        secrets: dict[str, Any] = {name: environ.get(name.upper()) or None for name in KEYS}
        return cls(
            **{name: one.value for name, one in found.items()},
            **secrets,
            sources={name: one.source for name, one in found.items()},
            older_names={_KEEP_DAYS: older.name} if older else {},
        )

    @property
    def learns(self) -> bool:
        """Whether facts are learned from what is said."""
        return self.enabled and self.auto_extract

    def is_locked(self, setting: Setting) -> bool:
        """Whether the environment sets it, so that a change of the file would change nothing."""
        is_older = setting.field in self.older_names
        return self.find_source(setting) == "environment" and not is_older

    def find_source(self, setting: Setting) -> str:
        """Return where a value comes from: the default, the file or the environment."""
        return self.sources.get(setting.field, "default")

    def describe(self, setting: Setting) -> dict[str, Any]:
        """Return a setting as JSON has it: its value, where that comes from, and what it means."""
        return {
            "key": setting.key,
            "value": getattr(self, setting.field),
            "from": self.find_source(setting),
            "locked": self.is_locked(setting),
            "default": setting.default,
            "variable": setting.variable,
            "meaning": setting.meaning,
        }


def _to_setting(one: Field[Any]) -> Setting:
    told = one.metadata
    variable = told.get("variable", one.name.upper())
    key = told.get("key", _to_camel_case(one.name))
    return Setting(one.name, variable, key, told["takes"], one.default, told["meaning"])


def _to_camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


SETTINGS = tuple(_to_setting(one) for one in fields(Settings) if "takes" in one.metadata)
KEYS = tuple(one.name for one in fields(Settings) if "is_secret" in one.metadata)

_KEEP_DAYS = "conversation_keep_days"
_ARCHIVE = Setting(
    "archive", "CONVERSATION_ARCHIVE", "conversationArchive", SWITCH, None,
    "replaced by keep days",
)  # fmt: skip
_ARCHIVE_DAYS = Setting(
    "archive_days", "CONVERSATION_ARCHIVE_MAX_AGE_DAYS", "conversationArchiveMaxAgeDays", COUNT,
    None, "replaced by keep days",
)  # fmt: skip
_ARCHIVE_DEFAULT_DAYS = 365
REPLACED = {"conversationKeepDays": (_ARCHIVE, _ARCHIVE_DAYS)}
"""Settings of older versions by the key that stands for them now; still read, never written."""


class _FoundValue(NamedTuple):
    """A value that was set: where, and by which name."""

    value: Any
    source: str
    name: str


@dataclass(frozen=True, slots=True)
class _SettingSources:
    """What the environment and the config file say."""

    environ: Mapping[str, str]
    config: Mapping[str, Any]
    place: str | Path

    def find(self, setting: Setting) -> _FoundValue | None:
        """Return what was set, the environment before the file."""
        text = self.environ.get(setting.variable)
        if text:
            value = check_value(setting, text, setting.variable)
            return _FoundValue(value, "environment", setting.variable)
        if setting.key in self.config:
            where = f'"{setting.key}" in {self.place}'
            value = check_value(setting, self.config[setting.key], where)
            return _FoundValue(value, "file", setting.key)
        return None

    def find_older_keep_days(self) -> _FoundValue | None:
        """Return for how many days messages were kept where an older version was told so."""
        archive, days = self.find(_ARCHIVE), self.find(_ARCHIVE_DAYS)
        if archive and not archive.value:
            return archive._replace(value=0)
        if archive and not days:
            return archive._replace(value=_ARCHIVE_DEFAULT_DAYS)
        return days


@dataclass(frozen=True, slots=True)
class DataFolder:
    """Where the programs keep everything, why there, and where else something lies.

    A `space` other than the default lies inside the folder `root`, which has the settings of all.
    """

    path: Path
    why: str
    others: tuple[Path, ...] = ()
    root: Path | None = None
    space: str = "default"
    address: str | None = field(default=None, repr=False)
    """The database that everything else is in, perhaps with a password."""

    def memory(self, settings: Settings) -> Path:
        """Return where the live long-term memory is."""
        return (
            self._configured_path(settings, "memory_location")
            or self.path / "prompts/memory/MEMORY.md"
        )

    def conversations(self, settings: Settings) -> Path:
        """Return where the conversations are."""
        named = self._configured_path(settings, "conversations_location")
        return named or self.path / "conversations/conversations.db"

    @property
    def index(self) -> Path:
        """Where the search index is."""
        return self.path / "index.db"

    @property
    def learning(self) -> Path:
        """Where the messages are that are yet to be learned from."""
        return self.path / "learning.db"

    @property
    def schedules(self) -> Path:
        """Where the schedules are."""
        return self.path / "schedules.json"

    @property
    def config(self) -> Path:
        """Where the settings are."""
        return (self.root or self.path) / CONFIG_NAME

    @property
    def token(self) -> Path:
        """Where the server's token is."""
        return (self.root or self.path) / TOKEN_NAME

    @property
    def operator_link(self) -> Path:
        """Where the traces of the operator's one-time link are."""
        return (self.root or self.path) / LINK_NAME

    @property
    def operator_records(self) -> Path:
        """Where the tokens of spaces and their limits are."""
        return (self.root or self.path) / OPERATOR_NAME

    @property
    def records(self) -> Path:
        """Where the records are that other frameworks keep."""
        return self.path / "records.db"

    @property
    def daily(self) -> Path:
        """The folder of the daily log."""
        return self.path / "prompts/memory/daily"

    def of_space(self, space: str) -> DataFolder:
        """Return the part that a space other than the default has."""
        return replace(self, path=self.path / SPACES / space, root=self.path, space=space)

    def leave_space(self) -> DataFolder:
        """Return the whole folder that a space is a part of."""
        return replace(self, path=self.root or self.path, root=None, space="default")

    def _configured_path(self, settings: Settings, field: str) -> Path | None:
        """Return a location that was set; one in the config file is relative to its folder."""
        name = getattr(settings, field)
        # One location cannot be that of several spaces: they would share what they must not.
        if not name or self.root is not None:
            return None
        is_in_file = settings.sources.get(field) == "file"
        return self.path / _expand_home(name) if is_in_file else _expand_home(name)


def find_setting(name: str) -> Setting:
    """Return the setting of a key or an environment variable; raise SettingsError for none."""
    names = {name: one for one in SETTINGS for name in (one.key, one.variable)}
    if name not in names:
        near = get_close_matches(name, names, 1)
        message = f'there is no setting "{name}"; turnleaf config lists them'
        if near:
            message = f'there is no setting "{name}"; did you mean "{near[0]}"?'
        raise SettingsError(message)
    return names[name]


def data_folder(
    option: str | Path | None = None,
    environ: Mapping[str, str] = ENVIRONMENT,
    cwd: Path | None = None,
) -> DataFolder:
    """Find the programs' data folder, so that a program started anywhere finds the same memory."""
    here = (cwd or Path.cwd()) / "data"
    user = Path(platformdirs.user_data_dir("turnleaf", appauthor=False))
    found = [path for path in (here, user) if path.is_dir()]
    if option:
        chosen, why = Path(option), "set by --data-dir"
    elif named := default_place(environ):
        chosen, why = Path(named), "set by TURNLEAF_DATA_DIR"
    elif in_home_assistant(environ):
        chosen, why = Path("/data"), "this is Home Assistant (SUPERVISOR_TOKEN is set)"
    # Many projects have a folder of this name for something else.
    elif _is_ours(here):
        chosen, why = here, "there is a folder named data here"
    else:
        chosen, why = user, "it is the user's data folder"
    chosen = _expand_home(chosen).absolute()
    return DataFolder(chosen, why, tuple(path for path in found if path != chosen))


def beside_database(address: str) -> DataFolder:
    """Return the folder on this machine for what a database does not keep: the server's token."""
    user = Path(platformdirs.user_data_dir("turnleaf", appauthor=False))
    return DataFolder(user, "the database has all but the server's token", address=address)


def default_place(environ: Mapping[str, str] = ENVIRONMENT) -> str | None:
    """Return the folder or address that TURNLEAF_DATA_DIR names, if it does."""
    return environ.get("TURNLEAF_DATA_DIR") or None


@dataclass(frozen=True, slots=True)
class DatabaseLimits:
    """How much of a database one process takes, and where it is reached without a pooler."""

    connections: int = 10
    statement_seconds: int = 60
    direct_address: str | None = field(default=None, repr=False)


def find_database_limits(environ: Mapping[str, str] = ENVIRONMENT) -> DatabaseLimits:
    """Return the limits that the environment names; raise SettingsError for what is no number."""
    known = DatabaseLimits()
    return DatabaseLimits(
        _read_count(
            environ, "TURNLEAF_DATABASE_CONNECTIONS", known.connections, MOST_DATABASE_CONNECTIONS
        ),
        _read_count(
            environ, "TURNLEAF_DATABASE_SECONDS", known.statement_seconds, MOST_DATABASE_SECONDS
        ),
        environ.get("TURNLEAF_DATABASE_DIRECT") or None,
    )


def _read_count(environ: Mapping[str, str], variable: str, default: int, most: int) -> int:
    text = environ.get(variable) or str(default)
    digits = text.lstrip("0")
    # Python refuses to convert thousands of digits, so their number is compared first.
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= len(str(most))
    if not (is_number and int(digits) <= most):
        message = (
            f"{variable} must be a whole number from 1 to {most}, not {text!r:.80}; "
            "change it or remove it"
        )
        raise SettingsError(message)
    return int(digits)


def _is_ours(folder: Path) -> bool:
    """Whether a folder is empty or has something of ours, so that it may be the data folder."""
    if not folder.is_dir():
        return False
    try:
        names = [one.name for one in folder.iterdir() if not one.name.startswith(".")]
    except OSError:
        return True  # Whoever opens it reports why it cannot be read.
    return not names or not SIGNS.isdisjoint(names)


def default_space(environ: Mapping[str, str] = ENVIRONMENT) -> str | None:
    """Return the space that TURNLEAF_SPACE names, if it does."""
    return environ.get("TURNLEAF_SPACE") or None


def in_space(folder: DataFolder, space: str | None) -> DataFolder:
    """Return the part of a data folder that a space has, by default that of TURNLEAF_SPACE.

    Raise InvalidInput for a name that cannot be a space's.
    """
    space = (folder.space if folder.root else default_space()) if space is None else space
    if space is None or space == folder.space:
        return folder
    if folder.root is not None:
        message = f"a space has no spaces of its own; open {space!r} in {folder.root}"
        raise InvalidInput(message)
    if not is_space_name(space):
        message = (
            f"{space!r} cannot be the name of a space: use small letters, digits, - and _, "
            "64 characters at most, the first a letter or digit"
        )
        raise InvalidInput(message)
    return folder.of_space(space)


def in_home_assistant(environ: Mapping[str, str] = ENVIRONMENT) -> bool:
    """Whether this runs as a Home Assistant app."""
    return bool(environ.get("SUPERVISOR_TOKEN"))


def find_terminal_locale(environ: Mapping[str, str] = ENVIRONMENT) -> str:
    """Return the language and region that a terminal asks for, as programs are told on Unix."""
    names = (environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return next((name for name in names if name), "")


def find_terminal_language(environ: Mapping[str, str] = ENVIRONMENT) -> str:
    """Return the code of that language."""
    return find_terminal_locale(environ)[:2]


def find_base_url(provider: ModelProvider, environ: Mapping[str, str] = ENVIRONMENT) -> str | None:
    """Return where a provider of models is, if its own variable says so."""
    return environ.get(provider.address_variable or "") or None


def find_keys_path(environ: Mapping[str, str] = ENVIRONMENT) -> Path:
    """Return the file with the keys of model providers, outside every data folder.

    It is the same place on every system: elsewhere than on Linux, the folder that is usual for
    settings is the one for data, too.
    """
    if in_home_assistant(environ):
        return Path("/data/model-keys/keys.json")  # Nothing else outlives an update of the app.
    return Path(Unix("turnleaf", appauthor=False).user_config_dir) / "keys.json"


def has_editor(environ: Mapping[str, str] = ENVIRONMENT) -> bool:
    """Whether somebody has chosen an editor."""
    return bool(environ.get("VISUAL") or environ.get("EDITOR"))


def find_program_folders(environ: Mapping[str, str] = ENVIRONMENT) -> str:
    """Return the folders that are searched for programs."""
    return environ.get("PATH", "")


def list_allowed_hosts(environ: Mapping[str, str] = ENVIRONMENT) -> list[str]:
    """Return the names by which others may call the server, as they are written."""
    names = environ.get("TURNLEAF_ALLOWED_HOSTS", "").split(",")
    return [name for name in names if name.strip()]


def list_allowed_urls(environ: Mapping[str, str] = ENVIRONMENT) -> list[str]:
    """Return the addresses of models that may be set from afar, as they are written."""
    urls = environ.get("TURNLEAF_ALLOWED_URLS", "").split(",")
    return [url.strip() for url in urls if url.strip()]


def find_slack_url(environ: Mapping[str, str] = ENVIRONMENT) -> str | None:
    """Return where Slack is, if it is not at its usual place."""
    return environ.get("SLACK_API_URL") or None


def has_slack_app(environ: Mapping[str, str] = ENVIRONMENT) -> bool:
    """Whether the variables of a Slack app for many workspaces are set."""
    return {"SLACK_CLIENT_ID", "SLACK_CLIENT_SECRET"} <= environ.keys()


def default_data_dir(environ: Mapping[str, str] = ENVIRONMENT) -> Path:
    """Return the requirements' own data folder, which a store without an argument uses."""
    return Path("/data") if in_home_assistant(environ) else Path("data")


def _expand_home(path: str | Path) -> Path:
    """Expand a `~` at the beginning to the home folder, as in a shell."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        message = f"nobody's home folder is meant by {str(path)!r}; write the whole path"
        raise SettingsError(message) from error


def check_value(
    setting: Setting, value: object, where: str, remedy: str = "change it or remove it"
) -> Any:  # noqa: ANN401 - by setting
    """Return a value as the setting takes it, or say where and why it does not."""
    try:
        return setting.takes.read(value)
    except (TypeError, ValueError):
        expected = setting.takes.expected
        message = f"{where} must be {expected}, not {value!r:.80}; {remedy}"
        raise SettingsError(message) from None
    except OverflowError:
        message = f"{where} must be at most {LARGEST}; change it or remove it"
        raise SettingsError(message) from None


def check_changes(values: Mapping[str, object]) -> dict[str, Any]:
    """Return what to set, by key; None restores a default. A name or value that is wrong raises."""
    wanted = {find_setting(name): value for name, value in values.items()}
    return {
        one.key: None if value is None else check_value(one, value, one.key, UNCHANGED)
        for one, value in wanted.items()
    }


def _read_config(path: Path) -> dict[str, Any]:
    try:
        # Some editors save a byte order mark, which JSON does not allow.
        config = json.loads(path.read_text("utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
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
