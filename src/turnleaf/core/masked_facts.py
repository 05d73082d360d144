"""Whether a fact still says something when its secrets are masked.

A clause that only says what a secret is ("my wifi password is [password]") says nothing any more;
one that says something else as well ("I use GitHub with the token [token]") does.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from turnleaf.core.languages.words import compile_pattern, find_pattern, join_patterns, join_texts
from turnleaf.core.patterns import lazy_pattern
from turnleaf.core.search.terms import parse_query, simplify
from turnleaf.core.secrets import MARK, mask_secrets

if TYPE_CHECKING:
    import re

_PART = "masked_facts"
_FEWEST_TERMS = 2
_NOTED = lazy_pattern(MARK)
_QUOTE = "[\\s\"'`*“‘「『(（]{0,4}"
_CLOSING = "[\"'`*”’」』)）]*"
# A command, or what is set for one, with a secret in it: nobody can use it without.
_ARGUMENT = r"[^\s\u4e00-\u9fff]"
_WORDS_OF_PROSE = r"(?:is|are|was|were|for|that|which|when|to)\b"
_REST = rf"{_ARGUMENT}*+(?:\s++(?!{_WORDS_OF_PROSE}){_ARGUMENT}++){{0,20}}+\s*+"
_ASSIGNED = rf"[\w.-]{{1,60}}+=[\"']?{MARK}"
_PASSED = (
    r"(?:sudo\s)?(?:mysql|mariadb|curl)[\w-]{0,10}+\s[^\n]{0,300}?"
    rf"-[\w-]{{1,20}}+(?:[\s=][^\s:]{{1,60}}+:)?=?[\"']?{MARK}"
)
_COMMAND = lazy_pattern(rf"\W*+(?:export\s|set\s)?(?:{_ASSIGNED}|{_PASSED}){_REST}")


def mask_fact(text: str, said: str = "") -> str:
    """Return a fact with its secrets masked, or nothing where it says nothing else.

    What is a secret in `said`, the words that it rests on, is one in the fact as well.
    """
    content = mask_secrets(text, said)
    return "" if content != text and not _says_more(content) else content


def _says_more(content: str) -> bool:
    """Whether a masked fact says more than what its secrets are."""
    clauses = _find("joint", r"[.](?=\s|\Z)|[,;!?\n，。；！？、]|").split(simplify(content))
    rest = [clause for clause in clauses if not _is_empty(clause)]
    has_own = any(not _NOTED.search(clause) and _terms(clause) for clause in rest)
    return has_own or len(_terms(" ".join(rest))) >= _FEWEST_TERMS


def _is_empty(clause: str) -> bool:
    is_aside = _find("aside", r"\s*+").match(clause) is not None
    return is_aside or any(one.fullmatch(clause) for one in (*_statements(), _COMMAND))


@cache
def _statements() -> tuple[re.Pattern[str], ...]:
    """Return how a secret stands as what is said of its name, or before its name."""
    being = f"(?:{join_patterns(_PART, 'being')}|[=＝:：→>]|->)"
    after = f"(?:{join_patterns(_PART, 'after')}|[ ]*)"
    first = _find("being_first", rf"\W*{MARK}\s?", ".*")
    return compile_pattern(f".*{being}{_QUOTE}{MARK}{_CLOSING}{after}"), first


def _find(name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    return find_pattern(_PART, name, before, after)


@cache
def _names() -> frozenset[str]:
    """Return the terms that name secrets."""
    return frozenset(parse_query(join_texts(_PART, "names")).terms)


def _terms(text: str) -> set[str]:
    """Return the telling terms that do not merely name a secret."""
    return {*parse_query(_NOTED.sub(" ", text)).terms} - _names()
