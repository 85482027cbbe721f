"""A producer that a broker has forgotten, and goes on for long."""

from __future__ import annotations

from pathlib import Path

from finding_stories import PRODUCE, at
from made_rows import capture, connection, dataset, error, exchange
from pace import at_most

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


def test_many_refusals_after_many_batches_are_not_compared_each_with_each(tmp_path: Path) -> None:
    many = 16_000
    moments = [n * 0.001 + (100 if n >= many else 0) for n in range(2 * many)]
    place = {"connection": 1, "side": "request", "topic": "t", "partition": 0, "position": 0}
    sender = {"producer_id": 7, "producer_epoch": 0, "records": 10, "magic": 2}
    story = {
        "captures": [capture(last_time_ns=at(400))],
        "connections": [connection(1)],
        "exchanges": [exchange(n, at_ns=at(moment), error_count=0, **PRODUCE) for n, moment in enumerate(moments)],
        "batches": [place | sender | {"exchange": n, "base_sequence": n * 10} for n in range(2 * many)],
        "errors": [
            error(n, 45, name="OUT_OF_ORDER_SEQUENCE_NUMBER", topic="t", partition=0, expected=False)
            for n in range(many, 2 * many)
        ],
    }
    with dataset(tmp_path, story) as made, at_most(2):
        (found,) = find(made, [rule("out_of_order")])
    assert found.row["quiet_ns"] > 80 * 10**9 and found.row["times"] == many
