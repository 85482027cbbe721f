"""Records that a share group is given again: rows of a reply's acquired records."""

from __future__ import annotations

from typing import Any

from analyzer.ingest.facts.fact_kinds import Message, SeenExchange
from analyzer.ingest.facts.groups import Step
from analyzer.ingest.facts.heartbeats import redeliveries

ORDERS = b"o" * 16


def acquired(*batches: tuple[int, int, int]) -> dict[str, Any]:
    """A partition with records from, to, and how often these have been given."""
    names = ("first_offset", "last_offset", "delivery_count")
    return {"acquired_records": [dict(zip(names, batch, strict=True)) for batch in batches]}


def test_records_are_counted_by_how_often_they_have_been_given() -> None:
    request = Message({"group_id": "jobs", "member_id": "m"}, True)
    partitions = [acquired((0, 99, 1), (100, 149, 2), (150, 150, 4)), acquired((7, 8, 2), (9, 5, 3), (-1, 5, 3))]
    reply = Message({"error_code": 0, "responses": [{"topic_id": ORDERS, "partitions": partitions}]}, True)
    steps = [Step(*values) for _, values in redeliveries(SeenExchange(3, 1, request, reply))]
    assert [(each.delivery_count, each.redelivered) for each in steps] == [(2, 52), (4, 1)]
