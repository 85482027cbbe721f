"""Streams whose other half is not there, and streams that only look like Kafka's: written here byte by byte."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from program import Analysis, run_kanalyze

from analyzer.base.options import Options
from analyzer.run.local import open_dataset

CLIENT, BROKER = (b"\x0a\0\0\1", 40_000), (b"\x0a\0\0\2", 9_092)
SYN, ACK = 2, 16
Said = tuple[bool, bytes]  # by the client?, payload


def packet(seconds: int, by_client: bool, sequence: int, ack: int, flags: int, payload: bytes, port: int) -> bytes:
    """A packet of a pcap file, with Ethernet, IPv4 and TCP headers; checksums are left out."""
    client = (CLIENT[0], port)
    (source, source_port), (target, target_port) = (client, BROKER) if by_client else (BROKER, client)
    tcp = struct.pack(">HHIIBBHHH", source_port, target_port, sequence, ack, 5 << 4, flags, 65_000, 0, 0) + payload
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp), seconds & 0xFFFF, 0, 64, 6, 0) + source + target
    data = bytes(12) + b"\x08\x00" + ip + tcp
    return struct.pack("<IIII", 1_700_000_000 + seconds, 0, len(data), len(data)) + data


def conversation(said: Sequence[Said], shown: set[bool], syn: bool, port: int = CLIENT[1]) -> Iterator[bytes]:
    """A connection, of which only the packets of the sides in `shown` were captured."""
    at = {True: 1_000, False: 5_000}
    if syn:
        for by_client in (True, False):
            if by_client in shown:
                yield packet(
                    0, by_client, at[by_client] - 1, 0 if by_client else 1_000, SYN + ACK * (not by_client), b"", port
                )
    for number, (by_client, payload) in enumerate(said):
        if by_client in shown:
            yield packet(number + 1, by_client, at[by_client], at[not by_client], ACK + 8, payload, port)
        at[by_client] += len(payload)


def analyse(folder: Path, *packets: Iterator[bytes]) -> Analysis:
    path = folder / "written.pcap"
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262_144, 1)
    path.write_bytes(head + b"".join(one for some in packets for one in some))
    found = run_kanalyze([path])
    found.exchanges.sort(key=lambda row: row["request_time_ns"] or row["response_time_ns"])
    return found


def sized(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def asked(key: int, version: int, correlation: int, body: bytes = b"") -> Said:
    return True, sized(struct.pack(">hhih", key, version, correlation, 4) + b"shop" + body)


def told(correlation: int, body: bytes = bytes(6)) -> Said:
    return False, sized(correlation.to_bytes(4, "big", signed=True) + body)


def heartbeats(count: int, first: int = 7) -> list[Said]:
    body = b"\0\1g" + struct.pack(">i", 3) + b"\0\1m"
    return [one for number in range(first, first + count) for one in (asked(12, 1, number, body), told(number))]


@pytest.mark.parametrize("syn", [True, False])
@pytest.mark.parametrize("way", [True, False])
def test_half_of_a_connection(way: bool, syn: bool, tmp_path: Path) -> None:
    found = analyse(tmp_path, conversation(heartbeats(9), {way}, syn))
    assert [row["correlation_id"] for row in found.exchanges] == list(range(7, 16))
    assert [row["request_time_ns"] is None for row in found.exchanges] == [not way] * 9
    assert [row["response_time_ns"] is None for row in found.exchanges] == [way] * 9
    (connection,) = found.connections
    assert connection["is_kafka"]
    assert (connection["client_port"], connection["broker_port"]) == (CLIENT[1], BROKER[1])
    if not way:
        assert {row["status"] for row in found.exchanges} == {"orphan_reply"}
        assert [row["response_bytes"] for row in found.exchanges] == [14] * 9
        assert [row["response_time_ns"] for row in found.exchanges] == [
            (1_700_000_000 + 2 * number) * 1_000_000_000 for number in range(1, 10)
        ]


def stored(folder: Path, packets: Iterator[bytes], question: str) -> list[dict[str, Any]]:
    analyse(folder, packets)
    with open_dataset([str(folder / "written.pcap")], Options()) as dataset:
        return dataset.query(question)


@pytest.mark.parametrize("syn", [True, False])
@pytest.mark.parametrize(("shown", "side"), [({True}, "client"), ({False}, "broker"), ({True, False}, None)])
def test_a_connection_of_which_one_direction_was_captured(
    shown: set[bool], side: str | None, syn: bool, tmp_path: Path
) -> None:
    question = "select c.one_way, x.status, count(*) as n from connections as c join exchanges as x using (connection) group by all"
    (row,) = stored(tmp_path, conversation(heartbeats(9), shown, syn), question)
    status = {"client": "reply_lost", "broker": "orphan_reply", None: "answered"}[side]
    assert row == {"one_way": side, "status": status, "n": 9}


def test_a_broker_that_is_dead_is_no_missing_direction(tmp_path: Path) -> None:
    """The capture begins when the broker has gone: its client sends the same bytes again and again, and gives up."""
    first, *_ = conversation(heartbeats(1), {True}, syn=False)
    times = (0, 1, 3, 7, 15, 31)
    head = [struct.pack("<I", 1_700_000_000 + second) + first[4:] for second in times]
    again = [one[:34] + struct.pack(">H", number) + one[36:] for number, one in enumerate(head)]  # the IP id
    end = packet(40, True, 1_000 + len(asked(12, 1, 7, b"\0\1g" + bytes(4) + b"\0\1m")[1]), 5_000, 17, b"", CLIENT[1])
    rows = stored(
        tmp_path, iter([*again, end]), "select one_way, client_retransmitted, broker_packets from connections"
    )
    assert rows == [{"one_way": None, "client_retransmitted": 5, "broker_packets": 0}]


def test_the_last_request_of_a_capture_may_be_answered_later(tmp_path: Path) -> None:
    """One packet of one direction is no evidence that the other was not captured."""
    rows = stored(
        tmp_path,
        conversation(heartbeats(1), {True}, syn=False),
        "select one_way, requests from connections where is_kafka",
    )
    assert all(row["one_way"] is None for row in rows)


def test_what_nobody_answers_is_no_refusal_where_answers_are_not_captured(tmp_path: Path) -> None:
    """Attempts to connect to a host of which no packet is captured."""
    syn = (packet(2, True, 10, 0, SYN, b"", port) for port in range(41_000, 41_005))
    question = "select count(*) as n from connections_seen where failed is not null"
    both = conversation(heartbeats(9), {True, False}, syn=True)
    assert stored(tmp_path, iter([*both, *syn]), question) == [{"n": 5}]
    syn = (packet(2, True, 10, 0, SYN, b"", port) for port in range(41_000, 41_005))
    one = conversation(heartbeats(9), {True}, syn=True)
    assert stored(tmp_path, iter([*one, *syn]), question) == [{"n": 0}]


def test_replies_that_lie_across_packets(tmp_path: Path) -> None:
    """Length and id alone, then the rest; one that is cut within its length field."""
    said: list[Said] = []
    for number in range(9):
        frame = told(number, bytes(4) + b"\0\0\x77\x73\x56\x89" + bytes(4))[1]
        cut = (8, 2, 5)[number % 3] if number else 8
        said += [asked(1, 4, number), (False, frame[:cut]), (False, frame[cut:])]
    found = analyse(tmp_path, conversation(said, {False}, syn=False))
    assert [row["correlation_id"] for row in found.exchanges] == list(range(9))


def test_few_replies_count_when_another_connection_proves_the_broker(tmp_path: Path) -> None:
    few = conversation(heartbeats(2), {False}, syn=True, port=40_001)
    assert not analyse(tmp_path, few).exchanges
    few = conversation(heartbeats(2), {False}, syn=True, port=40_001)
    found = analyse(tmp_path, conversation(heartbeats(9), {False}, syn=True), few)
    assert sorted(row["client_port"] for row in found.exchanges) == [40_000] * 9 + [40_001] * 2


def test_replies_before_the_first_request_that_is_there(tmp_path: Path) -> None:
    """A capture that begins when some replies are still to come: they are found, and no request is."""
    said = [told(3), told(4), told(5), *heartbeats(3, first=6)]
    found = analyse(tmp_path, conversation(said, {True, False}, syn=False))
    orphans = [row["correlation_id"] for row in found.exchanges if row["status"] == "orphan_reply"]
    assert orphans == [3, 4, 5]
    assert [row["status"] for row in found.exchanges if row["request_time_ns"]] == ["answered"] * 3


def zookeeper() -> list[Said]:
    """A session of ZooKeeper: a connect request, then lookups with ids 1, 2, 3; its frames are cut like Kafka's."""
    session = struct.pack(">q", 0x1000_2A3B_0001)
    connect = struct.pack(">iqi", 0, 0, 30_000) + bytes(8) + sized(bytes(16)) + b"\0"
    said = [(True, sized(connect)), (False, sized(struct.pack(">ii", 0, 30_000) + session + sized(bytes(16)) + b"\0"))]
    for xid in range(1, 12):
        said.append((True, sized(struct.pack(">ii", xid, 4) + sized(b"/brokers/ids/1") + b"\0")))
        reply = struct.pack(">iqi", xid, 0x1_0000_0042 + xid, 0) + sized(b'{"host":"a"}') + bytes(80)
        said.append((False, sized(reply)))
    return said


def messages() -> list[Said]:
    """Length, a type that stays the same, text: what many protocols send."""
    return [(number % 2 == 0, sized(struct.pack(">i", 5) + b"\0\0price=%d" % number)) for number in range(40)]


@pytest.mark.parametrize("syn", [True, False])
def test_not_kafka(syn: bool, tmp_path: Path) -> None:
    """Two protocols, each seen from both sides and from one: connections of one capture."""
    ways = product((zookeeper(), messages()), ({True, False}, {True}, {False}))
    some = [conversation(said, shown, syn, port=40_000 + n) for n, (said, shown) in enumerate(ways)]
    found = analyse(tmp_path, *some)
    assert not found.exchanges
    assert len(found.connections) == 6 and not any(row["is_kafka"] for row in found.connections)


def gssapi(size: int) -> bytes:
    body = b"\x06\x09\x2a\x86\x48\x86\xf7\x12\x01\x02\x02" + bytes(size)
    length = bytes([0x82]) + len(body).to_bytes(2, "big") if len(body) > 255 else bytes([0x81, len(body)])
    return b"\x60" + length + body


@pytest.mark.parametrize("size", [200, 1_400])
def test_tokens_without_a_handshake(size: int, tmp_path: Path) -> None:
    """GSSAPI of Kafka 0.9: the first frame of a connection is a token; others follow until a request does."""
    login = [
        (True, sized(gssapi(size))),
        (False, sized(gssapi(150))),
        (True, sized(b"")),
        (False, sized(b"\x05\x04\x05\xff" + bytes(28))),
        (True, sized(b"\x05\x04\x04\xff" + bytes(28))),
        (False, sized(b"")),
    ]
    found = analyse(tmp_path, conversation([*login, *heartbeats(3)], {True, False}, syn=True))
    tokens = [row for row in found.exchanges if row["kind"] == "sasl_token"]
    assert [(row["request_bytes"], row["response_bytes"]) for row in tokens] == [
        (len(one[1]), len(other[1])) for one, other in zip(login[::2], login[1::2], strict=True)
    ]
    assert all(row["api_key"] is None and row["correlation_id"] is None for row in tokens)
    rest = [row for row in found.exchanges if row["kind"] != "sasl_token"]
    assert [(row["api_key"], row["status"]) for row in rest] == [(12, "answered")] * 3


def test_a_token_is_no_request_when_the_answer_to_its_handshake_is_lost(tmp_path: Path) -> None:
    said = [asked(17, 0, 0, b"\0\5PLAIN"), (True, sized(b"\0alice\0secret")), *heartbeats(3)]
    found = analyse(tmp_path, conversation(said, {True, False}, syn=True))
    assert [row["api_key"] for row in found.exchanges if row["kind"] != "sasl_token"] == [17, 12, 12, 12]
    assert sum(row["kind"] == "sasl_token" for row in found.exchanges) == 1


def test_one_id_again_and_again(tmp_path: Path) -> None:
    """A reply is lost, and the next one has the same id: it belongs to the request after the loss."""
    said = [one for _ in range(6) for one in (asked(12, 1, 0, b"\0\1g" + struct.pack(">i", 3) + b"\0\1m"), told(0))]
    packets = list(conversation(said, {True, False}, syn=True))
    del packets[2 + 5]  # the third reply
    rows = analyse(tmp_path, iter(packets)).exchanges
    assert [row["status"] for row in rows] == ["answered", "answered", "reply_lost", "answered", "answered", "answered"]
    assert all(
        row["response_time_ns"] - row["request_time_ns"] == 1_000_000_000 for row in rows if row["response_time_ns"]
    )


def test_a_header_across_two_packets_after_a_gap(tmp_path: Path) -> None:
    """The frame after a lost packet begins in the last bytes of one packet and goes on in the next."""
    body = b"\0\1g" + struct.pack(">i", 3) + b"\0\1m"
    long = sized(struct.pack(">hhih", 12, 1, 3, 4) + b"shop" + bytes(3_000))
    stream = asked(12, 1, 2, body)[1] + long + asked(12, 1, 4, body)[1] + asked(12, 1, 5, body)[1]
    first = len(asked(12, 1, 2, body)[1])
    cuts = [0, first, first + 1_000, first + len(long) + 6, len(stream)]
    said = [(True, stream[start:stop]) for start, stop in pairwise(cuts)]
    packets = list(conversation(said, {True, False}, syn=True))
    del packets[2 + 1]  # it held the header of the long one
    found = analyse(tmp_path, iter(packets))
    assert [row["correlation_id"] for row in found.exchanges] == [2, 4, 5]
    fourth = found.exchanges[1]
    assert fourth["request_time_ns"] == (1_700_000_000 + 3) * 1_000_000_000, "of the packet with its first byte"
    assert fourth["request_end_ns"] == (1_700_000_000 + 4) * 1_000_000_000
    assert fourth["request_decoded"] == "full"


def snapped(packets: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Packets of a pcap file of which `size` bytes were kept."""
    for one in packets:
        kept = min(size, len(one) - 16)
        yield one[:8] + struct.pack("<I", kept) + one[12 : 16 + kept]


def test_acks_that_were_cut_off(tmp_path: Path) -> None:
    """Produce without acks, cut before it says so: what is answered later tells that no reply was due."""
    data = (
        b"\xff\xff"
        + struct.pack(">hi", 0, 30_000)
        + struct.pack(">i", 1)
        + b"\0\1t"
        + struct.pack(">iii", 1, 0, 9)
        + bytes(9)
    )
    silent = [asked(0, 3, number, data) for number in range(100, 120)]
    said = [*silent[:15], *heartbeats(1), *silent[15:], *heartbeats(1, first=8), asked(0, 3, 200, data)]
    rows = analyse(tmp_path, conversation(said, {True, False}, syn=True)).exchanges
    assert [row["acks"] for row in rows if row["api_key"] == 0] == [0] * 21
    rows = analyse(tmp_path, snapped(conversation(said, {True, False}, syn=True), 14 + 20 + 20 + 18)).exchanges
    produce = [row for row in rows if row["api_key"] == 0]
    assert [row["status"] for row in produce] == ["no_reply_expected"] * 20 + ["pending"]
    assert [row["acks_inferred"] for row in produce] == [True] * 20 + [False]
    assert {row["kind"] for row in produce[:20]} == {"produce_acks_0"}
    assert [row["status"] for row in rows if row["api_key"] == 12] == ["answered"] * 2
