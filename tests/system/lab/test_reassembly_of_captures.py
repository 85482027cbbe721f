"""Real captures: each byte handed on is the first copy in the capture, and none that was captured is missing."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pyarrow as pa
import pytest
from segment_rows import Outcome, Runner

from dissectors import layout
from dissectors.formats.pcap import PcapReader
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets
from dissectors.tcp.reassembly import Reassembly

CAPTURES = [
    "clients.pcap",  # many short connections
    "cluster.07.pcap.zst",  # begins and ends in mid-flight
    "routed_client.pcap.zst",  # losses, retransmissions and reordering on the way
    "shape_snap96.pcap",  # cut by snaplen
]


def read(path: Path) -> tuple[bytes, memoryview, int]:
    """(bytes of the capture, its segments, how many)."""
    data = path.read_bytes()
    if path.suffix == ".zst":
        data = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    packets = new_matrix(layout.PACKET_COLUMNS, 20_000)
    rows, _, why = PcapReader(data[:24]).feed(data, 0, packets)
    assert why == layout.WHY_DONE
    segments = new_matrix(layout.SEGMENT_COLUMNS, rows)
    _, count, why = Packets().feed(data, packets, rows, 0, segments)
    assert why == layout.WHY_DONE
    return data, segments, count


def reassemble(data: bytes, segments: memoryview, count: int) -> Outcome:
    runner = Runner(Reassembly(), chunk_rows=1000)
    row, why = 0, layout.WHY_OUTPUT_FULL
    while row < count or why != layout.WHY_DONE:
        row, used, why = runner.stage.feed(data, segments, count, row, runner.chunks)
        runner.take(bytearray(data), used, 0)
    return runner.finish()


def first_copies(data: bytes, segments: memoryview, rows: list[int], start: int) -> dict[int, tuple[int, int]]:
    """Stream offset -> (byte, packet number) of the first captured copy."""
    seen: dict[int, tuple[int, int]] = {}
    for row in rows:
        flags = segments[layout.SEGMENT_FLAGS, row]
        at = (segments[layout.SEGMENT_SEQ, row] + (flags & layout.TCP_SYN != 0) - start) & 0xFFFFFFFF
        at -= (at > 2**31) << 32
        begin = segments[layout.SEGMENT_OFFSET, row]
        number = segments[layout.SEGMENT_NUMBER, row]
        for i in range(max(0, -at), segments[layout.SEGMENT_CAPTURED, row]):
            seen.setdefault(at + i, (data[begin + i], number))
    return seen


@pytest.mark.parametrize("name", CAPTURES)
def test_streams_of_a_real_capture(shared: Path, name: str) -> None:
    data, segments, count = read(shared / "captures" / "lab" / name)
    out = reassemble(data, segments, count)
    ways: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for row in range(count):
        if not segments[layout.SEGMENT_FLAGS, row] & layout.TCP_RST:
            ways[tuple(segments[column, row] for column in range(2, 8))].append(row)
    total = checked = 0
    for number, part in out.parts.items():
        a = (part[layout.PART_A_HIGH], part[layout.PART_A_LOW], part[layout.PART_A_PORT])
        b = (part[layout.PART_B_HIGH], part[layout.PART_B_LOW], part[layout.PART_B_PORT])
        for side, (src, dst) in enumerate(((a, b), (b, a))):
            start = part[layout.PART_START_SEQ + side]
            total += part[layout.PART_STREAM + side]
            if start == layout.UNKNOWN:
                continue
            seen = first_copies(data, segments, ways[(*src[:2], *dst[:2], src[2], dst[2])], start)
            place = 0
            for event in out.events[number]:
                if event.side == side and event.kind == layout.CHUNK_DATA:
                    for byte in event.data:
                        assert seen.pop(place) == (byte, event.number)
                        place += 1
                        checked += 1
                elif event.side == side and event.kind == layout.CHUNK_GAP:
                    assert event.detail == layout.GAP_CUT
                    place += event.length
            assert not seen
    assert checked == total > 100_000
    assert out.problems == []
