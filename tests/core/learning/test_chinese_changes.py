"""Changes of a life as they are told in Chinese, in passing and in few words."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from turnleaf.core.learning.findings import Finding, find_facts, find_sure_facts, make_finding
from turnleaf.core.learning.reconciling import correct, find_names, judge
from turnleaf.core.learning.slots import Correction, Withdrawal
from turnleaf.core.memories import Memory

NOW = datetime(2026, 11, 17, 9, 0, tzinfo=UTC)


def tell(*messages: str) -> list[str]:
    """Return the facts that hold after some messages."""
    known: list[Memory] = []
    for number, message in enumerate(messages):
        for order, found in enumerate(find_facts(message, NOW, find_names(known))):
            known = take(found, known, f"{number}.{order}")
    return [one.content for one in known]


def take(found: object, known: list[Memory], name: str) -> list[Memory]:
    if isinstance(found, Correction):
        meant = correct(found, known, [])
        if meant is None:
            return known
        kept = [one for one in known if one is not meant[0]]
        return [*kept, Memory(name, make_finding(meant[1], "", NOW).content, NOW, NOW)]
    if not isinstance(found, Finding):
        return known
    statement = found.statement
    verdict = judge(statement, known)
    restated = {memory: make_finding(one, "", NOW).content for memory, one in verdict.restated}
    gone = {*verdict.ended, *restated, *(verdict.targets if verdict.effect != "same" else ())}
    kept = [one for one in known if one not in gone]
    kept += [Memory(f"{name}w{at}", one, NOW, NOW) for at, one in enumerate(restated.values())]
    if verdict.effect in {"new", "replaces"}:
        kept.append(Memory(name, make_finding(statement, "", NOW).content, NOW, NOW))
    return kept


def learn(message: str) -> list[str]:
    return [one.content for one in find_sure_facts(message, NOW)]


@pytest.mark.parametrize(
    "message",
    [
        "我分手了",
        "跟阿哲分手了",
        "我跟男友分了",
        "我被甩了",
        "我男友上禮拜跟我分手了",
        "我们分手了",
    ],
)
def test_a_separation_ends_what_is_known_of_the_partner(message: str) -> None:
    assert tell("我男友叫阿哲", message) == ["我分手了（2026-11）"]


def test_an_event_whose_month_is_not_told_has_none() -> None:
    assert tell("我男友叫阿哲", "跟阿哲分手三個月了") == ["我分手了"]
    assert tell("我三月就退休了啦") == ["我退休了"]


@pytest.mark.parametrize(
    "message", ["我們昨天結婚了", "今天領證了", "我變人妻了", "從此要叫他老公好不習慣"]
)
def test_a_boyfriend_is_a_husband_after_the_wedding(message: str) -> None:
    facts = tell("我跟我男友阿哲在一起六年了", message)
    assert sorted(facts) == sorted(["我先生叫阿哲", "我結婚了（2026-11）"])


@pytest.mark.parametrize(
    "message",
    [
        "提離職囉",
        "我從誠品離職了",
        "離職了！",
        "上個月從誠品離職了",
        "我遞辭呈了",
        "跳槽成功",
        "被公司資遣了",
    ],
)
def test_who_leaves_a_job_no_longer_works_there(message: str) -> None:
    facts = tell("我在誠品當店員", message)
    assert len(facts) == 1
    assert "（2026-1" in facts[0]


@pytest.mark.parametrize(
    ("message", "facts"),
    [
        ("我提離職囉！！下禮拜開始去寵物美容店當學徒", ["我任職於寵物美容店", "我是學徒"]),
        ("辭職了，下個月到宜得利上班", ["我任職於宜得利"]),
        ("update：跳槽成功，11 月開始在 KKday 當 product designer 🎉", ["我任職於KKday"]),
        ("畢業了啦～～下個月去台積電竹科報到 等我發財", ["我任職於台積電竹科"]),
        ("我升組長了", ["我是組長"]),
    ],
)
def test_a_new_job_is_learned_from_who_starts_it(message: str, facts: list[str]) -> None:
    assert {*facts} <= {*learn(message)}


def test_the_new_job_of_somebody_else_is_not_of_the_user() -> None:
    assert learn("我姊離職了，下個月去台積電上班") == ["我姊姊任職於台積電"]


def test_several_names_in_a_row_are_the_names_of_the_pets() -> None:
    names = ["我家的鸚鵡叫皮蛋", "我家的鸚鵡叫豆花", "我家的鸚鵡叫麻糬"]
    assert learn("家裡三隻鸚鵡，皮蛋、豆花、麻糬，早上六點準時開演唱會") == ["我有養鸚鵡", *names]
    assert learn("我養了兩隻貓，咪咪和胖胖")[1:] == ["我家的貓叫咪咪", "我家的貓叫胖胖"]


@pytest.mark.parametrize("message", ["皮蛋走了", "我家皮蛋昨天去當天使了", "皮蛋過彩虹橋了"])
def test_one_of_several_pets_dies_alone(message: str) -> None:
    facts = tell("我養了三隻鸚鵡，皮蛋、豆花、麻糬", message)
    assert facts == [
        "我有養鸚鵡",
        "我家的鸚鵡叫豆花",
        "我家的鸚鵡叫麻糬",
        "我家的鸚鵡皮蛋過世了（2026-11）",
    ]


def test_the_only_pet_of_its_kind_ends_with_its_name() -> None:
    assert tell("我養一隻柴犬叫麻糬", "麻糬走了") == ["我家的狗麻糬過世了（2026-11）"]


def test_a_name_that_nobody_is_known_by_says_nothing() -> None:
    assert tell("我家的狗叫麻糬", "客人走了", "小華過世了") == ["我家的狗叫麻糬"]
    assert learn("麻糬走了") == []


def test_a_routine_ends_with_whom_it_was_shared() -> None:
    facts = tell("每週日都要回大溪陪阿公下象棋，他超強", "阿公上週離開了，九十一歲")
    assert facts == ["我阿公過世了（2026-11）"]


@pytest.mark.parametrize(
    ("before", "message", "after"),
    [
        ("我兒子小明今天好乖", "啊打錯，不是小明，是小華，小明是他同學哈哈", "我兒子叫小華"),
        ("我女兒叫小米", "更正 我女兒是小蜜不是小米 自動選字害的", "我女兒叫小蜜"),
        (
            "我對蝦子過敏",
            "抽血報告回來了 結果根本不是蝦子，是塵蟎😂 我白白忍了十年",
            "我對塵蟎過敏",
        ),
        ("我對花生過敏", "原來我不是花生過敏，是腰果", "我對腰果過敏"),
        ("客廳的燈叫小明", "小明改名叫小華了", "客廳的燈叫做小華"),
        ("客廳的燈叫小明", "以後客廳燈就叫它小華喔", "客廳燈叫做小華"),
        ("我家的狗叫小黑", "小黑以後叫大黑", "我家的狗叫大黑"),
        (
            "我用iPhone 12 mini 電池健康度剩74 要換電池嗎",
            "直接換Pixel 9 小手機再見",
            "我的手機是Pixel 9",
        ),
        (
            "我的信箱是 a.b@yahoo.com 發票寄這邊",
            "那個被盜了我不用了，改成 a.c@gmail.com",
            "我的電子郵件是a.c@gmail.com",
        ),
        ("我的電話是0912345678", "電話換了 0911222333", "我的電話是0911222333"),
        ("我用 Evernote", "我不用 Evernote 了，改用 Notion", "我用Notion"),
        ("我在學日文", "日文沒學了 現在在學西班牙文", "我在學西班牙文"),
        ("回答請用條列式", "欸以後不要條列了，看起來好像簡報", "回答請不要條列"),
        ("以後回答簡短一點", "以後回答詳細一點", "回答請詳細一點"),
        ("我每天六點起床", "我現在改成七點起床", "我有七點起床的習慣"),
        ("我住在永和", "上個月搬來新竹", "我住在新竹"),
        (
            "我戒糖三个月了",
            "不行了破戒了，现在每天一杯珍奶，戒糖计划正式宣告失败",
            "我有每天一杯珍奶的習慣",
        ),
    ],
)
def test_the_new_takes_the_place_of_the_old(before: str, message: str, after: str) -> None:
    assert tell(before, message) == [after]


@pytest.mark.parametrize(
    ("before", "message"),
    [
        ("我吃全素", "我現在沒有吃素了"),
        ("我開一台 Vios", "Vios已經脫手了"),
        ("我有固定打網球", "手肘受傷之後我就沒再打網球了"),
        ("我每天晨跑五公里", "膝蓋受傷 不能晨跑了"),
        ("我在學韓文", "我放棄學韓文了"),
        ("我每週二四去健身房", "健身房退掉了"),
        ("我任職於聯發科", "我已經離開聯發科了"),
        ("我對花生過敏", "我根本沒有對花生過敏"),
        ("我住在永和", "終於搬離永和了！"),
    ],
)
def test_what_somebody_gave_up_is_over(before: str, message: str) -> None:
    assert tell(before, message) == []


def test_who_is_called_a_spouse_is_no_longer_engaged() -> None:
    assert tell("我未婚妻叫佳穎", "佳穎現在是我老婆了") == ["我太太叫佳穎"]


def test_what_is_renamed_has_its_new_name_alone() -> None:
    known = tell("我家的狗叫小黑", "我家掃地機叫阿旺", "小黑改名了，現在叫布丁")
    assert known == ["我的掃地機叫做阿旺", "我家的狗叫布丁"]
    known = tell("我家掃地機叫阿旺", "我女兒幫掃地機改了名字，現在叫波比")
    assert known == ["掃地機叫做波比", "我有女兒"]


def test_who_eats_meat_again_is_no_vegetarian() -> None:
    assert tell("我吃素", "我又開始吃肉了") == ["我吃肉"]


def test_a_favourite_is_not_also_liked() -> None:
    favourite, liked = "我最喜歡的飲料是烏龍茶", "我喜歡烏龍茶"
    assert tell(liked, favourite) == tell(favourite, liked) == [favourite]


def test_a_number_that_was_asked_to_be_kept_is_replaced() -> None:
    known = [Memory("1", "我的手機號碼是0911-222-333，之後報名會用到", NOW, NOW)]
    found = find_facts("號碼換了，新的是0955-666-777", NOW)
    for one in found:
        known = take(one, known, "2")
    assert [one.content for one in known] == ["我的電話是0955-666-777"]


def test_what_was_meant_instead_of_a_joke_is_learned() -> None:
    taken_back, *found = find_facts("騙你的啦😂 是一隻虎斑貓 叫阿虎", NOW)
    assert isinstance(taken_back, Withdrawal)
    assert [one.content for one in found if isinstance(one, Finding)] == ["我家的貓叫阿虎"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("客廳的燈叫做小明", "我們家客廳的燈叫小明啦"),
        ("客廳的燈叫Sunny", "我說Sunny就是指客廳那盞燈"),
        ("我家的狗叫Mochi", "狗狗名字是 Mochi，像麻糬那個"),
        ("我對花生過敏", "花生我不能碰 會過敏"),
        ("我母語是廣東話", "廣東話係我母語，所以國語有時怪怪的"),
        ("我伴侶叫Ines", "我跟我對象Ines吵架"),
    ],
)
def test_other_words_for_one_fact_make_one_entry(one: str, other: str) -> None:
    assert len(tell(one, other)) == 1


@pytest.mark.parametrize(
    "message",
    [
        "如果我離職了怎麼辦",
        "離職要提前幾天講",
        "我朋友分手了",
        "分手了要怎麼走出來",
        "搬到台南要注意什麼",
        "我先走了",
        "阿公走了三公里",
        "每天都要加班",
        "戒菸有什麼方法",
        "明天去學校上班",
        "要換Pixel 9 還是 iPhone 16",
        "我弟小我三歲",
        "老二叫外送",
        "貓叫很大聲",
        "昨天十一點半就睡了",
        "我去戶政登記遷戶口了",
    ],
)
def test_what_only_sounds_like_a_change_is_none(message: str) -> None:
    assert learn(message) == []


@pytest.mark.parametrize("said", ["、皮蛋", "不是", "我跟", "從", "皮蛋走了，", "改成", "每天"])
def test_hostile_text_takes_linear_time(said: str) -> None:
    assert isinstance(learn("我養了三隻貓，" + said * (20_000 // len(said))), list)


@pytest.mark.parametrize(
    ("known", "told"),
    [
        ("I'm allergic to penicillin.", "Penicillin is off the table for me."),
        ("我對花生過敏", "花生已經跟我無緣了"),
    ],
)
def test_an_allergy_is_not_given_up(known: str, told: str) -> None:
    assert tell(known, told)[:1] == tell(known)


def test_an_allergy_is_over_when_somebody_says_so() -> None:
    assert tell("I'm allergic to peanuts.", "I'm no longer allergic to peanuts.") == []


@pytest.mark.parametrize("opening", ["就是", "只有", "唯獨"])
def test_what_is_not_eaten_is_named_without_what_stresses_it(opening: str) -> None:
    assert learn(f"{opening}茄子我不吃") == ["我不吃茄子"]


@pytest.mark.parametrize("message", ["我有個兒子名叫阿寶，五歲。", "我有個女兒叫小美，今年七歲"])
def test_the_age_of_somebody_introduced_is_not_the_users(message: str) -> None:
    assert not any(fact.endswith("歲") for fact in learn(message))
