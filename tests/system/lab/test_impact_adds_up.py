"""Accounts of impact add up: parts to the time, rows to the whole whatever they are grouped by, and to what the tables have;
what findings explain, and what none does, to all."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from effort import also_long
from paths import LAB, SAMPLES

import analyzer
from analyzer.base.impact_limits import LIMITS
from analyzer.base.settings import Settings
from analyzer.base.wait_kinds import BROKER, kind_of
from analyzer.query.dataset import Dataset
from analyzer.query.findings import LOSE_TIME
from analyzer.query.impact_causes import shares
from analyzer.query.run_findings import find
from lab.score import DATA, truths

Rows = list[dict[str, Any]]
PARTS = ("queue_ns", "throttle_ns", "proxy_ns", "broker_ns", "network_ns", "unknown_ns")
# What may be asked, beside what is grouped by without a question.
GROUPINGS = ((), ("client",), ("app", "group"), ("broker",), ("api", "topic"), ("principal",), ("connection",))
FEW = [*sorted(SAMPLES.glob("*.pcap.zst")), *(DATA / f"{name}.pcap.zst" for name in ("nat_60_python",))]
MANY = [each for each in (*DATA.glob("*.pcap.zst"), *LAB.glob("*.pcap*")) if each not in FEW]
# Accounts of which time is lost.
LOSING = (*LOSE_TIME, "unanswered")
# They wait by design, so nothing is lost with their connection, but for a Fetch that waits longer than it asked to.
WAITING = {"Fetch", "JoinGroup", "SyncGroup", "ShareFetch"}


def counted(dataset: Dataset) -> dict[tuple[Any, ...], tuple[int, int | None]]:
    """Account, what, whether between brokers -> how many and how long, by all that Python knows of the rows."""
    times, waited = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
    exchanges = {row["exchange"]: row for row in dataset.query("SELECT * FROM exchanges")}
    (ends,) = dataset.query("SELECT last_time_ns FROM time_range")
    last_ns = ends["last_time_ns"]
    codes: dict[int, dict[int, str]] = {}
    for row in dataset.query("SELECT exchange, code, name FROM errors WHERE expected IS NOT TRUE"):
        codes.setdefault(row["exchange"], {})[row["code"]] = row["name"] or f"error {row['code']}"
    for exchange, row in exchanges.items():
        between = row["role"] not in (None, "client")
        is_asked = row["kind"] == "wait" and not between
        if row["latency_ns"] is not None and (kind_of(row["kind"]).reach == BROKER or is_asked):
            times["time", None, between] += 1
            waited["time", None, between] += row["latency_ns"]
        if row["latency_ns"] is not None and row["kind"] in ("join_wait", "sync_wait"):
            times["rebalance", None, between] += 1
            waited["rebalance", None, between] += row["latency_ns"]
        if exchange in codes:
            times["refused", codes[exchange][min(codes[exchange])], between] += 1
        lost = row["status"] in ("closed", "pending") and row["api_name"] not in WAITING
        if row["status"] == "pending" and row["api_name"] == "Fetch":
            lost = last_ns - row["request_end_ns"] >= row["max_wait_ms"] * 1_000_000 + LIMITS["stuck_ns"]
        if lost or row["status"] == "abandoned":
            times["unanswered", row["status"], between] += 1
    for row in dataset.query(
        "SELECT * FROM connections WHERE is_kafka AND seen_from = 'syn' AND syn_ack_ns IS NOT NULL"
    ):
        key = "connecting", None, row["role"] not in (None, "client")
        times[key] += 1
        waited[key] += row["syn_ack_ns"]
    return {key: (number, waited.get(key)) for key, number in times.items()}


def told(rows: Rows) -> dict[tuple[Any, ...], tuple[int, int | None]]:
    """The same, by the rows of the metric."""
    times, waited = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
    for row in rows:
        key = row["account"], row["what"], row["between_brokers"]
        times[key] += row["times"]
        waited[key] += row["waited_ns"] or 0
    return {key: (number, waited[key] if key[0] in LOSE_TIME else None) for key, number in times.items()}


def told_losses(rows: Rows) -> dict[tuple[Any, ...], tuple[int, int]]:
    """Account, what, whether between brokers -> how many, of the time only slow ones, and the time that they lost."""
    times, lost = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
    for row in rows:
        key = row["account"], row["what"], row["between_brokers"]
        is_time = row["account"] in LOSE_TIME
        times[key] += row["slow"] if is_time else row["times"]
        lost[key] += ((row["slow_ns"] if is_time else row["waited_ns"]) or 0) if key[0] in LOSING else 0
    return {key: (number, lost[key]) for key, number in times.items() if number}


def told_by_findings(dataset: Dataset) -> dict[tuple[Any, ...], tuple[int, int]]:
    """The same, by what findings explain and what none does."""
    times, lost = Counter[tuple[Any, ...]](), Counter[tuple[Any, ...]]()
    for share in shares(dataset, find(dataset)):
        key = share.account, share.what, share.between_brokers
        times[key] += share.times
        lost[key] += share.lost_ns or 0
        assert all(0 < number <= share.times for number in share.also.values()), share
        assert share.finding is not None or not share.also, share
    return {key: (number, lost[key]) for key, number in times.items()}


@pytest.mark.parametrize("path", also_long(FEW, sorted(MANY)), ids=lambda path: path.name)
def test_accounts_add_up(path: Path) -> None:
    with analyzer.read(path) as capture:
        dataset = capture._dataset
        answers = []
        for by in GROUPINGS:
            dataset.choose(Settings(by))
            answers.append(dataset.metric("impact"))
        whole = counted(dataset)
        explained = told_by_findings(dataset)
    assert explained == told_losses(answers[0])
    for rows in answers:
        assert told(rows) == told(answers[0])
        for row in rows:
            assert row["times"] <= row["of_all"], row
            if row["waited_ns"] is not None:
                assert sum(row[part] for part in PARTS) == row["waited_ns"], row
                assert min(row[part] for part in PARTS) >= 0, row
    ours = {key: value for key, value in told(answers[0]).items() if key[1] != "orphan_reply"}
    assert {key: value for key, value in ours.items() if key[0] in (*LOSING, "refused")} == whole


def test_what_is_gone_is_what_the_leader_acknowledged_alone() -> None:
    """From 11:16:27.123 on its only follower stood still (the script's own word); what it had under way then may be there."""
    alone_ns = int(datetime.fromisoformat("2026-11-28T11:16:27.123Z").timestamp() * 1000) * 1_000_000
    with analyzer.read(DATA / "unclean_election_client.pcap.zst") as capture:
        (gone,) = (row for row in capture._dataset.metric("impact") if row["account"] == "data")
        rows = capture._dataset.query("SELECT * FROM exchanges WHERE api_name = 'Produce' AND status = 'answered'")
    acknowledged = [
        row
        for row in rows
        if row["broker_id"] == gone["broker_id"] and row["response_time_ns"] >= alone_ns and not row["error_count"]
    ]
    assert gone["is_over"]
    assert len(acknowledged) - 5 <= gone["times"] <= len(acknowledged)
    assert gone["last_time_ns"] == max(row["response_time_ns"] for row in acknowledged)


QUIET = [DATA / f"{name}.pcap.zst" for name in ("idle_cluster", "long_polls", "python_day")]
DAYS = sorted(DATA / f"{name}.pcap.zst" for name, truth in truths().items() if truth["kind"] == "healthy")


@pytest.mark.parametrize(
    "path", also_long(QUIET, [each for each in DAYS if each not in QUIET]), ids=lambda path: path.name
)
def test_nothing_is_found_only_below_all_limits(path: Path) -> None:
    """But of waits for other members, which every start of a group has."""
    with analyzer.read(path) as capture:
        found = find(capture._dataset)
        over = [row for row in capture._dataset.metric("impact") if row["is_over"] and row["account"] != "rebalance"]
    assert found or not over, over
