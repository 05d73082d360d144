"""Doing what the user asks of the memory in so many words: remember this, forget that."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from typing import TYPE_CHECKING

from turnleaf.core import rules
from turnleaf.core.candidates import Candidate
from turnleaf.core.changes import Source
from turnleaf.core.evidence import FORGOTTEN, KNOWN, REMEMBERED
from turnleaf.core.languages import choose_words
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import Memory
from turnleaf.core.reconciling import judged
from turnleaf.core.requests import may_ask, meant, request_in
from turnleaf.core.secrets import masked
from turnleaf.core.terms import simplify
from turnleaf.errors import Conflict, MemoryFull

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from turnleaf.core.requests import Request
    from turnleaf.store.learning import LearningStore, Outgoing
    from turnleaf.store.memories import MemoryStore

ORIGIN = "request"
MOST_NAMED = 10
LONG_AGO = datetime.min.replace(tzinfo=UTC)
MAX_REQUESTS = 20
"""What one message may ask for; what it asks for beyond that stays in the words of the last."""
_MAX_TRIED = 60
_WISH_CHARS = 100
_CLAUSE_ENDS = frozenset(",;!?\n，。；！？、")
_EVERYTHING = re.compile(
    r"(?:everything|all)(?: of it| you know| about me)*|(?:一切|全部|所有)(?:的?事情?|的?記憶)?",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=\w)[.](?=\s+\S)|[。！？!?\n]")
_MAX_REPEATED = 300

ENGLISH = {
    "saved": f"{REMEMBERED[0]}{{}}",
    "known": f"{KNOWN[0]}{{}}",
    "masked": "(Secrets are not kept; `turnleaf remember` keeps a text exactly as it is.)",
    "secret": "Secrets such as passwords and keys are not kept, so nothing was saved. "
    "(`turnleaf remember` keeps a text exactly as it is.)",
    "full": "I could not remember that: {}",
    "removed": f"{FORGOTTEN[0]}{{}}",
    "none": "I remember nothing like that, so nothing was forgotten: {}",
    "several": "Several things could be meant, so nothing was forgotten. Which one?",
    "replaced": f"{REMEMBERED[0]}{{}} (before: {{}})",
    "unlearnt": "I will not learn that: {}",
    "everything": "I do not forget everything at once. `turnleaf memories` lists what there is; "
    "name one thing, or edit the file.",
    "private": "(This is private: nothing is remembered or forgotten.)",
}
CHINESE = {
    "saved": f"{REMEMBERED[1]}{{}}",
    "known": f"{KNOWN[1]}{{}}",
    "masked": "（密碼等機密不會保留；用 `turnleaf remember` 可以原樣保留。）",
    "secret": "密碼、金鑰等機密不會保留，所以這次沒有記下任何內容。"
    "（用 `turnleaf remember` 可以原樣保留。）",
    "full": "沒辦法記住：{}",
    "removed": f"{FORGOTTEN[1]}{{}}",
    "none": "我不記得這樣的事，所以沒有忘掉什麼：{}",
    "several": "符合的不只一件，所以還沒有忘掉。是哪一件？",
    "replaced": f"{REMEMBERED[1]}{{}}（原本：{{}}）",
    "unlearnt": "我不會學這件事：{}",
    "everything": "我不會一次忘掉所有的事。`turnleaf memories` 列出記得的內容；"
    "請說一件，或直接編輯檔案。",
    "private": "（這是私密對話：不會記住或忘掉任何事。）",
}


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What was done at the user's request, how it is confirmed, and what else the message says."""

    confirmation: str = ""
    saved: tuple[Memory, ...] = ()
    removed: tuple[Memory, ...] = ()
    rest: str = ""

    @property
    def notes(self) -> list[str]:
        """Tell the model, so that it does not do it again."""
        if not self.confirmation:
            return []
        told = f"The memory has acted on this already, and the user is told: {self.confirmation}"
        return [f"{told} Do not save or delete it again, and do not repeat that."]


def obey(
    text: str, memory: MemoryStore, learning: LearningStore, *, key: str, now: datetime
) -> Obeyed:
    """Act on a message that begins with a request, one after the other if there are several."""
    requests = requests_in(text)
    if not requests:
        return Obeyed()
    earlier = (fact.content for fact in memory.get_all())
    words = choose_words(text, ENGLISH, CHINESE, earlier=earlier)
    source = Source(quote=masked(text), conversation=key, message_time=now, trust="user")
    desk = _Desk(memory, learning, source, words)
    done = [desk.act(request) for request in requests]
    return Obeyed(
        "\n".join(one.confirmation for one in done),
        tuple(memory for one in done for memory in one.saved),
        tuple(memory for one in done for memory in one.removed),
        " ".join(one.rest for one in done).strip(),
    )


def requests_in(text: str) -> list[Request]:
    """Find the request that a message begins with, and those that follow it."""
    found: list[Request] = []
    request, tried = request_in(text), 0
    while request and len(found) < MAX_REQUESTS - 1:
        for end in islice(_wishing_clauses(request.content), _MAX_TRIED - tried):
            tried += 1
            other = request_in(request.content[end + 1 :].strip())
            if other:
                found.append(replace(request, content=request.content[:end].strip()))
                request = other
                break
        else:
            break
    return [*found, request] if request else []


def refusal(text: str) -> str:
    """Say that a request is not acted on, if a message is one: the conversation is private."""
    if request_in(text) is None:
        return ""
    return choose_words(text, ENGLISH, CHINESE)["private"]


@dataclass(frozen=True, slots=True)
class _Desk:
    """Where requests of one message are acted on."""

    memory: MemoryStore
    learning: LearningStore
    source: Source
    words: Mapping[str, str]

    def act(self, request: Request) -> Obeyed:
        """Do what one request says."""
        if request.action == "remember":
            return self._remembered(request.content)
        return self._forgotten(*_first_sentence(request.content))

    def _remembered(self, asked: str) -> Obeyed:
        content = mask_fact(asked)
        if not content:
            return Obeyed(self._said("secret"))
        note = f" {self.words['masked']}" if content != asked else ""
        known = self.memory.get_all()
        same = judged(Candidate(content, content), known)
        if same.kind == "same" and same.target:
            return Obeyed(self._said("known", same.target.content))
        try:
            before = _corrected(content, known)
            if before and (after := self._replaced(before, content)):
                return Obeyed(
                    self._said("replaced", after.content, before.content) + note, (after,)
                )
            saved = self.memory.add(content, origin=ORIGIN, source=self.source)
        except MemoryFull as error:
            return Obeyed(self._said("full", str(error)))
        return Obeyed(self._said("saved", saved.content) + note, (saved,))

    def _replaced(self, before: Memory, content: str) -> Memory | None:
        try:
            return self.memory.update(
                before.id, content, expected=before.content, origin=ORIGIN, source=self.source
            )
        except Conflict:
            return None

    def _forgotten(self, wanted: str, rest: str) -> Obeyed:
        found = meant(wanted, self.memory.get_all())
        waiting = [one for one in self.learning.outbox() if meant(wanted, [_foreseen(one)])]
        if len(found) > 1:
            return Obeyed("\n".join([self._said("several"), *_listed(found)]), rest=rest)
        for one in found:
            self.memory.delete(one.id, origin=ORIGIN, source=self.source)
        for outgoing in waiting:
            self.learning.settle(outgoing.id)
        gone = (*found, *map(_foreseen, waiting))
        told = self._said("removed", gone[0].content) if gone else self._nothing_of(wanted)
        return Obeyed(told, removed=gone, rest=rest)

    def _nothing_of(self, wanted: str) -> str:
        """Say that nothing is remembered; what was said a moment ago is then not learnt."""
        if _EVERYTHING.fullmatch(wanted.strip()):
            return self._said("everything")
        queued = self.learning.queued(self.source.conversation or "")
        said = [one.content for message in queued for one in rules.facts_in(message.message.text)]
        facts = (Memory("", content, LONG_AGO, LONG_AGO) for content in said)
        unlearnt = meant(wanted, list(facts))
        return (
            self._said("unlearnt", unlearnt[0].content)
            if unlearnt
            else self._said("none", _shortened(wanted))
        )

    def _said(self, what: str, *texts: str) -> str:
        return self.words[what].format(*texts)


def _wishing_clauses(text: str) -> Iterator[int]:
    """Find the ends of clauses after which something may be asked for."""
    plain = simplify(text)
    for end, mark in enumerate(text):
        is_end = mark in _CLAUSE_ENDS or (mark == "." and text[end + 1 : end + 2].isspace())
        if is_end and may_ask(plain[end + 1 : end + _WISH_CHARS]):
            yield end


def _corrected(content: str, known: Sequence[Memory]) -> Memory | None:
    """Find the one known fact that the words call wrong."""
    verdicts = (judged(candidate, known) for candidate in rules.facts_in(content))
    return next((one.target for one in verdicts if one.kind == "supersedes"), None)


def _first_sentence(text: str) -> tuple[str, str]:
    """Cut a wish to forget off from what else is said: it names one thing."""
    end = _SENTENCE_END.search(text)
    return (text[: end.start()], text[end.end() :].strip()) if end else (text, "")


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_REPEATED else f"{text[:_MAX_REPEATED]} …"


def _foreseen(outgoing: Outgoing) -> Memory:
    """Give the fact that will be when what was learnt is written."""
    decision = outgoing.decision
    return Memory(decision["id"], decision["content"], LONG_AGO, LONG_AGO, decision["category"])


def _listed(found: Sequence[Memory]) -> list[str]:
    return [f"- {memory.content}" for memory in found[:MOST_NAMED]]
