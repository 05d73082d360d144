"""Curves over logarithmic axes, as a picture that can be read on a light and on a dark page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 40, 40, 50
COLOURS = ("#2f86d0", "#d07f2f", "#3f9d63")
DASHES = ("none", "6 4", "2 4")
STYLE_SHEET = (
    "svg{color:#4b535d;font:13px sans-serif}"
    "@media(prefers-color-scheme:dark){svg{color:#b4bcc6}}"
    "text{fill:currentColor}.grid{stroke:currentColor;stroke-opacity:.2}"
)


@dataclass(frozen=True, slots=True)
class Curve:
    """What something costs in seconds, by how much there is."""

    name: str
    points: Sequence[tuple[int, float]]


def svg(curves: Sequence[Curve], sizes: str) -> str:
    """Draw the curves; `sizes` says what is counted from left to right."""
    across = _Axis([x for curve in curves for x, _ in curve.points], LEFT, WIDTH - RIGHT)
    upwards = _Axis([y for curve in curves for _, y in curve.points], HEIGHT - BOTTOM, TOP)
    title = f"CPU time of one call by the number of {sizes}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{title}</title>",
        f"<style>{STYLE_SHEET}</style>",
        *_grid(across, upwards),
        _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, "middle", sizes),
        *_legend(curves),
    ]
    for number, curve in enumerate(curves):
        placed = [(across.at(x), upwards.at(y)) for x, y in curve.points]
        parts += _line(placed, number)
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """Whole powers of ten around some values, spread from one place to another."""

    def __init__(self, values: Iterable[float], first: float, last: float) -> None:
        powers = [math.log10(value) for value in values]
        self._low = math.floor(min(powers))
        self._high = max(self._low + 1, math.ceil(max(powers)))
        self._first, self._last = first, last

    @property
    def ticks(self) -> list[float]:
        """The powers of ten."""
        return [10.0**power for power in range(self._low, self._high + 1)]

    def at(self, value: float) -> float:
        """Return where a value is."""
        share = (math.log10(value) - self._low) / (self._high - self._low)
        return self._first + share * (self._last - self._first)


def _grid(across: _Axis, upwards: _Axis) -> Iterator[str]:
    for size in across.ticks:
        x = across.at(size)
        yield f'<path class="grid" d="M{x:.1f} {TOP}V{HEIGHT - BOTTOM}"/>'
        yield _text(x, HEIGHT - BOTTOM + 18, "middle", f"{size:,.0f}")
    for seconds in upwards.ticks:
        y = upwards.at(seconds)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}"/>'
        yield _text(LEFT - 8, y + 4, "end", _time(seconds))


def _legend(curves: Sequence[Curve]) -> Iterator[str]:
    step = (WIDTH - LEFT - RIGHT) / len(curves)
    for number, curve in enumerate(curves):
        x = LEFT + number * step
        yield from _line([(x, 18), (x + 24, 18)], number)
        yield _text(x + 34, 22, "start", curve.name)


def _line(points: Sequence[tuple[float, float]], number: int) -> Iterator[str]:
    colour, dashes = COLOURS[number], DASHES[number]
    joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield (
        f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2.5" '
        f'stroke-dasharray="{dashes}"/>'
    )
    for x, y in points:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'


def _text(x: float, y: float, anchor: str, text: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{text}</text>'


def _time(seconds: float) -> str:
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size * 0.999:
            return f"{seconds / size:g} {unit}"
    return f"{seconds / 1e-6:g} µs"
