"""Doing what the user asks of the memory in so many words: remember this, forget that."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from turnleaf.core import rules
from turnleaf.core.candidates import Candidate
from turnleaf.core.changes import Source
from turnleaf.core.languages import is_chinese
from turnleaf.core.memories import Memory
from turnleaf.core.reconciling import judged
from turnleaf.core.requests import meant, request_in
from turnleaf.core.secrets import masked
from turnleaf.errors import Conflict, MemoryFull

if TYPE_CHECKING:
    from collections.abc import Sequence

    from turnleaf.store.learning import LearningStore, Outgoing
    from turnleaf.store.memories import MemoryStore

ORIGIN = "request"
MOST_NAMED = 10
LONG_AGO = datetime.min.replace(tzinfo=UTC)
_SENTENCE_END = re.compile(r"(?<=\w)[.](?=\s+\S)|[。！？!?\n]")

ENGLISH = {
    "saved": "Remembered: {}",
    "known": "I remember that already: {}",
    "masked": "(Secrets are not kept; `turnleaf remember` keeps a text exactly as it is.)",
    "full": "I could not remember that: {}",
    "removed": "Forgotten: {}",
    "none": "I remember nothing like that, so nothing was forgotten: {}",
    "several": "Several things could be meant, so nothing was forgotten. Which one?",
    "replaced": "Remembered: {} (before: {})",
    "private": "(This is private: nothing is remembered or forgotten.)",
}
CHINESE = {
    "saved": "已記住：{}",
    "known": "我已經記得：{}",
    "masked": "（密碼等機密不會保留；用 `turnleaf remember` 可以原樣保留。）",
    "full": "沒辦法記住：{}",
    "removed": "已忘掉：{}",
    "none": "我不記得這樣的事，所以沒有忘掉什麼：{}",
    "several": "符合的不只一件，所以還沒有忘掉。是哪一件？",
    "replaced": "已記住：{}（原本：{}）",
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
    """Act on a message that begins with a request; on any other do nothing."""
    request = request_in(text)
    if request is None:
        return Obeyed()
    words = CHINESE if is_chinese(text) else ENGLISH
    source = Source(quote=masked(text), conversation=key, message_time=now, trust="user")
    if request.action == "remember":
        return _remembered(request.content, memory, source, words)
    return _forgotten(request.content, memory, learning, source, words)


def refusal(text: str) -> str:
    """Say that a request is not acted on, if a message is one: the conversation is private."""
    if request_in(text) is None:
        return ""
    return (CHINESE if is_chinese(text) else ENGLISH)["private"]


def _remembered(asked: str, memory: MemoryStore, source: Source, words: dict[str, str]) -> Obeyed:
    content = masked(asked)
    note = f" {words['masked']}" if content != asked else ""
    known = memory.get_all()
    same = judged(Candidate(content, content), known)
    if same.kind == "same" and same.target:
        return Obeyed(words["known"].format(same.target.content))
    try:
        before = _corrected(content, known)
        if before and (after := _replaced(before, content, memory, source)):
            told = words["replaced"].format(after.content, before.content)
            return Obeyed(told + note, saved=(after,))
        saved = memory.add(content, origin=ORIGIN, source=source)
    except MemoryFull as error:
        return Obeyed(words["full"].format(error))
    return Obeyed(words["saved"].format(saved.content) + note, saved=(saved,))


def _corrected(content: str, known: Sequence[Memory]) -> Memory | None:
    """Find the one known fact that the words call wrong."""
    verdicts = (judged(candidate, known) for candidate in rules.facts_in(content))
    return next((one.target for one in verdicts if one.kind == "supersedes"), None)


def _replaced(before: Memory, content: str, memory: MemoryStore, source: Source) -> Memory | None:
    try:
        return memory.update(
            before.id, content, expected=before.content, origin=ORIGIN, source=source
        )
    except Conflict:
        return None


def _forgotten(
    asked: str,
    memory: MemoryStore,
    learning: LearningStore,
    source: Source,
    words: dict[str, str],
) -> Obeyed:
    wanted, rest = _first_sentence(asked)
    found = meant(wanted, memory.get_all())
    waiting = [one for one in learning.outbox() if meant(wanted, [_foreseen(one)])]
    if not found and not waiting:
        return Obeyed(words["none"].format(wanted), rest=rest)
    if len(found) > 1:
        return Obeyed("\n".join([words["several"], *_listed(found)]), rest=rest)
    for one in found:
        memory.delete(one.id, origin=ORIGIN, source=source)
    for outgoing in waiting:
        learning.settle(outgoing.id)
    gone = (*found, *map(_foreseen, waiting))
    return Obeyed(words["removed"].format(gone[0].content), removed=gone, rest=rest)


def _first_sentence(text: str) -> tuple[str, str]:
    """Cut a wish to forget off from what else is said: it names one thing."""
    end = _SENTENCE_END.search(text)
    return (text[: end.start()], text[end.end() :].strip()) if end else (text, "")


def _foreseen(outgoing: Outgoing) -> Memory:
    """Give the fact that will be when what was learnt is written."""
    decision = outgoing.decision
    return Memory(decision["id"], decision["content"], LONG_AGO, LONG_AGO, decision["category"])


def _listed(found: Sequence[Memory]) -> list[str]:
    return [f"- {memory.content}" for memory in found[:MOST_NAMED]]
