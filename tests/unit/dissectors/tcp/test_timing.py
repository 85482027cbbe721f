"""What reassembly tells of the way of packets: lags, what was held back, ACKs sent at once, round trips."""

from __future__ import annotations

import random
from types import ModuleType

import pytest
from segment_rows import ACK, BROKER, CLIENT, STAGES, SYN, Segment, rows_of

from dissectors import layout
from dissectors.matrix import new_matrix

START = 1_795_261_000_000_000_000
MS = 1_000_000
NONE = layout.UNKNOWN


@pytest.fixture(params=STAGES.values(), ids=STAGES.keys())
def stage(request: pytest.FixtureRequest) -> ModuleType:
    return request.param


class Told:
    """Chunk rows and the part's row of a connection; times of segments are ms after the start."""

    def __init__(self, stage: ModuleType, segments: list[Segment]) -> None:
        for number, one in enumerate(segments, 1):
            one.number = number
            one.time = START + round((one.time or 0) * MS)
        streams, chunks = stage.Reassembly(seed=1), new_matrix(layout.CHUNK_COLUMNS, 400)
        block, rows = rows_of(segments)
        done, used, _ = streams.feed(bytes(block), rows, len(segments), 0, chunks)
        assert done == len(segments)
        self.chunks = [[chunks[column, row] for column in range(layout.CHUNK_COLUMNS)] for row in range(used)]
        streams.finish(chunks)
        queued, waited = streams.take_queued()
        self.queued = [[queued[column, row] for column in range(layout.QUEUED_COLUMNS)] for row in range(waited)]
        assert streams.take_queued()[1] == 0
        parts, count = streams.take_parts()
        self.parts = [[parts[column, row] for column in range(layout.PART_COLUMNS)] for row in range(count)]

    def data(self, side: int) -> list[list[int]]:
        return [
            row for row in self.chunks if row[layout.CHUNK_KIND] == layout.CHUNK_DATA and row[layout.CHUNK_SIDE] == side
        ]

    def of_side(self, column: int, side: int) -> int:
        return self.parts[0][column + side]


def asks(seq: int, at: float, size: int = 100, ack: int = 1, tsval: int = NONE, **values: int) -> Segment:
    return Segment(CLIENT, BROKER, seq, ack, data=b"x" * size, time=at, tsval=tsval, **values)  # type: ignore[arg-type]


def tells(seq: int, at: float, size: int = 0, ack: int = 1, tsval: int = NONE, **values: int) -> Segment:
    return Segment(BROKER, CLIENT, seq, ack, data=b"y" * size, time=at, tsval=tsval, **values)  # type: ignore[arg-type]


def opening(mss: int = 1460, scale: int = 7) -> list[Segment]:
    options = mss << 16 | (scale + 1) << 8
    return [
        Segment(CLIENT, BROKER, 0, None, SYN, time=0, options=options),
        Segment(BROKER, CLIENT, 0, 1, SYN | ACK, time=0.05, options=options),
        Segment(CLIENT, BROKER, 1, 1, time=0.1),
    ]


def test_a_lag_is_the_time_since_the_timestamp_also_where_that_wraps(stage: ModuleType) -> None:
    last = (1 << 32) - 1
    told = Told(stage, [*opening(), asks(1, 10, tsval=last), asks(101, 11, tsval=0), asks(201, 17, tsval=1)])
    lags = [row[layout.CHUNK_LAG] for row in told.data(0)]
    assert lags[0] == (START + 10 * MS - last * MS) % layout.LAG_RANGE
    assert (lags[1] - lags[0]) % layout.LAG_RANGE == 0
    assert (lags[2] - lags[0]) % layout.LAG_RANGE == 5 * MS, "it was in queues for 5 ms"
    assert told.of_side(layout.PART_LAG_LEAST, 0) == lags[0]
    assert told.of_side(layout.PART_LAG_LEAST, 1) == NONE


def test_what_a_damaged_packet_tells_of_its_way_is_unknown(stage: ModuleType) -> None:
    """Its peer took it, so its bytes count; its lag is not that of the packet before it, which another host may have sent."""
    right, wrong = {"checksum": layout.CHECKSUM_RIGHT}, {"checksum": layout.CHECKSUM_WRONG}
    sent = [asks(1, 10, tsval=1, **right), tells(1, 10.5, size=9, ack=101, tsval=900_000, **right)]
    told = Told(stage, [*opening(), *sent, asks(101, 11, ack=10, tsval=2, **wrong), tells(10, 11.5, ack=201)])
    assert [row[layout.CHUNK_LAG] == NONE for row in told.data(0)] == [False, True]
    assert told.data(0)[1][layout.CHUNK_MARKS] == 0
    assert told.of_side(layout.PART_DAMAGED, 0) == 0


def test_packets_with_more_than_the_least_lag_by_a_tick_are_told(stage: ModuleType) -> None:
    sent = [asks(1, 10, tsval=1), asks(101, 11.9, tsval=2), asks(201, 17, tsval=3), tells(1, 17.1, ack=301, tsval=500)]
    told = Told(stage, [*opening(), *sent, asks(301, 18.5, size=0, tsval=4), asks(301, 30, tsval=5)])
    seen = [(row[layout.QUEUED_NUMBER], row[layout.QUEUED_BYTES]) for row in told.queued]
    assert seen == [(6, 100), (8, 0), (9, 100)], "5, 5.5 and 16 ms later than the first; the second less than a tick"
    assert {row[layout.QUEUED_FROM_PORT] for row in told.queued} == {CLIENT[2]}
    lags = [row[layout.QUEUED_LAG] - told.of_side(layout.PART_LAG_LEAST, 0) for row in told.queued]
    assert lags == [5 * MS, 5.5 * MS, 16 * MS]
    assert told.of_side(layout.PART_QUEUED, 0) == len(told.queued)
    assert {row[layout.QUEUED_PART] for row in told.queued} == {told.parts[0][layout.PART_NUMBER]}


def test_what_the_syns_offer_and_how_much_was_on_the_way(stage: ModuleType) -> None:
    told = Told(stage, [*opening(1400, 9), asks(1, 10), asks(101, 10.1), tells(1, 12, ack=201), asks(201, 13)])
    assert [told.of_side(layout.PART_MSS, side) for side in (0, 1)] == [1400, 1400]
    assert [told.of_side(layout.PART_WSCALE, side) for side in (0, 1)] == [9, 9]
    assert told.of_side(layout.PART_MOST_UNACKED, 0) == 200
    assert told.of_side(layout.PART_WAY_LEAST, 0) == 50_000, "SYN to SYN+ACK"
    assert told.of_side(layout.PART_DATA_PACKETS, 0) == 3
    assert Told(stage, [asks(1, 1)]).of_side(layout.PART_WSCALE, 0) == NONE


def test_a_repeat_says_that_it_is_one_and_what_follows_may_be_held(stage: ModuleType) -> None:
    """The broker's reply is lost behind the capture and sent again; the next one waits for its ACK."""
    told = Told(
        stage,
        [
            *opening(),
            asks(1, 10),
            tells(1, 12, 50, 101),
            tells(1, 212, 50, 101),
            tells(51, 213, 60, 101),
            asks(101, 400),
        ],
    )
    first, second = told.data(1)
    assert not first[layout.CHUNK_MARKS] & layout.MARK_REPEAT
    assert first[layout.CHUNK_HELD] == NONE
    assert second[layout.CHUNK_HELD] < 0, "held, however short it was in queues"
    assert told.of_side(layout.PART_LATE, 1) == 1


@pytest.mark.parametrize(
    ("size", "options", "prompt"), [(2 * 1448, 0, True), (200, 0, False), (200, layout.OPTION_SACK, False)]
)
def test_an_ack_sent_at_once_tells_when_bytes_arrived(stage: ModuleType, size: int, options: int, prompt: bool) -> None:
    """Of two full segments it does; of less it may be late; a block beside an ACK for all tells of bytes that came twice."""
    told = Told(
        stage, [*opening(), asks(1, 10, size), tells(1, 14, ack=1 + size, options=options), tells(1, 20, 30, 1 + size)]
    )
    (reply,) = told.data(1)
    assert reply[layout.CHUNK_ACK_TIME] == START + 14 * MS
    assert reply[layout.CHUNK_ACK_NUMBER] == 4
    assert bool(reply[layout.CHUNK_MARKS] & layout.MARK_PROMPT) == prompt
    assert told.of_side(layout.PART_WAY_COUNT, 0) == prompt


@pytest.mark.parametrize(("late_id", "lost"), [(11, 0), (13, 1), (0, 1), (11 - 70, 1)])
def test_a_packet_that_was_overtaken_was_not_lost(stage: ModuleType, late_id: int, lost: int) -> None:
    ids = (10, 12, late_id & 0xFFFF)
    told = Told(stage, [*opening(), *(asks(seq, 10, ip_id=one) for seq, one in zip((1, 201, 101), ids, strict=True))])
    assert told.of_side(layout.PART_LATE, 0) == lost


@pytest.mark.parametrize(("options", "needless"), [(0, 0), (layout.OPTION_SACK, 1)])
def test_a_repeat_that_was_needless(stage: ModuleType, options: int, needless: int) -> None:
    """The client says by a block beside its ACK for all that bytes came twice (RFC 2883)."""
    twice = [tells(1, 12, 40, 101), tells(1, 24, 40, 101)]
    told = Told(stage, [*opening(), asks(1, 10), *twice, asks(101, 25, 0, 41, options=options)])
    assert told.of_side(layout.PART_RETRANSMITTED, 1) == 1
    assert [told.of_side(layout.PART_NEEDLESS, side) for side in (0, 1)] == [0, needless]


def test_ip_ids_that_are_missing(stage: ModuleType) -> None:
    begin = opening()
    begin[0].ip_id, begin[2].ip_id = 3, 4
    told = Told(stage, [*begin, *(asks(1 + 100 * n, 5 + n, ip_id=each) for n, each in enumerate((5, 6, 9, 10)))])
    assert told.of_side(layout.PART_IP_JUMPS, 0) == 1
    assert [bool(row[layout.CHUNK_MARKS] & layout.MARK_JUMP) for row in told.data(0)] == [False, False, True, False]


def test_a_window_that_is_full(stage: ModuleType) -> None:
    """The client's window takes 2,000 bytes; the broker sends them and waits for 30 ms."""
    waits = [
        tells(1, 12, 1000, 101),
        tells(1001, 12.1, 1000, 101),
        Segment(CLIENT, BROKER, 101, 2001, time=42, window=250),
    ]
    told = Told(stage, [*opening(1460, 3), asks(1, 10, window=250), *waits])
    assert told.of_side(layout.PART_FULL_WINDOW, 1) == 1
    assert told.of_side(layout.PART_FULL_WINDOW_NS, 1) == pytest.approx(29.9 * MS)
    assert told.of_side(layout.PART_FULL_WINDOW, 0) == 0


def test_a_sum_of_waits_that_no_clock_holds_is_unknown(stage: ModuleType) -> None:
    """The clock runs to the end of all times and back: twice the window seems to have been full for that long."""
    late = (layout.LATEST_TIME - START) // MS - 100
    waits = [
        each
        for turn in (0, 1)
        for each in (
            tells(1 + 2000 * turn, 11 + turn, 2000, ack=101),
            Segment(CLIENT, BROKER, 101, 2001 + 2000 * turn, time=late + turn, window=250),
        )
    ]
    told = Told(stage, [*opening(1460, 3), asks(1, 10, window=250), *waits])
    assert told.of_side(layout.PART_FULL_WINDOW, 1) == 2
    assert told.of_side(layout.PART_FULL_WINDOW_NS, 1) == NONE


@pytest.mark.parametrize("seed", range(20))
def test_compiled_and_plain_tell_the_same_of_anything(seed: int) -> None:
    def made() -> list[Segment]:
        chance = random.Random(seed)
        found = opening() if chance.random() < 0.7 else []
        for step in range(60):
            make = asks if chance.random() < 0.5 else tells
            found.append(
                make(
                    chance.choice((1, 101, 201, 1449, 1 << 31, (1 << 32) - 1)),
                    step * chance.choice((0.1, 1, 40)),
                    chance.choice((0, 1, 100, 1448, 2896)),
                    chance.choice((1, 101, 201, 3000, (1 << 32) - 5)),
                    tsval=chance.choice((NONE, 0, 1, step, (1 << 32) - 1, chance.getrandbits(32))),
                    options=chance.choice((0, layout.OPTION_SACK, chance.getrandbits(32) & 0xFFFF0F01)),
                    window=chance.choice((0, 500, 65_535)),
                    ip_id=chance.choice((-7, 0, step + 1, chance.getrandbits(16))),
                )
            )
        return found

    one, other = (Told(stage, made()) for stage in STAGES.values())
    data = [[row for row in told.chunks if row[layout.CHUNK_KIND] == layout.CHUNK_DATA] for told in (one, other)]
    assert data[0] == data[1]
    assert one.parts == other.parts
    assert one.queued == other.queued


def test_what_leaves_with_an_ack_after_a_loss_was_held(stage: ModuleType) -> None:
    """The broker's kernel may send no more packets than are acknowledged: its reply waited there, not in the broker."""

    def held(wait_ms: float) -> int:
        lost = [asks(1, 10), tells(1, 12, 50, 101), tells(1, 212, 50, 101), asks(101, 213, ack=51)]
        again = [tells(51, 214, 50, 201), asks(201, 215, ack=51), asks(301, 220, ack=101)]
        told = Told(stage, [*opening(), *lost, *again, tells(101, 220 + wait_ms, 60, 301)])
        return told.data(1)[-1][layout.CHUNK_HELD]

    assert [held(wait_ms) for wait_ms in (0.01, 0.04, 1.2)] == [-(1 << 40), -(1 << 40), NONE]
    healthy = [asks(1, 10), tells(1, 12, 50, 101), asks(101, 20, ack=51), tells(51, 20.01, 60, 201)]
    assert Told(stage, [*opening(), *healthy]).data(1)[-1][layout.CHUNK_HELD] == NONE


def test_a_reply_says_that_its_request_may_have_been_lost(stage: ModuleType) -> None:
    """Both copies of the request came by the capture; the next reply is about one that was sent once."""
    sent = [asks(1, 10), asks(1, 260), tells(1, 320, 50, 101), asks(101, 330, ack=51), tells(51, 340, 50, 201)]
    marks = [row[layout.CHUNK_MARKS] & layout.MARK_PEER_REPEATED for row in Told(stage, [*opening(), *sent]).data(1)]
    assert marks == [layout.MARK_PEER_REPEATED, 0]


def test_packets_that_queue_tell_what_a_byte_takes(stage: ModuleType) -> None:
    """Packets of 1,000 bytes leave their host within a tick and come by every 4 ms, as on a link of 2 Mbit/s."""
    begin = [*opening(), asks(1, 10), tells(1, 11, 100, 101, tsval=100)]
    queue = [tells(101 + 1000 * n, 15 + 4 * n, 1000, 101, tsval=101 + n // 5) for n in range(10)]
    told = Told(stage, [*begin, *queue])
    paced, paced_ns = told.of_side(layout.PART_PACED, 1), told.of_side(layout.PART_PACED_NS, 1)
    assert paced >= 8000
    assert paced_ns / paced == 4 * MS / 1000
    assert told.of_side(layout.PART_PACED, 0) == 0


@pytest.mark.parametrize(("acked", "near"), [(2897, True), (3397, True), (1449, False)])
def test_a_reply_tells_when_all_but_the_last_segment_of_its_request_was_there(
    stage: ModuleType, acked: int, near: bool
) -> None:
    """A receiver acknowledges two full segments at once, and what is left with the reply; the next request is under way then."""
    sent = [asks(1, 10, 1448), asks(1449, 10, 1448), asks(2897, 10, 500), asks(3397, 11, 1448)]
    told = Told(stage, [*opening(), *sent, tells(1, 12, 0, acked), tells(1, 20, 50, 3397)]).data(1)[-1]
    assert (told[layout.CHUNK_MARKS] & layout.MARK_NEAR != 0) == near
    assert not near or told[layout.CHUNK_ACK_TIME] == START + 12 * MS


@pytest.mark.parametrize("from_syn", [True, False])
def test_an_ack_before_a_reply_is_for_its_own_request(stage: ModuleType, from_syn: bool) -> None:
    """Also of a connection met in mid-flight, whose first bytes wait until it is known where its streams begin."""
    sent = opening() if from_syn else []
    for turn in range(8):
        asked, told, at = 1 + 100 * turn, 1 + 20 * turn, 10 + 1000 * turn
        sent += [asks(asked, at, 100, told), tells(told, at + 1, 0, asked + 100), tells(told, at + 50, 20, asked + 100)]
    replies = Told(stage, sent).data(1)
    found = [(row[layout.CHUNK_NUMBER] - 2, row[layout.CHUNK_ACK_NUMBER]) for row in replies]
    assert len(found) == 8
    assert all(acked in (0, own) for own, acked in found)
    assert all(own == acked for own, acked in found[0 if from_syn else 4 :])


def test_a_small_packet_is_held_back_by_a_delayed_ack_but_not_one_that_may_answer_what_came_since(
    stage: ModuleType,
) -> None:
    """A reply between both is the reason for the next request: nobody waited for the ACK."""
    held = [asks(1, 10), tells(1, 50, ack=101), asks(101, 50.3)]
    assert Told(stage, [*opening(), *held]).of_side(layout.PART_NAGLE, 0) == 1
    answers = [asks(1, 10), tells(1, 50, ack=101), tells(1, 50.2, 74, 101), asks(101, 50.3, ack=75)]
    assert Told(stage, [*opening(), *answers]).of_side(layout.PART_NAGLE, 0) == 0
