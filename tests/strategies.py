"""What the property-based tests try: awkward texts, Markdown pages, facts, conversations."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from tests.effort import LONG
from turnleaf.core.changes import Source
from turnleaf.core.file_changes import FileChange
from turnleaf.core.markdown import BOM
from turnleaf.core.memories import Memory
from turnleaf.core.messages import Message
from turnleaf.core.pages import Shape

MOMENT = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)

thorough = settings()
brief = settings(
    max_examples=600 if LONG else 8,
    # Each example that uses a store begins by emptying its folder.
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

SCRAPS = (
    *(
        "\n",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        " ",
        "  ",
        "    ",
        "\t",
        "\u00a0",
        "\u2028",
        "\x0b",
        "\x85",
    ),
    *("- ", "* ", "+", "-", "1. ", "# ", "## x", "```", "~~~", "***", "---", "___", "===", "> "),
    *("<!-- turnleaf id=x -->", "<!-- turnleaf ", "<!--", "-->", "<div>", "</div>", "<b>", "<"),
    *("&#10;", "&#38;#10;", "&amp;", "&#", "10;", "&", "\\", "*", "_", "`", "[x](y)", "|"),
    *("a", "b c", "word", "使用者喜歡咖啡", "🙂", "é", "e\u0301", "\u200b", "R&D", "a < b", BOM),
)
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)
AWKWARD = st.lists(st.sampled_from(SCRAPS), max_size=12).map("".join)
texts = AWKWARD | ANY_TEXT
contents = texts.filter(lambda text: bool(text.strip()))
categories = (
    st.none() | st.sampled_from(["Home", "work", "家", "C#", "a ## b", "# x", "- y"]) | texts
)

moments = st.integers(0, 10**11).map(lambda tick: MOMENT + timedelta(milliseconds=tick))
ids = st.text("bcdfgjkmnp23456789", min_size=4, max_size=8) | contents
origins = st.none() | st.sampled_from(["user", "import", "tool:save", "a b", "x--y", "é>", "%41"])


@st.composite
def facts(draw: st.DrawFn) -> Memory:
    created = draw(moments)
    updated = draw(st.just(created) | moments)
    category = draw(st.none() | st.sampled_from(["Home", "Work", "家"]))
    return Memory(
        draw(ids),
        draw(contents),
        created,
        updated,
        category,
        draw(origins),
        slot=draw(st.none() | st.sampled_from(["home", "other family", "家 -- %<>"])),
        until=draw(st.none() | st.dates(min_value=date(2100, 1, 1))),
        said_count=draw(st.integers(1, 10**9 - 1)),
    )


sources = st.builds(
    Source,
    quote=st.none() | texts,
    conversation=st.none() | texts,
    message_time=st.none() | moments,
    trust=st.none() | st.sampled_from(["trusted", "waiting"]),
    name=st.none() | texts,
    decision=st.none() | ids,
).filter(lambda source: source != Source())
shapes = st.builds(Shape, st.integers(0, 2**96 - 1), st.integers(-9, 9))


@st.composite
def recorded_changes(draw: st.DrawFn) -> FileChange:
    memory_id = draw(st.just("") | ids)
    lines = st.lists(texts, max_size=3).map(tuple)
    return FileChange(
        n=draw(st.integers(1, 10**9)),
        time=draw(moments),
        op=draw(st.sampled_from(["add", "update", "delete", "import", "undo", "restore", "erase"])),
        file=draw(st.sampled_from(["MEMORY.md", "memories.json"])),
        id=memory_id,
        before=draw(st.none() | facts()),
        after=draw(st.none() | facts()),
        origin=draw(origins),
        source=draw(st.none() | sources),
        undoes=draw(st.none() | st.integers(1, 99)),
        removed=tuple(draw(st.lists(facts(), max_size=3))),
        traces=tuple(draw(st.lists(st.text("0123456789abcdef", min_size=4, max_size=4)))),
        at=draw(st.integers(0, 999)) if memory_id else 0,
        took=draw(lines),
        put=draw(lines),
        fact=draw(texts),
        old=draw(st.text("0123456789abcdef", max_size=32)),
        new=draw(st.text("0123456789abcdef", max_size=32)),
        shape=draw(shapes),
    )


INDENTS = ("", "", "", "", "", " ", "  ", "  ", "   ", "    ", "      ", "\t")
LINES = (
    *("", "", "", "- a", "- b b", "* c", "+ d", "- same", "- same", "text", "more text", "-text"),
    *("-", "+ ", "1. x", "2) y", "12. z", "1.", "10) ", "- - nested", "- 1. x", "* > q", "-  two"),
    *("-   three", "-    four", "-     code", "- ```", "- ~~~", "- # h", "- <div>", "- <!--"),
    *(
        "# Title",
        "## Head",
        "## Other ##",
        "### third",
        "##",
        "#no",
        "---",
        "***",
        "- - -",
        "-\ttab",
    ),
    *("```", "~~~", "```py", "``", "`code`", "> quote", "> - in", "| a | b |"),
    *("<div>", "</div>", "<!-- c -->", "<!--", "-->", "<script>", "</script>", "<?", "?>"),
    *("<span>", "<a href='x'>", "<b>x</b>", "<!X", "<![CDATA[", "]]>", "\\- no", "*emph*"),
    *("- [ ] task", "- x <!-- turnleaf id=one created=2026-03-01T08:30:00.000Z origin=user -->"),
    *("- y <!-- turnleaf id=two -->", "<!-- turnleaf id=three -->", "- &#32;x", "- 喜歡咖啡"),
)
ENDINGS = ("\n", "\n", "\r\n", "\r")


@st.composite
def pages(draw: st.DrawFn) -> str:
    """A Markdown file as anybody might leave it."""
    lines = draw(st.lists(st.tuples(st.sampled_from(INDENTS), st.sampled_from(LINES)), max_size=14))
    ending = draw(st.sampled_from(ENDINGS))
    text = "".join(f"{indent}{line}{ending}" for indent, line in lines)
    if draw(st.booleans()) and not text.endswith(ending * 2):
        text = text.removesuffix(ending)
    return draw(st.sampled_from(["", "", BOM])) + text


BLOCKS = (
    *("- a", "- b\n  more", "* c\n\n  second paragraph", "- d\n  - nested\n  - too", "- same"),
    *("\ntext", "\ntext\nmore text", "# Title", "## Head", "## Other", "***", "> - quote", ""),
    *("```\n- code\n```", "<!-- c -->", "<!--\n- hidden\n-->", "\n1. x\n2. y", "<div>\n- html\n"),
    *("- x <!-- turnleaf id=one -->", "- y\n  z\n  <!-- turnleaf id=two -->"),
)


@st.composite
def tidy_pages(draw: st.DrawFn) -> str:
    """A Markdown file in which no block hangs on the one above it."""
    blocks = ["# Memory", *draw(st.lists(st.sampled_from(BLOCKS), max_size=10)), "- last"]
    text = "\n".join(blocks) + draw(st.sampled_from(["", "\n"]))
    return draw(st.sampled_from(["", BOM])) + text.replace("\n", draw(st.sampled_from(ENDINGS)))


SAID = st.sampled_from(["", "hi", "a longer sentence", "你好", "x" * 30])
PARTS: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"type": "text", "text": "look"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    ]
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """Messages as an API gives them, and as a careless caller may."""
    said: list[Message] = []
    for _ in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from(["user", "user", "assistant", "tools", "system", "stray"]))
        if kind == "tools":
            said += draw(tool_rounds(len(said)))
        elif kind == "stray":
            said.append(Message("tool", draw(SAID), tool_call_id="nobody"))
        else:
            content = draw(SAID | st.lists(PARTS, min_size=1, max_size=3))
            said.append(Message(kind, content))
    return said


@st.composite
def tool_rounds(draw: st.DrawFn, number: int) -> list[Message]:
    """Calls with their results, some of which may be late or never come."""
    names = [f"call-{number}-{index}" for index in range(draw(st.integers(1, 3)))]
    calls = [
        {"id": name, "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for name in names
    ]
    answered = draw(st.permutations(names))[: draw(st.integers(0, len(names)))]
    results = [Message("tool", draw(SAID), tool_call_id=name) for name in answered]
    between = [Message("user", "meanwhile")] if draw(st.booleans()) and results else []
    at = draw(st.integers(0, len(results)))
    return [
        Message("assistant", None, tool_calls=calls),
        *results[:at],
        *between,
        *results[at:],
    ]
