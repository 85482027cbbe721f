"""What happens to packets between their sender and a capture file, as functions that change the segments of the base.

A mutation takes the segments of the base in the order of time and gives the frames of a capture in the same order. `Segment` is
written and read by the RFCs (791, 8200, 9293), apart from the project's own code; scapy adds up the checksums.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

from one_base import MACS, base
from scapy.utils import checksum

FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
SEQUENCES = 1 << 32


@dataclass(frozen=True)
class Segment:
    """A TCP segment in its IP packet. `checksum`: right, wrong, partial (the sum of the pseudo header) or large (the same without
    the length)."""

    source: bytes
    target: bytes
    ports: tuple[int, int]
    seq: int
    ack: int
    flags: int
    data: bytes
    time: int
    side: int
    ttl: int = 64
    ip_id: int = 0
    window: int = 512
    urgent: int = 0
    options: bytes = b""
    service: int = 0
    ip_options: bytes = b""  # of IPv4; in IPv6 extension headers
    extension: int = 6  # IPv6: what follows the header
    checksum: str = "right"
    no_length: bool = False  # IPv4: total length 0
    ether: bytes = field(default=b"", compare=False)

    @property
    def flow(self) -> tuple[bytes, bytes, tuple[int, int]]:
        """The connection, whoever sent the segment."""
        if self.side:
            return self.target, self.source, self.ports[::-1]
        return self.source, self.target, self.ports

    @property
    def next(self) -> int:
        """The sequence number behind it."""
        return (self.seq + len(self.data) + bool(self.flags & SYN) + bool(self.flags & FIN)) % SEQUENCES

    def moved(self, begin: int, end: int | None = None) -> Segment:
        """Bytes [begin, end) of the payload; only the last part has PSH and FIN."""
        is_last = end is None or end >= len(self.data)
        flags = self.flags if is_last else self.flags & ~(PSH | FIN)
        return replace(self, seq=(self.seq + begin) % SEQUENCES, data=self.data[begin:end], flags=flags)

    @property
    def tcp(self) -> bytes:
        size = 5 + len(self.options) // 4
        head = struct.pack(
            ">HHIIBBHHH", *self.ports, self.seq, self.ack, size << 4, self.flags, self.window, 0, self.urgent
        )
        length = len(head) + len(self.options) + len(self.data)
        pseudo = self.source + self.target + struct.pack(">IHH", length, 0, 6)
        made = checksum(pseudo + head + self.options + self.data)
        if self.checksum == "wrong":
            made ^= 0x5A5A
        if self.checksum == "partial":
            made = checksum(pseudo) ^ 0xFFFF
        if self.checksum == "large":
            made = checksum(self.source + self.target + b"\0\x06") ^ 0xFFFF
        return head[:16] + struct.pack(">H", made) + head[18:] + self.options + self.data

    def ip(self, tcp: bytes | None = None, place: int = 0) -> bytes:
        """The IP packet; with `tcp` a fragment at `place`, whose lowest bit says that more follow."""
        tcp = self.tcp if tcp is None else tcp
        if len(self.source) == 16:
            size = len(self.ip_options) + len(tcp)
            first = struct.pack(">IHBB", 6 << 28 | self.service << 20, size, self.extension, self.ttl)
            return first + self.source + self.target + self.ip_options + tcp
        size = 20 + len(self.ip_options)
        where = place >> 3 | (place & 1) << 13
        total = 0 if self.no_length else size + len(tcp)
        head = struct.pack(">BBHHHBBH", 0x40 | size // 4, self.service, total, self.ip_id, where, self.ttl, 6, 0)
        head += self.source + self.target + self.ip_options
        return head[:10] + struct.pack(">H", checksum(head)) + head[12:] + tcp

    def frame(self, packet: bytes | None = None) -> bytes:
        packet = self.ip() if packet is None else packet
        kind = b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\x00"
        return (self.ether or MACS[1 - self.side] + MACS[self.side]) + kind + packet


class Frame(NamedTuple):
    """What is in the file. `length`: how long it was, if the file has less; `link` and `interface` for formats with several."""

    data: bytes
    time: int
    length: int | None = None


@cache
def segments() -> tuple[Segment, ...]:
    """The segments of the base, with an IP id each. The hosts get addresses of their own."""
    found = []
    for number, packet in enumerate(base()):
        ip, tcp = packet.ip, packet.ip[20:]
        source, target, seq, ack, size, flags, window, _, urgent = struct.unpack(">HHIIBBHHH", tcp[:20])
        ends = (b"\x0a\0\0\x01", b"\x0a\0\0\x02")
        found.append(
            Segment(
                ends[packet.side], ends[1 - packet.side], (source, target), seq, ack, flags, tcp[size >> 4 << 2 :],
                packet.time, packet.side, ip[8], 1 + number, window, urgent, tcp[20 : size >> 4 << 2],
            )
        )  # fmt: skip
    return tuple(found)


def plain(all_of_it: Iterable[Segment]) -> list[Frame]:
    return [Frame(one.frame(), one.time) for one in all_of_it]


Change = Callable[[Segment, int], Iterable[Segment | Frame]]


def each(change: Change) -> Callable[[], list[Frame]]:
    """Changes one segment after the other; `change` gets its number too."""

    def made() -> list[Frame]:
        found: list[Frame] = []
        for number, one in enumerate(segments()):
            found += [
                each if isinstance(each, Frame) else Frame(each.frame(), each.time) for each in change(one, number)
            ]
        return found

    return made


def later(change: Change, packets: int) -> Callable[[], list[Frame]]:
    """Each segment, and what `change` makes of it behind so many later packets, at their time."""

    def made() -> list[Frame]:
        found: list[Frame] = []
        waiting: list[tuple[int, Segment]] = []
        for number, one in enumerate(segments()):
            found.append(Frame(one.frame(), one.time))
            for due, copy in [each for each in waiting if each[0] <= number]:
                found.append(Frame(replace(copy, time=one.time).frame(), one.time))
                waiting.remove((due, copy))
            waiting += [(number + packets, copy) for copy in change(one, number) if isinstance(copy, Segment)]
        return found

    return made


def again(one: Segment, begin: int = 0, end: int | None = None) -> Segment:
    """A retransmission: the sender counts its packets."""
    return replace(one.moved(begin, end), ip_id=(one.ip_id + 20_000) % 65_536)


def cut(one: Segment, size: int) -> Iterator[Segment]:
    """Its payload in pieces."""
    for count, begin in enumerate(range(0, max(1, len(one.data)), size)):
        yield replace(one.moved(begin, begin + size), ip_id=(one.ip_id + 1_500 * count) % 65_536)


def damaged(one: Segment, size: int | None = None, **fields: int) -> Segment:
    """Garbage with a wrong checksum in its place."""
    chance = random.Random(one.seq)
    data = chance.randbytes(len(one.data) if size is None else size)
    return replace(one, data=data, checksum="wrong", **fields)  # type: ignore[arg-type]


@cache
def from_syn() -> frozenset[object]:
    """Connections whose beginning is in the base. In the others a header has to lie in one segment, or in two, to be found."""
    return frozenset(one.flow for one in segments() if one.flags & SYN)


def merged() -> list[Frame]:
    """Segments of one direction that follow each other directly, put together as GRO does, with partial checksums."""
    held: list[Segment] = []
    for one in segments():
        last = held[-1] if held else None
        fits = (
            last is not None
            and (last.flow, last.side, last.next) == (one.flow, one.side, one.seq)
            and not (last.flags | one.flags) & (SYN | FIN | RST)
            and last.data
            and one.data
            and len(last.data) + len(one.data) < 65_000
        )
        if fits and last is not None:
            held[-1] = replace(last, data=last.data + one.data, flags=last.flags | one.flags, checksum="partial")
        else:
            held.append(one)
    return plain(replace(one, checksum="partial") if len(one.data) > 1_460 else one for one in held)


def fragments(one: Segment, order: str = "forward", step: int = 64) -> list[Frame]:
    """In pieces of `step` bytes: forward, backward, or overlapping (the first copy of a byte counts, and copies are equal)."""
    tcp = one.tcp
    if len(tcp) < 100 or len(tcp) > 60 * step:
        return [Frame(one.frame(), one.time)]
    size = 3 * step // 2 if order == "overlapping" else step
    made = []
    for begin in range(0, len(tcp), step):
        piece = tcp[begin : begin + size]
        made.append(one.frame(one.ip(piece, begin | (begin + size < len(tcp)))))
        if begin + size >= len(tcp):
            break
    return [Frame(data, one.time) for data in (made[::-1] if order == "backward" else made)]


def fragments_6(one: Segment) -> list[Frame]:
    """The same in IPv6 (RFC 8200, 4.5), in pieces of 64 bytes."""
    tcp = with_v6(one, b"", 6).tcp
    made = []
    for begin in range(0, len(tcp), 64):
        head = struct.pack(">BBHI", 6, 0, begin | (begin + 64 < len(tcp)), one.ip_id)
        made.append(Frame(one.frame(with_v6(one, head, 44).ip(tcp[begin : begin + 64])), one.time))
    return made


def shifted(change: Callable[[Segment], tuple[int, int]]) -> Callable[[], list[Frame]]:
    """Other first sequence numbers: `change` of a connection's first segment gives what is added for each side."""
    offsets: dict[object, tuple[int, int]] = {}

    def moved(one: Segment, _: int) -> Iterator[Segment]:
        offset = offsets.setdefault(one.flow, change(one))
        ack = (one.ack + offset[1 - one.side]) % SEQUENCES if one.flags & ACK else 0
        yield replace(one, seq=(one.seq + offset[one.side]) % SEQUENCES, ack=ack)

    return each(moved)


def options(value: bytes) -> Change:
    return lambda one, _: [replace(one, options=value)]


def with_v6(one: Segment, headers: bytes, first: int) -> Segment:
    ends = tuple(bytes.fromhex("20010db8" + "00" * 11) + end[-1:] for end in (one.source, one.target))
    return replace(one, source=ends[0], target=ends[1], ip_options=headers, extension=first)
