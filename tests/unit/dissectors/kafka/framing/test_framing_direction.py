"""Who is the client, and whether a connection speaks Kafka at all."""

from __future__ import annotations

import struct

import pytest
from chunk_rows import BROKER, CLIENT, Conversation, framed, produce, reply, request

from dissectors import layout


def test_who_sent_the_syn_is_the_client() -> None:
    out = Conversation().c(request(1)).b(reply(1)).run()
    assert (out.client, out.protocol) == (CLIENT, layout.PROTOCOL_KAFKA)


@pytest.mark.parametrize("side", [CLIENT, BROKER])
def test_without_a_syn_a_request_tells(side: int) -> None:
    out = Conversation(syn=False).data(side, request(1)).data(1 - side, reply(1)).run()
    assert out.story() == [("request", 1), ("reply", 1)]
    assert (out.client, out.protocol) == (side, layout.PROTOCOL_KAFKA)


@pytest.mark.parametrize("kept", [18, 20, 24])
def test_a_produce_request_cut_before_its_timeout_tells_too(kept: int) -> None:
    """A capture of short packets, begun late: of each Produce its client id is there, and not all that follows."""
    talk = Conversation(syn=False)
    for number in (1, 2):
        asked = produce(number, -1, 7)
        talk = talk.c(asked[:kept]).gap(CLIENT, len(asked) - kept, layout.GAP_CUT).b(reply(number))
    assert talk.run().story() == [("request", 1), ("reply", 1), ("request", 2), ("reply", 2)]


def test_after_the_syn_a_lost_first_request_changes_nothing() -> None:
    out = Conversation().gap(CLIENT, 40).b(reply(1)).c(request(2)).b(reply(2)).run()
    assert ("reply", 2) in out.story()
    assert out.client == CLIENT


def test_a_guess_that_nothing_has_proved_is_taken_back() -> None:
    """Side 1 seems to ask, but has no answer, and then side 0 asks."""
    wrong = request(9)
    out = Conversation(syn=False).b(wrong).c(request(1)).b(reply(1)).run(taken_back=1)
    assert out.story() == [("request", 9), ("request", 1), ("reply", 1)]
    assert out.part[layout.FRAMING_REQUESTS] == 1
    assert out.client == CLIENT
    assert out.skipped(BROKER) == {"unsynced": len(wrong)}


@pytest.mark.parametrize(("ports", "client"), [((40_000, 7777), CLIENT), ((7777, 40_000), BROKER)])
def test_ports_tell_who_is_the_broker(ports: tuple[int, int], client: int) -> None:
    out = Conversation(syn=False, ports=ports).data(client, request(1)).data(1 - client, reply(1)).run(ports=[7777])
    assert out.story() == [("request", 1), ("reply", 1)]
    assert (out.client, out.protocol) == (client, layout.PROTOCOL_KAFKA)


def test_ports_overrule_content() -> None:
    """What looks like a request is sent by the broker."""
    out = Conversation(ports=(40_000, 7777)).b(request(1)).c(request(2)).run(ports=[7777])
    assert [frame.correlation for frame in out.frames if frame.event == "request"] == [2]
    assert out.client == CLIENT


def test_connections_without_one_of_the_ports_are_left_unread() -> None:
    out = Conversation().c(request(1)).b(reply(1)).run(ports=[7777])
    assert not out.frames
    assert out.protocol == layout.PROTOCOL_UNKNOWN
    assert (out.skipped(CLIENT), out.skipped(BROKER)) == ({"not kafka": len(request(1))}, {"not kafka": len(reply(1))})


@pytest.mark.parametrize("cut", range(1, 14))
def test_fewer_first_bytes_than_a_header_are_believed_for_now(cut: int) -> None:
    out = Conversation().c(request(1)[:cut], request(1)[cut:]).b(reply(1)).run()
    assert out.story() == [("request", 1), ("reply", 1)]


# ---- other protocols ----

TLS_HELLO = bytes([22, 3, 1, 0, 100, 1, 0, 0, 96, 3, 3]) + bytes(94)
HTTP = b"GET /index.html HTTP/1.1\r\nHost: example.com\r\n\r\n"
# ConnectRequest: protocol version, last transaction id, timeout, session id, password; since 3.4 whether it only reads.
ZOOKEEPER = framed(struct.pack(">iqiq", 0, 0, 30_000, 0) + struct.pack(">i", 16) + bytes(16))
ZOOKEEPER_34 = framed(ZOOKEEPER[4:] + b"\0")


@pytest.mark.parametrize(
    ("first", "protocol"),
    [
        (TLS_HELLO, layout.PROTOCOL_TLS),
        (HTTP, layout.PROTOCOL_OTHER),
        (b"SSH-2.0-OpenSSH_9.6\r\n", layout.PROTOCOL_OTHER),
        (ZOOKEEPER, layout.PROTOCOL_OTHER),
        (ZOOKEEPER_34, layout.PROTOCOL_OTHER),
        (bytes(40), layout.PROTOCOL_OTHER),
    ],
)
def test_what_begins_like_another_protocol_is_left_unread(first: bytes, protocol: int) -> None:
    """TLS and ZooKeeper even where requests and replies of Kafka seem to follow."""
    conversation = Conversation().c(first).b(b"answer")
    told = first in (HTTP, b"SSH-2.0-OpenSSH_9.6\r\n", bytes(40))
    out = (conversation.c(b"more of it") if told else conversation.c(request(1)).b(reply(1))).run()
    assert not out.frames and not out.problems
    assert out.protocol == protocol
    assert set(out.skipped(CLIENT)) == {"not kafka"} and set(out.skipped(BROKER)) == {"not kafka"}


def test_a_tls_record_is_told_in_mid_stream_too() -> None:
    """Application data, version 3.3."""
    out = Conversation(syn=False).c(bytes([23, 3, 3, 0, 50]) + bytes(50)).run()
    assert out.protocol == layout.PROTOCOL_TLS


def test_the_request_of_a_vendor_is_read_but_proves_nothing() -> None:
    """One whole frame with a small key that nobody knows. Whether it counts is decided when all connections are known."""
    out = Conversation().c(request(1, key=700)).run()
    assert out.story() == [("request", 1), ("pending", 1)]
    assert out.protocol == layout.PROTOCOL_UNKNOWN
    assert out.part[layout.FRAMING_CHAINED] == 0


def test_a_header_right_behind_a_frame_is_evidence() -> None:
    alone = Conversation().c(request(1)).run()
    chained = Conversation().c(request(1), request(2)).run()
    assert (alone.part[layout.FRAMING_CHAINED], chained.part[layout.FRAMING_CHAINED]) == (0, 1)


def test_frames_that_become_impossible_before_any_request_are_no_kafka() -> None:
    """Two bytes that begin a length, which then turns out to be impossible."""
    out = Conversation().c(b"\0\0", b"\0\x05", b"\0\0\0\x05" * 9).run()
    assert not out.frames
    assert out.protocol == layout.PROTOCOL_OTHER
    assert out.skipped(CLIENT) == {"bad": 4, "not kafka": 36}


@pytest.mark.parametrize("other", [HTTP, b"MAGIC\0\1\2", b"\0\0\0\x05", bytes(40), b"\xff" * 600])
@pytest.mark.parametrize("joined", [False, True])
@pytest.mark.parametrize("answer", [b"", b"fine"])
def test_kafka_behind_other_bytes_is_found(other: bytes, joined: bool, answer: bytes) -> None:
    """In a chunk of its own, and (if the other bytes are few) in the same chunk."""
    conversation = Conversation()
    conversation = conversation.c(other + request(1)) if joined and len(other) < 512 else conversation.c(other)
    if answer:
        conversation = conversation.b(answer)
    if not joined or len(other) >= 512:
        conversation = conversation.c(request(1))
    out = conversation.b(reply(1)).c(request(2)).b(reply(2)).run()
    assert out.story() == [("request", 1), ("reply", 1), ("request", 2), ("reply", 2)]
    assert out.protocol == layout.PROTOCOL_KAFKA
    assert sum(out.skipped(CLIENT).values()) == len(other) and sum(out.skipped(BROKER).values()) == len(answer)


def test_other_bytes_are_given_up_after_a_while() -> None:
    out = Conversation().c(*[b"no kafka"] * 64, request(1)).b(reply(1)).run()
    assert not out.frames and out.protocol == layout.PROTOCOL_OTHER


@pytest.mark.parametrize("second", [0x15, 6])
def test_smpp_is_no_kafka(second: int) -> None:
    """SMPP 3.4, 3.2: length (its own four bytes counted), command, status, sequence number. Read as Kafka, a bind_transmitter is
    Produce v2, and what follows it is Produce v0."""
    bind = struct.pack(">IIII", 35, 2, 0, 1) + b"user\0password\0\0\x34\0\0\0"
    command = struct.pack(">IIII", 16, second, 0, 2)
    out = Conversation().c(bind).c(command).c(command).run()
    assert out.part[layout.FRAMING_CHAINED] == 0 and out.protocol != layout.PROTOCOL_KAFKA


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.0 400 Bad request\r\n", layout.ANSWER_HTTP),
        (b"SSH-2.0-OpenSSH_9.2p1\r\n", layout.ANSWER_SSH),
        (b"-ERR unknown command\r\n", layout.ANSWER_TEXT),
        (b"220 mail.example.org ESMTP\r\n", layout.ANSWER_TEXT),
        (b"\x15\x03\x03\x00\x02\x02\x46", layout.UNKNOWN),
        (reply(1), layout.UNKNOWN),
    ],
)
def test_what_answers_in_text_is_told(answer: bytes, expected: int) -> None:
    """Nothing is missing then: the request was not answered."""
    out = Conversation().c(request(1)).b(answer).end(BROKER).run()
    assert out.part[layout.FRAMING_ANSWER] == expected
    if expected != layout.UNKNOWN:
        assert out.story() == [("request", 1), ("closed", 1)]
        assert out.skipped(BROKER) == {"not kafka": len(answer)}
        # A server that greets: its text is before the request.
        assert Conversation().b(answer).c(request(1)).run().part[layout.FRAMING_ANSWER] == expected


@pytest.mark.parametrize(
    ("asked", "answer", "begin", "taken"),
    [
        ([b"GET / HTTP/1.0\r\n"], [b"HTTP/1.0 200 OK\r\n"], (b"GET ", b"HTTP"), (False, False)),
        ([b"\xff\xfe"], [], (b"\xff\xfe", b""), (False, False)),
        ([b"no kafka", b"more"], [b"\0", b"no"], (b"no k", b"\0"), (False, False)),
        ([request(1)], [b"SSH-2.0-OpenSSH_9.2p1\r\n"], (request(1)[:4], b"SSH-"), (True, False)),
        ([request(1)], [reply(1)], (request(1)[:4], reply(1)[:4]), (True, True)),
        ([request(1)[:9], request(1)[9:]], [reply(1)[:2], reply(1)[2:]], (request(1)[:4], reply(1)[:2]), (True, True)),
    ],
)
def test_first_bytes_are_kept_and_whether_they_were_taken_for_kafka(
    asked: list[bytes], answer: list[bytes], begin: tuple[bytes, bytes], taken: tuple[bool, bool]
) -> None:
    part = Conversation().c(*asked).b(*answer).run().part
    kept = [part[layout.FRAMING_BEGIN + side] for side in (CLIENT, BROKER)]
    assert tuple(map(_begin, kept)) == begin
    assert tuple(each < 0 for each in kept) == taken


def test_first_bytes_are_not_kept_behind_a_gap_or_without_a_syn() -> None:
    for talk in (Conversation().gap(CLIENT, 5), Conversation(syn=False)):
        assert _begin(talk.c(*[b"no kafka"] * 70).run().part[layout.FRAMING_BEGIN + CLIENT]) == b""


@pytest.mark.parametrize(
    "login", [len(b"\0alice\0secret").to_bytes(4) + b"\0alice\0secret", b"AUTH secret\r\n", b"PASS secret\r\n"]
)
def test_nothing_is_kept_of_who_logs_in(login: bytes) -> None:
    """A token of PLAIN (RFC 4616) behind its length, and logins in plain text of the client or of the broker."""
    for talk, side in ((Conversation().c(login), CLIENT), (Conversation().c(b"no kafka").b(login), BROKER)):
        assert _begin(talk.run().part[layout.FRAMING_BEGIN + side]) == login[:4]


def _begin(kept: int) -> bytes:
    return abs(kept).to_bytes(8).lstrip(b"\0")[1:]
