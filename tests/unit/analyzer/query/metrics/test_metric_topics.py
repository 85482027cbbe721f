"""Topics: who reads for which group, lag, delivery times: against plain computations and rules one by one."""

from __future__ import annotations

import random
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from made_rows import START_NS, Rows, connection, dataset, exchange

from analyzer.base.filters import Filters
from analyzer.query.dataset import Dataset

MS = 1_000_000


def produce(number: int, at_ms: int = 0, **values: Any) -> dict[str, Any]:
    made = {"api_key": 0, "api_name": "Produce", "acks": -1, "client_id": "p", "request_decoded": "full"}
    return exchange(number, at_ns=START_NS + at_ms * MS, **(made | values))


def fetch(number: int, at_ms: int = 0, **values: Any) -> dict[str, Any]:
    made = {
        "api_key": 1,
        "api_name": "Fetch",
        "kind": "fetch_tail",
        "client_id": "c",
        "isolation_level": 0,
        "replica_id": -1,
    }
    return exchange(number, at_ns=START_NS + at_ms * MS, **(made | values))


def entry(number: int, **values: Any) -> dict[str, Any]:
    return {"exchange": number, "connection": 1, "side": "request", "topic": "t", "partition": 0} | values


def position(number: int, at_ms: int = 0, **values: Any) -> dict[str, Any]:
    row = {"exchange": number, "connection": 1, "topic": "t", "partition": 0, "time_ns": START_NS + at_ms * MS}
    return row | {"record_bytes": 0, "partial": False} | values


def batch(number: int, side: str, first: int, last: int, **values: Any) -> dict[str, Any]:
    row = {
        "exchange": number,
        "connection": 1,
        "side": side,
        "topic": "t",
        "partition": 0,
        "position": 0,
        "codec": "none",
    }
    row |= {"records": last - first + 1, "bytes": 100, "control": False}
    return row | {"stored_base_offset": first, "stored_last_offset": last} | values


def opened(folder: Path, filters: Filters | None = None, **tables: Rows) -> Dataset:
    return dataset(folder, {"connections": [connection(1)]} | tables, filters=filters)


def joined(group: str, client: str = "c", address: str = "10.0.0.1", **values: Any) -> dict[str, Any]:
    row = {
        "exchange": 900,
        "connection": 1,
        "group_id": group,
        "group_type": "classic",
        "event": "join",
        "client_id": client,
    }
    return (
        row
        | {"client_address": address, "time_ns": START_NS, "begin_ns": START_NS, "member_id": f"{client}-1"}
        | values
    )


def holds(group: str, partition: int, client: str = "c", **values: Any) -> dict[str, Any]:
    row = {"exchange": 900, "connection": 1, "group_id": group, "group_type": "classic", "client_id": client}
    row |= {"client_address": "10.0.0.1", "member_id": f"{client}-1", "time_ns": START_NS, "topic": "t"}
    return row | {"partition": partition} | values


def groups_of(folder: Path, **tables: Rows) -> dict[int, tuple[str | None, bool]]:
    rows = [fetch(1)]
    positions = [position(1, partition=0), position(1, partition=1)]
    with opened(folder, exchanges=rows, fetch_positions=positions, **tables) as found:
        return {row["partition"]: (row["group_id"], row["ambiguous"]) for row in found.metric("lag")}


def test_a_fetch_belongs_to_the_group_that_assigned_the_partition(tmp_path: Path) -> None:
    tables = {"group_events": [joined("g"), joined("h")], "assignments": [holds("g", 0), holds("h", 1)]}
    assert groups_of(tmp_path, **tables) == {0: ("g", False), 1: ("h", False)}


@pytest.mark.slow
def test_without_an_assignment_the_only_group_of_the_client_counts(tmp_path: Path) -> None:
    assert groups_of(tmp_path / "a", group_events=[joined("g"), joined("g")]) == dict.fromkeys((0, 1), ("g", False))
    assert groups_of(tmp_path / "b", group_events=[joined("g"), joined("h")]) == dict.fromkeys((0, 1), (None, True))
    assert groups_of(tmp_path / "c", group_events=[joined("g", client="other")]) == dict.fromkeys((0, 1), (None, False))
    assert groups_of(tmp_path / "d", group_events=[joined("g", address="10.0.0.2")]) == dict.fromkeys(
        (0, 1), (None, False)
    )


def test_a_partition_that_two_groups_assigned_to_one_client_is_ambiguous(tmp_path: Path) -> None:
    tables = {"group_events": [joined("g"), joined("h")], "assignments": [holds("g", 0), holds("h", 0), holds("g", 1)]}
    assert groups_of(tmp_path, **tables) == {0: (None, True), 1: ("g", False)}


def test_groups_of_another_cluster_are_no_groups_of_this_one(tmp_path: Path) -> None:
    tables = {"group_events": [joined("g", cluster="other")], "assignments": [holds("g", 0, cluster="other")]}
    assert groups_of(tmp_path, **tables) == dict.fromkeys((0, 1), (None, False))


def test_lag_first_last_worst_and_the_committed_one_beside_it(tmp_path: Path) -> None:
    lags = [(0, 100, 100, 200), (10, 150, 200, 350), (20, 30, 330, 360)]
    rows = [fetch(at, at) for at, *_ in lags] + [fetch(30, 30)]
    positions = [position(at, at, lag=lag, next_offset=upto, new_end_offset=end) for at, lag, upto, end in lags]
    positions.append(position(30, 30, lag=0, next_offset=370, new_end_offset=365, partition=1))
    commits = [exchange(40 + at, api_key=8, group_id="g", at_ns=START_NS + at * MS) for at in range(3)]
    entries = [entry(40 + at, offset=offset) for at, offset in enumerate((90, 310, 320))]
    # The last commit was refused.
    refused = {"exchange": 42, "connection": 1, "side": "response", "code": 22, "topic": "t", "partition": 0}
    tables = {
        "exchanges": rows + commits,
        "fetch_positions": positions,
        "entries": entries,
        "errors": [refused],
        "group_events": [joined("g")],
    }
    with opened(tmp_path, **tables) as found:
        first, second = found.metric("lag")
        (consumer,) = found.metric("topic_consumers")
        (topic,) = found.metric("topics")
    assert (first["first_lag"], first["lag"], first["max_lag"], first["position"]) == (100, 30, 150, 330)
    assert (first["committed_offset"], first["committed_lag"], first["commits"]) == (310, 50, 2)
    assert (second["lag"], second["below"], second["committed_lag"]) == (0, 1, None)
    assert (consumer["lag"], consumer["max_lag"], consumer["partitions"], consumer["group_id"]) == (30, 150, 2, "g")
    assert (consumer["first_time_ns"], consumer["last_time_ns"]) == (START_NS, START_NS + 30 * MS)
    assert (topic["lag"], topic["groups"], topic["consumers"], topic["producers"]) == (30, 1, 1, 0)


def test_followers_and_brokers_are_no_consumers_and_no_producers(tmp_path: Path) -> None:
    rows = [fetch(1, replica_id=2), fetch(2, role="follower"), produce(3, role="forwarding")]
    tables = {"fetch_positions": [position(1), position(2)], "entries": [entry(3, record_bytes=5)]}
    with opened(tmp_path, exchanges=rows, **tables) as found:
        for name in ("topics", "topic_consumers", "topic_producers", "topic_partitions", "lag"):
            assert found.metric(name) == [], name


def test_producers_with_bytes_codecs_acks_and_errors(tmp_path: Path) -> None:
    rows = [produce(1), produce(2, acks=1), produce(3, client_id="q", acks=0, status="no_reply_expected")]
    entries = [entry(number, record_bytes=1_000, partition=number % 2) for number in (1, 2, 3)]
    entries += [entry(1, side="response", error_code=6, partition=1), entry(2, side="response", error_code=46)]
    batches = [
        batch(1, "request", 0, 9, codec="lz4", magic=2, bytes=461, uncompressed_bytes=1_200, partition=1),
        batch(1, "request", 10, 19, codec="lz4", bytes=600, position=1, partition=1),
        batch(2, "request", 0, 4, codec="none", magic=2, bytes=1_000, uncompressed_bytes=939),
        batch(3, "request", 0, 0, bytes=1_000, partition=1),
    ]
    with opened(tmp_path, exchanges=rows, entries=entries, batches=batches) as found:
        first, second = found.metric("topic_producers")
        (topic,) = found.metric("topics")
    assert (first["client_id"], first["requests"], first["errors"], first["batches"], first["records"]) == (
        "p",
        2,
        1,
        3,
        25,
    )
    assert (first["bytes"], first["lz4_batches"], first["plain_batches"], first["ratio"]) == (2_000, 2, 1, 3.0)
    assert (first["least_acks"], first["most_acks"], first["partitions"]) == (-1, 1, 2)
    assert first["records_per_s"] == pytest.approx(2.5)
    assert (second["client_id"], second["least_acks"], second["records"]) == ("q", 0, 1)
    assert (topic["written_bytes"], topic["written_records"], topic["producers"], topic["partitions"]) == (
        3_000,
        26,
        2,
        2,
    )


def test_share_fetches_name_their_group(tmp_path: Path) -> None:
    rows = [exchange(1, api_key=78, api_name="ShareFetch", group_id="s", client_id="c")]
    with opened(tmp_path, exchanges=rows, entries=[entry(1, side="response", record_bytes=70)]) as found:
        (row,) = found.metric("topic_consumers")
    assert (row["way"], row["group_id"], row["ambiguous"], row["bytes"], row["lag"]) == ("share", "s", False, 70, None)


def delivery(folder: Path, rows: Rows, batches: Rows, filters: Filters | None = None, **tables: Rows) -> Rows:
    with opened(folder, filters, exchanges=rows, batches=batches, **tables) as found:
        return found.metric("delivery")


def test_delivery_runs_from_the_requests_last_byte_to_the_first_replys_last_byte(tmp_path: Path) -> None:
    rows = [
        produce(1, 100, request_end_ns=START_NS + 110 * MS),
        fetch(2, 50, response_end_ns=START_NS + 140 * MS),
        fetch(3, 200),
        fetch(4, 300, client_id="d", kind="fetch_backlog", isolation_level=1),
    ]
    batches = [batch(1, "request", 5, 9)]
    # Stored in one batch with its neighbours, read again later, and by somebody who was behind.
    batches += [batch(2, "response", 0, 20), batch(3, "response", 0, 20), batch(4, "response", 5, 9)]
    tail, late = delivery(tmp_path, rows, batches, group_events=[joined("g")])
    assert (tail["way"], tail["group_id"], tail["isolation"], tail["max_ns"]) == (
        "tail",
        "g",
        "read_uncommitted",
        30 * MS,
    )
    assert (tail["batches"], tail["records"], tail["p50_ns"]) == (1, 5, 30 * MS)
    assert (tail["example_exchange"], tail["produce_exchange"]) == (2, 1)
    assert (late["way"], late["isolation"], late["group_id"]) == ("catch_up", "read_committed", None)


@pytest.mark.slow
def test_what_does_not_hold_the_offset_delivers_nothing(tmp_path: Path) -> None:
    cases = {
        "other offsets": [batch(2, "response", 10, 20)],
        "other partition": [batch(2, "response", 5, 9, partition=1)],
        "other topic": [batch(2, "response", 5, 9, topic="u")],
        "control": [batch(2, "response", 5, 9, control=True)],
        "unknown": [batch(2, "response", 5, 9, stored_last_offset=None)],
        "other cluster": [batch(3, "response", 5, 9, connection=2)],
    }
    rows = [produce(1), fetch(2, 50), fetch(3, 50, connection=2)]
    links = [connection(1, cluster="a"), connection(2, cluster="b")]
    for at, (name, batches) in enumerate(cases.items()):
        found = delivery(tmp_path / str(at), rows, [batch(1, "request", 5, 9), *batches], connections=links)
        assert found == [], name


def test_the_first_sending_of_a_batch_counts(tmp_path: Path) -> None:
    rows = [produce(1, 0), produce(2, 30), fetch(3, 59)]
    batches = [batch(1, "request", 5, 9), batch(2, "request", 5, 9), batch(3, "response", 5, 9)]
    (row,) = delivery(tmp_path, rows, batches)
    assert (row["batches"], row["max_ns"]) == (1, 60 * MS)


@pytest.mark.slow
def test_a_filter_by_consumer_or_producer_or_topic_keeps_what_both_sides_tell(tmp_path: Path) -> None:
    rows = [produce(1), fetch(2, 50), fetch(3, 60, client_id="d"), produce(4)]
    batches = [batch(1, "request", 5, 9), batch(2, "response", 5, 9), batch(3, "response", 5, 9)]
    batches += [batch(4, "request", 0, 1, topic="u"), batch(2, "response", 0, 1, topic="u")]
    entries = [entry(number) for number in (1, 2, 3)] + [entry(number, topic="u") for number in (2, 4)]

    def asked(name: str, **wanted: Any) -> list[tuple[str, str]]:
        found = delivery(tmp_path / name, rows, batches, Filters(**wanted), entries=entries)
        return [(row["topic"], row["client_id"]) for row in found]

    everything = [("t", "c"), ("t", "d"), ("u", "c")]
    assert asked("all") == asked("producer", clients=("p",)) == everything
    assert asked("consumer", clients=("d",)) == [("t", "d")]
    assert asked("topic", topics=("u",)) == [("u", "c")]


def test_delivery_agrees_with_a_plain_search_over_random_batches(tmp_path: Path) -> None:
    choose = random.Random(3)
    rows, batches = [], []
    stored: dict[int, list[tuple[int, int, int]]] = {0: [], 1: []}
    for number in range(120):
        part, at = choose.randrange(2), number * 10
        first = stored[part][-1][1] + 1 if stored[part] else 0
        last = first + choose.randrange(5)
        stored[part].append((first, last, at))
        rows.append(produce(number, at, request_end_ns=START_NS + at * MS))
        batches.append(batch(number, "request", first, last, partition=part))
    reads: dict[tuple[str, int], list[tuple[int, int, int]]] = defaultdict(list)
    for number in range(200, 500):
        part, who = choose.randrange(2), choose.choice("cd")
        first = choose.randrange(stored[part][-1][1])
        last, at = first + choose.randrange(12), choose.randrange(2_000)
        reads[who, part].append((first, last, at))
        rows.append(fetch(number, at, client_id=who, latency_ns=0))
        batches.append(batch(number, "response", first, last, partition=part))
    expected: dict[str, list[int]] = defaultdict(list)
    for (who, part), found in reads.items():
        for _, last, sent_at in stored[part]:
            # The fetched batch that ends first at or behind the last record tells the time, at its first reading.
            ends = sorted({end for _, end, _ in found if end >= last})
            if ends:
                first = min(begin for begin, end, _ in found if end == ends[0])
                at = min(when for _, end, when in found if end == ends[0])
                if first <= last and at >= sent_at:
                    expected[who].append(at - sent_at)
    got = {row["client_id"]: row for row in delivery(tmp_path, rows, batches)}
    assert set(got) == set(expected) == {"c", "d"}
    for who, times in expected.items():
        assert got[who]["batches"] == len(times)
        assert got[who]["max_ns"] == max(times) * MS
        assert got[who]["mean_ns"] == pytest.approx(sum(times) / len(times) * MS, abs=1)
