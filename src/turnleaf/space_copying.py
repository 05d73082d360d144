"""Copying a space, or all spaces, from one place to another: folders and databases, both ways.

Both sides are compared part by part in the order of their names, and what differs is written. So a
copy that was cut off goes on where it was, one that is done twice is done once, and what is written
to the source meanwhile is found by the next look. It is done when a look finds no difference.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from turnleaf.core.portable import COPY_COLLECTION, COPY_KEY, PortablePart
from turnleaf.errors import Conflict, InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from turnleaf.store.contracts import Portable, Stores

    Progress = Callable[[int, int], None]

MOST_LOOKS = 6
"""A source that changes during so many looks is busy, and its copy stale."""
BATCH = 500
SETTINGS = "settings"
UNDER_WAY, DONE = "under way", "done"


@dataclass(slots=True)
class StoreReport:
    """How much of a store is on both sides, and a digest of all of it."""

    name: str
    count: int = 0
    digest: str = ""
    written: int = 0
    removed: int = 0
    """How much was written, and how many parts were removed."""


@dataclass(slots=True)
class CopyReport:
    """What became of a copy of one space."""

    space: str
    stores: list[StoreReport] = field(default_factory=list)
    is_stale: bool = False
    """Whether the source was changed until the end, so that something may be missing."""
    is_dry: bool = False

    @property
    def written(self) -> int:
        """How much was written or removed."""
        return sum(one.written + one.removed for one in self.stores)


class SpaceCopy:
    """The copy of one space."""

    def __init__(
        self,
        source: Stores,
        target: Stores,
        *,
        with_settings: bool = True,
        progress: Progress = lambda _done, _total: None,
    ) -> None:
        self._source, self._target = source, target
        self._progress = progress
        self._from, self._to = source.open_portable(), target.open_portable()
        stores = zip(self._from.list_stores(), self._to.list_stores(), strict=True)
        self._stores = [
            (one, other) for one, other in stores if with_settings or one.name != SETTINGS
        ]
        self._is_marked = False

    def run(self, *, dry_run: bool = False) -> CopyReport:
        """Copy until a look finds no difference, or the source does not come to rest.

        Raise Conflict where the target is neither empty nor an earlier stage of this copy.
        """
        total = self._prepare_source()
        is_known = self._check_target()
        report = CopyReport(self._source.space, is_dry=dry_run)
        for _ in range(1 if dry_run else MOST_LOOKS):
            found = self._look(total, dry_run=dry_run)
            _add_up(report, found)
            # No difference on both sides is also the proof that the copy is complete.
            if not dry_run and not any(one.written or one.removed for one in found):
                # What there is nothing of leaves no trace.
                if is_known or report.written:
                    self._mark(DONE, found)
                return report
            if not dry_run:
                # Numbers that the source has given out must not be given again by the copy.
                self._to.finish(self._from.read_numbers())
        report.is_stale = not dry_run
        return report

    def _look(self, total: int, *, dry_run: bool) -> list[StoreReport]:
        """Compare all stores once, and write what differs."""
        found = []
        for one, other in self._stores:
            done = StoreReport(one.name)
            digest = hashlib.sha256()
            for new, gone, same in _compare(one, other):
                for part in same:
                    digest.update(f"{part.name}\n{part.digest}\n".encode())
                    done.count += part.count
                done.written += sum(part.count for part in new)
                done.removed += len(gone)
                if (new or gone) and not dry_run:
                    self._begin()
                    other.write_parts(new, gone)
                if one.name == "messages":
                    self._progress(min(done.count, total), total)
            done.digest = digest.hexdigest()
            found.append(done)
        return found

    def _prepare_source(self) -> int:
        """Do what any reader of the source does first; return how many messages it has."""
        said = self._source.conversations
        if not said.exists():
            return 0
        said.init()
        self._source.settle_messages()
        return said.figures().messages

    def _check_target(self) -> bool:
        """Whether the target is an earlier stage of the same copy; raise Conflict unless empty."""
        mark = self._read_mark()
        place = self._target.location
        if mark is None:
            self._check_empty()
            return False
        if mark["from"] != self._name_source():
            message = f"{place} is a copy of another memory; choose an empty place"
            raise Conflict(message)
        # Whoever has used the copy since would lose that by a second one.
        if mark["state"] == DONE and mark["digests"] != self._read_digests():
            message = (
                f"{place} has been used since it was copied, and copying again would undo "
                "those changes; choose an empty place"
            )
            raise Conflict(message)
        return True

    def _check_empty(self) -> None:
        held = [
            other.name
            for one, other in self._stores
            if one.name != SETTINGS and other.read_parts(None, 1)
        ]
        if held:
            message = (
                f"{self._target.location} already contains a memory ({', '.join(held)}), and "
                "two memories are never merged; choose an empty place"
            )
            raise Conflict(message)

    def _name_source(self) -> str:
        """Return the name that only this space of this place has."""
        # A path may be moved or mounted elsewhere; the identity of the database stays.
        return self._source.conversations.changes_since(None, 1).database

    def _read_mark(self) -> dict[str, object] | None:
        record = self._target.records.get(COPY_COLLECTION, COPY_KEY)
        return json.loads(record.value) if record else None

    def _begin(self) -> None:
        if not self._is_marked:
            self._mark(UNDER_WAY, [])
            self._is_marked = True

    def _mark(self, state: str, found: Sequence[StoreReport]) -> None:
        digests = {one.name: one.digest for one in found if one.name != SETTINGS}
        mark = {"from": self._name_source(), "state": state, "digests": digests}
        value = json.dumps(mark).encode()
        record = self._target.records.get(COPY_COLLECTION, COPY_KEY)
        if record is None or record.value != value:
            self._target.records.put(COPY_COLLECTION, COPY_KEY, value)

    def _read_digests(self) -> dict[str, str]:
        digests = {}
        for _, other in self._stores:
            digest = hashlib.sha256()
            for part in _iterate(other):
                digest.update(f"{part.name}\n{part.digest}\n".encode())
            digests[other.name] = digest.hexdigest()
        return {name: one for name, one in digests.items() if name != SETTINGS}


def _add_up(report: CopyReport, found: Sequence[StoreReport]) -> None:
    known = {one.name: one for one in report.stores}
    for one in found:
        before = known.get(one.name, StoreReport(one.name))
        one_more = StoreReport(one.name, one.count, one.digest)
        one_more.written = before.written + one.written
        one_more.removed = before.removed + one.removed
        known[one.name] = one_more
    report.stores = [*known.values()]


def _iterate(store: Portable) -> Iterator[PortablePart]:
    """Yield all parts of a store."""
    last: str | None = None
    while parts := store.read_parts(last, BATCH):
        yield from parts
        last = parts[-1].name


def _compare(
    one: Portable, other: Portable
) -> Iterator[tuple[list[PortablePart], list[str], list[PortablePart]]]:
    """Yield what the other lacks or has otherwise, what it has too much, and all that it gets.

    Only as much is held in memory as is written at once.
    """
    new, gone, same = list[PortablePart](), list[str](), list[PortablePart]()
    theirs = _iterate(other)
    there = next(theirs, None)
    for part in _iterate(one):
        # Both sides are in the order of their names, so one pass finds what is missing on either.
        while there is not None and there.name < part.name:
            gone.append(there.name)
            there = next(theirs, None)
        is_there = there is not None and there.name == part.name
        if not is_there or (there is not None and there.digest != part.digest):
            new.append(part)
        if is_there:
            there = next(theirs, None)
        same.append(part)
        if len(same) >= BATCH:
            yield new, gone, same
            new, gone, same = [], [], []
    while there is not None:
        gone.append(there.name)
        there = next(theirs, None)
    yield new, gone, same


def check_places(source: Stores, target: Stores) -> None:
    """Raise InvalidInput where both are one place, or one lies within the other."""
    if _is_same(source, target):
        message = f"{source.location} cannot be copied to itself; choose another place"
        raise InvalidInput(message)
    one, other = (None if at.folder.address else at.folder.path for at in (source, target))
    if one and other and source.space == target.space:
        one, other = one.resolve(), other.resolve()
        if one.is_relative_to(other) or other.is_relative_to(one):
            message = (
                f"one of {target.location} and {source.location} contains the other; choose "
                "another place"
            )
            raise InvalidInput(message)


def _is_same(source: Stores, target: Stores) -> bool:
    """Whether any store of both is the same: a variable may name one file for all folders."""
    if source.location == target.location and source.space == target.space:
        return True
    if source.folder.address or target.folder.address:
        return False
    pairs = ((source.facts, target.facts), (source.conversations, target.conversations))
    return any(str(one.location) == str(other.location) for one, other in pairs)
