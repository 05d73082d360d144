"""Where files lie on this machine, which nobody else is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_FOLDERS = re.compile(r"(?<![\w:/.])/(?:[^\s/:;,'\"()]+/)+")


def without_folders(sentence: str, known: Iterable[Path]) -> str:
    """Leave only the names of files; a known folder may have spaces in its name."""
    for folder in known:
        sentence = sentence.replace(f"{folder}/", "")
    return _FOLDERS.sub("", sentence)
