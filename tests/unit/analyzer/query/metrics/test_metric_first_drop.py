"""The first change of an ISR that a capture has: who is missing was dropped where it had read to the end before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from broker_stories import Tables, altered, at
from made_rows import capture, connection, dataset, exchange

FETCH = {"api_key": 1, "api_name": "Fetch", "kind": "fetch_follower", "role": "follower", "replica_id": 3}


def reading(to_the_end_s: float, **values: Any) -> Tables:
    """Broker 3 reads t-0 of broker 1, at the end of it at that moment; at 30 s broker 1 says that it and 2 are in sync."""
    story = altered((30, 1, "t-0", values.pop("isr", "1,2"), 7), last_time_ns=at(60))
    told = {"asked_isr": values.pop("asked_isr", "1,2")}
    story["broker_events"] = [row | told for row in story["broker_events"]]
    behind = values.pop("behind", 0)
    ends = {"close": "none", "last_time_ns": at(60), "role": "follower", "cluster": "c"} | values
    story["connections"].append(connection(7, client_address="10.0.1.3", **ends))
    asked = exchange(50, at_ns=at(to_the_end_s), connection=7, client_address="10.0.1.3", **FETCH)
    story["exchanges"].append(asked)
    base = {"exchange": 50, "connection": 7, "topic": "t", "partition": 0}
    story["entries"] = [
        base | {"side": "request", "offset": 100 - behind},
        base | {"side": "response", "high_watermark": 100},
    ]
    return story | {"captures": [capture(last_time_ns=at(60))]}


@pytest.mark.parametrize(
    ("story", "partitions"),
    (
        (reading(10), 1),
        # It was behind, as one that comes back, or is new.
        (reading(10, behind=1), None),
        # It is added in a moment.
        (reading(29), None),
        # It hung up: the controller took it out.
        (reading(10, close="fin", last_time_ns=at(20)), None),
        # The leader asked for it too: a reassignment ended, and took it out.
        (reading(10, asked_isr="1,2,3"), None),
        (reading(10, isr="1,2,3", asked_isr="1,2,3"), None),
    ),
)
def test_who_had_read_to_the_end_was_dropped(story: Tables, partitions: int | None, tmp_path: Path) -> None:
    with dataset(tmp_path, story) as made:
        rows = made.metric("out_of_sync")
    assert [(row["follower"], row["partitions"]) for row in rows] == (
        [("3 (10.0.1.3)", partitions)] if partitions else []
    )
