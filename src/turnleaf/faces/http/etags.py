"""Versions of a file, as HTTP names them."""

from __future__ import annotations

import re

ANY = "*"
_TAG = re.compile(r'(W/)?"([^"]*)"')


def quoted(version: str) -> str:
    """Give the strong ETag of a version."""
    return f'"{version}"'


def matches(version: str, if_match: str) -> bool:
    """Tell whether a version is one that If-Match names; a weak tag never is."""
    tags = _TAG.findall(if_match)
    return if_match.strip() == ANY or any(not weak and tag == version for weak, tag in tags)


def is_known(version: str, if_none_match: str) -> bool:
    """Tell whether a version is one that If-None-Match names, weak or not."""
    tags = _TAG.findall(if_none_match)
    return if_none_match.strip() == ANY or any(tag == version for _, tag in tags)
