"""What listens where a client gives up may be a proxy, whose own broker does not answer it."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import connection, dataset
from thread_stories import at, given_up

from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

UNANSWERED = {"is_kafka": None, "protocol": None, "close": "none", "syn_ack_ns": None, "seen_from": "syn"}
UNANSWERED |= {"client_stream_bytes": 0, "broker_stream_bytes": 0}


@pytest.mark.parametrize(
    ("asking", "upstreams", "is_told"),
    [
        ("10.0.1.1", ["10.0.9.9"] * 3, True),
        ("10.0.1.1", ["10.0.9.9"] * 2, False),
        ("10.0.1.1", ["10.0.9.9", "10.0.9.8", "10.0.9.9"], False),  # which of both it was for, nobody knows
        ("10.0.1.7", ["10.0.9.9"] * 3, False),  # another host
    ],
)
def test_the_broker_behind_is_named(asking: str, upstreams: list[str], is_told: bool, tmp_path: Path) -> None:
    story = given_up([10.0] * 4)
    story["connections"] += [
        connection(50 + n, client_address=asking, broker_address=upstream, first_time_ns=at(n + 1), **UNANSWERED)
        for n, upstream in enumerate(upstreams)
    ]
    with dataset(tmp_path, story) as made:
        (found,) = find(made, [rule("gives_up")])
    said = sentence(found.rule.says, found.row)
    assert said.endswith("; 10.0.9.9:9092 did not answer that host meanwhile, 3 times") is is_told
    assert ("whether 10.0.9.9:9092 is still its address" in found.row["advice"]) is is_told
