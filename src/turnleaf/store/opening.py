"""The one place that knows the backends, and opens a space in a folder or at an address."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from turnleaf.errors import InvalidInput
from turnleaf.installation import advise_install
from turnleaf.settings import (
    DataFolder,
    find_beside_database,
    find_data_folder,
    find_space_folder,
    read_default_place,
)
from turnleaf.store.clock_and_ids import local_now
from turnleaf.store.files.config import ConfigFile
from turnleaf.store.files.stores import FileStores

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.diagnosis import Diagnosis
    from turnleaf.store.contracts import Config, Stores

SCHEMES = ("postgresql", "postgres")


def open_stores(
    where: DataFolder | str | Path | None = None,
    *,
    space: str | None = None,
    now: Callable[[], datetime] | None = None,
) -> Stores:
    """Open a space; see `Stores.open`."""
    folder, clock = find_folder(where, space), now or local_now
    if folder.address is None:
        return FileStores(folder, now=clock)
    return cast("Stores", load_database("stores").PostgresStores(folder, now=clock))


def list_spaces(where: str) -> list[str]:
    """Return the names of the spaces of a place; a folder always has the default one."""
    folder = find_folder(where, "default")
    if folder.address is None:
        return FileStores.list_spaces(folder)
    with load_database("stores").PostgresStores(folder, now=local_now) as stores:
        return cast("list[str]", stores.open_portable().list_spaces())


def open_config(where: str | None = None) -> Config:
    """Open the settings of a place, which all its spaces share; nothing else need be readable."""
    folder = find_folder(where)
    return open_stores(folder).config if folder.address else ConfigFile(folder.config)


def _find_address(named: object) -> str | None:
    """Return the address of the database that a place is; None for a folder."""
    if not isinstance(named, str) or "://" not in named:
        return None
    scheme = named.partition("://")[0]
    if scheme not in SCHEMES:
        # Only the scheme is named: an address may hold a password.
        message = (
            f"this version cannot store data at a {scheme}:// address; use a folder or a "
            "postgresql:// address"
        )
        raise InvalidInput(message)
    return named


def check_argument(given: str | None) -> None:
    """Raise InvalidInput for an address with a password that was given on the command line."""
    if not given or not given.startswith(tuple(f"{one}://" for one in SCHEMES)):
        return
    name, _, _ = given.partition("://")[2].partition("/")[0].rpartition("@")
    if ":" in name or "password=" in given.partition("?")[2]:
        message = (
            "every user of this computer can see the options of a program, so an address "
            "there must not contain a password; put the password into ~/.pgpass or "
            "PGPASSWORD, or the address into TURNLEAF_DATA_DIR"
        )
        raise InvalidInput(message)


def load_database(module: str) -> Any:  # noqa: ANN401 - a module
    """Load a part of the backend for PostgreSQL, whose driver not everybody has."""
    try:
        return import_module(f"turnleaf.store.postgres.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("psycopg", "psycopg_pool"):
            raise
        message = (
            "PostgreSQL needs the package psycopg, which is not installed; "
            f"{advise_install('postgres')}"
        )
        raise InvalidInput(message) from None


def find_folder(
    where: DataFolder | str | Path | None = None, space: str | None = None
) -> DataFolder:
    """Return the operator's own folder of a place, or the part of it that a space has.

    Beside a database that is a folder on this machine. Raise InvalidInput for an address that this
    version has no backend for.
    """
    if isinstance(where, DataFolder):
        return find_space_folder(where, space)
    address = _find_address(where or read_default_place())
    if address and where:
        address = _find_whole(address)
    return find_space_folder(
        find_beside_database(address) if address else find_data_folder(where), space
    )


def _find_whole(given: str) -> str:
    """Return the address that TURNLEAF_DATA_DIR has of the same database, if it has it.

    One that a program passes on to another as an option is without the password.
    """
    known = read_default_place() or ""
    with suppress(InvalidInput):
        if _find_address(known) and load_database("addresses").read_address(known).shown == given:
            return known
    return given


def open_to_examine(
    where: str | None = None, space: str | None = None
) -> tuple[Stores, list[Diagnosis]]:
    """Open a space also where its settings cannot be used, and return what is wrong with them."""
    folder = find_folder(where, space)
    if folder.address is None:
        return FileStores.open_to_examine(folder)
    return open_stores(folder), []
