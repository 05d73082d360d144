"""The figures as one table, for a terminal or for a page."""

from __future__ import annotations

from collections.abc import Sequence

from bench.timing import Aim, TimingRow

HEAD = ("", "CPU", "yardstick", "ratio", "wall", "yardstick", "ratio", "aim", "")


def plain(rows: Sequence[TimingRow]) -> str:
    """Align the columns with spaces."""
    cells = [HEAD, *map(_cells, rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(_align(line, widths) for line in cells)


def markdown(rows: Sequence[TimingRow]) -> str:
    """Write a Markdown table."""
    rule = ("---", *["---:"] * 6, "---", "---")
    return "\n".join(f"| {' | '.join(line)} |" for line in (HEAD, rule, *map(_cells, rows)))


def _align(line: Sequence[str], widths: Sequence[int]) -> str:
    name, *figures, aim, verdict = line
    first, *others, of_aim, _ = widths
    right = [text.rjust(width) for text, width in zip(figures, others, strict=True)]
    return "  ".join([name.ljust(first), *right, aim.ljust(of_aim), verdict]).rstrip()


def _cells(row: TimingRow) -> tuple[str, ...]:
    return (
        row.name,
        _seconds(row.ours.cpu),
        _seconds(row.yardstick.cpu),
        _ratio(row.cpu_ratio),
        _seconds(row.ours.wall),
        _seconds(row.yardstick.wall),
        _ratio(row.wall_ratio),
        _aim(row.aim),
        _verdict(row),
    )


def _seconds(value: float | None) -> str:
    if value is None:
        return ""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"


def _ratio(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.0f} ×" if value >= 100 else f"{value:.3g} ×"


def _aim(aim: Aim | None) -> str:
    if aim is None:
        return ""
    if aim.seconds is not None:
        return f"≤ {aim.seconds:g} s"
    if aim.cpu_seconds is not None:
        return f"CPU ≤ {aim.cpu_seconds:g} s"
    return f"≤ {aim.cpu:g} ×" if aim.wall else f"CPU ≤ {aim.cpu:g} ×"


def _verdict(row: TimingRow) -> str:
    verdicts = _verdicts(row)
    if len(set(verdicts.values())) == 1:
        return next(iter(verdicts.values()))
    return ", ".join(f"{measure} {verdict}" for measure, verdict in verdicts.items())


def _verdicts(row: TimingRow) -> dict[str, str]:
    aim = row.aim or Aim()
    measured = {
        "CPU": (row.cpu_ratio, aim.cpu),
        "wall": (row.wall_ratio, aim.wall),
        "time": (row.ours.wall, aim.seconds),
        "CPU time": (row.ours.cpu, aim.cpu_seconds),
    }
    return {
        name: "met" if figure <= limit else "missed"
        for name, (figure, limit) in measured.items()
        if figure is not None and limit is not None
    }
