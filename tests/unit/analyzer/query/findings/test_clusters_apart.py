"""What happens to one cluster is not put down to another: by its evidence, its connection, or its host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cluster_stories import PRODUCE, follower_gone
from finding_stories import at
from made_rows import SECOND_NS, connection, dataset, exchange

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize(("other", "symptoms"), [("c", ["slow_requests"]), ("d", [])])
def test_a_finding_without_an_exchange_is_of_the_cluster_of_its_connection(
    other: str, symptoms: list[str], tmp_path: Path
) -> None:
    """A broker that left others, and a client of brokers elsewhere that waits."""
    story = follower_gone(11)
    story["connections"] = [row | {"cluster": "c"} for row in story["connections"]]
    there = {"client_address": "10.8.0.1", "broker_address": "10.7.0.1"}
    story["connections"].append(connection(9, cluster=other, **there))
    story["exchanges"] += [
        exchange(
            100 + n, at_ns=at(12 + n / 10), latency_ns=3 * SECOND_NS, client_id="shop", connection=9, **there, **PRODUCE
        )
        for n in range(8)
    ]
    with dataset(tmp_path, story) as made:
        found = find(made, [rule("broker_gone"), rule("slow_requests")])
    (gone,) = (each for each in found if each.rule.name == "broker_gone")
    assert gone.cluster == "c" and [each.rule.name for each in gone.symptoms] == symptoms


@pytest.mark.parametrize(
    ("one", "other", "is_shared"),
    [
        ({"broker_id": 1, "cluster": "c"}, {"broker_id": 2, "cluster": "c"}, True),
        ({"broker_id": 1, "cluster": "c"}, {"broker_id": 1, "cluster": "d"}, True),  # each the first of its cluster
        ({"broker_id": 1, "cluster": "c"}, {"broker_id": 1, "cluster": "c"}, False),  # two listeners
        ({"broker_id": 1, "cluster": "c"}, {"broker_id": None, "cluster": "10.0.1.1:9094"}, False),
    ],
)
def test_brokers_of_two_clusters_may_share_a_host(
    one: dict[str, Any], other: dict[str, Any], is_shared: bool, tmp_path: Path
) -> None:
    links = [connection(1, **one), connection(2, broker_port=9094, **other)]
    with dataset(tmp_path, {"connections": links}) as made:
        hosts = [row["host"] for row in made.ask("SELECT host FROM shared_broker_hosts")]
    assert hosts == ["10.0.1.1"] * is_shared
