"""Numbers, times and captured strings as text for a person. Integer arithmetic throughout; a unit always follows.

Nothing is rounded to something it is not: 99.996 % is not 100 %, and one of a million is not 0 %.
"""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta
from typing import Any

from analyzer.base.text import printable, shown_name
from analyzer.names.name_table import who

SECOND_NS = 1_000_000_000
_HOUR_NS = 3600 * SECOND_NS
_DAY_NS = 24 * _HOUR_NS
NONE = "-"

# Below the first number, a duration is written in this unit (ns) with so many decimals.
_DURATIONS = (
    (1_000, 1, 0, "ns"),
    (9_950, 1_000, 1, "µs"),
    (99_500, 1_000, 0, "µs"),
    (995_000, 1_000_000, 2, "ms"),
    (9_950_000, 1_000_000, 1, "ms"),
    (999_500_000, 1_000_000, 0, "ms"),
    (59_950_000_000, SECOND_NS, 1, "s"),
)
_SIZES = ("B", "kB", "MB", "GB", "TB", "PB", "EB")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# As long as a topic's name can be.
_LONGEST_TEXT = 249


def safe(text: str | None) -> str:
    """A captured string on one line, harmless on a terminal, cut when it is absurdly long; null and "" are marked. Not to be
    applied twice: a backslash is escaped."""
    if not text:
        return NONE if text is None else "(empty)"
    return shown_name(text if len(text) <= _LONGEST_TEXT else text[:_LONGEST_TEXT] + "…")


def argument(text: str) -> str:
    """A captured string as an argument that a shell takes as it is, for a command that the report proposes."""
    return shlex.quote(text)


def can_be_typed(text: str | None) -> bool:
    """True when the string can be part of a proposed command."""
    return bool(text) and len(text or "") <= _LONGEST_TEXT and printable(text or "") == text


def count(number: int | None) -> str:
    """412,003"""
    return NONE if number is None else f"{number:,}"


def short_count(number: int) -> str:
    """Exact below a million, then 1.2 M."""
    if number < 1_000_000:
        return f"{number:,}"
    unit, letter = (10**6, "M") if number < 999_500_000 else (10**9, "G")
    return f"{_scaled(number, unit, 1 if number < 10 * unit else 0)} {letter}"


def lags(fetched: int | None, committed: int | None) -> str:
    """Records behind the end: of what was fetched, and of what was committed where that is another number."""
    return count(fetched) if committed in (None, fetched) else f"{count(fetched)} / {count(committed)}"


def things(number: int, one: str, many: str | None = None) -> str:
    """1 broker, 3 brokers; of times: once, twice, 3 times"""
    if one == "time" and number in (1, 2):
        return "once" if number == 1 else "twice"
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def size(number: int | None) -> str:
    """Bytes in decimal units: 999 B, 3.1 kB, 637 MB."""
    if number is None:
        return NONE
    power = 0
    while power < len(_SIZES) - 1 and number * 2 >= 1999 * 1000**power:
        power += 1
    if power == 0:
        return f"{number} B"
    unit = 1000**power
    return f"{_scaled(number, unit, 1 if number * 100 < 995 * unit else 0)} {_SIZES[power]}"


def duration(ns: int | None) -> str:
    """850 ns, 12 µs, 0.15 ms, 2.1 ms, 412 ms, 1.9 s, 3 min 12 s, 2 h 5 min, 3 d 4 h."""
    if ns is None:
        return NONE
    if ns <= 0:
        return f"-{duration(-ns)}" if ns else "0 ns"
    for limit, unit, decimals, name in _DURATIONS:
        if ns < limit:
            return f"{_scaled(ns, unit, decimals)} {name}"
    seconds = _scaled_int(ns, SECOND_NS)
    if seconds < 3_600:
        return f"{seconds // 60} min {seconds % 60} s"
    minutes = _scaled_int(seconds, 60)
    if minutes < 24 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = _scaled_int(minutes, 60)
    return f"{hours // 24} d {hours % 24} h"


def milliseconds(ms: int | None) -> str:
    """A duration that Kafka gives in ms."""
    return duration(None if ms is None else ms * 1_000_000)


def rate(per_second: float | None) -> str:
    """Events per second, the unit left to the column: 2,145, 4.2, 0.05, <0.01."""
    if per_second is None:
        return NONE
    if per_second >= 9.95:
        return f"{per_second:,.0f}"
    return f"{per_second:.1f}" if per_second >= 0.995 else f"{per_second:.2f}" if per_second >= 0.01 else "<0.01"


def percent(part: int, whole: int) -> str:
    """Cut, never rounded up: 100 % is all, 0 % is none."""
    if whole <= 0:
        return NONE
    if part in (0, whole):
        return "100 %" if part else "0 %"
    hundredths = part * 10_000 // whole
    if hundredths == 0:
        return "<0.01 %"
    return f"{hundredths // 100} %" if hundredths % 100 == 0 else f"{hundredths // 100}.{hundredths % 100:02d} %"


def share(part: float | None) -> str:
    """A share from 0 to 1: 38 %, 4.2 %, <0.1 %."""
    if part is None:
        return NONE
    if part >= 0.0995:
        return f"{min(int(part * 100 + 0.5), 100)} %"
    return f"{part * 100:.1f} %" if part >= 0.001 else "<0.1 %" if part > 0 else "0 %"


def moment(ns: int | None, digits: int = 0) -> str:
    """2026-11-21 10:59:12.123, UTC, cut to `digits` decimals."""
    if ns is None:
        return NONE
    seconds, rest = divmod(ns, SECOND_NS)
    text = (_EPOCH + timedelta(seconds=seconds)).strftime("%Y-%m-%d %H:%M:%S")
    return f"{text}.{rest:09d}"[: len(text) + 1 + digits] if digits else text


def bits_per_second(value: float) -> str:
    """4.1 Mbit/s: the rate of a link, in decimal units of bits."""
    for unit in ("bit/s", "kbit/s", "Mbit/s"):
        if value < 999.5:
            return f"{value:.3g} {unit}"
        value /= 1000
    return f"{value:.3g} Gbit/s"


def clock(ns: int | None, digits: int = 0) -> str:
    """The time of day alone: 10:59:12."""
    return NONE if ns is None else moment(ns, digits).partition(" ")[2]


def slot_start(ns: int | None, every_ns: int) -> str:
    """When a slot of time begins: 10:59:12, of slots of hours 2026-05-01 10:00, of days 2026-05-01."""
    if ns is None:
        return NONE
    if every_ns % _DAY_NS == 0:
        return moment(ns)[:10]
    return moment(ns)[:16] if every_ns % _HOUR_NS == 0 else clock(ns, 0 if every_ns % SECOND_NS == 0 else 3)


def time_range(first_ns: int, last_ns: int) -> str:
    """2026-11-21 10:59:12 to 11:02:24 UTC (3 min 12 s); the date again when it is another one."""
    first, last = moment(first_ns), moment(last_ns)
    end = last if first[:10] != last[:10] else clock(last_ns)
    return f"{first} to {end} UTC ({duration(last_ns - first_ns)})"


def endpoint(address: str | None, port: int | None) -> str:
    """10.0.0.1:9092, [::1]:9092"""
    host = NONE if address is None else f"[{address}]" if ":" in address else address
    return host if port is None else f"{host}:{port}"


def beside(address: str, row: dict[str, Any], side: str = "client") -> str:
    """An address with the name that it has: 10.0.0.1 (shop/cart-7f9)."""
    name = who(row, side)
    return address if name is None else f"{address} ({safe(name)})"


def client(row: dict[str, Any]) -> str:
    """Who it is, in one word: the client id, else the address."""
    return safe(row["client_id"]) if row["client_id"] else safe(row["client_address"])


def _scaled(number: int, unit: int, decimals: int) -> str:
    if decimals == 0:
        return f"{_scaled_int(number, unit):,}"
    scale = 10**decimals
    whole, rest = divmod(_scaled_int(number * scale, unit), scale)
    return f"{whole:,}.{rest:0{decimals}d}"


def _scaled_int(number: int, unit: int) -> int:
    """Division that rounds to the nearest, halves up."""
    return (2 * number + unit) // (2 * unit)
