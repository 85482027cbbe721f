"""Fragments in the order of the stitch, and how those of many tasks are divided for it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analyzer.distributed import fragments
from analyzer.distributed.sorted_fragments import in_order, written


def fragments_of(flows: Sequence[int], payload: bytes, path: Path) -> Path:
    """A file of fragments of these flows, numbered the other way round."""
    count = len(flows)
    given = {"flow": flows, "number": range(count, 0, -1), "payload": [payload] * count}
    columns = {field.name: given.get(field.name, [0] * count) for field in fragments.schema()}
    table = pa.table(columns, schema=fragments.schema())
    pq.write_table(table, path, use_dictionary=False, compression="lz4", write_statistics=False, row_group_size=3_500)
    return path


@pytest.mark.parametrize("most", [1, 50])
def test_more_large_fragments_than_fit_in_memory_are_sorted(most: int, tmp_path: Path) -> None:
    """Of many flows, and nearly all of a single one."""
    flows = [14 * (n * 31 % most) + (n % 9 == 0) for n in range(45_000)]
    path = fragments_of(flows, bytes(8_900), tmp_path / "a.parquet")
    found = [
        key
        for number in range(2)
        for batch in in_order([path], tmp_path, number, 2)
        for key in zip(batch["flow"].to_pylist(), batch["number"].to_pylist(), strict=True)
    ]
    expected = sorted(zip(flows, range(45_000, 0, -1), strict=True), key=lambda key: (key[0] % 2, *key))
    assert found == expected


def rows_of(keys: Sequence[tuple[int, int]], chance: Random) -> pa.Table:
    """Fragments with these flows and numbers."""
    given = {
        "flow": [flow for flow, _ in keys],
        "number": [number for _, number in keys],
        "payload": [chance.randbytes(chance.choice((0, 60, 1_460))) for _ in keys],
    }
    columns = {field.name: given.get(field.name, [0] * len(keys)) for field in fragments.schema()}
    return pa.table(columns, schema=fragments.schema())


@pytest.mark.parametrize("seed", range(5))
def test_what_is_written_comes_in_order(seed: int, tmp_path: Path) -> None:
    """Batches of many tasks, in any order."""
    chance = Random(seed)
    flows = [chance.getrandbits(63) for _ in range(40)]
    keys = [(chance.choice(flows), number) for number in range(20_000)]
    table = rows_of(chance.sample(keys, len(keys)), chance)
    path = tmp_path / "fragments.parquet"
    assert written(table.to_batches(max_chunksize=chance.choice((100, 8_192))), path)
    found = pa.Table.from_batches(in_order([path], tmp_path / "sorting"))
    assert found.equals(table.sort_by([("flow", "ascending"), ("number", "ascending")]))


def test_nothing_is_written_where_there_is_nothing(tmp_path: Path) -> None:
    assert not written([], tmp_path / "fragments.parquet")
