"""Short notes in English, in Chinese and in both, with words as common and as rare as in life."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from itertools import accumulate, islice, product
from pathlib import Path
from random import Random

LANGUAGES = ("English", "Chinese", "mixed")
NOTE_CHARS = 120
ENOUGH_CHARS = {"English": (20, 70), "Chinese": (20, 35), "mixed": (20, 50)}
NOTES_PER_DAY = 100
LAST_DAY = date(2026, 10, 31)
RARE_WORDS = 6000
QUERIES_PER_KIND = 6

NAMES = "Anna Ben Clara David Emma Felix Grace Henry Iris Jack Karen Leo Mona Nick Olga"
PLACES = (
    "kitchen office garden station library bakery clinic harbour market school cellar museum"
    " airport bridge theatre workshop balcony gym"
)
THINGS = (
    "coffee lamp ticket invoice bicycle password umbrella printer guitar passport kettle plant"
    " router jacket camera ladder violin thermostat backpack recipe notebook charger carpet"
    " telescope blanket"
)
NAMES_ZH = "小明 怡君 志豪 淑芬 家豪 美玲 俊傑 雅婷 建宏 佳穎 冠宇 詩涵 承翰 欣怡 柏翰"
PLACES_ZH = "客廳 廚房 公司 車站 圖書館 診所 市場 學校 陽台 博物館 機場 書房 健身房 麵包店"
THINGS_ZH = (
    "咖啡 檯燈 車票 發票 腳踏車 密碼 雨傘 印表機 吉他 護照 茶壺 盆栽 路由器 外套 相機 梯子"
    " 小提琴 溫控器 背包 食譜 筆記本 充電器 地毯 望遠鏡 毛毯"
)
_SYLLABLES = "ba cor den fil gam hol jun kel lor mis nav ost pim quen rad sul tor ven wix zan"
_CHARS = (
    "山水風雲石竹松梅金銀銅木火土光影聲色香味春夏秋冬東西南北紙筆刀車船橋路門窗井田園"
    "琴棋書畫詩酒花鳥魚蟲江湖海島雪霜雨露星月日夜城鄉街巷樓台鐘鼓針線布絲衣帽鞋襪碗盤杯壺"
)

TEMPLATES = {
    "English": (
        "{name} put the {thing} next to the {thing} in the {place}.",
        "Remember to buy a new {thing} for {number} dollars before the weekend.",
        "The {thing} from the {place} is broken again, and {name} will repair it.",
        "{name} prefers the {thing} that we saw at the {place}.",
        "Meeting with {name} about the {thing} moved to {number} o'clock.",
        "We paid {number} for the {thing}.",
        "{name} is looking for the {thing} and asked everybody at the {place}.",
        "Never leave the {thing} outside when it rains.",
    ),
    "Chinese": (
        "{name_zh}把{thing_zh}放在{place_zh}的{thing_zh}旁邊。",
        "記得在週末以前買新的{thing_zh}，大約{number}元。",
        "{place_zh}的{thing_zh}又壞了，{name_zh}說明天會來修理。",
        "{name_zh}比較喜歡我們在{place_zh}看到的那個{thing_zh}。",
        "和{name_zh}討論{thing_zh}的會議改到{number}點，地點在{place_zh}。",
        "{thing_zh}花了{number}元，比上次在{place_zh}買的便宜。",
        "{name_zh}在{place_zh}找了很久，還是沒有找到{thing_zh}。",
        "下雨的時候不要把{thing_zh}和{thing_zh}留在外面。",
    ),
    "mixed": (
        "{name} 說 {thing} 放在{place_zh}，旁邊是{thing_zh}。",
        "{place_zh}的 {thing} 要換新的，預算 {number} 元，請 {name} 確認。",
        "Ask {name_zh} about the {thing_zh} at the {place} before {number} o'clock.",
        "{name_zh}用 {thing} 控制{place_zh}的{thing_zh}，代碼是 {number}。",
        "The {thing} in the {place} 是{name_zh}送的，和{thing_zh}放在一起。",
    ),
}
ASKED = {
    "a Chinese word": "{thing_zh}",
    "two words": "{place_zh} {thing}",
    "a question in Chinese": "請問{name_zh}上次在{place_zh}把{thing_zh}放到哪裡去了？",
    "an English word": "{thing}",
    "a question in English": "Where did {name} put the {thing} that we bought for the {place}?",
}


class _Words:
    """Words of one kind: the second is half as common as the first, the third a third of it."""

    def __init__(self, common: str, rare: Sequence[str] = ()) -> None:
        self._words = [*common.split(), *rare]
        self._shares = [*accumulate(1 / rank for rank in range(1, len(self._words) + 1))]

    def pick(self, random: Random) -> str:
        """Take one, the first most often."""
        return random.choices(self._words, cum_weights=self._shares)[0]


def _rare(parts: Sequence[str], length: int) -> list[str]:
    """Make up rare words, in an order that has nothing to do with their letters."""
    words = sorted({"".join(several) for several in product(parts, repeat=length)})
    Random(0).shuffle(words)
    return words[:RARE_WORDS]


_COMMON = {
    "name": _Words(NAMES),
    "place": _Words(PLACES),
    "thing": _Words(THINGS),
    "name_zh": _Words(NAMES_ZH),
    "place_zh": _Words(PLACES_ZH),
    "thing_zh": _Words(THINGS_ZH),
}
_ALL = {
    **_COMMON,
    "thing": _Words(THINGS, _rare(_SYLLABLES.split(), 3)),
    "thing_zh": _Words(THINGS_ZH, _rare(_CHARS, 2)),
}


class _Filling(dict[str, str]):
    """What a template's slots are filled with: something else each time."""

    def __init__(self, random: Random, words: Mapping[str, _Words]) -> None:
        super().__init__()
        self._random = random
        self._words = words

    def __missing__(self, slot: str) -> str:
        if slot == "number":
            return str(self._random.randrange(1, 3000))
        return self._words[slot].pick(self._random)


def notes(random: Random, languages: Sequence[str] = LANGUAGES) -> Iterator[str]:
    """Make up notes endlessly."""
    filling = _Filling(random, _ALL)
    while True:
        language = random.choice(languages)
        templates = TEMPLATES[language]
        wanted = random.randint(*ENOUGH_CHARS[language])
        text = random.choice(templates).format_map(filling)
        while len(text) < wanted:
            text = f"{text} {random.choice(templates).format_map(filling)}"
        yield text[:NOTE_CHARS].rstrip()


def queries() -> list[str]:
    """Return queries: words and questions in both languages, common and rare ones."""
    random = Random(2)
    return [
        asked.format_map(_Filling(random, words))
        for _ in range(QUERIES_PER_KIND // 2)
        for words in (_COMMON, _ALL)
        for asked in ASKED.values()
    ]


def write_days(folder: Path, count: int, languages: Sequence[str] = LANGUAGES) -> None:
    """Write daily logs that hold so many notes."""
    folder.mkdir(parents=True)
    random = Random(1)
    written = islice(notes(random, languages), count)
    for days in range(-(-count // NOTES_PER_DAY)):
        day = LAST_DAY - timedelta(days)
        entries = [
            f"- {place // 6:02}:{place % 6}0 {note}\n"
            for place, note in enumerate(islice(written, NOTES_PER_DAY))
        ]
        (folder / f"{day}.md").write_text(f"# {day}\n\n{''.join(entries)}", "utf-8")
