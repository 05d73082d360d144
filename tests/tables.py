"""A table of cases that is read by one test: as many items would take longer than the cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable


def each(names: str, rows: Iterable[object]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Try every row in one test that names all that fail; otherwise like `parametrize`."""
    keys = [name.strip() for name in names.split(",")]
    table = [row if len(keys) > 1 else (row,) for row in rows]

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def try_all() -> None:
            found = [wrong for row in table if (wrong := _try_one(test, keys, row))]
            if found:
                message = f"{len(found)} of {len(table)} cases fail"
                raise ExceptionGroup(message, found)

        try_all.__name__ = test.__name__
        try_all.__doc__ = test.__doc__
        try_all.__module__ = test.__module__
        return try_all

    return decorate


def _try_one(test: Callable[..., None], keys: list[str], row: object) -> Exception | None:
    assert isinstance(row, tuple | list)
    try:
        test(**dict(zip(keys, row, strict=True)))
    except Exception as error:  # noqa: BLE001 - whatever it is, the other cases are tried, too
        error.add_note(f"the case: {row!r}")
        return error
    return None
