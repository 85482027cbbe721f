"""Where the clock of a capture jumped, by the steps of time between neighbouring packets (`dissectors.formats.time_steps`).

A step back is a jump. One ahead is one when no pause is so long, or when it is taken back: a step back beside it is of its size, or
nearly.
What began before a jump and ended behind it has no duration: `analyzer/query/resolve/jumped_exchanges.sql`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from dissectors.formats.time_order_limits import MOST_STEPS, PAUSE_NS, WINDOW_NS

FOREVER = (1 << 63) - 1


class Jump(NamedTuple):
    """The time goes from `before_ns` to `after_ns` between two packets; `packet` is the second. What begins before `until`
    and ends at `packet` or behind has no duration: `until` is `packet`, or FOREVER where too many jumps follow to be kept."""

    packet: int
    until: int
    before_ns: int
    after_ns: int

    @property
    def ahead_ns(self) -> int:
        """Below zero: back."""
        return self.after_ns - self.before_ns


def jumps(steps: Sequence[tuple[int, int, int]], dropped: int) -> list[Jump]:
    """The jumps among the steps of a file, in its order; `dropped`: so many steps behind them are not known."""
    found = [step for around in _with_neighbours(_without_pauses(steps)) if (step := _jump(*around)) is not None]
    if found and (dropped or len(found) > MOST_STEPS):
        found = found[:MOST_STEPS]
        found[-1] = found[-1]._replace(until=FOREVER)
    return found


def _without_pauses(steps: Sequence[tuple[int, int, int]]) -> list[Jump]:
    """Of several pauses in a row the first and the last: those of pieces of a file are more than those of the whole."""
    kept: list[Jump] = []
    for packet, before, after in steps:
        step = Jump(packet, packet, before, after)
        if len(kept) > 1 and all(0 < each.ahead_ns < PAUSE_NS for each in (step, *kept[-2:])):
            kept.pop()
        kept.append(step)
    return kept


def _with_neighbours(steps: Sequence[Jump]) -> Iterator[tuple[Jump | None, Jump, Jump | None]]:
    return zip([None, *steps][:-1], steps, [*steps, None][1:], strict=True)


def _jump(before: Jump | None, step: Jump, behind: Jump | None) -> Jump | None:
    if step.ahead_ns < 0 or step.ahead_ns >= PAUSE_NS:
        return step
    backs = (-each.ahead_ns for each in (before, behind) if each is not None)
    return step if any(back // 2 <= step.ahead_ns <= 2 * back for back in backs) else None


def words(found: Sequence[Jump]) -> Iterator[str]:
    """What is said about jumps: of those ahead by how much at most, of those back that they were."""
    ahead = [jump.ahead_ns for jump in found if jump.ahead_ns > 0]
    if ahead:
        yield f"the time jumps ahead by {'' if len(ahead) == 1 else 'up to '}{_duration(max(ahead))} ({_times(len(ahead))})"
    if back := len(found) - len(ahead):
        yield f"the time jumps back by more than {WINDOW_NS // 10**9} s ({_times(back)})"


def advice(found: Sequence[Jump]) -> str:
    """What to do about jumps: which of them are clocks that were set, nothing tells."""
    before = found[0].packet - 1
    return (
        "what lasts from before to behind has no duration. If captures were appended, sort them (reordercap "
        f"CAPTURE SORTED); if the clock was set, read the parts apart (editcap -r CAPTURE PART 1-{before})"
    )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count:,} times"


def _duration(ns: int) -> str:
    hours = ns / 3_600_000_000_000
    if hours >= 48:
        return f"{hours // 24:,.0f} days"
    return f"{hours:.1f} h" if hours >= 1 else f"{ns / 1e9:,.0f} s"
