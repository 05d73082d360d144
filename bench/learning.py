"""How much and how correctly the rules learn without a model: `python -m bench.learning`.

The messages are those of tests/data, written by somebody who had not seen the rules.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from turnleaf.core.learning.findings import Finding, find_facts, find_sure_facts
from turnleaf.core.learning.reconciling import Verdict, correct, judge
from turnleaf.core.learning.slots import Correction
from turnleaf.core.memories import Memory

DATA = Path(__file__).parents[1] / "tests" / "data"
LANGUAGES = ("all", "en", "zh-Hant", "mixed")
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
CHANGES = ("replaces", "ends")

Case: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ExtractionScore:
    """What was taken from some messages; a fact is right when it rests on marked words."""

    messages: int
    facts: int
    found: int
    candidates: int
    right: int
    empty: int
    """Messages with nothing to keep."""
    disturbed: int
    """Those of them from which something was taken."""

    @property
    def precision(self) -> float:
        """The share of the candidates that are right."""
        return self.right / max(self.candidates, 1)

    @property
    def recall(self) -> float:
        """The share of the facts that are found."""
        return self.found / max(self.facts, 1)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-9)

    @property
    def taken_from_nothing(self) -> float:
        """The share of the messages with nothing to keep from which something was taken."""
        return self.disturbed / max(self.empty, 1)


@dataclass(frozen=True, slots=True)
class Reconciliation:
    """How some messages were judged beside what was known."""

    cases: int
    read: int
    """Those in whose message the rules find a fact, so that there is something to judge."""
    right: int
    wrongly_replaced: int
    """Those in which a fact was superseded that should have stayed."""

    @property
    def accuracy(self) -> float:
        """The share of the cases read that were judged correctly."""
        return self.right / max(self.read, 1)


def main() -> None:
    """Print a table of the extraction, and one of the reconciliation."""
    print("| extraction | messages | facts | precision | recall | F1 | taken from nothing |")
    print(f"|---|{'---:|' * 6}")
    for language, messages in by_language(read("extraction.json", "messages")):
        print(f"| {language} | {' | '.join(_extraction_cells(extraction(messages)))} |")
    print("\n| reconciliation | cases | read | accuracy | of all cases | wrongly replaced |")
    print(f"|---|{'---:|' * 5}")
    for language, cases in by_language(read("reconciliation.json", "cases")):
        print(f"| {language} | {' | '.join(_reconciliation_cells(reconciliation(cases)))} |")


def read(name: str, key: str) -> list[Case]:
    """Return the cases of a set."""
    cases: list[Case] = json.loads((DATA / name).read_text("utf-8"))[key]
    return cases


def by_language(cases: Sequence[Case]) -> Iterator[tuple[str, list[Case]]]:
    """Return all cases, and those of each language that has any."""
    for language in LANGUAGES:
        chosen = [case for case in cases if language in ("all", case["language"])]
        if chosen:
            yield language, chosen


def extraction(messages: Sequence[Case]) -> ExtractionScore:
    """Count what the rules take from messages."""
    taken = [find_sure_facts(case["text"], LONG_AGO) for case in messages]
    pairs = [(found, case["facts"]) for found, case in zip(taken, messages, strict=True)]
    nothing = [found for found, facts in pairs if not facts]
    return ExtractionScore(
        messages=len(messages),
        facts=sum(len(facts) for _, facts in pairs),
        found=sum(any(_holds(one, fact) for one in had) for had, facts in pairs for fact in facts),
        candidates=sum(map(len, taken)),
        right=sum(any(_holds(one, fact) for fact in facts) for had, facts in pairs for one in had),
        empty=len(nothing),
        disturbed=sum(map(bool, nothing)),
    )


def reconciliation(cases: Sequence[Case]) -> Reconciliation:
    """Count what is judged correctly of messages beside what is known."""
    verdicts = [(case, _verdict(case)) for case in cases]
    wrong = [verdict for case, verdict in verdicts if verdict and not _is_right(case, verdict)]
    read_cases = sum(verdict is not None for _, verdict in verdicts)
    return Reconciliation(
        cases=len(cases),
        read=read_cases,
        right=read_cases - len(wrong),
        wrongly_replaced=sum(verdict.effect in CHANGES for verdict in wrong),
    )


def _holds(found: Finding, fact: Case) -> bool:
    """Whether a finding rests on the words that a reader marked, or on a part of them."""
    quote, marked = found.quote.strip(), fact["quote"].strip()
    return quote in marked or marked in quote


def _verdict(case: Case) -> Verdict | None:
    """Judge each fact of the message; one that changes something known counts before a new one."""
    known = [Memory(str(i), text, LONG_AGO, LONG_AGO) for i, text in enumerate(case["known"])]
    verdicts = [*_judge_all(case["said"], known)]
    changing = [verdict for verdict in verdicts if verdict.effect in CHANGES]
    new = [verdict for verdict in verdicts if verdict.effect == "new"]
    return next(iter([*changing, *new, *verdicts]), None)


def _judge_all(said: str, known: Sequence[Memory]) -> Iterator[Verdict]:
    for found in find_facts(said, LONG_AGO):
        if isinstance(found, Finding):
            yield judge(found.statement, known)
        elif isinstance(found, Correction) and (meant := correct(found, known, [])):
            yield Verdict("replaces", (meant[0],))


def _is_right(case: Case, verdict: Verdict) -> bool:
    target = int(verdict.targets[0].id) if verdict.targets else None
    effect = "supersedes" if verdict.effect in CHANGES else verdict.effect
    return (effect, target) == (case["expect"], case["target"])


def _extraction_cells(figures: ExtractionScore) -> list[str]:
    shares = (figures.precision, figures.recall, figures.f1, figures.taken_from_nothing)
    return [f"{figures.messages}", f"{figures.facts}", *(f"{share:.3f}" for share in shares)]


def _reconciliation_cells(figures: Reconciliation) -> list[str]:
    return [
        f"{figures.cases}",
        f"{figures.read}",
        f"{figures.accuracy:.3f}",
        f"{figures.right / figures.cases:.3f}",
        f"{figures.wrongly_replaced}",
    ]


if __name__ == "__main__":
    main()
