"""Regular expressions mean the same on every Python that Turnleaf runs on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src/turnleaf"
GROUP_REPEATED = re.compile(r"(?<!\\)\)(?:[*+?]|\{{1,2}\d*,?\d*\}{1,2})\+")


def test_no_group_is_repeated_possessively() -> None:
    """Python 3.11.0 to 3.11.4, Debian 12's among them, match such groups wrongly."""
    found = [
        f"{path.relative_to(SOURCE)}:{number}: write (?>(?:…)*) instead of (?:…)*+: {line.strip()}"
        for path in SOURCE.rglob("*")
        if path.suffix in {".py", ".toml"}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if GROUP_REPEATED.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("line", [r"(?:a|b)*+", "(ab)++", "(ab)?+", "(ab){2,}+", "(ab){{0,20}}+"])
def test_the_check_sees_a_group_that_is_repeated_possessively(line: str) -> None:
    assert GROUP_REPEATED.search(line)


@pytest.mark.parametrize("line", [r"(?>(?:ab)*)", r"[ab]*+", r"\w++", r"\)*+", "(ab)+"])
def test_the_check_allows_what_every_python_matches_rightly(line: str) -> None:
    assert not GROUP_REPEATED.search(line)
