"""`service_ns` against the broker's own clock: totalTimeMs of its log, which ends with the last byte of the reply.

The captures were taken on the broker's host, so the difference is what lies between the wire and the broker's clock. It has
three causes that the log tells: the clock started late (the broker had not read the request from its socket yet), it
stopped late (`sendTimeMs`: the reply was out before the call returned), or the socket sent the reply's end after the log had
its line. Any other outlier fails the test.
"""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatch
from statistics import median, quantiles

import pytest
from agreement import Exchange, match
from oracle import Capture, LogLine, read_log
from program import Analyse

# Between client and broker lie a slow link or a router that loses packets: the reply's last byte was captured late.
FAR = ("congested", "routed_*")
OUTLIER_MS = 5.0
MEDIAN_MS = 0.5
# The log's times are whole milliseconds, and its line is written a moment after the clock stopped.
SLACK_MS = 3.0


def difference_ms(line: LogLine, row: Exchange) -> float:
    return float((row["service_ns"] + (row["receive_ns"] or 0)) / 1e6 - line.total_ms)


def read_late_ms_of(line: LogLine, row: Exchange) -> float:
    """How long the request had been there when the broker's clock started."""
    return float((line.started_ns - (row["response_time_ns"] - row["service_ns"])) / 1e6)


def reason(line: LogLine, row: Exchange) -> str:
    """Why wire and log differ; `unexplained` when the log does not say."""
    apart = difference_ms(line, row)
    read_late_ms = read_late_ms_of(line, row)
    sent_late_ms = ((row["response_end_ns"] or row["response_time_ns"]) - line.logged_ns) / 1e6
    if apart > 0 and read_late_ms >= apart - SLACK_MS:
        return "read late by the broker"
    if apart > 0 and max(read_late_ms, 0) + sent_late_ms >= apart - SLACK_MS:
        return "sent late by the socket"
    if apart < 0 and line.send_ms >= -apart - SLACK_MS:
        return "sent before the log's clock stopped"
    return "unexplained"


def test_service_time_is_what_the_broker_says(
    logged: Capture, analyse: Analyse, capsys: pytest.CaptureFixture[str]
) -> None:
    if any(fnmatch(logged.name, name) for name in FAR):
        pytest.skip("not captured beside the broker")
    found = match(analyse(logged.files).exchanges, read_log(logged.log))
    pairs = [(line, row) for line, row in found.pairs if row["status"] == "answered"]
    known = [(line, row) for line, row in pairs if row["service_ns"] is not None]
    if not known:
        pytest.skip("no answered request was read")
    apart = [difference_ms(line, row) for line, row in known]
    outliers = [(line, row) for line, row in known if abs(difference_ms(line, row)) > OUTLIER_MS]
    reasons = Counter(reason(line, row) for line, row in outliers)
    with capsys.disabled():
        steps = quantiles(apart, n=100) if len(apart) > 1 else apart * 99
        print(
            f"\n{logged.name}: {len(apart)} requests, service - totalTimeMs in ms: p1 {steps[0]:.2f}, p10 {steps[9]:.2f}, "
            f"p50 {steps[49]:.2f}, p90 {steps[89]:.2f}, p99 {steps[98]:.2f}; beyond {OUTLIER_MS:g} ms: {dict(reasons)}"
        )
    assert len(known) == len(pairs), "a service time is unknown although the capture has no loss"
    # On a busy host every request waits a while before the broker reads it.
    assert (
        abs(median(each - max(read_late_ms_of(*pair), 0) for each, pair in zip(apart, known, strict=True))) < MEDIAN_MS
    )
    unexplained = [(line, row) for line, row in outliers if reason(line, row) == "unexplained"]
    assert not unexplained, unexplained[:3]
