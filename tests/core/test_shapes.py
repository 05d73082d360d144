"""A fingerprint that can be added and compared, whatever the order of lines."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import shapes, texts, thorough
from turnleaf.core.pages import Shape

lines = st.lists(texts | st.text(st.characters(categories=["Cs"]), max_size=3), max_size=6)


@thorough
@given(lines, st.randoms())
def test_order_makes_no_difference(some: list[str], random: object) -> None:
    shuffled = list(some)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert Shape.of(shuffled) == Shape.of(some)


@thorough
@given(lines, lines)
def test_both_together_without_one_is_the_other(one: list[str], other: list[str]) -> None:
    both = Shape.of([*one, *other], blanks=3)
    assert Shape.of(one, blanks=1) + Shape.of(other, blanks=2) == both
    assert both - Shape.of(one, blanks=3) == Shape.of(other)


@thorough
@given(lines, texts)
def test_another_line_makes_a_difference(some: list[str], extra: str) -> None:
    assert Shape.of([*some, extra]) != Shape.of(some)


def test_a_line_twice_is_not_the_line_once() -> None:
    assert Shape.of(["a", "a"]) not in {Shape.of(["a"]), Shape.of([])}


@thorough
@given(shapes)
def test_it_comes_back_from_a_file(shape: Shape) -> None:
    assert Shape.parse(str(shape)) == shape
