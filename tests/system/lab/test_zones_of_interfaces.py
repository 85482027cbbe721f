"""Bytes by zone are those that the hosts' interfaces counted (`ip -s`), and reads across zones are found where there are any."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.query.metrics import text
from analyzer.query.run_findings import find
from analyzer.run.local import open_dataset
from lab.score import DATA, truths

# Brokers that are not up yet refuse a follower's connections: nobody can say that these are Kafka's.
MOST_APART = 0.001
PRICE = 0.01
SENT = """
    SELECT client_address AS sender, broker_address AS receiver, client_wire_bytes AS bytes FROM connections WHERE is_kafka
    UNION ALL
    SELECT broker_address, client_address, broker_wire_bytes FROM connections WHERE is_kafka
"""


@pytest.fixture(params=["zones_followed", "zones_crossed"])
def zoned(request: pytest.FixtureRequest) -> Iterator[tuple[Dataset, dict[str, Any]]]:
    name = request.param
    with open_dataset([str(DATA / f"{name}.pcap.zst")], Options(names=(DATA / f"{name}.names.tsv",))) as dataset:
        yield dataset, truths()[name]


def test_bytes_of_hosts_are_those_of_their_interfaces(zoned: tuple[Dataset, dict[str, Any]]) -> None:
    dataset, truth = zoned
    sent, received = Counter[str](), Counter[str]()
    for row in dataset.query(SENT):
        sent[row["sender"]] += row["bytes"]
        received[row["receiver"]] += row["bytes"]
    assert set(sent) == set(received) == set(truth["counted"])
    for address, counted in truth["counted"].items():
        assert sent[address] == pytest.approx(counted["sent"], rel=MOST_APART), address
        # A switch floods the first packet to a host that it does not know yet.
        assert received[address] == pytest.approx(counted["received"], rel=MOST_APART, abs=200), address


def test_bytes_of_zones_are_those_of_their_hosts_and_cost_what_crosses(zoned: tuple[Dataset, dict[str, Any]]) -> None:
    dataset, truth = zoned
    with (DATA / f"{truth['name']}.names.tsv").open() as names:
        zones = {row["address"]: row["zone"] for row in csv.DictReader(names, delimiter="\t")}
    dataset.choose(Settings(price=PRICE))
    rows = dataset.query(text("zones"))
    for way, zone in (("sent", "from_zone"), ("received", "to_zone")):
        counted, found = Counter[str](), Counter[str]()
        for address, told in truth["counted"].items():
            counted[zones[address]] += told[way]
        for row in rows:
            found[row[zone]] += row["bytes"]
        assert dict(found) == pytest.approx(counted, rel=MOST_APART)
    assert {row["zone_way"] for row in rows} == {"within", "across"}
    across = sum(row["bytes"] for row in rows if row["from_zone"] != row["to_zone"])
    assert sum(row["cost"] or 0 for row in rows) == pytest.approx(PRICE * across / 1e9)


def test_replicas_are_where_the_lab_made_them(zoned: tuple[Dataset, dict[str, Any]]) -> None:
    """Three of each partition, one in each zone."""
    rows = zoned[0].query(
        "SELECT topic, racks, whole_racks FROM topic_ids WHERE topic IN ('orders', 'trials') ORDER BY topic"
    )
    assert [tuple(row.values()) for row in rows] == [
        (topic, *("zone-1,zone-2,zone-3",) * 2) for topic in ("orders", "trials")
    ]


def test_reads_across_zones_are_found_where_no_consumer_names_its_zone(zoned: tuple[Dataset, dict[str, Any]]) -> None:
    dataset, truth = zoned
    rows = [each.row for each in find(dataset) if each.rule.name == "cross_zone_reads"]
    found = [(row["who"], row["replicas"], row["why"]) for row in rows]
    there = "where each partition of these topics has a replica"
    wanted = [("packing", there, "client.rack is not set"), ("report", there, "client.rack is not set")]
    assert sorted(found) == (wanted if truth["causes"] else [])
