"""Shards of a capture give the rows of one process, and nobody waits for a worker that is gone."""

from __future__ import annotations

import os
import signal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from effort import also_long, in_turn
from made_capture import ACK, START_US, SYN, pcap, segment
from paths import ROOT, SAMPLES

from analyzer.base import workers
from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.ingest import pipeline
from analyzer.inputs.expansion import expand
from analyzer.inputs.input import Shard
from analyzer.inputs.sources import InputError
from analyzer.query.dataset import Dataset
from analyzer.run import local, one_pass, sharded_pass, strategy


@pytest.fixture(autouse=True)
def _forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests before this one left threads behind, beside which a run of kanalyze would begin interpreters: that takes longer."""
    monkeypatch.setattr(workers, "has_threads", lambda: False)


@cache
def alone(name: str) -> dict[str, list[str]]:
    """Every row of every table, read by one process."""
    with local.open_dataset([str(SAMPLES / name)], Options(jobs=1)) as found:
        return rows(found)


def rows(found: Dataset) -> dict[str, list[str]]:
    return {table: sorted(map(repr, found.arrow(f"select * from {table}").to_pylist())) for table in TABLES}


def tables(name: str, jobs: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    """The same, read by several; small captures are shared too."""
    if jobs > 1:
        monkeypatch.setattr(strategy, "is_small", lambda _: False)
    with local.open_dataset([str(SAMPLES / name)], Options(jobs=jobs)) as found:
        return rows(found)


@pytest.mark.parametrize(
    ("name", "jobs"),
    also_long(
        [("groups_classic.pcap.zst", 2), ("throttle.pcap.zst", 5)],
        [("groups_classic.pcap.zst", 5), ("throttle.pcap.zst", 2), ("ipv6.pcap.zst", 2), ("ipv6.pcap.zst", 5)],
    ),
)
def test_the_rows_are_those_of_one_process(name: str, jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = alone(name)
    assert sum(map(len, expected.values())) > 1_000
    together = tables(name, jobs, monkeypatch)
    for table in TABLES:
        assert together[table] == expected[table], table


def test_the_rows_are_those_of_one_process_beside_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = alone("throttle.pcap.zst")
    monkeypatch.setattr(workers, "has_threads", lambda: True)
    monkeypatch.setattr(workers.os, "fork", None)
    assert tables("throttle.pcap.zst", 2, monkeypatch) == expected


@pytest.mark.parametrize("name", also_long(["tls_stall_snap80"], ["nat_tls_java"]))
def test_silences_of_tls_without_keys_are_those_of_one_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(ROOT / "tests" / "data" / "incidents" / f"{name}.pcap.zst")
    expected = alone(path)
    assert len(expected["unread_silences"]) >= 4
    together = tables(path, 3, monkeypatch)
    for table in TABLES:
        assert together[table] == expected[table], table


@pytest.mark.parametrize("name", also_long(["throttle.pcap.zst"], ["groups_classic.pcap.zst"]))
def test_questions_find_what_stands_in_row_groups_of_its_own(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exchanges that failed or were throttled stand apart from the others, where there are several row groups."""
    expected = alone(name)
    monkeypatch.setattr(pipeline, "OUT_ROWS", 60)
    apart = tables(name, 1, monkeypatch)
    assert expected["errors"] or expected["mutes"]
    for table in TABLES:
        assert apart[table] == expected[table], table


CONNECTIONS = 3_000
# Number of a connection -> its ends: who conversations with whom in networks as people number them.
PLANS = {
    "ports of one client": lambda i: (0x0A000001, 40_000 + i, 0x0A0000FE, 9092),
    "every other port": lambda i: (0x0A000001, 32_768 + 2 * i, 0x0A0000FE, 9092),
    "clients with one port": lambda i: (0x0A000001 + i, 40_000, 0x0B0000FE, 9092),
    "networks that are copies": lambda i: (0x0A000001 + (i << 8), 40_000, 0x0A000002 + (i << 8), 9092),
    "copies of three brokers": lambda i: (
        0x0A000001 + (i // 3 << 8),
        40_000 + i % 3,
        0x0A000002 + (i // 3 << 8) + i % 3,
        9092,
    ),
}


@pytest.mark.parametrize(("plan", "count"), in_turn(PLANS, (2, 3, 4), every=3))
def test_shards_are_about_equal(plan: str, count: int, tmp_path: Path) -> None:
    """Networks are numbered in steps: no process may get most of the connections because of it."""
    ends = map(PLANS[plan], range(CONNECTIONS))
    capture = tmp_path / "syn.pcap"
    capture.write_bytes(pcap((START_US + number, segment(each, 1_000, 0, SYN)) for number, each in enumerate(ends)))
    parts = []
    for number in range(count):
        folder = tmp_path / str(number)
        folder.mkdir()
        _, pipeline = one_pass.read_captures(
            expand([str(capture)]).sources, folder, Options(), shard=Shard(number, count)
        )
        parts.append(pipeline.summary().rows["parts"])
    assert sum(parts) == CONNECTIONS
    assert min(parts) > 0.85 * CONNECTIONS / count, parts


@pytest.mark.parametrize("count", [2, 3])
def test_a_shard_of_many_segments_gets_no_more_connections(count: int, tmp_path: Path) -> None:
    """One connection may have a hundred times the packets of another: where all runs see the same, it is made up for."""
    capture = tmp_path / "acks.pcap"
    ends = [(0x0A000001, 40_000 + number, 0x0A0000FE, 9092) for number in range(200)]
    packets = [
        segment(each, 1_000 + sent, 0, ACK, b"x")
        for number, each in enumerate(ends)
        for sent in range(number * 37 % 100)
    ]
    capture.write_bytes(pcap((START_US + number, packet) for number, packet in enumerate(packets)))
    segments = []
    for number in range(count):
        folder = tmp_path / str(number)
        folder.mkdir()
        one_pass.read_captures(
            expand([str(capture)]).sources, folder, Options(), shard=Shard(number, count, weighed=True)
        )
        parts = pq.read_table(folder / "raw_parts.parquet").to_pylist()
        segments.append(sum(row["a_packets"] + row["b_packets"] for row in parts))
    assert sum(segments) == len(packets)
    assert max(segments) - min(segments) <= 100, segments


def test_one_busy_connection_does_not_leave_all_others_to_one_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shard has its part of the limit: with most of the connections it would give up some that one process would not."""
    capture = tmp_path / "busy.pcap"
    busy = (0x0A000001, 40_000, 0x0A0000FE, 9092)
    packets = [segment(busy, 1_000 + sent, 0, ACK, b"x") for sent in range(3_000)]
    for number in range(1_500):
        # With a byte each: connections of which only the SYN was seen are given up without a loss.
        packets.append(segment((0x0A000002 + (number << 8), 40_000, 0x0A0000FE, 9092), 1_000, 0, ACK, b"x"))
        packets += [segment(busy, 4_000 + 3 * number + sent, 0, ACK, b"x") for sent in range(3)]
    capture.write_bytes(pcap((START_US + number, packet) for number, packet in enumerate(packets)))
    monkeypatch.setattr(strategy, "is_small", lambda _: False)
    for limit, reached in ((2_000, False), (1_000, True)):
        for jobs in (1, 2, 3):
            with local.open_dataset([str(capture)], Options(jobs=jobs, max_connections=limit)) as found:
                assert any("limit" in line for line in found.warnings) == reached, (jobs, found.warnings)


@pytest.mark.parametrize(("names", "weighed"), [(["ipv6"], True), (["ipv6", "throttle"], False)])
def test_shards_of_several_inputs_are_not_weighed(
    names: list[str], weighed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs may be merged, and how far each is read then depends on the connections that a run takes."""
    met: list[Shard] = []

    def noted(*given: Any, shard: Shard, **more: Any) -> Any:
        met.append(shard)
        return read_captures(*given, shard=shard, **more)

    read_captures = one_pass.read_captures
    monkeypatch.setattr(sharded_pass, "read_captures", noted)
    monkeypatch.setattr(strategy, "is_small", lambda _: False)
    local.open_dataset([str(SAMPLES / f"{name}.pcap.zst") for name in names], Options(jobs=2)).close()
    assert met == [Shard(0, 2, weighed)]


def test_work_is_done_in_another_process() -> None:
    worker = workers.begin(os.getpid)
    assert workers.result(worker) not in (os.getpid(), None)


def test_what_a_worker_raises_is_raised_here() -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        workers.result(workers.begin(fail))


def test_a_worker_that_dies_is_told() -> None:
    worker = workers.begin(lambda: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(ChildProcessError, match="signal 9"):
        workers.result(worker)


def test_a_worker_can_be_ended() -> None:
    worker = workers.begin(signal.pause)
    workers.end(worker)
    with pytest.raises(ProcessLookupError):
        os.kill(worker.process, 0)


def test_what_one_process_could_not_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk may fail one reader of a capture and not the other: then connections are missing."""
    read_captures = one_pass.read_captures

    def failing(*args: Any, shard: Shard, **given: Any) -> Any:
        readings, pipeline = read_captures(*args, shard=shard, **given)
        if shard.number == 1:
            readings[0].failure = "throttle.pcap.zst: cannot be read: Input/output error"
        return readings, pipeline

    monkeypatch.setattr(sharded_pass, "read_captures", failing)
    with pytest.raises(InputError, match="Input/output error"):
        tables("throttle.pcap.zst", 2, monkeypatch)
