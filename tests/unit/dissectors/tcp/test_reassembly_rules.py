"""Each rule of reassembly in a small case that shows it."""

from __future__ import annotations

import pytest
from segment_rows import ACK, BROKER, CLIENT, FIN, PLAIN, RST, STAGES, SYN, Runner, Segment, Talk, number_and_time, run

from dissectors import layout
from dissectors.layout import GAP_CUT, GAP_LIMIT, GAP_LOST, GAP_UNACKED, UNKNOWN
from dissectors.matrix import new_matrix

KIND, BYTES = layout.PROBLEM_KIND, layout.PROBLEM_BYTES
CONFLICT, RESET_IGNORED, AFTER_END, EVICTED = 20, 21, 22, 23


@pytest.fixture(params=list(STAGES), autouse=True)
def stage(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.mark.parametrize("name", list(STAGES))
def test_unwrap_is_the_closest_number_with_these_low_bits(name: str) -> None:
    unwrap = STAGES[name].unwrap
    for near in (0, 1, 2**31, 2**32 - 1, 2**32, 2**32 + 5, 3 * 2**32 + 7, 2**40 + 2**31):
        for sequence in (0, 1, 5, 2**31 - 1, 2**31, 2**31 + 1, 2**32 - 1, near % 2**32):
            got = unwrap(near, sequence)
            assert got % 2**32 == sequence
            assert -(2**31) <= got - near < 2**31
    assert unwrap(2**32 - 1, 0) == 2**32  # the seam: one further, not 2^32 back
    assert unwrap(2**32, 0xFFFFFFFF) == 2**32 - 1


def test_a_whole_connection(stage: str) -> None:
    talk = Talk().shake().c(0, b"request").b(0, b"reply", ack=7).c(7, ack=5, flags=FIN)
    out = talk.b(5, ack=8, flags=FIN).c(8, ack=6).run(stage=stage)
    assert out.story() == [(0, b"request"), (1, b"reply"), (0, "end", layout.END_FIN), (1, "end", layout.END_FIN)]
    opened, closed = out.events[0][0], out.events[0][-1]
    assert (opened.kind, opened.number, opened.detail) == (layout.CHUNK_OPEN, 1, 1 << 40)
    assert opened.length == CLIENT[2] << 16 | BROKER[2]
    assert (closed.kind, closed.number) == (layout.CHUNK_CLOSE, 8)
    part = out.parts[0]
    assert part[layout.PART_A_HIGH : layout.PART_B_PORT + 1] == (*CLIENT[:2], *BROKER[:2], CLIENT[2], BROKER[2])
    assert part[layout.PART_SYN] == 3
    assert part[layout.PART_CLOSE] == layout.END_FIN
    assert (part[layout.PART_SYN_ACK], part[layout.PART_ACK], part[layout.PART_RTT]) == (
        1_000_000,
        1_000_000,
        2_000_000,
    )
    assert part[layout.PART_PACKETS : layout.PART_PACKETS + 2] == (5, 3)
    assert part[layout.PART_BYTES : layout.PART_STREAM + 2] == (7, 5, 7, 5)
    assert part[layout.PART_START_SEQ : layout.PART_START_SEQ + 2] == (1000, 5000)


def test_times_and_numbers_are_those_of_the_packet_that_brought_the_bytes(stage: str) -> None:
    talk = Talk().shake().c(3, b"def").c(6, b"ghi").c(0, b"abc").c(0, b"abcdef")
    out = talk.run(stage=stage)
    data = [event for event in out.events[0] if event.kind == layout.CHUNK_DATA]
    assert [(event.data, event.number, event.seq) for event in data] == [
        (b"abc", 6, 1000),
        (b"def", 4, 1003),
        (b"ghi", 5, 1006),
    ]
    assert [event.time for event in data] == [talk.segments[event.number - 1].time for event in data]
    assert out.parts[0][layout.PART_REORDERED] == 2
    assert out.parts[0][layout.PART_RETRANSMITTED] == 1


def test_the_first_copy_wins(stage: str) -> None:
    """Delivered before kept, kept before new; a difference between copies that can be compared is told."""
    talk = Talk().shake().c(0, b"abc").c(1, b"XXde").c(8, b"ij").c(4, b"YfghZZk")
    out = talk.run(stage=stage)
    assert out.stream(0) == b"abcdeYfg"[:5] + b"fghijk"
    assert out.parts[0][layout.PART_CONFLICTS] == 1
    assert [(row[KIND], row[BYTES]) for row in out.problems] == [(CONFLICT, 2)]


def test_problems_of_a_side_are_a_handful(stage: str) -> None:
    talk = Talk().shake().c(5, b"x")
    for _ in range(20):
        talk.c(5, b"y")
    out = talk.run(stage=stage)
    assert out.parts[0][layout.PART_CONFLICTS] == 20
    assert len(out.problems) == 4


def test_sequence_numbers_wrap(stage: str) -> None:
    start = 2**32 - 5
    talk = Talk(client_start=start, broker_start=2**32 - 1).shake()
    talk.c(0, b"0123").c(8, b"89ab").c(4, b"4567").b(0, b"re", ack=12).c(12, b"cdef", ack=2)
    out = talk.run(stage=stage)
    assert out.story() == [(0, b"0123"), (0, b"4567"), (0, b"89ab"), (1, b"re"), (0, b"cdef")]
    assert out.events[0][3].seq == 3


def test_keep_alives_are_neither_data_nor_retransmissions(stage: str) -> None:
    talk = Talk().shake().c(0, b"abcd").c(3, b"\0").c(3).c(3, b"\0")
    out = talk.run(stage=stage)
    assert out.stream(0) == b"abcd"
    assert out.parts[0][layout.PART_RETRANSMITTED] == 0


# ---- causal order ----


def test_a_reply_does_not_overtake_its_request(stage: str) -> None:
    out = Talk().shake().b(0, b"reply", ack=7).c(0, b"request").run(stage=stage)
    assert out.story() == [(0, b"request"), (1, b"reply")]
    assert [event.number for event in out.events[0] if event.kind == layout.CHUNK_DATA] == [5, 4]
    assert out.parts[0][layout.PART_REORDERED + 1] == 1


def test_a_repeated_copy_captured_first_holds_nothing_up(stage: str) -> None:
    """Its ACK number says more than its bytes knew: those of the first copy, or of later bytes, tell better."""
    talk = Talk().shake().b(0, b"one", ack=5).b(3, b"two", ack=0).c(0, b"quest", ack=6)
    out = run(number_and_time(talk.segments), batch=1, stage=stage)
    assert [(event.data, event.at) for event in out.events[0] if event.kind == layout.CHUNK_DATA] == [
        (b"one", 5),
        (b"two", 5),
        (b"quest", 6),
    ]


def test_a_fin_does_not_overtake_what_it_acknowledges(stage: str) -> None:
    out = Talk().shake().c(0, b"q").b(0, ack=3, flags=FIN).c(1, b"uit").run(stage=stage)
    assert out.story() == [(0, b"q"), (0, b"uit"), (1, "end", layout.END_FIN)]


def test_one_captured_direction_waits_for_nothing(stage: str) -> None:
    talk = Talk()
    for at in range(0, 40, 2):
        talk.c(at, b"ab", ack=at * 100)
    out = talk.run(stage=stage)
    assert out.stream(0) == b"ab" * 20
    assert {event.at for event in out.events[0] if event.kind == layout.CHUNK_DATA} == {20}
    runner_out = run(number_and_time(talk.segments), batch=1, stage=stage)
    late = [event for event in runner_out.events[0] if event.kind == layout.CHUNK_DATA and event.at > event.number]
    assert max(event.number for event in late) <= 9  # only the start was held back


def test_each_waiting_for_the_other_ends_with_the_window(stage: str) -> None:
    talk = Talk().shake().c(0, b"chicken", ack=3).b(0, b"egg", ack=7).idle(80, at=7, ack=3)
    out = run(number_and_time(talk.segments, 1_000_000), batch=1, stage=stage)
    assert out.story() == [(0, b"chicken"), (1, b"egg")]
    data = [event for event in out.events[0] if event.kind == layout.CHUNK_DATA]
    assert data[0].at == 4 + 64  # the first ACK ahead of its data came with packet 4


# ---- holes ----


def lossy() -> Talk:
    return Talk().shake().c(0, b"abc").c(6, b"ghi").b(0, b"reply", ack=9)


def test_an_acknowledged_hole_is_a_gap_after_the_window(stage: str) -> None:
    out = run(number_and_time(lossy().idle(80, at=9, ack=5).segments, 1_000_000), batch=1, stage=stage)
    assert out.story() == [(0, b"abc"), (0, "gap", 3, GAP_LOST), (0, b"ghi"), (1, b"reply")]
    gap = next(event for event in out.events[0] if event.kind == layout.CHUNK_GAP)
    assert (gap.seq, gap.number) == (1003, 5)
    assert gap.at == 6 + 64  # the ACK came with packet 6
    assert out.parts[0][layout.PART_GAPS] == 1
    assert out.parts[0][layout.PART_GAP_BYTES] == 3


def test_the_window_needs_both_segments_and_time(stage: str) -> None:
    slow = run(number_and_time(lossy().idle(50, at=9, ack=5).segments, 1_000_000_000), batch=1, stage=stage)
    quick = run(number_and_time(lossy().idle(500, at=9, ack=5).segments, 1_000), batch=1, stage=stage)
    for out, last in ((slow, 56), (quick, 506)):
        gap = next(event for event in out.events[0] if event.kind == layout.CHUNK_GAP)
        assert gap.at == last + 1  # only at the end
        assert gap.detail == GAP_UNACKED


def test_a_clock_set_back_does_not_stop_the_window(stage: str) -> None:
    talk = lossy()
    number_and_time(talk.segments)
    talk.c(9, ack=5, time=1)
    out = run(number_and_time(talk.idle(80, at=9, ack=5).segments, 1_000), batch=1, stage=stage)
    assert next(event.at for event in out.events[0] if event.kind == layout.CHUNK_GAP) == 6 + 64


def test_the_ack_of_a_fin_covers_no_byte(stage: str) -> None:
    talk = Talk().shake().c(0, b"abc").b(0, ack=7).c(6, flags=FIN).idle(80, at=7)
    assert talk.run(stage=stage).story() == [(0, b"abc"), (0, "gap", 3, GAP_LOST), (0, "end", layout.END_FIN)]


def test_a_hole_filled_in_time_is_none(stage: str) -> None:
    out = lossy().idle(60, at=9, ack=5).c(3, b"def").idle(80, at=9, ack=5).run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, b"def"), (0, b"ghi"), (1, b"reply")]


def test_acks_always_ahead_of_their_data_lose_nothing(stage: str) -> None:
    """A capture that always shows the ACK first: the newest ACK is ahead for ever, yet no single byte is late."""
    talk = Talk().shake()
    for at in range(0, 1000, 5):
        talk.b(0, ack=at + 5)
        if at >= 5:
            talk.c(at - 5, b"12345")
    out = talk.run(stage=stage)
    assert out.stream(0) == b"12345" * 199 + b"?????"
    assert out.parts[0][layout.PART_GAPS] == 1


def test_many_holes_do_not_pile_up(stage: str) -> None:
    """Every tenth segment is lost: each hole must go within two windows of its ACK."""
    talk = Talk().shake()
    for at in range(1500):
        if at % 10 != 5:
            talk.c(at, b"x")
        talk.b(0, ack=at + 1)
    out = run(number_and_time(talk.segments, 1_000_000), batch=1, stage=stage)
    gaps = [event for event in out.events[0] if event.kind == layout.CHUNK_GAP]
    assert len(gaps) == 150
    for gap in gaps:
        first_ack = next(s.number for s in talk.segments if s.src == BROKER and s.ack == gap.seq + 1 and s.number > 3)
        if gap.detail == GAP_LOST:
            assert 64 <= gap.at - first_ack <= 130
    assert sum(gap.detail == GAP_UNACKED for gap in gaps) <= 10


def test_a_request_lost_whole_is_a_gap_before_its_reply(stage: str) -> None:
    out = Talk().shake().b(0, b"reply", ack=7).idle(80, at=7, ack=5).run(stage=stage)
    assert out.story() == [(0, "gap", 7, GAP_LOST), (1, b"reply")]


def test_a_fin_that_was_not_captured_is_no_gap(stage: str) -> None:
    talk = Talk().shake().c(0, b"bye").b(0, b"late", ack=4).idle(80, at=4, ack=4)
    out = talk.run(stage=stage)
    assert out.story() == [(0, b"bye"), (1, b"late")]


def test_one_lost_byte_with_data_behind_it_is_a_gap(stage: str) -> None:
    talk = Talk().shake().c(0, b"bye").b(0, b"late", ack=4).idle(80, at=4, ack=4).c(4, b"more", ack=4)
    out = talk.b(4, ack=8).idle(80, at=8, ack=4).run(stage=stage)
    assert out.story() == [(0, b"bye"), (1, b"late"), (0, "gap", 1, GAP_LOST), (0, b"more")]


def test_a_hole_nobody_acknowledged_stays_to_the_end(stage: str) -> None:
    talk = Talk().shake().c(0, b"abc").c(6, b"ghi").idle(300, at=9)
    out = run(number_and_time(talk.segments, 1_000_000), batch=1, stage=stage)
    gap = next(event for event in out.events[0] if event.kind == layout.CHUNK_GAP)
    assert (gap.detail, gap.at, gap.length) == (GAP_UNACKED, 306, 3)


def test_an_unbelievable_ack_loses_nothing(stage: str) -> None:
    talk = Talk().shake().c(0, b"abc").b(0, b"lie", ack=1_500_000_000).idle(80, at=3, ack=3).c(3, b"def", ack=3)
    assert talk.run(stage=stage).story() == [(0, b"abc"), (1, b"lie"), (0, b"def")]


def test_a_side_that_keeps_too_much_gives_up_its_hole(stage: str) -> None:
    talk = Talk().shake()
    for at in range(1, 12):
        talk.c(2048 * at, bytes([at]) * 2048)
    out = run(number_and_time(talk.segments), batch=1, stage=stage, max_buffered_bytes_per_side=8 * 2048)
    assert out.story()[0] == (0, "gap", 2048, GAP_LIMIT)
    assert out.stream(0) == b"?" * 2048 + b"".join(bytes([at]) * 2048 for at in range(1, 12))
    assert next(event.at for event in out.events[0] if event.kind == layout.CHUNK_GAP) == 12


def test_all_connections_together_keep_no_more_than_the_limit(stage: str) -> None:
    segments = []
    for port in range(10):
        talk = Talk(client=(0, 1, 50_000 + port)).shake().c(2000, b"a" * 1000).c(4000, b"b" * 1000)
        segments += talk.segments
    out = run(number_and_time(segments), stage=stage, max_buffered_bytes=8 * 2048)
    reasons = [e.detail for events in out.events.values() for e in events if e.kind == layout.CHUNK_GAP]
    assert GAP_LIMIT in reasons
    assert GAP_UNACKED in reasons
    assert all(len(out.stream(0, part).replace(b"?", b"")) == 2000 for part in out.events)


def test_the_connection_idle_for_longest_gives_up_first(stage: str) -> None:
    """Four keep a segment each, three may: the second one was heard of longest ago, though the first began before it."""
    talks = [Talk(client=(0, 1, 50_000 + port)).shake().c(2000, b"late") for port in range(4)]
    segments = [*talks[0].segments, *talks[1].segments, *talks[2].segments]
    segments += Talk(client=(0, 1, 50_000)).c(0).segments + talks[3].segments
    segments += Talk(client=(0, 1, 50_003)).c(0).segments  # the next one to be looked at closely finds too much kept
    out = run(number_and_time(segments), stage=stage, max_buffered_bytes=3 * 1024)
    gaps = {number: [e.detail for e in out.events[number] if e.kind == layout.CHUNK_GAP] for number in out.events}
    assert gaps == {0: [GAP_UNACKED], 1: [GAP_LIMIT], 2: [GAP_UNACKED], 3: [GAP_UNACKED]}
    assert all(out.stream(0, part).endswith(b"late") for part in out.events)
    assert [problem[layout.PROBLEM_KIND] for problem in out.problems] == [25]
    assert [problem[layout.PROBLEM_PART] for problem in out.problems] == [1]


# ---- snaplen ----


def test_bytes_that_were_not_captured_are_a_gap(stage: str) -> None:
    talk = Talk().shake().c(0, b"abcdef", captured=2).c(6, b"ghi", captured=0).c(9, b"jk").c(0, b"abcdef")
    out = talk.run(stage=stage)
    assert out.story() == [(0, b"ab"), (0, "gap", 4, GAP_CUT), (0, "gap", 3, GAP_CUT), (0, b"jk")]
    assert out.parts[0][layout.PART_RETRANSMITTED] == 1


def test_cut_segments_can_be_reordered_too(stage: str) -> None:
    talk = Talk().shake().c(6, b"ghijk", captured=2).c(9, b"jklm").c(0, b"abcdef", captured=5)
    out = talk.run(stage=stage)
    assert out.stream(0) == b"abcde?gh???lm"
    assert out.parts[0][layout.PART_CONFLICTS] == 0


def test_a_large_segment_is_kept_whole(stage: str) -> None:
    big = bytes(range(256)) * 1200
    out = Talk().shake().c(3, big).c(0, b"abc").run(stage=stage)
    assert out.stream(0) == b"abc" + big


# ---- start ----


def test_a_start_in_mid_flight_is_put_in_order(stage: str) -> None:
    talk = Talk().c(6, b"ghi", ack=4).b(4, b"B2", ack=9).c(0, b"abc").b(0, b"B1B1", ack=3).c(3, b"def", ack=4)
    out = talk.c(9, b"jkl", ack=6).run(stage=stage)
    assert out.stream(0) == b"abcdefghijkl"
    assert out.stream(1) == b"B1B1B2"
    assert out.events[0][0].detail == 0  # not begun with a SYN
    assert out.parts[0][layout.PART_START_SEQ] == 1000
    story = out.story()
    assert story.index((0, b"abc")) < story.index((1, b"B1B1")) < story.index((0, b"def"))


def test_bytes_before_a_late_start_are_old(stage: str) -> None:
    talk = Talk()
    for at in range(10, 40):
        talk.c(at, b"x")
    out = talk.c(0, b"0123456789").run(stage=stage)
    assert out.stream(0) == b"x" * 30
    assert out.parts[0][layout.PART_RETRANSMITTED] == 1


def test_a_late_syn_says_where_the_start_is(stage: str) -> None:
    talk = Talk().b(0, b"hello", ack=3).b(-1, flags=SYN).c(0, b"abc").c(-1, ack=None, flags=SYN)
    out = talk.run(stage=stage)
    assert len(out.parts) == 1
    assert out.story() == [(0, b"abc"), (1, b"hello")]
    assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
    assert out.parts[0][layout.PART_SYN] == 3
    assert out.events[0][0].detail == 1 << 40


def test_the_receiver_of_a_syn_ack_is_side_0(stage: str) -> None:
    out = Talk().b(-1, flags=SYN).c(0, b"abc").run(stage=stage)
    assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
    assert out.stream(0) == b"abc"
    out = Talk().b(-1, flags=SYN).c(-1, ack=None, flags=SYN).c(0, b"abc").run(stage=stage)
    assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
    assert out.parts[0][layout.PART_SYN_ACK] == UNKNOWN  # negative: cannot be


def test_the_syn_ack_tells_what_was_lost_before_the_first_bytes(stage: str) -> None:
    out = Talk().b(-1, flags=SYN).c(3, b"def").b(0, ack=6).run(stage=stage)
    assert out.story() == [(0, "gap", 3, GAP_UNACKED), (0, b"def")]


def test_data_in_a_syn_counts_after_it(stage: str) -> None:
    out = (
        Talk().c(-1, b"fast", ack=None, flags=SYN).b(-1, b"yes", ack=4, flags=SYN).c(4, b"open", ack=3).run(stage=stage)
    )
    assert out.story() == [(0, b"fast"), (1, b"yes"), (0, b"open")]


def test_simultaneous_open(stage: str) -> None:
    talk = Talk().c(-1, ack=None, flags=SYN).b(-1, ack=None, flags=SYN).c(-1, flags=SYN).b(-1, flags=SYN)
    out = talk.c(0, b"a").b(0, b"b", ack=1).run(stage=stage)
    assert len(out.parts) == 1
    assert out.story() == [(0, b"a"), (1, b"b")]
    assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
    assert out.parts[0][layout.PART_RTT] == UNKNOWN


def test_split_handshake(stage: str) -> None:
    talk = Talk().c(-1, ack=None, flags=SYN).b(-1, ack=None, flags=SYN).c(-1, flags=SYN).b(0)
    out = talk.c(0, b"a").b(0, b"b", ack=1).run(stage=stage)
    assert len(out.parts) == 1
    assert out.story() == [(0, b"a"), (1, b"b")]


def test_a_repeated_syn_cannot_be_timed(stage: str) -> None:
    out = Talk().c(-1, ack=None, flags=SYN).shake().c(0, b"abc").run(stage=stage)
    assert len(out.parts) == 1
    assert [out.parts[0][c] for c in (layout.PART_RTT, layout.PART_SYN_ACK)] == [UNKNOWN, UNKNOWN]
    assert out.parts[0][layout.PART_ACK] == 1_000_000


# ---- end ----


def test_fin_before_the_last_data(stage: str) -> None:
    out = Talk().shake().c(0, b"abc").c(6, b"ghi", flags=FIN).c(3, b"def").run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, b"def"), (0, b"ghi"), (0, "end", layout.END_FIN)]


def test_a_hole_before_a_fin_is_a_gap_at_the_end(stage: str) -> None:
    out = Talk().shake().c(0, b"abc").c(6, flags=FIN).run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, "gap", 3, GAP_UNACKED), (0, "end", layout.END_FIN)]


def test_bytes_behind_a_fin_are_told(stage: str) -> None:
    out = Talk().shake().c(0, b"abc", flags=FIN).c(3, b"never").run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, "end", layout.END_FIN)]
    assert [(row[KIND], row[BYTES]) for row in out.problems] == [(AFTER_END, 5)]


def test_reset_ends_both_sides(stage: str) -> None:
    out = Talk().shake().c(0, b"abc").b(0, ack=None, flags=RST).run(stage=stage)
    assert out.story() == [(0, b"abc"), (1, "end", layout.END_RST), (0, "end", layout.END_RST)]
    assert out.parts[0][layout.PART_CLOSE] == layout.END_RST


def test_a_reset_waits_for_late_bytes(stage: str) -> None:
    out = Talk().shake().c(6, ack=None, flags=RST).c(3, b"def").c(0, b"abc").run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, b"def"), (0, "end", layout.END_RST), (1, "end", layout.END_RST)]


def test_a_hole_before_a_reset_is_a_gap(stage: str) -> None:
    out = Talk().shake().c(3, b"def").c(9, ack=None, flags=RST).run(stage=stage)
    assert out.story()[:3] == [(0, "gap", 3, GAP_UNACKED), (0, b"def"), (0, "gap", 3, GAP_UNACKED)]
    assert out.story()[3:] == [(0, "end", layout.END_RST), (1, "end", layout.END_RST)]


def test_a_reset_after_one_fin_wins(stage: str) -> None:
    out = Talk().shake().c(0, b"abc", flags=FIN).b(0, ack=4, flags=RST).run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, "end", layout.END_FIN), (1, "end", layout.END_RST)]
    assert out.parts[0][layout.PART_CLOSE] == layout.END_RST


def test_a_reset_from_nowhere_is_ignored(stage: str) -> None:
    out = Talk().shake().c(0, b"abc").b(2**31 - 5, ack=None, flags=RST).c(3, b"def").run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, b"def")]
    assert [row[KIND] for row in out.problems] == [RESET_IGNORED]


def test_a_refused_connection(stage: str) -> None:
    talk = Talk(broker_start=0).c(-1, ack=None, flags=SYN).b(0, ack=0, flags=RST)
    out = talk.run(stage=stage)
    assert out.story() == [(1, "end", layout.END_RST), (0, "end", layout.END_RST)]
    again = Talk(broker_start=0).c(-1, ack=None, flags=SYN).b(0, ack=0, flags=RST).c(-1, ack=None, flags=SYN)
    out = again.b(-1, flags=SYN).c(0, b"now").run(stage=stage)
    assert out.stream(0, part=1) == b"now"


# ---- the same tuple again ----


def second(client_start: int = 900_000_000, broker_start: int = 2_000_000_000) -> list[Segment]:
    return Talk(client_start, broker_start).shake().c(0, b"second").b(0, b"too", ack=6).segments


@pytest.mark.parametrize(
    "first",
    [
        Talk().shake().c(0, b"one").c(3, flags=FIN).b(0, ack=4, flags=FIN).c(4, ack=1),
        Talk().shake().c(0, b"one").b(0, ack=None, flags=RST),
        Talk().shake().c(0, b"one"),
        Talk().c(0, b"one", ack=7),
        Talk().shake().c(1, b"ne"),
    ],
    ids=["fin", "rst", "never closed", "mid-flight", "with a hole"],
)
def test_a_new_syn_is_a_new_part(stage: str, first: Talk) -> None:
    out = run(number_and_time(first.segments + second()), stage=stage)
    assert sorted(out.parts) == [0, 1]
    assert out.story(1) == [(0, b"second"), (1, b"too")]
    assert out.stream(0, 0).replace(b"?", b"o") == b"one"
    slots = len({event.detail & 0xFFFF for part in out.events.values() for event in part if event.kind == 0})
    assert slots == 2


def test_the_other_side_may_call_next(stage: str) -> None:
    first = Talk().shake().c(0, b"one").b(0, ack=None, flags=RST).segments
    swapped = Talk(7, 9, client=BROKER, broker=CLIENT).shake().c(0, b"call").segments
    out = run(number_and_time(first + swapped), stage=stage)
    assert out.parts[1][layout.PART_A_PORT] == BROKER[2]
    assert out.story(1) == [(0, b"call")]


def test_a_new_connection_without_its_syn(stage: str) -> None:
    first = Talk().shake().c(0, b"one").c(3, flags=FIN).b(0, ack=4, flags=FIN).c(4, ack=1).segments
    for start in (900_000_000, 3_900_000_000):
        later = Talk(start, 77).c(0, b"second").b(0, b"too", ack=6).segments
        out = run(number_and_time(first + later), stage=stage)
        assert out.story(1) == [(0, b"second"), (1, b"too")]


def test_late_copies_after_the_end_open_nothing(stage: str) -> None:
    talk = Talk().shake().c(0, b"one").c(3, flags=FIN).b(0, ack=4, flags=FIN).c(4, ack=1)
    out = talk.c(0, b"one", ack=0).c(3, flags=FIN).b(0, ack=4, flags=FIN).c(-1, ack=None, flags=SYN).run(stage=stage)
    assert list(out.parts) == [0]
    assert out.parts[0][layout.PART_RETRANSMITTED] == 1


def test_an_answer_with_another_number_is_the_same_connection(stage: str) -> None:
    """A host that keeps no state answers each copy of a SYN anew: the last answer counts, as the client would have it."""
    talk = Talk().c(-1, ack=None, flags=SYN).b(-1, flags=SYN)
    talk.broker_start += 700
    talk.b(-1, flags=SYN).c(0, b"ask", ack=0).b(0, b"answer", ack=3)
    out = talk.run(stage=stage)
    assert list(out.parts) == [0]
    assert (out.stream(0), out.stream(1)) == (b"ask", b"answer")
    assert out.parts[0][layout.PART_START_SEQ + 1] == talk.broker_start
    assert out.parts[0][layout.PART_SYN_ACK] == layout.UNKNOWN or out.parts[0][layout.PART_ACK] == layout.UNKNOWN


def test_a_syn_ack_of_an_older_connection_does_not_start_a_side(stage: str) -> None:
    talk = Talk().c(-1, ack=None, flags=SYN)
    talk.segments.append(Segment(BROKER, CLIENT, 123_456, 99, SYN))
    out = talk.b(-1, flags=SYN).c(0, b"abc").b(0, b"def", ack=3).run(stage=stage)
    assert out.story() == [(0, b"abc"), (1, b"def")]


# ---- slots ----


def test_scopes_keep_equal_tuples_apart(stage: str) -> None:
    one, two = Talk().shake().c(0, b"one"), Talk().shake().c(0, b"two")
    for segment in two.segments:
        segment.scope = 5
    mixed = [segment for pair in zip(one.segments, two.segments, strict=True) for segment in pair]
    out = run(number_and_time(mixed), stage=stage)
    assert (out.stream(0, 0), out.stream(0, 1)) == (b"one", b"two")
    assert out.parts[1][layout.PART_SCOPE] == 5


def many(count: int, closed: tuple[int, ...] = ()) -> list[Segment]:
    segments = []
    for i in range(count):
        talk = Talk(client=(0, 77, 1 + i % 60_000)).shake().c(0, b"%06d" % i)
        if i in closed:
            talk.b(0, ack=None, flags=RST)
        segments += talk.segments
    return number_and_time(segments)


def test_the_table_grows_with_its_connections(stage: str) -> None:
    out = run(many(700), stage=stage)
    assert len(out.parts) == 700
    assert all(out.stream(0, i) == b"%06d" % i for i in range(700))


def test_slots_are_used_again(stage: str) -> None:
    runner_stage = STAGES[stage].Reassembly(seed=3)
    runner = Runner(runner_stage)
    for again in range(5):
        talks = [Talk(1000 + 10**8 * again, client=(0, 9, port)).shake() for port in range(100)]
        runner.feed(number_and_time([segment for talk in talks for segment in talk.segments]))
    assert runner_stage.slots < 200
    assert len(runner.finish().parts) == 500


def test_closed_connections_give_way_first_then_the_idle(stage: str) -> None:
    wakes = Talk(client=(0, 77, 1)).c(6, b"awake").segments  # connection 0 is used again
    newer = many(16)[10 * 4 :]  # 6 more: three take the places of the closed ones
    segments = many(10, closed=(7, 8, 9)) + wakes + newer
    out = run(number_and_time(segments), stage=stage, max_connections=10)
    assert len(out.parts) == 16
    assert [row[layout.PROBLEM_PART] for row in out.problems if row[KIND] == EVICTED] == [1, 2, 3]
    assert out.stream(0, 0) == b"000000awake"


def test_an_evicted_connection_is_flushed(stage: str) -> None:
    talk = Talk(client=(0, 5, 5)).shake().c(3, b"def")
    out = run(number_and_time(talk.segments + many(3)), stage=stage, max_connections=2, batch=1)
    assert out.story(0) == [(0, "gap", 3, GAP_UNACKED), (0, b"def")]
    assert [row[layout.PROBLEM_PART] for row in out.problems] == [0, 1]


def test_zero_windows_are_counted(stage: str) -> None:
    talk = Talk().shake().b(0, ack=0, window=0).b(0, b"a", window=0).b(1, flags=RST, ack=None, window=0)
    assert talk.run(stage=stage).parts[0][layout.PART_ZERO_WINDOW : layout.PART_ZERO_WINDOW + 2] == (0, 2)


def test_the_flow_is_the_same_from_either_side_and_in_every_run() -> None:
    there = PLAIN.Reassembly(seed=1), PLAIN.Reassembly(seed=2), STAGES["built"].Reassembly()
    flows = set()
    for one, segments in zip(
        there, (Talk().c(0, b"a").segments, Talk().b(0, b"a").segments, Talk().c(0, b"x").segments), strict=True
    ):
        runner = Runner(one)
        runner.feed(number_and_time(segments))
        flows.add(runner.finish().events[0][0].seq)
    assert len(flows) == 1
    assert 0 <= flows.pop() < 2**63


def test_a_tiny_chunks_matrix_is_refused(stage: str) -> None:
    one = STAGES[stage].Reassembly()
    with pytest.raises(ValueError, match="4 rows"):
        one.finish(new_matrix(layout.CHUNK_COLUMNS, 3))


def test_flags_are_those_of_the_header() -> None:
    assert (FIN, SYN, RST, ACK) == (1, 2, 4, 16)  # RFC 9293, 3.1
