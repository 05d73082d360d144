"""`import`, `export`, `backup`, `restore`, `copy`: facts and whole memories from place to place."""

from __future__ import annotations

import hashlib
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING

import click

from turnleaf.core import markdown
from turnleaf.core.conversation_formats import make_file_name, make_transcript, to_markdown
from turnleaf.core.languages import pluralize
from turnleaf.core.page_drafts import Draft
from turnleaf.core.portable import render_facts
from turnleaf.core.serialization import to_text
from turnleaf.errors import Conflict, InvalidInput, MemoryFull, NotFound, SettingsError
from turnleaf.faces.cli.arguments import (
    TEXT,
    Workspace,
    as_json,
    confirm,
    decode,
    force,
    pass_workspace,
    read_piped,
    refuse_existing,
    yes,
)
from turnleaf.faces.cli.output import (
    localize,
    note,
    say,
    say_json,
    say_result,
    show_progress,
    show_table,
)
from turnleaf.importing import (
    FORMATS,
    Importer,
    ImportLearning,
    LearningResult,
    is_list_of_facts,
    parse_facts,
)
from turnleaf.llm.models import find_extractor
from turnleaf.settings import SIGNS
from turnleaf.space_copying import SpaceCopy, check_places
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.contracts import Stores
from turnleaf.store.exports import open_export
from turnleaf.store.files import atomic
from turnleaf.store.files import backup as archives
from turnleaf.store.opening import list_spaces

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.core.messages import Cursor
    from turnleaf.core.pages import Format
    from turnleaf.importing import ImportReport
    from turnleaf.space_copying import CopyReport, StoreReport
    from turnleaf.store.contracts import Facts
    from turnleaf.store.exports import Export


DIGEST_CHARS = 12
PAGE, OLDER_PAGE = "MEMORY.md", "OLDER.md"
DAYS, TRANSCRIPTS = "daily", "transcripts"
_COPY = "<!-- A copy by Turnleaf:"
"""What each file of such a folder begins with."""
_HEADINGS = {False: ("copied", "removed"), True: ("to copy", "to remove")}


@click.command()
@click.argument("source", metavar="FROM", type=TEXT)
@click.argument("target", metavar="TO", type=TEXT)
@click.option("--space", metavar="NAME", type=TEXT, help="Copy only this space.")
@click.option("--dry-run", is_flag=True, help="Report what would be copied; change nothing.")
@as_json
def copy(source: str, target: str, space: str | None, *, dry_run: bool, as_json: bool) -> None:
    """Copy all conversations, facts and settings FROM one place TO another.

    A place is a data folder or the postgresql:// address of a database. TO must be empty, or the
    result of an earlier run of the same command: repeat the command after an interruption, or to
    update a copy that has not been used yet. FROM may stay in use; changes made there meanwhile are
    copied, too. At the end, both places are compared. Keys and tokens are not copied.
    """
    if not Stores.open(source, space="default").find_place().exists:
        message = f"there is no data folder {source}; give the place to copy from"
        raise NotFound(message)
    names = [space] if space else list_spaces(source)
    reports = []
    for name in names:
        # All spaces of a place have the same settings.
        with_settings = name == names[0]
        reports.append(_copy(source, target, name, with_settings=with_settings, dry_run=dry_run))
        if not as_json:
            _print(reports[-1])
    if as_json:
        say_json([_describe(one) for one in reports])
    stale = [one.space for one in reports if one.is_stale]
    if stale:
        message = (
            f"{source} kept changing, so the copy is not complete; stop the programs that "
            "use it and run the same command again"
        )
        raise Conflict(message)
    if not dry_run:
        note("Keys, tokens and paths of this computer were not copied.")


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
        self._folder = atomic.resolve(folder)
        self._cursor: Cursor | None = None
        self._names: dict[str, str] = {}
        self._notice = (
            f"{_COPY} {localize('this file is overwritten; edits here are not read')} -->"
        )
        self._check()

    def _check(self) -> None:
        """Raise InvalidInput for a folder with anything else in it."""
        folder, data = self._folder, self._stores.folder
        if folder.exists() and not folder.is_dir():
            message = f"{folder} is a file, but must be a folder; choose another name"
            raise InvalidInput(message)
        names = {one.name for one in folder.iterdir()} if folder.is_dir() else set()
        home = atomic.resolve(data.root or data.path)
        if (
            not SIGNS.isdisjoint(names)
            or folder.is_relative_to(home)
            or home.is_relative_to(folder)
        ):
            message = f"{folder} is a data folder, or inside one; choose an empty folder"
            raise InvalidInput(message)
        if names and not self._is_ours(folder / PAGE):
            message = f"{folder} contains other files; choose an empty folder"
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
            note(f"{self._folder} is up to date and is kept so; press Ctrl-C to stop")
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
            name = f"{Path(make_file_name(transcript, 'md')).stem}-{mark}.md"
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
            message = f"the link {path.parent} leads out of {self._folder}; remove it"
            raise InvalidInput(message)
        return path


SUFFIXES = {".json": "json", ".md": "markdown", ".markdown": "markdown"}

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Format, if the name of FILE does not tell.",
)


@click.command("import")
@click.argument("file", type=click.Path(exists=True, allow_dash=True))
@format_option
@click.option(
    "--older", is_flag=True, help=("Add them to the older facts, which are not put into prompts.")
)
@click.option("--dry-run", is_flag=True, help="Report what would be imported; change nothing.")
@click.option(
    "--learn-with-model",
    is_flag=True,
    help="Also extract facts from imported conversations with the model; you are asked first.",
)
@click.option("--max-calls", type=click.IntRange(min=1), help="Maximum number of model calls.")
@yes
@as_json
@pass_workspace
def import_(  # noqa: PLR0913 - one for each option
    workspace: Workspace,
    file: str,
    form: str | None,
    *,
    older: bool,
    dry_run: bool,
    learn_with_model: bool,
    max_calls: int | None,
    yes: bool,
    as_json: bool,
) -> None:
    """Import facts, or the export of another assistant, from FILE.

    FILE is a file, a folder or a .zip of ChatGPT, Claude, Gemini, Claude Code, Codex, the MCP
    memory server, an Obsidian vault, or facts that turnleaf export wrote; - reads facts from
    standard input. Running the command again imports only what is new. Facts that are found in
    conversations are pending review; see turnleaf review.

    With --learn-with-model, the model also reads imported conversations that it has not read yet.
    You are first told how many calls and tokens that takes; Ctrl-C stops it and keeps the facts
    found so far.
    """
    path = Path(file)
    # What can be read only once is a list of facts.
    if not form and not older and file != "-" and (path.is_file() or path.is_dir()):
        with open_export(path) as export:
            if not is_list_of_facts(export):
                import_past(workspace, export, dry_run=dry_run, as_json=as_json)
                if learn_with_model and not dry_run:
                    learn_from_past(workspace, max_calls, yes=yes, as_json=as_json)
                return
    text, time = _read(file)
    found = parse_facts(file, text, form or SUFFIXES.get(Path(file).suffix.lower()), time)
    added = len(found) if dry_run else _import_facts(workspace, found, older=older)
    present = len(found) - added
    line = f"{added} added, {present} already there"
    say_result({"added": added, "alreadyThere": present}, line, as_json=as_json)


def _import_facts(workspace: Workspace, found: Sequence[Memory], *, older: bool) -> int:
    return workspace.memory.import_older(found) if older else _add(workspace, found)


def import_past(workspace: Workspace, export: Export, *, dry_run: bool, as_json: bool) -> None:
    """Import what another program exported, and report what became of it."""
    importer = Importer(workspace.stores, local_now, dry_run=dry_run)
    try:
        with show_progress("importing") as progress:
            report = importer.run(export, progress)
    finally:
        for problem in importer.report.problems:
            note(f"warning: {problem}")
    say_result(_describe_json(report), *_describe_report(report), as_json=as_json)
    if dry_run and not as_json:
        note("This was a dry run: nothing was changed.")


def learn_from_past(
    workspace: Workspace, max_calls: int | None, *, yes: bool, as_json: bool
) -> None:
    """Extract facts from imported conversations by the model, as far as a person agrees."""
    model = find_extractor(workspace.settings)
    if model is None:
        message = "no model is set up that could extract facts; choose one with turnleaf setup"
        raise SettingsError(message)
    learning = ImportLearning(workspace.stores, local_now, model)
    plan = learning.plan()
    most = min(plan.calls, max_calls or plan.calls)
    if plan.calls and not yes:
        confirm(
            f"Let {model.name} read {pluralize(plan.conversations, 'conversation')}? That "
            f"takes {pluralize(plan.calls, 'call')} and about {plan.tokens:,} tokens; at "
            f"most {pluralize(most, 'call')} will be made.",
            "the model is asked only with your consent; confirm with --yes",
        )
    result = LearningResult()

    def note_result(made: LearningResult) -> None:
        nonlocal result
        result = made
        progress(made.calls, most)

    with show_progress("reading") as progress, suppress(KeyboardInterrupt):
        learning.run(most, note_result)
    say_result(
        {"calls": result.calls, "found": result.found},
        f"{pluralize(result.found, 'fact')} found in {pluralize(result.calls, 'call')}, "
        "pending review: turnleaf review",
        as_json=as_json,
    )


def _describe_report(report: ImportReport) -> Iterator[str]:
    if report.conversations:
        programs = ", ".join(f"{name} {count}" for name, count in report.programs.most_common())
        yield (
            f"{pluralize(report.conversations, 'conversation')} ({programs}), "
            f"{pluralize(report.messages, 'new message')}"
        )
    if report.oldest and report.newest:
        yield f"from {report.oldest:%Y-%m-%d} to {report.newest:%Y-%m-%d}"
    if report.memories or report.known_memories:
        yield f"{pluralize(report.memories, 'fact')} added, {report.known_memories} already there"
    if report.older:
        yield f"{pluralize(report.older, 'fact')} did not fit and were added to the older facts"
    if report.to_review:
        found = pluralize(report.to_review, "fact")
        yield f"{found} from your messages pending review: turnleaf review"
    for reason, count in report.skipped.most_common():
        yield f"left out: {count} {reason}"


def _describe_json(report: ImportReport) -> dict[str, object]:
    return {
        "conversations": report.conversations,
        "messages": report.messages,
        "programs": dict(report.programs),
        "added": report.memories,
        "alreadyThere": report.known_memories,
        "older": report.older,
        "toReview": report.to_review,
        "leftOut": dict(report.skipped),
        "problems": report.problems,
    }


@click.command()
@click.argument("file", required=False, type=click.Path(dir_okay=False))
@format_option
@force
@click.option("--older", is_flag=True, help="Export the older facts instead.")
@click.option(
    "--watch",
    metavar="FOLDER",
    type=click.Path(),
    help="Keep a copy of memory, daily notes and conversations in FOLDER up to date.",
)
@pass_workspace
def export(
    workspace: Workspace,
    file: str | None,
    form: str | None,
    *,
    force: bool,
    older: bool,
    watch: str | None,
) -> None:
    """Export all facts to FILE, or to stdout, as JSON or Markdown.

    turnleaf import reads both, with all IDs, times, categories and origins.

    With --watch, the command runs until Ctrl-C and writes every change to FOLDER. Edits in FOLDER
    are not read.
    """
    if watch is not None:
        if file or form or older:
            message = "--watch takes only a folder; leave out FILE and the other options"
            raise InvalidInput(message)
        with workspace.stores as stores:
            FollowingFolder(stores, Path(watch)).follow()
        return
    if file is not None:
        _check_target(file, workspace.memory, force=force)
    wanted = form or SUFFIXES.get(Path(file or "").suffix.lower(), "json")
    found = workspace.memory.older() if older else workspace.memory.get_all()
    is_same_form = not older and wanted == workspace.memory.format
    text = workspace.memory.text() if is_same_form else render(found, FORMATS[wanted])
    data = text.encode()
    if file is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        return
    atomic.write(atomic.resolve(file), data)
    note(f"wrote {pluralize(len(found), 'fact')} to {file}")


def _read(file: str) -> tuple[str, datetime]:
    if file == "-":
        return read_piped(), datetime.now(UTC)
    # The path as it was given: what it leads to may be a pipe, which has no name of its own.
    path = Path(file)
    atomic.check_size(path, path.stat().st_size)
    return decode(path.read_bytes(), file), atomic.read_mtime(path)


def _add(workspace: Workspace, found: Sequence[Memory]) -> int:
    try:
        return workspace.memory.import_memories(found)
    except MemoryFull as error:
        present = workspace.memory.get_all()
        fit = "does not fit" if len(found) == 1 else "do not fit"
        message = (
            f"nothing was imported: {pluralize(len(found), 'fact')} {fit} "
            f"beside the {len(present)} already there; {error}"
        )
        raise MemoryFull(message) from error


def render(memories: Sequence[Memory], kind: Format) -> str:
    """Write a file of these facts."""
    draft = Draft(kind, kind.EMPTY, datetime.now(UTC))
    draft.insert_all(memories, "import")
    return draft.text


def _check_target(file: str, store: Facts, *, force: bool) -> None:
    if Path(file).exists() and not Path(file).is_file():
        message = f"{file} is not a regular file; leave out FILE to write to stdout"
        raise InvalidInput(message)
    if atomic.resolve(file) == store.location:
        message = f"{file} is the memory itself; choose another file"
        raise InvalidInput(message)
    refuse_existing(file, force=force)


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
@force
@as_json
@pass_workspace
def backup(workspace: Workspace, file: str, *, force: bool, as_json: bool) -> None:
    """Back up the data folder to FILE, a .tar.gz; other programs may keep running."""
    _refuse_database(workspace)
    refuse_existing(file, force=force)
    saved = archives.backup(workspace.folder.path, file)
    say_result(
        {"file": str(saved.path), "files": saved.files, "bytes": saved.size},
        f"saved {pluralize(saved.files, 'file')} in {file} ({saved.size:,} bytes)",
        as_json=as_json,
    )
    _warn_of_paths_outside(workspace)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@yes
@as_json
@pass_workspace
def restore(workspace: Workspace, file: str, *, yes: bool, as_json: bool) -> None:
    """Restore the backup in FILE.

    The backup is checked first, and the current data folder is backed up next to itself. Then the
    files of the backup replace it, and files of Turnleaf that are not in the backup are removed.
    """
    _refuse_database(workspace)
    folder = workspace.folder.path
    if not yes and not archives.is_empty(folder):
        archives.verify(file, archives.count_free_bytes(folder))
        confirm(
            f"Replace the contents of {folder}? They are first backed up next to it.",
            f"{folder} is not empty; use --yes to back it up next to itself and replace it",
        )
    done = archives.restore(folder, file)
    _take_over(workspace)
    safety = str(done.safety) if done.safety else None
    say_result(
        {"files": done.files, "removed": list(done.removed), "safetyBackup": safety},
        f"restored {pluralize(done.files, 'file')} to {folder}",
        *(f"removed {path}, which is not in the backup" for path in done.removed),
        *([f"the previous contents are in {safety}"] if safety else []),
        as_json=as_json,
    )


def _refuse_database(workspace: Workspace) -> None:
    if workspace.folder.address:
        message = "a database is backed up and restored with its own tools, such as pg_dump"
        raise InvalidInput(message)


def _take_over(workspace: Workspace) -> None:
    """Move conversations of an older version to where running programs look."""
    with suppress(SettingsError):  # The next command says what is wrong.
        Workspace(workspace.data_dir, workspace.space).conversations.close()


def _warn_of_paths_outside(workspace: Workspace) -> None:
    try:
        settings = workspace.settings
    except SettingsError as error:
        note(f"warning: {error}; files outside the data folder are not in the backup")
        return
    folder = atomic.resolve(workspace.folder.path)
    paths = {workspace.folder.memory(settings), workspace.folder.conversations(settings)}
    for path in sorted(map(atomic.resolve, paths)):
        if not path.is_relative_to(folder):
            note(f"warning: {path} is outside the data folder; copy it yourself")
