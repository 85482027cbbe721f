"""Checkpoints: one run skips what another one has read."""

from __future__ import annotations

from typing import Any

import pytest
from chunk_rows import (
    BROKER,
    CLIENT,
    JOIN_GROUP,
    SASL_HANDSHAKE,
    Chunk,
    Conversation,
    Outcome,
    feed,
    new_stage,
    produce,
    reply,
    request,
)

from dissectors import layout

SLOT = 0


def proved(syn: bool = True) -> Conversation:
    """A connection of which a reply and a header behind a frame are known."""
    return Conversation(syn).c(request(1), request(2)).b(reply(1), reply(2))


def after(conversation: Conversation) -> Any:
    """The stage that has read a conversation, which is still open."""
    stage = new_stage()
    feed(stage, conversation.chunks, Outcome())
    return stage


def test_nothing_is_pending_between_frames() -> None:
    assert after(proved()).can_checkpoint(SLOT)


def test_a_search_is_over_where_a_frame_begins() -> None:
    searched = Conversation(False).c(b"z" * 40 + request(1), request(2)).b(reply(1), reply(2))
    assert after(searched).can_checkpoint(SLOT)


def test_requests_may_be_in_flight() -> None:
    assert after(proved().c(request(3), produce(4, acks=1))).can_checkpoint(SLOT)


@pytest.mark.parametrize(
    "conversation",
    [
        Conversation(),
        Conversation().c(request(1)),
        Conversation().c(request(1)).b(reply(1)),  # no header right behind a frame yet
        proved().c(request(3)[:10]),
        proved().c(request(3)).b(reply(3)[:3]),
        proved().gap(CLIENT, 10),
        proved().c(request(3, JOIN_GROUP)),  # what it tells belongs to its reply
        proved().c(request(3, SASL_HANDSHAKE, 0)),
        proved().end(CLIENT),
        proved().c(*(request(n) for n in range(3, 3 + 65))),
    ],
)
def test_what_is_pending(conversation: Conversation) -> None:
    assert not after(conversation).can_checkpoint(SLOT)


def test_a_connection_that_has_not_come_yet() -> None:
    stage = new_stage()
    assert not stage.can_checkpoint(10_000)
    assert stage.bytes_to_boundary(10_000) is None


def test_bytes_that_are_missing_up_to_a_boundary() -> None:
    assert after(proved()).bytes_to_boundary(SLOT) is None
    assert after(proved().c(request(3)[:10])).bytes_to_boundary(SLOT) == (CLIENT, len(request(3)) - 10)
    assert after(proved().c(request(3)).b(reply(3)[:5])).bytes_to_boundary(SLOT) == (BROKER, len(reply(3)) - 5)
    assert after(proved().c(request(3)[:3])).bytes_to_boundary(SLOT) is None  # its length is not known


def one_and_two() -> tuple[Conversation, int, int]:
    """A conversation, and after how many chunks two checkpoints of it lie. At both requests are in flight."""
    conversation = proved().c(request(3), request(4)).b(reply(3))
    one = len(conversation.chunks)
    conversation.c(request(5)).b(reply(4)).c(request(6), request(7)).b(reply(5))
    two = len(conversation.chunks)
    return conversation.b(reply(6), reply(7)).c(request(8)).b(reply(8)), one, two


def test_a_run_that_resumes_goes_on_as_if_it_had_read_all() -> None:
    conversation, one, two = one_and_two()
    conversation.add(Chunk(layout.CHUNK_CLOSE))
    whole, reader = Outcome(), new_stage()
    feed(reader, conversation.chunks[:one], whole)
    first, _ = reader.checkpoint(SLOT)
    feed(reader, conversation.chunks[one:two], whole)
    second, in_flight = reader.checkpoint(SLOT)
    seen = len(whole.frames)
    feed(reader, conversation.chunks[two:], whole)

    stage, skipping = new_stage(), Outcome()
    feed(stage, conversation.chunks[:one], skipping)
    assert stage.matches(SLOT, first, 0)
    asked = [frame.index for frame in skipping.frames if frame.correlation == 4]
    before, now = stage.resume(SLOT, first, second, 0)
    assert before == asked
    assert len(now) == len(in_flight) == 2
    assert stage.matches(SLOT, second, 0)
    begin = len(skipping.frames)
    feed(stage, conversation.chunks[two:], skipping)
    assert skipping.part == whole.part
    assert [(f.event, f.correlation, f.id) for f in skipping.frames[begin:]] == [
        (f.event, f.correlation, f.id) for f in whole.frames[seen:]
    ]
    assert [f.index for f in skipping.frames[begin : begin + 2]] == now


def test_a_checkpoint_that_does_not_match() -> None:
    """Another newest correlation id, or another request in flight."""
    conversation, one, two = one_and_two()
    stage = new_stage()
    feed(stage, conversation.chunks[:one], Outcome())
    first, _ = stage.checkpoint(SLOT)
    feed(stage, conversation.chunks[one:two], Outcome())
    assert not stage.matches(SLOT, first, 0)
    same = after(proved().c(request(3), request(4)).b(reply(3)))
    assert same.matches(SLOT, first, 0)
    assert not after(proved().c(request(3), request(4, version=2)).b(reply(3))).matches(SLOT, first, 0)
    assert not after(proved().c(request(3)).b(reply(3))).matches(SLOT, first, 0)


def test_losses_before_a_request_do_not_matter() -> None:
    """One run has lost the reply to request 2, the other one has it. Both wait for that to request 4."""
    asked = [request(n) for n in (1, 2, 3, 4)]
    whole = Conversation().c(*asked[:2]).b(reply(1), reply(2)).c(asked[2]).b(reply(3)).c(asked[3])
    lost = Conversation().c(*asked[:2]).b(reply(1)).gap(BROKER, len(reply(2))).c(asked[2]).b(reply(3)).c(asked[3])
    assert after(whole).matches(SLOT, after(lost).checkpoint(SLOT)[0], 0)


def test_sides_may_be_the_other_way_round() -> None:
    """A run that did not see the SYN may call the client side 1."""
    conversation = Conversation(syn=False).c(request(1), request(2)).b(reply(1), reply(2)).c(request(3))
    other = Conversation(syn=False).b(request(1), request(2)).c(reply(1), reply(2)).b(request(3))
    here, there = after(conversation), after(other)
    checkpoint, _ = there.checkpoint(SLOT)
    # The ids of the requests in flight are hashes of flow, time and sequence number: they must be the same ones.
    assert checkpoint[layout.FRAMING_CLIENT_SIDE] == BROKER
    assert not here.matches(SLOT, checkpoint, 0)
    checkpoint[layout.FRAMING_CHECKPOINT_WAITING :] = here.checkpoint(SLOT)[0][layout.FRAMING_CHECKPOINT_WAITING :]
    assert here.matches(SLOT, checkpoint, 1)


def test_a_run_that_saw_less_must_not_go_on_for_one_that_saw_the_start() -> None:
    """Since the SYN any header is believed: only a run that may do so as well can take over."""
    saw_all, saw_less = after(proved(syn=True)), after(proved(syn=False))
    assert not saw_less.matches(SLOT, saw_all.checkpoint(SLOT)[0], 0)
    assert saw_all.matches(SLOT, saw_less.checkpoint(SLOT)[0], 0)
