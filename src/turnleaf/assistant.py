"""`Assistant`: one turn after the other, with everything that is remembered, over one folder.

A turn: what the user asks to be remembered or forgotten is done; history, memory and what the
search finds go into the prompt; the model answers; the exchange is queued for learning, and then
stored. Only then is the turn done. What is learnt from it is found in the background.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self

from turnleaf.core import composer as composing
from turnleaf.core import events
from turnleaf.core.composer import Document, Explanation, PromptComposer
from turnleaf.core.dialogue import Text, ToolResult, Usage
from turnleaf.core.extracting import MESSAGE_CHARS
from turnleaf.core.keys import checked_key
from turnleaf.core.memories import checked_text
from turnleaf.core.messages import Message
from turnleaf.core.times import to_iso, to_millisecond
from turnleaf.errors import EmbeddingError, InvalidInput, ModelError, SettingsError
from turnleaf.extraction import Extraction, Learnt, Outcome
from turnleaf.llm.models import find_extractor, find_model
from turnleaf.looking import found
from turnleaf.obeying import Obeyed, obey, refusal
from turnleaf.search import open_index
from turnleaf.settings import DataFolder, Settings, data_folder
from turnleaf.store.conversations import ConversationStore
from turnleaf.store.daily import DailyLog, local_now
from turnleaf.store.learning import LearningStore, Queued
from turnleaf.store.memories import MemoryStore
from turnleaf.store.pending import PendingStore
from turnleaf.tools import MemoryTools
from turnleaf.tools import Turn as ToolTurn
from turnleaf.worker import Job, Worker, log

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.dialogue import Event, Model, Prompt
    from turnleaf.core.hits import Hit
    from turnleaf.core.memories import Memory

__all__ = ["Assistant", "Document", "Done", "Explanation", "Learnt", "Reply"]

QUIET_HOURS = 1
"""After so long without a message a conversation counts as ended, and is learnt from."""

QUESTION_CHARS = 80
EVERYTHING = ""
"""No conversation: all that was found and is not written yet."""
LONGEST_DAYS = 36_500
EMBED_SECONDS = 2.0
"""For how long vectors of what was learnt are made; the rest is left to the next search."""


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
class Done:
    """The end of a turn: it is stored."""

    reply: Reply


class Assistant:
    """Answers with a memory. Every program that talks to people uses one of these."""

    def __init__(
        self,
        folder: DataFolder | str | Path | None = None,
        *,
        model: Model | None = None,
        now: Callable[[], datetime] = local_now,
    ) -> None:
        self.folder = folder if isinstance(folder, DataFolder) else data_folder(folder)
        self.now = now
        self._given_model = model
        self._configured: tuple[object, Settings] | None = None
        settings = self.settings
        self.memory = MemoryStore(self.folder.memory(settings), settings=settings, now=now)
        self.daily = DailyLog(self.folder.daily, now=now)
        self.conversations = ConversationStore(
            self.folder.conversations(settings), settings=settings, now=now
        )
        self.index = open_index(self.folder, settings)
        self.learning = LearningStore(self.folder.learning, now=now)
        self.pending = PendingStore(self.memory)
        self._extraction = Extraction(self.memory, self.pending, self.learning, self.index, now)
        self._private: dict[str, list[Message]] = {}
        self._has_failed = False
        self._worker = Worker(self._learn)

    # Settings and model, as they are now.

    @property
    def settings(self) -> Settings:
        """The settings, read again when their file has changed."""
        looks = _looks(self.folder.config)
        if self._configured is None or self._configured[0] != looks:
            is_new = self._configured is not None
            self._configured = looks, Settings.load(self.folder.path)
            if is_new:
                self.memory.use(self._configured[1])
                self.conversations.use(self._configured[1])
        return self._configured[1]

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self._given_model or find_model(self.settings)

    # A turn.

    def reply(
        self,
        key: str,
        text: str,
        *,
        private: bool = False,
        documents: Sequence[Document] = (),
    ) -> Reply:
        """Answer a message of a conversation."""
        events = self.stream(key, text, private=private, documents=documents)
        return next(event.reply for event in events if isinstance(event, Done))

    def stream(
        self,
        key: str,
        text: str,
        *,
        private: bool = False,
        documents: Sequence[Document] = (),
    ) -> Generator[Event | Done]:
        """Answer piece by piece; the last event is Done. Closing the iterator stops the model."""
        checked_key(key)
        if not checked_text(text, "a message").strip():
            message = "a message needs some text; this is empty"
            raise InvalidInput(message)
        turn = _Turn(self, key, text, tuple(documents), is_private=private)
        if private:
            return turn.in_private(self._private.setdefault(key, []))
        return turn.remembered()

    def end_private(self, key: str) -> None:
        """Forget what was said in private, which was in memory only."""
        self._private.pop(key, None)

    # What a host tells us.

    def record(self, key: str, messages: Sequence[Message], *, trust: str = "user") -> None:
        """Take in messages that somebody else's assistant exchanged with the user.

        With another `trust`, such as "stranger", what is learnt from them waits.
        """
        now = to_millisecond(self.now())
        stamped = [one if one.timestamp else replace(one, timestamp=now) for one in messages]
        self.enqueue(key, [queued for one in stamped for queued in self._reported(key, one, trust)])
        self.conversations.add_messages(key, stamped)

    def _reported(self, key: str, message: Message, trust: str) -> list[Queued]:
        """Act on a request in a message of the user, and queue what is to be learnt from it."""
        if message.role != "user":
            return [Queued(message, _trust(message), _source(message))]
        if trust != "user":
            return [Queued(message, trust)]
        now = message.timestamp or self.now()
        return _asked(message, obey(message.text, self.memory, self.learning, key=key, now=now), ())

    def enqueue(self, key: str, queued: Sequence[Queued]) -> None:
        """Keep what was said until it is learnt from, if anything is to be learnt."""
        if self.learns:
            self.learning.enqueue(key, queued)

    def idle(self, key: str) -> None:
        """Learn from a conversation whose turn is over, if it is time (003)."""
        settings = self.settings
        if not self.learns:
            return
        self._has_failed = False
        if self.learning.is_due(
            key,
            interval_seconds=settings.extract_interval_seconds,
            min_messages=settings.min_new_messages,
        ):
            self._worker.do(Job(key))
        for other in self._ended(key)[:1]:
            self._worker.do(Job(other))
        if self.learning.outbox():
            self._worker.do(Job(EVERYTHING))

    def used(self, key: str, tokens: int, limit: int) -> None:
        """Flush when so much of the context is used, once in each cycle (003)."""
        if limit > 0 and tokens / limit >= self.settings.flush_threshold:
            self._flush_once(key)

    def compaction_start(self, key: str) -> None:
        """Flush before the host shortens the conversation, if this cycle has not (003)."""
        self._flush_once(key)

    def compaction_complete(self, key: str) -> None:
        """Begin a new cycle."""
        self.learning.end_cycle(key)

    def handle_event(self, name: str, payload: Mapping[str, Any] | None = None) -> bool:
        """Act on an event of another host; tell whether it is one that we know."""
        given = payload or {}
        if name not in events.KNOWN:
            return False
        key = checked_key(events.key_in(given))
        if name in events.IDLE:
            spoken = events.messages_in(given)
            if spoken:
                self.record(key, spoken)
            self.idle(key)
        elif name in events.USAGE:
            self.used(key, *events.usage_in(given))
        elif name in events.COMPACTION_START:
            self.compaction_start(key)
        else:
            self.compaction_complete(key)
        return True

    # Learning.

    def flush(self, key: str | None = None) -> None:
        """Learn now from all that waits, of one conversation or of all, and wait for it."""
        self._has_failed = False
        if self.learns:
            for one in [key] if key else [*self.learning.backlog(), EVERYTHING]:
                self._worker.do(Job(one, is_flush=True))
        self.wait()

    def wait(self) -> None:
        """Wait until the background has done what it was asked to."""
        self._worker.drain()

    def learnt(self) -> list[Learnt]:
        """Give what was learnt in the background since the last call."""
        return self._worker.results()

    def problems(self) -> list[str]:
        """Give what went wrong in the background since the last call."""
        return self._worker.problems()

    def close(self, *, flush: bool = True) -> None:
        """Finish what is under way; with `flush` learn from all that waits as well."""
        if flush:
            self.flush()
        self._worker.close()
        self._expire_answers()
        self.index.close()
        self.conversations.close()
        self.learning.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def learns(self) -> bool:
        """Tell whether facts are learnt from what is said."""
        return self.settings.enabled and self.settings.auto_extract

    def _learn(self, job: Job) -> Sequence[Learnt]:
        outcome = Outcome(is_held=True)
        try:
            outcome = self._outcome(job.key)
        finally:
            if job.is_flush and job.key != EVERYTHING:
                self.learning.flushed(job.key, succeeded=not outcome.is_held)
        for problem in outcome.problems:
            self._worker.complain(problem)
        if outcome.learnt:
            self._make_vectors()
        return outcome.learnt

    def _outcome(self, key: str) -> Outcome:
        settings = self.settings
        if key == EVERYTHING:
            return self._extraction.settle()
        if self._has_failed:
            return Outcome(is_held=True)
        try:
            model = self._given_model or find_extractor(settings)
            return self._extraction.run(key, settings, model)
        except ModelError:
            # The conversations after it would fare no better, and somebody may be waiting.
            self._has_failed = True
            raise

    def _make_vectors(self) -> None:
        try:
            self.index.embed(seconds=EMBED_SECONDS)
        except EmbeddingError as error:
            log.info("no vectors were made: %s", error)

    def _flush_once(self, key: str) -> None:
        if self.learns and self.learning.begin_flush(key):
            self._has_failed = False
            self._worker.do(Job(key, is_flush=True))

    def _expire_answers(self) -> None:
        if self.folder.learning.exists():
            days = timedelta(days=min(self.settings.conversation_max_age_days, LONGEST_DAYS))
            self.learning.expire(self.now() - days)

    def _ended(self, key: str) -> list[str]:
        """Name the other conversations that wait and that nobody has added to for long."""
        waiting = set(self.learning.backlog()) - {key}
        if not waiting:
            return []
        now = self.now()
        active = {
            one.key
            for one in self.conversations.summaries()
            if (now - one.updated_at).total_seconds() < QUIET_HOURS * 3600
        }
        return sorted(waiting - active)


class _Turn:
    """One message and its answer."""

    def __init__(
        self,
        assistant: Assistant,
        key: str,
        text: str,
        documents: tuple[Document, ...],
        *,
        is_private: bool,
    ) -> None:
        self._own = assistant
        self._is_private = is_private
        self._key = key
        self._text = text
        self._documents = documents
        self._started = to_millisecond(assistant.now())
        self._said: list[str] = []
        self._saved: list[str] = []
        self._usage: Usage | None = None
        self._composer = self._make_composer()
        self._obeyed = Obeyed()

    def remembered(self) -> Generator[Event | Done]:
        """Answer, and keep the exchange."""
        own = self._own
        self._obeyed = obey(self._text, own.memory, own.learning, key=self._key, now=self._started)
        prompt = replace(self._prompt(), is_learnt=own.learns)
        try:
            yield from self._confirmed()
            yield from self._answered(prompt)
        except (GeneratorExit, KeyboardInterrupt):
            # Somebody stopped it: what was said so far was said.
            if self._said:
                self._keep()
            raise
        reply = self._kept()
        own.idle(self._key)
        yield Done(reply)

    def in_private(self, history: list[Message]) -> Generator[Event | Done]:
        """Answer without memory; the exchange is added to the history, and kept nowhere else."""
        prompt = self._composer.compose(
            self._text, history=history, documents=self._documents, notes=[_today(self._started)]
        )
        told = refusal(self._text)
        if told:
            yield self._heard(Text(f"{told}\n\n"))
        for event in self._own.model.stream(replace(prompt, is_learnt=False)):
            yield self._heard(event)
        history += [Message("user", self._text), Message("assistant", self._answer)]
        yield Done(Reply(self._answer, explanation=self._composer.explain(), usage=self._usage))

    @property
    def _answer(self) -> str:
        return "".join(self._said)

    def _make_composer(self) -> PromptComposer:
        settings = self._own.settings
        system = composing.SYSTEM_PROMPT
        if settings.enabled and not self._is_private:
            system = f"{system}\n\n{composing.WITH_TOOLS}"
        return PromptComposer(system, max_tokens=settings.prompt_max_tokens)

    def _prompt(self) -> Prompt:
        own = self._own
        history = own.conversations.get_history(self._key)
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
        own = self._own
        asked = Message("user", self._text, self._started)
        answered = Message("assistant", self._answer, own.now())
        own.enqueue(self._key, self._queued(asked, answered))
        own.conversations.add_messages(self._key, [asked, answered])
        own.learning.record_answer(self._key, self._started, self._shaped_by())

    def _shaped_by(self) -> dict[str, Any]:
        """Name what went into the prompt, without its text: that may be erased one day."""
        explanation = self._composer.explain()
        return {
            "time": to_iso(self._started),
            "question": self._text[:QUESTION_CHARS],
            "memories": list(explanation.memories),
            "hits": [_named(hit) for hit in explanation.hits],
        }

    def _queued(self, asked: Message, answered: Message) -> list[Queued]:
        documents = [
            Queued(_beginning(one, self._started), "document", f"document:{one.name}")
            for one in self._documents
        ]
        said = _asked(asked, self._obeyed, self._saved)
        return [*documents, *said, Queued(answered, "assistant")]


def _asked(message: Message, obeyed: Obeyed, saved: Sequence[str]) -> list[Queued]:
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


def _trust(message: Message) -> str:
    return {"user": "user", "assistant": "assistant"}.get(message.role, "tool")


def _source(message: Message) -> str | None:
    return f"tool:{message.name or 'unknown'}" if _trust(message) == "tool" else None


def _looks(path: Path) -> object:
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino
    return None
