"""Table of framing's numbers: columns of its state, modes, limits and thresholds.

Prefixes: CONN_ a connection (`conn[slot, ...]`), SIDE_ one direction of it (`side[2 * slot + side, ...]`), REQUEST_ a request
in flight (`requests[index, ...]`), PROVISIONAL_ a provisional reply (`provisional[index, ...]`). The last two are pools; their
NEXT column links a chain of a connection, or of free indexes; -1 ends it.
"""

from dissectors.layout import FRAMING_COLUMNS, WAY_COLUMNS
from dissectors.numbering import Numbering

# Behind the FRAMING_ columns, so that these are in one piece when a connection closes.
_connection = Numbering(FRAMING_COLUMNS)
CONN_OLDEST_REQUEST = _connection.column()  # first of the chain of requests in flight
CONN_NEWEST_REQUEST = _connection.column()
CONN_IN_FLIGHT = _connection.column()  # length of the chain
CONN_TOKENS = _connection.column()  # TOKENS_
CONN_ENDED = _connection.column()  # bit 1 << side: this side sends no more
CONN_CLIENT_END_TIME = _connection.column()  # when the client ended its side; UNKNOWN unless it did so first
CONN_FROM_SYN = _connection.column()  # 1: the SYN was captured, so side 0 is the client and byte 0 a boundary
CONN_FORCED = _connection.column()  # 1: --ports told who the broker is
CONN_SPECIAL = _connection.column()  # requests of APIs that `needs_other_messages` names
CONN_TRIES = _connection.column()  # chunks in which a request was looked for behind other bytes
CONN_COLUMNS = _connection.count

# The frame under way: the one that the next byte of this direction belongs to.
_side = Numbering()
SIDE_MODE = _side.column()  # MODE_
SIDE_FRAME_SIZE = _side.column()  # bytes, length field included; -1 not known yet
SIDE_FRAME_POSITION = _side.column()  # bytes of it so far, gaps included
SIDE_FRAME_KEPT = _side.column()  # bytes of it in pages: from its start up to a gap or a limit
SIDE_FRAME_RECEIVED = _side.column()  # bytes of it without gaps; counted as framed or skipped when it is done
SIDE_FIRST_TIME = _side.column()  # of its first byte, and that byte's packet and sequence number
SIDE_NUMBER = _side.column()
SIDE_SEQ = _side.column()
SIDE_LAST_NUMBER = _side.column()  # newest packet with a byte of it
SIDE_REPEATS = _side.column()  # MARK_REPEAT if a packet with bytes of it was a repeat or filled a hole
SIDE_WAY = _side.columns(WAY_COLUMNS)  # CHUNK_LAG and the columns behind it, of the packet with its first byte
SIDE_FIRST_PAGE = _side.column()  # -1 none
SIDE_LAST_PAGE = _side.column()
SIDE_SKIP_REASON = _side.column()  # SKIP_ reason of the bytes that a search passes over
SIDE_LOSSES = _side.column()  # times that a frame boundary was lost
SIDE_CORRELATION = _side.column()  # of the newest frame, UNKNOWN before the first
SIDE_GUESSED = _side.column()  # a search found where the frame begins: 1 at the start of a chunk, 2 inside
SIDE_LAST_TIME = _side.column()  # latest time among the bytes of the frame so far
SIDE_LENGTH_FIELD = _side.column()  # its bytes so far, as a number
SIDE_SEARCHED = _side.column()  # bytes searched in vain since the last boundary
SIDE_PROVISIONAL_FIRST = _side.column()  # first of the chain of provisional replies
SIDE_PROVISIONAL_LAST = _side.column()
SIDE_PROVISIONAL_COUNT = _side.column()  # length of the chain
SIDE_PROVISIONAL_BYTES = _side.column()  # received bytes of those in the chain, not counted yet
SIDE_PROVISIONAL_NOT_ZOOKEEPER = _side.column()  # those that ZooKeeper cannot have sent
SIDE_PROVISIONAL_ACCEPTED = _side.column()  # 1: they are proved, and leave as rows
SIDE_TAIL = _side.column()  # how many of the last bytes that were searched in vain are kept (`tails`)
SIDE_TAIL_PAGE = _side.column()  # 1 + the page that they are in; 0: they came in one packet, and are in columns
SIDE_TAIL_HIGH = _side.column()
SIDE_TAIL_LOW = _side.column()  # seven bytes; those before them are in SIDE_TAIL_HIGH
SIDE_TAIL_TIME = _side.column()  # of their packet
SIDE_TAIL_NUMBER = _side.column()
SIDE_TAIL_TURN = _side.column()  # 1: the other side had sent something before the first of them
SIDE_TAIL_END = _side.column()  # sequence number after them
SIDE_TAIL_SENT = _side.column()  # what the other side had sent when the last of them came
SIDE_PROVISIONAL_STEPS = _side.column()  # from one provisional reply to the next with a larger correlation id
SIDE_PROVISIONAL_BACKWARD = _side.column()  # and with a smaller one
WORDS = 5
SIDE_WORDS = _side.columns(WORDS)  # the first int32 values of the provisional reply under way, length field included
SIDE_COLUMNS = _side.count

MODE_SEARCH = 0  # no frame boundary is known
MODE_FRAMES = 1
MODE_NOT_KAFKA = 2  # nothing is read
MODE_PROVISIONAL = 3  # replies without requests, until there is proof
MODE_BEHIND = 4  # other bytes came first: requests are looked for behind them

TOKENS_NONE = 0
TOKENS_NEXT = 1  # the broker accepted a SaslHandshake v0: the next frame is a token
TOKENS_ON = 2  # tokens, until a request header turns up
TOKENS_HANDSHAKE_SENT = 3  # the reply to SaslHandshake v0 has not been seen

_request = Numbering()
REQUEST_CORRELATION = _request.column()
REQUEST_KEY = _request.column()
REQUEST_VERSION = _request.column()
REQUEST_NEXT = _request.column()
REQUEST_LAST_TIME = _request.column()
REQUEST_ID = _request.column()
REQUEST_LOSSES = _request.column()  # SIDE_LOSSES of the broker's side when it was sent
REQUEST_ACKS_UNSEEN = _request.column()  # 1: a Produce request whose acks were not captured, so it may expect no reply
REQUEST_COLUMNS = _request.count

_provisional = Numbering()
PROVISIONAL_FIRST_TIME = _provisional.column()
PROVISIONAL_LAST_TIME = _provisional.column()
PROVISIONAL_NUMBER = _provisional.column()
PROVISIONAL_SEQ = _provisional.column()
PROVISIONAL_SIZE = _provisional.column()
PROVISIONAL_RECEIVED = _provisional.column()
PROVISIONAL_CORRELATION = _provisional.column()
PROVISIONAL_NEXT = _provisional.column()
PROVISIONAL_COLUMNS = _provisional.count

TWO_31 = 1 << 31
TWO_32 = 1 << 32
LOW_32 = (1 << 32) - 1
LOW_56 = (1 << 56) - 1
LOW_63 = (1 << 63) - 1
LOW_64 = (1 << 64) - 1
MIX_1 = 0xBF58476D1CE4E5B9  # multipliers of splitmix64
MIX_2 = 0x94D049BB133111EB

OWN_HEAP = 2  # buffer number of framing's own heap, beside 0, the block, and 1, the heap of the stage before
PAGE_BYTES = 4096
MOST_PROBLEM_ROWS = 4096  # between two calls that take them
CLOCK_SKEW_NS = 1000000  # clocks of the capturing host's processors may differ by this
ABANDON_NS = 27000000000  # 0.9 of the usual request timeout of clients, 30 s

# What a length can be, in bytes.
LONGEST_FRAME = 1073741824
LONGEST_GUESSED_FRAME = 134217728
LONGEST_TOKEN = 1048576
LONGEST_PROVISIONAL = 16777216  # a first provisional reply must not hide more, unless its correlation id is near others

# What a guessed Produce request may say.
LONGEST_PRODUCE_TIMEOUT_MS = 3600000
MOST_PRODUCE_TOPICS = 65536

# Bare SASL tokens: in FRAME_KEY, and in REQUEST_KEY, which no request on the wire can have.
TOKEN_KEY = -2
TOKEN_REQUEST_KEY = -70000

MOST_IN_FLIGHT = 8192  # of one connection
MOST_IN_FLIGHT_AT_CHECKPOINT = 64
NEAR_CORRELATION = 1000  # correlation ids of one connection that differ by no more are near
SMALL_CORRELATION = 256  # ids of one byte: bodies are full of such numbers
RESERVED_CORRELATION = 2147483640  # Java clients number SASL requests from here on, whatever came before

SEARCH_LIMIT_BYTES = 262144  # searched in vain in a connection without requests: it is left unread
TAIL_BYTES = 13  # of a chunk that was searched in vain: a request header has 14
SMALL_CHUNK_BYTES = (
    64  # chunks of fewer bytes are joined, and a request behind them judged by as many bytes of its body
)
TAIL_ENTRY_BYTES = 16  # of a byte that was joined
MOST_TAIL_BYTES = PAGE_BYTES // TAIL_ENTRY_BYTES
TAILS_OF_ARENA = 8  # joined tails may take this part of the arena
IS_NONE = 0  # verdicts of a place in a tail
MAY_BE = 1
IS_ONE = 2
TAIL_REACH_BYTES = 1024  # of the next chunk, searched together with them

MOST_TRIES = 64  # chunks behind other bytes that are looked at
TRIED_BYTES = 512  # the first ones of each of them

MOST_PROVISIONAL = 16384  # of all connections
MOST_PROVISIONAL_OF_SIDE = 16
PROOF_STEPS = 4  # from a provisional reply to the next with a larger correlation id: no other protocol does that
