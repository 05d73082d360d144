"""A space with something of everything, and all that can be read of one."""

from __future__ import annotations

from datetime import date, timedelta

from tests.clocks import Clock
from tests.decisions import decide
from turnleaf.core.changes import Source
from turnleaf.core.learning.queue import Queued, Sighting
from turnleaf.core.messages import Message, NewMessage
from turnleaf.store.contracts import Stores

KEY = "cli:session-1"
OTHER = "slack:D123"
LAMP = "客廳的燈叫做小明，是媽媽送的"


def fill(space: Stores, clock: Clock) -> None:
    """Put something of every kind into a space, as people and programs do."""
    space.config.change({"memoryMaxItems": 50})
    _talk(space, clock)
    _remember(space, clock)
    space.daily.append("met Ann", source="document:notes.md")
    space.daily.append("寫了\n兩行")
    clock.pass_time(days=1)
    space.daily.append("換了燈泡")
    _plan(space, clock)
    _learn(space, clock)
    space.records.put("threads", "a", b"\x00\xff", ttl=timedelta(days=3650))
    space.records.put("threads", "b", "貓".encode())
    space.records.append("log", "", b"one")
    space.records.pop("log", space.records.append("log", "", b"two").key)
    space.settle_messages()


def _talk(space: Stores, clock: Clock) -> None:
    said = space.conversations
    said.add_exchange(KEY, LAMP, "好，我記住了。")
    clock.pass_time(minutes=1)
    first = said.messages(KEY)[0].id
    said.add_messages(KEY, [Message("user", "What is two and two?"), Message("assistant", "Four.")])
    clock.pass_time(minutes=1)
    asked = said.messages(KEY)[-1].parent
    again = NewMessage(Message("assistant", "4"), shaped_by={"facts": ["貓"]})
    said.add_messages(KEY, [again], after=asked)
    call = {"id": "c", "type": "function", "function": {"name": "fetch", "arguments": "{}"}}
    said.add_messages(
        KEY,
        [
            Message("assistant", None, tool_calls=[call]),
            NewMessage(Message("tool", "72°F \ud83d", tool_call_id="c"), source="tool:fetch"),
        ],
        resumed=True,
    )
    said.show_version(KEY, first)
    said.rename(KEY, "燈")
    stranger = NewMessage(Message("user", "I am Bob"), "stopped", "stranger", "slack:U9")
    said.add_messages(OTHER, [stranger], audience=OTHER)
    said.set_searched(OTHER, searched=False)
    said.add_exchange("cli:gone", "x", "y")
    said.clear("cli:gone")


def _remember(space: Stores, clock: Clock) -> None:
    facts = space.facts
    asked = space.conversations.messages(KEY)[0]
    source = Source(LAMP, KEY, asked.message.timestamp, "user")
    lamp = facts.add(LAMP, "Home", origin="learnt", source=source)
    clock.pass_time(seconds=1)
    cat = facts.add("The cat is Mimi", slot="cat", until=date(2026, 12, 24))
    clock.pass_time(seconds=1)
    facts.update(cat.id, "The cat is Momo")
    clock.pass_time(seconds=1)
    gone = facts.add("Drinks tea with milk")
    clock.pass_time(seconds=1)
    facts.retire([gone.id])
    clock.pass_time(seconds=1)
    facts.revive(gone.id)
    clock.pass_time(seconds=1)
    old = facts.add("Used to row")
    clock.pass_time(seconds=1)
    facts.retire([old.id])
    clock.pass_time(seconds=1)
    facts.write(facts.text() + "\nProse of mine.\n\n## 家\n\n- 手寫的一行\n")
    clock.pass_time(seconds=1)
    facts.arrange([cat.id], pinned=True)
    clock.pass_time(seconds=1)
    facts.delete(lamp.id)
    clock.pass_time(seconds=1)
    space.pending.add("Bob likes rain", source=Source(name="slack:U9", trust="stranger"))
    accepted = space.pending.add("Bob rows", source=Source(name="document:notes.md"))
    clock.pass_time(seconds=1)
    space.pending.accept(accepted.id)
    clock.pass_time(seconds=1)


def _plan(space: Stores, clock: Clock) -> None:
    made = space.schedules.add("早安", "0 8 * * *", zone="Asia/Taipei", deliver="file:a.md")
    space.schedules.add("later", "0 9 * * 1", zone="UTC", name="週一")
    _, run = space.schedules.begin(made.id)
    space.schedules.add_result("a.md", run, f"{run.id}: 早安")
    space.schedules.finish(made.id, run, result="早安")
    clock.pass_time(seconds=1)


def _learn(space: Stores, clock: Clock) -> None:
    queue = space.learning
    said = [Queued(Message("user", one, timestamp=clock()), source="document:a") for one in "ab"]
    queue.enqueue(KEY, said)
    batch = queue.claim(KEY, read=False)
    assert batch
    queue.complete_reading(batch, [decide("貓")], [Sighting("likes tea", date(2026, 3, 1))])
    queue.postpone(queue.outbox()[0].id, "no room")
    queue.enqueue(OTHER, [Queued(Message("user", "c", timestamp=clock()), "stranger")])
    held = queue.claim(OTHER)
    assert held
    queue.release(held, "no answer")
    queue.begin_flush(KEY)
    queue.end_flush(KEY, succeeded=True)
    queue.spend("m", cap=9, day=date(2026, 3, 1))
    queue.count_skipped(2, date(2026, 3, 1))
    queue.keep_json_format("http://x", "m", "schema")


def read_all(space: Stores) -> dict[str, object]:
    """Return all that can be read of a space."""
    said, queue, day = space.conversations, space.learning, date(2026, 3, 1)
    summaries = said.summaries()
    facts, pending = space.facts, space.pending
    return {
        "facts": facts.get_all(),
        "older": [one.content for one in facts.older()],
        "prompt": facts.prompt_text(),
        "changes": [_tell(one) for one in facts.changes()],
        "pending": pending.get_all(),
        "pending changes": [_tell(one) for one in pending.changes()],
        "summaries": summaries,
        "messages": {one.key: said.messages(one.key) for one in summaries},
        "versions": [said.find_message(number) for number in range(1, 20)],
        "windows": {one.key: said.window(one.key) for one in summaries},
        "daily": [space.daily.read(one) for one in space.daily.dates()],
        "noted": space.daily.has_source("document:notes.md"),
        "schedules": space.schedules.get_all(),
        "results": space.schedules.read_results("a.md"),
        "queued": {key: queue.list_queued(key) for key in (KEY, OTHER)},
        "learning": [queue.outbox(), queue.sightings(), queue.last_error(), queue.backlog()],
        "spent": [queue.count_calls(day), queue.tallies(day), queue.json_format("http://x", "m")],
        "flush": queue.begin_flush(KEY),
        "records": [space.records.list_records(one) for one in ("threads", "log")],
        "found": sorted((one.text, one.source) for one in space.passages.search("Momo")),
    }


def _tell(change: object) -> tuple[object, ...]:
    names = ("n", "time", "op", "id", "before", "after", "origin", "source", "undoes", "removed")
    return tuple(getattr(change, name) for name in names)


def undo_all(space: Stores) -> list[object]:
    """Take back all that can be, and return what each step left."""
    left: list[object] = []
    while undone := space.facts.undo(skip=True):
        contents = sorted((one.content, one.category) for one in space.facts.get_all())
        older = sorted(one.content for one in space.facts.older())
        left.append(([one.n for one in undone], contents, older))
    return left
