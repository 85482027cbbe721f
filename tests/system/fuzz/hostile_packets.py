"""Hostile packets and streams in sound pcap files: floods, lies in headers, bytes that come twice, never or in no order.

A case is a function from about how many bytes to the bytes of one file, as in `hostile_files`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random

import material
import mutate
from made_capture import ACK, ETHERNET, FIN, PSH, RST, START_US, SYN, Conversation, Packet, merged, pcap, segment
from plain_conversations import METADATA, Case, answer, asked, pleasant

CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


@case
def syn_flood(size: int) -> bytes:
    return pcap((START_US + n, segment((n, n & 0xFFFF, 3, 9092), n, 0, SYN, b"", n)) for n in range(size // 70))


@case
def port_scan(size: int) -> bytes:
    def packets() -> Iterator[Packet]:
        for n in range(size // 140):
            yield START_US + 2 * n, segment((1, 40_000, 3, n & 0xFFFF), n, 0, SYN, b"", n)
            yield START_US + 2 * n + 1, segment((3, n & 0xFFFF, 1, 40_000), 0, n + 1, RST | ACK, b"", n)

    return pcap(packets())


@case
def connections_of_one_request(size: int) -> bytes:
    conversations = []
    for n in range(size // 700 + 1):
        conversation = Conversation(client=0x0A000000 + n, port=1024 + n % 60_000, start_us=START_US + n * 7)
        conversations.append(
            conversation.shake().exchange(asked(METADATA, 1, {"topics": None}), answer(METADATA, 1, {})).close()
        )
    return pcap(merged(conversations))


@case
def bytes_one_by_one(size: int) -> bytes:
    conversation = pleasant(Conversation().shake(), 2)
    for n in range(size // 3000 + 1):
        conversation.frame(0, asked(METADATA, 1, {"topics": None}, n), 1).frame(1, answer(METADATA, 1, {}, n), 1)
    return pcap(conversation.packets)


@case
def backwards(size: int) -> bytes:
    return pcap(list(reversed(ordinary(size))))


@case
def each_thrice(size: int) -> bytes:
    return pcap(packet for packet in ordinary(size // 3) for _ in range(3))


@case
def in_no_order(size: int) -> bytes:
    packets = ordinary(size)
    Random(4).shuffle(packets)
    return pcap(packets)


@case
def gaps_everywhere(size: int) -> bytes:
    chance = Random(5)
    return pcap(packet for packet in ordinary(size) if chance.random() < 0.6)


@case
def clients_alone(size: int) -> bytes:
    return pcap(packet for packet in ordinary(size) if packet[1][36:38] == b"\x23\x84")


@case
def brokers_alone(size: int) -> bytes:
    return pcap(packet for packet in ordinary(size) if packet[1][36:38] != b"\x23\x84")


@case
def without_a_handshake(size: int) -> bytes:
    return pcap(ordinary(size)[4:])


@case
def resets_everywhere(size: int) -> bytes:
    conversation = Conversation().shake()
    for n in range(size // 400 + 1):
        conversation.exchange(asked(METADATA, 1, {"topics": None}, n), answer(METADATA, 1, {}, n)).put(n & 1, RST | ACK)
    return pcap(conversation.packets)


@case
def holes_of_a_window(size: int) -> bytes:
    conversation = Conversation().shake()
    for _ in range(size // 100 + 1):
        conversation.next[0] += 1_000_000
        conversation.put(0, PSH | ACK, b"x" * 40)
    return pcap(conversation.packets)


@case
def bytes_that_wait_forever(size: int) -> bytes:
    """Everything behind a byte that never comes."""
    conversation = pleasant(Conversation().shake(), 2)
    conversation.next[0] += 1
    for _ in range(size // 60_000 + 1):
        conversation.put(0, PSH | ACK, b"\x00\x00\x00\x20" * 15_000)
    return pcap(conversation.packets)


@case
def overlaps_that_differ(size: int) -> bytes:
    conversation = pleasant(Conversation().shake(), 2)
    for n in range(size // 900 + 1):
        begin = conversation.next[0]
        conversation.frame(0, asked(METADATA, 1, {"topics": None}, n))
        behind, conversation.next[0] = conversation.next[0], begin + 3
        conversation.put(0, PSH | ACK, b"\xff" * 30)
        conversation.next[0] = behind
        conversation.frame(1, answer(METADATA, 1, {}, n))
    return pcap(conversation.packets)


@case
def sequence_around_zero(size: int) -> bytes:
    conversation = Conversation()
    conversation.next = [2**32 - 40, 2**32 - 90]
    conversation.shake()
    for n in range(size // 300 + 1):
        conversation.exchange(asked(METADATA, 1, {"topics": None}, n), answer(METADATA, 1, {}, n))
    return pcap(conversation.packets)


@case
def fragments(size: int) -> bytes:
    def fragment(n: int) -> Packet:
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 36, n & 0xFFFF, 0x2000 | n % 8000, 64, 6, 0, n, 2)
        return START_US + n, ETHERNET + ip + b"z" * 16

    return pcap(fragment(n) for n in range(size // 66))


@case
def tags_upon_tags(size: int) -> bytes:
    inner = segment((1, 2, 3, 9092), 1, 1, PSH | ACK, asked(METADATA, 1, {"topics": None}))[12:]
    return pcap((START_US + n, bytes(12) + b"\x81\x00\x00\x01" * (n % 300) + inner) for n in range(size // 700 + 1))


@case
def lengths_of_ip_that_lie(size: int) -> bytes:
    found = []
    for n, (time, data) in enumerate(ordinary(size)):
        changed = bytearray(data)
        changed[16:18] = struct.pack(">H", (0, 20, 39, 65535)[n % 4])
        found.append((time, bytes(changed) if n % 3 == 0 else data))
    return pcap(found)


@case
def closed_before_it_began(size: int) -> bytes:
    conversation = Conversation()
    for n in range(size // 200 + 1):
        conversation.put(n & 1, FIN | ACK).put(1 - n & 1, SYN | ACK, b"x")
    return pcap(conversation.packets)


def ordinary(size: int) -> list[Packet]:
    conversation = Conversation().shake()
    for n in range(size // 400 + 1):
        topic = {"name": f"topic-{n % 9}"}
        conversation.exchange(
            asked(METADATA, 1, {"topics": [topic]}, n),
            answer(METADATA, 1, {"topics": [{"error_code": n % 9, **topic}]}, n),
        )
    return conversation.packets


for seed in range(12):
    CASES[f"mutated_{seed}"] = lambda _, seed=seed: mutate.mutated(material.captures(), seed, most_packets=200)
