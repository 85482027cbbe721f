"""What a request waited for, as the stage that pairs messages tells it: earlier replies of its connection, and mutes."""

from __future__ import annotations

from typing import NamedTuple

from dissectors import layout
from dissectors.kafka.columns.exchanges import Exchanges
from dissectors.layout import UNKNOWN
from dissectors.matrix import new_matrix

MS = 1_000_000


class Frame(NamedTuple):
    """`place` joins a reply to its request; times in ms; `throttle_ms` of a reply."""

    event: int
    place: int
    first_ms: int | None
    last_ms: int | None = None
    throttle_ms: int = UNKNOWN
    slot: int = 0
    part: int = 1
    status: int = layout.STATUS_ANSWERED


def asked(place: int, at_ms: int, **values: int) -> Frame:
    return Frame(layout.FRAME_REQUEST_SEEN, place, at_ms, at_ms, **values)


def told(place: int, first_ms: int, last_ms: int | None = None, **values: int) -> Frame:
    return Frame(layout.FRAME_REPLY_SEEN, place, first_ms, first_ms if last_ms is None else last_ms, **values)


def lost(place: int) -> Frame:
    return Frame(layout.FRAME_REQUEST_ENDED, place, 0, 0, status=layout.STATUS_REPLY_LOST)


def waits(*frames: Frame) -> list[tuple[int | None, int | None]]:
    """(queue, muted) in ms of each finished exchange, in the order of their ends; None: unknown."""
    rows = new_matrix(layout.FRAME_COLUMNS, len(frames))
    values = new_matrix(layout.VALUE_COLUMNS, len(frames))
    for at, frame in enumerate(frames):
        for column in range(layout.VALUE_COLUMNS):
            values[column, at] = UNKNOWN
        rows[layout.FRAME_EVENT, at] = frame.event
        rows[layout.FRAME_REQUEST, at] = frame.place
        rows[layout.FRAME_SLOT, at] = frame.slot
        rows[layout.FRAME_PART, at] = frame.part
        rows[layout.FRAME_STATUS, at] = frame.status
        rows[layout.FRAME_FIRST_TIME, at] = UNKNOWN if frame.first_ms is None else frame.first_ms * MS
        rows[layout.FRAME_LAST_TIME, at] = UNKNOWN if frame.last_ms is None else frame.last_ms * MS
        values[layout.VALUE_THROTTLE_MS, at] = frame.throttle_ms
    out = new_matrix(layout.ROW_COLUMNS, len(frames))
    _, used, _ = Exchanges().feed(rows, values, 0, len(frames), 16, out, 0, len(frames))

    def told_ms(column: int, row: int) -> int | None:
        return None if out[column, row] == UNKNOWN else out[column, row] // MS

    return [(told_ms(layout.ROW_QUEUE, row), told_ms(layout.ROW_MUTED, row)) for row in range(used)]


def test_a_request_alone_waits_for_nothing() -> None:
    assert waits(asked(0, 10), told(0, 15), asked(0, 20), told(0, 25)) == [(0, 0), (0, 0)]


def test_pipelined_requests_wait_for_the_end_of_the_reply_before() -> None:
    assert waits(asked(0, 0), asked(1, 1), told(0, 10, 12), told(1, 30)) == [(0, 0), (11, 0)]


def test_a_mute_lasts_from_the_first_byte_of_the_reply() -> None:
    frames = (asked(0, 0), told(0, 10, 12, throttle_ms=100), asked(1, 50), told(1, 115))
    assert waits(*frames) == [(0, 0), (0, 60)]
    # Sent before the reply came: it waits for that, and then for the rest of the mute.
    frames = (asked(0, 0), asked(1, 5), told(0, 10, 12, throttle_ms=100), told(1, 115))
    assert waits(*frames) == [(0, 0), (7, 98)]


def test_the_longest_mute_counts_until_it_is_over() -> None:
    frames = (
        asked(0, 0),
        told(0, 1, throttle_ms=100),
        asked(1, 97),
        told(1, 98, throttle_ms=2),
        asked(2, 99),
        told(2, 120),
    )
    assert waits(*frames)[2] == (0, 2)


def test_a_reply_whose_begin_has_no_time_ends_no_mute() -> None:
    unknown = Frame(layout.FRAME_REPLY_SEEN, 1, None, 98, throttle_ms=5)
    frames = (asked(0, 0), told(0, 10, throttle_ms=100), asked(1, 97), unknown, asked(2, 99), told(2, 120))
    assert waits(*frames) == [(0, 0), (None, None), (0, 11)]


def test_a_reply_well_inside_the_throttle_time_shows_that_there_was_no_mute() -> None:
    frames = (asked(0, 0), told(0, 10, throttle_ms=100), asked(1, 50), told(1, 60), asked(2, 70), told(2, 80))
    assert waits(*frames) == [(0, 0), (0, 0), (0, 0)]


def test_after_a_lost_reply_nothing_is_known_until_the_next_one() -> None:
    frames = (asked(0, 0), asked(1, 1), lost(0), told(1, 30), asked(2, 40), told(2, 50))
    assert waits(*frames) == [(None, None), (None, None), (0, 0)]
    assert waits(asked(0, 0), Frame(layout.FRAME_REPLY_SEEN, 0, 10), asked(1, 20), told(1, 30))[1] == (None, None)


def test_an_orphaned_reply_counts_as_the_reply_before() -> None:
    orphan = Frame(layout.FRAME_ORPHAN_SEEN, UNKNOWN, 10, 20, status=layout.STATUS_ORPHAN_REPLY)
    assert waits(asked(0, 5), orphan, told(0, 30))[1] == (15, 0)


def test_connections_do_not_wait_for_each_other() -> None:
    frames = (asked(0, 0), asked(1, 1, slot=1, part=2), told(0, 50, throttle_ms=100), told(1, 60, slot=1, part=2))
    assert waits(*frames) == [(0, 0), (0, 0)]
    # A slot that another connection had before.
    frames = (asked(0, 0), told(0, 50, throttle_ms=100), asked(1, 60, part=2), told(1, 70, part=2))
    assert waits(*frames) == [(0, 0), (0, 0)]
