"""A matrix of a stage as an Arrow table: UNKNOWN becomes null, numbers of strings become strings, codes become words.

Columns are converted as a whole, without a Python object per row. pyarrow.compute is not used: it takes longer to import than
a small capture takes to read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from analyzer.ingest.raw_tables import Field
from dissectors import arrow_buffers, layout
from dissectors.kafka.schema.lookup import api_name, api_names

if TYPE_CHECKING:
    import pyarrow as pa

# A Parquet row group holds the whole dictionary of a column. Up to so many strings that costs less than looking each up.
MOST_DICTIONARY_TEXTS = 4_096


def arrow_table(fields: Sequence[Field], matrix: memoryview, rows: int, texts: pa.Array) -> pa.Table:
    """Matrix rows [0, rows) as the columns that `fields` name; numbers of strings point into `texts`."""
    import pyarrow as pa

    made: dict[str, pa.Array] = {}
    for name, at, kind, _ in fields:
        if kind == "packet":
            split, number = _buffer(64, rows), _buffer(64, rows)
            arrow_buffers.halves(
                matrix, at, rows, layout.SPLIT_SHIFT, memoryview(split).cast("q"), memoryview(number).cast("q")
            )
            known = arrow_buffers.known_bits(matrix, at, rows)
            made[f"{name}_split"] = _array(pa.int64(), rows, known, split)
            made[f"{name}_number"] = _array(pa.int64(), rows, known, number)
        elif kind == "api":
            made[name] = _api_names(matrix, at, rows)
        elif kind == "text":
            made[name] = _texts(texts, matrix, at, rows)
        elif kind in ("uuid", "address"):
            made[name] = _texts_of_halves(matrix, at, rows, uuid_text if kind == "uuid" else address_text)
        elif isinstance(kind, tuple):
            words = pa.array(kind, pa.string())  # named: Arrow looks for a library of dates before it guesses a type
            made[name] = pa.DictionaryArray.from_arrays(_numbers(pa.int8(), matrix, at, rows), words)
        elif kind == "bool":
            made[name] = _booleans(matrix, at, rows)
        else:
            made[name] = _numbers(pa.type_for_alias(kind), matrix, at, rows)
    return pa.table(made)


def _buffer(bits: int, rows: int) -> pa.Buffer:
    """An uninitialised buffer for so many numbers of so many bits."""
    import pyarrow as pa

    return pa.allocate_buffer(rows * bits // 8)


def _array(kind: pa.DataType, rows: int, known: bytearray | None, values: pa.Buffer) -> pa.Array:
    """An Arrow array over a bitmap of the values that are not null, None when none is null, and the values."""
    import pyarrow as pa

    bits = None if known is None else pa.py_buffer(known)
    return pa.Array.from_buffers(kind, rows, [bits, values])


def _numbers(kind: pa.DataType, matrix: memoryview, at: int, rows: int) -> pa.Array:
    return _array(kind, rows, arrow_buffers.known_bits(matrix, at, rows), _values(kind.bit_width, matrix, at, rows))


def _values(bits: int, matrix: memoryview, at: int, rows: int) -> pa.Buffer:
    code, write = _WIDTHS[bits]
    values = _buffer(bits, rows)
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


def _texts(texts: pa.Array, matrix: memoryview, at: int, rows: int) -> pa.Array:
    """The strings that numbers mean. A small dictionary goes to the file as it is, of a large one what the rows need."""
    import pyarrow as pa

    if len(texts) <= MOST_DICTIONARY_TEXTS:
        return pa.DictionaryArray.from_arrays(_numbers(pa.int32(), matrix, at, rows), texts)
    numbers, first = _numbered(matrix, at, at, rows, zero=True)
    return pa.DictionaryArray.from_arrays(numbers, texts.take(pa.array([matrix[at, row] for row in first], pa.int32())))


def _numbered(matrix: memoryview, at: int, other: int, rows: int, zero: bool) -> tuple[pa.Array, memoryview]:
    """The number of each row's pair among the distinct ones, and the row where each comes first (`arrow_buffers.numbered`)."""
    import pyarrow as pa

    numbers = _buffer(32, rows)
    first, known = arrow_buffers.numbered(matrix, at, other, rows, zero, memoryview(numbers).cast("i"))
    return _array(pa.int32(), rows, known, numbers), first


def _api_names(matrix: memoryview, at: int, rows: int) -> pa.Array:
    """The name of each API key (`api_name`). Both ways make one type: all row groups of a file have it."""
    import pyarrow as pa

    known = dict(api_names())
    bits = arrow_buffers.bits_between(matrix, at, rows, 0, max(known))
    if bits == arrow_buffers.known_bits(matrix, at, rows):
        names = pa.array([api_name(key) for key in range(max(known) + 1)], pa.string())
        return pa.DictionaryArray.from_arrays(_array(pa.int32(), rows, bits, _values(32, matrix, at, rows)), names)
    numbers, first = _numbered(matrix, at, at, rows, zero=True)
    return pa.DictionaryArray.from_arrays(numbers, pa.array([api_name(matrix[at, row]) for row in first], pa.string()))


def _texts_of_halves(matrix: memoryview, at: int, rows: int, write: Callable[[int, int], str]) -> pa.Array:
    """Values of two 64-bit halves as text. Most values repeat, so each distinct one is converted once. The zero uuid, which
    means "none", is null; the zero address is an address.
    """
    import pyarrow as pa

    numbers, first = _numbered(matrix, at, at + 1, rows, zero=write is address_text)
    words = pa.array([write(matrix[at, row], matrix[at + 1, row]) for row in first], pa.string())
    return pa.DictionaryArray.from_arrays(numbers, words)


def address_text(high: int, low: int) -> str:
    """An address of two signed 64-bit halves as people write it; IPv4 is ::ffff:a.b.c.d inside."""
    low &= (1 << 64) - 1
    if high == 0 and low >> 32 == 0xFFFF:
        return ".".join(str(low >> shift & 255) for shift in (24, 16, 8, 0))
    from ipaddress import IPv6Address

    return str(IPv6Address((high & (1 << 64) - 1) << 64 | low))


def uuid_text(high: int, low: int) -> str:
    """A uuid of two signed 64-bit halves as Kafka prints it: 22 characters, base64url without padding."""
    from base64 import urlsafe_b64encode

    raw = (high & (1 << 64) - 1).to_bytes(8, "big") + (low & (1 << 64) - 1).to_bytes(8, "big")
    return urlsafe_b64encode(raw).decode().rstrip("=")
