"""Estimated token counts, and what a message costs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.growth import grows_with_its_text
from tests.strategies import AWKWARD, thorough
from turnleaf.core.messages import Content, Message
from turnleaf.core.tokens import count_content_chars, count_message_tokens, estimate
from turnleaf.store.token_vocabulary import choose_counter

ENGLISH = """\
I moved to the new apartment on Saturday, and I still can't find the coffee grinder. Could you
remind me on Thursday to call the landlord about the heating? It's loud at night, and the radiator
in the bedroom doesn't get warm at all. My sister is visiting next week; she is allergic to nuts."""

TRADITIONAL = """\
我星期六搬進了新的公寓，到現在還找不到磨豆機。星期四可以提醒我打電話給房東，問問暖氣的事嗎？
晚上的聲音很大，臥室裡的電暖器也完全不會熱。我妹妹下禮拜要來玩，她對堅果過敏，煮飯的時候要
特別注意。另外，請幫我把上次討論的結果整理成一份文件，寄給所有參加會議的人。"""

SIMPLIFIED = """\
我星期六搬进了新的公寓，到现在还找不到磨豆机。星期四可以提醒我打电话给房东，问问暖气的事吗？
晚上的声音很大，卧室里的电暖器也完全不会热。我妹妹下周要来玩，她对坚果过敏，做饭的时候要特别
注意。另外，请帮我把上次讨论的结果整理成一份文件，发给所有参加会议的人。"""

MIXED = """\
我昨天把 Home Assistant 升級到 2026.11，結果 Zigbee 的燈全部 offline。log 裡面一直出現 timeout，
重開 container 也沒用。你可以幫我看一下 docker compose 的設定嗎？Maybe the USB stick moved from
/dev/ttyUSB0 to /dev/ttyUSB1。如果要 rollback，先做 backup 再改 config。"""

CODE = '''\
def newest_within(messages: list[Message], budget: int) -> list[Message]:
    """Return the newest messages that fit."""
    kept: list[Message] = []
    for message in reversed(messages):
        budget -= len(message.content)
        if budget < 0 and kept:
            break
        kept.append(message)
    return kept[::-1]


class HttpError(Exception):
    def __init__(self, status_code: int, *, retry_after: float | None = None) -> None:
        super().__init__(f"HTTP {status_code}")
        self.status_code = status_code
        self.retryAfter = retry_after
'''

MARKDOWN = """\
# Release notes

## 1.4.0

- **Breaking:** `connect()` now needs a `timeout`; see [the guide](https://example.org/guide#timeouts).
- Fixed: a crash when the file is empty (#1287).

| option    | default | meaning               |
|-----------|--------:|-----------------------|
| `--depth` |       3 | how far links are followed |
| `--quiet` |      no | print only errors     |

```sh
pip install --upgrade example-client
```

> Note: Python 3.9 is no longer supported.
"""

JAPANESE = """\
土曜日に新しいアパートへ引っ越しましたが、コーヒーミルがまだ見つかりません。木曜日に大家さんへ
電話するように知らせてください。夜はとてもうるさくて、寝室のヒーターも全然暖かくなりません。"""

KOREAN = """\
토요일에 새 아파트로 이사했는데 커피 그라인더를 아직 찾지 못했어요. 목요일에 집주인에게 전화하라고
알려 주세요. 밤에는 소리가 크고 침실 난방이 전혀 따뜻해지지 않아요."""

ADDRESSES = """\
https://example.org/a/b/c?query=tokens&page=2#results
http://localhost:8080/api/v1/conversations/3f9a1c77-52d0-4f3e-9a51-0c1f7be1a2d4
/usr/share/zoneinfo/Asia/Taipei  user.name+tag@mail.example.com"""

FIGURES = """\
2026-11-15 07:42:31.250  1,234,567.89  +886 2 2345 6789  192.168.1.254  3.14159265358979
2026-11-16 18:05:00.000  9,876.54  0x7fff5fbff8a0  42 %  1e-9"""

EMOJI = "太好了 🎉🎉 See you at 7 😀 👍🏽 ❤️ ☕️ 🚆 → 🏠 ✅"

WITHIN_15_PERCENT = {
    "English": ENGLISH,
    "Traditional Chinese": TRADITIONAL,
    "Simplified Chinese": SIMPLIFIED,
    "mixed": MIXED,
    "code": CODE,
    "Markdown": MARKDOWN,
}
WITHIN_25_PERCENT = {
    "Japanese": JAPANESE,
    "Korean": KOREAN,
    "addresses": ADDRESSES,
    "figures": FIGURES,
    "emoji": EMOJI,
}

any_text = st.text(st.characters(), max_size=60) | AWKWARD


def ratio(text: str) -> float:
    return estimate(text) / choose_counter()(text)


def count_as_one(text: str) -> int:
    """Count every text as one, so that a message's own cost is what is seen."""
    return 1 if text else 0


def image(detail: str | None = None) -> dict[str, Any]:
    url = {"url": "data:image/png;base64," + "A" * 100_000}
    return {"type": "image_url", "image_url": {**url, **({"detail": detail} if detail else {})}}


# The estimate


@pytest.mark.parametrize("text", WITHIN_15_PERCENT.values(), ids=WITHIN_15_PERCENT)
def test_the_estimate_of_what_it_was_made_for_is_at_most_15_percent_off(text: str) -> None:
    assert 0.85 <= ratio(text) <= 1.15


@pytest.mark.parametrize("text", WITHIN_25_PERCENT.values(), ids=WITHIN_25_PERCENT)
def test_the_estimate_of_other_text_is_at_most_25_percent_off(text: str) -> None:
    assert 0.75 <= ratio(text) <= 1.25


@pytest.mark.parametrize("text", WITHIN_15_PERCENT.values(), ids=WITHIN_15_PERCENT)
def test_lines_as_short_as_messages_are_at_most_30_percent_off(text: str) -> None:
    lines = [line for line in text.splitlines() if len(line) >= 30]
    assert lines
    assert all(0.7 <= ratio(line) <= 1.3 for line in lines)


@pytest.mark.parametrize(
    "unit", ["a", "A", " ", "\n", "=", "-", "7", "中", "😂", "()", "ab ", "，"]
)
def test_a_long_run_of_the_same_is_at_most_three_times_off(unit: str) -> None:
    assert 1 / 3 <= ratio(unit * 3000) <= 3


def test_nothing_is_no_token() -> None:
    assert estimate("") == 0


@pytest.mark.parametrize(
    "text", ["a", "é", "中", "\0", "\ud800", "\x7f", "\x80", " ", "\u200b", "𠀀"]
)
def test_any_character_is_at_least_one_token(text: str) -> None:
    assert estimate(text) >= 1


@thorough
@given(any_text, any_text)
@example("\ud800", "\udc00")
@example("=" * 63, "=" * 63)
@example("/\n" * 99, "//\n\n/" * 99)
@example("it", "'s")
def test_two_texts_together_are_hardly_more_than_apart(one: str, other: str) -> None:
    assert 0 <= estimate(one + other) <= estimate(one) + estimate(other) + 3


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10**6,
        " " * 10**6,
        " \n" * 500_000,
        "aA" * 500_000,
        "=-" * 500_000,
        "中" * 10**6,
        "中 a" * 330_000,
        "\ud800" * 10**6,
        "\0" * 10**6,
    ],
    ids=lambda text: repr(text[:4]),
)
def test_time_grows_no_faster_than_the_text(text: str) -> None:
    assert grows_with_its_text(estimate, text)


# Messages


def test_a_message_costs_four_tokens_beside_its_text() -> None:
    assert count_message_tokens(Message("user", "hi"), count_as_one) == 4 + 1


def test_a_name_costs_its_text_and_one_more() -> None:
    assert count_message_tokens(Message("user", "hi", name="ann"), count_as_one) == 5 + 2


def test_a_tool_call_costs_its_id_its_name_and_its_arguments() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    message = Message("assistant", None, tool_calls=[call])
    assert count_message_tokens(message, count_as_one) == 4 + 3 + 3


def test_a_custom_tool_call_costs_its_input() -> None:
    call = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    message = Message("assistant", "one moment", tool_calls=[call])
    assert count_message_tokens(message, count_as_one) == 5 + 3 + 3


def test_a_tool_result_costs_the_id_of_its_call() -> None:
    assert count_message_tokens(Message("tool", "7", tool_call_id="c1"), count_as_one) == 5 + 1


def test_longer_arguments_cost_more() -> None:
    costs = []
    for arguments in ('{"q": "x"}', '{"q": "' + "word " * 50 + '"}'):
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
        costs.append(count_message_tokens(Message("assistant", None, tool_calls=[call]), estimate))
    assert costs[1] - costs[0] >= 45


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        ({"type": "text", "text": "hello"}, 1),
        ({"type": "refusal", "refusal": "no"}, 1),
        (image(), 765),
        (image("high"), 765),
        (image("auto"), 765),
        (image("low"), 85),
        ({"type": "image_url", "image_url": "data:image/png;base64,AAAA"}, 765),
        ({"type": "input_audio", "input_audio": {"data": "A" * 9999, "format": "wav"}}, 765),
        ({"type": "file", "file": {"file_data": "A" * 9999}}, 765),
        ({"type": "text", "text": None}, 765),
    ],
    ids=lambda value: value["type"] if isinstance(value, dict) else None,
)
def test_a_part_costs_its_text_or_a_fixed_number(part: dict[str, Any], tokens: int) -> None:
    assert count_message_tokens(Message("user", [part]), count_as_one) == 4 + tokens
    assert count_message_tokens(Message("user", [part, part]), count_as_one) == 4 + 2 * tokens


@pytest.mark.parametrize(
    ("content", "chars"),
    [
        (None, 0),
        ("", 0),
        ("喝茶", 2),
        ([], 0),
        ([{"type": "text", "text": "tea"}, {"type": "text", "text": "喝茶"}], 5),
        ([{"type": "text", "text": "look"}, image()], 4 + 4 * 765),
        ([image("low")], 4 * 85),
    ],
)
def test_the_characters_of_a_content(content: Content, chars: int) -> None:
    assert count_content_chars(content) == chars


@pytest.mark.parametrize("role", ["system", "developer", "user", "assistant", "tool"])
def test_a_role_is_one_token(role: str) -> None:
    assert choose_counter()(role) == 1


def test_more_text_never_costs_less() -> None:
    words = ENGLISH.split(" ")
    costs = [
        count_message_tokens(Message("user", " ".join(words[:n])), estimate)
        for n in range(len(words))
    ]
    assert all(one <= other for one, other in pairwise(costs))
