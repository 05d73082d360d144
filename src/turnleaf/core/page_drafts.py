"""A memory file's text while it is being changed; every step is kept, to be put on record."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any

from turnleaf.core.changes import TICK
from turnleaf.core.markdown_blocks import LINES
from turnleaf.core.memories import KEPT
from turnleaf.core.memory_limits import Room
from turnleaf.core.pages import Splice, find
from turnleaf.errors import Conflict, CorruptFile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from turnleaf.core.changes import Change, SomeChange
    from turnleaf.core.memories import Memory, OrKept
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
        self.kind = kind
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
    def used_room(self) -> Room:
        """How many facts there are, and characters of facts."""
        return Room(len(self.page.facts), self.page.tally.chars)

    @property
    def shape(self) -> Shape:
        """The text's fingerprint."""
        return self._shape or self.page.shape()

    def find(self, memory_id: str) -> Any:  # noqa: ANN401 - a PlacedFact of the format's own
        """Return the place of the fact of that id, or None."""
        return find(self.page, memory_id)

    def insert(self, memory: Memory, op: str, undoes: int | None = None) -> None:
        """Add a fact."""
        self.insert_all([memory], op, undoes)

    def insert_all(self, memories: Sequence[Memory], op: str, undoes: int | None = None) -> None:
        """Add facts; of those that go to one place, the first step has the lines of all."""
        for group in self.page.group(memories):
            whole = self.page.insert(*group)
            lines = whole.took, whole.put
            for memory, fact in zip(group, whole.facts, strict=True):
                splice = Splice(whole.start, *lines, (fact,))
                self._take(Step(op, None, memory, splice, undoes))
                # The lines belong to the first step; undoing any later one must not take them
                # twice.
                lines = (), ()

    def replace(self, memory: Memory, op: str, undoes: int | None = None) -> None:
        """Replace the fact of the same id."""
        fact = self.find(memory.id)
        self._take(Step(op, fact.memory, memory, self.page.replace(fact, memory), undoes))

    def remove(self, memory_id: str, op: str, undoes: int | None = None) -> None:
        """Remove a fact."""
        fact = self.find(memory_id)
        self._take(Step(op, fact.memory, None, self.page.remove(fact), undoes))

    def arrange(
        self, memory: Memory, *, category: str | OrKept | None, pinned: bool | OrKept
    ) -> Memory:
        """Move a fact to another category, pin or unpin it; return it as it is then."""
        after = replace(
            memory,
            category=memory.category if category is KEPT else category,
            pinned=memory.pinned if pinned is KEPT else pinned,
        )
        if after == memory:
            return memory
        # Only as much later as tells the two apart: in a prompt a fact is of the day it was said.
        after = replace(after, updated_at=memory.updated_at + TICK)
        if after.category == memory.category:
            self.replace(after, "update")
        else:
            self.remove(memory.id, "update")
            self.insert(after, "update")
        return after

    def put(self, text: str, now: datetime) -> bool:
        """Replace everything by a person's text; return False when it is the same.

        What the person typed was written now.
        """
        if text == self.text:
            return False
        splice, others = self._replace_all(text, now)
        removed = tuple(was for was, fact, _ in others if was and not fact)
        self.steps.append(Step("put", None, None, splice, removed=removed))
        self.steps += [
            Step("put", was, fact, replace(NOTHING, facts=(raw,)))
            for was, fact, raw in others
            if fact
        ]
        return True

    def undo_put(self, made: Sequence[Change], reversal: Splice, saved: str | None) -> None:
        """Bring back the text that a person's text replaced; what was changed since stays.

        `saved` is the person's text, None where it cannot be told any more, and `reversal` what
        takes it back. Where lines stand in its way, the facts are taken back by themselves; raise
        Conflict when they were changed since, or when it was not only about facts.
        """
        whole = next(change for change in made if not change.id)
        text = None if saved is None else self._give_back(made, reversal, saved)
        if text is None:
            self._undo_facts(whole, made, reversal)
        else:
            self.restore(text, whole.n)

    def restore(self, text: str, number: int) -> None:
        """Bring back a text that a change replaced."""
        splice, others = self._replace_all(text, self._unknown_time)
        self.steps.append(Step("undo", None, None, splice, number))
        self.steps += [
            Step("undo", was, fact, replace(NOTHING, facts=(raw,)), number)
            for was, fact, raw in others
        ]

    def undo(self, change: Change, reversal: Splice | None = None) -> None:
        """Undo a change; with the `reversal` of its lines, to the byte."""
        for memory in change.removed:
            if self.find(memory.id) is None:
                self.insert(memory, "undo", change.n)
        if not change.id:
            return
        if reversal:
            self._take(Step("undo", change.after, change.before, reversal, change.n))
        else:
            self._undo_fact(change)

    def _undo_facts(self, whole: Change, made: Sequence[Change], reversal: Splice) -> None:
        if not all(map(self._holds_only_facts, map("".join, (reversal.took, reversal.put)))):
            message = (
                "the same lines were changed later, or by another program, so this change "
                "cannot be undone; edit the text instead"
            )
            raise Conflict(message)
        for change in made:
            # All are checked before the first is undone: half of a save must not be taken back.
            if change.after:
                self._check_unchanged(change, change.after)
        self.steps.append(Step("undo", None, None, NOTHING, whole.n))
        for change in made:
            self.undo(change)

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
            message = f"the fact {change.id} is already in the memory, so there is nothing to undo"
            raise Conflict(message)

    def _check_unchanged(self, change: Change, expected: Memory) -> None:
        fact = self.find(change.id)
        # Its time may differ: a fact that was only said again still says the same.
        if fact is None or fact.memory.content != expected.content:
            message = (
                f"the fact {change.id} was changed again since then, so this change cannot "
                "be undone; edit or forget the fact instead"
            )
            raise Conflict(message)

    def _replace_all(
        self, text: str, unknown_time: datetime
    ) -> tuple[Splice, list[tuple[Memory | None, Memory | None, str]]]:
        """Replace the whole text; return the changed lines, and the facts before and after."""
        old, new = self.page, self.kind.parse(text, unknown_time)
        splice = find_difference(split_lines(self.text), split_lines(text))
        self._text, self.page, self._shape = text, new, new.shape()
        return splice, _find_changed_facts(old, new)

    def _give_back(self, made: Sequence[Change], reversal: Splice, saved: str) -> str | None:
        """Return the text without what a person's text changed; None where that is unclear."""
        replaced = take_back(saved, reversal)
        if replaced is None or saved == self.text:
            return replaced
        lines = _merge(split_lines(saved), split_lines(replaced), split_lines(self.text))
        text = None if lines is None else "".join(lines)
        # A merge of lines may join facts or cut one in two; then facts are taken back one by one.
        return (
            text
            if text is not None and self._list_contents(text) == self._list_contents_without(made)
            else None
        )

    def _list_contents(self, text: str) -> dict[str, str]:
        page = self.kind.parse(text, self._unknown_time)
        return {fact.memory.id: fact.memory.content for fact in page.facts}

    def _list_contents_without(self, made: Sequence[Change]) -> dict[str, str]:
        """Return the contents of all facts by id, as they are without a person's changes."""
        contents = {memory.id: memory.content for memory in self.memories}
        for change in made:
            if change.before:
                contents[change.id] = change.before.content
            else:
                contents.pop(change.id, None)
            contents |= {memory.id: memory.content for memory in change.removed}
        return contents

    def _holds_only_facts(self, text: str) -> bool:
        try:
            page = self.kind.parse(text, self._unknown_time)
        except CorruptFile:  # a part of an array, which has nothing else
            return True
        # What is left over beside the facts is prose, which cannot be taken back fact by fact.
        return page.shape().total == page.shape_of(map(page.get_raw, page.facts)).total

    def _take(self, step: Step) -> None:
        splice = step.splice
        if splice.took or splice.put:
            page = self.page
            self._shape = self.shape + page.shape_of(splice.put) - page.shape_of(splice.took)
            self.page, self._text = page.with_splice(splice, self._unknown_time), None
        self.steps.append(step)


def record_steps(template: SomeChange, steps: Sequence[Step]) -> list[SomeChange]:
    """Return steps as changes with numbers of their own, after one for somebody else's save."""
    noticed = [template] if template.removed or not steps else []
    first = template.n + len(noticed)
    return noticed + [
        replace(
            template,
            n=first + index,
            op=step.op,
            # Nobody asked for what was mended, so it has no origin of its own.
            origin=None if step.op == "restore" else template.origin,
            source=None if step.op == "restore" else template.source,
            id=step.id,
            before=step.before,
            after=step.after,
            undoes=step.undoes,
            removed=step.removed,
        )
        for index, step in enumerate(steps)
    ]


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, each with its end."""
    return LINES.findall(text)


def find_difference(old: Sequence[str], new: Sequence[str]) -> Splice:
    """Return the lines from the first to the last that differ."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    rest = range(shorter - start)
    tail = next((at for at in rest if old[-1 - at] != new[-1 - at]), len(rest))
    return Splice(start, tuple(old[start : len(old) - tail]), tuple(new[start : len(new) - tail]))


def take_back(text: str, reversal: Splice) -> str | None:
    """Return a text without a change of its lines; None where those are gone."""
    lines = split_lines(text)
    end = reversal.start + len(reversal.took)
    # Lines that are no longer there cannot be taken back to the byte.
    if tuple(lines[reversal.start : end]) != reversal.took:
        return None
    return "".join(reversal.make_in(lines))


def merge_saves(kind: Format, base: str, edited: str, onto: str, now: datetime) -> str | None:
    """Return a person's edit merged with what others changed meanwhile; None in a conflict.

    Line by line, where both changed other lines. Else fact by fact: what the person did to a fact
    counts, and what others did to those that the person left alone; None where others also changed
    what is no fact.
    """
    before, mine, theirs = (kind.parse(text, now) for text in (base, edited, onto))
    wanted = _join_facts(before, mine, theirs)
    lines = _merge(split_lines(base), split_lines(edited), split_lines(onto))
    if lines is not None:
        text = "".join(lines)
        joined = kind.parse(text, now)
        # A merge of lines may join facts or cut one in two.
        if {one.memory.id: one.memory.content for one in joined.facts} == {
            key: one.content for key, one in wanted.items()
        }:
            return text
    # What others changed beside the facts cannot be joined fact by fact.
    if _shape_prose(before) != _shape_prose(theirs):
        return None
    return _set_facts(Draft(kind, edited, now, page=mine), wanted)


def _join_facts(before: Page, mine: Page, theirs: Page) -> dict[str, Memory]:
    """Return the facts after both edits; where the person changed one, the person's counts."""
    was, my, their = (
        {one.memory.id: one.memory for one in page.facts} for page in (before, mine, theirs)
    )
    wanted = {}
    for key in dict.fromkeys((*my, *their)):
        is_mine = _make_fact_key(my.get(key)) != _make_fact_key(was.get(key))
        fact = my.get(key) if is_mine else their.get(key)
        if fact is not None:
            wanted[key] = fact
    return wanted


def _make_fact_key(memory: Memory | None) -> tuple[str, str | None] | None:
    return (memory.content, memory.category) if memory else None


def _shape_prose(page: Page) -> int:
    """Return a fingerprint of what is neither a fact nor blank."""
    return (page.shape() - page.shape_of(map(page.get_raw, page.facts))).total


def _set_facts(draft: Draft, wanted: Mapping[str, Memory]) -> str:
    """Change a draft so that it has these facts and no others; return its text."""
    for memory in draft.memories:
        if memory.id not in wanted:
            draft.remove(memory.id, "put")
        # A fact that only moved has to leave its old heading.
        elif _make_fact_key(wanted[memory.id]) != _make_fact_key(memory):
            draft.remove(memory.id, "put")
            draft.insert(wanted[memory.id], "put")
    known = {one.id for one in draft.memories}
    draft.insert_all([one for key, one in wanted.items() if key not in known], "put")
    return draft.text


def _merge(base: list[str], one: list[str], other: list[str]) -> list[str] | None:
    """Return lines with both edits made; None where these touch each other."""
    lines: list[str] = []
    done = 0
    both = [*_find_hunks(base, one), *_find_hunks(base, other)]
    for start, end, new in sorted(both, key=lambda hunk: hunk[:2]):
        # Two edits of the same lines, or of lines that touch, are not ours to choose between.
        if start < done:
            return None
        lines += [*base[done:start], *new]
        done = end
    return lines + base[done:]


def _find_hunks(old: list[str], new: list[str]) -> list[tuple[int, int, list[str]]]:
    """Return the places of the lines that were replaced, and what replaced them."""
    splice = find_difference(old, new)
    took, put = list(splice.took), list(splice.put)
    # SequenceMatcher takes quadratic time; one large hunk merges less, but at once.
    if len(took) * len(put) > MAX_COMPARED:
        return [(splice.start, splice.start + len(took), put)]
    # Without autojunk, which takes lines that occur often for noise: in a list, empty lines do.
    steps = SequenceMatcher(None, took, put, autojunk=False).get_opcodes()
    return [
        (splice.start + start, splice.start + end, put[new_start:new_end])
        for tag, start, end, new_start, new_end in steps
        if tag != "equal"
    ]


def _find_changed_facts(old: Page, new: Page) -> list[tuple[Memory | None, Memory | None, str]]:
    """Return the facts in which two pages differ: before, after, and the lines after."""
    before = {fact.memory.id: fact for fact in old.facts}
    others: list[tuple[Memory | None, Memory | None, str]] = []
    for fact in new.facts:
        was = before.pop(fact.memory.id, None)
        raw = new.get_raw(fact)
        if was is None or not _is_same(old, was, new, fact):
            others.append((was and was.memory, fact.memory, raw))
    return others + [(fact.memory, None, "") for fact in before.values()]


def _is_same(old: Page, was: Any, new: Page, fact: Any) -> bool:  # noqa: ANN401
    """Whether a fact is the same in the file; one typed by hand has no time to compare."""
    told = [(one.memory.content, one.memory.category) for one in (was, fact)]
    return told[0] == told[1] and old.shape_of([old.get_raw(was)]) == new.shape_of(
        [new.get_raw(fact)]
    )
