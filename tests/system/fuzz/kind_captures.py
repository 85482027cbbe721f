"""Whole captures, pcap and pcapng: damaged packets in damaged files, through all stages, in blocks of any size."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import capture_tools as tools
import material
import mutate
from damage_bytes import ODD_32
from damage_bytes import damage as damage_bytes
from kinds import law
from stages import MIB, Out, Road, Sizes, check_framed_parts, check_parts, check_same, columns, filled

from dissectors import layout
from dissectors.errors import DissectError
from dissectors.formats.format_detection import HEAD_BYTES, open_reader
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets

Input = bytes
SIZES = (Sizes(), Sizes(), Sizes(), Sizes(held=64 << 10, connections=4, max_frame=4096, arena=64 << 10))
PACKET_ROWS = 136


class Captures:
    """The same packets and rows in blocks of any size, every packet counted, every stream byte accounted for."""

    name = "captures"
    round_inputs = 1

    def make(self, chance: Random) -> Input:
        data = mutate.mutated(material.captures(), chance.getrandbits(60), most_packets=120)
        if chance.random() < 0.4:
            data = as_pcapng(data, chance)
        return data

    def check(self, inputs: Sequence[Input]) -> None:
        for data in inputs:
            sizes = SIZES[len(data) % len(SIZES)]
            whole = run(data, sizes, len(data) or 1)
            if whole is None:
                continue
            check_framed_parts(whole[0])
            check_parts(whole[0])
            law(sum(whole[1]) <= whole[2], "packets", whole[2], "outcomes", whole[1])
            if sizes.held >= 16 * MIB:
                blocks = (37, 257, 4096)[len(data) % 3] if len(data) < 30_000 else 4096
                again = run(data, sizes, blocks)
                law(again is not None and again[1:] == whole[1:], "packets differ in blocks of", blocks)
                if again is not None:
                    check_same(whole[0], again[0], f"in blocks of {blocks}")


def run(data: bytes, sizes: Sizes, block_bytes: int) -> tuple[Out, list[int], int, list[str]] | None:
    """Rows, outcomes of packets, how many numbers they used, what the reader notes; None: no capture at all."""
    try:
        reader = open_reader(data[:HEAD_BYTES])
    except DissectError:
        return None
    stage, road = Packets(), Road(sizes)
    packets = new_matrix(layout.PACKET_COLUMNS, PACKET_ROWS)
    segments = new_matrix(layout.SEGMENT_COLUMNS, PACKET_ROWS)
    block = b""
    for cut in range(0, len(data), block_bytes):
        block += data[cut : cut + block_bytes]
        at, why = 0, layout.WHY_OUTPUT_FULL
        while why == layout.WHY_OUTPUT_FULL:
            count, at, why = reader.feed(block, at, packets)
            row = 0
            while row < count:
                row, found, reason = stage.feed(block, packets, count, row, segments)
                apart = int(reason == layout.WHY_DATAGRAM)
                if found - apart:
                    road.segments(block, segments, found - apart)
                if apart:  # put together from fragments: its bytes are elsewhere
                    last = columns(segments, layout.SEGMENT_COLUMNS, found - 1)
                    road.segments(stage.datagram, filled([[value] for value in last], 1), 1)
        block = block[at:]
        if reader.stopped:
            break
    end = reader.finish(0 if reader.stopped else len(block))
    notes = [str(note) for note in (*reader.notes, end) if note is not None]
    return road.finish(), stage.outcomes(), reader.packets, notes


def as_pcapng(data: bytes, chance: Random) -> bytes:
    """The packets of a pcap file as blocks of every kind; then the file is damaged again, or not."""
    order = chance.choice("<>")
    resolution = tools.option(9, bytes([chance.choice((0, 3, 6, 9, 12, 0x80, 0x8A, 0xFF, 63))]), order)
    out = bytearray(
        tools.section(order) + tools.interface(chance.choice((1, 1, 1, 101, 113)), options=resolution, order=order)
    )
    out += tools.interface(1, chance.choice((0, 60, 96, 65535)), order=order)
    at = mutate.FILE_HEADER.size
    borders = [0, len(out)]
    while at + 16 <= len(data):
        seconds, fraction, size, wire = mutate.PACKET_HEADER.unpack_from(data, at)
        packet = data[at + 16 : at + 16 + size]
        at += 16 + size
        kind = chance.random()
        if kind < 0.9:
            ticks = seconds * 1_000_000 + fraction
            out += tools.enhanced(packet, ticks & (1 << 64) - 1, int(kind * 10) % 3, order, wire)
        elif kind < 0.95:
            out += tools.block(3, wire.to_bytes(4, "little" if order == "<" else "big") + packet, order)
        elif kind < 0.97:
            out += tools.block(
                chance.choice((4, 5, 10, 11, 0xBAD, 0x40000BAD)), chance.randbytes(chance.randrange(60)), order
            )
        else:
            order = chance.choice("<>")
            out += tools.section(order) + tools.interface(1, order=order)
        borders.append(len(out))
    for _ in range(chance.choice((0, 0, 1, 3))):
        start = chance.choice(borders)  # a block's type and length, or that of an option near it
        if start + 4 <= len(out):
            number = chance.choice(ODD_32).to_bytes(4, "little" if order == "<" else "big")
            place = start + chance.choice((0, 4, 8, 12, 16, 20, 24, 28))
            out[place : place + 4] = number[: max(0, len(out) - place)]
    if chance.random() < 0.3:
        damage_bytes(out, chance)
    return bytes(out)
