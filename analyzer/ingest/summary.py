"""What a run tells beside its tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(slots=True)
class Summary:
    """What a run tells beside its tables. Summaries of runs that shared the connections of a capture can be added.

    `api_keys` of messages that were read; `whole_requests`: parts in which a request was decoded to its last byte;
    `limited`: problem number -> how often; `problems_dropped`: problems that no table lists; `duplicates`: split -> segments
    captured twice; `saw_several_points`: a connection was seen at several capture points; `odd`: a body could not be read or
    the clock ran back within an exchange; `rows`: raw table -> rows; `rows_left_out`: a message had more rows than are kept of one.
    """

    api_keys: set[int]
    whole_requests: set[int]
    limited: Counter[int]
    problems_dropped: int
    duplicates: Counter[int]
    saw_several_points: bool
    odd: bool
    rows: Counter[str]
    rows_left_out: bool = False

    def __add__(self, other: Summary) -> Summary:
        return Summary(
            self.api_keys | other.api_keys,
            self.whole_requests | other.whole_requests,
            self.limited + other.limited,
            self.problems_dropped + other.problems_dropped,
            self.duplicates + other.duplicates,
            self.saw_several_points or other.saw_several_points,
            self.odd or other.odd,
            self.rows + other.rows,
            self.rows_left_out or other.rows_left_out,
        )


def total(summaries: Iterable[Summary]) -> Summary:
    """The sum of summaries. Each is read once: adding a hundred thousand of them two at a time would copy the growing sum for
    each."""
    found = Summary(set(), set(), Counter(), 0, Counter(), saw_several_points=False, odd=False, rows=Counter())
    for each in summaries:
        found.api_keys |= each.api_keys
        found.whole_requests |= each.whole_requests
        found.limited.update(each.limited)
        found.problems_dropped += each.problems_dropped
        found.duplicates.update(each.duplicates)
        found.saw_several_points |= each.saw_several_points
        found.odd |= each.odd
        found.rows.update(each.rows)
        found.rows_left_out |= each.rows_left_out
    return found
