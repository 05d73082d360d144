"""With a model nothing right is lost: rules go on without it, and what is in doubt waits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.clocks import Clock
from tests.decisions import decide
from tests.standins.scripted_model import ScriptedModel, make_fact
from turnleaf import Assistant, Message
from turnleaf.core.learning.queue import Queued
from turnleaf.errors import ModelError

KEY = "cli:session-1"
DOG = "My dog is called Rex."
RUBBISH = "Sure! Here are some facts about dogs."


@pytest.fixture
def model() -> ScriptedModel:
    return ScriptedModel()


@pytest.fixture
def clock() -> Clock:
    return Clock(datetime(2026, 11, 16, 9, 30, tzinfo=UTC))


@pytest.fixture
def assistant(
    model: ScriptedModel, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Assistant]:
    monkeypatch.setenv("EMBEDDINGS", "off")
    assistant = Assistant(tmp_path, model=model, now=clock)
    yield assistant
    assistant.close(flush=False)


def say(assistant: Assistant, *texts: str, role: str = "user") -> None:
    clock = assistant.now()
    assistant.record(KEY, [Message(role, text, clock) for text in texts])


def learn(assistant: Assistant) -> None:
    assistant.handle_event("session.compaction_complete", {"conversation": KEY})
    assistant.handle_event("session.compaction_start", {"conversation": KEY})
    assistant.wait()


def facts(assistant: Assistant) -> list[str]:
    return [memory.content for memory in assistant.memory.get_all()]


def pending(assistant: Assistant) -> list[str]:
    return [memory.content for memory in assistant.pending.get_all()]


@pytest.mark.parametrize("answer", [ModelError("away; try later"), RUBBISH])
def test_what_rules_find_is_learned_although_the_model_fails(
    assistant: Assistant, model: ScriptedModel, answer: object
) -> None:
    model.facts = [answer]
    say(assistant, DOG)
    learn(assistant)
    assert len(facts(assistant)) == 1
    assert "Rex" in facts(assistant)[0]
    assert assistant.learning.count_queued(KEY) == 1


def test_what_rules_found_and_the_user_deleted_does_not_come_back_with_the_model(
    assistant: Assistant, model: ScriptedModel
) -> None:
    model.facts = [ModelError("away; try later")]
    say(assistant, DOG)
    learn(assistant)
    assistant.memory.delete(assistant.memory.get_all()[0].id)
    learn(assistant)
    assert facts(assistant) == []
    assert assistant.learning.count_queued(KEY) == 0


def test_a_message_waits_for_a_model_that_is_away_however_often(
    assistant: Assistant, model: ScriptedModel
) -> None:
    say(assistant, "I drive a red van")
    for _ in range(4):
        model.facts = [ModelError("away; try later")]
        learn(assistant)
    model.facts = [[make_fact("I drive a red van")]]
    learn(assistant)
    assert facts(assistant) == ["I drive a red van"]


def test_a_message_with_an_unreadable_answer_twice_is_given_up_and_counted(
    assistant: Assistant, model: ScriptedModel, clock: Clock
) -> None:
    model.facts = [RUBBISH]
    say(assistant, "it rains")
    learn(assistant)
    assert assistant.learning.count_queued(KEY) == 1
    assert assistant.learning.last_error() is not None
    say(assistant, "it snows")
    model.facts = [RUBBISH]
    learn(assistant)
    assert [one.message.text for one in assistant.learning.list_queued(KEY)] == ["it snows"]
    assert assistant.learning.tallies(clock.now.date()) == {"given up": 1}


def test_parts_that_the_model_has_read_are_not_read_again(
    assistant: Assistant, model: ScriptedModel
) -> None:
    texts = [f"I like number {number}. {'Words. ' * 800}" for number in range(8)]
    model.facts = [[make_fact("I like number 0")], ModelError("away; try later")]
    say(assistant, *texts)
    learn(assistant)
    waiting = [one.message.text for one in assistant.learning.list_queued(KEY)]
    assert 0 < len(waiting) < 8
    assert waiting == texts[-len(waiting) :]
    assert facts(assistant)[0] == "I like number 0"


def test_facts_that_cannot_be_used_are_counted(
    assistant: Assistant, model: ScriptedModel, clock: Clock
) -> None:
    model.facts = [[make_fact("I drive a red van"), {"fact": 1}, "x"]]
    say(assistant, "I drive a red van")
    learn(assistant)
    assert facts(assistant) == ["I drive a red van"]
    assert assistant.learning.tallies(clock.now.date()) == {"skipped": 2}


def test_every_fact_of_a_sentence_is_learned_and_none_twice(
    assistant: Assistant, model: ScriptedModel
) -> None:
    quote = "My dog is called Rex and my sister Beth drives a red van"
    model.facts = [
        [
            make_fact("My dog is called Rex", quote),
            make_fact("My sister is called Beth", quote),
            make_fact("My sister Beth drives a red van", quote),
        ]
    ]
    say(assistant, quote)
    learn(assistant)
    for word in ("Rex", "Beth", "van"):
        assert sum(word in fact for fact in facts(assistant)) == 1


def test_what_the_users_words_do_not_carry_waits_for_review(
    assistant: Assistant, model: ScriptedModel
) -> None:
    model.facts = [[make_fact("My bank is Evilcorp", "my bank")]]
    say(assistant, "I went to my bank")
    say(assistant, "Your bank is Evilcorp.", role="assistant")
    learn(assistant)
    assert facts(assistant) == []
    assert pending(assistant) == ["My bank is Evilcorp"]
    (change,) = assistant.pending.changes()
    assert change.source is not None
    assert change.source.trust == "assistant"


@pytest.mark.parametrize("relation", ["contradicts", "refines"])
def test_a_known_fact_that_the_model_names_is_replaced_whatever_the_words_and_can_come_back(
    assistant: Assistant, model: ScriptedModel, relation: str
) -> None:
    known = assistant.memory.add("I eat steak every day")
    assert known is not None
    model.facts = [
        [make_fact("牛排跟我無緣了", "牛排跟我無緣了", relation=relation, target=known.id)]
    ]
    say(assistant, "牛排跟我無緣了")
    learn(assistant)
    assert facts(assistant) == ["牛排跟我無緣了"]
    assistant.memory.undo()
    assert facts(assistant) == ["I eat steak every day"]


@pytest.mark.parametrize("relation", ["contradicts", "refines"])
def test_a_fact_that_rules_found_ends_what_the_model_says_it_contradicts(
    assistant: Assistant, model: ScriptedModel, relation: str
) -> None:
    known = assistant.memory.add("I eat steak every day")
    assert known is not None
    model.facts = [[make_fact("我吃素", "我改吃素了", relation=relation, target=known.id)]]
    say(assistant, "我改吃素了")
    learn(assistant)
    (fact,) = facts(assistant)
    assert "吃素" in fact
    assert [one.content for one in assistant.memory.older()] == ["I eat steak every day"]


def test_a_claim_that_waits_replaces_nothing(assistant: Assistant, model: ScriptedModel) -> None:
    known = assistant.memory.add("I eat steak every day")
    assert known is not None
    fact = make_fact("I am vegan", "lunch was fine", relation="contradicts", target=known.id)
    model.facts = [[fact]]
    say(assistant, "lunch was fine")
    learn(assistant)
    assert facts(assistant) == ["I eat steak every day"]
    assert pending(assistant) == ["I am vegan"]


def test_two_facts_that_replace_the_same_one_are_both_kept(
    assistant: Assistant, model: ScriptedModel
) -> None:
    known = assistant.memory.add("I have a dog")
    assert known is not None
    quote = "my dog Rex is five and loves snow"
    told = {"relation": "refines", "target": known.id}
    claims = ("My dog Rex is five", "My dog Rex loves snow")
    model.facts = [[make_fact(claim, quote, **told) for claim in claims]]
    say(assistant, quote)
    learn(assistant)
    assert set(claims) <= set(facts(assistant))


def test_a_fact_that_is_called_known_by_mistake_is_learned(
    assistant: Assistant, model: ScriptedModel
) -> None:
    known = assistant.memory.add("my wife is called Anna")
    assert known is not None
    model.facts = [[make_fact("My editor is Neovim", relation="same", target=known.id)]]
    say(assistant, "My editor is Neovim")
    learn(assistant)
    assert facts(assistant) == ["my wife is called Anna", "My editor is Neovim"]


def test_the_model_reads_the_time_what_was_said_before_and_the_known_facts(
    assistant: Assistant, model: ScriptedModel, clock: Clock
) -> None:
    known = assistant.memory.add("I have a dog")
    assert known is not None
    say(assistant, "we talked about Rex")
    learn(assistant)
    clock.now += timedelta(minutes=5)
    say(assistant, "he is five")
    learn(assistant)
    read = model.extractions[-1]
    assert f"- ({known.id}) I have a dog" in read
    assert "[User 1]: (for context) (Mon 2026-11-16 09:30) we talked about Rex" in read
    assert "[User 2]: (Mon 2026-11-16 09:35) he is five" in read


def test_an_answer_that_breaks_off_costs_only_what_is_missing(
    assistant: Assistant, model: ScriptedModel
) -> None:
    whole = json.dumps({"facts": [make_fact("I drive a red van"), make_fact("I like snow")]})
    model.facts = [whole[:-30]]
    say(assistant, "I drive a red van. I like snow")
    learn(assistant)
    assert "I drive a red van" in facts(assistant)
    assert assistant.learning.count_queued(KEY) == 0


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("I'm not allergic to penicillin, they tested it.", "I am not allergic to penicillin"),
        ("Just so you know, I don't speak French.", "I don't speak French"),
        ("我對青黴素不過敏，檢查過了", "我對青黴素不過敏"),
        ("對了，我不會說台語", "我不會說台語"),
    ],
)
def test_a_negation_that_ends_nothing_is_a_fact(
    assistant: Assistant, model: ScriptedModel, said: str, fact: str
) -> None:
    model.facts = [[make_fact(fact, said)]]
    say(assistant, said)
    learn(assistant)
    assert facts(assistant) == [fact]


def test_a_negation_ends_the_fact_that_the_model_names(
    assistant: Assistant, model: ScriptedModel
) -> None:
    known = assistant.memory.add("I know French")
    said = "I no longer speak French."
    model.facts = [[{**make_fact("I no longer speak French", said), "relation": "contradicts",
                     "target": known.id}]]  # fmt: skip
    say(assistant, said)
    learn(assistant)
    assert facts(assistant) == []
    assert [one.content for one in assistant.memory.older()] == ["I know French"]


def test_a_fact_that_says_all_that_rules_made_of_a_message_takes_their_place(
    assistant: Assistant, model: ScriptedModel
) -> None:
    said = "My dog is called Rex and my cat is called Tom."
    whole = "My dog is called Rex and my cat is called Tom"
    model.facts = [[make_fact(whole, said)]]
    say(assistant, said)
    assistant.wait()
    learn(assistant)
    assert len(facts(assistant)) in {1, 2}
    assert len({one for one in facts(assistant) if "Rex" in one}) == 1


def test_what_was_forgotten_while_it_was_being_read_is_not_written(
    assistant: Assistant, model: ScriptedModel, clock: Clock
) -> None:
    model.facts = [[]] * 9
    fact = assistant.memory.add("My dog is called Rex")
    said = Message("user", DOG, clock())
    decision = decide("My dog is called Rex", KEY, quote=DOG, message_time=clock())
    assistant.learning.enqueue(KEY, [Queued(said)])
    batch = assistant.learning.claim(KEY, read=False)
    assert batch is not None
    clock.now += timedelta(minutes=1)
    assistant.memory.delete(fact.id, origin="request")
    assistant.learning.complete_reading(batch, [decision])
    learn(assistant)
    assert facts(assistant) == []
