"""`copy`: everything of a folder or a database to another place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from turnleaf.copying import SpaceCopy, check_places
from turnleaf.errors import Conflict, NotFound
from turnleaf.faces.cli.arguments import TEXT, as_json
from turnleaf.faces.cli.output import localize, note, say, say_json
from turnleaf.faces.cli.progress import show_progress
from turnleaf.faces.cli.terminal import show_table
from turnleaf.store.contracts import Stores
from turnleaf.store.opening import list_spaces

if TYPE_CHECKING:
    from turnleaf.copying import CopyReport, StoreReport

DIGEST_CHARS = 12
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
