"""A memory file's text while it is being changed; every step is kept, to be put on record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from turnleaf.core.markdown_blocks import LINES
from turnleaf.core.pages import Splice, find
from turnleaf.core.room import Room
from turnleaf.errors import Conflict, CorruptFile

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from turnleaf.core.changes import Change, Repair
    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format, Page, Shape

NOTHING = Splice(0, (), ())
MAX_COMPARED = 1_000_000
"""How many pairs of lines are compared to find out which ones somebody changed."""


@dataclass(frozen=True, slots=True)
class Step:
    """One fact added, changed or removed, and the change of the text that does it.

    Where a person saved the whole file, the first step is about no fact: its splice is of the
    lines of the text, and `removed` are the facts that are gone.
    """

    op: str
    before: Memory | None
    after: Memory | None
    splice: Splice
    undoes: int | None = None
    removed: tuple[Memory, ...] = ()

    @property
    def id(self) -> str:
        """The fact concerned."""
        memory = self.after or self.before
        return memory.id if memory else ""


class Draft:
    """What a memory file will hold when all steps are made."""

    def __init__(
        self,
        kind: Format,
        text: str,
        unknown_time: datetime,
        shape: Shape | None = None,
        page: Page | None = None,
    ) -> None:
        self._format = kind
        self._unknown_time = unknown_time
        self._shape = shape
        self._text: str | None = text
        self.page = page or kind.parse(text, unknown_time)
        self.steps: list[Step] = []

    @property
    def text(self) -> str:
        """The text as it will be."""
        if self._text is None:
            self._text = self.page.text
        return self._text

    @property
    def memories(self) -> list[Memory]:
        """The facts."""
        return [fact.memory for fact in self.page.facts]

    @property
    def taken(self) -> Room:
        """How many facts there are, and characters of facts."""
        return Room(len(self.page.facts), self.page.tally.chars)

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

    def put(self, text: str, now: datetime) -> bool:
        """Let a person's text stand in the place of all; False when it is the same.

        What the person typed was written now.
        """
        if text == self.text:
            return False
        splice, others = self._let_stand(text, now)
        removed = tuple(was for was, fact, _ in others if was and not fact)
        self.steps.append(Step("put", None, None, splice, removed=removed))
        self.steps += [
            Step("put", was, fact, replace(NOTHING, facts=(raw,)))
            for was, fact, raw in others
            if fact
        ]
        return True

    def undo_put(self, made: Sequence[Change], version: str, history: Sequence[Change]) -> None:
        """Give back the text that a person's replaced; what was changed since stays.

        `version` names the text as it is. Where the lines cannot be told any more, the facts are
        taken back by themselves; raise Conflict when they were changed since, or when it was not
        only about facts.
        """
        whole = next(change for change in made if not change.id)
        text = self._given_back(whole, made, version, history)
        if text is None:
            self._undo_facts(whole, made)
            return
        splice, others = self._let_stand(text, self._unknown_time)
        self.steps.append(Step("undo", None, None, splice, whole.n))
        self.steps += [
            Step("undo", was, fact, replace(NOTHING, facts=(raw,)), whole.n)
            for was, fact, raw in others
        ]

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
        else:
            self._undo_fact(change)

    def _undo_facts(self, whole: Change, made: Sequence[Change]) -> None:
        if not self._is_all_facts(whole):
            message = (
                f"{whole.file} was changed since at the same lines or by another program, so "
                "this cannot be undone; edit it instead"
            )
            raise Conflict(message)
        for change in made:
            if change.after:
                self._check_unchanged(change, change.after)
        self.steps.append(Step("undo", None, None, NOTHING, whole.n))
        for change in made:
            self.undo(change, is_newest=False)

    def _undo_fact(self, change: Change) -> None:
        if change.before and change.after is None:
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

    def _let_stand(
        self, text: str, unknown_time: datetime
    ) -> tuple[Splice, list[tuple[Memory | None, Memory | None, str]]]:
        """Take a whole text; give which lines changed, and the facts as they were and are."""
        old, new = self.page, self._format.parse(text, unknown_time)
        splice = _difference(_lines(self.text), _lines(text))
        self._text, self.page, self._shape = text, new, new.shape()
        return splice, _other_facts(old, new)

    def _given_back(
        self, whole: Change, made: Sequence[Change], version: str, history: Sequence[Change]
    ) -> str | None:
        """Give the text without what a person's text changed; None when it cannot be told."""
        saved = self._as_saved(whole, version, history)
        replaced = None if saved is None else _unspliced(saved, whole)
        if saved is None or replaced is None:
            return None
        if saved == self.text:
            return replaced
        lines = _merged(_lines(saved), _lines(replaced), _lines(self.text))
        text = None if lines is None else "".join(lines)
        return text if text is not None and self._contents(text) == self._without(made) else None

    def _as_saved(self, whole: Change, version: str, history: Sequence[Change]) -> str | None:
        """Give the text as a person saved it, all later changes taken back, if they are known."""
        later = [one for one in history if one.n > whole.n and one.old != one.new]
        text: str | None = self.text
        while version != whole.new and text is not None:
            last = next((one for one in later if one.new == version), None)
            if last is None:
                return None
            text = self.text_before(last, history, text)
            later = [one for one in later if one.n < last.n]
            version = last.old
        return text

    def text_before(
        self, made: Change, history: Sequence[Change], text: str | None = None
    ) -> str | None:
        """Return the text without a change and all made with it, if that left this text."""
        puts = {change.n for change in history if change.op == "put"}
        text = self.text if text is None else text
        for one in [one for one in reversed(history) if one.is_of_one_step(made)]:
            is_whole = one.op == "put" or one.undoes in puts
            text = self._without_splice(text, one, is_whole=is_whole)
        return text

    def text_after(self, made: Change, history: Sequence[Change]) -> str | None:
        """Return the text with a change and all made with it, if they were made of this text."""
        mirrored = [replace(one, took=one.put, put=one.took) for one in reversed(history)]
        return self.text_before(made, mirrored)

    def _without_splice(self, text: str | None, change: Change, *, is_whole: bool) -> str | None:
        if text is None:
            return None
        if is_whole:
            return _unspliced(text, change)
        page = self._format.parse(text, self._unknown_time)
        return page.spliced(Splice(change.at, change.put, change.took))

    def _contents(self, text: str) -> dict[str, str]:
        page = self._format.parse(text, self._unknown_time)
        return {fact.memory.id: fact.memory.content for fact in page.facts}

    def _without(self, made: Sequence[Change]) -> dict[str, str]:
        """Give what all facts will say when what a person made of them is taken back."""
        contents = {memory.id: memory.content for memory in self.memories}
        for change in made:
            if change.before:
                contents[change.id] = change.before.content
            else:
                contents.pop(change.id, None)
            contents |= {memory.id: memory.content for memory in change.removed}
        return contents

    def _is_all_facts(self, whole: Change) -> bool:
        """Tell whether nothing but facts changed, so that no other line can be missed."""
        return all(self._holds_only_facts("".join(lines)) for lines in (whole.took, whole.put))

    def _holds_only_facts(self, text: str) -> bool:
        try:
            page = self._format.parse(text, self._unknown_time)
        except CorruptFile:  # a part of an array, which has nothing else
            return True
        return page.shape().total == page.shape_of(map(page.raw, page.facts)).total

    def _take(self, step: Step) -> None:
        splice = step.splice
        if splice.took or splice.put:
            page = self.page
            self._shape = self.shape + page.shape_of(splice.put) - page.shape_of(splice.took)
            self.page, self._text = page.after(splice, self._unknown_time), None
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
            removed=step.removed,
        )
        for index, step in enumerate(steps)
    ]


def _lines(text: str) -> list[str]:
    return LINES.findall(text)


def _difference(old: Sequence[str], new: Sequence[str]) -> Splice:
    """Find the lines from the first to the last that differ."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    rest = range(shorter - start)
    tail = next((at for at in rest if old[-1 - at] != new[-1 - at]), len(rest))
    return Splice(start, tuple(old[start : len(old) - tail]), tuple(new[start : len(new) - tail]))


def _unspliced(text: str, change: Change) -> str | None:
    """Give a text without a change of its lines; None when it does not hold them."""
    lines = _lines(text)
    end = change.at + len(change.put)
    if tuple(lines[change.at : end]) != change.put:
        return None
    return "".join([*lines[: change.at], *change.took, *lines[end:]])


def _merged(base: list[str], one: list[str], other: list[str]) -> list[str] | None:
    """Make both changes of the same lines; None where they touch each other."""
    lines: list[str] = []
    done = 0
    both = [*_hunks(base, one), *_hunks(base, other)]
    for start, end, new in sorted(both, key=lambda hunk: hunk[:2]):
        if start < done:
            return None
        lines += [*base[done:start], *new]
        done = end
    return lines + base[done:]


def _hunks(old: list[str], new: list[str]) -> list[tuple[int, int, list[str]]]:
    """Find which lines were replaced by which."""
    splice = _difference(old, new)
    took, put = list(splice.took), list(splice.put)
    if len(took) * len(put) > MAX_COMPARED:
        return [(splice.start, splice.start + len(took), put)]
    steps = SequenceMatcher(None, took, put, autojunk=False).get_opcodes()
    return [
        (splice.start + start, splice.start + end, put[new_start:new_end])
        for tag, start, end, new_start, new_end in steps
        if tag != "equal"
    ]


def _other_facts(old: Page, new: Page) -> list[tuple[Memory | None, Memory | None, str]]:
    """Give the facts in which pages differ, as they were, as they are, and their lines."""
    before = {fact.memory.id: fact for fact in old.facts}
    others: list[tuple[Memory | None, Memory | None, str]] = []
    for fact in new.facts:
        was = before.pop(fact.memory.id, None)
        raw = new.raw(fact)
        if was is None or not _is_same(old, was, new, fact):
            others.append((was and was.memory, fact.memory, raw))
    return others + [(fact.memory, None, "") for fact in before.values()]


def _is_same(old: Page, was: Any, new: Page, fact: Any) -> bool:  # noqa: ANN401
    """Compare facts by what stands in the file, since one typed by hand has no time there."""
    told = [(one.memory.content, one.memory.category) for one in (was, fact)]
    return told[0] == told[1] and old.shape_of([old.raw(was)]) == new.shape_of([new.raw(fact)])
