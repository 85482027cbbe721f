"""What becomes of segments that wait, against the definition, row by row."""

from __future__ import annotations

from array import array

from hypothesis import example, given
from hypothesis import strategies as st

from dissectors import layout
from dissectors.tcp import pending_columns as fate
from dissectors.tcp.payloads import judge, judge_complete

RECENT, NEWEST = 5, 40
NUMBERS = st.integers(0, 50)
LATEST = layout.LATEST_TIME
TIMES = st.one_of(NUMBERS, st.sampled_from((LATEST - 1, LATEST)))
# (number at which the span begins, segments in it, time from which on duplicates may come, over)
SPANS = st.lists(st.tuples(NUMBERS, st.integers(0, 20), TIMES, st.booleans()), max_size=4)
# (part, number, time)
ROWS = st.lists(st.tuples(st.integers(0, 5), NUMBERS, st.one_of(TIMES, st.just(layout.UNKNOWN))), max_size=30)


def pending(rows: list[tuple[int, int, int]], places: tuple[int, int, int]) -> memoryview:
    """Rows that wait, whose three values are in the columns `places`."""
    columns = array("q", [0]) * (fate.PENDING_COLUMNS * len(rows))
    for row, values in enumerate(rows):
        for place, value in zip(places, values, strict=True):
            columns[fate.PENDING_COLUMNS * row + place] = value
    return memoryview(columns)


def expected(part: int, number: int, time: int, spans: list[tuple[int, int, int, bool]], late_ns: int) -> int:
    if part >= len(spans):
        return fate.FATE_LEAVES
    begin, length, since, over = spans[part]
    behind, inside = number > begin + length, begin < number <= begin + length
    followed = number > NEWEST or (number > begin + length - RECENT and time + late_ns >= since)
    if inside and not followed:
        return fate.FATE_DROPPED
    if inside:
        return fate.FATE_LEAVES_BARE if over else fate.FATE_WAITS_BARE
    return fate.FATE_WAITS if behind and not over else fate.FATE_LEAVES


@given(ROWS, SPANS, st.sampled_from((3, LATEST)))
@example([(0, 8, LATEST)], [(0, 10, LATEST, False)], LATEST)
def test_segments_around_a_span(
    rows: list[tuple[int, int, int]], spans: list[tuple[int, int, int, bool]], late_ns: int
) -> None:
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
        late_ns,
        RECENT,
        NEWEST,
        memoryview(fates),
    )
    assert list(fates) == [expected(*row, spans, late_ns) for row in rows]


@given(ROWS, st.lists(st.integers(-1, 50), max_size=5))
def test_segments_of_complete_connections(rows: list[tuple[int, int, int]], firsts: list[int]) -> None:
    fates = bytearray(len(rows))
    columns = pending(rows, (layout.SEGMENT_PART, layout.SEGMENT_NUMBER, layout.SEGMENT_TIME))
    judge_complete(columns, memoryview(array("q", firsts)), memoryview(fates))
    for (part, packet, _), found in zip(rows, fates, strict=True):
        is_complete = part < len(firsts) and firsts[part] >= 0
        stands = is_complete and packet == firsts[part]
        assert found == (fate.FATE_STANDS if stands else fate.FATE_DROPPED if is_complete else fate.FATE_LEAVES)
