"""Rewrites a capture without changing what was said in it: other packet order, copies, other segment borders.

Only what lab captures need: little-endian pcap in microseconds, Ethernet, IPv4 or IPv6 without extension headers.
Checksums are left wrong on purpose: capturing hosts with offload write them wrong too. Every packet keeps its time.
"""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cramjam

FILE_HEADER = struct.Struct("<IHHiIII")
PACKET_HEADER = struct.Struct("<IIII")
ETHERNET_BYTES = 14
FIN, SYN, RST, PSH = 1, 2, 4, 8
# Packets that change places were captured within this time: shorter than any reorder window.
WINDOW_US = 10_000


@dataclass(frozen=True, slots=True)
class Packet:
    """Time as written in the file: seconds and microseconds."""

    seconds: int
    fraction: int
    wire_bytes: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Borders:
    """Where the parts of a TCP packet begin: offsets in `Packet.data`."""

    ip: int
    tcp: int
    payload: int
    end: int


def read_pcap(path: Path) -> tuple[bytes, list[Packet]]:
    """The file header as it is, and all packets."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = bytes(cramjam.zstd.decompress(data))
    packets, at = [], FILE_HEADER.size
    while at < len(data):
        seconds, fraction, captured, wire_bytes = PACKET_HEADER.unpack_from(data, at)
        at += PACKET_HEADER.size
        packets.append(Packet(seconds, fraction, wire_bytes, data[at : at + captured]))
        at += captured
    return data[: FILE_HEADER.size], packets


def write_pcap(path: Path, header: bytes, packets: Iterable[Packet]) -> Path:
    with path.open("wb") as file:
        file.write(header)
        for packet in packets:
            file.write(PACKET_HEADER.pack(packet.seconds, packet.fraction, len(packet.data), packet.wire_bytes))
            file.write(packet.data)
    return path


def borders(packet: Packet) -> Borders | None:
    """None for anything but a TCP packet that was captured whole."""
    data, ip = packet.data, ETHERNET_BYTES
    kind = int.from_bytes(data[12:14], "big")
    if kind == 0x0800 and data[ip + 9] == 6:
        tcp = ip + 4 * (data[ip] & 15)
        end = ip + int.from_bytes(data[ip + 2 : ip + 4], "big")
    elif kind == 0x86DD and data[ip + 6] == 6:
        tcp = ip + 40
        end = tcp + int.from_bytes(data[ip + 4 : ip + 6], "big")
    else:
        return None
    return Borders(ip, tcp, tcp + 4 * (data[tcp + 12] >> 4), end) if end <= len(data) else None


def direction(packet: Packet) -> tuple[bytes, bytes] | None:
    """Sender and receiver, each address and port; None for what is not TCP."""
    at = borders(packet)
    if at is None:
        return None
    data, size = packet.data, 16 if packet.data[at.ip] >> 4 == 6 else 4
    addresses = at.ip + (8 if size == 16 else 12)
    source, target = data[addresses : addresses + size], data[addresses + size : addresses + 2 * size]
    return source + data[at.tcp : at.tcp + 2], target + data[at.tcp + 2 : at.tcp + 4]


def movable(packets: Sequence[Packet]) -> list[int]:
    """Places of the packets that may move: those of connections that begin in the capture, as of the others nobody can
    know what came before the first packet; and no data that was sent twice, as the first copy gives a byte its time."""
    ways = [direction(packet) for packet in packets]
    begun = {frozenset(way) for way, packet in zip(ways, packets, strict=True) if way and _flags(packet) & SYN}
    data = [(way, _data_sequence(packet)) for way, packet in zip(ways, packets, strict=True)]
    sent = Counter(start for start in data if start[1] is not None)
    return [place for place, way in enumerate(ways) if way and frozenset(way) in begun and sent[data[place]] < 2]


def shuffled(packets: Sequence[Packet], seed: int, reach: int = 3) -> list[Packet]:
    """No packet more than `reach` places or WINDOW_US from where it was, in any direction and across connections: an
    answer may come before what it answers to, as on a busy host with several queues."""
    chance = random.Random(seed)
    may_move = set(movable(packets))
    order = list(packets)
    for start in range(chance.randrange(reach), len(order), reach + 1):
        _exchange(order, [place for place in range(start, start + reach + 1) if place in may_move], chance)
    return order


def shuffled_each_way(packets: Sequence[Packet], seed: int, reach: int = 3) -> list[Packet]:
    """Packets change places only with neighbours of the same way of the same connection, none of the other way between
    them: what a network with several paths does, where an answer stays behind what it answers to."""
    chance = random.Random(seed)
    order = list(packets)
    runs: dict[frozenset[bytes], list[int]] = {}
    for place in movable(packets):
        way = direction(packets[place])
        assert way is not None
        run = runs.setdefault(frozenset(way), [])
        if run and (direction(packets[run[-1]]) != way or len(run) > reach):
            _exchange(order, run, chance)
            run.clear()
        run.append(place)
    for run in runs.values():
        _exchange(order, run, chance)
    return order


def _exchange(order: list[Packet], places: list[int], chance: random.Random) -> None:
    """Shuffles the packets at these places, if all of them were captured within the window and none is a reset: a reset
    ends both ways at once, what came before it cannot come after it."""
    chosen = [order[place] for place in places]
    reset = any(_flags(packet) & RST for packet in chosen)
    if chosen and not reset and max(map(_moment, chosen)) - min(map(_moment, chosen)) <= WINDOW_US:
        chance.shuffle(chosen)
        for place, packet in zip(places, chosen, strict=True):
            order[place] = packet


def _moment(packet: Packet) -> int:
    return packet.seconds * 1_000_000 + packet.fraction


def _data_sequence(packet: Packet) -> int | None:
    """Sequence number of a packet's first data byte; None without data."""
    at = borders(packet)
    return int.from_bytes(packet.data[at.tcp + 4 : at.tcp + 8], "big") if at and at.end > at.payload else None


def _flags(packet: Packet) -> int:
    at = borders(packet)
    return packet.data[at.tcp + 13] if at else 0


def doubled(packets: Sequence[Packet]) -> Iterator[Packet]:
    """Every packet twice, the copy right behind it: what `tcpdump -i any` sees on a bridge."""
    for packet in packets:
        yield packet
        yield packet


def sent_again(packets: Sequence[Packet], after: int = 5) -> Iterator[Packet]:
    """Every data packet comes a second time, `after` packets later, with another IP id and the time of that moment."""
    waiting: list[Packet] = []
    for packet in packets:
        yield packet
        at = borders(packet)
        waiting.append(packet if at and at.end > at.payload else replace(packet, data=b""))
        if len(waiting) > after:
            old = waiting.pop(0)
            if old.data:
                yield replace(_other_ip_id(old), seconds=packet.seconds, fraction=packet.fraction)


def overlapping(packets: Sequence[Packet], seed: int, piece: int = 700, overlap: int = 9) -> Iterator[Packet]:
    """Data packets cut into pieces, each repeating the last bytes of the piece before it."""
    chance = random.Random(seed)
    for packet in packets:
        at = borders(packet)
        size = at.end - at.payload if at else 0
        if at is None or size == 0 or packet.data[at.tcp + 13] & SYN:
            yield packet
            continue
        start = 0
        while start < size:
            stop = min(size, start + chance.randint(1, piece))
            begin = max(0, start - overlap)
            yield _piece(packet, at, begin, stop, last=stop == size)
            start = stop


def _piece(packet: Packet, at: Borders, begin: int, stop: int, last: bool) -> Packet:
    """Payload bytes begin to stop of a packet as a packet of its own; only the last one may say FIN or PSH."""
    data = bytearray(packet.data[: at.payload] + packet.data[at.payload + begin : at.payload + stop])
    sequence = int.from_bytes(data[at.tcp + 4 : at.tcp + 8], "big") + begin
    data[at.tcp + 4 : at.tcp + 8] = (sequence & 0xFFFFFFFF).to_bytes(4, "big")
    if not last:
        data[at.tcp + 13] &= ~(FIN | PSH) & 0xFF
    cut = (at.end - at.payload) - (stop - begin)
    length_at = at.ip + 2 if data[at.ip] >> 4 == 4 else at.ip + 4
    length = int.from_bytes(data[length_at : length_at + 2], "big") - cut
    data[length_at : length_at + 2] = length.to_bytes(2, "big")
    piece = replace(packet, data=bytes(data), wire_bytes=len(data))
    return _other_ip_id(piece, begin) if begin else piece


def _other_ip_id(packet: Packet, step: int = 0x5A5A) -> Packet:
    """The same packet as the sender would send it again: IPv4 counts its packets, IPv6 does not."""
    at = ETHERNET_BYTES
    if packet.data[at] >> 4 != 4:
        return packet
    number = int.from_bytes(packet.data[at + 4 : at + 6], "big") + step
    return replace(packet, data=packet.data[: at + 4] + (number & 0xFFFF).to_bytes(2, "big") + packet.data[at + 6 :])
