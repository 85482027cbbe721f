"""Record batches of Produce requests and of Fetch and ShareFetch replies: a row for each, made of headers.

Checksums are computed. A compressed batch of a legacy format is opened, since only its inside tells what it holds, and of
the others the first ones, so that compression ratios are known; both within a budget for the whole run. Batches of frames
that the capture cut short are left out, and the last one of a reply, which brokers cut at the size they were asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from analyzer.ingest.arrow_tables import arrow_table
from analyzer.ingest.raw_tables import SIDES, Field
from dissectors import layout
from dissectors.kafka.columns.batch_headers import scan
from dissectors.kafka.columns.field_reader import Reader, message_reader, wanted_fields
from dissectors.kafka.columns.frame_picker import Picked, pick, wanted_table
from dissectors.kafka.messages.checksums import crc_fits
from dissectors.kafka.messages.codecs import CODECS, CodecError, decompress
from dissectors.kafka.messages.records import Budget, read_records
from dissectors.kafka.messages.room import Room
from dissectors.matrix import new_matrix

if TYPE_CHECKING:
    import pyarrow as pa

# Not a power of two, as the rows of the pipeline.
_ROWS = 8_192 + 8
# Names of topics that are numbered before they go to the file.
_MOST_NAMES = 100_000
# Decompressed bytes of a whole run: half a second of work at most.
_BUDGET_BYTES = 256 << 20
# Of the messages of one batch that are objects at a time: 200,000 messages. Of a batch with more their number stays unknown.
_MOST_VALUES = 1_000_000
_MAGIC_2_HEADER_BYTES = 61

_PRODUCE, _FETCH, _SHARE_FETCH = 0, 1, 78
_FIELDS = {
    _PRODUCE: "topic_data(name topic_id partition_data(index records))",
    _FETCH: "responses(topic topic_id partitions(partition_index records))",
    _SHARE_FETCH: "responses(topic_id partitions(partition_index records))",
}

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
    Field("uncompressed_bytes", layout.BATCH_UNCOMPRESSED, "int64"),
    Field("first_timestamp_ms", layout.BATCH_FIRST_TIMESTAMP, "int64"),
    Field("max_timestamp_ms", layout.BATCH_MAX_TIMESTAMP, "int64"),
    Field("timestamp_type", layout.BATCH_TIMESTAMP_TYPE, ("create", "log_append")),
    Field("producer_id", layout.BATCH_PRODUCER_ID, "int64"),
    Field("producer_epoch", layout.BATCH_PRODUCER_EPOCH, "int16"),
    Field("base_sequence", layout.BATCH_BASE_SEQUENCE, "int32"),
    Field("transactional", layout.BATCH_TRANSACTIONAL, "bool"),
    Field("control", layout.BATCH_CONTROL, "bool"),
    Field("control_type", layout.BATCH_CONTROL_TYPE, "text"),
    Field("crc", layout.BATCH_CRC, "int64"),
    Field("crc_ok", layout.BATCH_CRC_OK, "bool"),
)


class Batches:
    """Takes batches of frames, as the collector of other facts does."""

    def __init__(self, write: Callable[[str, pa.Table], None]) -> None:
        self._write = write
        events = {_PRODUCE: layout.FRAME_REQUEST_SEEN, _FETCH: layout.FRAME_REPLY_SEEN}
        self._wanted = wanted_table([*events.items(), (_SHARE_FETCH, layout.FRAME_REPLY_SEEN)])
        self._readers: dict[tuple[int, int], Reader | None] = {}
        self._matrix = new_matrix(layout.BATCH_COLUMNS, _ROWS)
        self._used = 0
        self._flushed = 0
        self._names: dict[str, int] = {}
        self._budget = Budget(_BUDGET_BYTES)

    def take(self, frames: memoryview, rows: int, block: memoryview, heap: bytearray) -> None:
        """Takes one batch of frames that the walker has seen; of the buffers nothing is kept."""
        buffers = (block, heap)
        for frame in pick(frames, rows, self._wanted):
            if frame.readable:
                self._frame(frame, buffers[frame.buffer])

    def finish(self) -> None:
        """Hands on what is left."""
        self._flush()

    @property
    def positions(self) -> dict[str, int]:
        """Table -> rows so far."""
        return {"batches": self._flushed + self._used}

    def _frame(self, frame: Picked, buffer: memoryview | bytearray) -> None:
        key, version = frame.key, frame.version
        if (key, version) not in self._readers:
            side = "request" if key == _PRODUCE else "response"
            self._readers[key, version] = message_reader(key, version, side, wanted_fields(_FIELDS[key]))
        reader = self._readers[key, version]
        if reader is None:
            return
        fields, _ = reader.read(buffer, frame.begin, frame.end)
        common = (frame.exchange, frame.part, int(key != _PRODUCE))
        with memoryview(buffer) as data:
            for topic in fields.get("topic_data" if key == _PRODUCE else "responses") or ():
                name, topic_id = topic.get("name", topic.get("topic")), topic.get("topic_id")
                for each in topic.get("partition_data", topic.get("partitions")) or ():
                    place = each.get("records")
                    if place is not None and place[1]:
                        number = each.get("index", each.get("partition_index"))
                        self._field(data, place, common, name, topic_id, number)

    def _field(
        self,
        data: memoryview,
        place: tuple[int, int],
        common: tuple[int, int, int],
        name: str | None,
        topic_id: bytes | None,
        partition: int,
    ) -> None:
        at, end, position = place[0], place[0] + place[1], 0
        while at < end:
            if self._used == _ROWS:
                self._flush()
            first, batch = self._used, at
            at, self._used = scan(data, at, end, position, self._matrix, first, _ROWS)
            position += self._used - first
            values = (*common, layout.UNKNOWN if name is None else self._number(name), *_halves(topic_id), partition)
            for row in range(first, self._used):
                for column, value in enumerate(values):
                    self._matrix[column, row] = value
                size = self._matrix[layout.BATCH_BYTES, row]
                self._inside(data[batch : batch + size], row)
                batch += size

    def _inside(self, data: memoryview, row: int) -> None:
        """The checksum, and what only the inside tells."""
        matrix = self._matrix
        magic, codec = matrix[layout.BATCH_MAGIC, row], matrix[layout.BATCH_CODEC, row]
        matrix[layout.BATCH_CRC_OK, row] = int(crc_fits(data, magic))
        if codec >= len(CODECS):
            matrix[layout.BATCH_CODEC, row] = layout.UNKNOWN
        elif matrix[layout.BATCH_CONTROL, row] == 1:
            matrix[layout.BATCH_CONTROL_TYPE, row] = self._control(data)
        elif codec and self._budget.left > 0:
            if magic == 2:
                matrix[layout.BATCH_UNCOMPRESSED, row] = self._opened(codec, data[_MAGIC_2_HEADER_BYTES:])
            else:
                self._legacy(data, row)

    def _control(self, data: memoryview) -> int:
        """The number of the name of what a control batch says."""
        batches = read_records(data, full=True, budget=self._budget, room=Room(_MOST_VALUES)).batches
        records = batches[0].records if batches else None
        control = records[0].control if records else None
        return self._number(str(control["type"]).lower()) if control else layout.UNKNOWN

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
                self._matrix[layout.BATCH_BASE_OFFSET, row] = records[0].offset
                self._matrix[layout.BATCH_LAST_OFFSET, row] = records[-1].offset

    def _number(self, name: str) -> int:
        return self._names.setdefault(name, len(self._names))

    def _flush(self) -> None:
        if not self._used:
            return
        import pyarrow as pa

        table = arrow_table(FIELDS, self._matrix, self._used, pa.array(list(self._names), pa.string()))
        self._write("batches", table)
        self._flushed += self._used
        self._used = 0
        if len(self._names) > _MOST_NAMES:
            self._names.clear()


def _halves(topic_id: bytes | None) -> tuple[int, int]:
    if topic_id is None:
        return layout.UNKNOWN, layout.UNKNOWN
    return int.from_bytes(topic_id[:8], "big", signed=True), int.from_bytes(topic_id[8:], "big", signed=True)
