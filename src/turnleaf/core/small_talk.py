"""Small talk: greetings, thanks and nods, after which nothing is looked up."""

from __future__ import annotations

import re

from turnleaf.core.terms import fold, is_stop_word, simplify

MAX_CHARS = 80
_SAID = """
    afternoon agreed alright anyway awesome aye bye care cheers cool cya day dear evening excellent
    fine friend friends fun goodbye goodnight got greetings guys happy help helped helpful helping
    helps hope interesting kind later lol lovely mate morning need night perfect pls problem rest
    see sleep soon super sweet talk thx today tomorrow tonight ty understood weekend welcome
    wonderful worries yay yo yup
    """
_WORDS = frozenset(_SAID.split())
_ASKED = frozenset(("day", "going", "help"))
"""Of these a question may have some: "how is your day going?"."""
_QUESTION = re.compile(r"[?？]\s*+$")
_WORD = re.compile(r"[^\W\d_]+")
# Chinese has no spaces: what is left when these are taken out says whether it was all.
_PHRASES = re.compile(
    simplify(
        "你好嗎?|您好|妳好|大家好|哈囉|哈嘍|嗨|嘿|喂|早安|早上好|早|午安|下午好|晚上好|晚安|謝謝|感謝|多謝"
        "|感恩|辛苦|不客氣|沒關係|沒事|沒問題|好的|好啊|好吧|好喔|好哦|好耶|好棒|太好|好|可以|行|對|是的|是"
        "|嗯|喔|哦|噢|呵|哈|嘻|再見|掰掰|拜拜|明天見|回頭見|待會見|等一下見|下次見|知道|了解|瞭解|明白|收到"
        "|在嗎|有人在嗎|最近怎麼樣|最近|怎麼樣|過得|如何|今天|很|真的|真是|真|非常|太|有幫助|幫助|幫|的忙"
        "|忙|棒|讚|厲害|不錯|開心|高興|你|您|妳|我|大|了|啦|啊|呀|吧|喔|哦|囉|耶|呢|嗎|的|都|也|就|那|這樣"
    )
)


def is_small_talk(text: str) -> bool:
    """Whether a short text greets, thanks or agrees, and says nothing else."""
    if len(text) > MAX_CHARS:
        return False
    rest = _PHRASES.sub(" ", simplify(fold(text)))
    if any(map(str.isdigit, rest)):
        return False
    allowed = _ASKED if _QUESTION.search(text) else _WORDS
    return all(word in allowed or is_stop_word(word) for word in _WORD.findall(rest))
