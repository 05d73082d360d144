from __future__ import annotations

import io
import re
from itertools import pairwise

import pytest
from rich.cells import cell_len
from rich.console import Console

from tests.faces.screen import Screen
from turnleaf.faces.cli.answers import MarkdownVoice
from turnleaf.faces.cli.markdown import blocks, breaks

MIXED = "我家的 Neovim 設定檔放在 dotfiles 這個資料夾，每次換電腦的時候都會用它來安裝。"
ANSWER = """\
# 標題

A paragraph with **bold** and `code`,
on two lines.

- one
- 二

| name | 值 |
|---|---|
| lamp | 小明 |

```python
print("燈")
```

The end."""


class Terminal:
    """A voice on a screen of its own."""

    def __init__(self, *, width: int = 80, height: int = 24) -> None:
        self.file = io.StringIO()
        console = Console(
            file=self.file, force_terminal=True, width=width, height=height, highlight=False
        )
        self.voice = MarkdownVoice(console)
        self.width = width

    @property
    def screen(self) -> list[str]:
        return Screen(self.width).show(self.file.getvalue()).rstrip().splitlines()


def shown(markdown: str, *, width: int = 80, height: int = 24, piece: int = 3) -> list[str]:
    made = Terminal(width=width, height=height)
    with made.voice as voice:
        for at in range(0, len(markdown), piece):
            voice.say(markdown[at : at + piece])
    return made.screen


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_an_answer_looks_the_same_in_whatever_pieces_it_comes(piece: int) -> None:
    assert [line.strip() for line in shown(ANSWER, piece=piece)] == [
        "標題",
        "",
        "A paragraph with bold and code,",
        "on two lines.",
        "",
        "• one",
        "• 二",
        "",
        "name  值",
        "──────────",
        "lamp  小明",
        "",
        'print("燈")',
        "",
        "The end.",
    ]


def test_what_is_finished_is_written_once_and_what_is_not_is_drawn_below() -> None:
    made = Terminal()
    with made.voice as voice:
        voice.say("First.\n\nSec")
        voice.say("ond.\n\nThird")
        first, second = (made.file.getvalue().count(word) for word in ("First", "Second"))
    assert (first, second) == (1, 1)
    assert made.screen == ["First.", "", "Second.", "", "Third"]


def test_what_is_not_finished_stands_where_it_will_stay() -> None:
    made = Terminal()
    with made.voice as voice:
        voice.say("First.\n\nSecond\n")
        meanwhile = made.screen
    assert meanwhile == made.screen == ["First.", "", "Second"]


def test_an_answer_that_is_higher_than_the_screen_is_whole_in_the_end() -> None:
    listed = "\n".join(f"- 第 {number} 項" for number in range(60))
    assert shown(listed, height=10, piece=50) == [f" • 第 {number} 項" for number in range(60)]


def test_a_tool_call_is_one_quiet_line_between_what_is_said() -> None:
    made = Terminal(width=30)
    with made.voice as voice:
        voice.say("Let me look.")
        voice.hint("search_memory query: 鍋爐上次是什麼時候保養的，是誰來保養的")
        voice.hint("")
        voice.hint("append_memory failed")
        voice.say("In May.")
    first, gap, call, failure, second_gap, last = made.screen
    assert (first, last, gap, second_gap) == ("Let me look.", "In May.", "", "")
    assert call.startswith("· search_memory query: 鍋")
    assert cell_len(call) <= 30
    assert failure == "· append_memory failed"
    assert "\x1b[2m· search" in made.file.getvalue()


def test_an_answer_without_a_word_leaves_nothing_behind() -> None:
    made = Terminal()
    with made.voice:
        pass
    assert made.screen == []


@pytest.mark.parametrize(
    ("hostile", "seen"),
    [
        ("\x1b]0;owned\x07 \x1b[2J", r"\x1b]0;owned\x07 \x1b[2J"),
        ("a &#x202e;b &#8238; c", r"a \u202eb \u202e c"),
        ("`\x1b[31m`", r"\x1b[31m"),
        ("[text](http://a.example/\x9b31m)", "31m"),
        ("<img src=x onerror=y>", "<img src=x onerror=y>"),
        ("<script>\nrun()\n</script>", "run()"),
    ],
)
def test_nothing_in_an_answer_acts_or_hides(hostile: str, seen: str) -> None:
    made = Terminal()
    with made.voice as voice:
        voice.say(hostile)
    ours = r"\x1b\[(\?25[lh]|[0-9;]*m|[0-9]*[AK])"
    assert seen in "\n".join(made.screen)
    written = made.file.getvalue()
    assert "\x07" not in written
    assert "\u202e" not in written
    assert "\x9b" not in written
    assert "\x1b" not in re.sub(ours, "", written)


# Where lines end


@pytest.mark.parametrize("width", range(2, 90, 3))
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    ends = [0, *breaks(MIXED, width), len(MIXED)]
    parts = [MIXED[start:end] for start, end in pairwise(ends)]
    assert "".join(parts) == MIXED
    assert all(cell_len(part.rstrip()) <= width for part in parts)
    assert all(parts)


def test_a_line_of_chinese_is_filled_and_no_word_is_cut() -> None:
    assert shown(MIXED, width=40) == [
        "我家的 Neovim 設定檔放在 dotfiles 這個資",
        "料夾，每次換電腦的時候都會用它來安裝。",
    ]
    assert shown("one two three", width=8) == ["one two", "three"]
    assert shown("incomprehensible", width=10) == ["incomprehe", "nsible"]


def test_no_line_begins_with_a_closing_mark_or_ends_with_an_opening_one() -> None:
    assert shown("一二三四，五六", width=8) == ["一二三", "四，五六"]
    assert shown("一二三「四五」", width=8) == ["一二三", "「四五」"]


# Blocks


def test_a_text_is_cut_where_its_blocks_begin() -> None:
    assert blocks("one\n\ntwo") == ["one\n", "two"]
    assert blocks("# 一\n二\n") == ["# 一", "二\n"]
    for whole in ("one\ntwo", "- a\n- b\n\n  more", "```\na\n\nb", "| a |\n|---|\n| b |"):
        assert blocks(whole) == [whole]
    assert blocks("") == []
