"""Answers to what a chat client asks for by itself: by the model alone, and kept nowhere."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from turnleaf.assistant import Composed, Done
from turnleaf.core.composer import PromptComposer
from turnleaf.core.dialogue import Text, Usage
from turnleaf.turns import Reply

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from turnleaf.assistant import Assistant
    from turnleaf.core.dialogue import Event
    from turnleaf.core.messages import Message

SYSTEM_PROMPT = "You do small tasks for a chat client. Answer in the form that it asks for."


def answer_task(
    assistant: Assistant, text: str, *, history: Sequence[Message], instructions: str
) -> Generator[Event | Composed | Done]:
    """Answer without memory, search or tools; nothing is stored or learnt from."""
    composer = PromptComposer(instructions or SYSTEM_PROMPT, max_tokens=assistant.prompt_max_tokens)
    prompt = replace(composer.compose(text, history=history), is_learnt=False)
    yield Composed(prompt, composer.explain())
    said: list[str] = []
    usage = None
    for event in assistant.model.stream(prompt):
        if isinstance(event, Usage):
            usage = event
        elif isinstance(event, Text):
            said.append(event.text)
        yield event
    yield Done(Reply("".join(said), explanation=composer.explain(), usage=usage))
