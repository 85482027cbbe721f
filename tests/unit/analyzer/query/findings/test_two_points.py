"""What two capture points that have names saw counts for each of them, but does not happen twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from finding_stories import MS_NS, PRODUCE, Tables, at, on_two_connections, sent
from impact_stories import waiting
from made_rows import connection, dataset, exchange
from slow_stories import seen_twice, slow_at_times

from analyzer.query.findings import rule
from analyzer.query.run_findings import find


def _stalled(requests: int) -> Tables:
    """So many requests of one connection wait for 1.5 s, none of them behind another."""
    rows = [exchange(n, at_ns=at(n / 10), **PRODUCE) for n in range(10)]
    late: dict[str, Any] = {"latency_ns": 1500 * MS_NS, "queue_ns": 0} | PRODUCE
    rows += [exchange(20 + n, at_ns=at(1.1), **late) for n in range(requests)]
    return {"exchanges": rows, "connections": [connection(1)]}


@pytest.mark.parametrize(
    ("name", "few", "enough"),
    [
        ("slow_broker", slow_at_times(0.6, 300, count=9), slow_at_times(0.6, 300, count=10)),
        ("broker_stalled", _stalled(9), _stalled(10)),
    ],
)
def test_requests_that_two_points_saw_are_no_more_of_them(
    name: str, few: Tables, enough: Tables, tmp_path: Path
) -> None:
    for number, (story, fires) in enumerate([(few, False), (enough, True)]):
        for place, tables in enumerate((story, seen_twice(story))):
            with dataset(tmp_path / f"{number}-{place}", tables) as made:
                assert bool(find(made, [rule(name)])) is fires


def test_a_batch_that_was_sent_again_is_told_once(tmp_path: Path) -> None:
    sequences = [*range(40), 7]
    for number, tables in enumerate((sent(sequences), on_two_connections(sequences, "tap"))):
        with dataset(tmp_path / str(number), tables) as made:
            (found,) = find(made, [rule("resent_batches")])
        assert (found.row["resent"], found.row["sent"]) == (1, 41)


@pytest.mark.parametrize(("times", "severity"), [(2, "info"), (3, "medium")])
def test_long_waits_that_two_points_saw_are_no_more_of_them(times: int, severity: str, tmp_path: Path) -> None:
    story = waiting([6.0] * times)
    for number, tables in enumerate((story, seen_twice(story))):
        with dataset(tmp_path / str(number), tables) as made:
            (found,) = find(made, [rule("slow_requests")])
        assert found.severity == severity
