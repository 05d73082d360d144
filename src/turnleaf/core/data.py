"""Tables that come with the package: the only files that the core reads.

They are a part of the program, like its modules, and the same for everybody. Words and patterns of
a language are easier to read and to add to as data than as code.
"""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_CORE = Path(__file__).parent


@cache
def load_data(path: str) -> dict[str, Any]:
    """Return a TOML file below `turnleaf/core`; it is read once, and must not be changed."""
    table: dict[str, Any] = import_module("tomllib").loads((_CORE / path).read_text("utf-8"))
    return table


@cache
def find_folders(path: str, holding: str) -> tuple[str, ...]:
    """Return the names of the folders in one below `turnleaf/core` that hold a file."""
    return tuple(sorted(one.parent.name for one in (_CORE / path).glob(f"*/{holding}")))
