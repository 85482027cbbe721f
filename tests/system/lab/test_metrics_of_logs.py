"""The same metrics over a lab capture and over the broker's own log of it: two accounts of one run must agree."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import broker_log
import pytest
from made_rows import Rows, dataset

from analyzer.base.options import Options
from analyzer.query.dataset import Dataset
from analyzer.run.local import open_dataset

# What only packets tell (connections that end, fetches) or only the log does not.
OF_PACKETS = ("cluster", "pause_ns", "example_exchange", "end_ns", "duration_ns", "moved_partitions", "cause")


@contextmanager
def opened(shared: Path, name: str) -> Iterator[Dataset]:
    (path,) = (shared / "captures" / "lab").glob(f"{name}.pcap*")
    with open_dataset((str(path),), Options()) as found:
        yield found


def without(rows: Rows, *columns: str) -> Rows:
    return [{name: value for name, value in row.items() if name not in columns} for row in rows]


@pytest.mark.parametrize("name", ["groups_classic", "groups_848", "groups_share", "clients"])
def test_rebalances_are_those_of_the_brokers_log(name: str, shared: Path, tmp_path: Path) -> None:
    with dataset(tmp_path, broker_log.tables(broker_log.read(shared, name))) as log, opened(shared, name) as capture:
        expected, found = log.metric("rebalances"), capture.metric("rebalances")
        members = [each.metric("group_members") for each in (log, capture)]
    assert expected
    assert without(found, *OF_PACKETS) == without(expected, *OF_PACKETS)
    words = {"silent": ("silent", "connection_lost")}
    for mine, theirs in zip(found, expected, strict=True):
        assert mine["cause"] in words.get(theirs["cause"], (theirs["cause"],))
        if mine["group_type"] == "classic":
            assert (mine["duration_ns"], mine["moved_partitions"]) == (
                theirs["duration_ns"],
                theirs["moved_partitions"],
            )
    # Packets show more steps of the newer groups than the rows that were made from the log.
    assert without(members[1], "cluster", "topics", "last_time_ns") == without(
        members[0], "cluster", "topics", "last_time_ns"
    )


def test_a_killed_member_is_known_by_its_connection(shared: Path) -> None:
    with opened(shared, "groups_classic") as capture:
        (row,) = [
            row for row in capture.metric("rebalances") if row["lost_members"] and row["group_id"] == "shop-crash"
        ]
    assert (row["cause"], row["client_id"]) == ("connection_lost", "shop-rk1")


def test_transactions_are_those_of_the_brokers_log(shared: Path, tmp_path: Path) -> None:
    def summary(found: Dataset) -> Rows:
        columns = ("transactional_id", "outcome", "begin_ns", "end_ns", "producer_id", "producer_epoch", "client_id")
        return [{name: row[name] for name in columns} for row in found.metric("transaction_list")]

    logs = broker_log.read(shared, "transactions")
    with dataset(tmp_path, broker_log.tables(logs)) as log, opened(shared, "transactions") as capture:
        assert len(summary(log)) == 23
        assert summary(capture) == summary(log)


def written(logs: Rows) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Bytes by client that the log says were produced and fetched, and how often each was."""
    produced: Counter[tuple[str, str]] = Counter()
    fetched: Counter[tuple[str, str]] = Counter()
    for log in logs:
        header, asked, told = log["requestHeader"], log["request"], log["response"] or {}
        if header["requestApiKey"] == 0:
            for topic in asked["topicData"]:
                for part in topic["partitionData"]:
                    produced[header["clientId"], str(part["index"])] += part["recordsSizeInBytes"]
        if header["requestApiKey"] == 1 and "-fetcher-" not in header["clientId"]:
            for topic in told.get("responses", []):
                for part in topic["partitions"]:
                    fetched[header["clientId"], str(part["partitionIndex"])] += part["recordsSizeInBytes"]
    return +produced, +fetched


@pytest.mark.parametrize("name", ["groups_classic", "transactions", "clients"])
def test_bytes_by_client_and_partition_are_those_of_the_brokers_log(name: str, shared: Path) -> None:
    produced, fetched = written(broker_log.read(shared, name))
    with opened(shared, name) as capture:
        writers = capture.query("SELECT client_id, partition, record_bytes FROM partition_writers")
        readers = capture.query("SELECT client_id, partition, record_bytes FROM partition_readers")
    for rows, expected in ((writers, produced), (readers, fetched)):
        found: Counter[tuple[str, str]] = Counter()
        for row in rows:
            found[row["client_id"], str(row["partition"])] += row["record_bytes"] or 0
        assert expected
        assert +found == expected


def test_committed_positions_are_those_of_the_brokers_log(shared: Path) -> None:
    committed: dict[tuple[str, int], int] = {}
    for log in broker_log.read(shared, "groups_classic"):
        if log["requestHeader"]["requestApiKey"] == 8:
            for topic in log["request"]["topics"]:
                for part in topic["partitions"]:
                    committed[log["request"]["groupId"], part["partitionIndex"]] = part["committedOffset"]
    with opened(shared, "groups_classic") as capture:
        rows = capture.metric("lag")
    assert {row["group_id"] for row in rows} == {"shop-eager", "shop-coop", "shop-static", "shop-crash"}
    for row in rows:
        assert row["committed_offset"] == committed[row["group_id"], row["partition"]]
        assert row["lag"] == 0


def test_what_is_delivered_was_produced_before_and_each_batch_once(shared: Path) -> None:
    with opened(shared, "groups_classic") as capture:
        rows = capture.metric("delivery")
        (sent,) = capture.query("SELECT count(*) AS batches FROM batches WHERE side = 'request'")
    by_group: dict[Any, int] = defaultdict(int)
    for row in rows:
        assert 0 < row["p50_ns"] <= row["p95_ns"] <= row["p99_ns"] <= row["max_ns"]
        by_group[row["group_id"], row["client_id"]] += row["batches"]
    # One consumer of this group reads everything from the beginning.
    assert by_group["shop-static", "shop-static1"] == sent["batches"] == 600
    assert sum(number for (group, _), number in by_group.items() if group == "shop-crash") >= 600
