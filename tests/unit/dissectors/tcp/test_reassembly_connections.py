"""Rules of a connection: where it starts, how it ends, and when a tuple used again is a new one."""

from __future__ import annotations

import pytest
from segment_rows import BROKER, CLIENT, FIN, RST, SYN, Conversation, Segment, number_and_time, run

from dissectors import layout
from dissectors.layout import GAP_UNACKED, UNKNOWN
from dissectors.problems import PROBLEM_BYTES_AFTER_END, PROBLEM_RESET_IGNORED

KIND, BYTES = layout.PROBLEM_KIND, layout.PROBLEM_BYTES


# ---- start ----


def test_a_start_in_mid_flight_is_put_in_order(stage: str) -> None:
    conversation = (
        Conversation().c(6, b"ghi", ack=4).b(4, b"B2", ack=9).c(0, b"abc").b(0, b"B1B1", ack=3).c(3, b"def", ack=4)
    )
    out = conversation.c(9, b"jkl", ack=6).run(stage=stage)
    assert out.stream(0) == b"abcdefghijkl"
    assert out.stream(1) == b"B1B1B2"
    assert out.events[0][0].detail == 0  # not begun with a SYN
    assert out.parts[0][layout.PART_START_SEQ] == 1000
    story = out.story()
    assert story.index((0, b"abc")) < story.index((1, b"B1B1")) < story.index((0, b"def"))


def test_bytes_before_a_late_start_are_old(stage: str) -> None:
    conversation = Conversation()
    for at in range(10, 40):
        conversation.c(at, b"x")
    out = conversation.c(0, b"0123456789").run(stage=stage)
    assert out.stream(0) == b"x" * 30
    assert out.parts[0][layout.PART_RETRANSMITTED] == 1


def test_a_late_syn_says_where_the_start_is(stage: str) -> None:
    conversation = Conversation().b(0, b"hello", ack=3).b(-1, flags=SYN).c(0, b"abc").c(-1, ack=None, flags=SYN)
    out = conversation.run(stage=stage)
    assert len(out.parts) == 1
    assert out.story() == [(0, b"abc"), (1, b"hello")]
    assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
    assert out.parts[0][layout.PART_SYN] == 3
    assert out.events[0][0].detail == 1 << 40


def test_the_receiver_of_a_syn_ack_is_side_0(stage: str) -> None:
    out = Conversation().b(-1, flags=SYN).c(0, b"abc").run(stage=stage)
    assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
    assert out.stream(0) == b"abc"
    out = Conversation().b(-1, flags=SYN).c(-1, ack=None, flags=SYN).c(0, b"abc").run(stage=stage)
    assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
    assert out.parts[0][layout.PART_SYN_ACK] == UNKNOWN  # negative: cannot be


def test_the_syn_ack_tells_what_was_lost_before_the_first_bytes(stage: str) -> None:
    out = Conversation().b(-1, flags=SYN).c(3, b"def").b(0, ack=6).run(stage=stage)
    assert out.story() == [(0, "gap", 3, GAP_UNACKED), (0, b"def")]


def test_data_in_a_syn_counts_after_it(stage: str) -> None:
    out = (
        Conversation()
        .c(-1, b"fast", ack=None, flags=SYN)
        .b(-1, b"yes", ack=4, flags=SYN)
        .c(4, b"open", ack=3)
        .run(stage=stage)
    )
    assert out.story() == [(0, b"fast"), (1, b"yes"), (0, b"open")]


def test_simultaneous_open(stage: str) -> None:
    conversation = (
        Conversation().c(-1, ack=None, flags=SYN).b(-1, ack=None, flags=SYN).c(-1, flags=SYN).b(-1, flags=SYN)
    )
    out = conversation.c(0, b"a").b(0, b"b", ack=1).run(stage=stage)
    assert len(out.parts) == 1
    assert out.story() == [(0, b"a"), (1, b"b")]
    assert out.parts[0][layout.PART_A_PORT] == CLIENT[2]
    assert out.parts[0][layout.PART_RTT] == UNKNOWN


def test_split_handshake(stage: str) -> None:
    conversation = Conversation().c(-1, ack=None, flags=SYN).b(-1, ack=None, flags=SYN).c(-1, flags=SYN).b(0)
    out = conversation.c(0, b"a").b(0, b"b", ack=1).run(stage=stage)
    assert len(out.parts) == 1
    assert out.story() == [(0, b"a"), (1, b"b")]


def test_a_repeated_syn_cannot_be_timed(stage: str) -> None:
    out = Conversation().c(-1, ack=None, flags=SYN).shake().c(0, b"abc").run(stage=stage)
    assert len(out.parts) == 1
    assert [out.parts[0][c] for c in (layout.PART_RTT, layout.PART_SYN_ACK)] == [UNKNOWN, UNKNOWN]
    assert out.parts[0][layout.PART_ACK] == 1_000_000


# ---- end ----


def test_fin_before_the_last_data(stage: str) -> None:
    out = Conversation().shake().c(0, b"abc").c(6, b"ghi", flags=FIN).c(3, b"def").run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, b"def"), (0, b"ghi"), (0, "end", layout.END_FIN)]


def test_a_hole_before_a_fin_is_a_gap_at_the_end(stage: str) -> None:
    out = Conversation().shake().c(0, b"abc").c(6, flags=FIN).run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, "gap", 3, GAP_UNACKED), (0, "end", layout.END_FIN)]


def test_bytes_behind_a_fin_are_told(stage: str) -> None:
    out = Conversation().shake().c(0, b"abc", flags=FIN).c(3, b"never").run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, "end", layout.END_FIN)]
    assert [(row[KIND], row[BYTES]) for row in out.problems] == [(PROBLEM_BYTES_AFTER_END, 5)]


def test_reset_ends_both_sides(stage: str) -> None:
    out = Conversation().shake().c(0, b"abc").b(0, ack=None, flags=RST).run(stage=stage)
    assert out.story() == [(0, b"abc"), (1, "end", layout.END_RST), (0, "end", layout.END_RST)]
    assert out.parts[0][layout.PART_CLOSE] == layout.END_RST


def test_a_reset_waits_for_late_bytes(stage: str) -> None:
    out = Conversation().shake().c(6, ack=None, flags=RST).c(3, b"def").c(0, b"abc").run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, b"def"), (0, "end", layout.END_RST), (1, "end", layout.END_RST)]


def test_a_hole_before_a_reset_is_a_gap(stage: str) -> None:
    out = Conversation().shake().c(3, b"def").c(9, ack=None, flags=RST).run(stage=stage)
    assert out.story()[:3] == [(0, "gap", 3, GAP_UNACKED), (0, b"def"), (0, "gap", 3, GAP_UNACKED)]
    assert out.story()[3:] == [(0, "end", layout.END_RST), (1, "end", layout.END_RST)]


def test_a_reset_after_one_fin_wins(stage: str) -> None:
    out = Conversation().shake().c(0, b"abc", flags=FIN).b(0, ack=4, flags=RST).run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, "end", layout.END_FIN), (1, "end", layout.END_RST)]
    assert out.parts[0][layout.PART_CLOSE] == layout.END_RST


@pytest.mark.parametrize(("by", "counted"), [(None, 2), (0, 1), (1, 1)])
def test_what_is_sent_again_behind_a_reset_was_not_lost(stage: str, by: int | None, counted: int) -> None:
    """The other side has not heard of it, or not yet: it would send that again until it gives up."""
    talk = Conversation().shake().c(0, b"abc").c(0, b"abc")
    if by is not None:
        talk = talk.c(3, ack=None, flags=RST) if by == 0 else talk.b(0, ack=None, flags=RST)
    assert talk.c(0, b"abc").run(stage=stage).parts[0][layout.PART_RETRANSMITTED] == counted


def test_a_reset_from_nowhere_is_ignored(stage: str) -> None:
    out = Conversation().shake().c(0, b"abc").b(2**31 - 5, ack=None, flags=RST).c(3, b"def").run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, b"def")]
    assert [row[KIND] for row in out.problems] == [PROBLEM_RESET_IGNORED]


@pytest.mark.parametrize(
    ("offset", "is_believed"), [(-65_537, False), (-65_536, True), (16_777_216, True), (16_777_217, False)]
)
def test_a_reset_is_believed_near_the_stream_only(stage: str, offset: int, is_believed: bool) -> None:
    """64 KiB behind what is delivered next (it may answer an old segment), 16 MiB beyond what was seen."""
    out = Conversation().shake().c(0, b"abc").b(offset, ack=None, flags=RST).run(stage=stage)
    assert out.parts[0][layout.PART_CLOSE] == (layout.END_RST if is_believed else 0)
    assert [row[KIND] for row in out.problems] == ([] if is_believed else [PROBLEM_RESET_IGNORED])


def ended_by(conversation: Conversation, stage: str) -> tuple[int, int]:
    """(side that closed first, number of the packet that did, from 0)."""
    segments = number_and_time(conversation.segments)
    (part,) = run(segments, stage=stage).parts.values()
    times = [each.time for each in segments]
    when = part[layout.PART_END_TIME]
    return part[layout.PART_END_SIDE], UNKNOWN if when == UNKNOWN else times.index(when)


def test_who_closes_is_who_sends_the_first_fin_or_reset(stage: str) -> None:
    """Whatever follows: the other side's FIN, bytes that it still sends, the reset that answers them."""
    assert ended_by(Conversation().shake().c(0, b"abc"), stage) == (UNKNOWN, UNKNOWN)
    assert ended_by(Conversation().shake().c(0, b"abc", flags=FIN).b(0, ack=4, flags=FIN), stage) == (0, 3)
    assert ended_by(Conversation().shake().b(0, flags=FIN).c(0, b"abc", ack=1).b(1, ack=None, flags=RST), stage) == (
        1,
        3,
    )
    assert ended_by(Conversation().shake().c(0, b"abc").b(0, ack=None, flags=RST), stage) == (1, 4)
    assert ended_by(Conversation().c(-1, ack=None, flags=SYN).b(0, ack=0, flags=RST), stage) == (1, 1)
    # A reset from nowhere is not believed.
    ignored = Conversation().shake().c(0, b"abc").b(2**31 - 5, ack=None, flags=RST).c(3, b"def", flags=FIN)
    assert ended_by(ignored, stage) == (0, 5)


def test_a_refused_connection(stage: str) -> None:
    conversation = Conversation(broker_start=0).c(-1, ack=None, flags=SYN).b(0, ack=0, flags=RST)
    out = conversation.run(stage=stage)
    assert out.story() == [(1, "end", layout.END_RST), (0, "end", layout.END_RST)]
    again = Conversation(broker_start=0).c(-1, ack=None, flags=SYN).b(0, ack=0, flags=RST).c(-1, ack=None, flags=SYN)
    out = again.b(-1, flags=SYN).c(0, b"now").run(stage=stage)
    assert out.stream(0, part=1) == b"now"


def test_parts_taken_many_at_once_and_few_after_few_are_the_same(stage: str) -> None:
    """Their matrix is written again after each taking, and grows while it holds rows."""
    segments: list[Segment] = []
    for number in range(200):
        one = Conversation(1000 * number, client=(*CLIENT[:2], 40_000 + number))
        if number % 3:
            one.shake().c(0, bytes(number), ttl=30 + number % 9)
        else:
            one.c(-1, ack=None, flags=SYN)
        segments += one.b(0, ack=number if number % 3 else 0, flags=RST).segments
    number_and_time(segments)
    at_once = run(segments, chunk_rows=4096, stage=stage)
    assert len(at_once.parts) == 200
    assert at_once.parts == run(segments, batch=7, chunk_rows=16, stage=stage).parts


# ---- the same tuple again ----


def second(client_start: int = 900_000_000, broker_start: int = 2_000_000_000) -> list[Segment]:
    return Conversation(client_start, broker_start).shake().c(0, b"second").b(0, b"too", ack=6).segments


@pytest.mark.parametrize(
    "first",
    [
        Conversation().shake().c(0, b"one").c(3, flags=FIN).b(0, ack=4, flags=FIN).c(4, ack=1),
        Conversation().shake().c(0, b"one").b(0, ack=None, flags=RST),
        Conversation().shake().c(0, b"one"),
        Conversation().c(0, b"one", ack=7),
        Conversation().shake().c(1, b"ne"),
    ],
    ids=["fin", "rst", "never closed", "mid-flight", "with a hole"],
)
def test_a_new_syn_is_a_new_part(stage: str, first: Conversation) -> None:
    out = run(number_and_time(first.segments + second()), stage=stage)
    assert sorted(out.parts) == [0, 1]
    assert out.story(1) == [(0, b"second"), (1, b"too")]
    assert out.stream(0, 0).replace(b"?", b"o") == b"one"
    slots = len({event.detail & 0xFFFF for part in out.events.values() for event in part if event.kind == 0})
    assert slots == 2


def test_the_other_side_may_call_next(stage: str) -> None:
    first = Conversation().shake().c(0, b"one").b(0, ack=None, flags=RST).segments
    swapped = Conversation(7, 9, client=BROKER, broker=CLIENT).shake().c(0, b"call").segments
    out = run(number_and_time(first + swapped), stage=stage)
    assert out.parts[1][layout.PART_A_PORT] == BROKER[2]
    assert out.story(1) == [(0, b"call")]


def test_a_new_connection_without_its_syn(stage: str) -> None:
    first = Conversation().shake().c(0, b"one").c(3, flags=FIN).b(0, ack=4, flags=FIN).c(4, ack=1).segments
    for start in (900_000_000, 3_900_000_000):
        later = Conversation(start, 77).c(0, b"second").b(0, b"too", ack=6).segments
        out = run(number_and_time(first + later), stage=stage)
        assert out.story(1) == [(0, b"second"), (1, b"too")]


def test_late_copies_after_the_end_open_nothing(stage: str) -> None:
    conversation = Conversation().shake().c(0, b"one").c(3, flags=FIN).b(0, ack=4, flags=FIN).c(4, ack=1)
    out = (
        conversation.c(0, b"one", ack=0)
        .c(3, flags=FIN)
        .b(0, ack=4, flags=FIN)
        .c(-1, ack=None, flags=SYN)
        .run(stage=stage)
    )
    assert list(out.parts) == [0]
    assert out.parts[0][layout.PART_RETRANSMITTED] == 1


def test_an_answer_with_another_number_is_the_same_connection(stage: str) -> None:
    """A host that keeps no state answers each copy of a SYN anew: the last answer counts, as the client would have it."""
    conversation = Conversation().c(-1, ack=None, flags=SYN).b(-1, flags=SYN)
    conversation.broker_start += 700
    conversation.b(-1, flags=SYN).c(0, b"ask", ack=0).b(0, b"answer", ack=3)
    out = conversation.run(stage=stage)
    assert list(out.parts) == [0]
    assert (out.stream(0), out.stream(1)) == (b"ask", b"answer")
    assert out.parts[0][layout.PART_START_SEQ + 1] == conversation.broker_start
    assert out.parts[0][layout.PART_SYN_ACK] == layout.UNKNOWN or out.parts[0][layout.PART_ACK] == layout.UNKNOWN


def test_an_answer_after_the_acknowledged_one_counts_for_nothing(stage: str) -> None:
    """Two hosts have one address: the client stays with the answer that it has acknowledged."""
    conversation = Conversation().c(-1, ack=None, flags=SYN).b(-1, flags=SYN).c(0, ack=0)
    start = conversation.broker_start
    conversation.broker_start += 700
    conversation.b(-1, flags=SYN)
    conversation.broker_start = start
    out = conversation.c(0, b"ask", ack=0).b(0, b"answer", ack=3).run(stage=stage)
    assert list(out.parts) == [0]
    assert (out.stream(0), out.stream(1)) == (b"ask", b"answer")
    assert out.parts[0][layout.PART_START_SEQ + 1] == start


def test_a_syn_ack_of_an_older_connection_does_not_start_a_side(stage: str) -> None:
    conversation = Conversation().c(-1, ack=None, flags=SYN)
    conversation.segments.append(Segment(BROKER, CLIENT, 123_456, 99, SYN))
    out = conversation.b(-1, flags=SYN).c(0, b"abc").b(0, b"def", ack=3).run(stage=stage)
    assert out.story() == [(0, b"abc"), (1, b"def")]
