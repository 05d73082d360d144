"""Facts that imported conversations state, chosen for a person to review.

All that was said is read in the order of time, whatever order it was imported in: the newest value
holds, and what ended since is no candidate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from turnleaf.core.learning.findings import Finding, find_facts
from turnleaf.core.learning.reconciling import judge
from turnleaf.core.learning.rendering import category_of
from turnleaf.core.masked_facts import mask_fact
from turnleaf.core.memories import Memory, content_id
from turnleaf.core.secrets import mask_secrets

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from turnleaf.core.learning.slots import Names


@dataclass(frozen=True, slots=True)
class Stated:
    """A fact that a message states, with where and when."""

    conversation: str
    time: datetime
    message: str
    finding: Finding


@dataclass(frozen=True, slots=True)
class ProposedFact:
    """A fact to be reviewed, and the words that it rests on."""

    memory: Memory
    stated: Stated

    @property
    def quote(self) -> str:
        """The words, with secrets masked."""
        return mask_secrets(self.stated.finding.quote, self.stated.message)


def find_stated(conversation: str, text: str, time: datetime, names: Names) -> list[Stated]:
    """Return the facts that a message states, those alone that are sure."""
    found = (one for one in find_facts(text, time, names) if isinstance(one, Finding))
    return [Stated(conversation, time, text, one) for one in found if not one.statement.is_weak]


def choose_candidates(stated: Iterable[Stated], known: Sequence[Memory]) -> list[ProposedFact]:
    """Return the facts that hold by all that was said and that are not known yet."""
    chosen: dict[str, ProposedFact] = {}
    for one in sorted(stated, key=lambda one: one.time):
        candidates = [each.memory for each in chosen.values()]
        verdict = judge(one.finding.statement, [*known, *candidates])
        if verdict.effect == "same":
            continue
        touched = {memory.id for memory in (*verdict.targets, *verdict.ended)}
        for memory_id in touched & chosen.keys():
            del chosen[memory_id]
        is_outdated = any(memory.id in touched and memory.updated_at > one.time for memory in known)
        if verdict.effect != "ends" and not is_outdated:
            _add(chosen, one, known)
    return list(chosen.values())


def _add(chosen: dict[str, ProposedFact], one: Stated, known: Sequence[Memory]) -> None:
    content = mask_fact(one.finding.content, one.message)
    if not content or any(memory.content == content for memory in known):
        return
    used = {memory.category for memory in known if memory.category}
    memory = Memory(
        content_id(content),
        content,
        one.time,
        one.time,
        category_of(one.finding.statement, used),
        "import",
        one.finding.statement.slot,
        one.finding.until,
    )
    chosen[memory.id] = ProposedFact(memory, one)
