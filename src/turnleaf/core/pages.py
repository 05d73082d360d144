"""What a memory file is, whatever its format: facts in their places, and changes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from turnleaf.core.memories import Memory
    from turnleaf.core.shapes import Shape


class Place(Protocol):
    """A fact and where it stands."""

    @property
    def memory(self) -> Memory:
        """The fact."""

    @property
    def start(self) -> int:
        """Its first line, or its index."""


@dataclass(frozen=True, slots=True)
class Splice:
    """A change of a page: what is taken from it at a line, and what is put there instead.

    `facts` are the texts of the facts that are put there, without a heading or blank lines.
    """

    start: int
    took: tuple[str, ...]
    put: tuple[str, ...]
    facts: tuple[str, ...] = ()


class Page(Protocol):
    """A parsed memory file."""

    @property
    def facts(self) -> Sequence[Any]:
        """Its facts, each a Place of the format's own, in their order."""

    def raw(self, fact: Any) -> str:  # noqa: ANN401 - a Place of the format's own
        """Give a fact's text as it stands."""

    def together(self, memories: Sequence[Memory]) -> Sequence[Sequence[Memory]]:
        """Group facts that are added at one place."""

    def insert(self, *memories: Memory) -> Splice:
        """Add a fact, or several that go together."""

    def replace(self, fact: Any, memory: Memory) -> Splice:  # noqa: ANN401
        """Let a fact say something else, in its place."""

    def remove(self, fact: Any) -> Splice:  # noqa: ANN401
        """Take a fact away."""

    def spliced(self, splice: Splice) -> str:
        """Give the text after a change."""

    def shape(self) -> Shape:
        """Fingerprint it."""

    def shape_of(self, raws: Iterable[str]) -> Shape:
        """Fingerprint lines or records."""


class Format(Protocol):
    """How memories are kept; `jsonfacts` and `markdown` are the two."""

    EMPTY: str

    def parse(self, text: str, unknown_time: datetime) -> Page:
        """Read a file's text; raise CorruptFile when it is no such file."""


def find(page: Page, memory_id: str) -> Any:  # noqa: ANN401
    """Give the place of the fact of that id, or None."""
    return next((fact for fact in page.facts if fact.memory.id == memory_id), None)
