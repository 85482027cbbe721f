"""The state of reassembly: columns of its matrices, bits of its flags, thresholds. Every file of the stage reads this table.

Columns of a connection and of a side are in two groups. The first is what an idle, undisturbed connection needs: one whose
sides have both started and not ended, with nothing buffered or awaited and no ACK number waived. The second is needed only
while something is pending, for the handshake's times until the part's row is written, and in a task. The sizes, in bytes:

                  first group  second group  matrix row
    connection            176           160         336
    side                  584           144         728
    with both sides      1344           448        1792

Of very many connections those that are idle have neither, but a few hundred bytes over all stages (`dissectors.parking`). Columns
that begin with CONN_, SIDE_ or RECORD_ are 0 in a new slot unless the line says otherwise. "_TIME" is ns since the epoch, "_NUMBER"
the number of a packet, both of the segment that is meant; "_COUNT" is how many segments the connection had by then.
"""

from __future__ import annotations

from dissectors import layout
from dissectors.numbering import Numbering

# An endpoint: address and port.
_endpoint = Numbering()
ENDPOINT_HIGH = _endpoint.column()
ENDPOINT_LOW = _endpoint.column()
ENDPOINT_PORT = _endpoint.column()
ENDPOINT_COLUMNS = _endpoint.count

# State of a connection: conn[slot, column].
_conn = Numbering()
# First group: an idle connection.
CONN_HASH = _conn.column()
CONN_TAP = _conn.column()
CONN_A = _conn.columns(ENDPOINT_COLUMNS)  # endpoint of side 0
CONN_B = _conn.columns(ENDPOINT_COLUMNS)  # endpoint of side 1
CONN_A_HIGH = CONN_A + ENDPOINT_HIGH
CONN_A_LOW = CONN_A + ENDPOINT_LOW
CONN_A_PORT = CONN_A + ENDPOINT_PORT
CONN_B_HIGH = CONN_B + ENDPOINT_HIGH
CONN_B_LOW = CONN_B + ENDPOINT_LOW
CONN_B_PORT = CONN_B + ENDPOINT_PORT
CONN_PENDING = _conn.column()  # not 0: something is pending, so each segment takes the thorough path
CONN_LAST_TIME = _conn.column()
CONN_LAST_NUMBER = _conn.column()
CONN_MODE = _conn.column()  # MODE_ bits
CONN_PART = _conn.column()
CONN_FIRST_TIME = _conn.column()
CONN_FIRST_NUMBER = _conn.column()
CONN_SYN = _conn.column()  # as PART_SYN
CONN_CLOSE = _conn.column()  # as PART_CLOSE
CONN_VIEW = _conn.column()  # as PART_VIEW
CONN_CAPTURE_POINT = _conn.column()  # as PART_POINT
CONN_NETWORK = _conn.column()  # as PART_NETWORK
CONN_INTERFACE = _conn.column()  # of the first packet
CONN_NEXT_FREE = _conn.column()  # in a free slot: the next free slot, -1 none
CONN_SECOND_GROUP = _conn.count
# The handshake:
CONN_SYN_TIME = _conn.column()  # UNKNOWN when not seen, or seen twice
CONN_SYN_ACK_TIME = _conn.column()  # UNKNOWN when not seen
CONN_SYN_ACK_TWICE = _conn.column()
CONN_ACK_TIME = _conn.column()  # UNKNOWN when not seen
CONN_AWAITS_ACK = _conn.column()  # the handshake's last ACK is still to come
# A reset that waits, and the end:
CONN_RST = _conn.column()  # 1 + side that reset, until both ends are written
CONN_RST_AT = _conn.column()
CONN_RST_TIME = _conn.column()
CONN_RST_NUMBER = _conn.column()
CONN_RST_COUNT = _conn.column()
CONN_CLOSED_NUMBER = _conn.column()  # packet that ended the second side
CONN_END = _conn.column()  # 1 + side of the first FIN or RST that was believed
CONN_END_TIME = _conn.column()
# In a task only:
CONN_TOUCHED = _conn.column()  # it is in `touched`
CONN_SPOILED = _conn.column()  # something came that a resolved span must not hold
CONN_SPAN_SINCE = _conn.column()  # no segment of the span under way may be earlier; 0: no span has begun
CONN_SPAN_BYTES = _conn.column()  # payload, and HEADER_BYTES a segment, since the last checkpoint
CONN_STOP_SIDE = _conn.column()  # 1 + side: `feed` stops when that one has come to CONN_STOP_AT
CONN_STOP_AT = _conn.column()
CONN_FROM_SYN = _conn.column()  # its first segment was a bare SYN
CONN_COLUMNS = _conn.count

MODE_LIVE = 1
MODE_OPENED = 2  # the OPEN row is written
MODE_CLOSED = 4  # both sides have ended
MODE_RESET = 8  # a reset has waited long enough: nothing more is waited for
MODE_FLUSH = 16  # the slot is being freed
MODE_GIVING_UP = 32  # its holes are being given up, as all connections together buffer too much
MODE_HALF_OPEN = 128  # see `is_half_open`
MODE_ADOPTED = 64  # another run has seen all of it: no segment of it may come any more

# State of a side: side[2 * slot + side, column].
_side = Numbering()
# First group: a side of an idle connection.
SIDE_STATE = _side.column()  # STATE_ bits
SIDE_NEXT = (
    _side.column()
)  # sequence number that is delivered next; before the start, the first one seen, as SIDE_START
SIDE_TTL = _side.column()  # of its newest segment; UNKNOWN before the first
SIDE_SCOPE = _side.column()  # the same
SIDE_INTERFACE = _side.column()  # on which SIDE_TTL was seen; UNKNOWN before the first
SIDE_LAST_ACK = _side.column()  # ACK number that this side sent last, as on the wire; UNKNOWN before the first
SIDE_START = _side.column()
SIDE_PROBLEMS = _side.column()
SIDE_COUNTS = _side.columns(layout.PART_COUNTS)  # in the order of the PART_ pairs: see `_count`


def _count(part_column: int) -> int:
    """The column of a side that is written to this pair of columns of the part's row."""
    return SIDE_COUNTS + (part_column - layout.PART_PACKETS) // 2


SIDE_PACKETS = _count(layout.PART_PACKETS)
SIDE_BYTES = _count(layout.PART_BYTES)
SIDE_STREAM = _count(layout.PART_STREAM)
SIDE_RETRANSMITTED = _count(layout.PART_RETRANSMITTED)
SIDE_REORDERED = _count(layout.PART_REORDERED)
SIDE_GAPS = _count(layout.PART_GAPS)
SIDE_GAP_BYTES = _count(layout.PART_GAP_BYTES)
SIDE_CONFLICTS = _count(layout.PART_CONFLICTS)
SIDE_ZERO_WINDOW = _count(layout.PART_ZERO_WINDOW)
SIDE_DUPLICATES = _count(layout.PART_DUPLICATES)
SIDE_DAMAGED = _count(layout.PART_DAMAGED)
SIDE_DATA_PACKETS = _count(layout.PART_DATA_PACKETS)
SIDE_QUEUED = _count(layout.PART_QUEUED)
SIDE_LATE = _count(layout.PART_LATE)
SIDE_IP_STEPS = _count(layout.PART_IP_STEPS)
SIDE_IP_JUMPS = _count(layout.PART_IP_JUMPS)
SIDE_FULL_WINDOW = _count(layout.PART_FULL_WINDOW)
SIDE_FULL_WINDOW_NS = _count(layout.PART_FULL_WINDOW_NS)
SIDE_NAGLE = _count(layout.PART_NAGLE)
SIDE_NEEDLESS = _count(layout.PART_NEEDLESS)
SIDE_PACED = _count(layout.PART_PACED)
SIDE_PACED_NS = _count(layout.PART_PACED_NS)
SIDE_WIRE = _count(layout.PART_WIRE)
SIDE_WAYS = _count(layout.PART_WAYS)
# What packets show of their way (`timing`); 0: nothing yet.
SIDE_WAY = _side.count
SIDE_TOP = _side.column()  # sequence number behind the last byte sent, as far as seen
SIDE_TOP_TIME = _side.column()  # of the packet that brought it
SIDE_TOP_NUMBER = _side.column()
SIDE_ACKED_TO = _side.column()  # highest ACK number of the peer for this side
SIDE_ACKED_TIME = _side.column()  # when bytes of it were last acknowledged
SIDE_REPEATED = _side.column()  # 1: something of what is under way was sent again
SIDE_DATA_TIME = _side.column()  # of its newest packet with payload
SIDE_DATA_LAG = _side.column()
SIDE_DATA_FULL = _side.column()  # 1: the packet that brought SIDE_TOP was as large as may be, so more may follow
SIDE_IP_ID = _side.column()  # 1 + IP id of its newest packet
SIDE_IP_SPAN = _side.column()  # IP ids that this packet took: more than one when the network card cut it
SIDE_MSS = _side.column()
SIDE_WSCALE = _side.column()  # 2 + the scale; 1: its SYN offered none
SIDE_WINDOW = _side.column()  # bytes that it can take, + 1
SIDE_LAG_LEAST = _side.column()  # lags are never 0
SIDE_LAG_BOUND = _side.column()
SIDE_WAY_LEAST = _side.column()
SIDE_MOST_UNACKED = _side.column()
SIDE_COVERS = _side.column()  # as CHUNK_COVERS
SIDE_ACK_NUMBER = _side.column()  # the ACK without data that CHUNK_ACK_ is about
SIDE_ACK_TIME = _side.column()
SIDE_ACK_LAG = _side.column()
SIDE_ACK_MARKS = _side.column()  # MARK_PROMPT or MARK_NEAR
SIDE_ACK_OPEN = (
    _side.column()
)  # the bytes that it covers ended with a full segment: more may follow, and a later ACK counts
SIDE_SACKS = _side.column()  # of its next so many ACKs each is sent at once, as it named a hole
SIDE_SAMPLE_TO = (
    _side.column()
)  # of the packet whose round trip is being measured: the sequence number behind it, and its time
SIDE_SAMPLE_TIME = _side.column()
SIDE_SLOW_ACK = _side.column()  # when it sent an ACK that it had delayed for 40 ms
assert _side.count - SIDE_WAY == layout.SIDE_WAY_COLUMNS, "SIDE_WAY_COLUMNS counts these columns"
SIDE_SECOND_GROUP = _side.count
# Buffered bytes:
SIDE_FIRST_RECORD = _side.column()  # -1 none
SIDE_LAST_RECORD = _side.column()  # -1 none
SIDE_NEAR_RECORD = _side.column()  # where the newest bytes were put: what comes next is near it; -1 none
SIDE_PAGES = _side.column()  # records of buffered bytes
# A start that is not known yet:
SIDE_LOWEST_START = _side.column()  # where a side met in mid-flight would start; 0: nothing of it was seen
# Holes. Of a side that has not started, HOLE_ and LOST_ say the same of its start.
SIDE_ACKED = _side.column()  # highest ACK number that the peer sent for this side
SIDE_HOLE_ACK = _side.column()  # ACK number that covers a hole, and when it was seen: the reorder window begins there
SIDE_HOLE_TIME = _side.column()
SIDE_HOLE_NUMBER = _side.column()
SIDE_HOLE_COUNT = _side.column()
SIDE_LOST_TO = _side.column()  # the window has passed for holes before this number; 1: for the start
SIDE_LOST_TIME = _side.column()
SIDE_LOST_NUMBER = _side.column()
SIDE_WAIVED = _side.column()  # ACK numbers up to this one are not waited for
# A FIN that waits for the bytes before it:
SIDE_FIN_AT = _side.column()
SIDE_FIN_TIME = _side.column()
SIDE_FIN_NUMBER = _side.column()
SIDE_FIN_ACK = _side.column()  # as on the wire; UNKNOWN when it had none
SIDE_COLUMNS = _side.count

STATE_STARTED = 1
STATE_ENDED = 2
STATE_FIN = 4  # its FIN was seen
STATE_ISN = 8  # its SYN was seen
STATE_CALLER = 16  # and it was a SYN without ACK
STATE_RIGHT = 32  # the checksum of its newest segment that had one was right
STATE_WRONG = 64  # it was wrong

# A record of buffered bytes, with the page of the same number: records[record, column].
_record = Numbering()
RECORD_SEQ = _record.column()
RECORD_LENGTH = _record.column()
RECORD_KIND = _record.column()  # one of the four below
RECORD_TIME = _record.column()
RECORD_NUMBER = _record.column()
# As on the wire, UNKNOWN when there was none. It never falls from one record of a side to the next.
RECORD_ACK = _record.column()
RECORD_NEXT = _record.column()  # of the same side, in sequence order, or of a list of free records; -1 none
RECORD_WAY = _record.column()  # CHUNK_LAG << 8 | CHUNK_MARKS; 0: no timestamp. Rows of 64 bytes are one cache line
RECORD_COLUMNS = _record.count

RECORD_WHOLE = 0
RECORD_CUT = 1  # not captured (snaplen), there are no bytes
RECORD_DAMAGED = 2  # set aside (`damaged`)
RECORD_DAMAGED_FIRST = 3  # the same, and the first of its segment

# Numbers of 32 and 64 bits.
LOW_32 = 0xFFFFFFFF
HALF_RANGE = 1 << 31  # of sequence numbers
SEQUENCE_RANGE = 1 << 32
ALL_64 = 0xFFFFFFFFFFFFFFFF
MIX_1 = 0xBF58476D1CE4E5B9  # splitmix64
MIX_2 = 0x94D049BB133111EB

# Memory.
PAGE_BYTES = 1024
HEADER_BYTES = 160  # what a segment takes beside its payload
ROWS_PER_STEP = 4  # no step writes more chunk rows
PROBLEM_ROWS = 1024
PROBLEMS_PER_SIDE = 4

# Time that a side met in mid-flight has to show where it starts: both have to pass.
START_SEGMENTS = 8
START_NS = 2_000_000

HALF_OPEN_PART = 4  # half-open connections are the first to go while they are more than this part of the limit

# Flows that are remembered as given up: a later one at the same place is remembered instead.
GIVEN_UP_FLOWS = 1 << 20

# Sequence numbers that are believed.
LARGEST_JUMP = 1 << 24  # a larger jump is another connection, or a lie
LARGEST_ASIDE = 1 << 20  # a damaged segment further ahead is not set aside: its sequence number may be the damage
LARGEST_WINDOW = 1 << 30  # RFC 7323
OLDEST_RESET = 1 << 16  # a reset may answer a segment so far behind
EARLIEST_SYN = 1 << 20  # a SYN so far before the first byte seen may be late

# The way of packets (`timing`).
USUAL_SEGMENT = 1448  # full segments where no SYN tells: Ethernet, with timestamps
LEAST_SEGMENT = 88  # RFC 879 less options
TIMESTAMP_BYTES = 12
OVERTAKEN_MOST = 64  # IP ids from one that was overtaken to the newest: random ids are seldom so near
SACKS_REMEMBERED = 4
IDLE_BYTES = 3000
NEAR_BYTES = 1500  # a segment
DELAYED_LEAST_NS = 38_000_000  # Linux delays an ACK for 40 ms
DELAYED_MOST_NS = 48_000_000
SOON_NS = 1_000_000
SILENT_NS = 5_000_000
QUEUED_LEAST_NS = 1_000_000  # a tick: a packet that waited less may have waited nowhere
QUEUED_NS = 1_500_000  # a tick of the timestamps and a half: what is longer was a queue
HELD_SLACK_NS = 300_000
LET_GO_NS = 50_000  # sooner behind a request no broker answers: in the lab's captures an ACK lets go within 12 us
LARGEST_WAIT = 1 << 40

# How far back the first capture of a duplicate is looked for: so many segments of any connection, and this span of time;
# a shorter one where only time tells a duplicate from a retransmission.
RECENT_SEGMENTS = 4096
DUPLICATE_NS = 10_000_000
DUPLICATE_SOON_NS = 1_000_000
OTHER_SCOPE_NS = 1_000_000_000  # from one point of the way to another

# Where the first capture of a duplicate was: at the same point of the way (TTL and scope are equal), at one with another TTL,
# or in another scope.
COPY_OF_SAME_POINT = 0
COPY_OF_OTHER_TTL = 1
COPY_OF_OTHER_SCOPE = 2

# How well a segment fits a side: classes of `connection_views.nearness`.
NOTHING_FITS = 0
SCOPE_FITS = 1
NUMBERS_FIT = 500
INTERFACE_FITS = 900
FITS = 2000
SAME_WAY = 3000
