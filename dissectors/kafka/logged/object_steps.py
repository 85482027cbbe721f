"""What the steps of a plan do, and where values go (`object_plan`)."""

from __future__ import annotations

from dissectors.layout import ENTRY_COLUMNS

# What a step does with the value of its name.
STEP_NUMBER = 0
STEP_TEXT = 1
STEP_UUID = 2
STEP_ERROR = 3
STEP_ARRAY = 4
STEP_STRUCT = 5
STEP_RECORDS = 6
STEP_ENTITY = 7
STEP_COUNT = 8  # of an array that holds nothing to be read
STEP_MESSAGE = 9  # of the error code before it; `at` is 1 where it may repeat a secret

# Where it goes: a value of the message; the same inside an array, unknown when it comes twice; what all rows of the element share;
# the row itself.
TO_VALUE = 0
TO_SINGLE = 1
TO_SHARED = 2
TO_ROW = 3

# A step as numbers; its names and the values that count what is inside are behind one another in a list of the plan.
CELL_STEP = 0
CELL_TO = 1
CELL_AT = 2
CELL_BITS = 3
CELL_COUNTED = 4
CELL_NAMES = 5
CELL_TOUCHED = 6  # behind the last name
CELL_LAST = 7  # behind the last that is touched
STEP_CELLS = 8

ENTITY_PLACE = ENTRY_COLUMNS  # behind the columns of an entry, in what rows share
SHARED_CELLS = ENTRY_COLUMNS + 1
ENTRY_CELLS = ENTRY_COLUMNS - 1  # of a row without its frame
ERROR_CELLS = 8
MOST_TEXT = 32_767
SIZES_END = 1 << 31
UUID_SIZE = 22  # as text
MOST_NAMES = 1_024  # that are looked for in a struct and in all around it
MOST_ROWS = 1_048_576  # of a body

# Texts that are found by their bytes (`body_texts`).
TEXT_SLOTS = 2_048  # a power of two
TEXT_ROOM = 128
TEXT_FACTOR = 0x01000193
TEXT_MASK = 0xFFFFFFFF
