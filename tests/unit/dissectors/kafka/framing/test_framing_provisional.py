"""Replies whose requests are not in the capture: when they are believed."""

from __future__ import annotations

import struct

import pytest
from chunk_rows import BROKER, CLIENT, Conversation, framed, reply, request

from dissectors import layout


def api_versions_reply(correlation: int) -> bytes:
    """Version 0: no error, Produce 0 to 9 and Fetch 0 to 13."""
    return reply(correlation, struct.pack(">hihhhhhh", 0, 2, 0, 0, 9, 1, 0, 13))


def zookeeper_reply(xid: int) -> bytes:
    """Transaction id (epoch 1, a counter), no error, some data."""
    return framed(struct.pack(">iiii", xid, 1, 100 + xid, 0) + b"data")


def test_growing_ids_prove_replies_where_nothing_else_is_there() -> None:
    """Four steps to a larger id, each frame exactly where the one before ended."""
    out = Conversation(syn=False).b(*(reply(n, bytes(30)) for n in (3, 4, 7, 8, 9))).run()
    assert out.story() == [("orphan", n) for n in (3, 4, 7, 8, 9)]
    assert (out.client, out.protocol) == (CLIENT, layout.PROTOCOL_KAFKA)
    assert out.part[layout.FRAMING_CHAINED] == 4


def test_bodies_are_not_kept() -> None:
    out = Conversation(syn=False).b(*(reply(n, bytes(30)) for n in range(5))).run()
    assert {(frame.data, frame.length, frame.decoded) for frame in out.frames} == {(b"", 34, layout.DECODED_HEADER)}


def test_four_replies_alone_prove_nothing_but_are_kept() -> None:
    """They are all that was captured: whether they count is decided when all connections are known."""
    out = Conversation(syn=False).b(*(reply(n, bytes(30)) for n in (3, 4, 5, 6))).run()
    assert out.story() == [("orphan", n) for n in (3, 4, 5, 6)]
    assert out.part[layout.FRAMING_CHAINED] == 0


def test_beside_bytes_of_the_other_side_they_are_not() -> None:
    out = Conversation(syn=False).c(b"z" * 50).b(*(reply(n, bytes(30)) for n in (3, 4, 5))).run()
    assert not out.frames
    assert out.skipped(BROKER) == {"unsynced": 3 * 38}


def test_ids_that_go_back_twice_are_no_replies() -> None:
    out = Conversation(syn=False).b(*(reply(n, bytes(30)) for n in (9, 8, 7, 6, 5, 4))).run()
    assert out.part[layout.FRAMING_CHAINED] == 0


def test_an_id_may_go_back_once() -> None:
    """Java clients take an id for ApiVersions and send it after others."""
    out = Conversation(syn=False).b(*(reply(n, bytes(30)) for n in (3, 5, 4, 6, 7, 8))).run()
    assert out.story() == [("orphan", n) for n in (3, 5, 4, 6, 7, 8)]
    assert out.part[layout.FRAMING_CHAINED] > 0


def test_a_reply_to_api_versions_needs_one_more_step() -> None:
    """No other protocol looks like it."""
    alone = Conversation(syn=False).b(reply(0, bytes(30)), reply(1, bytes(30))).run()
    proved = Conversation(syn=False).b(api_versions_reply(0), reply(1, bytes(30))).run()
    assert alone.part[layout.FRAMING_CHAINED] == 0 and proved.part[layout.FRAMING_CHAINED] == 1
    assert proved.story() == [("orphan", 0), ("orphan", 1)]


def test_zookeeper_is_no_kafka() -> None:
    """Its replies have a length and a growing id."""
    out = Conversation(syn=False).b(*(zookeeper_reply(n) for n in range(1, 9))).run()
    assert out.part[layout.FRAMING_CHAINED] == 0
    with_requests = Conversation(syn=False).c(b"z" * 40).b(*(zookeeper_reply(n) for n in range(1, 9))).run()
    assert not with_requests.frames


def test_where_ports_tell_two_will_do() -> None:
    conversation = (
        Conversation(syn=False, ports=(40_000, 9092)).c(b"z" * 50).b(reply(3, bytes(30)), reply(4, bytes(30)))
    )
    assert conversation.run(ports=[9092]).story() == [("orphan", 3), ("orphan", 4)]


# ---- beside requests ----


def test_replies_to_requests_before_the_capture() -> None:
    """Their ids are near that of the first request."""
    conversation = Conversation(syn=False).c(request(10)).b(reply(8), reply(9), reply(10))
    assert conversation.run().story() == [("request", 10), ("orphan", 8), ("orphan", 9), ("reply", 10)]


@pytest.mark.parametrize("cut", range(1, 12))
def test_an_expected_reply_proves_those_before_it(cut: int) -> None:
    """Though their ids are far from the newest one, and wherever its header is cut."""
    before, expected = reply(5000) + reply(5001), reply(5002, bytes(10))
    conversation = (
        Conversation(syn=False)
        .c(request(5002), request(90_000))
        .b(before + expected[:cut], expected[cut:], reply(90_000))
    )
    out = conversation.run()
    assert out.story()[2:] == [("orphan", 5000), ("orphan", 5001), ("reply", 5002), ("reply", 90_000)]
    assert out.frames[4].data == expected[4:]


def test_an_expected_header_over_two_chunks_is_kept_where_all_pages_are_in_use() -> None:
    """An unfinished request holds the 64 pages of the first arena."""
    long = request(11, body=bytes(400_000))[: 64 * 4096]
    before, expected = reply(5000) + reply(5001), reply(5002, b"content")
    talk = Conversation(syn=False).c(request(5002), request(90_000), long).b(before + expected[:5], expected[5:])
    out = talk.run()
    assert out.story()[2:5] == [("orphan", 5000), ("orphan", 5001), ("reply", 5002)]
    assert out.frames[4].data == expected[4:]


def test_a_far_id_alone_is_not_believed() -> None:
    out = Conversation(syn=False).c(request(10)).b(reply(5_000_000)).run()
    assert out.story() == [("request", 10), ("pending", 10)]
    assert out.skipped(BROKER) == {"unsynced": len(reply(1))}


def test_ids_that_java_clients_reserve_are_near_any() -> None:
    """SaslAuthenticate is numbered from 2^31 - 8 on, whatever came before."""
    conversation = Conversation(syn=False).c(request(10)).b(reply(2**31 - 8), reply(10))
    assert conversation.run().story() == [("request", 10), ("orphan", 2**31 - 8), ("reply", 10)]
    other = Conversation(syn=False).c(request(2**31 - 8)).b(reply(10))
    assert other.run().story() == [("request", 2**31 - 8), ("orphan", 10), ("pending", 2**31 - 8)]


def test_a_gap_inside_a_provisional_reply_costs_nothing() -> None:
    first = reply(8, bytes(100))
    conversation = (
        Conversation(syn=False).c(request(10)).b(first[:50]).gap(BROKER, 20).b(first[70:], reply(9), reply(10))
    )
    out = conversation.run()
    assert out.story() == [("request", 10), ("orphan", 8), ("orphan", 9), ("reply", 10)]
    assert not out.skipped(BROKER)


def test_lengths_that_hide_too_much_are_not_tried() -> None:
    """A first reply of more than 16 MiB whose id is near nothing."""
    long = struct.pack(">iib", 1 << 25, 5_000_000, 0)
    conversation = Conversation(syn=False).c(request(10)).b(long, reply(10))
    assert conversation.run().story() == [("request", 10), ("reply", 10)]
