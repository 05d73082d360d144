"""The days that a question speaks of: "last week", 上週三, "in March 2026", 三天前.

A month or day without a year is the latest one that is not in the future; weeks run from Monday to
Sunday. What lies ahead ("tomorrow", 下週) and what comes again ("on Mondays", 每週三) is no span,
and neither is a season, which depends on where one lives. The parts of a month have ten days.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from turnleaf.core.languages.language import find_present
from turnleaf.core.languages.words import compile_pattern, expand, read_number
from turnleaf.core.loading import find_folders, load_data, make_pattern
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping

FILE = "date_ranges.toml"
# No word in Latin letters is a part of a longer one.
_START = r"(?:(?<![A-Za-z0-9])|(?![\x00-\x7f]))"
_END = r"(?:(?![A-Za-z0-9])|(?<![\x00-\x7f]))"
_NOTHING = "(?!)"


class DateRangeWords:
    """The rules, words and edges of times in one language."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.words: dict[str, dict[str, Any]] = {
            name: {simplify(word): meaning for word, meaning in table.items()}
            for name, table in data["words"].items()
        }
        self._parts: dict[str, str] = {
            # Longer words first: an alternation takes the first that fits, and a short one may
            # begin a long one.
            name: "|".join(sorted(words, key=len, reverse=True))
            for name, words in self.words.items()
        } | data.get("parts", {})
        self._edges: Mapping[str, str] = data.get("edges", {})
        self.rules = [(one["reads"], self._expand(one["pattern"])) for one in data["rule"]]

    def find_edge(self, name: str) -> str:
        """Return the pattern of what stands around a time, such as "since"; "" if there is none."""
        return self._expand(self._edges.get(name, ""))

    def _expand(self, pattern: str) -> str:
        return expand(pattern, self._parts)


@cache
def load_words(language: str) -> DateRangeWords:
    """Return the rules and words for times of a language whose folder has them."""
    return DateRangeWords(load_data(f"languages/{language}/{FILE}"))


@cache
def find_meanings(table: str) -> dict[str, Any]:
    """Return what the words of a table mean, in any language."""
    tables = (words.words.get(table, {}) for words in _list_words())
    return {word: meaning for one in tables for word, meaning in one.items()}


@cache
def find_edge(name: str, before: str = "", after: str = "") -> re.Pattern[str]:
    """Return the pattern of an edge in every language, between two patterns that all share."""
    edges = (words.find_edge(name) for words in _list_words())
    return compile_pattern(f"{before}(?:{'|'.join(filter(None, edges)) or _NOTHING}){after}")


def _list_words() -> Iterator[DateRangeWords]:
    return map(load_words, find_folders("languages", FILE))


# There are many rules, and most texts need few of them.
@cache
def compile_rule(pattern: str) -> re.Pattern[str]:
    """Return the pattern of a rule, compiled when it is first needed."""
    return compile_pattern(f"{_START}(?:{pattern}){_END}")


_Days: TypeAlias = tuple[date, date]
_Resolver: TypeAlias = "Callable[[re.Match[str], date], _Days | None]"
# A pasted text is no question about a day, and each of many rules would search all of it.
_MAX_CHARS = 2_000
# 29 February may be as long as eight years away: 1900 had none.
_MAX_YEARS = 8
_FEW = 7
_NEAR = 40


@dataclass(frozen=True, slots=True)
class DateRange:
    """The days from the first to the last; `rest` is the text without the words for them."""

    first: date
    last: date
    rest: str


@dataclass(frozen=True, slots=True)
class _FoundRange:
    """Words for a time, where they stand; words for no time in the past have no days."""

    start: int
    end: int
    days: _Days | None
    is_weekday: bool = False


_SATURDAY = 5
_MONTHS = 12
_PARTS = 3
# In an English sentence 1/2 or 3/8 is mostly a fraction: these are the usual denominators.
_FRACTIONS = frozenset({2, 3, 4, 5, 6, 8, 10, 12, 16})
_ISO = (
    # The edges keep out pieces of versions, paths and longer numbers.
    r"(?<![\d./-])(?P<year>(?:19|20)\d\d)(?P<sep>[-/.])(?P<month>\d{1,2})"
    r"(?:(?P=sep)(?P<day>\d{1,2})|(?<!\.\d)(?<!\.\d\d))(?![\d/]|[-.:]\d)"
)
_SLASHED = (
    r"(?<![\d/.,-])"
    r"(?P<month>\d{1,2})[/／](?P<day>\d{1,2})(?:[/／](?P<year>\d{4}|\d{2}))?(?![\d/／]|[.-]\d)"
)
_GAP = make_pattern(r"[\s,，、]{1,20}(?=[,.;:?!，。；：？！])|\s{2,}")
_EDGES = " \t\r\n,，.。;；:：、"


def find_date_range(text: str, today: date) -> DateRange | None:
    """Return the days that a text speaks of, or None; of several ranges the shortest wins."""
    found = [*_join_ranges(text, [each for each in _find_all(text, today) if each.days])]
    if not found:
        return None
    spans = _find_weekdays_in_weeks(found) or [each.days for each in found if each.days]
    first, last = min(spans, key=lambda days: days[1] - days[0])
    return DateRange(first, last, _remove_ranges(text, found))


def _find_all(text: str, today: date) -> list[_FoundRange]:
    """Return the words for times in the order of the text; where rules overlap, the first wins."""
    plain = simplify(text[:_MAX_CHARS])
    found: list[_FoundRange] = []
    taken = bytearray(len(plain))
    for reads, pattern in _list_rules(plain):
        for match in compile_rule(pattern).finditer(plain):
            start, end = match.span()
            # Rules come in the order of their precedence: what one has read no later one reads
            # again.
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                days = _extend_open_range(
                    plain, start, end, _resolve_days(_READERS[reads], match, today), today
                )
                found.append(_FoundRange(start, end, days, reads == "weekday"))
    return sorted(found, key=lambda each: each.start)


def _list_rules(plain: str) -> Iterator[tuple[str, str]]:
    """Return the rules for dates in digits, then those of each language in the text."""
    yield "iso_date", _ISO
    yield "slashed_date", f"(?P<on>{find_edge('dated_before').pattern})?{_SLASHED}"
    for language in find_present(plain, FILE):
        yield from load_words(language.name).rules


def _resolve_days(days_of: _Resolver, match: re.Match[str], today: date) -> _Days | None:
    try:
        return days_of(match, today)
    # There is no such day: 31 February, or one before the first year.
    except (ValueError, OverflowError):
        return None


def _extend_open_range(
    text: str, start: int, end: int, days: _Days | None, today: date
) -> _Days | None:
    """Extend "since Monday" to today; return None for "before Monday"."""
    if days is None or _stands_at(text, start, end, "until"):
        return None
    if _stands_at(text, start, end, "since"):
        return days[0], max(days[1], today)
    return days


def _stands_at(text: str, start: int, end: int, edge: str) -> bool:
    """Whether the words of an edge stand right before or after a time."""
    before = find_edge(f"{edge}_before", after=r"\Z").search(text, max(0, start - _NEAR), start)
    return bool(before or find_edge(f"{edge}_after").match(text, end, end + _NEAR))


def _join_ranges(text: str, found: list[_FoundRange]) -> Iterator[_FoundRange]:
    """Join two times with "to" between them into one."""
    while found:
        first, *found = found
        if found and (both := _join_pair(text, first, found[0])):
            first, *found = both, *found[1:]
        yield first


def _join_pair(text: str, one: _FoundRange, other: _FoundRange) -> _FoundRange | None:
    if not one.days or not other.days or not _find_link().match(text[one.end : other.end]):
        return None
    first, last = one.days[0], other.days[1]
    # A weekday is the latest one, so "from Friday to Monday" came out the wrong way round.
    if last < first and other.is_weekday:
        first -= timedelta(weeks=1)
    return _FoundRange(one.start, other.end, (min(first, last), max(first, last)))


@cache
def _find_link() -> re.Pattern[str]:
    """Return the pattern of what joins two times, such as "to"."""
    after = find_edge("after_link").pattern
    return find_edge("link", r"\s*(?:[-–~～]|", rf")\s*(?:{after})?")


def _find_weekdays_in_weeks(found: list[_FoundRange]) -> list[_Days]:
    """Return the weekdays that are named together with their week: "on Tuesday last week"."""
    days = [each.days[0].weekday() for each in found if each.days and each.is_weekday]
    weeks = [each.days[0] for each in found if each.days and _is_week(each.days)]
    return [_make_day(week + timedelta(days=day)) for day in days for week in weeks]


def _is_week(days: _Days) -> bool:
    return days[0].weekday() == 0 and days[1] - days[0] == timedelta(days=6)


def _remove_ranges(text: str, found: list[_FoundRange]) -> str:
    """Return the text without the words for times, and without what only led to them."""
    # Simplifying moves no character, so a place in the one is a place in the other.
    plain = simplify(text)
    pieces: list[str] = []
    done = 0
    for each in found:
        leading = find_edge("leading", after=r"\Z").search(plain, done, each.start)
        trailing = find_edge("trailing").match(plain, each.end, each.end + _NEAR)
        pieces.append(text[done : leading.start() if leading else each.start])
        done = trailing.end() if trailing else each.end
    tidy = _GAP.sub(_narrow_gaps, "".join((*pieces, text[done:])))
    return find_edge("dangling", r"\A").sub("", tidy.strip(_EDGES))


def _narrow_gaps(gap: re.Match[str]) -> str:
    """Return one space for a gap between words, and nothing for one before a stop."""
    following = gap.string[gap.end() : gap.end() + 1]
    return "" if following in {*",.;:?!，。；：？！"} else " "


def _make_day(day: date) -> _Days:
    return day, day


def _make_week(day: date) -> _Days:
    monday = day - timedelta(days=day.weekday())
    return monday, monday + timedelta(days=6)


def _make_month(year: int, month: int) -> _Days:
    following = date(year + month // 12, month % 12 + 1, 1)
    return date(year, month, 1), following - timedelta(days=1)


def _make_year(year: int) -> _Days:
    return date(year, 1, 1), date(year, 12, 31)


def find_month_before(day: date, count: int) -> _Days:
    """Return the first and the last day of the month that was so many months ago."""
    months = 12 * day.year + day.month - 1 - count
    return _make_month(months // 12, months % 12 + 1)


def _find_unit_before(today: date, unit: str, count: int) -> _Days:
    """Return the day, week, month or year `count` units before today."""
    if unit == "day":
        return _make_day(today - timedelta(days=count))
    if unit == "week":
        return _make_week(today - timedelta(weeks=count))
    return find_month_before(today, count) if unit == "month" else _make_year(today.year - count)


def _find_meaning(match: re.Match[str], name: str) -> Any:  # noqa: ANN401 - whatever the data says
    """Return what the data says of the word in a group; None where there is none."""
    return find_meanings(name).get((match.groupdict().get(name) or "").lower())


def _count_back(match: re.Match[str]) -> int:
    """Return how many units back "this" or "last" goes; a bare "in" means the current one."""
    return int(_find_meaning(match, "which") or 0)


def _read_nothing(match: re.Match[str], today: date) -> None:
    """Return None: the time lies ahead or recurs."""


def _read_days_ago(match: re.Match[str], today: date) -> _Days:
    return _make_day(today - timedelta(days=find_meanings("days_ago")[match[0].lower()]))


def _read_ago(match: re.Match[str], today: date) -> _Days:
    unit, number = _find_meaning(match, "unit"), match["n"].lower()
    if (few := find_meanings("vague").get(number)) is None:
        return _find_unit_before(today, unit, read_number(number))
    # "A few weeks ago" may be any of the last few, but not the current one.
    return _find_unit_before(today, unit, few)[0], _find_unit_before(today, unit, 1)[1]


def _read_lately(match: re.Match[str], today: date) -> _Days:
    """Return the last few days, weeks, months or years, up to today."""
    unit, number = _find_meaning(match, "unit"), match["n"].lower()
    count = find_meanings("vague").get(number) or read_number(number)
    if unit in {"day", "week"}:
        return today - timedelta(days=count * (7 if unit == "week" else 1)), today
    month = find_month_before(today, count * (12 if unit == "year" else 1))
    return min(month[0] + timedelta(days=today.day - 1), month[1]), today


def _read_recent_days(match: re.Match[str], today: date) -> _Days:  # noqa: ARG001
    return today - timedelta(days=_FEW), today


def _read_named_unit(match: re.Match[str], today: date) -> _Days:
    return _find_unit_before(today, _find_meaning(match, "unit"), _count_back(match))


def _read_weekend(match: re.Match[str], today: date) -> _Days:
    weeks = _count_back(match)
    # Before Saturday this weekend is yet to come, and a question about the past means the last.
    if not weeks and today.weekday() < _SATURDAY:
        weeks = 1
    sunday = _make_week(today - timedelta(weeks=weeks))[1]
    return sunday - timedelta(days=1), sunday


def _read_weekday(match: re.Match[str], today: date) -> _Days:
    """Return the latest such day, this day included."""
    return _make_day(
        today - timedelta(days=(today.weekday() - _find_meaning(match, "weekday")) % 7)
    )


def _read_last_weekday(match: re.Match[str], today: date) -> _Days:
    return _make_day(
        today - timedelta(days=(today.weekday() - _find_meaning(match, "weekday") - 1) % 7 + 1)
    )


def _read_weekday_of_week(match: re.Match[str], today: date) -> _Days | None:
    weeks = _count_back(match)
    day = _make_week(today - timedelta(weeks=weeks))[0] + timedelta(
        days=_find_meaning(match, "weekday")
    )
    return _make_day(day) if day <= today else None


def _read_iso_date(match: re.Match[str], today: date) -> _Days:  # noqa: ARG001
    year, month = int(match["year"]), int(match["month"])
    return (
        _make_day(date(year, month, int(match["day"])))
        if match["day"]
        else _make_month(year, month)
    )


def _read_slashed_date(match: re.Match[str], today: date) -> _Days | None:
    """Read month and day, or day and month where it can be nothing else; a fraction is no date."""
    month, day, year = int(match["month"]), int(match["day"]), match["year"]
    is_certain = match["on"] is not None or year is not None
    # In a Chinese text 3/8 is mostly a day.
    if not is_certain and (match.string.isascii() and day in _FRACTIONS):
        return None
    # Where it must be a date, 25/12 can only have its day first.
    if is_certain and month > _MONTHS:
        month, day = day, month
    if year:
        return _make_day(date(int(year) % 100 + 2000 if len(year) == 2 else int(year), month, day))  # noqa: PLR2004
    return _find_latest_day(today, month, day)


def _read_named_date(match: re.Match[str], today: date) -> _Days | None:
    """Read a date whose month is a word; "may" and "march" are also verbs."""
    is_certain = match["on"] or match["suffix"] or match["year"]
    if match["month"] in find_meanings("doubtful") and not is_certain:
        return None
    return _read_date(match, today)


def _read_named_month(match: re.Match[str], today: date) -> _Days | None:
    doubtful, which = find_meanings("doubtful").get(match["month"]), match["which"].lower()
    if which and doubtful and which not in doubtful.split():
        return None
    days = _read_date(match, today)
    # In November, "last November" is that of last year.
    is_now = days[1] >= today
    return _make_month(days[0].year - 1, days[0].month) if _count_back(match) and is_now else days


def _read_date(match: re.Match[str], today: date) -> _Days:
    """Read a month, perhaps its day and its year; without a year it is the latest."""
    groups = match.groupdict()
    month, year = _read_month_number(groups["month"] or ""), _read_stated_year(groups, today)
    day = read_number(groups["day"]) if groups.get("day") else None
    if day is None:
        # A month that has not begun this year is last year's.
        return _make_month(year or today.year - (month > today.month), month)
    return _make_day(date(year, month, day)) if year else _find_latest_day(today, month, day)


def _read_week_of_month(match: re.Match[str], today: date) -> _Days | None:
    """Return seven days of a month, counted from its first or back from its last."""
    first, last = _find_stated_month(match, today)
    if (place := _find_meaning(match, "nth")) < 0:
        return last - timedelta(days=6), last
    start = first + timedelta(weeks=place)
    return (start, min(start + timedelta(days=6), last)) if start <= last else None


def _read_part_of_month(match: re.Match[str], today: date) -> _Days:
    """Return the first ten days of a month, the second ten, or the rest."""
    first, last = _find_stated_month(match, today)
    part = _find_meaning(match, "part")
    start = first + timedelta(days=10 * part)
    return start, last if part == _PARTS - 1 else start + timedelta(days=9)


def _find_stated_month(match: re.Match[str], today: date) -> _Days:
    is_named = match.groupdict().get("which")
    return find_month_before(today, _count_back(match)) if is_named else _read_date(match, today)


def _read_date_of_month(match: re.Match[str], today: date) -> _Days:
    """Read a day of "this" or "last" month, or the whole month where no day is named."""
    first, last = find_month_before(today, _count_back(match))
    return (
        _make_day(first.replace(day=read_number(match["day"]))) if match["day"] else (first, last)
    )


def _read_year(match: re.Match[str], today: date) -> _Days:
    return _make_year(_read_stated_year(match.groupdict(), today) or today.year)


def _read_month_number(text: str) -> int:
    month = find_meanings("month").get(text.lower()) or read_number(text)
    return date(1, month, 1).month


def _read_stated_year(groups: Mapping[str, str | None], today: date) -> int | None:
    year = (groups.get("year") or groups.get("relative") or "").lower()
    if not year:
        return None
    if (back := find_meanings("year").get(year)) is not None:
        return today.year - int(back)
    eras = find_meanings("era").items()
    counted = (start + int(year.removeprefix(era)) for era, start in eras if year.startswith(era))
    return next(counted, None) or read_number(year)


def _find_latest_day(today: date, month: int, day: int) -> _Days:
    """Return the latest such day that is not in the future; raise ValueError if there is none."""
    for year in range(today.year, today.year - _MAX_YEARS - 1, -1):
        if day <= _make_month(year, month)[1].day and (found := date(year, month, day)) <= today:
            return _make_day(found)
    raise ValueError(day)


_READERS: dict[str, _Resolver] = {
    "nothing": _read_nothing,
    "iso_date": _read_iso_date,
    "slashed_date": _read_slashed_date,
    "days_ago": _read_days_ago,
    "recent_days": _read_recent_days,
    "ago": _read_ago,
    "lately": _read_lately,
    "named_unit": _read_named_unit,
    "weekend": _read_weekend,
    "weekday": _read_weekday,
    "last_weekday": _read_last_weekday,
    "weekday_of_week": _read_weekday_of_week,
    "named_date": _read_named_date,
    "named_month": _read_named_month,
    "date": _read_date,
    "date_of_month": _read_date_of_month,
    "week_of_month": _read_week_of_month,
    "part_of_month": _read_part_of_month,
    "year": _read_year,
}
"""What works out the days, by the name that rules call it."""
