"""Moments as people type them: with a date, or as they are printed: a time of day, or a distance from an end of the captures. Those
are known once the captures are."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

DAY_NS = 86_400 * 10**9
_LATEST_NS = 2**63 - 1
_SPANS = {"ms": 10**6, "s": 10**9, "m": 60 * 10**9, "min": 60 * 10**9, "h": 3600 * 10**9, "d": DAY_NS}
_SPAN = re.compile(r"(\d{1,9})(?:\.(\d{1,9}))?\s*(ms|s|m|min|h|d)", re.IGNORECASE | re.ASCII)
_TIME = re.compile(r"(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:?\d{2})?")
_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?", re.ASCII)


class MomentError(OSError, ValueError):
    """A moment that the captures do not settle: one line for a person."""


@dataclass(frozen=True, slots=True)
class Moment:
    """What a person typed, and what it means: `ns` after midnight of some day (`clock`), after the first packet (`first`) or before
    the last one (`last`)."""

    typed: str
    kind: str
    ns: int

    def at(self, first_ns: int | None, last_ns: int | None, is_end: bool = False) -> int:
        """The moment in ns since the epoch, for captures from `first_ns` to `last_ns` (None: no packet). A time of day is of a day
        that was captured: the one within the captures, else at the end of a range of the last such day, at its beginning of the
        first. Raises MomentError where several days have it."""
        if first_ns is None or last_ns is None:
            return 0
        if self.kind != "clock":
            found = first_ns + self.ns if self.kind == "first" else last_ns - self.ns
            return max(0, min(found, _LATEST_NS))
        days = range(first_ns // DAY_NS, last_ns // DAY_NS + 1)
        moments = [day * DAY_NS + self.ns for day in days]
        inside = [each for each in moments if first_ns <= each <= last_ns]
        if len(inside) > 1:
            raise MomentError(f"{self.typed} is a moment of {len(inside)} days of the captures; give the date too")
        return min((inside or moments)[-1 if is_end else 0], _LATEST_NS)


def span_ns(word: str) -> int:
    """A length of time, `500ms`, `10s`, `1.5m`, `2h`, `1d`, in ns; 0 for any other word."""
    match = _SPAN.fullmatch(word.strip())
    whole, fraction, unit = match.groups() if match else ("0", None, "s")
    # Digits alone, so that nothing is rounded.
    return int(whole + (fraction or "")) * _SPANS[unit.lower()] // 10 ** len(fraction or "")


def utc_ns(word: str) -> int | None:
    """A time with its date, `2026-05-01T10:59:12.123`, in UTC or with its own offset, in ns since the epoch; None: no such."""
    if (match := _TIME.fullmatch(word.strip())) is None:
        return None
    date, clock, fraction, offset = match.groups()
    try:
        found = datetime.fromisoformat(f"{date}T{clock or '00:00'}{(offset or 'Z')}")
    except ValueError:
        return None
    return int(found.astimezone(UTC).timestamp()) * 10**9 + int((fraction or "").ljust(9, "0"))


def moment(word: str) -> Moment | None:
    """`22:46`, `22:46:20.123` (UTC), `+10s` after the first packet, `-30s` before the last; None for any other word."""
    word = word.strip()
    if word[:1] in ("+", "-"):
        ns = span_ns(word[1:])
        return Moment(word, "first" if word[0] == "+" else "last", ns) if ns else None
    match = _CLOCK.fullmatch(word)
    if match is None:
        return None
    hours, minutes, seconds, fraction = match.groups()
    ns = (int(hours) * 3600 + int(minutes) * 60 + int(seconds or 0)) * 10**9 + int((fraction or "").ljust(9, "0"))
    return Moment(word, "clock", ns)
