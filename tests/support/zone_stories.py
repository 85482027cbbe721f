"""Stories of bytes that cross zones; in the form of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_rows import START_NS, Rows, connection, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
FETCH = {"api_key": 1, "api_name": "Fetch", "client_id": "reader", "response_bytes": 1_000_000}


def reading(
    rack: str | None, zone: str | None = "a", megabytes: int = 3, from_broker: int = 2, **values: Any
) -> Tables:
    """A consumer in a zone that reads so many MB from a broker; broker 1 is in zone a, broker 2 in zone b."""
    brokers = [
        {"cluster": "c", "broker_id": n, "host": f"b{n}", "port": 9092, "rack": r} for n, r in ((1, "a"), (2, "b"))
    ]
    about = {"cluster": "c", "client_rack": rack, "client_zone": zone, "broker_id": from_broker}
    named = {"broker_zone": "ab"[from_broker - 1] if zone else None}
    wire = {"client_wire_bytes": 100_000, "broker_wire_bytes": 1_100_000 * megabytes}
    rows = [exchange(n, at_ns=START_NS + n, **FETCH) for n in range(megabytes)]
    return {
        "brokers": brokers,
        "connections": [connection(1, **{**about, **named, **wire, **values})],
        "exchanges": rows,
    }


def replicated(some: str | None, each: str | None, rack: str = "", **values: Any) -> Tables:
    """The same of a topic whose partitions, some or each of them, have a replica in these racks."""
    tables = reading(rack, **values)
    about = {"connection": 1, "side": "response", "topic": "orders", "partition": 0, "record_bytes": 999_000}
    topic = {"cluster": "c", "topic_id": "t", "topic": "orders", "racks": some, "whole_racks": each}
    return tables | {
        "entries": [{"exchange": row["exchange"], **about} for row in tables["exchanges"]],
        "topic_ids": [{**topic, "first_time_ns": START_NS, "last_time_ns": START_NS}],
    }


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "cross_zone_reads": (
        lambda: reading(rack=""),
        (
            lambda: reading(rack="a", from_broker=1),
            lambda: reading(rack="", zone=None),
            lambda: reading(rack="A", zone=None),
            lambda: reading(rack="", zone="z"),
            lambda: reading(rack="", megabytes=0),
        ),
    ),
    "cross_zone_share": (
        lambda: reading(rack="a", megabytes=100),
        (lambda: reading(rack="a", megabytes=50), lambda: reading(rack="a", megabytes=100, from_broker=1)),
    ),
}
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "cross_zone_reads": (
        (
            lambda: reading(rack="a", zone=None),
            lambda: reading(rack="A", zone="a"),
            lambda: replicated("a,b", "b"),
            lambda: replicated("a,b", "a,b", zone=None, rack="a"),
            lambda: replicated(None, None),
        ),
        (
            lambda: replicated("b", "b"),
            lambda: replicated("ab,b,aa", "b"),
            lambda: replicated("b", "b", zone=None, rack="a"),
        ),
    )
}
