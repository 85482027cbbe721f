"""How the fragments of runs are divided for the stitch, and how many partitions it has."""

from __future__ import annotations

from collections import Counter
from random import Random

import pyarrow as pa
import pytest

from analyzer.distributed import fragments
from analyzer.spark import rows
from analyzer.spark.dataflow import LEAST_PIECE_BYTES, MOST_PARTITIONS, STITCHED_BYTES, partitions_and_groups


def packs(table: pa.Table, batch_rows: int) -> list[pa.RecordBatch]:
    """Fragments as a run leaves them: rows whose only column is `batch`."""
    data = [rows.ipc(batch, "zstd") for batch in table.to_batches(max_chunksize=batch_rows)]
    return [pa.RecordBatch.from_arrays([pa.array([each], pa.binary())], names=["batch"]) for each in data]


@pytest.mark.parametrize("groups", [1, 2, 7, 300])
def test_each_fragment_is_in_the_group_of_its_flow(groups: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "DIVIDED_BYTES", 1 << 20)
    chance = Random(groups)
    flows = [0, (1 << 63) - 1, *(chance.getrandbits(63) for _ in range(100))]
    count = 5_000
    given = {
        "flow": chance.choices(flows, k=count),
        "number": range(count),
        "payload": [chance.randbytes(chance.choice((0, 1_460))) for _ in range(count)],
    }
    columns = {field.name: given.get(field.name, [0] * count) for field in fragments.schema()}
    table = pa.table(columns, schema=fragments.schema())
    divided = [piece for batch in rows.divided(packs(table, 700), groups) for piece in rows.tuples([batch])]
    assert {name for name, _, _ in divided} == {rows.FRAGMENTS}
    found = []
    for _, group, data in divided:
        with pa.ipc.open_stream(data) as stream:
            for batch in stream:
                assert {flow % groups for flow in batch["flow"].to_pylist()} == {group}
                found.append(batch)
    assert pa.Table.from_batches(found).sort_by("number").equals(table)
    # Of one group the pieces are few: Java carries each as a row.
    assert max(Counter(group for _, group, _ in divided).values()) <= 10


@pytest.mark.parametrize(
    ("runs", "run_bytes"), [(1, 0), (3, 2_000_000), (27, 2_500_000), (5_000, 3_000_000), (9, 1 << 30)]
)
def test_partitions_follow_from_what_runs_left(runs: int, run_bytes: int) -> None:
    """Each has about STITCHED_BYTES, unless the pieces of a run would be too small."""
    partitions, groups = partitions_and_groups([run_bytes] * runs)
    assert 1 <= partitions <= min(groups, MOST_PARTITIONS)
    size = runs * run_bytes
    if partitions > 1:
        assert run_bytes >= groups * LEAST_PIECE_BYTES
        assert size / partitions <= STITCHED_BYTES or partitions in (groups, MOST_PARTITIONS)
    else:
        assert size < STITCHED_BYTES
