"""The one place that knows the backends, and opens a space in a folder or at an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.setting_kinds import is_space_name
from turnleaf.errors import InvalidInput
from turnleaf.settings import DataFolder, data_folder, default_place, default_space
from turnleaf.store.ambient import local_now
from turnleaf.store.files.config import ConfigFile
from turnleaf.store.files.stores import FileStores

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from turnleaf.core.examination import Examination
    from turnleaf.settings import Settings
    from turnleaf.store.contracts import Config, Stores


def open_stores(
    where: DataFolder | str | Path | None = None,
    *,
    space: str | None = None,
    now: Callable[[], datetime] | None = None,
) -> Stores:
    """Open a space; see `Stores.open`."""
    return FileStores(find_folder(where, space), now=now or local_now)


def open_config(where: str | None = None) -> Config:
    """Open the settings of a place, which all its spaces share; nothing else need be readable."""
    return ConfigFile(find_folder(where).config)


def find_folder(
    where: DataFolder | str | Path | None = None, space: str | None = None
) -> DataFolder:
    """Return the operator's own folder of a place, or the part of it that a space has.

    Raise InvalidInput for an address that this version has no backend for.
    """
    named = where or default_place()
    if isinstance(named, str) and "://" in named:
        # Only the scheme is named: an address may hold a password.
        message = (
            f"this version cannot keep anything at a {named.partition('://')[0]}:// address; "
            "pass a folder"
        )
        raise InvalidInput(message)
    return in_space(where if isinstance(where, DataFolder) else data_folder(where), space)


def examine_stores(folder: DataFolder, settings: Settings) -> Examination:
    """Return what a space holds and what is wrong with it, also where it cannot be opened.

    Nothing is made or changed.
    """
    return FileStores.examine(folder, settings)


def in_space(folder: DataFolder, space: str | None) -> DataFolder:
    """Return the part of a data folder that a space has, by default that of TURNLEAF_SPACE.

    Raise InvalidInput for a name that cannot be a space's.
    """
    space = (folder.space if folder.root else default_space()) if space is None else space
    if space is None or space == folder.space:
        return folder
    if folder.root is not None:
        message = f"a space has no spaces of its own; open {space!r} in {folder.root}"
        raise InvalidInput(message)
    if not is_space_name(space):
        message = (
            f"{space!r} cannot be the name of a space: use small letters, digits, - and _, "
            "64 characters at most, the first a letter or digit"
        )
        raise InvalidInput(message)
    return folder.of_space(space)
