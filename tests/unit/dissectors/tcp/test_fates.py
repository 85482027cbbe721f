"""What becomes of segments that wait, against the definition, row by row."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from dissectors import layout
from dissectors.tcp import pending_columns as fate
from dissectors.tcp.payloads import judge, judge_complete

RECENT, LATE_NS, NEWEST = 5, 3, 40
NUMBERS = st.integers(0, 50)
# (number at which the span begins, segments in it, time from which on duplicates may come, over)
SPANS = st.lists(st.tuples(NUMBERS, st.integers(0, 20), NUMBERS, st.booleans()), max_size=4)
# (part, number, time)
ROWS = st.lists(st.tuples(st.integers(0, 5), NUMBERS, NUMBERS), max_size=30)


def pending(rows: list[tuple[int, int, int]], places: tuple[int, int, int]) -> memoryview:
    """Rows that wait, whose three values are in the columns `places`."""
    columns = array("q", [0]) * (fate.PENDING_COLUMNS * len(rows))
    for row, values in enumerate(rows):
        for place, value in zip(places, values, strict=True):
            columns[fate.PENDING_COLUMNS * row + place] = value
    return memoryview(columns)


def expected(part: int, number: int, time: int, spans: list[tuple[int, int, int, bool]]) -> int:
    if part >= len(spans):
        return fate.FATE_LEAVES
    begin, length, since, over = spans[part]
    behind, inside = number > begin + length, begin < number <= begin + length
    followed = number > NEWEST or (number > begin + length - RECENT and time + LATE_NS >= since)
    if inside and not followed:
        return fate.FATE_DROPPED
    if inside:
        return fate.FATE_LEAVES_BARE if over else fate.FATE_WAITS_BARE
    return fate.FATE_WAITS if behind and not over else fate.FATE_LEAVES


@given(ROWS, SPANS)
def test_segments_around_a_span(rows: list[tuple[int, int, int]], spans: list[tuple[int, int, int, bool]]) -> None:
    columns = pending(rows, (layout.SEGMENT_PART, fate.PENDING_NUMBER, layout.SEGMENT_TIME))
    begins = array("q", [begin for begin, *_ in spans])
    ends = array("q", [begin + length for begin, length, *_ in spans])
    since = array("q", [time for _, _, time, _ in spans])
    over = bytes(each for *_, each in spans)
    fates = bytearray(len(rows))
    judge(
        columns,
        memoryview(begins),
        memoryview(ends),
        memoryview(since),
        over,
        LATE_NS,
        RECENT,
        NEWEST,
        memoryview(fates),
    )
    assert list(fates) == [expected(*row, spans) for row in rows]


@given(ROWS, st.lists(st.integers(-1, 50), max_size=5))
def test_segments_of_complete_connections(rows: list[tuple[int, int, int]], firsts: list[int]) -> None:
    fates = bytearray(len(rows))
    columns = pending(rows, (layout.SEGMENT_PART, layout.SEGMENT_NUMBER, layout.SEGMENT_TIME))
    judge_complete(columns, memoryview(array("q", firsts)), memoryview(fates))
    for (part, packet, _), found in zip(rows, fates, strict=True):
        is_complete = part < len(firsts) and firsts[part] >= 0
        stands = is_complete and packet == firsts[part]
        assert found == (fate.FATE_STANDS if stands else fate.FATE_DROPPED if is_complete else fate.FATE_LEAVES)
