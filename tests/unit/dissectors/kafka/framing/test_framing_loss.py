"""What gaps cost."""

from __future__ import annotations

import pytest
from chunk_rows import BROKER, CLIENT, MS, START, Conversation, reply, request

from dissectors import layout
from dissectors.problems import PROBLEM_BOUNDARY_CUT, PROBLEM_BOUNDARY_LOST, PROBLEM_HEADER_LOST


def test_a_gap_inside_a_frame_costs_its_tail() -> None:
    long = request(1, body=bytes(100))
    out = Conversation().c(long[:40]).gap(CLIENT, 20).c(long[60:], request(2)).b(reply(1), reply(2)).run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert (out.frames[0].data, out.frames[0].length) == (long[4:40], len(long) - 4)
    assert out.framed(CLIENT) == len(long) - 20 + len(request(2))
    assert not out.problems and not out.skipped(CLIENT)


@pytest.mark.parametrize(("reason", "last_time"), [(layout.GAP_LOST, layout.UNKNOWN), (layout.GAP_CUT, START + 3 * MS)])
def test_a_gap_up_to_the_end_of_a_frame(reason: int, last_time: int) -> None:
    """The packet of bytes beyond the snap length was captured, so its time is known; that of a lost one is not."""
    long = request(1, body=bytes(100))
    out = Conversation().c(long[:40]).gap(CLIENT, len(long) - 40, reason).c(request(2)).run()
    assert out.story()[:2] == [("request", 1), ("request", 2)]
    assert out.frames[0].last_time == last_time
    assert out.part[layout.FRAMING_CUT] == (len(long) - 40 if reason == layout.GAP_CUT else 0)
    assert not out.problems


def test_packets_cut_by_the_snap_length() -> None:
    """Each frame in packets of 50 bytes, of which 30 are kept."""
    conversation, long = Conversation(), request(1, body=bytes(100))
    for number in (1, 2, 3):
        one = request(number, body=bytes(100))
        for at in range(0, len(one), 50):
            packet = one[at : at + 50]
            conversation.c(packet[:30])
            if len(packet) > 30:
                conversation.gap(CLIENT, len(packet) - 30, layout.GAP_CUT)
        conversation.b(reply(number))
    out = conversation.run()
    assert [told[0] for told in out.story()] == ["request", "reply"] * 3
    assert {frame.data for frame in out.frames[::2]} == {request(n, body=bytes(100))[4:30] for n in (1, 2, 3)}
    assert out.part[layout.FRAMING_CUT] == 3 * sum(
        max(0, min(50, len(long) - at) - 30) for at in range(0, len(long), 50)
    )


@pytest.mark.parametrize(
    ("reason", "problem"), [(layout.GAP_LOST, PROBLEM_BOUNDARY_LOST), (layout.GAP_CUT, PROBLEM_BOUNDARY_CUT)]
)
def test_a_gap_over_a_boundary_costs_all_up_to_the_next_header(reason: int, problem: int) -> None:
    second = request(2)
    conversation = Conversation().c(request(1)[:12]).gap(CLIENT, len(request(1)), reason).c(second[12:], request(3))
    out = conversation.b(reply(1), reply(2), reply(3)).run()
    assert out.story() == [("request", 1), ("request", 3), ("reply", 1), ("orphan", 2), ("reply", 3)]
    assert out.skipped(CLIENT) == {"lost": len(second) - 12}
    assert out.problems == [(problem, CLIENT, len(request(1)))]


def test_a_gap_where_a_frame_ended_costs_what_it_hid() -> None:
    conversation = Conversation().c(request(1)).gap(CLIENT, len(request(2))).c(request(3)).b(reply(1), reply(3))
    out = conversation.run()
    assert out.story() == [("request", 1), ("request", 3), ("reply", 1), ("reply", 3)]
    assert not out.skipped(CLIENT)
    assert out.problems == [(PROBLEM_BOUNDARY_LOST, CLIENT, len(request(2)))]


def test_a_gap_in_a_header_hides_what_the_frame_was() -> None:
    """Its length is known, so the next one is found."""
    conversation = (
        Conversation().c(request(1)).b(reply(1)).c(request(2)[:6]).gap(CLIENT, 6).c(request(2)[12:], request(3))
    )
    out = conversation.b(reply(2), reply(3)).run()
    assert out.story() == [("request", 1), ("reply", 1), ("request", 3), ("orphan", 2), ("reply", 3)]
    assert out.skipped(CLIENT) == {"headerless": len(request(2)) - 6}
    assert out.problems == [(PROBLEM_HEADER_LOST, CLIENT, len(request(2)))]


def test_a_gap_in_a_length_field_loses_the_boundary() -> None:
    conversation = Conversation().c(request(1), request(2)[:3]).gap(CLIENT, 1).c(request(2)[4:], request(3))
    out = conversation.b(reply(1), reply(3)).run()
    assert out.story() == [("request", 1), ("request", 3), ("reply", 1), ("reply", 3)]
    assert out.skipped(CLIENT) == {"lost": len(request(2)) - 1}


def test_after_a_loss_replies_are_found_by_requests_in_flight() -> None:
    body = b"\0" * 60
    conversation = Conversation().c(*(request(n) for n in (1, 2, 3))).b(reply(1, body)[:20]).gap(BROKER, 100)
    out = conversation.b(body[:13] + reply(2, body) + reply(3, body)).run()
    assert out.story()[3:] == [("reply", 1), ("reply", 2), ("reply", 3)]
    assert out.skipped(BROKER) == {"lost": 13}


def test_gaps_before_the_first_byte() -> None:
    out = Conversation().gap(CLIENT, 50).c(request(2)).gap(BROKER, 12).b(reply(2)).run()
    assert out.story() == [("request", 2), ("reply", 2)]
    assert out.client == CLIENT


@pytest.mark.parametrize("side", [CLIENT, BROKER])
@pytest.mark.parametrize("at", range(1, 40))
def test_wherever_a_gap_lies_later_requests_are_answered(side: int, at: int) -> None:
    """Ten bytes are missing from `at` on, and each frame is a packet. No pair that the gap does not touch may be lost."""
    asked = [request(n, body=b"z" * n) for n in range(1, 6)]
    answered = [reply(n, bytes(10)) for n in range(1, 6)]
    conversation, touched = Conversation(), set()
    for sender, frames in enumerate((asked, answered)):
        begin = 0
        for number, frame in enumerate(frames, 1):
            lost_from, lost_to = (min(max(edge - begin, 0), len(frame)) for edge in (at, at + 10))
            if sender != side or lost_from == lost_to:
                conversation.data(sender, frame)
            else:
                touched.add(number)
                if lost_from:
                    conversation.data(sender, frame[:lost_from])
                conversation.gap(sender, lost_to - lost_from)
                if lost_to < len(frame):
                    conversation.data(sender, frame[lost_to:])
            begin += len(frame)
    replies = [told[1] for told in conversation.run().story() if told[0] == "reply"]
    assert {1, 2, 3, 4, 5} - touched <= set(replies)
    assert len(set(replies)) == len(replies)


def test_where_the_end_of_a_request_was_lost_its_reply_may_be_too() -> None:
    """One burst took the rest of request 1, all of request 2 and both replies; the replies' gap is noted first."""
    one = request(1, body=bytes(100))
    lost = one[30:] + request(2)
    conversation = Conversation().c(one[:30]).gap(BROKER, len(reply(1) + reply(2))).gap(CLIENT, len(lost))
    story = conversation.c(request(3)).b(reply(3)).end(CLIENT).run().story()
    assert ("reply lost", 1) in story and ("closed", 1) not in story


def test_replies_before_the_first_byte_of_the_broker_are_lost() -> None:
    conversation = Conversation(syn=False).c(request(1), request(2), request(3)).b(reply(2), reply(3)).end(CLIENT)
    assert ("reply lost", 1) in conversation.run().story()
    unanswered = Conversation(syn=False).c(request(1), request(2)).b(reply(1)).end(CLIENT)
    assert ("closed", 2) in unanswered.run().story()
