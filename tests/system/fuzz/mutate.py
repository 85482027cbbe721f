"""Damages captures where it hurts: a mutator that knows pcap, IP, TCP and Kafka's length fields.

A capture is a list of packets; one mutation changes a few of them, their order, or the bytes of the written file. What
comes out depends on the seed only.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from struct import pack

import transform
from damage_bytes import ODD_32, number
from transform import FILE_HEADER, PACKET_HEADER, Borders, Packet

MOST_PACKETS = 400

Mutation = Callable[[list[Packet], random.Random], None]


def mutated(captures: Sequence[tuple[bytes, list[Packet]]], seed: int, most_packets: int = MOST_PACKETS) -> bytes:
    """The bytes of a damaged capture file: a stretch of one of `captures`, or of two, with up to eight mutations."""
    chance = random.Random(seed)
    header, packets = chance.choice(captures)
    chosen = stretch(packets, chance, most_packets)
    if chance.random() < 0.2:
        splice(chosen, stretch(chance.choice(captures)[1], chance, most_packets), chance)
    for _ in range(chance.randint(1, 8)):
        if chosen:
            chance.choice(MUTATIONS)(chosen, chance)
    data = bytearray(header)
    for packet in chosen:
        data += PACKET_HEADER.pack(packet.seconds, packet.fraction, len(packet.data), packet.wire_bytes) + packet.data
    if chance.random() < 0.2:
        damage_file(data, chosen, chance)
    return bytes(data)


def stretch(packets: Sequence[Packet], chance: random.Random, most_packets: int) -> list[Packet]:
    """Packets from anywhere; half the time from the start, where connections begin."""
    start = 0 if chance.random() < 0.5 else chance.randrange(len(packets))
    return list(packets[start : start + chance.randint(1, most_packets)])


def splice(packets: list[Packet], others: Sequence[Packet], chance: random.Random) -> None:
    """Another capture in the middle, or its payloads in the connections of this one."""
    if chance.random() < 0.5:
        place = chance.randrange(len(packets))
        packets[place:place] = others
        return
    for place, other in zip(range(len(packets)), others, strict=False):
        at, from_ = borders(packets[place]), borders(other)
        if at and from_:
            size = min(at.end - at.payload, from_.end - from_.payload)
            put(packets, place, at.payload, other.data[from_.payload : from_.payload + size])


def borders(packet: Packet) -> Borders | None:
    """As far as the headers can still be read."""
    try:
        return transform.borders(packet)
    except IndexError:
        return None


def put(packets: list[Packet], place: int, at: int, new: bytes) -> None:
    """Overwrites bytes of one packet; its size stays."""
    data = packets[place].data
    packets[place] = replace(packets[place], data=(data[:at] + new + data[at + len(new) :])[: len(data)])


def change_ip(packets: list[Packet], chance: random.Random) -> None:
    """Any field of the link and IP headers: types, lengths, fragments, protocols, addresses."""
    size = chance.choice((1, 2))
    put(packets, chance.randrange(len(packets)), chance.randrange(12, 54), number(chance, size))


def change_tcp(packets: list[Packet], chance: random.Random) -> None:
    """Ports, sequence and ACK numbers, header length, flags, window, options."""
    place = chance.randrange(len(packets))
    at = borders(packets[place])
    if at:
        field, size = chance.choice(
            ((0, 2), (2, 2), (4, 4), (4, 4), (8, 4), (8, 4), (12, 1), (13, 1), (13, 1), (14, 2))
        )
        put(packets, place, at.tcp + field, number(chance, size))


def move_sequence(packets: list[Packet], chance: random.Random) -> None:
    """Sequence or ACK number a little off: overlaps, holes, copies that differ."""
    place = chance.randrange(len(packets))
    at = borders(packets[place])
    if at:
        field = at.tcp + chance.choice((4, 4, 8))
        old = int.from_bytes(packets[place].data[field : field + 4], "big")
        new = old + chance.choice((-1, 1)) * chance.choice(ODD_32)
        put(packets, place, field, (new & 0xFFFFFFFF).to_bytes(4, "big"))


def with_payload(packets: Sequence[Packet], chance: random.Random) -> tuple[int, int, int] | None:
    """(place, start and end of the payload) of a packet that has one; None when a few tries find none."""
    for _ in range(8):
        place = chance.randrange(len(packets))
        at = borders(packets[place])
        if at and at.end > at.payload:
            return place, at.payload, at.end
    return None


def change_head(packets: list[Packet], chance: random.Random) -> None:
    """Length, key, version, correlation id or client id of the frame that most likely begins with the payload."""
    found = with_payload(packets, chance)
    if found:
        field, size = chance.choice(((0, 4), (0, 4), (4, 2), (6, 2), (8, 4), (12, 2), (14, 1)))
        put(packets, found[0], found[1] + field, number(chance, size))


def change_body(packets: list[Packet], chance: random.Random) -> None:
    """A few numbers anywhere in a payload: array and string lengths, varints, tags, record batches."""
    found = with_payload(packets, chance)
    if found:
        for _ in range(chance.randint(1, 6)):
            put(packets, found[0], chance.randrange(found[1], found[2]), number(chance, chance.choice((1, 1, 2, 4))))


def repeat_request(packets: list[Packet], chance: random.Random) -> None:
    """One payload all over the connection's others: many equal ids, keys and lengths."""
    found = with_payload(packets, chance)
    if found:
        payload = packets[found[0]].data[found[1] : found[2]]
        for _ in range(chance.randint(1, 20)):
            other = with_payload(packets, chance)
            if other:
                put(packets, other[0], other[1], payload[: other[2] - other[1]])


def cut(packets: list[Packet], chance: random.Random) -> None:
    """Packets captured short, one or all: snaplen."""
    places = range(len(packets)) if chance.random() < 0.3 else [chance.randrange(len(packets))]
    snaplen = chance.choice((0, 1, 13, 14, 20, 33, 34, 53, 54, 55, 66, 70, 74, 78, 80, 96, 128, 256))
    for place in places:
        packets[place] = replace(packets[place], data=packets[place].data[:snaplen])


def fragment(packets: list[Packet], chance: random.Random) -> None:
    """One IPv4 packet in pieces, in any order, sometimes with a piece too many or too few."""
    place = chance.randrange(len(packets))
    packet = packets[place]
    at = borders(packet)
    if at is None or packet.data[at.ip] != 0x45 or at.end <= at.ip + 20:
        return
    header, body = packet.data[: at.ip + 20], packet.data[at.ip + 20 : at.end]
    size = 8 * chance.choice((1, 2, 3, 60))
    found = []
    for begin in range(0, min(len(body), 20 * size), size):
        piece = body[begin : begin + size]
        flags = begin // 8 | (0x2000 if begin + size < len(body) else 0)
        ip = (
            header[: at.ip + 2]
            + pack(">HHH", 20 + len(piece), place + 1 & 0xFFFF, flags & 0xFFFF)
            + header[at.ip + 8 :]
        )
        found.append(replace(packet, data=ip + piece, wire_bytes=len(ip + piece)))
    if chance.random() < 0.3:
        chance.shuffle(found)
    if chance.random() < 0.2:
        found.insert(chance.randrange(len(found) + 1), chance.choice(found))
    if chance.random() < 0.2:
        del found[chance.randrange(len(found))]
    packets[place : place + 1] = found


def lose(packets: list[Packet], chance: random.Random) -> None:
    share = chance.choice((0.01, 0.1, 0.5))
    packets[:] = [packet for packet in packets if chance.random() >= share] or packets[:1]


def double(packets: list[Packet], chance: random.Random) -> None:
    place = chance.randrange(len(packets))
    packets[place:place] = packets[place : place + chance.randint(1, 10)]


def shuffle(packets: list[Packet], chance: random.Random) -> None:
    start, reach = chance.randrange(len(packets)), chance.choice((3, 20, 200))
    some = packets[start : start + reach]
    chance.shuffle(some)
    packets[start : start + reach] = some


def change_time(packets: list[Packet], chance: random.Random) -> None:
    place = chance.randrange(len(packets))
    fraction = chance.choice((0, 999_999, (1 << 32) - 1))
    seconds = chance.choice((0, 1, packets[place].seconds - 40, packets[place].seconds + 40, (1 << 32) - 1))
    packets[place] = replace(packets[place], seconds=seconds & 0xFFFFFFFF, fraction=fraction)


def change_wire_size(packets: list[Packet], chance: random.Random) -> None:
    place = chance.randrange(len(packets))
    packets[place] = replace(packets[place], wire_bytes=chance.choice(ODD_32) & 0xFFFFFFFF)


def damage_file(data: bytearray, packets: Sequence[Packet], chance: random.Random) -> None:
    """The file itself: its header, the header of a packet, any bytes, or its end."""
    kind = chance.randrange(4)
    if kind == 0:
        at = chance.randrange(FILE_HEADER.size)
    elif kind == 1:
        before = packets[: chance.randrange(len(packets)) if packets else 0]
        at = (
            FILE_HEADER.size
            + sum(PACKET_HEADER.size + len(packet.data) for packet in before)
            + chance.choice((0, 4, 8, 12))
        )
    elif kind == 2:
        at = chance.randrange(len(data))
    else:
        del data[chance.randrange(len(data)) :]
        return
    data[at : at + 4] = pack("<I", chance.choice(ODD_32) & 0xFFFFFFFF)


MUTATIONS: tuple[Mutation, ...] = (
    change_ip,
    change_tcp,
    change_tcp,
    move_sequence,
    move_sequence,
    change_head,
    change_head,
    change_head,
    change_body,
    change_body,
    change_body,
    repeat_request,
    cut,
    fragment,
    fragment,
    lose,
    double,
    shuffle,
    change_time,
    change_wire_size,
)
