"""Numbers of the walk stage: sizes of its tables, what functions return on failure, sizes within record batches."""

from __future__ import annotations

# Programs are found by (key * VERSIONS + version) * 2 + direction; keys and versions beyond the table share the last index.
KEYS = 128
VERSIONS = 64
NO_PROGRAM = -1

API_VERSIONS = 18  # API key
CORRELATION_BYTES = 4  # of a reply, before its body: the header of a reply to ApiVersions never has more
UNSUPPORTED_VERSION = 35  # error code

# Returned instead of a length, which is -1 for null; `outcome` says what is wrong.
FAILED = -2

# Returned by functions that write rows: the output is full.
NO_ROOM = -2

# Entries, errors or sets of one message; they are held together.
MOST_ROWS_OF_A_MESSAGE = 1 << 20

# Outcome of a message beside the DECODED_ ones: entries, errors or sets are full.
FULL_OUTPUT = 100
# Which of them.
FULL_ENTRIES = 0
FULL_ERRORS = 1
FULL_SETS = 2

# Arrays and tagged sections that can be open at once. Each has four numbers on the stack, above those of the message.
STACK_LEVELS = 32

# Record batches and legacy messages, sizes in bytes.
BATCH_PREFIX = 12  # base offset and length
LEAST_MESSAGE = 14  # what follows them in the smallest message: CRC, magic, attributes, two lengths
BATCH_HEADER = 61  # the whole header of magic 2

SIGN_32 = 1 << 31

# Short strings are looked up without making a Python object: TEXT_SLOTS slots of TEXT_BYTES bytes.
TEXT_SLOTS = 4096
TEXT_BYTES = 64
# A string that no row needs yet is known by place and size, one number of twice so many bits.
TEXT_SIZE_BITS = 31
TEXT_SIZE_MASK = (1 << 31) - 1
