"""Column numbers of every batch that flows between two stages.

A batch is one int64 matrix, `batch[column, row]`, made by :func:`matrix`, plus the buffers that its offsets point into.
This file is the only place where a column gets its number: `setup.py` writes `layout.pxd` from it, so compiled stages
read the same names as C constants (a module-level Python int costs 2.5 times as much in a compiled loop).

Rules: times are int64 ns since the epoch; sizes are bytes; `UNKNOWN` stands for "not known"; offsets count from the start
of the named buffer (0 = the block just fed, 1 = the stage's own heap of this batch); a buffer lives until the next feed.
"""

from __future__ import annotations

import mmap

UNKNOWN = -9223372036854775808

# Above this bit a packet's number says in which split (part of a capture) it is, so that both fit one column of a batch.
SPLIT_SHIFT = 40

# Why a stage returned before its input was finished.
WHY_DONE = 0
WHY_OUTPUT_FULL = 1
WHY_NEED_PROGRAM = 2
WHY_HEAP_FULL = 3
WHY_ARENA_FULL = 4
WHY_DATAGRAM = 5  # the last row's bytes are not in the block but in a datagram put together from fragments

# Flags of TCP, as in the header (RFC 9293).
TCP_FIN = 1
TCP_SYN = 2
TCP_RST = 4
TCP_PSH = 8
TCP_ACK = 16

# packets: one row per packet of the capture file, in file order (pcap/pcapng -> packets).
PACKET_NUMBER = 0  # from 1, as Wireshark counts (within this input)
PACKET_TIME = 1
PACKET_OFFSET = 2  # of the link layer header, in the block
PACKET_CAPTURED = 3
PACKET_LENGTH = 4  # on the wire; >= captured, repaired when the file claims less
PACKET_LINK = 5  # LINKTYPE_ number
PACKET_INTERFACE = 6
PACKET_COLUMNS = 7

# segments: one row per TCP segment (packets -> streams). Addresses are two int64 (IPv4 as ::ffff:a.b.c.d).
SEGMENT_NUMBER = 0
SEGMENT_TIME = 1
SEGMENT_SRC_HIGH = 2
SEGMENT_SRC_LOW = 3
SEGMENT_DST_HIGH = 4
SEGMENT_DST_LOW = 5
SEGMENT_SRC_PORT = 6
SEGMENT_DST_PORT = 7
SEGMENT_SEQ = 8
SEGMENT_ACK = 9
SEGMENT_FLAGS = 10
SEGMENT_WINDOW = 11  # as in the header, not scaled
SEGMENT_OFFSET = 12  # of the payload, in the block
SEGMENT_CAPTURED = 13  # payload bytes that are there
SEGMENT_LENGTH = 14  # payload bytes on the wire
SEGMENT_TTL = 15
SEGMENT_IP_ID = 16  # of IPv4; where there is none (IPv6, or 0): -1 - TCP checksum, UNKNOWN when that was not captured
SEGMENT_SCOPE = 17  # keeps apart equal 4-tuples: a number per (tap, VLAN, tunnel); 0 the plain one
SEGMENT_INTERFACE = 18  # number of the input among those read at the same time * 2^20 + its interface
SEGMENT_PART = 19  # written by streams in a task only: the part that the segment belongs to, from 0
SEGMENT_COLUMNS = 20

# Outcome of each packet in the packets stage: index into its counters.
SEEN_TCP = 0
SEEN_NOT_IP = 1
SEEN_NOT_TCP = 2
SEEN_FRAGMENT = 3
SEEN_CUT = 4  # headers not captured in full
SEEN_MALFORMED = 5
SEEN_UNKNOWN_LINK = 6
SEEN_OUTCOMES = 7

# chunks: what reassembly hands on, per connection in causal order (streams -> frames).
CHUNK_KIND = 0
CHUNK_SLOT = 1  # connection slot; stable from OPEN to CLOSE
CHUNK_SIDE = (
    2  # 0: sent by the endpoint that sent the first packet seen (the SYN sender when there is one), 1: the other
)
CHUNK_BUFFER = 3
CHUNK_OFFSET = 4
CHUNK_LENGTH = 5  # bytes of stream; for a DATA chunk all of them are there
CHUNK_TIME = 6  # of the packet that first carried these bytes
CHUNK_NUMBER = 7  # packet number, same packet
CHUNK_SEQ = 8  # TCP sequence number of the first byte
CHUNK_DETAIL = 9  # OPEN: part number; GAP: GAP_ reason; END: END_ reason
# An OPEN row has no bytes; it uses three columns otherwise: CHUNK_OFFSET 1 when the connection began with a SYN (so side 0
# is the client and byte 0 is a frame boundary), CHUNK_LENGTH the port of side 0 * 65536 + the port of side 1, CHUNK_SEQ the
# flow: a hash of scope, addresses and ports that is equal in every run and split.
CHUNK_COLUMNS = 10

# taken: rows of chunks that left their batch because their connection speaks TLS, or took over the slot of one that does
# (tls -> tls_sessions). The columns of chunks, and two more.
TAKEN_TLS = 10  # 1: bytes of a TLS connection; 0: only kept in order behind one
TAKEN_PART = 11
TAKEN_DROPPED = 12  # in a CLOSE row, a pair: bytes of each side that were dropped because nothing can read them
TAKEN_COLUMNS = 14

CHUNK_OPEN = 0
CHUNK_DATA = 1
CHUNK_GAP = 2
CHUNK_END = 3  # this side sends no more (FIN, or RST which ends both sides)
CHUNK_CLOSE = 4  # the slot is free after this row

GAP_LOST = 1  # acknowledged by the peer, never captured
GAP_CUT = 2  # captured short (snaplen)
GAP_UNACKED = 3  # a hole still open at the end of the capture or connection
GAP_LIMIT = 4  # given up because a memory limit was reached

END_FIN = 1
END_RST = 2

# parts: one row per incarnation of a 4-tuple in this split (streams -> rows), written when its slot is freed.
# Side columns come in pairs: side 0 at the named column, side 1 right after it.
PART_NUMBER = 0
PART_SCOPE = 1
PART_A_HIGH = 2  # endpoint of side 0
PART_A_LOW = 3
PART_B_HIGH = 4
PART_B_LOW = 5
PART_A_PORT = 6
PART_B_PORT = 7
PART_FIRST_TIME = 8
PART_LAST_TIME = 9
PART_FIRST_NUMBER = 10
PART_LAST_NUMBER = 11
PART_SYN = 12  # bit 0: SYN seen, bit 1: SYN+ACK seen
PART_CLOSE = 13  # 0 none, else END_ reason (RST wins)
PART_RTT = 14  # ns; SYN to the SYN's ACK of the handshake, UNKNOWN when not seen
PART_SYN_ACK = 15  # ns from SYN to SYN+ACK, UNKNOWN when not seen
PART_ACK = 16  # ns from SYN+ACK to the handshake's ACK, UNKNOWN when not seen
PART_PACKETS = 17
PART_BYTES = 19  # payload bytes on the wire, retransmissions included
PART_STREAM = 21  # bytes of stream handed on as DATA
PART_RETRANSMITTED = 23  # segments that brought only bytes already seen
PART_REORDERED = 25  # segments that waited for an earlier one
PART_GAPS = 27
PART_GAP_BYTES = 29
PART_CONFLICTS = 31  # overlapping copies whose bytes differ
PART_ZERO_WINDOW = 33  # segments that announced a zero window
PART_DUPLICATES = 35  # segments captured twice: counted here and nowhere else
PART_START_SEQ = 37  # sequence number of the first stream byte of a side, UNKNOWN when none was seen
PART_LANE = 39  # 0, or higher where the same connection was captured at several points of its way: one part for each
PART_ORIGIN = 40  # SEGMENT_INTERFACE of its first packet
PART_POINT = 41  # tells apart points that have the same PART_ORIGIN
PART_COLUMNS = 42

# problems: things that could not be read (any stage -> rows).
PROBLEM_KIND = 0
PROBLEM_PART = 1  # UNKNOWN when it belongs to no connection
PROBLEM_NUMBER = 2  # packet number, UNKNOWN when unknown
PROBLEM_TIME = 3
PROBLEM_SIDE = 4
PROBLEM_OFFSET = 5  # byte offset: in the file, stream or frame, as the kind says
PROBLEM_BYTES = 6  # bytes lost or passed over
PROBLEM_DETAIL = 7
PROBLEM_COLUMNS = 8

# frames: one row per Kafka frame, and one per request that ended without a reply (frames -> walk -> exchanges).
FRAME_EVENT = 0
FRAME_SLOT = 1  # connection slot
FRAME_PART = 2
FRAME_REQUEST = 3  # place of the request in the pool of outstanding requests; the reply has the same; UNKNOWN: none
FRAME_BUFFER = 4
FRAME_OFFSET = 5  # of the frame's first byte after the length field
FRAME_HELD = 6  # bytes of it that are there, from its start
FRAME_LENGTH = 7  # as the length field says (without its own 4 bytes)
FRAME_KEY = 8
FRAME_VERSION = 9
FRAME_CORRELATION = 10
FRAME_FIRST_TIME = 11  # of the first byte of the length field
FRAME_LAST_TIME = 12
FRAME_NUMBER = 13  # packet of the first byte
FRAME_SEQ = 14  # TCP sequence number of the first byte
FRAME_SIDE = 15
FRAME_DECODED = 16  # DECODED_ of the body, set by walk
FRAME_STATUS = 17  # STATUS_ (events other than REQUEST)
FRAME_BODY = 18  # offset of the body from FRAME_OFFSET, set by walk; UNKNOWN when the header was cut
FRAME_ID = 19  # of the exchange: hash of flow, time and sequence number of its first byte; a reply has its request's
FRAME_COLUMNS = 20

FRAME_REQUEST_SEEN = 0  # a request: kept until its reply, or its end, comes
FRAME_REPLY_SEEN = 1  # a reply; FRAME_REQUEST names its request
FRAME_ORPHAN_SEEN = 2  # a reply that has no request
FRAME_REQUEST_ENDED = 3  # no reply will come: FRAME_STATUS says why; FRAME_REQUEST names it
FRAME_TOKEN_SEEN = 4  # a bare SASL token, or the broker's answer to one

STATUS_ANSWERED = 0
STATUS_NO_REPLY_EXPECTED = 1
STATUS_REPLY_LOST = 2
STATUS_PENDING = 3
STATUS_CLOSED = 4
STATUS_ABANDONED = 5
STATUS_ORPHAN_REPLY = 6

DECODED_NONE = 0
DECODED_FULL = 1
DECODED_HEADER = 2
DECODED_TRUNCATED = 3
DECODED_MALFORMED = 4
DECODED_UNSUPPORTED = 5

# talks: what framing found in a part (frames -> rows), one row when its slot is freed. Pairs are per side, as in parts.
TALK_PART = 0
TALK_CLIENT_SIDE = 1  # UNKNOWN when nothing said who is the client
TALK_PROTOCOL = 2  # PROTOCOL_
TALK_REQUESTS = 3
TALK_REPLIES = 4  # matched
TALK_ORPHANS = 5
TALK_TOKENS = 6  # frames of bare SASL tokens, both ways
TALK_CHAINED = 7  # not 0: a header stood exactly where the frame before it ended
TALK_STREAM = 8  # bytes received from reassembly = framed + all skipped
TALK_FRAMED = 10
TALK_SKIPPED = 12  # SKIP_REASONS pairs follow, by reason
TALK_FLOW = 24  # hash of scope, addresses and ports, as the OPEN row gave it
TALK_CONNECTION = 25  # id of the connection: hash of flow and first time
TALK_CUT = 26  # bytes that were on the wire and not kept, because of the capture's snap length
TALK_COLUMNS = 28

PROTOCOL_UNKNOWN = 0
PROTOCOL_KAFKA = 1
PROTOCOL_TLS = 2
PROTOCOL_OTHER = 3

# Why stream bytes belong to no frame: index of a pair of columns from TALK_SKIPPED on.
SKIP_UNSYNCED = 0  # before the first sure frame boundary
SKIP_LOST = 1  # after a gap, until the next sure boundary
SKIP_BAD = 2  # after a length or header that cannot be
SKIP_UNFINISHED = 3  # the frame did not end before the connection or the capture did
SKIP_NOT_KAFKA = 4
SKIP_HEADERLESS = 5  # frame bounds known, header lost in a gap
SKIP_REASONS = 6

# values: what walk reads from the body of frame row i, `values[column, i]`; UNKNOWN where the message has no such field.
# Text columns hold the number of an interned string.
VALUE_CLIENT_ID = 0  # text, from the request header
VALUE_THROTTLE_MS = 1
VALUE_ERROR_CODE = 2  # first that is not 0; 0 when all are 0; UNKNOWN when the message has no error field
VALUE_ERROR_COUNT = 3
VALUE_TOPICS = 4  # elements of topic arrays
VALUE_PARTITIONS = 5  # elements of partition arrays
VALUE_ACKS = 6
VALUE_MAX_WAIT_MS = 7
VALUE_MIN_BYTES = 8
VALUE_ISOLATION_LEVEL = 9
VALUE_SESSION_ID = 10
VALUE_SESSION_EPOCH = 11
VALUE_GROUP_ID = 12  # text
VALUE_MEMBER_ID = 13  # text
VALUE_TRANSACTIONAL_ID = 14  # text
VALUE_REPLICA_ID = 15
VALUE_TIMEOUT_MS = 16
VALUE_RECORD_BYTES = 17  # bytes in all records fields
VALUE_SOFTWARE_NAME = 18  # text
VALUE_SOFTWARE_VERSION = 19  # text
VALUE_MECHANISM = 20  # text
VALUE_GENERATION_ID = 21
VALUE_LEFTOVER = 22  # bytes after the end of the body
VALUE_COLUMNS = 23

# entries: one row per element of the message's row array (walk -> rows). A uuid is two int64.
ENTRY_FRAME = 0  # row of the frame in this batch
ENTRY_TOPIC = 1  # text
ENTRY_TOPIC_ID_HIGH = 2
ENTRY_TOPIC_ID_LOW = 3
ENTRY_PARTITION = 4
ENTRY_ERROR_CODE = 5
ENTRY_OFFSET = 6
ENTRY_HIGH_WATERMARK = 7
ENTRY_LAST_STABLE_OFFSET = 8
ENTRY_LOG_START_OFFSET = 9
ENTRY_RECORD_BYTES = 10
ENTRY_LEADER_EPOCH = 11
ENTRY_FORGOTTEN = 12  # 1: the partition leaves the fetch session
ENTRY_PREFERRED_READ_REPLICA = 13
ENTRY_TIMESTAMP = 14
ENTRY_NEXT_OFFSET = 15  # behind the last whole batch of the records field, as its header says
ENTRY_COLUMNS = 16

# errors: one row per error code that is not 0 (walk -> rows).
ERROR_FRAME = 0
ERROR_CODE = 1
ERROR_FIELD = 2  # number of the error field in its message: its path and level are in the program
ERROR_TOPIC = 3  # text
ERROR_TOPIC_ID_HIGH = 4
ERROR_TOPIC_ID_LOW = 5
ERROR_PARTITION = 6
ERROR_ENTITY = 7  # text: group, member, resource ..., what the schema gives the role @entity
ERROR_COLUMNS = 8


# rows: finished exchanges (exchanges -> Arrow), request and reply joined; columns in the order of the raw table.
ROW_EXCHANGE = 0
ROW_PART = 1
ROW_KEY = 2
ROW_VERSION = 3
ROW_CORRELATION = 4
ROW_STATUS = 5
ROW_TOKEN = 6  # 1: a bare SASL token
ROW_REQUEST_FIRST = 7
ROW_REQUEST_LAST = 8
ROW_RESPONSE_FIRST = 9
ROW_RESPONSE_LAST = 10
ROW_REQUEST_BYTES = 11  # whole frames: length field included
ROW_RESPONSE_BYTES = 12
ROW_REQUEST_NUMBER = 13
ROW_RESPONSE_NUMBER = 14
ROW_REQUEST_DECODED = 15
ROW_RESPONSE_DECODED = 16
ROW_CLIENT_ID = 17
ROW_THROTTLE_MS = 18
ROW_ERROR_CODE = 19
ROW_ERROR_COUNT = 20
ROW_TOPICS = 21
ROW_PARTITIONS = 22
ROW_ACKS = 23
ROW_MAX_WAIT_MS = 24
ROW_MIN_BYTES = 25
ROW_ISOLATION_LEVEL = 26
ROW_SESSION_ID = 27  # of the request
ROW_SESSION_EPOCH = 28
ROW_GROUP_ID = 29
ROW_MEMBER_ID = 30
ROW_TRANSACTIONAL_ID = 31
ROW_REPLICA_ID = 32
ROW_TIMEOUT_MS = 33
ROW_RECORD_BYTES = 34  # of both directions
ROW_SOFTWARE_NAME = 35
ROW_SOFTWARE_VERSION = 36
ROW_MECHANISM = 37
ROW_GENERATION_ID = 38
ROW_LEFTOVER = 39
ROW_QUEUE = 40  # ns between the request's last byte and the reply's first in which the connection's reply before was not at its end
ROW_MUTED = 41  # ns of the rest of that time in which a throttle time told before ran on
ROW_KIND = 42  # KIND_, set by kinds; UNKNOWN: of no kind
ROW_COLUMNS = 43

# What a request waits for, as far as it and its reply tell. The order is that of `analyzer.ingest.raw_tables.KINDS`.
KIND_SASL_TOKEN = 0
KIND_PRODUCE_ACKS_0 = 1
KIND_PRODUCE_ACKS_1 = 2
KIND_PRODUCE_ACKS_ALL = 3
KIND_PRODUCE_ACKS_UNKNOWN = 4
KIND_FETCH_RAFT = 5
KIND_FETCH_FOLLOWER = 6
KIND_FETCH_SESSION = 7
KIND_FETCH_ERROR = 8
KIND_FETCH_THROTTLED = 9
KIND_FETCH_EMPTY = 10
KIND_FETCH_NOW = 11
KIND_FETCH_UNKNOWN = 12  # what the other requests of its session say is not known here
KIND_JOIN_WAIT = 13
KIND_SYNC_WAIT = 14
KIND_WAIT = 15
KIND_FORWARDED = 16

# turns: what the exchanges stage remembers of a connection, `turns[slot, column]`, to tell a request's waits.
TURN_PART = 0
TURN_END = 1  # last byte of the newest reply; UNKNOWN: none seen, or it was lost
TURN_LOST = 2  # 1: the newest reply's end is not known
TURN_MUTED_UNTIL = 3  # end of the throttle time that the replies told; UNKNOWN: none
TURN_COLUMNS = 4

# rests: what a stage knows of a connection at a point of rest (streams, frames -> spans), as a list of numbers.
# Streams: two of the connection, then REST_SIDE_COLUMNS of side 0 and of side 1: what two runs must agree on, a count of
# problems, and those that add up, in the order of the PART_ pairs.
REST_TIME = 0
REST_NUMBER = 1
REST_SIDES = 2
REST_NEXT = 0
REST_ACK = 1
REST_TTL = 2
REST_PROBLEMS = 3
REST_COUNTS = 4
REST_SIDE_COLUMNS = 14
# Frames: the TALK_ columns, these, and REST_WAIT_COLUMNS for each request that waits for its reply.
REST_FROM_SYN = 28
REST_SPECIAL = 29  # requests whose facts need what others told
REST_LOSSES = 30  # a pair, as the next
REST_CORRELATION = 32
REST_WAITING = 34
REST_COLUMNS = 35
REST_WAIT_COLUMNS = 7

# A connection of a task that began with a bare SYN and was over by itself, and where both of its sides were then.
WHOLE_PART = 0
WHOLE_FLOW = 1
WHOLE_NUMBER = 2
WHOLE_FIRST_TIME = 3
WHOLE_LAST_TIME = 4
WHOLE_CLOSE = 5
WHOLE_SIDES = 6
WHOLE_STATE = 0
WHOLE_START = 1
WHOLE_NEXT = 2
WHOLE_TTL = 3
WHOLE_STREAM = 4
WHOLE_GAPS = 5
WHOLE_SIDE_COLUMNS = 6
WHOLE_COLUMNS = 18

# batches: one row per record batch or legacy message (headers -> rows). The first seven columns are the caller's.
BATCH_EXCHANGE = 0
BATCH_PART = 1
BATCH_SIDE = 2  # 0 request, 1 response
BATCH_TOPIC = 3  # number of a name of the caller's
BATCH_TOPIC_ID_HIGH = 4
BATCH_TOPIC_ID_LOW = 5
BATCH_PARTITION = 6
BATCH_POSITION = 7
BATCH_BASE_OFFSET = 8
BATCH_LAST_OFFSET = 9
BATCH_MAGIC = 10
BATCH_CODEC = 11
BATCH_RECORDS = 12
BATCH_BYTES = 13
BATCH_UNCOMPRESSED = 14
BATCH_FIRST_TIMESTAMP = 15
BATCH_MAX_TIMESTAMP = 16
BATCH_TIMESTAMP_TYPE = 17  # 0 create, 1 log append
BATCH_PRODUCER_ID = 18
BATCH_PRODUCER_EPOCH = 19
BATCH_BASE_SEQUENCE = 20
BATCH_TRANSACTIONAL = 21
BATCH_CONTROL = 22
BATCH_CONTROL_TYPE = 23  # number of a name of the caller's
BATCH_CRC = 24
BATCH_CRC_OK = 25
BATCH_COLUMNS = 26

# programs: what `program` writes and `walk` runs, a flat int32 code. Each operation is its number and its operands.
# A place is an index into the code, from the start of the program. `to` is a target: a VALUE_ column, a value inside an
# array (TO_ONCE + column: unknown again when it comes twice) or a register (TO_REGISTER + number, see REGISTER_); -1 none.
OP_END = 0  # registers, then each: forget it
OP_BODY = 1  # the header ends here
OP_UNSUPPORTED = 2  # no schema for what follows
OP_FIXED = 3  # bytes, loads, then (LOAD_, byte, to, also) each: fields of fixed size, checked at once
OP_SIZED = 4  # FORM_, USE_, to, also: a length and as many bytes
OP_ARRAY = 5  # FORM_, least bytes of an element, counted in (VALUE_ column or -1), TOUCH_ bits, place after it
OP_ITEMS = 6  # FORM_, bytes of an element, counted in: an array to be passed over at once
OP_NEXT = 7  # registers, then each: end of an element; forget these, go on with the next
OP_NULLABLE = 8  # place after the struct, which has a byte before it
OP_TAGS = 9  # place after the section, known tags, then (tag, place) each
OP_TAG_END = 10
OP_PATCH = 11  # registers, then each: give it to the error rows since the element began
OP_ROW = 12  # forgotten: write an entry
OP_DEFAULT = 13  # to, value: unless it was there

FORM_INT16 = 0
FORM_INT32 = 1
FORM_COMPACT = 2

USE_NOTHING = 0
USE_TEXT = 1
USE_RECORDS = 2

LOAD_INT8 = 0
LOAD_UINT8 = 1
LOAD_INT16 = 2
LOAD_UINT16 = 3
LOAD_INT32 = 4
LOAD_UINT32 = 5
LOAD_INT64 = 6
LOAD_UUID = 7
LOAD_ERROR = 8  # int16; `to` is the number of the field, `also` the register of its entity
LOAD_ROW_ERROR = 9  # an error that is also ENTRY_ERROR_CODE

TOUCH_PARTITIONS = 1  # a partitions array below: 0 partitions unless there are some
TOUCH_RECORDS = 2

TO_REGISTER = 32
TO_ONCE = 64

REGISTER_ENTITY = 16  # after the ENTRY_ columns: one for each level of nesting
REGISTERS = 32


def matrix(columns: int, rows: int) -> memoryview:
    """A zeroed int64 matrix `m[column, row]` over one buffer, the same object for compiled and plain stages.

    Of a large one the pages that nobody writes to never exist: a small capture fills little of it. Raises MemoryError.
    """
    return memoryview(_memory(8 * columns * rows)).cast("q", shape=[columns, rows])


def check_room(matrix: memoryview, columns: int, rows: int) -> None:
    """Raises ValueError unless the matrix has so many columns and rows at least. Who indexes it unchecked asks first."""
    has_columns, has_rows = matrix.shape or (0, 0)
    if has_columns < columns or has_rows < rows:
        raise ValueError(
            f"a matrix of {has_columns} columns and {has_rows} rows, where {columns} columns and {rows} rows are needed"
        )


def _memory(size: int) -> bytearray | mmap.mmap:
    """Zeroed bytes. Small ones are not worth a call of the kernel."""
    if size < 1 << 18:
        return bytearray(size)
    try:
        if not hasattr(mmap, "MAP_PRIVATE"):
            return mmap.mmap(-1, size)
        # A process that is forked off shall not write into the matrices of this one.
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except OSError as error:
        raise MemoryError(f"no {size:,} bytes for a matrix") from error
