"""MEMORY.md: bullets are facts, and whatever else stands there stays byte for byte."""

from __future__ import annotations

import dataclasses
import itertools
import re
from datetime import date, timedelta
from typing import NamedTuple

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.strategies import MOMENT, categories, contents, facts, pages, thorough, tidy_pages
from tests.tables import each
from turnleaf.core import markdown
from turnleaf.core.markdown import BOM, MarkdownFact, MarkdownPage
from turnleaf.core.memories import Memory, check_category, make_content_id
from turnleaf.core.pages import Splice
from turnleaf.errors import InvalidInput

NEW = Memory("fresh", "new", MOMENT, MOMENT, None, "user")


def parse(text: str) -> MarkdownPage:
    return markdown.parse(text, MOMENT)


def list_facts(page: MarkdownPage) -> list[tuple[str, str | None]]:
    return [(fact.memory.content, fact.memory.category) for fact in page.facts]


def says(text: str) -> list[str]:
    return [content for content, _ in list_facts(parse(text))]


def insert(text: str, memory: Memory) -> str:
    page = parse(text)
    return page.apply(page.insert(memory))


def remove(text: str, number: int = 0) -> str:
    page = parse(text)
    return page.apply(page.remove(page.facts[number]))


def replace(text: str, content: str, number: int = 0) -> str:
    page = parse(text)
    fact = page.facts[number]
    return page.apply(page.replace(fact, dataclasses.replace(fact.memory, content=content)))


def parts(text: str, fact: MarkdownFact) -> tuple[str, str]:
    """The text before and after a fact's lines."""
    page = parse(text)
    before = page.bom + "".join(page.lines[: fact.start])
    return before, "".join(page.lines[fact.end :])


def count_shared(one: str, other: str) -> tuple[int, int]:
    """How many characters two texts share at their beginnings and at their ends."""
    heads = [n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b]
    tails = [
        n for n, (a, b) in enumerate(zip(reversed(one), reversed(other), strict=False)) if a != b
    ]
    short = min(len(one), len(other))
    return (heads or [short])[0], (tails or [short])[0]


# What is a fact


@each(
    "text, facts",
    [
        ("", []),
        ("# Memory\n", []),
        ("- a\n* b\n+ c\n", ["a", "b", "c"]),
        ("   - indented by three\n", ["indented by three"]),
        ("    - code\n", []),
        ("text\n\n    - code\n", []),
        ("1. numbered\n2. list\n", []),
        ("1. numbered\n   - nested\n", []),
        ("- a\n  - nested\n  - too\n- b\n", ["a\n- nested\n- too", "b"]),
        ("- a\n\n  second paragraph\n\n- b\n", ["a\n\nsecond paragraph", "b"]),
        ("- a\n\ttab\n", ["a\ntab"]),
        ("```\n- code\n```\n- fact\n", ["fact"]),
        ("~~~~\n- code\n~~~\n- code\n~~~~\n- fact\n", ["fact"]),
        ("```\n- never closed\n", []),
        ("<!--\n- hidden\n-->\n- fact\n", ["fact"]),
        ("<div>\n- html\n</div>\n\n- fact\n", ["fact"]),
        ("<script>\n\n- html\n\n</script>\n- fact\n", ["fact"]),
        ("> - quoted\n", []),
        ("- - -\n***\n- fact\n", ["fact"]),
        ("-no bullet\n-\n- \n", []),
        ("\\- escaped\n", []),
        ("- [ ] task\n", ["[ ] task"]),
        ("text\n- after a paragraph\n", ["after a paragraph"]),
        ("- a\r\n- b\r\n", ["a", "b"]),
        ("- a\r- b\r", ["a", "b"]),
        ("- a\n- b", ["a", "b"]),
        (f"{BOM}- a\n", ["a"]),
        ("- a\nlazy\n- b\n", ["a", "b"]),
        ("-     code in a bullet\n", ["code in a bullet"]),
    ],
)
def test_every_top_level_bullet_outside_code_and_html_is_a_fact(
    text: str, facts: list[str]
) -> None:
    assert says(text) == facts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("text\n-\n  prose\n", "the dash underlines a heading"),
        ("text\n+\n  prose\n", "an empty bullet does not interrupt a paragraph"),
        ("- # h\n<span>\n - x\n", "a tag on a line of its own begins HTML"),
    ],
)
def test_what_markdown_takes_for_prose_is_no_fact(text: str, why: str) -> None:
    assert says(text) == [content for content in ["# h"] if content in text], why


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("- a\n> quote\n  - b\n", ["a", "b"]),
        ("- # h\ntext\n  - b\n", ["# h", "b"]),
        ("- ```\ntext\n  - b\n", ["```", "b"]),
        ("-\n\n  - b\n", ["b"]),
        ("- ***\ntext\n  - b\n", ["***", "b"]),
        ("- a\n-\n  b\n", ["a", "b"]),
        ("- a\n -\n", ["a"]),
        ("- a\n 2. b\n", ["a"]),
    ],
)
def test_a_bullet_after_what_ended_the_list_is_a_fact_of_its_own(
    text: str, facts: list[str]
) -> None:
    assert says(text) == facts


@pytest.mark.parametrize(
    ("text", "fact"),
    [("- # h\n prose\n", "# h"), ("- ```\n prose\n", "```"), ("- ***\n prose\n", "***")],
)
def test_prose_below_what_is_no_paragraph_is_no_part_of_a_fact(text: str, fact: str) -> None:
    assert says(text) == [fact]


def test_the_category_is_the_nearest_second_level_heading_above() -> None:
    text = "- a\n# T\n- b\n## Home\n- c\n### deeper\n- d\n## Work ##\n- e\n"
    assert list_facts(parse(text)) == [
        ("a", None),
        ("b", None),
        ("c", "Home"),
        ("d", "Home"),
        ("e", "Work"),
    ]


def test_an_empty_heading_ends_a_category() -> None:
    assert list_facts(parse("## Home\n- a\n## \n- b\n")) == [("a", "Home"), ("b", None)]
    assert list_facts(parse("## Home\n- a\n##\n- b\n")) == [("a", "Home"), ("b", None)]


def test_a_heading_in_code_is_no_category() -> None:
    assert list_facts(parse("```\n## Home\n```\n- a\n")) == [("a", None)]


def test_what_else_is_known_of_a_fact_stands_in_the_comment_where_it_is_set() -> None:
    known = dataclasses.replace(NEW, slot="other family", until=date(2026, 11, 17), said_count=3)
    line = markdown.render(known)
    assert line.endswith("origin=user slot=other%20family until=2026-11-17 said=3 -->\n")
    (fact,) = markdown.parse(line, MOMENT).facts
    assert fact.memory == known


@pytest.mark.parametrize(
    "damage", ["slot= until=2026-13-01 said=0", "slot until said=x", "until=1"]
)
def test_a_damaged_value_in_the_comment_costs_no_fact(damage: str) -> None:
    line = markdown.render(NEW).replace(" -->", f" {damage} -->")
    (fact,) = markdown.parse(line, MOMENT).facts
    assert fact.memory == NEW


def test_a_page_is_shown_without_the_lines_of_some_facts() -> None:
    page = "\ufeff# Memory\n\n- one\n  more\n- two\n\nProse.\n"
    (one, _) = markdown.parse(page, MOMENT).facts
    assert markdown.without_facts(page, {one.memory.id}) == "\ufeff# Memory\n\n- two\n\nProse.\n"
    assert markdown.without_facts(page, {"nobody"}) == page


def test_what_we_wrote_carries_id_times_and_origin_in_an_invisible_comment() -> None:
    line = markdown.render(NEW)
    assert line == "- new <!-- turnleaf id=fresh created=2026-03-01T08:30:00.000Z origin=user -->\n"
    assert [fact.memory for fact in parse(line).facts] == [NEW]


def test_a_fact_typed_by_hand_gets_its_id_from_its_content() -> None:
    (fact,) = parse("- typed\n").facts
    assert fact.memory == Memory(make_content_id("typed"), "typed", MOMENT, MOMENT)


def test_facts_of_one_id_are_told_apart_by_counting() -> None:
    page = parse("- x <!-- turnleaf id=a -->\n- y <!-- turnleaf id=a -->\n- same\n- same\n")
    same = make_content_id("same")
    assert [fact.memory.id for fact in page.facts] == ["a", "a-2", same, f"{same}-2"]


def test_a_comment_that_somebody_damaged_costs_nothing_but_what_it_said() -> None:
    text = "- x <!-- turnleaf id=a created=never origin -->\n"
    (fact,) = parse(text).facts
    assert (fact.memory.id, fact.memory.content, fact.memory.created_at) == ("a", "x", MOMENT)


@thorough
@given(facts())
def test_any_fact_comes_back_from_its_lines_exactly(memory: Memory) -> None:
    alone = dataclasses.replace(memory, category=None)
    assert [fact.memory for fact in parse(markdown.render(alone)).facts] == [alone]


def test_the_text_of_a_bullet_begins_where_a_tab_ends() -> None:
    assert says("-\ta\n\n    second paragraph\n") == ["a\n\nsecond paragraph"]


class Item(NamedTuple):
    start: int
    end: int
    category: str | None


def read_items(text: str) -> list[Item]:
    """The top-level bullets that say something, as CommonMark's own parser sees them."""
    lines = parse(text).lines
    tokens = MarkdownIt("commonmark").parse(text.removeprefix(BOM))
    found = []
    category = None
    for token, following in zip(tokens, [*tokens[1:], tokens[-1:]], strict=False):
        if token.type == "heading_open" and token.level == 0 and token.markup == "##":
            category = getattr(following, "content", "") or None
        elif token.type == "list_item_open" and token.level == 1 and token.info == "" and token.map:
            start, end = token.map
            if "".join(lines[start:end]).strip() not in {"-", "+", "*"}:
                found.append(Item(start, _end(lines, start, end), category))
    return found


def _end(lines: list[str], start: int, end: int) -> int:
    """Leave off blank lines, and what goes on with a paragraph without any indentation."""
    for index in range(start + 1, end):
        if lines[index].strip() and not lines[index].startswith((" ", "\t")):
            end = index
            break
    while end > start + 1 and not lines[end - 1].strip():
        end -= 1
    return end


def bullets_of(page: MarkdownPage) -> list[Item]:
    return [Item(fact.start, fact.end, fact.memory.category) for fact in page.facts]


def is_misread(text: str) -> bool:
    """Whether markdown-it mistakes code for a list below a deeply indented bullet.

    There it takes a line that is indented by four columns, yet less than the bullet's text,
    for whatever it would be without any indentation. CommonMark says that it goes on with the
    paragraph above.
    """
    widths: list[int] = []
    for line in text.removeprefix(BOM).expandtabs(4).splitlines():
        indent = len(line) - len(line.lstrip())
        if any(4 <= indent < width for width in widths):
            return True
        marks = _MARKS.match(line)
        widths.append(marks.end() if marks else 0)
    return False


_MARKS = re.compile(r" *(?:(?:[-+*]|\d{1,9}[.)])(?: +|$))*")


@thorough
@given(pages())
def test_facts_are_exactly_the_bullets_that_a_commonmark_parser_finds(text: str) -> None:
    assume("turnleaf id=three" not in text and not is_misread(text))
    assert bullets_of(parse(text)) == read_items(text)


# Adding


def test_the_first_fact_stands_below_the_title() -> None:
    assert insert("# Memory\n", NEW) == f"# Memory\n\n{markdown.render(NEW)}"


def test_a_new_fact_stands_at_the_end_of_its_category() -> None:
    text = "# M\n\n- a\n\n## Home\n\n- b\n\n## Work\n\n- c\n"
    line = markdown.render(NEW)
    home = dataclasses.replace(NEW, category="Home")
    assert insert(text, NEW) == text.replace("- a\n", f"- a\n{line}")
    assert insert(text, home) == text.replace("- b\n", f"- b\n{line}")


def test_a_category_that_is_missing_is_made_at_the_end() -> None:
    home = dataclasses.replace(NEW, category="Home")
    assert insert("# M\n\n- a\n", home) == f"# M\n\n- a\n\n## Home\n\n{markdown.render(NEW)}"


def test_a_new_fact_looks_like_the_one_above_it() -> None:
    assert insert("*   a\n", NEW).endswith("*   new" + markdown.render(NEW)[5:])


@pytest.mark.parametrize("above", ["-\ta fact", " *\ta fact", "+  \ta fact", "-\t\ta fact"])
def test_a_tab_after_the_bullet_above_puts_nothing_into_a_new_fact(above: str) -> None:
    assert says(insert(f"{above}\n", NEW)) == ["a fact", "new"]
    assert says(replace(f"{above}\n", "changed")) == ["changed"]


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_a_new_fact_has_the_page_s_line_endings(ending: str) -> None:
    two = dataclasses.replace(NEW, content="one\ntwo")
    text = insert(f"# M{ending}{ending}- a{ending}", two)
    assert text.count(ending) == len(parse(text).lines) == 6
    assert not text.replace(ending, "").count("\n")
    assert says(text) == ["a", "one\ntwo"]


def test_a_missing_final_newline_stays_missing() -> None:
    assert insert("- a", NEW) == "- a\n" + markdown.render(NEW).rstrip("\n")


def test_nothing_is_added_into_code_that_nobody_closed() -> None:
    text = "- a\n\n```\ncode\n"
    assert says(insert(text, NEW)) == ["a", "new"]
    assert says(insert("```\ncode\n", NEW)) == ["new"]


@thorough
@given(pages(), contents, categories)
@example("- a\nlazy\n", "new", None)
@example("    code\n", "new", None)
@example("<div>", "new", None)
@example("text\n-", "new", "Home")
def test_adding_touches_no_other_line_and_no_other_fact(
    text: str, content: str, category: str | None
) -> None:
    page = parse(text)
    memory = Memory("fresh", content, MOMENT, MOMENT, keep_category(category), "user")
    after = insert(text, memory)
    head, tail = count_shared(text, after)
    assert head + tail >= len(text)
    new = [fact.memory for fact in parse(after).facts if fact.memory.id == "fresh"]
    assert new == [memory]
    others = [pair for fact, pair in zip(parse(after).facts, list_facts(parse(after)), strict=True)
              if fact.memory.id != "fresh"]  # fmt: skip
    assert others == list_facts(page)


def keep_category(category: str | None) -> str | None:
    """Return a category, or None for one that is refused."""
    try:
        return check_category(category)
    except InvalidInput:
        return None


@thorough
@given(pages(), contents)
def test_adding_twice_puts_the_second_below_the_first(text: str, content: str) -> None:
    once = insert(text, dataclasses.replace(NEW, content=content))
    twice = insert(once, dataclasses.replace(NEW, id="second"))
    order = [fact.memory.id for fact in parse(twice).facts]
    assert order.index("second") == order.index("fresh") + 1


# Changing


def stands_alone(page: MarkdownPage, fact: MarkdownFact) -> bool:
    """Whether nothing below could continue a fact that ends in a paragraph."""
    below = "".join(page.lines[fact.end : fact.end + 1])
    return not below.strip() or any(other.start == fact.end for other in page.facts)


@thorough
@given(pages(), contents, st.integers(0, 9))
def test_changing_touches_no_other_line_and_no_other_fact(
    text: str, content: str, number: int
) -> None:
    page = parse(text)
    assume(page.facts)
    fact = page.facts[number % len(page.facts)]
    assume(stands_alone(page, fact))
    memory = dataclasses.replace(fact.memory, content=content)
    after = page.apply(page.replace(fact, memory))
    before, behind = parts(text, fact)
    assert after.startswith(before)
    assert after.endswith(behind)
    expected = [memory if one is fact else one.memory for one in page.facts]
    assert [(one.content, one.category) for one in expected] == list_facts(parse(after))


@thorough
@given(pages(), contents, st.integers(0, 9))
def test_changing_back_gives_back_every_byte(text: str, content: str, number: int) -> None:
    page = parse(text)
    assume(page.facts)
    fact = page.facts[number % len(page.facts)]
    splice = page.replace(fact, dataclasses.replace(fact.memory, content=content))
    assert apply_and_undo(page, splice) == text


def apply_and_undo(page: MarkdownPage, splice: Splice) -> str:
    """Make a change and take it back."""
    return parse(page.apply(splice)).apply(Splice(splice.start, splice.put, splice.took))


# Removing


def test_removing_leaves_the_heading_and_the_prose() -> None:
    text = "# M\n\nprose\n\n## Home\n\n- a\n  more\n\nprose\n"
    assert remove(text) == "# M\n\nprose\n\n## Home\n\n\nprose\n"


@thorough
@given(tidy_pages(), st.integers(0, 9))
def test_removing_touches_no_other_line_and_no_other_fact(text: str, number: int) -> None:
    page = parse(text)
    fact = page.facts[number % len(page.facts)]
    after = page.apply(page.remove(fact))
    before, behind = parts(text, fact)
    assert after == before + behind or (not behind and before.startswith(after))
    assert len(before + behind) - len(after) <= len("\r\n")
    others = [(one.memory.content, one.memory.category) for one in page.facts if one is not fact]
    assert list_facts(parse(after)) == others


@thorough
@given(pages(), st.integers(0, 9))
@example("# M\n\n- a", 0)
@example("x\r\n- a", 0)
def test_putting_back_what_was_removed_gives_back_every_byte(text: str, number: int) -> None:
    page = parse(text)
    assume(page.facts)
    assert apply_and_undo(page, page.remove(page.facts[number % len(page.facts)])) == text


@thorough
@given(pages(), contents, categories)
@example("# Memory\n", "first", None)
@example("# Memory\n", "first", "Home")
@example("- a", "new", "Home")
def test_taking_back_what_was_added_gives_back_every_byte(
    text: str, content: str, category: str | None
) -> None:
    memory = Memory("fresh", content, MOMENT, MOMENT, keep_category(category), "user")
    page = parse(text)
    assert apply_and_undo(page, page.insert(memory)) == text


@thorough
@given(pages(), facts())
def test_adding_and_removing_leaves_the_facts_as_they_were(text: str, memory: Memory) -> None:
    after = parse(insert(text, dataclasses.replace(memory, id="fresh")))
    added = next(fact for fact in after.facts if fact.memory.id == "fresh")
    assert list_facts(parse(after.apply(after.remove(added)))) == list_facts(parse(text))


# A change of a parsed page


def number_bullets(text: str, start: int = 0) -> str:
    """The same page with bullets that are told apart by what they say."""
    count = itertools.count(start)
    return re.sub(r"(?m)^([-*+] \w+)", lambda bullet: f"{bullet[0]} {next(count)}", text)


@thorough
@given(
    pages().map(number_bullets),
    pages().map(lambda text: number_bullets(text, 50)),
    *[st.integers(0, 14)] * 2,
)
@example("- a\r- b\n\n", "", 1, 1)
@example(f"- a\n{BOM}- b\n", "", 0, 1)
@example("## A\n- a\n- b\n## B\n- c\n", "## C\n", 2, 0)
@example("- a\n- b\n- c\n", "```\n", 1, 0)
def test_a_page_after_any_change_of_its_lines_is_what_its_text_says(
    text: str, other: str, start: int, count: int
) -> None:
    page = parse(text)
    took = page.lines[start : start + count]
    splice = Splice(min(start, len(page.lines)), tuple(took), tuple(parse(other).lines))
    assert page.with_splice(splice, MOMENT) == parse(page.apply(splice))


@thorough
@given(
    pages() | pages().map(number_bullets),
    st.lists(st.tuples(st.sampled_from(["add", "update", "remove"]), facts(), st.integers(0, 9))),
)
def test_a_page_after_changes_of_its_facts_is_what_its_text_says(
    text: str, steps: list[tuple[str, Memory, int]]
) -> None:
    page = parse(text)
    for op, memory, number in steps:
        fact = page.facts[number % len(page.facts)] if page.facts else None
        if op == "add" or fact is None:
            splice = page.insert(memory)
        else:
            splice = page.replace(fact, memory) if op == "update" else page.remove(fact)
        page, written = page.with_splice(splice, MOMENT), page.apply(splice)
        assert page.text == written
        assert page == parse(written)


@thorough
@given(pages())
def test_a_page_saved_at_another_time_is_what_its_text_says(text: str) -> None:
    later = MOMENT + timedelta(days=1)
    assert parse(text).with_time(later) == markdown.parse(text, later)


# Ids


@thorough
@given(st.lists(facts(), max_size=6, unique_by=lambda one: one.id), st.randoms())
def test_ids_are_the_same_after_a_restart_and_in_any_order(
    memories: list[Memory], random: object
) -> None:
    text = markdown.EMPTY
    for memory in memories:
        text = insert(text, dataclasses.replace(memory, category=None))
    page = parse(text)
    expected = {memory.id: memory.content for memory in memories}
    assert {fact.memory.id: fact.memory.content for fact in page.facts} == expected
    raws = [page.get_raw(fact) for fact in page.facts]
    random.shuffle(raws)  # type: ignore[attr-defined]
    shuffled = parse("".join(raws))
    assert {fact.memory.id: fact.memory.content for fact in shuffled.facts} == expected


@thorough
@given(pages(), facts())
def test_ids_stay_when_something_else_is_added(text: str, memory: Memory) -> None:
    before = [fact.memory.id for fact in parse(text).facts]
    after = parse(insert(text, dataclasses.replace(memory, id="fresh")))
    assert [one.memory.id for one in after.facts if one.memory.id != "fresh"] == before


# Reading


def test_a_prompt_gets_the_page_without_our_comments() -> None:
    two = dataclasses.replace(NEW, content="one\ntwo")
    text = f"{BOM}# M\n\n{markdown.render(NEW)}{markdown.render(two)}<!-- mine -->\n"
    assert markdown.without_comments(text) == "# M\n\n- new\n- one\n  two\n<!-- mine -->\n"


@thorough
@given(pages())
def test_a_page_that_we_never_wrote_to_is_read_as_it_is(text: str) -> None:
    assume("turnleaf" not in text)
    assert markdown.without_comments(text) == text.removeprefix(BOM)


@thorough
@given(pages(), pages())
def test_the_fingerprint_does_not_ask_for_the_order_of_lines(one: str, other: str) -> None:
    lines = [*parse(one).lines, *parse(other).lines]
    page = parse("")
    assert page.shape_of(lines) == page.shape_of(reversed(lines))
    whole = parse(one)
    assert whole.shape() == page.shape_of(whole.lines)
