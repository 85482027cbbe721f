"""Datasets that tell a story a person can judge by reading the report."""

from __future__ import annotations

import csv
import random
import subprocess
from pathlib import Path
from typing import Any

from kafka_reference import table
from made_rows import SECOND_NS, START_NS, Rows, capture, connection, error, exchange

BAD = "\x1b[31mred\x1b[0m\u202egnp.exe [bold]x[/bold] :smile:\r\n\x07"


def busy_cluster() -> dict[str, Rows]:
    """An application throttled in Produce, errors of all sorts, waits by design, lost packets, hostile names."""
    choose = random.Random(7)
    rows: Rows = []

    def add(many: int, low_ns: int, high_ns: int, **values: Any) -> None:
        for _ in range(many):
            at = START_NS + choose.randrange(9 * SECOND_NS)
            latency = int(low_ns * (high_ns / low_ns) ** choose.random() ** 3)
            rows.append(exchange(len(rows), at_ns=at, latency_ns=latency, **values))

    produce = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all"}
    fetch = {"api_key": 1, "api_name": "Fetch", "api_version": 17, "connection": 2, "client_id": "billing-consumer"}
    app = {"client_id": "orders-app-7", "connection": 1, "principal": "alice"}
    add(4_000, 900_000, 410_000_000, **produce, **app)
    add(60, 900_000, 5_000_000, throttle_time_ms=120, **produce, **app)
    add(300, 400_000, 40_000_000, kind="fetch_unknown", **fetch)
    add(1_200, 90_000_000, 510_000_000, kind="fetch_empty", **fetch)
    add(12, 200_000_000, 3_000_000_000, api_key=11, api_name="JoinGroup", kind="join_wait", connection=2)
    add(30, 300_000, 2_000_000, client_id=BAD, connection=3, error_count=1)
    add(
        5,
        300_000,
        2_000_000,
        api_key=56,
        api_name="AlterPartition",
        request_decoded="unsupported",
        response_decoded="unsupported",
    )
    add(2, 1, 2, api_key=1, api_name="Fetch", api_version=11, response_decoded="malformed")
    add(3, 1, 2, status="closed", connection=3, **produce)
    add(2, 1, 2, status="pending", **(fetch | {"kind": "fetch_unknown"}))
    add(1, 1, 2, status="reply_lost", connection=3, **produce)
    add(1, 1, 2, status="orphan_reply", connection=3)
    bad = [row["exchange"] for row in rows if row["client_id"] == BAD]
    fetches = [row["exchange"] for row in rows if row["api_name"] == "Fetch"]
    joins = [row["exchange"] for row in rows if row["api_name"] == "JoinGroup"]
    errors = [
        error(each, 3, name="UNKNOWN_TOPIC_OR_PARTITION", retriable=True, topic="gone\x1b]0;owned\x07") for each in bad
    ]
    errors += [error(each, 1, name="OFFSET_OUT_OF_RANGE", retriable=False, topic="orders") for each in fetches[:7]]
    errors += [
        error(each, 79, name="MEMBER_ID_REQUIRED", retriable=False, expected=True, level="message")
        for each in joins[:4]
    ]
    mutes = [
        {
            "exchange": row["exchange"],
            "connection": row["connection"],
            "begin_ns": row["response_time_ns"],
            "end_ns": row["response_time_ns"] + 120_000_000,
            "throttle_time_ms": 120,
            "applies": True,
            "held_ns": 90_000_000,
            "sent_inside": 0,
        }
        for row in rows
        if row.get("throttle_time_ms") == 120
    ]
    connections = [
        connection(1, principal="alice", software_name="apache-kafka-java", software_version="3.9.1"),
        connection(2, client_retransmitted=9, software_name="librdkafka", software_version="2.6.0"),
        connection(
            3,
            broker_gaps=2,
            broker_gap_bytes=3_104,
            close="rst",
            broker_skipped_sync_bytes=900,
            broker_stream_bytes=10_900,
        ),
        *(connection(number, close="rst") for number in range(4, 9)),
        connection(20, is_kafka=False, protocol="tls", broker_port=443, client_framed_bytes=0, broker_framed_bytes=0),
    ]
    files = [
        capture(path="/captures/orders-broker-1.pcap", bytes=637_000_000, packets=1_203_456, tcp_packets=1_203_456)
    ]
    return {
        "captures": files,
        "connections": connections,
        "exchanges": rows,
        "errors": errors,
        "mutes": mutes,
        "entries": [],
        "problems": [],
    }


def web_server() -> dict[str, Rows]:
    """TLS on 443 and something else on 80: no Kafka."""
    web = {"is_kafka": False, "client_framed_bytes": 0, "broker_framed_bytes": 0}
    links = [connection(n, protocol="tls", broker_port=443, **web) for n in range(3)]
    links += [connection(9, protocol="other", broker_port=80, **web)]
    return {"captures": [capture()], "connections": links}


def lab(shared: Path, name: str) -> dict[str, Rows]:
    """Exchanges of a lab capture as its independent frame counter saw them: real times and sizes, no bodies."""
    names = {int(row["key"]): row["name"] for row in table("api_keys")}
    path = shared / "captures" / "lab" / f"{name}.exchanges.tsv.zst"
    text = subprocess.run(["zstdcat", str(path)], check=True, capture_output=True, text=True).stdout
    numbers: dict[str, int] = {}
    rows, times = [], []
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        broker, _, client = row["connection"].partition("-")
        values: dict[str, Any] = {"connection": numbers.setdefault(row["connection"], len(numbers))}
        for side, endpoint in (("broker", broker), ("client", client)):
            address, _, port = endpoint.rpartition(":")
            values |= {f"{side}_address": address, f"{side}_port": int(port)}
        key = int(row["api_key"])
        first, last = int(row["request_first_ns"]), int(row["request_last_ns"])
        times += [first, last]
        values |= {"api_key": key, "api_name": names.get(key, str(key)), "api_version": int(row["api_version"])}
        values |= {"client_id": None, "request_bytes": int(row["request_bytes"]) + 4, "request_decoded": "header"}
        if row["response_first_ns"]:
            begins, ends = int(row["response_first_ns"]), int(row["response_last_ns"])
            times.append(ends)
            made = exchange(len(rows), at_ns=first, **values, response_decoded="header", error_count=None)
            made |= {
                "request_end_ns": last,
                "response_time_ns": begins,
                "response_end_ns": ends,
                "throttle_time_ms": None,
            }
            made |= {"latency_ns": max(begins - last, 0), "response_bytes": int(row["response_bytes"]) + 4}
        else:
            made = exchange(len(rows), at_ns=first, status="pending", **values) | {"request_end_ns": last}
        rows.append(made)
    span = {"first_time_ns": min(times), "last_time_ns": max(times)}
    links = [connection(number, **span) for number in numbers.values()]
    return {"captures": [capture(path=f"{name}.pcap", **span)], "connections": links, "exchanges": rows}
