"""How a store is examined that may be damaged or odd: nothing is made, changed or waited for."""

from __future__ import annotations

import os
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec

from turnleaf.core.diagnosis import Diagnosis, Examination, Row
from turnleaf.errors import CorruptFile, StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from turnleaf.core.diagnosis import Part

P = ParamSpec("P")


def collect(
    look: Callable[Concatenate[Path, P], Iterator[Part]],
) -> Callable[Concatenate[Path, P], Examination]:
    """Make an examination out of a look at a path, also of one that fails in the middle."""

    @wraps(look)
    def examine(path: Path, /, *args: P.args, **kwargs: P.kwargs) -> Examination:
        return Examination.of(_report_failure(path, look(path, *args, **kwargs)))

    return examine


def _report_failure(path: Path, parts: Iterator[Part]) -> Iterator[Part]:
    try:
        yield from parts
    except OSError as error:
        yield Diagnosis("error", f"cannot read {path}: {error.strerror}; check its permissions")
    except StorageError as error:
        yield Diagnosis("error", str(error))


def examine_file(
    name: str,
    path: Path,
    describe: Callable[[], str],
    measure: Callable[[Path], int] = lambda path: path.stat().st_size,
) -> Iterator[Part]:
    """Yield what is known of a file, with what `describe` says of its content."""
    size, holds = None, "not there yet"
    try:
        if path.exists():
            size, holds = measure(path), "cannot be used"
            refuse_odd(path)
            holds = describe()
            yield from _refuse_unwritable(path)
    except StorageError as error:
        holds = "cannot be read"
        yield Diagnosis("error", str(error))
    except (CorruptFile, UnicodeDecodeError) as error:
        yield report_damage(path, error)
    yield Row(name, str(path), size, holds)


def _refuse_unwritable(path: Path) -> Iterator[Diagnosis]:
    if not os.access(path, os.W_OK):
        message = f"{path} cannot be changed; check who owns it and its permissions"
        yield Diagnosis("error", message)


def report_damage(path: Path, error: Exception) -> Diagnosis:
    """Return what is wrong with a file, and what will become of it."""
    why = " ".join(str(error).split())
    return Diagnosis(
        "error",
        f"{path} cannot be used ({why}); correct it, or the next command that needs it will "
        f"set it aside as {path.name}.corrupt-TIME",
    )


def refuse_odd(path: Path) -> None:
    """Refuse what is no file, such as a pipe, on which reading would wait for ever."""
    if os.access(path, os.F_OK) and not path.is_file():
        message = f"{path} is not a regular file; move it elsewhere"
        raise StorageError(message)
