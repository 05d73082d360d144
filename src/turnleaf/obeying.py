"""Doing what the user asks of the memory in so many words: remember this, forget that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnleaf.core.candidates import Candidate
from turnleaf.core.changes import Source
from turnleaf.core.languages import is_chinese
from turnleaf.core.reconciling import judged
from turnleaf.core.requests import meant
from turnleaf.core.secrets import masked
from turnleaf.errors import MemoryFull

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from turnleaf.core.memories import Memory
    from turnleaf.core.requests import Request
    from turnleaf.store.memories import MemoryStore

ORIGIN = "request"
MOST_NAMED = 10

ENGLISH = {
    "saved": "Remembered: {}",
    "known": "I remember that already: {}",
    "masked": "(Secrets are not kept; `turnleaf remember` keeps a text exactly as it is.)",
    "full": "I could not remember that: {}",
    "removed": "Forgotten: {}",
    "none": "I remember nothing like that, so nothing was forgotten: {}",
    "several": "Several things could be meant, so nothing was forgotten. Which one?",
}
CHINESE = {
    "saved": "已記住：{}",
    "known": "我已經記得：{}",
    "masked": "（密碼等機密不會保留；用 `turnleaf remember` 可以原樣保留。）",
    "full": "沒辦法記住：{}",
    "removed": "已忘掉：{}",
    "none": "我不記得這樣的事，所以沒有忘掉什麼：{}",
    "several": "符合的不只一件，所以還沒有忘掉。是哪一件？",
}


@dataclass(frozen=True, slots=True)
class Obeyed:
    """What was done at the user's request, and how it is confirmed."""

    confirmation: str = ""
    saved: tuple[Memory, ...] = ()
    removed: tuple[Memory, ...] = ()

    @property
    def notes(self) -> list[str]:
        """Tell the model, so that it does not do it again."""
        if not self.confirmation:
            return []
        told = f"The memory has acted on this already, and the user is told: {self.confirmation}"
        return [f"{told} Do not save or delete it again, and do not repeat that."]


def obey(
    request: Request | None, memory: MemoryStore, *, key: str, text: str, now: datetime
) -> Obeyed:
    """Act on a request, if there is one."""
    if request is None:
        return Obeyed()
    words = CHINESE if is_chinese(text) else ENGLISH
    source = Source(quote=masked(text), conversation=key, message_time=now, trust="user")
    if request.action == "remember":
        return _remembered(masked(request.content), request.content, memory, source, words)
    return _forgotten(request.content, memory, source, words)


def _remembered(
    content: str, asked: str, memory: MemoryStore, source: Source, words: dict[str, str]
) -> Obeyed:
    verdict = judged(Candidate(content, content), memory.get_all())
    if verdict.kind == "same" and verdict.target:
        return Obeyed(words["known"].format(verdict.target.content))
    try:
        saved = memory.add(content, origin=ORIGIN, source=source)
    except MemoryFull as error:
        return Obeyed(words["full"].format(error))
    confirmation = words["saved"].format(saved.content)
    if content != asked:
        confirmation = f"{confirmation} {words['masked']}"
    return Obeyed(confirmation, saved=(saved,))


def _forgotten(wanted: str, memory: MemoryStore, source: Source, words: dict[str, str]) -> Obeyed:
    found = meant(wanted, memory.get_all())
    if not found:
        return Obeyed(words["none"].format(wanted))
    if len(found) > 1:
        return Obeyed("\n".join([words["several"], *_listed(found)]))
    memory.delete(found[0].id, origin=ORIGIN, source=source)
    return Obeyed(words["removed"].format(found[0].content), removed=(found[0],))


def _listed(found: Sequence[Memory]) -> list[str]:
    return [f"- {memory.content}" for memory in found[:MOST_NAMED]]
