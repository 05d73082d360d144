"""How much is measured: all of it, or just enough to see that the measuring works."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scale:
    """Sizes and repetitions; a round is a batch of ours and a batch of the yardstick."""

    json_conversations: tuple[int, ...]
    database_conversations: int
    long_conversation: int
    """Exchanges of one conversation in the database."""
    listed: int
    erased_among: int
    """Messages of the database from which a conversation is erased."""
    messages: int
    facts: int
    memories: tuple[int, ...]
    """Facts of the memories to which one is added."""
    rounds: int
    commits: int
    """Exchanges in a batch of the database: in 200, SQLite empties its log at least once."""
    starts: int
    writers: int
    calls_per_writer: int
    passages: tuple[int, ...]
    vectors: tuple[int, ...]
    indexed: int
    builds: int
    said: int
    """Messages of the folder that is searched, kept up to date and erased from."""


FULL = Scale(
    json_conversations=(10, 100, 1000),
    database_conversations=10_000,
    long_conversation=10_000,
    listed=1_000,
    erased_among=100_000,
    messages=10_000,
    facts=100,
    memories=(100, 1_000, 10_000),
    rounds=15,
    commits=200,
    starts=30,
    writers=10,
    calls_per_writer=100,
    passages=(1_000, 10_000, 100_000),
    vectors=(10_000, 100_000),
    indexed=100_000,
    builds=3,
    said=100_000,
)

QUICK = Scale(
    json_conversations=(10, 100),
    database_conversations=50,
    long_conversation=100,
    listed=20,
    erased_among=2_000,
    messages=10_000,
    facts=20,
    memories=(20, 100),
    rounds=2,
    commits=10,
    starts=1,
    writers=2,
    calls_per_writer=5,
    passages=(200, 1_000),
    vectors=(300,),
    indexed=1_000,
    builds=1,
    said=1_000,
)
