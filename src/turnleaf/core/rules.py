"""Facts worth keeping in what a user says, found by rule: no model, no network.

A rule describes a whole clause, so that a question, a command or a story that merely holds the
same words states nothing. What is not understood is left alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from turnleaf.core.candidates import Candidate
from turnleaf.core.languages import is_japanese
from turnleaf.core.rules_chinese import CHINESE
from turnleaf.core.rules_clauses import (
    HIDDEN,
    Sentence,
    one_spelling,
    plain_text,
    sentences,
)
from turnleaf.core.rules_english import ENGLISH
from turnleaf.core.terms import fold, simplify

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnleaf.core.candidates import Claim
    from turnleaf.core.rules_grammar import Grammar

MAX_FACT_CHARS = 2_000
"""The length of a stored fact that is still read; a longer one is a text."""
MAX_CLAUSE_CHARS = 200
_MAX_JOINED_CHARS = 300
"""What may be one clause although there is a gap in it."""
_TOLD_CHARS = 100
_TRIMMED_CHARS = 200
_POSSESSIVES = frozenset({"his", "her", "its", "their"})
_SHORT = {"i'm": "i am", "can't": "can not", "n't": " not", "'s ": " is ", "'ve": " have"} | {
    "favorite": "favourite",
    "叫做": "叫",
    "叫作": "叫",
    "住在": "住",
    "我的": "我",
}
_STOPS = re.compile(r"[\"「」『』!。]|[.,](?!\w)")
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile("[A-Za-z]")
# A question, or something at hand: its clause is not understood by its English words alone.
_NO_ENGLISH = re.compile(
    simplify("[這那哪你妳您它嗎呢]|[一二三四]個|什麼|怎麼|今天|明天|昨天|可能")
)
_BETWEEN_LATIN = re.compile(r"(?<=[A-Za-z])\0(?=[A-Za-z])")
_TASK = re.compile(
    simplify(
        r"\b(?:translate|translation|proofread|paraphrase|rephrase|rewrite|summari[sz]e"
        r"|tl;?dr|grammar"
        r"|role-?play|pretend|act as|correct this|polish this|just kidding|jk|kidding"
        r"|how do (?:you|i) say"
        r"|what does .{1,60} mean|in (?:french|spanish|german|japanese|chinese|korean"
        r"|english) *[?:])\b"
        r"|翻譯|翻成|譯成|潤飾|潤稿|校對|改寫|摘要|總結|重點整理|造句|這句話|這段話"
        r"|這段文字|以下文字|文法|角色扮演|扮演|假裝|開玩笑|騙你"
        r"|英文怎麼[說講]|日文怎麼[說講]|的(?:英文|日文|中文)(?:是|怎)|你是(?:一[個名位])|如果你是"
    ),
    re.IGNORECASE,
)
_WRITING = re.compile(
    simplify(
        r"\b(?:(?<!\bi )(?<!\bwe )write|draft"
        r"|compose|reply to|here(?:'s| is) (?:the|an?|my) (?:email|text"
        r"|log|message|essay|"
        r"article|transcript|poem|story|code|error|output|draft)|lyrics|imagine"
        r"|the following|she wrote"
        r"|(?:review|check|edit|improve|correct|fix|read|analy[sz]e|grade) (?:this|my|the"
        r"|the following) "
        r"(?:\w+ )?(?:letter|email|text|paragraph|essay|sentence|cv|resume|message|article"
        r"|post|speech)"
        r"|subject:|dear \w+,|from:|forwarded|log:|error:|let's play)\b"
        r"|(?:寫|擬|回覆?)(?:一?[封篇段首個份]|信|文案|作文|自我介紹|履歷|文章|故事|劇本"
        r"|詩)|這[封篇段份首]|如下[:\n]|以下是|歌詞|轉寄|主旨:|寄件者|內容是|他說:|她說:"
        r"|作文"
    ),
    re.IGNORECASE,
)
_WRONG = re.compile(
    simplify(
        r"\b(?:that's (?:wrong|not right|incorrect)|not quite|you(?:'re| are) wrong"
        r"|you got (?:it|that) wrong"
        r"|i made a mistake|correction|i changed my mind|things have changed|i misspoke"
        r"|small update|"
        r"that's outdated|you have it wrong)\b|不對|你記錯|你搞錯|說錯了|講錯了|更正|弄錯"
        r"|寫錯了|改變主意|不是這樣"
    ),
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Fact:
    """A clause that states something: where it is, what it says and how it would be kept."""

    start: int
    end: int
    content: str
    claim: Claim


def facts_in(text: str) -> list[Candidate]:
    """Find what one message of a user says that is worth keeping for good."""
    plain = plain_text(text)
    if _TASK.search(plain):
        return []
    writing = _WRITING.search(plain)
    facts = _Reading(text, plain[: writing.start()] if writing else plain).facts()
    candidates = {fold(fact.content): _candidate(text, fact) for fact in reversed(facts)}
    return [*reversed(candidates.values())]


def attribute_of(content: str) -> str | None:
    """Tell what a stored fact settles, whoever's words it is in."""
    attributes = (claim.attribute for claim in claims_of(content))
    return next(filter(None, attributes), None)


def claims_of(content: str) -> list[Claim]:
    """Read a stored fact, whoever's words it is in."""
    return [fact.claim for fact in _stored(content)[1]] if len(content) <= MAX_FACT_CHARS else []


def claim_of(content: str) -> Claim | None:
    """Read a fact that is one claim and nothing else, whoever's words it is in."""
    plain, facts = _stored(content) if len(content) <= MAX_FACT_CHARS else ("", [])
    if len(facts) != 1:
        return None
    said = _trimmed(plain, _grammar(plain))
    return facts[0].claim if (facts[0].start, facts[0].end) == said else None


@lru_cache(maxsize=4096)
def gist(content: str) -> str:
    """Give the words of a fact in one spelling, whoever's words they are."""
    plain = _first_person(one_spelling(content))
    start, end = _trimmed(plain, _grammar(plain))
    words = fold(plain[start:end])
    for short, long in _SHORT.items():
        words = words.replace(short, long)
    return " ".join(_STOPS.sub(" ", words).split()) or content


@lru_cache(maxsize=4096)
def _stored(content: str) -> tuple[str, list[_Fact]]:
    plain = _first_person(plain_text(content))
    return plain, _Reading(plain, plain).facts()


@dataclass(frozen=True, slots=True)
class _Clause:
    """What a clause looks like, whatever went before it: where its statement is and begins with.

    After one that `is_end` its sentence states nothing more.
    """

    start: int
    end: int
    is_end: bool
    is_change: bool
    is_bare: bool
    subject_chars: int
    pronoun: str | None
    my: str


@dataclass(slots=True)
class _Reading:
    """A message as it is read, clause by clause, with what earlier ones leave to be understood."""

    text: str
    plain: str
    subject: str = ""
    about: str = ""
    is_corrected: bool = False
    is_changing: bool = False

    def facts(self) -> list[_Fact]:
        """Read every sentence that is in a language whose grammar we have."""
        found: list[_Fact] = []
        for sentence in sentences(self.plain):
            if is_japanese(self.text[sentence.start : sentence.end]):
                continue
            said = self.plain[sentence.start : sentence.end]
            self.is_corrected = self.is_corrected or _WRONG.search(said) is not None
            self.subject = ""
            self.is_changing = False
            found += self._in_sentence(sentence, _grammar(said))
        return found

    def _in_sentence(self, sentence: Sentence, grammar: Grammar) -> list[_Fact]:
        found: list[_Fact] = []
        for start, end in _clauses(self.plain, sentence, grammar):
            clause = _clause(self.plain[start:end])
            if clause.is_end:
                break
            fact = self._in_clause(start, clause)
            if fact and found and _corrects(found[-1], fact):
                fact = self._joined(found.pop(), fact)
            found += [fact] if fact else []
        return found

    def _in_clause(self, offset: int, clause: _Clause) -> _Fact | None:
        is_changed = clause.is_change or self.is_changing
        start, end = offset + clause.start, offset + clause.end
        for understood, rest in self._ways(self.plain[start:end], clause):
            claim = _claim(simplify(understood) + rest)
            if claim:
                self._remember(start, end, clause, claim)
                content = understood + self.text[end - len(rest) : end]
                if is_changed or self.is_corrected:
                    claim = replace(claim, is_correction=True)
                return _Fact(start, end, content, claim)
        self.is_changing = is_changed
        self._take_subject(start, clause)
        return None

    def _ways(self, said: str, clause: _Clause) -> Iterator[tuple[str, str]]:
        """Give the clause as it is, and with the subject that it leaves to be understood."""
        if clause.pronoun is None:
            yield "", said
        if clause.pronoun is not None and self.about:
            owner = "'s" if clause.pronoun.lower() in _POSSESSIVES else ""
            yield self.about + owner, said[len(clause.pronoun) :]
        elif self.subject and clause.is_bare:
            yield self.subject + ("" if _HAN.match(self.subject[-1]) else " "), said

    def _remember(self, start: int, end: int, clause: _Clause, claim: Claim) -> None:
        """Keep whom the clause is about, in the letters that it was written in."""
        self._take_subject(start, clause)
        if claim.about:
            places = [(self.plain.find(name, start, end), len(name)) for name in claim.about]
            names = [self.text[at : at + size] for at, size in places if at >= 0]
            self.about = _side_by_side(clause.my, *names) if names else ""

    def _take_subject(self, start: int, clause: _Clause) -> None:
        if clause.subject_chars:
            self.subject = self.text[start : start + clause.subject_chars]

    def _joined(self, first: _Fact, second: _Fact) -> _Fact:
        content = first.content + self.text[first.end : second.end]
        return _Fact(first.start, second.end, content, second.claim)


def _first_person(plain: str) -> str:
    head, rest = plain[:_TOLD_CHARS], plain[_TOLD_CHARS:]
    for pattern, replacement in _grammar(plain).told:
        head = pattern.sub(replacement, head)
    return head + rest


def _grammar(said: str) -> Grammar:
    return CHINESE if not said.isascii() and _HAN.search(said) else ENGLISH


def _claim(said: str) -> Claim | None:
    """Read a clause, unless it is too long or holds what nobody said."""
    return _read(said) if len(said) <= MAX_CLAUSE_CHARS and HIDDEN not in said else None


@lru_cache(maxsize=2048)
def _read(said: str) -> Claim | None:
    """Read a clause; one in both languages that begins in English may be English for the rest."""
    claim = _grammar(said).claim(said)
    if claim or not _LATIN.match(said) or _NO_ENGLISH.search(said):
        return claim
    return ENGLISH.claim(said) if _HAN.search(said) else None


@lru_cache(maxsize=2048)
def _clause(said: str) -> _Clause:
    """Look at a clause; a text that repeats itself has few different ones."""
    grammar = _grammar(said)
    glossed = grammar.gloss(said)
    start, end = _trimmed(said, grammar)
    statement = said[start:end]
    subject, pronoun = grammar.subject.match(statement), grammar.pronoun.match(statement)
    return _Clause(
        start,
        end,
        is_end=grammar.stop.search(glossed) is not None,
        is_change=grammar.change.search(glossed) is not None,
        is_bare=grammar.bare.match(statement) is not None,
        subject_chars=subject.end() if subject else 0,
        pronoun=pronoun[0] if pronoun else None,
        my=grammar.my,
    )


def _side_by_side(*words: str) -> str:
    """Join words as their script asks: those in Latin letters with a space between them."""
    return _BETWEEN_LATIN.sub(" ", "\0".join(words)).replace("\0", "")


def _clauses(plain: str, sentence: Sentence, grammar: Grammar) -> list[tuple[int, int]]:
    """Cut a sentence into the clauses that state something, if any; the question is left out."""
    said = plain[sentence.start : sentence.end]
    clauses: list[tuple[int, int]] = []
    start = 0
    for gap in [*grammar.gap.finditer(said), None]:
        end = gap.start() if gap else len(said)
        if clauses and _belongs(said, clauses[-1], end, grammar):
            clauses[-1] = (clauses[-1][0], end)
        elif said[start:end].strip():
            clauses.append((start, end))
        start = gap.end() if gap else end
    if sentence.asks:
        *clauses, (start, end) = clauses or [(0, 0)]
        clauses = clauses[:-1] if grammar.tag.fullmatch(said[start:end].strip()) else clauses
    return [(sentence.start + start, sentence.start + end) for start, end in clauses]


def _belongs(said: str, clause: tuple[int, int], end: int, grammar: Grammar) -> bool:
    """Tell whether what comes up to `end` is still the same clause."""
    start, stop = clause
    first, both = said[start:stop], said[start:end]
    return len(both) <= _MAX_JOINED_CHARS and _is_one(first, both, is_chinese=grammar is CHINESE)


@lru_cache(maxsize=2048)
def _is_one(first: str, both: str, *, is_chinese: bool) -> bool:
    grammar = CHINESE if is_chinese else ENGLISH
    return bool(grammar.lead.fullmatch(first.strip()) or grammar.ended.fullmatch(both.strip()))


def _trimmed(said: str, grammar: Grammar) -> tuple[int, int]:
    """Leave out what only leads to a statement or ends it, such as "by the way"."""
    end = _statement_end(said, grammar)
    start = len(said) - len(said.lstrip())
    filler = grammar.filler.match(said[start : min(end, start + _TRIMMED_CHARS)])
    return start + (filler.end() if filler else 0), end


def _statement_end(said: str, grammar: Grammar) -> int:
    """Find where the words before the last particles end, without looking at all of them."""
    end = len(said)
    while end:
        tail = said[max(0, end - _TRIMMED_CHARS) : end]
        kept = grammar.particle.sub("", tail).rstrip()
        if kept:
            return end - len(tail) + len(kept)
        end -= len(tail)
    return end


def _corrects(first: _Fact, second: _Fact) -> bool:
    """Tell whether two clauses are one statement: what is no longer so, and what is instead."""
    is_same = first.claim.attribute == second.claim.attribute
    return is_same and first.claim.attribute is not None and second.claim.is_correction


def _candidate(text: str, fact: _Fact) -> Candidate:
    claim = fact.claim
    quote = text[fact.start : fact.end]
    return Candidate(fact.content, quote, claim.category, claim.attribute, claim.is_correction)
