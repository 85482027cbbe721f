"""State of reassembly: columns of its matrices, bits of its flags, its thresholds. Every file of the stage reads this table."""

from __future__ import annotations

from dissectors.numbering import Numbering

# State of a connection: conn[slot, column].
_conn = Numbering()
C_HASH = _conn.column()
C_SCOPE = _conn.column()
C_A_HIGH = _conn.column()  # endpoint of side 0, then that of side 1
C_A_LOW = _conn.column()
C_A_PORT = _conn.column()
C_B_HIGH = _conn.column()
C_B_LOW = _conn.column()
C_B_PORT = _conn.column()
C_BUSY = _conn.column()  # not 0: something waits, so each segment takes the thorough way
C_LAST_TIME = _conn.column()
C_LAST_NUMBER = _conn.column()
C_MODE = _conn.column()  # MODE_ bits
C_PART = _conn.column()
C_FIRST_TIME = _conn.column()
C_FIRST_NUMBER = _conn.column()
C_SYN = _conn.column()
C_CLOSE = _conn.column()
C_SYN_TIME = _conn.column()  # UNKNOWN when not seen, or seen twice
C_SYN_ACK_TIME = _conn.column()
C_SYN_ACK_TWICE = _conn.column()
C_ACK_TIME = _conn.column()
C_AWAITS_ACK = _conn.column()  # the handshake's last ACK is still to come
C_RST = _conn.column()  # 1 + side that reset, until both ends are written
C_RST_AT = _conn.column()
C_RST_TIME = _conn.column()
C_RST_NUMBER = _conn.column()
C_RST_COUNT = _conn.column()
C_CLOSED_NUMBER = _conn.column()  # packet that ended the second side
C_FREE = _conn.column()  # next free slot
C_LANE = _conn.column()
C_POINT = _conn.column()
C_ORIGIN = _conn.column()  # interface of the first packet
# In a task only:
C_NOTED = _conn.column()  # it is in `touched`
C_SPOILED = _conn.column()  # something came that a resolved stretch must not hold
C_SINCE = _conn.column()  # no segment of the stretch under way may be earlier
C_FRESH = _conn.column()  # bytes, and so many for a header, since the last point of rest
C_AIM_SIDE = _conn.column()  # 1 + side: `feed` stops when that one has come to C_AIM
C_AIM = _conn.column()
C_FROM_SYN = _conn.column()  # its first segment was a bare SYN
C_COLUMNS = 40

MODE_LIVE = 1
MODE_OPENED = 2  # the OPEN row is out
MODE_CLOSED = 4  # both sides have ended
MODE_RESET = 8  # a reset has waited long enough: nothing more is waited for
MODE_FLUSH = 16  # the slot is being freed
MODE_RELIEF = 32  # its kept bytes are being given up, as all keep too much together
MODE_BURIED = 64  # another run has resolved it whole: nothing of it may come any more

# State of a side: side[2 * slot + side, column]. S_PACKETS ... S_DUPLICATES are in the order of the PART_ pairs.
_side = Numbering()
S_STATE = _side.column()  # SIDE_ bits
S_NEXT = _side.column()  # what is delivered next; before the start, the first number seen, as S_START
S_HEAD = _side.column()  # first record kept, -1 none
S_TAIL = _side.column()
S_TTL = _side.column()  # of its newest segment; UNKNOWN before the first
S_LAST_ACK = _side.column()  # ACK number this side sent last, as on the wire
S_ACKED = _side.column()  # highest ACK number the peer sent for this side
S_LOWEST = _side.column()  # where a side met in mid-flight would start
# ACK that covers a hole and when it was seen; before the start, when the first bytes were seen.
S_HOLE_ACK = _side.column()
S_HOLE_TIME = _side.column()
S_HOLE_NUMBER = _side.column()
S_HOLE_COUNT = _side.column()
S_LOST_TO = _side.column()  # the window has passed for holes before this number; 1: that of the start has
S_LOST_TIME = _side.column()
S_LOST_NUMBER = _side.column()
S_WAIVED = _side.column()  # ACK numbers up to this one are not waited for
S_FIN_AT = _side.column()
S_FIN_TIME = _side.column()
S_FIN_NUMBER = _side.column()
S_FIN_ACK = _side.column()
S_START = _side.column()
S_PROBLEMS = _side.column()
S_PACKETS = _side.column()
S_BYTES = _side.column()
S_STREAM = _side.column()
S_RETRANSMITTED = _side.column()
S_REORDERED = _side.column()
S_GAPS = _side.column()
S_GAP_BYTES = _side.column()
S_CONFLICTS = _side.column()
S_ZERO_WINDOW = _side.column()
S_DUPLICATES = _side.column()
S_PAGES = _side.column()  # records kept
S_ORIGIN = _side.column()  # interface that S_TTL was seen on
S_COLUMNS = 34

SIDE_STARTED = 1
SIDE_ENDED = 2
SIDE_FIN = 4
SIDE_ISN = 8  # its SYN was seen
SIDE_CALLER = 16  # and it was a SYN without ACK

# A record of bytes kept, with the page of the same number: held[record, column].
_record = Numbering()
H_SEQ = _record.column()
H_LENGTH = _record.column()
H_CUT = _record.column()  # 1: not captured (snaplen), there are no bytes
H_TIME = _record.column()
H_NUMBER = _record.column()
H_ACK = _record.column()  # as on the wire, UNKNOWN when there was none; never falls from one record to the next
H_NEXT = _record.column()
H_COLUMNS = 8

HEADER_BYTES = 160  # what a segment takes beside its payload

# A literal that does not fit in 32 bits would be a Python object in compiled code.
LOW = 0xFFFFFFFF
HALF = 0x80000000
TURN = 0x100000000
ALL = 0xFFFFFFFFFFFFFFFF
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB

PAGE = 1024
ROWS_PER_STEP = 4  # no step writes more chunk rows
START_SEGMENTS = 8
START_NS = 2000000
NEAR = 16777216  # a larger jump is another connection, or a lie
LARGEST_WINDOW = 1073741824
BEHIND = 65536  # a reset may answer a segment this old
EARLIER_SYN = 1048576  # a SYN so far before the first byte seen may be late
PROBLEM_ROWS = 1024
# How far back the first copy of a segment is looked for: 4,096 segments of any connection, and this span of time. The
# number of columns of the matrix is no power of two, like that of a batch.
RECENT = 4096
COPY_NS = 10000000
SOON_NS = 1000000
PROBLEMS_PER_SIDE = 4
