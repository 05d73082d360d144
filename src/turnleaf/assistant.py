"""`Assistant`: one turn after the other, with everything that is remembered, over one folder.

A turn: what the user asks to be remembered or forgotten is done; history, memory and what the
search finds go into the prompt; the model answers; the exchange is queued for learning, and then
stored. Only then is the turn done. Facts are learned from it in the background.
"""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import replace
from importlib import import_module
from threading import Lock
from typing import TYPE_CHECKING, Any, Self

from turnleaf import metrics
from turnleaf.background_learning import BackgroundLearning
from turnleaf.core import host_events
from turnleaf.core.keys import check_key
from turnleaf.core.learning.queue import Queued
from turnleaf.core.memories import check_text
from turnleaf.core.messages import NewMessage
from turnleaf.core.serialization import to_millisecond
from turnleaf.core.tokens import find_prompt_budget
from turnleaf.errors import InvalidInput, SettingsError, TurnleafError
from turnleaf.llm.embeddings import load_embedder, use_settings
from turnleaf.llm.models import find_model
from turnleaf.space_limits import MeteredModel, SpaceMeter
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.conversation_models import (
    drop_chosen_model,
    keep_chosen_model,
    read_chosen_model,
)
from turnleaf.store.erasure import erase_conversation, withdraw_replaced

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from turnleaf import memory_commands as commands
    from turnleaf import turn as turns
    from turnleaf.core.messages import Message, StoredMessage
    from turnleaf.core.model_dialogue import Model
    from turnleaf.core.prompt.composer import Document
    from turnleaf.learning import LearnedFact
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
    from turnleaf.turn import Composed, Reply, Turn, TurnEvent, TurnRequest
else:

    class _LazyModule:
        """A module that only a turn needs: to import an `Assistant` takes half the time without."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> object:
            return getattr(import_module(self._name), name)

    commands = _LazyModule("turnleaf.memory_commands")
    turns = _LazyModule("turnleaf.turn")

__all__ = ["Assistant"]

DEFAULT_MODEL = "default"
"""The name that gives a conversation the model of the settings again."""
MOST_PRIVATE = 64
"""How many private conversations are kept in memory; an end to one is not always told."""
WARM_UP_KEY = "web:warm-up"
NOTHING_SAID = "There is no text in your message."


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
        # A setting that cannot be used is an error now, and not in the middle of the first turn.
        _ = self.settings
        self._private: dict[str, list[Message]] = {}
        self._under_way: dict[str, list[Turn]] = {}
        self._guard = Lock()
        self.meter = SpaceMeter(self.stores, now)
        """What the space may use, and has."""
        self._background = BackgroundLearning(
            self.stores, now, model=model, read_settings=lambda: self.settings, meter=self.meter
        )

    def open_space(self, space: str) -> Assistant:
        """Return the assistant of another space of the same place, with the same model."""
        return Assistant(self.stores.open_space(space), model=self._given_model, now=self._now)

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
            # A changed setting may name another embedder, and vectors of two cannot be compared.
            use_settings(self.index, settings)
            self._searches_by = settings
        return settings

    @property
    def is_busy(self) -> bool:
        """Whether a turn is under way."""
        return bool(self._under_way)

    def follow_settings(self) -> None:
        """Apply the settings that hold now."""
        _ = self.settings

    @property
    def model(self) -> Model:
        """The model that answers."""
        return self.meter.meter(self._given_model or find_model(self.settings))

    @property
    def prompt_max_tokens(self) -> int:
        """How many tokens a prompt may have: as set, and as fits into the model's context."""
        return find_prompt_budget(self.settings.prompt_max_tokens, self.context_window)

    @property
    def context_window(self) -> int | None:
        """How many tokens the model's context has, where that is known."""
        with suppress(SettingsError):
            return getattr(self.model, "context_window", None)
        return None

    def now(self) -> datetime:
        """Read the clock."""
        return self._now()

    def warm_up(self) -> None:
        """Load what the first answer needs, so that nobody waits for it; nothing is stored or said.

        What cannot be loaded is reported by the answer that needs it.
        """
        with suppress(TurnleafError):
            load_embedder(self.settings)
        with suppress(TurnleafError):
            # A search would ask an embedder elsewhere.
            if not self.settings.embeddings_url:
                self.preview(WARM_UP_KEY, "Hello")

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
        model: str | None = None,
    ) -> Reply:
        """Answer a message of a conversation.

        One of white space alone is answered, but not by the model, and not kept.
        """
        # Providers refuse a history with a blank message in it.
        if text.isspace():
            return turns.Reply(NOTHING_SAID)
        answer = self.stream(
            key,
            text,
            private=private,
            documents=documents,
            resume=resume,
            after=after,
            audience=audience,
            model=model,
        )
        return next(event.reply for event in answer if isinstance(event, turns.Done))

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
        keep_secrets: bool = False,
        model: str | None = None,
    ) -> Generator[TurnEvent]:
        """Answer piece by piece, from Composed to Done. Closing the iterator stops the model.

        Where somebody else keeps the conversation, `history` is what they know of it, and
        `instructions` what their assistant is told. With `again` the answer is another version of
        the last one if that was to the same message; `after` is the id of the message that this
        one follows, 0 for a new beginning: what followed it so far is kept as another version.
        With `resume` an old conversation is taken up again, whatever its age. `audience` says who
        may find what is said (`turnleaf.core.keys`), `speaker` who of several people says it.
        Whoever has another `trust`, such as "stranger", is answered, and what is learned from
        them waits; `source` names them. With `keep_secrets` a password that is to be remembered is
        kept as it is; otherwise the reply asks, and "yes" confirms it. `model` is the name of the
        model that answers from now on in this conversation, such as openai:NAME; "default" is that
        of the settings.
        """
        self._give_model(key, model, is_private=private)
        request = turns.TurnRequest(
            text, tuple(documents), history, instructions, again, after, resume, audience, speaker,
            trust, source, keep_secrets,
        )  # fmt: skip
        turn = self._make_turn(key, request, is_private=private, model=model)
        # Here and not in the generator: a caller hears of a limit before it asks for an event.
        self._check_limits(self._find_model(self.settings, key, model), is_private=private)
        if private:
            answer = turn.answer_in_private(self._take_private_history(key))
            return metrics.count_turn(answer)
        return metrics.count_turn(self._run_turn(key, turn))

    def _check_limits(self, model: Model | SettingsError, *, is_private: bool) -> None:
        """Raise LimitReached before anything is done that the space may not do now."""
        if not is_private:
            self.meter.check_room()
        if isinstance(model, MeteredModel):
            self.meter.check_calls()

    def _run_turn(self, key: str, turn: Turn) -> Generator[TurnEvent]:
        """Answer, and know of the turn as long as it takes."""
        with self._guard:
            self._under_way.setdefault(key, []).append(turn)
        try:
            with closing(turn.answer()) as events:
                for event in events:
                    # Whoever waits for the end of an answer stops reading at it, so this cannot
                    # come after.
                    if isinstance(event, turns.Done):
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
            self.note_usage(key, usage.input_tokens + usage.output_tokens, usage.context_window)
        self.idle(key)

    def _take_private_history(self, key: str) -> list[Message]:
        """Return what was said in private, as the newest; the oldest of very many is forgotten."""
        with self._guard:
            history = self._private.pop(key, [])
            self._private[key] = history
            # A program that forgets to end private conversations must not fill the memory.
            for oldest in list(self._private)[:-MOST_PRIVATE]:
                del self._private[oldest]
        return history

    def erase_conversation(self, key: str) -> bool:
        """Erase a conversation for good, one that is being answered and a private one too.

        What was learned from it stays. False when there is none.
        """
        with self._guard:
            was_private = self._private.pop(key, None) is not None
            under_way = list(self._under_way.get(key, ()))
        # First of all, or a turn that is under way would store its answer after the erasure.
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
        """Compose the prompt of a message that is not sent; nothing is changed by it.

        Where no model is set up, it is what one would be given.
        """
        request = turns.TurnRequest(text, tuple(documents), is_resumed=resume, audience=audience)
        turn = self._make_turn(key, request, is_private=private)
        return turn.preview(self._private.get(key, ()) if private else None)

    def _make_turn(
        self, key: str, request: TurnRequest, *, is_private: bool, model: str | None = None
    ) -> Turn:
        if not check_text(request.text, "a message").strip():
            message = "the message is empty; type some text"
            raise InvalidInput(message)
        settings = self.settings
        answering = self._find_model(settings, key, model)
        context = turns.TurnContext(self.stores, settings, answering, self._now)
        return turns.Turn(context, check_key(key), request, is_private=is_private)

    def _find_model(
        self, settings: Settings, key: str, name: str | None = None
    ) -> Model | SettingsError:
        try:
            found = self._given_model or find_model(settings, self._choose_model(key, name))
            return self.meter.meter(found)
        except SettingsError as error:
            return error

    def _choose_model(self, key: str, name: str | None) -> str | None:
        if name == DEFAULT_MODEL:
            return None
        return name or read_chosen_model(self.stores.records, key)

    def _give_model(self, key: str, name: str | None, *, is_private: bool) -> None:
        """Keep a model with its conversation; refuse what is none."""
        if name is None or (name == DEFAULT_MODEL and is_private):
            return
        if name == DEFAULT_MODEL:
            drop_chosen_model(self.stores.records, key)
            return
        try:
            find_model(self.settings, name)
        except SettingsError as error:
            raise InvalidInput(str(error)) from error
        if not is_private:
            keep_chosen_model(self.stores.records, key, name)

    def find_model_of(self, key: str, name: str | None = None) -> Model:
        """Return the model that answers in a conversation."""
        return self._given_model or find_model(self.settings, self._choose_model(key, name))

    def private_history(self, key: str) -> list[Message] | None:
        """Return what was said in private, if there is such a conversation."""
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

        With another `trust`, such as "stranger", what is learned from them waits, and none of them
        enters a prompt of another conversation.
        """
        self.meter.check_room()
        now = to_millisecond(self.now())
        stamped = [one if one.timestamp else replace(one, timestamp=now) for one in messages]
        # Queued before it is stored: nothing can then be trimmed from a conversation unlearned.
        self._enqueue(key, [queued for one in stamped for queued in self._act_on(key, one, trust)])
        stored = [_describe(one, trust) for one in stamped]
        self.conversations.add_messages(key, stored, audience=audience)
        self._background.read_soon(key)
        self._background.make_vectors_soon()

    def _act_on(self, key: str, message: Message, trust: str) -> list[Queued]:
        """Act on a request in a message of the user; return what is to be learned from it."""
        if message.role != "user":
            return [Queued(message, _find_trust(message), _name_source(message))]
        # Somebody else's words must change no memory, so their requests are only learned from.
        if trust != "user":
            return [Queued(message, trust)]
        here = self.now()
        now = message.timestamp.astimezone(here.tzinfo) if message.timestamp else here
        # Nobody can be asked here whether to keep a secret as it is, so it is masked.
        done = commands.carry_out_commands(
            message.text, self.memory, self.learning, key=key, now=now, secrets="mask"
        )
        return turns.queue_request(message, done, ())

    def settle_messages(self) -> None:
        """Hide the messages that forgotten facts rest on, and show those of facts that are back."""
        self.stores.settle_messages()

    def show_version(self, key: str, message_id: int) -> None:
        """Show another version of a message and of what followed it, and learn from that."""
        before = {one.id: one for one in self.conversations.messages(key)}
        self.conversations.show_version(key, message_id)
        after = {one.id: one for one in self.conversations.messages(key)}
        # Facts of a version that is no longer shown are no longer what the user says.
        withdraw_replaced(
            self.stores, key, [one.message for one in before.values() if one.id not in after]
        )
        shown = [one for one in after.values() if one.id not in before]
        self._enqueue(key, [queued for one in shown for queued in self._act_again(key, one)])
        self._background.read_soon(key)

    def _act_again(self, key: str, shown: StoredMessage) -> list[Queued]:
        """Return what to learn from a message that is shown again, having kept what it asks to.

        What it asks to forget was forgotten for good: that does not hang on a version.
        """
        wishes = {request.action for request in commands.find_requests(shown.message.text)}
        if shown.trust == "user" and wishes == {"remember"}:
            return self._act_on(key, shown.message, shown.trust)
        return [Queued(shown.message, shown.trust, shown.source)]

    def _enqueue(self, key: str, queued: Sequence[Queued]) -> None:
        if self.settings.learns:
            self.learning.enqueue(key, queued)

    def idle(self, key: str) -> None:
        """Learn from a conversation whose turn is over, if it is time."""
        self._background.learn_if_due(key)

    def note_usage(self, key: str, tokens: int, limit: int) -> None:
        """Flush when so much of the context is used, once in each cycle."""
        if limit > 0 and tokens / limit >= self.settings.flush_threshold:
            self._background.flush_once(key)

    def compaction_start(self, key: str) -> None:
        """Flush before the host shortens the conversation, if this cycle has not."""
        self._background.flush_once(key)

    def compaction_complete(self, key: str) -> None:
        """Begin a new cycle."""
        self.learning.end_cycle(key)

    def handle_event(self, name: str, payload: Mapping[str, Any] | None = None) -> bool:
        """Act on an event of another host; False for one that we do not know."""
        given = payload or {}
        if name not in host_events.KNOWN:
            return False
        key = check_key(host_events.read_key(given))
        if name in host_events.IDLE:
            spoken = host_events.read_messages(given)
            if spoken:
                self.record(key, spoken)
            self.idle(key)
        elif name in host_events.USAGE:
            self.note_usage(key, *host_events.read_usage(given))
        elif name in host_events.COMPACTION_START:
            self.compaction_start(key)
        else:
            self.compaction_complete(key)
        return True

    # Learning.

    def flush(self, key: str | None = None) -> None:
        """Learn now from all that waits, of one conversation or of all, and wait for it."""
        self._background.flush(key)

    def learn_due(self) -> bool:
        """Learn from all that it is time for, and wait for it; whether something is left."""
        return self._background.learn_due()

    def hand_learning_over(self, start: Callable[[Sequence[str]], bool]) -> None:
        """Begin another program with `start`, at the end, for what a model is to learn from.

        It is given the conversations to flush, and returns whether it has started one.
        """
        self._background.hand_over = start

    def wait(self) -> None:
        """Wait until the background has done what it was asked to."""
        self._background.thread.wait()

    def learnt(self) -> list[LearnedFact]:
        """Return what was learned in the background since the last call."""
        return self._background.thread.take_learned()

    def on_news(self, callback: Callable[[], None] | None) -> None:
        """Call `callback`, on any thread, when there is something in `learnt` or `problems`."""
        self._background.thread.on_news = callback

    def problems(self) -> list[str]:
        """Return what went wrong in the background since the last call."""
        return self._background.thread.take_problems()

    def close(self, *, flush: bool = True) -> None:
        """Finish what is under way; with `flush` learn from all that waits as well."""
        with closing(self.stores):
            self._background.close(flush=flush)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _describe(message: Message, trust: str) -> NewMessage:
    """Return a message with its trust: an answer to a stranger is trusted as the stranger."""
    is_of_others = trust != "user" and _find_trust(message) != "tool"
    return NewMessage(message, trust=trust if is_of_others else None, source=_name_source(message))


def _find_trust(message: Message) -> str:
    return {"user": "user", "assistant": "assistant"}.get(message.role, "tool")


def _name_source(message: Message) -> str | None:
    return f"tool:{message.name or 'unknown'}" if _find_trust(message) == "tool" else None
