"""What a page adds up over time: the sums of slots are what the metrics over the whole time say."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.query.dataset import Dataset
from analyzer.run.local import open_dataset

EVERY = 500_000_000
ADDED = (
    "requests",
    "answered",
    "errors",
    "throttled",
    "request_bytes",
    "response_bytes",
    "parts_known",
    "parts_broker_ns",
    "parts_queue_ns",
)


@pytest.fixture(scope="module")
def found(samples: Path) -> Iterator[Dataset]:
    with open_dataset([str(samples)], Options(), None) as opened:
        yield opened


def rows(found: Dataset, metric: str, by: tuple[str, ...] = (), every: int | None = None) -> list[dict[str, Any]]:
    found.choose(Settings(by, every))
    try:
        return found.metric(metric)
    finally:
        found.choose(Settings())


@pytest.mark.parametrize("by", [(), ("client",), ("broker",), ("topic",), ("connection",)])
def test_activity_is_the_same_cut_or_whole(found: Dataset, by: tuple[str, ...]) -> None:
    whole, slots = rows(found, "activity", by), rows(found, "activity", by, EVERY)
    for name in ADDED:
        assert sum(row[name] or 0 for row in whole) == sum(row[name] or 0 for row in slots) > 0, name
    keys = {
        tuple(
            row[name]
            for name in (
                "api_name",
                "kind",
                "client_id",
                "client_address",
                "broker_address",
                "broker_port",
                "connection",
                "topic",
            )
        )
        for row in slots
        if not row["is_rest"]
    }
    assert len(keys) <= 60


def test_activity_by_api_is_what_latency_counts(found: Dataset) -> None:
    activity, rest = Counter[Any](), 0
    for row in rows(found, "activity", (), EVERY):
        if row["between_brokers"]:
            continue
        if row["is_rest"]:
            rest += row["requests"]
        else:
            activity[row["api_name"], row["kind"]] += row["requests"]
    latency = Counter[Any]()
    for row in rows(found, "latency"):
        latency[row["api_name"], row["kind"]] += row["count"]
    assert all(latency[key] == count for key, count in activity.items())
    assert sum(activity.values()) + rest == sum(latency.values())


def test_the_map_of_latencies_holds_every_reply_near_its_value(found: Dataset) -> None:
    heat = rows(found, "latency_heat", (), EVERY)
    answered = sum(row["answered"] for row in rows(found, "latency"))
    assert sum(row["n"] for row in heat) == answered
    fine = Counter[int]()
    for row in rows(found, "latency_histogram"):
        if row["bucket"] is not None:
            # 8 of the fine buckets are one of these.
            fine[-250 if row["bucket"] == -2000 else -(-row["bucket"] // 8)] += row["n"]
    coarse = Counter[int]()
    for row in heat:
        coarse[row["bucket"]] += row["n"]
    assert coarse == fine


def test_topics_have_the_bytes_of_their_metric(found: Dataset) -> None:
    moved = defaultdict[Any, list[int]](lambda: [0, 0])
    for row in rows(found, "topic_traffic", (), EVERY):
        assert not row["is_rest"]
        moved[row["cluster"], row["topic"]][0] += row["written_bytes"] or 0
        moved[row["cluster"], row["topic"]][1] += row["read_bytes"] or 0
    topics = {
        (row["cluster"], row["topic"]): [row["written_bytes"] or 0, row["read_bytes"] or 0]
        for row in rows(found, "topics")
    }
    assert {key: sums for key, sums in moved.items() if any(sums)} == {
        key: sums for key, sums in topics.items() if any(sums)
    }


def test_the_last_lag_is_that_of_the_group(found: Dataset) -> None:
    last: dict[Any, int] = {}
    for row in rows(found, "lag_over_time", (), EVERY):
        assert row["lag"] >= 0
        if row["group_id"] is not None:
            last[row["cluster"], row["group_id"]] = row["lag"]
    groups = {(row["cluster"], row["group_id"]): row["lag"] for row in rows(found, "groups") if row["lag"] is not None}
    assert groups and groups.items() <= last.items()


def test_errors_and_connections_are_counted_once(found: Dataset) -> None:
    slots = rows(found, "errors_over_time", (), EVERY)
    (whole,) = found.query("SELECT count(*) AS count, count(*) FILTER (WHERE expected) AS expected FROM errors")
    assert sum(row["count"] for row in slots) == whole["count"] > 0
    assert sum(row["expected"] for row in slots) == whole["expected"]
    assert all(row["unexpected"] == row["count"] - row["expected"] for row in slots)
    (links,) = found.query(
        "SELECT count_if(seen_from = 'syn') AS opened, count_if(close = 'rst') AS reset FROM connections WHERE is_kafka"
    )
    churn = rows(found, "connection_churn", (), EVERY)
    assert sum(row["opened"] for row in churn) == links["opened"]
    assert sum(row["reset"] for row in churn) == links["reset"]
