"""What a terminal shows after all that was written to it."""

from __future__ import annotations

import re

from rich.cells import cell_len

TOKEN = re.compile(r"\x1b\[([0-9;?]*)([@-~])|\x1b\][^\x07]*\x07|\x1b.|[^\x1b]", re.DOTALL)


class Screen:
    """A terminal that is as high as need be; it knows only what our programs send."""

    def __init__(self, columns: int = 80) -> None:
        self._columns = columns
        self._rows: list[dict[int, str]] = [{}]
        self._row = self._column = 0

    def show(self, data: str) -> str:
        """Write something, and return the screen as text."""
        for token in TOKEN.finditer(data):
            if token[2]:
                self._control(token[2], token[1])
            elif not token[0].startswith("\x1b"):
                self._put(token[0])
        return "\n".join(map(_line, self._rows))

    def _put(self, char: str) -> None:
        if char == "\r":
            self._column = 0
        elif char == "\n":
            self._column = 0
            self._move(1)
        elif char == "\b":
            self._column = max(0, self._column - 1)
        else:
            if self._column + cell_len(char) > self._columns:
                self._column = 0
                self._move(1)
            self._rows[self._row][self._column] = char
            self._column += cell_len(char)

    def _control(self, final: str, argument: str) -> None:
        number = int(argument) if argument.isdecimal() else 1
        if final in "AB":
            self._move(number if final == "B" else -number)
        elif final in "CD":
            self._column = max(0, self._column + (number if final == "C" else -number))
        elif final == "J":
            del self._rows[self._row + 1 :]
        if final in "JK":
            first = 0 if argument == "2" else self._column
            row = self._rows[self._row]
            self._rows[self._row] = {at: char for at, char in row.items() if at < first}

    def _move(self, rows: int) -> None:
        self._row = max(0, self._row + rows)
        self._rows += [{} for _ in range(self._row + 1 - len(self._rows))]


def _line(row: dict[int, str]) -> str:
    line, width = "", 0
    for at in sorted(row):
        line += " " * (at - width) + row[at]
        width = at + cell_len(row[at])
    return line.rstrip()
