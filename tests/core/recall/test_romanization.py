"""A Chinese name in either script is the same name, however it is romanized."""

from __future__ import annotations

import pytest

from turnleaf.core.recall.romanization import MAX_CHARS, spell_names_alike


@pytest.mark.parametrize(
    ("question", "passage", "read"),
    [
        ("how much is Pin-yu's class", "品妤的課一期4800元", " Pin-yu 的課一期4800元"),
        ("when does A-Zhe ride", "阿哲清晨五點半出門", " A-Zhe 清晨五點半出門"),
        ("what does Yutong fence with", "語彤打的是鈍劍", " Yutong 打的是鈍劍"),
        ("my best time up Fengguizui", "風櫃嘴騎進 24 分", " Fengguizui 騎進 24 分"),
        ("what did Dr. Hsieh say", "謝醫師說不能吃堅果", " Dr. Hsieh 說不能吃堅果"),
        ("Where does Hsiu-chin live", "秀琴住彰化", " Hsiu-chin 住彰化"),
        ("what is Jung-hao's job", "榮豪在台電上班", " Jung-hao 在台電上班"),
        ("Szu-han draws?", "思涵很會畫畫", " Szu-han 很會畫畫"),
        ("is Kuo-wei away", "国伟在当兵", " Kuo-wei 在当兵"),
        ("佩玲有幾個學生", "Pei-ling is up to nine pupils", "佩玲 is up to nine pupils"),
        ("賴師傅報價多少", "Mr. Lai quoted 215k", "賴師傅 quoted 215k"),
    ],
)
def test_a_passage_is_read_with_the_names_of_the_question(
    question: str, passage: str, read: str
) -> None:
    assert spell_names_alike(question, passage) == read


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("how much is Pin-yu's class", "佩玲的課一期4800元"),
        ("what did Dr. Hsieh say", "多謝大家"),
        ("what did Hsieh say", "謝醫師說不能吃堅果"),
        ("where is the Wi-Fi password", "我的密碼是 8823"),
        ("is Canada cold", "拿大的那個給你"),
        ("who is Pei-ling", "Pei-ling is my sister"),
        ("誰是佩玲", "佩玲是我妹"),
        ("", ""),
    ],
)
def test_what_is_no_such_name_stays_as_it_is(question: str, passage: str) -> None:
    assert spell_names_alike(question, passage) == passage


def test_a_long_text_stays_as_it_is() -> None:
    passage = "品妤" + "啊" * MAX_CHARS
    assert spell_names_alike("where is Pin-yu", passage) == passage
