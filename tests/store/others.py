"""A program that uses a store from another process.

    python -m tests.store.others DEED LOCATION [ARGUMENT ...]

It prints what came of it as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from turnleaf.errors import TurnleafError
from turnleaf.settings import Settings
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.facts.memories import MemoryStore

ROOT = Path(__file__).parents[2]
NOBODY = 65534
PLENTY = Settings(
    memory_max_items=10**6,
    memory_max_chars=10**9,
    conversation_max_turns=10**6,
    conversation_max_chars=10**9,
)


def start(deed: str, location: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.others", deed, str(location), *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> object:
    said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return json.loads(said)


def run(deed: str, location: Path, *arguments: str) -> object:
    """Do something in another process, and return what it says of it."""
    return finish(start(deed, location, *arguments))


def add_facts(location: Path, name: str, count: str) -> list[str]:
    store = MemoryStore(location, settings=PLENTY)
    return [store.add(f"{name} {number}").id for number in range(int(count))]


def facts(location: Path) -> list[str]:
    return [memory.content for memory in MemoryStore(location, settings=PLENTY).get_all()]


def add_exchanges(location: Path, key: str, name: str, count: str) -> None:
    store = ConversationStore(location, settings=PLENTY)
    for number in range(int(count)):
        store.add_exchange(key, f"{name} {number}", f"re {name} {number}")


def history(location: Path, key: str) -> list[str]:
    return [message.text for message in ConversationStore(location).get_history(key)]


def become_nobody() -> None:
    """Permissions mean nothing to root."""
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def catch_refusal(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except TurnleafError as error:
        return f"{type(error).__name__}: {error}"
    return "it was done"


def read_only_memories(location: Path) -> list[object]:
    store = MemoryStore(location, settings=PLENTY)
    memory = store.get_all()[0]
    become_nobody()
    tried = [
        catch_refusal(lambda: store.add("another")),
        catch_refusal(lambda: store.update(memory.id, "changed")),
        catch_refusal(lambda: store.delete(memory.id)),
        catch_refusal(store.undo),
        catch_refusal(MemoryStore(location.parent / "new" / location.name).init),
    ]
    reader = MemoryStore(location, settings=PLENTY)
    found = [
        [each.content for each in each_way]
        for each_way in (reader.get_all(), reader.search("fact"))
    ]
    return [tried, *found]


def read_only_conversations(location: Path) -> list[object]:
    store = ConversationStore(location, settings=PLENTY)
    store.init()
    become_nobody()
    tried = [
        catch_refusal(lambda: store.add_exchange("key", "more", "more")),
        catch_refusal(lambda: store.clear("key")),
        catch_refusal(ConversationStore(location.parent / "new" / location.name).init),
    ]
    return [tried, [message.text for message in store.get_history("key")]]


def clear_all(location: Path, *keys: str) -> None:
    store = ConversationStore(location, settings=PLENTY)
    for key in keys:
        sys.stdout.write(f"{key}\n")
        sys.stdout.flush()
        store.clear(key)


DEEDS: dict[str, Callable[..., object]] = {
    deed.__name__: deed
    for deed in (
        add_facts,
        facts,
        add_exchanges,
        clear_all,
        history,
        read_only_memories,
        read_only_conversations,
    )
}


def main() -> None:
    deed, location, *arguments = sys.argv[1:]
    sys.stdout.write(json.dumps(DEEDS[deed](Path(location), *arguments)))


if __name__ == "__main__":
    main()
