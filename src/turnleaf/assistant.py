"""`Assistant`: one turn after the other, with everything that is remembered, over one folder.

A turn: what the user asks to be remembered or forgotten is done; history, memory and what the
search finds go into the prompt; the model answers; the exchange is queued for learning, and then
stored. Only then is the turn done. What is learnt from it is found in the background.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from turnleaf.core import host_events
from turnleaf.core.keys import checked_key
from turnleaf.core.learning.queue import Queued
from turnleaf.core.memories import checked_text
from turnleaf.core.prompt.composer import Document, Explanation
from turnleaf.core.stored_messages import NewMessage
from turnleaf.core.times import to_millisecond
from turnleaf.core.tokens import prompt_budget
from turnleaf.decision_writing import Learnt
from turnleaf.errors import EmbeddingError, InvalidInput, SettingsError
from turnleaf.extraction import Extraction, Outcome
from turnleaf.llm.models import find_extractor, find_model
from turnleaf.message_effects import withdraw_replaced
from turnleaf.obeying import obey, requests_in
from turnleaf.search import use_settings
from turnleaf.store.ambient import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.erasure import erase_conversation
from turnleaf.turns import Composed, Done, Reply, Said, Surroundings, Turn, asked
from turnleaf.worker import Job, Worker, log

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.dialogue import Event, Model
    from turnleaf.core.messages import Message
    from turnleaf.core.stored_messages import StoredMessage
    from turnleaf.settings import DataFolder, Settings
    from turnleaf.store.contracts import (
        Conversations,
        DailyNotes,
        Facts,
        LearningQueue,
        Passages,
        PendingFacts,
        Schedules,
    )

__all__ = ["Assistant", "Composed", "Document", "Done", "Explanation", "Learnt", "Reply"]

QUIET_HOURS = 1
"""After so long without a message a conversation counts as ended, and is learnt from."""

MOST_PRIVATE = 64
"""How many private conversations are kept in memory; an end to one is not always told."""
EVERYTHING = ""
"""No conversation: all that was found and is not written yet."""
VECTORS = "\0"
"""No conversation: what was said and has no vectors yet."""
_THROTTLES = frozenset({"extract_interval_seconds", "min_new_messages"})
"""The settings that say how often to learn; whoever sets one of them means rules as well."""
NOTHING_SAID = "There is no text in your message."
EMBED_SECONDS = 2.0
"""For how long vectors are made at a time; the rest is left to the next program."""


class Assistant:
    """Answers with a memory. Every program that talks to people uses one of these."""

    def __init__(
        self,
        stores: Stores | DataFolder | str | Path | None = None,
        *,
        model: Model | None = None,
        space: str | None = None,
        now: Callable[[], datetime] = local_now,
    ) -> None:
        self.stores = (
            stores if isinstance(stores, Stores) else Stores.open(stores, space=space, now=now)
        )
        self._now = now
        self._given_model = model
        self._searches_by: Settings | None = None
        self._extraction = Extraction(self.stores, now)
        _ = self.settings
        self._private: dict[str, list[Message]] = {}
        self._under_way: dict[str, list[Turn]] = {}
        self._guard = Lock()
        self._has_failed = False
        self._is_closing = False
        self._worker = Worker(self._learn)

    @property
    def memory(self) -> Facts:
        """The long-term facts."""
        return self.stores.facts

    @property
    def pending(self) -> PendingFacts:
        """Facts that wait to be accepted."""
        return self.stores.pending

    @property
    def daily(self) -> DailyNotes:
        """The daily notes."""
        return self.stores.daily

    @property
    def conversations(self) -> Conversations:
        """The conversations."""
        return self.stores.conversations

    @property
    def schedules(self) -> Schedules:
        """The prompts that run on a schedule."""
        return self.stores.schedules

    @property
    def learning(self) -> LearningQueue:
        """What is yet to be learned from."""
        return self.stores.learning

    @property
    def index(self) -> Passages:
        """The search."""
        return self.stores.passages

    @property
    def folder(self) -> DataFolder:
        """The data folder."""
        return self.stores.folder

    def init(self) -> None:
        """Make the folders and files where missing, and remove conversations that expired."""
        self.stores.init()

    # Settings and model, as they are now.

    @property
    def settings(self) -> Settings:
        """The settings, read again when somebody has changed them."""
        settings = self.stores.settings
        if settings is not self._searches_by:
            use_settings(self.index, settings)
            self._searches_by = settings
        return settings

    def follow_settings(self) -> None:
        """Apply the settings that hold now."""
        _ = self.settings

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self._given_model or find_model(self.settings)

    @property
    def prompt_max_tokens(self) -> int:
        """How many tokens a prompt may have: as set, and as fits into the model's context."""
        return prompt_budget(self.settings.prompt_max_tokens, self.context_window)

    @property
    def context_window(self) -> int | None:
        """How many tokens the model's context has, where that is known."""
        with suppress(SettingsError):
            return getattr(self.model, "context_window", None)
        return None

    def now(self) -> datetime:
        """Read the clock."""
        return self._now()

    # A turn.

    def reply(
        self,
        key: str,
        text: str,
        *,
        private: bool = False,
        documents: Sequence[Document] = (),
        resume: bool = False,
        after: int | None = None,
        audience: str | None = None,
    ) -> Reply:
        """Answer a message of a conversation.

        One of white space alone is answered, but not by the model, and not kept.
        """
        if text.isspace():
            return Reply(NOTHING_SAID)
        answer = self.stream(
            key,
            text,
            private=private,
            documents=documents,
            resume=resume,
            after=after,
            audience=audience,
        )
        return next(event.reply for event in answer if isinstance(event, Done))

    def stream(  # noqa: PLR0913 - a host may know any of it
        self,
        key: str,
        text: str,
        *,
        private: bool = False,
        documents: Sequence[Document] = (),
        history: Sequence[Message] | None = None,
        instructions: str = "",
        again: bool = False,
        resume: bool = False,
        after: int | None = None,
        audience: str | None = None,
        speaker: str | None = None,
        trust: str = "user",
        source: str | None = None,
    ) -> Generator[Event | Composed | Done]:
        """Answer piece by piece, from Composed to Done. Closing the iterator stops the model.

        Where somebody else keeps the conversation, `history` is what they know of it, and
        `instructions` what their assistant is told. With `again` the answer is another version of
        the last one if that was to the same message; `after` is the id of the message that this
        one follows, 0 for a new beginning: what followed it so far is kept as another version.
        With `resume` an old conversation is taken up again, whatever its age. `audience` says who
        may find what is said (`turnleaf.core.keys`), `speaker` who of several people says it.
        Whoever has another `trust`, such as "stranger", is answered, and what is learnt from
        them waits; `source` names them.
        """
        said = Said(
            text, tuple(documents), history, instructions, again, after, resume, audience, speaker,
            trust, source,
        )  # fmt: skip
        turn = self._turn(key, said, is_private=private)
        if private:
            return turn.in_private(self._private_history(key))
        return self._followed(key, turn)

    def _followed(self, key: str, turn: Turn) -> Generator[Event | Composed | Done]:
        """Answer, and know of the turn as long as it takes."""
        with self._guard:
            self._under_way.setdefault(key, []).append(turn)
        try:
            with closing(turn.remembered()) as events:
                for event in events:
                    if isinstance(event, Done):
                        self._follow_up(key, event.reply)
                    yield event
        finally:
            with self._guard:
                self._under_way[key].remove(turn)
                if not self._under_way[key]:
                    del self._under_way[key]

    def _follow_up(self, key: str, reply: Reply) -> None:
        """Learn from a turn that is over, if it is time; flush where the context is nearly full."""
        usage = reply.usage
        if usage and usage.context_window:
            self.used(key, usage.input_tokens + usage.output_tokens, usage.context_window)
        self.idle(key)

    def _private_history(self, key: str) -> list[Message]:
        """Give what was said in private, as the newest; the oldest of very many is forgotten."""
        with self._guard:
            history = self._private.pop(key, [])
            self._private[key] = history
            for oldest in list(self._private)[:-MOST_PRIVATE]:
                del self._private[oldest]
        return history

    def erase_conversation(self, key: str) -> bool:
        """Erase a conversation for good, one that is being answered and a private one too.

        What was learnt from it stays. False when there is none.
        """
        with self._guard:
            was_private = self._private.pop(key, None) is not None
            under_way = list(self._under_way.get(key, ()))
        for turn in under_way:
            turn.discard()
        was_kept = erase_conversation(self.stores, key)
        return was_private or was_kept or bool(under_way)

    def preview(
        self,
        key: str,
        text: str,
        *,
        private: bool = False,
        documents: Sequence[Document] = (),
        resume: bool = False,
        audience: str | None = None,
    ) -> Composed:
        """Compose the prompt of a message that is not sent; nothing is changed by it."""
        said = Said(text, tuple(documents), is_resumed=resume, audience=audience)
        turn = self._turn(key, said, is_private=private)
        return turn.composed(self._private.get(key, ()) if private else None)

    def _turn(self, key: str, said: Said, *, is_private: bool) -> Turn:
        if not checked_text(said.text, "a message").strip():
            message = "a message needs some text; this is empty"
            raise InvalidInput(message)
        surroundings = Surroundings(self.stores, self.settings, self._find_model(), self._now)
        return Turn(surroundings, checked_key(key), said, is_private=is_private)

    def _find_model(self) -> Model | SettingsError:
        try:
            return self.model
        except SettingsError as error:
            return error

    def private_history(self, key: str) -> list[Message] | None:
        """Give what was said in private, if there is such a conversation."""
        history = self._private.get(key)
        return None if history is None else list(history)

    def end_private(self, key: str) -> None:
        """Forget what was said in private, which was in memory only."""
        self._private.pop(key, None)

    # What a host tells us.

    def record(
        self,
        key: str,
        messages: Sequence[Message],
        *,
        trust: str = "user",
        audience: str | None = None,
    ) -> None:
        """Take in messages that somebody else's assistant exchanged with the user.

        With another `trust`, such as "stranger", what is learnt from them waits, and none of them
        enters a prompt of another conversation.
        """
        now = to_millisecond(self.now())
        stamped = [one if one.timestamp else replace(one, timestamp=now) for one in messages]
        self.enqueue(key, [queued for one in stamped for queued in self._reported(key, one, trust)])
        stored = [_describe(one, trust) for one in stamped]
        self.conversations.add_messages(key, stored, audience=audience)
        self._read_soon(key)
        self._worker.do(Job(VECTORS))

    def _reported(self, key: str, message: Message, trust: str) -> list[Queued]:
        """Act on a request in a message of the user, and queue what is to be learnt from it."""
        if message.role != "user":
            return [Queued(message, _trust(message), _source(message))]
        if trust != "user":
            return [Queued(message, trust)]
        here = self.now()
        now = message.timestamp.astimezone(here.tzinfo) if message.timestamp else here
        return asked(message, obey(message.text, self.memory, self.learning, key=key, now=now), ())

    def settle_messages(self) -> None:
        """Hide the messages that forgotten facts rest on, and show those of facts that are back."""
        self.stores.settle_messages()

    def show_version(self, key: str, message_id: int) -> None:
        """Show another version of a message and of what followed it, and learn from that."""
        before = {one.id: one for one in self.conversations.messages(key)}
        self.conversations.show_version(key, message_id)
        after = {one.id: one for one in self.conversations.messages(key)}
        withdraw_replaced(
            self.stores, key, [one.message for one in before.values() if one.id not in after]
        )
        shown = [one for one in after.values() if one.id not in before]
        self.enqueue(key, [queued for one in shown for queued in self._told_again(key, one)])
        self._read_soon(key)

    def _told_again(self, key: str, shown: StoredMessage) -> list[Queued]:
        """Queue a message that is part of its conversation again, and do what it asks to keep.

        What it asks to forget was forgotten for good: that does not hang on a version.
        """
        wishes = {request.action for request in requests_in(shown.message.text)}
        if shown.trust == "user" and wishes == {"remember"}:
            return self._reported(key, shown.message, shown.trust)
        return [Queued(shown.message, shown.trust, shown.source)]

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
        self._read_soon(key)
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
        self._worker.do(Job(VECTORS))

    def _read_soon(self, key: str) -> None:
        """Let rules read what was said, right away unless the user has set how often to learn."""
        if self.learns and _THROTTLES.isdisjoint(self.settings.sources):
            self._worker.do(Job(key, is_reading=True))

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
        if name not in host_events.KNOWN:
            return False
        key = checked_key(host_events.key_in(given))
        if name in host_events.IDLE:
            spoken = host_events.messages_in(given)
            if spoken:
                self.record(key, spoken)
            self.idle(key)
        elif name in host_events.USAGE:
            self.used(key, *host_events.usage_in(given))
        elif name in host_events.COMPACTION_START:
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
        self._worker.do(Job(VECTORS))
        self.wait()

    def wait(self) -> None:
        """Wait until the background has done what it was asked to."""
        self._worker.drain()

    def learnt(self) -> list[Learnt]:
        """Give what was learnt in the background since the last call."""
        return self._worker.results()

    def on_news(self, callback: Callable[[], None] | None) -> None:
        """Call `callback`, on any thread, when there is something in `learnt` or `problems`."""
        self._worker.on_news = callback

    def problems(self) -> list[str]:
        """Give what went wrong in the background since the last call."""
        return self._worker.problems()

    def close(self, *, flush: bool = True) -> None:
        """Finish what is under way; with `flush` learn from all that waits as well."""
        self._is_closing = True
        with ExitStack() as ending:
            ending.callback(self.stores.close)
            ending.callback(self._worker.close)
            if flush:
                self.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def learns(self) -> bool:
        """Tell whether facts are learnt from what is said."""
        return self.settings.enabled and self.settings.auto_extract

    def _learn(self, job: Job) -> Sequence[Learnt]:
        if job.key == VECTORS:
            self._make_vectors()
            return ()
        outcome = Outcome(is_held=True)
        try:
            outcome = self._extraction.read(job.key) if job.is_reading else self._outcome(job.key)
        finally:
            if job.is_flush and job.key != EVERYTHING:
                is_done = not outcome.is_held and outcome.failure is None
                self.learning.flushed(job.key, succeeded=is_done)
        for problem in outcome.problems:
            self._worker.complain(problem)
        if outcome.failure:
            # The conversations after it would fare no better, and somebody may be waiting.
            self._has_failed = True
            log.info("%s waits for the model: %s", job.key, outcome.failure)
            self._worker.complain(str(outcome.failure))
        if outcome.learnt:
            self._make_vectors()
        return outcome.learnt

    def _outcome(self, key: str) -> Outcome:
        settings = self.settings
        if key == EVERYTHING:
            return self._extraction.settle()
        if self._has_failed:
            return Outcome(is_held=True)
        model = self._given_model or find_extractor(settings, formats=self.learning)
        return self._extraction.run(key, settings, model)

    def _make_vectors(self) -> None:
        """Make vectors for a moment, and go on afterwards unless the program is about to end."""
        try:
            made = self.index.embed(seconds=EMBED_SECONDS)
        except EmbeddingError as error:
            log.info("no vectors were made: %s", error)
            return
        if made and not self._is_closing and self.index.missing_vectors():
            self._worker.do(Job(VECTORS))

    def _flush_once(self, key: str) -> None:
        if self.learns and self.learning.begin_flush(key):
            self._has_failed = False
            self._worker.do(Job(key, is_flush=True))

    def _ended(self, key: str) -> list[str]:
        """Name the other conversations that wait and that nobody has added to for long."""
        waiting = set(self.learning.backlog()) - {key}
        quiet_since = self.now() - timedelta(hours=QUIET_HOURS)
        known = {one: self.conversations.summary(one) for one in waiting}
        return sorted(
            one for one, found in known.items() if not found or found.updated_at <= quiet_since
        )


def _describe(message: Message, trust: str) -> NewMessage:
    """Return a message with its trust: an answer to a stranger is trusted as the stranger."""
    is_of_others = trust != "user" and _trust(message) != "tool"
    return NewMessage(message, trust=trust if is_of_others else None, source=_source(message))


def _trust(message: Message) -> str:
    return {"user": "user", "assistant": "assistant"}.get(message.role, "tool")


def _source(message: Message) -> str | None:
    return f"tool:{message.name or 'unknown'}" if _trust(message) == "tool" else None
