"""Numbers of the walk stage: sizes of its tables, what helpers return instead of a length, parts of record batches."""

from __future__ import annotations

# Programs are found by (key * VERSIONS + version) * 2 + direction; what lies beyond shares the last place.
KEYS = 128
VERSIONS = 64
API_VERSIONS = 18
UNSUPPORTED_VERSION = 35
NO_PROGRAM = -1

# What a helper says instead of a length. A null length is -1.
FAILED = -2  # and `outcome` says how

# An outcome of a message beside the DECODED_ ones: entries or errors are full.
FULL_OUTPUT = 100

# The stack of arrays and tagged sections: four numbers each, below them those of the message.
STACK_LEVELS = 32

# Record batches: offset and length; the rest of the least message (crc, magic, attributes, two lengths); a header of magic 2.
BATCH_PREFIX = 12
LEAST_MESSAGE = 14
BATCH_HEADER = 61
MOST_OFFSET = 4611686018427387904
SIGN_32 = 2147483648

# Short strings are looked up without making a Python object: TEXT_SLOTS places of TEXT_BYTES each.
TEXT_SLOTS = 4096
TEXT_BYTES = 64
