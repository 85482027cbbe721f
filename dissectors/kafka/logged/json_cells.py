"""What `json_places` notes of a value of a JSON text, and the bytes that it knows."""

from __future__ import annotations

CELL_KIND = 0
CELL_BEGIN = 1
CELL_END = 2
CELL_NEXT = 3  # the row behind all that is inside the value
CELLS = 4

JSON_NULL = 0
JSON_TRUE = 1
JSON_FALSE = 2
JSON_WHOLE = 3
JSON_FRACTION = 4
JSON_NO_NUMBER = 5  # NaN and Infinity
JSON_TEXT = 6
JSON_ESCAPED = 7  # a text with a backslash in it
JSON_LIST = 8
JSON_OBJECT = 9

# What may come next.
WANT_VALUE = 0
WANT_FIRST_VALUE = 1
WANT_NAME = 2
WANT_FIRST_NAME = 3
WANT_MORE = 4

MOST_DEPTH = 500  # Python's json ends a little below 1,000
MOST_DIGITS = 4_300  # as Python has it: reading more takes a time that grows with their square

SURE_DIGITS = 18  # that fit an int64 in any case

BYTE_TAB = 0x09
BYTE_LINE = 0x0A
BYTE_RETURN = 0x0D
BYTE_SPACE = 0x20
BYTE_QUOTE = 0x22
BYTE_PLUS = 0x2B
BYTE_COMMA = 0x2C
BYTE_MINUS = 0x2D
BYTE_POINT = 0x2E
BYTE_0 = 0x30
BYTE_9 = 0x39
BYTE_COLON = 0x3A
BYTE_OPEN_LIST = 0x5B
BYTE_BACKSLASH = 0x5C
BYTE_CLOSE_LIST = 0x5D
BYTE_E = 0x65
BYTE_U = 0x75
BYTE_OPEN = 0x7B
BYTE_CLOSE = 0x7D
BYTE_LAST = 0x7F  # of ASCII
