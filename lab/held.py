"""Findings held against the brokers' own account of each request (`NAME.requests.tsv.zst`): what they say must be in it.

Brokers are told by the last number of their address (10.20.0.12 is broker 2), or by that of the proxy's port (9202).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import zstandard

from analyzer.notebook.finding_list import Finding

_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Request:
    """A request that a broker finished: when (s since 1970), and its times in ms."""

    logged_at: float
    broker: int
    client_id: str
    api: str
    total_ms: float
    throttle_ms: float


def requests(path: Path) -> list[Request]:
    """The rows of a table of requests, in the order of their times."""
    lines = zstandard.ZstdDecompressor().decompress(path.read_bytes()).decode().splitlines()
    names = lines[0].split("\t")
    rows = (dict(zip(names, line.split("\t"), strict=True)) for line in lines[1:])
    return [
        Request(
            float(row["logged_at"]),
            int(row["broker"]),
            row["client_id"],
            row["api"],
            float(row["total_ms"]),
            float(row["throttle_ms"]),
        )
        for row in rows
    ]


def contradictions(found: list[Finding], log: list[Request]) -> Iterator[str]:
    """What the log says otherwise, of the findings that say something which it has."""
    for finding in found:
        check = _CHECKS.get(finding.name)
        told = check(finding, log) if check else None
        if told:
            yield f"{finding.name}: {finding.sentence}\n  the log: {told}"


def _broker(address: str) -> int:
    host, _, port = address.rpartition(":")
    if host == "10.20.0.5":
        return int(port) - 9200
    return int(re.split(r"[.:]", host.strip("[]"))[-1]) - 10


def _stalled(finding: Finding, log: list[Request]) -> str | None:
    """For as long as it is said the broker finished no request, of its peers neither, or none of the API that is named."""
    assert finding.first_time_ns is not None and finding.last_time_ns is not None
    begin, end = finding.first_time_ns / _SECOND, finding.last_time_ns / _SECOND
    broker = _broker(finding.numbers["broker"])
    api = finding.numbers["answered"].split(",")[0].removeprefix("no ").upper()
    if finding.numbers["or_follower"]:
        api = "PRODUCE"  # what does not wait for followers went on, of clients that the capture has not
    own = [row.logged_at for row in log if row.broker == broker and api in ("REQUEST", row.api)]
    # The account ends a second after the capture: what stands still then is silent up to its end.
    times = [log[0].logged_at, *own, *([log[-1].logged_at] if finding.numbers["until"] else [])]
    silent = [
        min(after, end + 2) - max(before, begin - 2)
        for before, after in pairwise(times)
        if after > begin and before < end
    ]
    wanted = finding.numbers["still_ns"] / _SECOND
    if finding.numbers["unread"] or max(silent, default=0.0) >= 0.9 * wanted - 0.1:
        return None
    return f"broker {broker} was silent for {max(silent, default=0.0):.2f} s at most, not {wanted:.2f} s"


def _slow(finding: Finding, log: list[Request]) -> str | None:
    """The 99th percentile of the API by the log is near what is said, and that of other brokers is below it."""
    broker, api = _broker(finding.numbers["broker"]), finding.numbers["api_name"].upper()
    own = sorted(row.total_ms for row in log if row.broker == broker and row.api == api)
    others = sorted(row.total_ms for row in log if row.broker != broker and row.api == api)
    said = finding.numbers["p99_ns"] / 1e6
    p99 = own[int(0.99 * (len(own) - 1))] if own else 0.0
    times = [row.logged_at for row in log if row.broker == broker]
    still = sum(after - before >= said / 2000 for before, after in pairwise(times))
    # Of a process that stands still the log has silences, and not the time that requests waited to be read.
    if not 0.7 * said <= p99 <= 1.5 * said and still < finding.numbers["slow_requests"] / 5:
        return f"p99 of {api} on broker {broker} is {p99:.0f} ms"
    if finding.numbers["others_p99_ns"] and others and others[int(0.99 * (len(others) - 1))] > said / 2:
        return f"p99 of {api} on the others is {others[int(0.99 * (len(others) - 1))]:.0f} ms"
    return None


def _throttled(finding: Finding, log: list[Request]) -> str | None:
    """The client's replies were throttled as often; all that its clients waited was told them by a broker."""
    who = finding.numbers["client_id"]
    told = [row.throttle_ms for row in log if row.throttle_ms > 0 and row.client_id == who]
    held_ms = finding.numbers["held_ns"] / 1e6
    if len(told) < finding.numbers["replies"] - 1 or sum(told) < 0.9 * held_ms:
        return f"{len(told)} throttled replies of {who}, {sum(told):.0f} ms"
    return None


def _gone(finding: Finding, log: list[Request]) -> str | None:
    """A broker that is not back at the end has finished nothing for the last seconds."""
    assert finding.first_time_ns is not None and finding.last_time_ns is not None
    if "not back" not in str(finding.numbers["back"]):
        return None
    broker = _broker(finding.numbers["broker"])
    last = max((row.logged_at for row in log if row.broker == broker), default=0.0)
    if last < finding.last_time_ns / _SECOND and last < log[-1].logged_at - 1:
        return None
    return f"broker {broker} finished a request {log[-1].logged_at - last:.1f} s before the end"


_CHECKS: dict[str, Callable[[Finding, list[Request]], str | None]] = {
    "broker_gone": _gone,
    "broker_stalled": _stalled,
    "slow_broker": _slow,
    "throttled": _throttled,
}
CHECKED = frozenset(_CHECKS)
