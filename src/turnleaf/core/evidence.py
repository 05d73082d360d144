"""What of a conversation answers nothing: a question, and an answer that says nothing new.

Somebody who asks the same again shall find what was stated, not that it was asked before.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache

from turnleaf.core.languages.replies import earlier_openings, openings
from turnleaf.core.terms import fold, parse_query, simplify

MAX_CHARS = 400
"""What is longer than this says more than a question, or than that nothing was found."""
MOST_NEW = 0.2
"""The share of a question's words that may be other ones than those of the question asked now."""

_ASKS = re.compile(
    r"[?？]\W*+$|[吗呢]\W*+$|什么|谁|哪[里个些儿天位]|怎么|为何|为什么|多少|几[个点岁月号]|是否|有没有"
    r"|^\W*+(?:what|who|whom|whose|where|when|which|why|how|do|does|did|is|are|was|were|has|have|had"
    r"|can|could|will|would|should)\b[^.!。！\n]*+$",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?。！？\n]++[.!?。！？\n]*+")
_STATES = re.compile(r"[.!]\s++\S|[。！\n]\s*+\S")
_SORRY = r"(?:(?:i['’]?m|i am)\s)?(?:(?:so|very|really)\s)?(?:sorry|afraid|unfortunately|apologies)"
_NOTHING = re.compile(
    rf"\W*+(?:(?:{_SORRY}|hmm+|well|no|but|that|currently)\b[\s,，:;-]*+){{0,4}}"
    r"(?:"
    r"i\s(?:really\s)?(?:do\snot|don['’]?t|can\s?not|can['’]?t|could\snot|couldn['’]?t|did\snot"
    r"|didn['’]?t)\s(?:actually\s|currently\s|seem\sto\s)?"
    r"(?:know(?:\s(?:that|this|it|about|the|who|what|when|where|which|why|how|if|whether|yet|your|any)"
    r"\b|\W*+$)|remember\b|recall\b|find\b|see\sany|have\s(?:any|that|this|enough|access|a\srecord)"
    r"|answer\b|tell\sfrom)"
    r"|i\shave\s(?:no|nothing)\b|i['’]?m\snot\s(?:sure|aware)\b|i\sam\snot\s(?:sure|aware)\b"
    r"|nothing\s(?:is|was|about|found|related|relevant|in\s(?:my|our|the)|matches|matching)\b"
    r"|no\s(?:information|records?|mention|memory|memories|answer|results?)\b"
    r"|there\s(?:is|was|are)\s(?:no|nothing)\b|there\sisn['’]?t\b"
    r"|you\s(?:have\snot|haven['’]?t|did\snot|didn['’]?t)\s(?:told|tell|mention|said|say|share)"
    r"|not\s(?:found|that\si\sknow)"
    r")",
    re.IGNORECASE,
)
_NOTHING_HAN = re.compile(
    r"\W*+(?:(?:很?抱歉|对不起|不好意思|很遗憾|目前|但|可是|我|这件事"
    r"|关于[^，,。]{1,30}+)[，, 、]*+){0,5}"
    r"(?:也|还|并|都|什么都)?(?:不知道|不清楚|不确定|不记得|找不到|查不到|查无"
    r"|没有(?:找到|相关|任何|提到|提过|记录|这方面|印象|关于)|没(?:找到|记录|提过|印象)"
    r"|无法(?:找到|回答|得知|确定|判断)|没办法(?:回答|确定))"
)
_OFFER = re.compile(
    r"\W*+(?:please|could\syou|can\syou|would\syou|do\syou|let\sme|if\syou|you\scan|feel\sfree"
    r"|tell\sme|is\sthere|how\scan|what\s(?:else|can))\b|\W*+(?:请|如果|若|可以|要不要|能不能|你可以|需要|欢迎|是否)",
    re.IGNORECASE,
)


def is_question(text: str) -> bool:
    """Whether a message asks, and states nothing before or after that."""
    return _asks(text) and not _STATES.search(simplify(text).strip())


def asks_again(text: str, question: str) -> bool:
    """Whether an earlier message only asks what is asked now."""
    plain, wanted = _read_question(question)
    if len(text) <= 2 * len(question) and simplify(fold(text)).strip() == plain:
        return True
    if not _asks(text):
        return False
    earlier = set(parse_query(text).terms)
    return len(earlier - wanted) <= MOST_NEW * len(earlier)


def says_nothing(text: str) -> bool:
    """Whether an answer only says that nothing was found, or quotes or confirms what was said."""
    plain = simplify(fold(text)).strip()
    if plain.startswith(_answers()) or (plain.startswith(_confirmations()) and "\n\n" not in plain):
        return True
    if len(plain) > MAX_CHARS:
        return False
    first, *others = _SENTENCE.findall(plain) or [""]
    return _is_nothing(first) and all(_is_nothing(one) or _OFFER.match(one) for one in others)


@cache
def _answers() -> tuple[str, ...]:
    """Return how answers begin that only quote what is known, or that found nothing."""
    ours = openings("recall", "found", "nothing", "heard", "noted", "crowded")
    return tuple(simplify(fold(one)) for one in (*ours, *earlier_openings("answers")))


@cache
def _confirmations() -> tuple[str, ...]:
    """Return how it is confirmed that a request was done; what follows is the fact."""
    ours = openings("memory", "saved", "known", "removed")
    return tuple(simplify(fold(one)) for one in (*ours, *earlier_openings("confirmations")))


@lru_cache(maxsize=16)
def _read_question(question: str) -> tuple[str, frozenset[str]]:
    return simplify(fold(question)).strip(), frozenset(parse_query(question).terms)


def _asks(text: str) -> bool:
    return len(text) <= MAX_CHARS and bool(_ASKS.search(simplify(text).strip()))


def _is_nothing(sentence: str) -> bool:
    return bool(_NOTHING.match(sentence) or _NOTHING_HAN.match(sentence))
