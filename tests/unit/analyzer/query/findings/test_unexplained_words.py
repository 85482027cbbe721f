"""What is advised where brokers refuse each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import failing, many
from made_rows import dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize(
    ("api", "name", "error", "code", "advice"),
    [
        (1, "Fetch", "UNKNOWN_TOPIC_ID", 100, "follows partitions of a topic"),
        (56, "AlterPartition", "UNKNOWN_TOPIC_ID", 100, "Open the evidence"),  # it leads them
        (56, "AlterPartition", "INELIGIBLE_REPLICA", 107, "into the in-sync set"),
    ],
)
def test_an_error_of_brokers_has_an_advice(
    api: int, name: str, error: str, code: int, advice: str, tmp_path: Path
) -> None:
    asks = many(40, 60, api_key=api, api_name=name, role="follower", replica_id=2)
    with dataset(tmp_path, failing(code, asks, name=error)) as made:
        (found,) = find(made, [rule("unexplained")])
    assert advice in found.row["advice"] and (found.row["unknown"] is None) is (advice != "Open the evidence")
