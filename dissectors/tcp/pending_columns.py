"""Columns of segments of a task that wait until it is known whether they travel, and what becomes of them (`payloads.py`)."""

from __future__ import annotations

from dissectors.layout import SEGMENT_COLUMNS

# Behind the columns of the segments matrix.
PENDING_NUMBER = SEGMENT_COLUMNS  # of the segment, over all splits
PENDING_KIND = SEGMENT_COLUMNS + 1
PENDING_COLUMNS = SEGMENT_COLUMNS + 2

# What becomes of a segment (`judge`): nothing, it goes on waiting, it leaves the task; of some the headers alone. And of one of a
# complete connection (`judge_complete`): its row is that of the connection. NO_FATE: no segment has it.
FATE_DROPPED = 0
FATE_WAITS = 1
FATE_WAITS_BARE = 2
FATE_LEAVES = 3
FATE_LEAVES_BARE = 4
FATE_STANDS = 5
NO_FATE = 6
