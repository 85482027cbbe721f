"""Rows of exchanges of which several runs have some: a task writes them apart, and no row twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from parts_of_captures import content, cut, packets

from analyzer.base.options import Options
from analyzer.distributed import resolver
from analyzer.distributed.plan import Task
from analyzer.distributed.resolved_spans import RAW_OF_EXCHANGES, RAW_THAT_STAYS, STRAY
from analyzer.distributed.tasks import read_task


@pytest.mark.parametrize("most_plain_bytes", [0, resolver.MOST_PLAIN_BYTES])
def test_rows_are_those_of_a_task_that_keeps_them_together(
    most_plain_bytes: int, samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resolver, "LOOK_ROWS", 20)
    monkeypatch.setattr(resolver, "FRESH_BYTES", 500)
    raw = content(samples / "throttle.pcap.zst")
    count = len(packets(raw))
    task = cut(raw, tmp_path, [count // 3, 2 * count // 3])[1]
    together = _read(task, tmp_path / "together", False)
    monkeypatch.setattr(resolver, "MOST_PLAIN_BYTES", most_plain_bytes)
    apart = _read(task, tmp_path / "apart", True)
    straddling = {row for (row,) in _rows(together / "raw_straddling.parquet")}
    assert straddling and not _rows(apart / "raw_straddling.parquet")
    found = 0
    for path in together.glob("raw_*.parquet"):
        name = path.stem.removeprefix("raw_")
        stays = _rows(apart / path.name)
        if name in RAW_THAT_STAYS:
            strays = pq.read_table(apart / f"{STRAY}{name}.parquet")
            found += strays.num_rows
            assert name in RAW_OF_EXCHANGES or not strays.num_rows
            if name in RAW_OF_EXCHANGES:
                assert straddling >= set(strays["exchange"].to_pylist())
                assert straddling.isdisjoint(pq.read_table(apart / path.name)["exchange"].to_pylist())
            stays += _rows(apart / f"{STRAY}{name}.parquet")
        assert name == "straddling" or stays == _rows(path)
    assert found > 5


def _read(task: Task, folder: Path, strays_apart: bool) -> Path:
    folder.mkdir()
    read_task(task, folder, Options(), strays_apart=strays_apart)
    return folder


def _rows(path: Path) -> Counter[tuple[object, ...]]:
    return Counter(tuple(row.values()) for row in pq.read_table(path).to_pylist())
