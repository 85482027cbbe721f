"""Raw tables as Parquet files, written in a thread beside the stages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analyzer.ingest.arrow_tables import arrow_table
from analyzer.ingest.raw_tables import Field
from dissectors.matrix import new_matrix

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    import pyarrow as pa

# Tables with a row for each message or record batch: of their int64 columns the first bytes of all values are written first, then
# the second ones, and so on (BYTE_STREAM_SPLIT). Times, numbers and sizes differ in their low bytes only: LZ4 then needs a third
# less time for them and leaves a third fewer bytes of exchanges. In other tables values repeat from row to row as they are.
SPLIT_BY_BYTES = ("raw_exchanges", "raw_batches")
# Values that Parquet's writer takes at a time: a row group. By its default of 1,024 calls take a tenth of the writing.
BATCH_VALUES = 1 << 16
# Columns with the least and the greatest value in the statistics of a row group: a question for others skips the group. By times
# an export is cut into slices.
WITH_STATISTICS = ("status", "error_code", "throttle_time_ms", "request_time_ns", "response_time_ns")
# Strings that are objects twice for a moment, as bytes and as text.
TEXTS_AT_A_TIME = 1 << 16
# Tables that wait for the thread; with more the stages wait.
MOST_WAITING = 4


def words(schema: pa.Schema) -> list[str]:
    """The columns of strings. A dictionary of numbers would take more time than all else of writing, and saves little."""
    import pyarrow as pa

    return [each.name for each in schema if pa.types.is_string(each.type) or pa.types.is_dictionary(each.type)]


def parquet_writer(path: Path, schema: pa.Schema, compression: str, statistics: Sequence[str] = ()) -> Any:
    """A writer of a raw table as the file at `path`."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    split = [each.name for each in schema if pa.types.is_int64(each.type)] if path.stem in SPLIT_BY_BYTES else []
    return pq.ParquetWriter(
        path,
        schema,
        use_dictionary=words(schema),
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT") or None,
        compression={name: "lz4" if name in split else compression for name in schema.names},
        write_statistics=list(statistics),
        write_batch_size=BATCH_VALUES,
    )


def draft(path: Path, schema: pa.Schema, packed: bool) -> Any:
    """A writer of batches that are read once more, soon. Packed they take a quarter of the disk, and a tenth of a task's time."""
    import pyarrow as pa

    options = pa.ipc.IpcWriteOptions(compression="lz4" if packed else None, use_threads=False)
    return pa.ipc.new_stream(path, schema, options=options)


class RawTable:
    """One raw table, which grows: takes matrices, hands row groups to the writer."""

    def __init__(self, path: Path, fields: Sequence[Field], writer: Writer) -> None:
        self.path = path
        self.fields = fields
        self.rows = 0
        self._writer = writer

    def append(self, matrix: memoryview, rows: int, strings: list[bytes]) -> None:
        """Takes a copy of the first `rows` rows of a matrix. `strings` may only be appended to between two calls."""
        if rows:
            self.rows += rows
            self._writer.write(self.path, self.fields, matrix, rows, strings)

    def move(self, folder: Path) -> None:
        """Rows from now on are those of a file of the same name in `folder`."""
        self.path, self.rows = folder / self.path.name, 0

    def complete(self) -> None:
        """Writes a file without rows where nothing was appended."""
        if self.rows == 0:
            columns = 1 + max(field.at + (field.type in ("uuid", "address")) for field in self.fields)
            self._writer.write(self.path, self.fields, new_matrix(columns, 1), 0, [])


class Writer:
    """Makes Arrow tables of matrices, and writes them as Parquet row groups in a thread of its own. As `drafts` they are streams of
    Arrow batches as they lie in memory, or `packed`, for a task, which reads them once more and keeps only some rows.

    Only the writing happens in the thread, as one long call that does not need the interpreter's lock: the stages hold the
    lock for a millisecond at a time, and many short steps would wait that long each. At most MOST_WAITING tables wait, so
    memory is bounded when the disk is slower than the stages. An error of the thread (a full disk) is raised by the next call.
    Where `discards` nothing is written: a pass for bodies alone has no reader of tables.
    """

    def __init__(self, drafts: bool = False, packed: bool = False, discards: bool = False) -> None:
        self._discards = discards
        self._drafts = drafts
        self._packed = packed
        self._pool: ThreadPoolExecutor | None = None
        self._files: dict[Path, Any] = {}
        self._waiting: list[Future[None]] = []
        self._texts = _Texts()

    def path(self, folder: Path, name: str) -> Path:
        """Where a raw table lies in a folder."""
        return folder / f"raw_{name}.{'arrows' if self._drafts else 'parquet'}"

    def write(self, path: Path, fields: Sequence[Field], matrix: memoryview, rows: int, strings: list[bytes]) -> None:
        """Queues one row group of the file at `path`."""
        if not self._discards:
            self.write_table(path, arrow_table(fields, matrix, rows, self._texts.array(strings)))

    def write_table(self, path: Path, table: pa.Table) -> None:
        """Queues an Arrow table as one row group."""
        if self._pool is None:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(1, "parquet")
        while len(self._waiting) >= MOST_WAITING:
            self._waiting.pop(0).result()
        self._waiting.append(self._pool.submit(self._file(path, table.schema).write_table, table))

    def _file(self, path: Path, schema: pa.Schema) -> Any:
        if path not in self._files and self._drafts:
            self._files[path] = draft(path, schema, self._packed)
        elif path not in self._files:
            statistics = [name for name in WITH_STATISTICS if name in schema.names]
            self._files[path] = parquet_writer(path, schema, "lz4", statistics)
        return self._files[path]

    def close(self) -> None:
        """Waits for the queue, completes the files and ends the thread; the next table begins both anew. Raises the first error of
        the thread."""
        try:
            for waiting in self._waiting:
                waiting.result()
        finally:
            self._waiting = []
            if self._pool is not None:
                self._pool.shutdown()
                self._pool = None
            while self._files:
                self._files.popitem()[1].close()


class _Texts:
    """The interned strings as an Arrow array that grows with them: each is decoded once."""

    def __init__(self) -> None:
        self._strings: list[bytes] = []
        self._array: pa.Array | None = None

    def array(self, strings: list[bytes]) -> pa.Array:
        """All of `strings`, a list that only grew since the last call, or another list. Bytes that are not UTF-8 are escaped."""
        import pyarrow as pa

        if self._array is None or strings is not self._strings:
            self._strings, self._array = strings, pa.array([], pa.string())
        if len(strings) > len(self._array):
            decoded = [self._array]
            for first in range(len(self._array), len(strings), TEXTS_AT_A_TIME):
                new = strings[first : first + TEXTS_AT_A_TIME]
                decoded.append(pa.array([text.decode("utf-8", "backslashreplace") for text in new], pa.string()))
            self._array = pa.concat_arrays(decoded)
        return self._array
