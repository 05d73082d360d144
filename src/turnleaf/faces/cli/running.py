"""What `serve` and `slack` share, which run for weeks: the assistant, and an end within seconds."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Thread
from typing import TYPE_CHECKING

from turnleaf.assistant import Assistant
from turnleaf.errors import TurnleafError
from turnleaf.faces.allocator import give_back_memory
from turnleaf.faces.cli.output import note, one_line
from turnleaf.faces.ending import watched_end

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turnleaf.settings import DataFolder

LEARNING_SECONDS = 2.0
"""How long the end waits for what is being learnt; the rest is learnt another time."""


@contextmanager
def running(folder: DataFolder) -> Iterator[Assistant]:
    """Give the assistant; afterwards let it learn from what waits, but not for long."""
    give_back_memory()
    with watched_end():
        assistant = Assistant(folder)
        try:
            yield assistant
        finally:
            _end(assistant)


def _end(assistant: Assistant) -> None:
    end = Thread(target=_close, args=[assistant], daemon=True)
    end.start()
    end.join(LEARNING_SECONDS)
    if end.is_alive():
        assistant.learning.close()
        note("What is not learnt yet stays queued, and is learnt the next time.")


def _close(assistant: Assistant) -> None:
    try:
        assistant.close()
    except TurnleafError as error:
        note(f"warning: {error}")
    for problem in assistant.problems():
        note(f"warning: {one_line(problem)}")
