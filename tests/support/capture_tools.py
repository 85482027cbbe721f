"""Helpers of the capture tests: run the stages over bytes, write capture files by hand, ask tshark."""

from __future__ import annotations

import io
import shutil
import struct
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from analyzer.inputs.sources import Source
from dissectors import layout
from dissectors.formats.capture_facts import Note
from dissectors.formats.format_detection import HEAD_BYTES, open_reader
from dissectors.matrix import new_matrix
from dissectors.packet.packets import Packets

PAYLOAD = (layout.SEGMENT_OFFSET, layout.SEGMENT_CAPTURED)


@dataclass
class Read:
    """Everything the two stages say of a capture. Rows are tuples; offsets are replaced by the bytes they point to."""

    packets: list[tuple]
    segments: list[tuple]
    stage: Packets
    reader: object
    problem: Note | None


def read_capture(
    data: bytes, block_bytes: int = 1 << 20, rows: int = 1000, tunnels: tuple[tuple[int, str], ...] = ()
) -> Read:
    """Runs reader and packets stage over `data`, cut into blocks of `block_bytes`, with batches of `rows`."""
    reader, stage = open_reader(data[:HEAD_BYTES]), Packets(tunnels=tunnels)
    packet_rows = new_matrix(layout.PACKET_COLUMNS, rows)
    segment_rows = new_matrix(layout.SEGMENT_COLUMNS, rows // 2 + 1)  # smaller: both kinds of full output occur
    packets: list[tuple] = []
    segments: list[tuple] = []
    block = b""
    for cut in range(0, len(data), block_bytes):
        block += data[cut : cut + block_bytes]
        at, why = 0, layout.WHY_OUTPUT_FULL
        while why == layout.WHY_OUTPUT_FULL:
            count, consumed, why = reader.feed(block, at, packet_rows)
            assert at <= consumed <= len(block)
            at = consumed
            packets += _rows(block, packet_rows, count, layout.PACKET_OFFSET, layout.PACKET_CAPTURED)
            row = 0
            while row < count:
                row, found, why_not = stage.feed(block, packet_rows, count, row, segment_rows)
                apart = why_not == layout.WHY_DATAGRAM
                new = list(_rows(block, segment_rows, found - apart, *PAYLOAD))
                if apart:
                    new.append(_row(stage.datagram, segment_rows, found - 1, *PAYLOAD))
                segments += new
        block = block[at:]
    return Read(packets, segments, stage, reader, reader.finish(len(block)))


def read_packets(data: bytes, block_bytes: int = 1 << 20, rows: int = 1000) -> tuple[list[tuple], object, Note | None]:
    """The rows, the reader and what its end says, without the packets stage."""
    reader = open_reader(data[:HEAD_BYTES])
    matrix = new_matrix(layout.PACKET_COLUMNS, rows)
    packets: list[tuple] = []
    block = b""
    for cut in range(0, len(data), block_bytes):
        block += data[cut : cut + block_bytes]
        at, why = 0, layout.WHY_OUTPUT_FULL
        while why == layout.WHY_OUTPUT_FULL:
            count, at, why = reader.feed(block, at, matrix)
            packets += _rows(block, matrix, count, layout.PACKET_OFFSET, layout.PACKET_CAPTURED)
        block = block[at:]
    return packets, reader, reader.finish(len(block))


def _rows(block: bytes, matrix: memoryview, count: int, offset: int, size: int) -> Iterator[tuple]:
    return (_row(block, matrix, row, offset, size) for row in range(count))


def _row(block: bytes, matrix: memoryview, row: int, offset: int, size: int) -> tuple:
    values = [matrix[column, row] for column in range(matrix.shape[0])]
    start, length = values[offset], values[size]
    assert start >= 0 and length >= 0 and start + length <= len(block), "a row must stay within its block"
    values[offset] = block[start : start + length]
    return tuple(values)


def unpacked(path: Path) -> bytes:
    """The bytes of a capture file, whatever its compression."""
    return b"".join(Source(str(path), path).blocks())


def pcap_file(packets: list[bytes], link: int = 1, **options: object) -> bytes:
    """A classic pcap file. Options: order, nanoseconds, modified, snaplen, version, times, lengths, network."""
    order = str(options.get("order", "<"))
    magic = 0xA1B2CD34 if options.get("modified") else 0xA1B23C4D if options.get("nanoseconds") else 0xA1B2C3D4
    version = options.get("version", (2, 4))
    times = options.get("times") or [(1_700_000_000 + number, number) for number in range(len(packets))]
    lengths = options.get("lengths") or [len(packet) for packet in packets]
    network = options.get("network", link)
    out = [struct.pack(order + "IHHiIII", magic, *version, 0, 0, options.get("snaplen", 262144), network)]
    for packet, (seconds, fraction), length in zip(packets, times, lengths, strict=True):
        out.append(struct.pack(order + "IIII", seconds, fraction, len(packet), length))
        out.append(struct.pack(order + "IHBB", 3, 0x0800, 0, 0) if options.get("modified") else b"")
        out.append(packet)
    return b"".join(out)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    """One pcapng block; `body` is padded."""
    body += bytes(-len(body) % 4)
    total = len(body) + 12
    return struct.pack(order + "II", kind, total) + body + struct.pack(order + "I", total)


def section(order: str = "<", version: tuple[int, int] = (1, 0)) -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, *version, -1), order)


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def interface(link: int = 1, snaplen: int = 0, options: bytes = b"", order: str = "<") -> bytes:
    return block(1, struct.pack(order + "HHI", link, 0, snaplen) + options, order)


def enhanced(packet: bytes, ticks: int = 0, number: int = 0, order: str = "<", length: int | None = None) -> bytes:
    """An Enhanced Packet Block."""
    head = struct.pack(
        order + "IIIII", number, ticks >> 32, ticks & 0xFFFFFFFF, len(packet), len(packet) if length is None else length
    )
    return block(6, head + packet, order)


def tshark(path: Path, fields: list[str], *arguments: str) -> list[dict[str, str]]:
    """One dict per frame; the innermost value of a field that occurs more than once. Skips without tshark."""
    program = shutil.which("tshark")
    if program is None:
        pytest.skip("tshark is not installed")
    command = [program, "-n", "-r", str(path), "-T", "fields", "-E", "occurrence=l", "-E", "separator=/t", *arguments]
    for name in fields:
        command += ["-e", name]
    done = subprocess.run(command, capture_output=True, check=False)
    lines = io.StringIO(done.stdout.decode("utf-8", "replace"))
    return [dict(zip(fields, line.rstrip("\n").split("\t"), strict=True)) for line in lines]
