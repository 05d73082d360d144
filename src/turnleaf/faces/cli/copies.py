"""`copy`: everything to another place; and a folder that follows a memory, one way."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import click

from turnleaf.copying import SpaceCopy, check_places
from turnleaf.core import markdown
from turnleaf.core.jsontext import to_text
from turnleaf.core.portable import render_facts
from turnleaf.core.transcripts import file_name, make_transcript, to_markdown
from turnleaf.errors import Conflict, InvalidInput, NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json
from turnleaf.faces.cli.output import localize, note, say, say_json
from turnleaf.faces.cli.progress import show_progress
from turnleaf.faces.cli.terminal import show_table
from turnleaf.settings import SIGNS
from turnleaf.store.contracts import Stores
from turnleaf.store.files import atomic
from turnleaf.store.opening import list_spaces

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from turnleaf.copying import CopyReport, StoreReport
    from turnleaf.core.messages import Cursor

DIGEST_CHARS = 12
PAGE, OLDER_PAGE = "MEMORY.md", "OLDER.md"
DAYS, TRANSCRIPTS = "daily", "transcripts"
_COPY = "<!-- A copy by Turnleaf:"
"""What each file of such a folder begins with."""
_HEADINGS = {False: ("copied", "removed"), True: ("to copy", "to remove")}


@click.command()
@click.argument("source", metavar="FROM", type=TEXT)
@click.argument("target", metavar="TO", type=TEXT)
@click.option("--space", metavar="NAME", type=TEXT, help="Copy this space only, not all of them.")
@click.option("--dry-run", is_flag=True, help="Report what would be copied; change nothing.")
@as_json
def copy(source: str, target: str, space: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Copy all conversations, facts and settings FROM one place TO another.

    A place is a data folder or the postgresql:// address of a database. TO is empty, or what an
    earlier run of the same command left: run it again when it was cut off, or to bring a copy up to
    date that nobody has used yet. FROM may be in use; what is written there meanwhile is copied,
    too. At the end both are compared. Keys and tokens are not copied.
    """
    if not Stores.open(source, space="default").find_place().exists:
        message = f"there is no data folder {source}; name the place to copy from"
        raise NotFound(message)
    names = [space] if space else list_spaces(source)
    reports = []
    for name in names:
        with_settings = name == names[0]
        reports.append(_copy(source, target, name, with_settings=with_settings, dry_run=dry_run))
        if not as_json:
            _print(reports[-1])
    if as_json:
        say_json([_describe(one) for one in reports])
    stale = [one.space for one in reports if one.is_stale]
    if stale:
        message = (
            f"{source} was changed all the time, so the copy is not complete; stop the programs "
            "that use it and run the same command again"
        )
        raise Conflict(message)
    if not dry_run:
        note("Keys, tokens and paths of this machine were not copied.")


def _copy(
    source: str, target: str, space: str, *, with_settings: bool, dry_run: bool
) -> CopyReport:
    with Stores.open(source, space=space) as one, Stores.open(target, space=space) as other:
        check_places(one, other)
        with show_progress("copying") as progress:
            copying = SpaceCopy(one, other, with_settings=with_settings, progress=progress)
            return copying.run(dry_run=dry_run)


def _print(report: CopyReport) -> None:
    say(f"{localize('space')} {report.space}")
    headings = ("store", "entries", *_HEADINGS[report.is_dry], "digest", "compared")
    rows = [
        (
            localize(one.name),
            f"{one.count:,}",
            f"{one.written:,}",
            f"{one.removed:,}",
            one.digest[:DIGEST_CHARS],
            _compare(report, one),
        )
        for one in report.stores
    ]
    show_table(headings, rows)


def _compare(report: CopyReport, one: StoreReport) -> str:
    if report.is_dry:
        return localize("different" if one.written or one.removed else "the same")
    return localize("changed meanwhile" if report.is_stale else "the same")


def _describe(report: CopyReport) -> dict[str, object]:
    return {
        "space": report.space,
        "stale": report.is_stale,
        "stores": [
            {
                "name": one.name,
                "entries": one.count,
                "copied": one.written,
                "removed": one.removed,
                "digest": one.digest,
            }
            for one in report.stores
        ],
    }


# A folder that follows a memory


class FollowingFolder:
    """A folder with the memory, daily notes and conversations of a space, written one way only."""

    def __init__(self, stores: Stores, folder: Path) -> None:
        self._stores = stores
        self._folder = atomic.real(folder)
        self._cursor: Cursor | None = None
        self._names: dict[str, str] = {}
        self._notice = f"{_COPY} {localize('it is written anew; edits here are not read')} -->"
        self._check()

    def _check(self) -> None:
        """Raise InvalidInput for a folder with anything else in it."""
        folder, data = self._folder, self._stores.folder
        if folder.exists() and not folder.is_dir():
            message = f"{folder} is a file, but a folder is needed; choose another name"
            raise InvalidInput(message)
        names = {one.name for one in folder.iterdir()} if folder.is_dir() else set()
        home = atomic.real(data.root or data.path)
        if (
            not SIGNS.isdisjoint(names)
            or folder.is_relative_to(home)
            or home.is_relative_to(folder)
        ):
            message = f"{folder} is a data folder, or within one; choose an empty folder"
            raise InvalidInput(message)
        if names and not self._is_ours(folder / PAGE):
            message = f"{folder} holds other files; choose an empty folder"
            raise InvalidInput(message)

    def _is_ours(self, path: Path) -> bool:
        with suppress(OSError):
            return path.is_file() and path.read_bytes().startswith(_COPY.encode())
        return False

    def follow(self) -> None:
        """Keep the folder up to date until somebody presses Ctrl-C."""
        changed: SimpleQueue[Collection[str]] = SimpleQueue()
        end = self._stores.announcements.subscribe(changed.put)
        try:
            # Subscribed before the first look, so that nothing is missed in between.
            self.update({"facts", "daily", "conversations"})
            note(f"{self._folder} is up to date and will follow; stop with Ctrl-C")
            while True:
                self.update(changed.get())
        except KeyboardInterrupt:
            note("Stopped.")
        finally:
            end()

    def update(self, kinds: Collection[str]) -> None:
        """Write what of some kinds changed."""
        if "facts" in kinds:
            self._write_facts()
        if "daily" in kinds:
            daily = self._stores.daily
            self._write_all(DAYS, {f"{day}.md": daily.read(day) for day in daily.dates()})
        if "conversations" in kinds:
            self._write_conversations()

    def _write_facts(self) -> None:
        facts = self._stores.facts
        now = datetime.now(UTC)
        is_markdown = facts.format == "markdown"
        text = facts.text() if is_markdown else render_facts(facts.get_all(), now)
        older = facts.older()
        # The page first: by it the folder is known as one of ours.
        self._write(PAGE, text)
        self._write(
            OLDER_PAGE, render_facts(older, now).replace(markdown.EMPTY, "# Older facts\n", 1)
        )

    def _write_conversations(self) -> None:
        said = self._stores.conversations
        changed, is_all = self._find_changed()
        names = {}
        for summary in said.summaries():
            transcript = make_transcript(summary, said.messages(summary.key))
            # Two conversations may have one title.
            mark = hashlib.sha256(summary.key.encode()).hexdigest()[:8]
            name = f"{Path(file_name(transcript, 'md')).stem}-{mark}.md"
            names[summary.key] = name
            if is_all or summary.key in changed or self._names.get(summary.key) != name:
                text = to_markdown(transcript, lambda time: time.astimezone())
                self._write(f"{TRANSCRIPTS}/{name}", text)
        self._names = names
        self._remove_others(TRANSCRIPTS, {*names.values()})

    def _find_changed(self) -> tuple[set[str], bool]:
        """Return which conversations changed since the last look, or that any may have."""
        said, keys, is_all = self._stores.conversations, set[str](), self._cursor is None
        if not said.keeps_everything:
            return keys, True
        while True:
            feed = said.changes_since(self._cursor)
            self._cursor = feed.cursor
            keys |= {one.key for one in feed.found}
            is_all |= bool(feed.gone)
            if feed.is_last:
                return keys, is_all

    def _write_all(self, inside: str, texts: Mapping[str, str]) -> None:
        for name, text in texts.items():
            self._write(f"{inside}/{name}", text)
        self._remove_others(inside, {*texts})

    def _write(self, name: str, text: str) -> None:
        path = self._find_path(name)
        data = to_text(f"{self._notice}\n\n{text}").encode()
        if not path.is_symlink() and path.is_file() and path.read_bytes() == data:
            return
        atomic.make_folder(path.parent)
        atomic.write(path, data)

    def _remove_others(self, inside: str, names: Collection[str]) -> None:
        """Remove copies of what is gone; another's file stays."""
        folder = self._find_path(f"{inside}/x").parent
        for path in folder.glob("*.md") if folder.is_dir() else ():
            if path.name not in names and self._is_ours(path):
                atomic.Held(path).remove()

    def _find_path(self, name: str) -> Path:
        """Return the path of a file; raise InvalidInput where a link leads elsewhere."""
        path = self._folder / name
        if path.parent.resolve() != path.parent:
            message = f"{path.parent} leads out of {self._folder}; remove the link"
            raise InvalidInput(message)
        return path
