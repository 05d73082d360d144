"""The language of a message, by which we choose the words of an answer."""

from __future__ import annotations

from itertools import chain

import pytest

from turnleaf.core.languages.language import Detected, detect_language, find_reader

IN_TRADITIONAL, IN_SIMPLIFIED = Detected("zh"), Detected("zh", is_simplified=True)

TRADITIONAL = """
請記住客廳的燈叫做小明
我住在台北
幫我記一下明天三點開會
我喜歡の字
這家店叫做鮮の味，很好吃
我昨天買了ポケモン的卡片
幫我記住「ありがとう」是謝謝的意思
我在學日文的は跟が
王小明喜歡ラーメン
記住：明天去ドン・キホーテ買零食
忘掉我的生日
東京都
你好
我喜歡 아이유 的歌
把這件事忘了吧
我老婆對蝦子過敏，記得喔！
上個月我們去哪裡玩？
這個バッグ多少錢
晚餐吃什麼
"""
SIMPLIFIED = """
请记住客厅的灯叫小明
我女儿在上海读大学
帮我记一下，下周三下午三点开会
这个项目用的是什么数据库？
我对花生过敏
我昨天买了ポケモン的卡片
你还记得我叫什么名字吗
别忘了给妈妈打电话
忘掉我说过的密码
我们公司的网站打不开
我喜欢の字
把这件事记住
他说：「ありがとう」
小明是什么
我家里有三只猫
以后用中文回答我
国庆节我们去哪里玩了？
"""
JAPANESE = """
明日の会議を覚えて
明日の会議は3時だと覚えておいて
私の誕生日を忘れて
コーヒーが好きだとメモして
私の名前は田中太郎です
東京の天気
今日は寒い
完了しました
記録：明日は十時に歯医者
要記入の書類があります
ﾒﾓしといて、明日は燃えるゴミ
我々のチームは来週発表します
是非お願いします
会議の目的を把握しています
那覇に行きたい
你好って何ですか
東京駅
ラーメン
経済的な車が欲しい
請求書を送って
京都は雨
現在地を教えて
「我愛你」は何と読みますか
"""
KOREAN = """
내일 회의를 기억해 줘
제 이름은 김민수입니다
내 생일을 잊어 줘
안녕하세요
서울에 살아요
저는 커피를 좋아해요
오늘 날씨 어때?
메모해 줘: 내일 3시 회의
제 이름은 金敏洙입니다
우리 딸은 대학교에 다녀요
Slack 알림 꺼 줘
거실 조명은 소명이라고 불러
"""
ENGLISH = """
Remember that the lamp in the living room is called Ming
I live in Taipei
forget my birthday
What did we say about the trip?
ok
Tom
Don't forget: my wife is allergic to shrimp
Café Müller opens at 9
https://example.com/a?b=c
42
🙂
git status --short
Naïve résumé, déjà vu
"""
ENGLISH_WITH_OTHERS = """
Remember that 小明 is my brother
I live in 台北
Who is 王小明?
What is 國立臺灣大學附設醫院?
Remember that the lamp is called 小明
My favourite anime is 鬼滅の刃
Remember: the restaurant is called 海底捞
What does ありがとう mean?
What does 「我怕辣」 mean?
How do I get from 東京駅 to 渋谷?
forget that I like 珍珠奶茶
My cat is called たま
I am learning 한국어
"""
CHINESE_WITH_ENGLISH = """
我用 VS Code 寫 Python
幫我 book 一個 meeting room
提醒我 review Alice 的 pull request 然後 deploy 到 production
我的 email 是 alice.wang@example.com
Tom 是 Senior Staff Software Engineer
我在 Google 當 software engineer
請把 I love you 翻成中文
remember 我的車牌是 ABC-1234
跑 git status --short 看看
我女友叫 Amy，她喜歡 Taylor Swift 的歌
這個 bug 是 race condition 嗎？
OK，我知道了，謝謝
幫我把「I am a vegetarian and I live in Taipei」翻成中文
「この店は美味しいです」怎麼翻
"""


def lines(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.mark.parametrize(
    ("language", "texts"),
    [
        (IN_TRADITIONAL, lines(TRADITIONAL)),
        (IN_TRADITIONAL, lines(CHINESE_WITH_ENGLISH)),
        (IN_SIMPLIFIED, lines(SIMPLIFIED)),
        (Detected("ja"), lines(JAPANESE)),
        (Detected("ko"), lines(KOREAN)),
        (Detected("en"), lines(ENGLISH)),
        (Detected("en"), lines(ENGLISH_WITH_OTHERS)),
    ],
    ids=["traditional", "mixed Chinese", "simplified", "japanese", "korean", "english", "mixed"],
)
def test_messages_are_of_the_language_that_they_are_written_in(
    language: Detected, texts: list[str]
) -> None:
    wrong = {text: detect_language(text) for text in texts if detect_language(text) != language}
    assert not wrong


def test_mixed_messages_in_simplified_characters_are_simplified() -> None:
    assert detect_language("我用 VS Code 写 Python") == IN_SIMPLIFIED
    assert detect_language("remember 我的车牌是 ABC-1234") == IN_SIMPLIFIED


def test_chinese_without_a_distinguishing_character_is_as_what_was_said_before() -> None:
    assert detect_language("忘掉我的生日") == IN_TRADITIONAL
    assert detect_language("忘掉我的生日", earlier=["我女儿五岁", "你好"]) == IN_SIMPLIFIED
    assert detect_language("忘掉我的生日", earlier=["我女儿五岁", "我女兒五歲"]) == IN_TRADITIONAL
    assert detect_language("忘掉我的生日", earlier=["I live in Taipei"]) == IN_TRADITIONAL
    assert detect_language("記得買牛奶", earlier=["我女儿五岁"]) == IN_TRADITIONAL


def test_a_language_that_others_would_misread_is_read_by_nobody_else() -> None:
    assert not any(find_reader(text, "statements.toml") for text in lines(JAPANESE))
    others = chain(lines(TRADITIONAL), lines(SIMPLIFIED), lines(KOREAN), lines(ENGLISH))
    assert all(find_reader(text, "statements.toml") for text in others)
