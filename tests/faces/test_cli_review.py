from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tests.faces.conftest import Cli
from tests.faces.terminal import terminal
from turnleaf import Stores
from turnleaf.core.changes import Source
from turnleaf.core.memories import Memory
from turnleaf.store.files.facts.pending import PendingStore

MING = "客廳的燈叫做小明"
BOILER = "The boiler is serviced in May"
SAID = Source(
    quote="燈叫做小明",
    conversation="cli:session-7",
    message_time=datetime(2026, 11, 3, 12, tzinfo=UTC),
    trust="document",
    name="document:筆記.md",
)


def open_pending(cli: Cli) -> PendingStore:
    return PendingStore(cli.memory)


def wait(cli: Cli, *contents: str) -> list[Memory]:
    store = open_pending(cli)
    return [store.add(content, origin="learnt", source=SAID) for content in contents]


def contents(cli: Cli) -> list[str]:
    return [memory.content for memory in open_pending(cli).get_all()]


def test_what_waits_is_listed_with_its_quote_and_where_it_comes_from(cli: Cli) -> None:
    (memory,) = wait(cli, MING)
    result = cli("review")
    assert result.code == 0
    assert result.out.splitlines()[0] == MING
    for part in (memory.id, "燈叫做小明", "document:筆記.md", "cli:session-7", "2026-11-03"):
        assert part in result.out
    (record,) = cli("review", "--json").json
    assert (record["content"], record["quote"]) == (MING, "燈叫做小明")
    assert (record["source"], record["trust"]) == ("document:筆記.md", "document")
    assert record["messageTime"] == "2026-11-03T12:00:00.000Z"
    assert cli.contents() == []


def test_the_conversation_of_a_fact_is_shown_by_its_title(cli: Cli) -> None:
    with Stores.open(cli.data) as stores:
        stores.conversations.add_exchange("cli:session-7", "How do I name a lamp?", "As you like.")
    wait(cli, MING)
    shown = cli("review").out
    assert "How do I name a lamp?" in shown
    assert "cli:session-7" not in shown
    (record,) = cli("review", "--json").json
    assert (record["conversation"], record["title"]) == ("cli:session-7", "How do I name a lamp?")


def test_where_nothing_waits_that_is_said(cli: Cli) -> None:
    result = cli("review")
    assert (result.code, result.out, result.err) == (0, "", "Nothing is pending review.\n")
    assert cli("review", "--json").json == []


def test_what_is_accepted_is_remembered_and_keeps_its_source(cli: Cli) -> None:
    ming, boiler = wait(cli, MING, BOILER)
    result = cli("review", "--accept", ming.id[:6])
    assert (result.code, result.out) == (0, f"accepted {ming.id}: {MING}\n")
    assert cli.contents() == [MING]
    assert contents(cli) == [BOILER]
    assert "document:筆記.md" in cli("why", ming.id, "--json").out
    (accepted,) = cli("review", "--accept", boiler.id, "--json").json
    assert (accepted["action"], accepted["memory"]["content"]) == ("accepted", BOILER)


def test_what_is_edited_is_remembered_as_it_was_changed(cli: Cli) -> None:
    ming, _ = wait(cli, MING, BOILER)
    assert cli("review", "--edit", ming.id, "臥室的燈叫做小明").code == 0
    assert cli.contents() == ["臥室的燈叫做小明"]
    assert contents(cli) == [BOILER]


def test_what_is_rejected_is_gone(cli: Cli) -> None:
    ming, _ = wait(cli, MING, BOILER)
    assert cli("review", "--reject", ming.id).out == f"rejected {ming.id}: {MING}\n"
    assert cli.contents() == []
    assert contents(cli) == [BOILER]


def test_all_accepts_everything(cli: Cli) -> None:
    wait(cli, MING, BOILER)
    assert cli("review", "--all").code == 0
    assert sorted(cli.contents()) == sorted([MING, BOILER])
    assert contents(cli) == []


@pytest.mark.parametrize(
    "arguments", [["--accept", "zzzz"], ["--reject", "zzzz"], ["--edit", "zzzz", "x"]]
)
def test_an_id_that_does_not_wait_changes_nothing(cli: Cli, arguments: list[str]) -> None:
    wait(cli, MING)
    result = cli("review", *arguments)
    assert (result.code, result.out) == (3, "")
    assert 'no pending fact has the ID "zzzz"; list them with turnleaf review' in result.err
    assert contents(cli) == [MING]


def test_without_room_it_goes_on_waiting(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_MAX_ITEMS", "1")
    wait(cli, MING, BOILER)
    result = cli("review", "--all")
    assert result.code == 1
    assert len(result.out.splitlines()) == 1
    assert "MEMORY_MAX_ITEMS" in result.err
    assert (len(cli.contents()), len(contents(cli))) == (1, 1)


def test_an_escape_code_in_what_waits_does_not_act(cli: Cli) -> None:
    wait(cli, "Click \x1b]8;;http://bad\x1b\\here\x1b[2J")
    assert "\x1b" not in cli("review").out
    with terminal("review") as seen:
        seen.wait_for("uit?")
        seen.type("q\n")
        assert seen.end() == 0
    assert "\x1b" not in seen.output


def test_on_a_terminal_one_is_asked_about_after_the_other(cli: Cli) -> None:
    wait(cli, "Fact one", "Fact two", "Fact three", MING, BOILER)
    order = contents(cli)
    with terminal("review") as seen:
        for place, answer in [(1, "a"), (2, "hm\nreject"), (3, ""), (4, "E")]:
            seen.wait_for(f"{place} of 5")
            seen.type(f"{answer}\n")
        seen.wait_for("text: ")
        seen.type("，很亮\r")
        seen.wait_for("5 of 5")
        seen.type("q\n")
        assert seen.end() == 0
    assert sorted(cli.contents()) == sorted([order[0], f"{order[3]}，很亮"])
    assert contents(cli) == [order[2], order[4]]
    assert "2 facts still pending review" in seen.output
