"""Metrics zones, zone_clients and zone_topics: which end is in which zone, and that bytes add up."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from made_rows import connection, dataset, exchange

from analyzer.base.settings import Settings

BROKERS = [
    {"cluster": "c", "broker_id": 1, "host": "b1", "port": 9092, "rack": "a"},
    {"cluster": "c", "broker_id": 2, "host": "b2", "port": 9092, "rack": "b"},
    {"cluster": "c", "broker_id": 3, "host": "b3", "port": 9092, "rack": None},
]


def link(number: int, broker: int | None, **values: Any) -> dict[str, Any]:
    own = {
        "cluster": "c",
        "broker_id": broker,
        "broker_address": f"10.0.1.{broker}",
        "client_address": f"10.0.0.{number}",
    }
    return connection(number, **{**own, "client_wire_bytes": 10 + number, "broker_wire_bytes": 1000 + number, **values})


@pytest.mark.parametrize(
    ("values", "zones"),
    [
        ({"client_rack": "a"}, ("a", "a", "within")),
        ({"client_rack": "b"}, ("b", "a", "across")),
        ({"client_rack": ""}, (None, "a", "unknown")),
        ({"client_rack": None}, (None, "a", "unknown")),
        # No broker has it: it may be another spelling of the same zone.
        ({"client_rack": "A"}, ("A", "a", "unknown")),
        ({"client_rack": "a", "broker_id": 3, "broker_address": "10.0.1.3"}, ("a", None, "unknown")),
        # Names are compared with names, whatever racks say.
        ({"client_rack": "b", "client_zone": "x", "broker_zone": "x"}, ("x", "x", "within")),
        ({"client_zone": "x", "broker_zone": "y"}, ("x", "y", "across")),
        ({"client_zone": "x"}, ("x", "a", "unknown")),
        ({"client_zone": "b"}, ("b", "a", "across")),
        ({"client_rack": "a", "broker_zone": "x"}, ("a", "a", "within")),
        # A follower is in the zone of its broker, not in that of a consumer at its address.
        ({"role": "follower", "replica_id": 2}, ("b", "a", "across")),
        ({"role": "follower", "replica_id": 3, "client_address": "10.0.0.9"}, (None, "a", "unknown")),
    ],
)
def test_zones_of_both_ends(values: dict[str, Any], zones: tuple[str | None, ...], tmp_path: Path) -> None:
    replica = values.pop("replica_id", None)
    other = link(9, 2, client_rack="b")
    rows = [exchange(1, connection=1, api_key=1, replica_id=replica, role=values.get("role", "client"))]
    with dataset(
        tmp_path, {"brokers": BROKERS, "connections": [link(1, 1, **values), other], "exchanges": rows}
    ) as found:
        (row,) = found.query("SELECT client_zone, broker_zone, zone_way FROM zone_ways WHERE connection = 1")
    assert tuple(row.values()) == zones


def test_the_consumers_at_an_address_say_where_its_producers_are(tmp_path: Path) -> None:
    links = [link(1, 1, client_rack="b", client_address="10.0.0.1"), link(2, 1, client_address="10.0.0.1")]
    with dataset(tmp_path, {"brokers": BROKERS, "connections": [*links, link(3, 2)]}) as found:
        rows = found.query("SELECT connection, zone_way FROM zone_ways ORDER BY 1")
    assert [row["zone_way"] for row in rows] == ["across", "across", "unknown"]


def test_bytes_add_up_in_every_table_and_cost_what_crosses(tmp_path: Path) -> None:
    choose = random.Random(7)
    links = [
        link(
            number, choose.randint(1, 3), client_rack=choose.choice(["a", "b", "", "z"]), is_kafka=choose.random() < 0.9
        )
        for number in range(200)
    ]
    rows = [
        exchange(n, connection=n, client_address=f"10.0.0.{n}", client_id=f"c{n % 7}", group_id="g") for n in range(200)
    ]
    entries = [
        {"exchange": n, "connection": n, "side": "response", "topic": f"t{n % 3}", "record_bytes": choose.randint(0, 9)}
        for n in range(200)
    ]
    kafka = {
        each["connection"]: each["client_wire_bytes"] + each["broker_wire_bytes"] for each in links if each["is_kafka"]
    }
    racks = {1: "a", 2: "b"}
    across = sum(
        kafka[each["connection"]]
        for each in links
        if each["is_kafka"] and each["client_rack"] in "ab" and each["client_rack"] and each["broker_id"] in racks
        and each["client_rack"] != racks[each["broker_id"]]
    )  # fmt: skip
    tables = {"brokers": BROKERS, "connections": links, "exchanges": rows, "entries": entries}
    with dataset(tmp_path, tables) as found:
        found.choose(Settings(price=2e9))
        flows, clients, topics = (found.metric(name) for name in ("zones", "zone_clients", "zone_topics"))
    assert sum(row["bytes"] for row in flows) == sum(kafka.values())
    assert sum(row["bytes"] for row in flows if row["zone_way"] == "across") == across > 0
    assert sum(row["cost"] or 0 for row in flows) == pytest.approx(2 * across)
    assert sum(row["share"] for row in flows) == pytest.approx(1)
    names = ("within_bytes", "sent_across_bytes", "received_across_bytes", "unknown_bytes")
    assert sum(row[name] for row in clients for name in names) == sum(kafka.values())
    assert sum(row["cost"] for row in clients) == pytest.approx(2 * across)
    of_records = sum(each["record_bytes"] for each in entries if each["connection"] in kafka)
    assert sum(row[name] for row in topics for name in ("within_bytes", "across_bytes", "unknown_bytes")) == of_records
