"""A program that opens what a crash left, as the next start of a program would.

    python -m tests.torture.checker CASES.json

CASES.json is a list of `Case`s. It prints one JSON list of complaints for each; all empty is
what the tests want to see.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.torture.plan import Allowed, PlanStep, Writer, disorder, find_allowed, judge
from tests.torture.subjects import Subject, open_subject

ASIDE = re.compile(r"\.(corrupt|conflict)-")
MOST_FILES = 8
MOST_FILES_OF_TWO_PAGES = 10
HOUR_SECONDS = 3600
RESTARTER = 999999


@dataclass(frozen=True, slots=True)
class Case:
    """A folder, and who wrote there with which outcomes (the opening is not among them).

    `restarts` counts the times that it was checked before: each left a write of its own.
    `torn` says that what was not acknowledged may be there in part; `later`, that the restart
    comes an hour after the crash and not at once.
    """

    folder: str
    kind: str
    writers: list[tuple[Writer, list[str]]]
    restarts: int = 0
    torn: bool = False
    later: bool = False

    def find_allowed(self) -> Allowed:
        states: Allowed = {}
        for writer, outcomes in self.writers:
            states |= find_allowed(writer.steps(len(outcomes) + 1), outcomes)
        return states | {step.key: {step.text} for step in map(next_step, range(self.restarts))}

    @classmethod
    def load(cls, data: dict[str, object]) -> Case:
        pairs = data.pop("writers")
        assert isinstance(pairs, list)
        return cls(**data, writers=[(Writer(**fields), list(said)) for fields, said in pairs])  # type: ignore[arg-type]


def next_step(number: int) -> PlanStep:
    key = f"w{RESTARTER}k{number}"
    return PlanStep("add", "next", key, f"{key} v0 written after a restart.")


def save(cases: Sequence[Case], path: Path) -> None:
    path.write_text(json.dumps([asdict(case) for case in cases]))


def check(case: Case) -> list[str]:
    """Restart, read everything, write once more, read again."""
    folder = Path(case.folder)
    if case.later:
        _let_an_hour_pass(folder)
    try:
        subject = open_subject(case.kind, folder)
        complaints = [f"at restart: {each}" for each in _look(case, case.find_allowed(), subject)]
        complaints += [f"after the next write: {each}" for each in _next_write(case, subject)]
        subject.close()
    except Exception as error:
        return [f"restart failed: {type(error).__name__}: {error}"]
    return complaints + _litter(case.kind, folder)


def _let_an_hour_pass(folder: Path) -> None:
    for path in folder.rglob("*"):
        moment = path.lstat().st_mtime - HOUR_SECONDS
        os.utime(path, (moment, moment), follow_symlinks=False)


def _look(case: Case, states: Allowed, subject: Subject) -> list[str]:
    found = subject.list_texts()
    complaints = judge(states, found, torn=case.torn)
    if not case.kind.startswith(("memories", "moves")):
        complaints += disorder(found)
    return complaints + _find_unrecorded(states, subject)


def _find_unrecorded(states: Allowed, subject: Subject) -> list[str]:
    known = set(subject.list_recorded_keys())
    certain = [key for key, texts in states.items() if None not in texts]
    return [f"not in the record of changes: {key}" for key in certain if known and key not in known]


def _next_write(case: Case, subject: Subject) -> list[str]:
    step = next_step(case.restarts)
    subject.perform(step)
    return _look(case, case.find_allowed() | {step.key: {step.text}}, subject)


def _litter(kind: str, folder: Path) -> list[str]:
    most = MOST_FILES_OF_TWO_PAGES if kind.startswith("moves") else MOST_FILES
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    aside = [f"put aside: {name}" for name in names if ASIDE.search(name)]
    return aside + ([f"junk: {names}"] if len(names) > most else [])


def main() -> None:
    cases = json.loads(Path(sys.argv[1]).read_text())
    json.dump([check(Case.load(case)) for case in cases], sys.stdout)


if __name__ == "__main__":
    main()
