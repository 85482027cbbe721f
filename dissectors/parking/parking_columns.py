"""Numbers of parking: the columns of a parked connection, how its values are written, and the two queues."""

from __future__ import annotations

from dissectors.numbering import Numbering

# A parked connection: parked[entry, column].
_parked = Numbering()
PARKED_KEY = _parked.column()  # hash of its flow
PARKED_BASE = _parked.column()  # time that its times are written relative to
PARKED_COLUMNS = _parked.count

# The same, in 32 bits: links[entry * LINKS + number].
_links = Numbering()
LINK_CELL = _links.column()  # the first one of the chain that holds its values
LINK_OLDER = _links.column()  # of the same queue; -1 none. In a free entry LINK_NEWER is the next free one
LINK_NEWER = _links.column()
LINK_QUEUE = _links.column()  # QUEUE_; -1 it is being taken out
LINKS = _links.count

# Where the values of a connection are being written or read: cursors[number among those at hand, column].
_cursor = Numbering()
CURSOR_CELL = _cursor.column()
CURSOR_AT = _cursor.column()
CURSOR_BASE = _cursor.column()
CURSOR_REMEMBERED = _cursor.column()  # how many values were remembered
CURSOR_COLUMNS = _cursor.count

# Which of them go first when there are too many.
QUEUE_HALF_OPEN = 0
QUEUE_OPEN = 1
QUEUES = 2
HALF_OPEN_PART = 4  # half-open ones are the first to go while they are more than this part of the limit

# What reassembly knows of a connection that may leave its slot (`Reassembly.idle`).
IDLE_SLOT = 0
IDLE_PART = 1
IDLE_KEY = 2
IDLE_TIME = 3
IDLE_CLOSED = 4
IDLE_HALF_OPEN = 5

CELL_BYTES = 64
# A connection takes five or six cells; one whose values are all large takes more. Cells that nobody writes to take no memory.
CELLS_PER_CONNECTION = 10

# Connections are parked in steps of so many; each of them takes no more cells than this, whatever its values are.
PARKED_AT_ONCE = 256
MOST_CELLS = 80

# A value is a tag and up to eight bytes, the lowest first. The upper half of a tag is how many zeros come before the value.
TAG_ZEROS = 0  # no value: 15 zeros
TAG_UNKNOWN = 1
TAG_BYTES = 1  # + 1 to 8: so many bytes, as a signed number
TAG_SINCE_BASE = 6  # + 4 to 6: the same, to be added to the base
TAG_ONE = 13  # no bytes: 1
TAG_MINUS_ONE = 14  # no bytes: -1
TAG_AGAIN = 15  # one byte: which of the last values of two bytes or more it is
MOST_ZEROS = 15
LEAST_SINCE_BASE = 4
MOST_SINCE_BASE = 6
# Values of two bytes or more that are remembered of a connection, the key and the base first: times and sequence numbers are in
# many columns, of several stages.
REMEMBERED = 64
