"""What an installation without one of the extras lacks, said in a sentence."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from turnleaf.errors import TurnleafError

if TYPE_CHECKING:
    from collections.abc import Iterator


class MissingPackage(TurnleafError):
    """A package is not installed that comes with an extra."""


@contextmanager
def needing(extra: str) -> Iterator[None]:
    """Import what comes with an extra; raise MissingPackage where it is not there."""
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package == "turnleaf":
            raise
        message = f"the package {package} is missing; pip install 'turnleaf[{extra}]' brings it"
        raise MissingPackage(message) from error
