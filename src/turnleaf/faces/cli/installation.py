"""`doctor`, `db` and `config`: checking an installation, its PostgreSQL tables, and settings.

`doctor` changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from turnleaf.access_tokens import Tokens
from turnleaf.doctor_report import make_doctor_report
from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.arguments import TEXT, Workspace, as_json, confirm, pass_workspace, yes
from turnleaf.faces.cli.output import (
    flatten,
    format_value,
    label,
    localize,
    note,
    say,
    say_json,
    say_result,
    show_table,
)
from turnleaf.settings import SETTINGS, find_setting
from turnleaf.space_limits import forget_limits
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.opening import check_argument, find_folder, load_database, open_to_examine

if TYPE_CHECKING:
    from turnleaf.settings import Setting, Settings


# A value such as -1 is no option.
@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("key", required=False, type=TEXT)
@click.argument("value", required=False, type=TEXT)
@click.option("--unset", metavar="KEY", type=TEXT, help="Reset this setting to its default.")
@as_json
@pass_workspace
def config(
    workspace: Workspace, key: str | None, value: str | None, unset: str | None, *, as_json: bool
) -> None:
    """Show all settings, or the setting KEY; with VALUE, change it.

    Changes are written to memory-config.json in the data folder. Environment variables
    override the file.

    \b
    turnleaf config model ollama:qwen3
    turnleaf config instructions 'Answer in one sentence.'
    turnleaf config --unset model
    """  # noqa: D301 - click reads the character, not its name
    if unset is not None and key is not None:
        message = "use either KEY VALUE or --unset KEY, not both"
        raise InvalidInput(message)
    wanted = unset if key is None else key
    if wanted is None:
        _list(workspace.settings, as_json=as_json)
        return
    setting = find_setting(wanted)
    if unset is not None or value is not None:
        workspace.config.change({setting.key: value})
    _show(setting, workspace.settings, as_json=as_json)
    if unset or value:
        _note_environment(setting, workspace.settings)


def _note_environment(setting: Setting, settings: Settings) -> None:
    """Write a note if the environment overrides what was changed in the file."""
    if settings.find_source(setting) == "environment":
        variable = settings.older_names.get(setting.field, setting.variable)
        note(f"the environment variable {variable} overrides the file; unset it to use the file")


def _list(settings: Settings, *, as_json: bool) -> None:
    if as_json:
        say_json([settings.describe(setting) for setting in SETTINGS])
        return
    rows = [
        (
            one.key,
            format_value(getattr(settings, one.field)),
            _describe_source(one, settings),
            localize(one.meaning),
        )
        for one in SETTINGS
    ]
    show_table(("Setting", "Value", "From", "Meaning"), rows, wrapped={"Value"})


def _show(setting: Setting, settings: Settings, *, as_json: bool) -> None:
    say_result(
        settings.describe(setting),
        f"{setting.key} = {format_value(getattr(settings, setting.field))}",
        f"  {label('from', 10)}{_describe_source(setting, settings)}",
        f"  {label('default', 10)}{format_value(setting.default)}",
        f"  {label('variable', 10)}{setting.variable}",
        f"  {label('meaning', 10)}{localize(setting.meaning)}",
        as_json=as_json,
    )


def _describe_source(setting: Setting, settings: Settings) -> str:
    source = localize(settings.find_source(setting))
    older = settings.older_names.get(setting.field)
    return f"{source} ({older})" if older else source


@click.command()
@as_json
@pass_workspace
@click.pass_context
def doctor(ctx: click.Context, workspace: Workspace, *, as_json: bool) -> None:
    """Check paths, versions, settings and components, and report problems.

    Nothing is created or changed. The exit code is 1 if something does not work.
    """
    found = make_doctor_report(*open_to_examine(workspace.data_dir, workspace.space))
    if as_json:
        say_json(found)
    else:
        _print_report(found)
    ctx.exit(int(any(problem["level"] == "error" for problem in found["problems"])))


def _print_report(found: dict[str, Any]) -> None:
    versions = found["versions"]
    say(f"turnleaf {versions['turnleaf']} ({versions['platform']})")
    say(f"Python {versions['python']}, SQLite {versions['sqlite']}")
    folder = found["dataFolder"]
    _say_heading("Data folder")
    say(f"  {folder['path']}")
    why = folder["why"] if folder["exists"] else f"{folder['why']}; it will be created when needed"
    say(f"  {localize(why)}")
    _say_heading("Files")
    for row in found["files"]:
        say(f"  {label(row['name'], 15)}{localize(row['holds'])}")
        say(f"  {'':<15}{row['path']}")
    _say_heading("Settings")
    for limit in found["limits"]:
        value = _format_limit(limit["value"])
        say(f"  {limit['name']:<35}{value:<12}{localize(limit['from'])}")
    _say_heading("Parts")
    for name, state in found["parts"].items():
        say(f"  {label(name, 15)}{localize(state)}")
    _say_heading("Last background error")
    say(f"  {_describe_error(found['lastError'])}")
    _say_heading("Problems")
    for problem in found["problems"]:
        line = f"{problem['level']}: {flatten(problem['message'])}"
        say(f"  {localize(line)}")
    if not found["problems"]:
        say(f"  {localize('none')}")


def _say_heading(name: str) -> None:
    say(f"\n{localize(name)}")


def _describe_error(error: dict[str, str] | None) -> str:
    if error is None:
        return localize("none")
    return f"{error['time']}: {error['conversation']}: {localize(flatten(error['message']))}"


def _format_limit(value: object) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return f"{value:,}" if is_number else format_value(value)


# Repeated here, because the module that has them needs the driver of PostgreSQL.
SERVING_ROLE = "turnleaf_server"
LARGE_SPACE = 20_000


@click.group()
def db() -> None:
    """Set up a PostgreSQL database."""


@db.command()
@click.argument("address", required=False, type=TEXT)
@click.option(
    "--role",
    metavar="NAME",
    default=SERVING_ROLE,
    show_default=True,
    type=TEXT,
    help="Role that the programs connect as.",
)
@click.option("--dry-run", is_flag=True, help="Print the SQL statements; change nothing.")
@pass_workspace
def migrate(workspace: Workspace, address: str | None, role: str, *, dry_run: bool) -> None:
    """Create or update the tables that this version needs.

    ADDRESS is the database address of the role that owns the tables, such as
    postgresql://turnleaf_owner@localhost/turnleaf. The default is the address of --data-dir.
    """
    where = _find_database(workspace, address)
    schema = load_database("schema")
    made = schema.migrate(where, role=role, dry_run=dry_run)
    if not made:
        say(localize("the tables are up to date"))
    elif dry_run:
        say(schema.write_script(made, role))
    else:
        for one in made:
            say(localize(f"updated the tables to version {one.version}"))


@db.command()
@click.argument("address", required=False, type=TEXT)
@click.option(
    "--passages",
    metavar="N",
    default=LARGE_SPACE,
    show_default=True,
    type=click.IntRange(1),
    help="Minimum passages of a large space.",
)
@click.option("--dry-run", is_flag=True, help="Print the SQL statements; change nothing.")
@pass_workspace
def tune(workspace: Workspace, address: str | None, passages: int, *, dry_run: bool) -> None:
    """Create the vector index of each large space.

    Indexes that are no longer needed are dropped. The programs may keep running. ADDRESS is the
    database address of the role that owns the tables, as for db migrate.
    """
    where = _find_database(workspace, address)
    made = load_database("schema").tune(where, passages=passages, dry_run=dry_run)
    for one in made:
        say(one)
    if not made:
        say(localize("there is nothing to change"))


def _find_database(workspace: Workspace, address: str | None) -> str:
    """Return the address of a database, as it was given or as that of --data-dir."""
    check_argument(address)
    where = find_folder(address).address if address else workspace.folder.address
    if where is None:
        message = (
            "this command needs the address of a database, such as postgresql://OWNER@HOST/DATABASE"
        )
        raise InvalidInput(message)
    return where


@db.command("erase")
@click.argument("name", type=TEXT)
@yes
@pass_workspace
def erase_space(workspace: Workspace, name: str, *, yes: bool) -> None:
    """Permanently erase the space NAME and everything in it.

    This also revokes its tokens and removes its limits.
    """
    folder = find_folder(workspace.data_dir, name)
    if folder.address is None:
        message = (
            "this command only erases spaces in a database; for a space in a data folder, delete "
            "its folder"
        )
        raise InvalidInput(message)
    if not yes:
        confirm(f"Erase all of {name}? This cannot be undone.", "use --yes to erase the space")
    with load_database("stores").PostgresStores(folder, now=local_now) as stores:
        # First, so that nobody begins a new one with a token of the old.
        revoked = Tokens(stores.operator_records).revoke_all(name)
        forget_limits(stores.operator_records, name)
        stores.erase_space()
    with_tokens = f"erased {name} and revoked {revoked} of its tokens"
    say(localize(with_tokens if revoked else f"erased {name}"))
