"""Languages: which one a text is in, and one folder of words and patterns for each that we read.

The code makes its own sentences in English; a number with its noun is made here.
"""


def pluralize(number: int, noun: str) -> str:
    """Return a number with its English noun."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {_make_plural(noun)}"


def _make_plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
