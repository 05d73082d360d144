"""What a worker writes and what may be found afterwards: both follow from a few numbers."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Verb = Literal["add", "update", "delete", "clear"]
Allowed = dict[str, set[str | None]]

ROUNDS: dict[str, tuple[Verb, ...]] = {
    "conversations": ("add", "add", "add", "add", "clear", "add"),
    "whole": ("add", "add", "add", "add", "clear", "add"),
    "memories": ("add", "add", "update", "add", "delete"),
    "moves": ("add", "add", "update", "add", "delete"),
    "daily": ("add",),
    "takeover": ("add",),
    "sample": ("add",),
}
ROOM = 20
FILLINGS = (
    "plain",
    "a < b && R&D - not a list",
    "使用者每天早上喝咖啡，不喜歡香菜",
    "first line\nsecond line\n\n- looks like a bullet\n# looks like a heading",
    "<!-- turnleaf id=nobody --> `code` *stars* \\ backslash",
    '"quotes" and \ttabs and trailing spaces  x',
    "x" * 5000,
)
AS_IT_IS = tuple(filling for filling in FILLINGS if "\n" not in filling and "<!--" not in filling)


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One call of a store; `room` is the conversation, where there is one."""

    verb: Verb
    room: str
    key: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Writer:
    """One worker: two writers with equal fields write the same steps."""

    kind: str
    worker: int
    count: int
    seed: int = 0
    adds_only: bool = False

    @property
    def family(self) -> str:
        return self.kind.split("-", maxsplit=1)[0]

    def text(self, key: str, version: int) -> str:
        fillings = AS_IT_IS if self.family == "daily" else FILLINGS
        if self.adds_only:
            fillings = fillings[:2]
        chance = zlib.crc32(f"{self.seed} {key} {version}".encode())
        return f"{key} v{version} {fillings[chance % len(fillings)]}."

    def steps(self, most: int | None = None) -> list[PlanStep]:
        verbs = ("add",) if self.adds_only else ROUNDS[self.family]
        count = self.count if most is None else min(most, self.count)
        return [self._step(n, verbs[n % len(verbs)]) for n in range(count)]

    def _step(self, n: int, verb: Verb) -> PlanStep:
        room = f"own-{self.worker}" if n % 2 else "shared"
        if self.adds_only:
            room = f"room-{n // ROOM:04}"
        if verb == "clear":
            return PlanStep("clear", f"own-{self.worker}", "")
        if verb == "add":
            return PlanStep("add", room, self._key(n), self.text(self._key(n), 0))
        if verb == "update":
            return PlanStep("update", room, self._key(n - 1), self.text(self._key(n - 1), n))
        return PlanStep("delete", room, self._key(n - 4))

    def _key(self, n: int) -> str:
        return f"w{self.worker}k{n}"


def find_allowed(steps: Sequence[PlanStep], outcomes: Sequence[str]) -> Allowed:
    """Each key with the texts that may be found for it; None is "absent".

    A step that returned has happened. One that was refused, and the one under way when the
    worker died, may have happened or not. Nothing after it has.
    """
    states: Allowed = {step.key: {None} for step in steps if step.key}
    rooms = {step.key: step.room for step in steps if step.verb == "add"}
    for step, outcome in zip(steps, [*outcomes, "in flight"], strict=False):
        for key, text in _effects(step, rooms):
            if outcome == "ok":
                states[key] = {text}
            elif outcome != "skipped":
                states[key] = states[key] | {text}
    return states


def _effects(step: PlanStep, rooms: Mapping[str, str]) -> list[tuple[str, str | None]]:
    if step.verb == "clear":
        return [(key, None) for key, room in rooms.items() if room == step.room]
    return [(step.key, None if step.verb == "delete" else step.text)]


def judge(states: Allowed, found: Iterable[str], *, torn: bool = False) -> list[str]:
    """Return what is lost, doubled, altered or unexpected.

    With `torn`, the beginning of what was never acknowledged may be there.
    """
    complaints = []
    seen: dict[str, str] = {}
    for text in found:
        key = text.split(" ", maxsplit=1)[0]
        texts = states.get(key, set())
        is_torn = torn and None in texts and any((each or "").startswith(text) for each in texts)
        if key in seen:
            complaints.append(f"doubled: {text[:60]!r}")
        elif not texts:
            complaints.append(f"out of nowhere: {text[:60]!r}")
        elif text not in texts and not is_torn:
            complaints.append(f"altered: {text[:60]!r}, not {sorted(str(t)[:60] for t in texts)}")
        seen[key] = text
    lost = [key for key, texts in states.items() if None not in texts and key not in seen]
    return complaints + [f"lost: {key}" for key in lost]


def disorder(found: Iterable[str]) -> list[str]:
    """Return which of a worker's texts in one room are not in the order in which it wrote them."""
    last: dict[tuple[str, int], int] = {}
    complaints = []
    for text in found:
        worker, _, number = text.split(" ", maxsplit=1)[0].partition("k")
        if number.isdigit():
            place = worker, int(number) % 2
            if int(number) < last.get(place, -1):
                complaints.append(f"out of order: {text[:60]!r}")
            last[place] = int(number)
    return complaints
