"""Numbers of framing's state: columns of its matrices, modes of a direction, limits and thresholds.

C_: a connection, `talk[slot, column]`; the TALK_ columns come first, so that a row leaves by one copy.
S_: one direction of it, `side[2 * slot + side, column]`.
W_: an outstanding request, `wait[place, column]`, a pool with a free list.
T_: a frame of a trial, `trial[place, column]`, a pool with a free list.
"""

from dissectors.layout import TALK_COLUMNS
from dissectors.numbering import Numbering

_connection = Numbering(TALK_COLUMNS)
C_FIRST = _connection.column()  # oldest outstanding request, -1 none
C_LAST = _connection.column()
C_WAITING = _connection.column()  # how many
C_TOKENS = _connection.column()  # TOKENS_
C_ENDED = _connection.column()  # bit per side
C_END_TIME = _connection.column()  # when the client said it is done, before the broker did
C_FROM_SYN = _connection.column()
C_FORCED = _connection.column()  # --ports said who the broker is
C_SPECIAL = _connection.column()  # requests that later ones of other connections, or much later ones, refer to
C_COLUMNS = _connection.count

_side = Numbering()
S_MODE = _side.column()
S_TOTAL = _side.column()  # bytes of the frame under way, length field included; -1 not known yet
S_PASSED = _side.column()  # bytes of it that went by, lost ones included
S_HELD = _side.column()  # bytes kept, from its start without a hole
S_FRAMED = _side.column()  # bytes of it that reassembly gave (to be counted when it is done)
S_TIME = _side.column()
S_NUMBER = _side.column()
S_SEQ = _side.column()
S_PAGE_FIRST = _side.column()
S_PAGE_LAST = _side.column()
S_REASON = _side.column()  # SKIP_ reason while searching
S_LOSSES = _side.column()  # gaps that hid a frame boundary
S_CORRELATION = _side.column()  # of the newest frame, UNKNOWN before the first
S_GUESSED = _side.column()  # begun where a search said so: 1 first in a chunk, 2 inside
S_LAST_TIME = _side.column()  # latest time among its bytes so far
S_PREFIX = _side.column()  # the length field, as far as it came
S_SEARCHED = _side.column()  # bytes searched in vain
S_TRIAL_FIRST = _side.column()  # oldest frame of the trial, -1 none
S_TRIAL_LAST = _side.column()
S_TRIAL_COUNT = _side.column()
S_TRIAL_BYTES = _side.column()  # in complete frames of the trial, not counted yet
S_TRIAL_UNLIKE = _side.column()  # frames of the trial that ZooKeeper cannot have sent
S_TRIAL_SURE = _side.column()  # the trial is won, its frames leave
S_TAIL = _side.column()  # bytes of the chunk searched last that lie in the tail columns
S_TAIL_HIGH = _side.column()
S_TAIL_LOW = _side.column()
S_TAIL_TIME = _side.column()
S_TAIL_NUMBER = _side.column()
S_TAIL_END = _side.column()  # sequence number after it
S_TRIAL_STEPS = _side.column()  # from one frame to the next with a larger id
S_TRIAL_BACK = _side.column()  # and with a smaller one
TRIAL_WORDS = 5
S_WORDS = _side.columns(TRIAL_WORDS)  # the first five numbers (int32) of the trial's frame under way
S_COLUMNS = _side.count

M_SEARCH = 0
M_FRAMES = 1
M_DEAD = 2
M_TRIAL = 3  # replies without requests: held back until there is proof

# States of C_TOKENS.
TOKENS_NONE = 0
TOKENS_NEXT = 1  # a handshake was accepted: the next frame is a token
TOKENS_ON = 2  # tokens until a request header turns up
TOKENS_ASKED = 3  # the answer to the handshake has not been seen

_trial = Numbering()
T_TIME = _trial.column()
T_LAST_TIME = _trial.column()
T_NUMBER = _trial.column()
T_SEQ = _trial.column()
T_TOTAL = _trial.column()
T_FRAMED = _trial.column()
T_CORRELATION = _trial.column()
T_NEXT = _trial.column()
T_COLUMNS = _trial.count

_wait = Numbering()
W_CORRELATION = _wait.column()
W_KEY = _wait.column()
W_VERSION = _wait.column()
W_NEXT = _wait.column()
W_LAST_TIME = _wait.column()
W_ID = _wait.column()
W_LOSSES = _wait.column()  # losses of the reply direction when it was sent
W_ACKS_UNSEEN = _wait.column()
W_COLUMNS = _wait.count

MOST_WAITING_AT_REST = 64

TWO_31 = 1 << 31
TWO_32 = 1 << 32
LOW_32 = (1 << 32) - 1
LOW_56 = (1 << 56) - 1
LOW_63 = (1 << 63) - 1
LOW_64 = (1 << 64) - 1
MIX_1 = 0xBF58476D1CE4E5B9
MIX_2 = 0x94D049BB133111EB

PAGE = 4096
OWN_HEAP = 2  # beside 0, the block, and 1, the stream stage's heap
TOKEN = -2  # stands in FRAME_KEY for a bare SASL token
TOKEN_WAITS = -70000  # stands in W_KEY for one: a number that no request can have on the wire
LONGEST_FRAME = 1073741824  # lengths beyond are no lengths
LONGEST_SYNC_FRAME = 134217728  # a guess must be more modest
LONGEST_TOKEN = 1048576
SEARCH_LIMIT = 262144  # bytes searched before a stranger is left alone
ABANDON_NS = 27000000000  # 0.9 of the usual request timeout, 30 s
CLOCK_NS = 1000000  # capture clocks that disagree by less are said to agree
LONGEST_TIMEOUT_MS = 3600000  # of a Produce request that was guessed
MOST_WAITING = 8192  # outstanding requests of one connection
MOST_TRIALS = 16384  # frames of all trials
LONGEST_TRIAL = 16  # frames of one
TRIAL_PROOF = 4  # steps from a frame right to another with a larger id: nothing but Kafka
LONGEST_STEP = 1000  # from one correlation id of a connection to another that is near it
RESERVED = 2147483640  # Java clients number SASL requests from here, whatever came before
LONGEST_FIRST_TRIAL = 16777216  # one reply that nothing speaks for must not hide too much
MOST_TOPICS = 65536
TAIL = 13  # a request header has 14 bytes: so many may lie before the end of a chunk
TAIL_REACH = 1024  # bytes of the next chunk that are looked at with them

PROBLEM_ROWS = 4096
