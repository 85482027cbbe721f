"""From which strength on a cause is found, and up to which nothing is said: a table made of rows of `lab.seeds --judge`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from lab.seeds.causes import CAUSES, Cause

_HEAD = "| cause | strength | must be told | all found | nothing said | found |\n|---|---|---|---|---|---|"
Seen = tuple[float, str]  # the strength, and the verdict


def table(rows: Iterable[str]) -> str:
    """A line for each cause whose strength is a dose, and that was drawn."""
    seen: dict[str, list[Seen]] = {}
    for row in rows:
        _, cause, strength, _, verdict, *_ = row.split("\t")
        seen.setdefault(cause, []).append((float(strength), verdict))
    doses = (each for name, each in sorted(CAUSES.items()) if each.unit is not None and name in seen)
    return "\n".join([_HEAD, *(_line(each, seen[each.name]) for each in doses)])


def _line(cause: Cause, seen: Sequence[Seen]) -> str:
    """What is found is found by all that are as strong or stronger, and silence is that of all that are as weak or weaker."""
    weakest_first, ends = sorted(seen, reverse=cause.falls), ("or more", "or less")
    plainer, weaker = reversed(ends) if cause.falls else ends
    found, silent = _last(reversed(weakest_first), "right", plainer), _last(weakest_first, "nothing", weaker)
    must = f"{cause.least:g} or more" if cause.least else "-"
    right = sum(verdict == "right" for _, verdict in seen)
    return f"| `{cause.name}` | {cause.unit} | {must} | {found} | {silent} | {right} of {len(seen)} |"


def _last(seen: Iterable[Seen], verdict: str, end: str) -> str:
    """The strength of the last of those at the beginning that have this verdict."""
    alike: Iterator[Seen] = takewhile(lambda each: each[1] == verdict, seen)
    return next((f"{strength:g} {end}" for strength, _ in reversed(list(alike))), "-")
