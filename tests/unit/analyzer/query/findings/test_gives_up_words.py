"""What listens where a client gives up may be a proxy, whose own broker does not answer it."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_rows import connection, dataset
from thread_stories import at, given_up

from analyzer.base.filters import Filters
from analyzer.query.findings import rule
from analyzer.query.run_findings import find
from analyzer.report.sentences import sentence

UNANSWERED = {"is_kafka": None, "protocol": None, "close": "none", "syn_ack_ns": None, "seen_from": "syn"}
UNANSWERED |= {"client_stream_bytes": 0, "broker_stream_bytes": 0}


@pytest.mark.parametrize("clients", [(), ("app",)])
@pytest.mark.parametrize(
    ("asking", "upstreams", "is_told"),
    [
        ("10.0.1.1", ["10.0.9.9"] * 3, True),
        ("10.0.1.1", ["10.0.9.9"] * 2, False),
        ("10.0.1.1", ["10.0.9.9", "10.0.9.8", "10.0.9.9"], False),  # which of both it was for, nobody knows
        ("10.0.1.7", ["10.0.9.9"] * 3, False),  # another host
    ],
)
def test_the_broker_behind_is_named(
    asking: str, upstreams: list[str], is_told: bool, clients: tuple[str, ...], tmp_path: Path
) -> None:
    story = given_up([10.0] * 4)
    story["connections"] += [
        connection(50 + n, client_address=asking, broker_address=upstream, first_time_ns=at(n + 1), **UNANSWERED)
        for n, upstream in enumerate(upstreams)
    ]
    # The proxy is no client of that name.
    with dataset(tmp_path, story, filters=Filters(clients=clients)) as made:
        (found,) = find(made, [rule("gives_up")])
    said = sentence(found.rule.says, found.row)
    assert said.endswith("; 10.0.9.9:9092 did not answer that host meanwhile, 3 times") is is_told
    assert ("whether 10.0.9.9:9092 is still its address" in found.row["advice"]) is is_told


def test_what_the_host_of_the_client_asks_is_not_of_a_proxy(tmp_path: Path) -> None:
    """All on one host: whoever asks for a database that is not there."""
    story = given_up([10.0] * 4)
    tries = [connection(50 + n, broker_port=3306, first_time_ns=at(n + 1), **UNANSWERED) for n in range(3)]
    here = {"client_address": "127.0.0.1", "broker_address": "127.0.0.1"}
    rows = {"exchanges": story["exchanges"], "connections": story["connections"] + tries}
    with dataset(tmp_path, {table: [row | here for row in kept] for table, kept in rows.items()}) as made:
        (found,) = find(made, [rule("gives_up")])
    assert "did not answer that host" not in sentence(found.rule.says, found.row)
