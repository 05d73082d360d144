"""One message and its answer: what is asked for is done, the prompt made, the exchange kept."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

from turnleaf.core import composer as composing
from turnleaf.core.composer import Document, Explanation, PromptComposer
from turnleaf.core.dialogue import Text, ToolResult, Usage
from turnleaf.core.extracting import MESSAGE_CHARS
from turnleaf.core.messages import Message
from turnleaf.core.times import to_iso, to_millisecond
from turnleaf.errors import ModelError, SettingsError
from turnleaf.looking import found
from turnleaf.obeying import Obeyed, obey, refusal
from turnleaf.store.learning import Queued
from turnleaf.store.limits import before_again
from turnleaf.tools import MemoryTools
from turnleaf.tools import Turn as ToolTurn

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from datetime import datetime

    from turnleaf.core.dialogue import Event, Model, Prompt
    from turnleaf.core.hits import Hit
    from turnleaf.core.memories import Memory
    from turnleaf.settings import DataFolder, Settings
    from turnleaf.store.conversations import ConversationStore
    from turnleaf.store.daily import DailyLog
    from turnleaf.store.index import Index
    from turnleaf.store.learning import LearningStore
    from turnleaf.store.memories import MemoryStore
    from turnleaf.store.pending import PendingStore

QUESTION_CHARS = 80


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, what was saved and removed at the user's request, and what shaped it."""

    text: str
    saved: tuple[Memory, ...] = ()
    removed: tuple[Memory, ...] = ()
    explanation: Explanation = field(default_factory=Explanation)
    usage: Usage | None = None

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Said:
    """What a user says in one turn.

    `history` is given where somebody else keeps the conversation, with the `instructions` of
    their assistant. With `is_again` it may be what was said last: then it replaces that exchange.
    """

    text: str
    documents: tuple[Document, ...] = ()
    history: Sequence[Message] | None = None
    instructions: str = ""
    is_again: bool = False


@dataclass(frozen=True, slots=True)
class Composed:
    """The beginning of a turn: what the model is told, and what went into it."""

    prompt: Prompt
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a turn: it is stored."""

    reply: Reply


class Host(Protocol):
    """All that a turn needs of the assistant whose turn it is."""

    folder: DataFolder
    memory: MemoryStore
    daily: DailyLog
    conversations: ConversationStore
    index: Index
    learning: LearningStore
    pending: PendingStore

    @property
    def settings(self) -> Settings:
        """The settings that hold now."""

    @property
    def model(self) -> Model:
        """The model that answers."""

    @property
    def prompt_max_tokens(self) -> int:
        """How many tokens a prompt may have."""

    @property
    def learns(self) -> bool:
        """Tell whether facts are learnt from what is said."""

    def now(self) -> datetime:
        """Read the clock."""

    def enqueue(self, key: str, queued: Sequence[Queued]) -> None:
        """Keep what was said until it is learnt from."""

    def idle(self, key: str) -> None:
        """Learn from a conversation whose turn is over, if it is time."""

    def used(self, key: str, tokens: int, limit: int) -> None:
        """Flush when so much of the context is used."""


class Turn:
    """One message and its answer."""

    def __init__(self, assistant: Host, key: str, said: Said, *, is_private: bool) -> None:
        self._own = assistant
        self._is_private = is_private
        self._key = key
        self._text = said.text
        self._documents = said.documents
        self._history = said.history
        self._is_again = said.is_again or self._is_sent_again()
        self._instructions = said.instructions
        self._started = to_millisecond(assistant.now())
        self._said: list[str] = []
        self._saved: list[str] = []
        self._usage: Usage | None = None
        self._composer = self._make_composer()
        self._obeyed = Obeyed()
        self._keeping = Lock()
        self._is_discarded = False

    def composed(self, private: Sequence[Message] | None = None) -> Composed:
        """Compose the prompt, and do no more; in private its history is given."""
        prompt = self._prompt() if private is None else self._prompt_in_private(private)
        return Composed(prompt, self._composer.explain())

    def remembered(self) -> Generator[Event | Composed | Done]:
        """Answer, and keep the exchange."""
        own = self._own
        self._obeyed = obey(self._text, own.memory, own.learning, key=self._key, now=self._started)
        prompt = replace(self._prompt(), is_learnt=own.learns)
        try:
            yield Composed(prompt, self._composer.explain())
            yield from self._confirmed()
            yield from self._answered(prompt)
        except (GeneratorExit, KeyboardInterrupt, ModelError):
            # Somebody stopped it, or it broke off: what was said so far was said.
            if self._said:
                self._keep()
            raise
        reply = self._kept()
        own.idle(self._key)
        yield Done(reply)

    def in_private(self, history: list[Message]) -> Generator[Event | Composed | Done]:
        """Answer without memory; the exchange is added to the history, and kept nowhere else."""
        prompt = self._prompt_in_private(history)
        yield Composed(prompt, self._composer.explain())
        told = refusal(self._text)
        try:
            if told:
                yield self._heard(Text(f"{told}\n\n"))
            for event in self._own.model.stream(replace(prompt, is_learnt=False)):
                yield self._heard(event)
        finally:
            if self._said:
                history += [Message("user", self._text), Message("assistant", self._answer)]
        yield Done(Reply(self._answer, explanation=self._composer.explain(), usage=self._usage))

    def discard(self) -> None:
        """Keep nothing of it from now on: its conversation is to be erased."""
        with self._keeping:
            self._is_discarded = True

    @property
    def _answer(self) -> str:
        return "".join(self._said)

    def _make_composer(self) -> PromptComposer:
        settings = self._own.settings
        system = composing.SYSTEM_PROMPT
        if settings.enabled and not self._is_private:
            system = f"{system}\n\n{composing.WITH_TOOLS}"
        if self._instructions:
            system = f"{system}\n\n{self._instructions}"
        return PromptComposer(system, max_tokens=self._own.prompt_max_tokens)

    def _prompt(self) -> Prompt:
        own = self._own
        history = self._known_history()
        notes = [_today(self._started), *self._obeyed.notes]
        if not own.settings.enabled:
            return self._composer.compose(
                self._text, history=history, documents=self._documents, notes=notes
            )
        return self._composer.compose(
            self._text,
            memories=own.memory.get_all(),
            page=own.memory.prompt_text(),
            hits=found(self._text, own.index, own.daily, self._started.date()),
            history=history,
            documents=self._documents,
            notes=notes,
        )

    def _prompt_in_private(self, history: Sequence[Message]) -> Prompt:
        return self._composer.compose(
            self._text, history=history, documents=self._documents, notes=[_today(self._started)]
        )

    def _known_history(self) -> Sequence[Message]:
        if self._history is not None:
            return self._history
        history = self._own.conversations.get_history(self._key)
        return before_again(history, self._text if self._is_again else None)

    def _is_sent_again(self) -> bool:
        """Tell whether whoever keeps the conversation does not know its last answer."""
        if self._history is None:
            return False
        kept = self._own.conversations.get_history(self._key)
        return not (kept and self._history and self._history[-1].text == kept[-1].text)

    def _confirmed(self) -> Iterator[Event]:
        if self._obeyed.confirmation:
            yield self._heard(Text(self._obeyed.confirmation))

    def _answered(self, prompt: Prompt) -> Iterator[Event]:
        tools = self._tools() if self._own.settings.enabled else None
        gap = "\n\n" if self._said else ""
        try:
            model = self._own.model
            if self._obeyed.confirmation and model.name == "recall":
                return
            for event in model.stream(prompt, tools):
                if isinstance(event, Text) and gap:
                    event, gap = Text(gap + event.text), ""  # noqa: PLW2901
                yield self._heard(event)
        except (ModelError, SettingsError) as error:
            # What was asked for is done; it must be said and kept although the model failed.
            if not self._obeyed.confirmation:
                raise
            yield self._heard(Text(f"\n\n({error})"))

    def _heard(self, event: Event) -> Event:
        if isinstance(event, Text):
            self._said.append(event.text)
        elif isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, ToolResult):
            self._saved += _ids_in(event.result)
        return event

    def _tools(self) -> MemoryTools:
        own = self._own
        turn = ToolTurn(
            self._key,
            tuple(memory.id for memory in self._obeyed.saved),
            tuple(document.name for document in self._documents),
            self._text,
        )
        return MemoryTools(own.memory, own.pending, own.daily, own.index, own.folder.path, turn)

    def _kept(self) -> Reply:
        self._keep()
        usage = self._usage
        if usage and usage.context_window:
            self._own.used(
                self._key, usage.input_tokens + usage.output_tokens, usage.context_window
            )
        return Reply(
            self._answer,
            self._obeyed.saved,
            self._obeyed.removed,
            self._composer.explain(),
            usage,
        )

    def _keep(self) -> None:
        """Queue the exchange, then store it: nothing can leave a conversation unqueued."""
        with self._keeping:
            if not self._is_discarded:
                self._queue_and_store()

    def _queue_and_store(self) -> None:
        own = self._own
        said = Message("user", self._text, self._started)
        answered = Message("assistant", self._answer, own.now())
        is_repeated = self._is_again and self._is_last_said()
        if not is_repeated:
            own.enqueue(self._key, self._queued(said, answered))
        again = self._text if self._is_again else None
        own.conversations.add_messages(self._key, [said, answered], again=again)
        own.learning.record_answer(self._key, self._started, self._shaped_by())

    def _is_last_said(self) -> bool:
        history = self._own.conversations.get_history(self._key)
        return len(before_again(history, self._text)) < len(history)

    def _shaped_by(self) -> dict[str, Any]:
        """Name what went into the prompt, without its text: that may be erased one day."""
        explanation = self._composer.explain()
        return {
            "time": to_iso(self._started),
            "question": self._text[:QUESTION_CHARS],
            "memories": list(explanation.memories),
            "hits": [_named(hit) for hit in explanation.hits],
        }

    def _queued(self, said: Message, answered: Message) -> list[Queued]:
        documents = [
            Queued(_beginning(one, self._started), "document", f"document:{one.name}")
            for one in self._documents
        ]
        return [*documents, *asked(said, self._obeyed, self._saved), Queued(answered, "assistant")]


def asked(message: Message, obeyed: Obeyed, saved: Sequence[str]) -> list[Queued]:
    """Queue what the user said: a request is settled, and what else was said is learnt from."""
    ids = (*(memory.id for memory in obeyed.saved), *saved)
    queued = [Queued(message, "user", None, ids, bool(obeyed.confirmation))]
    if obeyed.rest:
        queued.append(Queued(replace(message, content=obeyed.rest), "user", None, ids))
    return queued


def _beginning(document: Document, now: datetime) -> Message:
    """Give what will be read of a document when facts are looked for."""
    return Message("user", document.text[:MESSAGE_CHARS], now)


def _ids_in(result: str) -> list[str]:
    """Give the id of the fact that a tool saved or changed."""
    try:
        record = json.loads(result)
        is_saved = record["success"] and "content" in record and isinstance(record["id"], str)
    except (ValueError, TypeError, KeyError):
        return []
    return [record["id"]] if is_saved else []


def _today(now: datetime) -> str:
    return f"Today is {now:%Y-%m-%d}, {now:%A}."


def _named(hit: Hit) -> dict[str, Any]:
    named = {
        "source": hit.source,
        "path": hit.path.name,
        "line": hit.line,
        "date": hit.date,
        "id": hit.id,
        "score": round(hit.score, 3),
    }
    return {key: value for key, value in named.items() if value is not None}
