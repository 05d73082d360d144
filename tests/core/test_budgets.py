"""A prompt has as many tokens as are set, and as fit into the model's context."""

from __future__ import annotations

import json

import pytest

from turnleaf.core.tokens import TOOLS_TOKENS, estimate, find_prompt_budget, has_room_for_tools
from turnleaf.tools import list_specs


@pytest.mark.parametrize(
    ("window", "budget"),
    [(None, 32_000), (200_000, 32_000), (8_192, 4_944), (4_096, 1_872), (2_048, 1_536)],
)
def test_a_prompt_leaves_room_for_tools_and_an_answer(window: int | None, budget: int) -> None:
    assert find_prompt_budget(32_000, window) == budget


def test_the_tools_take_no_more_than_is_kept_for_them() -> None:
    described = [[spec.name, spec.description, dict(spec.parameters)] for spec in list_specs()]
    assert estimate(json.dumps(described)) <= TOOLS_TOKENS


@pytest.mark.parametrize(("window", "fits"), [(None, True), (4_096, True), (2_048, False)])
def test_a_small_context_has_no_room_for_tools(window: int | None, fits: bool) -> None:  # noqa: FBT001
    assert has_room_for_tools(window) is fits
