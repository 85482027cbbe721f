"""Where each message of a frame list lies in the packets of its capture, and what is left of it in a part of that capture.

Works on packets and the frame list alone: messages are found by walking the lengths from the first whole one of each way, and
are told apart by their order, which is that of the list. Nothing of the program is used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path

import transform
from oracle import FrameRow
from transform import Packet

# Bytes that tell what a message is: length, API key, version and correlation id; length and correlation id.
REQUEST_HEAD, REPLY_HEAD = 12, 8


@dataclass(frozen=True, slots=True)
class Place:
    """A message as a range of sequence numbers of one way (sender, receiver), and the size of the message before it that
    ends where this one begins (0: none known)."""

    way: tuple[bytes, bytes]
    start: int
    size: int
    before: int


@dataclass(frozen=True, slots=True)
class Carrier:
    """What one packet brings of a way: its first sequence number, bytes on the wire, bytes that were captured."""

    start: int
    length: int
    captured: int
    time_ns: int


Carriers = Mapping[tuple[bytes, bytes], Sequence[Carrier]]


def carriers(packets: Iterable[Packet]) -> Carriers:
    """The packets with payload by way, in the order of the file. A packet whose TCP header was cut brings nothing."""
    found: dict[tuple[bytes, bytes], list[Carrier]] = defaultdict(list)
    for packet in packets:
        whole = replace(packet, data=packet.data.ljust(packet.wire_bytes, b"\0"))
        at, way = transform.borders(whole), transform.direction(whole)
        if at is None or way is None or at.payload > len(packet.data):
            continue
        sequence = int.from_bytes(packet.data[at.tcp + 4 : at.tcp + 8], "big")
        time_ns = (packet.seconds * 1_000_000 + packet.fraction) * 1000
        if at.end > at.payload:
            captured = max(0, min(at.end, len(packet.data)) - at.payload)
            found[way].append(Carrier(sequence, at.end - at.payload, captured, time_ns))
    return found


def places(packets: Sequence[Packet], rows: Sequence[FrameRow]) -> list[tuple[FrameRow, Place, Place | None]]:
    """Each row of the frame list with the places of its request and its reply."""
    streams = _streams(packets)
    by_connection: dict[str, list[FrameRow]] = defaultdict(list)
    for row in rows:
        by_connection[row.connection].append(row)
    found: list[tuple[FrameRow, Place, Place | None]] = []
    for connection, mine in by_connection.items():
        client, broker = _ends(connection)
        asked = [(r.request_bytes, r.correlation_id.to_bytes(4, "big"), r.request_first_ns) for r in mine]
        answers = sorted((r for r in mine if r.response_first_ns is not None), key=lambda r: r.response_first_ns or 0)
        told = [(r.response_bytes or 0, r.correlation_id.to_bytes(4, "big"), r.response_first_ns or 0) for r in answers]
        requests = dict(zip(mine, _walk((client, broker), streams[client, broker], asked, 8), strict=True))
        replies = dict(zip(answers, _walk((broker, client), streams[broker, client], told, 4), strict=True))
        found += [(row, requests[row], replies.get(row)) for row in mine]
    return found


def _ends(connection: str) -> tuple[bytes, bytes]:
    """Client and broker, address and port, as `transform.direction` has them."""
    broker, client = connection.split("-")
    address, port = client.rsplit(":", 1)
    broker_address, broker_port = broker.rsplit(":", 1)
    return (
        ip_address(address).packed + int(port).to_bytes(2, "big"),
        ip_address(broker_address).packed + int(broker_port).to_bytes(2, "big"),
    )


def _streams(packets: Sequence[Packet]) -> dict[tuple[bytes, bytes], tuple[int, bytes]]:
    """The bytes of each way from the lowest sequence number on, the first copy of each."""
    parts: dict[tuple[bytes, bytes], list[tuple[int, bytes]]] = defaultdict(list)
    for packet in packets:
        at, way = transform.borders(packet), transform.direction(packet)
        if at and way and at.end > at.payload:
            sequence = int.from_bytes(packet.data[at.tcp + 4 : at.tcp + 8], "big")
            parts[way].append((sequence, packet.data[at.payload : at.end]))
    streams = {}
    for way, pieces in parts.items():
        base = min(sequence for sequence, _ in pieces)
        data = bytearray(max(sequence + len(piece) for sequence, piece in pieces) - base)
        for sequence, piece in reversed(pieces):
            data[sequence - base : sequence - base + len(piece)] = piece
        streams[way] = base, bytes(data)
    return streams


def _walk(
    way: tuple[bytes, bytes], stream: tuple[int, bytes], messages: Sequence[tuple[int, bytes, int]], at_id: int
) -> Iterator[Place]:
    """Places of messages (length field, correlation id, time) in a stream, one right after the other."""
    base, data = stream
    at, before = 0, 0
    for length, correlation, _ in messages:
        head = length.to_bytes(4, "big")
        if before == 0:
            at = data.index(head)
        assert data[at : at + 4] == head and data[at + at_id : at + at_id + 4] == correlation, (way, at)
        yield Place(way, base + at, 4 + length, before)
        at += 4 + length
        before = 4 + length


@dataclass(frozen=True, slots=True)
class Left:
    """What a capture has of a message: the time of its first byte and its last; whether every byte was on a packet of the
    file, whether its head was captured, and whether it begins where a packet does."""

    first_ns: int | None
    last_ns: int | None
    on_wire: bool
    head: bool
    at_packet: bool


def left(place: Place, found: Carriers, head: int) -> Left:
    """A byte's time is that of the packet that brought its first copy."""
    stop = place.start + place.size
    mine = [c for c in found.get(place.way, ()) if c.start < stop and place.start < c.start + c.length]
    covered = sorted((c.start, c.start + c.length) for c in mine)
    reach = place.start
    for start, end in covered:
        if start <= reach:
            reach = max(reach, end)
    first = next((c for c in mine if c.start <= place.start), None)
    last = next((c for c in mine if c.start + c.length >= stop), None)
    heads = [c for c in mine if c.start <= place.start and place.start + head <= c.start + c.captured]
    return Left(
        first.time_ns if first else None,
        last.time_ns if last else None,
        reach >= stop,
        bool(heads),
        any(c.start == place.start for c in heads),
    )


def met(messages: Iterable[tuple[Place, int]], found: Carriers) -> dict[Place, Left]:
    """The messages (with the size of their heads) that can be found in a part of the capture.

    Their head was captured, all their bytes were on packets of the file, and they begin where a packet does or where a message
    ends whose head was captured: nothing else says where they begin.
    """
    kept: dict[Place, Left] = {}
    bounds: set[tuple[tuple[bytes, bytes], int]] = set()
    for place, head in sorted(messages, key=lambda message: message[0].start):
        rest = left(place, found, head)
        if rest.head and (rest.at_packet or (place.way, place.start) in bounds):
            bounds.add((place.way, place.start + place.size))
            if rest.on_wire:
                kept[place] = rest
    return kept


def read(path: Path) -> list[Packet]:
    return transform.read_pcap(path)[1]


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes of a way that one packet brought first: when they came, and when all bytes before them had come too."""

    start: int
    stop: int
    came_ns: int
    released_ns: int


def pieces(carried: Sequence[Carrier]) -> list[Piece]:
    """The bytes of a way in the order of the stream, each by its first copy. `carried` is in the order of the file."""
    firsts: list[tuple[int, int, int]] = []
    known: list[tuple[int, int]] = []  # disjoint, sorted
    for carrier in carried:
        at, stop = carrier.start, carrier.start + carrier.length
        for begin, end in [piece for piece in known if piece[0] < stop and at < piece[1]]:
            if at < begin:
                firsts.append((at, begin, carrier.time_ns))
            at = max(at, end)
        if at < stop:
            firsts.append((at, stop, carrier.time_ns))
        known = _joined(known, carrier.start, stop)
    found, released = [], 0
    for start, stop, came in sorted(firsts):
        released = max(released, came)
        found.append(Piece(start, stop, came, released))
    return found


def _joined(known: list[tuple[int, int]], start: int, stop: int) -> list[tuple[int, int]]:
    apart = [piece for piece in known if piece[1] < start or stop < piece[0]]
    touching = [piece for piece in known if not (piece[1] < start or stop < piece[0])]
    low = min([start, *(begin for begin, _ in touching)])
    high = max([stop, *(end for _, end in touching)])
    return sorted([*apart, (low, high)])
