"""Whether the messages that hold an answer are found, and are in the prompt.

`python -m bench.evidence FILE`, with `--database` also in PostgreSQL, side by side.

The file holds dialogues with questions: {"scopes": [{"docs": [{"id", "text", "parent", "date"}],
"queries": [{"text", "gold": [ids]}]}]}. Each dialogue is recorded with a moving clock, one
conversation for each session, and each question is asked a day later in a new one. R@5 and R@10
are the shares of those messages among the first of a search, as people get it.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sqlite3
import statistics
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias
from uuid import uuid4

from tests.postgres import PostgresServer
from turnleaf import Assistant, Message
from turnleaf.core.search.terms import is_stop_word
from turnleaf.core.tokens import estimate
from turnleaf.store.contracts import Stores

Scope: TypeAlias = dict[str, Any]

NOTHING = "Sorry, I do not know that."
GREETINGS = (
    *("hi", "Hello there!", "good morning", "Hey, how are you?", "thanks!", "Thank you so much"),
    *("Thanks, that helps a lot.", "ok great", "good night", "see you tomorrow", "yes please"),
    *("你好", "早安", "謝謝你，很有幫助", "好的，謝謝", "晚安", "再見", "哈哈", "在嗎？", "沒問題"),
)
LONG_CHARS = 3000
MOST_TRIES = 5
FIRST = (5, 10)
UNDATED = datetime(2026, 1, 1, tzinfo=UTC)
SEEN_CHARS = 560
"""As much of a message must be in the prompt."""
BM25_CHARS = 8000
HALVES = ("even", "odd")
"""Settings are chosen with the questions at even places, and reported with those at odd ones."""
STEP = timedelta(seconds=30)
DATES = (
    "%I:%M %p on %d %B, %Y",
    "%d.%m.%Y, %H:%M:%S",
    "%Y-%m-%dT%H:%M:%S",
    "%Y-%m-%d %H:%M:%S",
    "%Y-%m-%d",
)
_SIGNS = re.compile(r"[\W_]+")
_WORD = re.compile(r"\w+")
_SENTENCE = re.compile(r"[^.!?\n]{1,300}[.!?]*")


@dataclass(slots=True)
class EvidenceRow:
    """What was measured in one way."""

    name: str
    shares: list[float] = field(default_factory=list)
    context: list[int] = field(default_factory=list)
    prompt: list[int] = field(default_factory=list)
    found: list[tuple[float, float]] = field(default_factory=list)

    def add_found(self, numbers: Sequence[str | None], gold: Sequence[str]) -> None:
        """Count how many of the messages that hold the answer a search has among its first."""
        first, second = (len({*gold} & {*numbers[:most]}) / len({*gold}) for most in FIRST)
        self.found.append((first, second))

    @property
    def recall(self) -> str:
        """R@5 and R@10."""
        means = (100 * statistics.mean(column) for column in zip(*self.found, strict=True))
        return ", ".join(f"{one:.1f}" for one in means) + " %" if self.found else "–"

    def add(self, text: str, gold: Sequence[str], context: int, prompt: int) -> None:
        """Count how many of the messages that hold the answer stand in a text."""
        seen = squeeze(text)
        held = [squeeze(one[:SEEN_CHARS]) in seen for one in gold]
        self.shares.append(sum(held) / len(held))
        self.context.append(context)
        self.prompt.append(prompt)

    def __str__(self) -> str:
        if not self.shares:
            return f"| {self.name} | – | – | – | – | – | 0 |"
        every = statistics.mean(share == 1.0 for share in self.shares)
        return (
            f"| {self.name} | {self.recall} "
            f"| {100 * statistics.mean(self.shares):.1f} % | {100 * every:.1f} % "
            f"| {statistics.mean(self.context):,.0f} | {statistics.mean(self.prompt):,.0f} "
            f"| {len(self.shares):,} |"
        )


@dataclass(frozen=True, slots=True)
class Way:
    """How a dialogue is recorded and its questions asked."""

    name: str
    is_one: bool = False
    """Whether all sessions are one conversation, which goes on with the question."""
    is_asked_before: bool = False
    is_long: bool = False
    is_varied: bool = False
    """Whether long messages are filled with paragraphs of which none stands in two of them."""
    settings: dict[str, str] = field(default_factory=dict)
    database: str | None = None
    """The address of a database to record into instead of a folder."""


@dataclass(frozen=True, slots=True)
class QuestionSample:
    """Which questions of each dialogue are asked."""

    per: int
    half: str | None = None

    def choose(self, scope: Scope) -> list[dict[str, Any]]:
        """Choose some questions that have an answer, always the same."""
        first, step = (HALVES.index(self.half), 2) if self.half else (0, 1)
        asked = [one for one in scope["queries"][first::step] if one["gold"]]
        return random.Random(11).sample(asked, min(self.per, len(asked)))


OWN = "own"
NO_LEARNING = {"MEMORY_AUTO_EXTRACT": "off"}
DEFAULTS = Way("defaults, asked the next day")
WINDOW = Way(
    "window only, all in one conversation", is_one=True, settings={"CONTEXT_MAX_TOKENS": "0"}
)
WORDS = Way("by words, before any vector is made", settings={"EMBEDDINGS": "off"})
ASKED = Way("each question asked a day earlier, nothing found", is_asked_before=True)
LONG = Way(f"messages of {LONG_CHARS:,} characters", is_long=True)
VARIED = Way(f"{LONG.name}, no paragraph twice", is_long=True, is_varied=True)


class Asking:
    """A fresh data folder or space with one dialogue in it, to be asked a day later."""

    def __init__(
        self, place: Path | str, scope: Scope, way: Way, filler: Sequence[str], space: str | None
    ) -> None:
        self._clock = read_date(scope["docs"][0]["date"])
        self._paragraphs = mix(filler) if way.is_varied else None
        self._way = way
        stores = Stores.open(place, space=space, now=lambda: self._clock)
        self.assistant = Assistant(stores, now=lambda: self._clock)
        self.assistant.init()
        self.texts = {one["id"]: one["text"] for one in scope["docs"]}
        self._names: dict[int, str] = {}
        self._record(scope["docs"], filler)

    def _record(self, docs: Sequence[dict[str, str]], filler: Sequence[str]) -> None:
        first = docs[0]["text"].split(":")[0]
        sessions: dict[str, list[dict[str, str]]] = {}
        for one in docs:
            sessions.setdefault(one["parent"], []).append(one)
        for name, said in sessions.items():
            self._clock = max(self._clock, read_date(said[0]["date"]))
            messages = [self._message(one["text"], first, filler) for one in said]
            key = "all" if self._way.is_one else name
            for start in range(0, len(messages), 2):
                self.assistant.record(f"cli:session-{key}", messages[start : start + 2])
            stored = self.assistant.conversations.messages(f"cli:session-{key}", limit=len(said))
            self._names |= {one.id: doc["id"] for one, doc in zip(stored, said, strict=True)}
        self.assistant.flush()
        self._clock += timedelta(days=1)

    def _message(self, text: str, first: str, filler: Sequence[str]) -> Message:
        self._clock += STEP
        role = "user" if text.startswith(f"{first}:") else "assistant"
        return Message(role, self._lengthen(text, filler), self._clock)

    def _lengthen(self, text: str, filler: Sequence[str]) -> str:
        if self._paragraphs is not None:
            return surround(text, self._paragraphs, random.Random(text))
        return pad(text, filler) if self._way.is_long else text

    def ask_before(self, questions: Iterable[dict[str, Any]]) -> None:
        """Ask each question, in a conversation of its own, and find nothing."""
        for number, one in enumerate(questions):
            asked = Message("user", one["text"], self._clock)
            answer = Message("assistant", NOTHING, self._clock + STEP)
            self.assistant.record(f"cli:session-asked-{number}", [asked, answer])
        self.assistant.flush()
        self._clock += timedelta(days=1)

    def search(self, question: str) -> list[str | None]:
        """Return what a search finds, by its name in the file; None for what is not of it."""
        hits = self.assistant.index.search(question, FIRST[-1])
        return [None if one.message is None else self._names.get(one.message) for one in hits]

    def ask(self, question: str) -> tuple[str, int, int]:
        """Return the prompt that would be sent, the tokens of its past context, and all of them."""
        key = "cli:session-all" if self._way.is_one else "cli:session-new"
        made = self.assistant.preview(key, question)
        sections = {one.name: one.tokens for one in made.explanation.sections}
        whole = "\n".join([made.prompt.system, *(one.text for one in made.prompt.messages)])
        context = sections.get("Relevant Past Context", 0)
        return whole, context, sum(sections.values())


def main() -> None:
    """Measure one file, and print a table."""
    options = read_options()
    scopes = json.loads(options.file.read_text(encoding="utf-8"))["scopes"][: options.scopes]
    sample = QuestionSample(options.per, options.half)
    with find_database(options) as address:
        ways = [replace(one, settings=one.settings | options.settings)
                for one in choose_ways(options, address)]  # fmt: skip
        rows = [measure(way, scopes, sample) for way in ways]
    if not options.window_only and not address:
        tokens = round(statistics.mean(rows[0].context)) if rows[0].context else 0
        rows += [measure_bm25(scopes, sample, tokens), measure_bm25(scopes, sample, None)]
    print("| | R@5, R@10 | evidence | all of it | tokens of past context | prompt | questions |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(row)
    if options.unanswerable:
        others = json.loads(options.unanswerable.read_text(encoding="utf-8"))["scopes"]
        print(f"\n{measure_unanswerable(scopes, others, sample)}")


def choose_ways(options: argparse.Namespace, address: str | None) -> list[Way]:
    """Return what to measure; in a database, what a search is needed for, and as much in files."""
    if address:
        return [replace(way, database=one) for way in (DEFAULTS, WORDS) for one in (None, address)]
    ways = [WINDOW] if options.window_only else [DEFAULTS, WORDS, WINDOW]
    return ways + [ASKED] * options.asked_before + [LONG, VARIED] * options.long


@contextmanager
def find_database(options: argparse.Namespace) -> Iterator[str | None]:
    """Yield the address of the chosen database, starting one here if none was named."""
    if options.database != OWN:
        yield options.database
        return
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        server = PostgresServer(Path(folder) / "pg")
        server.start()
        try:
            yield server.make_database("bench")
        finally:
            server.remove()


def read_options() -> argparse.Namespace:
    """Read what is to be measured."""
    parser = argparse.ArgumentParser(prog="python -m bench.evidence", description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--per", type=int, default=45, help="questions of each dialogue")
    parser.add_argument("--half", choices=HALVES, help="questions at even or odd places only")
    parser.add_argument("--scopes", type=int, default=None, help="dialogues")
    parser.add_argument("--asked-before", action="store_true", help=ASKED.name)
    parser.add_argument(
        "--database", nargs="?", const=OWN, metavar="ADDRESS",
        help="compare files with PostgreSQL; without an address with one that is started for it",
    )  # fmt: skip
    parser.add_argument(
        "--no-learning", dest="settings", action="store_const", const=NO_LEARNING, default={},
        help="learn no facts, which takes long in large files",
    )  # fmt: skip
    parser.add_argument("--long", action="store_true", help=LONG.name)
    parser.add_argument("--window-only", action="store_true", help="only what the window holds")
    parser.add_argument(
        "--unanswerable", type=Path, metavar="FILE", help="greetings, and questions of this file"
    )
    return parser.parse_args()


def measure(way: Way, scopes: Sequence[Scope], sample: QuestionSample) -> EvidenceRow:
    """Record each dialogue in one way, and ask its questions."""
    row = EvidenceRow(f"{way.name}, PostgreSQL" if way.database else way.name)
    for number, scope in enumerate(scopes):
        questions = sample.choose(scope)
        others = leave_out(scopes, number) if way.is_varied else [scopes[number - 1]]
        filler = [one["text"] for other in others for one in other["docs"]]
        with record_dialogue(scope, way, filler) as asking:
            if way.is_asked_before:
                asking.ask_before(questions)
            asking.assistant.index.embed()
            for one in questions:
                gold = [asking.texts[name] for name in one["gold"]]
                if not way.is_one:
                    row.add_found(asking.search(one["text"]), one["gold"])
                whole, context, prompt = asking.ask(one["text"])
                row.add(whole, gold, context, prompt)
    return row


def measure_bm25(
    scopes: Sequence[Scope], sample: QuestionSample, tokens: int | None
) -> EvidenceRow:
    """Do the same with nothing but the best matches of FTS5, as many as have room."""
    size = f"{tokens:,} tokens" if tokens is not None else f"{BM25_CHARS:,} characters"
    row = EvidenceRow(f"BM25 alone, {size}")
    for scope in scopes:
        texts = {one["id"]: one["text"] for one in scope["docs"]}
        database = sqlite3.connect(":memory:")
        database.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='porter unicode61')")
        database.executemany("INSERT INTO words VALUES (?)", [(text,) for text in texts.values()])
        for one in sample.choose(scope):
            found = match(database, one["text"])
            shown = take_within(found, tokens) if tokens is not None else chars_within(found)
            gold = [texts[name] for name in one["gold"]]
            row.add("\n".join(shown), gold, sum(map(estimate, shown)), 0)
        database.close()
    return row


def measure_unanswerable(
    scopes: Sequence[Scope], others: Sequence[Scope], sample: QuestionSample
) -> str:
    """Ask what nothing answers, and return how much past context that takes."""
    tokens: list[int] = []
    for number, scope in enumerate(scopes):
        asked = [one["text"] for one in sample.choose(others[number % len(others)])]
        with record_dialogue(scope, DEFAULTS, ()) as asking:
            asking.assistant.index.embed()
            tokens += [asking.ask(text)[1] for text in (*asked, *GREETINGS)]
    none = statistics.mean(one == 0 for one in tokens)
    return (
        f"Unanswerable: {statistics.mean(tokens):,.0f} tokens of past context on average, "
        f"none for {100 * none:.1f} % of {len(tokens):,} messages."
    )


@contextmanager
def record_dialogue(scope: Scope, way: Way, filler: Sequence[str]) -> Iterator[Asking]:
    """Record a dialogue into a folder that is removed afterwards."""
    kept = {name: os.environ.get(name) for name in way.settings}
    os.environ |= way.settings
    try:
        with TemporaryDirectory() as folder:
            space = uuid4().hex if way.database else None
            asking = Asking(way.database or Path(folder), scope, way, filler, space)
            yield asking
            asking.assistant.close()
    finally:
        for name, value in kept.items():
            os.environ.pop(name)
            os.environ |= {} if value is None else {name: value}


def match(database: sqlite3.Connection, question: str) -> list[str]:
    """Return all texts that hold a telling word of the question, best first."""
    words = [word for word in _WORD.findall(question) if not is_stop_word(word.lower())]
    expression = " OR ".join(f'"{word}"' for word in words) or '""'
    rows = database.execute(
        "SELECT text FROM words WHERE words MATCH ? ORDER BY rank", (expression,)
    )
    return [text for (text,) in rows]


def take_within(texts: Iterable[str], tokens: int) -> list[str]:
    """Return the first texts that have room."""
    shown: list[str] = []
    for text in texts:
        tokens -= estimate(text)
        if tokens < 0:
            break
        shown.append(text)
    return shown


def chars_within(texts: Iterable[str]) -> list[str]:
    """Return the first texts, as many characters as BM25 is given elsewhere."""
    joined, shown = 0, []
    for text in texts:
        joined += len(text)
        if joined > BM25_CHARS:
            break
        shown.append(text)
    return shown


def pad(text: str, filler: Sequence[str]) -> str:
    """Put a text among paragraphs of others, so that all is as long as long messages are."""
    chance = random.Random(text)
    paragraphs: list[str] = []
    size = len(text)
    for one in chance.sample(filler, len(filler)):
        if size + len(one) > LONG_CHARS:
            break
        size += len(one) + 2
        paragraphs.append(one.partition(": ")[2] or one)
    return surround(text, paragraphs, chance)


def surround(text: str, paragraphs: Iterable[str], chance: random.Random) -> str:
    """Put a text among as many of some paragraphs as a long message has room for."""
    before: list[str] = []
    after: list[str] = []
    size = len(text)
    for one in paragraphs:
        if size + len(one) > LONG_CHARS:
            break
        size += len(one) + 2
        (before if chance.random() < 1 / 2 else after).append(one)
    return "\n\n".join([*before, text, *after])


def mix(texts: Sequence[str]) -> Iterator[str]:
    """Yield paragraphs of one to three sentences of some texts, none twice while there are more."""
    chance = random.Random(11)
    said = [one.partition(": ")[2] or one for one in texts]
    sentences = [one.strip() for text in said for one in _SENTENCE.findall(text)]
    given: set[str] = set()
    while True:
        tries = (chance.choices(sentences, k=chance.randint(1, 3)) for _ in range(MOST_TRIES))
        paragraphs = [" ".join(several) for several in tries]
        paragraph = next((one for one in paragraphs if one not in given), paragraphs[0])
        given.add(paragraph)
        yield paragraph


def leave_out(scopes: Sequence[Scope], number: int) -> list[Scope]:
    """Return all dialogues but one, or that one if there is no other."""
    return [*scopes[:number], *scopes[number + 1 :]] or [*scopes]


def squeeze(text: str) -> str:
    """Return a text without signs, spaces and capitals."""
    return _SIGNS.sub("", text).lower()


def read_date(text: str) -> datetime:
    """Read a date in any of the notations that such files have; some have none."""
    if not text:
        return UNDATED
    for notation in DATES:
        try:
            return datetime.strptime(text, notation).replace(tzinfo=UTC)
        except ValueError:
            continue
    message = f"{text!r} is no date that is known here"
    raise ValueError(message)


if __name__ == "__main__":
    main()
