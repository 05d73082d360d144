"""What goes wrong, told to those who are not at this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from turnleaf.core.folders import without_folders
from turnleaf.core.secrets import masked

if TYPE_CHECKING:
    from turnleaf.assistant import Assistant


def harmless(problem: str, assistant: Assistant) -> str:
    """Take secrets and the folders of files out of a sentence."""
    places = (
        assistant.memory.location.parent,
        assistant.conversations.location.parent,
        assistant.folder.path,
    )
    return masked(without_folders(problem, places))
