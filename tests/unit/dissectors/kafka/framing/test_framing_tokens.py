"""Bare SASL tokens: frames without a Kafka header."""

from __future__ import annotations

import struct

import pytest
from chunk_rows import BROKER, CLIENT, SASL_HANDSHAKE, Conversation, framed, reply, request, text

from dissectors import layout

ACCEPTED, REFUSED = struct.pack(">hi", 0, 0), struct.pack(">hi", 33, 0)  # error code, mechanisms
PLAIN_TOKEN = framed(b"\0alice\0secret")


def handshake(correlation: int, version: int = 0, mechanism: bytes = b"PLAIN") -> bytes:
    return request(correlation, SASL_HANDSHAKE, version, text(mechanism))


def test_tokens_follow_a_handshake_of_version_0() -> None:
    conversation = (
        Conversation().c(handshake(1)).b(reply(1, ACCEPTED)).c(PLAIN_TOKEN).b(framed(b"")).c(request(2)).b(reply(2))
    )
    out = conversation.run()
    assert out.story() == [
        ("request", 1),
        ("reply", 1),
        ("token", CLIENT),
        ("token", BROKER),
        ("request", 2),
        ("reply", 2),
    ]
    sent, answered = out.frames[2:4]
    assert (sent.data, answered.data) == (PLAIN_TOKEN[4:], b"")
    assert (sent.key, sent.status, answered.status) == (-2, "pending", "answered")


def test_tokens_may_go_to_and_fro() -> None:
    """SCRAM: two each."""
    conversation = Conversation().c(handshake(1)).b(reply(1, ACCEPTED))
    conversation.c(framed(b"n,,n=alice,r=xyz")).b(framed(b"r=xyzabc,s=salt,i=4096")).c(
        framed(b"c=biws,r=xyzabc,p=proof")
    )
    out = conversation.b(framed(b"v=signature")).c(request(2)).b(reply(2)).run()
    assert [told[0] for told in out.story()] == ["request", "reply", *["token"] * 4, "request", "reply"]


def test_a_handshake_of_version_1_brings_none() -> None:
    """Its tokens are SaslAuthenticate requests."""
    out = Conversation().c(handshake(1, version=1)).b(reply(1, ACCEPTED)).c(request(2)).b(reply(2)).run()
    assert out.story() == [("request", 1), ("reply", 1), ("request", 2), ("reply", 2)]


def test_a_refused_handshake_brings_none() -> None:
    out = Conversation().c(handshake(1)).b(reply(1, REFUSED)).c(request(2)).b(reply(2)).run()
    assert out.story() == [("request", 1), ("reply", 1), ("request", 2), ("reply", 2)]


def test_right_behind_an_accepted_handshake_anything_is_a_token() -> None:
    """Even what looks like a request."""
    out = Conversation().c(handshake(1)).b(reply(1, ACCEPTED)).c(request(2)).b(framed(b"")).run()
    assert [told[0] for told in out.story()] == ["request", "reply", "token", "token"]


def test_where_the_reply_to_the_handshake_was_lost_the_bytes_tell() -> None:
    lost = len(reply(1, ACCEPTED))
    token = Conversation().c(handshake(1)).gap(BROKER, lost).c(PLAIN_TOKEN).b(framed(b"")).c(request(2)).run()
    assert ("token", CLIENT) in token.story() and ("request", 2) in token.story()
    other = Conversation().c(handshake(1)).gap(BROKER, lost).c(request(2)).b(reply(2)).run()
    assert ("request", 2) in other.story() and ("token", CLIENT) not in other.story()


def test_a_token_without_an_answer() -> None:
    out = Conversation().c(handshake(1)).b(reply(1, ACCEPTED)).c(PLAIN_TOKEN).end(BROKER).run()
    assert out.story()[2:] == [("token", CLIENT), ("closed", "token")]
    assert out.frames[-1].key == -2


def test_an_exchange_may_end_with_a_token_of_the_client() -> None:
    """GSSAPI (RFC 4752): the broker does not answer the last token; what comes next is a request with its own reply."""
    conversation = Conversation().c(handshake(1, mechanism=b"GSSAPI")).b(reply(1, ACCEPTED))
    conversation.c(framed(b"\x60ticket")).b(framed(b"\x60answer")).c(framed(b"")).b(framed(b"\x05\x04layers"))
    out = (
        conversation.c(framed(b"\x05\x04\x04choice of a layer"))
        .c(request(2))
        .b(reply(2))
        .c(request(3))
        .b(reply(3))
        .run()
    )
    assert [told for told in out.story() if told[0] != "token"] == [
        ("request", 1),
        ("reply", 1),
        ("request", 2),
        ("no reply expected", "token"),
        ("reply", 2),
        ("request", 3),
        ("reply", 3),
    ]
    assert out.part[layout.FRAMING_TOKENS] == 5


def test_a_lost_answer_to_the_last_token_is_lost() -> None:
    conversation = Conversation().c(handshake(1)).b(reply(1, ACCEPTED)).c(PLAIN_TOKEN).gap(BROKER, 4)
    out = conversation.c(request(2)).b(reply(2)).run()
    assert ("reply lost", "token") in out.story() and ("reply", 2) in out.story()


def test_a_gssapi_token_may_come_without_a_handshake() -> None:
    """Behind ApiVersions too: it is no request of an unknown API."""
    inner = b"\x06\x09" + b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02" + bytes(700)
    token = framed(b"\x60\x82" + struct.pack(">H", len(inner)) + inner)
    out = Conversation().c(request(1, 18)).b(reply(1)).c(token).end(BROKER).run()
    assert out.story() == [("request", 1), ("reply", 1), ("token", CLIENT), ("closed", "token")]
    shorter = framed(b"\x60\x82" + struct.pack(">H", len(inner) + 1) + inner)
    other = Conversation().c(request(1, 18)).b(reply(1)).c(shorter).end(BROKER).run()
    assert ("token", CLIENT) not in other.story()


@pytest.mark.parametrize("size", [20, 200, 2000])
def test_a_connection_may_begin_with_a_gssapi_token(size: int) -> None:
    """As before KIP-43: tag 0x60, length in DER, an object identifier. Wherever the length has one, two or three bytes."""
    inner = b"\x06\x09" + b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02" + bytes(size)
    if len(inner) < 128:
        der = bytes([len(inner)])
    elif len(inner) < 256:
        der = bytes([0x81, len(inner)])
    else:
        der = b"\x82" + struct.pack(">H", len(inner))
    token = framed(b"\x60" + der + inner)
    conversation = Conversation().c(token).b(framed(b"\x60answer")).c(request(1)).b(reply(1))
    out = conversation.run()
    assert out.story() == [("token", CLIENT), ("token", BROKER), ("request", 1), ("reply", 1)]
    assert out.frames[0].data == token[4:]


def test_no_token_has_more_than_a_mib() -> None:
    long = struct.pack(">i", (1 << 20) + 1)
    conversation = Conversation().c(handshake(1)).b(reply(1, ACCEPTED)).c(long + bytes(20))
    out = conversation.run()
    assert out.part[layout.FRAMING_TOKENS] == 0
    assert set(out.skipped(CLIENT)) == {"bad"}
