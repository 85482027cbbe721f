"""Where Metadata says that the replicas of a topic are."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.ingest.facts.clusters import metadata
from analyzer.ingest.facts.fact_kinds import Message, SeenExchange

RACKS = {1: "a", 2: "b", 3: "c", 4: "a"}


def racks_of(partitions: list[list[int] | None], racks: dict[int, Any], whole: bool = True) -> tuple[Any, ...]:
    topic = {
        "name": "orders",
        "topic_id": b"\x01" * 16,
        "partitions": [{"replica_nodes": nodes} for nodes in partitions],
    }
    brokers = [{"node_id": node, "host": "h", "port": 9092, "rack": rack} for node, rack in racks.items()]
    message = Message({"brokers": brokers, "topics": [topic]}, whole)
    (row,) = (values for name, values in metadata(SeenExchange(0, 12, None, message)) if name == "topic_facts")
    assert row[1] == "orders"
    return row[2:]


@pytest.mark.parametrize(
    ("partitions", "found"),
    [
        ([[1, 2]], ("a,b", "a,b")),
        ([[1, 2], [4, 3]], ("a,b,c", "a")),
        ([[1], [2]], ("a,b", "")),
        # A node that is down is no broker of the reply: its rack is not known.
        ([[1, 9]], (None, None)),
        ([[1], []], (None, None)),
        ([[1], None], (None, None)),
        ([], (None, None)),
    ],
)
def test_racks_with_replicas(partitions: list[list[int] | None], found: tuple[str | None, str | None]) -> None:
    assert racks_of(partitions, RACKS) == found


@pytest.mark.parametrize("rack", [None, "", "a,b"])
def test_without_a_rack_of_each_broker_nothing_is_known(rack: str | None) -> None:
    assert racks_of([[1, 2]], {**RACKS, 3: rack}) == (None, None)


def test_of_a_reply_that_is_cut_nothing_is_known() -> None:
    assert racks_of([[1, 2]], RACKS, whole=False) == (None, None)
