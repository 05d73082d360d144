"""Compare estimated with exact token counts: `python -m bench.token_error [FOLDER]`.

Of a JSON file every "text" and "content" is a text; any other file is one text. Without a folder,
the texts are the benchmarks' own sentences and the repository's own code and documentation.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles

from bench.samples import CHINESE, ENGLISH
from turnleaf.core.tokens import Count, estimate
from turnleaf.store import token_vocabulary

ROOT = Path(__file__).parents[1]
MESSAGE_CHARS = 100
KEYS = ("text", "content")
HEAD = ("", "texts", "tokens", "total", "5 %", "median", "95 %", "MB/s", "exact MB/s")

Kinds = Mapping[str, list[str]]


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """The counts of some texts, and how many megabytes a second that took."""

    counts: list[int]
    speed: float


def main() -> None:
    """Print a table of whole texts, and one of their beginnings, as short as messages."""
    parser = argparse.ArgumentParser(prog="python -m bench.token_error", description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER")
    folder = parser.parse_args().folder
    kinds = read_folder(folder) if folder else list_own_texts()
    print("estimate / exact; exact is:", token_vocabulary.describe())
    token_vocabulary.choose_counter()("")
    _print_table("whole texts", kinds)
    beginnings = {kind: [text[:MESSAGE_CHARS] for text in texts] for kind, texts in kinds.items()}
    _print_table(f"their first {MESSAGE_CHARS} characters", beginnings)


def list_own_texts() -> dict[str, list[str]]:
    """Return the texts that the repository has."""
    return {
        "English": list(ENGLISH),
        "Chinese": list(CHINESE),
        "mixed": [f"{one} {other}" for one, other in zip(ENGLISH, CHINESE, strict=True)],
        "code": [path.read_text("utf-8") for path in sorted(ROOT.glob("src/**/*.py"))],
        "Markdown": [path.read_text("utf-8") for path in _pages()],
    }


def _pages() -> list[Path]:
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def read_folder(folder: Path) -> dict[str, list[str]]:
    """Read each file, and each folder of files, as one kind of text."""
    return {path.name: list(_list_texts_below(path)) for path in sorted(folder.iterdir())}


def _list_texts_below(path: Path) -> Iterator[str]:
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.is_file())
    for file in files:
        text = file.read_text("utf-8", errors="replace")
        yield from _list_texts_in(json.loads(text)) if file.suffix == ".json" else [text]


def _list_texts_in(value: object) -> Iterator[str]:
    if isinstance(value, list):
        for each in value:
            yield from _list_texts_in(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from [each] if key in KEYS and isinstance(each, str) else _list_texts_in(each)


def _print_table(title: str, kinds: Kinds) -> None:
    print(f"\n| {title} | {' | '.join(HEAD[1:])} |")
    print(f"|---|{'---:|' * (len(HEAD) - 1)}")
    for kind, texts in kinds.items():
        wanted = [text for text in texts if text]
        if wanted:
            print(f"| {kind} | {' | '.join(_figures(wanted))} |")


def _figures(texts: list[str]) -> list[str]:
    ours, exact = _count(texts, estimate), _count(texts, token_vocabulary.choose_counter())
    ratios = [one / other for one, other in zip(ours.counts, exact.counts, strict=True)]
    low, middle, high = _percentiles(ratios)
    total = sum(ours.counts) / sum(exact.counts)
    return [
        f"{len(texts):,}",
        f"{sum(exact.counts):,}",
        *(f"{ratio:.2f}" for ratio in (total, low, middle, high)),
        *(f"{counted.speed:.1f}" for counted in (ours, exact)),
    ]


def _percentiles(ratios: list[float]) -> tuple[float, float, float]:
    if len(ratios) == 1:
        return ratios[0], ratios[0], ratios[0]
    cuts = quantiles(ratios, n=20, method="inclusive")
    return cuts[0], cuts[9], cuts[18]


def _count(texts: list[str], count: Count) -> TokenCounts:
    since = time.process_time()
    counts = [count(text) for text in texts]
    seconds = max(time.process_time() - since, 1e-9)
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return TokenCounts(counts, size / seconds / 1e6)


if __name__ == "__main__":
    main()
