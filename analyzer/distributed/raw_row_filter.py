"""Which raw rows of a task are kept: those written between the checkpoints of a span, and those of complete connections."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from analyzer.distributed.resolved_spans import Span
from analyzer.ingest.raw_writer import parquet_writer
from dissectors.kafka.columns.exchanges import mark_rows_in_ranges

if TYPE_CHECKING:
    import pyarrow as pa

# More rows than a table has.
ALL_ROWS = (1 << 63) - 1
# DuckDB's own: it reads a row group in one go.
GROUP_ROWS = 122_880


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


class KeptParts:
    """What is kept of the parts from `first_part` to `last_part`: all rows of the parts `complete`, and the rows of `spans`, which
    are of other parts. Of one part the spans come in their order."""

    def __init__(self, spans: Iterable[Span], complete: Iterable[int], first_part: int, last_part: int) -> None:
        self._first_part = first_part
        self._last_part = last_part
        whole: list[tuple[int, Span | None]] = [(part, None) for part in complete]
        self._complete = [part for part, _ in sorted(whole)]
        self._kept = sorted([*whole, *((span.part, span) for span in spans)], key=itemgetter(0))
        self._complete_starts = self._starts(self._complete)
        self._kept_starts = self._starts([part for part, _ in self._kept])

    def ranges(self, table: int | None) -> RowRanges:
        """Those of a raw table. `table` is its index in `SpanEdge.positions`; None: spans have no rows in it."""
        if table is None:
            count = len(self._complete)
            return RowRanges(
                self._first_part, self._complete_starts, array("q", [0]) * count, array("q", [ALL_ROWS]) * count
            )
        spans = [span for _, span in self._kept]
        begins = array("q", [span.begin.positions[table] if span else 0 for span in spans])
        ends = array("q", [span.end.positions[table] if span else ALL_ROWS for span in spans])
        return RowRanges(self._first_part, self._kept_starts, begins, ends)

    def _starts(self, parts: Sequence[int]) -> array[int]:
        """`RowRanges.starts` where range n is of part `parts[n]`."""
        found = array("q", [0])
        for place, part in enumerate(parts):
            found.extend([place] * (part - self._first_part + 1 - len(found)))
        found.extend([len(parts)] * (self._last_part - self._first_part + 2 - len(found)))
        return found


def keep_rows(
    source: Path,
    target: Path,
    ranges: RowRanges,
    bodies: set[int],
    strays: Sequence[int] = (),
    apart: Path | None = None,
) -> int:
    """Writes the rows of a draft (`raw_writer.Writer`) that are kept as a raw table; returns how many. A table without `part` has
    facts of bodies: kept are those in `bodies`, to which the kept rows of `reported`, copied before, add theirs. Kept rows of the
    exchanges `strays` go to the file `apart`."""
    import pyarrow as pa
    import pyarrow.compute as pc

    row = kept = 0
    strayed = pa.array(strays, pa.int64())
    with ExitStack() as undone:
        stream = undone.enter_context(pa.ipc.open_stream(undone.enter_context(pa.OSFile(str(source)))))
        out = undone.enter_context(_RowGroups(target, stream.schema))
        left = undone.enter_context(_RowGroups(apart, stream.schema)) if apart else None
        for batch in stream:
            keep = _kept(batch, row, ranges, bodies)
            row += batch.num_rows
            # Packets have no exchange, and stay.
            if left and "exchange" in batch.schema.names:
                strays_here = pc.and_(keep, pc.is_in(batch.column("exchange"), strayed))
                left.add(batch.filter(strays_here))
                keep = pc.and_not(keep, strays_here)
                kept += pc.sum(strays_here).as_py() or 0
            rows = batch.filter(keep)
            kept += rows.num_rows
            if "reported" in source.name:
                bodies.update(rows.column("body").to_pylist())
            out.add(rows)
    return kept


def keep_all_rows(source: Path, target: Path) -> None:
    """Writes a draft as a raw table."""
    import pyarrow as pa

    with pa.OSFile(str(source)) as data, pa.ipc.open_stream(data) as stream, _RowGroups(target, stream.schema) as out:
        for batch in stream:
            out.add(batch)


def _kept(batch: pa.RecordBatch, row: int, ranges: RowRanges, bodies: set[int]) -> pa.Array:
    """Which rows of a batch are kept. It begins with row `row` of its table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if "part" not in batch.schema.names:
        return pc.is_in(batch.column("body"), pa.array(bodies, pa.int64()))
    keep = bytearray(batch.num_rows)
    values = batch.column("part")
    parts = memoryview(values.buffers()[1]).cast("B").cast("q")[values.offset :][: batch.num_rows]
    mark_rows_in_ranges(parts, ranges.first_part, row, *ranges.memoryviews(), keep)
    return pc.equal(pa.Array.from_buffers(pa.uint8(), len(keep), [None, pa.py_buffer(keep)]), 1)


class _RowGroups:
    """A raw table whose row groups have about GROUP_ROWS rows, however few come at a time. It is written once, and then goes
    through several processes and disks: zstd takes a third less than LZ4."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._out = parquet_writer(path, schema, "zstd")

    def add(self, rows: pa.RecordBatch) -> None:
        """Takes rows; those of one row group at most wait."""
        if rows.num_rows:
            self._waiting.append(rows)
            self._rows += rows.num_rows
        if self._rows >= GROUP_ROWS:
            self._flush()

    def __enter__(self) -> _RowGroups:
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is None:
            self._flush()
        self._out.close()

    def _flush(self) -> None:
        import pyarrow as pa

        if self._waiting:
            # With one dictionary for all of it a column of words is written as numbers.
            self._out.write_table(pa.Table.from_batches(self._waiting).unify_dictionaries())
        self._waiting, self._rows = [], 0


def kinds_of_problems(source: Path) -> Counter[int]:
    """Problem number -> how often a raw table of problems has it."""
    import pyarrow.parquet as pq

    return Counter(pq.read_table(source, columns=["kind"]).column("kind").to_pylist())
