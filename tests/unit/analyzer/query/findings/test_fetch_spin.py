"""Why a client fetches in a tight loop: its settings, or a position beyond the end, which is not the client's doing."""

from __future__ import annotations

from pathlib import Path

import pytest
from finding_stories import FETCH, many
from made_rows import connection, dataset

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


@pytest.mark.parametrize(
    ("max_wait_ms", "fetch_offset", "place", "advice"),
    [
        (500, 551, "at a position beyond the end", "The client is not the cause"),
        (0, 550, None, "Its fetch.max.wait.ms is 0"),
        (500, 550, None, "Its fetch.min.bytes is 0, the client fetches in a loop"),
    ],
)
def test_the_advice_follows_from_what_was_asked(
    max_wait_ms: int, fetch_offset: int, place: str | None, advice: str, tmp_path: Path
) -> None:
    rows = many(40, 1, kind="fetch_now", max_wait_ms=max_wait_ms, **FETCH)
    told = {"topic": "t", "partition": 0, "fetch_offset": fetch_offset, "end_offset": 550, "new_end_offset": 550}
    positions = [
        told | {"exchange": row["exchange"], "connection": row["connection"], "time_ns": row["request_time_ns"]}
        for row in rows
    ]
    with dataset(tmp_path, {"exchanges": rows, "fetch_positions": positions, "connections": [connection(1)]}) as made:
        (found,) = find(made, [rule("fetch_spin")])
    assert found.row["place"] == place
    assert advice in found.row["advice"]
