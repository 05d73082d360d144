"""Which of the two languages that we speak a text is in."""

from __future__ import annotations

import re

_HAN = re.compile("[\u3400-\u9fff]")


def is_chinese(text: str) -> bool:
    """Tell whether an answer to this text should be in Chinese."""
    return _HAN.search(text) is not None
