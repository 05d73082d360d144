"""Text of a realistic size and mixture: English and Chinese, short questions, long answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from turnleaf import ConversationTurn

START = datetime.now(UTC)
EXCHANGES = 10
QUESTION_CHARS = (60, 140)
ANSWER_CHARS = (400, 660)  # ten exchanges of the longest are 8,000 characters, the store's limit
FACT_CHARS = (40, 80)

ENGLISH = (
    "Could you check whether the lamp in the living room is still on?",
    "The train to Taipei leaves at 7:42 from platform 3, so leave the house before seven.",
    "I prefer short answers with one example, and please no tables.",
    "The function returns early when the list is empty, which is why nothing was printed.",
    "Remind me on Thursday to send the invoice, and to attach the signed copy this time.",
    "You could move the lock outside the loop; then every process waits only once.",
    "My daughter is allergic to peanuts, so the cake must not contain any.",
    "That depends on the weather: if it rains, the museum is the better choice.",
    "`git log --oneline` shows the last commits, one on each line.",
    "Both numbers are right, but the second one counts the weekends as well.",
)
CHINESE = (
    "客廳的檯燈還開著嗎？可以幫我確認一下嗎？",
    "開往臺北的火車七點四十二分從第三月台發車，請在七點以前出門。",
    "我喜歡簡短的回答，最好附上一個例子，不要用表格。",
    "清單是空的時候函式會提早返回，所以什麼都沒有印出來。",
    "星期四提醒我寄發票，這次記得附上簽好名的那一份。",
    "你可以把鎖移到迴圈外面，這樣每個行程只需要等一次。",
    "我女兒對花生過敏，所以蛋糕裡不能有花生。",
    "這要看天氣：如果下雨，去博物館比較好。",
    "两个数字都对，不过第二个把周末也算进去了。",
    "Docker 容器裡只掛載單一檔案時，不能用改名的方式取代它。",
)


@dataclass(frozen=True, slots=True)
class SampleExchange:
    """A question and its answer."""

    question: str
    answer: str

    def turns(self) -> list[ConversationTurn]:
        """Return it as the store keeps it."""
        return [
            ConversationTurn("user", self.question, START),
            ConversationTurn("assistant", self.answer, START),
        ]


def exchange(random: Random) -> SampleExchange:
    """Make up one exchange, in English, in Chinese or in both."""
    sentences = random.choice((ENGLISH, CHINESE, ENGLISH + CHINESE))
    return SampleExchange(
        _text(random, sentences, QUESTION_CHARS), _text(random, sentences, ANSWER_CHARS)
    )


def conversation(random: Random) -> list[SampleExchange]:
    """Make up a conversation that is as long as a store lets it grow."""
    return [exchange(random) for _ in range(EXCHANGES)]


def fact(random: Random) -> str:
    """Make up something to remember; its number makes it different from any other."""
    text = _text(random, random.choice((ENGLISH, CHINESE)), FACT_CHARS)
    return f"{text} ({random.randrange(10**9)})"


def key(number: int) -> str:
    """Name a conversation as the Slack interface does."""
    return f"slack:17600{number:05}.000100"


def _text(random: Random, sentences: tuple[str, ...], size: tuple[int, int]) -> str:
    chars = random.randint(*size)
    text = ""
    while len(text) < chars:
        text += random.choice(sentences) + " "
    return text[:chars].rstrip()
