"""Any text stands in a Markdown bullet and comes back exactly."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.strategies import contents, thorough
from turnleaf.core.markdown_blocks import COMMENT, decode_bullet, encode_bullet

MARKERS = ("- ", "* ", "-   ", "  + ")
markers = st.sampled_from(MARKERS)


@pytest.mark.parametrize(
    "text",
    ["likes tea", "a < b & c", "R&D", "使用者喜歡咖啡", "use `code` and *stars*", "&amp;", "1 - 2"],
)
def test_an_ordinary_text_is_written_as_it_is(text: str) -> None:
    assert encode_bullet(text) == [f"- {text}"]


def test_several_lines_stand_below_each_other_indented() -> None:
    assert encode_bullet("one\ntwo\n\n- three") == ["- one", "  two", "", "  - three"]
    assert encode_bullet("one\ntwo", "-   ") == ["-   one", "    two"]


@thorough
@given(contents, markers)
@example("trailing space \nsecond line", "- ")
@example("  edges\t\n", "- ")
@example("a\r\nb\rc", "- ")
@example("- \n- \n", "- ")
@example("&#38;#10;&#10;", "- ")
@example("***\nx", "- ")
@example("<!-- turnleaf id=x -->", "- ")
@example("\n\n\n.", "- ")
@example("x\n   \ny", "  + ")
def test_any_text_comes_back_exactly(text: str, marker: str) -> None:
    assert decode_bullet(encode_bullet(text, marker), len(marker)) == text


@thorough
@given(contents, markers)
def test_every_line_can_stand_in_a_file(text: str, marker: str) -> None:
    first, *others = encode_bullet(text, marker)
    assert first.startswith(marker)
    assert first != marker
    assert all(not line or line.startswith(" " * len(marker)) for line in others)
    assert not any("\r" in line or "\n" in line or COMMENT in line for line in [first, *others])


@thorough
@given(contents, markers)
@example("***", "* ")
@example("- -", "- ")
@example("\n\nx", "- ")
def test_markdown_sees_one_list_with_one_item_and_nothing_else(text: str, marker: str) -> None:
    lines = encode_bullet(text, marker)
    tokens = MarkdownIt("commonmark").parse("\n".join(lines))
    outer = [token for token in tokens if token.level == 0]
    assert [token.type for token in outer] == ["bullet_list_open", "bullet_list_close"]
    assert [token.type for token in tokens if token.level == 1] == [
        "list_item_open",
        "list_item_close",
    ]


@pytest.mark.parametrize(
    ("lines", "width", "text"),
    [
        (["- x"], 2, "x"),
        (["  *  x  "], 5, "x"),
        (["- x", "  y"], 2, "x\ny"),
        (["- x", "\ty"], 2, "x\ny"),
        (["- x", "      y"], 2, "x\n    y"),
        (["- x", " y"], 2, "x\ny"),
        (["- x", "", "  y", ""], 2, "x\n\ny"),
        (["- &lt; &#60; &#x3c; &#34;"], 2, "&lt; < &#x3c; &#34;"),
    ],
)
def test_a_bullet_typed_by_hand_is_read_as_its_writer_meant_it(
    lines: list[str], width: int, text: str
) -> None:
    assert decode_bullet(lines, width) == text
