"""Fragments of many tasks in the order in which the stitch takes them, with bounded memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.distributed import fragments
from analyzer.query.table_views import parquet

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

# Memory for sorting the fragments of one process; the rest goes to disk.
SORTED_BYTES = 256 << 20
# DuckDB cannot sort rows with payloads beyond its memory, so it sorts only so many bytes of them at a time, a run.
RUN_BYTES = 100_000_000
# A row has about so many bytes beside its payload.
ROW_BYTES = 256
ROWS = 8_192
# A row group has about so many.
GROUP_BYTES = 4 << 20
# Runs end at multiples of so many rows, each of which may have 64 KB.
RUN_ROWS = 256


def written(batches: Iterable[pa.RecordBatch], path: Path) -> bool:
    """Writes fragments to a file; False: there are none. By their keys a run skips row groups, where a flow has many of them."""
    import pyarrow as pa
    from pyarrow.parquet import ParquetWriter

    rows = waiting_bytes = 0
    waiting: list[pa.RecordBatch] = []
    keys = ["flow", "number"]
    with ParquetWriter(path, fragments.schema(), use_dictionary=False, compression="lz4", write_statistics=keys) as out:
        for batch in batches:
            rows += batch.num_rows
            waiting.append(batch)
            waiting_bytes += batch.nbytes
            if waiting_bytes > GROUP_BYTES:
                out.write_table(pa.Table.from_batches(waiting))
                waiting, waiting_bytes = [], 0
        if waiting:
            out.write_table(pa.Table.from_batches(waiting))
    return rows > 0


def in_order(paths: Sequence[Path], scratch: Path, number: int = 0, of: int = 1) -> Iterator[pa.RecordBatch]:
    """The fragments of every `of`-th flow, from `number` on, of all files, sorted by flow and number: in runs of about RUN_BYTES,
    one after the other; a single flow may have several. What does not fit into memory goes to the folder `scratch`."""
    import duckdb
    from pyarrow.parquet import read_metadata

    limits: dict[str, Any] = {"memory_limit": f"{SORTED_BYTES}B", "temp_directory": str(scratch), "threads": 1}
    with duckdb.connect(":memory:", config=limits) as database:
        partition = f"FROM ({parquet(paths)}) WHERE flow % {of} = {number}"
        files = map(read_metadata, paths)
        size = sum(file.row_group(group).total_byte_size for file in files for group in range(file.num_row_groups))
        for run in _runs(database, partition) if size > RUN_BYTES else ["true"]:
            yield from database.sql(f"{partition} AND {run} ORDER BY flow, number").to_arrow_reader(ROWS)


def _runs(database: DuckDBPyConnection, partition: str) -> list[str]:
    """Conditions for the runs of a partition, in their order. Only keys are sorted for them: narrow rows, which may go to disk."""
    keys = f"SELECT flow, number, octet_length(payload) + {ROW_BYTES} AS size {partition} ORDER BY flow, number"
    runs, begin, size = [], "true", 0
    found = database.sql(keys).to_arrow_reader(ROWS)
    for batch in (rows.slice(at, RUN_ROWS) for rows in found for at in range(0, rows.num_rows, RUN_ROWS)):
        size += sum(batch["size"].to_pylist())
        if size >= RUN_BYTES:
            flow, row = batch["flow"][-1].as_py(), batch["number"][-1].as_py()
            runs.append(f"{begin} AND (flow < {flow} OR flow = {flow} AND number <= {row})")
            begin, size = f"(flow > {flow} OR flow = {flow} AND number > {row})", 0
    return [*runs, begin]
