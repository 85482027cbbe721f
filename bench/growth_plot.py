"""Curves of `growth.py` as an SVG: one small picture for each axis, both scales logarithmic, with the slope of linear growth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

WIDTH, HEIGHT = 260, 200
LEFT, RIGHT, TOP, BOTTOM = 48, 14, 30, 34
ACROSS = 3
STYLE = (
    "text{font:11px sans-serif;fill:#333}.title{font-weight:bold}.grid{stroke:#ddd}.line{fill:none;stroke:#1f6fb4;stroke-width:2}"
    ".dot{fill:#1f6fb4}.linear{stroke:#c66;stroke-dasharray:4 3}"
)


class Curve(NamedTuple):
    """(size, CPU seconds) from the smallest size on. `level`: at best the curve does not grow at all."""

    name: str
    points: Sequence[tuple[int, float]]
    level: bool


def plot(curves: Sequence[Curve]) -> str:
    """The picture. The dashed line goes from the last point back: linear growth, or none where none is the aim."""
    rows = -(-len(curves) // ACROSS)
    size = f'width="{ACROSS * WIDTH}" height="{rows * HEIGHT}"'
    inside = "\n".join(_panel(curve, place) for place, curve in enumerate(curves))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}><style>{STYLE}</style>'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{inside}\n</svg>\n'
    )


def _panel(curve: Curve, place: int) -> str:
    if not curve.points:
        return ""
    lows = math.log10(curve.points[0][0]), math.floor(math.log10(min(y for _, y in curve.points)))
    highs = math.log10(curve.points[-1][0]), math.ceil(math.log10(max(y for _, y in curve.points)) + 1e-9)

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - lows[0]) / max(highs[0] - lows[0], 1e-9)
        up = (y - lows[1]) / max(highs[1] - lows[1], 1)
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    parts = [f'<text class="title" x="{LEFT}" y="18">{escape(curve.name)}: CPU s</text>']
    for power in range(lows[1], highs[1] + 1):
        x, y = at(lows[0], power)
        parts.append(f'<line class="grid" x1="{x:.0f}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text text-anchor="end" x="{LEFT - 6}" y="{y + 4:.1f}">{10**power:g}</text>')
    placed = [at(math.log10(x), math.log10(y)) for x, y in curve.points]
    for (size, _), (x, _) in zip(curve.points, placed, strict=True):
        parts.append(f'<text text-anchor="middle" x="{x:.0f}" y="{HEIGHT - BOTTOM + 16}">{_short(size)}</text>')
    parts.append(_aim(curve, lows, at))
    parts.append(f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in placed)}"/>')
    parts += [f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in placed]
    down, across = divmod(place, ACROSS)
    return f'<g transform="translate({across * WIDTH},{down * HEIGHT})">{"".join(parts)}</g>'


def _aim(curve: Curve, lows: tuple[float, float], at) -> str:  # type: ignore[no-untyped-def]
    """The dashed line through the last point, as far as it stays in the picture."""
    end = math.log10(curve.points[-1][0]), math.log10(curve.points[-1][1])
    back = end[0] - lows[0] if curve.level else min(end[0] - lows[0], end[1] - lows[1])
    x1, y1 = at(end[0] - back, end[1] if curve.level else end[1] - back)
    x2, y2 = at(*end)
    return f'<line class="linear" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _short(size: int) -> str:
    for step, letter in ((1_000_000, "M"), (1_000, "k")):
        if size >= step:
            return f"{size // step}{letter}"
    return str(size)
