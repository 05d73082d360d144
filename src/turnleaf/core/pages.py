"""What a memory file is, whatever its format: facts in their places, and changes of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import datetime

    from turnleaf.core.memories import Memory


class PlacedFact(Protocol):
    """A fact and where it stands."""

    @property
    def memory(self) -> Memory:
        """The fact."""

    @property
    def start(self) -> int:
        """Its first line, or its index."""

    @property
    def is_typed(self) -> bool:
        """Whether it has the page's time, having none of its own."""


@dataclass(frozen=True, slots=True)
class Splice:
    """A change of a page: what is taken from it at a line, and what is put there instead.

    `facts` are the texts of the facts that are put there, without a heading or blank lines.
    """

    start: int
    took: tuple[str, ...]
    put: tuple[str, ...]
    facts: tuple[str, ...] = ()

    def make_in(self, lines: Sequence[str]) -> list[str]:
        """Return lines after the change."""
        return [*lines[: self.start], *self.put, *lines[self.start + len(self.took) :]]


@dataclass(frozen=True, slots=True)
class Tally:
    """What is known of all facts of a page together, without going over them again."""

    ids: AbstractSet[str]
    chars: int
    typed: int
    """How many have the page's time, having none of their own."""
    has_twins: bool = False
    """Whether some had to be told apart, so that the id of one depends on others."""

    @classmethod
    def of(cls, facts: Sequence[PlacedFact], *, has_twins: bool = False) -> Tally:
        """Count facts."""
        ids = {fact.memory.id for fact in facts}
        chars = sum(len(fact.memory.content) for fact in facts)
        return cls(ids, chars, sum(fact.is_typed for fact in facts), has_twins)

    def change(self, gone: Sequence[PlacedFact], new: Sequence[PlacedFact]) -> Tally | None:
        """Return the count with some facts replaced by others; None where ids would be shared."""
        less, more = Tally.of(gone), Tally.of(new)
        ids = set(self.ids)
        ids -= less.ids
        # The id of a twin depends on all facts of its name, so those have to be read again.
        if self.has_twins or not ids.isdisjoint(more.ids):
            return None
        ids |= more.ids
        chars, typed = more.chars - less.chars, more.typed - less.typed
        return Tally(ids, self.chars + chars, self.typed + typed)


class Page(Protocol):
    """A parsed memory file."""

    @property
    def facts(self) -> Sequence[Any]:
        """Its facts, each a PlacedFact of the format's own, in their order."""

    @property
    def text(self) -> str:
        """The page as it is written."""

    @property
    def tally(self) -> Tally:
        """The facts, counted."""

    def get_raw(self, fact: Any) -> str:  # noqa: ANN401 - a PlacedFact of the format's own
        """Return a fact's text as it is in the file."""

    def group(self, memories: Sequence[Memory]) -> Sequence[Sequence[Memory]]:
        """Return facts in groups that are added at one place."""

    def insert(self, *memories: Memory) -> Splice:
        """Return the change that adds a fact, or several of one group."""

    def replace(self, fact: Any, memory: Memory) -> Splice:  # noqa: ANN401
        """Return the change that replaces a fact, in its place."""

    def remove(self, fact: Any) -> Splice:  # noqa: ANN401
        """Return the change that removes a fact."""

    def apply(self, splice: Splice) -> str:
        """Return the text after a change."""

    def with_splice(self, splice: Splice, unknown_time: datetime) -> Page:
        """Return the page after a change: what parsing its text would give, with less work."""

    def with_time(self, time: datetime) -> Page:
        """Return the page as if it had been saved at another time."""

    def shape(self) -> Shape:
        """Return the fingerprint of the page."""

    def shape_of(self, raws: Iterable[str]) -> Shape:
        """Return the fingerprint of lines or records."""


class Format(Protocol):
    """How memories are kept; `json_facts` and `markdown` are the two."""

    EMPTY: str

    def parse(self, text: str, unknown_time: datetime) -> Page:
        """Return the page of a file's text; raise CorruptFile for any other file."""


def find(page: Page, memory_id: str) -> Any:  # noqa: ANN401
    """Return the place of the fact of that id, or None."""
    if memory_id not in page.tally.ids:
        return None
    return next(fact for fact in page.facts if fact.memory.id == memory_id)


_BITS = 96


@dataclass(frozen=True, slots=True)
class Shape:
    """The sum of a text's lines, and how many others are blank."""

    total: int
    blanks: int

    @classmethod
    def of(cls, lines: Iterable[str], blanks: int = 0) -> Shape:
        """Return the shape of lines."""
        # A sum does not depend on the order of lines, and can be changed line by line.
        return cls(sum(map(_hash_line, lines)) % (1 << _BITS), blanks)

    def __add__(self, other: Shape) -> Shape:
        """Return the shape of both texts together."""
        return Shape((self.total + other.total) % (1 << _BITS), self.blanks + other.blanks)

    def __sub__(self, other: Shape) -> Shape:
        """Return the shape of a text without lines of it."""
        return Shape((self.total - other.total) % (1 << _BITS), self.blanks - other.blanks)

    def __str__(self) -> str:
        """Write it for a file."""
        return f"{self.total:x}+{self.blanks}"

    @classmethod
    def parse(cls, text: str) -> Shape:
        """Return the shape that `str` wrote."""
        total, _, blanks = text.partition("+")
        return cls(int(total, 16), int(blanks))


def _hash_line(line: str) -> int:
    digest = hashlib.blake2b(line.encode("utf-8", "surrogatepass"), digest_size=_BITS // 8)
    return int.from_bytes(digest.digest())
