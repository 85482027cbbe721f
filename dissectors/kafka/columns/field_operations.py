"""Operations of the programs that `field_program` writes and `field_reader` runs: a flat array of int32.

An operation is its number followed by its operands, which the comment behind it names. A name is an index into the program's
list of field names, -1 for a field to skip; an address is an index into the array. A struct, an element of an array and a
tagged field end with an END.
"""

from __future__ import annotations

END = 0
FIXED = 1  # bytes to skip
SIZED = 2  # form: a length and as many bytes, to skip
VALUE = 3  # type, name
ARRAY = 4  # form, name, address behind: an array of structs, or one to skip
VALUES = 5  # form, type, name: an array of plain values
ITEMS = 6  # form, bytes of an element: an array to skip
STRUCT = 7  # nullable, name, address behind
TAGS = 8  # address behind, number of known tags, then (tag, address) each

# Forms: how a length or count is written.
INT16_LENGTH = 0
INT32_LENGTH = 1
COMPACT_LENGTH = 2

# Types of values. Those with a length are the number here plus the form of the length.
BOOL = 0
INT8 = 1
INT16 = 2
UINT16 = 3
INT32 = 4
UINT32 = 5
INT64 = 6
UUID = 7
STRING = 8
BYTES = 11
RECORDS = 14  # read as (offset, length) in the data

# Returned by functions that read: the message ends too early, or has a length that cannot be. A null length is -1.
SHORT = -2

# Elements of arrays of one message; a message with more is hostile.
MOST_ELEMENTS = 500_000
