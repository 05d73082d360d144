"""English words inside a Chinese clause, as people mix the two: what they say in Chinese.

Only words that build a clause or name what rules ask for are put into Chinese; the rest of a clause
stays as it was said. A word with a capital is a name, unless it begins the clause.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turnleaf.core.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Iterable


def _glossary(table: str) -> dict[str, str]:
    lines = (line.split(":") for line in simplify(table).strip("\n").splitlines())
    return {
        word.replace("_", " "): meaning.strip()
        for meaning, words in lines
        for word in words.split()
    }


_VERBS = _glossary(r"""
    我: i
    我是: i'm i_am
    我們: we
    我的: my
    我們的: our
    叫: called named is_called is_named
    叫我: call_me
    有: have has
    戒: quit
    不: not don't doesn't dont
    不能: can't cannot
    喜歡: like likes enjoy enjoys
    愛: love loves
    討厭: hate hates dislike dislikes
    偏好: prefer prefers
    最喜歡的: favorite favourite
    吃: eat eats
    喝: drink drinks
    用: use uses using
    講: speak speaks
    煮飯: cook cooking
    住在: live_in lives_in based_in base_in
    住: base
    來自: from
    搬到: moved_to move_to move_到 moved_到
    改用: switched_to switch_to switch_到 switched_到
    學: learn learning
    通常: usually normally mostly
    總是: always
    從不: never
    只: only
    真的: really
    每天: every_day everyday daily
    每: every
    週一: monday mondays
    週二: tuesday tuesdays
    週三: wednesday wednesdays
    週四: thursday thursdays
    週五: friday fridays
    週六: saturday saturdays
    週日: sunday sundays
    今天: today tonight
    這週: this_week this_weekend this_month this_morning
    下週: next_week next_month next_year
    上週: last_week last_month last_night
    去年: last_year
    明天: tomorrow
    昨天: yesterday
    以前: used_to
    現在: now currently
    其實: actually
    如果: if unless
    假裝: pretend imagine
    也許: maybe perhaps probably might
    我想: think guess suppose wish
    想要: want want_to wanna would will gonna going_to should could plan_to
    說我: said says
    什麼: what where which who how why
    密碼: password passcode
    它: it
    這: this these
    那: that those
    這個: the_first the_second the_last the_other the_one the_new
    你: you your
    : a an the
""")
_NOUNS = _glossary(r"""
    名字: name
    英文名字: english_name
    綽號: nickname
    粉絲: fan fans
    平日: weekday weekdays
    週末: weekend weekends
    早上: morning mornings
    晚上: night nights evening evenings
    早餐: breakfast
    午餐: lunch
    晚餐: dinner
    生日: birthday
    寫程式: coding
    團隊: team
    公司: company
    辦公室: office
    學校: school
    專案: project
    後端: backend
    前端: frontend
    客廳: living_room
    臥室: bedroom
    廚房: kitchen
    燈: lamp light lights
    冷氣: ac aircon air_con
""")
_CAPITALS = re.compile(r"(?:I\b|AC\b|English name|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b)")


def _any_of(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_GLOSSARY = _VERBS | _NOUNS
_WORD = re.compile(
    rf"(?<![a-z0-9'-])(?:(?:{_any_of(_VERBS)})(?![a-z0-9'-])"
    rf"|(?:{_any_of(_NOUNS)})"
    r"(?![a-z0-9'-]| (?!(?:is|are|lamp|lights?|ac)(?![a-z]))[a-z]))",
    re.IGNORECASE,
)
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile("[a-z]", re.IGNORECASE)
_BE = "(?:'m|'s|'re| am| is| are)?"
_NOUN = "(?:an?|the|my|from|not|vegan|vegetarian)(?![a-z])"
_FRAMES = tuple(
    (
        re.compile(pattern.replace("<be>", _BE).replace("<noun>", _NOUN), re.IGNORECASE),
        simplify(chinese),
    )
    for pattern, chinese in (
        (r"<be> ?(?<![a-z])allergic (?:to )?([^,]{1,40})", r"對\1過敏"),
        (r"<be> ?(?<![a-z])work(?:s|ing)? (?:at|for|in) ([^,]{1,30})", r"在\1工作"),
        (r"(?<![a-z])(?:is|are|am)(?= ?[\u3400-\u9fff]| (?-i:[A-Z0-9])| <noun>)", "是"),
        (r"(?<=[a-z])(?<!he)(?<!it)(?<!hat)(?<!let)'s(?= )", "的"),
    )
)


def glossed(clause: str) -> str:
    """Put the English words that build a clause into Chinese, if the clause is in both."""
    if not (_HAN.search(clause) and _LATIN.search(clause)):
        return clause
    for pattern, chinese in _FRAMES:
        clause = pattern.sub(chinese, clause)
    return _WORD.sub(_meaning, clause)


def _meaning(word: re.Match[str]) -> str:
    is_name = word[0][0].isupper() and word.start() > 0 and not _CAPITALS.match(word[0])
    # Where case does not matter, letters such as "ı" count as ASCII ones.
    return word[0] if is_name else _GLOSSARY.get(word[0].lower(), word[0])
