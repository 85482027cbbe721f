"""Reads the header of a record batch (magic 2) or of a legacy message (magic 0 and 1) into a row.

What only the records of a batch tell (the messages of a compressed message set, control records) is left to the caller. The
reference is `messages/records`; tests compare the two. Sources: as there.
"""

import cython

from dissectors.kafka.columns.batch_format import *
from dissectors.layout import *


@cython.cfunc
@cython.exceptval(-1)
def batch_bytes(data: cython.const[cython.uchar][::1], at: cython.longlong, end: cython.longlong) -> cython.longlong:
    """Bytes of the batch at `at` in a records field that ends at `end`; 0: the last one is incomplete, as brokers cut it at the
    size asked for, or damaged."""
    length: cython.longlong
    magic: cython.longlong
    if end - at <= MAGIC_OFFSET:
        return 0
    length = header_int32(data, at + 8)
    magic = data[at + MAGIC_OFFSET]
    if magic > 2 or length < (49 if magic == 2 else 14 + 8 * magic) or length > end - at - LOG_OVERHEAD:
        return 0
    return length + LOG_OVERHEAD


@cython.cfunc
@cython.exceptval(-1)
@cython.boundscheck(False)
def read_header(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    size: cython.longlong,
    out: cython.longlong[:, ::1],
    row: cython.longlong,
) -> cython.int:
    """Fills the columns of a row that the header of the batch data[at : at + size] tells: those behind BATCH_POSITION."""
    column: cython.longlong
    for column in range(BATCH_BASE_OFFSET, BATCH_COLUMNS):
        out[column, row] = UNKNOWN
    out[BATCH_BYTES, row] = size
    out[BATCH_LAST_OFFSET, row] = header_int64(data, at)
    if not -HIGHEST_OFFSET <= out[BATCH_LAST_OFFSET, row] <= HIGHEST_OFFSET:
        out[BATCH_LAST_OFFSET, row] = UNKNOWN
    out[BATCH_MAGIC, row] = magic_of(data, at)
    if out[BATCH_MAGIC, row] == 2:
        read_modern(data, at, out, row)
    else:
        read_legacy(data, at, out[BATCH_MAGIC, row], out, row)
    if out[BATCH_CODEC, row] >= KNOWN_CODECS:
        out[BATCH_CODEC, row] = UNKNOWN
        out[BATCH_UNOPENED, row] = UNOPENED_UNREADABLE
    return 0


@cython.cfunc
@cython.inline
@cython.exceptval(-1)
def magic_of(data: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    return data[at + MAGIC_OFFSET]


@cython.cfunc
@cython.exceptval(-1)
def read_modern(
    data: cython.const[cython.uchar][::1], at: cython.longlong, out: cython.longlong[:, ::1], row: cython.longlong
) -> cython.int:
    attributes: cython.longlong = data[at + 22]
    producer: cython.longlong = header_int64(data, at + 43)
    last: cython.longlong = header_int32(data, at + 23)
    count: cython.longlong = header_int32(data, at + 57)
    out[BATCH_CRC, row] = header_int32(data, at + 17) & MASK_32
    out[BATCH_CODEC, row] = attributes & 7
    out[BATCH_TIMESTAMP_TYPE, row] = (attributes >> 3) & 1
    out[BATCH_TRANSACTIONAL, row] = (attributes >> 4) & 1
    out[BATCH_CONTROL, row] = (attributes >> 5) & 1
    out[BATCH_BASE_OFFSET, row] = out[BATCH_LAST_OFFSET, row]
    if out[BATCH_BASE_OFFSET, row] >= 0 and last >= 0:
        out[BATCH_LAST_OFFSET, row] += last
    else:
        out[BATCH_LAST_OFFSET, row] = UNKNOWN
    out[BATCH_FIRST_TIMESTAMP, row] = header_int64(data, at + 27)
    out[BATCH_MAX_TIMESTAMP, row] = header_int64(data, at + 35)
    if producer != -1:
        out[BATCH_PRODUCER_ID, row] = producer
        out[BATCH_PRODUCER_EPOCH, row] = (data[at + 51] * 256 + data[at + 52] ^ 32768) - 32768
        out[BATCH_BASE_SEQUENCE, row] = header_int32(data, at + 53)
    if count >= 0:
        out[BATCH_RECORDS, row] = count
    if attributes & 7 == 0:
        out[BATCH_UNCOMPRESSED, row] = out[BATCH_BYTES, row] - HEADER_BYTES
    return 0


@cython.cfunc
@cython.exceptval(-1)
def read_legacy(
    data: cython.const[cython.uchar][::1],
    at: cython.longlong,
    magic: cython.longlong,
    out: cython.longlong[:, ::1],
    row: cython.longlong,
) -> cython.int:
    """A legacy message is a batch of one; how many messages a compressed one holds is not known here."""
    attributes: cython.longlong = data[at + 17]
    out[BATCH_CRC, row] = header_int32(data, at + 12) & MASK_32
    out[BATCH_CODEC, row] = attributes & 7
    if magic == 1:
        out[BATCH_TIMESTAMP_TYPE, row] = (attributes >> 3) & 1
        out[BATCH_MAX_TIMESTAMP, row] = header_int64(data, at + 18)
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
def header_int32(data: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    first: cython.longlong = data[at]
    second: cython.longlong = data[at + 1]
    third: cython.longlong = data[at + 2]
    return ((first ^ 128) - 128) * 16777216 + ((second << 16) | (third << 8) | data[at + 3])


@cython.cfunc
@cython.inline
@cython.exceptval(-4611686018427387905, check=True)
def header_int64(data: cython.const[cython.uchar][::1], at: cython.longlong) -> cython.longlong:
    low: cython.longlong = header_int32(data, at + 4) & MASK_32
    return header_int32(data, at) * 65536 * 65536 + low
