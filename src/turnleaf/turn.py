"""One message and its answer: what is asked for is done, the prompt made, the exchange kept.

A turn reads the memory when it composes its prompt, and its `Reply` has all that it changed.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import UTC, timedelta
from functools import cached_property
from itertools import pairwise
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from turnleaf.context_search import find_context
from turnleaf.core.keys import Reader, is_shared
from turnleaf.core.learning.extraction import MESSAGE_CHARS
from turnleaf.core.learning.memory_requests import find_request
from turnleaf.core.learning.queue import Queued
from turnleaf.core.memory_limits import LEARNED, Room, find_room
from turnleaf.core.messages import Message, NewMessage
from turnleaf.core.model_dialogue import Event, Silence, Text, ToolResult, Usage
from turnleaf.core.prompt import composer as composing
from turnleaf.core.prompt.builders import FactForm, cut_to_ends
from turnleaf.core.prompt.citations import (
    WITH_MARKS,
    Citations,
    MarkRemover,
    find_cited,
    find_quoted,
    name_passage,
)
from turnleaf.core.prompt.composer import Document, Explanation, PromptComposer
from turnleaf.core.prompt.escaping import escape_passage
from turnleaf.core.search.message_filters import make_reason, note_newer
from turnleaf.core.search.ranking import KINDS, PROMPT_LIMIT
from turnleaf.core.serialization import to_millisecond
from turnleaf.core.tokens import count_content_chars, find_prompt_budget, has_room_for_tools
from turnleaf.core.window import drop_repeated, trim_to_limits
from turnleaf.errors import ModelError, SettingsError
from turnleaf.llm.vector_scoring import find_judge
from turnleaf.memory_commands import (
    CommandResult,
    carry_out_commands,
    explain_silence,
    find_confirmed,
    refuse_in_private,
)
from turnleaf.quoting import QuoteSearch, quote_documents, quote_statements
from turnleaf.store.erasure import withdraw_replaced
from turnleaf.store.schedules import find_local_zone, find_zone
from turnleaf.tools import MemoryTools, ToolContext

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence
    from datetime import datetime, tzinfo

    from turnleaf.core.changes import Change
    from turnleaf.core.memories import Memory, MemoryView
    from turnleaf.core.model_dialogue import Model, Prompt
    from turnleaf.core.search.ranking import Hit
    from turnleaf.settings import Settings
    from turnleaf.store.contracts import AnswerClaim, Stores

LONGEST_DAYS = 36_500
FACT_CHARS = 26
"""What a fact takes in a prompt besides its words: bullet, day and id."""
CERTAIN_SHARE = 1 / 3
"""Facts of so small a part of a prompt's tokens always have room: a character is about a token."""
CHANGING = frozenset({"append_memory", "manage_memory"})
"""The tools that change facts."""
REPORTED = frozenset({"add", "revive", "update", "delete"})
"""The changes of facts that a turn reports."""
MAX_EXCHANGE = 50
"""How many messages an exchange may have, with tools, to be told again as one."""


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer, what was saved and removed at the user's request, and what shaped it.

    `changes` is what the turn changed in the memory, at the user's request or by a tool, each
    under the number that undoes it; `pending` are facts that a tool put up for review. The
    explanation says what was in the prompt, `cited` what of it the answer rests on. The ids are
    those of the stored messages; a private conversation has none. One that `lacks_model` is the
    first in its conversation that only quotes, because no model is set up. One that
    `asks_to_keep` has kept nothing of a secret, and asks whether to keep it as it is.
    """

    text: str
    saved: tuple[Memory, ...] = ()
    removed: tuple[Memory, ...] = ()
    changes: tuple[Change, ...] = ()
    pending: tuple[Memory, ...] = ()
    explanation: Explanation = field(default_factory=Explanation)
    cited: Citations = field(default_factory=Citations)
    usage: Usage | None = None
    question_id: int | None = None
    answer_id: int | None = None
    lacks_model: bool = False
    asks_to_keep: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class TurnRequest:
    """What a user says in one turn.

    `history` is given where somebody else keeps the conversation, with the `instructions` of
    their assistant. With `is_again` it may be what was said last: then it takes the place of that
    exchange. `after` is the message that it follows, 0 for a new beginning. With `is_resumed`
    somebody takes an old conversation up again. `audience` says who may find it, `speaker` who
    of several people says it. Whoever has another `trust` than "user" is answered, but changes
    no memory; `source` names where such words come from. With `keeps_secrets` a password that is to
    be remembered is kept as it is; otherwise the user is asked first.
    """

    text: str
    documents: tuple[Document, ...] = ()
    history: Sequence[Message] | None = None
    instructions: str = ""
    is_again: bool = False
    after: int | None = None
    is_resumed: bool = False
    audience: str | None = None
    speaker: str | None = None
    trust: str = "user"
    source: str | None = None
    keeps_secrets: bool = False


@dataclass(frozen=True, slots=True)
class Composed:
    """The beginning of a turn: what the model is told, and what went into it."""

    prompt: Prompt
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Changed:
    """Facts that the turn has just changed, at the user's request or by a tool."""

    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a turn: it is stored."""

    reply: Reply


TurnEvent: TypeAlias = Event | Composed | Changed | Done


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What holds when a turn begins: the stores, the settings, the model, the clock."""

    stores: Stores
    settings: Settings
    model: Model | SettingsError
    """The model that answers, or why there is none."""
    clock: Callable[[], datetime]

    @property
    def context_window(self) -> int | None:
        """How many tokens the model's context has, where that is known."""
        return getattr(self.model, "context_window", None)

    @property
    def answers_at_once(self) -> bool:
        """Whether there is no model to wait for; storing a question by itself costs a little."""
        return isinstance(self.model, SettingsError) or self.only_recalls

    @property
    def only_recalls(self) -> bool:
        """Whether there is no model, and what is remembered is quoted."""
        return not isinstance(self.model, SettingsError) and self.model.name == "recall"

    def find_model(self) -> Model:
        """Return the model; raise SettingsError when there is none."""
        if isinstance(self.model, SettingsError):
            raise self.model
        return self.model


class Turn:
    """One message and its answer."""

    def __init__(
        self, context: TurnContext, key: str, request: TurnRequest, *, is_private: bool
    ) -> None:
        self._own = context
        self._is_private = is_private
        self._key = key
        self._asked = request
        self._text = request.text
        self._documents = request.documents
        self._is_again = request.is_again or self._is_sent_again()
        # Files keep milliseconds, and by this time the stored question is found again.
        self._started = to_millisecond(context.clock())
        self._zone = _find_zone(self._started)
        self._ids: list[int] = []
        self._opened: int | None = None
        self._said: list[str] = []
        self._saved: list[str] = []
        self._changes: list[Change] = []
        self._usage: Usage | None = None
        self._sources: dict[str, str] = {}
        self._marks = MarkRemover(())
        settings, window = context.settings, context.context_window
        self._max_tokens = find_prompt_budget(settings.prompt_max_tokens, window)
        self._has_tools = self._may_use_tools(settings, window)
        self._composer = self._make_composer()
        self._done = CommandResult()
        self._keeping = Lock()
        self._claim: AnswerClaim | None = None
        self._is_discarded = False
        self._lacks_model = False

    def preview(self, private: Sequence[Message] | None = None) -> Composed:
        """Compose what a model would be given, set up or not; in private the history is given."""
        return self._compose(private, is_preview=True)

    def answer(self) -> Generator[TurnEvent]:
        """Answer, and keep the exchange."""
        try:
            yield from self._answer_and_keep()
        finally:
            if self._claim:
                self._claim.end()

    def _answer_and_keep(self) -> Generator[TurnEvent]:
        own = self._own
        # Before the prompt is composed: it must not quote what was learned from a replaced message.
        if self._replaced_messages and not self._is_again:
            self._store_question()
            withdraw_replaced(own.stores, self._key, self._replaced_messages)
        # Somebody else's request changes no memory.
        if self._is_trusted:
            self._carry_out_commands()
        composed = self._compose()
        # A model may think for minutes, and a kill meanwhile must not take the question along.
        if not own.answers_at_once:
            self._store_question()
        try:
            yield composed
            yield from self._confirm()
            if not self._is_settled:
                yield from self._stream_model(composed.prompt)
        # Closed or interrupted: what was said until then was said, and is kept.
        except (GeneratorExit, KeyboardInterrupt):
            self._keep("stopped")
            raise
        except Exception:
            self._keep("failed")
            raise
        yield Done(self._keep_whole())

    def _carry_out_commands(self) -> None:
        """Act on requests in the message, or on one that it confirms to keep as it is."""
        stores = self._own.stores
        confirmed = find_confirmed(self._text, self._read_history()[0])
        is_kept = bool(confirmed) or self._asked.keeps_secrets
        self._done = carry_out_commands(
            confirmed or self._text,
            stores.facts,
            stores.learning,
            key=self._key,
            now=self._started,
            secrets="keep" if is_kept else "ask",
        )
        # Before the request is stored, and not with the next search: messages of a forgotten fact
        # are hidden at once, and who says again what was forgotten elsewhere is not hidden.
        if self._done.confirmation:
            stores.settle_messages()

    def answer_in_private(self, history: list[Message]) -> Generator[TurnEvent]:
        """Answer without memory; the exchange is added to the history, and kept nowhere else."""
        prompt = self._make_private_prompt(history)
        yield Composed(prompt, self._composer.explain())
        refusal = refuse_in_private(self._text)
        model = self._own.find_model()
        is_whole = bool(refusal) and model.name == "recall"
        try:
            if refusal:
                yield self._note(Text(refusal if is_whole else f"{refusal}\n\n"))
            for event in () if is_whole else model.stream(prompt):
                yield self._note(event)
        finally:
            # In private too, or the next message would answer to nothing.
            if self._said:
                history += [Message("user", self._text), Message("assistant", self._answer)]
        explanation = self._composer.explain()
        yield Done(
            Reply(
                self._answer,
                explanation=explanation,
                usage=self._usage,
                lacks_model=self._lacks_model,
            )
        )

    def discard(self) -> None:
        """Keep nothing of it from now on: its conversation is to be erased."""
        with self._keeping:
            self._is_discarded = True

    @cached_property
    def _audience(self) -> str:
        """Who may find what is said here."""
        given = self._asked.audience
        return self._own.stores.conversations.audience(self._key) if given is None else given

    @property
    def _is_trusted(self) -> bool:
        return self._asked.trust == "user"

    @property
    def _is_settled(self) -> bool:
        """Whether the confirmation is the whole answer: without a model nothing is added to it."""
        return bool(self._done.confirmation) and self._own.only_recalls

    def _may_use_tools(self, settings: Settings, window: int | None) -> bool:
        """Whether the model may use tools: somebody else's words must not move it to."""
        is_allowed = settings.enabled and self._is_trusted and not self._is_private
        return is_allowed and has_room_for_tools(window)

    @property
    def _reader(self) -> Reader:
        return Reader(self._key, self._audience, is_prompt=True)

    @property
    def _answer(self) -> str:
        return "".join(self._said)

    def _compose(
        self, private: Sequence[Message] | None = None, *, is_preview: bool = False
    ) -> Composed:
        if private is None:
            prompt = self._make_prompt(is_preview=is_preview)
        else:
            prompt = self._make_private_prompt(private)
        return Composed(prompt, self._composer.explain())

    def _make_composer(self) -> PromptComposer:
        standing = self._own.settings.instructions
        has_memory = self._own.settings.enabled and not self._is_private
        parts = (
            composing.SYSTEM_PROMPT,
            composing.WITH_TOOLS if self._has_tools else "",
            WITH_MARKS if has_memory else "",
            f"{composing.STANDING}\n{escape_passage(standing)}" if standing else "",
            self._asked.instructions,
        )
        system = "\n\n".join(filter(None, parts))
        form = FactForm(self._zone, has_ids=has_memory)
        return PromptComposer(system, max_tokens=self._max_tokens, form=form)

    def _make_prompt(self, *, is_preview: bool) -> Prompt:
        own = self._own
        history, breaks = self._read_history()
        self._note_lack(history)
        notes = [_describe_time(self._started, self._zone), *breaks, *self._done.notes]
        if not own.settings.enabled:
            return replace(self._compose_without_memory(history, notes), is_learned=False)
        memory = own.stores.facts.view()
        # Nobody reads a prompt beside a confirmation that is the whole answer.
        hits = () if self._is_settled else self._find_hits(history, memory)
        shown = hits
        if is_preview and own.only_recalls:
            shown = self._find_context(history)
        prompt = self._composer.compose(
            self._text,
            memories=memory.facts,
            page=memory.page,
            scores=None if self._is_settled else self._score_facts(memory.facts),
            # What was said here and lines of files are no stored passages, and the prompt has them
            # anyway.
            hits=[hit for hit in shown if hit.source in KINDS],
            history=history,
            documents=self._documents,
            notes=notes,
        )
        self._note_sources(memory.facts)
        return replace(
            prompt,
            found=(*self._quote_documents(), *hits),
            facts=tuple(memory.facts),
            is_learned=own.settings.learns,
            has_room=self._has_room_beside(memory.facts),
        )

    def _note_lack(self, history: Sequence[Message]) -> None:
        """Note whether this is the first answer that only quotes; a request is not answered so."""
        own = self._own
        is_answered = any(one.role == "user" and not find_request(one.text) for one in history)
        is_first = not is_answered and not find_request(self._text)
        self._lacks_model = own.only_recalls and own.settings.model is None and is_first

    def _note_sources(self, facts: Sequence[Memory]) -> None:
        """Keep what an answer can rest on, by the ids in the prompt; parts of a message are one."""
        shown = self._composer.explain()
        texts = {fact.id: fact.content for fact in facts}
        self._sources = {one: texts[one] for one in shown.memories}
        for at, hit in enumerate(shown.hits):
            parts = [one.text for one in shown.hits if _is_same_message(one, hit)]
            self._sources[name_passage(at)] = "\n".join(parts)
        self._marks = MarkRemover((*self._sources,))

    def _find_cited(self) -> Citations:
        """Return what the answer rests on; what answers without a model quotes it."""
        is_quoting = self._own.answers_at_once
        found = (
            find_quoted(self._answer, self._sources)
            if is_quoting
            else find_cited(self._answer, self._marks.marks, self._sources)
        )
        shown = self._composer.explain()
        hits = [hit for at, hit in enumerate(shown.hits) if name_passage(at) in found]
        return Citations(tuple(one for one in shown.memories if one in found), tuple(hits))

    def _score_facts(self, facts: Sequence[Memory]) -> dict[str, float] | None:
        """Return how near facts are to the message, by their ids, where not all may have room."""
        chars = sum(len(fact.content) + FACT_CHARS for fact in facts)
        # Most memories fit, and then no search is needed to decide which facts stay.
        if chars < self._max_tokens * CERTAIN_SHARE:
            return None
        hits = self._own.stores.passages.search(
            cut_to_ends(self._text), PROMPT_LIMIT, source="memory", floor=False, reader=self._reader
        )
        # Backwards, so that of several hits of one fact the best remains.
        return {hit.id: hit.score for hit in reversed(hits) if hit.id}

    def _has_room_beside(self, facts: Sequence[Memory]) -> bool:
        """Whether one more fact could be learned."""
        settings = self._own.settings
        limits = Room(settings.memory_max_items, settings.memory_max_chars)
        return (find_room(LEARNED, limits) - Room.of(facts)).items > 0

    def _find_hits(self, history: Sequence[Message], memory: MemoryView) -> Sequence[Hit]:
        """Return what the model that answers is given; without a model, what is quoted."""
        own = self._own
        if not own.only_recalls:
            return self._find_context(history)
        search = QuoteSearch(
            own.stores.passages,
            self._reader,
            self._started.date(),
            memory.facts,
            find_judge(own.settings),
            is_owner_alone=self._is_trusted and not is_shared(self._key),
        )
        return self._note_newer(search.find(self._text, self._list_said(history)))

    def _find_context(self, history: Sequence[Message]) -> Sequence[Hit]:
        """Return what fits the message, and is neither said nor replaced in this conversation."""
        own = self._own
        hits = find_context(
            self._text,
            own.stores.passages,
            self._started.date(),
            reader=self._reader,
            budget_tokens=own.settings.context_max_tokens,
            history=self._list_said(history),
        )
        return self._note_newer(hits)

    def _list_said(self, history: Sequence[Message]) -> Sequence[Message]:
        # The question itself may be stored already, and would fit best of all.
        return [*history, *self._replaced_messages, *self._find_opened()]

    def _note_newer(self, hits: Sequence[Hit]) -> Sequence[Hit]:
        return note_newer(hits, lambda: self._record)

    def _quote_documents(self) -> tuple[Hit, ...]:
        """Return what of the attached files answers the message, where no model reads them."""
        is_asked = self._own.only_recalls and not self._is_settled and bool(self._documents)
        return quote_documents(self._text, self._documents) if is_asked else ()

    @cached_property
    def _record(self) -> Sequence[Change]:
        """The record of changes, with what was changed at the user's request."""
        return self._own.stores.facts.changes()

    def _compose_without_memory(self, history: Sequence[Message], notes: Sequence[str]) -> Prompt:
        return self._composer.compose(
            self._text, history=history, documents=self._documents, notes=notes
        )

    def _make_private_prompt(self, history: Sequence[Message]) -> Prompt:
        self._note_lack(history)
        prompt = self._compose_without_memory(history, [_describe_time(self._started, self._zone)])
        found = self._quote_documents()
        if self._own.only_recalls:
            found += quote_statements(self._text, history, find_judge(self._own.settings))
        return replace(prompt, is_learned=False, found=found)

    def _read_history(self) -> tuple[Sequence[Message], list[str]]:
        """Return what was said before, and when the conversation lay still for long."""
        if self._asked.history is not None:
            return self._asked.history, []
        own = self._own
        if self._asked.after is None:
            said = self._read_window()
            history = drop_repeated(said, self._text if self._is_again else None)
        else:
            history = self._read_history_until(self._asked.after)
        silence = timedelta(days=min(own.settings.conversation_max_age_days, LONGEST_DAYS))
        return history, _describe_breaks(history, self._started, silence)

    def _read_window(self) -> Sequence[Message]:
        conversations = self._own.stores.conversations
        if not self._asked.is_resumed:
            return conversations.get_history(self._key)
        return [one.message for one in conversations.window(self._key, resumed=True)]

    def _read_history_until(self, message_id: int) -> Sequence[Message]:
        """Return the window that ends with a message, which something else is to follow."""
        settings = self._own.settings
        limit = settings.conversation_max_turns
        said: list[Message] = []
        before: int | None = message_id + 1
        # Hidden messages take no place in a window, so there may be more to read.
        while before is not None and len(said) < limit:
            shown = self._own.stores.conversations.messages(self._key, before=before, limit=limit)
            said = [*(one.message for one in shown if not one.is_hidden), *said]
            before = shown[0].id if len(shown) == limit else None
        return trim_to_limits(said, limit, settings.conversation_max_chars, _count_chars)

    def _is_sent_again(self) -> bool:
        """Whether whoever keeps the conversation does not know its last answer."""
        known = self._asked.history
        if known is None or self._asked.after is not None:
            return False
        kept = self._own.stores.conversations.get_history(self._key)
        return not (kept and known and known[-1].text == kept[-1].text)

    def _confirm(self) -> Iterator[TurnEvent]:
        """Confirm what was done at the user's request."""
        if self._done.confirmation:
            yield self._note(Text(self._done.confirmation))
        if self._done.saved or self._done.removed:
            yield from self._report_changes(self._record)

    def _report_changes(self, record: Sequence[Change]) -> Iterator[Changed]:
        """Report what this turn changed since it was reported last."""
        new = [one for one in record if self._is_own(one) and one not in self._changes]
        self._changes += new
        if new:
            yield Changed(tuple(new))

    def _is_own(self, change: Change) -> bool:
        """Whether this turn made a change, at the user's request or by a tool."""
        is_here = change.source is not None and change.source.conversation == self._key
        is_of_turn = change.origin in {"request", "tool"} and change.op in REPORTED
        # Another turn of the same conversation may have made changes before this one began.
        return is_here and is_of_turn and change.time >= self._started

    def _stream_model(self, prompt: Prompt) -> Iterator[TurnEvent]:
        gap = "\n\n" if self._said else ""
        try:
            model = self._own.find_model()
            tools = self._make_tools() if self._has_tools else None
            for event in self._without_marks(model.stream(prompt, tools)):
                if isinstance(event, Text) and gap:
                    event, gap = Text(gap + event.text), ""  # noqa: PLW2901
                yield self._note(event)
                if isinstance(event, ToolResult) and event.name in CHANGING:
                    # Tools may run in another process, so what they changed is read from the
                    # record.
                    yield from self._report_changes(self._own.stores.facts.changes())
        except (ModelError, SettingsError) as error:
            # What was asked for is done; it must be said and kept although the model failed.
            if not self._done.confirmation:
                raise
            yield self._note(Text(f"\n\n{explain_silence(self._text, str(error))}"))

    def _without_marks(self, events: Iterator[Event]) -> Iterator[Event]:
        """Take out the marks; whatever else happens, the text before it is said first."""
        for event in events:
            text = self._marks.feed(event.text) if isinstance(event, Text) else ""
            if not isinstance(event, Text | Silence):
                # Text that was held back was said before the tool was called, and has to come
                # before it.
                text = self._marks.finish()
            if text:
                yield Text(text)
            if not isinstance(event, Text):
                yield event
        if rest := self._marks.finish():
            yield Text(rest)

    def _note(self, event: Event) -> Event:
        """Keep what an event says for the end of the turn; return it."""
        if isinstance(event, Text):
            self._said.append(event.text)
        elif isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, ToolResult):
            self._saved += _find_saved(event.result)
        return event

    def _make_tools(self) -> MemoryTools:
        context = ToolContext(
            self._key,
            tuple(memory.id for memory in self._done.saved),
            tuple(document.name for document in self._documents),
            self._text,
            self._audience,
        )
        return MemoryTools(self._own.stores, context)

    def _keep_whole(self) -> Reply:
        self._keep("complete")
        # A model that said nothing has no message.
        question_id, answer_id = (*self._ids, None, None)[:2]
        return Reply(
            self._answer,
            self._done.saved,
            self._done.removed,
            tuple(self._changes),
            self._find_pending(),
            self._composer.explain(),
            self._find_cited(),
            self._usage,
            question_id,
            answer_id,
            self._lacks_model,
            self._done.asks_to_keep,
        )

    def _find_pending(self) -> tuple[Memory, ...]:
        """Return the facts that a tool put up for review; it does so beside a document alone."""
        if not (self._documents and self._saved):
            return ()
        pending = self._own.stores.pending.get_all()
        return tuple(fact for fact in pending if fact.id in self._saved)

    def _keep(self, status: str) -> None:
        """Queue the exchange, then store it: nothing can leave a conversation unqueued.

        Of an answer that was stopped or broke off, what was said so far was said.
        """
        with self._keeping:
            if not self._is_discarded:
                self._queue_and_store(status)

    def _queue_and_store(self, status: str) -> None:
        own = self._own
        said = self._question
        answered = Message("assistant", self._answer, own.clock()) if self._said else None
        if answered is None and not own.stores.conversations.keeps_everything:
            return
        # An exchange that is told again was learned from the first time.
        if own.settings.learns and not (self._is_again and self._replaced_messages):
            own.stores.learning.enqueue(self._key, self._make_queued(said, answered))
        self._ids = self._add(self._describe_exchange(said, answered, status))
        # The request itself repeats what is to be forgotten.
        for fact in self._done.removed if own.stores.conversations.keeps_everything else ():
            own.stores.conversations.hide(self._key, [self._started], make_reason(fact.id))

    def _describe_exchange(
        self, said: Message, answered: Message | None, status: str
    ) -> list[NewMessage]:
        """Describe what is known of both; an answer is trusted as what it was given beside."""
        theirs = None if self._is_trusted else self._asked.trust
        source = self._asked.source if theirs else None
        if answered is None:
            return [NewMessage(said, status, theirs, source)]
        document = next((f"document:{one.name}" for one in self._documents), None)
        # An answer beside a document may repeat what that says, so it is trusted no more than it.
        trust = "document" if document else theirs
        answer = NewMessage(answered, status, trust, document or source, self._describe_prompt())
        return [NewMessage(said, trust=theirs, source=source), answer]

    def _store_question(self) -> None:
        """Store what was said before it is answered, as stopped: a kill must not take it along."""
        with self._keeping:
            is_stored = (
                self._opened is not None or not self._own.stores.conversations.keeps_everything
            )
            if not (is_stored or self._is_discarded):
                described = self._describe_exchange(self._question, None, "stopped")
                (self._opened,) = self._add(described)
                self._claim = self._own.stores.conversations.claim(self._opened)

    def _find_opened(self) -> list[Message]:
        """Return the question, if it is stored and could be found as something that was said."""
        return [] if self._opened is None else [self._question]

    def _add(self, messages: Sequence[NewMessage]) -> list[int]:
        """Store messages where they belong, or what is left of an exchange that was begun."""
        asked = self._asked
        is_begun = self._opened is not None
        return self._own.stores.conversations.add_messages(
            self._key,
            messages,
            # The question that is stored already has taken its place.
            again=self._text if self._is_again and not is_begun else None,
            after=None if is_begun else asked.after,
            resumed=asked.is_resumed,
            audience=asked.audience,
            opened=self._opened,
        )

    @cached_property
    def _question(self) -> Message:
        return Message("user", self._text, self._started, name=self._asked.speaker)

    @cached_property
    def _replaced_messages(self) -> list[Message]:
        """What was shown before this turn, and gives way to what is said in it."""
        conversations, after = self._own.stores.conversations, self._asked.after
        if after is not None:
            shown = conversations.messages(self._key)
            return [one.message for one in shown if one.id > after]
        last = conversations.messages(self._key, limit=MAX_EXCHANGE) if self._is_again else []
        said = [one.message for one in last]
        return said[len(drop_repeated(said, self._text)) :]

    def _describe_prompt(self) -> dict[str, Any]:
        """Name what went into the prompt, without its text: that may be erased one day."""
        explanation, cited = self._composer.explain(), self._find_cited()
        return {
            "memories": list(explanation.memories),
            "hits": [
                _describe_hit(hit) | ({"cited": True} if hit in cited.hits else {})
                for hit in explanation.hits
            ],
            "cited": list(cited.memories),
        }

    def _make_queued(self, said: Message, answered: Message | None) -> list[Queued]:
        documents = [
            Queued(_cut_document(one, self._started), "document", f"document:{one.name}")
            for one in self._documents
        ]
        answer = [Queued(answered, "assistant")] if answered else []
        if not self._is_trusted:
            return [*documents, Queued(said, self._asked.trust, self._asked.source)]
        return [*documents, *queue_request(said, self._done, self._saved), *answer]


def queue_request(message: Message, done: CommandResult, saved: Sequence[str]) -> list[Queued]:
    """Queue what the user said: a request is settled, and what else was said is learned from."""
    ids = (*(memory.id for memory in done.saved), *saved)
    queued = [Queued(message, "user", None, ids, bool(done.confirmation))]
    if done.rest:
        queued.append(Queued(replace(message, content=done.rest), "user", None, ids))
    return queued


def _cut_document(document: Document, now: datetime) -> Message:
    """Return what will be read of a document when facts are extracted."""
    return Message("user", document.text[:MESSAGE_CHARS], now)


def _find_saved(result: str) -> list[str]:
    """Return the id of the fact that a tool saved or changed."""
    try:
        record = json.loads(result)
        is_saved = record["success"] and "content" in record and isinstance(record["id"], str)
    except (ValueError, TypeError, KeyError):
        return []
    return [record["id"]] if is_saved else []


def _count_chars(message: Message) -> int:
    return count_content_chars(message.content)


def _describe_breaks(history: Sequence[Message], now: datetime, silence: timedelta) -> list[str]:
    """Describe when nobody wrote for longer than a conversation usually lasts."""
    times = [*(one.timestamp for one in history if one.timestamp), now]
    pauses = [(one, other) for one, other in pairwise(times) if other - one > silence]
    return [
        f"This conversation paused on {before:%Y-%m-%d} and was taken up again on {after:%Y-%m-%d}."
        for before, after in pauses
    ]


def _describe_time(now: datetime, zone: tzinfo) -> str:
    """Describe the day, the time and the zone in which a message was written."""
    offset = now.isoformat(timespec="minutes")[len("2026-11-16T12:00") :]
    name = getattr(zone, "key", "UTC")
    where = f"UTC{offset}" if name == "UTC" else f"UTC{offset}, {name}"
    return f"Today is {now:%Y-%m-%d}, {now:%A}, and it is {now:%H:%M} ({where})."


def _find_zone(now: datetime) -> tzinfo:
    """Return the zone of a clock: the machine's by its name, or else whatever offset it has."""
    named = find_zone(find_local_zone())
    # The clock may be another one than the machine's, and then its offset is all that is known.
    is_named = now.astimezone(named).utcoffset() == now.utcoffset()
    return named if is_named else now.tzinfo or UTC


def _is_same_message(one: Hit, other: Hit) -> bool:
    return one is other or (one.message is not None and one.message == other.message)


def _describe_hit(hit: Hit) -> dict[str, Any]:
    """Return where a passage stands; of a message its id says all."""
    score = {"score": round(hit.score, 3)} if hit.is_judged else {}
    if hit.message is not None:
        return {"source": hit.source, "message": hit.message, **score}
    named = {
        "source": hit.source,
        "path": hit.path.name,
        "line": hit.line,
        "date": hit.date,
        "id": hit.id,
        **score,
    }
    return {key: value for key, value in named.items() if value is not None}
