"""Which raw rows of a task are kept: those written between the checkpoints of a span, and those of complete connections."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from analyzer.distributed.resolved_spans import Span
from analyzer.ingest.raw_writer import BATCH_VALUES, words
from dissectors.kafka.columns.exchanges import mark_rows_in_ranges

# More rows than a table has.
ALL_ROWS = (1 << 63) - 1
# What is kept is written once, and then goes through several processes and disks: zstd takes a third less than LZ4.
ZSTD_LEVEL = 1


class RowRanges(NamedTuple):
    """The rows of one raw table that are kept, by part, in the form that `exchanges.mark_rows_in_ranges` takes.

    Part `first_part` + n has the ranges from `starts[n]` up to `starts[n + 1]`; range r is rows [begins[r], ends[r]).
    """

    first_part: int
    starts: array[int]
    begins: array[int]
    ends: array[int]

    def memoryviews(self) -> tuple[memoryview, memoryview, memoryview]:
        return memoryview(self.starts), memoryview(self.begins), memoryview(self.ends)


def row_ranges(
    spans: Iterable[Span], complete: Iterable[int], first_part: int, last_part: int, table: int | None
) -> RowRanges:
    """All rows of the parts `complete`, and the rows of `spans`, which are of other parts. `table` is the index of the raw table
    in `SpanEdge.positions`; None: spans have no rows in it."""
    found = RowRanges(first_part, array("q", [0]), array("q"), array("q"))
    kept = []
    if table is not None:
        kept = [(span.part, span.begin.positions[table], span.end.positions[table]) for span in spans]
    for part, begin, end in sorted([*kept, *((part, 0, ALL_ROWS) for part in complete)]):
        found.starts.extend([len(found.begins)] * (part - first_part + 1 - len(found.starts)))
        found.begins.append(begin)
        found.ends.append(end)
    found.starts.extend([len(found.begins)] * (last_part - first_part + 2 - len(found.starts)))
    return found


def filter_file(source: Path, target: Path, ranges: RowRanges, bodies: set[int]) -> int:
    """Copies the rows of a raw table that are kept; returns how many. A table without `part` has facts of bodies: kept are those
    in `bodies`, to which the kept rows of `reported`, copied before, add theirs."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    row = kept = 0
    with (
        pq.ParquetFile(source) as file,
        pq.ParquetWriter(
            target,
            file.schema_arrow,
            use_dictionary=words(file.schema_arrow),
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            write_statistics=False,
            write_batch_size=BATCH_VALUES,
        ) as out,
    ):
        for batch in file.iter_batches():
            if "part" in file.schema_arrow.names:
                keep = bytearray(batch.num_rows)
                values = batch.column("part")
                parts = memoryview(values.buffers()[1]).cast("B").cast("q")[values.offset :][: batch.num_rows]
                mark_rows_in_ranges(parts, ranges.first_part, row, *ranges.memoryviews(), keep)
                mask = pc.equal(pa.Array.from_buffers(pa.uint8(), len(keep), [None, pa.py_buffer(keep)]), 1)
            else:
                mask = pc.is_in(batch.column("body"), pa.array(bodies, pa.int64()))
            row += batch.num_rows
            batch = batch.filter(mask)
            kept += batch.num_rows
            if "reported" in source.name:
                bodies.update(batch.column("body").to_pylist())
            if batch.num_rows:
                out.write_batch(batch)
    return kept


def kinds_of_problems(source: Path) -> Counter[int]:
    """Problem number -> how often a raw table of problems has it."""
    import pyarrow.parquet as pq

    return Counter(pq.read_table(source, columns=["kind"]).column("kind").to_pylist())
