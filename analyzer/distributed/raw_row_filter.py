"""The raw rows of a task that count: those that were written between the two points of a span, and those of whole connections."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from analyzer.distributed.checkpoints import Span
from dissectors.kafka.columns.exchanges import mark_rows_in_ranges

# More rows than a table has.
EVERY = (1 << 63) - 1


class Ranges(NamedTuple):
    """The rows of one raw table that count, as `mark_rows_in_ranges` wants them."""

    first_part: int
    starts: array[int]
    begins: array[int]
    ends: array[int]

    def views(self) -> tuple[memoryview, memoryview, memoryview]:
        return memoryview(self.starts), memoryview(self.begins), memoryview(self.ends)


def ranges(spans: Iterable[Span], wholes: Iterable[int], first_part: int, last_part: int, table: int | None) -> Ranges:
    """Every row of the parts `wholes` counts; of `spans`, which are of other parts, those of the table whose place among their
    positions is `table`. None: spans have no rows in it."""
    found = Ranges(first_part, array("q", [0]), array("q"), array("q"))
    kept = []
    if table is not None:
        kept = [(span.part, span.one.positions[table], span.two.positions[table]) for span in spans]
    for part, begin, end in sorted([*kept, *((part, 0, EVERY) for part in wholes)]):
        found.starts.extend([len(found.begins)] * (part - first_part + 1 - len(found.starts)))
        found.begins.append(begin)
        found.ends.append(end)
    found.starts.extend([len(found.begins)] * (last_part - first_part + 2 - len(found.starts)))
    return found


def sift_file(source: Path, target: Path, which: Ranges, bodies: set[int]) -> int:
    """Copies the rows of a raw table that count; returns how many. Of bodies those count that a kept row of `told` names,
    which has been copied before."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    row = kept = 0
    with (
        pq.ParquetFile(source) as file,
        pq.ParquetWriter(target, file.schema_arrow, compression="lz4", write_statistics=False) as out,
    ):
        for batch in file.iter_batches():
            if "part" in file.schema_arrow.names:
                keep = bytearray(batch.num_rows)
                values = batch.column("part")
                parts = memoryview(values.buffers()[1]).cast("B").cast("q")[values.offset :][: batch.num_rows]
                mark_rows_in_ranges(parts, which.first_part, row, *which.views(), keep)
                mask = pc.equal(pa.Array.from_buffers(pa.uint8(), len(keep), [None, pa.py_buffer(keep)]), 1)
            else:
                mask = pc.is_in(batch.column("body"), pa.array(bodies, pa.int64()))
            row += batch.num_rows
            batch = batch.filter(mask)
            kept += batch.num_rows
            if "told" in source.name:
                bodies.update(batch.column("body").to_pylist())
            if batch.num_rows:
                out.write_batch(batch)
    return kept


def kinds_of_problems(source: Path) -> Counter[int]:
    """How often each number is among the problems of a raw table."""
    import pyarrow.parquet as pq

    return Counter(pq.read_table(source, columns=["kind"]).column("kind").to_pylist())
