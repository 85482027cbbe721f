"""Connections that two named capture points saw are one for the findings, and two for the tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_rows import SECOND_NS, START_NS, connection, dataset, exchange

from analyzer.query.seen_once import seen_once


@pytest.mark.parametrize(
    ("other", "kept"),
    [
        ({}, [1]),
        ({"client_packets": 101}, [2]),
        ({"client_packets": 101, "one_way": "client"}, [1]),
        ({"client_packets": 101, "seen_from": "midstream"}, [1]),
        ({"client_packets": 101, "broker_gap_bytes": 9}, [1]),
        # The other point's capture ends soon.
        ({"seen_from": "midstream", "last_time_ns": START_NS + 600 * SECOND_NS}, [2]),
        ({"tap": "default"}, [1, 2]),
        ({"client_port": 7}, [1, 2]),
        ({"broker_port": 9093}, [1, 2]),
        # A clock that is 800 ms behind; the port again, later.
        ({"first_time_ns": START_NS + 10_800_000_000, "last_time_ns": START_NS + 20 * SECOND_NS}, [1]),
        ({"first_time_ns": START_NS + 12 * SECOND_NS, "last_time_ns": START_NS + 20 * SECOND_NS}, [1, 2]),
    ],
)
def test_the_row_that_says_most_stays(other: dict[str, Any], kept: list[int], tmp_path: Path) -> None:
    links = [connection(1), connection(2, **{"client_port": 50_001, "tap": "two"} | other)]
    links[0]["client_port"] = 50_001
    rows = [exchange(n, connection=n) for n in (1, 2)]
    with dataset(tmp_path, {"connections": links, "exchanges": rows}) as made, seen_once(made) as once:
        for table in ("connections", "all_connections", "exchanges"):
            assert [row["connection"] for row in once.ask(f"SELECT connection FROM {table} ORDER BY 1")] == kept
        assert len(made.ask("SELECT connection FROM connections")) == 2


def test_questions_do_not_grow_with_the_connections(tmp_path: Path) -> None:
    links = [connection(n, client_port=n // 2, tap=f"tap {n % 2}") for n in range(400)]
    with dataset(tmp_path, {"connections": links, "exchanges": [exchange(1)]}) as made, seen_once(made) as once:
        assert len(once.ask("SELECT connection FROM connections")) == 200
        assert len(once.made_of["views"]["exchanges"]) < len(made.made_of["views"]["exchanges"]) + 200


def test_each_side_is_kept_where_two_points_saw_one_each(tmp_path: Path) -> None:
    links = [connection(n, client_port=7, tap=side, one_way=side) for n, side in enumerate(("broker", "client"))]
    with dataset(tmp_path, {"connections": links}) as made, seen_once(made) as once:
        assert len(once.ask("SELECT connection FROM connections")) == 2
