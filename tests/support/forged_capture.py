"""Whole captures of a release that does not exist: the conversations of a real one, their messages written anew (`forged_release`).

Packets keep their times; sequence and acknowledgment numbers fit the longer streams. Of a connection that is not captured whole
from its SYN on, or not to be read, nothing is changed. What captures may be: see `transform`.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from forged_release import forged
from transform import SYN, Borders, Packet, borders, direction, read_pcap, write_pcap

from dissectors.kafka.schema import lookup

Way = tuple[bytes, bytes]
# Larger packets would not fit into IPv4: the longer stream needs more of them.
MOST_PAYLOAD = 60_000
SEQUENCES = 1 << 32


def forge_capture(source: Path, target: Path) -> int:
    """Writes the capture anew; returns how many messages are of the new release."""
    header, packets = read_pcap(source)
    streams = _streams(packets)
    messages = sum(_forge(streams[way], streams[way[::-1]]) for way in streams if way[::-1] in streams)
    write_pcap(target, header, (new for packet in packets for new in _rewritten(packet, streams)))
    return messages


@dataclass
class Stream:
    """One direction of a connection. `old` and `new` are the places of frame borders before and after."""

    start: int  # sequence number of its first byte
    pieces: dict[int, bytes] = field(default_factory=dict)
    data: bytes = b""
    old: list[int] = field(default_factory=lambda: [0])
    new: list[int] = field(default_factory=lambda: [0])

    def place(self, at: int) -> int:
        """Where a place of the old stream is in the new one."""
        number = bisect_right(self.old, at) - 1
        inside = at - self.old[number]
        if number + 1 < len(self.new):
            inside = min(inside, self.new[number + 1] - self.new[number])
        return self.new[number] + inside

    def number(self, sequence: int) -> int:
        """The same of a sequence number."""
        at = (sequence - self.start) % SEQUENCES
        return sequence if at >= SEQUENCES // 2 else (self.start + self.place(at)) % SEQUENCES


def _streams(packets: Iterable[Packet]) -> dict[Way, Stream]:
    """The streams that begin with a SYN, those of them whole that have no hole."""
    found: dict[Way, Stream] = {}
    for packet in packets:
        way, at = direction(packet), borders(packet)
        if way is None or at is None:
            continue
        sequence = int.from_bytes(packet.data[at.tcp + 4 : at.tcp + 8], "big")
        if packet.data[at.tcp + 13] & SYN:
            found.setdefault(way, Stream((sequence + 1) % SEQUENCES))
        elif way in found and at.end > at.payload:
            place = (sequence - found[way].start) % SEQUENCES
            if place < SEQUENCES // 2:
                piece = packet.data[at.payload : at.end]
                found[way].pieces[place] = max(found[way].pieces.get(place, b""), piece, key=len)
    for stream in found.values():
        for place in sorted(stream.pieces):
            if place > len(stream.data):
                break
            stream.data += stream.pieces[place][len(stream.data) - place :]
    return found


def _forge(client: Stream, broker: Stream) -> int:
    """Writes the messages of a connection anew; 0 if the first stream is not that of a client of Kafka."""
    asked: dict[int, tuple[int, int]] = {}
    requests, replies = _frames(client.data), _frames(broker.data)
    for frame in requests:
        if len(frame) < 8:
            return 0
        key, version, correlation = struct.unpack(">hhi", frame[:8])
        api = lookup.api(key)
        if api is None or version not in api.versions:
            return 0
        asked[correlation] = key, version
    answers = [(asked.get(int.from_bytes(frame[:4], "big", signed=True)), frame) for frame in replies]
    if not requests or any(which is None for which, _ in answers):
        return 0
    old = [(struct.unpack(">hh", frame[:4]), "request", frame) for frame in requests]
    new_requests = [forged(*which, side, frame) for which, side, frame in old]
    new_replies = [forged(*which, "response", frame) for which, frame in answers if which is not None]
    if None in new_requests or None in new_replies:
        return 0
    _replace(client, requests, [each for each in new_requests if each is not None])
    _replace(broker, replies, [each for each in new_replies if each is not None])
    return sum(a != b for a, b in zip([*requests, *replies], [*new_requests, *new_replies], strict=True))


def _frames(data: bytes) -> list[bytes]:
    """The whole frames of a stream, without their lengths."""
    found, at = [], 0
    while at + 4 <= len(data):
        size = int.from_bytes(data[at : at + 4], "big", signed=True)
        if size < 4 or at + 4 + size > len(data):
            break
        found.append(data[at + 4 : at + 4 + size])
        at += 4 + size
    return found


def _replace(stream: Stream, before: Sequence[bytes], after: Sequence[bytes]) -> None:
    written = bytearray()
    for old, new in zip(before, after, strict=True):
        written += struct.pack(">i", len(new)) + new
        stream.old.append(stream.old[-1] + 4 + len(old))
        stream.new.append(len(written))
    stream.data = bytes(written) + stream.data[stream.old[-1] :]


def _rewritten(packet: Packet, streams: dict[Way, Stream]) -> list[Packet]:
    way, at = direction(packet), borders(packet)
    if way is None or at is None or way not in streams or way[::-1] not in streams:
        return [packet]
    own, other = streams[way], streams[way[::-1]]
    sequence, acknowledged = struct.unpack_from(">II", packet.data, at.tcp + 4)
    head = bytearray(packet.data[: at.payload])
    struct.pack_into(">I", head, at.tcp + 8, other.number(acknowledged))
    begin = (sequence - own.start) % SEQUENCES
    if at.end == at.payload or begin >= SEQUENCES // 2:
        struct.pack_into(">I", head, at.tcp + 4, own.number(sequence))
        return [_packet(packet, at, head, packet.data[at.payload : at.end])]
    first, last = own.place(begin), own.place(begin + at.end - at.payload)
    found = []
    for start in range(first, max(last, first + 1), MOST_PAYLOAD):
        struct.pack_into(">I", head, at.tcp + 4, (own.start + start) % SEQUENCES)
        found.append(_packet(packet, at, head, own.data[start : min(last, start + MOST_PAYLOAD)]))
    return found


def _packet(packet: Packet, at: Borders, head: bytearray, payload: bytes) -> Packet:
    data = bytearray(head) + payload
    length = len(data) - at.ip
    if data[at.ip] >> 4 == 4:
        struct.pack_into(">H", data, at.ip + 2, length)
    else:
        struct.pack_into(">H", data, at.ip + 4, length - 40)
    return replace(packet, data=bytes(data), wire_bytes=len(data))
