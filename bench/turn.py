"""What a turn costs besides the model: before it, against one raw FTS5 query, and after it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from functools import partial
from io import FileIO
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from bench import corpus, samples
from bench.indexes import PlainTermTable, expression
from bench.memory import fill_memory
from bench.samples import SampleExchange
from bench.scale import Scale
from bench.timing import Batch, TimingRow, Work, compare
from turnleaf import Assistant, Message, Settings
from turnleaf.core.model_dialogue import Event, Prompt, Text, Toolbox
from turnleaf.core.search.passages import Passage
from turnleaf.errors import ModelError
from turnleaf.settings import find_data_folder
from turnleaf.store.files.config import ConfigFile
from turnleaf.store.files.conversations.store import ConversationStore
from turnleaf.store.files.sources import Files

HALF_CHINESE = ("English", "Chinese")
CONVERSATIONS = 10
KEY = samples.key(0)
NOW = datetime.combine(corpus.LAST_DAY, time(12)).astimezone()
NEVER = 1_000_000  # messages to wait for before learning, which another thread would do meanwhile
MESSAGES = 100
TURNS = 5
HITS = 100
"""How many passages a turn looks at."""


class ModelReached(ModelError):
    """The model was called, and that is enough."""


@dataclass
class Mouth:
    """A model that says what it is set to; otherwise the turn ends where it is called."""

    name: str = "mouth"
    answer: str = ""
    prompts: list[Prompt] = field(default_factory=list)
    """The last one only."""

    def stream(self, prompt: Prompt, _tools: Toolbox | None = None) -> Iterator[Event]:
        """Answer in one piece."""
        self.prompts[:] = [prompt]
        if not self.answer:
            raise ModelReached
        return iter([Text(self.answer)])

    def generate_json(self, _system: str, _text: str, _schema: Mapping[str, Any]) -> str:
        """Find no facts."""
        return '{"facts": []}'


class RawContext(PlainTermTable):
    """Raw FTS5, asked for as many passages as a prompt takes."""

    def best(self, expression: str) -> list[tuple[object, ...]]:
        """Select what fits best."""
        return self._database.execute(
            f"SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT {HITS}",  # noqa: S608 - of a constant
            (expression,),
        ).fetchall()


@dataclass(frozen=True, slots=True)
class OngoingConversation:
    """An assistant in the middle of a conversation, and its model."""

    assistant: Assistant
    model: Mouth

    def enter(self, question: str) -> None:
        """Go through a turn until the model is called."""
        self.model.answer = ""
        with suppress(ModelReached):
            list(self.assistant.stream(KEY, question))

    def prompt(self, question: str) -> Prompt:
        """Return what the model is asked."""
        self.enter(question)
        return self.model.prompts[0]

    def answer(self, one: SampleExchange) -> Iterator[object]:
        """Go through a turn until the model has answered; what follows keeps it."""
        self.model.answer = one.answer
        events = self.assistant.stream(KEY, one.question)
        next(events), next(events)
        return events

    def learn(self) -> None:
        """Empty the learning queue, as after learning."""
        waiting = self.assistant.learning.claim(KEY)
        if waiting:
            self.assistant.learning.complete(waiting, [])


def rows(folder: Path, scale: Scale) -> Iterator[TimingRow]:
    """Measure with few passages and with many; what is kept does not depend on them."""
    for count in (scale.passages[0], scale.passages[-1]):
        with remembering(folder, count, scale.facts) as (talk, raw):
            for kind, asked in questions().items():
                yield _before(scale, f"{kind}, {count:,} passages", asked, talk, raw)
            yield _after_answer(scale, count, talk, raw)
    yield _measure_keeping(folder, scale)


def questions() -> dict[str, list[str]]:
    """Return questions about common and rare things."""
    asked, kinds = corpus.queries(), len(corpus.ASKED)
    by_kind = {kind: asked[place::kinds] for place, kind in enumerate(corpus.ASKED)}
    things, things_zh = by_kind["an English word"], by_kind["a Chinese word"]
    return {
        "English question": by_kind["a question in English"],
        "Chinese question": by_kind["a question in Chinese"],
        "English one about last week": [
            f"What did I note last week about the {thing}?" for thing in things
        ],
        "Chinese one about last week": [f"上週關於{thing}我記了什麼？" for thing in things_zh],
    }


@contextmanager
def remembering(
    folder: Path, count: int, facts: int
) -> Iterator[tuple[OngoingConversation, PlainTermTable]]:
    """Fill an assistant, half with daily logs and half with conversations, and a yardstick."""
    with TemporaryDirectory(dir=folder) as name, ExitStack() as stack:
        place = find_data_folder(name)
        corpus.write_days(place.daily, count // 2, HALF_CHINESE)
        talk = stack.enter_context(talking(place.path, facts))
        said = _fill_conversations(
            ConversationStore(place.conversations(Settings())), count - count // 2
        )
        added = talk.assistant.index.sync()
        if added < count + facts:
            message = f"{added} passages were taken in, not {count + facts}"
            raise LookupError(message)
        raw = RawContext(place.path / "raw.sqlite")
        stack.callback(raw.close)
        raw.fill([*_passages([place.memory(Settings()), place.daily]), *said])
        yield talk, raw


@contextmanager
def talking(path: Path, facts: int) -> Iterator[OngoingConversation]:
    """Open an assistant that knows some facts and has conversations as long as they may be."""
    place = find_data_folder(path)
    ConfigFile(place.config).update({"embeddings": "off", "minNewMessages": NEVER})
    fill_memory(place.memory(Settings()), facts)
    model = Mouth()
    assistant = Assistant(place, model=model, now=lambda: NOW)
    random = Random(7)
    for number in range(CONVERSATIONS):
        said = [turn for one in samples.conversation(random) for turn in one.turns()]
        stamped = [replace(turn, timestamp=NOW) for turn in said]
        assistant.conversations.add_messages(samples.key(number), stamped)
    try:
        yield OngoingConversation(assistant, model)
    finally:
        assistant.close(flush=False)


def _before(
    scale: Scale, title: str, asked: Sequence[str], talk: OngoingConversation, raw: PlainTermTable
) -> TimingRow:
    _check([talk.prompt(question) for question in asked], scale.facts)
    ours: list[Work] = [partial(talk.enter, question) for question in asked]
    yardstick: list[Work] = [partial(raw.best, expression(question)) for question in asked]
    costs = compare(lambda: ours, lambda: yardstick, scale.rounds)
    return TimingRow(f"before the model, {title}, against raw FTS5", *costs)


def _after_answer(
    scale: Scale, count: int, talk: OngoingConversation, raw: PlainTermTable
) -> TimingRow:
    """Ask the next question of a conversation: the index must take in the turn before it."""
    random = Random(5)
    question = questions()["English question"][0]

    def ours() -> list[Work]:
        deque(talk.answer(samples.exchange(random)), maxlen=0)
        return [partial(talk.enter, question)]

    yardstick: list[Work] = [partial(raw.best, expression(question))]
    costs = compare(ours, lambda: yardstick, scale.rounds)
    return TimingRow(
        f"before the model, just answered, {count:,} passages, against raw FTS5", *costs
    )


def _measure_keeping(folder: Path, scale: Scale) -> TimingRow:
    with (
        TemporaryDirectory(dir=folder) as name,
        talking(Path(name), scale.facts) as talk,
        FileIO(f"{name}/appended", "a") as file,
    ):
        costs = compare(_keeps(talk), _appends(file), scale.rounds)
    return TimingRow("turn kept, against two fsynced appends", *costs)


def _keeps(talk: OngoingConversation) -> Batch:
    random = Random(6)

    def batch() -> list[Work]:
        talk.learn()
        turns = [talk.answer(samples.exchange(random)) for _ in range(TURNS)]
        return [partial(deque[object], turn, maxlen=0) for turn in turns]

    return batch


def _appends(file: FileIO) -> Batch:
    random = Random(6)
    return lambda: [partial(_append, file, samples.exchange(random)) for _ in range(TURNS)]


def _append(file: FileIO, one: SampleExchange) -> None:
    for text in (one.question, one.answer):
        file.write(f"{text}\n".encode())
        os.fsync(file.fileno())


def _fill_conversations(store: ConversationStore, count: int) -> list[Passage]:
    """Write to two conversations on each day; return the messages."""
    said = islice(corpus.notes(Random(4), HALF_CHINESE), count)
    passages = []
    for number in range(-(-count // MESSAGES)):
        moment = NOW - timedelta(hours=12 * number)
        messages = [
            Message(("user", "assistant")[place % 2], text, moment + timedelta(seconds=place))
            for place, text in enumerate(islice(said, MESSAGES))
        ]
        store.take_over(samples.key(CONVERSATIONS + number), messages)
        passages += [Passage(one.text, 1, date=moment.date().isoformat()) for one in messages]
    return passages


def _passages(roots: Iterable[Path]) -> Iterator[Passage]:
    for source in map(Files, roots):
        for path in map(Path, source.paths()):
            yield from source.cut(path, path.read_bytes())[1]


def _check(prompts: Sequence[Prompt], facts: int) -> None:
    """Refuse to measure turns that have not everything in their prompts."""
    has_facts = all(prompt.system.count("\n- ") == facts for prompt in prompts)
    # A turn that ends where the model is called leaves its question without an answer.
    has_history = all(len(one.messages) > samples.EXCHANGES for one in prompts)
    if not (has_facts and has_history and any(prompt.found for prompt in prompts)):
        message = f"{prompts[0].question!r} was asked without facts, history or passages"
        raise LookupError(message)
