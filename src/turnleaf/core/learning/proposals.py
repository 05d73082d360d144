"""What becomes of a model's answer: facts that it proposes, and a decision for each that is new.

Each record is read by itself, and what is whole of one that was cut off: nothing right is lost for
the sake of something wrong beside it. A record that cannot be used is skipped and counted; one that
has a quote, or else words, of the user becomes a proposal.

A model is not asked how sure it is. An exact quote of the user vouches for a fact that says what
the user's own words say. What is in doubt (a name that nobody but the assistant brought, a
negation that is missing, a question, a wish) waits for review and is not lost.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

from turnleaf.core.languages.language import detect_language
from turnleaf.core.languages.words import find_characters, find_pattern, find_words
from turnleaf.core.learning.extraction import RELATIONS, Candidate, Proposal, list_slot_names
from turnleaf.core.learning.queue import Decision
from turnleaf.core.learning.reconciling import (
    find_same,
    holds_words,
    is_about_another,
    judge,
    read_claim,
)
from turnleaf.core.learning.slots import choose_heading, slots
from turnleaf.core.loading import make_pattern
from turnleaf.core.memories import MAX_CATEGORY_CHARS, Memory
from turnleaf.core.search.message_filters import is_question
from turnleaf.core.search.terms import fold, is_stop_word, list_terms, simplify
from turnleaf.core.secrets import mask_fact, mask_secrets
from turnleaf.core.serialization import is_text
from turnleaf.errors import UnreadableAnswer

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.learning.extraction import TranscriptMessage
    from turnleaf.core.learning.reconciling import Verdict
    from turnleaf.core.messages import Message


SUPPORTED_SHARE = 0.5
"""The share of a fact's words that the user must have said; otherwise the model has inferred it."""
QUOTE_LETTERS = 4
"""The least that a quote has: so many letters or digits, or half as many Chinese characters."""
STATEMENT_CHARS = 120
"""Longer messages without a word for the speaker are rather pasted than said."""

_RANK = ("document", "tool", "stranger", "assistant")
"""Whose words decide when several said the same: the assistant may only repeat the others."""

_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_HAN_RUN = make_pattern(f"[{_HAN}]+")
_WORD = make_pattern(f"[^\\W_{_HAN}]+")
_SPACE = make_pattern(r"\s+")
_QUOTATION = make_pattern("[\"'`´‘’‚‛“”„‟′″«»‹›「」『』〝〞〟＂＇]")
_DASH = make_pattern("[‐‑‒–—―−]")
_BLANKS = " \n"
_AROUND = " .,!?;:~…。、，！？；：～()（）-*"
_STOP = make_pattern(r"[.!?](?=\s|$)|[。!?;\n]")
_CLAUSE_STOP = r"[.!?](?=\s|$)|[。!?;,，\n]|"
_NUMBERED_TIME = r"\d{1,4}[-/.]\d{1,2}|"
_NUMBERED_DATE = r"|(?:19|20)\d\d(?:[-/.] ?\d{1,2}(?:[-/.] ?\d{1,2})?)?"


@dataclass(frozen=True, slots=True)
class Support:
    """How far a fact is trusted, and which message decides that if it is another one."""

    trust: str
    source: int | None = None


@dataclass(frozen=True, slots=True)
class QuotePlace:
    """Where a quote stands: the sentence that it begins in, its first clause and its last."""

    sentence: str
    first: str
    last: str


@dataclass(frozen=True)
class Heard:
    """What was said and what is known, read once: texts as they are compared, and their words."""

    said: tuple[TranscriptMessage, ...]
    texts: tuple[str, ...]
    known: frozenset[str]

    @classmethod
    def of(cls, said: Sequence[TranscriptMessage], known: Sequence[Memory]) -> Heard:
        """Fold each text."""
        words = (term for memory in known for term in list_terms(memory.content))
        return cls(tuple(said), tuple(fold_quote(one.text) for one in said), frozenset(words))

    @cached_property
    def words(self) -> Mapping[int, frozenset[str]]:
        """The words of each message."""
        return {number: frozenset(list_terms(one.text)) for number, one in enumerate(self.said)}

    @cached_property
    def own(self) -> frozenset[str]:
        """The user's words, in context too."""
        mine = (self.words[at] for at, one in enumerate(self.said) if one.trust == "user")
        return frozenset().union(*mine)

    def find(self, quote: str, wanted: object) -> int | None:
        """Return the number of the message that holds a quote, preferably the one named."""
        # Without spaces, because models set them as they like between Chinese and Latin characters.
        folded = _squeeze(_strip_quotes(quote))
        if not is_long_enough(quote):
            return None
        # Small models often give the wrong number; the words themselves are found all the same.
        named_first = sorted(range(len(self.said)), key=lambda number: number + 1 != wanted)
        sources = (at for at in named_first if self.said[at].is_source)
        return next((at for at in sources if folded in self._squeezed_texts[at]), None)

    def is_settled(self, quote: str) -> bool:
        """Whether a quote is in a message from which no facts are taken: settled, or context."""
        folded = _squeeze(_strip_quotes(quote))
        pairs = zip(self.said, self._squeezed_texts, strict=True)
        return any((one.is_settled or one.is_context) and folded in text for one, text in pairs)

    def locate(self, quote: str, number: int) -> QuotePlace:
        """Return where a quote stands in a message."""
        text, folded = self.texts[number], _squeeze(_strip_quotes(quote))
        start = max(0, self._squeezed_texts[number].find(folded))
        letters = [at for at, char in enumerate(text) if char not in _BLANKS]
        first, last = letters[start], letters[start + len(folded) - 1]
        return QuotePlace(
            _cut_around(text, first, _STOP),
            _cut_around(text, first, _find_clause_stop()),
            _cut_around(text, last, _find_clause_stop()),
        )

    @cached_property
    def _squeezed_texts(self) -> tuple[str, ...]:
        return tuple(map(_squeeze, self.texts))


def fold_quote(text: str) -> str:
    """Return a text folded so that quotation marks, case, width and spacing do not matter.

    Lines stay apart, because a sentence ends with its line.
    """
    plain = _DASH.sub("-", _QUOTATION.sub("", fold(_QUOTATION.sub("", text))))
    return _SPACE.sub(lambda found: "\n" if "\n" in found[0] else " ", plain).strip()


def is_long_enough(quote: str) -> bool:
    """Whether a quote is long enough to identify what was said: "I" is not."""
    # A Chinese character says about as much as two letters.
    weights = (2 if _HAN_RUN.match(char) else 1 for char in quote if char.isalnum())
    return sum(weights) >= QUOTE_LETTERS


def share_words(one: str, other: str, text: str) -> bool:
    """Whether two quotes from a text overlap in it."""
    whole = _squeeze(fold_quote(text))
    first, second = _squeeze(_strip_quotes(one)), _squeeze(_strip_quotes(other))
    start, begin = whole.find(first), whole.find(second)
    is_found = start >= 0 and begin >= 0
    return is_found and start < begin + len(second) and begin < start + len(first)


def judge_quote(fact: str, quote: str, number: int, heard: Heard) -> Support:
    """Return how far a fact may be trusted that rests on a quote from a message."""
    # How far a fact is trusted depends on whose words it rests on, never on the model.
    if heard.said[number].trust != "user":
        return Support(heard.said[number].trust)
    # A date is the model's to work out, where the user speaks of a time.
    sentence = heard.locate(quote, number).sentence
    undated = _strip_dates(fact) if _find("time", _NUMBERED_TIME).search(sentence) else fact
    claimed, names = _find_claimed_words(undated), _find_foreign_names(undated, heard)
    foreign = {word for word in claimed if not _is_heard(word, heard)}
    for rank in _RANK:
        # A word that the assistant used as well proves nothing against the user; a name that only
        # it said does.
        suspicious = names if rank == "assistant" else foreign | names
        brought = _find_first_with(suspicious, rank, heard)
        if brought is not None:
            return Support(rank, brought)
    is_carried = (
        not names and _is_supported(claimed, heard) and _says_so(fact, quote, number, heard)
    )
    return Support("user" if is_carried else "model")


def find_carrier(fact: str, heard: Heard) -> int | None:
    """Return the user's message with most words of a fact, None if it has less than half."""
    claimed = _find_claimed_words(fact)
    if not claimed or not _is_supported(claimed, heard):
        return None
    shared = {
        at: len(claimed & heard.words[at])
        for at, one in enumerate(heard.said)
        if one.is_source and one.trust == "user"
    }
    best = max(shared, key=shared.__getitem__, default=None)
    return best if best is not None and shared[best] else None


def _find(name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    return find_pattern("quotes", name, before, after)


def _find_clause_stop() -> re.Pattern[str]:
    return _find("clause_end", _CLAUSE_STOP)


def _find_generic_han() -> frozenset[str]:
    """Return the Chinese characters that any fact may have, whatever was said."""
    return find_characters("quotes", "generic_characters")


def _strip_dates(fact: str) -> str:
    return _find("date", after=_NUMBERED_DATE).sub(" ", fact)


def _squeeze(text: str) -> str:
    """Return a folded text without spaces, which models set as they like."""
    return text.replace(" ", "").replace("\n", "")


def _strip_quotes(quote: str) -> str:
    return fold_quote(quote).strip(_AROUND)


def _cut_around(text: str, at: int, stop: re.Pattern[str]) -> str:
    """Return the piece of a text around a place, up to and with the next stop."""
    starts = [found.end() for found in stop.finditer(text, 0, max(at, 0))]
    after = stop.search(text, at)
    return text[starts[-1] if starts else 0 : after.end() if after else len(text)].strip()


def _find_claimed_words(fact: str) -> set[str]:
    """Return the telling words of a fact, in Chinese its single characters."""
    folded = _strip_generic(fold(fact))
    words = {word for word in _WORD.findall(folded) if not _is_generic(word)}
    stems = {term for word in words for term in list_terms(word)}
    # Chinese has no spaces to split words at.
    return stems | {char for run in _HAN_RUN.findall(folded) for char in run} - _find_generic_han()


def _strip_generic(text: str) -> str:
    """Return a text without quotation marks and generic phrases."""
    return _find("generic_phrases").sub(" ", _QUOTATION.sub(" ", text))


def _is_generic(word: str) -> bool:
    return is_stop_word(word) or word in find_words("quotes", "generic_words")


def _is_supported(claimed: set[str], heard: Heard) -> bool:
    # What is known already need not be said again to be part of the fact.
    new = claimed - heard.known
    # Even a fact of words that are all known needs one that was said here.
    return len(claimed & heard.own) >= max(1, SUPPORTED_SHARE * len(new))


def _find_foreign_names(fact: str, heard: Heard) -> set[str]:
    """Return the names and numbers of a fact that the user did not say."""
    words = _WORD.findall(_strip_generic(fact))
    # Not the first word, which is written with a capital whatever it is.
    named = {term for word in words[1:] if _is_name(word) for term in list_terms(word)}
    return {term for term in named | _find_han_names(fact, heard) if not _is_heard(term, heard)}


def _is_name(word: str) -> bool:
    has_digit = any(map(str.isdigit, word))
    return has_digit or (word[0].isupper() and not _is_generic(word.lower()))


def _find_han_names(fact: str, heard: Heard) -> set[str]:
    """Return the pairs of Chinese characters of which the user said neither."""
    folded = _strip_generic(simplify(fact))
    own = _find_generic_han() | {char for char in folded if _is_heard(char, heard)}
    said = "".join(char if char in own else "\0" for char in folded)
    pairs = zip(folded, folded[1:], said, said[1:], strict=False)
    return {
        one + two
        # A single character that nobody said is mostly grammar; two in a row may be a name.
        for one, two, first, second in pairs
        if first == second == "\0" and _HAN_RUN.fullmatch(one + two)
    }


def _is_heard(term: str, heard: Heard) -> bool:
    return term in heard.own or term in heard.known


def _find_first_with(words: set[str], trust: str, heard: Heard) -> int | None:
    """Return the number of the first message of a trust that has one of the words."""
    theirs = (at for at, one in enumerate(heard.said) if one.trust == trust)
    return next((at for at in theirs if not words.isdisjoint(heard.words[at])), None)


def _is_negative(folded: str) -> bool:
    return _find("negative").search(folded) is not None


def _find_nearest_clause(fact: str, quote: str) -> str:
    """Return the clause of a quote that shares most words with a fact: "it is Max, not Rex"."""
    claimed = _find_claimed_words(fact)
    clauses = _find_clause_stop().split(_strip_quotes(quote))
    return max(clauses, key=lambda clause: len(claimed.intersection(list_terms(clause))))


def _says_so(fact: str, quote: str, number: int, heard: Heard) -> bool:
    """Whether a quote states what a fact states, as far as grammar shows."""
    place = heard.locate(quote, number)
    is_same_side = _is_negative(fold_quote(fact)) == _is_negative(_find_nearest_clause(fact, quote))
    # Small models quote questions and wishes exactly and claim them as facts.
    is_statement = not is_question(place.last) and not _find("request").match(place.first)
    text = heard.texts[number]
    # A long text that never says "I" was pasted, and is about somebody else.
    is_own = len(text) <= STATEMENT_CHARS or bool(_find("speaker").search(text))
    shares_words = not _find_claimed_words(fact).isdisjoint(list_terms(quote))
    return (
        is_same_side
        and is_statement
        and is_own
        and shares_words
        and not _find("hypothetical").search(place.sentence)
    )


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
    records, is_cut_off = _read_records(answer)
    heard = Heard.of(said, known)
    found = [_read_proposal(record, heard) for record in records]
    usable = [one for one in found if one is not None]
    most = max(MOST_FACTS, sum(one.is_source for one in said))
    # More facts than messages are the mark of a model that runs wild.
    if len(records) > most:
        usable = [_lower_trust(one) for one in usable[:most]]
    return AnswerReading(tuple(usable), len(records) - len(usable), is_cut_off)


def _lower_trust(proposal: Proposal) -> Proposal:
    return replace(proposal, trust="model") if proposal.trust == "user" else proposal


def _read_records(answer: str) -> tuple[list[object], bool]:
    """Return the records of an answer, and whether it breaks off."""
    text = answer[:_MOST_ANSWER_CHARS]
    whole = _read_whole(text)
    if whole is not None:
        return whole, False
    found = list(_salvage_records(text))
    if not found:
        shown = " ".join(text.split())[:80]
        message = (
            f"the model was asked for JSON, but answered {shown!r}; if this happens again, "
            "set TURNLEAF_EXTRACT_MODEL to another model"
        )
        raise UnreadableAnswer(message)
    return found, True


def _read_whole(text: str) -> list[object] | None:
    """Return the records of an answer whose JSON is complete, whatever stands around it."""
    # Models put words or a code fence around their JSON, so it is looked for.
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
    # Deep nesting ends in a RecursionError instead of a ValueError.
    except (ValueError, RecursionError):
        return None


def _salvage_records(text: str) -> Iterator[object]:
    """Yield the complete records of a text that breaks off."""
    # The outer object is what breaks off, so the records inside its list are tried one by one.
    at, broken = text.find("{", text.find("[") + 1), 0
    # Each failed attempt may read to the end of the text: without a bound that is quadratic.
    while at >= 0 and broken < _MOST_BROKEN:
        try:
            record, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            broken, end = broken + 1, at + 1
        else:
            if isinstance(record, dict) and "fact" in record:
                yield record
        at = text.find("{", end)


def _read_proposal(record: object, heard: Heard) -> Proposal | None:
    """Return the fact that a record proposes; None where it is malformed or unsupported."""
    if not isinstance(record, dict) or not is_long_enough(_read_text(record.get("fact"))):
        return None
    fact, quote = _read_text(record["fact"]), _read_text(record.get("quote"), _MOST_QUOTE_CHARS)
    number = heard.find(quote, record.get("message"))
    if number is None:
        return _propose_without_quote(fact, quote, record, heard)
    verdict = judge_quote(fact, quote, number, heard)
    candidate = _make_candidate(fact, quote, record, heard.said[number])
    return _add_relation(Proposal(candidate, number, verdict.trust, source=verdict.source), record)


def _propose_without_quote(
    fact: str, quote: str, record: dict[str, Any], heard: Heard
) -> Proposal | None:
    """Return a fact whose quote nobody said, for review, if it is made of the user's words."""
    # A fact that was taken or acted on already would come back in other words.
    if not is_long_enough(quote) or heard.is_settled(quote):
        return None
    number = find_carrier(fact, heard)
    if number is None:
        return None
    said = heard.said[number]
    words = " ".join(said.text.split())[:MOST_FACT_CHARS]
    return _add_relation(
        Proposal(_make_candidate(fact, words, record, said), number, "model"), record
    )


def _add_relation(proposal: Proposal, record: dict[str, Any]) -> Proposal:
    relation, target = record.get("relation"), record.get("target")
    if relation not in RELATIONS or not isinstance(target, str):
        return proposal
    # Known facts are shown with their ids in parentheses, and models copy those too.
    return replace(proposal, relation=relation, target=target.strip("() "))


def _make_candidate(
    fact: str, quote: str, record: dict[str, Any], said: TranscriptMessage
) -> Candidate:
    slot = record.get("slot")
    return Candidate(
        fact,
        quote,
        _read_category(record.get("category")),
        slot=slot if slot in list_slot_names() else None,
        until=_read_until(record.get("until"), said),
    )


def _read_category(value: object) -> str | None:
    """Return a category that a model gave, if it can be a heading."""
    heading = _read_text(value)
    return heading if 0 < len(heading) <= MAX_CATEGORY_CHARS else None


def _read_until(value: object, said: TranscriptMessage) -> date | None:
    """Return the day on which a fact ends; None for one before it was said."""
    try:
        day = date.fromisoformat(str(value))
    except ValueError:
        return None
    # A fact that was over before it was said is a date that the model got wrong.
    return day if said.time is None or day >= said.time.date() else None


def _read_text(value: object, most: int = MOST_FACT_CHARS) -> str:
    """Return a text on one line; "" where no file can hold it, or it is too long."""
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
        """Apply a decision to what is known and pending here, as the stores will do later."""
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
        """Decide what to do with a proposal; `told_here` are ids of facts of the same message."""
        # A secret of the message must not come back in the words of a model.
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
        """Return the fact that says it already: by slot, by its words, or as the model claims."""
        trusted = proposal.trust == "user"
        # What waits for review is not put up twice. A trusted fact does not wait because of it.
        same = find_same(content, self.known if trusted else [*self.known, *self.pending])
        if same:
            return same
        claim = read_claim(content)
        verdict = judge(claim, self.known) if claim else None
        if verdict and verdict.effect == "same":
            return verdict.targets[0]
        if proposal.relation == "same" and (named := self._find_named(content, proposal)):
            return named
        here = self._find_facts(told_here)
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
        """Return the fact to replace: by slot, as the model claims, or because this says more."""
        if verdict and verdict.effect == "replaces":
            return verdict.targets[0]
        named = self._find_named(content, proposal)
        shorter = (one for one in self._find_facts(told_here) if holds_words(content, one.content))
        target = named or next(shorter, None)
        # Replaced twice by one answer, a fact would be left with the second of two new ones alone.
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
        others = (one for one in self._find_facts(told_here) if one.content != content)
        return [one for one in others if holds_words(content, one.content)]

    def _find_named(self, content: str, proposal: Proposal) -> Memory | None:
        """Return the fact that a model says is repeated or replaced, unless it is about another.

        Words need not agree: "I eat steak" is contradicted by 「我吃素」.
        """
        if proposal.relation == "new":
            return None
        named = next((memory for memory in self.known if memory.id == proposal.target), None)
        return None if named is None or is_about_another(content, named) else named

    def _find_facts(self, ids: Collection[str]) -> Sequence[Memory]:
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
        return choose_heading(candidate.slot or "", detect_language(candidate.content).name, used)
    return candidate.category and mask_secrets(candidate.category, message.text)
