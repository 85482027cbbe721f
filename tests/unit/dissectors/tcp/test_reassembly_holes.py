"""Rules of missing bytes: when a hole becomes a gap, what snap lengths cut, and the limits of what is buffered."""

from __future__ import annotations

import pytest
from segment_rows import BROKER, FIN, SYN, Conversation, number_and_time, run

from dissectors import layout
from dissectors.layout import GAP_CUT, GAP_LIMIT, GAP_LOST, GAP_UNACKED

KIND, BYTES = layout.PROBLEM_KIND, layout.PROBLEM_BYTES


# ---- holes ----


def lossy() -> Conversation:
    return Conversation().shake().c(0, b"abc").c(6, b"ghi").b(0, b"reply", ack=9)


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
    conversation = lossy()
    number_and_time(conversation.segments)
    conversation.c(9, ack=5, time=1)
    out = run(number_and_time(conversation.idle(80, at=9, ack=5).segments, 1_000), batch=1, stage=stage)
    assert next(event.at for event in out.events[0] if event.kind == layout.CHUNK_GAP) == 6 + 64


def test_of_packets_without_times_the_segments_alone_tell_when_a_window_has_passed(stage: str) -> None:
    segments = number_and_time(lossy().idle(80, at=9, ack=5).segments, 1_000)
    for one in segments:
        one.time = layout.UNKNOWN
    out = run(segments, batch=1, stage=stage)
    assert next(event.at for event in out.events[0] if event.kind == layout.CHUNK_GAP) == 6 + 64


def test_the_ack_of_a_fin_covers_no_byte(stage: str) -> None:
    conversation = Conversation().shake().c(0, b"abc").b(0, ack=7).c(6, flags=FIN).idle(80, at=7)
    assert conversation.run(stage=stage).story() == [(0, b"abc"), (0, "gap", 3, GAP_LOST), (0, "end", layout.END_FIN)]


@pytest.mark.parametrize("first_ack", [0, 3])
def test_the_first_ack_tells_where_a_stream_without_syn_begins(stage: str, first_ack: int) -> None:
    """The SYN+ACK and the first reply are missing; with the first ACK missing too, what it would have told is not known."""
    conversation = Conversation().c(-1, ack=None, flags=SYN).c(0, b"ask", ack=first_ack)
    out = conversation.c(3, b"more", ack=3).b(3, b"reply", ack=7).idle(80, at=7, ack=8).run(stage=stage)
    missing = [] if first_ack else [(1, "gap", 3, GAP_LOST)]
    assert [event for event in out.story() if event[0] == 1] == [*missing, (1, b"reply")]


def test_a_hole_filled_in_time_is_none(stage: str) -> None:
    out = lossy().idle(60, at=9, ack=5).c(3, b"def").idle(80, at=9, ack=5).run(stage=stage)
    assert out.story() == [(0, b"abc"), (0, b"def"), (0, b"ghi"), (1, b"reply")]


def test_acks_always_ahead_of_their_data_lose_nothing(stage: str) -> None:
    """A capture that always shows the ACK first: the newest ACK is ahead for ever, yet no single byte is late."""
    conversation = Conversation().shake()
    for at in range(0, 1000, 5):
        conversation.b(0, ack=at + 5)
        if at >= 5:
            conversation.c(at - 5, b"12345")
    out = conversation.run(stage=stage)
    assert out.stream(0) == b"12345" * 199 + b"?????"
    assert out.parts[0][layout.PART_GAPS] == 1


def test_many_holes_do_not_pile_up(stage: str) -> None:
    """Every tenth segment is lost: each hole must go within two windows of its ACK."""
    conversation = Conversation().shake()
    for at in range(1500):
        if at % 10 != 5:
            conversation.c(at, b"x")
        conversation.b(0, ack=at + 1)
    out = run(number_and_time(conversation.segments, 1_000_000), batch=1, stage=stage)
    gaps = [event for event in out.events[0] if event.kind == layout.CHUNK_GAP]
    assert len(gaps) == 150
    for gap in gaps:
        first_ack = next(
            s.number for s in conversation.segments if s.src == BROKER and s.ack == gap.seq + 1 and s.number > 3
        )
        if gap.detail == GAP_LOST:
            assert 64 <= gap.at - first_ack <= 130
    assert sum(gap.detail == GAP_UNACKED for gap in gaps) <= 10


def test_a_request_lost_whole_is_a_gap_before_its_reply(stage: str) -> None:
    out = Conversation().shake().b(0, b"reply", ack=7).idle(80, at=7, ack=5).run(stage=stage)
    assert out.story() == [(0, "gap", 7, GAP_LOST), (1, b"reply")]


def test_a_fin_that_was_not_captured_is_no_gap(stage: str) -> None:
    conversation = Conversation().shake().c(0, b"bye").b(0, b"late", ack=4).idle(80, at=4, ack=4)
    out = conversation.run(stage=stage)
    assert out.story() == [(0, b"bye"), (1, b"late")]


def test_one_lost_byte_with_data_behind_it_is_a_gap(stage: str) -> None:
    conversation = Conversation().shake().c(0, b"bye").b(0, b"late", ack=4).idle(80, at=4, ack=4).c(4, b"more", ack=4)
    out = conversation.b(4, ack=8).idle(80, at=8, ack=4).run(stage=stage)
    assert out.story() == [(0, b"bye"), (1, b"late"), (0, "gap", 1, GAP_LOST), (0, b"more")]


def test_a_hole_nobody_acknowledged_stays_to_the_end(stage: str) -> None:
    conversation = Conversation().shake().c(0, b"abc").c(6, b"ghi").idle(300, at=9)
    out = run(number_and_time(conversation.segments, 1_000_000), batch=1, stage=stage)
    gap = next(event for event in out.events[0] if event.kind == layout.CHUNK_GAP)
    assert (gap.detail, gap.at, gap.length) == (GAP_UNACKED, 306, 3)


def test_an_unbelievable_ack_loses_nothing(stage: str) -> None:
    conversation = (
        Conversation().shake().c(0, b"abc").b(0, b"lie", ack=1_500_000_000).idle(80, at=3, ack=3).c(3, b"def", ack=3)
    )
    assert conversation.run(stage=stage).story() == [(0, b"abc"), (1, b"lie"), (0, b"def")]


def test_a_side_that_keeps_too_much_gives_up_its_hole(stage: str) -> None:
    conversation = Conversation().shake()
    for at in range(1, 12):
        conversation.c(2048 * at, bytes([at]) * 2048)
    out = run(number_and_time(conversation.segments), batch=1, stage=stage, max_buffered_bytes_per_side=8 * 2048)
    assert out.story()[0] == (0, "gap", 2048, GAP_LIMIT)
    assert out.stream(0) == b"?" * 2048 + b"".join(bytes([at]) * 2048 for at in range(1, 12))
    assert next(event.at for event in out.events[0] if event.kind == layout.CHUNK_GAP) == 12


def test_all_connections_together_keep_no_more_than_the_limit(stage: str) -> None:
    segments = []
    for port in range(10):
        conversation = Conversation(client=(0, 1, 50_000 + port)).shake().c(2000, b"a" * 1000).c(4000, b"b" * 1000)
        segments += conversation.segments
    out = run(number_and_time(segments), stage=stage, max_buffered_bytes=8 * 2048)
    reasons = [e.detail for events in out.events.values() for e in events if e.kind == layout.CHUNK_GAP]
    assert GAP_LIMIT in reasons
    assert GAP_UNACKED in reasons
    assert all(len(out.stream(0, part).replace(b"?", b"")) == 2000 for part in out.events)


def test_the_connection_idle_for_longest_gives_up_first(stage: str) -> None:
    """Four keep a segment each, three may: the second one was heard of longest ago, though the first began before it."""
    conversations = [Conversation(client=(0, 1, 50_000 + port)).shake().c(2000, b"late") for port in range(4)]
    segments = [*conversations[0].segments, *conversations[1].segments, *conversations[2].segments]
    segments += Conversation(client=(0, 1, 50_000)).c(0).segments + conversations[3].segments
    segments += (
        Conversation(client=(0, 1, 50_003)).c(0).segments
    )  # the next one to be looked at closely finds too much kept
    out = run(number_and_time(segments), stage=stage, max_buffered_bytes=3 * 1024)
    gaps = {number: [e.detail for e in out.events[number] if e.kind == layout.CHUNK_GAP] for number in out.events}
    assert gaps == {0: [GAP_UNACKED], 1: [GAP_LIMIT], 2: [GAP_UNACKED], 3: [GAP_UNACKED]}
    assert all(out.stream(0, part).endswith(b"late") for part in out.events)
    assert [problem[layout.PROBLEM_KIND] for problem in out.problems] == [25]
    assert [problem[layout.PROBLEM_PART] for problem in out.problems] == [1]


# ---- snaplen ----


def test_bytes_that_were_not_captured_are_a_gap(stage: str) -> None:
    conversation = (
        Conversation().shake().c(0, b"abcdef", captured=2).c(6, b"ghi", captured=0).c(9, b"jk").c(0, b"abcdef")
    )
    out = conversation.run(stage=stage)
    assert out.story() == [(0, b"ab"), (0, "gap", 4, GAP_CUT), (0, "gap", 3, GAP_CUT), (0, b"jk")]
    assert out.parts[0][layout.PART_RETRANSMITTED] == 1


def test_cut_segments_can_be_reordered_too(stage: str) -> None:
    conversation = Conversation().shake().c(6, b"ghijk", captured=2).c(9, b"jklm").c(0, b"abcdef", captured=5)
    out = conversation.run(stage=stage)
    assert out.stream(0) == b"abcde?gh???lm"
    assert out.parts[0][layout.PART_CONFLICTS] == 0


def test_a_large_segment_is_kept_whole(stage: str) -> None:
    big = bytes(range(256)) * 1200
    out = Conversation().shake().c(3, big).c(0, b"abc").run(stage=stage)
    assert out.stream(0) == b"abc" + big
