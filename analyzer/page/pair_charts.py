"""Two lines on the same axes, as SVG: drawn without a script, as wide as there is room, in the colours of the page."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, floor, log10

from analyzer.page.html_elements import Html, element
from analyzer.page.pair_lines import Line
from analyzer.page.slots import LENGTHS
from analyzer.report.format import duration

# Inner sizes: the drawing is 1,000 wide and stretched; its height is that of pixels.
_WIDE, _HIGH, _TOP = 1_000, 96, 8
_MARKS = 5
Write = Callable[[float], str]


def chart(title: str, before: Line, after: Line, write: Write, logarithmic: bool = False) -> Html:
    """`write` makes text of a value. Both lines begin at the left edge, whenever that was."""
    values = [each for line in (before, after) for _, each in line if each is not None]
    length = max((at for line in (before, after) for at, _ in line), default=0) or 1
    low, high = _range(values, logarithmic)
    told = f"{title}. {_summary('Before', before, write)}; {_summary('after', after, write)}."

    def y(value: float) -> float:
        part = (log10(max(value, low)) - log10(low)) / (log10(high) - log10(low)) if logarithmic else value / high
        return round(_TOP + (1 - part) * _HIGH, 1)

    def path(line: Line) -> str:
        drawn, pen = [], "M"
        for at, value in line:
            if value is None:
                pen = "M"
                continue
            x = round(at * _WIDE / length, 1)
            # A point without neighbours is a line of no length, which round ends make a dot.
            drawn.append(f"{pen}{x} {y(value)}" + (f"L{x} {y(value)}" if pen == "M" else ""))
            pen = "L"
        return " ".join(drawn)

    levels = _powers(low, high) if logarithmic else [0.0, high / 2, high]
    scale = (
        element("text", "0" if not level else write(level), x="100%", y=y(level) + 4, text_anchor="end")
        for level in levels
    )
    grid = (element("path", d=f"M0 {y(level)}L{_WIDE} {y(level)}", class_="grid", **_THIN) for level in levels)
    lines = element(
        "svg",
        *grid,
        element("path", d=path(before), class_="before", **_THIN),
        element("path", d=path(after), class_="after", **_THIN),
        viewBox=f"0 0 {_WIDE} {_HIGH + 2 * _TOP}",
        preserveAspectRatio="none",
        width="100%",
        height=_HIGH + 2 * _TOP,
        overflow="visible",
    )
    tall = _HIGH + 2 * _TOP
    drawing = element(
        "div",
        element("svg", *scale, class_="scale", height=tall),
        element("svg", lines, *_time_marks(length, tall), class_="lines", height=tall + 18),
        class_="pair-drawing",
        role="img",
        aria_label=told,
    )
    return element(
        "div",
        element("h3", title),
        drawing,
        element("p", told.removeprefix(f"{title}. "), class_="told"),
        class_="pair-chart",
    )


_THIN = {"vector_effect": "non-scaling-stroke"}


def _range(values: list[float], logarithmic: bool) -> tuple[float, float]:
    """The ends of the axis of values: from none to a round number, or powers of ten."""
    above = [each for each in values if each > 0]
    if not above:
        return (1e6, 1e7) if logarithmic else (0.0, 1.0)
    if not logarithmic:
        return 0.0, _round_up(max(above))
    low, high = floor(log10(min(above))), ceil(log10(max(above)))
    return 10.0**low, 10.0 ** max(high, low + 1)


def _round_up(value: float) -> float:
    unit = 10.0 ** floor(log10(value))
    return next(each * unit for each in (1, 2, 4, 6, 8, 10) if each * unit >= value * 0.999_999)


def _powers(low: float, high: float) -> list[float]:
    powers = [10.0**power for power in range(round(log10(low)), round(log10(high)) + 1)]
    return powers[:: -(-len(powers) // _MARKS)]


def _time_marks(length: int, top: int) -> list[Html]:
    """How long after the beginning: round times."""
    step = next(
        (each for each in LENGTHS if each * _MARKS >= length), LENGTHS[-1] * -(-length // (LENGTHS[-1] * _MARKS))
    )
    made = []
    for at in range(0, length + 1, step):
        part = at / length
        anchor = "start" if part < 0.04 else "end" if part > 0.94 else "middle"
        words = duration(at) if at else "0"
        made.append(element("text", words, x=f"{part:.2%}", y=top + 12, text_anchor=anchor))
    return made


def _summary(name: str, line: Line, write: Write) -> str:
    known = [(value, at) for at, value in line if value is not None]
    if not known:
        return f"{name}: not known"
    most, at = max(known, key=lambda each: each[0])
    return f"{name}: at most {write(most)}, {duration(at)} after the beginning" if most else f"{name}: none"
