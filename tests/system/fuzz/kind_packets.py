"""Packets of every link layer and tunnel, damaged or cut, under the right link type or another."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import material
from damage_bytes import damage as damage_bytes
from kinds import law
from stages import columns, filled

from dissectors import layout
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets

# (link type, bytes captured, bytes on the wire)
Input = tuple[int, bytes, int]
LINKS = (
    0, 1, 6, 9, 10, 12, 14, 50, 51, 100, 101, 104, 105, 107, 108, 109, 113, 117, 119, 122, 127, 149, 163, 192, 197, 204, 228, 229,
    239, 242, 250, 258, 276, 281, 282, 284, 285, 65535,
)  # fmt: skip


class PacketLayers:
    """Every packet has one outcome; a segment's payload lies within its packet."""

    name = "packets"
    round_inputs = 256

    def make(self, chance: Random) -> Input:
        if chance.random() < 0.2:
            return self.fragment(chance)
        link, packet = chance.choice(material.layers())
        data = bytearray(packet)
        for _ in range(chance.choice((0, 1, 1, 2, 3, 5))):
            damage_bytes(data, chance)
        if chance.random() < 0.1:  # one packet inside the other
            at = int(chance.random() * (len(data) + 1))
            data[at:at] = chance.choice(material.layers())[1]
        wire = len(data)
        if chance.random() < 0.2:
            del data[int(chance.random() * (len(data) + 1)) :]
        if chance.random() < 0.1:
            wire += chance.choice((1, 1000, 1 << 20, (1 << 32) - 1))
        if chance.random() < 0.1:
            link = chance.choice(LINKS)
        return link, bytes(data), wire

    @staticmethod
    def fragment(chance: Random) -> Input:
        """A piece of one of four datagrams: of a round's pieces some make a whole."""
        number = chance.randrange(4)
        packet = material.layers()[0][1][14:]
        header, body = packet[:20], packet[20:]
        begin = 8 * chance.choice((0, 0, 1, 2, 3, chance.randrange(8192)))
        piece = body[begin : begin + chance.choice((8, 16, 24, 100))]
        more = begin + len(piece) < len(body)
        flags = (begin // 8 | (0x2000 if more else 0)).to_bytes(2, "big")
        data = bytearray(header[:4] + number.to_bytes(2, "big") + flags + header[8:] + piece)
        data[2:4] = len(data).to_bytes(2, "big")
        if chance.random() < 0.2:
            damage_bytes(data, chance)
        return 101, bytes(data), len(data)

    def check(self, inputs: Sequence[Input]) -> None:
        block, rows = bytearray(), []
        for number, (link, data, wire) in enumerate(inputs, 1):
            # Offset, captured, length and link stand where layout says; the packets lie one behind the other.
            row = dict.fromkeys(range(layout.PACKET_COLUMNS), 0)
            row[layout.PACKET_NUMBER], row[layout.PACKET_OFFSET] = number, len(block)
            row[layout.PACKET_CAPTURED], row[layout.PACKET_LENGTH] = len(data), max(wire, len(data))
            row[layout.PACKET_LINK] = link
            rows.append(row.values())
            block += data
        packets = filled(zip(*rows, strict=True), len(rows))
        stage = Packets()
        found = self.read(stage, bytes(block), packets, len(inputs), len(inputs))
        law(sum(stage.outcomes()) == len(inputs), "packets", len(inputs), "outcomes", stage.outcomes())
        for segment, room in found:
            number = segment[layout.SEGMENT_NUMBER] - 1
            start, size = packets[layout.PACKET_OFFSET, number], packets[layout.PACKET_CAPTURED, number]
            start, size = (start, size) if room < 0 else (0, room)
            offset, captured = segment[layout.SEGMENT_OFFSET], segment[layout.SEGMENT_CAPTURED]
            law(start <= offset and captured >= 0 and offset + captured <= start + size, "outside", inputs[number])
            law(captured <= segment[layout.SEGMENT_LENGTH] <= 1 << 24, "an impossible length", inputs[number])
            law(
                0 <= segment[layout.SEGMENT_SEQ] < 1 << 32 and 0 <= segment[layout.SEGMENT_ACK] < 1 << 32,
                inputs[number],
            )
        # Fragments count as what their datagram is.
        apart = sum(room >= 0 for _, room in found)
        law(stage.outcomes()[layout.SEEN_TCP] >= len(found) + apart, "segments", len(found), stage.outcomes())
        small = self.read(Packets(), bytes(block), packets, len(inputs), 7)
        law(small == found, "segments differ in small batches")

    @staticmethod
    def read(
        stage: Packets, block: bytes, packets: memoryview, count: int, room: int
    ) -> list[tuple[tuple[int, ...], int]]:
        """Segments, each with the size of the datagram that its bytes are in; -1: they are in its packet."""
        out = new_matrix(layout.SEGMENT_COLUMNS, room)
        found = []
        row = 0
        while row < count:
            row, used, why = stage.feed(block, packets, count, row, out)
            rows = [columns(out, layout.SEGMENT_COLUMNS, at) for at in range(used)]
            apart = len(stage.datagram) if why == layout.WHY_DATAGRAM else -1
            found += [(each, apart if at == used - 1 else -1) for at, each in enumerate(rows)]
        return found
