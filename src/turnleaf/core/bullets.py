"""Any text as a Markdown bullet that a person can read, and back, exactly.

The text's lines stand below each other, indented. The few characters that
Markdown or an editor would take for something else are written as numeric entities, which
Markdown shows as the characters they stand for.
"""

from __future__ import annotations

from turnleaf.core.patterns import lazy_pattern

MARK = "<!-- turnleaf "
MARKER = "- "

# Exactly these are read back: what else looks like an entity is the user's own text.
_CODES = "9|10|13|32|38|42|45|60|95"
_ENTITY = lazy_pattern(rf"&#({_CODES});")
_EDGES = " \t\n"
_RULE_LIKE = lazy_pattern(r"\A[-*_](?:[ \t]*+[-*_])*+[ \t]*+(?:\n|\Z)")


def encode(text: str, marker: str = MARKER) -> list[str]:
    """Return the lines of a bullet, without line endings, indented as its marker is wide."""
    safe = _ENTITY.sub(r"&#38;#\1;", text).replace("\r", "&#13;")
    safe = safe.replace(MARK, f"&#60;{MARK[1:]}")
    safe = _escape_edges(safe)
    if _RULE_LIKE.match(safe):
        safe = _entity(safe[0]) + safe[1:]
    first, *others = safe.split("\n")
    indent = " " * len(marker)
    return [marker + first, *(indent + line if line else "" for line in others)]


def decode(lines: list[str], width: int) -> str:
    """Read a bullet's lines; `width` is how far its text is indented."""
    first = lines[0].lstrip(" \t")[1:].lstrip(" \t")
    others = [_outdent(line, width) for line in lines[1:]]
    text = "\n".join([first, *others]).strip(" \t\n")
    return _ENTITY.sub(lambda entity: chr(int(entity[1])), text)


def _escape_edges(text: str) -> str:
    """Write the white space that a text begins and ends with as entities."""
    body = text.lstrip(_EDGES)
    start = text[: len(text) - len(body)]
    end = body[len(body.rstrip(_EDGES)) :]
    inner = body[: len(body) - len(end)]
    return "".join((*map(_entity, start), inner, *map(_entity, end)))


def _entity(char: str) -> str:
    return f"&#{ord(char)};"


def _outdent(line: str, width: int) -> str:
    if line.startswith("\t"):
        return line[1:]
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(spaces, width) :]
