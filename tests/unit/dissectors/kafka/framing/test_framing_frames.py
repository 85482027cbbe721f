"""Where frames begin and end, what times they have, and what limits do."""

from __future__ import annotations

import struct

import pytest
from chunk_rows import BROKER, CLIENT, METADATA, MS, START, Conversation, framed, produce, reply, request

from dissectors import layout
from dissectors.problems import (
    PROBLEM_FRAME_CUT_BY_LIMIT,
    PROBLEM_FRAME_OVER_LIMIT,
    PROBLEM_IMPOSSIBLE_LENGTH,
    PROBLEM_UNFINISHED_FRAME,
)


def test_a_request_and_its_reply() -> None:
    out = Conversation().c(request(7)).b(reply(7)).run()
    asked, answered = out.frames
    assert out.story() == [("request", 7), ("reply", 7)]
    assert (asked.key, asked.version, asked.side, asked.length) == (METADATA, 1, CLIENT, len(request(7)) - 4)
    assert (answered.key, answered.version, answered.side, answered.length) == (METADATA, 1, BROKER, 8)
    assert asked.data == request(7)[4:] and answered.data == reply(7)[4:]
    # The OPEN row was the first packet, at START + 1 ms.
    assert (asked.number, asked.first_time, asked.last_time, asked.seq) == (2, START + 2 * MS, START + 2 * MS, 1000)
    assert (answered.number, answered.first_time, answered.seq) == (3, START + 3 * MS, 5000)
    assert (out.framed(CLIENT), out.framed(BROKER)) == (len(request(7)), len(reply(7)))
    assert (out.protocol, out.client) == (layout.PROTOCOL_KAFKA, CLIENT)


def test_several_frames_in_a_chunk() -> None:
    out = Conversation().c(request(1) + request(2) + request(3)).b(reply(1) + reply(2) + reply(3)).run()
    assert out.story() == [*(("request", n) for n in (1, 2, 3)), *(("reply", n) for n in (1, 2, 3))]
    assert [frame.seq for frame in out.frames[:3]] == [1000 + n * len(request(1)) for n in range(3)]


@pytest.mark.parametrize("cut", range(1, len(request(1)) + 5))
def test_a_frame_over_two_chunks_wherever_it_is_cut(cut: int) -> None:
    both = request(1) + request(2)
    out = Conversation().c(both[:cut], both[cut:]).b(reply(1)[: cut % 12], reply(1)[cut % 12 :]).b(reply(2)).run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    first = out.frames[0]
    assert first.data == request(1)[4:]
    assert (first.number, first.first_time) == (2, START + 2 * MS)
    assert first.last_time == (START + 3 * MS if cut < len(request(1)) else START + 2 * MS)


def test_frames_byte_by_byte() -> None:
    conversation = Conversation().c(*(bytes([byte]) for byte in request(1) + produce(2, acks=1)))
    out = conversation.b(*(bytes([byte]) for byte in reply(1) + reply(2))).run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert [frame.data for frame in out.frames] == [request(1)[4:], produce(2, acks=1)[4:], reply(1)[4:], reply(2)[4:]]


def test_sequence_numbers_wrap() -> None:
    conversation = Conversation(starts=(2**32 - 5, 2**32 - 30))
    out = conversation.c(request(1)[:9], request(1)[9:] + request(2)).b(reply(1), reply(2)).run()
    assert [frame.seq for frame in out.frames[:2]] == [2**32 - 5, len(request(1)) - 5]


def test_a_frame_ends_with_the_packet_that_filled_a_hole() -> None:
    """Its bytes lie in the middle, but it was captured last."""
    one = request(1)
    conversation = Conversation().c(one[:8]).data(CLIENT, one[8:12], after=5 * MS).data(CLIENT, one[12:], after=-3 * MS)
    assert conversation.run().frames[0].last_time == START + 7 * MS


def test_clocks_that_differ_by_less_than_a_millisecond_fill_no_hole() -> None:
    one = request(1)
    conversation = Conversation().c(one[:8]).data(CLIENT, one[8:12], after=5 * MS).data(CLIENT, one[12:], after=-MS + 1)
    assert conversation.run().frames[0].last_time == START + 6 * MS + 1


@pytest.mark.parametrize("length", [-1, -(2**31), 7, 2**30 + 1, 2**31 - 1])
def test_a_length_that_no_request_can_have(length: int) -> None:
    """A request has at least 8 bytes behind its length, and nobody sends a GiB: the next plausible header is looked for."""
    wrong = struct.pack(">i", length)
    out = Conversation().c(request(1), wrong + request(2)).b(reply(1), reply(2)).run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert out.skipped(CLIENT) == {"bad": 4}
    assert out.problems == [(PROBLEM_IMPOSSIBLE_LENGTH, CLIENT, 0)]


def test_a_length_that_no_reply_can_have() -> None:
    """A reply has a correlation id of four bytes behind its length."""
    out = Conversation().c(request(1), request(2)).b(reply(1), framed(b"abc"), reply(2)).run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert out.skipped(BROKER) == {"bad": 7}


def test_the_shortest_messages() -> None:
    """A request without a client id field (ControlledShutdown v0 has none), a reply without a body."""
    short = framed(struct.pack(">hhi", 7, 0, 3) + struct.pack(">i", 1))
    out = Conversation().c(short).b(reply(3, b"")).run()
    assert out.story() == [("request", 3), ("reply", 3)]


def test_a_sure_boundary_takes_any_key_and_version() -> None:
    odd = request(2, key=777, version=99)
    out = Conversation().c(request(1), odd, request(3)).b(reply(1), reply(2), reply(3)).run()
    assert [frame.key for frame in out.frames if frame.event == "request"] == [METADATA, 777, METADATA]
    assert not out.problems


def test_a_frame_that_does_not_end() -> None:
    out = Conversation().c(request(1)).b(reply(1)).c(request(2)[:9]).run()
    assert out.story() == [("request", 1), ("reply", 1)]
    assert out.skipped(CLIENT) == {"unfinished": 9}
    assert out.problems == [(PROBLEM_UNFINISHED_FRAME, CLIENT, len(request(2)))]


def test_of_a_long_frame_the_head_is_kept() -> None:
    long = request(1, body=bytes(5000))
    out = Conversation().c(long, request(2)).b(reply(1), reply(2)).run(max_frame=4500)
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert (len(out.frames[0].data), out.frames[0].length) == (4496, len(long) - 4)
    assert out.framed(CLIENT) == len(long) + len(request(2))
    assert out.problems == [(PROBLEM_FRAME_OVER_LIMIT, CLIENT, len(long) - 4500)]


def test_where_memory_for_unfinished_frames_is_used_up_the_head_is_kept() -> None:
    """The arena has 16 pages of 4 KiB at least."""
    body = bytes(70_000)
    long = request(1, body=body)
    conversation = (
        Conversation().c(*(long[at : at + 1000] for at in range(0, len(long), 1000)), request(2)).b(reply(1), reply(2))
    )
    out = conversation.run(arena=16 * 4096)
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert (len(out.frames[0].data), out.frames[0].length) == (16 * 4096 - 4, len(long) - 4)
    # Noted once for each chunk that found no room.
    assert {problem[:2] for problem in out.problems} == {(PROBLEM_FRAME_CUT_BY_LIMIT, CLIENT)}


def test_pages_are_used_again() -> None:
    """Ten times what the arena can hold, one frame after the other."""
    conversation = Conversation()
    for number in range(20):
        long = request(number, body=bytes([number]) * 30_000)
        conversation.c(long[:20_000], long[20_000:]).b(reply(number))
    out = conversation.run(arena=16 * 4096)
    assert [frame.data[-1] for frame in out.frames if frame.event == "request"] == list(range(20))
    assert not out.problems


def test_equal_requests_have_ids_of_their_own() -> None:
    """Their sequence numbers differ."""
    out = Conversation().c(request(1), request(1)).b(reply(1), reply(1)).run()
    assert len({frame.id for frame in out.frames}) == 2
