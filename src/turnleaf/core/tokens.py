"""How many tokens a text and a message are, without a vocabulary.

The estimate follows OpenAI's o200k vocabulary. That cuts ASCII text at the borders of words
before it looks anything up, so the pieces of such text are counted. Other scripts have no such
borders: there each character has its average share of a token.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from turnleaf.core.loading import make_pattern

if TYPE_CHECKING:
    from turnleaf.core.messages import Content, Message, Part

Count: TypeAlias = Callable[[str], int]

# What OpenAI's rule of counting adds to the text of a message, and of a name.
MESSAGE_TOKENS = 3
ROLE_TOKENS = 1
NAME_TOKENS = 1

IMAGE_TOKENS = 765
SMALL_IMAGE_TOKENS = 85
CHARS_PER_TOKEN = 4

_MARK = r"\x00-\x08\x0e-\x1b!-/:-@\[-`{-\x7f"
_ENDING = "(?:'(?:[stmd]|re|ve|ll))?"

# Each match is about one token. The longest lengths are those that fit real text best: a word
# after a space is mostly one token, and one after a bracket or an underscore is more often two.
# All lengths have an end, so that time is linear; the one group keeps what findall collects small.
_PIECE = make_pattern(
    "|".join(
        (
            rf" (?:[a-z]{{1,12}}|[A-Z]{{1,5}}[a-z]{{0,12}}){_ENDING}",
            rf"[{_MARK}][A-Za-z][a-z]{{0,3}}",
            rf"(?:[a-z]{{1,7}}|[A-Z]{{1,5}}[a-z]{{0,6}}){_ENDING}",
            r"[0-9]{1,3}",
            rf" ?(?:([{_MARK}])\1{{3,63}}|[{_MARK}]{{1,3}})[\r\n]{{0,16}}",
            r"[^\S\r\n]{0,80}[\r\n]{1,16}",
            r"[^\S\r\n]{1,80}(?!\S)",
            r"\s",
        )
    )
)
_ASCII = make_pattern(r"[\x00-\x7f]+")
_GAP = "\x80"  # stands for what is not ASCII, and is in no piece

# Chinese characters, by the share of a token that they were found to have in real text.
_IN_WHOLE_WORDS = (
    "一上下不业个中串主么之事些交产享人今他付代以件任何作使例供保信健免全公共关其具准出分划制"
    "前功加务动包升参及发取另只可司合同名否含品善因型增外大央好如始字存安完定容小工己希常序建"
    "开式录形待得心必态息意成户所执技括持指据排接控推描提搜摘操支改政数整文料新方无日是显最有"
    "服期本析果查标核格模正比求沒没法注活消添湖照片版状现理生用目直看真知示程究立符第策管类系"
    "素经结统置者背能自般范融行表要规解计认议设資资足输过近返这述退避部配醒重量间限除需面题默"
)
_TRADITIONAL = (
    "並乾亂亞來係個們側備傳優內兩冊別則動務區協參員問單嗎國圖報場學實寫將專尋對導島帳帶庫強後"
    "從復態應戶掃掛採換擊據敗數於時書會東條業極構樂標樣機權歷決況減測準滿為無現環產畫異當發監"
    "盤確碼種稱積筆節簡紀約紅級細終組結給統經維網緒線編縮總續羅義聯聲腳臺與萬處號術補裝製見規"
    "視覽觀訂計訊討記設許診詞詢試話詳誌認語說調請論謝證識議護讀變讓負費較載輪輯輸轉辦這連週進"
    "運過達遠適選還郵錄錯鍵鏈鐘長門閉開間閱關陽階際雙離難電響頁項順須預領頭頻題額類風驗體麼點"
)
_IN_TWO_TOKENS = (
    "丢乏仰伐伺伽併偵傍傾僅僵儀儘儲剛劃劣匈匯卻叠哇啟啡嘗噪嚴圍垂執堆塊壓壞壤夠夾妥孝寬屆屈層"
    "屬崩嵌幫幾廊廓彈彭徑徵恰慮憑憶戳抑抬拱捉損撰擁擅擇擎擔擬擴擺敲斑斜斷昇暫曆栽梳梵椅椎樹檔"
    "檢欄歇歐歧歸殿氛汐沫浙浸淨溢濾瀏烤烹煎煮爭爾狀獨獲瓷疊疏痕盡瞻矛碗碟碳礎稀稻稽範篷簽籤粘"
    "糊絕綠綴緊緣緩繪繼缀耶聽脆脊脫腦臨舉舊芙茂莽蒸蓄蓉蓋蔬藉藩蘭虛螢衝衰裡複覺觸訴註該誤諸譯"
    "豐貝貴賓趁蹤軌軟輕迭迴逗逾遞遲遷遺邊釋針銷鎖鏡阱陣陳隙隨險隱雖雜靜顏顧顯餘騰驅驟鬆麓黔齊"
)

# The first character of a block, and the share of its characters in hundredths of a token.
_BLOCKS = (
    (0x0000, 100),
    (0x00C0, 10),  # Latin with accents: the letters around it are pieces already
    (0x0250, 100),
    (0x0370, 15),  # Greek, Cyrillic, Hebrew, Arabic, Devanagari: words, and spaces are pieces
    (0x0E00, 40),  # Thai, Lao
    (0x0F00, 100),
    (0x1E00, 10),  # Vietnamese
    (0x1F00, 94),
    (0x2500, 20),  # lines of boxes, which are long
    (0x2580, 94),
    (0x3040, 62),  # kana
    (0x3100, 200),
    (0x3400, 300),
    (0x4E00, 95),  # Chinese characters
    (0xA000, 200),
    (0xAC00, 45),  # hangul
    (0xD7A4, 100),
    (0xE000, 300),
    (0xFB00, 94),
    (0x10000, 300),
    (0x1F000, 140),  # emoji
    (0x20000, 400),
)
_STARTS = [start for start, _ in _BLOCKS]
_REMEMBERED = 0x10000


class _Shares(dict[str, int]):
    """The share of a token of each character that has been asked for."""

    def __missing__(self, character: str) -> int:
        code = ord(character)
        share = _BLOCKS[bisect_right(_STARTS, code) - 1][1]
        # Rare characters are not remembered, or a hostile text could fill the memory with them.
        if code < _REMEMBERED:
            self[character] = share
        return share


_SHARES = _Shares(
    {
        **dict.fromkeys(_IN_WHOLE_WORDS, 45),
        **dict.fromkeys(_TRADITIONAL, 131),
        **dict.fromkeys(_IN_TWO_TOKENS, 242),
    }
)


def estimate(text: str) -> int:
    """Estimate how many o200k tokens a text is, in linear time."""
    if text.isascii():
        # The common case by itself: a text of ASCII alone needs no second pass.
        return len(_PIECE.findall(text))
    pieces = len(_PIECE.findall(_GAP.join(_ASCII.findall(text))))
    hundredths = sum(map(_SHARES.__getitem__, _ASCII.sub("", text)))
    return max(1, pieces + round(hundredths / 100))


def count_message_tokens(message: Message, count: Count) -> int:
    """Count the tokens of a message: its text, its parts, its calls, and the frame around them."""
    total = MESSAGE_TOKENS + ROLE_TOKENS + _count_content_tokens(message.content, count)
    if message.name:
        total += NAME_TOKENS + count(message.name)
    if message.tool_call_id:
        total += count(message.tool_call_id)
    return total + sum(_count_call_tokens(call, count) for call in message.tool_calls or ())


def count_content_chars(content: Content) -> int:
    """Count the characters of a message; an image counts as text of as many tokens."""
    return _measure_content(content, len, CHARS_PER_TOKEN)


def _count_content_tokens(content: Content, count: Count) -> int:
    return _measure_content(content, count, 1)


def _measure_content(content: Content, size: Count, per_token: int) -> int:
    if content is None or isinstance(content, str):
        return size(content or "")
    texts = map(_find_text, content)
    return sum(
        _count_flat_tokens(part) * per_token if text is None else size(text)
        for part, text in zip(content, texts, strict=True)
    )


def _find_text(part: Part) -> str | None:
    found = part.get("text", part.get("refusal"))
    return found if isinstance(found, str) else None


def _count_flat_tokens(part: Part) -> int:
    """Return the tokens of an image by OpenAI's rule, however long its data is."""
    image = part.get("image_url")
    is_small = isinstance(image, dict) and image.get("detail") == "low"
    return SMALL_IMAGE_TOKENS if is_small else IMAGE_TOKENS


def _count_call_tokens(call: dict[str, Any], count: Count) -> int:
    called = call.get("function") or call.get("custom") or {}
    texts = (call.get("id"), called.get("name"), called.get("arguments", called.get("input")))
    return MESSAGE_TOKENS + sum(count(str(text)) for text in texts if text)


TOOLS_TOKENS = 1200
"""What the tools take that are described to a model beside the prompt."""
TOOLS_WINDOW = 4_096
"""The smallest context that has room for tools beside the memory; below, none are offered."""
_PROMPT_SHARE = 0.75


def has_room_for_tools(context_window: int | None) -> bool:
    """Whether a model's context has room for tools beside the memory."""
    return context_window is None or context_window >= TOOLS_WINDOW


def find_prompt_budget(max_tokens: int, context_window: int | None) -> int:
    """Return the most tokens that a prompt may have, so that a model has room to answer.

    Prompt and tools together take three quarters of the context at most. Where that leaves nothing,
    the composer leaves out all but the instructions and the message.
    """
    if context_window is None:
        return max_tokens
    tools = TOOLS_TOKENS if has_room_for_tools(context_window) else 0
    return max(1, min(max_tokens, int(context_window * _PROMPT_SHARE) - tools))
