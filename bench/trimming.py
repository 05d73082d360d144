"""A long conversation trimmed to a model's budget, against counting the tokens of what is kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from random import Random

from bench import samples
from bench.scale import Scale
from bench.timing import Aim, TimingRow, compare
from turnleaf import Conversation
from turnleaf.core.tokens import count_message_tokens
from turnleaf.store import token_vocabulary

MAX_TOKENS = 4000
CALLS = 10
AIM = Aim(cpu=2, wall=2)


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:  # noqa: ARG001 - as for every subject
    """Measure a conversation of text, and one in which tools are called."""
    yield _row(scale, "", _talk(scale.messages))
    yield _row(scale, " with tool calls", _talk(scale.messages, tools=True))


def _row(scale: Scale, which: str, conversation: Conversation) -> TimingRow:
    kept = conversation.get_context(MAX_TOKENS)
    count = token_vocabulary.choose_counter()

    def count_kept() -> int:
        return sum(count_message_tokens(message, count) for message in kept)

    ours = partial(conversation.get_context, MAX_TOKENS)
    costs = compare(lambda: [ours] * CALLS, lambda: [count_kept] * CALLS, scale.rounds)
    name = f"{scale.messages:,} messages{which} trimmed to {MAX_TOKENS:,} tokens"
    return TimingRow(name, *costs, AIM)


def _talk(messages: int, *, tools: bool = False) -> Conversation:
    random = Random(0)
    conversation = Conversation("You are a helpful assistant.")
    while len(conversation.messages) < messages:
        one = samples.exchange(random)
        conversation.add("user", one.question)
        if tools:
            _use_tool(conversation, f"call_{random.randrange(10**9)}")
        conversation.add("assistant", one.answer)
    return conversation


def _use_tool(conversation: Conversation, call_id: str) -> None:
    function = {"name": "weather", "arguments": '{"city": "臺北"}'}
    call = {"id": call_id, "type": "function", "function": function}
    conversation.add("assistant", None, tool_calls=[call])
    conversation.add_tool_result(call_id, "Sunny, 24 °C, wind from the north-east")
