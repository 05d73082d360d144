"""Carrying one person's edit over to another version of the same text."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def carried_over(base: Sequence[str], edited: Sequence[str], onto: Sequence[str]) -> list[str]:
    """Make in `onto` the changes of lines that lead from `base` to `edited`.

    What was added goes below the line that it was added below, or to the end; what was taken
    away is taken away where it still stands.
    """
    lines = list(onto)
    steps = SequenceMatcher(None, base, edited, autojunk=False).get_opcodes()
    for tag, start, end, new_start, new_end in steps:
        if tag == "equal":
            continue
        for line in base[start:end]:
            if line in lines:
                lines.remove(line)
        above = edited[new_start - 1] if new_start else None
        at = lines.index(above) + 1 if above in lines else len(lines)
        lines[at:at] = edited[new_start:new_end]
    return lines
