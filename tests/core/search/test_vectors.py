"""A vector is packed with length one, so that nearness is a dot product."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.strategies import brief
from turnleaf.core.search.vectors import pack
from turnleaf.errors import InvalidInput

numbers = st.floats(allow_nan=False, allow_infinity=False, width=32)


def unpack(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


@pytest.mark.parametrize(
    "values",
    [[3.0, 4.0], [-3, 4], [3e-320, 4e-320], [3e300, 4e300], [0.001] * 1536],
    ids=["floats", "whole numbers", "tiny", "huge", "many"],
)
def test_a_packed_vector_has_length_one_and_keeps_its_direction(values: list[float]) -> None:
    vector = unpack(pack(values))
    assert len(vector) == len(values)
    assert math.hypot(*vector) == pytest.approx(1, abs=1e-6)
    ratio = [number / vector[0] for number in vector]
    assert ratio == pytest.approx([value / values[0] for value in values], rel=1e-3)


def test_a_packed_vector_is_little_endian_float32() -> None:
    assert pack([0.0, 2.0]) == bytes.fromhex("000000000000803f")


@pytest.mark.parametrize("values", [[], [0.0, 0.0], [1.0, math.nan], [1.0, math.inf]])
def test_a_vector_without_a_direction_is_refused(values: list[float]) -> None:
    with pytest.raises(InvalidInput, match="cannot be used"):
        pack(values)


@brief
@given(st.lists(numbers, min_size=1, max_size=20))
def test_what_is_packed_has_length_one(values: list[float]) -> None:
    assume(any(values))
    assert math.hypot(*unpack(pack(values))) == pytest.approx(1, abs=1e-6)


@brief
@given(st.lists(numbers, min_size=1, max_size=20), st.sampled_from([0.5, 2.0, 1024.0]))
def test_only_the_direction_counts(values: list[float], factor: float) -> None:
    assume(max(map(abs, values)) > 1e-30)
    stretched = pack([factor * value for value in values])
    assert unpack(stretched) == pytest.approx(unpack(pack(values)), abs=1e-6)
