"""What a statement does to the facts that are known."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from turnleaf.core.learning.recogniser import read_message
from turnleaf.core.learning.reconciling import correct, find_names, judge, says_same
from turnleaf.core.learning.slots import Bearer, Correction, Statement
from turnleaf.core.memories import Memory

NOW = datetime(2026, 11, 17, 9, 0, tzinfo=UTC)


def make_memories(*facts: str) -> list[Memory]:
    return [Memory(str(number), fact, NOW, NOW) for number, fact in enumerate(facts, 1)]


def state(text: str) -> Statement:
    (found,) = read_message(text)
    assert isinstance(found, Statement)
    return found


def fix(text: str) -> Correction:
    (found,) = read_message(text)
    assert isinstance(found, Correction)
    return found


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I live in Taipei", "I live in Taipei"),
        ("I live in Taipei", "我住在台北"),
        ("我對花生過敏", "I'm allergic to peanuts"),
        ("User is allergic to peanuts", "I'm allergic to peanuts"),
        ("My wife's name is Anna", "my wife is called Anna"),
        ("客廳的燈叫做小明", "客廳的燈叫小明"),
    ],
)
def test_the_same_thing_said_in_another_way_is_the_same_fact(fact: str, said: str) -> None:
    verdict = judge(state(said), make_memories(fact))
    assert (verdict.effect, [one.id for one in verdict.targets]) == ("same", ["1"])


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I live in Taipei", "I live in Kaohsiung"),
        ("我住在台北", "我搬到高雄了"),
        ("客廳的燈叫做小明", "客廳的燈叫小華"),
        ("I like coffee", "I hate coffee"),
        ("My wife's name is Anna", "my wife is called Eva"),
    ],
)
def test_what_can_only_have_one_value_has_the_newest(fact: str, said: str) -> None:
    verdict = judge(state(said), make_memories("I like tea", fact))
    assert (verdict.effect, [one.id for one in verdict.targets]) == ("replaces", ["2"])


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I am allergic to peanuts", "I'm allergic to shellfish"),
        ("I like tea", "I like coffee"),
        ("My dog's name is Rex", "my dog is called Max"),
        ("My sister lives in Leeds", "I live in York"),
        ("I live in Taipei with two cats and a view of the river", "I live in Kaohsiung"),
        ("My friend lives in Leeds", "my friend lives in York"),
    ],
)
def test_what_can_have_several_values_keeps_them(fact: str, said: str) -> None:
    assert judge(state(said), make_memories(fact)).effect == "new"


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I am allergic to peanuts", "I'm not allergic to peanuts"),
        ("我對花生過敏", "我對花生不過敏"),
        ("I live in Leeds", "I don't live in Leeds anymore"),
        ("我住在台北", "我已經不住台北了"),
    ],
)
def test_a_negation_ends_what_it_denies_and_nothing_else(fact: str, said: str) -> None:
    verdict = judge(
        state(said), make_memories(fact, "I am allergic to pollen", "我住在台北市立圖書館旁邊")
    )
    assert (verdict.effect, [one.id for one in verdict.targets]) == ("ends", ["1"])


@pytest.mark.parametrize(
    ("said", "ended"),
    [
        ("I was laid off", ["I work as a nurse", "I work at Mercy Hospital"]),
        ("my dog died", ["My dog's name is Rex"]),
        ("我分手了", ["My partner's name is Kim"]),
    ],
)
def test_an_event_ends_what_it_ends(said: str, ended: list[str]) -> None:
    others = ["I live in Taipei", "My sister works as a nurse"]
    verdict = judge(state(said), make_memories(*others, *ended))
    assert verdict.effect == "new"
    assert [one.content for one in verdict.ended] == ended


def test_one_of_two_cats_that_died_is_no_longer_counted_or_named() -> None:
    facts = make_memories("I have two cats", "My cat's name is Nori", "My cat's name is Tofu")
    (died,) = read_message("Lost Tofu last night", find_names(facts))
    assert isinstance(died, Statement)
    ended = judge(died, facts).ended
    assert [one.content for one in ended] == ["I have two cats", "My cat's name is Tofu"]


def test_names_that_two_have_or_that_no_longer_hold_are_not_known() -> None:
    facts = make_memories("My dog's name is Max", "My son's name is Max", "My wife's name is Anna")
    past = replace(facts[2], until=NOW.date())
    assert find_names(facts) == {"anna": Bearer("wife", "wife")}
    assert find_names([past]) == {}


def test_a_switch_to_what_is_known_ends_what_it_is_instead_of() -> None:
    verdict = judge(
        state("switched from Notion to Obsidian"), make_memories("I use Notion", "I use Obsidian")
    )
    assert (verdict.effect, [one.id for one in verdict.targets]) == ("ends", ["1"])


def test_a_girlfriend_is_a_wife_after_the_wedding() -> None:
    (event,) = read_message("I got married last week")
    assert isinstance(event, Statement)
    [(memory, restated)] = judge(event, make_memories("My girlfriend's name is Kira")).restated
    assert (memory.id, restated.subject, restated.value) == ("1", "wife", "Kira")


def test_a_separation_ends_what_is_known_of_a_girlfriend() -> None:
    facts = make_memories("My girlfriend's name is Kira", "My sister's name is Lena")
    (event,) = read_message("me and kira split up", find_names(facts))
    assert isinstance(event, Statement)
    assert [one.id for one in judge(event, facts).ended] == ["1"]


def test_a_new_number_takes_the_place_of_the_old_one() -> None:
    facts = make_memories("I have two cats", "I have a dog")
    assert [one.id for one in judge(state("I have three cats"), facts).targets] == ["1"]
    assert judge(state("I have a parrot"), facts).effect == "new"
    assert judge(state("I have a cat"), facts).effect == "same"


def test_what_a_diet_leaves_out_goes_without_saying() -> None:
    assert judge(state("I don't eat meat"), make_memories("I am vegetarian")).effect == "same"
    assert judge(state("I'm vegetarian"), make_memories("I avoid meat")).effect == "replaces"
    assert judge(state("I don't eat nuts"), make_memories("I am vegetarian")).effect == "new"


def test_eating_something_ends_a_diet_without_it() -> None:
    facts = make_memories("I am vegetarian", "I avoid fish")
    verdict = judge(state("I eat fish now"), facts)
    assert [one.id for one in (*verdict.ended, *verdict.targets)] == ["1", "2"]
    assert judge(state("I eat fish now"), make_memories("I am pescatarian")).ended == ()


def test_a_birth_ends_the_pregnancy_of_a_partner_only() -> None:
    facts = make_memories("My wife is pregnant (2026-05)", "My sister is pregnant (2026-05)")
    assert [one.id for one in judge(state("we had a baby girl"), facts).ended] == ["1"]


def test_a_car_that_was_sold_is_no_longer_driven_whatever_its_name() -> None:
    facts = make_memories("I drive a 2009 Corolla", "I drive a Vespa")
    assert [one.id for one in judge(state("sold the car"), facts).ended] == ["1"]


def test_who_has_a_partner_is_no_longer_single() -> None:
    facts = make_memories("I am single")
    assert [one.id for one in judge(state("I have a boyfriend"), facts).ended] == ["1"]
    assert judge(state("I have a husband"), make_memories("I am married")).ended == ()


def test_a_habit_on_other_days_takes_the_place_of_the_old_one() -> None:
    facts = make_memories(
        "I go to the gym on mondays and fridays", "I go to church on mondays and fridays"
    )
    verdict = judge(state("I go to the gym on tuesdays and thursdays now"), facts)
    assert [one.id for one in verdict.targets] == ["1"]


def test_a_correction_of_days_changes_nothing_but_the_days() -> None:
    facts = make_memories("I go swimming mon wed fri")
    meant = correct(fix("scratch that, tues thurs sat"), facts, ["1"])
    assert meant is not None
    assert meant[1].value == "go swimming tues thurs sat"


def test_a_correction_that_names_what_was_wrong_means_the_fact_that_says_it() -> None:
    meant = correct(
        fix("actually it's Max, not Rex"), make_memories("I like tea", "My dog's name is Rex"), []
    )
    assert meant is not None
    assert (meant[0].id, meant[1].slot, meant[1].value) == ("2", "name", "Max")


def test_a_correction_in_chinese_means_the_fact_that_says_it() -> None:
    meant = correct(fix("不是小明，是小華"), make_memories("客廳的燈叫做小明"), [])
    assert meant is not None
    assert (meant[0].id, meant[1].value) == ("1", "小華")


def test_a_correction_that_names_nothing_means_what_this_conversation_said_last() -> None:
    facts = make_memories("My dog's name is Rex", "My wife's name is Anna")
    meant = correct(fix("no wait, it's Max"), facts, ["2", "1"])
    assert meant is not None
    assert meant[0].id == "1"
    assert correct(fix("no wait, it's Max"), facts, []) is None


def test_a_correction_that_could_mean_two_facts_means_neither() -> None:
    facts = make_memories("My dog's name is Rex", "My son's name is Rex")
    assert correct(fix("actually it's Max, not Rex"), facts, []) is None


def test_sentences_say_the_same_whoever_they_are_about_the_user_in() -> None:
    assert says_same("User lives in Taipei", "I live in Taipei.")
    assert says_same("Buy milk!", "buy milk")
    assert not says_same("I live in Taipei and like tea", "I live in Taipei")


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I go fencing every Tuesday", "I quit fencing"),
        ("I like fencing", "I don't fence anymore"),
        ("My phone is a Galaxy S24", "I binned the Galaxy"),
        ("I drive a Toyota Corolla", "I scrapped that car"),
        ("I drink three cups of coffee a day", "I've gone off coffee"),
        ("I smoke ten cigarettes a day", "I gave up smoking"),
        ("I am working on a board game called Tern", "we shelved Tern"),
    ],
)
def test_what_is_given_up_ends_whatever_is_known_of_it(fact: str, said: str) -> None:
    verdict = judge(state(said), make_memories(fact))
    assert [one.id for one in (*verdict.targets, *verdict.ended)] == ["1"]


@pytest.mark.parametrize(
    ("fact", "said"),
    [
        ("I like fencing", "I quit fishing"),
        ("My dog is called Rex", "I quit Rex"),
        ("I drive a Toyota Corolla", "I sold my bike"),
    ],
)
def test_what_is_given_up_ends_nothing_else(fact: str, said: str) -> None:
    verdict = judge(state(said), make_memories(fact))
    assert (*verdict.targets, *verdict.ended) == ()


def test_a_switch_changes_the_part_that_it_names() -> None:
    facts = make_memories("I go to karate every Tuesday")
    found = correct(fix("I swapped karate for fencing drills"), facts, [])
    assert found is not None
    assert found[1].value == "go to fencing drills every Tuesday"


def test_who_becomes_a_spouse_by_name_keeps_what_is_known() -> None:
    facts = make_memories("My fiancée is called Nia", "My fiancée works as a nurse")
    verdict = judge(state("Nia is my wife"), facts)
    assert verdict.targets == (facts[0],)
    assert [(one.id, new.subject) for one, new in verdict.restated] == [("2", "wife")]


def test_a_name_says_that_there_is_somebody() -> None:
    assert judge(state("I have a dog"), make_memories("My dog is called Rex")).effect == "same"


def test_an_allergy_says_what_is_avoided() -> None:
    assert (
        judge(state("I can't eat peanuts"), make_memories("I am allergic to peanuts")).effect
        == "same"
    )
