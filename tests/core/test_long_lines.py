"""A long line of the same sign is read in linear time: hundreds of thousands of them end at once.

In quadratic time a child would need hours; it is killed after a minute of CPU time, which no other
load on the machine changes.
"""

from __future__ import annotations

import subprocess
import sys

from tests.effort import LONG

SECONDS = 60
IMPORTS = f"""
import re, resource
from datetime import UTC, date, datetime
from turnleaf.core import markdown, markdown_blocks, secrets, tokens
from turnleaf.core.search import date_ranges, passages, terms
from turnleaf.faces.slack import answers as texts
from turnleaf.llm import recall
from turnleaf.store.files import daily
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
N = {1_000_000 if LONG else 500_000}
MARK = markdown_blocks.COMMENT
"""
READ = {
    "white space at the end of a fact": 'markdown_blocks.encode_bullet("a" + " " * N + "b")',
    "white space in a heading": 'markdown.parse("# a" + " " * N + "b", datetime.now(UTC))',
    "signs in a heading": 'markdown.parse("# " + " #" * N + "b", datetime.now(UTC))',
    "a line of dashes": 'markdown.parse("-" * N + "b", datetime.now(UTC))',
    "white space before a comment": 'markdown.without_comments(" " * N + MARK)',
    "comments that do not end": "markdown.without_comments(MARK * (N // 10))",
    "a source of a note that does not end": "daily._without((MARK + 'source=a' * N).encode(), 'b')",
    "comments of notes": "daily._without((MARK * (N // 10)).encode(), 'b')",
    "white space after a question": 'recall.asks("嗎" + " " * N + "b")',
    "white space before a mention": 'texts.make_readable(" " * N + "x", own="U1", name_of=str)',
    "a name that does not end": 'texts.cut_unfinished("<" * N)',
    "secrets": 'secrets.mask_secrets("password is " * (N // 500) + " " * (N // 5))',
    "invisible characters": 'secrets.mask_secrets("\\u200b" * (N // 5) + "password is hunter2")',
    "accents": 'terms.find_places("a" + "\\u0301" * N + "!", {"b"})',
    "sentences": 'passages.cut_pieces("a" * N + "\\n" * N)',
    "times": 'date_ranges.find_date_range("since Monday " * 100 + " " * N, date(2026, 11, 16))',
    "tokens": 'tokens.estimate("哈 " * (N // 5))',
    "terms": 'terms.list_terms("a-" * N)',
}


def test_a_long_line_is_read_to_its_end() -> None:
    steps = "\n".join(f"print({what!r}, flush=True)\n{call}" for what, call in READ.items())
    program = f"{IMPORTS}\n{steps}\nprint('all was read')"
    assert _last_line(program) == "all was read"


def _last_line(program: str) -> str:
    """Run a program; what it names last is where it was when its time was up."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    return (done.stdout + done.stderr).decode().splitlines()[-1]
