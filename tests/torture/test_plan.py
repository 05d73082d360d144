"""The rig's idea of what may be found after a crash."""

from tests.torture.plan import PlanStep, Writer, disorder, find_allowed, judge

ADD = PlanStep("add", "room", "w1k0", "w1k0 v0 one.")
UPDATE = PlanStep("update", "room", "w1k0", "w1k0 v1 two.")
DELETE = PlanStep("delete", "room", "w1k0")
CLEAR = PlanStep("clear", "room", "")


def test_two_equal_writers_write_the_same_and_no_text_twice() -> None:
    writer = Writer("memories-md", 3, 40, 7)
    texts = [step.text for step in writer.steps() if step.text]
    assert writer.steps() == Writer("memories-md", 3, 40, 7).steps()
    assert len(set(texts)) == len(texts)


def test_every_kind_of_call_is_among_the_steps() -> None:
    verbs = {step.verb for step in Writer("memories-json", 0, 10).steps()}
    assert verbs == {"add", "update", "delete"}
    assert {step.verb for step in Writer("conversations-db", 0, 10).steps()} == {"add", "clear"}


def test_what_was_acknowledged_must_be_there() -> None:
    states = find_allowed([ADD], ["ok"])
    assert judge(states, []) == ["lost: w1k0"]
    assert judge(states, [ADD.text]) == []


def test_what_was_under_way_may_be_there_or_not() -> None:
    states = find_allowed([ADD, UPDATE], ["ok"])
    assert judge(states, [ADD.text]) == []
    assert judge(states, [UPDATE.text]) == []
    assert judge(states, []) == ["lost: w1k0"]


def test_what_was_not_begun_must_not_be_there() -> None:
    assert judge(find_allowed([ADD, UPDATE], []), [UPDATE.text]) != []


def test_what_was_refused_may_be_there_or_not() -> None:
    states = find_allowed([ADD, DELETE], ["ok", "refused: StorageError: full"])
    assert judge(states, [ADD.text]) == []
    assert judge(states, []) == []


def test_what_was_deleted_or_cleared_must_stay_away() -> None:
    assert judge(find_allowed([ADD, DELETE], ["ok", "ok"]), [ADD.text]) != []
    assert judge(find_allowed([ADD, CLEAR], ["ok", "ok"]), [ADD.text]) != []
    assert judge(find_allowed([ADD, CLEAR, ADD], ["ok", "ok", "ok"]), [ADD.text]) == []


def test_doubles_and_strangers_and_disorder_are_seen() -> None:
    states = find_allowed([ADD], ["ok"])
    assert judge(states, [ADD.text, ADD.text])[0].startswith("doubled")
    assert judge(states, [ADD.text, "half of something"])[0].startswith("out of nowhere")
    assert judge(states, [ADD.text[:-3]])[0].startswith("altered")
    assert disorder(["w1k0 v0 a.", "w2k6 v0 b.", "w1k2 v0 c.", "w1k1 v0 d."]) == []
    assert disorder(["w1k2 v0 a.", "w1k0 v0 b."]) != []


def test_the_beginning_of_an_append_is_fine_after_a_power_cut_until_it_is_acknowledged() -> None:
    assert judge(find_allowed([ADD], []), [ADD.text[:-3]], torn=True) == []
    assert judge(find_allowed([ADD], []), [ADD.text[:-3]]) != []
    assert judge(find_allowed([ADD], ["ok"]), [ADD.text[:-3]], torn=True) != []
