"""Decisions of learning, for tests that only care what they say."""

from __future__ import annotations

from typing import Any

from turnleaf.core.learning.queue import Decision


def decide(content: str, key: str = "cli:session-1", **more: Any) -> Decision:  # noqa: ANN401
    """Return the decision to add a fact."""
    return Decision(id=content, action="add", conversation=key, content=content, **more)
