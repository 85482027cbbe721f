"""Which reply belongs to which request, and how requests without a reply end."""

from __future__ import annotations

import pytest
from chunk_rows import BROKER, CLIENT, FETCH, PRODUCE, WAYS, Chunk, Conversation, produce, reply, request, run

from dissectors import layout
from dissectors.problems import PROBLEM_TOO_MANY_WAITING


def test_pipelined_requests_are_answered_in_order() -> None:
    out = Conversation().c(*(request(n) for n in range(5))).b(*(reply(n) for n in range(5))).run()
    assert out.story() == [*(("request", n) for n in range(5)), *(("reply", n) for n in range(5))]
    asked, answered = out.frames[:5], out.frames[5:]
    assert [frame.id for frame in answered] == [frame.id for frame in asked]


def test_a_reply_has_key_and_version_of_its_request() -> None:
    conversation = Conversation().c(request(1, FETCH, 4), request(2, PRODUCE, 99)).b(reply(1), reply(2))
    assert [(frame.key, frame.version) for frame in conversation.run().frames[2:]] == [(FETCH, 4), (PRODUCE, 99)]


def test_of_requests_with_the_same_id_the_oldest_is_answered() -> None:
    out = (
        Conversation()
        .c(request(5, body=b"one"), request(5, body=b"two"))
        .b(reply(5, b"\0one"), reply(5, b"\0two"))
        .run()
    )
    one, two, first, second = out.frames
    assert (first.id, second.id) == (one.id, two.id)


def test_correlation_ids_are_signed() -> None:
    out = (
        Conversation()
        .c(request(-1), request(-(2**31)), request(2**31 - 1))
        .b(reply(2**31 - 1), reply(-(2**31)), reply(-1))
    )
    assert [told[1] for told in out.run().story()[3:]] == [2**31 - 1, -(2**31), -1]


def test_a_reply_may_overtake_others() -> None:
    """Nothing explains it, so the older request goes on waiting."""
    out = Conversation().c(request(1), request(2)).b(reply(2), reply(1)).run()
    assert out.story() == [("request", 1), ("request", 2), ("reply", 2), ("reply", 1)]


def test_a_reply_that_nobody_asked_for_is_an_orphan() -> None:
    out = Conversation().c(request(1)).b(reply(1), reply(99)).run()
    assert out.story() == [("request", 1), ("reply", 1), ("orphan", 99)]
    assert out.frames[2].key == layout.UNKNOWN


def test_a_reply_is_never_paired_with_a_later_request() -> None:
    out = Conversation().c(request(1)).b(reply(1), reply(2)).c(request(2)).run()
    assert out.story() == [("request", 1), ("reply", 1), ("orphan", 2), ("request", 2), ("pending", 2)]


def test_what_comes_before_any_request_answers_none() -> None:
    out = Conversation().b(reply(1)).c(request(1)).run()
    assert out.story() == [("request", 1), ("pending", 1)]
    assert out.skipped(BROKER) == {"unsynced": len(reply(1))}


@pytest.mark.parametrize("version", [0, 2, 3, 8, 9, 13])
def test_produce_with_acks_0_expects_no_reply(version: int) -> None:
    """The next reply is that of the next request, though both have the same id."""
    out = Conversation().c(produce(1, 0, version), request(1)).b(reply(1)).run()
    assert out.story() == [("one way", 1), ("request", 1), ("reply", 1)]
    assert out.frames[2].id == out.frames[1].id


@pytest.mark.parametrize("acks", [1, -1])
@pytest.mark.parametrize("version", [2, 3, 9])
def test_produce_with_other_acks_waits(acks: int, version: int) -> None:
    out = Conversation().c(produce(1, acks, version)).b(reply(1)).run()
    assert out.story() == [("request", 1), ("reply", 1)]


def test_a_transactional_id_lies_before_acks() -> None:
    body = b"\0\x02tx" + b"\0\0" + b"\0\0\x75\x30" + b"\0\0\0\0"
    flexible = b"\x03tx" + b"\0\0" + b"\0\0\x75\x30" + b"\x01\0"
    out = Conversation().c(request(1, PRODUCE, 3, body), request(2, PRODUCE, 9, flexible)).run()
    assert out.story() == [("one way", 1), ("one way", 2)]


def test_acks_of_a_version_beyond_ours_are_read_where_all_around_makes_sense() -> None:
    """Else each request of a client that asks for no reply would have lost its own."""
    assert Conversation().c(produce(1, 0, version=14)).run().story() == [("one way", 1)]
    no_timeout, no_topics = b"\0\0\0\xff\xff\xff\xff\x02", b"\0\0\0\0\0\x75\x30\0"
    for body in (no_timeout, no_topics):
        assert Conversation().c(request(1, PRODUCE, 14, body)).run().story() == [("request", 1), ("pending", 1)]


def test_where_acks_were_cut_off_a_later_reply_tells() -> None:
    """Of the Produce request only the header is there: it may have asked for no reply."""
    cut = produce(1, 0)
    for replies, told in (
        ((reply(2),), [("reply", 2), ("no reply expected", 1)]),
        ((reply(1), reply(2)), [("reply", 1), ("reply", 2)]),
    ):
        conversation = Conversation().c(cut[:17]).gap(CLIENT, len(cut) - 17, layout.GAP_CUT).c(request(2)).b(*replies)
        assert conversation.run().story() == [("request", 1), ("request", 2), *told]


# ---- requests without a reply ----


def test_a_connection_that_goes_on_leaves_its_requests_pending() -> None:
    assert Conversation().c(request(1)).run().story() == [("request", 1), ("pending", 1)]


def test_a_connection_that_ends_closes_them() -> None:
    for side in (CLIENT, BROKER):
        assert Conversation().c(request(1)).end(side).run().story() == [("request", 1), ("closed", 1)]


@pytest.mark.parametrize(("after_s", "status"), [(26, "closed"), (27, "abandoned"), (40, "abandoned")])
def test_a_client_that_leaves_after_its_timeout_has_abandoned_them(after_s: int, status: str) -> None:
    """0.9 of the usual 30 s."""
    conversation = Conversation().c(request(1)).end(CLIENT, after_s * 1_000_000_000).end(BROKER)
    assert conversation.run().story() == [("request", 1), (status, 1)]


def test_a_broker_that_leaves_abandons_nothing() -> None:
    conversation = Conversation().c(request(1)).end(BROKER, 40_000_000_000).end(CLIENT)
    assert conversation.run().story() == [("request", 1), ("closed", 1)]


def test_a_lost_reply_ends_its_request_when_a_later_one_is_answered() -> None:
    conversation = Conversation().c(request(1), request(2), request(3)).gap(BROKER, len(reply(1))).b(reply(2), reply(3))
    assert conversation.run().story()[3:] == [("reply", 2), ("reply lost", 1), ("reply", 3)]


def test_a_lost_reply_ends_its_request_at_the_end_too() -> None:
    conversation = Conversation().c(request(1)).gap(BROKER, len(reply(1))).end(CLIENT)
    assert conversation.run().story() == [("request", 1), ("reply lost", 1)]


def test_after_a_loss_a_reply_is_for_the_request_after_it() -> None:
    """A client that always uses the same id waits for each reply, so the first one can only have been lost."""
    conversation = (
        Conversation().c(request(5, body=b"old")).gap(BROKER, len(reply(5))).c(request(5, body=b"new")).b(reply(5))
    )
    out = conversation.run()
    assert out.frames[2].event == "reply" and out.frames[2].id == out.frames[1].id
    assert [frame.status for frame in out.frames if frame.event == "ended"] == ["reply lost"]


def test_the_loss_of_requests_loses_no_reply() -> None:
    conversation = (
        Conversation().c(request(1)).gap(CLIENT, len(request(2))).c(request(3)).b(reply(1), reply(2), reply(3))
    )
    assert conversation.run().story() == [("request", 1), ("request", 3), ("reply", 1), ("orphan", 2), ("reply", 3)]


def test_one_connection_has_8192_requests_in_flight_at_most() -> None:
    conversation = Conversation().c(b"".join(request(n) for n in range(8193))).add(Chunk(layout.CHUNK_CLOSE))
    out = run(conversation, WAYS[0])
    story = out.story()
    assert story[8192:8194] == [("request", 8192), ("reply lost", 0)]
    assert len(story) == 2 * 8193
    assert out.problems == [(PROBLEM_TOO_MANY_WAITING, CLIENT, 0)]
