"""Programs that write to one MEMORY.md while somebody edits it.

    python -m tests.torture.editors append PATH NAME SEED
    python -m tests.torture.editors edit PATH SAVES SEED
    python -m tests.torture.editors keep PATH
    python -m tests.torture.editors show PATH

The appender writes through a store as fast as it can until its standard input ends, and says
each acknowledged change. The editor knows nothing of any store: it loads the file, waits, and
saves its buffer with an edit, and says what it did. The keeper has a store and does nothing
with it. Each says one JSON object a line.
"""

from __future__ import annotations

import json
import os
import random
import re
import select
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from turnleaf.core.changes import Change
from turnleaf.settings import Settings
from turnleaf.store.files.facts.memories import MemoryStore

PLENTY = Settings(memory_max_items=10**6, memory_max_chars=10**9)
MOST_ALIVE = 100
FIRST_FACTS = 5
VISIBLE_SECONDS = 120.0
STYLES = ("rename", "in place", "append")
EDITS = ("type", "type", "prose", "mood", "delete", "delete and type", "delete newest and type")
FACT = re.compile(r"^- .*<!-- turnleaf id=(\S+) ")
BEGINNING = "# Memory\n\nmood: 0\n\n- typed before anybody came\n"


def pause(seconds: float) -> None:
    threading.Event().wait(seconds)


def wait_until(condition: Callable[[], bool], seconds: float) -> float | None:
    """Wait for something that can be seen; return how long it took, or None."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() - began > seconds:
            return None
        pause(0.01)
    return time.monotonic() - began


def say(what: object) -> None:
    os.write(1, f"{json.dumps(what)}\n".encode())


# Programs


class Appender:
    """Adds facts, and changes and deletes facts of its own."""

    def __init__(self, path: Path, name: str, seed: int) -> None:
        self.store = MemoryStore(path, settings=PLENTY)
        self.name = name
        self.random = random.Random(seed)
        self.alive: list[str] = []
        self.count = 0

    def step(self) -> None:
        self.count += 1
        chance = self.random.random()
        if not self.alive or (chance < 0.7 and len(self.alive) < MOST_ALIVE):
            self._add()
        elif chance < 0.85:
            self._update(self.random.choice(self.alive))
        else:
            self._delete(self.alive.pop(self.random.randrange(len(self.alive))))

    def _add(self) -> None:
        content = f"{self.name} {self.count}"
        memory = self.store.add(content)
        self.alive.append(memory.id)
        say({"op": "add", "id": memory.id, "content": content})

    def _update(self, memory_id: str) -> None:
        content = f"{self.name} {self.count} updated"
        found = self.store.update(memory_id, content)
        if found is None:
            self.alive.remove(memory_id)
        say({"op": "update" if found else "missing", "id": memory_id, "content": content})

    def _delete(self, memory_id: str) -> None:
        found = self.store.delete(memory_id)
        say({"op": "delete" if found else "missing", "id": memory_id, "content": ""})


def append(path: Path, name: str, seed: str) -> None:
    appender = Appender(path, name, int(seed))
    while not select.select([sys.stdin], [], [], 0)[0]:
        appender.step()


@dataclass(slots=True)
class Save:
    """What the editor did: the line it added, the facts it deleted, those its text holds."""

    number: int
    edit: str
    style: str
    line: str = ""
    deleted: list[str] = field(default_factory=list)
    visible: list[str] = field(default_factory=list)
    waited_seconds: float = 0.0


class Editor:
    """A person who saves all the time, each time in another way."""

    def __init__(self, path: Path, seed: int) -> None:
        self.path = path
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.mood = "mood: 0"

    def save(self, number: int) -> Save:
        done = Save(number, self.random.choice(EDITS), self.random.choice(STYLES))
        if done.style == "append":
            done.edit = "type"
        pause(self.random.uniform(0.02, 0.2))
        done.waited_seconds = self._load()
        pause(self.random.uniform(0, 0.15))
        self._edit(done)
        done.visible = facts_in(self.buffer)
        if done.style == "append":
            append_to(self.path, f"{done.line}\n")
        else:
            save(self.path, "".join(self.buffer), done.style)
        return done

    def _load(self) -> float:
        """Open the file; a person goes on only when what was saved before is there."""
        waited = wait_until(self._is_all_there, VISIBLE_SECONDS)
        return VISIBLE_SECONDS if waited is None else waited

    def _is_all_there(self) -> bool:
        self.buffer = read(self.path).splitlines(keepends=True)
        there = {line.rstrip("\n") for line in self.buffer}
        return {*self.lines, self.mood} <= there

    def _edit(self, done: Save) -> None:
        facts = [index for index, line in enumerate(self.buffer) if FACT.match(line)]
        if done.edit.startswith("delete") and len(facts) > 3:
            is_newest = "newest" in done.edit
            at = facts[-1] if is_newest else self.random.choice(facts[: len(facts) // 2])
            done.deleted = facts_in([self.buffer.pop(at)])
        if done.edit == "mood":
            done.line = f"mood: {done.number}"
            self.buffer = [
                f"{done.line}\n" if line.startswith("mood: ") else line for line in self.buffer
            ]
            self.mood = done.line
        elif done.edit != "delete":
            is_prose = done.edit == "prose"
            done.line = f"prose {done.number}" if is_prose else f"- typed {done.number}"
            if done.style != "append":
                self.buffer[2:2] = [f"{done.line}\n", "\n"]
            self.lines.append(done.line)


def edit(path: Path, saves: str, seed: str) -> None:
    editor = Editor(path, int(seed))
    wait_until(lambda: len(facts_in(read(path).splitlines())) > FIRST_FACTS, VISIBLE_SECONDS)
    for number in range(1, int(saves) + 1):
        say(asdict(editor.save(number)))


def keep(path: Path) -> None:
    store = MemoryStore(path, settings=PLENTY)
    say([memory.content for memory in store.get_all()])
    store.add("added by the keeper")
    say("ready")
    sys.stdin.read()


def show(path: Path) -> None:
    say([memory.content for memory in MemoryStore(path, settings=PLENTY).get_all()])


# What an editor does to a file


def read(path: Path) -> str:
    """Read the file as an editor does, which sees it again when it is half saved."""
    return path.read_bytes().decode(errors="replace")


def save(path: Path, text: str, style: str) -> None:
    if style == "rename":
        new = path.with_name(f"{path.name}~{os.getpid()}")
        new.write_text(text)
        new.replace(path)
    elif style == "in place":
        with path.open("wb", buffering=0) as file:
            half = len(text) // 2
            file.write(text[:half].encode())
            file.write(text[half:].encode())
    else:
        raise ValueError(style)


def append_to(path: Path, text: str) -> None:
    with path.open("ab", buffering=0) as file:
        file.write(text.encode())


def facts_in(lines: Iterable[str]) -> list[str]:
    return [found[1] for line in lines if (found := FACT.match(line))]


# What must be true when all is quiet


@dataclass(slots=True)
class EditorFigures:
    """What happened, and what was lost."""

    saves: dict[str, int]
    acknowledged: int
    brought_back: int
    longest_wait_seconds: float
    ambiguous: list[str]
    conflicts: int
    lost: list[str] = field(default_factory=list)
    altered: list[str] = field(default_factory=list)
    edits_lost: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    misled: list[str] = field(default_factory=list)

    @property
    def complaints(self) -> list[str]:
        return [
            *self.lost,
            *self.altered,
            *self.edits_lost,
            *self.undone,
            *self.doubled,
            *self.misled,
        ]


def settle(path: Path, seconds: float = VISIBLE_SECONDS) -> MemoryStore:
    """Wait until a store has nothing to mend."""
    store = MemoryStore(path, settings=PLENTY)
    store.init()
    quiet = wait_until(lambda: not store.needs_mending() and store.reconcile() == [], seconds)
    assert quiet is not None, "it is never quiet"
    return store


def judge(
    path: Path, acknowledged: Sequence[dict[str, str]], saves: Sequence[Save]
) -> EditorFigures:
    store = settle(path)
    order = {change.id: change.n for change in store.changes() if change.op == "add"}
    restored = [change for change in store.changes() if change.op == "restore"]
    person = {one: save for save in saves for one in save.deleted}
    ambiguous = {
        one
        for one, save in person.items()
        if _is_ambiguous(one, save, order) or _is_saved_again(one, save, saves, restored)
    }
    text = store.text()
    found = {memory.id: memory.content for memory in store.get_all()}
    figures = EditorFigures(
        saves={style: sum(save.style == style for save in saves) for style in STYLES},
        acknowledged=len(acknowledged),
        brought_back=len(restored),
        longest_wait_seconds=max(save.waited_seconds for save in saves),
        ambiguous=sorted(ambiguous & set(found)),
        conflicts=len(list(path.parent.glob(f"{path.name}.conflict-*"))),
    )
    _judge_facts(figures, acknowledged, found, person, ambiguous)
    _judge_edits(figures, text, saves)
    figures.doubled += _find_repeated(found.values()) + [one for one in found if "-" in one]
    return figures


def _is_saved_again(
    deleted: str, save: Save, saves: Sequence[Save], restored: Sequence[Change]
) -> bool:
    """Whether the editor itself saved a fact once more after having deleted it.

    A save that meets ours is taken in some milliseconds later. This editor opens the file faster
    than any person, sees the fact still there, and saves it again.
    """
    is_shown = any(deleted in later.visible for later in saves if later.number > save.number)
    return is_shown and all(change.id != deleted for change in restored)


def _is_ambiguous(deleted: str, save: Save, order: dict[str, int]) -> bool:
    """Whether a saved text shows nothing newer than a fact that was deleted from it."""
    newest = max((order.get(one, 0) for one in save.visible), default=0)
    return bool(save.line) and order.get(deleted, 0) > newest


def _judge_facts(
    figures: EditorFigures,
    acknowledged: Sequence[dict[str, str]],
    found: dict[str, str],
    person: dict[str, Save],
    ambiguous: set[str],
) -> None:
    last = {one["id"]: one for one in acknowledged if one["op"] != "missing"}
    figures.misled += [
        f"{one['content']} {one['id']} was said to be missing"
        for one in acknowledged
        if one["op"] == "missing" and one["id"] not in person
    ]
    for memory_id, done in last.items():
        present = found.get(memory_id)
        if memory_id in person:
            if present is not None and memory_id not in ambiguous:
                figures.undone.append(f"{memory_id} deleted in save {person[memory_id].number}")
        elif done["op"] == "delete":
            figures.undone += [f"{memory_id} deleted by its program"] if present else []
        elif present is None:
            figures.lost.append(f"{memory_id} {done['content']}")
        elif present != done["content"]:
            figures.altered.append(f"{memory_id} {present}, not {done['content']}")


def _judge_edits(figures: EditorFigures, text: str, saves: Sequence[Save]) -> None:
    lines = text.splitlines()
    moods = [save.line for save in saves if save.edit == "mood"] or ["mood: 0"]
    wanted = [save.line for save in saves if save.line and save.edit != "mood"]
    for line in [*wanted, moods[-1], "- typed before anybody came"]:
        if line not in lines:
            figures.edits_lost.append(line)
    figures.doubled += [line for line in wanted if lines.count(line) > 1]
    figures.doubled += _find_repeated(line for line in lines if line.startswith("mood:"))


def _find_repeated(texts: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    return [text for text in texts if text in seen or seen.add(text)]  # type: ignore[func-returns-value]


PROGRAMS: dict[str, Callable[..., None]] = {
    "append": append,
    "edit": edit,
    "keep": keep,
    "show": show,
}


def main() -> None:
    program, path, *arguments = sys.argv[1:]
    PROGRAMS[program](Path(path), *arguments)


if __name__ == "__main__":
    main()
