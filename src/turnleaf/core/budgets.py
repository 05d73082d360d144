"""How many tokens a prompt may have."""

from __future__ import annotations

TOOLS_TOKENS = 1200
"""What the tools take that are described to a model beside the prompt."""
_PROMPT_SHARE = 0.75


def prompt_budget(max_tokens: int, context_window: int | None) -> int:
    """Return how many tokens a prompt may have, so that a model has room to answer it.

    Prompt and tools together take three quarters of the context at most. Where that leaves nothing,
    the composer leaves out all but the instructions and the message.
    """
    if context_window is None:
        return max_tokens
    return max(1, min(max_tokens, int(context_window * _PROMPT_SHARE) - TOOLS_TOKENS))
