"""What a setting takes, from the words of an environment or the values of a JSON file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from turnleaf.core.loading import make_pattern
from turnleaf.core.model_providers import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Callable

YES = ("on", "true", "yes", "1")
NO = ("off", "false", "no", "0")
LARGEST = 2**53 - 1
"""The largest number that every reader of JSON takes for what it is."""
MAX_TEXT_CHARS = 2000
_ID = make_pattern(r"[A-Z][A-Z0-9]{2,}")
# No dot, no separator and no capital: a name is one folder on every file system.
_SPACE = make_pattern(r"[^\W_][\w-]{0,63}")
_MODEL = make_pattern(rf"recall|claude-cli(:\S+)?|({'|'.join(PROVIDERS)}):\S+")
MODELS = f"claude-cli, claude-cli:NAME, or PROVIDER:NAME with one of {', '.join(PROVIDERS)}"
"""Every name of a model that asks somebody."""


@dataclass(frozen=True, slots=True)
class SettingKind:
    """What a setting takes: in a word, how it is read, and in words for who gave something else."""

    name: str
    read: Callable[[object], Any]
    expected: str
    least: int | None = None


def _read_number(value: object, least: int) -> int:
    # A bool is an int in Python, and "true" is no number that anybody meant.
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise ValueError
    number = int(value)
    if number < least:
        raise ValueError
    if number > LARGEST:
        raise OverflowError
    return number


def _read_switch(value: object) -> bool:
    word = str(value).strip().lower()
    if word not in YES + NO:
        raise ValueError
    return word in YES


def _read_path(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ValueError
    return value


def _read_share(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise TypeError
    # A whole number is compared as it is: a huge one has no float.
    share = value if isinstance(value, int) else float(value)
    if not 0.0 <= share <= 1.0:
        raise ValueError
    return float(share)


def _read_name(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or not value.isprintable():
        raise ValueError
    return value.strip()


def _read_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > MAX_TEXT_CHARS:
        raise ValueError
    return value.strip()


def _read_ids(value: object) -> str:
    ids = _read_name(value).replace(",", " ").split()
    if not ids or not all(map(_ID.fullmatch, ids)):
        raise ValueError
    return ",".join(ids)


def is_space_name(name: str) -> bool:
    """Whether a name is valid for a space."""
    # File systems that ignore case would make one folder of two names.
    return bool(_SPACE.fullmatch(name)) and name == name.casefold()


def read_pairs(text: str) -> dict[str, str]:
    """Return the space of each person from ID=SPACE pairs; raise ValueError for anything else."""
    pairs = [part.partition("=") for part in text.replace(",", " ").split()]
    if not all(_ID.fullmatch(person) and is_space_name(space) for person, _, space in pairs):
        raise ValueError
    return {person: space for person, _, space in pairs}


def _read_spaces(value: object) -> str:
    pairs = read_pairs(_read_name(value))
    if not pairs:
        raise ValueError
    return ",".join(f"{person}={space}" for person, space in pairs.items())


def _read_model(value: object) -> str:
    name = _read_name(value)
    if not _MODEL.fullmatch(name):
        raise ValueError
    return name


def _read_extractor(value: object) -> str:
    return "rules" if value == "rules" else _read_model(value)


def _make_number(least: int) -> SettingKind:
    expected = f"a whole number of at least {least}"
    return SettingKind("number", lambda value: _read_number(value, least), expected, least)


COUNT = _make_number(1)
COUNT_OR_NONE = _make_number(0)
SWITCH = SettingKind("switch", _read_switch, "on or off")
PATH = SettingKind("path", _read_path, "a path")
SHARE = SettingKind("share", _read_share, "a number from 0 to 1")
TEXT = SettingKind("text", _read_text, f"a text of at most {MAX_TEXT_CHARS} characters")
NAME = SettingKind("text", _read_name, "a name or an address")
IDS = SettingKind(
    "text", _read_ids, "IDs as Slack shows them, separated by commas, such as U012AB3CD"
)
SPACES_OF = SettingKind(
    "text", _read_spaces, "IDs with their spaces, separated by commas, such as U012AB3CD=anna"
)
MODEL_NAME = SettingKind("text", _read_model, f"recall, {MODELS}")
EXTRACTOR = SettingKind("text", _read_extractor, f"rules, {MODELS}")
