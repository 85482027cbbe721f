"""What `log_rows` knows of a line by numbers: its members, the columns of its row, its connection, and why it waits."""

from __future__ import annotations

# Members of a line, of its header, and of what it says of the client's software; seven times follow the first of them.
LINE_FORWARDED = 0
LINE_HEADER = 1
LINE_REQUEST = 2
LINE_RESPONSE = 3
LINE_CONNECTION = 4
LINE_TIMES = 5
LINE_PROTOCOL = 12
LINE_SOFTWARE = 15
LINE_MOMENT = 16
LINE_MEMBERS = 17
HEADER_KEY = 17
HEADER_VERSION = 18
HEADER_CORRELATION = 19
HEADER_CLIENT = 20
SOFTWARE_NAME = 21
SOFTWARE_VERSION = 22
MEMBERS = 23

# Columns of a line: those of `log_reader.COLUMNS`, and the exchange and the connection that it became.
LOG_NUMBER = 0
LOG_LINE = 1
LOG_MOMENT = 2
LOG_ENDS = 3
LOG_KEY = 7
LOG_API = 8
LOG_VERSION = 9
LOG_CORRELATION = 10
LOG_CLIENT = 11
LOG_FORWARDED = 12
LOG_TIMES = 13
LOG_SEND = 19
LOG_PROTOCOL = 20
LOG_TOPIC = 23
LOG_EXCHANGE = 24
LOG_CONNECTION = 25
LOG_COLUMNS = 26

# A connection; the last four are its ends as columns of a line have them.
PART_CELL_NUMBER = 0
PART_CELL_ID = 1
PART_CELL_BEGIN = 2
PART_CELL_END = 3
PART_CELL_REQUESTS = 4
PART_CELL_REPLIES = 5
PART_CELL_ENDS = 6
PART_CELLS = 10

# An exchange whose bodies hold facts: their places in the block, UNKNOWN where there is none.
FACT_EXCHANGE = 0
FACT_PART = 1
FACT_KEY = 2
FACT_VERSION = 3
FACT_BEGIN_NS = 4
FACT_END_NS = 5
FACT_REQUEST = 6
FACT_RESPONSE = 8
FACT_CELLS = 10
FACT_ROWS = 500

# Matrices.
OUT_LINES = 0
OUT_EXCHANGES = 1
OUT_ENTRIES = 2
OUT_ERRORS = 3
OUT_COUNT = 4

# Why a block is not read on: it is at its end; rows or facts must be taken; a line is not as most are.
WHY_END = 0
WHY_FULL = 1
WHY_ENTRIES = 2
WHY_ERRORS = 3
WHY_FACTS = 4
WHY_ODD = 5
TAKEN = 6

API_VERSIONS = 18
KNOWN_KEYS = 128
KNOWN_VERSIONS = 32
NS_OF_SECOND = 1_000_000_000
MOST_TIME_NS = 604_800_000_000_000  # a week: no broker holds a request for longer
MOST_TIME_DIGITS = 12  # and point
MOST_FRACTION = 6  # digits
MOMENT_SIZE = 19
MOMENT_REACH = 400  # bytes before the request in which a moment is looked for
LONGEST_FRACTION = 9
LAST_YEAR = 2115
# Of a longer line the bodies are not read: their places, and the objects of facts, take many times its bytes.
LONGEST_WITH_BODIES = 16 << 20
BEGIN_SIZE = 18
BYTE_DOT = 0x2E
BYTE_T = 0x54
BYTE_Z = 0x5A
NUMBERS_END = 1 << 31  # of correlation ids
