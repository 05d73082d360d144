"""Requests of the user to the memory, carried out in their turn: remember this, forget that."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from turnleaf.core import markdown
from turnleaf.core.changes import Source
from turnleaf.core.languages.language import DEFAULT, detect_language
from turnleaf.core.languages.replies import choose_words, find_replies, list_openings, translate
from turnleaf.core.languages.words import find_pattern
from turnleaf.core.learning.dates import make_dates_absolute
from turnleaf.core.learning.findings import find_sure_facts
from turnleaf.core.learning.memory_requests import find_meant, find_request, is_everything, may_ask
from turnleaf.core.learning.reconciling import find_same, judge, read_claim
from turnleaf.core.memories import Memory
from turnleaf.core.page_drafts import merge_saves
from turnleaf.core.search.terms import simplify
from turnleaf.core.secrets import mask_fact, mask_secrets
from turnleaf.errors import Conflict, MemoryFull

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import date

    from turnleaf.core.learning.memory_requests import Request
    from turnleaf.core.learning.queue import Outgoing
    from turnleaf.core.learning.slots import Statement
    from turnleaf.core.memories import Remembered
    from turnleaf.core.messages import Message
    from turnleaf.store.contracts import Facts, LearningQueue

ORIGIN = "request"
MOST_NAMED = 10
LONG_AGO = datetime.min.replace(tzinfo=UTC)
MERGE_TRIES = 100
MAX_REQUESTS = 20
"""What one message may ask for; what it asks for beyond that stays in the words of the last."""
_MAX_TRIED = 60
_WISH_CHARS = 100
_CLAUSE_ENDS = frozenset(",;!?\n，。；！？、")
_SENTENCE_END = re.compile(r"(?<=\w)[.](?=\s+\S)|[。！？!?\n]")
_MAX_REPEATED = 300
_MAX_DATED_WISH = 300
_MAX_YES = 60
Secrets: TypeAlias = Literal["ask", "keep", "mask"]

REPLIES = "memory"


@dataclass(frozen=True, slots=True)
class CommandResult:
    """What was done at the user's request, how it is confirmed, and what else the message says."""

    confirmation: str = ""
    saved: tuple[Memory, ...] = ()
    removed: tuple[Memory, ...] = ()
    rest: str = ""
    asks_to_keep: bool = False
    """Whether nothing was kept of a secret, and the user is asked to confirm it."""

    @property
    def notes(self) -> list[str]:
        """What the model is told, so that it does not do it again."""
        if not self.confirmation:
            return []
        told = f"The memory has acted on this already, and the user is told: {self.confirmation}"
        return [f"{told} Do not save or delete it again, and do not repeat that."]


def carry_out_commands(
    text: str,
    memory: Facts,
    learning: LearningQueue,
    *,
    key: str,
    now: datetime,
    secrets: Secrets = "ask",
) -> CommandResult:
    """Act on a message that begins with a request, one after the other if there are several.

    `now` is when it was said, in the user's time zone: dates in it are counted from that day.
    `secrets` says what becomes of passwords and the like: the user is asked whether to "keep"
    them, or they are masked where nobody can be asked.
    """
    requests = find_requests(text)
    if not requests:
        return CommandResult()
    facts = memory.get_all()
    words = choose_words(text, REPLIES, earlier=(fact.content for fact in facts))
    # The record of changes keeps these words, and must hold no secret either.
    source = Source(quote=mask_secrets(text), conversation=key, message_time=now, trust="user")
    commands = _Commands(memory, learning, source, words, now, facts, secrets)
    done = [commands.carry_out(request) for request in requests]
    return CommandResult(
        "\n".join(one.confirmation for one in done),
        tuple(memory for one in done for memory in one.saved),
        tuple(memory for one in done for memory in one.removed),
        " ".join(one.rest for one in done).strip(),
        any(one.asks_to_keep for one in done),
    )


def find_confirmed(text: str, history: Sequence[Message]) -> str:
    """Return the request that a message confirms: to keep what was asked about as it is, or ""."""
    # A long message that begins with "yes" says something else as well.
    if len(text) > _MAX_YES or not find_pattern("memory", "yes").search(simplify(text)):
        return ""
    asked = next((one.text for one in reversed(history) if one.role == "assistant"), "")
    # Only right after the question, so that "yes" means nothing else. No secret has to wait
    # anywhere: what is confirmed is read from the conversation.
    if not any(
        opening in simplify(asked) for opening in map(simplify, list_openings(REPLIES, "keep"))
    ):
        return ""
    return next((one.text for one in reversed(history) if one.role == "user"), "")


def find_requests(text: str) -> list[Request]:
    """Find the request that a message begins with, and those that follow it."""
    found: list[Request] = []
    request, tried = find_request(text), 0
    # What is beyond the limit stays in the words of the last one, so that nothing is lost.
    while request and len(found) < MAX_REQUESTS - 1:
        for end in islice(_find_clause_ends(request.content), _MAX_TRIED - tried):
            tried += 1
            other = find_request(request.content[end + 1 :].strip())
            if other:
                found.append(replace(request, content=request.content[:end].strip()))
                request = other
                break
        else:
            break
    return [*found, request] if request else []


def refuse_in_private(text: str) -> str:
    """Return the refusal of a request in a private conversation; "" where there is none."""
    if find_request(text) is None:
        return ""
    return choose_words(text, REPLIES)["private"]


def explain_silence(text: str, problem: str) -> str:
    """Return why a model did not answer a message whose request is done, in its language."""
    language = detect_language(text)
    said = translate(problem, language.name, is_simplified=language.is_simplified)
    return choose_words(text, REPLIES)["unanswered"].format(said)


@dataclass(frozen=True, slots=True)
class _NewFact:
    """A fact to be kept, until when it holds, and what it is about."""

    content: str
    until: date | None
    slot: str | None


@dataclass(slots=True)
class _Commands:
    """Carries out the requests of one message."""

    memory: Facts
    learning: LearningQueue
    source: Source
    words: Mapping[str, str]
    now: datetime
    facts: list[Memory] | None
    """The memory as it was read last; None when it was changed since."""
    secrets: Secrets

    def carry_out(self, request: Request) -> CommandResult:
        """Do what one request says."""
        if request.action == "remember":
            return self._remember(request.content)
        # A wish to forget names one thing; what follows its sentence is learned from.
        return self._forget(*_cut_first_sentence(request.content))

    def _remember(self, asked: str) -> CommandResult:
        content = asked if self.secrets == "keep" else mask_fact(asked)
        # What is remembered goes to a provider with every prompt, so a secret is asked about first.
        if content != asked and self.secrets == "ask":
            return CommandResult(self._say("keep"), asks_to_keep=True)
        if not content:
            return CommandResult(self._say("secret"))
        dated = make_dates_absolute(content, self.now)
        claim = read_claim(dated.text)
        fact = _NewFact(dated.text, dated.until, claim.slot if claim else None)
        known = self.memory.get_all() if self.facts is None else self.facts
        same = find_same(fact.content, known)
        if same:
            return CommandResult(self._say("known", same.content))
        self.facts = None
        try:
            before = _find_replaced(claim, known)
            if before and (after := self._replace(before, fact)):
                return CommandResult(self._say("replaced", after.content, before.content), (after,))
            saved = self._save(fact)
        except MemoryFull as error:
            return CommandResult(self._explain_refusal(error))
        moved = "".join(self._say("moved", one.content) for one in saved.displaced)
        told = self._say("saved", saved.memory.content)
        return CommandResult(f"{told}{moved}", (saved.memory,))

    def _save(self, fact: _NewFact) -> Remembered:
        """Keep a fact; an older one that says the same comes back instead."""
        older = find_same(fact.content, self.memory.older())
        back = older and self.memory.revive(
            older.id, until=fact.until, origin=ORIGIN, source=self.source, displace=True
        )
        return back or self.memory.remember(
            fact.content, origin=ORIGIN, source=self.source, slot=fact.slot, until=fact.until
        )

    def _explain_refusal(self, error: MemoryFull) -> str:
        """Return why there is no room, and which command makes some."""
        if error.remedy is None:
            return self._say("full", str(error))
        return self._say("filled", error.remedy)

    def _replace(self, before: Memory, fact: _NewFact) -> Memory | None:
        try:
            return self.memory.update(
                before.id,
                fact.content,
                expected=before.content,
                origin=ORIGIN,
                source=self.source,
                slot=fact.slot,
                until=fact.until,
            )
        except Conflict:
            return None

    def _forget(self, wanted: str, rest: str) -> CommandResult:
        # Which of several is meant is the user's to say: nothing is deleted on a guess.
        if len(found := self._find_meant(wanted)) > 1:
            return CommandResult("\n".join([self._say("several"), *_list_facts(found)]), rest=rest)
        # Queue, then decisions, then memory: what a worker learns meanwhile moves in this order.
        unlearned = self._unqueue(wanted)
        waiting = [one for one in self.learning.outbox() if find_meant(wanted, [_foresee(one)])]
        # Settled before the memory is read: a worker that was faster has written the fact by
        # then, and one that is slower finds its decision gone and takes the fact back.
        for outgoing in waiting:
            self.learning.settle(outgoing.id)
        found = self._find_meant(wanted)
        self.facts = None
        for one in found:
            self.memory.delete(one.id, origin=ORIGIN, source=self.source)
        written = {one.id for one in found}
        gone = (*found, *(_foresee(one) for one in waiting if one.decision.id not in written))
        if not gone:
            return CommandResult(self._explain_nothing(wanted, unlearned), rest=rest)
        return CommandResult(self._say("removed", gone[0].content), removed=gone, rest=rest)

    def _find_meant(self, wanted: str) -> list[Memory]:
        """Find what is to be forgotten, in the words of the wish or with its dates as kept."""
        known = [*self.memory.get_all(), *self.memory.older()]
        found = find_meant(wanted, known)
        # Dates are only looked for in a short wish: a pasted text would take long.
        if found or len(wanted) > _MAX_DATED_WISH:
            return found
        dated = make_dates_absolute(wanted, self.now).text
        return found if dated == wanted else find_meant(dated, known)

    def _explain_nothing(self, wanted: str, unlearned: Sequence[Memory]) -> str:
        """Return that nothing is remembered; what was said a moment ago is then not learned."""
        if is_everything(wanted):
            return self._say("everything")
        if unlearned:
            return self._say("unlearned", unlearned[0].content)
        return self._say("none", _shorten(wanted))

    def _unqueue(self, wanted: str) -> list[Memory]:
        """Take messages that say it, and that rules have not read, out of the queue.

        Return what they say. Who is reading one at this moment finds it gone and writes nothing.
        """
        key = self.source.conversation or ""
        unlearned: list[Memory] = []
        for queued in self.learning.list_queued(key):
            message = queued.message
            # What rules have read is a decision or a fact by now, and is found there.
            if queued.is_read_by_rules:
                continue
            said = [one.content for one in find_sure_facts(message.text, self.now)]
            facts = [Memory("", content, LONG_AGO, LONG_AGO) for content in said]
            if found := find_meant(wanted, facts):
                self.learning.unqueue(key, {message.timestamp} if message.timestamp else set())
                unlearned += found
        return unlearned

    def _say(self, what: str, *texts: str) -> str:
        return self.words[what].format(*texts)


def _find_clause_ends(text: str) -> Iterator[int]:
    """Find the ends of clauses after which something may be asked for."""
    plain = simplify(text)
    for end, mark in enumerate(text):
        is_end = mark in _CLAUSE_ENDS or (mark == "." and text[end + 1 : end + 2].isspace())
        if is_end and may_ask(plain[end + 1 : end + _WISH_CHARS]):
            yield end


def _find_replaced(claim: Statement | None, known: Sequence[Memory]) -> Memory | None:
    """Return the known fact whose place a fact takes."""
    verdict = judge(claim, known) if claim else None
    return verdict.targets[0] if verdict and verdict.effect == "replaces" else None


def _cut_first_sentence(text: str) -> tuple[str, str]:
    """Cut a wish to forget off from what else is said: it names one thing."""
    end = _SENTENCE_END.search(text)
    return (text[: end.start()], text[end.end() :].strip()) if end else (text, "")


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_REPEATED else f"{text[:_MAX_REPEATED]} …"


def _foresee(outgoing: Outgoing) -> Memory:
    """Return the fact that will be when what was learned is written."""
    decision = outgoing.decision
    return Memory(decision.id, decision.content, LONG_AGO, LONG_AGO, decision.category)


def _list_facts(found: Sequence[Memory]) -> list[str]:
    return [f"- {memory.content}" for memory in found[:MOST_NAMED]]


def remember_fact(memory: Facts, content: str, category: str | None = None) -> Remembered:
    """Remember a fact; raise MemoryFull in the language of the fact when there is no room."""
    try:
        return memory.remember(content, category)
    except MemoryFull as error:
        memory.check_room_for(content)  # What no memory could hold is refused as that.
        words = choose_words(content, REPLIES)
        if error.remedy is None or words == find_replies(DEFAULT, REPLIES):
            raise
        raise MemoryFull(words["filled"].format(error.remedy), error.remedy) from error


def save_merged(facts: Facts, base: str, version: str, edited: str, now: datetime) -> int | None:
    """Save a person's edit of a text, with what others changed meanwhile.

    Return the number of the change; None where the person changed nothing. Raise Conflict where
    both changed the same, and nobody can tell what is meant.
    """
    if edited == base:
        return None
    text = edited
    # Whoever saves at the same moment wins, and the edit is merged with that and tried again.
    for _ in range(MERGE_TRIES):
        with suppress(Conflict):
            return facts.write(text, expected=version).change
        onto, version = facts.snapshot()
        merged = None
        if facts.format == "markdown":
            merged = merge_saves(markdown, base, edited, onto, now)
        if merged is None:
            message = "the same lines were changed elsewhere, so nothing was saved; edit again"
            raise Conflict(message)
        text = merged
    message = "another program keeps saving the memory, so nothing was saved; try again later"
    raise Conflict(message)
