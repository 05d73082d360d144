"""`backup` and `restore`."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import click

from turnleaf.core.wording import counted
from turnleaf.errors import InvalidInput, SettingsError
from turnleaf.faces.cli.arguments import as_json, ask, on_terminal, refuse_existing, yes
from turnleaf.faces.cli.output import note, say, say_json
from turnleaf.faces.cli.place import Place, pass_place
from turnleaf.store import backup as archives
from turnleaf.store import files

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@as_json
@pass_place
def backup(place: Place, file: str, *, force: bool, as_json: bool) -> None:
    """Save the whole data folder to FILE, a .tar.gz, also while other programs write."""
    refuse_existing(file, force=force)
    saved = archives.backup(place.folder.path, file)
    if as_json:
        say_json({"file": str(saved.path), "files": saved.files, "bytes": saved.size})
    else:
        say(f"saved {counted(saved.files, 'file')} in {file} ({saved.size:,} bytes)")
    _warn_of_outside(place)


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@yes
@as_json
@pass_place
def restore(place: Place, file: str, *, yes: bool, as_json: bool) -> None:
    """Bring the backup in FILE back.

    The backup is checked first. What is in the data folder now is saved beside it, then every
    file of the backup is put back, and files of turnleaf that it does not hold are removed.
    """
    folder = place.folder.path
    if not yes and not archives.is_empty(folder):
        archives.verify(file, archives.free_bytes(folder))
        _confirm(folder)
    done = archives.restore(folder, file)
    _take_over(place)
    if as_json:
        safety = str(done.safety) if done.safety else None
        say_json({"files": done.files, "removed": list(done.removed), "safetyBackup": safety})
        return
    say(f"brought {counted(done.files, 'file')} back into {folder}")
    for path in done.removed:
        say(f"removed {path}, which is not in the backup")
    if done.safety:
        say(f"what was there before is in {done.safety}")


def _take_over(place: Place) -> None:
    """Bring the conversations of an older version to where programs that are running look."""
    with suppress(SettingsError):  # The next command says what is wrong.
        Place(place.data_dir).conversations.close()


def _confirm(folder: Path) -> None:
    if not on_terminal():
        message = f"{folder} is not empty; --yes replaces what is there, having saved it first"
        raise InvalidInput(message)
    answer = ask(f"Replace what is in {folder}? It is saved beside it first. [y/N]")
    if answer.casefold() not in {"y", "yes"}:
        note("Nothing was changed.")
        click.get_current_context().exit(1)


def _warn_of_outside(place: Place) -> None:
    try:
        settings = place.settings
    except SettingsError as error:
        note(f"warning: {error}; what it names outside the data folder is not in the backup")
        return
    folder = files.real(place.folder.path)
    stores = {place.folder.memory(settings), place.folder.conversations(settings)}
    for path in sorted(map(files.real, stores)):
        if not path.is_relative_to(folder):
            note(f"warning: {path} is outside the data folder and not in the backup; copy it too")
