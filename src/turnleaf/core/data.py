"""Tables that come with the package: the only files that the core reads.

They are a part of the program, like its modules, and the same for everybody. Words and patterns of
a language are easier to read and to add to as data than as code.
"""

import tomllib
from functools import cache
from importlib import resources
from typing import Any

_CORE = "turnleaf.core"


@cache
def load_data(path: str) -> dict[str, Any]:
    """Return a TOML file below `turnleaf/core`; it is read once, and must not be changed."""
    return tomllib.loads(resources.files(_CORE).joinpath(path).read_text("utf-8"))


@cache
def find_folders(path: str, holding: str) -> tuple[str, ...]:
    """Return the names of the folders in one below `turnleaf/core` that hold a file."""
    folders = resources.files(_CORE).joinpath(path).iterdir()
    return tuple(sorted(one.name for one in folders if one.joinpath(holding).is_file()))
