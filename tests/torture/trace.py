"""Read what strace wrote (`-f -xx -v -s LARGE`): one `Call` for each finished system call."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LINE = re.compile(r"^(?:(\d+) +)?(.*)$")
CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+|\?|0x[0-9a-f]+)(.*)$")
UNFINISHED = re.compile(r"^(.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^<\.\.\. \w+ resumed>(.*)$")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?')
BETWEEN = re.compile(r'"[^"]*"|[][{}(),]')


@dataclass(frozen=True, slots=True)
class Call:
    pid: int
    name: str
    arguments: tuple[str, ...]
    result: int
    injected: bool = False

    def data(self, n: int) -> bytes:
        """The bytes of an argument; those of an array of buffers, joined."""
        return b"".join(_bytes(match) for match in TEXT.finditer(self.arguments[n]))

    def path(self, n: int) -> str:
        return self.data(n).decode()

    def number(self, n: int) -> int:
        return int(self.arguments[n], 0)

    def has(self, n: int, flag: str) -> bool:
        return len(self.arguments) > n and flag in self.arguments[n].split("|")


def _bytes(match: re.Match[str]) -> bytes:
    if match[2]:
        message = "strace cut a text short: raise -s"
        raise ValueError(message)
    return bytes.fromhex(match[1].replace("\\x", ""))


def parse(lines: Iterable[str]) -> Iterator[Call]:
    """Return the calls in the order in which they ended."""
    begun: dict[int, str] = {}
    for line in lines:
        match = LINE.match(line.rstrip("\n"))
        pid, rest = int(match[1] or 0) if match else 0, match[2] if match else ""
        if unfinished := UNFINISHED.match(rest):
            begun[pid] = unfinished[1]
            continue
        if resumed := RESUMED.match(rest):
            rest = begun.pop(pid, "") + resumed[1]
        if found := CALL.match(rest):
            yield _call(pid, found)


def _call(pid: int, found: re.Match[str]) -> Call:
    result = -1 if found[3] == "?" else int(found[3], 0)
    return Call(pid, found[1], tuple(_split(found[2])), result, "(INJECTED)" in found[4])


def _split(text: str) -> Iterator[str]:
    """Split at the commas outside brackets and texts."""
    depth, start = 0, 0
    for found in BETWEEN.finditer(text):
        depth += (found[0] in "[{(") - (found[0] in "]})")
        if found[0] == "," and depth == 0:
            yield text[start : found.start()].strip()
            start = found.end()
    if text.strip():
        yield text[start:].strip()
