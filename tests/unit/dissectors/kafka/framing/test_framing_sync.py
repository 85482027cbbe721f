"""The search for a frame boundary: after a late start, and where a guess was wrong."""

from __future__ import annotations

import struct

import pytest
from chunk_rows import BROKER, CLIENT, MS, STAGES, START, Conversation, Outcome, feed, limits, reply, request

from dissectors import layout


@pytest.mark.parametrize("junk", [1, 5, 13, 14, 40])
def test_a_late_start_skips_up_to_the_first_header(junk: int) -> None:
    out = Conversation(syn=False).c(b"z" * junk + request(1)).b(reply(1)).run()
    assert out.story() == [("request", 1), ("reply", 1)]
    assert out.skipped(CLIENT) == {"unsynced": junk}


@pytest.mark.parametrize(
    ("junk", "cut"),
    # The first eight bytes of a request at the start of a chunk may be the header of a reply: the next chunk tells.
    [(0, cut) for cut in range(1, 21)]
    # Up to 13 bytes are remembered; with 17, those of the client id included, the header is found in the first chunk.
    + [(junk, cut) for junk in (1, 20) for cut in (*range(1, 14), *range(17, 21))],
)
def test_a_header_over_two_chunks_is_found(junk: int, cut: int) -> None:
    one = request(1)
    out = Conversation(syn=False).c(b"z" * junk + one[:cut], one[cut:] + request(2)).b(reply(1), reply(2)).run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert out.skipped(CLIENT) == ({"unsynced": junk} if junk else {})
    found = out.frames[0]
    assert (found.number, found.first_time, found.seq) == (2, START + 2 * MS, 1000 + junk)


def in_pieces(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


@pytest.mark.parametrize("size", range(1, 16))
def test_a_stream_that_comes_in_small_pieces_begins_with_its_first_byte(size: int) -> None:
    """Nothing tells that the connection began here; no chunk has a whole header."""
    conversation = Conversation(syn=False)
    asked, answered = in_pieces(request(1) + request(2), size), in_pieces(reply(1) + reply(2), size)
    out = conversation.c(*asked).b(*answered).run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert (out.skipped(CLIENT), out.skipped(BROKER)) == ({}, {})
    first = out.frames[0]
    assert (first.number, first.first_time, first.seq) == (2, START + 2 * MS, 1000)
    first = out.frames[2]
    assert (first.number, first.first_time, first.seq) == (2 + len(asked), START + (2 + len(asked)) * MS, 5000)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 9, 13, 20, 40])
def test_a_stream_in_small_pieces_that_begins_within_a_message(size: int) -> None:
    """What is left of a message comes first, on both sides; ids of replies are small. All that is whole is found."""
    body = bytes(range(40))
    for begin in range(1, 20):
        asked, answered = request(6, body=body)[begin:], reply(6, bytes(30))[begin:]
        conversation = Conversation(syn=False).c(*in_pieces(asked, size)).b(*in_pieces(answered, size))
        for number in (7, 8, 9):
            conversation.c(*in_pieces(request(number, body=body), size))
            conversation.b(*in_pieces(reply(number, bytes(30)), size))
        out = conversation.run()
        assert out.story() == [(kind, number) for number in (7, 8, 9) for kind in ("request", "reply")], (begin, size)
        assert out.skipped(CLIENT) == {"unsynced": len(asked)}
        assert out.skipped(BROKER) == {"unsynced": len(answered)}
        assert out.frames[0].number == 2 + len(in_pieces(asked, size)) + len(in_pieces(answered, size))


@pytest.mark.parametrize("cut", range(8, 14))
def test_a_torn_reply_is_still_one(cut: int) -> None:
    """Its request was not captured; those behind it prove it."""
    first = reply(8, bytes(30))
    out = Conversation(syn=False).b(first[:cut], first[cut:]).c(request(9)).b(reply(9)).run()
    assert out.story() == [("request", 9), ("orphan", 8), ("reply", 9)]


def test_a_guess_that_hides_requests_is_given_up() -> None:
    """The end of an unseen request reads as the header of one of 64 KiB: whole requests follow, each in a chunk of its own."""
    torn = struct.pack(">ihhih3s", 65_536, 3, 1, 999, 3, b"app")
    talk = Conversation(syn=False).c(b"z" * 20 + torn, request(1), request(2)).b(reply(1), reply(2))
    out = talk.run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 1), ("reply", 2)]
    assert out.skipped(CLIENT) == {"unsynced": 20 + len(torn)}


def test_small_pieces_of_anything_else_are_skipped() -> None:
    junk = b"zq" * 30
    out = Conversation(syn=False).c(*in_pieces(junk, 3), request(1)).b(reply(1)).run()
    assert out.story() == [("request", 1), ("reply", 1)]
    assert out.skipped(CLIENT) == {"unsynced": len(junk)}


def test_where_bytes_are_missing_between_two_chunks_no_header_lies_across() -> None:
    one = request(1)
    out = Conversation(syn=False).c(b"zz" + one[:8]).gap(CLIENT, 1).c(one[9:], request(2)).run()
    assert [frame.correlation for frame in out.frames if frame.event == "request"] == [2]


def test_a_guess_is_given_up_when_no_frame_follows() -> None:
    """Inside the body of an unseen request lies what looks like one. The frame that it names is complete, and no header follows."""
    inner = request(666, body=b"q" * 20)
    split = len(inner) - 5
    conversation = Conversation(syn=False).c(b"zz" + inner[:split], inner[split:] + b"z" * 30, request(1)).b(reply(1))
    out = conversation.run()
    assert out.story() == [("request", 1), ("reply", 1)]
    assert out.skipped(CLIENT) == {"unsynced": 2 + len(inner) + 30}


def test_an_expected_reply_is_believed_at_the_start_of_a_chunk() -> None:
    """Inside what was guessed to be a reply a chunk begins with one that is waited for."""
    body = b"z" * 10 + struct.pack(">ii", 5000, 2) + b"z" * 10  # a length, and the id of a request in flight
    conversation = (
        Conversation().c(request(0), request(1), request(2)).b(reply(0)).gap(BROKER, 30).b(body, reply(1), reply(2))
    )
    out = conversation.run()
    assert out.story()[3:] == [("reply", 0), ("reply", 1), ("reply", 2)]
    assert out.skipped(BROKER) == {"lost": len(body)}


def test_a_search_ends_after_256_kib() -> None:
    """Where no request was ever found: the connection is left unread."""
    junk = b"z" * 65_536
    out = Conversation(syn=False).b(b"z").c(*([junk] * 5), request(1)).run()
    assert not out.frames
    assert out.protocol == layout.PROTOCOL_OTHER
    assert out.skipped(CLIENT) == {"unsynced": 5 * 65_536, "not kafka": len(request(1))}


def test_the_rest_of_a_long_reply_is_no_other_protocol() -> None:
    """It began before the capture, and its client listens: what it asks next tells what this is."""
    conversation = (
        Conversation(syn=False).b(*([b"z" * 65_536] * 40)).c(request(1)).b(reply(1)).c(request(2)).b(reply(2))
    )
    out = conversation.run()
    assert out.story() == [("request", 1), ("reply", 1), ("request", 2), ("reply", 2)]
    assert (out.protocol, out.skipped(BROKER)) == (layout.PROTOCOL_KAFKA, {"unsynced": 40 * 65_536})


def test_the_rest_of_a_long_request_is_no_other_protocol() -> None:
    """The next request is found inside a chunk, once the broker has replied."""
    rest = b"z" * 65_536
    conversation = (
        Conversation(syn=False).c(*([rest] * 40)).b(reply(1)).c(rest + request(2)).b(reply(2)).c(request(3)).b(reply(3))
    )
    out = conversation.run()
    assert ("request", 2) in out.story() and ("reply", 3) in out.story()
    assert out.skipped(CLIENT) == {"unsynced": 41 * 65_536}


def test_what_follows_the_rest_of_a_long_reply_may_still_be_no_kafka() -> None:
    out = Conversation(syn=False).b(*([b"z" * 65_536] * 40)).c(b"GET").b(*([b"z" * 65_536] * 5)).c(request(1)).run()
    assert not out.frames
    assert out.protocol == layout.PROTOCOL_OTHER


def test_a_search_goes_on_where_requests_were_found() -> None:
    junk = b"z" * 65_536
    conversation = Conversation().c(request(1)).b(reply(1)).gap(CLIENT, 10).c(*([junk] * 5), request(2)).b(reply(2))
    out = conversation.run()
    assert out.story() == [("request", 1), ("reply", 1), ("request", 2), ("reply", 2)]


def test_a_record_batch_is_no_reply() -> None:
    """Behind its offset a batch has a length, a leader epoch of 0 and a magic of 2: the first as in a reply to request 0."""
    batch = struct.pack(">qiib", 0, 60, 0, 2) + bytes(55)
    conversation = (
        Conversation().c(request(0)).gap(BROKER, 40).b(b"z" * 5 + batch).c(request(1)).b(reply(1)).end(CLIENT)
    )
    assert conversation.run().story() == [("request", 0), ("request", 1), ("reply", 1), ("reply lost", 0)]


@pytest.mark.parametrize(("correlation", "found"), [(0, False), (200, False), (70_000, True)])
def test_a_small_number_within_a_body_needs_the_end_of_its_reply(correlation: int, found: bool) -> None:
    """Of a reply that goes on in a later chunk only length and id are seen."""
    whole = reply(correlation, bytes(200))
    conversation = Conversation().c(request(correlation)).gap(BROKER, 40).b(b"z" * 5 + whole[:60], whole[60:])
    story = conversation.c(request(71_000)).b(reply(71_000)).end(CLIENT).run().story()
    assert (("reply", correlation) in story) == found
    assert (("reply lost", correlation) in story) != found
    within = Conversation().c(request(correlation)).gap(BROKER, 40).b(b"z" * 5 + whole).end(CLIENT).run().story()
    assert ("reply", correlation) in within


def test_a_connection_that_is_left_unread_keeps_no_page() -> None:
    """Small pieces were joined in a page; then the other side shows that all of it is TLS. Plain Python shows what is held."""
    hello = bytes([22, 3, 1, 0, 100, 1, 0, 0, 96, 3, 3]) + bytes(94)
    stage = STAGES["plain"].Framing(*limits(), 1 << 20, 1 << 20, frozenset())
    talk = Conversation(syn=False).b(*in_pieces(b"zq" * 30, 3))
    feed(stage, talk.chunks, Outcome())
    assert stage.tail_pages == 1
    begun = len(talk.chunks)
    feed(stage, talk.c(hello).chunks[begun:], Outcome())
    assert stage.tail_pages == 0
