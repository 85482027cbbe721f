"""How late segments are, against the definition, row by row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.tcp.payloads import times

TIMES = st.lists(st.one_of(st.integers(0, 1_000), st.just(layout.UNKNOWN)), max_size=30)


@given(TIMES, st.integers(-5, 1_005))
def test_times_are_those_of_the_definition(given_times: list[int], before: int) -> None:
    segments = new_matrix(layout.SEGMENT_COLUMNS, max(1, len(given_times)))
    for row, time in enumerate(given_times):
        segments[layout.SEGMENT_TIME, row] = time
    known = [time for time in given_times if time != layout.UNKNOWN]
    late = [max([before, *known[:row]]) - time for row, time in enumerate(known)]
    expected = (known[0] if known else layout.UNKNOWN, max([before, *known]), max([0, *late]))
    assert times(segments, len(given_times), before) == expected
