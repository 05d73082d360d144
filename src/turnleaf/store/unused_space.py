"""Overwriting what SQLite no longer uses inside the pages of a database.

`secure_delete` overwrites a row that is deleted, and pages that become free. It knows nothing of
the copies that stay behind in the unused middle of a page when SQLite moves rows between pages.
The file itself is written: no statement reaches these bytes, and writing the whole database anew
(VACUUM) would cost what it holds. Whoever calls this keeps everybody else from writing, sees that
the write-ahead log is empty, and commits something afterwards, upon which every other connection
reads its pages anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import apsw

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEADER_BYTES = 100
"""What stands before the page proper in the first page."""
LEAF_BYTES, INTERIOR_BYTES = 8, 12
LEAVES, INTERIORS = (10, 13), (2, 5)
MAX_PAGES = 2**25
"""Below this number a page that is no part of a tree begins with another byte than those."""
PAGES_AT_ONCE = 256
_FLAGS = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_MAIN_DB


def overwrite_unused(path: Path, page_size: int) -> int:
    """Overwrite the unused bytes of every page; return how many places held something."""
    # Opened by SQLite: closing it in any other way takes away the locks of this process.
    file = apsw.VFSFile("", str(path), [_FLAGS, 0])
    try:
        changed = 0
        for offset, page in _read_pages(file, page_size):
            for start, end in _find_unused(page, HEADER_BYTES if offset == 0 else 0):
                if page[start:end].strip(b"\0"):
                    file.xWrite(bytes(end - start), offset + start)
                    changed += 1
        if changed:
            file.xSync(apsw.SQLITE_SYNC_NORMAL)
        return changed
    finally:
        file.xClose()


def _read_pages(file: apsw.VFSFile, page_size: int) -> Iterator[tuple[int, bytes]]:
    size = file.xFileSize()
    step = page_size * PAGES_AT_ONCE
    for begin in range(0, size, step):
        block = file.xRead(min(step, size - begin), begin)
        for place in range(0, len(block), page_size):
            yield begin + place, block[place : place + page_size]


def _find_unused(page: bytes, header: int) -> Iterator[tuple[int, int]]:
    """Find what lies between a page's cell pointers and its cells, and its free blocks."""
    kind = page[header]
    if kind not in LEAVES and kind not in INTERIORS:
        return
    size = LEAF_BYTES if kind in LEAVES else INTERIOR_BYTES
    cells = _number(page, header + 3)
    content = _number(page, header + 5) or 65536
    yield header + size + 2 * cells, min(content, len(page))
    block = _number(page, header + 1)
    while 0 < block < len(page) - 3:
        following = _number(page, block)
        yield block + 4, block + _number(page, block + 2)
        if following <= block:
            return
        block = following


def _number(page: bytes, at: int) -> int:
    return int.from_bytes(page[at : at + 2], "big")
