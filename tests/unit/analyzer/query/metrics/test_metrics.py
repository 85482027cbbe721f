"""Every metric against a plain computation over random rows, and against exact percentiles."""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest
from made_rows import (
    SECOND_NS,
    SKIPPED,
    START_NS,
    Rows,
    capture,
    connection,
    dataset,
    error,
    exchange,
    random_exchanges,
)

from analyzer.base.filters import Filters
from analyzer.query import metrics


@pytest.fixture(scope="module")
def rows() -> Rows:
    return random_exchanges(seed=11, count=4_000)


@pytest.fixture(scope="module")
def found(rows: Rows, tmp_path_factory: pytest.TempPathFactory) -> Any:
    links = [connection(number, client_address=f"10.0.0.{number % 2}") for number in range(3)]
    with dataset(tmp_path_factory.mktemp("rows"), {"exchanges": rows, "connections": links}) as opened:
        yield opened


@pytest.mark.slow
def test_every_metric_runs_on_no_rows_and_says_what_it_answers(tmp_path: Path) -> None:
    with dataset(tmp_path, {"captures": []}) as empty:
        for name in metrics.names():
            assert len(empty.metric(name)) == (
                1 if name in ("chosen", "coverage", "readability", "lost_messages") else 0
            ), name
            assert metrics.text(name).startswith("-- ")
            assert "?" in metrics.text(name).splitlines()[0]


def test_an_unknown_metric_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(KeyError, match="latency"):
        metrics.text("../metrics/latencies")


def test_statuses_add_up_to_all_requests_and_replies(found: Any, rows: Rows) -> None:
    row = found.metric("coverage")[0]
    parts = ("answered", "no_reply_expected", "reply_lost", "pending", "closed", "abandoned")
    assert sum(row[name] for name in parts) == row["requests"]
    assert row["requests"] + row["orphan_replies"] == len(rows)
    statuses = Counter(each["status"] for each in rows)
    assert {name: row[name] for name in parts} == {name: statuses[name] for name in parts}
    assert row["orphan_replies"] == statuses["orphan_reply"]
    clients = {(each["client_address"], each["client_id"]) for each in rows if each["status"] != "orphan_reply"}
    assert row["clients"] == len(clients)


def test_bytes_of_kafka_connections_are_framed_or_skipped_with_a_reason(tmp_path: Path) -> None:
    choose = random.Random(3)
    links = []
    for number in range(50):
        values: dict[str, Any] = {"is_kafka": number % 5 != 0, "protocol": "kafka" if number % 5 else "tls"}
        for side in ("client", "broker"):
            parts = {f"{side}_skipped_{reason}_bytes": choose.randrange(1_000) for reason in SKIPPED}
            parts[f"{side}_framed_bytes"] = choose.randrange(10**6)
            values |= parts | {f"{side}_stream_bytes": sum(parts.values()), f"{side}_gap_bytes": choose.randrange(99)}
        links.append(connection(number, **values))
    with dataset(tmp_path, {"connections": links}) as opened:
        row = opened.metric("coverage")[0]
    skipped = [row[f"skipped_{reason}_bytes"] for reason in SKIPPED]
    assert row["framed_bytes"] + sum(skipped) == row["kafka_bytes"]
    kafka = [link for link in links if link["is_kafka"]]
    assert row["kafka_bytes"] + row["broken_off_bytes"] == sum(
        link["client_stream_bytes"] + link["broker_stream_bytes"] for link in kafka
    )
    assert row["gap_bytes"] == sum(link["client_gap_bytes"] + link["broker_gap_bytes"] for link in kafka)
    assert (row["connections"], row["kafka_connections"], row["tls_connections"]) == (50, 40, 10)


def test_coverage_sums_files_and_is_never_filtered(tmp_path: Path) -> None:
    files = [capture(), capture(file=1, packets=7, cut=True, first_time_ns=START_NS - 5, dropped_packets=None)]
    tables = {"captures": files, "exchanges": [exchange(1)], "connections": [connection(1)]}
    with dataset(tmp_path, tables, filters=Filters(clients=("nobody",))) as opened:
        row = opened.metric("coverage")[0]
        assert opened.metric("latency") == []
    assert (row["files"], row["cut_files"], row["packets"]) == (2, 1, 5_007)
    assert row["first_time_ns"] == START_NS - 5
    assert (row["requests"], row["brokers"], row["clients"]) == (1, 1, 1)


def test_errors_agree_with_plain_python(tmp_path: Path) -> None:
    choose = random.Random(9)
    rows = [exchange(number, client_id=f"c{number % 2}", at_ns=START_NS + number) for number in range(200)]
    codes = []
    for _ in range(600):
        values = {
            "topic": choose.choice(["a", "b", None]),
            "topic_id": "id",
            "expected": choose.choice([True, False, None]),
        }
        codes.append(error(choose.randrange(200), choose.choice([1, 3]), **values))
    with dataset(tmp_path, {"exchanges": rows, "errors": codes}) as opened:
        got = {(row["code"], row["topic"], row["client_id"]): row for row in opened.metric("errors")}
    wanted: dict[tuple[int, str, str], Rows] = defaultdict(list)
    for each in codes:
        wanted[each["code"], each["topic"] or "id", f"c{each['exchange'] % 2}"].append(each)
    assert got.keys() == wanted.keys()
    for key, members in wanted.items():
        row = got[key]
        times = [rows[each["exchange"]]["response_time_ns"] for each in members]
        assert row["count"] == len(members)
        assert row["exchanges"] == len({each["exchange"] for each in members})
        assert row["expected"] == sum(each["expected"] is True for each in members)
        assert row["unjudged"] == sum(each["expected"] is None for each in members)
        assert (row["first_time_ns"], row["last_time_ns"]) == (min(times), max(times))
        assert row["total_rows"] == len(wanted)


def test_unanswered_agrees_with_plain_python(found: Any, rows: Rows) -> None:
    got = {row["api_name"]: row for row in found.metric("unanswered")}
    end = START_NS + 10 * SECOND_NS
    open_rows = [row for row in rows if row["status"] not in ("answered", "no_reply_expected")]
    assert got.keys() == {row["api_name"] for row in open_rows}
    for api, row in got.items():
        mine = [each for each in open_rows if each["api_name"] == api]
        counts = Counter(each["status"] for each in mine)
        for name in ("pending", "closed", "abandoned", "reply_lost"):
            assert row[name] == counts[name]
        assert row["orphan_replies"] == counts["orphan_reply"]
        waits = [end - each["request_end_ns"] for each in mine if each["status"] == "pending"]
        assert row["longest_pending_ns"] == max(waits, default=None)
        lost = [each for each in mine if each["status"] in ("closed", "abandoned")]
        # What waits at the broker by design loses nothing at the end of its connection.
        cut = [each for each in lost if each["status"] == "abandoned" or each["api_key"] not in (1, 11, 14, 78)]
        failed = {each["exchange"]: end - each["request_end_ns"] for each in cut or lost}
        assert row["clients"] == len({each["client_id"] or each["client_address"] for each in cut or lost})
        assert row["longest_closed_ns"] == max(failed.values(), default=None)
        if failed:
            assert failed[row["example_exchange"]] == row["longest_closed_ns"]


def test_what_has_no_other_half_is_listed_one_by_one(found: Any, rows: Rows) -> None:
    """What failed first and the longest wait first of it; what waits for nothing has no wait; replies alone last."""
    got = found.metric("unanswered_list")
    wanted = {row["exchange"]: row for row in rows if row["status"] not in ("answered", "no_reply_expected")}
    assert got[0]["total_rows"] == len(wanted) and len(got) == min(len(wanted), 1000)
    end = START_NS + 10 * SECOND_NS
    places = []
    for row in got:
        one = wanted[row["exchange"]]
        ended = one["status"] in ("closed", "abandoned", "pending")
        assert row["status"] == one["status"]
        assert row["waited_ns"] == (end - one["request_end_ns"] if ended else None)
        place = {"closed": 0, "abandoned": 0, "orphan_reply": 2}.get(one["status"], 1)
        places.append((place, -(row["waited_ns"] or 0)))
    assert places == sorted(places) and {place for place, _ in places} >= {0, 1}


def test_bare_sasl_tokens_are_shown_as_such(tmp_path: Path) -> None:
    token = {"kind": "sasl_token", "api_key": None, "api_name": None, "api_version": None}
    rows = [exchange(1, **token), exchange(2, status="closed", **token)]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)]}) as opened:
        assert [(row["api_name"], row["count"]) for row in opened.metric("latency")] == [("SASL token", 2)]
        assert [(row["api_name"], row["closed"]) for row in opened.metric("unanswered")] == [("SASL token", 1)]


def test_clients_agree_with_plain_python(found: Any, rows: Rows) -> None:
    got = {(row["client_address"], row["client_id"]): row for row in found.metric("clients")}
    requests = [row for row in rows if row["status"] != "orphan_reply"]
    wanted: dict[tuple[str, str | None], Rows] = defaultdict(list)
    for row in requests:
        wanted[row["client_address"], row["client_id"]].append(row)
    assert got.keys() == wanted.keys()
    for key, members in wanted.items():
        assert got[key]["requests"] == len(members)
        assert got[key]["connections"] == len({each["connection"] for each in members})
        assert got[key]["errors"] == sum((each["error_count"] or 0) > 0 for each in members)
        assert got[key]["request_bytes"] == sum(each["request_bytes"] for each in members)
        assert got[key]["response_bytes"] == sum(each.get("response_bytes") or 0 for each in members)


def test_decoding_counts_every_exchange_once(found: Any, rows: Rows) -> None:
    assert sum(row["count"] for row in found.metric("decoding")) == len(rows)


def test_connections_of_note_are_those_and_no_others(tmp_path: Path) -> None:
    links = [
        connection(1),
        connection(2, close="rst"),
        connection(3, broker_gaps=1, broker_gap_bytes=50),
        connection(4, client_retransmitted=2),  # 1 % of 200 packets exactly: not more
        connection(5, broker_retransmitted=3),
        connection(6, client_packets=10, broker_packets=10, client_retransmitted=9),  # too few to tell
        connection(7),
        connection(8),
        connection(9),
        connection(10, is_kafka=False, close="rst"),
    ]
    rows = [exchange(number, connection=number) for number in range(1, 7)]
    rows += [exchange(7, connection=7), exchange(70, connection=7, status="closed")]
    rows += [exchange(8, connection=8, status="pending")]  # began just before the capture ended
    rows += [exchange(90 + number, connection=9, status="abandoned", client_id="deaf") for number in range(2)]
    with dataset(tmp_path, {"connections": links, "exchanges": rows}) as opened:
        got = opened.metric("connections_of_note")
    assert [row["connection"] for row in got] == [9, 7, 3, 5, 2]
    assert [row["never_answered"] for row in got] == [True, False, False, False, False]
    assert (got[0]["client_id"], got[0]["unanswered"]) == ("deaf", 2)
    assert got[3]["retransmitted_share"] == pytest.approx(0.015)


def test_connections_that_are_alike_are_one_row_and_none_is_lost(tmp_path: Path) -> None:
    alike = [
        connection(number, close="fin", first_time_ns=number * 1000, client_port=40_000 + number)
        for number in range(1, 6)
    ]
    others = [
        connection(6, close="rst"),
        connection(7, close="fin", client_wscale=7),
        connection(8, close="fin", client_address="10.9.9.9"),
        connection(9, close="fin"),  # two requests
    ]
    rows = [exchange(number, connection=number) for number in range(1, 10)] + [exchange(90, connection=9)]
    with dataset(tmp_path, {"connections": alike + others, "exchanges": rows}) as opened:
        got, each = opened.metric("alike_connections"), opened.metric("connections")
        noted = opened.metric("alike_connections_of_note")
    assert sorted(row["connections"] for row in got) == [1, 1, 1, 1, 5] and got[0]["total_rows"] == 5
    (folded,) = [row for row in got if row["connections"] == 5]
    assert (folded["connection"], folded["client_port"], folded["requests"]) == (None, None, 1)
    assert (folded["first_time_ns"], folded["last_begin_time_ns"]) == (1000, 5000)
    for sums in ("client_bytes", "broker_bytes"):
        assert sum(row[sums] for row in got) == sum(row[sums] for row in each)
    assert len(each) == 9 and [row["connections"] for row in noted] == [1]


def test_problems_and_seen(tmp_path: Path) -> None:
    problems = [
        {
            "kind": "conflict",
            "time_ns": 20,
            "packet": 2,
            "file": 0,
            "detail": "later",
            "bytes_lost": 3,
            "connection": 1,
        },
        {
            "kind": "conflict",
            "time_ns": 10,
            "packet": 1,
            "file": 0,
            "detail": "first",
            "bytes_lost": None,
            "connection": 1,
        },
        {"kind": "cut", "time_ns": None, "packet": None, "file": 1, "detail": "no time"},
    ]
    links = [connection(1), connection(2), connection(3, protocol="tls", broker_port=443, is_kafka=False)]
    with dataset(tmp_path, {"problems": problems, "connections": links}) as opened:
        first, second = opened.metric("problems")
        seen = opened.metric("seen")
    assert (first["kind"], first["count"], first["bytes_lost"], first["connections"]) == ("conflict", 2, 3, 1)
    assert (first["example_packet"], first["example_detail"]) == (1, "first")
    assert (second["kind"], second["bytes_lost"]) == ("cut", None)
    assert [(row["protocol"], row["port"], row["connections"]) for row in seen] == [("kafka", 9092, 2), ("tls", 443, 1)]


def test_a_broker_with_several_listeners_is_one(tmp_path: Path) -> None:
    """By node and cluster where they are known; what no reply names at its address is its own: a controller's port, a proxy's."""
    known = {"broker_id": 1, "cluster": "c"}
    links = [
        connection(1, **known),
        connection(2, **known, broker_port=9094),
        connection(3, **known, broker_address="10.0.1.9"),
        connection(4, broker_port=9093, role="raft"),
        connection(5, **(known | {"cluster": "d"}), broker_address="10.0.1.2"),
        connection(6, broker_port=9095),
        connection(7, broker_address="10.0.1.7", broker_port=9093, role="raft"),
    ]
    with dataset(tmp_path, {"connections": links, "exchanges": [exchange(1)]}) as made:
        assert made.metric("coverage")[0]["brokers"] == 3
