"""A person's edit is carried over to another version of the text."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from turnleaf.core import markdown
from turnleaf.core.memories import Memory

BASE = "# Memory\n\n- one\n- two\n- three\n"


def carry_over(base: str, edited: str, onto: str) -> str:
    texts = (text.splitlines(keepends=True) for text in (base, edited, onto))
    return "".join(markdown.carry_over(*texts))


documents = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "d\n"]), max_size=6).map("".join)


def test_a_line_that_was_added_goes_below_its_neighbour() -> None:
    onto = BASE.replace("- three\n", "- three\n- four\n")
    edited = BASE.replace("- one\n", "- one\n- mine\n")
    assert carry_over(BASE, edited, onto) == onto.replace("- one\n", "- one\n- mine\n")


def test_a_line_that_was_added_below_one_that_is_gone_goes_to_the_end() -> None:
    edited = BASE.replace("- one\n", "- one\n- mine\n")
    assert carry_over(BASE, edited, "# Other\n") == "# Other\n- mine\n"


def test_a_line_that_was_taken_away_is_taken_away() -> None:
    onto = f"{BASE}- four\n"
    assert carry_over(BASE, BASE.replace("- two\n", ""), onto) == onto.replace("- two\n", "")


def test_a_line_that_was_changed_is_changed() -> None:
    edited = BASE.replace("- two", "- 第二")
    assert carry_over(BASE, edited, f"{BASE}- four\n") == f"{edited}- four\n"


@given(documents, documents)
def test_an_edit_carried_over_to_its_own_base_is_the_edit(base: str, edited: str) -> None:
    assert sorted(carry_over(base, edited, base)) == sorted(edited)


@given(documents, documents)
def test_no_edit_changes_nothing(base: str, onto: str) -> None:
    assert carry_over(base, base, onto) == onto


MOMENT = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)


def fact(content: str) -> str:
    return markdown.render(Memory(content.split(maxsplit=1)[0], content, MOMENT, MOMENT))


def test_facts_of_ours_stay_whatever_the_edit_had_seen_of_them() -> None:
    base = "# Memory\n\n" + fact("one") + fact("two lines\nbelow")
    edited = "# Memory\n\nmine\n\n" + fact("one")
    onto = base + fact("three")
    assert markdown.join_edits(base, edited, onto, MOMENT) == onto.replace(
        "\n\n", "\n\nmine\n\n", 1
    )


def test_lines_typed_by_hand_come_and_go_with_the_edit() -> None:
    base = "- typed\n" + fact("one")
    edited = fact("one") + "- typed anew"
    expected = fact("one") + "prose\n- typed anew\n"
    assert markdown.join_edits(base, edited, f"{base}prose", MOMENT) == expected
