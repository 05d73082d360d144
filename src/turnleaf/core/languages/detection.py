"""The language of a text.

People mix languages and quote words of others, so no single character decides. What holds sentences
together is counted: function words of Chinese and English, runs of Kana, runs of Hangul. The
language that has most of it wins. A lone の, an ornament on Taiwanese shop signs, does not count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

Language: TypeAlias = Literal["english", "traditional", "simplified", "japanese", "korean"]

_MAX_CHARS = 2000
"""How much of a text is looked at: its beginning tells."""
_HAN = re.compile("[\u3400-\u9fff]")
_QUOTED = re.compile('「[^「」]*」|『[^『』]*』|“[^“”]*”|"[^"]*"')
# Without the words that Japanese writes with the same characters: 目的, 終了, 是非, 京都.
_CHINESE = re.compile(
    "[我你妳您她們们嗎吗呢吧這这那哪沒没很說说麼么什跟也幫帮讓让吃喝歡欢]|[今明昨]天|記住|记住|忘掉"
    "|(?<!目)的(?![なにでだ])|(?<![完終修満])了(?![解承])|(?<!京)都(?![市内合])"
    "|[請请](?![求負])|[給给](?![料与])|是(?![非正])|把(?!握)"
)
_KANA = re.compile(
    "(?!の(?![ぁ-ゖ]))[ぁ-ゖ]+|[\u30a1-\u30fa\uff66-\uff9f][\u30a1-\u30fc\uff66-\uff9f]+"
)
_HANGUL = re.compile("[\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3]+")
_ENGLISH = re.compile(
    r"(?<![\w./-])(?:i|you|he|she|it|we|they|me|my|your|his|her|our|their|the|an?|is|are|was|were|am"
    r"|do|does|did|what|who|where|when|which|why|how|that|this|to|of|in|on|for|with|and|or|not|have"
    r"|has|can|will|please|remember|forget)(?![\w./-])",
    re.IGNORECASE,
)
# Words in characters that Traditional has as well, but writes these words with others.
_SIMPLIFIED = re.compile("么|[哪那家]里|里面|[以之然最]后|后[来天面]|几[个点天次]|干嘛")


def detect_language(text: str, earlier: Iterable[str] = ()) -> Language:
    """Return the language of a text.

    Chinese that is the same in both scripts is in the script of what was said `earlier`, the newest
    last; without that it is Traditional.
    """
    own = _without_quotes(text[:_MAX_CHARS])
    han = "".join(_HAN.findall(own))
    counts: dict[Language, int] = {
        "traditional": len(_CHINESE.findall(own)) if han else 0,
        "japanese": len(_KANA.findall(own)) + len(_japanese_only(han)),
        "korean": len(_HANGUL.findall(own)),
        "english": len(_ENGLISH.findall(own)),
    }
    language = max(counts, key=counts.__getitem__)
    if language == "traditional":
        return _script([own, text[:_MAX_CHARS], *reversed([*earlier])]) if han else "english"
    return language


def is_japanese(text: str) -> bool:
    """Whether a text is in Japanese, which our Chinese grammar would misread."""
    return detect_language(text) == "japanese"


def has_chinese_words(text: str) -> bool:
    """Whether a text has a word that only Chinese has."""
    return _CHINESE.search(text) is not None


def _without_quotes(text: str) -> str:
    """Return the words of a text that are its own; all of them if it is one quotation."""
    own = _QUOTED.sub(" ", text)
    return own if any(map(str.isalpha, own)) else text


def _script(texts: Iterable[str]) -> Language:
    """Return the script of the first text that has a character or word of one script alone."""
    for text in texts:
        han = "".join(_HAN.findall(text))
        simplified = len(_known(han, "gb2312")) + len(_SIMPLIFIED.findall(text))
        traditional = len(_known(han, "big5"))
        if simplified != traditional:
            return "simplified" if simplified > traditional else "traditional"
    return "traditional"


def _japanese_only(han: str) -> set[str]:
    return _known(han, "shift_jis") - _known(han, "gb2312") - _known(han, "big5")


def _known(han: str, codec: str) -> set[str]:
    """Return the characters that a country's standard has."""
    return {*han.encode(codec, "ignore").decode(codec)}
