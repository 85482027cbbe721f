"""Plans for many captures: what one process must not be left with, and what must not grow with the square of their number."""

from __future__ import annotations

from collections import Counter
from functools import reduce
from operator import add
from pathlib import Path

import pytest
from capture_tools import pcap_file

from analyzer.distributed.plan import Task, capture_points, plan
from analyzer.ingest.summary import Summary, total
from analyzer.inputs import capture_heads
from analyzer.inputs.capture_heads import in_time_order
from analyzer.inputs.expansion import expand
from analyzer.inputs.sources import Beginning, Piece, Source
from analyzer.spark import stages


@pytest.mark.parametrize(
    ("name", "points"),
    [
        ("day/h{host}/x{number}.pcap", ["*/h0/*", "*/h1/*", "*/h2/*"]),
        ("day/kafka{host}-{number:05}.pcap.gz", ["kafka0-*", "kafka1-*", "kafka2-*"]),
        ("day/x{number}.pcap", []),
    ],
)
def test_hosts_are_told_apart_by_the_names_of_files(name: str, points: list[str]) -> None:
    names = [name.format(host=number % 3, number=number) for number in range(12)]
    assert [glob for _, glob in capture_points(names)] == points


def test_hosts_that_one_process_would_read_are_refused_with_advice(tmp_path: Path) -> None:
    """Their files cover the same time; with the capture points named as the advice says, nothing is refused."""
    for number in range(40):
        path = tmp_path / f"host{number % 4}" / f"{number:03}.pcap"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(pcap_file([bytes(1_000)] * 9))
    sources = in_time_order(expand([str(tmp_path / "*" / "*.pcap")]).sources)
    size = sum(source.size_bytes or 0 for source in sources)
    assert plan(sources, size // 4).refusal == ""
    refused = plan(sources, size // 40).refusal
    assert "39 files more cover the same time" in refused and "--tap 'host0=*/host0/*'" in refused
    taps = [(f"host{number}", f"*/host{number}/*") for number in range(4)]
    assert plan(sources, size // 40, taps).refusal == ""


def test_the_sum_of_many_summaries_is_that_of_adding_two_at_a_time() -> None:
    parts = [
        Summary({n % 3}, {n}, Counter({n % 5: 1}), n % 2, Counter({n: 2}), n == 7, n == 8, Counter(exchanges=n + 1))
        for n in range(20)
    ]
    assert total(parts) == reduce(add, parts)


@pytest.mark.parametrize("count", [1, stages.PACK_TASKS, 2 * stages.PACK_TASKS + 1])
def test_a_worker_of_spark_finds_its_task_among_all(count: int) -> None:
    tasks = [(Task((Piece(n, n, Source(f"capture{n}.pcap", size_bytes=n)),)), frozenset((n,))) for n in range(count)]
    packs = stages.packed_tasks(tasks)
    assert [stages.task_at(packs, place) for place in range(count)] == tasks


def test_objects_are_looked_at_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """In their order, whether listing them has looked into them or not."""
    monkeypatch.setattr(capture_heads, "MOST_WAITING", 2)
    looked: list[str] = []

    def first_look(source: Source) -> None:
        looked.append(source.name)
        source.beginning = Beginning(int(source.name), b"", int(source.name))

    monkeypatch.setattr(capture_heads, "first_look", first_look)
    names = [7, 3, 9, 1, 5]
    sources = [Source(str(name), size_bytes=1, uri=f"s3://x/{name}", is_packed=True) for name in names]
    sources[2].beginning = sources[3].beginning = Beginning(4, b"", 4)
    assert [source.name for source in in_time_order(sources)] == ["3", "9", "1", "5", "7"]
    assert sorted(looked) == ["3", "5", "7"]
    assert [peek.first_time_ns for peek in capture_heads.peek_all(sources)] == [7, 3, 4, 4, 5] and len(looked) == 3
