"""Dates said relatively are kept absolutely."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import thorough
from tests.tables import each
from turnleaf.core.learning.dates import DatedText, make_dates_absolute

TAIPEI = timezone(timedelta(hours=8))
SUNDAY_FIRST = 6
MONDAY = datetime(2026, 11, 16, 10, 30, tzinfo=TAIPEI)

ENGLISH = """
    I have an exam tomorrow | I have an exam on 2026-11-17 | 11-17
    I've got an exam tomorrow morning | I've got an exam on the morning of 2026-11-17 | 11-17
    Tomorrow I have an exam | On 2026-11-17 I have an exam | 11-17
    Tomorrow is my exam | 2026-11-17 is my exam | 11-17
    my exam is tomorrow, so I'm nervous | my exam is on 2026-11-17, so I'm nervous | 11-17
    I'm nervous about tomorrow's exam | I'm nervous about the 2026-11-17 exam | 11-17
    call mom at 3 tomorrow | call mom at 3 on 2026-11-17 | 11-17
    I see the dentist tomorrow at 3pm | I see the dentist on 2026-11-17 at 3pm | 11-17
    the report is due tomorrow | the report is due 2026-11-17 | 11-17
    I need it by tomorrow | I need it by 2026-11-17 | 11-17
    Mum visits the day after tomorrow | Mum visits on 2026-11-18 | 11-18
    I'm seeing Bob tonight | I'm seeing Bob on the evening of 2026-11-16 | 11-16
    I have a call this afternoon | I have a call on the afternoon of 2026-11-16 | 11-16
    I have a cold today | I have a cold on 2026-11-16 | 11-16
    I ran ten kilometres today | I ran ten kilometres on 2026-11-16 |
    today's meeting was cancelled | the 2026-11-16 meeting was cancelled |
    Yesterday I bought a bike | On 2026-11-15 I bought a bike |
    I lost my wallet yesterday | I lost my wallet on 2026-11-15 |
    I slept badly last night | I slept badly on the night of 2026-11-15 |
    I fell the day before yesterday | I fell on 2026-11-14 |
    I see the dentist next Friday at 10 | I see the dentist on 2026-11-27 at 10 | 11-27
    I have a meeting this Friday | I have a meeting on 2026-11-20 | 11-20
    I have a meeting on Friday | I have a meeting on 2026-11-20 | 11-20
    I have a meeting on Monday | I have a meeting on 2026-11-23 | 11-23
    I'm flying home on Thursday evening | I'm flying home on the evening of 2026-11-19 | 11-19
    I went to the dentist on Friday | I went to the dentist on 2026-11-13 |
    We had dinner with Ann on Sunday | We had dinner with Ann on 2026-11-15 |
    On Saturday we visited my uncle | On 2026-11-14 we visited my uncle |
    I was ill, but my exam is on Wednesday | I was ill, but my exam is on 2026-11-18 | 11-18
    I was told I have an exam on Wednesday | I was told I have an exam on 2026-11-18 | 11-18
    the meeting was postponed to Thursday | the meeting was postponed to 2026-11-19 | 11-19
    I saw her last Monday | I saw her on 2026-11-09 |
    I have an exam Friday. | I have an exam on 2026-11-20. | 11-20
    the deadline is Friday | the deadline is on 2026-11-20 | 11-20
    Friday I'm off | On 2026-11-20 I'm off | 11-20
    I have exams on Thursday and Friday | I have exams on 2026-11-19 and 2026-11-20 | 11-20
    I have exams on Thu and Fri | I have exams on 2026-11-19 and 2026-11-20 | 11-20
    I play on Thursday at 5 and Friday at 6 | I play on 2026-11-19 at 5 and 2026-11-20 at 6 | 11-20
    I have a test on Tuesday next week | I have a test on 2026-11-24 | 11-24
    I'm nervous about Friday's exam | I'm nervous about the 2026-11-20 exam | 11-20
    I'm in Berlin until Friday | I'm in Berlin until 2026-11-20 | 11-20
    I'm on leave from next Monday to Thursday | I'm on leave from 2026-11-23 to 2026-11-26 | 11-26
    I have been ill since Thursday | I have been ill since 2026-11-12 |
    We're hiking this weekend | We're hiking on the weekend of 2026-11-21 to 2026-11-22 | 11-22
    I worked last weekend | I worked on the weekend of 2026-11-14 to 2026-11-15 |
    we painted it over the weekend | we painted it on the weekend of 2026-11-14 to 2026-11-15 |
    I was sick last week | I was sick in the week of 2026-11-09 to 2026-11-15 |
    I have exams next week | I have exams in the week of 2026-11-23 to 2026-11-29 | 11-29
    I'm worried about next week's exam | I'm worried about the 2026-11-23 to 2026-11-29 exam | 11-29
    I'm going to Japan next month | I'm going to Japan in 2026-12 |
    I have an exam next month | I have an exam in 2026-12 | 12-31
    I'm off coffee until next month | I'm off coffee until 2026-12 | 12-31
    We got married last year | We got married in 2025 |
    I'm turning 40 this year | I'm turning 40 in 2026 |
    I want to run a marathon next year | I want to run a marathon in 2027 |
    I lived in Rome the year before last | I lived in Rome in 2024 |
    This summer we are going to Greece | In summer 2027 we are going to Greece |
    we were in Greece last summer | we were in Greece in summer 2026 |
    we are skiing this winter | we are skiing in winter 2026/27 |
    I must finish it by the end of the month | I must finish it by 2026-11-30 | 11-30
    I have to pay by the end of the year | I have to pay by 2026-12-31 | 12-31
    I'm travelling at the end of next month | I'm travelling at the end of 2026-12 | 12-31
    My sister stays with us till March | My sister stays with us till March 2027 | 2027-03-31
    I'm living with my parents until June | I'm living with my parents until June 2027 | 2027-06-30
    I'm on call for the next three weeks | I'm on call until 2026-12-07 | 12-07
    I'm here for two weeks | I'm here until 2026-11-30 | 11-30
    I'm in Tokyo for three days | I'm in Tokyo until 2026-11-19 | 11-19
    they will call within two days | they will call by 2026-11-18 | 11-18
    my flight leaves in two weeks | my flight leaves around 2026-11-30 | 12-06
    I have surgery in three days | I have surgery on 2026-11-19 | 11-19
    I will be a father in two months | I will be a father in 2027-01 |
    I had an accident three days ago | I had an accident on 2026-11-13 |
    I had a cold a week ago | I had a cold around 2026-11-09 |
    I broke my leg two months ago | I broke my leg in 2026-09 |
    my father died five years ago | my father died in 2021 |
    I quit smoking half a year ago | I quit smoking in 2026-05 |
    I've been tired for the past two weeks | I've been tired since 2026-11-02 |
    I've worked here for the last three years | I've worked here since 2023 |
    I have a physio session on the 20th | I have a physio session on 2026-11-20 | 11-20
    the invoice is due by the 5th | the invoice is due by 2026-12-05 | 12-05
    I was in court on the 5th | I was in court on 2026-11-05 |
    My exam is on March 3 | My exam is on March 3, 2027 | 2027-03-03
    I was in Rome on March 3 | I was in Rome on March 3, 2026 |
    my surgery is on 12 December | my surgery is on 12 December 2026 | 12-12
    We met on May 5th | We met on May 5th, 2026 |
    my thesis defence is in March | my thesis defence is in March 2027 |
    my appointment is on 12/5 | my appointment is on 2026-12-05 | 12-05
    my exam is on 2026-12-01 | my exam is on 2026-12-01 | 12-01
    I start my new job on Wednesday | I start my new job on 2026-11-18 |
    I'm moving to Taipei next month | I'm moving to Taipei in 2026-12 |
    we're adopting a cat tomorrow | we're adopting a cat on 2026-11-17 |
    My birthday is tomorrow | My birthday is on 2026-11-17 |
    from tomorrow I'm on a diet | from 2026-11-17 I'm on a diet |
    My mother was in hospital until Friday | My mother was in hospital until 2026-11-13 |
    the exam was postponed until Friday | the exam was postponed until 2026-11-20 | 11-20
    My mom arrives on Friday, 20 November | My mom arrives on Friday, 20 November 2026 | 11-20
    Dentist: next Tuesday, 9am | Dentist: 2026-11-24, 9am | 11-24
    My landlord is coming on Tue | My landlord is coming on 2026-11-17 | 11-17
    I have an exam tomorrow. I like tea. | I have an exam on 2026-11-17. I like tea. |
    I live in Taipei and have an exam tomorrow | I live in Taipei and have an exam on 2026-11-17 |
    Exam tomorrow and a party on Friday | Exam on 2026-11-17 and a party on 2026-11-20 | 11-20
"""
CHINESE = """
    我明天要考試 | 我2026-11-17要考試 | 11-17
    明天我要考試 | 2026-11-17我要考試 | 11-17
    我明天要考試，很緊張 | 我2026-11-17要考試，很緊張 | 11-17
    我明天下午3點要面試 | 我2026-11-17下午3點要面試 | 11-17
    明天3點開會 | 2026-11-17 3點開會 | 11-17
    明早8點要抽血 | 2026-11-17早上8點要抽血 | 11-17
    我今晚要加班 | 我2026-11-16晚上要加班 | 11-16
    我今天不舒服 | 我2026-11-16不舒服 | 11-16
    我今天跑了十公里 | 我2026-11-16跑了十公里 |
    後天要交報告 | 2026-11-18要交報告 | 11-18
    大後天回診 | 2026-11-19回診 | 11-19
    我昨天去看了牙醫 | 我2026-11-15去看了牙醫 |
    昨晚沒睡好 | 2026-11-15晚上沒睡好 |
    我前天感冒了 | 我2026-11-14感冒了 |
    大前天我們去了淡水 | 2026-11-13我們去了淡水 |
    記住我下週三要看牙醫 | 記住我2026-11-25要看牙醫 | 11-25
    下禮拜三要看牙醫 | 2026-11-25要看牙醫 | 11-25
    下星期五晚上有聚餐 | 2026-11-27晚上有聚餐 | 11-27
    這週五要交作業 | 2026-11-20要交作業 | 11-20
    本週四要面試 | 2026-11-19要面試 | 11-19
    下下週一要開庭 | 2026-11-30要開庭 | 11-30
    上週三我去看牙醫 | 2026-11-11我去看牙醫 |
    上禮拜天我們去爬山 | 2026-11-15我們去爬山 |
    我週三要看牙醫 | 我2026-11-18要看牙醫 | 11-18
    星期五有考試 | 2026-11-20有考試 | 11-20
    我週三去看了牙醫 | 我2026-11-11去看了牙醫 |
    我到週五為止都在台中 | 我到2026-11-20為止都在台中 | 11-20
    我在週五之前要交報告 | 我在2026-11-20之前要交報告 | 11-20
    週五前要回覆他 | 2026-11-20前要回覆他 | 11-20
    這個週末要去爬山 | 2026-11-21至2026-11-22那週末要去爬山 | 11-22
    週末要去爬山 | 2026-11-21至2026-11-22那週末要去爬山 | 11-22
    上週末我們搬了家具 | 2026-11-14至2026-11-15那週末我們搬了家具 |
    下週要去東京出差 | 2026-11-23至2026-11-29那週要去東京出差 | 11-29
    下星期要期中考 | 2026-11-23至2026-11-29那星期要期中考 | 11-29
    上週我生病了 | 2026-11-09至2026-11-15那週我生病了 |
    下週一起去吃飯 | 2026-11-23至2026-11-29那週一起去吃飯 | 11-29
    下週一下午要開會 | 2026-11-23下午要開會 | 11-23
    下週一定要去看醫生 | 2026-11-23至2026-11-29那週一定要去看醫生 | 11-29
    從下週一起我放假 | 從2026-11-23起我放假 |
    下週一到週五我出差 | 2026-11-23至2026-11-27我出差 | 11-27
    下個月要去日本旅行 | 2026年12月要去日本旅行 | 12-31
    下個月我要搬到高雄 | 2026年12月我要搬到高雄 |
    下個月5號要開刀 | 2026-12-05要開刀 | 12-05
    上個月我去了日本 | 2026年10月我去了日本 |
    這個月我要存錢 | 2026年11月我要存錢 |
    月底要交報告 | 2026年11月底要交報告 | 11-30
    下個月底要交論文 | 2026年12月底要交論文 |
    年底前要還清貸款 | 2026年底前要還清貸款 | 12-31
    到月底為止我都在家工作 | 到2026年11月底為止我都在家工作 | 11-30
    我去年搬來台北 | 我2025年搬來台北 |
    我前年開始學日文 | 我2024年開始學日文 |
    我今年三十歲 | 我2026年三十歲 |
    我明年要結婚 | 我2027年要結婚 |
    我後年退休 | 我2028年退休 |
    明年3月5號要考試 | 2027年3月5號要考試 | 2027-03-05
    去年夏天我去了希臘 | 2025年夏天我去了希臘 |
    三天後要開會 | 2026-11-19要開會 | 11-19
    我兩週後有面試 | 我2026-11-30左右有面試 | 12-06
    再過兩個月我就當爸爸了 | 2027年1月我就當爸爸了 |
    我半年後要退休 | 我2027年5月要退休 |
    我三天前跌倒了 | 我2026-11-13跌倒了 |
    兩個月前我分手了 | 2026年9月我分手了 |
    我爸爸五年前過世 | 我爸爸2021年過世 |
    我三天內要回覆 | 我2026-11-19前要回覆 | 11-19
    我未來三週都在東京 | 我2026-11-16至2026-12-07都在東京 | 12-07
    接下來兩個月我住在姊姊家 | 2026-11-16至2027-01-16我住在姊姊家 | 2027-01-16
    這兩天我不舒服 | 2026-11-16至2026-11-17我不舒服 | 11-17
    最近三年我都吃素 | 自2023年起我都吃素 |
    3月5號要考試 | 2027年3月5號要考試 | 2027-03-05
    十二月一日要開會 | 2026年十二月一日要開會 | 12-01
    3月5號我去了台南 | 2026年3月5號我去了台南 |
    我三月要去日本 | 我2027年三月要去日本 |
    15號要交作業 | 2026-12-15要交作業 | 12-15
    我20號要開刀 | 我2026-11-20要開刀 | 11-20
    我3/5要考試 | 我2027-03-05要考試 | 2027-03-05
    2026年12月1日要考試 | 2026年12月1日要考試 | 12-01
    我下週一開始上班 | 我2026-11-23開始上班 |
    我後天要領養一隻貓 | 我2026-11-18要領養一隻貓 |
    我禮拜五休假 | 我2026-11-20休假 | 11-20
    我星期三跟星期五要去復健 | 我2026-11-18跟2026-11-20要去復健 | 11-20
    我週三和週五晚上六點有面試 | 我2026-11-18和2026-11-20晚上六點有面試 | 11-20
    我週三和三個朋友去爬山 | 我2026-11-18和三個朋友去爬山 | 11-18
    明天是我的生日 | 2026-11-17是我的生日 |
    我明天要考試。我住在台北。 | 我2026-11-17要考試。我住在台北。 |
    我下周三要看牙医 | 我2026-11-25要看牙医 | 11-25
    下礼拜三要看牙医 | 2026-11-25要看牙医 | 11-25
    这个周末要去爬山 | 2026-11-21至2026-11-22那周末要去爬山 | 11-22
    我后天要去医院复查 | 我2026-11-18要去医院复查 | 11-18
    两周后要出差 | 2026-11-30左右要出差 | 12-06
    下个月要去日本旅游 | 2026年12月要去日本旅游 | 12-31
    到周五为止我都请假 | 到2026-11-20为止我都请假 | 11-20
    年底前要还清贷款 | 2026年底前要还清贷款 | 12-31
    上个月我换了工作 | 2026年10月我换了工作 |
    我明天有meeting | 我2026-11-17有meeting | 11-17
"""
UNTOUCHED = """
    I go swimming every Monday
    I play tennis on Mondays
    I have class every other Friday
    I take my pills daily
    I call my mother each Sunday
    I usually work from home on Friday
    I work Monday to Friday
    bin day is monday wednesday friday at 7:40pm
    yoga is on Monday, Wednesday and Friday
    I have piano monday and friday at 6pm
    I have piano Monday, Friday at 6pm
    my lessons are Tuesday evening and Thursday evening
    bin day is monday at 5 and friday at 6
    我週一、週五晚上六點有鋼琴課
    我週一週五晚上六點有鋼琴課
    我週三跟五晚上七點要練球
    我週一、週三和週五晚上六點有鋼琴課
    鋼琴課是週一和週五晚上六點
    The shop is open from Monday to Friday
    I run on Monday mornings
    I love Sunday roast
    I took Friday the dog for a walk
    my dog is called Friday
    I like Monday
    I hate Black Friday
    I may come
    they march 3 miles
    one day I want to see Japan
    I sleep badly these days
    someday I will learn Latin
    I met him the other day
    in today's world everybody is tired
    live like there is no tomorrow
    my favourite song is "Yesterday"
    she said “see you tomorrow”
    the file is called notes-tomorrow.md
    see https://example.org/tomorrow/today
    run `remind tomorrow`
    my birthday is on March 3
    I was born on 5 May
    our anniversary is on June 12
    I get paid at the end of the month
    rent is due on the 1st of every month
    my office is on the 5th floor
    my exam was on March 3, 2024
    I moved here on 2020-05-01
    I lived there for two weeks
    I read it in two days
    a few days ago I fell
    at the end of the day it is only a job
    the next week he died
    I eat 3/4 of a pizza
    I finished 3/5 of it
    we usually travel in August
    I am allergic to peanuts
    I used to swim on Monday
    I like the Sun
    call me Tuesday Weld
    email tomorrow@example.org
    我每週三上英文課
    我每天跑步
    我天天跑步
    每個月15號發薪水
    每年3月5號我們都去掃墓
    我週三都要上課
    我週一到週五上班
    我喜歡看《今天》
    他說「明天會更好」
    我最喜歡的歌是『明天』
    這學期我修三門課
    後天的努力很重要
    有一天我要去冰島
    改天再約
    我這幾天很累
    過幾天再說
    前幾天我感冒了
    我的生日是3月5號
    我3月5號出生
    我住在三號出口旁邊
    我搭3號線上班
    我吃了3/5的披薩
    我三個月大的貓叫小明
    農曆三月五日是媽媽的生日
    我們月底發薪水
    以前天氣比較好
    雨後天晴
    我對花生過敏
    我叫周杰
    我喜歡三月天
    我2020-05-01搬家
    我2024年3月5號搬家
    我每周三上课
    我周一到周五上班
    先天不足，后天失调
    我在今日頭條工作
    手術三天後才能吃東西
    大年初一我們回外婆家
    下午三點要開會
    星期一症候群
"""


def rows(table: str) -> list[tuple[str, ...]]:
    return [tuple(map(str.strip, line.split("|"))) for line in table.strip().splitlines()]


def day(text: str) -> date | None:
    return date.fromisoformat(text if len(text) != 5 else f"2026-{text}") if text else None


@each("said, kept, until", rows(ENGLISH))
def test_a_date_said_in_english_is_made_absolute(said: str, kept: str, until: str) -> None:
    assert make_dates_absolute(said, MONDAY) == DatedText(kept, day(until))


@each("said, kept, until", rows(CHINESE))
def test_a_date_said_in_chinese_is_made_absolute(said: str, kept: str, until: str) -> None:
    assert make_dates_absolute(said, MONDAY) == DatedText(kept, day(until))


@each("said", [line.strip() for line in UNTOUCHED.strip().splitlines()])
def test_what_recurs_or_is_no_relative_date_stays_as_it_is(said: str) -> None:
    assert make_dates_absolute(said, MONDAY) == DatedText(said, None)


def test_dates_are_those_of_the_place_where_it_is_said() -> None:
    late = datetime(2026, 11, 16, 23, 30, tzinfo=TAIPEI)
    assert make_dates_absolute("exam tomorrow", late).until == date(2026, 11, 17)
    in_london = late.astimezone(UTC)
    assert make_dates_absolute("exam tomorrow", in_london + timedelta(hours=9)).until == date(
        2026, 11, 18
    )


def test_a_week_begins_on_the_weekday_that_is_asked_for() -> None:
    sunday = MONDAY - timedelta(days=1)
    assert make_dates_absolute("下週三要看牙醫", sunday).text == "2026-11-18要看牙醫"
    text = make_dates_absolute("下週三要看牙醫", sunday, SUNDAY_FIRST).text
    assert text == "2026-11-25要看牙醫"


@pytest.mark.parametrize(
    ("said", "now", "kept"),
    [
        ("I have an exam on February 29", MONDAY, "I have an exam on February 29, 2028"),
        ("I have an exam on February 30", MONDAY, "I have an exam on February 30"),
        ("I have an exam on the 31st", MONDAY, "I have an exam on 2026-12-31"),
        ("15號要交作業", datetime(2026, 12, 20, tzinfo=TAIPEI), "2027-01-15要交作業"),
        ("I was ill last month", datetime(2027, 1, 5, tzinfo=TAIPEI), "I was ill in 2026-12"),
        (
            "my pass is valid for the next month",
            datetime(2027, 1, 31, tzinfo=TAIPEI),
            "my pass is valid until 2027-02-28",
        ),
        ("we ski this winter", datetime(2027, 1, 5, tzinfo=TAIPEI), "we ski in winter 2026/27"),
        (
            "we skied this winter",
            datetime(2027, 1, 5, tzinfo=TAIPEI),
            "we skied in winter 2026/27",
        ),
        ("月初要繳稅", MONDAY, "2026年12月初要繳稅"),
    ],
)
def test_ends_of_months_and_years_are_crossed(said: str, now: datetime, kept: str) -> None:
    assert make_dates_absolute(said, now).text == kept


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    text = "I have an exam tomorrow. " + "word " * 1000 + "tomorrow"
    made = make_dates_absolute(text, MONDAY)
    assert made.text.startswith("I have an exam on 2026-11-17. ")
    assert made.text.endswith("word tomorrow")
    assert made.until is None


PIECES = """
    tomorrow yesterday today tonight Monday Friday March May
    week weekend month year next last this the on in at by until
    since from for of every two 3 20th 5th ago morning is was
    will have had end days 's . , ; : I and or summer within
    here born 3/5 2026-11-17 ( ) - " ` 明天 後天 前天 今 晚 早 上 下 這 個 週
    周 星期 禮拜 一 三 五 日 末 月 年 底 初 前 後 去年 明年 3 15 號 天 兩 半 到 從 為止 之 起
    要 了 會 我 每 都 ， 。 「 」 《 內 再過 未來 最近 3月5號 去 三月 夏天
"""
soups = st.lists(st.sampled_from([*PIECES.split(), " ", " ", " "]), max_size=30).map("".join)
english_soups = st.lists(st.sampled_from(PIECES.split()), max_size=20).map(" ".join)
texts = soups | english_soups | st.text(max_size=80)
moments = st.datetimes(datetime(1970, 1, 2), datetime(2090, 1, 1), timezones=st.just(TAIPEI))  # noqa: DTZ001


@given(text=texts, now=moments, later=st.timedeltas(timedelta(0), timedelta(days=900)))
@thorough
def test_a_date_made_absolute_never_changes_again(
    text: str, now: datetime, later: timedelta
) -> None:
    once = make_dates_absolute(text, now).text
    assert make_dates_absolute(once, now + later).text == once


# Words, not letters: letters can spell "today".
DATELESS = "the cat with my dog , and we like tea 我 喜歡 貓 也 很愛 喝茶 。"


@given(text=st.lists(st.sampled_from(DATELESS.split()), max_size=60).map(" ".join), now=moments)
@thorough
def test_a_text_without_words_for_dates_is_unchanged(text: str, now: datetime) -> None:
    assert make_dates_absolute(text, now) == DatedText(text, None)


@given(unit=texts.filter(bool), now=moments)
@thorough
def test_any_repeated_text_is_read_to_its_end(unit: str, now: datetime) -> None:
    text = unit * 20_000
    made = make_dates_absolute(text, now)
    assert made.text.endswith(text[4_000:])
    assert len(made.text) < len(text) + 30 * 4_000
