"""Other protocols on Kafka's port are not Kafka, whether the capture has their beginning or not, and named with `--ports` too.

Each conversation is written by hand from the protocol's own description, as its commonest clients write it; most of those
chosen have frames that begin with a length in network order, as Kafka's do.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from struct import pack

import pytest
from made_capture import Conversation, merged, pcap

from analyzer.base.options import Options
from analyzer.run.local import open_dataset

Said = Iterator[tuple[int, bytes]]  # side, bytes
ROUNDS = 40


def sized(data: bytes) -> bytes:
    return pack(">I", len(data)) + data


def http(chance: Random) -> Said:
    for number in range(ROUNDS):
        yield 0, b"GET /topics/%d?key=0 HTTP/1.1\r\nHost: broker:9092\r\nAccept: */*\r\n\r\n" % number
        body = chance.randbytes(chance.randrange(1, 3000))
        yield 1, b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body


def http_2(chance: Random) -> Said:
    yield 0, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
    for stream in range(1, 2 * ROUNDS, 2):
        for side in (0, 1):
            block, data = chance.randbytes(30), b"\x00" + pack(">I", 40) + chance.randbytes(40)
            yield side, b"\x00\x00\x1e\x01\x04" + pack(">I", stream) + block
            yield side, b"\x00\x00\x2d\x00\x01" + pack(">I", stream) + data


def mqtt(chance: Random) -> Said:
    yield 0, b"\x10\x12\x00\x04MQTT\x04\x02\x00\x3c\x00\x06sensor"
    yield 1, b"\x20\x02\x00\x00"
    for number in range(ROUNDS):
        body = b"\x00\x08orders/1" + pack(">H", number + 1) + chance.randbytes(20)
        yield 0, b"\x32" + bytes([len(body)]) + body
        yield 1, b"\x40\x02" + pack(">H", number + 1)
        yield 0, b"\xc0\x00"
        yield 1, b"\xd0\x00"


def amqp(chance: Random) -> Said:
    def frame(kind: int, channel: int, data: bytes) -> bytes:
        return pack(">BHI", kind, channel, len(data)) + data + b"\xce"

    yield 0, b"AMQP\x00\x00\x09\x01"
    yield (
        1,
        frame(
            1,
            0,
            pack(">HHBB", 10, 10, 0, 9)
            + sized(b"\x07productS\x00\x00\x00\x08RabbitMQ")
            + sized(b"PLAIN")
            + sized(b"en_US"),
        ),
    )
    for _ in range(ROUNDS):
        body = chance.randbytes(chance.randrange(1, 500))
        yield 0, frame(1, 1, pack(">HHH", 60, 40, 0) + b"\x06orders\x03key\x00")
        yield 0, frame(2, 1, pack(">HHQH", 60, 0, len(body), 0)) + frame(3, 1, body)
        yield 1, frame(8, 0, b"")


def redis(chance: Random) -> Said:
    for number in range(ROUNDS):
        yield 0, b"*3\r\n$3\r\nSET\r\n$5\r\nkey%02d\r\n$9\r\n" % (number % 100) + chance.randbytes(9) + b"\r\n"
        yield 1, b"+OK\r\n"
        yield 0, b"*1\r\n$4\r\nPING\r\n"
        yield 1, b"$-1\r\n:%d\r\n" % number


def rocketmq(chance: Random) -> Said:
    """A length, a length of the header with a byte of form before it, a header in JSON, a body."""
    for number in range(ROUNDS):
        for side, flag in ((0, 0), (1, 1)):
            header = json.dumps(
                {"code": 310 if side == 0 else 0, "flag": flag, "language": "JAVA", "opaque": number, "version": 399,
                 "serializeTypeCurrentRPC": "JSON", "extFields": {"b": "orders", "e": str(number)}}
            ).encode()  # fmt: skip
            yield side, sized(pack(">I", len(header)) + header + chance.randbytes(100 if side == 0 else 0))


def rocketmq_binary(chance: Random) -> Said:
    for number in range(ROUNDS):
        for side in (0, 1):
            header = (
                pack(">HBHII", 11, 0, 399, number, side) + pack(">I", 0) + sized(pack(">H", 1) + b"a" + sized(b"bc"))
            )
            yield side, sized(pack(">I", 0x01000000 | len(header)) + header + chance.randbytes(50 * (1 - side)))


def pulsar(chance: Random) -> Said:
    """A length, a length of the command, the command in protocol buffers; then metadata and payload of a message."""
    yield 0, sized(sized(b"\x08\x02\x12\x10\x0a\x062.10.0\x20\x13\x2a\x04none"))
    yield 1, sized(sized(b"\x08\x03\x1a\x0e\x0a\x06broker\x10\x13\x18\x80\x80\x80\x02"))
    for number in range(ROUNDS):
        command = b"\x08\x06\x32\x04\x08\x00\x10" + bytes([number])
        rest = b"\x0e\x01" + chance.randbytes(4) + sized(chance.randbytes(22)) + chance.randbytes(60)
        yield 0, sized(sized(command) + rest)
        yield (
            1,
            sized(sized(b"\x08\x07\x3a\x0a\x08\x00\x10" + bytes([number]) + b"\x1a\x04\x08\x05\x10" + bytes([number]))),
        )


def zookeeper(chance: Random) -> Said:
    yield 0, sized(pack(">IQIQ", 0, 0, 30_000, 0) + sized(bytes(16)) + b"\x00")
    yield 1, sized(pack(">IIQ", 0, 30_000, chance.getrandbits(60)) + sized(chance.randbytes(16)) + b"\x00")
    for number in range(1, ROUNDS):
        yield 0, sized(pack(">II", number, 4) + sized(b"/brokers/ids/%d" % number) + b"\x00")
        yield (
            1,
            sized(pack(">IQI", number, 0x100000000 + number, 0) + sized(chance.randbytes(40)) + chance.randbytes(68)),
        )
        yield 0, sized(pack(">iI", -2, 11))
        yield 1, sized(pack(">iQI", -2, 0x100000000 + number, 0))


def thrift(chance: Random) -> Said:
    for number in range(ROUNDS):
        for side, kind in ((0, 1), (1, 2)):
            head = pack(">I", 0x80010000 | kind) + sized(b"getOrders") + pack(">I", number)
            yield side, sized(head + b"\x0b\x00\x01" + sized(chance.randbytes(30)) + b"\x00")


def postgres(chance: Random) -> Said:
    yield 0, pack(">II", 41, 0x00030000) + b"user\x00orders\x00database\x00orders\x00\x00\x00\x00\x00"
    yield 1, b"R" + pack(">II", 8, 0) + b"Z" + pack(">I", 5) + b"I"
    for number in range(ROUNDS):
        query = b"SELECT * FROM orders WHERE id = %d\x00" % number
        yield 0, b"Q" + pack(">I", 4 + len(query)) + query
        row = pack(">H", 2) + sized(b"%d" % number) + sized(chance.randbytes(20))
        yield 1, b"D" + pack(">I", 4 + len(row)) + row + b"Z" + pack(">I", 5) + b"I"


def cassandra(chance: Random) -> Said:
    for number in range(ROUNDS):
        body = sized(b"SELECT * FROM orders") + b"\x00\x01\x00"
        yield 0, pack(">BBHBI", 4, 0, number, 7, len(body)) + body
        body = pack(">II", 2, 1) + chance.randbytes(40)
        yield 1, pack(">BBHBI", 0x84, 0, number, 8, len(body)) + body


def dns(chance: Random) -> Said:
    for _ in range(ROUNDS):
        head = chance.randbytes(2)
        name = b"\x06broker\x07example\x00\x00\x01\x00\x01"
        yield 0, pack(">H", 12 + len(name)) + head + b"\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + name
        answer = b"\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x01"
        yield 1, pack(">H", 12 + len(name) + 16) + head + b"\x81\x80\x00\x01\x00\x01\x00\x00\x00\x00" + name + answer


def game(chance: Random) -> Said:
    """Positions of players: a length, a small type, a growing number, floats."""
    for number in range(ROUNDS):
        for side in (0, 1):
            body = pack(">HHI", chance.randrange(40), chance.randrange(3), number)
            yield side, sized(body + b"".join(pack(">f", chance.uniform(-900, 900)) for _ in range(6)))


def counter(chance: Random) -> Said:
    """A length, a growing number and text: all that a reply of Kafka has, and nothing that a request has."""
    for number in range(ROUNDS):
        yield 0, sized(pack(">I", number) + b"ask for " + chance.randbytes(8).hex().encode())
        yield 1, sized(pack(">I", number) + b"told of " + chance.randbytes(30).hex().encode())


PROTOCOLS: tuple[Callable[[Random], Said], ...] = (
    http, http_2, mqtt, amqp, redis, rocketmq, rocketmq_binary, pulsar, zookeeper, thrift, postgres, cassandra, dns, game,
    counter,
)  # fmt: skip
# Their frames have a length and an id where Kafka's have them: who names their port is believed.
BELIEVED = (zookeeper, game)


FIRST_PORT = 40_000


def exchanges(folder: Path, conversations: Sequence[Conversation], *ports: int) -> Counter[int]:
    """Port of a client -> how many exchanges its connection is said to have."""
    path = folder / "made.pcap"
    path.write_bytes(pcap(merged(conversations)))
    with open_dataset([str(path)], Options(ports=ports)) as dataset:
        parts = dataset.query("select a_bytes + b_bytes as bytes from raw_parts")
        assert len(parts) == len(conversations) and all(part["bytes"] > 100 for part in parts)
        return Counter(row["client_port"] for row in dataset.query("select client_port from exchanges"))


def talk(protocol: Callable[[Random], Said], begun: str, seed: int, port: int) -> Conversation:
    conversation = Conversation(port=port)
    if begun == "with SYN":
        conversation.shake()
    for side, data in protocol(Random(f"{protocol.__name__} {seed}")):
        conversation.put(side, 0x18, data)
    if begun == "late":
        del conversation.packets[: 3 + seed]
    elif begun == "one way":
        conversation.packets = [packet for packet in conversation.packets if packet[1][34:36] != b"\x23\x84"]
    return conversation


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("begun", ["with SYN", "late", "one way"])
def test_other_protocols_on_port_9092(begun: str, seed: int, tmp_path: Path) -> None:
    """One capture of all of them: each connection is judged by itself."""
    said = {protocol: talk(protocol, begun, seed, FIRST_PORT + n) for n, protocol in enumerate(PROTOCOLS)}
    taken_for_kafka = exchanges(tmp_path, list(said.values()))
    if seed == 0:
        unbelieved = [conversation for protocol, conversation in said.items() if protocol not in BELIEVED]
        taken_for_kafka += exchanges(tmp_path, unbelieved, 9092)
    assert {PROTOCOLS[port - FIRST_PORT].__name__: count for port, count in taken_for_kafka.items()} == {}


def test_kafka_on_another_port_is_kafka(tmp_path: Path) -> None:
    conversation = Conversation()
    conversation.ends = (*conversation.ends[:3], 36_333)
    conversation.shake()
    for number in range(3):
        conversation.exchange(
            pack(">hhih", 3, 1, number, 6) + b"client" + pack(">i", -1), pack(">iiii", number, 0, 1, 0)
        )
    assert exchanges(tmp_path, [conversation]) == {conversation.ends[1]: 3}
