"""A bar on the terminal for what takes a while; nothing at all elsewhere."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told how many of all are done; the bar comes with the first."""
    with ExitStack() as stack:
        bar = Progress(console=Console(stderr=True), transient=True)
        task = bar.add_task(doing)

        def tell(done: int, total: int) -> None:
            if sys.stderr.isatty():
                if not bar.live.is_started:
                    stack.enter_context(bar)
                bar.update(task, completed=done, total=total)

        yield tell
