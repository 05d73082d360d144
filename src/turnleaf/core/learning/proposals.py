"""What becomes of a model's answer: facts that it proposes, and a decision for each that is new.

Each record is read by itself, and what is whole of one that was cut off: nothing right is lost for
the sake of something wrong beside it. A record that cannot be used is skipped and counted; one that
has a quote, or else words, of the user becomes a proposal.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import date
from typing import TYPE_CHECKING, Any

from turnleaf.core.jsontext import is_text
from turnleaf.core.languages.detection import detect_language
from turnleaf.core.learning.extraction import RELATIONS, Candidate, Proposal, slot_names
from turnleaf.core.learning.queue import Decision
from turnleaf.core.learning.quotes import Heard, find_carrier, is_long_enough, judge_quote
from turnleaf.core.learning.reconciling import (
    find_same,
    holds_words,
    is_about_another,
    judge,
    read_claim,
)
from turnleaf.core.learning.slots import heading_of, slots
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import MAX_CATEGORY_CHARS, Memory
from turnleaf.core.secrets import mask_secrets
from turnleaf.errors import UnreadableAnswer

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from datetime import datetime

    from turnleaf.core.learning.extraction import TranscriptMessage
    from turnleaf.core.learning.reconciling import Verdict
    from turnleaf.core.messages import Message


MOST_FACTS = 20
"""How many facts are taken from an answer, unless there are more messages than that."""
MOST_FACT_CHARS = 300
_MOST_QUOTE_CHARS = 2_000
_MOST_ANSWER_CHARS = 200_000
_MOST_BROKEN = 50
"""How many records that are no JSON are passed over before the rest is given up."""
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """What was read from an answer, and how many of its records could not be used."""

    proposals: tuple[Proposal, ...] = ()
    skipped: int = 0
    is_cut_off: bool = False


def read_answer(
    answer: str, said: Sequence[TranscriptMessage], known: Sequence[Memory] = ()
) -> AnswerReading:
    """Read a model's JSON; raise UnreadableAnswer where not even a part of it is any.

    An answer with more facts than the messages can hold is not trusted: what is taken of it
    waits to be reviewed.
    """
    records, is_cut_off = _records(answer)
    heard = Heard.of(said, known)
    found = [_proposal(record, heard) for record in records]
    usable = [one for one in found if one is not None]
    most = max(MOST_FACTS, sum(one.is_source for one in said))
    if len(records) > most:
        usable = [_lower_trust(one) for one in usable[:most]]
    return AnswerReading(tuple(usable), len(records) - len(usable), is_cut_off)


def _lower_trust(proposal: Proposal) -> Proposal:
    return replace(proposal, trust="model") if proposal.trust == "user" else proposal


def _records(answer: str) -> tuple[list[object], bool]:
    """Return the records of an answer, and whether it breaks off."""
    text = answer[:_MOST_ANSWER_CHARS]
    whole = _whole(text)
    if whole is not None:
        return whole, False
    found = list(_salvage_records(text))
    if not found:
        shown = " ".join(text.split())[:80]
        message = (
            f"the model was asked for JSON and answered {shown!r}; set TURNLEAF_EXTRACT_MODEL to"
            " another model if it stays so"
        )
        raise UnreadableAnswer(message)
    return found, True


def _whole(text: str) -> list[object] | None:
    """Return the records of an answer that is JSON, whatever words stand around it."""
    for opening, closing in (("{", "}"), ("[", "]")):
        start, end = text.find(opening), text.rfind(closing)
        if start >= 0:
            read = _decode(text[start : end + 1])
            records = read.get("facts") if isinstance(read, dict) else read
            if isinstance(records, list):
                return records
            if isinstance(read, dict) and "fact" in read:
                return [read]
    return None


def _decode(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _salvage_records(text: str) -> Iterator[object]:
    """Return the records of a text that are whole, each by itself."""
    at, broken = text.find("{", text.find("[") + 1), 0
    while at >= 0 and broken < _MOST_BROKEN:
        try:
            record, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            broken, end = broken + 1, at + 1
        else:
            if isinstance(record, dict) and "fact" in record:
                yield record
        at = text.find("{", end)


def _proposal(record: object, heard: Heard) -> Proposal | None:
    """Return what a record proposes; None where it has no form or nothing to rest on."""
    if not isinstance(record, dict) or not is_long_enough(_text(record.get("fact"))):
        return None
    fact, quote = _text(record["fact"]), _text(record.get("quote"), _MOST_QUOTE_CHARS)
    number = heard.find(quote, record.get("message"))
    if number is None:
        return _propose_without_quote(fact, quote, record, heard)
    verdict = judge_quote(fact, quote, number, heard)
    candidate = _candidate(fact, quote, record, heard.said[number])
    return _add_relation(Proposal(candidate, number, verdict.trust, source=verdict.source), record)


def _propose_without_quote(
    fact: str, quote: str, record: dict[str, Any], heard: Heard
) -> Proposal | None:
    """Return a fact whose quote nobody said: it waits, if it is made of the user's words."""
    if not is_long_enough(quote) or heard.is_settled(quote):
        return None
    number = find_carrier(fact, heard)
    if number is None:
        return None
    said = heard.said[number]
    words = " ".join(said.text.split())[:MOST_FACT_CHARS]
    return _add_relation(Proposal(_candidate(fact, words, record, said), number, "model"), record)


def _add_relation(proposal: Proposal, record: dict[str, Any]) -> Proposal:
    relation, target = record.get("relation"), record.get("target")
    if relation not in RELATIONS or not isinstance(target, str):
        return proposal
    return replace(proposal, relation=relation, target=target.strip("() "))


def _candidate(fact: str, quote: str, record: dict[str, Any], said: TranscriptMessage) -> Candidate:
    slot = record.get("slot")
    return Candidate(
        fact,
        quote,
        _category(record.get("category")),
        slot=slot if slot in slot_names() else None,
        until=_until(record.get("until"), said),
    )


def _category(value: object) -> str | None:
    """Return a heading that a model gives of itself, if it can be one."""
    heading = _text(value)
    return heading if 0 < len(heading) <= MAX_CATEGORY_CHARS else None


def _until(value: object, said: TranscriptMessage) -> date | None:
    """Return the day on which a fact ends, unless that was before it was said."""
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return None
    return day if said.time is None or day >= said.time.date() else None


def _text(value: object, most: int = MOST_FACT_CHARS) -> str:
    """Return a text on one line; nothing where no file can hold it, or it is too long."""
    if not isinstance(value, str) or not is_text(value) or "\0" in value:
        return ""
    line = " ".join(value.split())
    return line if len(line) <= most else ""


@dataclass(slots=True)
class ProposalDesk:
    """What is known and what waits for review, as they will be after the decisions so far."""

    key: str
    known: list[Memory]
    pending: list[Memory]
    at: datetime
    new_id: Callable[[], str]
    made: list[Decision] = field(default_factory=list)

    def foresee(self, decision: Decision) -> None:
        """Count on what a decision will do."""
        facts = self.pending if decision.action == "wait" else self.known
        if decision.action in {"end", "withdraw", "replace"}:
            facts[:] = [memory for memory in facts if memory.id != decision.target]
        if decision.action in {"add", "wait", "replace"}:
            memory_id = decision.target or decision.id
            content, category = decision.content, decision.category
            facts.append(Memory(memory_id, content, self.at, self.at, category))

    def take(
        self,
        proposal: Proposal,
        message: Message,
        source: str | None,
        told_here: Collection[str] = (),
    ) -> None:
        """Decide what becomes of a proposal; `told_here` are ids of facts of the same message."""
        content = mask_fact(proposal.candidate.content, message.text)
        if not content:
            return
        if same := self._find_known(content, proposal, told_here):
            self._end_contradicted(content, same, proposal, message, source)
            return
        if proposal.trust != "user":
            self._decide("wait", content, proposal, message, source)
            return
        claim = read_claim(content)
        verdict = judge(claim, self.known) if claim else None
        if ended := self._find_ended(content, proposal, verdict):
            for memory in ended:
                self._decide("end", "", proposal, message, source, memory)
            if verdict and verdict.effect == "ends":
                return
        target = self._find_replaced(content, proposal, verdict, told_here)
        self._decide("replace" if target else "add", content, proposal, message, source, target)
        for memory in self._find_covered(content, told_here):
            self._decide("withdraw", "", proposal, message, source, memory)

    def _find_known(
        self, content: str, proposal: Proposal, told_here: Collection[str]
    ) -> Memory | None:
        """Return a fact that says it already: by slot, by its words, or by the model's word."""
        trusted = proposal.trust == "user"
        same = find_same(content, self.known if trusted else [*self.known, *self.pending])
        if same:
            return same
        claim = read_claim(content)
        verdict = judge(claim, self.known) if claim else None
        if verdict and verdict.effect == "same":
            return verdict.targets[0]
        if proposal.relation == "same" and (named := self._find_named(content, proposal)):
            return named
        here = self._facts(told_here)
        # Rules make several facts of what a model says in one sentence.
        is_told = holds_words(" ".join(one.content for one in here), content)
        return here[0] if here and is_told else None

    def _end_contradicted(
        self,
        content: str,
        same: Memory,
        proposal: Proposal,
        message: Message,
        source: str | None,
    ) -> None:
        """End what a model says is contradicted by a fact that rules have found before it."""
        named = self._find_named(content, proposal)
        is_replaced = proposal.relation in {"contradicts", "refines"}
        if named and is_replaced and named.id != same.id and proposal.trust == "user":
            self._decide("end", "", proposal, message, source, named)

    def _find_replaced(
        self,
        content: str,
        proposal: Proposal,
        verdict: Verdict | None,
        told_here: Collection[str],
    ) -> Memory | None:
        """Return the fact whose place is taken: by slot, by the model's word, or by saying more."""
        if verdict and verdict.effect == "replaces":
            return verdict.targets[0]
        named = self._find_named(content, proposal)
        shorter = (one for one in self._facts(told_here) if holds_words(content, one.content))
        target = named or next(shorter, None)
        taken = {decision.target for decision in self.made}
        return None if target is None or target.id in taken else target

    def _find_ended(
        self, content: str, proposal: Proposal, verdict: Verdict | None
    ) -> Sequence[Memory]:
        """Return the facts that no longer hold; a negation may end what the model names.

        One that ends nothing is worth knowing by itself: "I'm not allergic to penicillin".
        """
        if verdict is None or verdict.effect != "ends":
            return verdict.ended if verdict else ()
        named = self._find_named(content, proposal)
        return verdict.targets or ([named] if named else [])

    def _find_covered(self, content: str, told_here: Collection[str]) -> list[Memory]:
        """Return the facts that rules made of the same message and that a new one says too."""
        others = (one for one in self._facts(told_here) if one.content != content)
        return [one for one in others if holds_words(content, one.content)]

    def _find_named(self, content: str, proposal: Proposal) -> Memory | None:
        """Return the fact that a model says is repeated or replaced, unless it is about another.

        Words need not agree: "I eat steak" is contradicted by 「我吃素」.
        """
        if proposal.relation == "new":
            return None
        named = next((memory for memory in self.known if memory.id == proposal.target), None)
        return None if named is None or is_about_another(content, named) else named

    def _facts(self, ids: Collection[str]) -> Sequence[Memory]:
        return [memory for memory in self.known if memory.id in ids]

    def _decide(
        self,
        action: str,
        content: str,
        proposal: Proposal,
        message: Message,
        source: str | None,
        target: Memory | None = None,
    ) -> None:
        slot = proposal.candidate.slot if proposal.candidate.slot in slots() else None
        used = {memory.category for memory in self.known if memory.category}
        decision = Decision(
            id=self.new_id(),
            action=action,  # type: ignore[arg-type] # one of the words above
            conversation=self.key,
            content=content,
            quote=mask_secrets(proposal.candidate.quote, message.text),
            category=_choose_category(proposal.candidate, message, used),
            slot=slot,
            until=proposal.candidate.until,
            target=target.id if target else None,
            expected=target.content if target else None,
            message_time=message.timestamp,
            trust=proposal.trust,
            source=source,
        )
        self.made.append(decision)
        # What comes later in the conversation may repeat or correct it.
        self.foresee(decision)


def _choose_category(candidate: Candidate, message: Message, used: Collection[str]) -> str | None:
    if candidate.slot in slots():
        return heading_of(candidate.slot or "", detect_language(candidate.content).name, used)
    return candidate.category and mask_secrets(candidate.category, message.text)
