"""Altering what could pose as a part of a prompt, and nothing else.

A text is first folded to what a reader could take it for: compatibility forms, look-alikes,
entities and invisible characters make no difference. Where one of our tags or a mark of a model's
chat template then begins, its bracket becomes a round one; where a line then begins like an item,
a speaker, a heading or a note of ours, it gets a backslash. Characters that carry text which
nobody sees are taken out.
"""

from __future__ import annotations

import html
import re
import unicodedata
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from turnleaf.core.loading import make_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

TAGS = (
    "conversation_history",
    "long_term_memory",
    "relevant_past_context",
    "attached_document",
)
SECTIONS = (
    "long[-_ ]*term memory",
    "relevant past context",
    "conversation history",
    "how the user wants to be answered",
)
ROLES = (
    *("user", "assistant", "system", "developer", "tool", "human"),
    *(
        "使用者",
        "用戶",
        "用户",
        "助理",
        "助手",
        "系統",
        "系统",
        "開發者",
        "开发者",
        "工具",
        "人類",
        "人类",
    ),
)
NOTES = ("left out because", "today is", "the memory has acted", "saved already", "for context")
"""How the notes begin that we put between parentheses."""
TEMPLATE_TAGS = (
    *("tool_calls?", "tool_results?", "tool_responses?", "tool_outputs?", "tool_use", "tool_code"),
    *("function_calls?", "function_results?", "function_responses?", "thinking", "think"),
    *("system_prompt", "system_message", "system_reminder", "start_of_turn", "end_of_turn"),
)
"""What stands between angle brackets in what models are told and say."""
CLOSED_TAGS = ("s", "bos", "eos", "sys", "inst", "system")
"""The same, where it takes the closing bracket to know it."""
ROLE_TAGS = ("user", "assistant", "human", "developer", "system")
"""These too, unless a word stands before them: then it is code such as `List<User>`."""
TEMPLATE_TOKENS = (
    *("im_start", "im_end", "im_sep", "eot_id", "eom_id", "start_header_id", "end_header_id"),
    *("begin_of_text", "end_of_text", "endoftext", "endofprompt", "python_tag", "channel"),
)
"""What is known between `<|` and `|>` even where the end is missing."""
SQUARE_MARKS = (
    *("inst", "sys", "system_prompt", "available_tools", "tool_calls", "tool_results"),
    "tool_content",
)
INDENT = "  "

_LINE_ENDS = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
_BLANKS = frozenset("\u115f\u1160\u17b4\u17b5\u180e\u2800\u3164\uffa0")
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Mn", "Me"})
_LOOKALIKES = {
    char: plain
    for plain, chars in {
        "<": "‹〈〈⟨❮❬❰⦑⧼˂ᐸ≺⋖«《⟪≪⋘︽︿ㄑ⟬⪡⩽≤",
        ">": "›〉〉⟩❯❭❱⦒⧽˃ᐳ≻⋗»》⟫≫⋙︾﹀⟭⪢⩾≥",
        "|": "│┃∣ǀ❘❙❚⎮︱丨¦",
        "(": "❨❪⦅⸨",
        "/": "\\⁄∕⧸╱∖⧵⟋",
        "_": "‿⁀︳︴﹍﹎﹏ˍ‗",
        "[": "【〔〖〚⟦⁅﹇❲⦗⟬",
        "]": "】〕〗〛⟧⁆﹈❳⦘⟭",
        ":": "∶꞉ː։׃︓",
        "#": "♯⋕",
        "=": "═゠",
        "-": "‐‑‒–—―−⁃➖﹘─━",
        "*": "•‣◦·∙・●▪∗⋅○■□►▶◆◇",
        "a": "аАαΑɑᴀ",
        "c": "сСϲϹᴄ",
        "e": "еЕεΕᴇ",
        "g": "ɡցɢ",
        "h": "һհΗНʜ",
        # The letters i, l and 1 look alike in some fonts, so all are one; the same holds for o and
        # 0, and for m and rn below.
        "l": "іІιΙıӏӀłʟⅼ1iI",
        "rn": "мМΜᴍm",
        "n": "пηոɴΝ",
        "o": "оОοΟօøØᴏ0",
        "p": "рРρΡᴘ",
        "r": "гʀ",
        "s": "ѕЅꜱ",
        "t": "тТτΤᴛ",
        "u": "υսᴜ",
        "v": "ѵνᴠ",
        "x": "хХχΧ",
        "y": "уУγΥүʏ",
    }.items()
    for char in chars
}
# Python refuses to read a number of thousands of digits, and a reader sees no character in one.
_ENTITY = make_pattern(
    r"&(?:#0*+[0-9]{1,7}+(?![0-9])|#[xX]0*+[0-9a-fA-F]{1,6}+(?![0-9a-fA-F])"
    r"|[a-zA-Z][a-zA-Z0-9]{1,31}+);?"
)
# A flag of a part of Britain is written with tag characters, and a rare form of a Chinese
# character with one variation selector. All else that is written so is text that nobody sees.
_FLAGS = "|".join(
    "".join(chr(0xE0000 + ord(letter)) for letter in name) for name in ("gbeng", "gbsct", "gbwls")
)
_HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HIDDEN = make_pattern(
    rf"(\U0001f3f4(?:{_FLAGS})\U000e007f|[{_HAN}][\U000e0100-\U000e01ef](?![{_SELECTORS}]))"
    rf"|[\U000e0000-\U000e01ef]++|[{_SELECTORS}]{{2,}}+"
)
_ZEROS = make_pattern(r"(&#[xX]?)0++(?=[0-9a-fA-F])")
# Entities may be nested, and altering one mark may lay another bare: each takes a pass. Without a
# bound a text could be made that takes thousands.
MAX_PASSES = 8


class _Folding(dict[int, str]):
    """What each character is taken for, worked out when it is first met."""

    def __missing__(self, code: int) -> str:
        # Most of Unicode never occurs, so the table is filled only with what does.
        self[code] = folded = _fold_char(chr(code))
        return folded


_folding = _Folding()


def _fold_char(char: str) -> str:
    if char in _LINE_ENDS or char == "\t":
        return char
    if char in _LOOKALIKES:
        return _LOOKALIKES[char]
    if char in _BLANKS or unicodedata.category(char) in _INVISIBLE:
        return ""
    parts = unicodedata.normalize("NFKD", char)
    if parts == char:
        lower = char.casefold()
        return lower if lower == char else "".join(map(_fold_char, lower))
    # An accent on its own decomposes into a space and a mark, and would leave a gap.
    if parts.startswith(" ") and len(parts) > 1:
        return char
    return "".join(map(_fold_char, parts))


def _fold_pattern(pattern: str) -> str:
    """Fold the letters of a pattern, so that it matches folded text."""
    return re.sub(r"[a-z]", lambda letter: _fold_char(letter[0]), pattern)


def _match_any(*patterns: str) -> str:
    return "|".join(map(_fold_pattern, patterns))


def _match_any_spelling(*names: str) -> str:
    """Return a pattern for names whose underscores may be any other separator, or missing."""
    return "|".join(r"[\s._▁-]{0,4}+".join(map(_fold_pattern, name.split("_"))) for name in names)


# Repetitions below are possessive or have a bound: these patterns see text from outside, and one of
# nothing but brackets or spaces must not take quadratic time.
_TIGHT = _match_any(*(tag.replace("_", "_*") for tag in TAGS))
_LOOSE = "|".join(r"[ \t._-]++".join(map(_fold_pattern, tag.split("_"))) for tag in TAGS)
_TAG = make_pattern(
    rf"<(?:!--)?[\s/!?|*.:-]*+(?:\w{{1,40}}+:)?(?:{_TIGHT})(?![a-z0-9_])"
    rf"|<(?:\s*+/\s*+)?(?:{_LOOSE})(?![a-z0-9_])"
)
_WITHIN = rf"[^<>|{_LINE_ENDS}]"
_MARK = make_pattern(
    rf"<\s*+\|(?:{_WITHIN}{{1,80}}+\|\s*+>|\s*+/?\s*+(?:{_match_any_spelling(*TEMPLATE_TOKENS)}))"
    rf"|<[\s/|]*+(?:\w{{1,20}}+:)?(?:{_match_any_spelling(*TEMPLATE_TAGS)})(?![a-z0-9_-])(?:{_WITHIN}{{0,200}}+>)?"
    rf"|<[\s/|]*+(?:{_match_any(*CLOSED_TAGS)})\s*+>"
    rf"|<[\s|]*+/[\s/|]*+(?:{_match_any(*ROLE_TAGS)})\s*+>"
    rf"|(?<!\w)<[\s/|]*+(?:{_match_any(*ROLE_TAGS)})(?>(?:\s{_WITHIN}{{0,200}}+)?)>"
    rf"|\[[\s/]*+(?:{_match_any_spelling(*SQUARE_MARKS)})\s*+\]"
)
# What we write after a fact: a date in square brackets, and mostly an id. Zero and one are folded.
_PART = r"\s*+[-/.]\s*+[\dlo]{1,2}+"
_STAMP = make_pattern(rf"\[\s*+[\dlo]{{4}}{_PART}{_PART}(?>(?:[^\[\]{_LINE_ENDS}]{{0,80}}+\])?)")
_LINE = make_pattern(rf"[^{_LINE_ENDS}]+")
_DECORATION = r"[\s*_`~]*+"
# The zero and the one of a number are folded like all others.
_ROLE = rf"(?:{_match_any(*ROLES)})(?>(?:\s*+[\dlo]{{1,6}}+)?)"
_SPEAKER = make_pattern(rf"\s*+[*_~`]*+\[++\s*+{_ROLE}\s*+\]++(?:[*_~`]*+\s*+:|[ \t]++\S)")
# Deeper than three spaces Markdown sees code, in which a key may be called like that.
_VOICE = make_pattern(
    rf"\s{{0,3}}+(?:\#{{1,6}}+\s*+)?[*_~`]*+(?:{_ROLE}|{_match_any('ai')})[*_~`]*+\s*+:"
)
_NOTE = make_pattern(rf"\s*+\(++\s*+(?:{_match_any(*NOTES)})")
_PARENTHESIS = make_pattern(r"\s*+\(")
_ITEM = make_pattern(r"\s*+[-*+](?:\s|$)")
_NUMBER = make_pattern(r"\s*+\d{1,9}+(?=[.)](?:\s|$)|[．）、])")
_HEADING = make_pattern(r"\s*+(?>(?:[-*+]\s++)*)#{1,6}+(?:\s|$)")
_UNDERLINE = make_pattern(r"\s*+(?:=++|-++)\s*+$")
_SECTION_NAME = make_pattern(
    rf"{_DECORATION}(?:(?:{_match_any(*SECTIONS)})\b"
    rf"|(?:{_match_any('system', 'system prompt', 'instructions?')})[\s*_`~:.#]*+$)"
)
_SECTION = make_pattern(
    rf"\s*+#++(?:{_DECORATION}(?:{_match_any(*SECTIONS)})\b|\s{_SECTION_NAME.pattern})"
)


def escape_item(text: str) -> str:
    """Return a text that is safe as a list item: all lines but the first are indented."""
    return _neutralize(_indent(text), _find_marks_in_item)


def escape_stamped_item(text: str) -> str:
    """Return a text that is safe as a list item before a date in square brackets."""
    return _neutralize(_indent(text), _find_marks_in_item, (_MARK, _STAMP))


def _indent(text: str) -> str:
    first, *others = text.splitlines() or [""]
    while others and not others[-1].strip():
        others.pop()
    return "\n".join([first, *map(_indent_line, others)])


def _indent_line(line: str) -> str:
    # A number at the beginning of a line would begin a list of its own in the middle of an item.
    number = _NUMBER.match(line)
    if number:
        line = f"{number[0]}\\{line[number.end() :]}"
    return f"{INDENT}{line}" if line.strip() else ""


@lru_cache(maxsize=256)
def escape_speech(text: str) -> str:
    """Return a text that is safe as a message, in which lists and headings are ordinary."""
    return _neutralize(text, _find_marks_in_speech)


def escape_passage(text: str) -> str:
    """Return a text that is safe at the beginning of a line, as a page or a document is."""
    # In speech the first line follows a speaker's mark and cannot begin anything. The line break
    # makes the first line count as any other.
    return escape_speech(f"\n{text}").removeprefix("\n")


def _neutralize(
    text: str,
    marks: Callable[[str], Iterator[int]],
    brackets: Sequence[re.Pattern[str]] = (_MARK,),
) -> str:
    """Alter a text until nothing in it can be taken for a tag, mark or heading of ours."""
    # First of all: text that nobody sees may hold whole sentences for a model.
    text = _HIDDEN.sub(lambda found: found[1] or "", text)
    for _ in range(MAX_PASSES):
        seen = _fold_for_reader(text)
        is_posing = any(pattern.search(seen) for pattern in (_TAG, *brackets))
        if not is_posing and next(marks(seen), None) is None:
            break
        text = _alter(text, marks, brackets)
    return text


def _alter(
    text: str, marks: Callable[[str], Iterator[int]], brackets: Sequence[re.Pattern[str]]
) -> str:
    seen, places = _fold_with_places(text)
    changes = {places[tag.start()]: "(" for tag in _TAG.finditer(seen)}
    for mark in chain.from_iterable(pattern.finditer(seen) for pattern in brackets):
        changes[places[mark.start()]] = "("
        # A mark whose end is missing has nothing to close.
        if mark[0].endswith((">", "]")):
            changes[places[mark.end() - 1]] = ")"
    # A backslash goes in front of its place and replaces nothing.
    changes |= {(places[mark][0], places[mark][0]): "\\" for mark in marks(seen)}
    pieces, position = [], 0
    for (start, end), new in sorted(changes.items()):
        # Two marks may overlap, and then the first has changed the place already.
        if start >= position:
            pieces += [text[position:start], new]
            position = end
    return "".join([*pieces, text[position:]])


def _find_marks_in_item(seen: str) -> Iterator[int]:
    """Yield where a line begins like something that only we write in a list of memories."""
    above = ""
    for line in _LINE.finditer(seen):
        is_first = line.start() == 0
        is_underline = above.strip() and _UNDERLINE.match(line[0])
        is_heading = _HEADING.match(line[0]) or _SECTION.match(line[0])
        if is_underline or is_heading or (not is_first and _is_mark_in_item(line[0])):
            yield _find_first_visible(line)
        above = line[0]


def _is_mark_in_item(line: str) -> bool:
    # The lines of an item are indented by us, so their depth does not make them code.
    starts = (_ITEM, _SPEAKER, _PARENTHESIS)
    return bool(_VOICE.match(line.lstrip())) or any(start.match(line) for start in starts)


def _find_marks_in_speech(seen: str) -> Iterator[int]:
    """Yield where a line begins like a turn, a note or one of our headings."""
    above = ""
    for line in _LINE.finditer(seen):
        is_underline = _SECTION_NAME.match(above) and _UNDERLINE.match(line[0])
        starts = (_SPEAKER, _VOICE, _SECTION, _NOTE)
        is_mark = is_underline or any(start.match(line[0]) for start in starts)
        # The first line follows the mark of its speaker, so nothing in it begins a line.
        if line.start() > 0 and is_mark:
            yield _find_first_visible(line)
        above = line[0]


def _find_first_visible(line: re.Match[str]) -> int:
    return line.start() + len(line[0]) - len(line[0].lstrip())


def _fold_for_reader(text: str) -> str:
    """Return a text as a reader may see it: entities read, lookalikes and accents folded."""
    for _ in range(MAX_PASSES):
        folded = _unescape(text).translate(_folding)
        if folded == text:
            break
        text = folded
    return text


def _unescape(text: str) -> str:
    return _ENTITY.sub(lambda entity: _read_entity(entity[0]), text) if "&" in text else text


def _read_entity(entity: str) -> str:
    return html.unescape(_ZEROS.sub(r"\1", entity))


def _fold_with_places(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a folded text, and for each of its characters its place in the original."""
    chars = list(text)
    places = [(index, index + 1) for index in range(len(text))]
    for _ in range(MAX_PASSES):
        before = "".join(chars)
        chars, places = _unescape_with_places("".join(chars), places)
        chars, places = _fold_chars(chars, places)
        if "".join(chars) == before:
            break
    return "".join(chars), places


def _unescape_with_places(
    text: str, places: list[tuple[int, int]]
) -> tuple[list[str], list[tuple[int, int]]]:
    chars: list[str] = []
    new_places: list[tuple[int, int]] = []
    position = 0
    for entity in _ENTITY.finditer(text):
        chars += text[position : entity.start()]
        new_places += places[position : entity.start()]
        read = _read_entity(entity[0])
        position = entity.end()
        if read == entity[0]:
            chars += read
            new_places += places[entity.start() : position]
        else:
            chars += read
            # An entity is altered as a whole, or its other half would stay and mean something else.
            whole = (places[entity.start()][0], places[position - 1][1])
            new_places += [whole] * len(read)
    return chars + list(text[position:]), new_places + places[position:]


def _fold_chars(
    chars: list[str], places: list[tuple[int, int]]
) -> tuple[list[str], list[tuple[int, int]]]:
    folded = [(part, place) for char, place in zip(chars, places, strict=True)
              for part in _folding[ord(char)]]  # fmt: skip
    return [part for part, _ in folded], [place for _, place in folded]
