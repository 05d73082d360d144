"""How correct the facts are that are learned without a model, on messages that nobody here wrote.

`python -m bench.facts draw FILE… --half odd --count 300` draws facts with messages, for readers
who judge them by rubric.md. `python -m bench.facts score DRAWN FIRST SECOND` counts what two of
them said. `python -m bench.facts recall FILE` counts the marked messages that give a fact.

FILE is in the form of an evaluation set with documents, or a list of messages (text, lang, source,
durable). The rules are chosen on even messages; figures come from odd ones.
"""

from __future__ import annotations

import argparse
import json
import math
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turnleaf.core.learning.findings import find_sure_facts

SAID_AT = datetime(2026, 1, 1, tzinfo=UTC)
HALVES = {"even": 0, "odd": 1}
VERDICTS = "KTWG"
TURNS = "turn"


@dataclass(frozen=True, slots=True)
class HeardMessage:
    """A message of a user, where it comes from, and whether a reader marked it as telling."""

    text: str
    language: str
    source: str
    is_marked: bool | None = None


def main() -> None:
    """Draw facts, score what was said of them, or count what is found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["draw", "score", "recall"])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--half", choices=[*HALVES, "all"], default="odd")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if given.command == "draw":
        for row in draw(given.files, given.half, given.count, given.seed):
            print(json.dumps(row, ensure_ascii=False))
    elif given.command == "score":
        print("\n".join(score(*map(read_lines, given.files))))
    else:
        print("\n".join(count_recall(given.files, given.half)))


def draw(paths: Iterable[Path], half: str, count: int, seed: int) -> list[dict[str, Any]]:
    """Return facts with their messages, as many of each language as the other, in any order."""
    found: dict[str, list[dict[str, Any]]] = {"en": [], "zh": []}
    for message in read_messages(paths, half):
        for fact in learn(message.text):
            row = {"source": message.source, "message": message.text, "fact": fact}
            found["en" if message.language == "en" else "zh"].append(row)
    chance = random.Random(seed)
    chosen = []
    for language, rows in found.items():
        some = chance.sample(rows, min(count // 2, len(rows)))
        chosen += [{"language": language, "of": len(rows), **row} for row in some]
    chance.shuffle(chosen)
    return [{"n": number, **row} for number, row in enumerate(chosen, 1)]


def learn(text: str) -> list[str]:
    """Return the facts that would be kept at once from a message."""
    return [found.content for found in find_sure_facts(text, SAID_AT)]


def read_messages(paths: Iterable[Path], half: str) -> Iterator[HeardMessage]:
    """Return the messages of users in some files, of one half."""
    for path in paths:
        data = json.loads(path.read_text("utf-8"))
        rows = _read_rows(data) if isinstance(data, list) else _read_documents(data, path.stem)
        for number, message in rows:
            if half == "all" or number % 2 == HALVES[half]:
                yield message


def count_recall(paths: Iterable[Path], half: str) -> list[str]:
    """Return what share of the marked messages gives a fact, by language."""
    lines = ["| language | marked | found | of the others |", "|---|---:|---:|---:|"]
    messages = [one for one in read_messages(paths, half) if one.is_marked is not None]
    for language in ("en", "zh"):
        told = [(one, bool(learn(one.text))) for one in messages if one.language == language]
        marked = [found for one, found in told if one.is_marked]
        others = [found for one, found in told if not one.is_marked]
        share = f"{100 * sum(marked) / max(1, len(marked)):.0f} %"
        lines.append(f"| {language} | {len(marked)} | {share} | {sum(others)} of {len(others)} |")
    return lines


def score(
    drawn: Sequence[dict[str, Any]],
    first: Sequence[dict[str, Any]],
    second: Sequence[dict[str, Any]],
) -> list[str]:
    """Return what two judges said, by language and source, with 95 % intervals."""
    said = [{one["n"]: one["verdict"] for one in judge} for judge in (first, second)]
    agreed = sum(said[0][row["n"]] == said[1][row["n"]] for row in drawn)
    lines = [f"agreement {100 * agreed / len(drawn):.0f} %, kappa {_kappa(drawn, said):.2f}", ""]
    lines += ["| | facts | keep | trivial | wrong | garbled |", "|---|---:|---:|---:|---:|---:|"]
    groups = {"all": list(drawn)}
    for row in drawn:
        groups.setdefault(row["language"], []).append(row)
        groups.setdefault(row["source"], []).append(row)
    for name, rows in groups.items():
        counts = Counter(judge[row["n"]] for row in rows for judge in said)
        shares = [_interval(counts[verdict] / 2, len(rows)) for verdict in VERDICTS]
        lines.append(f"| {name} | {len(rows)} | {' | '.join(shares)} |")
    return lines


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the records of a file that has one a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def _read_rows(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[int, HeardMessage]]:
    for row in rows:
        yield row["id"], HeardMessage(row["text"], row["lang"], row["source"], row["durable"])


def _read_documents(data: dict[str, Any], source: str) -> Iterator[tuple[int, HeardMessage]]:
    """Return what was said in a set of documents, each a message or a dialogue with a user."""
    language = "zh" if data["lang"].startswith("zh") else "en"
    documents = (one["text"] for scope in data["scopes"] for one in scope["docs"])
    told = filter(None, (_words_of_user(text, data["unit"]) for text in documents))
    for number, messages in enumerate(told, 1):
        yield from ((number, HeardMessage(text, language, source)) for text in messages)


def _words_of_user(text: str, unit: str) -> list[str]:
    if unit == TURNS:
        return [text.partition(": ")[2].partition(" [image")[0]]
    lines = text.splitlines()
    return [line.removeprefix("user: ") for line in lines if line.startswith("user: ")]


def _interval(count: float, total: int) -> str:
    """Return a share with its 95 % interval (Wilson)."""
    share, z = count / total, 1.96
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    spread = (
        z * math.sqrt(share * (1 - share) / total + z * z / (4 * total**2)) / (1 + z * z / total)
    )
    return f"{100 * share:.0f} % ({100 * (middle - spread):.0f}–{100 * (middle + spread):.0f})"


def _kappa(drawn: Sequence[dict[str, Any]], said: Sequence[dict[int, str]]) -> float:
    """Return how far two judges agree beyond chance (Cohen)."""
    total = len(drawn)
    agreed = sum(said[0][row["n"]] == said[1][row["n"]] for row in drawn) / total
    shares = [Counter(judge[row["n"]] for row in drawn) for judge in said]
    by_chance = sum(shares[0][one] * shares[1][one] for one in VERDICTS) / total**2
    return 1.0 if by_chance == 1 else (agreed - by_chance) / (1 - by_chance)


if __name__ == "__main__":
    main()
