"""`db`: make and change the tables of a PostgreSQL database."""

from __future__ import annotations

import click

from turnleaf.errors import InvalidInput
from turnleaf.faces.cli.arguments import TEXT, Workspace, confirm, pass_workspace, yes
from turnleaf.faces.cli.output import say
from turnleaf.store.ambient import local_now
from turnleaf.store.opening import check_argument, find_folder, load_database

SERVING_ROLE = "turnleaf_server"


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
    help="The role that the programs connect as.",
)
@click.option("--dry-run", is_flag=True, help="Print the statements and change nothing.")
@pass_workspace
def migrate(workspace: Workspace, address: str | None, role: str, *, dry_run: bool) -> None:
    """Make or change the tables that this version needs.

    ADDRESS is that of the database for the role that owns the tables, such as
    postgresql://turnleaf_owner@localhost/turnleaf; by default it is that of --data-dir.
    """
    check_argument(address)
    where = find_folder(address).address if address else workspace.folder.address
    if where is None:
        message = "this needs the address of a database: turnleaf db migrate ADDRESS"
        raise InvalidInput(message)
    made = load_database("migrating").migrate(where, role=role, dry_run=dry_run)
    for one in made:
        say(one.statements if dry_run else f"made version {one.version} of the tables")
    if not made:
        say("the tables are those of this version")


@db.command()
@click.argument("name", type=TEXT)
@yes
@pass_workspace
def erase(workspace: Workspace, name: str, *, yes: bool) -> None:
    """Erase the space NAME with all that is in it; it cannot be undone."""
    folder = find_folder(workspace.data_dir, name)
    if folder.address is None:
        message = "this erases a space of a database; delete the folder of a space yourself"
        raise InvalidInput(message)
    if not yes:
        confirm(f"Erase all of {name}? This cannot be undone.", "use --yes to erase the space")
    with load_database("stores").PostgresStores(folder, now=local_now) as stores:
        stores.erase_space()
    say(f"erased {name}")
