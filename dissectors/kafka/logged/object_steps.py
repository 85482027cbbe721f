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

# Where it goes: a value of the message; the same inside an array, unknown when it comes twice; what all rows of the element share;
# the row itself.
TO_VALUE = 0
TO_SINGLE = 1
TO_SHARED = 2
TO_ROW = 3

ENTITY_PLACE = ENTRY_COLUMNS  # behind the columns of an entry, in what rows share
MOST_TEXT = 32_767
MOST_NAMES = 1_024  # that are looked for in a struct and in all around it
MOST_ROWS = 1_048_576  # of a body
