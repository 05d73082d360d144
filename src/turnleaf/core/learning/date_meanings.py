"""How a language speaks of dates, and the days that its words mean at the moment of saying.

All rules of a language are one pattern, so a text is searched once. Each group of a rule carries
the rule's number in its name, because a pattern may have every name only once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from turnleaf.core.languages.words import read_number
from turnleaf.core.loading import load_data, make_pattern
from turnleaf.core.search.date_ranges import find_month_before
from turnleaf.core.search.terms import simplify

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


FILE = "dates.toml"
_PLACE = make_pattern(r"%(?:(?P<bare>:)|(?P<alias>\w+)=)?(?P<name>[a-z_]+\d?)%")
_GROUP = make_pattern(r"\(\?P<(\w+)>")


@dataclass(frozen=True, slots=True)
class DateRule:
    """What words for a date look like, and how they are to be understood."""

    reads: str
    """The name of what works out the days, or "leave"."""
    pattern: str
    form: str = ""
    shift: int | None = None
    part: str = ""
    needs: str = ""
    """What the clause must say for this to be a date: "tense", "future", "not past" or "stay"."""
    unless: Sequence[str] = ()
    """The marks with which this is no date: "habit", "yearly", "naming"."""


@dataclass(frozen=True, slots=True)
class DateGrammar:
    """The words, rules and forms of one language."""

    rules: Sequence[DateRule]
    pattern: re.Pattern[str]
    words: Mapping[str, Mapping[str, Any]]
    forms: Mapping[str, Sequence[str]]
    roles: Mapping[str, str]
    """What each word before a date makes of it: an end, a beginning, …"""
    trails: Mapping[str, re.Pattern[str]]
    """What follows a date and makes it an end or a beginning."""
    marks: Mapping[str, re.Pattern[str]]
    subject: re.Pattern[str] | None
    verb_stands: str
    has_loose_weekdays: bool

    def find_rule(self, match: re.Match[str]) -> tuple[DateRule, dict[str, tuple[int, int]]]:
        """Return the rule that matched, and where its groups stand."""
        # All rules are one pattern, in which the groups of a rule end with its number.
        ending = (match.lastgroup or "").removeprefix("rule")
        spans = {
            name.removesuffix(ending): match.span(name)
            for name, said in match.groupdict().items()
            if said is not None and name.endswith(ending)
        }
        return self.rules[int(ending.removeprefix("_"))], spans


@cache
def load_grammar(language: str) -> DateGrammar:
    """Return the grammar of a language whose folder has one."""
    data = load_data(f"languages/{language}/{FILE}")
    # What is written stays in the script of the file; what is read is compared in Simplified.
    table = {name: _simplify(part) for name, part in data.items()} | {"forms": data["forms"]}
    rules = [DateRule(**rule | {"pattern": simplify(rule["pattern"])}) for rule in data["rule"]]
    return DateGrammar(
        rules,
        _compile_rules(rules, table),
        table["words"],
        table["forms"],
        {word: role for role, words in table["leads"].items() for word in words},
        {role: re.compile("|".join(words)) for role, words in table.get("trails", {}).items()},
        {name: _compile(mark, table) for name, mark in table["marks"].items() if mark},
        re.compile(table["subject"]) if table["subject"] else None,
        table["verb_stands"],
        table["loose_weekdays"],
    )


def _simplify(data: Any) -> Any:  # noqa: ANN401 - any part of a TOML file
    if isinstance(data, str):
        return simplify(data)
    if isinstance(data, list):
        return [*map(_simplify, data)]
    if isinstance(data, dict):
        return {simplify(key): _simplify(value) for key, value in data.items()}
    return data


def _compile_rules(rules: Sequence[DateRule], table: Mapping[str, Any]) -> re.Pattern[str]:
    numbered = (_number_groups(rule.pattern, number, table) for number, rule in enumerate(rules))
    start, end = table["boundary"]
    return re.compile(f"{start}(?:{'|'.join(numbered)}){end}", re.IGNORECASE)


def _number_groups(pattern: str, number: int, table: Mapping[str, Any]) -> str:
    # All rules become one pattern, in which every group needs a name of its own.
    whole = f"(?P<rule>{_expand(pattern, table)})"
    return _GROUP.sub(rf"(?P<\1_{number}>", whole)


def _compile(marks: Sequence[str], table: Mapping[str, Any]) -> re.Pattern[str]:
    is_spaced = bool(table["boundary"][0])
    # A mark such as 'll begins right after a letter. Chinese has no edges between words at all.
    edges = ("(?:(?<![A-Za-z0-9])|(?=['’]))", "(?![A-Za-z0-9])") if is_spaced else ("", "")
    return re.compile(f"{edges[0]}(?:{_expand('|'.join(marks), table)}){edges[1]}", re.IGNORECASE)


def _expand(pattern: str, table: Mapping[str, Any]) -> str:
    """Return a pattern with the words and patterns put in that it names."""

    def replace_place(place: re.Match[str]) -> str:
        inner = _expand(_match_alternatives(place["name"], table), table)
        return (
            f"(?:{inner})" if place["bare"] else f"(?P<{place['alias'] or place['name']}>{inner})"
        )

    return _PLACE.sub(replace_place, pattern)


def _match_alternatives(name: str, table: Mapping[str, Any]) -> str:
    if name in table["patterns"]:
        return str(table["patterns"][name])
    # Longer words first, because an alternation takes the first that fits: sept, september.
    words = sorted(table["words"][name], key=len, reverse=True)
    return "|".join(word.replace(" ", r"\s") for word in words)


_SATURDAY = 5
_MONTHS = 12
# 29 February may be as long as eight years away.
_MAX_YEARS = 8
_MAX_COUNT = 400
_SEASON_MONTHS = 3
_WINTER = 12
_EARLY = 10


@dataclass(frozen=True, slots=True)
class DateMatch:
    """Words for a date, as a rule found them, and what is known of their clause."""

    grammar: DateGrammar
    rule: DateRule
    groups: Mapping[str, str]
    said_on: date
    first_weekday: int
    is_past: bool

    def get_value(self, name: str) -> Any:  # noqa: ANN401 - whatever the data says of a word
        """Return what the data says of the word in a group; None where there is none."""
        said = self.groups.get(name)
        # A rule that names two weekdays calls the second one weekday2: a name may occur only once.
        table = self.grammar.words.get(name.rstrip("2"), {})
        return None if said is None else table.get(said, said)

    def get_number(self, name: str) -> int | None:
        """Return the number in a group; None where there is none."""
        said = self.groups.get(name)
        return None if said is None else read_number(said)


@dataclass(frozen=True, slots=True)
class DateMeaning:
    """The days that are meant, and the form in which they are written."""

    first: date
    last: date
    form: str


Reader: TypeAlias = "Callable[[DateMatch], DateMeaning | None]"


def find_meaning(match: DateMatch) -> DateMeaning | None:
    """Return what words for a date mean; None where there is no such day."""
    try:
        return READERS[match.rule.reads](match)
    # There is no such day: 31 February, or one before the first year.
    except (ValueError, OverflowError):
        return None


def _make_day(day: date, form: str) -> DateMeaning:
    return DateMeaning(day, day, form)


def _read_nothing(match: DateMatch) -> None:
    """Return None: the words are no date, or it recurs."""


def _read_shift(match: DateMatch) -> DateMeaning:
    days = match.get_value("day")
    shift = match.rule.shift or 0 if days is None else _find_shift(match)
    form = "part" if "part" in match.groups else match.rule.form
    return _make_day(match.said_on + timedelta(days=shift), form)


def _find_shift(match: DateMatch) -> int:
    said = match.groups["day"]
    tables = (match.grammar.words.get(name, {}) for name in ("day", "dawn", "dusk"))
    return int(next(table[said] for table in tables if said in table))


def _read_weekday(match: DateMatch) -> DateMeaning:
    which = match.get_value("which")
    wanted = match.get_value("weekday" if "weekday" in match.groups else "weekday2")
    form = "part" if "part" in match.groups else match.rule.form
    if which is None or (match.grammar.has_loose_weekdays and which < 1):
        return _make_day(_find_nearest_weekday(match, wanted, which), form)
    return _make_day(_find_day_of_week(match, wanted, which), form)


def _find_nearest_weekday(match: DateMatch, wanted: int, which: int | None) -> date:
    """Return the next such weekday, of something past the last; only "this" may be today."""
    # Who says "on Monday" on a Monday does not mean the same day.
    least = 0 if which == 0 else 1
    if which == -1 or match.is_past:
        return match.said_on - timedelta(
            days=(match.said_on.weekday() - wanted - least) % 7 + least
        )
    return match.said_on + timedelta(days=(wanted - match.said_on.weekday() - least) % 7 + least)


def _find_day_of_week(match: DateMatch, wanted: int, weeks: int) -> date:
    days = (wanted - match.first_weekday) % 7
    return _find_week_start(match) + timedelta(weeks=weeks, days=days)


def _find_week_start(match: DateMatch) -> date:
    return match.said_on - timedelta(days=(match.said_on.weekday() - match.first_weekday) % 7)


def _read_week_and_day(match: DateMatch) -> DateMeaning:
    return _make_day(
        _find_day_of_week(match, match.get_value("weekday"), match.get_value("which")),
        match.rule.form,
    )


def _read_weekday_range(match: DateMatch) -> DateMeaning:
    first = _read_weekday(match).first
    days = (match.get_value("weekday2") - first.weekday()) % 7
    return DateMeaning(first, first + timedelta(days=days), match.rule.form)


def _read_unit(match: DateMatch) -> DateMeaning:
    unit = match.get_value("unit")
    which = match.rule.shift if "which" not in match.groups else match.get_value("which")
    first, last = _find_unit_days(match, unit, which)
    form = f"owned_{'week' if unit == 'weekend' else unit}" if match.rule.form else unit
    return DateMeaning(first, last, form)


def _find_unit_days(match: DateMatch, unit: str, which: int | None) -> tuple[date, date]:
    if unit == "weekend":
        return _find_weekend(match, which or 0)
    shift = which or 0
    if unit == "week":
        first = _find_week_start(match) + timedelta(weeks=shift)
        return first, first + timedelta(days=6)
    if unit == "month":
        return find_month_before(match.said_on, -shift)
    return date(match.said_on.year + shift, 1, 1), date(match.said_on.year + shift, 12, 31)


def _find_weekend(match: DateMatch, which: int) -> tuple[date, date]:
    weekday = match.said_on.weekday()
    # Said on a weekday of something past, "at the weekend" is the one that is over.
    if not which and match.is_past and weekday < _SATURDAY:
        which = -1
    saturday = match.said_on + timedelta(weeks=which, days=_SATURDAY - weekday)
    return saturday, saturday + timedelta(days=1)


def _read_count(match: DateMatch) -> DateMeaning:
    number, unit = _parse_count(match)
    return _move(match.said_on, number * (match.rule.shift or 1), unit)


def _parse_count(match: DateMatch) -> tuple[int, str]:
    """Return a number and its unit; half a year is six months, a fortnight two weeks."""
    said = match.groups.get("number") or match.groups.get("number2") or "1"
    unit = match.get_value("units") or match.get_value("units2")
    unit = match.grammar.words["units"].get(unit, unit)
    if said in match.grammar.words.get("half", {}):
        return {"year": (6, "month"), "month": (2, "week")}[unit]
    number = read_number(said)
    if not 0 < number <= _MAX_COUNT:
        raise ValueError(number)
    return (2 * number, "week") if unit == "fortnight" else (number, unit)


def _move(today: date, number: int, unit: str) -> DateMeaning:
    """Return the day, the week around it, the month or the year that is so far away."""
    if unit == "day":
        return _make_day(today + timedelta(days=number), "day")
    if unit == "week":
        day = today + timedelta(weeks=number)
        # "In two weeks" names no day, so what is written says "around".
        return DateMeaning(day, day + timedelta(days=6), "around")
    if unit == "month":
        return DateMeaning(*find_month_before(today, -number), "month")
    return DateMeaning(date(today.year + number, 1, 1), date(today.year + number, 12, 31), "year")


def _move_exactly(today: date, number: int, unit: str) -> date:
    """Return the day so far away, by months the same day of the month, or its last."""
    if unit in {"day", "week"}:
        return today + timedelta(days=number * (7 if unit == "week" else 1))
    first, last = find_month_before(today, -number * (_MONTHS if unit == "year" else 1))
    # A month after 31 January is the last day of February.
    return min(first + timedelta(days=today.day - 1), last)


def _read_stretch(match: DateMatch) -> DateMeaning:
    return DateMeaning(
        match.said_on, _move_exactly(match.said_on, *_parse_count(match)), match.rule.form
    )


def _read_these_days(match: DateMatch) -> DateMeaning:
    number, unit = _parse_count(match)
    days = timedelta(days=number * (7 if unit == "week" else 1) - 1)
    today = match.said_on
    first, last = (today - days, today) if match.is_past else (today, today + days)
    return DateMeaning(first, last, match.rule.form)


def _read_past_stretch(match: DateMatch) -> DateMeaning:
    number, unit = _parse_count(match)
    first = _move_exactly(match.said_on, -number, unit)
    size = "day" if unit in {"day", "week"} else unit
    return DateMeaning(first, match.said_on, f"since_{size}")


def _read_month_day(match: DateMatch) -> DateMeaning:
    """Read a month, perhaps its day and its year; without a year the tense decides."""
    month, day, year = (
        _read_month_number(match),
        match.get_number("day_number"),
        match.get_number("year"),
    )
    if year:
        return DateMeaning(*_find_days(year, month, day), "absolute")
    return DateMeaning(*_find_nearest_days(match, month, day), match.rule.form)


def _read_month_number(match: DateMatch) -> int:
    said = match.groups["month"]
    table = match.grammar.words.get("month", {})
    return int(table[said]) if said in table else read_number(said)


def _find_days(year: int, month: int, day: int | None) -> tuple[date, date]:
    if day is None:
        return find_month_before(date(year, month, 1), 0)
    return date(year, month, day), date(year, month, day)


def _find_nearest_days(match: DateMatch, month: int, day: int | None) -> tuple[date, date]:
    """Return the next such day or month, of something past the last one."""
    step = -1 if match.is_past else 1
    for year in range(match.said_on.year, match.said_on.year + step * (_MAX_YEARS + 1), step):
        if day is not None and day > find_month_before(date(year, month, 1), 0)[1].day:
            continue
        first, last = _find_days(year, month, day)
        if (first <= match.said_on) if match.is_past else (last >= match.said_on):
            return first, last
    raise ValueError(day)


def _read_which_month(match: DateMatch) -> DateMeaning:
    """Return "this", "next" or "last" March; "next" and "last" are never the current month."""
    month, which = _read_month_number(match), match.groups["which"]
    year = match.said_on.year
    # With "next" the current month counts as over, and with "last" as not yet begun.
    if which == "next" or (which == "this" and not match.is_past):
        year += month < match.said_on.month + (which == "next")
    else:
        year -= month > match.said_on.month - (which == "last")
    return DateMeaning(*_find_days(year, month, None), match.rule.form)


def _read_day_of_month(match: DateMatch) -> DateMeaning:
    day, which = match.get_number("day_number") or 0, match.get_value("which")
    if which is not None:
        return _make_day(
            find_month_before(match.said_on, -which)[0].replace(day=day), match.rule.form
        )
    step = 1 if match.is_past else -1
    # Three months are enough: of two, one may be over already and the other too short.
    for count in range(3):
        first, last = find_month_before(match.said_on, step * count)
        found = first + timedelta(days=day - 1)
        if found <= last and (found <= match.said_on if match.is_past else found >= match.said_on):
            return _make_day(found, match.rule.form)
    raise ValueError(day)


def _read_slashed_date(match: DateMatch) -> DateMeaning:
    """Read month and day, or day and month where it can be nothing else."""
    month, day = match.get_number("month") or 0, match.get_number("day_number") or 0
    # There is no month 25, so the day comes first.
    month, day = (day, month) if month > _MONTHS else (month, day)
    return DateMeaning(*_find_nearest_days(match, month, day), match.rule.form)


def _read_year(match: DateMatch) -> DateMeaning:
    """Read 去年 and what follows of a date."""
    year, day = match.said_on.year + match.get_value("year_word"), match.get_number("day_number")
    if "month" not in match.groups:
        return DateMeaning(date(year, 1, 1), date(year, 12, 31), match.rule.form)
    return DateMeaning(*_find_days(year, _read_month_number(match), day), match.rule.form)


def _read_season(match: DateMatch) -> DateMeaning:
    """Return the year in which a season begins; which days it has depends on the hemisphere."""
    month, today = match.get_value("season"), match.said_on
    which = match.grammar.words["which"].get(match.groups.get("which", ""), 0)
    # In January and February winter is the one that began last year.
    began_last_year = month == _WINTER and today.month < _SEASON_MONTHS
    months_left = month + _SEASON_MONTHS - 1 - today.month - _MONTHS * began_last_year
    year = today.year - began_last_year + _find_season_shift(match, which, months_left)
    form = "winter" if month == _WINTER else match.rule.form
    return DateMeaning(date(year, 1, 1), date(year, 12, 31), form)


def _find_season_shift(match: DateMatch, which: int, months_left: int) -> int:
    is_over, is_ahead = months_left < 0, months_left >= _SEASON_MONTHS
    if which > 0:
        return 1
    if which < 0:
        return 0 if is_over else -1
    return int(is_over and not match.is_past) - int(is_ahead and match.is_past)


def _read_end(match: DateMatch) -> DateMeaning:
    if match.rule.form == "end_of":
        return _read_end_word(match)
    unit = match.get_value("unit")
    first, last = _find_unit_days(match, unit, match.get_value("which"))
    if match.rule.form == "day":
        return _make_day(last, "day")
    return DateMeaning(first, last, "end_week" if unit == "weekend" else f"end_{unit}")


def _read_end_word(match: DateMatch) -> DateMeaning:
    """Read 月底 and 年初: the end or beginning of the month or year, the next where it is over."""
    unit, end = match.grammar.words["end_word"][match.groups["said"]].split()
    today, is_early = match.said_on, end == "beginning"
    is_over = today.month > 1 or today.day > _EARLY if unit == "year" else today.day > _EARLY
    is_next = is_early and is_over and not match.is_past
    first, last = _find_unit_days(match, unit, int(is_next))
    if is_early:
        last = first + timedelta(days=_EARLY - 1)
    return DateMeaning(first, last, f"end_of_{unit}")


READERS: dict[str, Reader] = {
    "leave": _read_nothing,
    "shift": _read_shift,
    "weekday": _read_weekday,
    "week_and_day": _read_week_and_day,
    "weekday_range": _read_weekday_range,
    "unit": _read_unit,
    "count": _read_count,
    "stretch": _read_stretch,
    "these_days": _read_these_days,
    "past_stretch": _read_past_stretch,
    "month_day": _read_month_day,
    "which_month": _read_which_month,
    "day_of_month": _read_day_of_month,
    "slash": _read_slashed_date,
    "year": _read_year,
    "season": _read_season,
    "end_of": _read_end,
}
