"""Every finding of severity high, of each capture that has its broker's log: the log says the same of the same clients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from oracle import LogLine, broker_of, read_log
from program import found_capture

import analyzer
from dissectors.kafka.schema.error_codes import known_errors

# The captures that have one.
_WITH_HIGHS = (
    *("broker_11", "broker_24", "broker_28", "cluster", "errors", "old_java", "sasl", "sasl_old", "throttle"),
    *("kafka44_failover", "kafka44_throttle", "kafka44_cluster"),
)
_SECOND = 1_000_000_000
_OFFSET_OUT_OF_RANGE, _OUT_OF_ORDER, _REBOOTSTRAP_REQUIRED = 1, 45, 129

_REFUSED = """
    SELECT DISTINCT c.broker_address || ':' || c.broker_port || '-' || c.client_address || ':' || c.client_port AS name
    FROM logins AS l JOIN connections AS c ON c.connection = l.connection WHERE l.outcome = 'failed'
"""


def _with_error(log: Sequence[LogLine], *codes: int, client: str | None = None) -> int:
    """How often: a reply may have several."""
    return sum(sum(code in codes for code in line.errors) for line in log if client in (None, line.client_id))


def _throttled(numbers: dict[str, Any], log: Sequence[LogLine]) -> bool:
    """As many replies, and no client waited for longer than it was told to."""
    own = [line for line in log if line.client_id == numbers["client_id"] and not line.forwarded]
    told = [line.throttle_time_ms for line in own if line.throttle_time_ms]
    return (
        len(told) == numbers["replies"]
        and sum(told) * 1_000_000 == numbers["told_ns"]
        and sum(told) * 1e6 >= 0.95 * numbers["held_ns"]
    )


def _out_of_range(numbers: dict[str, Any], log: Sequence[LogLine]) -> bool:
    return _with_error(log, _OFFSET_OUT_OF_RANGE, client=numbers["who"]) >= numbers["times"]


def _out_of_order(numbers: dict[str, Any], log: Sequence[LogLine]) -> bool:
    return _with_error(log, _OUT_OF_ORDER, client=numbers["who"]) >= numbers["times"]


def _of_a_client(numbers: dict[str, Any], log: Sequence[LogLine]) -> bool:
    (code,) = (error.code for error in known_errors().values() if error.name == numbers["name"])
    return _with_error(log, code, client=numbers["who"]) >= numbers["times"]


def _elsewhere(numbers: dict[str, Any], log: Sequence[LogLine]) -> bool:
    """Who gave up said nothing more once it was told something bad."""
    refused = [line for line in log if _REBOOTSTRAP_REQUIRED in line.errors]
    last = {line.client_id: line for line in log}
    lost = {line.client_id for line in refused if last[line.client_id].errors}
    return (
        len(refused) == numbers["refusals"]
        and {broker_of(line.connection) for line in refused} == {numbers["broker"]}
        and lost == {numbers["lost"]}
        and len({line.client_id for line in refused} - lost) == numbers["went_on"]
    )


def _gone(numbers: dict[str, Any], log: Sequence[LogLine]) -> bool:
    """For a while the broker finished nothing, while others did."""
    times = [line.logged_ns for line in log if broker_of(line.connection) == numbers["broker"]]
    gaps = [after - before for before, after in pairwise(times)]
    return max([*gaps, log[-1].logged_ns - times[-1]]) > _SECOND


def _given_again(numbers: dict[str, Any], log: Sequence[LogLine]) -> bool:
    """One broker gave the first of these offsets, or the batch around it, and the other one gave it again later."""
    given = [
        (line.logged_ns, broker_of(line.connection), offset)
        for line in log
        for topic, partition, offset in line.base_offsets
        if (topic, partition) == (numbers["topic"], numbers["partition"])
    ]
    first = max((each for each in given if each[1] == numbers["old_broker"]), key=lambda each: each[2])
    again = [each for each in given if each[1] == numbers["broker"] and each[0] > first[0]]
    return first[2] <= numbers["lost_to"] and min(again)[2] == numbers["lost_from"] <= first[2]


_CHECKS: dict[str, Callable[[dict[str, Any], Sequence[LogLine]], bool]] = {
    "acknowledged_lost": _given_again,
    "authorization": _of_a_client,
    "broker_gone": _gone,
    "controller_gone": _gone,
    "failing": _of_a_client,
    "offset_out_of_range": _out_of_range,
    "out_of_order": _out_of_order,
    "throttled": _throttled,
    "wrong_cluster": _elsewhere,
}


@pytest.mark.parametrize("name", _WITH_HIGHS)
def test_the_log_says_the_same(name: str) -> None:
    capture = found_capture(name)
    log = read_log(capture.log)
    with analyzer.read([str(path) for path in capture.files]) as read:
        high = [each for each in read.findings if each.severity == "high"]
        refused = set(read.sql(_REFUSED).to_arrow().column("name").to_pylist())
    assert high
    for each in high:
        if each.name == "authentication_failures":
            assert len(refused) == each.numbers["times"]
            assert not refused & {line.connection for line in log}, "no request is taken of who is not logged in"
            continue
        assert _CHECKS[each.name](each.numbers, log), each.sentence
