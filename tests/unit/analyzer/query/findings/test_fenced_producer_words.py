"""Why a producer was fenced, where the capture does not show who took its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import at
from limit_stories import fenced_after
from made_rows import dataset, exchange

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize(
    ("end_s", "code", "is_sure"),
    [
        (2.0, 0, True),
        (2.0, None, False),
        (0.7, 0, False),
    ],  # it ended; whether it did is not known; the one before it did
)
def test_who_has_no_transaction_open_has_none_that_is_too_old(
    end_s: float, code: int | None, is_sure: bool, tmp_path: Path
) -> None:
    story = fenced_after(4)
    begun = story["transaction_events"][0]
    ended = {"exchange": 7, "event": "end", "error_code": code, "begin_ns": at(end_s), "time_ns": at(end_s)}
    story["transaction_events"].append(begun | ended | {"transaction_timeout_ms": None})
    story["exchanges"].append(exchange(7, at_ns=at(end_s), api_key=26, client_id="app", transactional_id="tx"))
    story["exchanges"][1] |= {"api_key": 24, "api_name": "AddPartitionsToTxn", "kind": None}
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("fenced_producer")])
    assert (found.row["taken_by"], found.row["unsure"] is None) == (
        ("another producer took its place", True) if is_sure else (None, False)
    )
