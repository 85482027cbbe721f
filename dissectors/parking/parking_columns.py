"""Numbers of parking: the columns of a parked connection, how its values are written, and the two queues."""

from __future__ import annotations

from dissectors.numbering import Numbering

# A parked connection: parked[entry, column].
_parked = Numbering()
PARKED_KEY = _parked.column()  # hash of its flow
PARKED_BASE = _parked.column()  # time that its times are written relative to
PARKED_FIRST_CELL = _parked.column()  # of the chain that holds its values
PARKED_CELL = _parked.column()  # where the next byte goes, or is read from
PARKED_AT = _parked.column()
PARKED_OLDER = _parked.column()  # of the same queue; -1 none. In a free entry PARKED_NEWER is the next free one
PARKED_NEWER = _parked.column()
PARKED_QUEUE = _parked.column()  # QUEUE_; -1 it is being taken out
PARKED_COLUMNS = _parked.count

# Which of them go first when there are too many.
QUEUE_HALF_OPEN = 0
QUEUE_OPEN = 1
QUEUES = 2
HALF_OPEN_PART = 4  # half-open ones are the first to go while they are more than this part of the limit

# What reassembly tells of a connection that may leave its slot (`Reassembly.idle`).
IDLE_SLOT = 0
IDLE_PART = 1
IDLE_KEY = 2
IDLE_TIME = 3
IDLE_CLOSED = 4
IDLE_HALF_OPEN = 5

CELL_BYTES = 64
# A connection takes ten cells; one whose values are all large takes more. Cells that nobody writes to take no memory.
CELLS_PER_CONNECTION = 12

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
MOST_ZEROS = 15
LEAST_SINCE_BASE = 4
MOST_SINCE_BASE = 6
