"""Stores and yardsticks that hold the same conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from bench import samples
from bench.bare import Bare
from bench.samples import SampleExchange
from turnleaf import ConversationStore, Settings


@dataclass(frozen=True, slots=True)
class FilledStore:
    """A store, a yardstick of the same content, and the names of their conversations."""

    store: ConversationStore
    bare: Bare
    keys: list[str]


@contextmanager
def make_stores(folder: Path, suffix: str, conversations: int) -> Iterator[FilledStore]:
    """Fill a store and a yardstick in a folder of their own, and remove it in the end."""
    with make_stores_with(folder, suffix, _content(conversations)) as both:
        yield both


@contextmanager
def make_stores_with(
    folder: Path, suffix: str, content: dict[str, list[SampleExchange]]
) -> Iterator[FilledStore]:
    """Fill a store and a yardstick with given conversations."""
    with TemporaryDirectory(dir=folder) as name:
        store = fill_store(Path(name) / f"conversations{suffix}", content)
        bare = Bare(Path(name) / "bare.sqlite")
        bare.fill(content.items())
        yield FilledStore(store, bare, list(content))
        store.close()
        bare.close()


@contextmanager
def make_long_stores(folder: Path, exchanges: int) -> Iterator[FilledStore]:
    """Fill a database and a yardstick with one conversation of so many exchanges."""
    random = Random(exchanges)
    content = {samples.key(0): [samples.exchange(random) for _ in range(exchanges)]}
    with make_stores_with(folder, ".db", content) as both:
        yield both


def fill_store(path: Path, content: dict[str, list[SampleExchange]] | int) -> ConversationStore:
    """Make a store that holds some conversations."""
    known = _content(content) if isinstance(content, int) else content
    if path.suffix == ".json":
        path.write_text(_json(known), "utf-8")
    store = open_store(path)
    if path.suffix == ".db":
        for key, exchanges in known.items():
            store.add_messages(key, [turn for one in exchanges for turn in one.turns()])
    return store


def open_store(path: Path) -> ConversationStore:
    """Open a store with the default settings, whatever the environment says."""
    store = ConversationStore(path, settings=Settings())
    store.init()
    return store


def _content(conversations: int) -> dict[str, list[SampleExchange]]:
    random = Random(conversations)
    return {samples.key(number): samples.conversation(random) for number in range(conversations)}


def _json(content: dict[str, list[SampleExchange]]) -> str:
    """Write the store's file at once: adding one conversation after the other takes minutes."""
    lines = (f"{json.dumps(key)}: {_record(exchanges)}" for key, exchanges in content.items())
    return '{"version": 1, "conversations": {\n' + ",\n".join(lines) + "\n}}\n"


def _record(exchanges: list[SampleExchange]) -> str:
    stamp = samples.START.isoformat(timespec="milliseconds").replace("+00:00", "Z")
    turns = [
        {"role": turn.role, "content": turn.content, "timestamp": stamp}
        for one in exchanges
        for turn in one.turns()
    ]
    record = {"createdAt": stamp, "updatedAt": stamp, "messages": turns}
    return json.dumps(record, ensure_ascii=False)
