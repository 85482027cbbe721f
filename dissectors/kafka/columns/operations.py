"""Operations of the programs that `program` writes and `walk` runs: a program is a flat array of int32.

An operation is its number followed by its operands, which the comment behind it names. An address is an index into the array,
from the start of the program. A target (`to`, `also`) says where a value goes: a VALUE_ column; a column of a value that
is inside an array (TO_ONCE + column: unknown again when it comes twice); a register (TO_REGISTER + number); -1 nowhere.
"""

from __future__ import annotations

from dissectors.layout import ENTRY_COLUMNS, VALUE_COLUMNS

OP_END = 0  # number of registers, then each: the message ends, empty these
OP_BODY = 1  # the header ends here
OP_UNSUPPORTED = 2  # no schema for what follows
OP_FIXED = 3  # bytes, number of loads, then (LOAD_, byte, to, also) each: fields of fixed size, checked at once
OP_SIZED = 4  # FORM_, USE_, to, also: a length and as many bytes
OP_ARRAY = 5  # FORM_, least bytes of an element, counted in (VALUE_ column or -1), TOUCH_ bits, address behind it
OP_ITEMS = 6  # FORM_, bytes of an element, counted in: an array to be passed over at once
OP_NEXT = 7  # number of registers, then each: an element ends; empty these, go on with the next element
OP_NULLABLE = 8  # address behind the struct, which has a byte before it
OP_TAGS = 9  # address behind the section, number of known tags, then (tag, address) each
OP_TAG_END = 10
OP_PATCH = 11  # number of registers, then each: write it into the error rows since the element began
OP_ROW = 12  # forgotten: write an entry
OP_DEFAULT = 13  # to, value: unless it was there
OP_NEWER = 14  # 1: tagged fields end the header, FOLLOWS_, number of fields, then (NEWER_, to, least, greatest) each

# How a length or count is written.
FORM_INT16 = 0
FORM_INT32 = 1
FORM_COMPACT = 2

# What is done with the bytes of an OP_SIZED.
USE_NOTHING = 0
USE_TEXT = 1
USE_MESSAGE = 2  # of the error code before it; `to` is 1 where it may repeat a secret
USE_RECORDS = 3
USE_SET = 4  # records too, and a row of sets

# Types of the fields of an OP_FIXED.
LOAD_INT8 = 0
LOAD_UINT8 = 1
LOAD_INT16 = 2
LOAD_UINT16 = 3
LOAD_INT32 = 4
LOAD_UINT32 = 5
LOAD_INT64 = 6
LOAD_UUID = 7  # two registers: high and low half
LOAD_ERROR = 8  # int16; `to` is the number of the field, `also` the register of its entity
LOAD_ROW_ERROR = 9  # an error that is also ENTRY_ERROR_CODE
LOAD_ONLY_ERROR = 10  # the only error code that the message has: its 0 is certain, whatever else is missing
LOAD_OFFSET = 11  # an int64; unknown where no log has such an offset (HIGHEST_OFFSET)

# Fields of an OP_NEWER, the last operation of a message that is newer than its schema, and what must follow them.
NEWER_THROTTLE = 0
NEWER_ERROR = 1  # `to` is the number of the field
NEWER_TEXT = 2  # `least` and `greatest` are of its size
FOLLOWS_ANYTHING = 0
FOLLOWS_LENGTH = 1
FOLLOWS_NULLABLE = 2  # a length that may be null

# Columns of an array inside this one, which are 0 and not unknown when this one has no elements.
TOUCH_PARTITIONS = 1
TOUCH_RECORDS = 2

# Registers hold what rows of entries and errors need from the structs around them: a register for each ENTRY_ column, then one
# for the entity of each level of nesting.
REGISTER_ENTITY = ENTRY_COLUMNS
REGISTERS = 32

# Targets: below TO_REGISTER a VALUE_ column.
TO_REGISTER = 32
TO_ONCE = TO_REGISTER + REGISTERS

assert REGISTER_ENTITY < REGISTERS, "a register for each column of an entry, and some for entities"
assert VALUE_COLUMNS <= TO_REGISTER, "targets below TO_REGISTER are columns of values"
