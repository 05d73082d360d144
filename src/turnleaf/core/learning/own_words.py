"""The sentences of a message that its user says: nothing pasted, nothing quoted.

The plain text made here is as long as the message, character for character, so that every place
in it is a place in the message.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from turnleaf.core.languages.words import join_patterns
from turnleaf.core.loading import make_pattern
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MESSAGE_CHARS = 4_000
"""What is read of a message; somebody who writes more than this has pasted it."""
MAX_SENTENCES = 300
MAX_SENTENCE_CHARS = 600

HIDDEN = "\ufffc"
"""What stands in the plain text for anything that the user did not say."""

_PLAIN = str.maketrans("’‘“”：？！；，（）～\u3000\xa0\t", "''\"\":?!;,()~   ")
# A fence that nobody closed reaches to the end of the text.
_FENCE = make_pattern(r"```.*?(?:```|\Z)", re.DOTALL)
_PASTED = (
    r"`[^`\n]{1,200}`|<[a-z!/][^<>\n]{0,200}>|https?://[^\s,。]+|[\0\ud800-\udfff]"
    r"|^ *(?:>|\||\$ |# |\+\+\+|---|@@|\[?\d\d:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:\d\d).*$"
    r"|^ *(?:def|class|import|return|const|let|var|function|public|select)\b.*[;{}()=].*$"
    r"|^.*(?:[{};]|=>|\(\)) *$"
)
_NAME = r"(?:(?-i:[A-Z]\w{0,15}(?: [A-Z]\w{0,15})?):(?![/\d])|[\u3400-\u9fff]{1,5}:)"
_QUOTED = make_pattern(r'"[^"\n]*(?:"|$)|「[^」]*(?:」|\Z)|『[^』]*(?:』|\Z)', re.MULTILINE)
_QUOTES = frozenset('"「『')
_WHOLE_CLAUSES = make_pattern(r"[,。.!?;]|.{25}")
_SENTENCE_END = make_pattern(
    r"[。!?\n]+[。!?\s]*|\.{2,}|…+|(?<!\b[a-hj-z])(?<!(?<![a-z])(?:mr|dr|ms|st|vs))(?<!\bmrs)\.(?=\s|$)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A part of a message from one full stop to the next, and whether it asks."""

    start: int
    end: int
    asks: bool


def normalize_spelling(text: str) -> str:
    """Return a text in Simplified characters and ASCII punctuation."""
    return simplify(text).translate(_PLAIN)


def hide_quotations(message: str) -> str:
    """Return a message in one spelling, with what is pasted or quoted in it blanked."""
    # Nobody states facts at greater length: such a text was pasted.
    plain = normalize_spelling(message[:MAX_MESSAGE_CHARS])
    plain = _FENCE.sub(_mask, plain) if "```" in plain else plain
    plain = _find_no_speech().sub(_mask, plain)
    # Last: a quotation mark inside of code would hide what the user says after it.
    return _QUOTED.sub(_mask_clauses, plain) if _QUOTES.intersection(plain) else plain


def cut_sentences(plain: str) -> Iterator[Sentence]:
    """Yield the sentences of a plain text, without overlong ones, which nobody says."""
    start = count = 0
    for end in [*_SENTENCE_END.finditer(plain), None]:
        stop = end.start() if end else len(plain)
        # What the limit has cut off may have been a question.
        is_cut = end is None and len(plain) == MAX_MESSAGE_CHARS
        # What has no full stop for so long is a table or a log.
        if plain[start:stop].strip() and stop - start <= MAX_SENTENCE_CHARS and not is_cut:
            yield Sentence(start, stop, asks=end is not None and "?" in end[0])
            count += 1
        if end is None or count == MAX_SENTENCES:
            return
        start = end.end()


@cache
def _find_no_speech() -> re.Pattern[str]:
    """Return the pattern of pasted text, and of lines that begin with a speaker's name."""
    told = rf"^ *(?!{join_patterns('speech', 'label')}){_NAME}.*$"
    return re.compile(f"{_PASTED}|{told}", re.MULTILINE | re.IGNORECASE)


def _mask(part: re.Match[str]) -> str:
    return HIDDEN * len(part[0])


def _mask_clauses(quoted: re.Match[str]) -> str:
    """Return a quotation blanked, unless it is as short as a name."""
    # A name in quotation marks is what somebody is called, and no quotation.
    return _mask(quoted) if _WHOLE_CLAUSES.search(quoted[0][1:-1]) else quoted[0]
