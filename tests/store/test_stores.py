"""`Stores`: all of a space in one object, and nothing of one space in another."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turnleaf import Assistant, Message, Stores
from turnleaf.errors import InvalidInput
from turnleaf.settings import DataFolder, find_space_folder

LAMP = "客廳的燈叫做小明"
KEY = "cli:session-1"


def fill(stores: Stores) -> str:
    """Leave something in every store; return the id of a fact."""
    fact = stores.facts.add(LAMP)
    stores.pending.add("小明要換燈泡")
    stores.daily.append("換了小明的燈泡")
    stores.conversations.add_exchange(KEY, "小明壞了", "好")
    stores.schedules.add("小明好嗎？", "@daily")
    stores.records.put("sessions", "小明", b"1")
    return fact.id


def test_the_default_space_is_the_folder_itself(tmp_path: Path) -> None:
    with Stores.open(tmp_path, space="default") as stores:
        fill(stores)
    with Stores.open(tmp_path) as again:
        assert [one.content for one in again.facts.get_all()] == [LAMP]
    assert (tmp_path / "prompts/memory/MEMORY.md").exists()
    assert not (tmp_path / "spaces").exists()


def test_an_assistant_of_a_space_has_that_memory_alone(tmp_path: Path) -> None:
    with Assistant(tmp_path, space="anna") as anna, Assistant(tmp_path, space="bob") as bob:
        anna.record(KEY, [Message("user", "My cat is called Luna"), Message("assistant", "OK.")])
        anna.flush()
        assert "Luna" in str(anna.preview("cli:session-2", "What is my cat called?").prompt)
        assert "Luna" not in str(bob.preview("cli:session-2", "What is my cat called?").prompt)


def test_spaces_share_the_settings_and_no_location_that_is_set(tmp_path: Path) -> None:
    shared = tmp_path / "shared.md"
    with Stores.open(tmp_path) as stores:
        stores.config.change({"memoryLocation": str(shared), "memoryMaxItems": 7})
    with Stores.open(tmp_path) as stores, Stores.open(tmp_path, space="anna") as anna:
        assert stores.facts.location == shared
        assert anna.facts.location == tmp_path / "spaces/anna/prompts/memory/MEMORY.md"
        assert anna.settings.memory_max_items == 7


def test_a_space_has_no_spaces(tmp_path: Path) -> None:
    anna = find_space_folder(DataFolder(tmp_path, "a test"), "anna")
    assert find_space_folder(anna, None) == find_space_folder(anna, "anna") == anna
    with pytest.raises(InvalidInput, match="a space cannot contain spaces"):
        find_space_folder(anna, "bob")


def test_the_environment_names_a_space(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNLEAF_SPACE", "anna")
    with Stores.open(tmp_path) as stores, Stores.open(tmp_path, space="default") as default:
        assert (stores.space, default.space) == ("anna", "default")


@pytest.mark.parametrize("scheme", ["mysql", "redis"])
def test_an_address_without_a_backend_is_refused_and_its_password_not_told(scheme: str) -> None:
    with pytest.raises(InvalidInput, match=f"a {scheme}:// address; use a folder") as refused:
        Stores.open(f"{scheme}://me:secret@host/memory")
    assert "secret" not in str(refused.value)


def test_what_is_said_elsewhere_names_no_folder(tmp_path: Path) -> None:
    with Stores.open(tmp_path) as stores:
        problem = f"cannot write {stores.facts.location}: disk full"
        assert stores.redact(problem) == "cannot write MEMORY.md: disk full"


def test_closed_stores_keep_no_file_open(tmp_path: Path) -> None:
    stores = Stores.open(tmp_path)
    fill(stores)
    stores.passages.search("小明")
    stores.close()
    # Of what another thread closes meanwhile, realpath gives the name of its descriptor.
    inside = [Path(os.path.realpath(one)) for one in Path("/proc/self/fd").iterdir()]
    assert [one for one in inside if one.is_relative_to(tmp_path)] == []
