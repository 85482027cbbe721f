"""Reads headers of record batches (magic 2) and of legacy messages (magic 0 and 1) into columns.

Checksums, and what only the records of a batch tell (the messages of a compressed message set, control records), are left to
the caller. The reference is `messages/records`; tests compare the two. Sources: as there.
"""

import cython

from dissectors.kafka.columns.batch_format import *
from dissectors.layout import *


def scan(
    data: cython.const[cython.uchar][::1],
    start: cython.longlong,
    end: cython.longlong,
    position: cython.longlong,
    out: cython.longlong[:, ::1],
    used: cython.longlong,
    size: cython.longlong,
):
    """Reads the batches of a records field, data[start:end], into rows of `out` (BATCH_), which has `size` rows, from row `used`
    on.

    `position` is the BATCH_POSITION of the first batch. Returns (offset where it stopped, rows used): an offset before `end`
    when the output is full; `end` also when the last batch is incomplete, as brokers cut it at the size asked for, or damaged.
    """
    length: cython.longlong
    magic: cython.longlong
    column: cython.longlong
    at: cython.longlong = start
    if start < 0 or end > len(data):
        raise ValueError("a records field outside its buffer")
    while used < size:
        if end - at <= MAGIC_OFFSET:
            return end, used
        length = _int32(data, at + 8)
        magic = data[at + MAGIC_OFFSET]
        if magic > 2 or length < (49 if magic == 2 else 14 + 8 * magic) or length > end - at - LOG_OVERHEAD:
            return end, used
        for column in range(BATCH_POSITION, BATCH_COLUMNS):
            out[column, used] = UNKNOWN
        out[BATCH_POSITION, used] = position
        out[BATCH_MAGIC, used] = magic
        out[BATCH_BYTES, used] = length + LOG_OVERHEAD
        out[BATCH_LAST_OFFSET, used] = _int64(data, at)
        if magic == 2:
            _modern(data, at, out, used)
        else:
            _legacy(data, at, magic, out, used)
        at += length + LOG_OVERHEAD
        position += 1
        used += 1
    return at, used


@cython.cfunc
@cython.exceptval(-1)
def _modern(
    data: cython.const[cython.uchar][::1], at: cython.longlong, out: cython.longlong[:, ::1], row: cython.longlong
) -> cython.int:
    attributes: cython.longlong = data[at + 22]
    producer: cython.longlong = _int64(data, at + 43)
    last: cython.longlong = _int32(data, at + 23)
    count: cython.longlong = _int32(data, at + 57)
    out[BATCH_CRC, row] = _int32(data, at + 17) & MASK_32
    out[BATCH_CODEC, row] = attributes & 7
    out[BATCH_TIMESTAMP_TYPE, row] = (attributes >> 3) & 1
    out[BATCH_TRANSACTIONAL, row] = (attributes >> 4) & 1
    out[BATCH_CONTROL, row] = (attributes >> 5) & 1
    out[BATCH_BASE_OFFSET, row] = out[BATCH_LAST_OFFSET, row]
    if 0 <= out[BATCH_BASE_OFFSET, row] < HIGHEST_OFFSET and last >= 0:
        out[BATCH_LAST_OFFSET, row] += last
    else:
        out[BATCH_LAST_OFFSET, row] = UNKNOWN
    out[BATCH_FIRST_TIMESTAMP, row] = _int64(data, at + 27)
    out[BATCH_MAX_TIMESTAMP, row] = _int64(data, at + 35)
    if producer != -1:
        out[BATCH_PRODUCER_ID, row] = producer
        out[BATCH_PRODUCER_EPOCH, row] = (data[at + 51] * 256 + data[at + 52] ^ 32768) - 32768
        out[BATCH_BASE_SEQUENCE, row] = _int32(data, at + 53)
    if count >= 0:
        out[BATCH_RECORDS, row] = count
    if attributes & 7 == 0:
        out[BATCH_UNCOMPRESSED, row] = out[BATCH_BYTES, row] - HEADER_BYTES
    return 0


@cython.cfunc
@cython.exceptval(-1)
def _legacy(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    magic: cython.longlong,
    out: cython.longlong[:, ::1],
    row: cython.longlong,
) -> cython.int:
    """A legacy message is a batch of one; how many messages a compressed one holds is not known here."""
    attributes: cython.longlong = data[at + 17]
    out[BATCH_CRC, row] = _int32(data, at + 12) & MASK_32
    out[BATCH_CODEC, row] = attributes & 7
    if magic == 1:
        out[BATCH_TIMESTAMP_TYPE, row] = (attributes >> 3) & 1
        out[BATCH_MAX_TIMESTAMP, row] = _int64(data, at + 18)
        out[BATCH_FIRST_TIMESTAMP, row] = out[BATCH_MAX_TIMESTAMP, row]
    if attributes & 7 == 0:
        out[BATCH_BASE_OFFSET, row] = out[BATCH_LAST_OFFSET, row]
        out[BATCH_RECORDS, row] = 1
        out[BATCH_UNCOMPRESSED, row] = out[BATCH_BYTES, row]
    else:
        out[BATCH_FIRST_TIMESTAMP, row] = UNKNOWN
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-4611686018427387905, check=True)
def _int32(data: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    first: cython.longlong = data[at]
    second: cython.longlong = data[at + 1]
    third: cython.longlong = data[at + 2]
    return ((first ^ 128) - 128) * 16777216 + ((second << 16) | (third << 8) | data[at + 3])


@cython.cfunc
@cython.inline
@cython.exceptval(-4611686018427387905, check=True)
def _int64(data: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    low: cython.longlong = _int32(data, at + 4) & MASK_32
    return _int32(data, at) * 65536 * 65536 + low
