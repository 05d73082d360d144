"""Whether a fact still says something when its secrets are masked.

A clause that only says what a secret is ("my wifi password is [password]") says nothing any more;
one that says something else as well ("I use GitHub with the token [token]") does.
"""

from __future__ import annotations

import re

from turnleaf.core.secrets import MARK, masked
from turnleaf.core.terms import parse_query, simplify

_FEWEST_TERMS = 2
_CLAUSE = re.compile(r"[.](?=\s|\Z)|[,;!?\n，。；！？、]|\s(?:and|but)\s|而且|但是?|并且")
_NOTED = re.compile(MARK)
_QUOTE = "[\\s\"'`*“‘「『(（]{0,4}"
_BEING = (
    r"(?:\b(?:is|are|was|were|be|equals|called|to|as)(?:\s(?:now|still|currently|just|set to))?\s"
    r"|['’]s\s|[=＝:：→>]|->|[是为叫成]|叫做|改用)"
)
_MORE = r"(?:\s(?:for|of|on|at|in|to|from|with|now|again|today|as)\b.*|[了喔哦啦唷耶呀吧的 ]*)"
# The secret as what is said of its name, or before its name.
_STATEMENT = re.compile(rf".*{_BEING}{_QUOTE}{MARK}[\"'`*”’」』)）]*{_MORE}", re.DOTALL)
_STATEMENT_FIRST = re.compile(
    rf"\W*{MARK}\s?(?:(?:is|was|as)\s(?:my|the|our)\s|就?是|当|作为).*", re.DOTALL
)
# A command, or what is set for one, with a secret in it: nobody can use it without.
_ARGUMENT = r"[^\s\u4e00-\u9fff]"
_WORDS_OF_PROSE = r"(?:is|are|was|were|for|that|which|when|to)\b"
_REST = rf"{_ARGUMENT}*+(?:\s++(?!{_WORDS_OF_PROSE}){_ARGUMENT}++){{0,20}}+\s*+"
_ASSIGNED = rf"[\w.-]{{1,60}}+=[\"']?{MARK}"
_PASSED = (
    r"(?:sudo\s)?(?:mysql|mariadb|curl)[\w-]{0,10}+\s[^\n]{0,300}?"
    rf"-[\w-]{{1,20}}+(?:[\s=][^\s:]{{1,60}}+:)?=?[\"']?{MARK}"
)
_COMMAND = re.compile(rf"\W*+(?:export\s|set\s)?(?:{_ASSIGNED}|{_PASSED}){_REST}")
_ASIDE = re.compile(
    r"\s*+(?:(?:please|don['’]t|do not|never|(?:just )?in case|thanks)\b|[请勿别]|不要)",
    re.IGNORECASE,
)
_NAMES = frozenset(
    parse_query(
        "password passwords passcode passphrase pw pwd pin code codes key keys token tokens secret"
        " secrets credentials number id 密碼 口令 金鑰 密鑰 私鑰 權杖 令牌 驗證碼 帳號"
    ).terms
)


def mask_fact(text: str, said: str = "") -> str:
    """Return a fact with its secrets masked, or nothing where it says nothing else.

    What is a secret in `said`, the words that it rests on, is one in the fact as well.
    """
    content = masked(text, said)
    return "" if content != text and not _says_more(content) else content


def _says_more(content: str) -> bool:
    """Whether a masked fact says more than what its secrets are."""
    clauses = _CLAUSE.split(simplify(content))
    rest = [clause for clause in clauses if not _is_empty(clause)]
    has_own = any(not _NOTED.search(clause) and _terms(clause) for clause in rest)
    return has_own or len(_terms(" ".join(rest))) >= _FEWEST_TERMS


def _is_empty(clause: str) -> bool:
    is_aside = _ASIDE.match(clause) is not None
    shapes = (_STATEMENT, _STATEMENT_FIRST, _COMMAND)
    return is_aside or any(shape.fullmatch(clause) for shape in shapes)


def _terms(text: str) -> set[str]:
    """Return the telling terms that do not merely name a secret."""
    return {*parse_query(_NOTED.sub(" ", text)).terms} - _NAMES
