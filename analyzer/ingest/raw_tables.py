"""Raw rows: what one split of a capture can know, as Parquet files that `resolve/*.sql` turns into the final tables.

A raw row names its connection by `part` (one incarnation of a 4-tuple as this run saw it) and a packet by (split, number in
the split). Batches of the compiled stages arrive as int64 matrices; UNKNOWN becomes null, text numbers become strings and
codes become words here, column by column, without a Python object per row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from dissectors import arrow_buffers, layout
from dissectors.kafka.schema.lookup import api_names
from dissectors.matrix import new_matrix
from dissectors.numbering import words

if TYPE_CHECKING:
    from concurrent.futures import Future

    import pyarrow as pa

STATUSES = words(vars(layout), "STATUS_")
DECODED = words(vars(layout), "DECODED_")
SIDES = ("request", "response")
PROTOCOLS = words(vars(layout), "PROTOCOL_")
CLOSES = ("none", "fin", "rst")
KINDS = words(vars(layout), "KIND_")

# A Parquet row group holds the whole dictionary of a column: up to so many strings that is less work than looking each up.
MOST_DICTIONARY_TEXTS = 4_096
# Columns of int64 in which no value is like the one before: LZ4 takes off a quarter of a time and nothing of an exchange's
# id, and needs longer for these than for all else that questions read.
NOT_PACKED = frozenset(("exchange", "request_time_ns", "request_end_ns", "response_time_ns", "response_end_ns"))
# Columns of which a row group tells the least and the greatest value: a question that asks for others passes it over.
TOLD_OF = ("status", "error_code", "throttle_time_ms")


class Field(NamedTuple):
    """One raw column, made of matrix column `at`.

    `type` is an Arrow alias; `text` (an interned string); `uuid` or `address` (with the next matrix column); `packet`
    (becomes NAME_split and NAME_number); `api` (the name of an API key); or a tuple of words, by number. No question of a
    large capture's report names what is `seldom`.
    """

    name: str
    at: int
    type: str | tuple[str, ...]
    seldom: bool = False


EXCHANGES = (
    Field("exchange", layout.ROW_EXCHANGE, "int64"),
    Field("part", layout.ROW_PART, "int64"),
    Field("api_key", layout.ROW_KEY, "int16"),
    Field("api_version", layout.ROW_VERSION, "int16"),
    Field("correlation_id", layout.ROW_CORRELATION, "int32", seldom=True),
    Field("status", layout.ROW_STATUS, STATUSES),
    Field("token", layout.ROW_TOKEN, "bool"),
    Field("api_name", layout.ROW_KEY, "api"),
    Field("request_time_ns", layout.ROW_REQUEST_FIRST, "int64"),
    Field("request_end_ns", layout.ROW_REQUEST_LAST, "int64"),
    Field("response_time_ns", layout.ROW_RESPONSE_FIRST, "int64"),
    Field("response_end_ns", layout.ROW_RESPONSE_LAST, "int64", seldom=True),
    Field("request_bytes", layout.ROW_REQUEST_BYTES, "int64", seldom=True),
    Field("response_bytes", layout.ROW_RESPONSE_BYTES, "int64", seldom=True),
    Field("request", layout.ROW_REQUEST_NUMBER, "packet"),
    Field("response", layout.ROW_RESPONSE_NUMBER, "packet"),
    Field("request_decoded", layout.ROW_REQUEST_DECODED, DECODED),
    Field("response_decoded", layout.ROW_RESPONSE_DECODED, DECODED),
    Field("client_id", layout.ROW_CLIENT_ID, "text"),
    Field("throttle_time_ms", layout.ROW_THROTTLE_MS, "int32"),
    Field("error_code", layout.ROW_ERROR_CODE, "int16"),
    Field("error_count", layout.ROW_ERROR_COUNT, "int32"),
    Field("topics", layout.ROW_TOPICS, "int32", seldom=True),
    Field("partitions", layout.ROW_PARTITIONS, "int32", seldom=True),
    Field("acks", layout.ROW_ACKS, "int16", seldom=True),
    Field("max_wait_ms", layout.ROW_MAX_WAIT_MS, "int32", seldom=True),
    Field("min_bytes", layout.ROW_MIN_BYTES, "int32"),
    Field("isolation_level", layout.ROW_ISOLATION_LEVEL, "int16", seldom=True),
    Field("session_id", layout.ROW_SESSION_ID, "int32", seldom=True),
    Field("session_epoch", layout.ROW_SESSION_EPOCH, "int32"),
    Field("group_id", layout.ROW_GROUP_ID, "text"),
    Field("member_id", layout.ROW_MEMBER_ID, "text", seldom=True),
    Field("transactional_id", layout.ROW_TRANSACTIONAL_ID, "text"),
    Field("replica_id", layout.ROW_REPLICA_ID, "int32"),
    Field("timeout_ms", layout.ROW_TIMEOUT_MS, "int32", seldom=True),
    Field("record_bytes", layout.ROW_RECORD_BYTES, "int64", seldom=True),
    Field("software_name", layout.ROW_SOFTWARE_NAME, "text"),
    Field("software_version", layout.ROW_SOFTWARE_VERSION, "text"),
    Field("mechanism", layout.ROW_MECHANISM, "text"),
    Field("generation_id", layout.ROW_GENERATION_ID, "int32", seldom=True),
    Field("leftover_bytes", layout.ROW_LEFTOVER, "int32", seldom=True),
    Field("queue_ns", layout.ROW_QUEUE, "int64"),
    Field("muted_ns", layout.ROW_MUTED, "int64"),
    Field("own_kind", layout.ROW_KIND, KINDS),
)

# Entries and errors have the LABEL_ columns behind those that the stage writes, by `exchanges.label`.
ENTRIES = (
    Field("exchange", layout.ENTRY_FRAME, "int64"),
    Field("part", layout.ENTRY_COLUMNS + layout.LABEL_PART, "int64"),
    Field("side", layout.ENTRY_COLUMNS + layout.LABEL_SIDE, SIDES),
    Field("topic", layout.ENTRY_TOPIC, "text"),
    Field("topic_id", layout.ENTRY_TOPIC_ID_HIGH, "uuid"),
    Field("partition", layout.ENTRY_PARTITION, "int32"),
    Field("error_code", layout.ENTRY_ERROR_CODE, "int16"),
    Field("offset", layout.ENTRY_OFFSET, "int64"),
    Field("high_watermark", layout.ENTRY_HIGH_WATERMARK, "int64"),
    Field("last_stable_offset", layout.ENTRY_LAST_STABLE_OFFSET, "int64"),
    Field("log_start_offset", layout.ENTRY_LOG_START_OFFSET, "int64"),
    Field("record_bytes", layout.ENTRY_RECORD_BYTES, "int64"),
    Field("leader_epoch", layout.ENTRY_LEADER_EPOCH, "int32"),
    Field("forgotten", layout.ENTRY_FORGOTTEN, "bool"),
    Field("preferred_read_replica", layout.ENTRY_PREFERRED_READ_REPLICA, "int32"),
    Field("timestamp_ms", layout.ENTRY_TIMESTAMP, "int64"),
    Field("next_offset", layout.ENTRY_NEXT_OFFSET, "int64"),
)

ERRORS = (
    Field("exchange", layout.ERROR_FRAME, "int64"),
    Field("part", layout.ERROR_COLUMNS + layout.LABEL_PART, "int64"),
    Field("side", layout.ERROR_COLUMNS + layout.LABEL_SIDE, SIDES),
    Field("code", layout.ERROR_CODE, "int16"),
    Field("api_key", layout.ERROR_COLUMNS + layout.LABEL_KEY, "int16"),
    Field("field", layout.ERROR_FIELD, "int32"),
    Field("entity", layout.ERROR_ENTITY, "text"),
    Field("topic", layout.ERROR_TOPIC, "text"),
    Field("topic_id", layout.ERROR_TOPIC_ID_HIGH, "uuid"),
    Field("partition", layout.ERROR_PARTITION, "int32"),
)

PROBLEMS = (
    Field("kind", layout.PROBLEM_KIND, "int16"),
    Field("part", layout.PROBLEM_PART, "int64"),
    Field("packet", layout.PROBLEM_NUMBER, "packet"),
    Field("time_ns", layout.PROBLEM_TIME, "int64"),
    Field("side", layout.PROBLEM_SIDE, "int16"),
    Field("offset", layout.PROBLEM_OFFSET, "int64"),
    Field("bytes_lost", layout.PROBLEM_BYTES, "int64"),
    Field("detail", layout.PROBLEM_DETAIL, "int64"),
)


def _pair(name: str, at: int) -> tuple[Field, Field]:
    """The columns of a pair: side 0 is `a` (it sent the first packet seen, the SYN when there is one), side 1 is `b`."""
    return Field(f"a_{name}", at, "int64"), Field(f"b_{name}", at + 1, "int64")


PARTS = (
    Field("part", layout.PART_NUMBER, "int64"),
    Field("a_address", layout.PART_A_HIGH, "address"),
    Field("b_address", layout.PART_B_HIGH, "address"),
    Field("a_port", layout.PART_A_PORT, "int32"),
    Field("b_port", layout.PART_B_PORT, "int32"),
    Field("first", layout.PART_FIRST_NUMBER, "packet"),
    Field("lane", layout.PART_LANE, "int64"),
    Field("origin", layout.PART_ORIGIN, "int64"),
    Field("point", layout.PART_POINT, "int64"),
    Field("first_time_ns", layout.PART_FIRST_TIME, "int64"),
    Field("last_time_ns", layout.PART_LAST_TIME, "int64"),
    Field("syn", layout.PART_SYN, "int16"),
    Field("close", layout.PART_CLOSE, CLOSES),
    Field("rtt_ns", layout.PART_RTT, "int64"),
    Field("syn_ack_ns", layout.PART_SYN_ACK, "int64"),
    Field("ack_ns", layout.PART_ACK, "int64"),
    *_pair("packets", layout.PART_PACKETS),
    *_pair("bytes", layout.PART_BYTES),
    *_pair("stream_bytes", layout.PART_STREAM),
    *_pair("retransmitted", layout.PART_RETRANSMITTED),
    *_pair("reordered", layout.PART_REORDERED),
    *_pair("gaps", layout.PART_GAPS),
    *_pair("gap_bytes", layout.PART_GAP_BYTES),
    *_pair("conflicts", layout.PART_CONFLICTS),
    *_pair("zero_windows", layout.PART_ZERO_WINDOW),
)

TALKS = (
    Field("part", layout.TALK_PART, "int64"),
    Field("connection", layout.TALK_CONNECTION, "int64"),
    Field("client_side", layout.TALK_CLIENT_SIDE, "int16"),
    Field("protocol", layout.TALK_PROTOCOL, PROTOCOLS),
    Field("requests", layout.TALK_REQUESTS, "int64"),
    Field("matched", layout.TALK_REPLIES, "int64"),
    Field("orphans", layout.TALK_ORPHANS, "int64"),
    Field("tokens", layout.TALK_TOKENS, "int64"),
    Field("chained", layout.TALK_CHAINED, "int64"),
    *_pair("stream_bytes", layout.TALK_STREAM),
    *_pair("framed_bytes", layout.TALK_FRAMED),
    *_pair("unsynced_bytes", layout.TALK_SKIPPED + 2 * layout.SKIP_UNSYNCED),
    *_pair("lost_bytes", layout.TALK_SKIPPED + 2 * layout.SKIP_LOST),
    *_pair("bad_bytes", layout.TALK_SKIPPED + 2 * layout.SKIP_BAD),
    *_pair("unfinished_bytes", layout.TALK_SKIPPED + 2 * layout.SKIP_UNFINISHED),
    *_pair("foreign_bytes", layout.TALK_SKIPPED + 2 * layout.SKIP_NOT_KAFKA),
    *_pair("headerless_bytes", layout.TALK_SKIPPED + 2 * layout.SKIP_HEADERLESS),
    *_pair("cut_bytes", layout.TALK_CUT),
)


def wanted(fields: Sequence[Field], seldom: bool) -> tuple[Field, ...]:
    """The fields of a table with or without those that are seldom asked for."""
    return tuple(field for field in fields if seldom or not field.seldom)


class RawTable:
    """Grows one raw table: takes matrices, hands row groups to the writer."""

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

    def complete(self) -> None:
        """A table without rows is a file too."""
        if self.rows == 0:
            columns = 1 + max(field.at + (field.type in ("uuid", "address")) for field in self.fields)
            self._writer.write(self.path, self.fields, new_matrix(columns, 1), 0, [])


def arrow_table(fields: Sequence[Field], matrix: memoryview, rows: int, texts: pa.Array) -> pa.Table:
    """The Arrow form of matrix rows [0, rows): columns as `fields` say, UNKNOWN as null, text by number from `texts`."""
    import pyarrow as pa

    made: dict[str, pa.Array] = {}
    for name, at, kind, _ in fields:
        if kind == "packet":
            split, number = _memory(64, rows), _memory(64, rows)
            arrow_buffers.halves(
                matrix, at, rows, layout.SPLIT_SHIFT, memoryview(split).cast("q"), memoryview(number).cast("q")
            )
            known = arrow_buffers.known_bits(matrix, at, rows)
            made[f"{name}_split"] = _array(pa.int64(), rows, known, split)
            made[f"{name}_number"] = _array(pa.int64(), rows, known, number)
        elif kind == "api":
            made[name] = _api_names(matrix, at, rows)
        elif kind == "text":
            made[name] = _texts(texts, _numbers(pa.int32(), matrix, at, rows))
        elif kind in ("uuid", "address"):
            write = uuid_text if kind == "uuid" else address_text
            made[name] = _written(
                _numbers(pa.int64(), matrix, at, rows), _numbers(pa.int64(), matrix, at + 1, rows), write
            )
        elif isinstance(kind, tuple):
            words = pa.array(kind, pa.string())  # named: Arrow looks for a library of dates before it guesses a type
            made[name] = pa.DictionaryArray.from_arrays(_numbers(pa.int8(), matrix, at, rows), words)
        elif kind == "bool":
            made[name] = _booleans(matrix, at, rows)
        else:
            made[name] = _numbers(pa.type_for_alias(kind), matrix, at, rows)
    return pa.table(made)


def _memory(bits: int, rows: int) -> pa.Buffer:
    """Room for so many numbers of so many bits, whatever stands there."""
    import pyarrow as pa

    return pa.allocate_buffer(rows * bits // 8)


def _array(kind: pa.DataType, rows: int, known: bytearray | None, values: pa.Buffer) -> pa.Array:
    """An Arrow array of its two buffers; no bits: all are known. The functions of pyarrow.compute would do the same, and
    take longer to import than a small capture takes to read."""
    import pyarrow as pa

    bits = None if known is None else pa.py_buffer(known)
    return pa.Array.from_buffers(kind, rows, [bits, values])


def _numbers(kind: pa.DataType, matrix: memoryview, at: int, rows: int) -> pa.Array:
    return _array(kind, rows, arrow_buffers.known_bits(matrix, at, rows), _values(kind.bit_width, matrix, at, rows))


def _values(bits: int, matrix: memoryview, at: int, rows: int) -> pa.Buffer:
    code, write = _WIDTHS[bits]
    values = _memory(bits, rows)
    write(matrix, at, rows, memoryview(values).cast(code))
    return values


_WIDTHS: dict[int, tuple[Literal["b", "h", "i", "q"], Callable[[memoryview, int, int, memoryview], None]]] = {
    8: ("b", arrow_buffers.int8s),
    16: ("h", arrow_buffers.int16s),
    32: ("i", arrow_buffers.int32s),
    64: ("q", arrow_buffers.int64s),
}


def _booleans(matrix: memoryview, at: int, rows: int) -> pa.Array:
    import pyarrow as pa

    true = arrow_buffers.bits_between(matrix, at, rows, 1, 1)
    values = pa.py_buffer(b"\xff" * -(-rows // 8) if true is None else true)
    return _array(pa.bool_(), rows, arrow_buffers.known_bits(matrix, at, rows), values)


def _texts(texts: pa.Array, numbers: pa.Array) -> pa.Array:
    """The strings that `numbers` stand for. Few distinct ones go to the file as they are, a dictionary and numbers."""
    import pyarrow as pa

    if len(texts) <= MOST_DICTIONARY_TEXTS:
        return pa.DictionaryArray.from_arrays(numbers, texts)
    return texts.take(numbers).dictionary_encode()


def _api_names(matrix: memoryview, at: int, rows: int) -> pa.Array:
    """The name of each API key; null for a key that Kafka does not have."""
    import pyarrow as pa

    known = dict(api_names())
    names = pa.array([known.get(key) for key in range(max(known) + 1)], pa.string())
    bits = arrow_buffers.bits_between(matrix, at, rows, 0, max(known))
    keys = _array(pa.int16(), rows, bits, _values(16, matrix, at, rows))
    return pa.DictionaryArray.from_arrays(keys, names)


def _written(high: pa.Array, low: pa.Array, write: Callable[[int | None, int | None], str | None]) -> pa.Array:
    """Text of values of two 64-bit halves: equal ones are many, so each is written out once."""
    import pyarrow as pa

    pairs = list(zip(high.to_pylist(), low.to_pylist(), strict=True))
    known = {pair: write(*pair) for pair in set(pairs)}
    return pa.array([known[pair] for pair in pairs], pa.string())


def address_text(high: int | None, low: int | None) -> str | None:
    """An address of two signed 64-bit halves as people write it; IPv4 is ::ffff:a.b.c.d inside."""
    if high is None or low is None:
        return None
    low &= (1 << 64) - 1
    if high == 0 and low >> 32 == 0xFFFF:
        return ".".join(str(low >> shift & 255) for shift in (24, 16, 8, 0))
    from ipaddress import IPv6Address

    return str(IPv6Address((high & (1 << 64) - 1) << 64 | low))


def uuid_text(high: int | None, low: int | None) -> str | None:
    """A uuid of two signed 64-bit halves as Kafka prints it (22 characters, base64url without padding); null, and the zero
    uuid that stands for "none", are null."""
    from base64 import urlsafe_b64encode

    if high is None or low is None or (high == 0 and low == 0):
        return None
    raw = (high & (1 << 64) - 1).to_bytes(8, "big") + (low & (1 << 64) - 1).to_bytes(8, "big")
    return urlsafe_b64encode(raw).decode().rstrip("=")


class Writer:
    """Makes Arrow tables of matrices, and writes them as Parquet row groups in a thread of its own beside the stages.

    Only the writing is done there, one long call that needs no Python: the stages hold the interpreter's lock for a
    millisecond at a time, and a thread of many short steps would wait that long for each. At most four tables wait, so
    memory stays bounded when the disk is slower than the stages. An error (a full disk) is raised by the next call.
    """

    def __init__(self) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._pool = ThreadPoolExecutor(1, "parquet")
        self._files: dict[Path, Any] = {}
        self._waiting: list[Future[None]] = []
        self._texts = _Texts()

    def write(self, path: Path, fields: Sequence[Field], matrix: memoryview, rows: int, strings: list[bytes]) -> None:
        """Queues one row group of the file at `path`."""
        self.write_table(path, arrow_table(fields, matrix, rows, self._texts.array(strings)))

    def write_table(self, path: Path, table: pa.Table) -> None:
        """The same for rows that are an Arrow table already."""
        while len(self._waiting) >= 4:
            self._waiting.pop(0).result()
        self._waiting.append(self._pool.submit(self._file(path, table.schema).write_table, table))

    def _file(self, path: Path, schema: pa.Schema) -> Any:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if path not in self._files:
            words = [f.name for f in schema if pa.types.is_string(f.type) or pa.types.is_dictionary(f.type)]
            packing = {name: "none" if name in NOT_PACKED else "lz4" for name in schema.names}
            told = [name for name in TOLD_OF if name in schema.names]
            self._files[path] = pq.ParquetWriter(
                path, schema, use_dictionary=words, compression=packing, write_statistics=told
            )
        return self._files[path]

    def close(self) -> None:
        """Waits for the queue and finishes the files. Raises the first error of the thread, if there was one."""
        try:
            for waiting in self._waiting:
                waiting.result()
        finally:
            self._waiting = []
            self._pool.shutdown()
            while self._files:
                self._files.popitem()[1].close()


class _Texts:
    """The interned strings as an Arrow array that grows with them: each is decoded once."""

    def __init__(self) -> None:
        self._strings: list[bytes] = []
        self._array: pa.Array | None = None

    def array(self, strings: list[bytes]) -> pa.Array:
        """All of `strings`, which only grew since the last call or is another list; what is not UTF-8 gets backslashes."""
        import pyarrow as pa

        if self._array is None or strings is not self._strings:
            self._strings, self._array = strings, pa.array([], pa.string())
        new = strings[len(self._array) :]
        if new:
            decoded = pa.array([text.decode("utf-8", "backslashreplace") for text in new], pa.string())
            self._array = pa.concat_arrays([self._array, decoded])
        return self._array
