"""Where the time of requests goes: shares in words, and what the largest of them means.

The parts are those of `latency_slices.sql`: what a request took to send, what it waited behind others and for the end of
a throttle, what proxies and the broker spent on it, what is left for the network, what nobody can tell, and what the reply
took to come.
"""

from __future__ import annotations

from typing import Any

from analyzer.report.format import NONE

# Column -> word in a list of shares, and the answer to "client, network or broker?" when it is most of the time.
PARTS = {
    "broker": ("broker", "the broker's own time"),
    "proxy": ("proxy", "the proxy between client and broker"),
    "network": ("network", "the network"),
    "unknown": ("unknown", "unknown: broker or network"),
    "queue": ("queue", "head-of-line blocking: behind earlier requests"),
    "muted": ("throttle", "a quota: waits until a throttle ends"),
    "send": ("sending", "client or network: requests take long to arrive"),
    "receive": ("receiving", "network or slow reader: replies take long to arrive"),
}
# A part that is not more than this much is not the answer.
MOST = 0.6


def shares(row: dict[str, Any], prefix: str = "parts") -> list[tuple[str, float]]:
    """Parts with their shares (0 to 1), the largest first; empty when they are not known of most of the requests.

    `prefix`: "parts" for all requests of the row, "slow" for its slowest 1 %.
    """
    known = row[f"{prefix}_known"] or 0
    wanted = row["answered"] if prefix == "parts" else 1
    times = {name: row[f"{prefix}_{name}_ns"] for name in PARTS}
    if not known or known * 2 < wanted or None in times.values():
        return []
    whole = sum(times.values())
    if not whole:
        return []
    found = [(name, times[name] / whole) for name in PARTS]
    return sorted(found, key=lambda part: -part[1])


def where(row: dict[str, Any], prefix: str = "parts") -> str:
    """broker 91 %, network 7 %, queue 2 %; what is below 1 % is left out, and so is all beyond the third."""
    found = [f"{PARTS[name][0]} {_percent(part)}" for name, part in shares(row, prefix)[:3] if part >= 0.01]
    return ", ".join(found) or NONE


def verdict(row: dict[str, Any]) -> str:
    """Client, network or broker? In words, for the slowest 1 % of the row; that it is not known, when it is not."""
    found = shares(row, "slow")
    if not found:
        return "not known"
    name, part = found[0]
    if part >= MOST:
        return PARTS[name][1]
    return f"no single cause: {PARTS[name][1].partition(':')[0]} first, then {PARTS[found[1][0]][1].partition(':')[0]}"


def _percent(part: float) -> str:
    """Whole percents, never 100 % when something else is there."""
    return f"{min(int(part * 100 + 0.5), 99) if part < 1 else 100} %"
