"""A memory file's text while it is being changed; every step is kept, to be put on record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from turnleaf.core.pages import Splice, find
from turnleaf.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from turnleaf.core.changes import Change, Repair
    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format, Page
    from turnleaf.core.shapes import Shape


@dataclass(frozen=True, slots=True)
class Step:
    """One fact added, changed or removed, and the change of the text that does it."""

    op: str
    before: Memory | None
    after: Memory | None
    splice: Splice
    undoes: int | None = None

    @property
    def id(self) -> str:
        """The fact concerned."""
        memory = self.after or self.before
        return memory.id if memory else ""


class Draft:
    """What a memory file will hold when all steps are made."""

    def __init__(
        self, kind: Format, text: str, unknown_time: datetime, shape: Shape | None = None
    ) -> None:
        self._format = kind
        self._unknown_time = unknown_time
        self._page: Page | None = kind.parse(text, unknown_time)
        self._shape = shape
        self.text = text
        self.steps: list[Step] = []

    @property
    def page(self) -> Page:
        """The text, parsed."""
        if self._page is None:
            self._page = self._format.parse(self.text, self._unknown_time)
        return self._page

    @property
    def memories(self) -> list[Memory]:
        """The facts."""
        return [fact.memory for fact in self.page.facts]

    @property
    def shape(self) -> Shape:
        """The text's fingerprint."""
        return self._shape or self.page.shape()

    def find(self, memory_id: str) -> Any:  # noqa: ANN401 - a Place of the format's own
        """Give the place of the fact of that id, or None."""
        return find(self.page, memory_id)

    def insert(self, memory: Memory, op: str, undoes: int | None = None) -> None:
        """Add a fact."""
        self.insert_all([memory], op, undoes)

    def insert_all(self, memories: Sequence[Memory], op: str, undoes: int | None = None) -> None:
        """Add facts; of those that go to one place, the first step brings the lines of all."""
        for group in self.page.together(memories):
            whole = self.page.insert(*group)
            lines = whole.took, whole.put
            for memory, fact in zip(group, whole.facts, strict=True):
                splice = Splice(whole.start, *lines, (fact,))
                self._take(Step(op, None, memory, splice, undoes))
                lines = (), ()

    def replace(self, memory: Memory, op: str, undoes: int | None = None) -> None:
        """Let the fact of the same id say something else."""
        fact = self.find(memory.id)
        self._take(Step(op, fact.memory, memory, self.page.replace(fact, memory), undoes))

    def remove(self, memory_id: str, op: str, undoes: int | None = None) -> None:
        """Take a fact away."""
        fact = self.find(memory_id)
        self._take(Step(op, fact.memory, None, self.page.remove(fact), undoes))

    def mend(self, repair: Repair) -> None:
        """Make up for somebody else's save."""
        for memory_id in repair.delete_again:
            self.remove(memory_id, "restore")
        for memory in repair.update_again:
            self.replace(memory, "restore")
        for memory in repair.bring_back:
            self.insert(memory, "restore")

    def undo(self, change: Change, *, is_newest: bool) -> None:
        """Take a change back; to the byte when it is the newest that was made."""
        for memory in change.removed:
            if self.find(memory.id) is None:
                self.insert(memory, "undo", change.n)
        if not change.id:
            return
        if is_newest:
            splice = Splice(change.at, change.put, change.took)
            self._take(Step("undo", change.after, change.before, splice, change.n))
        elif change.before and change.after is None:
            self._check_absent(change)
            self.insert(change.before, "undo", change.n)
        elif change.after:
            self._check_unchanged(change, change.after)
            if change.before:
                self.replace(change.before, "undo", change.n)
            else:
                self.remove(change.id, "undo", change.n)

    def _check_absent(self, change: Change) -> None:
        if self.find(change.id) is not None:
            message = f"the memory {change.id} is there already, so there is nothing to undo"
            raise Conflict(message)

    def _check_unchanged(self, change: Change, expected: Memory) -> None:
        fact = self.find(change.id)
        if fact is None or fact.memory.content != expected.content:
            message = (
                f"the memory {change.id} was changed since, so this cannot be undone; "
                "edit or forget it instead"
            )
            raise Conflict(message)

    def _take(self, step: Step) -> None:
        splice = step.splice
        if splice.took or splice.put:
            page = self.page
            self._shape = self.shape + page.shape_of(splice.put) - page.shape_of(splice.took)
            self.text = page.spliced(splice)
            self._page = None
        self.steps.append(step)


def recorded(template: Change, steps: Sequence[Step]) -> list[Change]:
    """Put steps on record, one number each, after what was noticed of somebody else's save."""
    noticed = [template] if template.removed or not steps else []
    first = template.n + len(noticed)
    return noticed + [
        replace(
            template,
            n=first + index,
            op=step.op,
            origin=None if step.op == "restore" else template.origin,
            source=None if step.op == "restore" else template.source,
            id=step.id,
            before=step.before,
            after=step.after,
            at=step.splice.start,
            took=step.splice.took,
            put=step.splice.put,
            fact="".join(step.splice.facts),
            undoes=step.undoes,
            removed=(),
        )
        for index, step in enumerate(steps)
    ]
