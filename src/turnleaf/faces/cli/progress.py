"""A bar that shows a person how far something is that takes long."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import Progress

from turnleaf.faces.cli.output import localize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def show_progress(doing: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that takes how many of all are done; the bar shows at its first call."""
    with ExitStack() as stack:
        bar = Progress(console=Console(stderr=True), transient=True)
        task = bar.add_task(localize(doing))

        def tell(done: int, total: int) -> None:
            if sys.stderr.isatty():
                if not bar.live.is_started:
                    stack.enter_context(bar)
                bar.update(task, completed=done, total=total)

        yield tell
