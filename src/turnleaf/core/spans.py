"""The days that a question speaks of: "last week", 上週三, "in March 2026", 三天前.

A month or day without a year is the latest one that is not in the future; weeks run from Monday to
Sunday. What lies ahead ("tomorrow", 下週) and what comes again ("on Mondays", 每週三) is no span,
and neither is a season, which depends on where one lives. The parts of a month have ten days.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from turnleaf.core.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_Days: TypeAlias = tuple[date, date]
_Resolver: TypeAlias = "Callable[[re.Match[str], date], _Days | None]"
_MAX_CHARS = 2_000
_MAX_YEARS = 8
_FEW = 7
_NEAR = 40


@dataclass(frozen=True, slots=True)
class Span:
    """The days from the first to the last; `rest` is the text without the words for them."""

    first: date
    last: date
    rest: str


@dataclass(frozen=True, slots=True)
class _Found:
    """Words for a time, where they stand; words for no time in the past have no days."""

    start: int
    end: int
    days: _Days | None
    is_weekday: bool = False


_COUNTS = "a one two three four five six seven eight nine ten eleven twelve"
_NUMBERS = {word: max(number, 1) for number, word in enumerate(_COUNTS.split())}
_NUMBERS |= {"an": 1, "couple": 2}
_HAN_DIGITS = {char: number for number, char in enumerate("零一二三四五六七八九")} | {
    "〇": 0,
    "两": 2,
}
_VAGUE = frozenset({"few", "several", "几", "数"})
_UNITS = {"天": "day", "日": "day", "周": "week", "月": "month", "年": "year"}
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_HAN_WEEKDAYS = {char: number for number, char in enumerate("一二三四五六日")} | {"天": 6}
_COUNT_BACK = {
    **dict.fromkeys(("last", "previous", "past", "上", "上个"), 1),
    **dict.fromkeys(("this", "current", "the", "这", "这个", "本", "当", ""), 0),
    **dict.fromkeys(("before last", "上上", "上上个"), 2),
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_ALSO_VERBS = frozenset({"mar", "march", "may"})
_DAYS_AGO = {
    **dict.fromkeys(("today", "tonight", "this morning", "this afternoon", "this evening"), 0),
    **dict.fromkeys(("yesterday", "last night"), 1),
    **dict.fromkeys(("今天", "今日", "今早", "今晨", "今晚"), 0),
    **dict.fromkeys(("昨天", "昨日", "昨早", "昨晚", "昨夜"), 1),
    **dict.fromkeys(("the day before yesterday", "前天", "前日", "前晚"), 2),
    "大前天": 3,
}
_YEARS_BACK = {"last year": 1, "this year": 0, "去": 1, "前": 2, "今": 0, "本": 0}
_PLACES = {
    name: place
    for place, names in enumerate(
        ("first 1st 一", "second 2nd 二", "third 3rd 三", "fourth 4th 四")
    )
    for name in names.split()
}
_LAST = frozenset({"last", "final", "最后", "最后一"})
_PARTS = {
    **dict.fromkeys(("early", "上旬", "初"), 0),
    **dict.fromkeys(("mid", "中旬"), 1),
    **dict.fromkeys(("late", "下旬", "底", "末"), 2),
}
_FRACTIONS = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16})

_NUMBER = rf"(?:a )?(?P<n>\d{{1,4}}|{'|'.join(_NUMBERS)}|few|several)(?: of)?"
_UNIT = "(?P<unit>day|week|month|year)s?"
_FULL_WEEKDAY = "(?P<weekday>mon|tues|wednes|thurs|fri|satur|sun)day"
_WEEKDAY = (
    "(?P<weekday>(?:mon|tues|wednes|thurs|fri|satur|sun)(?=day)"
    "|(?-i:Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)(?![a-z]))(?:day)?"
)
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_YEAR = r"(?:,? ?(?:of )?(?P<year>(?:19|20)\d\d(?!\d)|last year|this year))"
_ORDINAL = r"(?P<day>\d{1,2})(?P<suffix>st|nd|rd|th)?"
_HAN_NUMBER = "[〇零一二两三四五六七八九十]{1,4}"
_HAN_COUNT = rf"(?P<n>\d{{1,4}}|{_HAN_NUMBER}|几|数) ?个?(?P<unit>天|日|周|星期|礼拜|年|(?<=个)月)"
_HAN_WEEK = "(?:周|星期|礼拜)"
_HAN_YEAR = (
    r"(?:(?P<year>(?:19|20)\d\d|[一二][〇零一二三四五六七八九]{3}|民国 ?\d{2,3}) ?年"
    r"|(?P<relative>[去前今本])年)的?"
)
_HAN_MONTH = rf"(?P<month>\d{{1,2}}|{_HAN_NUMBER}) ?月(?![天球饼亮])份?"
_HAN_DAY = rf"(?P<day>\d{{1,2}}|{_HAN_NUMBER}) ?[日号]"

_SINCE = re.compile(r"(?<![A-Za-z])(?:since|after)\s+(?:the\s+)?\Z", re.IGNORECASE)
_HAN_SINCE = re.compile("以来|至今|到现在|到今天")
_UNTIL = re.compile(
    r"(?<![A-Za-z])(?:before|until|till|by|prior to)\s+(?:the\s+)?\Z", re.IGNORECASE
)
_HAN_UNTIL = re.compile("[以之]?前(?![天日年晚几])")
_LINK = re.compile(
    r"\s*(?:(?:to|till|until|through|and)\b|[-–~～]|到|至|和|跟)\s*(?:(?:on|the)\s+)?",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"(?:(?:(?<=\s)|\A)(?:in|on|from|between|during|over|since|after|within|of|for|at)\s+)?"
    r"(?:(?:(?<=\s)|\A)the\s+)?\Z|[在从于]\Z",
    re.IGNORECASE,
)
_TRAILING = re.compile("(?:以来|至今|到现在|到今天|期间|[里内中间初底])?的?(?:时候?)?")
_GAP = re.compile(r"[\s,，、]{1,20}(?=[,.;:?!，。；：？！])|\s{2,}")
_EDGES = " \t\r\n,，.。;；:：、"


def span_in(text: str, today: date) -> Span | None:
    """Give the days that a text speaks of, or nothing; the shortest time wins."""
    found = [*_joined(text, [each for each in _all(text, today) if each.days])]
    if not found:
        return None
    spans = _weekdays_in_weeks(found) or [each.days for each in found if each.days]
    first, last = min(spans, key=lambda days: days[1] - days[0])
    return Span(first, last, _rest(text, found))


def _all(text: str, today: date) -> list[_Found]:
    """Find the words for times, longer ones first, in the order in which they stand."""
    plain = simplify(text[:_MAX_CHARS])
    found: list[_Found] = []
    taken = bytearray(len(plain))
    for pattern, days_of in _NUMBERED + _WORDED + (() if plain.isascii() else _HAN_WORDED):
        for match in _compiled(pattern).finditer(plain):
            start, end = match.span()
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                days = _opened(plain, start, end, _days(days_of, match, today), today)
                found.append(_Found(start, end, days, days_of is _on_weekday))
    return sorted(found, key=lambda each: each.start)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern when it is first needed; no English word is a part of a longer one."""
    start, end = r"(?:(?<![A-Za-z0-9])|(?![\x00-\x7f]))", r"(?:(?![A-Za-z0-9])|(?<![\x00-\x7f]))"
    return re.compile(rf"{start}(?:{pattern}){end}", re.IGNORECASE)


def _days(days_of: _Resolver, match: re.Match[str], today: date) -> _Days | None:
    try:
        return days_of(match, today)
    except (ValueError, OverflowError):
        return None


def _opened(text: str, start: int, end: int, days: _Days | None, today: date) -> _Days | None:
    """Stretch "since Monday" to this day, and give nothing for "before Monday"."""
    before = max(0, start - _NEAR)
    if (
        days is None
        or _UNTIL.search(text, before, start)
        or _HAN_UNTIL.match(text, end, end + _NEAR)
    ):
        return None
    if _SINCE.search(text, before, start) or _HAN_SINCE.match(text, end, end + _NEAR):
        return days[0], max(days[1], today)
    return days


def _joined(text: str, found: list[_Found]) -> Iterator[_Found]:
    """Join two times with "to" between them into one."""
    while found:
        first, *found = found
        if found and (both := _range(text, first, found[0])):
            first, *found = both, *found[1:]
        yield first


def _range(text: str, one: _Found, other: _Found) -> _Found | None:
    if not one.days or not other.days or not _LINK.match(text[one.end : other.end]):
        return None
    first, last = one.days[0], other.days[1]
    if last < first and other.is_weekday:
        first -= timedelta(weeks=1)
    return _Found(one.start, other.end, (min(first, last), max(first, last)))


def _weekdays_in_weeks(found: list[_Found]) -> list[_Days]:
    """Give the days that are named together with their week: "on Tuesday last week"."""
    days = [each.days[0].weekday() for each in found if each.days and each.is_weekday]
    weeks = [each.days[0] for each in found if each.days and _is_week(each.days)]
    return [_day(week + timedelta(days=day)) for day in days for week in weeks]


def _is_week(days: _Days) -> bool:
    return days[0].weekday() == 0 and days[1] - days[0] == timedelta(days=6)


def _rest(text: str, found: list[_Found]) -> str:
    plain = simplify(text)
    pieces: list[str] = []
    done = 0
    for each in found:
        leading = _LEADING.search(plain, done, each.start)
        trailing = _TRAILING.match(plain, each.end, each.end + _NEAR)
        pieces.append(text[done : leading.start() if leading else each.start])
        done = trailing.end() if trailing else each.end
    tidy = _GAP.sub(_narrowed, "".join((*pieces, text[done:])))
    return tidy.strip(_EDGES).removeprefix("的")


def _narrowed(gap: re.Match[str]) -> str:
    """Leave one space between words and nothing before a stop."""
    following = gap.string[gap.end() : gap.end() + 1]
    return "" if following in {*",.;:?!，。；：？！"} else " "


def _day(day: date) -> _Days:
    return day, day


def _week(day: date) -> _Days:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def _month(year: int, month: int) -> _Days:
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(days=1)


def _year(year: int) -> _Days:
    return date(year, 1, 1), date(year, 12, 31)


def month_before(day: date, count: int) -> _Days:
    """Return the first and the last day of the month that was so many months ago."""
    months = 12 * day.year + day.month - 1 - count
    return _month(months // 12, months % 12 + 1)


def _unit_before(today: date, unit: str, count: int) -> _Days:
    """Give the day, week, month or year that was so many of them ago."""
    if unit == "day":
        return _day(today - timedelta(days=count))
    if unit == "week":
        return _week(today - timedelta(weeks=count))
    return month_before(today, count) if unit == "month" else _year(today.year - count)


def read_number(text: str) -> int:
    """Read digits or numerals; what is no number raises ValueError."""
    if text.isdigit():
        return int(text)
    if text.lower() in _NUMBERS:
        return _NUMBERS[text.lower()]
    if "十" not in text:
        return int("".join(str(_HAN_DIGITS[char]) for char in text))
    tens, _, ones = text.partition("十")
    return 10 * _HAN_DIGITS.get(tens, 1) + _HAN_DIGITS.get(ones, 0)


def _unit(match: re.Match[str]) -> str:
    unit = match["unit"].lower()
    return {"星期": "week", "礼拜": "week"}.get(unit) or _UNITS.get(unit, unit)


def _nothing(match: re.Match[str], today: date) -> None:
    """Give no days for what lies ahead or comes again."""


def _days_ago(match: re.Match[str], today: date) -> _Days:
    return _day(today - timedelta(days=_DAYS_AGO[match[0].lower()]))


def _ago(match: re.Match[str], today: date) -> _Days:
    unit, number = _unit(match), match["n"].lower()
    if number not in _VAGUE:
        return _unit_before(today, unit, read_number(number))
    return _unit_before(today, unit, _FEW)[0], _unit_before(today, unit, 1)[1]


def _lately(match: re.Match[str], today: date) -> _Days:
    """Give the last so many days, weeks, months or years, and this day."""
    unit, number = _unit(match), match["n"].lower()
    count = _FEW if number in _VAGUE else read_number(number)
    if unit in {"day", "week"}:
        return today - timedelta(days=count * (7 if unit == "week" else 1)), today
    month = month_before(today, count * (12 if unit == "year" else 1))
    return min(month[0] + timedelta(days=today.day - 1), month[1]), today


def _recent_days(match: re.Match[str], today: date) -> _Days:  # noqa: ARG001
    return today - timedelta(days=_FEW), today


def _named_unit(match: re.Match[str], today: date) -> _Days:
    return _unit_before(today, _unit(match), _COUNT_BACK[match["which"].lower()])


def _weekend(match: re.Match[str], today: date) -> _Days:
    weeks = _COUNT_BACK[match["which"].lower()]
    if not weeks and today.weekday() < _WEEKDAYS.index("sat"):
        weeks = 1
    sunday = _week(today - timedelta(weeks=weeks))[1]
    return sunday - timedelta(days=1), sunday


def _on_weekday(match: re.Match[str], today: date) -> _Days:
    """Give the latest such day, this day included."""
    return _day(today - timedelta(days=(today.weekday() - _weekday(match)) % 7))


def _last_weekday(match: re.Match[str], today: date) -> _Days:
    return _day(today - timedelta(days=(today.weekday() - _weekday(match) - 1) % 7 + 1))


def _weekday_of_week(match: re.Match[str], today: date) -> _Days | None:
    weeks = _COUNT_BACK[match["which"].lower()]
    day = _week(today - timedelta(weeks=weeks))[0] + timedelta(days=_weekday(match))
    return _day(day) if day <= today else None


def _weekday(match: re.Match[str]) -> int:
    name = match["weekday"].lower()
    return _HAN_WEEKDAYS[name] if name in _HAN_WEEKDAYS else _WEEKDAYS.index(name[:3])


def _iso_date(match: re.Match[str], today: date) -> _Days:  # noqa: ARG001
    year, month = int(match["year"]), int(match["month"])
    return _day(date(year, month, int(match["day"]))) if match["day"] else _month(year, month)


def _slashed_date(match: re.Match[str], today: date) -> _Days | None:
    """Read month and day, or day and month where it can be nothing else; a fraction is no date."""
    month, day, year = int(match["month"]), int(match["day"]), match["year"]
    is_certain = match["on"] is not None or year is not None
    if not is_certain and (match.string.isascii() and day in _FRACTIONS):
        return None
    if is_certain and month > len(_MONTHS):
        month, day = day, month
    if year:
        return _day(date(int(year) % 100 + 2000 if len(year) == 2 else int(year), month, day))  # noqa: PLR2004
    return _latest_day(today, month, day)


def _named_date(match: re.Match[str], today: date) -> _Days | None:
    """Read a date whose month is a word; "may" and "march" are also verbs."""
    name = match["month"]
    is_certain = match["on"] or match["suffix"] or match["year"]
    if name in _ALSO_VERBS and not is_certain:
        return None
    return _date(match, today)


def _named_month(match: re.Match[str], today: date) -> _Days | None:
    name, which = match["month"], match["which"].lower()
    if name in _ALSO_VERBS and which not in {"", "in", "during"}:
        return None
    days = _date(match, today)
    is_now = days[1] >= today
    return _month(days[0].year - 1, days[0].month) if which == "last" and is_now else days


def _date(match: re.Match[str], today: date) -> _Days:
    """Read a month, perhaps its day and its year; without a year it is the latest."""
    groups = match.groupdict()
    month, year = _month_number(groups["month"] or ""), _stated_year(groups, today)
    day = read_number(groups["day"]) if groups.get("day") else None
    if day is None:
        return _month(year or today.year - (month > today.month), month)
    return _day(date(year, month, day)) if year else _latest_day(today, month, day)


def _week_of_month(match: re.Match[str], today: date) -> _Days | None:
    """Return seven days of a month, counted from its first or back from its last."""
    first, last = _stated_month(match, today)
    place = match["nth"].lower().removeprefix("第")
    if place in _LAST:
        return last - timedelta(days=6), last
    start = first + timedelta(weeks=_PLACES[place])
    return (start, min(start + timedelta(days=6), last)) if start <= last else None


def _part_of_month(match: re.Match[str], today: date) -> _Days:
    """Return the first ten days of a month, the second ten, or the rest."""
    first, last = _stated_month(match, today)
    part = _PARTS[match["part"].lower()]
    start = first + timedelta(days=10 * part)
    return start, last if part == max(_PARTS.values()) else start + timedelta(days=9)


def _stated_month(match: re.Match[str], today: date) -> _Days:
    which = match.groupdict().get("which")
    return month_before(today, _COUNT_BACK[which.lower()]) if which else _date(match, today)


def _date_of_month(match: re.Match[str], today: date) -> _Days:
    first, last = month_before(today, _COUNT_BACK[match["which"]])
    return _day(first.replace(day=read_number(match["day"]))) if match["day"] else (first, last)


def _whole_year(match: re.Match[str], today: date) -> _Days:
    return _year(_stated_year(match.groupdict(), today) or today.year)


def _month_number(text: str) -> int:
    name = text.lower()[:3]
    month = _MONTHS.index(name) + 1 if name in _MONTHS else read_number(text)
    return date(1, month, 1).month


def _stated_year(groups: Mapping[str, str | None], today: date) -> int | None:
    year = (groups.get("year") or groups.get("relative") or "").lower()
    if not year:
        return None
    if year in _YEARS_BACK:
        return today.year - _YEARS_BACK[year]
    if year.startswith("民国"):
        return 1911 + int(year.removeprefix("民国"))
    return read_number(year)


def _latest_day(today: date, month: int, day: int) -> _Days:
    """Give the latest such day that is not in the future; 29 February is not in every year."""
    for year in range(today.year, today.year - _MAX_YEARS - 1, -1):
        if day <= _month(year, month)[1].day and (found := date(year, month, day)) <= today:
            return _day(found)
    raise ValueError(day)


_AHEAD = (
    r"(?:next|every|each|coming|following|upcoming)\s+(?:other\s+|\d{1,3}\s+)?"
    rf"(?:days?|weeks?|weekend|months?|years?|{_FULL_WEEKDAY}|{_MONTH})"
)
_IN = r"(?P<which>(?<=since )|(?<=after )|(?:in|during|of|from|last|this)(?=\s))[\s-]*"
_ISO = (
    r"(?<![\d./-])(?P<year>(?:19|20)\d\d)(?P<sep>[-/.])(?P<month>\d{1,2})"
    r"(?:(?P=sep)(?P<day>\d{1,2})|(?<!\.\d)(?<!\.\d\d))(?![\d/]|[-.:]\d)"
)
_SLASHED = (
    r"(?P<on>(?:on|from|dated)\s+|(?<=since )|(?<=after ))?(?<![\d/.,-])"
    r"(?P<month>\d{1,2})[/／](?P<day>\d{1,2})(?:[/／](?P<year>\d{4}|\d{2}))?(?![\d/／]|[.-]\d)"
)
_NOT_AFTER = r"(?<![\d一二三四五六七八九十个两])"
_WEEKDAY_END = r"(?=\s*(?:[,.;?!，。？！]|\Z|(?:of )?(?:last|this) week))"
_WEEK_OF = rf"(?P<nth>last|final|{'|'.join(filter(str.isascii, _PLACES))})\s+week\s+(?:of|in)\s+"
_HAN_NTH = f"的?(?P<nth>最后一?|第[一二三四])个?{_HAN_WEEK}(?![一二三四五六日天末])"
_HAN_THAT_MONTH = "(?P<which>上上个?|上个?|这个?|本)月"
_WORDED: tuple[tuple[str, _Resolver], ...] = (
    (_AHEAD, _nothing),
    (rf"{_WEEK_OF}{_MONTH}{_YEAR}?", _week_of_month),
    (rf"{_WEEK_OF}(?P<which>last|previous|this)\s+month", _week_of_month),
    (rf"(?P<part>early|mid|late)[\s-]+(?:in\s+)?{_MONTH}{_YEAR}?", _part_of_month),
    (r"(?:the\s+)?(?:day\s+after\s+)?tomorrow", _nothing),
    (rf"{_NUMBER}\s+{_UNIT}\s+ago(?: today)?", _ago),
    ("|".join(sorted(filter(str.isascii, _DAYS_AGO), key=len, reverse=True)), _days_ago),
    ("the other day", _recent_days),
    (rf"(?:last|past)\s+{_NUMBER}\s+{_UNIT}", _lately),
    (r"(?P<unit>week|month|year)\s+(?P<which>before last)", _named_unit),
    (r"(?P<which>last|past|previous|this|the)\s+weekend", _weekend),
    (rf"(?P<on>on\s+)?{_MONTH}\s+(?:the\s+)?{_ORDINAL}(?!\d){_YEAR}?", _named_date),
    (rf"(?P<on>on\s+)?(?:the\s+)?{_ORDINAL}\s+(?:of\s+)?{_MONTH}{_YEAR}?", _named_date),
    (rf"(?P<which>){_MONTH}{_YEAR}", _named_month),
    (rf"{_IN}{_MONTH}{_YEAR}?", _named_month),
    (r"(?P<which>last|previous|this|current)\s+(?P<unit>week|month|year)", _named_unit),
    (rf"(?:last|(?:this\s+)?past)\s+{_WEEKDAY}", _last_weekday),
    (rf"(?P<which>this)\s+{_WEEKDAY}", _weekday_of_week),
    (rf"(?:(?<=since )|(?<=after )|(?:on|from|between)\s+){_WEEKDAY}", _on_weekday),
    (rf"(?<=day )(?:to|till|until|through|and)\s+{_FULL_WEEKDAY}", _on_weekday),
    (rf"{_FULL_WEEKDAY}{_WEEKDAY_END}", _on_weekday),
    (r"(?:(?<=since )|(?:in|during)\s+)(?P<year>(?:19|20)\d\d)(?![-:/.]\d)", _whole_year),
)
_HAN_WORDED: tuple[tuple[str, _Resolver], ...] = (
    (rf"(?:下下?个?|每个?){_HAN_WEEK}[一二三四五六日天末]?", _nothing),
    (rf"(?:下下?个?|每个?)月(?:的?{_HAN_DAY})?|每[天日]|大?后天|明[天日早晚]", _nothing),
    (rf"[每明后]年(?:{_HAN_MONTH}(?:{_HAN_DAY})?)?", _nothing),
    ("|".join(name for name in _DAYS_AGO if not name.isascii()), _days_ago),
    ("[这前]几天|最近几天", _recent_days),
    (rf"{_HAN_THAT_MONTH}{_HAN_NTH}", _week_of_month),
    (rf"(?:{_HAN_YEAR})? ?{_NOT_AFTER}{_HAN_MONTH}{_HAN_NTH}", _week_of_month),
    (rf"{_HAN_THAT_MONTH}的?(?P<part>[上中下]旬|[初底末])", _part_of_month),
    (
        rf"(?:{_HAN_YEAR})? ?{_NOT_AFTER}{_HAN_MONTH}的?(?P<part>[上中下]旬|[初底末])",
        _part_of_month,
    ),
    (rf"(?<![月年\d一二三四五六七八九十]){_HAN_COUNT}[以之]?前", _ago),
    (rf"(?:最近|过去|近|[这前](?!一))(?:的|这)?{_HAN_COUNT}", _lately),
    (rf"(?P<which>上上个?|上个?|这个?|本|(?<!每)(?<!下)){_HAN_WEEK}末", _weekend),
    (
        rf"(?P<which>上上个?|上个?|这个?|本){_HAN_WEEK}(?P<weekday>[一二三四五六日天])",
        _weekday_of_week,
    ),
    (rf"(?P<which>上上个?|上个?|这个?|本)(?P<unit>{_HAN_WEEK})", _named_unit),
    (rf"{_HAN_WEEK}(?P<weekday>[一二三四五六日天])", _on_weekday),
    (rf"(?P<which>上上个?|上个?|这个?|本|当)月(?:的? ?{_HAN_DAY})?", _date_of_month),
    (rf"(?:{_HAN_YEAR})? ?{_NOT_AFTER}{_HAN_MONTH} ?{_HAN_DAY}", _date),
    (rf"(?:{_HAN_YEAR} ?|{_NOT_AFTER}){_HAN_MONTH}(?!\d|[一两二三四五六]次)", _date),
    (_HAN_YEAR.removesuffix("的?"), _whole_year),
)
_NUMBERED: tuple[tuple[str, _Resolver], ...] = (
    (_ISO, _iso_date),
    (_SLASHED, _slashed_date),
)
