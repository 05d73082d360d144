"""What is written in any way, in any language, gives the terms by which it is asked for."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from itertools import combinations, pairwise

import apsw
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests.strategies import brief, texts, thorough
from tests.tables import each
from turnleaf.core.search.terms import (
    TOKENIZER,
    Query,
    choose_affordable,
    find_named_dates,
    fold,
    is_unspaced,
    list_date_terms,
    list_terms,
    load_han,
    parse_query,
    simplify,
    write_fts_query,
)

MOST_TERMS = 1024
LONGEST_TERM = 128
DATE_TERM = re.compile(r"\d+月(?:\d+日)?")

# Two ways of writing the same words; several Traditional characters can share a Simplified one.
WRITTEN_TWICE = """
    頭髮 头发 發現 发现 理髮 理发 發燒 发烧 出發 出发 以後 以后 皇后 皇后 後天 后天 之後 之后
    背後 背后 客廳 客厅 檯燈 台灯 颱風 台风 臺灣 台湾 裡面 里面 公里 公里 麵條 面条 見面 见面
    麵包 面包 方面 方面 乾淨 干净 幹部 干部 餅乾 饼干 鬆餅 松饼 松樹 松树 複習 复习 恢復 恢复
    重複 重复 隻身 只身 只有 只有 鐘錶 钟表 代表 代表 時鐘 时钟 鬍子 胡子 胡椒 胡椒 歷史 历史
    日曆 日历 系統 系统 關係 关系 聯繫 联系 穀物 谷物 山谷 山谷 製造 制造 制度 制度 準備 准备
    批准 批准 鬥爭 斗争 北斗 北斗 穿著 穿着 隨著 随着 電腦 电脑 網路 网路 醫院 医院 護士 护士
    學校 学校 老師 老师 圖書館 图书馆 車站 车站 飛機 飞机 機場 机场 銀行 银行 錢包 钱包 買賣 买卖
    價錢 价钱 蘋果 苹果 雞蛋 鸡蛋 魚湯 鱼汤 豬肉 猪肉 豆漿 豆浆 綠茶 绿茶 紅酒 红酒 鹹的 咸的
    飲料 饮料 藥局 药局 過敏 过敏 頭痛 头痛 體溫 体温 開會 开会 會議 会议 報告 报告 經理 经理
    專案 专案 檔案 档案 資料 资料 訊息 讯息 電話 电话 號碼 号码 門鎖 门锁 鑰匙 钥匙 窗戶 窗户
    冷氣 冷气 電視 电视 書櫃 书柜 貓咪 猫咪 鳥籠 鸟笼 烏龜 乌龟 馬拉松 马拉松 游泳 游泳 遊戲 游戏
    音樂 音乐 鋼琴 钢琴 畫圖 画图 攝影 摄影 運動 运动 籃球 篮球 週末 周末 國慶 国庆
    """
WORDS = WRITTEN_TWICE.split()
PAIRS = list(zip(WORDS[::2], WORDS[1::2], strict=True))

INFLECTED = """
    run runs running ran; box boxes; study studies studied studying; stop stops stopped stopping;
    go goes going went gone; mouse mice; child children; need needs needed needing; use uses used
    using; day days; try tries tried trying; key keys; movie movies; cookie cookies; agree agrees
    agreed agreeing; feed feeds feeding fed; die dies died dying; tie ties tied tying; succeed
    succeeds succeeded; watch watches watched watching; bake bakes baked baking; buy buys buying
    bought; city cities; knife knives; person people; woman women; glass glasses; bus buses; write
    writes writing wrote written; swim swims swimming swam swum; travel travels traveling; make
    makes making made; play plays played playing; be being; see sees seeing saw seen
    """
INFLECTIONS = [words.split() for words in INFLECTED.split(";")]

SYNTAX = (
    *('"', '""', "'", "AND", "OR", "NOT", "NEAR(", "NEAR(tea coffee, 2)", "*", "tea*", "-", "+"),
    *("^", ":", "(", ")", "{t}", "t:", "t : tea", "rowid", '"tea" OR', "';--", "%", "?1", "\\"),
)
STRANGE = (
    *("\0", "a\0b", "\ud800", "\udfff茶", "\ufeff", "\u200d", "\u202e", "\uffff"),
    *("\U0010ffff", "\x85", "\u2028"),
)
SCRAPS = (
    *(" ", " ", "\n", "，", "。", "-", "_", "'", "tea", "the", "running", "e-mail", "C++"),
    *("May 3", "2026-05-03", "五月三日", "茶", "燈", "客廳", "咖啡", "的", "什麼", "喜歡Latte"),
    *("ＡＢＣ", "naïve", "Đà Nẵng", "ß", "İ", "コーヒー", "커피", "हिन्दी", "ไทย", "🙂", "🇹🇼"),
    *(*SYNTAX, *STRANGE),
)
bilingual = st.lists(st.sampled_from(SCRAPS), max_size=10).map("".join)
anything = st.text(max_size=60) | texts | bilingual


class TermsTable:
    """One text at a time in a real full-text table."""

    def __init__(self) -> None:
        self._database = apsw.Connection(":memory:")
        self._database.execute(
            f'CREATE VIRTUAL TABLE words USING fts5(t, tokenize="{TOKENIZER}");'
            "CREATE VIRTUAL TABLE tokens USING fts5vocab(words, instance);"
        )

    def hold(self, text: str) -> None:
        self._database.execute("DELETE FROM words")
        self._database.execute("INSERT INTO words (t) VALUES (?)", (" ".join(list_terms(text)),))

    @property
    def tokens(self) -> list[str]:
        rows = self._database.execute("SELECT term FROM tokens ORDER BY offset")
        return [str(term) for (term,) in rows]

    def has(self, expression: str) -> bool:
        found = "SELECT count(*) FROM words WHERE words MATCH ?"
        return bool(self._database.execute(found, (expression,)).get)


@pytest.fixture(scope="module")
def table() -> TermsTable:
    return TermsTable()


def query_terms(query: str) -> set[str]:
    return set(parse_query(query).terms)


def finds(query: str, text: str) -> bool:
    """Whether everything that is asked for by name stands in the text."""
    return bool(query_terms(query)) and query_terms(query) <= set(list_terms(text))


# Chinese


@pytest.mark.parametrize("word", ["茶", "燈", "客廳", "咖啡"])
@pytest.mark.parametrize(
    "text", ["{}", "我家的{}很好", "喜歡{}", "{}不要了", "（{}）", "buy{}now", "昨天\n{}，今天"]
)
def test_a_short_chinese_word_is_found_in_a_longer_text(word: str, text: str) -> None:
    assert finds(word, text.format(word))


@pytest.mark.parametrize("word", ["茶", "燈", "客廳", "咖啡"])
def test_a_chinese_word_is_not_found_where_it_does_not_stand(word: str) -> None:
    assert not query_terms(word) & set(list_terms("往花蓮的火車九點出發"))


def test_there_are_a_hundred_pairs() -> None:
    assert len(PAIRS) >= 100


@each("traditional, simplified", PAIRS)
def test_traditional_and_simplified_find_each_other(traditional: str, simplified: str) -> None:
    assert list_terms(traditional) == list_terms(simplified)
    assert parse_query(traditional) == parse_query(simplified)
    assert finds(traditional, f"我說{simplified}嗎")
    assert finds(simplified, f"我說{traditional}嗎")
    assert simplify(traditional) == simplified == simplify(simplified)


def test_every_character_of_the_table_is_its_simplified_form() -> None:
    traditional, simplified = load_han()
    assert len(traditional) == len(simplified) == len(set(traditional))
    assert simplify(traditional) == simplified
    assert simplify(simplified) == simplified


def test_only_han_characters_are_simplified() -> None:
    assert simplify("ＡＢＣ Café 發髮 コーヒー") == "ＡＢＣ Café 发发 コーヒー"
    assert simplify("plain") == "plain"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Latte", "我喜歡Latte不加糖"),
        ("iPhone15", "買了iPhone15手機"),
        ("喜歡", "我喜歡Latte"),
        ("手機", "買了iPhone15手機"),
        ("USB", "USB線"),
        ("wifi密碼", "WiFi密碼是1234"),
    ],
)
def test_latin_words_glued_to_chinese_are_found_and_the_other_way_round(
    query: str, text: str
) -> None:
    assert finds(query, text)


# Width, case, accents


@each(
    "one, other",
    [
        ("ＡＢＣ１２３", "abc123"),
        ("ｃａｆｅ", "café"),
        ("ｺｰﾋｰ", "コーヒー"),
        ("ﾊﾟｿｺﾝ", "パソコン"),
        ("５月３日", "5月3日"),
        ("ﬁne", "fine"),
        ("TEA", "tea"),
        ("Straße", "STRASSE"),
        ("İstanbul", "istanbul"),
        ("ΕΛΛΗΝΙΚΆ", "ελληνικά"),
        ("ΟΔΟΣ", "οδος"),
        ("Ёлка", "елка"),
        ("café", "cafe"),
        ("cafe\u0301", "cafe"),
        ("naïve", "naive"),
        ("über", "uber"),
        ("Nguyễn", "nguyen"),
        ("Đà Nẵng", "da nang"),
        ("Smørrebrød", "smorrebrod"),
        ("Łódź", "lodz"),
        ("Kadıköy", "kadikoy"),
        ("שָׁלוֹם", "שלום"),
        ("السَّلام", "السلام"),
    ],
)
def test_width_case_and_accents_do_not_matter(one: str, other: str) -> None:
    assert list_terms(one) == list_terms(other)
    assert query_terms(one) == query_terms(other)


def test_a_voiced_kana_is_another_letter() -> None:
    assert not set(list_terms("ガ")) & set(list_terms("カ"))
    assert list_terms("か\u3099") == list_terms("が")


@thorough
@given(anything)
def test_how_letters_are_composed_does_not_matter(text: str) -> None:
    assert list_terms(unicodedata.normalize("NFC", text)) == list_terms(
        unicodedata.normalize("NFD", text)
    )


@thorough
@given(anything)
def test_what_is_folded_stays_as_it_is(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_everyday_text_is_folded_without_being_normalised_to_the_same_end() -> None:
    codes = [*range(0x80), 0xB7, *range(0x2013, 0x2017), *range(0x2018, 0x201E), 0x2026]
    codes += [*range(0x3000, 0x302A), *range(0x3041, 0x3097), *range(0x30A0, 0x30FF)]
    codes += [*range(0x4E00, 0xA000), *range(0xAC00, 0xD7A4), *range(0xFF01, 0xFF5F)]
    for char in map(chr, codes):
        assert fold(char) == fold(unicodedata.normalize("NFKC", char))


# English


@each("forms", INFLECTIONS)
def test_inflected_forms_meet(forms: list[str]) -> None:
    assert len({tuple(list_terms(form)) for form in forms}) == 1


@each(
    "words",
    [
        "universe university",
        "organ organization",
        "business busy bus",
        "wing win",
        "king kin",
        "string star",
        "bring bran",
        "need knee",
        "used us",
        "this the",
        "thing thin",
        "bed be",
        "red read",
        "species special",
        "iss is",
        "process procession",
        "analysis analyst",
        "meeting meat",
        "c1 c2",
    ],
)
def test_different_words_do_not_meet(words: str) -> None:
    for one, other in combinations(words.split(), 2):
        assert not set(list_terms(one)) & set(list_terms(other))


@pytest.mark.parametrize("words", ["news new", "hoping hopping hope hop", "plane plan", "care car"])
def test_some_different_words_meet_because_endings_are_all_that_is_known(words: str) -> None:
    assert len(set(list_terms(words))) == 1


@pytest.mark.parametrize(
    ("text", "term"),
    [("C++", "cpp"), ("c#", "csharp"), ("F#", "fsharp"), (".NET", "dotnet"), ("用C++寫", "cpp")],
)
def test_a_name_with_signs_is_a_term_of_its_own(text: str, term: str) -> None:
    assert term in list_terms(text)
    assert term in query_terms(text)


def test_signs_elsewhere_make_no_name() -> None:
    assert list_terms("asp.net") == ["asp", "net"]
    assert list_terms(".network") == ["network"]
    assert list_terms("abc++ #1") == ["abc", "1"]


@pytest.mark.parametrize(("one", "other"), [("e-mail", "email"), ("E-mails", "email")])
def test_a_word_with_a_hyphen_meets_the_one_without(one: str, other: str) -> None:
    assert set(list_terms(other)) <= set(list_terms(one))
    assert query_terms(one) & set(list_terms(other))


def test_the_parts_of_a_word_with_a_hyphen_are_found_too() -> None:
    assert {"state", "art", "mail"} & set(list_terms("e-mail")) == {"mail"}
    assert finds("mail", "an e-mail came")


@pytest.mark.parametrize("text", ["anna@example.com", "snake_case_name", "a/b/c.txt", "v1.2.3"])
def test_an_address_is_found_whole_and_by_its_parts(text: str) -> None:
    assert finds(text, f"see {text} there")
    for part in re.findall(r"[a-z0-9]{2,}", text):
        assert finds(part, text)


# Other languages


@each(
    "query, text",
    [
        ("コーヒー", "毎朝コーヒーを飲む"),
        ("さくら", "庭のさくらが咲いた"),
        ("커피", "나는 커피를 좋아한다"),
        ("한국어", "한국어를 배우고 있다"),
        ("กาแฟ", "ฉันชอบดื่มกาแฟตอนเช้า"),
        ("สวัสดี", "สวัสดีครับ"),
        ("हिन्दी", "मैं हिन्दी बोलता हूँ"),
        ("चाय", "मुझे चाय पसंद है"),
        ("தமிழ்", "எனக்கு தமிழ் தெரியும்"),
        ("ខ្មែរ", "ភាសាខ្មែរ"),
        ("кофе", "Я люблю кофе"),
        ("قهوة", "أحب قهوة الصباح"),
        ("🙂", "ok 🙂 fine"),
        ("🍵", "買🍵了"),
        ("⭐", "five ⭐"),
        ("⏰", "⏰ at seven"),
        ("🇹🇼", "from 🇹🇼"),
        ("❤️", "I ❤ tea"),
    ],
)
def test_words_of_other_scripts_are_found_by_themselves(query: str, text: str) -> None:
    assert finds(query, text)


def test_hindi_words_are_not_cut_at_their_vowel_signs() -> None:
    assert list_terms("नमस्ते हिन्दी") == ["नमस्ते", "हिन्दी"]


@pytest.mark.parametrize(
    ("char", "expected"), [("茶", True), ("あ", True), ("한", True), ("ก", True)]
)
def test_scripts_without_spaces_are_known(*, char: str, expected: bool) -> None:
    assert is_unspaced(char) == expected


@pytest.mark.parametrize("char", ["a", "é", "я", "3", "。", " ", "🙂", "ह"])
def test_other_scripts_are_written_with_spaces(char: str) -> None:
    assert not is_unspaced(char)


# Dates


@each(
    "text",
    [
        *("May 3", "May 3rd", "may 3, 2026", "3 May 2026", "3rd of May", "on the 3rd of may 2026"),
        *("2026-05-03", "2026/5/3", "2026.05.03", "2026-05-03T08:30:00Z", "(2026-05-03)"),
        *("5月3日", "五月三日", "５月３日", "5月3號", "5 月 3 日", "2026年5月3日", "我五月三日去"),
    ],
)
def test_a_day_gives_the_same_terms_in_every_notation(text: str) -> None:
    assert list_date_terms(text) == ["5月", "5月3日"]
    assert {"5月", "5月3日"} <= set(list_terms(text))
    assert {"5月", "5月3日"} <= query_terms(text)
    assert find_named_dates(parse_query(text).terms) == {"5月3日"}


@pytest.mark.parametrize("text", ["in May", "May 2026", "五月", "5月份", "since may", "late-May"])
def test_a_month_gives_the_same_term_in_every_notation(text: str) -> None:
    assert list_date_terms(text) == ["5月"]
    assert find_named_dates(parse_query(text).terms) == {"5月"}


@each(
    "text",
    [
        *("5/3", "05-03", "20260503", "12026-05-03", "2026-05/03", "2026-13-01", "v2026.5"),
        *("You may go", "may", "MAY I?", "march on", "a mar", "maybe 3", "3 maybe", "decide 3"),
        *("13月", "0月3日", "二十月", "二十一月", "三個月", "正月"),
    ],
)
def test_what_may_be_no_date_gives_none(text: str) -> None:
    assert list_date_terms(text) == []
    assert find_named_dates(parse_query(text).terms) == set()


@pytest.mark.parametrize("text", ["5月32日", "May 45", "2026-05-00", "五月四十日"])
def test_a_day_that_no_month_has_gives_the_month(text: str) -> None:
    assert list_date_terms(text) == ["5月"]


def test_numerals_up_to_the_last_day_of_the_year_are_read() -> None:
    assert list_date_terms("十二月三十一日") == list_date_terms("Dec. 31") == ["12月", "12月31日"]
    assert list_date_terms("十月十日") == ["10月", "10月10日"]
    assert list_date_terms("一月二十") == ["1月"]


def test_several_dates_are_all_named() -> None:
    assert list_date_terms("2026-05-03/2026-05-04") == ["5月", "5月3日", "5月", "5月4日"]
    query = parse_query("between 3 May and June 4, or in July")
    assert find_named_dates(query.terms) == {"5月3日", "6月4日"}


# What a person types


@pytest.mark.parametrize(
    "text", ["the", "what is it", "的", "什麼", "是什麼呢", "how are you?", "有的"]
)
def test_a_query_of_nothing_but_grammar_still_finds(text: str) -> None:
    assert query_terms(text)
    assert query_terms(text) <= set(list_terms(f"and {text} again"))


@pytest.mark.parametrize(
    ("query", "telling"),
    [
        ("what is the name of my cat", {"nam", "cat"}),
        ("我的貓叫什麼名字", {"猫", "名字", "名", "字"}),
        ("Where did I park?", {"park"}),
        ("小明是什麼？", {"小明"}),
    ],
)
def test_grammar_is_left_out_where_there_is_more(query: str, telling: set[str]) -> None:
    assert telling <= query_terms(query)
    assert not {
        "what",
        "is",
        "the",
        "of",
        "my",
        "的",
        "什么",
        "么",
        "where",
        "did",
        "i",
    } & query_terms(query)


@pytest.mark.parametrize(
    "query", ["小明是什麼？", "小明是誰？", "什麼是小明", "小明呢？", "小明怎麼了"]
)
def test_what_only_asks_leaves_nothing_behind(query: str) -> None:
    assert query_terms(query) == query_terms("小明")


@pytest.mark.parametrize("text", ["", " ", "\n", "?!", "——", "\0", "\ud800", '"', "'", "*", "..."])
def test_a_query_without_words_asks_for_nothing(text: str) -> None:
    assert parse_query(text) == Query((), frozenset())


def test_what_is_said_twice_counts_double() -> None:
    query = parse_query("tea, green tea or black teas, 咖啡和咖啡")
    assert query.repeated == {"tea", "咖啡"}
    assert choose_affordable(query, dict.fromkeys(query.terms, 1)).count("tea") == 2


@pytest.mark.parametrize(
    "text", ["tea " * 900, " ".join(f"word{n}" for n in range(500)), "茶" * 9000]
)
def test_a_long_query_has_a_bounded_number_of_terms(text: str) -> None:
    query = parse_query(text)
    assert 0 < len(query.terms) <= MOST_TERMS
    assert len(set(query.terms)) == len(query.terms)


@pytest.mark.parametrize("length", [40, 66, 200, 3000])
def test_a_long_chinese_query_keeps_its_end(length: int) -> None:
    chars = fold("".join(map(chr, range(0x5000, 0x5000 + length))))
    chosen = parse_query(chars).terms
    places = [chars.index(term[0]) for term in chosen]
    assert max(places) >= length - 16
    gaps = [after - before for before, after in pairwise(sorted(set(places)))]
    assert max(gaps) <= 16


def test_what_comes_after_four_thousand_characters_is_not_asked_for() -> None:
    assert query_terms("." * 3990 + " tea coffee") == {"tea", "coff"}
    assert query_terms("." * 4000 + "tea") == set()


# What a query may cost


def make_query(*chosen: str) -> Query:
    return Query(chosen, frozenset())


def test_the_rarest_terms_are_kept() -> None:
    frequencies = {"tea": 50, "green": 5, "please": 9000, "leaf": 40}
    assert choose_affordable(make_query("tea", "green", "please", "leaf"), frequencies, 100) == [
        "green",
        "leaf",
        "tea",
    ]


def test_one_term_that_occurs_is_kept_however_common_it_is() -> None:
    assert choose_affordable(make_query("the", "zebra"), {"the": 10**6}, 100) == ["the"]
    assert choose_affordable(make_query("the", "a"), {"the": 10**6, "a": 10**7}, 100) == ["the"]


def test_a_hundred_and_twenty_eight_terms_are_looked_up_the_rarest() -> None:
    frequencies = {f"t{number}": 300 - number for number in range(300)} | {"unknown": 0}
    kept = choose_affordable(make_query(*frequencies), frequencies, 10**6)
    assert kept == [f"t{number}" for number in range(299, 171, -1)]


def test_nothing_is_affordable_of_an_empty_query() -> None:
    assert choose_affordable(make_query(), {}) == []


@thorough
@given(
    st.dictionaries(st.sampled_from("abcdefghij"), st.integers(0, 300), max_size=10),
    st.integers(0, 500),
)
def test_what_is_affordable_is_rare_bounded_and_never_nothing(
    frequencies: dict[str, int], most: int
) -> None:
    kept = choose_affordable(make_query(*frequencies), frequencies, most)
    left = {term for term, count in frequencies.items() if count} - set(kept)
    assert all(frequencies[term] for term in kept)
    assert bool(kept) == any(frequencies.values())
    assert sum(frequencies[term] for term in kept) <= most or len(kept) == 1
    assert all(frequencies[one] <= frequencies[other] for one in kept for other in left)


# Whatever is typed


@thorough
@given(anything)
@example("".join(SYNTAX))
@example("".join(STRANGE))
def test_every_term_is_one_token_of_the_full_text_index(table: TermsTable, text: str) -> None:
    table.hold(text)
    assert table.tokens == list_terms(text)
    for term in set(list_terms(text)):
        assert table.has(write_fts_query([term]))


def test_every_letter_and_sign_there_is_survives_the_full_text_index(table: TermsTable) -> None:
    blocks = (range(0x3400), range(0xA000, 0xAC00), range(0xF900, 0x12000), range(0x1E000, 0x20000))
    for block in blocks:
        text = " ".join(f"{chr(code)} a{chr(code)}b 茶{chr(code)}燈" for code in block)
        table.hold(text)
        assert table.tokens == list_terms(text)


@thorough
@given(anything)
@example('" OR "')
@example("的 tea*")
def test_no_query_is_syntax(table: TermsTable, text: str) -> None:
    query = parse_query(text)
    table.hold("nothing of the kind")
    if query.terms:
        assert isinstance(table.has(write_fts_query(query.terms)), bool)
    assert all('"' not in term for term in query.terms)


@thorough
@given(anything)
def test_every_text_with_a_word_is_found_by_itself(table: TermsTable, text: str) -> None:
    query = parse_query(text)
    assert bool(query.terms) == bool(list_terms(text))
    assume(query.terms)
    table.hold(text)
    assert set(query.terms) <= set(list_terms(text))
    assert table.has(write_fts_query(query.terms))


def count_undated(text: str) -> Counter[str]:
    return Counter(term for term in list_terms(text) if not DATE_TERM.fullmatch(term))


@thorough
@given(anything, anything)
def test_texts_with_a_space_between_have_the_terms_of_both(one: str, other: str) -> None:
    assert count_undated(f"{one} {other}") == count_undated(one) + count_undated(other)


@brief
@given(anything)
def test_no_term_has_a_space_or_is_long(text: str) -> None:
    for term in list_terms(text):
        assert 0 < len(term) <= LONGEST_TERM
        assert term.split() == [term]


@pytest.mark.parametrize(
    "text",
    [
        "\u0301" * 1_000_000,
        "a" + "\u0301\u0323" * 500_000,
        "x" * 1_000_000,
        "茶" * 300_000,
        "ह" + "ि" * 300_000,
        "c+" * 300_000,
        "a-" * 300_000,
        "1月" * 50_000,
        "may " * 100_000,
        "2026-" * 100_000,
        "..." * 300_000,
        "\0" * 1_000_000,
        "\ud800" * 300_000,
    ],
    ids=lambda text: ascii(text[:4]),
)
def test_a_megabyte_of_anything_is_read_at_once(text: str) -> None:
    assert max(map(len, list_terms(text)), default=0) <= LONGEST_TERM
    assert len(parse_query(text).terms) <= MOST_TERMS


def test_a_giant_word_comes_in_pieces() -> None:
    assert set(list_terms("x" * 1_000_000)) == {"x" * 64}
