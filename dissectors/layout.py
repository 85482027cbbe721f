"""Column numbers of every batch that flows between two stages.

A batch is one int64 matrix, `batch[column, row]` (`dissectors.matrix`), plus the buffers that its offsets point into. This
file is the only place where a column gets its name and its place: numbers follow from the order. `setup.py` gives the same
names to compiled stages as C constants.

Rules: times are int64 ns since the epoch; sizes are bytes; `UNKNOWN` means "not known"; offsets count from the start
of the named buffer (0 = the block just fed, 1 = the stage's own heap of this batch); a buffer lives until the next feed.
"""

from __future__ import annotations

from dissectors.numbering import Numbering

UNKNOWN = -9223372036854775808

# Offsets of a log beyond, and below its negative, are null in every batch: no log has them, and so the difference of two of them
# fits whatever computes it, twice as much too. Their message shows them as they are.
HIGHEST_OFFSET = 1 << 60

# Times of packets lie between 1970 and this, in April 2262: the difference of two fits an int64, and so does one and a day.
LATEST_TIME = (1 << 63) - (1 << 47)

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
_packet = Numbering()
PACKET_NUMBER = _packet.column()  # from 1, as Wireshark counts (within this input)
PACKET_TIME = _packet.column()
PACKET_OFFSET = _packet.column()  # of the link layer header, in the block
PACKET_CAPTURED = _packet.column()
PACKET_LENGTH = _packet.column()  # on the wire; >= captured, repaired when the file claims less
PACKET_LINK = _packet.column()  # LINKTYPE_ number
PACKET_INTERFACE = _packet.column()
PACKET_COLUMNS = _packet.count

# segments: one row per TCP segment (packets -> streams). Addresses are two int64 (IPv4 as ::ffff:a.b.c.d).
_segment = Numbering()
SEGMENT_NUMBER = _segment.column()
SEGMENT_TIME = _segment.column()
SEGMENT_SRC_HIGH = _segment.column()
SEGMENT_SRC_LOW = _segment.column()
SEGMENT_DST_HIGH = _segment.column()
SEGMENT_DST_LOW = _segment.column()
SEGMENT_SRC_PORT = _segment.column()
SEGMENT_DST_PORT = _segment.column()
SEGMENT_SEQ = _segment.column()
SEGMENT_ACK = _segment.column()
SEGMENT_FLAGS = _segment.column()
SEGMENT_WINDOW = _segment.column()  # as in the header, not scaled
SEGMENT_OFFSET = _segment.column()  # of the payload, in the block
SEGMENT_CAPTURED = _segment.column()  # payload bytes that are there
SEGMENT_LENGTH = _segment.column()  # payload bytes on the wire
SEGMENT_HEADERS = _segment.column()  # bytes before the payload, from the IP header on; of fragments all their headers
SEGMENT_TTL = _segment.column()
SEGMENT_IP_ID = _segment.column()  # of IPv4; where there is none (IPv6, or 0): -1 - TCP checksum; UNKNOWN: not captured
SEGMENT_TAP = (
    _segment.column()
)  # number of the named capture point, which keeps apart equal 4-tuples; 0: none was named
SEGMENT_SCOPE = _segment.column()  # number of (tap, VLAN, tunnel): each direction and each view may have its own
SEGMENT_INTERFACE = _segment.column()  # number of the input among those read at the same time * 2^20 + its interface
SEGMENT_CHECKSUM = _segment.column()  # CHECKSUM_ code
SEGMENT_TSVAL = _segment.column()  # TCP timestamp of the sender (RFC 7323), 32 bits; UNKNOWN: none, or not captured
SEGMENT_OPTIONS = _segment.column()  # OPTION_ bits; of a SYN also the window scale + 1 << 8 and the MSS << 16, 0: none
SEGMENT_PART = _segment.column()  # written by streams in a task only: the part that the segment belongs to, from 0
SEGMENT_COLUMNS = _segment.count

# What the TCP checksum of a segment says. Unknown: not captured in full, left to the network card, or nothing depends on it.
CHECKSUM_UNKNOWN = 0
CHECKSUM_RIGHT = 1
CHECKSUM_WRONG = 2

OPTION_SACK = 1  # it acknowledges blocks behind a hole (RFC 2018)

# Outcome of each packet in the packets stage: index into its counters.
SEEN_TCP = 0
SEEN_NOT_IP = 1
SEEN_NOT_TCP = 2
SEEN_FRAGMENT = 3
SEEN_CUT = 4  # headers not captured in full
SEEN_MALFORMED = 5
SEEN_UNKNOWN_LINK = 6
SEEN_OUTCOMES = SEEN_UNKNOWN_LINK + 1

# chunks: what reassembly hands on, per connection in causal order (streams -> frames).
_chunk = Numbering()
CHUNK_KIND = _chunk.column()
CHUNK_SLOT = _chunk.column()  # connection slot; stable from OPEN to CLOSE
CHUNK_SIDE = (
    _chunk.column()
)  # 0: sent by the endpoint that sent the first packet (of the SYN where there is one), 1: the other
CHUNK_BUFFER = _chunk.column()
CHUNK_OFFSET = _chunk.column()
CHUNK_LENGTH = _chunk.column()  # bytes of stream; for a DATA chunk all of them are there
CHUNK_TIME = _chunk.column()  # of the packet that first carried these bytes
CHUNK_NUMBER = _chunk.column()  # packet number, same packet
CHUNK_SEQ = _chunk.column()  # TCP sequence number of the first byte
CHUNK_DETAIL = _chunk.column()  # OPEN: part number; GAP: GAP_ reason; END: END_ reason
# The way columns, from CHUNK_LAG to the last: what the packet that brought the bytes, and those before it, show of its way
# (`dissectors.tcp.timing`). Only a DATA chunk has them, and bytes that were cut (GAP_CUT). Marks, CHUNK_COVERS and the number and
# time of an ACK are 0 where there is none, the others UNKNOWN. Framing keeps those of the first byte of each frame.
CHUNK_LAG = _chunk.column()  # ns from the sender's TCP timestamp to the capture, modulo LAG_RANGE
CHUNK_HELD = (
    _chunk.column()
)  # it was kept back by its sender if it was longer than this in queues, ns; UNKNOWN: it was not
CHUNK_MARKS = _chunk.column()  # MARK_ bits
CHUNK_COVERS = (
    _chunk.column()
)  # newest packet of the other side, by number, all of whose bytes the sender has acknowledged
CHUNK_ACK_NUMBER = _chunk.column()  # the same of an ACK without data that the sender sent since its chunk before
CHUNK_ACK_TIME = _chunk.column()
CHUNK_ACK_LAG = _chunk.column()
WAY_COLUMNS = _chunk.count - CHUNK_LAG
# An OPEN row has no bytes; it uses three columns otherwise: CHUNK_OFFSET 1 when the connection began with a SYN (so side 0
# is the client and byte 0 is a frame boundary), CHUNK_LENGTH the port of side 0 * 65536 + the port of side 1, CHUNK_SEQ the
# flow: a hash of scope, addresses and ports that is equal in every run and split.
# An OPENING row takes the place of CHUNK_LENGTH bytes of a side, which came before Kafka: CHUNK_DETAIL is their OPENING_ kind,
# CHUNK_OFFSET and CHUNK_SEQ the two halves of the address that they name (UNKNOWN: none).
CHUNK_COLUMNS = _chunk.count

# waiting: rows of chunks that left their batch because their connection may begin with an opening (opening_rows -> openings).
# The columns of chunks, and two more.
_waiting = Numbering(CHUNK_COLUMNS)
WAITING_HELD = _waiting.column()  # 1: of a connection that may begin with an opening; 0: only kept in order behind one
WAITING_PART = _waiting.column()
WAITING_COLUMNS = _waiting.count

# taken: rows of chunks that left their batch because their connection speaks TLS, or took over the slot of one that does
# (tls -> tls_sessions). The columns of chunks, and two more.
_taken = Numbering(CHUNK_COLUMNS)
TAKEN_TLS = _taken.column()  # 1: bytes of a TLS connection; 0: only kept in order behind one
TAKEN_PART = _taken.column()
TAKEN_DROPPED = (
    _taken.pair()
)  # in a CLOSE row, a pair: bytes of each side that were dropped because nothing can read them
TAKEN_COLUMNS = _taken.count

CHUNK_OPEN = 0
CHUNK_DATA = 1
CHUNK_GAP = 2
CHUNK_END = 3  # this side sends no more (FIN, or RST which ends both sides)
CHUNK_CLOSE = 4  # the slot is free after this row
CHUNK_OPENING = 5  # bytes before Kafka: taken out of the stream (openings -> tls, frames)

OPENING_PROXY_V1 = 0
OPENING_PROXY_V2 = 1
OPENING_SOCKS4 = 2
OPENING_SOCKS5 = 3
OPENING_HTTP_CONNECT = 4

# Bits of CHUNK_MARKS, and of FRAME_MARKS and ROW_MARKS, which say more.
MARK_REPEAT = 1  # it was sent again, or fills a hole
MARK_JUMP = 2  # packets of its sender are missing before it, as the IP ids tell: an earlier copy may have been lost
MARK_IDLE = 4  # little was under way with it, and nothing had been repeated
MARK_PROMPT = 8  # the ACK without data was sent at once, as the bytes that it covers ask for it
MARK_HELD = 16  # it was kept back, by the least lag known so far
MARK_PEER_REPEATED = 32  # of what it may acknowledge something was sent again
MARK_SHARED = 64  # a reply that begins in the packet in which the reply before it ends
MARK_COVERED = 128  # the reply before it acknowledged the request
MARK_BEHIND_SILENT = 256  # a request without a reply (acks=0) came shortly before
MARK_BEHIND_HELD = 512  # the reply before it was kept back, or may have been
MARK_ASKED_AGAIN = 1024  # a packet of the request was sent again, or filled a hole
MARK_BEHIND_LOST = 2048  # of a reply, in FRAME_END_MARKS: bytes before it were lost since its request was sent
MARK_NEAR = 4096  # CHUNK_ACK_TIME is when all that it acknowledges had been acknowledged, but for a segment

# TCP timestamps count milliseconds in 32 bits (Linux, Windows, BSD): lags repeat after this.
TIMESTAMP_NS = 1_000_000
LAG_RANGE = TIMESTAMP_NS << 32

GAP_LOST = 1  # acknowledged by the peer, never captured
GAP_CUT = 2  # captured short (snaplen)
GAP_UNACKED = 3  # a hole still open at the end of the capture or connection
GAP_LIMIT = 4  # given up because a memory limit was reached

END_FIN = 1
END_RST = 2

# Steps of a count of round trips: below 2^18 ns (0.26 ms), below 2^19 ns ... and all longer ones.
WAY_STEPS = 14
WAY_FIRST_BITS = 18

# parts: one row per incarnation of a 4-tuple in this split (streams -> rows), written when its slot is freed.
# Side columns come in pairs: side 0 at the named column, side 1 right after it.
_part = Numbering()
PART_NUMBER = _part.column()
PART_A_HIGH = _part.column()  # endpoint of side 0
PART_A_LOW = _part.column()
PART_B_HIGH = _part.column()
PART_B_LOW = _part.column()
PART_A_PORT = _part.column()
PART_B_PORT = _part.column()
PART_FIRST_TIME = _part.column()
PART_LAST_TIME = _part.column()
PART_FIRST_NUMBER = _part.column()
PART_LAST_NUMBER = _part.column()
PART_SYN = _part.column()  # bit 0: SYN seen, bit 1: SYN+ACK seen
PART_CLOSE = _part.column()  # 0 none, else END_ reason (RST wins)
PART_END_SIDE = _part.column()  # side of the first FIN or RST that was believed; UNKNOWN: none was seen
PART_END_TIME = _part.column()  # of that packet
PART_RTT = _part.column()  # ns; SYN to the SYN's ACK of the handshake, UNKNOWN when not seen
PART_SYN_ACK = _part.column()  # ns from SYN to SYN+ACK, UNKNOWN when not seen
PART_ACK = _part.column()  # ns from SYN+ACK to the handshake's ACK, UNKNOWN when not seen
PART_PACKETS = _part.pair()
PART_BYTES = _part.pair()  # payload bytes on the wire, retransmissions included
PART_STREAM = _part.pair()  # bytes of stream handed on as DATA
PART_RETRANSMITTED = _part.pair()  # segments that brought only bytes already seen, and no reset before
PART_REORDERED = _part.pair()  # segments that waited for an earlier one
PART_GAPS = _part.pair()
PART_GAP_BYTES = _part.pair()
PART_CONFLICTS = _part.pair()  # overlapping copies whose bytes differ
PART_ZERO_WINDOW = _part.pair()  # segments that announced a zero window
PART_DUPLICATES = _part.pair()  # segments captured twice: counted here and nowhere else
PART_DAMAGED = _part.pair()  # segments whose checksum was wrong, and which counted for nothing else
PART_DATA_PACKETS = _part.pair()  # segments with payload
PART_QUEUED = _part.pair()  # packets whose lag was more than a tick above the least before them (QUEUED_ rows)
PART_LATE = _part.pair()  # of those, such that begin before the end of what was seen: repeats, and what fills holes
PART_IP_STEPS = _part.pair()  # segments whose IP id is the next one of their sender
PART_IP_JUMPS = _part.pair()  # segments before which IP ids are missing
PART_FULL_WINDOW = _part.pair()  # times that the side waited for more than 5 ms as the window of the other was full
PART_FULL_WINDOW_NS = _part.pair()
PART_NAGLE = _part.pair()  # small segments that were sent when an ACK came that had been delayed for 40 ms
PART_NEEDLESS = _part.pair()  # repeats that the other side had no need of, as it told by an ACK (RFC 2883)
PART_PACED = _part.pair()  # bytes of its packets that waited in a queue for those before them
PART_PACED_NS = _part.pair()  # the time that these took to come by, one behind the other
PART_WIRE = _part.pair()  # bytes of its IP packets, headers included
PART_WAYS = _part.columns(
    2 * WAY_STEPS
)  # round trips of this side's bytes, by ACKs sent at once: pairs of counts by length
PART_COUNTS = (_part.count - PART_PACKETS) // 2  # pairs from PART_PACKETS on
PART_TAP = _part.column()  # as SEGMENT_TAP
PART_TTL = _part.pair()  # of the side's newest segment
PART_LAG_LEAST = _part.pair()  # least lag of the side's packets, as CHUNK_LAG; UNKNOWN: no timestamps
PART_LAG_BOUND = (
    _part.pair()
)  # no packet can have left its host with a lag less than this, seen from the packets that it answers
PART_WAY_LEAST = _part.pair()  # ns from bytes of this side to their ACK, at least; UNKNOWN when none was seen
PART_WAY_COUNT = _part.pair()  # round trips in PART_WAYS, and their median and 95th percentile, ns; UNKNOWN without any
PART_WAY_P50 = _part.pair()
PART_WAY_P95 = _part.pair()
PART_MSS = _part.pair()  # that the side offered; UNKNOWN: its SYN was not seen
PART_WSCALE = _part.pair()  # that the side offered, -1: none; UNKNOWN: its SYN was not seen
PART_MOST_UNACKED = _part.pair()  # most bytes of the side that were not acknowledged yet
PART_START_SEQ = _part.pair()  # sequence number of the first stream byte of a side, UNKNOWN when none was seen
PART_VIEW = (
    _part.column()
)  # 0, or higher where the same connection was captured at several points of its way: one part for each
PART_ORIGIN = _part.column()  # SEGMENT_INTERFACE of its first packet
PART_POINT = _part.column()  # tells apart points that have the same PART_ORIGIN
PART_NETWORK = _part.column()  # tells apart connections of equal addresses in different networks (VLANs, tunnels)
PART_COLUMNS = _part.count

# problems: things that could not be read (any stage -> rows).
_problem = Numbering()
PROBLEM_KIND = _problem.column()
PROBLEM_PART = _problem.column()  # UNKNOWN when it belongs to no connection
PROBLEM_NUMBER = _problem.column()  # packet number, UNKNOWN when unknown
PROBLEM_TIME = _problem.column()
PROBLEM_SIDE = _problem.column()
PROBLEM_OFFSET = _problem.column()  # byte offset: in the file, stream or frame, as the kind says
PROBLEM_BYTES = _problem.column()  # bytes lost or passed over
PROBLEM_DETAIL = _problem.column()
PROBLEM_COLUMNS = _problem.count

# queued: segments that waited in a queue between their host and the capture (streams -> rows).
_queued = Numbering()
QUEUED_PART = _queued.column()
QUEUED_FROM_HIGH = _queued.pair()  # address and port of the sender: which side it is may differ from task to task
QUEUED_FROM_LOW = QUEUED_FROM_HIGH + 1
QUEUED_FROM_PORT = _queued.column()
QUEUED_NUMBER = _queued.column()  # packet number
QUEUED_TIME = _queued.column()
QUEUED_BYTES = _queued.column()  # of payload, on the wire
QUEUED_LAG = _queued.column()  # as CHUNK_LAG
QUEUED_COLUMNS = _queued.count

# silences: times in which a side of a TLS connection sent nothing (TLS detection -> rows).
_silence = Numbering()
SILENCE_PART = _silence.column()
SILENCE_SIDE = _silence.column()  # who sent nothing
SILENCE_BEGIN = _silence.column()  # time of its data before
SILENCE_END = _silence.column()  # time of its next data; UNKNOWN when the connection ended without any
SILENCE_ASKED = _silence.column()  # time of the first data of the other side in between; UNKNOWN: none
SILENCE_ASKED_NUMBER = _silence.column()  # its packet number; UNKNOWN: none
SILENCE_COLUMNS = _silence.count

# frames: one row per Kafka frame, and one per request that ended without a reply (frames -> walk -> exchanges).
_frame = Numbering()
FRAME_EVENT = _frame.column()
FRAME_SLOT = _frame.column()  # connection slot
FRAME_PART = _frame.column()
FRAME_REQUEST = (
    _frame.column()
)  # place of the request in the pool of outstanding requests; the reply has the same; UNKNOWN: none
FRAME_BUFFER = _frame.column()
FRAME_OFFSET = _frame.column()  # of the frame's first byte after the length field
FRAME_HELD = _frame.column()  # bytes of it that are there, from its start
FRAME_LENGTH = _frame.column()  # as the length field says (without its own 4 bytes)
FRAME_KEY = _frame.column()
FRAME_VERSION = _frame.column()
FRAME_CORRELATION = _frame.column()
FRAME_FIRST_TIME = _frame.column()  # of the first byte of the length field
FRAME_LAST_TIME = _frame.column()
FRAME_NUMBER = _frame.column()  # packet of the first byte
FRAME_SEQ = _frame.column()  # TCP sequence number of the first byte
FRAME_SIDE = _frame.column()
FRAME_DECODED = _frame.column()  # DECODED_ of the body, set by walk
FRAME_STATUS = _frame.column()  # STATUS_ (events other than REQUEST)
FRAME_BODY = _frame.column()  # offset of the body from FRAME_OFFSET, set by walk; UNKNOWN when the header was cut
FRAME_ID = (
    _frame.column()
)  # of the exchange: hash of flow, time and sequence number of its first byte; a reply has its request's
FRAME_LAST_NUMBER = _frame.column()  # newest packet with a byte of it
FRAME_LAST_LAG = _frame.column()  # CHUNK_LAG and CHUNK_COVERS of the packet with its last byte
FRAME_COVERS = _frame.column()
FRAME_LAG = _frame.column()  # this and the others are those of the packet with its first byte
FRAME_HELD_BACK = _frame.column()  # as CHUNK_HELD
FRAME_MARKS = _frame.column()
FRAME_END_MARKS = _frame.column()  # of the packet with its last byte; MARK_REPEAT of any with a byte of it
FRAME_ACK_NUMBER = _frame.column()
FRAME_ACK_TIME = _frame.column()
FRAME_ACK_LAG = _frame.column()
FRAME_COLUMNS = _frame.count

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
DECODED_UNSUPPORTED = 5  # no schema for this API and version; a newer version may have a few values all the same
DECODED_TRAILING = 6  # bytes are left behind the end that the schema says

# Why stream bytes belong to no frame: index of a pair of columns from FRAMING_SKIPPED on.
SKIP_UNSYNCED = 0  # before the first sure frame boundary
SKIP_LOST = 1  # after a gap, until the next sure boundary
SKIP_BAD = 2  # after a length or header that cannot be
SKIP_UNFINISHED = 3  # the frame did not end before the connection or the capture did
SKIP_NOT_KAFKA = 4
SKIP_HEADERLESS = 5  # frame bounds known, header lost in a gap
SKIP_REASONS = 6

# framed_parts: what framing found in a part (frames -> rows), one row when its slot is freed. Pairs are per side, as in parts.
_framing = Numbering()
FRAMING_PART = _framing.column()
FRAMING_CLIENT_SIDE = _framing.column()  # UNKNOWN when nothing said who is the client
FRAMING_PROTOCOL = _framing.column()  # PROTOCOL_
FRAMING_REQUESTS = _framing.column()
FRAMING_REPLIES = _framing.column()  # matched
FRAMING_ORPHANS = _framing.column()
FRAMING_TOKENS = _framing.column()  # frames of bare SASL tokens, both ways
FRAMING_CHAINED = _framing.column()  # not 0: a header stood exactly where the frame before it ended
FRAMING_STREAM = _framing.pair()  # bytes received from reassembly = framed + all skipped
FRAMING_FRAMED = _framing.pair()
FRAMING_SKIPPED = _framing.columns(2 * SKIP_REASONS)  # a pair for each reason
FRAMING_FLOW = _framing.column()  # hash of scope, addresses and ports, as the OPEN row gave it
FRAMING_CONNECTION = _framing.column()  # id of the connection: hash of flow and first time
FRAMING_CUT = _framing.pair()  # bytes that were on the wire and not kept, because of the capture's snap length
FRAMING_OPENING = _framing.column()  # OPENING_ of the last bytes before Kafka; UNKNOWN: there are none
FRAMING_OPENED = _framing.pair()  # bytes of openings, which are among those of SKIP_NOT_KAFKA
FRAMING_PROXIED_FOR = _framing.pair()  # address that a PROXY header names, two halves; UNKNOWN: none
FRAMING_ANSWER = _framing.column()  # ANSWER_ of the side that was called; UNKNOWN: none of these
# The first bytes, MOST_BEGIN at most, behind a 1 bit; negative: they were taken for Kafka's; 0: none were seen.
FRAMING_BEGIN = _framing.pair()
FRAMING_COLUMNS = _framing.count
MOST_BEGIN = 4

# What the first bytes are of a side that was called, where they are text: no reply, whose length they would be, is so long.
ANSWER_HTTP = 0
ANSWER_SSH = 1
ANSWER_TEXT = 2

PROTOCOL_UNKNOWN = 0
PROTOCOL_KAFKA = 1
PROTOCOL_TLS = 2
PROTOCOL_OTHER = 3

# values: what walk reads from the body of frame row i, `values[column, i]`; UNKNOWN where the message has no such field.
# Text columns hold the number of an interned string.
_value = Numbering()
VALUE_CLIENT_ID = _value.column()  # text, from the request header
VALUE_THROTTLE_MS = _value.column()
VALUE_ERROR_CODE = _value.column()  # first that is not 0; 0 when all are 0; UNKNOWN when the message has no error field
VALUE_ERROR_COUNT = _value.column()
VALUE_TOPICS = _value.column()  # elements of topic arrays
VALUE_PARTITIONS = _value.column()  # elements of partition arrays
VALUE_ACKS = _value.column()
VALUE_MAX_WAIT_MS = _value.column()
VALUE_MIN_BYTES = _value.column()
VALUE_ISOLATION_LEVEL = _value.column()
VALUE_SESSION_ID = _value.column()
VALUE_SESSION_EPOCH = _value.column()
VALUE_GROUP_ID = _value.column()  # text
VALUE_MEMBER_ID = _value.column()  # text
VALUE_TRANSACTIONAL_ID = _value.column()  # text
VALUE_REPLICA_ID = _value.column()
VALUE_TIMEOUT_MS = _value.column()
VALUE_RECORD_BYTES = _value.column()  # bytes in all records fields
VALUE_SOFTWARE_NAME = _value.column()  # text
VALUE_SOFTWARE_VERSION = _value.column()  # text
VALUE_MECHANISM = _value.column()  # text
VALUE_GENERATION_ID = _value.column()
VALUE_RACK_ID = _value.column()  # text
VALUE_LEFTOVER = _value.column()  # bytes after the end of the body
VALUE_COLUMNS = _value.count
assert VALUE_CLIENT_ID == 0 and VALUE_LEFTOVER == VALUE_COLUMNS - 1, "a reply brings the values between these two"

# entries: one row per element of the message's row array (walk -> rows). A uuid is two int64.
_entry = Numbering()
ENTRY_FRAME = _entry.column()  # row of the frame in this batch
ENTRY_TOPIC = _entry.column()  # text
ENTRY_TOPIC_ID_HIGH = _entry.pair()
ENTRY_TOPIC_ID_LOW = ENTRY_TOPIC_ID_HIGH + 1
ENTRY_PARTITION = _entry.column()
ENTRY_ERROR_CODE = _entry.column()
ENTRY_OFFSET = _entry.column()
ENTRY_HIGH_WATERMARK = _entry.column()
ENTRY_LAST_STABLE_OFFSET = _entry.column()
ENTRY_LOG_START_OFFSET = _entry.column()
ENTRY_RECORD_BYTES = _entry.column()
ENTRY_LEADER_EPOCH = _entry.column()
ENTRY_FORGOTTEN = _entry.column()  # 1: the partition leaves the fetch session
ENTRY_PREFERRED_READ_REPLICA = _entry.column()
ENTRY_TIMESTAMP = _entry.column()
ENTRY_NEXT_OFFSET = _entry.column()  # behind the last whole batch of the records field, as its header says
ENTRY_COLUMNS = _entry.count

# errors: one row per error code that is not 0 (walk -> rows).
_error = Numbering()
ERROR_FRAME = _error.column()
ERROR_CODE = _error.column()
ERROR_FIELD = _error.column()  # number of the error field in its message: its path and level are in the program
ERROR_TOPIC = _error.column()  # text
ERROR_TOPIC_ID_HIGH = _error.pair()
ERROR_TOPIC_ID_LOW = ERROR_TOPIC_ID_HIGH + 1
ERROR_PARTITION = _error.column()
ERROR_ENTITY = _error.column()  # text: group, member, resource ..., what the schema gives the role @entity
ERROR_MESSAGE = _error.column()  # text: what the reply says of it
ERROR_COLUMNS = _error.count

# labelled: rows of entries and errors on their way to a raw table (exchanges.label). Their first column, the frame row, is the
# id of the exchange then, and these columns follow the others, counted from ENTRY_COLUMNS or ERROR_COLUMNS.
_label = Numbering()
LABEL_PART = _label.column()
LABEL_SIDE = _label.column()  # 0 request, 1 response
LABEL_KEY = _label.column()  # API key
LABEL_COLUMNS = _label.count
assert ENTRY_FRAME == ERROR_FRAME == 0, "`label` writes the id of the exchange into the first column"

# sets: one row per records field that may hold batches, of messages with facts of batches (walk -> batch_rows).
_set = Numbering()
SET_FRAME = _set.column()  # row of the frame in this batch
SET_OFFSET = _set.column()  # of the field's first byte, in the frame's buffer
SET_BYTES = _set.column()
SET_TOPIC = _set.column()  # text
SET_TOPIC_ID_HIGH = _set.pair()
SET_TOPIC_ID_LOW = SET_TOPIC_ID_HIGH + 1
SET_PARTITION = _set.column()
SET_COLUMNS = _set.count

# rows: finished exchanges (exchanges -> Arrow), request and reply joined; columns in the order of the raw table.
_row = Numbering()
ROW_EXCHANGE = _row.column()
ROW_PART = _row.column()
ROW_KEY = _row.column()
ROW_VERSION = _row.column()
ROW_CORRELATION = _row.column()
ROW_STATUS = _row.column()
ROW_TOKEN = _row.column()  # 1: a bare SASL token
ROW_REQUEST_FIRST = _row.column()
ROW_REQUEST_LAST = _row.column()
ROW_RESPONSE_FIRST = _row.column()
ROW_RESPONSE_LAST = _row.column()
ROW_REQUEST_BYTES = _row.column()  # whole frames: length field included
ROW_RESPONSE_BYTES = _row.column()
ROW_REQUEST_NUMBER = _row.column()
ROW_RESPONSE_NUMBER = _row.column()
ROW_REQUEST_DECODED = _row.column()
ROW_RESPONSE_DECODED = _row.column()
# What the bodies say: the columns of values, in their order. A value that both bodies have: see `exchange_rows`.
ROW_VALUES = _row.columns(VALUE_COLUMNS)
ROW_CLIENT_ID = ROW_VALUES + VALUE_CLIENT_ID
ROW_THROTTLE_MS = ROW_VALUES + VALUE_THROTTLE_MS
ROW_ERROR_CODE = ROW_VALUES + VALUE_ERROR_CODE
ROW_ERROR_COUNT = ROW_VALUES + VALUE_ERROR_COUNT
ROW_TOPICS = ROW_VALUES + VALUE_TOPICS
ROW_PARTITIONS = ROW_VALUES + VALUE_PARTITIONS
ROW_ACKS = ROW_VALUES + VALUE_ACKS
ROW_MAX_WAIT_MS = ROW_VALUES + VALUE_MAX_WAIT_MS
ROW_MIN_BYTES = ROW_VALUES + VALUE_MIN_BYTES
ROW_ISOLATION_LEVEL = ROW_VALUES + VALUE_ISOLATION_LEVEL
ROW_SESSION_ID = ROW_VALUES + VALUE_SESSION_ID  # of the request
ROW_SESSION_EPOCH = ROW_VALUES + VALUE_SESSION_EPOCH
ROW_GROUP_ID = ROW_VALUES + VALUE_GROUP_ID
ROW_MEMBER_ID = ROW_VALUES + VALUE_MEMBER_ID
ROW_TRANSACTIONAL_ID = ROW_VALUES + VALUE_TRANSACTIONAL_ID
ROW_REPLICA_ID = ROW_VALUES + VALUE_REPLICA_ID
ROW_TIMEOUT_MS = ROW_VALUES + VALUE_TIMEOUT_MS
ROW_RECORD_BYTES = ROW_VALUES + VALUE_RECORD_BYTES  # of both directions
ROW_SOFTWARE_NAME = ROW_VALUES + VALUE_SOFTWARE_NAME
ROW_SOFTWARE_VERSION = ROW_VALUES + VALUE_SOFTWARE_VERSION
ROW_MECHANISM = ROW_VALUES + VALUE_MECHANISM
ROW_GENERATION_ID = ROW_VALUES + VALUE_GENERATION_ID
ROW_RACK_ID = ROW_VALUES + VALUE_RACK_ID
ROW_LEFTOVER = ROW_VALUES + VALUE_LEFTOVER
ROW_QUEUE = (
    _row.column()
)  # ns from the request's last byte, at most to the reply's first, while the previous reply was sent
ROW_MUTED = _row.column()  # ns of the rest of that time in which the throttle time of an earlier reply ran on
# What packets show of the way of request and reply (`exchange_ways`); UNKNOWN where nothing does.
ROW_REQUEST_LAG = _row.column()  # of the packet with the request's last byte
ROW_REPLY_LAG = _row.column()  # of the packet with the reply's first byte
ROW_REPLY_HELD = _row.column()  # as CHUNK_HELD
ROW_REPLY_END_LAG = _row.column()  # of the packet with the last byte of a reply larger than LARGE_REPLY
ROW_ACK_TIME = _row.column()  # of an ACK without data that the broker sent for the request before it replied
ROW_ACK_LAG = _row.column()
ROW_BEFORE_LAG = _row.column()  # of the packet with the last byte of the reply before, where ROW_QUEUE is not 0
ROW_MARKS = _row.column()  # MARK_ bits
ROW_LAST_NUMBER = _row.column()  # FRAME_LAST_NUMBER of the request; not written
ROW_KIND = _row.column()  # KIND_, set by `wait_kinds`; UNKNOWN: of no kind
ROW_COLUMNS = _row.count

# Wait kinds: what a request waits for, as far as it and its reply tell. The raw table writes the name without KIND_.
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

# Columns of state in which `timing` keeps what it knows of a side; `tcp/state_columns.py` asserts the number.
SIDE_WAY_COLUMNS = 28

# Checkpoint of reassembly: what it knows of a connection while nothing is pending, as a list of numbers. Two of the connection,
# then TCP_CHECKPOINT_SIDE_COLUMNS for side 0 and for side 1: those before TCP_CHECKPOINT_PROBLEMS are compared by
# `tcp/checkpoint.py` (`matches_checkpoint`), the others are carried on.
_tcp_checkpoint = Numbering()
TCP_CHECKPOINT_TIME = _tcp_checkpoint.column()
TCP_CHECKPOINT_NUMBER = _tcp_checkpoint.column()
TCP_CHECKPOINT_SIDES = _tcp_checkpoint.count
_tcp_checkpoint_side = Numbering()
TCP_CHECKPOINT_NEXT = _tcp_checkpoint_side.column()
TCP_CHECKPOINT_ACK = _tcp_checkpoint_side.column()
TCP_CHECKPOINT_TTL = _tcp_checkpoint_side.column()
TCP_CHECKPOINT_SCOPE = _tcp_checkpoint_side.column()
TCP_CHECKPOINT_CHECKSUM = _tcp_checkpoint_side.column()  # whether its checksums are believed: bits of SIDE_STATE
TCP_CHECKPOINT_PROBLEMS = _tcp_checkpoint_side.column()
TCP_CHECKPOINT_WAY = _tcp_checkpoint_side.columns(SIDE_WAY_COLUMNS)
TCP_CHECKPOINT_COUNTS = _tcp_checkpoint_side.columns(PART_COUNTS)
TCP_CHECKPOINT_SIDE_COLUMNS = _tcp_checkpoint_side.count

# Checkpoint of framing: the FRAMING_ columns, these, and FRAMING_CHECKPOINT_WAIT_COLUMNS for each request that waits for its reply.
_framing_checkpoint = Numbering(FRAMING_COLUMNS)
FRAMING_CHECKPOINT_FROM_SYN = _framing_checkpoint.column()
FRAMING_CHECKPOINT_SPECIAL = _framing_checkpoint.column()  # requests whose facts need what other messages told
FRAMING_CHECKPOINT_LOSSES = _framing_checkpoint.pair()
FRAMING_CHECKPOINT_CORRELATION = _framing_checkpoint.pair()
FRAMING_CHECKPOINT_WAITING = _framing_checkpoint.column()
FRAMING_CHECKPOINT_COLUMNS = _framing_checkpoint.count
FRAMING_CHECKPOINT_WAIT_COLUMNS = 7

# complete connections: those of a task that began with a bare SYN and ended by themselves, and where both sides were then.
_complete = Numbering()
COMPLETE_PART = _complete.column()
COMPLETE_FLOW = _complete.column()
COMPLETE_NUMBER = _complete.column()
COMPLETE_FIRST_TIME = _complete.column()
COMPLETE_LAST_TIME = _complete.column()
COMPLETE_CLOSE = _complete.column()
_complete_side = Numbering()
COMPLETE_STATE = _complete_side.column()
COMPLETE_START = _complete_side.column()
COMPLETE_NEXT = _complete_side.column()
COMPLETE_TTL = _complete_side.column()
COMPLETE_SCOPE = _complete_side.column()
COMPLETE_STREAM = _complete_side.column()
COMPLETE_GAPS = _complete_side.column()
COMPLETE_SIDE_COLUMNS = _complete_side.count
COMPLETE_SIDES = _complete.columns(2 * COMPLETE_SIDE_COLUMNS)
COMPLETE_COLUMNS = _complete.count

# batches: one row per record batch or legacy message (batch_rows -> Arrow).
_batch = Numbering()
BATCH_EXCHANGE = _batch.column()
BATCH_PART = _batch.column()
BATCH_SIDE = _batch.column()  # 0 request, 1 response
BATCH_TOPIC = _batch.column()  # text
BATCH_TOPIC_ID_HIGH = _batch.pair()
BATCH_TOPIC_ID_LOW = BATCH_TOPIC_ID_HIGH + 1
BATCH_PARTITION = _batch.column()
BATCH_POSITION = _batch.column()
BATCH_BASE_OFFSET = _batch.column()
BATCH_LAST_OFFSET = _batch.column()
BATCH_MAGIC = _batch.column()
BATCH_CODEC = _batch.column()
BATCH_RECORDS = _batch.column()
BATCH_BYTES = _batch.column()
BATCH_UNCOMPRESSED = _batch.column()
BATCH_UNOPENED = _batch.column()  # UNOPENED_ of a compressed batch; UNKNOWN: it was opened, or is not compressed
BATCH_FIRST_TIMESTAMP = _batch.column()
BATCH_MAX_TIMESTAMP = _batch.column()
BATCH_TIMESTAMP_TYPE = _batch.column()  # 0 create, 1 log append
BATCH_PRODUCER_ID = _batch.column()
BATCH_PRODUCER_EPOCH = _batch.column()
BATCH_BASE_SEQUENCE = _batch.column()
BATCH_TRANSACTIONAL = _batch.column()
BATCH_CONTROL = _batch.column()
BATCH_CONTROL_TYPE = _batch.column()  # text, set by who opens batches
BATCH_CRC = _batch.column()
BATCH_CRC_OK = _batch.column()
BATCH_BUFFER = _batch.column()  # where its bytes are: as FRAME_BUFFER, and the offset there
BATCH_OFFSET = _batch.column()
BATCH_COLUMNS = _batch.count

# Why a compressed batch was not opened. The raw table writes the name without UNOPENED_.
UNOPENED_BUDGET = 0  # what may be decompressed was used up
UNOPENED_UNREADABLE = 1  # it is damaged, larger than any batch may be, or of a codec that nobody knows
