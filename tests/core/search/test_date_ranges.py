"""The days that a question speaks of are found, in English and in Chinese."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.growth import grows_with_its_text
from tests.strategies import texts, thorough
from tests.tables import each
from turnleaf.core.search.date_ranges import find_date_range

NOW = date(2026, 11, 18)  # a Wednesday

ENGLISH = [
    ("today", "2026-11-18"),
    ("this morning", "2026-11-18"),
    ("yesterday", "2026-11-17"),
    ("last night", "2026-11-17"),
    ("the day before yesterday", "2026-11-16"),
    ("3 days ago", "2026-11-15"),
    ("three days ago", "2026-11-15"),
    ("a week ago", "2026-11-09 2026-11-15"),
    ("two weeks ago", "2026-11-02 2026-11-08"),
    ("a month ago", "2026-10-01 2026-10-31"),
    ("2 months ago", "2026-09-01 2026-09-30"),
    ("11 months ago", "2025-12-01 2025-12-31"),
    ("a couple of years ago", "2024-01-01 2024-12-31"),
    ("a few days ago", "2026-11-11 2026-11-17"),
    ("last week", "2026-11-09 2026-11-15"),
    ("this week", "2026-11-16 2026-11-22"),
    ("the week before last", "2026-11-02 2026-11-08"),
    ("last weekend", "2026-11-14 2026-11-15"),
    ("on the weekend", "2026-11-14 2026-11-15"),
    ("last 3 days", "2026-11-15 2026-11-18"),
    ("in the past two weeks", "2026-11-04 2026-11-18"),
    ("the last 2 months", "2026-09-18 2026-11-18"),
    ("last month", "2026-10-01 2026-10-31"),
    ("this month", "2026-11-01 2026-11-30"),
    ("last year", "2025-01-01 2025-12-31"),
    ("this year", "2026-01-01 2026-12-31"),
    ("last Tuesday", "2026-11-17"),
    ("last Wednesday", "2026-11-11"),
    ("last Friday", "2026-11-13"),
    ("on Monday", "2026-11-16"),
    ("on Wednesday", "2026-11-18"),
    ("on Thursday", "2026-11-12"),
    ("on Thu", "2026-11-12"),
    ("this Monday", "2026-11-16"),
    ("since Monday", "2026-11-16 2026-11-18"),
    ("from Monday to Tuesday", "2026-11-16 2026-11-17"),
    ("from Monday to Friday", "2026-11-09 2026-11-13"),
    ("on Tuesday last week", "2026-11-10"),
    ("Tuesday of last week", "2026-11-10"),
    ("in March", "2026-03-01 2026-03-31"),
    ("in the last week of October 2023", "2023-10-25 2023-10-31"),
    ("the last week of February 2024", "2024-02-23 2024-02-29"),
    ("the first week of May", "2026-05-01 2026-05-07"),
    ("the second week in December", "2025-12-08 2025-12-14"),
    ("the 4th week of February 2025", "2025-02-22 2025-02-28"),
    ("in the first week of last month", "2026-10-01 2026-10-07"),
    ("the last week of this month", "2026-11-24 2026-11-30"),
    ("early March", "2026-03-01 2026-03-10"),
    ("in mid-March 2025", "2025-03-11 2025-03-20"),
    ("late in February 2024", "2024-02-21 2024-02-29"),
    ("in may", "2026-05-01 2026-05-31"),
    ("in December", "2025-12-01 2025-12-31"),
    ("in November", "2026-11-01 2026-11-30"),
    ("last March", "2026-03-01 2026-03-31"),
    ("last November", "2025-11-01 2025-11-30"),
    ("from October", "2026-10-01 2026-10-31"),
    ("a year ago today", "2025-01-01 2025-12-31"),
    ("in March 2026", "2026-03-01 2026-03-31"),
    ("in March of 2024", "2024-03-01 2024-03-31"),
    ("in March last year", "2025-03-01 2025-03-31"),
    ("since September", "2026-09-01 2026-11-18"),
    ("February 2024", "2024-02-01 2024-02-29"),
    ("on 3 March", "2026-03-03"),
    ("on the 3rd of March", "2026-03-03"),
    ("on March 3rd", "2026-03-03"),
    ("March 3rd, 2024", "2024-03-03"),
    ("Dec 24", "2025-12-24"),
    ("on 24 Dec 2023", "2023-12-24"),
    ("May 5", "2026-05-05"),
    ("on 29 February", "2024-02-29"),
    ("on 2026-03-03", "2026-03-03"),
    ("2026/3/3", "2026-03-03"),
    ("2026-03", "2026-03-01 2026-03-31"),
    ("from 2026-03-01 to 2026-03-05", "2026-03-01 2026-03-05"),
    ("on 3/14", "2026-03-14"),
    ("3/14", "2026-03-14"),
    ("on 14/3", "2026-03-14"),
    ("3/14/2025", "2025-03-14"),
    ("3/14/25", "2025-03-14"),
    ("since 11/14", "2026-11-14 2026-11-18"),
    ("on may 5", "2026-05-05"),
    ("in the last few days", "2026-11-11 2026-11-18"),
    ("the other day", "2026-11-11 2026-11-18"),
    ("in 2024", "2024-01-01 2024-12-31"),
]
CHINESE = [
    ("2023年10月的最後一週", "2023-10-25 2023-10-31"),
    ("去年二月最後一個星期", "2025-02-22 2025-02-28"),
    ("五月第一週", "2026-05-01 2026-05-07"),
    ("上個月的第二個禮拜", "2026-10-08 2026-10-14"),
    ("1月中旬", "2026-01-11 2026-01-20"),
    ("2024年2月下旬", "2024-02-21 2024-02-29"),
    ("上個月初", "2026-10-01 2026-10-10"),
    ("三月底", "2026-03-21 2026-03-31"),
    ("今天", "2026-11-18"),
    ("今早", "2026-11-18"),
    ("昨天", "2026-11-17"),
    ("昨晚", "2026-11-17"),
    ("前天", "2026-11-16"),
    ("大前天", "2026-11-15"),
    ("三天前", "2026-11-15"),
    ("3天前", "2026-11-15"),
    ("３天前", "2026-11-15"),
    ("十二天前", "2026-11-06"),
    ("二十天前", "2026-10-29"),
    ("兩週前", "2026-11-02 2026-11-08"),
    ("兩個星期前", "2026-11-02 2026-11-08"),
    ("三個月前", "2026-08-01 2026-08-31"),
    ("兩年前", "2024-01-01 2024-12-31"),
    ("幾天前", "2026-11-11 2026-11-17"),
    ("前幾天", "2026-11-11 2026-11-18"),
    ("上週", "2026-11-09 2026-11-15"),
    ("上周", "2026-11-09 2026-11-15"),
    ("上星期", "2026-11-09 2026-11-15"),
    ("上個禮拜", "2026-11-09 2026-11-15"),
    ("上上週", "2026-11-02 2026-11-08"),
    ("這週", "2026-11-16 2026-11-22"),
    ("本週", "2026-11-16 2026-11-22"),
    ("上禮拜三", "2026-11-11"),
    ("上週日", "2026-11-15"),
    ("上星期天", "2026-11-15"),
    ("這週一", "2026-11-16"),
    ("上週末", "2026-11-14 2026-11-15"),
    ("禮拜三", "2026-11-18"),
    ("週五", "2026-11-13"),
    ("最近三天", "2026-11-15 2026-11-18"),
    ("這三天", "2026-11-15 2026-11-18"),
    ("過去兩週", "2026-11-04 2026-11-18"),
    ("近一個月", "2026-10-18 2026-11-18"),
    ("上個月", "2026-10-01 2026-10-31"),
    ("上上個月", "2026-09-01 2026-09-30"),
    ("這個月", "2026-11-01 2026-11-30"),
    ("上個月五號", "2026-10-05"),
    ("去年", "2025-01-01 2025-12-31"),
    ("今年", "2026-01-01 2026-12-31"),
    ("前年", "2024-01-01 2024-12-31"),
    ("三月", "2026-03-01 2026-03-31"),
    ("十二月", "2025-12-01 2025-12-31"),
    ("12月", "2025-12-01 2025-12-31"),
    ("三月份", "2026-03-01 2026-03-31"),
    ("三月五日", "2026-03-05"),
    ("十二月二十四日", "2025-12-24"),
    ("3月5號", "2026-03-05"),
    ("3 月 5 日", "2026-03-05"),
    ("2026年3月5日", "2026-03-05"),
    ("2024年3月", "2024-03-01 2024-03-31"),
    ("二〇二四年三月", "2024-03-01 2024-03-31"),
    ("民國113年3月5日", "2024-03-05"),
    ("去年三月", "2025-03-01 2025-03-31"),
    ("去年的三月五日", "2025-03-05"),
    ("2024年", "2024-01-01 2024-12-31"),
    ("三月五日到三月八日", "2026-03-05 2026-03-08"),
    ("三月以來", "2026-03-01 2026-11-18"),
]
RESTS = [
    ("what did I note last week about the boiler?", "what did I note about the boiler?"),
    ("Yesterday, what did Anna say?", "what did Anna say?"),
    ("what happened in the last 3 days", "what happened"),
    ("notes of 3 March about rent", "notes about rent"),
    ("上週的鍋爐紀錄", "鍋爐紀錄"),
    ("我上週記了什麼關於鍋爐的事？", "我記了什麼關於鍋爐的事？"),
    ("昨天 Anna 說了什麼", "Anna 說了什麼"),
    ("昨天Anna說了什麼", "Anna說了什麼"),
    ("Anna上週三說了什麼", "Anna說了什麼"),
    ("三天前", ""),
    ("在三月五日的會議", "會議"),
    ("我三月的時候說了什麼關於鍋爐的事？", "我說了什麼關於鍋爐的事？"),
    ("三月以來的鍋爐紀錄", "鍋爐紀錄"),
    ("yesterday", ""),
]
NEITHER = [
    "",
    "what is the boiler called?",
    "it may rain",
    "You may 5 times try",
    "we march 3 miles",
    "the march was long",
    "this may be wrong",
    "April is my sister",
    "tomorrow",
    "next week",
    "next Tuesday",
    "every Monday",
    "on Mondays",
    "the Monday meeting",
    "before Monday",
    "until March",
    "last spring",
    "half of 3/4 cup",
    "24/7",
    "8/10 points",
    "version 2.3.4",
    "version 2024.1",
    "at 12:30",
    "on 2026-02-30",
    "on 30 February",
    "2026-13-01",
    "99月",
    "三月三十五日",
    "9999 years ago",
    "9999年前",
    "三個月",
    "三月以前",
    "三月五日前",
    "明天",
    "後天",
    "下週三",
    "下個月五號",
    "明年三月",
    "每週三",
    "每個月五號",
    "五月天的歌",
    "一月一次",
    "周先生",
    "客廳的燈叫什麼？",
    "我月薪多少",
]
AROUND = ["{}", "what did I say {}?", "{} I wrote about tea", "我{}說了什麼？", "（{}）"]


def days(written: str) -> tuple[date, date]:
    first, *last = map(date.fromisoformat, written.split())
    return first, last[0] if last else first


@each("words, written", ENGLISH + CHINESE)
def test_words_for_a_time_give_its_days(words: str, written: str) -> None:
    for around in AROUND:
        span = find_date_range(around.format(words), NOW)
        assert span, around
        assert (span.first, span.last) == days(written), around


@pytest.mark.parametrize(("text", "rest"), RESTS)
def test_the_rest_is_the_text_without_those_words(text: str, rest: str) -> None:
    span = find_date_range(text, NOW)
    assert span
    assert span.rest == rest


@each("text", NEITHER)
def test_a_text_that_speaks_of_no_past_time_has_no_span(text: str) -> None:
    assert find_date_range(text, NOW) is None


def test_the_shortest_time_wins() -> None:
    span = find_date_range("what did I do this year, this month, on 3 March?", NOW)
    assert span
    assert (span.first, span.last) == days("2026-03-03")
    assert span.rest == "what did I do?"


def test_a_fraction_in_english_can_be_a_date_in_chinese() -> None:
    span = find_date_range("3/4 的日誌", NOW)
    assert span
    assert (span.first, span.last, span.rest) == (*days("2026-03-04"), "日誌")


def test_simplified_and_traditional_say_the_same() -> None:
    for words, written in (("上个礼拜三", "2026-11-11"), ("三个月前", "2026-08-01 2026-08-31")):
        span = find_date_range(words, NOW)
        assert span
        assert (span.first, span.last) == days(written)


words = st.sampled_from([*(words for words, _ in ENGLISH + CHINESE), *NEITHER])
dates = st.dates() | st.sampled_from([date.min, date.max, date(2024, 2, 29), NOW])


@given(
    st.lists(words | texts | st.text("0123456789/-年月日 ", max_size=12), max_size=5).map(" ".join),
    dates,
)
@example("three days ago", date.min)
@example("去年 12月 every 9999 months ago", date.min)
@example("in December", date.max)
@thorough
def test_any_text_on_any_day_is_judged(text: str, day: date) -> None:
    span = find_date_range(text, day)
    if span:
        assert span.first <= span.last
        assert len(span.rest) <= len(text)


@pytest.mark.parametrize("start", ["", "yesterday "])
@pytest.mark.parametrize(
    "piece", ["昨天", "last ", "3/", "2026-", " ", "、", ",", "三", "on Monday to ", "March 3 "]
)
def test_no_hostile_text_takes_long(start: str, piece: str) -> None:
    text = start + piece * (100_000 // len(piece))
    assert grows_with_its_text(lambda part: find_date_range(part, NOW), text)
