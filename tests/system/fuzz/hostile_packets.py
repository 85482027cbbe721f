"""Hostile packets and streams in sound pcap files: floods, lies in headers, bytes that come twice, never or in no order.

A case is a function from about how many bytes to the bytes of one file, as in `hostile_files`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from random import Random

import material
import mutate
from made_capture import ACK, ETHERNET, FIN, PSH, RST, START_US, SYN, Packet, Talk, merged, pcap, segment
from plain_talks import METADATA, Case, answer, asked, pleasant

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
    talks = []
    for n in range(size // 700 + 1):
        talk = Talk(client=0x0A000000 + n, port=1024 + n % 60_000, start_us=START_US + n * 7)
        talks.append(talk.shake().exchange(asked(METADATA, 1, {"topics": None}), answer(METADATA, 1, {})).close())
    return pcap(merged(talks))


@case
def bytes_one_by_one(size: int) -> bytes:
    talk = pleasant(Talk().shake(), 2)
    for n in range(size // 3000 + 1):
        talk.frame(0, asked(METADATA, 1, {"topics": None}, n), 1).frame(1, answer(METADATA, 1, {}, n), 1)
    return pcap(talk.packets)


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
    talk = Talk().shake()
    for n in range(size // 400 + 1):
        talk.exchange(asked(METADATA, 1, {"topics": None}, n), answer(METADATA, 1, {}, n)).put(n & 1, RST | ACK)
    return pcap(talk.packets)


@case
def holes_of_a_window(size: int) -> bytes:
    talk = Talk().shake()
    for _ in range(size // 100 + 1):
        talk.next[0] += 1_000_000
        talk.put(0, PSH | ACK, b"x" * 40)
    return pcap(talk.packets)


@case
def bytes_that_wait_forever(size: int) -> bytes:
    """Everything behind a byte that never comes."""
    talk = pleasant(Talk().shake(), 2)
    talk.next[0] += 1
    for _ in range(size // 60_000 + 1):
        talk.put(0, PSH | ACK, b"\x00\x00\x00\x20" * 15_000)
    return pcap(talk.packets)


@case
def overlaps_that_differ(size: int) -> bytes:
    talk = pleasant(Talk().shake(), 2)
    for n in range(size // 900 + 1):
        begin = talk.next[0]
        talk.frame(0, asked(METADATA, 1, {"topics": None}, n))
        behind, talk.next[0] = talk.next[0], begin + 3
        talk.put(0, PSH | ACK, b"\xff" * 30)
        talk.next[0] = behind
        talk.frame(1, answer(METADATA, 1, {}, n))
    return pcap(talk.packets)


@case
def sequence_around_zero(size: int) -> bytes:
    talk = Talk()
    talk.next = [2**32 - 40, 2**32 - 90]
    talk.shake()
    for n in range(size // 300 + 1):
        talk.exchange(asked(METADATA, 1, {"topics": None}, n), answer(METADATA, 1, {}, n))
    return pcap(talk.packets)


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
    talk = Talk()
    for n in range(size // 200 + 1):
        talk.put(n & 1, FIN | ACK).put(1 - n & 1, SYN | ACK, b"x")
    return pcap(talk.packets)


def ordinary(size: int) -> list[Packet]:
    talk = Talk().shake()
    for n in range(size // 400 + 1):
        topic = {"name": f"topic-{n % 9}"}
        talk.exchange(
            asked(METADATA, 1, {"topics": [topic]}, n),
            answer(METADATA, 1, {"topics": [{"error_code": n % 9, **topic}]}, n),
        )
    return talk.packets


for seed in range(12):
    CASES[f"mutated_{seed}"] = lambda _, seed=seed: mutate.mutated(material.captures(), seed, most_packets=200)
