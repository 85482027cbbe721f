"""Sums of brokers' own logs, and what only one side has, against plain Python."""

from __future__ import annotations

import random
from pathlib import Path

from made_rows import START_NS, Rows, connection, dataset, exchange

NAMES = ("queue", "local", "remote", "response_queue", "send")


def rows(count: int) -> Rows:
    chance = random.Random(3)
    found = []
    for number in range(count):
        row = exchange(number, at_ns=START_NS + number * 1_000_000, broker_port=chance.choice((9092, 9093)))
        if chance.random() < 0.8:
            parts = {f"log_{name}_ns": chance.randrange(10 ** chance.randint(3, 9)) for name in NAMES}
            row |= parts | {"log_total_ns": sum(parts.values()) + chance.randrange(1000)}
        found.append(row)
    return found


def test_sums_and_percentiles_of_the_log(tmp_path: Path) -> None:
    made = rows(2_000)
    with dataset(tmp_path, {"exchanges": made, "connections": [connection(1)]}) as opened:
        found = {row["broker_port"]: row for row in opened.metric("broker_log")}
    assert set(found) == {9092, 9093}
    for port, row in found.items():
        of_port = [each for each in made if each["broker_port"] == port and "log_total_ns" in each]
        times = sorted(each["log_total_ns"] for each in of_port)
        assert row["requests"] == len(of_port)
        assert row["max_ns"] == times[-1]
        assert row["p50_ns"] == times[-(-len(times) // 2) - 1]
        assert row["total_ns"] == sum(times)
        slowest = [each for each in of_port if each["log_total_ns"] >= times[-(1 + (len(times) - 1) // 100)]]
        for name in NAMES:
            assert row[f"log_{name}_ns"] == sum(each[f"log_{name}_ns"] for each in of_port)
            assert row[f"slow_{name}_ns"] == sum(each[f"log_{name}_ns"] for each in slowest)


def test_what_only_one_side_has_is_counted_with_the_reason(tmp_path: Path) -> None:
    def line(at_ms: int, outcome: str, number: int | None = None) -> dict[str, object]:
        moment = START_NS + at_ms * 1_000_000
        ends = {"broker_address": "10.0.1.1", "broker_port": 9092, "exchange": number}
        return ends | {"outcome": outcome, "begin_ns": moment, "time_ns": moment, "logged_time_ns": moment + 7_000}

    def asked(number: int, at_ms: int, **values: object) -> dict[str, object]:
        return exchange(number, at_ns=START_NS + at_ms * 1_000_000, **values)

    unknown = {"broker_address": "10.0.1.1", "broker_port": 9094, "outcome": "no_clock"}
    lines = [unknown, line(10, "joined", 1), line(11, "not_captured"), line(99, "joined", 2), line(100, "outside")]
    made = [
        asked(1, 10, log_total_ns=1),
        asked(2, 99, log_total_ns=1),
        asked(3, 9),
        asked(4, 50),
        asked(5, 51, api_key=58, api_name="Envelope"),
        asked(6, 52, status="closed", response_time_ns=None),
        asked(7, 53, connection=2, api_key=36, api_name="SaslAuthenticate"),
        asked(8, 52, connection=2, api_key=18, api_name="ApiVersions"),
        asked(9, 60, broker_port=9999),
        asked(10, 60, broker_port=9094),
    ]
    tables = {"exchanges": made, "log_requests": lines, "connections": [connection(1), connection(2)]}
    with dataset(tmp_path, tables) as opened:
        assert opened.is_logged
        found = {
            (row["side"], row["outcome"]): (row["requests"], row["ahead_ns"]) for row in opened.metric("log_coverage")
        }
    assert found == {
        ("log", "no_clock"): (1, None),
        ("capture", "no_clock"): (1, None),
        ("log", "joined"): (2, 7_000),
        ("log", "not_captured"): (1, 7_000),
        ("log", "outside"): (1, 7_000),
        ("capture", "outside"): (1, None),
        ("capture", "not_logged"): (1, None),
        ("capture", "envelope"): (1, None),
        ("capture", "no_reply"): (1, None),
        ("capture", "login"): (2, None),
    }
