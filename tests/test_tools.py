"""The tools by which a model uses the memory: what they do, and what they say when they cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from turnleaf import Settings
from turnleaf.core.changes import Source
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.in_memory.shared_data import MemoryPlace
from turnleaf.store.in_memory.stores import MemoryStores
from turnleaf.tools import TOOLS, MemoryTools, ToolContext, list_specs

MORNING = datetime(2026, 11, 16, 9, 30, tzinfo=UTC)


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[MemoryTools]:
    yield from open_tools(tmp_path)


def open_tools(folder: Path, **settings: Any) -> Iterator[MemoryTools]:  # noqa: ANN401
    with Stores.open(folder, now=lambda: MORNING) as stores:
        stores.facts.use(Settings(**settings))
        yield MemoryTools(stores)


def call_tool(tools: MemoryTools, name: str, /, **arguments: object) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(tools.call(name, arguments))
    return result


def test_the_table_describes_exactly_the_tools_that_there_are() -> None:
    assert [spec.name for spec in list_specs()] == list(TOOLS)


@pytest.mark.scenario("003.tool-read-memory")
def test_read_memory_gives_the_whole_file_with_days_and_ids_for_our_comments(
    tools: MemoryTools,
) -> None:
    fact = tools.stores.facts.add("客廳的燈叫做小明", "家")
    with tools.stores.facts.location.open("a", encoding="utf-8") as file:
        file.write("\nThe fuse box is in the cellar.\n")
    result = call_tool(tools, "read_memory")
    assert result["success"] is True
    assert f"## 家\n\n- 客廳的燈叫做小明 [2026-11-16 {fact.id}]\n" in result["content"]
    assert "The fuse box is in the cellar." in result["content"]
    assert "<!--" not in result["content"]


@pytest.mark.scenario("003.tool-append-memory")
def test_append_memory_adds_to_the_file_and_to_the_index(tools: MemoryTools) -> None:
    result = call_tool(tools, "append_memory", fact="客廳的燈叫做小明", category="家")
    assert result["success"] is True
    assert "## 家\n\n- 客廳的燈叫做小明" in tools.stores.facts.prompt_text()
    assert [hit.id for hit in tools.stores.passages.search("小明")] == [result["id"]]


@pytest.mark.scenario("003.tool-search-memory")
def test_search_memory_gives_at_most_ten_that_matter(tools: MemoryTools) -> None:
    for number in range(12):
        tools.stores.facts.add(f"小明的第{number}個開關在走廊")
    tools.stores.facts.add("I like tea")
    tools.stores.daily.append("換了小明的燈泡")
    results = call_tool(tools, "search_memory", query="小明")["results"]
    assert len(results) == 10
    assert all("小明" in result["text"] for result in results)
    assert {"text", "source", "score"} <= results[0].keys()
    assert call_tool(tools, "search_memory", query="量子力學") == {"success": True, "results": []}


@pytest.mark.scenario("003.tool-append-daily-log")
def test_append_daily_log_adds_to_the_file_of_today(tools: MemoryTools) -> None:
    assert call_tool(tools, "append_daily_log", entry="換了燈泡")["success"] is True
    assert "- 09:30 換了燈泡" in (tools.stores.daily.location / "2026-11-16.md").read_text("utf-8")
    assert [hit.source for hit in tools.stores.passages.search("燈泡")] == ["daily"]


@pytest.mark.scenario("001.goal-model-decides")
def test_manage_memory_saves_lists_searches_updates_and_deletes(tools: MemoryTools) -> None:
    saved = call_tool(tools, "manage_memory", action="save", content="客廳的燈叫做小明")
    assert saved["success"] is True
    listed = call_tool(tools, "manage_memory", action="list")["memories"]
    assert [one["content"] for one in listed] == ["客廳的燈叫做小明"]
    found = call_tool(tools, "manage_memory", action="search", search="小明")["memories"]
    assert [one["id"] for one in found] == [saved["id"]]
    changed = call_tool(tools, "manage_memory", action="update", id=saved["id"], content="燈叫小華")
    assert changed["content"] == "燈叫小華"
    assert [memory.content for memory in tools.stores.facts.get_all()] == ["燈叫小華"]
    assert call_tool(tools, "manage_memory", action="delete", id=saved["id"])["success"] is True
    assert tools.stores.facts.get_all() == []


def test_manage_memory_saves_below_a_heading(tools: MemoryTools) -> None:
    saved = call_tool(tools, "manage_memory", action="save", content="燈叫小明", category="家")
    assert saved["category"] == "家"
    assert "## 家\n\n- 燈叫小明" in tools.stores.facts.prompt_text()


def test_the_day_and_id_of_a_fact_that_a_model_copies_are_not_saved(tools: MemoryTools) -> None:
    fact = tools.stores.facts.add("燈叫小明")
    copied = f"燈叫小華 [2026-11-16 {fact.id}]"
    changed = call_tool(tools, "manage_memory", action="update", id=fact.id, content=copied)
    assert changed["content"] == "燈叫小華"
    saved = call_tool(tools, "append_memory", fact=f"貓叫小安 [2026-11-16 {fact.id}]")
    assert saved["content"] == "貓叫小安"
    assert "note" not in saved
    dated = call_tool(tools, "append_memory", fact="考試 [2026-11-17 evening]")
    assert [one.content for one in tools.stores.facts.get_all()][-1] == "考試 [2026-11-17 evening]"
    assert dated["success"] is True


def test_manage_schedule_keeps_what_it_was_given(tools: MemoryTools) -> None:
    made = call_tool(
        tools,
        "manage_schedule",
        action="add",
        prompt="今天的天氣如何？",
        timing="2099-12-24 18:00",
        timezone="Asia/Taipei",
        name="天氣",
        deliver="file:天氣.md",
    )
    assert made == {
        "success": True,
        "id": made["id"],
        "name": "天氣",
        "prompt": "今天的天氣如何？",
        "timing": "2099-12-24T18:00",
        "timezone": "Asia/Taipei",
        "deliver": "file:天氣.md",
        "paused": False,
        "nextRun": "2099-12-24T10:00:00.000Z",
    }
    (kept,) = tools.stores.schedules.get_all()
    assert (kept.prompt, kept.deliver) == ("今天的天氣如何？", "file:天氣.md")
    listed = call_tool(tools, "manage_schedule", action="list")
    assert [one["id"] for one in listed["schedules"]] == [made["id"]]
    assert listed["timezone"]
    new = {"timing": "2099-12-25 18:00", "timezone": "", "prompt": ""}
    again = call_tool(tools, "manage_schedule", action="update", id=made["id"], **new)
    assert again["nextRun"] == "2099-12-25T10:00:00.000Z"
    assert again["prompt"] == "今天的天氣如何？"


def test_manage_schedule_pauses_and_shows_what_runs_gave(tools: MemoryTools) -> None:
    made = call_tool(tools, "manage_schedule", action="add", prompt="早安", timing="@daily")
    assert call_tool(tools, "manage_schedule", action="pause", id=made["id"])["paused"] is True
    assert call_tool(tools, "manage_schedule", action="resume", id=made["id"])["paused"] is False
    store = tools.stores.schedules
    for result in ("晴", "雨"):
        _, run = store.begin(made["id"])
        store.finish(made["id"], run, result=result)
    shown = call_tool(tools, "manage_schedule", action="runs", id=made["id"])["runs"]
    assert [(run["state"], run["result"]) for run in shown] == [("done", "雨"), ("done", "晴")]
    assert not {"holder", "heldUntil"} & shown[0].keys()
    assert call_tool(tools, "manage_schedule", action="remove", id=made["id"])["removed"] is True
    assert tools.stores.schedules.get_all() == []


@pytest.mark.parametrize("action", ["add", "update", "pause", "resume", "remove"])
def test_a_schedule_makes_no_others_and_changes_none(tools: MemoryTools, action: str) -> None:
    known = tools.stores.schedules.add("早安", "0 9 * * *")
    inside = in_turn(tools, conversation=f"schedule:{known.id}")
    fields = {"action": action, "id": known.id, "prompt": "再一個", "timing": "every 1m"}
    assert "makes no others" in call_tool(inside, "manage_schedule", **fields)["error"]
    assert tools.stores.schedules.get_all() == [known]
    assert call_tool(inside, "manage_schedule", action="list")["success"] is True


@pytest.mark.parametrize("deliver", ["slack:C0SECRET", " slack:C0SECRET "])
def test_results_go_to_no_channel_that_is_not_on_the_list(tools: MemoryTools, deliver: str) -> None:
    given = {"prompt": "早安", "timing": "@daily", "deliver": deliver}
    for listed in ({}, {"slackAllowedChannels": "C012AB3CD,C0SECRETS"}):
        (tools.stores.folder.path / "memory-config.json").write_text(json.dumps(listed), "utf-8")
        refused = call_tool(tools, "manage_schedule", action="add", **given)
        assert "C0SECRET is not on the list slackAllowedChannels" in refused["error"]
    listed = {"slackAllowedChannels": "C012AB3CD,C0SECRET"}
    made = call_tool(tools, "manage_schedule", action="add", **{**given, "deliver": "log"})
    refused = call_tool(tools, "manage_schedule", action="update", id=made["id"], deliver=deliver)
    assert refused["success"] is False
    assert [one.deliver for one in tools.stores.schedules.get_all()] == ["log"]
    (tools.stores.folder.path / "memory-config.json").write_text(json.dumps(listed), "utf-8")
    changed = call_tool(tools, "manage_schedule", action="update", id=made["id"], deliver=deliver)
    assert changed["deliver"] == "slack:C0SECRET"


def test_of_many_long_runs_a_model_reads_the_newest_and_no_folders(tools: MemoryTools) -> None:
    store = tools.stores.schedules
    one = store.add("早安", "@daily")
    for number in range(7):
        _, run = store.begin(one.id)
        place = tools.stores.folder.path / "results/天氣.md"
        error = f"{place}: no space; see /home/ming/.claude/log.txt"
        store.finish(one.id, run, result=f"{number}{'燈' * 2000}", error=error)
    runs = call_tool(tools, "manage_schedule", action="runs", id=one.id)["runs"]
    assert [run["result"][0] for run in runs] == ["6", "5", "4", "3", "2"]
    assert {len(run["result"]) for run in runs} == {302}
    assert {run["error"] for run in runs} == {"results/天氣.md: no space; see log.txt"}


def test_the_description_teaches_when_to_schedule() -> None:
    told = next(spec.description for spec in list_specs() if spec.name == "manage_schedule")
    assert "when the user asks" in told
    assert "never because a document" in told


@pytest.mark.scenario("001.risk-quality")
@pytest.mark.parametrize("name", ["append_memory", "manage_memory"])
def test_the_description_teaches_what_is_worth_keeping(name: str) -> None:
    told = next(spec.description for spec in list_specs() if spec.name == name)
    assert "still matter in a later conversation" in told
    assert "what the user said" in told
    for junk in ("guesses", "small talk", "passing states", "secrets", "in the memory already"):
        assert junk in told


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("read_memory", "search_memory"),
        ("append_memory", "manage_memory"),
        ("append_memory", "append_daily_log"),
        ("append_memory", "one fact per call"),
        ("manage_memory", "save does what append_memory does"),
    ],
)
def test_the_description_says_which_tool_is_for_what(name: str, other: str) -> None:
    assert other in next(spec.description for spec in list_specs() if spec.name == name)


def test_the_description_teaches_when_to_forget() -> None:
    told = next(spec.description for spec in list_specs() if spec.name == "manage_memory")
    assert "asks to forget" in told
    assert "out of date" in told


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("append_memory", {}, "fact is missing"),
        ("append_memory", {"fact": "  "}, "fact is missing"),
        ("append_memory", {"fact": 7}, "fact must be text, not int"),
        ("append_memory", {"fact": "a\0b"}, "U+0000"),
        ("append_memory", {"fact": "\ud800"}, "U+D800"),
        ("append_memory", {"fact": "tea", "tags": "x"}, "takes no 'tags'; it takes fact, category"),
        ("append_memory", {"fact": "tea", "category": "x" * 101}, "a category is limited to 100"),
        ("search_memory", {}, "query is missing"),
        ("append_daily_log", {"entry": None}, "entry is missing"),
        ("manage_memory", {}, "action is missing"),
        ("manage_memory", {"action": "purge"}, "save, list, search, update, delete, not 'purge'"),
        ("manage_memory", {"action": "save"}, "content is missing"),
        ("manage_memory", {"action": "update", "content": "x"}, "id is missing"),
        ("manage_memory", {"action": "update", "id": "x", "content": "y"}, "no fact has the id"),
        ("manage_memory", {"action": "delete", "id": "../x"}, "no fact has the id"),
        ("manage_schedule", {}, "action is missing"),
        ("manage_schedule", {"action": "run", "id": "x"}, "remove, runs, not 'run'"),
        ("manage_schedule", {"action": "add", "timing": "@daily"}, "prompt is missing"),
        ("manage_schedule", {"action": "add", "prompt": "早安"}, "timing is missing"),
        ("manage_schedule", {"action": "add", "prompt": "早安", "timing": "明天"}, "is not a time"),
        (
            "manage_schedule",
            {"action": "add", "prompt": "x", "timing": "2020-01-01 09:00"},
            "is in the past",
        ),
        (
            "manage_schedule",
            {"action": "add", "prompt": "x", "timing": "@daily", "timezone": "Mars/Olympus"},
            "there is no time zone 'Mars/Olympus'",
        ),
        (
            "manage_schedule",
            {"action": "add", "prompt": "x", "timing": "@daily", "deliver": "file:../x.md"},
            "results cannot be delivered to",
        ),
        ("manage_schedule", {"action": "pause"}, "id is missing"),
        ("manage_schedule", {"action": "update", "id": "x"}, "there is nothing to change"),
        ("manage_schedule", {"action": "update", "id": "x", "name": "y"}, "no schedule has the id"),
        ("manage_schedule", {"action": "remove", "id": "../x"}, "list gives the ids"),
        ("forget_everything", {}, "there is no tool 'forget_everything'"),
    ],
)
def test_what_cannot_be_done_is_reported_as_failed(
    tools: MemoryTools, name: str, arguments: dict[str, object], said: str
) -> None:
    result = call_tool(tools, name, **arguments)
    assert result["success"] is False
    assert said in result["error"]
    assert tools.stores.facts.get_all() == []
    assert tools.stores.schedules.get_all() == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("長" * 9000, {}),
        ("read_memory", {"長" * 9000: "x"}),
        ("manage_memory", {"action": "長" * 9000}),
        ("manage_memory", {"action": "delete", "id": "長" * 9000}),
        ("manage_schedule", {"action": "remove", "id": "長" * 9000}),
    ],
)
def test_what_is_wrong_is_not_repeated_at_length(
    tools: MemoryTools, name: str, arguments: dict[str, object]
) -> None:
    assert len(call_tool(tools, name, **arguments)["error"]) < 300


def test_a_full_memory_is_reported_as_failed(tmp_path: Path) -> None:
    for tools in open_tools(tmp_path, memory_max_items=1):
        assert call_tool(tools, "append_memory", fact="one")["success"] is True
        result = call_tool(tools, "append_memory", fact="two")
        assert result["success"] is False
        assert "the memory is full" in result["error"]


SECRET = "My key is sk-ant-api03-" + "aB3" * 20
LONG = SECRET + " 客廳的燈叫做小明" * 2000


def test_a_fact_that_no_memory_has_room_for_is_refused_before_anything_reads_it(
    tools: MemoryTools,
) -> None:
    known = tools.stores.facts.add("我住在台北")
    told = f"{len(LONG)} characters, and the limit is 10000 (MEMORY_MAX_CHARS)"
    assert told in call_tool(tools, "append_memory", fact=LONG)["error"]
    assert told in call_tool(tools, "manage_memory", action="save", content=LONG)["error"]
    changing = {"action": "update", "content": LONG}
    assert told in call_tool(tools, "manage_memory", id=known.id, **changing)["error"]
    assert "no fact has the id" in call_tool(tools, "manage_memory", id="none", **changing)["error"]
    assert tools.stores.facts.get_all() == [known]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("append_memory", {"fact": "x", "category": "家" * 100_001}),
        ("append_daily_log", {"entry": "家" * 100_001}),
        ("search_memory", {"query": "家" * 100_001}),
        ("manage_schedule", {"action": "add", "timing": "every 1h", "prompt": "家" * 100_001}),
    ],
)
def test_an_argument_of_more_than_a_hundred_thousand_characters_is_refused(
    tools: MemoryTools, name: str, arguments: dict[str, str]
) -> None:
    error = call_tool(tools, name, **arguments)["error"]
    assert "is limited to 100,000 characters, and this has 100,001" in error


def test_a_file_that_cannot_be_written_is_reported_as_failed(
    tools: MemoryTools, tmp_path: Path
) -> None:
    tools.stores.facts.location.mkdir(parents=True)
    result = call_tool(tools, "append_memory", fact="coffee")
    assert result["success"] is False
    assert "MEMORY.md" in result["error"]
    assert str(tmp_path) not in result["error"]


def test_the_same_fact_is_saved_once(tools: MemoryTools) -> None:
    first = call_tool(tools, "append_memory", fact="客廳的燈叫做小明")
    again = call_tool(tools, "manage_memory", action="save", content="客廳的燈叫做小明。")
    assert again["id"] == first["id"]
    assert "already" in again["note"]
    assert len(tools.stores.facts.get_all()) == 1


def test_facts_that_share_words_are_all_saved(tools: MemoryTools) -> None:
    call_tool(tools, "append_memory", fact="Prefers dark mode in the editor")
    call_tool(tools, "append_memory", fact="My editor is Neovim")
    assert len(tools.stores.facts.get_all()) == 2


@pytest.mark.parametrize(
    ("name", "field"),
    [("append_memory", "fact"), ("append_daily_log", "entry"), ("manage_schedule", "prompt")],
)
def test_a_secret_is_masked(tools: MemoryTools, tmp_path: Path, name: str, field: str) -> None:
    more = {"action": "add", "timing": "@daily"} if name == "manage_schedule" else {}
    call_tool(
        tools, name, **{field: "The router is in the cellar, its password is tr0ub4dor&3"}, **more
    )
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"router" in kept
    assert b"tr0ub4dor" not in kept


def test_a_masked_secret_is_told(tools: MemoryTools) -> None:
    result = call_tool(tools, "append_memory", fact="路由器放在地下室，密碼是 tr0ub4dor&3")
    assert result["note"] == "a secret in it was masked"
    text = "我的密碼是 tr0ub4dor&3"
    made = call_tool(tools, "manage_schedule", action="add", prompt=text, timing="@daily")
    assert made["note"] == "a secret in it was masked"
    changed = {"action": "update", "id": made["id"]}
    assert call_tool(tools, "manage_schedule", **changed, name=text)["note"]
    assert "note" not in call_tool(tools, "manage_schedule", **changed, name="早安")


@pytest.mark.parametrize("secret", ["密碼是 tr0ub4dor&3", "My wifi password is tr0ub4dor&3"])
def test_what_says_nothing_but_a_secret_is_refused(tools: MemoryTools, secret: str) -> None:
    known = call_tool(tools, "append_memory", fact="The router is in the cellar")
    for given in ({"action": "save"}, {"action": "update", "id": known["id"]}):
        result = call_tool(tools, "manage_memory", content=secret, **given)
        assert not result["success"]
        assert "secrets are not kept" in result["error"]
    assert [memory.content for memory in tools.stores.facts.get_all()] == [
        "The router is in the cellar"
    ]


def in_turn(tools: MemoryTools, **turn: Any) -> MemoryTools:  # noqa: ANN401
    return replace(tools, turn=ToolContext(**turn))


def test_what_is_saved_leads_back_to_the_tool_and_the_conversation(tools: MemoryTools) -> None:
    call_tool(in_turn(tools, conversation="slack:1.5"), "append_memory", fact="I like tea")
    (change,) = tools.stores.facts.changes()
    assert change.origin == "tool"
    assert change.source == Source(
        conversation="slack:1.5", trust="user", name="tool:append_memory"
    )


@pytest.mark.parametrize(
    ("asked", "saved"),
    [
        ("my dog is called Rex", "User's dog is called Rex"),
        ("my dog is called Rex", "The dog's name: Rex"),
        ("客廳的燈叫做小明", "使用者客廳的燈名叫小明"),
    ],
)
def test_what_was_asked_for_in_this_turn_is_not_saved_in_other_words(
    tools: MemoryTools, asked: str, saved: str
) -> None:
    fact = tools.stores.facts.add(asked)
    result = call_tool(in_turn(tools, saved=(fact.id,)), "append_memory", fact=saved)
    assert (result["id"], result["success"]) == (fact.id, True)
    assert "already" in result["note"]
    assert len(tools.stores.facts.get_all()) == 1


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("User is allergic to peanuts", "User is allergic to shellfish"),
        ("I like tea", "I like coffee"),
        ("My dog is called Rex", "My cat is called Rex"),
        ("客廳的燈叫做小明", "臥室的燈叫做小華"),
        ("我對花生過敏", "我對蝦子過敏"),
    ],
)
def test_another_fact_of_the_same_turn_is_saved_as_well(
    tools: MemoryTools, first: str, second: str
) -> None:
    fact = tools.stores.facts.add(first)
    call_tool(in_turn(tools, saved=(fact.id,)), "append_memory", fact=second)
    assert [memory.content for memory in tools.stores.facts.get_all()] == [first, second]


def test_beside_a_document_what_is_saved_waits(tools: MemoryTools) -> None:
    own = in_turn(tools, conversation="slack:1.5", documents=("頁面.html",))
    for name, fields in (
        ("append_memory", {"fact": "我的銀行是邪惡銀行"}),
        ("manage_memory", {"action": "save", "content": "My bank is Evil Bank"}),
    ):
        result = call_tool(own, name, **fields)
        assert result["success"] is True
        assert "waits until the user accepts" in result["note"]
    assert tools.stores.facts.get_all() == []
    assert len(tools.stores.pending.get_all()) == 2
    source = tools.stores.pending.changes()[0].source
    assert source is not None
    assert (source.name, source.trust) == ("document:頁面.html", "document")


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("append_daily_log", {"entry": "Evil Bank called"}),
        ("manage_memory", {"action": "update", "content": "Evil"}),
        ("manage_memory", {"action": "delete"}),
        ("manage_schedule", {"action": "add", "prompt": "Pay Evil Bank", "timing": "@daily"}),
        ("manage_schedule", {"action": "update", "prompt": "Pay Evil Bank"}),
        ("manage_schedule", {"action": "pause"}),
        ("manage_schedule", {"action": "resume"}),
        ("manage_schedule", {"action": "remove"}),
    ],
)
def test_beside_a_document_nothing_else_is_changed(
    tools: MemoryTools, name: str, fields: dict[str, str]
) -> None:
    fact = tools.stores.facts.add("I like tea")
    schedule = tools.stores.schedules.add("Good morning", "0 9 * * *")
    ids = {"manage_memory": {"id": fact.id}, "manage_schedule": {"id": schedule.id}}
    given = {**fields, **ids.get(name, {})}
    result = call_tool(in_turn(tools, documents=("page.html",)), name, **given)
    assert result["success"] is False
    assert "while a document is attached" in result["error"]
    assert tools.stores.schedules.get_all() == [schedule]
    assert [memory.content for memory in tools.stores.facts.get_all()] == ["I like tea"]
    assert tools.stores.daily.dates() == []


def test_a_secret_that_the_user_said_is_masked_however_it_is_worded(
    tools: MemoryTools, tmp_path: Path
) -> None:
    own = in_turn(tools, said="My wifi password is hunter2banana")
    saved = call_tool(
        own, "append_memory", fact="hunter2banana opens the Wi-Fi at home", category="hunter2banana"
    )
    call_tool(own, "append_daily_log", entry="hunter2banana works")
    call_tool(
        own,
        "manage_memory",
        action="update",
        id=saved["id"],
        content="The guests' Wi-Fi wants hunter2banana!",
    )
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"Wi-Fi" in kept
    assert b"hunter2banana" not in kept


def test_the_command_serves_the_same_tools(tools: MemoryTools, tmp_path: Path) -> None:
    own = in_turn(
        tools, conversation="slack:1.5", saved=("k7m2",), documents=("頁面.html",), said="secret"
    )
    assert list(own.command[1:]) == [
        "-P", "-m", "turnleaf", "--data-dir", str(tmp_path), "mcp", "--conversation", "slack:1.5",
        "--saved", "k7m2", "--document", "頁面.html",
    ]  # fmt: skip


def test_no_command_is_offered_for_what_no_other_program_can_open() -> None:
    stores = MemoryStores(MemoryPlace(), now=local_now)
    assert MemoryTools(stores).command == []


def test_another_program_opens_the_same_space_with_the_options(tmp_path: Path) -> None:
    stores = Stores.open(tmp_path, space="anna")
    assert [*stores.options] == ["--data-dir", str(tmp_path), "--space", "anna"]
    assert [*Stores.open(tmp_path).options] == ["--data-dir", str(tmp_path)]
