"""What is advised where requests take long and no rule tells the cause."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import many
from made_rows import connection, dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize(
    ("name", "transactional_id", "stored_in"),
    [
        ("OffsetCommit", None, "__consumer_offsets"),
        ("TxnOffsetCommit", "t", "__consumer_offsets"),
        ("InitProducerId", "t", "__transaction_state"),
        (
            "InitProducerId",
            None,
            "the active controller",
        ),  # of an idempotent producer: no coordinator has to do with it
        ("EndTxn", "t", "__transaction_state"),
        ("Metadata", None, "kanalyze latency"),
    ],
)
def test_what_a_request_waits_for(name: str, transactional_id: str | None, stored_in: str, tmp_path: Path) -> None:
    slow = many(5, 9, api_name=name, transactional_id=transactional_id, latency_ns=900_000_000)
    with dataset(tmp_path, {"exchanges": slow, "connections": [connection(1)]}) as made:
        (found,) = find(made, [rule("slow_requests")])
    assert stored_in in found.row["advice"]
