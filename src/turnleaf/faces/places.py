"""Where files lie on this machine, which nobody else is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turnleaf.core.secrets import masked

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant

_PATH = re.compile(r"(?<![\w:/.])/(?:[^\s/:;,'\"()]+/)+")


def harmless(problem: str, assistant: Assistant) -> str:
    """Take secrets and the folders of files out of a sentence."""
    places = (
        assistant.memory.location.parent,
        assistant.conversations.location.parent,
        assistant.folder.path,
    )
    for place in places:
        problem = problem.replace(f"{place}/", "")
    return masked(_PATH.sub("", problem))
