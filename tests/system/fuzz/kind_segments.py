"""Segments: stretches of real captures whose sequence numbers, flags, lengths, times and order are damaged."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from random import Random

import material
from damage_bytes import ODD_32, SAME_SIZE
from damage_bytes import damage as damage_bytes
from kinds import law
from stages import MIB, Out, Road, Sizes, check_framed_parts, check_parts, check_same, filled

from dissectors import layout

# (bytes, one array per SEGMENT_ column)
Input = tuple[bytes, tuple["array[int]", ...]]

MOST_SEGMENTS = 150
FLAGS = (0, layout.TCP_SYN, layout.TCP_FIN, layout.TCP_RST, 16, 17, 18, 20, 24, 25, 63, 255)
CLOCKS = (0, 1, -1, 30_000_000, -30_000_000, 40_000_000_000, -(1 << 40), 1 << 60)
LAST_NS = (1 << 63) - 1
SIZES = (
    Sizes(),
    Sizes(held=64 << 10, connections=4, max_frame=4096, arena=16 * 4096),
    Sizes(chunks=5, frames=5),
    Sizes(connections=1),
)
IS_FREE = {0: True, 2: True}  # places of SIZES without limits: batches must change nothing


class Segments:
    """What framing gets is what reassembly gave, counts are exact, and batches of any size give the same rows."""

    name = "segments"
    round_inputs = 1

    def make(self, chance: Random) -> Input:
        block, columns = chance.choice(material.segments())
        total = len(columns[0])
        start = 0 if chance.random() < 0.4 else chance.randrange(total)
        order = list(range(start, min(total, start + chance.randint(1, MOST_SEGMENTS))))
        for _ in range(chance.choice((0, 1, 1, 2, 3))):
            chance.choice((lose, double, shuffle, turn))(order, chance)
        order = order or [start]
        first = min(columns[layout.SEGMENT_OFFSET][row] for row in order)
        end = max(columns[layout.SEGMENT_OFFSET][row] + columns[layout.SEGMENT_CAPTURED][row] for row in order)
        data = bytearray(block[first:end])
        chosen = [array("q", [column[row] for row in order]) for column in columns]
        offsets = chosen[layout.SEGMENT_OFFSET]
        for place in range(len(offsets)):
            offsets[place] -= first
        chosen[layout.SEGMENT_NUMBER] = array("q", range(1, len(order) + 1))
        for _ in range(chance.choice((0, 1, 2, 4, 8))):
            change(chosen, chance)
        for _ in range(chance.choice((0, 0, 1, 4))):
            damage_bytes(data, chance, SAME_SIZE)
        return bytes(data), tuple(chosen)

    def check(self, inputs: Sequence[Input]) -> None:
        for block, columns in inputs:
            which = len(columns[0]) % len(SIZES)
            whole = run(block, columns, SIZES[which], 1 << 30)
            check_framed_parts(whole)
            check_parts(whole)
            packets, doubled = total(whole, layout.PART_PACKETS), total(whole, layout.PART_DUPLICATES)
            lost = whole.segments_given_up
            told = ("packets", len(columns[0]), "counted", packets, "copies", doubled, "given up", lost)
            law(packets + doubled + lost == len(columns[0]), *told)
            sent, counted = sum(columns[layout.SEGMENT_LENGTH]), total(whole, layout.PART_BYTES)
            law(counted == sent if doubled + lost == 0 else counted <= sent, "bytes", sent, "counted", counted)
            if IS_FREE.get(which) and len(block) % 4 == 0:
                again = run(block, columns, Sizes(chunks=9, frames=7, held=16 * MIB), 1 + len(block) % 13)
                check_same(whole, again, "in small batches")


def run(block: bytes, columns: Sequence[array[int]], sizes: Sizes, batch: int) -> Out:
    road = Road(sizes)
    for begin in range(0, len(columns[0]), batch):
        some = [column[begin : begin + batch] for column in columns]
        road.segments(block, filled(some, len(some[0])), len(some[0]))
    return road.finish()


def total(out: Out, column: int) -> int:
    """Of both sides of all parts."""
    return sum(sum(part[column : column + 2]) for part in out.parts.values())


def lose(order: list[int], chance: Random) -> None:
    share = chance.choice((0.02, 0.2, 0.6))
    order[:] = [row for row in order if chance.random() >= share]


def double(order: list[int], chance: Random) -> None:
    at = int(chance.random() * len(order))
    order[at:at] = order[at : at + chance.choice((1, 3, 20))]


def shuffle(order: list[int], chance: Random) -> None:
    at = int(chance.random() * len(order))
    some = order[at : at + chance.choice((2, 3, 20, 200))]
    chance.shuffle(some)
    order[at : at + len(some)] = some


def turn(order: list[int], chance: Random) -> None:
    at = int(chance.random() * len(order))
    order[at : at + 30] = order[at : at + 30][::-1]


def change(columns: list[array[int]], chance: Random) -> None:
    """One field of one segment, within what the packets stage can say: no negative sizes, no bytes beyond the block."""
    row = int(chance.random() * len(columns[0]))
    which = chance.randrange(10)
    if which < 4:
        column = columns[chance.choice((layout.SEGMENT_SEQ, layout.SEGMENT_SEQ, layout.SEGMENT_ACK))]
        column[row] = (column[row] + chance.choice((-1, 1)) * chance.choice(ODD_32)) & 0xFFFFFFFF
    elif which == 4:
        columns[layout.SEGMENT_FLAGS][row] = chance.choice(FLAGS)
    elif which == 5:
        captured = columns[layout.SEGMENT_CAPTURED]
        captured[row] = int(chance.random() * (captured[row] + 1))
    elif which == 6:
        more = chance.choice((0, 1, 100, 65535, 1 << 20, 16_000_000))
        columns[layout.SEGMENT_LENGTH][row] = columns[layout.SEGMENT_CAPTURED][row] + more
    elif which == 7:
        times, after = columns[layout.SEGMENT_TIME], chance.choice(CLOCKS)
        for at in range(row, len(times) if chance.random() < 0.5 else row + 1):
            times[at] = max(-LAST_NS, min(times[at] + after, LAST_NS))
        if chance.random() < 0.1:
            times[row] = layout.UNKNOWN
    elif which == 8:
        column = columns[chance.choice((layout.SEGMENT_SRC_PORT, layout.SEGMENT_DST_PORT, layout.SEGMENT_WINDOW))]
        column[row] = chance.choice((0, 1, 9092, 65535))
    else:
        columns[layout.SEGMENT_TAP][row] = chance.choice((0, 0, 0, 1 << 62))
        columns[layout.SEGMENT_SCOPE][row] = chance.choice((0, 1, -1, 1 << 62))
