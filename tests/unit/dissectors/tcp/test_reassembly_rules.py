"""Each rule of reassembly in a small case that shows it."""

from __future__ import annotations

import pytest
from segment_rows import (
    ACK,
    BROKER,
    CLIENT,
    FIN,
    PLAIN,
    RST,
    STAGES,
    SYN,
    Conversation,
    Runner,
    Segment,
    number_and_time,
    run,
)

from dissectors import layout
from dissectors.layout import GAP_UNACKED
from dissectors.matrix import new_matrix
from dissectors.problems import PROBLEM_CONFLICTING_COPIES, PROBLEM_CONNECTION_EVICTED

KIND, BYTES = layout.PROBLEM_KIND, layout.PROBLEM_BYTES


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
    conversation = Conversation().shake().c(0, b"request").b(0, b"reply", ack=7).c(7, ack=5, flags=FIN)
    out = conversation.b(5, ack=8, flags=FIN).c(8, ack=6).run(stage=stage)
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
    conversation = Conversation().shake().c(3, b"def").c(6, b"ghi").c(0, b"abc").c(0, b"abcdef")
    out = conversation.run(stage=stage)
    data = [event for event in out.events[0] if event.kind == layout.CHUNK_DATA]
    assert [(event.data, event.number, event.seq) for event in data] == [
        (b"abc", 6, 1000),
        (b"def", 4, 1003),
        (b"ghi", 5, 1006),
    ]
    assert [event.time for event in data] == [conversation.segments[event.number - 1].time for event in data]
    assert out.parts[0][layout.PART_REORDERED] == 2
    assert out.parts[0][layout.PART_RETRANSMITTED] == 1


def test_the_first_copy_wins(stage: str) -> None:
    """Delivered before kept, kept before new; a difference between copies that can be compared is told."""
    conversation = Conversation().shake().c(0, b"abc").c(1, b"XXde").c(8, b"ij").c(4, b"YfghZZk")
    out = conversation.run(stage=stage)
    assert out.stream(0) == b"abcdefghijk"
    assert out.parts[0][layout.PART_CONFLICTS] == 1
    assert [(row[KIND], row[BYTES]) for row in out.problems] == [(PROBLEM_CONFLICTING_COPIES, 2)]


def test_problems_of_a_side_are_a_handful(stage: str) -> None:
    conversation = Conversation().shake().c(5, b"x")
    for _ in range(20):
        conversation.c(5, b"y")
    out = conversation.run(stage=stage)
    assert out.parts[0][layout.PART_CONFLICTS] == 20
    assert len(out.problems) == 4


def test_sequence_numbers_wrap(stage: str) -> None:
    start = 2**32 - 5
    conversation = Conversation(client_start=start, broker_start=2**32 - 1).shake()
    conversation.c(0, b"0123").c(8, b"89ab").c(4, b"4567").b(0, b"re", ack=12).c(12, b"cdef", ack=2)
    out = conversation.run(stage=stage)
    assert out.story() == [(0, b"0123"), (0, b"4567"), (0, b"89ab"), (1, b"re"), (0, b"cdef")]
    assert out.events[0][3].seq == 3


def test_keep_alives_are_neither_data_nor_retransmissions(stage: str) -> None:
    conversation = Conversation().shake().c(0, b"abcd").c(3, b"\0").c(3).c(3, b"\0")
    out = conversation.run(stage=stage)
    assert out.stream(0) == b"abcd"
    assert out.parts[0][layout.PART_RETRANSMITTED] == 0


# ---- causal order ----


def test_a_reply_does_not_overtake_its_request(stage: str) -> None:
    out = Conversation().shake().b(0, b"reply", ack=7).c(0, b"request").run(stage=stage)
    assert out.story() == [(0, b"request"), (1, b"reply")]
    assert [event.number for event in out.events[0] if event.kind == layout.CHUNK_DATA] == [5, 4]
    assert out.parts[0][layout.PART_REORDERED + 1] == 1


def test_a_repeated_copy_captured_first_holds_nothing_up(stage: str) -> None:
    """Its ACK number says more than its bytes knew: those of the first copy, or of later bytes, tell better."""
    conversation = Conversation().shake().b(0, b"one", ack=5).b(3, b"two", ack=0).c(0, b"quest", ack=6)
    out = run(number_and_time(conversation.segments), batch=1, stage=stage)
    assert [(event.data, event.at) for event in out.events[0] if event.kind == layout.CHUNK_DATA] == [
        (b"one", 5),
        (b"two", 5),
        (b"quest", 6),
    ]


def test_a_fin_does_not_overtake_what_it_acknowledges(stage: str) -> None:
    out = Conversation().shake().c(0, b"q").b(0, ack=3, flags=FIN).c(1, b"uit").run(stage=stage)
    assert out.story() == [(0, b"q"), (0, b"uit"), (1, "end", layout.END_FIN)]


def test_one_captured_direction_waits_for_nothing(stage: str) -> None:
    conversation = Conversation()
    for at in range(0, 40, 2):
        conversation.c(at, b"ab", ack=at * 100)
    out = conversation.run(stage=stage)
    assert out.stream(0) == b"ab" * 20
    assert {event.at for event in out.events[0] if event.kind == layout.CHUNK_DATA} == {20}
    runner_out = run(number_and_time(conversation.segments), batch=1, stage=stage)
    late = [event for event in runner_out.events[0] if event.kind == layout.CHUNK_DATA and event.at > event.number]
    assert max(event.number for event in late) <= 9  # only the start was held back


def test_each_waiting_for_the_other_ends_with_the_window(stage: str) -> None:
    conversation = Conversation().shake().c(0, b"chicken", ack=3).b(0, b"egg", ack=7).idle(80, at=7, ack=3)
    out = run(number_and_time(conversation.segments, 1_000_000), batch=1, stage=stage)
    assert out.story() == [(0, b"chicken"), (1, b"egg")]
    data = [event for event in out.events[0] if event.kind == layout.CHUNK_DATA]
    assert data[0].at == 4 + 64  # the first ACK ahead of its data came with packet 4


# ---- slots ----


def test_taps_keep_equal_tuples_apart(stage: str) -> None:
    one, two = Conversation().shake().c(0, b"one"), Conversation().shake().c(0, b"two")
    for segment in two.segments:
        segment.tap = segment.scope = 5
    mixed = [segment for pair in zip(one.segments, two.segments, strict=True) for segment in pair]
    out = run(number_and_time(mixed), stage=stage)
    assert (out.stream(0, 0), out.stream(0, 1)) == (b"one", b"two")
    assert [part[layout.PART_NETWORK] for part in out.parts.values()] == [0, 0]


def many(count: int, closed: tuple[int, ...] = ()) -> list[Segment]:
    segments = []
    for i in range(count):
        conversation = Conversation(client=(0, 77, 1 + i % 60_000)).shake().c(0, b"%06d" % i)
        if i in closed:
            conversation.b(0, ack=None, flags=RST)
        segments += conversation.segments
    return number_and_time(segments)


def test_the_table_grows_with_its_connections(stage: str) -> None:
    out = run(many(700), stage=stage)
    assert len(out.parts) == 700
    assert all(out.stream(0, i) == b"%06d" % i for i in range(700))


def test_slots_are_used_again(stage: str) -> None:
    runner_stage = STAGES[stage].Reassembly(seed=3)
    runner = Runner(runner_stage)
    for again in range(5):
        conversations = [Conversation(1000 + 10**8 * again, client=(0, 9, port)).shake() for port in range(100)]
        runner.feed(number_and_time([segment for conversation in conversations for segment in conversation.segments]))
    assert runner_stage.slots < 200
    assert len(runner.finish().parts) == 500


def test_closed_connections_give_way_first_then_the_idle(stage: str) -> None:
    wakes = Conversation(client=(0, 77, 1)).c(6, b"awake").segments  # connection 0 is used again
    newer = many(16)[10 * 4 :]  # 6 more: three take the places of the closed ones
    segments = many(10, closed=(7, 8, 9)) + wakes + newer
    out = run(number_and_time(segments), stage=stage, max_connections=10)
    assert len(out.parts) == 16
    assert [row[layout.PROBLEM_PART] for row in out.problems if row[KIND] == PROBLEM_CONNECTION_EVICTED] == [1, 2, 3]
    assert out.stream(0, 0) == b"000000awake"


def test_an_evicted_connection_is_flushed(stage: str) -> None:
    conversation = Conversation(client=(0, 5, 5)).shake().c(3, b"def")
    out = run(number_and_time(conversation.segments + many(3)), stage=stage, max_connections=2, batch=1)
    assert out.story(0) == [(0, "gap", 3, GAP_UNACKED), (0, b"def")]
    assert [row[layout.PROBLEM_PART] for row in out.problems] == [0, 1]


def by_turns(conversations: list[Conversation], turns: int) -> list[Segment]:
    """All handshakes, then a request of each connection in turn, so that no connection is idle for longer than the others."""
    segments = [segment for conversation in conversations for segment in conversation.segments]
    for turn in range(turns):
        for conversation in conversations:
            segments += Conversation(client=conversation.client).c(3 * turn, b"abc").segments
    return number_and_time(segments)


def test_what_was_given_up_stays_given_up(stage: str) -> None:
    """Were each segment of theirs the beginning of another connection, each would give up one more."""
    conversations = [Conversation(client=(0, 7, 1 + n)).shake() for n in range(30)]
    stage_of_ten = STAGES[stage].Reassembly(max_connections=10)
    runner = Runner(stage_of_ten)
    runner.feed(by_turns(conversations, 5))
    out = runner.finish()
    assert (len(out.parts), stage_of_ten.evicted, stage_of_ten.segments_given_up) == (30, 20, 20 * 5)
    assert sorted(out.stream(0, part) for part in range(20, 30)) == [b"abc" * 5] * 10


def test_a_given_up_tuple_begins_anew_with_a_syn(stage: str) -> None:
    conversations = [Conversation(client=(0, 7, 1 + n)).shake() for n in range(4)]
    again = Conversation(client=(0, 7, 1), client_start=900_000, broker_start=70_000_000).shake().c(0, b"new")
    segments = [segment for conversation in (*conversations, again) for segment in conversation.segments]
    out = run(number_and_time(segments), stage=stage, max_connections=2)
    assert out.stream(0, 4) == b"new"


def test_a_flood_of_syns_gives_up_nothing_that_was_answered(stage: str) -> None:
    conversation = Conversation(client=(0, 5, 5)).shake().c(0, b"abc")
    flood = [Segment((0, 9, 1 + n), (0, 8, 9092), 1_000 * n, flags=SYN) for n in range(500)]
    end = Conversation(client=(0, 5, 5)).c(3, b"def").segments
    stage_of_ten = STAGES[stage].Reassembly(max_connections=10)
    runner = Runner(stage_of_ten)
    runner.feed(number_and_time(conversation.segments + flood + end))
    out = runner.finish()
    assert (len(out.parts), stage_of_ten.evicted, stage_of_ten.segments_given_up) == (501, 0, 0)
    assert out.stream(0, 0) == b"abcdef"


def test_zero_windows_are_counted(stage: str) -> None:
    conversation = Conversation().shake().b(0, ack=0, window=0).b(0, b"a", window=0).b(1, flags=RST, ack=None, window=0)
    assert conversation.run(stage=stage).parts[0][layout.PART_ZERO_WINDOW : layout.PART_ZERO_WINDOW + 2] == (0, 2)


def test_the_flow_is_the_same_from_either_side_and_in_every_run() -> None:
    there = PLAIN.Reassembly(seed=1), PLAIN.Reassembly(seed=2), STAGES["built"].Reassembly()
    flows = set()
    for one, segments in zip(
        there,
        (Conversation().c(0, b"a").segments, Conversation().b(0, b"a").segments, Conversation().c(0, b"x").segments),
        strict=True,
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
