"""`import` and `export` of facts; `backup` and `restore` of the whole data folder."""

from __future__ import annotations

import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from turnleaf.core.drafts import Draft
from turnleaf.core.languages import pluralize
from turnleaf.errors import InvalidInput, MemoryFull, SettingsError
from turnleaf.faces.cli.arguments import (
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
from turnleaf.faces.cli.copies import FollowingFolder
from turnleaf.faces.cli.output import note, say_result
from turnleaf.faces.cli.progress import show_progress
from turnleaf.import_learning import ImportLearning, LearningResult
from turnleaf.importing import FORMATS, Importer, is_list_of_facts, parse_facts
from turnleaf.llm.models import find_extractor
from turnleaf.store.ambient import local_now
from turnleaf.store.exports import open_export
from turnleaf.store.files import atomic
from turnleaf.store.files import backup as archives

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from turnleaf.core.memories import Memory
    from turnleaf.core.pages import Format
    from turnleaf.importing import ImportReport
    from turnleaf.store.contracts import Facts
    from turnleaf.store.exports import Export

SUFFIXES = {".json": "json", ".md": "markdown", ".markdown": "markdown"}

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Format, if the name of FILE does not show it.",
)


@click.command("import")
@click.argument("file", type=click.Path(exists=True, allow_dash=True))
@format_option
@click.option("--older", is_flag=True, help="Add them to the older facts, which are in no prompt.")
@click.option("--dry-run", is_flag=True, help="Report what would be imported; change nothing.")
@click.option(
    "--learn-with-model",
    is_flag=True,
    help="Then have the model look for facts in imported conversations; it asks first.",
)
@click.option("--max-calls", type=click.IntRange(min=1), help="Ask the model so often at most.")
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
    standard input. Running it again imports only what is new. Facts that are found in
    conversations wait in turnleaf review.

    --learn-with-model has the model read imported conversations that it has not read yet. It
    first says how many calls and tokens that takes; Ctrl-C stops it, and what was found stays.
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
    """Have the model read imported conversations, as far as a person agrees."""
    model = find_extractor(workspace.settings)
    if model is None:
        message = "no model is set up that could look for facts; see turnleaf config model"
        raise SettingsError(message)
    learning = ImportLearning(workspace.stores, local_now, model)
    plan = learning.plan()
    most = min(plan.calls, max_calls or plan.calls)
    if plan.calls and not yes:
        confirm(
            f"Have {model.name} read {pluralize(plan.conversations, 'conversation')}? That takes "
            f"{pluralize(plan.calls, 'call')} and about {plan.tokens:,} tokens; "
            f"at most {pluralize(most, 'call')} will be made.",
            "the model is asked only after you agreed; confirm with --yes",
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
        yield f"{pluralize(report.older, 'fact')} did not fit and became older facts"
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

    With --watch it runs until Ctrl-C and writes every change to FOLDER, one way: edits there are
    not read.
    """
    if watch is not None:
        if file or form or older:
            message = (
                "--watch takes a folder and nothing else; leave out FILE and the other options"
            )
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
    atomic.write(atomic.real(file), data)
    note(f"wrote {pluralize(len(found), 'fact')} to {file}")


def _read(file: str) -> tuple[str, datetime]:
    if file == "-":
        return read_piped(), datetime.now(UTC)
    # The path as it was given: what it leads to may be a pipe, which has no name of its own.
    path = Path(file)
    atomic.check_size(path, path.stat().st_size)
    return decode(path.read_bytes(), file), atomic.modification_time(path)


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
        message = f"{file} is not a regular file; leave it out to write to stdout"
        raise InvalidInput(message)
    if atomic.real(file) == store.location:
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

    The backup is checked first, and the present data folder is backed up beside itself. Then
    the files of the backup replace it, and files of turnleaf that are not in it are removed.
    """
    _refuse_database(workspace)
    folder = workspace.folder.path
    if not yes and not archives.is_empty(folder):
        archives.verify(file, archives.free_bytes(folder))
        confirm(
            f"Replace the contents of {folder}? They are backed up beside it first.",
            f"{folder} is not empty; use --yes to back it up beside itself and replace it",
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
    folder = atomic.real(workspace.folder.path)
    paths = {workspace.folder.memory(settings), workspace.folder.conversations(settings)}
    for path in sorted(map(atomic.real, paths)):
        if not path.is_relative_to(folder):
            note(f"warning: {path} is outside the data folder; copy it yourself")
