"""When the rows of a capture that was read in parts are those of one run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence


def agree(table: str, found: Sequence[Hashable], expected: Sequence[Hashable]) -> bool:
    """Whether the rows of one table, in parts (`found`) and of one run, agree. They are the same, but for one table: a part that
    begins within a queue does not know yet that its first packets waited, so of these it may have fewer rows, never others."""
    if table == "queued_packets":
        return not Counter(found) - Counter(expected)
    return list(found) == list(expected)
