"""Record batches of Produce requests and of Fetch and ShareFetch replies: a row for each, made of headers.

Compiled stages find the records fields (`columns/walk`), read the headers and check the checksums (`columns/batch_rows`). Left
for this file are control batches, which say what they are, and compressed batches: those are opened, so that compression
ratios and the inside of legacy ones are known, within a budget for the whole run. `unopened` says why one was not. Batches
that the capture cut short are left out, and the last one of a reply, which brokers cut at the size they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.ingest.raw_tables import SIDES, Field, wanted
from analyzer.ingest.raw_writer import RawTable, Writer
from dissectors import layout
from dissectors.kafka.columns.batch_rows import BatchRows
from dissectors.kafka.messages.checksums import crc_fits, extend_crc32, extend_crc32c
from dissectors.kafka.messages.codecs import CODECS, CodecError, decompress
from dissectors.kafka.messages.records import Budget, read_records
from dissectors.kafka.messages.room import Room
from dissectors.matrix import new_matrix
from dissectors.numbering import words

if TYPE_CHECKING:
    from dissectors.kafka.columns.walk import Walker

# Not a power of two, as the rows of the pipeline.
_ROWS = 32_768 + 8
# Decompressed bytes of a whole run: half a second of work at most.
_BUDGET_BYTES = 256 << 20
# Of the messages of one batch that are objects at a time: 200,000 messages. Of a batch with more their number stays unknown.
_MOST_VALUES = 1_000_000
_MAGIC_2_HEADER_BYTES = 61

UNOPENED = words(vars(layout), "UNOPENED_")

FIELDS = (
    Field("exchange", layout.BATCH_EXCHANGE, "int64"),
    Field("part", layout.BATCH_PART, "int64"),
    Field("side", layout.BATCH_SIDE, SIDES),
    Field("topic", layout.BATCH_TOPIC, "text"),
    Field("topic_id", layout.BATCH_TOPIC_ID_HIGH, "uuid"),
    Field("partition", layout.BATCH_PARTITION, "int32"),
    Field("position", layout.BATCH_POSITION, "int32"),
    Field("base_offset", layout.BATCH_BASE_OFFSET, "int64"),
    Field("last_offset", layout.BATCH_LAST_OFFSET, "int64"),
    Field("magic", layout.BATCH_MAGIC, "int8"),
    Field("codec", layout.BATCH_CODEC, CODECS),
    Field("records", layout.BATCH_RECORDS, "int32"),
    Field("bytes", layout.BATCH_BYTES, "int64"),
    Field("uncompressed_bytes", layout.BATCH_UNCOMPRESSED, "int64", seldom=True),
    Field("unopened", layout.BATCH_UNOPENED, UNOPENED, seldom=True),
    Field("first_timestamp_ms", layout.BATCH_FIRST_TIMESTAMP, "int64", seldom=True),
    Field("max_timestamp_ms", layout.BATCH_MAX_TIMESTAMP, "int64", seldom=True),
    Field("timestamp_type", layout.BATCH_TIMESTAMP_TYPE, ("create", "log_append"), seldom=True),
    Field("producer_id", layout.BATCH_PRODUCER_ID, "int64"),
    Field("producer_epoch", layout.BATCH_PRODUCER_EPOCH, "int16"),
    Field("base_sequence", layout.BATCH_BASE_SEQUENCE, "int32"),
    Field("transactional", layout.BATCH_TRANSACTIONAL, "bool", seldom=True),
    Field("control", layout.BATCH_CONTROL, "bool", seldom=True),
    Field("control_type", layout.BATCH_CONTROL_TYPE, "text", seldom=True),
    Field("crc", layout.BATCH_CRC, "int64"),
    Field("crc_ok", layout.BATCH_CRC_OK, "bool", seldom=True),
)


class Batches:
    """Takes the records fields that the walker found in each batch of frames; the table `batches` grows in `folder`."""

    def __init__(self, folder: Path, writer: Writer, seldom: bool) -> None:
        self._table = RawTable(writer.path(folder, "batches"), wanted(FIELDS, seldom), writer)
        # What else there is to know of a batch is in columns that are `seldom`.
        self._reader = BatchRows(crc_fits, extend_crc32c, extend_crc32, headers_only=not seldom)
        self._matrix = new_matrix(layout.BATCH_COLUMNS, _ROWS)
        self._used = 0
        self._budget = Budget(_BUDGET_BYTES)

    @property
    def rows(self) -> int:
        """So far, those that are not written yet too."""
        return self._table.rows + self._used

    def move(self, folder: Path) -> None:
        """The rows so far were flushed; those from now on grow in `folder`."""
        self._table.move(folder)

    def take(self, frames: memoryview, block: memoryview, heap: bytearray, walker: Walker) -> None:
        """Takes what the walker found in its last batch of frames; of the buffers nothing is kept."""
        sets, rows = walker.rows_of_sets()
        number = walker.strings.number
        row, why = 0, layout.WHY_OUTPUT_FULL if rows else layout.WHY_DONE
        while why != layout.WHY_DONE:
            row, self._used, why = self._reader.feed(
                block, heap, frames, sets, rows, row, self._matrix, self._used, _ROWS
            )
            for each in self._reader.to_open:
                self._open(each, block, heap, number)
            self._reader.opens = self._budget.left > 0
            if self._used == _ROWS:
                self.flush(walker.texts())

    def flush(self, texts: list[bytes]) -> None:
        """Writes the rows so far; numbers of strings point into `texts`."""
        self._table.append(self._matrix, self._used, texts)
        self._used = 0

    def _open(self, row: int, block: memoryview, heap: bytearray, number: Callable[[bytes], int]) -> None:
        """What only the inside of a batch tells."""
        matrix = self._matrix
        begin = matrix[layout.BATCH_OFFSET, row]
        end = begin + matrix[layout.BATCH_BYTES, row]
        magic, codec = matrix[layout.BATCH_MAGIC, row], matrix[layout.BATCH_CODEC, row]
        with memoryview(heap if matrix[layout.BATCH_BUFFER, row] else block)[begin:end] as data:
            if matrix[layout.BATCH_CONTROL, row] == 1 and (control := self._control(data)) is not None:
                matrix[layout.BATCH_CONTROL_TYPE, row] = number(control.encode())
            if codec <= 0:
                return
            before = self._budget.left
            if before > 0 and magic == 2:
                matrix[layout.BATCH_UNCOMPRESSED, row] = self._opened(codec, data[_MAGIC_2_HEADER_BYTES:])
            elif before > 0:
                self._legacy(data, row)
        if matrix[layout.BATCH_UNCOMPRESSED, row] == layout.UNKNOWN:
            spent = self._budget.left <= 0  # by this batch or before
            matrix[layout.BATCH_UNOPENED, row] = layout.UNOPENED_BUDGET if spent else layout.UNOPENED_UNREADABLE

    def _control(self, data: memoryview) -> str | None:
        """What a control batch says; None when that cannot be read."""
        batches = read_records(data, full=True, budget=self._budget, room=Room(_MOST_VALUES)).batches
        records = batches[0].records if batches else None
        control = records[0].control if records else None
        return str(control["type"]).lower() if control else None

    def _opened(self, codec: int, data: memoryview) -> int:
        """Bytes after decompression, taken from the budget; unknown when they cannot be read or are too many."""
        try:
            size = len(decompress(codec, data, self._budget.left))
        except CodecError as error:
            self._budget.left -= min(error.tried_bytes, self._budget.left)
            return layout.UNKNOWN
        self._budget.left -= size
        return size

    def _legacy(self, data: memoryview, row: int) -> None:
        """What a compressed message holds: the messages inside, their offsets and number."""
        before = self._budget.left
        batches = read_records(
            data, full=True, budget=self._budget, room=Room(_MOST_VALUES, len(data) + before)
        ).batches
        if batches and batches[0].problem is None:
            records = batches[0].records or []
            self._matrix[layout.BATCH_UNCOMPRESSED, row] = before - self._budget.left
            self._matrix[layout.BATCH_RECORDS, row] = len(records)
            if records:
                # An old producer leaves the offset of the message around them at 0.
                self._matrix[layout.BATCH_BASE_OFFSET, row] = _of_log(records[0].offset)
                self._matrix[layout.BATCH_LAST_OFFSET, row] = _of_log(records[-1].offset)


def _of_log(offset: int | None) -> int:
    """An offset as columns have it: unknown where no log has it."""
    return layout.UNKNOWN if offset is None or abs(offset) > layout.HIGHEST_OFFSET else offset
