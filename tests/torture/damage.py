"""What may happen to a file while nobody looks: pure functions from its bytes to worse ones."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

Damaged = tuple[str, bytes]
WRONG: Sequence[Any] = (None, True, 0, -1.5, "", "text", [], {}, [[]], {"": None})
CONFLICT = b"<<<<<<< HEAD\n%s=======\n%s>>>>>>> theirs\n"
CUTS, FLIPS = 10, 15


def any_file(data: bytes, *, seed: int, times: int) -> Iterator[Damaged]:
    """Damage that needs no knowledge of what the file is."""
    choice = random.Random(seed)
    yield "empty", b""
    yield "all zeros", bytes(len(data))
    yield "blank", b" \n\t\n"
    yield "a byte order mark", b"\xef\xbb\xbf"
    yield "zeros at the end", data + bytes(4096)
    yield "twice", data + data
    yield "a zeroed block", data[: len(data) // 3] + bytes(512) + data[len(data) // 3 + 512 :]
    for size in (1, 100, 5000):
        yield f"{size} bytes of garbage", choice.randbytes(size)
    for position in sorted(choice.sample(range(len(data)), min(len(data), CUTS * times))):
        yield f"cut at {position}", data[:position]
    for position in sorted(choice.sample(range(len(data)), min(len(data), FLIPS * times))):
        flipped = data[position] ^ choice.choice((0x01, 0x20, 0x80, 0xFF))
        yield f"flipped at {position}", data[:position] + bytes([flipped]) + data[position + 1 :]


def text_file(data: bytes) -> Iterator[Damaged]:
    """Damage that editors, version control and other systems do to text."""
    text = data.decode()
    for encoding in ("utf-16", "utf-16-le", "utf-16-be", "utf-32"):
        yield encoding, text.encode(encoding)
    yield "latin-1", "café déjà vu\n".encode("latin-1") + data
    yield "big5", "喜歡咖啡\n".encode("big5") + data
    yield "big5 at the end", data + "喜歡咖啡\n".encode("big5")
    yield "a byte order mark before", b"\xef\xbb\xbf" + data
    yield "other line endings", data.replace(b"\n", b"\r\n")
    yield "no final newline", data.rstrip(b"\n")
    lines = data.splitlines(keepends=True)
    for at in range(0, len(lines), max(1, len(lines) // 8)):
        ours = b"".join(lines[at : at + 2])
        conflict = CONFLICT % (ours, ours.replace(b"v0", b"v9"))
        yield f"conflict at line {at}", b"".join([*lines[:at], conflict, *lines[at + 2 :]])


def json_file(data: bytes, *, most: int, seed: int) -> Iterator[Damaged]:
    """Valid JSON that is not what it should be, at each level, and JSON that breaks parsers."""
    document = json.loads(data)
    worse = [*_wrong_types(document), *_missing_keys(document)]
    random.Random(seed).shuffle(worse)
    for name, value in worse[:most]:
        yield name, json.dumps(value, ensure_ascii=False).encode()
    yield "deep", b"[" * 100_000
    yield "deep and closed", b"[" * 50_000 + b"]" * 50_000
    yield "a huge number", b"[" + b"9" * 10_000 + b"]"
    yield "not a number", data.replace(b'"w', b'NaN, "w', 1)
    yield "a lone surrogate", data.replace(b" v0", b" v0\\ud800", 1)
    yield "an escaped zero", data.replace(b" v0", b" v0\\u0000", 1)
    yield "a comment", b"// mine\n" + data
    yield "a comma too many", data.rstrip().rstrip(b"]}") + b",]}"
    yield "something after", data + b"{}"


def _wrong_types(document: object) -> Iterator[tuple[str, object]]:
    for path in _paths(document):
        for wrong in WRONG:
            yield f"{path} is {json.dumps(wrong)}", _with(document, path, wrong)


def _missing_keys(document: object) -> Iterator[tuple[str, object]]:
    for path in _paths(document):
        if path and isinstance(path[-1], str):
            worse = copy.deepcopy(document)
            parent = _at(worse, path[:-1])
            parent[f"not {path[-1]}"] = parent.pop(path[-1])
            yield f"{path} has another name", worse


def _paths(document: object, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield above
    children: Iterator[tuple[Any, object]] = iter(())
    if isinstance(document, dict):
        children = iter(document.items())
    elif isinstance(document, list):
        children = iter(enumerate(document))
    for key, value in children:
        yield from _paths(value, (*above, key))


def _at(document: Any, path: Sequence[Any]) -> Any:  # noqa: ANN401
    for key in path:
        document = document[key]
    return document


def _with(document: object, path: Sequence[Any], value: object) -> object:
    if not path:
        return value
    worse = copy.deepcopy(document)
    _at(worse, path[:-1])[path[-1]] = value
    return worse
