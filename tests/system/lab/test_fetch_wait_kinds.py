"""The kinds of Fetch against the broker's own clock: remoteTimeMs of its log is the time that a Fetch waited for data.

A kind that blames the broker (fetch_backlog, fetch_now) must never have waited; one that says it waited must have. The
positions that sessions are rebuilt to must be those that the clients then read from.
"""

from __future__ import annotations

from collections import defaultdict

import pytest
from agreement import match
from oracle import Capture, read_log
from program import Analyse

from analyzer.base.options import Options
from analyzer.run.local import open_dataset

# Beyond this a Fetch sat in the broker's purgatory.
WAITED_MS = 5.0


def test_a_fetch_waited_when_its_kind_says_so(logged: Capture, analyse: Analyse) -> None:
    found = match(analyse(logged.files).exchanges, read_log(logged.log))
    wrong = []
    for line, row in found.pairs:
        if row["status"] != "answered" or row["api_key"] != 1:
            continue
        busy = row["kind"] in ("fetch_backlog", "fetch_now") and line.remote_ms > WAITED_MS
        idle = row["kind"] == "fetch_empty" and line.remote_ms < 0.9 * row["max_wait_ms"] - WAITED_MS
        if busy or idle:
            wrong.append((row["kind"], line.remote_ms, f"{row['exchange']:016x}"))
    assert not wrong


@pytest.mark.usefixtures("shared")
def test_most_fetches_with_data_are_of_a_known_kind() -> None:
    """Over all captures: only the first fetches of clients without sessions, and share groups, are left unknown."""
    from program import found_captures, wanted_now

    kinds: dict[str, int] = defaultdict(int)
    for capture in found_captures():
        if wanted_now(capture) and not capture.name.startswith(("sweep_", "groups_share")):
            with open_dataset([str(path) for path in capture.files], Options()) as dataset:
                for row in dataset.query(
                    "SELECT kind, count(*) AS fetches FROM exchanges WHERE api_key = 1 AND status = 'answered' GROUP BY kind"
                ):
                    kinds[row["kind"]] += row["fetches"]
    assert kinds["fetch_backlog"] > 30
    assert kinds["fetch_tail"] > 3_000
    assert kinds["fetch_unknown"] < 0.02 * (kinds["fetch_backlog"] + kinds["fetch_tail"])


# Captures whose consumers read on where they were, a member that loses a partition excepted; clients with sessions (Java) and
# without (librdkafka, Java before 1.1).
@pytest.mark.parametrize("name", ["basics", "cluster", "groups_classic", "broker_11", "broker_28", "two_clusters"])
@pytest.mark.usefixtures("shared")
def test_the_next_offset_is_where_the_client_reads_next(name: str) -> None:
    """What a reply's last batch says (its header alone is read) against the client's next request for the partition."""
    from program import found_capture

    capture = found_capture(name)
    with open_dataset([str(path) for path in capture.files], Options()) as dataset:
        rows = dataset.query(
            "select connection, coalesce(topic_id, topic) as topic, partition, fetch_offset, next_offset, record_bytes "
            "from fetch_positions order by time_ns"
        )
    last: dict[tuple[object, ...], dict[str, int]] = {}
    same = other = 0
    for row in rows:
        place = (row["connection"], row["topic"], row["partition"])
        before = last.get(place)
        if before and before["record_bytes"]:
            same += row["fetch_offset"] == before["next_offset"]
            other += row["fetch_offset"] != before["next_offset"]
        last[place] = row
    assert same > 100
    assert other <= 0.01 * same
