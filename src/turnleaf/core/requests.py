"""What a user asks outright to be remembered or forgotten, and which facts are meant.

Only a message that begins with the wish is one; greetings, politeness and a name may come first.
A reminder ("remember to buy milk", 記得買牛奶) is a thing to keep. "Note that …" is no wish: people
say it about the text at hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import add, or_
from typing import TYPE_CHECKING, Literal, TypeAlias

from turnleaf.core.languages import has_chinese_words, is_japanese
from turnleaf.core.terms import fold, simplify, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from turnleaf.core.memories import Memory

Action: TypeAlias = Literal["remember", "forget"]


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be remembered or forgotten, in the user's words."""

    action: Action
    content: str


# All patterns see Simplified characters, which take the places of the Traditional ones one by one.
_OPENING = re.compile(
    r"(?:<@\w{1,20}>|@[\w-]{1,30}"
    r"|(?:(?:hey|hi|hello|dear)(?: (?!please|rem|forg|can|could|don|i\b)[a-z0-9-]{1,20})?"
    r"|good (?:morning|evening|afternoon)|ok(?:ay)?|oh|so|and|also|well|yes|yeah|sure|great"
    r"|thanks|thank you|btw|by the way|one more thing|from now on|actually|now|please|pls)\b"
    r"|(?-i:(?!Rem|Forg|Mem|Del|Rem|Don|Nev|Keep|Bear|Save)[A-Z])[\w-]{0,19}(?=, )"
    r"|你好|您好|哈啰|嗨|嘿|欸|诶|喂|早安|午安|晚安|好的|好|对了|另外|还有|那么|那|然后|顺便一提|顺便"
    r"|谢谢你?|从现在开始|以后|[^\W\d我你妳您他她了吗的是在有记忘]{1,6}(?=[，,！!])"
    r")(?:[\s,，.。!！、:：~～—-]{1,10}|(?=[^\s\x00-\x7f]))",
    re.IGNORECASE,
)
_MAX_OPENINGS = 5
_OPENING_CHARS = 80

_POLITE = (
    r"(?:(?P<asking>(?:can|could|would|will) you )|i(?: want|['’]d like| would like| need) you to "
    r"|you (?:should|must|may|can|(?:have|need) to) |(?P<please>please |pls |kindly )"
    r"|(?:always|also|just|maybe) ){0,4}"
)
_COLON = r"[ \t]*[:：,，—–-]*\s*"
_THAT = (
    r"\b(?:\s+for me)?(?P<that>\s+that(?=[\s:,])"
    r"|\s+(?:this|these|something|the following)\b[\w ]{0,20}(?=[:：])"
    rf"|\s*(?=[:：,])|)(?!['’-]){_COLON}"
)
_MEMORY = r"(?:in|to|into|from) (?:your |the |my )?(?:long[- ]term )?memory"
_KEEPING = (
    r"(?:(?:remember|memori[sz]e)(?! (?:when|me|(?:the|that) time|what (?:i|we|you|he|she|they))\b)"
    r"|(?:don['’]?t|do not|never)(?: you)?(?: ever)? forget"
    r"|(?:keep|bear)(?: this| that| it)? in mind"
    rf"|(?:save|store|add|put|write|commit|keep)(?: this| that| it)? {_MEMORY}"
    r"|(?:make|take) (?:a )?(?:mental )?note(?: of)?|(?:note|jot|write)(?: this| that)? down)"
    r"(?:\s+to(?=\s))?"
)
_DROPPING = (
    r"(?:forget(?!\s+to\b)(?:\s+what i (?:said|told you|wrote)(?= about)"
    r"|\s+(?:that )?i (?:ever )?(?:mentioned|said anything(?= about)|told you(?= about))"
    r"|\s+(?:everything|all|anything)(?: (?:that )?(?:you know|i (?:said|told you)))?"
    r"(?= about (?!(?:me|us|it|that|this)\b)))?(?:\s+about(?=\s))?"
    r"|(?:delete|remove|erase) (?:everything|all|anything)(?: that)? you (?:know|remember) about"
    r"|(?:delete|remove|erase|drop|clear)(?: the| my| that| your| all| any)? memor(?:y|ies)"
    r"(?: (?:about|of|on|for|regarding|with))?|stop remembering|no longer remember"
    r"|don['’]?t remember(?= that)|no need to remember"
    r"|(?:you )?(?:don['’]?t|do not) (?:need|have) to remember)"
)
_TAKING = (
    rf"(?:delete|remove|erase|drop|clear)\s+(?P<content>\S.{{0,500}}?)\s{{1,4}}{_MEMORY}"
    r"(?=\W{0,9}(?:please|thanks|thank you)?\W{0,9}\Z)"
)

_HAN_POLITE = (
    r"(?:(?P<asking>可不可以|能不能|能否|可否|可以|能)|(?:请|麻烦|拜托)[你妳您]?|务必|千万|一定要?|帮我|帮忙|给我"
    r"|[你妳您](?:要|得|需要|必须|可以|能|给我|帮我|一定要?|先|请|就)|[你妳您](?!记得|忘)"
    r"|我(?:想要?|要|希望|需要)[你妳您]"
    r"|要|先|也|就)"
)
_HAN_THAT = (
    r"(?:一下|下来|起来|来|了)?(?:(?:这[件个]?事情?|这一?点|这些?|以下(?:内容|事项|资讯|几点)?"
    rf"|下面的?(?:事|内容)?)?[\s：:，,、]+)?{_COLON}"
)
_HAN_MEMORY = r"(?:你的|长期)?记忆(?:里面?|中)?"
_HAN_KEEPING = (
    r"(?:记住|记录(?=一下|下来|[：:])|记得(?!上次|去年|以前|小时候|那时|那次|那天|当时|我们?(?:以前|曾))|记[下着好]|记一下|牢记|谨记"
    rf"|写下来?|(?:别|不要|不能|不可以|勿)再?忘[记了掉]?|[存加记写放][到入进]{_HAN_MEMORY})"
)
# "忘記帶鑰匙了" tells of something forgotten.
_HAN_STORY = (
    "带|拿|买|关|锁|吃|去|打|跟|告诉|缴|付|充|写|做|设|说|问|回|寄|存|要|怎么|什么|密码|帐号|账号"
)
_HAN_DROPPING = (
    rf"(?:忘掉|忘却|(?P<story>忘记)(?!{_HAN_STORY})"
    r"|(?P<over>(?:我?不(?:用|要|必|需要?)[你妳您]?|别)再?(?:帮我)?记[得住着]?)"
    r"|(?:删[掉除]|移除|清除)记忆(?=[：:]))"
)
_HAN_DELETING = (
    r"(?:删[掉除]|移除|清[除掉]|抹[掉除])(?:你|掉)?(?:记忆[中里]的?)?(?:关于|有关|对于?)?"
    r"(?P<content>.{1,500}?)(?:的(?:那[个条笔段])?(?:记忆|回忆)|这[个条笔段]记忆|(?<=所有|全部)记忆)"
)
_HAN_TAKING_IN = (
    rf"把(?P<content>.{{1,2000}}?)(?:都|给)?(?:记[住下好起]|写下|[存加记写放][到入进]{_HAN_MEMORY})"
)
_HAN_TAKING_OUT = (
    r"把(?:关于|有关)?(?P<content>.{1,500}?)(?:的(?:事情?|记忆))?(?:都|全部?|给)?"
    rf"(?:忘[掉了记]|从{_HAN_MEMORY}(?:删[掉除]|移除|清除))"
)

_STORY_END = re.compile(r"了\W{0,9}\Z")
_SENTENCE_STOPS = ".!。！\n"
_QUESTION = re.compile(
    r"(?:[?？]|吗|呢|什么|谁|哪里|哪|多少|怎么样?|几[个点岁号])\W{0,9}\Z", re.IGNORECASE
)
_POLITE_END = re.compile(
    r"(?:[\s,，、]+(?:(?:please|pls) and thank you|please|pls"
    r"|thanks(?: a lot| so much)?|thank you(?: (?:so|very) much)?|thx)"
    r"|[,，]\s*(?:ok(?:ay)?|alright|will you|would you|could you|can you)"
    r"|[\s,，、。]*(?:谢谢[你您妳]?|感谢|多谢|感恩|拜托[你您]?了?|麻烦[你您]?了?|好吗|好不好|可以吗|行吗)"
    r"|(?<![酒网贴水冰迷])吧|[喔哦唷啰呦噢])\Z",
    re.IGNORECASE,
)
_MAX_ENDING = 40
_MAX_ENDINGS = 5
_STOPS = " \t\r\n.。!！?？~～…,，;；"
_ABBREVIATION = re.compile(r"(?:\b[A-Za-z](?:\.[A-Za-z])+|\b(?:etc|Jr|Sr|Inc|Ltd|Co|Corp|St|Dr))\Z")
_NOTHING = re.compile(
    r"(?:(?:about )?(?:it(?: all)?|that|this|them|these|those|me|you|us|him|her|everyone|the above"
    r"|what i (?:just )?(?:said|wrote)|i (?:ever )?(?:said|mentioned|asked)(?: \w{1,20})?"
    r"|(?:that|this) for (?:me|later)|[他她它我你妳您]们?"
    r"|[这那](?:[个些件点]|[件个]?事情?|一?点)?|我?刚[刚才]?[说讲]?的?(?:话|那个|那件事|事)?|算|掉|了|啦)(?:[,，.。!！]|\Z)"
    r"|(?:(?:all|any|the|your|my|of) ){0,3}(?:previous|prior|above|earlier|preceding)\b)",
    re.IGNORECASE,
)
_NOTHING_CHARS = 80


_HEAD_CHARS = 150
"""Within so many characters a wish says what it is."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """A way to ask, which has one of the words `any_of` in its head, and how far it may reach."""

    action: Action
    pattern: str
    any_of: tuple[str, ...]
    reach: int = _HEAD_CHARS

    def match(self, plain: str) -> re.Match[str] | None:
        """Match the beginning of a text in Simplified characters."""
        if not _has_any(plain[:_HEAD_CHARS], self.any_of):
            return None
        match = _compiled(self.pattern).match(plain[: self.reach])
        is_story = match and match.groupdict().get("story") and _STORY_END.search(plain[-10:])
        return None if is_story else match


_TAKING_WORDS = ("delete", "remove", "erase", "drop", "clear")
_DROPPING_WORDS = ("forget", "remember", *_TAKING_WORDS)
_KEEPING_WORDS = ("remember", "memor", "forget", "mind", "note", "down")
_WISHES = (
    _Wish("forget", rf"{_POLITE}{_TAKING}", _TAKING_WORDS, reach=700),
    _Wish("forget", rf"{_POLITE}{_DROPPING}{_THAT}", _DROPPING_WORDS),
    _Wish("remember", rf"{_POLITE}{_KEEPING}{_THAT}", _KEEPING_WORDS),
)
_HAN_WISHES = (
    _Wish("forget", rf"{_HAN_POLITE}{{0,5}}{_HAN_DELETING}", (*"删移清抹",), reach=700),
    _Wish("forget", rf"{_HAN_POLITE}{{0,5}}{_HAN_TAKING_OUT}", ("把",), reach=700),
    _Wish("forget", rf"{_HAN_POLITE}{{0,5}}{_HAN_DROPPING}{_HAN_THAT}", (*"忘记",)),
    _Wish("forget", rf"{_HAN_POLITE}{{1,5}}忘[了记]{_HAN_THAT}", ("忘",)),
    _Wish("remember", rf"{_HAN_POLITE}{{0,5}}{_HAN_TAKING_IN}{_HAN_THAT}", ("把",), reach=2_200),
    _Wish("remember", rf"{_HAN_POLITE}{{0,5}}{_HAN_KEEPING}{_HAN_THAT}", (*"记写忘",)),
    _Wish("remember", rf"{_HAN_POLITE}{{1,5}}记录?(?![不得忆]){_HAN_THAT}", ("记",)),
)
_WISHING_WORDS = {word for wish in (*_WISHES, *_HAN_WISHES) for word in wish.any_of}

# Words without which a fact is still the one that is meant.
_GRAMMAR = """
    a an the my your his her our their i you we he she they me us him them it its mine yours is are
    was were be am been being do does did has have had of in on at to for with about and or that
    this these those s t m re ve ll d user users everything all anything something every thing
    things memory memories remember know knows known tell told say said fact facts
    """
_FUNCTION_WORDS = frozenset(terms(_GRAMMAR))
_FUNCTION_CHARS = re.compile(
    "使用者|用户|所有|一切|全部|事情|关于|记忆|任何|东西|[我你妳您他她它们的了是在和跟与及也都就这那个说过事]+"
)
_NAMING = re.compile(r"\b(?:nick)?(?:called|named|names?)\b|叫做?|名字|称呼|取名")
_PERSONS = (("my", "user's"), ("我", "使用者"), ("我", "用户"))
_NAME = {*terms("name")}
_OWN_NAME = re.compile(r"(?:my|user(?:'s)?|i am|i'm|我的?|使用者的?|用户的?)?\s*name\b")
_HAN_RUN = re.compile("[\u3400-\u9fff]+")
_LATIN_RUN = re.compile("[a-z0-9]+")
_NOT_WORD = re.compile(r"[\W_]+")


def request_in(text: str) -> Request | None:
    """Give the wish that a user's message begins with, if it begins with one."""
    plain = simplify(text)
    start = _after_opening(plain)
    told = plain[start:]
    for wish in _WISHES if told[:1].isascii() else _HAN_WISHES:
        if match := wish.match(told):
            is_misread = _is_misread(text, match)
            content = "" if is_misread else _content(text[start:], wish.action, match)
            return Request(wish.action, content) if content else None
    return None


def may_ask(plain: str) -> bool:
    """Whether a text in Simplified characters has a word in its head that wishes are made of."""
    return _has_any(plain[:_HEAD_CHARS], _WISHING_WORDS)


def meant(wanted: str, memories: Sequence[Memory]) -> list[Memory]:
    """Give the facts that somebody wants forgotten: those that say it, else those about it."""
    wish = _prepare_wish(fold(wanted))
    facts = [(memory, fold(memory.content)) for memory in memories]
    same = [memory for memory, folded in facts if _bare(folded) == wish.bare]
    if same or not (wish.words or wish.runs):
        return same
    literal = [memory for memory, folded in facts if _holds(folded, wish.spoken)]
    return literal or [memory for memory, folded in facts if _is_about(folded, wish)]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What somebody wants forgotten, in the forms in which facts are compared with it."""

    bare: str
    spoken: tuple[str, ...]
    words: frozenset[str]
    runs: tuple[str, ...]


@lru_cache(maxsize=16)
def _prepare_wish(folded: str) -> _Wanted:
    spoken = tuple(map(_mark_words, _spoken(folded)))
    return _Wanted(
        _bare(folded), spoken, frozenset(_words(folded)), (*dict.fromkeys(_runs(folded)),)
    )


def _has_any(plain: str, words: Iterable[str]) -> bool:
    lower = plain.lower()
    return any(word in lower for word in words)


def _is_misread(text: str, match: re.Match[str]) -> bool:
    """Whether it is Japanese that only looks like a wish in Chinese: 要記入の書類があります."""
    wish = match[0]
    return not (wish[:1].isascii() or has_chinese_words(wish)) and is_japanese(text)


@cache
def _compiled(wish: str) -> re.Pattern[str]:
    return re.compile(wish, re.IGNORECASE | re.DOTALL)


def _after_opening(plain: str) -> int:
    place = len(plain) - len(plain.lstrip())
    for _ in range(_MAX_OPENINGS):
        if not (match := _OPENING.match(plain[place : place + _OPENING_CHARS])):
            break
        place += match.end()
    return place


def _content(text: str, action: Action, match: re.Match[str]) -> str:
    groups = match.groupdict()
    rest = _told(text[match.end() :], is_asked=_is_asked(action, groups))
    if groups.get("over"):
        return rest.removesuffix("了")
    if not groups.get("content"):
        return rest
    start, end = match.span("content")
    named = _named(_trimmed(text[start:end]))
    return "，".join(filter(None, (named, rest)))


def _is_asked(action: Action, groups: Mapping[str, str | None]) -> bool:
    """Tell whether a question is a wish: "can you remember that …?", not "… my name?"."""
    is_clear = action == "forget" or "that" not in groups or groups["that"] or groups["please"]
    return bool(groups["asking"] and is_clear)


def _told(text: str, *, is_asked: bool) -> str:
    """Give what is told, without the question behind it; nothing when all of it is a question."""
    told = _trimmed(text)
    if _is_question(told if _polite_end(text.rstrip(_STOPS)) else text):
        if is_asked:
            return _named(told.removesuffix("嗎").removesuffix("吗"))
        for _ in range(_MAX_ENDINGS):
            if not _is_question(text):
                break
            text = _without_last_sentence(text)
        told = "" if _is_question(text) else _trimmed(text)
    return _named(told)


def _without_last_sentence(text: str) -> str:
    bare = text.rstrip()
    end = max(bare.rfind(stop, 0, len(bare) - 1) for stop in _SENTENCE_STOPS)
    return text[: end + 1]


def _is_question(text: str) -> bool:
    return _QUESTION.search(simplify(text[-_MAX_ENDING:])) is not None


def _trimmed(text: str) -> str:
    for _ in range(_MAX_ENDINGS):
        text = _without_stops(text)
        if not (polite := _polite_end(text)):
            break
        text = text[:-polite]
    return _unquoted(text.strip())


def _polite_end(text: str) -> int:
    """Count the characters of the last "please" or 好嗎."""
    polite = _POLITE_END.search(simplify(text[-_MAX_ENDING:]))
    return len(polite[0]) if polite else 0


def _without_stops(text: str) -> str:
    bare = text.rstrip(_STOPS)
    is_short = text[len(bare) :].startswith(".") and _ABBREVIATION.search(bare)
    return f"{bare}." if is_short else bare


def _unquoted(text: str) -> str:
    if text[:1] + text[-1:] in {'""', "''", "“”", "‘’", "「」", "『』"}:
        return text[1:-1].strip()
    return text


def _named(text: str) -> str:
    """Give what is named; a mere "it" names nothing."""
    return "" if _NOTHING.match(simplify(text[:_NOTHING_CHARS])) else text


def _bare(folded: str) -> str:
    return _NOT_WORD.sub("", folded)


def _spoken(folded: str) -> Iterator[str]:
    """Give what the fact may say literally, told by the user or about the user."""
    text = folded.strip()
    yield text
    for person, name in _PERSONS:
        if text.startswith(person):
            yield name + text.removeprefix(person)


def _mark_words(folded: str) -> str:
    """Mark where words in Latin letters begin and end, so that only whole ones are found."""
    return _LATIN_RUN.sub("\x01\\g<0>\x02", folded)


def _holds(folded: str, spoken: Sequence[str]) -> bool:
    marked = _mark_words(folded)
    return any(wanted in marked for wanted in spoken)


def _is_about(folded: str, wanted: _Wanted) -> bool:
    """Tell whether a fact holds every word that says something of what is wanted."""
    if wanted.words == _NAME and not wanted.runs:
        return _OWN_NAME.match(_NAMING.sub(" name ", folded)) is not None
    return wanted.words <= _words(folded) and _covers(folded, wanted.runs)


def _words(folded: str) -> set[str]:
    return {*terms(_HAN_RUN.sub(" ", _NAMING.sub(" name ", folded)))} - _FUNCTION_WORDS


def _runs(folded: str) -> list[str]:
    runs = _HAN_RUN.findall(_NAMING.sub(" ", folded))
    return [part for run in runs for part in _FUNCTION_CHARS.split(run) if part]


def _covers(folded: str, runs: Sequence[str]) -> bool:
    """Whether each character of the runs stands in a fact beside one of its neighbours."""
    if not runs:
        return True
    fact = f"{folded} {_FUNCTION_CHARS.sub('', folded)}"
    if max(map(len, runs)) > len(fact):
        return False
    known = {*_pairs(fact)}
    return all(_is_covered(run, known) if len(run) > 1 else run in fact for run in runs)


def _is_covered(run: str, known: set[str]) -> bool:
    pairs = [pair in known for pair in _pairs(run)]
    return all(map(or_, [False, *pairs], [*pairs, False]))


def _pairs(text: str) -> Iterator[str]:
    return map(add, text, text[1:])
