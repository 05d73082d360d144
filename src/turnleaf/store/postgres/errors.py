"""What PostgreSQL reports, as errors of our own that name no secret."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import psycopg
from psycopg_pool import PoolTimeout

from turnleaf.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator

Connection: TypeAlias = psycopg.Connection[tuple[Any, ...]]


def describe(error: Exception) -> str:
    """Return what is wrong on one line; libpq names no password in it."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise StorageError for what PostgreSQL raises."""
    try:
        yield
    except PoolTimeout as error:
        message = f"the database cannot be reached ({describe(error)}); check that it runs"
        raise StorageError(message) from None
    except psycopg.OperationalError as error:
        message = f"the connection to the database failed ({describe(error)}); try again"
        raise StorageError(message) from None
    except psycopg.Error as error:
        message = f"the database refused: {describe(error)}"
        raise StorageError(message) from error
