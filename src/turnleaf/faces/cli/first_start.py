"""What a person is told when a data folder is used for the first time."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from turnleaf.faces.cli.output import note
from turnleaf.keeping import announce
from turnleaf.settings import find_terminal_language

if TYPE_CHECKING:
    from turnleaf.faces.cli.place import Place


def mention_keeping(place: Place) -> None:
    """Say on a terminal what is kept, as long as nothing is kept yet."""
    location = place.folder.conversations(place.settings)
    if sys.stderr.isatty() and not location.exists():
        note(announce(location, place.settings, find_terminal_language()))
