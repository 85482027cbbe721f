"""The raw rows of a task that count: those that were written between the two points of a span."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from analyzer.points import Span
from dissectors.kafka.exchanges import sift


class Ranges(NamedTuple):
    """The rows of one raw table that spans have written, as `sift` wants them."""

    first_part: int
    starts: array[int]
    begins: array[int]
    ends: array[int]

    def views(self) -> tuple[memoryview, memoryview, memoryview]:
        return memoryview(self.starts), memoryview(self.begins), memoryview(self.ends)


def ranges(spans: Iterable[Span], first_part: int, last_part: int, table: int) -> Ranges:
    """`spans` are in the order of their parts."""
    found = Ranges(first_part, array("q", [0]), array("q"), array("q"))
    for span in spans:
        found.starts.extend([len(found.begins)] * (span.part - first_part + 1 - len(found.starts)))
        found.begins.append(span.one.positions[table])
        found.ends.append(span.two.positions[table])
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
                sift(parts, which.first_part, row, *which.views(), keep)
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
