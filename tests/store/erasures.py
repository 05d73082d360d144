"""A data folder with something of several sources in every store, and a program that is killed.

    python -m tests.store.erasures erasures FOLDER SOURCE STEP
    python -m tests.store.erasures acceptances FOLDER ID STEP

It erases a source, or accepts what waits, in copies of a folder: killed before one file after
the other is opened, renamed or deleted (before each STEPth), and then once more without a kill.
It prints as JSON how often, and what is wrong after that.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

from turnleaf.core.changes import Source
from turnleaf.core.messages import Message
from turnleaf.settings import CONFIG_NAME, DataFolder
from turnleaf.store.contracts import Stores as RealStores
from turnleaf.store.erasure import Erased, erase
from turnleaf.store.files.facts.memories import MemoryStore
from turnleaf.store.files.facts.pending import PendingStore

START = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
TALK, SLACK, TOOL, DOCUMENT = (
    "cli:session-1",
    "slack:1700000000.1",
    "tool:fetch",
    "document:筆記.md",
)
SOURCES = (TALK, SLACK, TOOL, DOCUMENT)
# What each source says, a word of its own in each language.
WORDS = {
    TALK: ("zebra", "斑馬"),
    SLACK: ("walrus", "海象"),
    TOOL: ("ostrich", "鴕鳥"),
    DOCUMENT: ("badger", "獾子"),
}
CHANGES_FILES = ("open", "os.rename", "os.remove", "os.truncate", "os.link")
NEVER = 10**9
ROOT = Path(__file__).parents[2]

Verdict = tuple[int, list[str]]


def make_source(source: str, quote: str) -> Source:
    if source in (TALK, SLACK):
        return Source(quote, source, START, "user")
    return Source(quote, "cli:session-9", START, source.partition(":")[0], source)


class ErasureStores:
    """All the stores of one data folder, by the names that erasing knows them by."""

    def __init__(self, folder: Path, *, suffix: str = ".md", shelf: str = ".db") -> None:
        self.folder = folder
        ticks = count()
        clock = lambda: START + timedelta(seconds=next(ticks))  # noqa: E731
        places = {
            "memoryLocation": f"memory/MEMORY{suffix}",
            "conversationsLocation": f"conversations/conversations{shelf}",
            "conversationMaxTurns": 4,
        }
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONFIG_NAME).write_text(json.dumps(places), "utf-8")
        self.own = RealStores.open(DataFolder(folder, "a test"), now=clock)
        self.memory = MemoryStore(self.own.facts.location, settings=self.own.settings, now=clock)
        self.pending = PendingStore(self.memory, now=clock)
        self.own.facts, self.own.pending = self.memory, self.pending
        self.daily, self.index = self.own.daily, self.own.passages
        self.conversations = self.own.conversations

    def erase(self, source: str) -> Erased:
        return erase(self.own, source)

    def close(self) -> None:
        self.own.close()


def fill(stores: ErasureStores) -> None:
    """Leave something of every source in every store that it can reach."""
    stores.memory.add("I typed this")
    for number, (source, (word, character)) in enumerate(WORDS.items()):
        rests_on = make_source(source, f"a {word}, 一隻{character}")
        stores.memory.add(f"keeps a {word}\ncalled {character}", "Home", source=rests_on)
        mine = stores.memory.add(f"I had no animal {number}")
        stores.memory.update(mine.id, f"afterwards {word}{character}", source=rests_on)
        stores.pending.add(f"wants a {word} {character}", "家", source=rests_on)
        taken = stores.pending.add(f"likes {word} {character}", source=rests_on)
        stores.pending.accept(taken.id)
        refused = stores.pending.add(f"hates {word} {character}", source=rests_on)
        stores.pending.reject(refused.id)
        gone = stores.memory.add(f"had a {word} {character}", source=rests_on)
        stores.memory.delete(gone.id)
        stores.daily.append(f"saw a {word}\n{character}", source=source)
        stores.daily.append(f"{word}{character}", source=source)
        if source in (TALK, SLACK):
            for turn in range(4):
                said = [Message("user", f"{word} {turn}"), Message("assistant", character)]
                stores.conversations.add_messages(source, said)
    stores.daily.append("noted by me")
    stores.index.sync()


def spellings(words: Iterable[str]) -> Iterator[bytes]:
    """Every form in which a file could hold a word."""
    for word in words:
        yield word.encode()
        yield json.dumps(word)[1:-1].encode()
        yield json.dumps(word)[1:-1].upper().replace("\\U", "\\u").encode()
        yield "".join(f"%{byte:02X}" for byte in word.encode()).encode()
        yield word.encode("utf-16-le")


def find_traces(folder: Path, source: str) -> list[str]:
    """Name the files that hold a byte of what a source said, or its name."""
    wanted = set(spellings([*WORDS[source], source]))
    return [
        f"{path.relative_to(folder)}: {word!r}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for data in [path.read_bytes()]
        for word in wanted
        if word in data
    ]


def kill_before(number: int, deed: Callable[[], object]) -> bool:
    """Do something in a child that is killed before the nth change of files; False if it lived."""
    child = os.fork()
    if child == 0:
        remaining = count(number, -1)

        def hook(event: str, _: object) -> None:
            if event in CHANGES_FILES and next(remaining) == 0:
                os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        deed()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status) or bool(os.WEXITSTATUS(status))


def state(stores: ErasureStores) -> list[object]:
    """All that a person finds in the stores, and where each fact came from."""
    record = [*stores.memory.changes(), *stores.pending.changes()]
    return [
        [(memory.id, memory.content, memory.category) for memory in stores.memory.get_all()],
        [(memory.id, memory.content, memory.category) for memory in stores.pending.get_all()],
        [(change.op, change.id, change.source) for change in record if change.source],
        [stores.daily.read(day) for day in stores.daily.dates()],
        [[one.text for one in stores.conversations.get_history(key)] for key in SOURCES],
        stores.memory.needs_mending() or stores.pending.needs_mending(),
    ]


def erasures(folder: Path, source: str, step: int) -> Verdict:
    """Kill it while it erases a source, and let it begin again."""
    complaints: list[str] = []
    expected: list[object] = []
    for number, place in copies_of(folder):

        def deed(place: Path = place) -> None:
            ErasureStores(place).erase(source)

        was_killed = number > 0 and kill_before((number - 1) * step, deed)
        if kill_before(NEVER, deed):
            complaints.append(f"{number}: the next run failed")
        expected = expected or state(ErasureStores(place))
        complaints += [f"{number}: {left}" for left in find_traces(place, source)]
        complaints += [
            f"{number}: {one}" for one in find_differences(expected, state(ErasureStores(place)))
        ]
        if number > 0 and not was_killed:
            return number, complaints
    raise AssertionError


def acceptances(folder: Path, memory_id: str, step: int) -> Verdict:
    """Kill it while it accepts a fact, and let it begin again."""
    complaints: list[str] = []
    for number, place in copies_of(folder):

        def deed(place: Path = place) -> None:
            ErasureStores(place).pending.accept(memory_id, "edited 了")

        # Another save a moment ago, after which a reader waits before it takes in what is missing.
        os.utime(place / "memory/MEMORY.md")
        was_killed = kill_before(number * step, deed)
        if not any(place_of(ErasureStores(place), memory_id)):
            complaints.append(f"{number}: it is lost")
        if kill_before(NEVER, deed) or place_of(ErasureStores(place), memory_id) != (1, 0):
            complaints.append(f"{number}: {place_of(ErasureStores(place), memory_id)}")
        source, *_ = (one.source for one in ErasureStores(place).memory.changes(memory_id))
        if source is None or content_of(ErasureStores(place), memory_id) != "edited 了":
            complaints.append(f"{number}: it is not what it was")
        if not was_killed:
            return number, complaints
    raise AssertionError


def place_of(stores: ErasureStores, memory_id: str) -> tuple[int, int]:
    """Count a fact in the memory, and among what waits."""
    # Whoever lists what waits finishes what was interrupted.
    waiting = [memory.id for memory in stores.pending.get_all()]
    here = [memory.id for memory in stores.memory.get_all()]
    return here.count(memory_id), waiting.count(memory_id)


def content_of(stores: ErasureStores, memory_id: str) -> str | None:
    memory = stores.memory.get(memory_id)
    return memory.content if memory else None


def copies_of(folder: Path) -> Iterator[tuple[int, Path]]:
    for number in count():
        place = folder.with_name(f"{folder.name}-{number}")
        shutil.copytree(folder, place)
        yield number, place
        shutil.rmtree(place)


def find_differences(expected: list[object], found: list[object]) -> list[str]:
    pairs = zip(expected, found, strict=True)
    return [f"{one!r} instead of {other!r}" for other, one in pairs if one != other]


def kill(campaign: str, folder: Path, what: str, step: int) -> Verdict:
    """Run a campaign in a process that has no threads."""
    command = [sys.executable, "-m", "tests.store.erasures", campaign, str(folder), what, str(step)]
    said = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=600)
    kills, complaints = json.loads(said.stdout)
    return kills, complaints


CAMPAIGNS = {campaign.__name__: campaign for campaign in (erasures, acceptances)}

if __name__ == "__main__":
    name, where, which, every = sys.argv[1:]
    sys.stdout.write(json.dumps(CAMPAIGNS[name](Path(where), which, int(every))))
