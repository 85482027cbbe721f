"""Tables made by hand or at random, written as Parquet: what the metrics and the report are tested on."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from analyzer.base.tables import TABLES, arrow_schema
from analyzer.query.dataset import Dataset
from analyzer.query.table_views import parquet

Rows = list[dict[str, Any]]
START_NS = 1_795_261_415_000_000_000
SECOND_NS = 1_000_000_000
SKIPPED = ("sync", "malformed", "unfinished", "foreign")


def exchange(number: int, **values: Any) -> dict[str, Any]:
    """A Metadata request answered after 1 ms; `values` replace columns."""
    begins = values.pop("at_ns", START_NS)
    latency = values.pop("latency_ns", 1_000_000)
    row = {
        "exchange": number,
        "connection": 1,
        "client_address": "10.0.0.1",
        "client_port": 50_000,
        "broker_address": "10.0.1.1",
        "broker_port": 9092,
        "role": "client",
        "api_key": 3,
        "api_name": "Metadata",
        "api_version": 12,
        "correlation_id": number,
        "client_id": "app",
        "request_time_ns": begins,
        "request_end_ns": begins,
        "request_bytes": 40,
        "request_file": 0,
        "request_packet": 2 * number + 1,
        "status": "answered",
        "request_decoded": "full",
        "error_count": 0,
    }
    status = values.get("status", "answered")
    if status == "answered":
        row |= {"response_time_ns": begins + latency, "response_end_ns": begins + latency, "latency_ns": latency}
        row |= {"response_bytes": 100, "response_decoded": "full", "total_ns": latency, "throttle_time_ms": 0}
    if status == "orphan_reply":
        asked = (
            "api_key",
            "api_name",
            "api_version",
            "client_id",
            "request_time_ns",
            "request_end_ns",
            "request_bytes",
        )
        row |= dict.fromkeys(asked) | {"response_time_ns": begins, "response_end_ns": begins, "response_bytes": 100}
    if "service_ns" in values and "broker_ns" not in values:
        # As on a quiet way.
        row |= dict.fromkeys(("broker_min_ns", "broker_max_ns", "broker_ns"), values["service_ns"])
    if "error_count" in values and "error_code" not in values:
        row["error_code"] = values["error_count"] and 3
    return row | values


# What an attempt to connect has where a reset is all that answers.
REFUSED: dict[str, Any] = {
    "is_kafka": None,
    "protocol": None,
    "syn_ack_ns": None,
    "close": "rst",
    "client_stream_bytes": 0,
    "broker_stream_bytes": 0,
}


def connection(number: int, **values: Any) -> dict[str, Any]:
    """A Kafka connection of ten seconds without a blemish; `values` replace columns."""
    row: dict[str, Any] = {column.name: 0 for column in TABLES["connections"] if column.type == "int64"}
    row |= {
        "connection": number,
        "forwarded_from": None,
        "tap": "default",
        "is_kafka": True,
        "protocol": "kafka",
        "role": "client",
        "client_address": "10.0.0.1",
        "client_port": 50_000 + number % 10_000,
        "broker_address": "10.0.1.1",
        "broker_port": 9092,
        "first_time_ns": START_NS,
        "last_time_ns": START_NS + 10 * SECOND_NS,
        "seen_from": "syn",
        "close": "fin",
        "client_packets": 100,
        "broker_packets": 100,
        "client_bytes": 4_000,
        "broker_bytes": 10_000,
        "client_stream_bytes": 4_000,
        "client_framed_bytes": 4_000,
        "broker_stream_bytes": 10_000,
        "broker_framed_bytes": 10_000,
        "tls": False,
    }
    row |= {"close_time_ns": values.get("last_time_ns", row["last_time_ns"]) if values.get("closed_by") else None}
    return row | values


def capture(**values: Any) -> dict[str, Any]:
    """A file of ten seconds."""
    row: dict[str, Any] = {column.name: 0 for column in TABLES["captures"] if column.type == "int64"}
    row |= {
        "file": 0,
        "path": "made.pcap",
        "tap": "default",
        "format": "pcap",
        "bytes": 1_000_000,
        "cut": False,
        "link_types": "ETHERNET",
        "packets": 5_000,
        "tcp_packets": 5_000,
        "first_time_ns": START_NS,
        "last_time_ns": START_NS + 10 * SECOND_NS,
    }
    return row | values


def error(number: int, code: int, **values: Any) -> dict[str, Any]:
    """One error code in the reply of exchange `number`."""
    row = {"exchange": number, "connection": 1, "side": "response", "code": code, "level": "partition"}
    return row | values


def write(directory: Path, tables: dict[str, Rows]) -> dict[str, str]:
    """Writes the tables, one Parquet file each; the views of a Dataset over them."""
    directory.mkdir(parents=True, exist_ok=True)
    views = {}
    for name, given in tables.items():
        rows = counted(given, tables.get("errors", [])) if name == "exchanges" else given
        path = directory / f"{name}.parquet"
        pq.write_table(pa.Table.from_pylist(rows, schema=arrow_schema(name)), path)
        views[name] = parquet([path])
    return views


def dataset(directory: Path, tables: dict[str, Rows], **options: Any) -> Dataset:
    """A dataset of these rows; a capture is added when there is none."""
    return Dataset(write(directory, {"captures": [capture()]} | tables), threads=1, **options)


def counted(exchanges: Rows, errors: Rows) -> Rows:
    """The exchanges, each with the number of its errors and the first one, where it has some."""
    codes: dict[int, list[int]] = {}
    for row in errors:
        codes.setdefault(row["exchange"], []).append(row["code"])
    return [
        row | {"error_count": len(found), "error_code": row.get("error_code") or found[0]}
        if (found := codes.get(row["exchange"]))
        else row
        for row in exchanges
    ]


def random_exchanges(seed: int, count: int) -> Rows:
    """Exchanges of a few clients, APIs, kinds and statuses, with latencies from 0 to minutes."""
    choose = random.Random(seed)
    statuses = ["answered"] * 20 + ["no_reply_expected", "reply_lost", "pending", "closed", "abandoned", "orphan_reply"]
    apis = [
        (0, "Produce", "produce_acks_all"),
        (0, "Produce", "produce_acks_1"),
        (1, "Fetch", "fetch_empty"),
        (3, "Metadata", None),
    ]
    rows = []
    for number in range(count):
        key, name, kind = choose.choice(apis)
        status = choose.choice(statuses)
        values: dict[str, Any] = {"status": status, "at_ns": START_NS + choose.randrange(9 * SECOND_NS)}
        if status != "orphan_reply":
            values |= {"api_key": key, "api_name": name, "kind": kind, "client_id": choose.choice(["a", "b", None])}
        if status == "answered":
            values |= {
                "latency_ns": choose.choice([0, 1, choose.randrange(1, 10**4), int(10 ** choose.uniform(3, 11))])
            }
            values |= {
                "error_count": choose.choice([0, 0, 3]),
                "throttle_time_ms": choose.choice([0, 0, None, 50, 700]),
            }
        client = choose.randrange(3)
        values |= {"connection": client, "client_address": f"10.0.0.{client % 2}"}
        rows.append(exchange(number, **values))
    return rows
