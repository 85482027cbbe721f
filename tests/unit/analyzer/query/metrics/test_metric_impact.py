"""Accounts of impact: which account a request or a connection belongs to, and from where on it is above the limits."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from made_rows import SECOND_NS, START_NS, Rows, capture, connection, dataset, error, exchange
from rich.console import Console

from analyzer.report.terminal import print_section

MS = 1_000_000
CREATE = {"api_key": 19, "api_name": "CreateTopics", "kind": "wait"}
FETCH = {"api_key": 1, "api_name": "Fetch", "kind": "fetch_backlog", "record_bytes": 0}


def at(seconds: float) -> int:
    return START_NS + int(seconds * SECOND_NS)


def accounts(folder: Path, **tables: Rows) -> list[tuple[Any, ...]]:
    """Account, what, times, of all, above the limits; of each row but those of connecting."""
    rows = dataset(folder, {"exchanges": [], "connections": [connection(1)]} | tables).metric("impact")
    return [
        (row["account"], row["what"], row["times"], row["of_all"], row["is_over"])
        for row in rows
        if row["account"] != "connecting"
    ]


def test_parts_of_the_time_are_those_of_the_latency(tmp_path: Path) -> None:
    known = {"queue_ns": 30 * MS, "throttle_ns": 20 * MS, "broker_ns": 40 * MS, "broker_min_ns": 40 * MS}
    rows = [
        exchange(1, latency_ns=100 * MS, **known),
        exchange(2, latency_ns=7 * MS, queue_ns=None, broker_ns=None, broker_min_ns=None),
    ]
    found = dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)]}).metric("impact")
    (row,) = (row for row in found if row["account"] == "time")
    told = {name: row[f"{name}_ns"] // MS for name in ("queue", "throttle", "broker", "network", "unknown", "waited")}
    assert told == {"queue": 30, "throttle": 20, "broker": 40, "network": 10, "unknown": 7, "waited": 107}


@pytest.mark.parametrize(
    ("latencies_s", "values", "is_over"),
    [
        ([8, 0.1, 2], {}, True),
        ([0.45] * 10, {}, False),
        ([0.9], {}, False),
        ([8], {"throttle_ns": 8 * SECOND_NS}, False),
    ],
)
def test_slow_requests_are_above_the_limits(
    tmp_path: Path, latencies_s: list[float], values: dict[str, Any], is_over: bool
) -> None:
    rows = [
        exchange(n, at_ns=at(10 * n), latency_ns=int(took * SECOND_NS), **CREATE | values)
        for n, took in enumerate(latencies_s)
    ]
    assert [row for row in accounts(tmp_path, exchanges=rows) if row[0] == "time"] == [
        ("time", None, len(rows), len(rows), is_over)
    ]


def test_what_waits_by_design_costs_no_time(tmp_path: Path) -> None:
    waits = ("fetch_empty", "fetch_tail", "fetch_unknown")
    rows = [exchange(n, latency_ns=9 * SECOND_NS, **FETCH | {"kind": kind}) for n, kind in enumerate(waits)]
    assert accounts(tmp_path, exchanges=rows) == []


def test_waits_for_members_are_an_account_whose_part_of_the_broker_is_unknown(tmp_path: Path) -> None:
    known = {"queue_ns": 0, "throttle_ns": 0, "broker_ns": 8 * SECOND_NS, "broker_min_ns": 8 * SECOND_NS}
    join = {"api_key": 11, "api_name": "JoinGroup", "kind": "join_wait"}
    rows = [exchange(n, at_ns=at(10 * n), latency_ns=9 * SECOND_NS, **join, **known) for n in range(2)]
    found = dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)]}).metric("impact")
    (row,) = (row for row in found if row["account"] == "rebalance")
    told = row["broker_ns"], row["unknown_ns"], row["waited_ns"], row["slow"], row["is_over"]
    assert told == (0, 16 * SECOND_NS + 2 * SECOND_NS - row["network_ns"], 18 * SECOND_NS, 2, True)


@pytest.mark.parametrize(("took_s", "slow", "is_over"), [(0.1, 0, False), (0.9, 1, False), (3, 1, True)])
def test_connecting_takes_until_the_answer_to_the_syn(tmp_path: Path, took_s: float, slow: int, is_over: bool) -> None:
    link = connection(1, seen_from="syn", syn_ack_ns=int(took_s * SECOND_NS), close="fin", requests=1, replies=1)
    found = dataset(tmp_path, {"exchanges": [], "connections": [link]}).metric("impact")
    told = [(row["waited_ns"], row["slow"], row["is_over"]) for row in found if row["account"] == "connecting"]
    assert told == [(int(took_s * SECOND_NS), slow, is_over)]


def test_a_request_is_refused_once_by_its_first_error_that_is_not_expected(tmp_path: Path) -> None:
    rows = [exchange(n, latency_ns=MS, request_bytes=n) for n in range(6)]
    codes = [error(n, 29, name="TOPIC_AUTHORIZATION_FAILED", expected=False) for n in range(5)]
    codes += [error(0, 30, name="GROUP_AUTHORIZATION_FAILED", expected=False), error(0, 3, expected=True)]
    refused = [row for row in accounts(tmp_path, exchanges=rows, errors=codes) if row[0] == "refused"]
    assert refused == [("refused", "TOPIC_AUTHORIZATION_FAILED", 5, 6, True)]


def test_requests_without_a_reply(tmp_path: Path) -> None:
    none = {"response_time_ns": None, "latency_ns": None}
    rows = [exchange(n, **none, status=status) for n, status in enumerate(("closed", "closed", "abandoned"))]
    rows += [exchange(8, status="closed", **none, **FETCH), exchange(9, status="no_reply_expected", **none)]
    found = accounts(tmp_path, exchanges=rows)
    assert [(row[1], row[2]) for row in found if row[0] == "unanswered"] == [("closed", 2), ("abandoned", 1)]


def test_a_request_waits_until_the_first_end_of_its_connection(tmp_path: Path) -> None:
    """The broker ends it after a second; the client's own FIN comes 20 s after the request."""
    link = connection(1, close="fin", closed_by="broker", last_time_ns=at(20)) | {"close_time_ns": at(1)}
    rows = [exchange(1, at_ns=at(0), request_end_ns=at(0), response_time_ns=None, latency_ns=None, status="closed")]
    found = dataset(tmp_path, {"exchanges": rows, "connections": [link]}).metric("impact")
    assert [row["waited_ns"] for row in found if row["account"] == "unanswered"] == [SECOND_NS]


@pytest.mark.parametrize(("gaps", "seen_from", "count"), [(0, "syn", 1), (1, "syn", 0), (0, "midstream", 0)])
def test_a_reply_that_nobody_asked_for_counts_where_all_was_seen(
    tmp_path: Path, gaps: int, seen_from: str, count: int
) -> None:
    link = connection(1, client_gaps=gaps, seen_from=seen_from, client_stream_bytes=100)
    rows = [exchange(1, status="orphan_reply", api_key=None, api_name=None, request_time_ns=None, latency_ns=None)]
    found = accounts(tmp_path, exchanges=rows, connections=[link])
    assert [row[1] for row in found if row[0] == "unanswered"] == ["orphan_reply"] * count


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({}, None),
        ({"close": "fin", "closed_by": "client"}, None),
        ({"close": "fin", "closed_by": "broker"}, "closed by the broker"),
        ({"close": "rst", "closed_by": "broker"}, "reset by the broker"),
        ({"close": "rst", "closed_by": "client"}, "reset by the client"),
        ({"close": "rst", "closed_by": "broker", "replies": 0}, "answered no request"),
        ({"syn_ack_ns": None, "client_stream_bytes": 0, "broker_stream_bytes": 0}, "never answered"),
    ],
)
def test_how_connections_ended(tmp_path: Path, values: dict[str, Any], what: str | None) -> None:
    whole = {"seen_from": "syn", "syn_ack_ns": 1000, "requests": 1, "replies": 1, "client_stream_bytes": 9}
    links = [connection(n, **whole | values) for n in range(5)]
    rows = [exchange(1, **FETCH | {"kind": "fetch_tail"}, connection=9)]
    found = [row for row in accounts(tmp_path, exchanges=rows, connections=links) if row[0] == "connections"]
    is_over = what not in (None, "closed by the broker", "reset by the client")
    assert found == ([("connections", what, 5, 5, is_over)] if what else [])


def test_a_connection_may_end_after_apiversions_alone(tmp_path: Path) -> None:
    whole = {"seen_from": "syn", "syn_ack_ns": 1000, "requests": 1, "replies": 1, "close": "fin"}
    hello = {"api_key": 18, "api_name": "ApiVersions"}
    rows = [exchange(n, connection=n, client_id="other" if n < 2 else "app", **hello) for n in range(4)]
    rows.append(exchange(9, connection=2))  # so what "app" opened besides was not needed
    links = [connection(n, **whole) for n in range(4)]
    found = [row[1:3] for row in accounts(tmp_path, exchanges=rows, connections=links) if row[0] == "connections"]
    assert found == [("ended after ApiVersions", 2)]


def test_repeated_requests_are_alike_in_size_and_error(tmp_path: Path) -> None:
    sizes = [40, 40, 40, 41, 41, 40]
    rows = [exchange(n, at_ns=at(n), request_bytes=size, response_bytes=90) for n, size in enumerate(sizes)]
    repeated = [row for row in accounts(tmp_path, exchanges=rows) if row[0] == "repeated"]
    assert repeated == [("repeated", None, 3, 6, False)]


def test_fetches_that_bring_nothing_although_records_are_there(tmp_path: Path) -> None:
    rows = [exchange(n, at_ns=at(4 * n), response_decoded="full", **FETCH) for n in range(4)]
    rows += [exchange(9, response_decoded="full", **FETCH | {"record_bytes": 70})]
    found = [row for row in accounts(tmp_path, exchanges=rows) if row[0] == "no progress"]
    assert found == [("no progress", None, 4, 5, True)]


def test_the_table_names_each_account_and_the_greatest_part(tmp_path: Path) -> None:
    known = {"queue_ns": 0, "throttle_ns": 0, "broker_ns": 9 * SECOND_NS, "broker_min_ns": 9 * SECOND_NS}
    rows = [exchange(n, at_ns=at(10 * n), latency_ns=10 * SECOND_NS, **CREATE, **known) for n in range(3)]
    out = io.StringIO()
    tables = {"exchanges": rows, "connections": [connection(1)]}
    print_section(dataset(tmp_path, tables), "impact", Console(file=out, width=110))
    text = out.getvalue()
    assert "Time that requests waited for their replies" in text
    assert "broker, 90 %" in text
    assert "above" in text


def nearest(folder: Path, **tables: Rows) -> list[tuple[Any, ...]]:
    rows = dataset(folder, {"exchanges": [], "connections": []} | tables).metric("largest_impact")
    return [(row["account"], row["api_key"], row["times"], row["lost_ns"], row["of_limit"]) for row in rows]


def test_the_nearest_to_its_limit_is_the_largest(tmp_path: Path) -> None:
    join = {"api_key": 11, "api_name": "JoinGroup", "kind": "join_wait"}
    rows = [
        exchange(1, latency_ns=4 * SECOND_NS, **join),  # 0.4 of 10 s
        exchange(2, at_ns=at(1), latency_ns=3 * SECOND_NS, **join),
        exchange(3, latency_ns=300 * MS, **CREATE),  # not slow
        exchange(4, at_ns=at(2), latency_ns=700 * MS, role="follower"),  # of no client
        exchange(5, at_ns=at(3), status="pending", latency_ns=None, response_time_ns=None, **FETCH),  # held by design
    ]
    assert nearest(tmp_path / "a", exchanges=rows) == [("rebalance", 11, 2, 4 * SECOND_NS, 0.4)]
    rows += [exchange(6 + n, at_ns=at(4), status="closed", latency_ns=None, response_time_ns=None) for n in range(3)]
    assert nearest(tmp_path / "b", exchanges=rows) == [("unanswered", 3, 3, None, 0.6)]
    late = [connection(1, syn_ack_ns=1500 * MS), connection(2, syn_ack_ns=400 * MS)]
    assert nearest(tmp_path / "c", exchanges=rows, connections=late) == [("connecting", None, 1, 1500 * MS, 0.75)]
    codes = [error(n, 41, expected=n > 4) for n in range(1, 6)]
    refused = [row | {"error_code": 41} for row in rows[:5]]
    assert nearest(tmp_path / "d", exchanges=refused + rows[5:], errors=codes, connections=late) == [
        ("connecting", None, 1, 1500 * MS, 0.75)
    ]
    rows.append(exchange(20, at_ns=at(5), latency_ns=900 * MS, **CREATE))
    assert nearest(tmp_path / "e", exchanges=rows, connections=late) == [("time", 19, 1, 900 * MS, 0.9)]


def test_without_impact_there_is_no_largest(tmp_path: Path) -> None:
    assert nearest(tmp_path, exchanges=[exchange(1, latency_ns=MS)], connections=[connection(1)]) == []


@pytest.mark.parametrize(
    ("max_wait_ms", "left_s", "lost"), [(0, 9, 0), (-(2**31), 9, 0), (-(2**31), 10, 1), (2**31 - 1, 10, 0)]
)
def test_a_fetch_is_lost_long_after_it_may_wait(max_wait_ms: int, left_s: int, lost: int, tmp_path: Path) -> None:
    held = exchange(1, at_ns=at(0), status="pending", **FETCH, max_wait_ms=max_wait_ms)
    ends = [capture(last_time_ns=at(left_s))]
    with dataset(
        tmp_path, {"captures": ends, "exchanges": [held], "connections": [connection(1, last_time_ns=at(0))]}
    ) as made:
        assert len(made.ask("SELECT * FROM impacts WHERE account = 'unanswered'")) == lost
