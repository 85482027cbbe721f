"""Captures made to be slow: whatever a megabyte or less holds, reading it takes seconds at most.

Each case aims at a place where work could grow with the square of the input: chains of waiting requests, segments kept in
order, look-backs for copies, fragments, searches for the next header.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Iterable
from random import Random

import kind_captures
import pytest
from made_capture import ACK, ETHERNET, PSH, START_US, SYN, Conversation, Packet, pcap, segment
from stages import MIB, Sizes

import dissectors.tcp.reassembly as stage

# Of processor time; the slowest case takes one second, as plain Python 43.
MOST_SECONDS = 120.0 if (stage.__file__ or "").endswith(".py") else 4.0
SIZES = Sizes(connections=100_000, arena=64 * MIB, held=64 * MIB)
SECTION = struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1, 28)


def request(correlation: int) -> bytes:
    body = struct.pack(">hhih", 3, 1, correlation, 6) + b"limits" + struct.pack(">i", -1)
    return struct.pack(">i", len(body)) + body


def sent(conversation: Conversation, side: int, data: bytes, size: int = 1400) -> Conversation:
    for at in range(0, len(data), size):
        conversation.put(side, PSH | ACK, data[at : at + size])
    return conversation


def waiting() -> Conversation:
    """As many requests as may wait in one connection."""
    return sent(Conversation().shake(), 0, b"".join(map(request, range(1000, 9000))))


def replies_in_reverse() -> bytes:
    back = b"".join(struct.pack(">iii", 8, number, 0) for number in reversed(range(1000, 9000)))
    return pcap(sent(waiting(), 1, back).packets)


def lengths_everywhere() -> bytes:
    """After a byte that is none, each place of the reply stream could be a length and an id."""
    return pcap(sent(waiting().put(1, PSH | ACK, b"\xff" * 20), 1, b"\x00\x00\x00\x10" * 100_000).packets)


def ids_everywhere() -> bytes:
    """The same with ids that are waited for, in frames that never fit."""
    junk = b"".join(struct.pack(">iii", 3_000, 1000 + number % 8000, 7) for number in range(30_000))
    return pcap(sent(waiting().put(1, PSH | ACK, b"\xff" * 20), 1, junk).packets)


def holed(order: Iterable[int]) -> bytes:
    """Segments of one byte with a hole before each."""
    conversation = Conversation().shake()
    base = conversation.next[0]
    for number in order:
        conversation.next[0] = base + 2 * number + 1
        conversation.put(0, PSH | ACK, b"x")
    return pcap(conversation.packets)


def backwards() -> bytes:
    return holed(range(16_000, 0, -1))


def in_no_order() -> bytes:
    order = list(range(16_000))
    Random(1).shuffle(order)
    return holed(order)


def copies() -> bytes:
    conversation = Conversation().shake()
    packet = segment(conversation.ends, 5000, 0, PSH | ACK, b"y" * 10, 7)
    return pcap([*conversation.packets, *[(conversation.clock, packet)] * 16_000])


def byte_by_byte() -> bytes:
    return pcap(sent(Conversation().shake(), 0, b"".join(map(request, range(1000, 1600))), 1).packets)


def new_connections() -> bytes:
    return pcap((START_US + n, segment((1 + n, 2, 3, 9092), n, 0, SYN, b"", n)) for n in range(16_000))


def fragment(number: int, source: int, identity: int, offset: int) -> Packet:
    ip = struct.pack(">BBHHHBBHII", 0x45, 0, 36, identity, 0x2000 | offset, 64, 6, 0, source, 2)
    return START_US + number, ETHERNET + ip + b"z" * 16


def fragments_of_few() -> bytes:
    chance = Random(2)
    return pcap(fragment(n, 1, chance.randrange(3), chance.randrange(8000)) for n in range(16_000))


def fragments_of_many() -> bytes:
    return pcap(fragment(n, n, n & 0xFFFF, 1) for n in range(16_000))


def sections_without_end() -> bytes:
    return SECTION + struct.pack("<III", 0x0A0D0D0A, 29, 0x1A2B3C4D) * 90_000


def sections_and_nothing_else() -> bytes:
    return SECTION * 40_000


def interfaces() -> bytes:
    return SECTION + struct.pack("<IIHHII", 1, 20, 1, 0, 0, 20) * 50_000


def zeros_and_ones() -> bytes:
    chance = Random(5)
    conversation = Conversation()
    for number in range(700):
        conversation.put(number & 1, PSH | ACK, bytes(chance.choice((0, 0, 0, 1, 3, 255)) for _ in range(1400)))
    return pcap(conversation.packets)


CASES: tuple[Callable[[], bytes], ...] = (
    replies_in_reverse, lengths_everywhere, ids_everywhere, backwards, in_no_order, copies, byte_by_byte, new_connections,
    fragments_of_few, fragments_of_many, sections_without_end, sections_and_nothing_else, interfaces, zeros_and_ones,
)  # fmt: skip


@pytest.mark.parametrize("made", CASES, ids=lambda made: made.__name__)
def test_a_megabyte_takes_no_more_than_seconds(made: Callable[[], bytes]) -> None:
    data = made()
    assert len(data) > 300_000
    begin = time.process_time()
    assert kind_captures.run(data, SIZES, 1 << 20) is not None
    seconds = time.process_time() - begin
    print(f"{made.__name__}: {len(data) / 1e6:.1f} MB in {seconds:.2f} s")
    assert seconds < MOST_SECONDS
