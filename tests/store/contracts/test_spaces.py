"""The contract of spaces: all of one in one place, and nothing of one in another."""

from __future__ import annotations

from datetime import timedelta

import pytest

from tests.clocks import Clock
from tests.store.contracts.conftest import START, Backend
from turnleaf.core.changes import Source
from turnleaf.core.learning.queue import Queued
from turnleaf.core.messages import Message
from turnleaf.core.search.message_filters import make_reason
from turnleaf.errors import InvalidInput, NotFound
from turnleaf.store.contracts import OPERATOR, Stores
from turnleaf.store.erasure import erase, erase_conversation

KEY = "cli:session-1"
LAMP = "客廳的燈叫做小明"


def fill(space: Stores) -> str:
    """Leave something in every store; return the id of a fact."""
    fact = space.facts.add(LAMP, source=Source(LAMP, KEY, START, "user"))
    space.pending.add("小明要換燈泡", source=Source("…", KEY, START, "document"))
    space.daily.append("換了小明的燈泡", source=KEY)
    space.conversations.add_exchange(KEY, "小明壞了", "好")
    space.schedules.add("小明好嗎？", "@daily", zone="UTC")
    space.records.put("sessions", "小明", b"1")
    space.learning.enqueue(KEY, [Queued(Message("user", "小明壞了", START))])
    return fact.id


@pytest.mark.parametrize(
    ("mine", "other"), [("anna", "bob"), ("default", "小美"), ("小美", "default")]
)
def test_nothing_of_a_space_is_read_found_listed_or_guessed_in_another(
    backend: Backend, mine: str, other: str
) -> None:
    own, theirs = backend.open(mine), backend.open(other)
    fact = fill(own)
    (message, *_) = own.conversations.messages(KEY)
    (schedule,) = own.schedules.get_all()
    (waiting,) = own.pending.get_all()
    assert own.passages.search("小明")
    assert theirs.passages.search("小明") == []
    assert theirs.facts.get_all() == theirs.pending.get_all() == []
    assert theirs.facts.changes() == []
    assert theirs.facts.older() == []
    assert theirs.facts.list_known_ids() == set()
    assert theirs.facts.get(fact) is None
    assert not theirs.facts.delete(fact)
    assert not theirs.pending.reject(waiting.id)
    assert theirs.daily.dates() == []
    assert theirs.conversations.summaries() == []
    assert theirs.conversations.messages(KEY) == []
    assert theirs.conversations.find_message(message.id) is None
    assert theirs.conversations.changes_since(None).found == ()
    assert not theirs.conversations.clear(KEY)
    assert theirs.schedules.get_all() == []
    with pytest.raises(NotFound):
        theirs.schedules.get(schedule.id)
    assert theirs.records.get("sessions", "小明") is None
    assert theirs.records.list_records("sessions") == []
    assert theirs.records.erase("sessions") == 0
    assert theirs.learning.backlog() == {}
    assert erase(theirs, KEY).messages == 0
    assert own.facts.get(fact) is not None
    assert len(own.conversations.messages(KEY)) == 2
    assert own.learning.count_queued(KEY) == 1


def test_a_space_that_is_opened_again_has_all_that_was_left_in_it(backend: Backend) -> None:
    first = backend.open("anna")
    fact = fill(first)
    first.close()
    again = backend.open("anna")
    assert (again.space, backend.open().space) == ("anna", "default")
    assert [one.id for one in again.facts.get_all()] == [fact]
    assert len(again.pending.get_all()) == len(again.daily.dates()) == 1
    assert len(again.conversations.messages(KEY)) == 2
    assert len(again.schedules.get_all()) == len(again.records.list_records("sessions")) == 1
    assert again.learning.count_queued(KEY) == 1
    assert again.passages.search("小明")
    assert first.facts.get(fact) is not None


def test_all_spaces_of_a_place_have_the_same_settings(backend: Backend) -> None:
    anna = backend.open("anna")
    backend.open().config.change({"memoryMaxItems": 7})
    assert anna.settings.memory_max_items == anna.config.load().memory_max_items == 7
    anna.config.change({"memoryMaxItems": 8})
    assert backend.open("bob").settings.memory_max_items == 8


def test_spaces_share_the_token_and_no_results(backend: Backend) -> None:
    spaces = [backend.open(name) for name in ("default", "anna", "bob")]
    assert len({space.folder.token for space in spaces}) == 1
    made = spaces[1].schedules.add("ask", "every 15m")
    _, run = spaces[1].schedules.begin(made.id)
    spaces[1].schedules.add_result("a.md", run, f"{run.id}: 早安")
    found = [space.schedules.read_results("a.md") for space in spaces]
    assert found == ["", f"{run.id}: 早安\n\n", ""]


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../bob", "a/b", "Anna", "_x", "-x", "a b", "a\0", "a\n", "x" * 65]
)
def test_what_cannot_be_the_name_of_a_space_is_refused(backend: Backend, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot be the name of a space"):
        backend.open(name)


def test_a_space_can_be_made_ready_and_told_to_people(space: Stores) -> None:
    space.init()
    assert space.location
    assert space.redact("the disk is full") == "the disk is full"
    assert space.take_over_older() is None
    assert space.tidy() == []
    assert space.facts.get_all() == []


def test_another_program_opens_a_space_by_its_options(backend: Backend) -> None:
    for name in ("default", "anna"):
        space = backend.open(name)
        fact = space.facts.add(LAMP)
        names, values = space.options[::2], space.options[1::2]
        options = dict(zip(names, values, strict=True))
        if options:  # Nobody else can open what is only in memory.
            chosen = options.get("--space", "default")
            with Stores.open(options["--data-dir"], space=chosen) as same:
                assert [one.id for one in same.facts.get_all()] == [fact.id]


# Messages and the facts that they gave


def test_messages_of_a_forgotten_fact_are_hidden_and_shown_when_it_is_back(space: Stores) -> None:
    space.conversations.add_exchange(KEY, LAMP, "好的")
    fact = space.facts.add(LAMP, source=Source(LAMP, KEY, START, "user"))
    space.facts.delete(fact.id)
    space.settle_messages()
    assert [one.is_hidden for one in space.conversations.messages(KEY)] == [True, True]
    assert space.conversations.get_history(KEY) == []
    space.facts.undo()
    space.settle_messages()
    assert [one.is_hidden for one in space.conversations.messages(KEY)] == [False, False]
    space.facts.delete(fact.id)
    space.settle_messages()
    assert space.conversations.show_again(make_reason(fact.id)) == 2


def test_where_a_forgotten_fact_was_said_elsewhere_that_is_hidden_too(
    space: Stores, clock: Clock
) -> None:
    fact = space.facts.add("the surprise party is on Monday")
    space.conversations.add_exchange("cli:2", "So THE SURPRISE PARTY IS ON MONDAY then", "yes")
    space.facts.delete(fact.id)
    space.settle_messages()
    assert [one.is_hidden for one in space.conversations.messages("cli:2")] == [True, False]
    clock.pass_time(minutes=1)
    space.conversations.add_exchange("cli:2", "the surprise party is on Monday", "again")
    space.settle_messages()
    said_again = space.conversations.messages("cli:2")[2]
    assert not said_again.is_hidden


def test_a_forgotten_fact_hides_what_was_said_when_that_is_first_seen_and_nothing_later(
    space: Stores, clock: Clock
) -> None:
    fact = space.facts.add("the surprise party is on Monday")
    space.facts.delete(fact.id)
    clock.pass_time(minutes=1)
    space.conversations.add_exchange("cli:2", "the surprise party is on Monday", "yes")
    space.settle_messages()
    assert [one.is_hidden for one in space.conversations.messages("cli:2")] == [True, False]
    space.conversations.show_again(make_reason(fact.id))
    long_ago = Message("user", "the surprise party is on Monday", START - timedelta(days=1))
    space.conversations.add_messages("cli:3", [long_ago])
    space.settle_messages()
    for key in ("cli:2", "cli:3"):
        assert not any(one.is_hidden for one in space.conversations.messages(key))


@pytest.mark.parametrize("name", ["a_b", "a-", "1", "é", "小美", "x" * 64])
def test_a_space_has_any_name_of_small_letters_and_digits(backend: Backend, name: str) -> None:
    assert backend.open(name).space == name


def test_messages_of_a_fact_that_was_accepted_are_the_user_s(space: Stores) -> None:
    space.conversations.add_messages(KEY, [Message("tool", LAMP, START, tool_call_id="a")])
    waiting = space.pending.add(LAMP, source=Source(LAMP, KEY, START, "tool"))
    space.settle_messages()
    assert [one.trust for one in space.conversations.messages(KEY)] == ["tool"]
    space.pending.accept(waiting.id)
    space.settle_messages()
    assert [one.trust for one in space.conversations.messages(KEY)] == ["user"]


# Erasing over all stores


def test_all_that_came_from_a_conversation_is_erased_everywhere(space: Stores) -> None:
    fill(space)
    mine = space.facts.add("mine")
    erased = erase(space, KEY)
    assert (erased.facts, erased.notes, erased.messages) == (2, 1, 2)
    assert erased.copies == ()
    assert space.facts.get_all() == [mine]
    assert space.pending.get_all() == []
    assert space.conversations.summaries() == []
    assert space.learning.count_queued(KEY) == 0
    assert "小明" not in space.daily.read(START.date())
    assert space.passages.search("小明", floor=False) == []
    assert len(space.schedules.get_all()) == len(space.records.list_records("sessions")) == 1


def test_an_erased_conversation_takes_nothing_along_that_was_learned_from_it(
    space: Stores,
) -> None:
    fact = fill(space)
    assert erase_conversation(space, KEY)
    assert not erase_conversation(space, KEY)
    assert space.facts.get(fact) is not None
    assert space.learning.count_queued(KEY) == 0
    assert {one.source for one in space.passages.search("小明")} == {"memory", "daily"}


def test_the_operators_records_are_the_same_from_every_space_and_in_none(
    backend: Backend,
) -> None:
    anna, bob = backend.open("anna"), backend.open("bob")
    anna.operator_records.put("tokens", "k1", b"1")
    found = bob.operator_records.get("tokens", "k1")
    assert found is not None
    assert found.value == b"1"
    assert anna.records.list_records("tokens") == bob.records.list_records("tokens") == []
    with pytest.raises(InvalidInput):
        backend.open(OPERATOR)


def test_another_space_of_the_same_place_is_opened_from_any_space(backend: Backend) -> None:
    anna = backend.open("anna")
    fill(anna)
    with anna.open_space("bob") as bob, bob.open_space("anna") as again:
        assert (bob.space, bob.facts.get_all()) == ("bob", [])
        assert [one.content for one in again.facts.get_all()] == [LAMP]
        with again.open_space("default") as whole:
            assert (whole.space, whole.facts.get_all()) == ("default", [])
        for name in ("", "../anna", "Anna", OPERATOR):
            with pytest.raises(InvalidInput):
                bob.open_space(name)
