"""How fine in time a page is: slots of a length that a person would choose."""

from __future__ import annotations

MS, SECOND, MINUTE, HOUR, DAY = 1_000_000, 1_000_000_000, 60_000_000_000, 3_600_000_000_000, 86_400_000_000_000
# A line of a chart has no more points than this: with some thirty APIs it is what a page can hold and an eye can tell apart.
MOST_SLOTS = 150
# With what lies between files, where nothing is drawn.
MOST_IN_ALL = 4_000
LENGTHS = (
    *(n * MS for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(n * SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * HOUR for n in (1, 2, 6, 12)),
)


def slot_ns(span_ns: int, captured_ns: int | None = None) -> int:
    """The length of a slot for a capture that spans a time, `captured_ns` of it captured (None: all), ns: the shortest of
    LENGTHS (then whole days) with which what was captured takes about MOST_SLOTS, and all of it MOST_IN_ALL.

    Slots begin at multiples of it since the epoch, so the first and the last one may lie in the capture in part only.
    """
    captured = span_ns if captured_ns is None else min(captured_ns, span_ns)
    for length in LENGTHS:
        if captured <= MOST_SLOTS * length and span_ns <= MOST_IN_ALL * length:
            return length
    return (max(captured // MOST_SLOTS, span_ns // MOST_IN_ALL) // DAY + 1) * DAY


def midnight_ns(moment_ns: int) -> int:
    """The midnight (UTC) before a moment, from which a page counts: a number of JavaScript holds 104 days in ns, but no date."""
    return moment_ns - moment_ns % DAY
