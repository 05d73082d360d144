"""How many tokens a prompt may have."""

from __future__ import annotations

TOOLS_TOKENS = 1200
"""What the tools take that are described to a model beside the prompt."""
TOOLS_WINDOW = 4_096
"""The smallest context that has room for tools beside the memory; below, none are offered."""
_PROMPT_SHARE = 0.75


def has_room_for_tools(context_window: int | None) -> bool:
    """Whether a model's context has room for tools beside the memory."""
    return context_window is None or context_window >= TOOLS_WINDOW


def prompt_budget(max_tokens: int, context_window: int | None) -> int:
    """Return how many tokens a prompt may have, so that a model has room to answer it.

    Prompt and tools together take three quarters of the context at most. Where that leaves nothing,
    the composer leaves out all but the instructions and the message.
    """
    if context_window is None:
        return max_tokens
    tools = TOOLS_TOKENS if has_room_for_tools(context_window) else 0
    return max(1, min(max_tokens, int(context_window * _PROMPT_SHARE) - tools))
