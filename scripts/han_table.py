"""Write the table of Traditional and Simplified characters, from the dictionaries of OpenCC.

Needed only when those change: `pip install opencc`, then `python scripts/han_table.py`.
"""

import unicodedata
from pathlib import Path

from opencc import OpenCC

_BLOCKS = (range(0x2E80, 0xA000), range(0x20000, 0x323B0))
_CHARS_PER_LINE = 44
TARGET = Path(__file__).parents[1] / "src/turnleaf/core/search/han.toml"

_HEAD = """\
# Traditional characters and their Simplified forms, position by position.
# Made by scripts/han_table.py from OpenCC's dictionaries (Apache-2.0). Do not edit.

"""


def _conversions(config: str) -> dict[str, str]:
    """Return every single character that an OpenCC configuration changes into another one."""
    convert = OpenCC(config).convert
    stable = (
        char
        for block in _BLOCKS
        for char in map(chr, block)
        if unicodedata.normalize("NFKC", char) == char
    )
    return {char: out for char in stable if (out := convert(char)) != char and len(out) == 1}


def _table() -> dict[str, str]:
    """Merge the plain table with the Hong Kong and Taiwan variants that it leaves alone."""
    table = _conversions("t2s")
    simplified = set(table.values())
    for config in ("hk2s", "tw2s"):
        for char, out in _conversions(config).items():
            # A character that is itself a Simplified form (the 么 of 什么) has to stay.
            if char not in simplified:
                table.setdefault(char, out)
    return {char: table.get(out, out) for char, out in sorted(table.items())}


def _literal(name: str, chars: str) -> str:
    """Render a long string as a TOML string of short lines."""
    starts = range(0, len(chars), _CHARS_PER_LINE)
    lines = [f"{chars[start : start + _CHARS_PER_LINE]}\n" for start in starts]
    return f"{name} = '''\n{''.join(lines)}'''\n"


def main() -> None:
    """Write the table."""
    table = _table()
    text = _HEAD + _literal("traditional", "".join(table)) + "\n"
    text += _literal("simplified", "".join(table.values()))
    TARGET.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
