"""Classic pcap: every variant of the file, damage, and the same rows however the file is cut into blocks."""

from __future__ import annotations

import io
import random
import struct
import subprocess
from pathlib import Path
from shutil import which

import dpkt
import pytest
from capture_tools import pcap_file, read_packets, unpacked
from hypothesis import given, settings
from hypothesis import strategies as st

from dissectors import layout
from dissectors.errors import DissectError, Malformed, Truncated
from dissectors.formats.format_detection import describe, open_reader
from dissectors.matrix import new_matrix

PACKETS = [b"first packet", b"", b"the third one is longer" * 9]


def facts(rows: list[tuple]) -> list[tuple]:
    """(number, time, bytes, length) of each row."""
    return [(row[0], row[1], row[layout.PACKET_OFFSET], row[layout.PACKET_LENGTH]) for row in rows]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(("kind", "tick"), [({}, 1000), ({"nanoseconds": True}, 1), ({"modified": True}, 1000)])
def test_every_magic(order: str, kind: dict[str, bool], tick: int) -> None:
    data = pcap_file(PACKETS, 113, order=order, lengths=[12, 0, 9000], **kind)
    rows, reader, problem = read_packets(data)
    assert facts(rows) == [
        (1, 1_700_000_000_000_000_000, PACKETS[0], 12),
        (2, 1_700_000_001_000_000_000 + tick, b"", 0),
        (3, 1_700_000_002_000_000_000 + 2 * tick, PACKETS[2], 9000),
    ]
    assert {row[layout.PACKET_LINK] for row in rows} == {113}
    assert (problem, reader.packets, reader.offset, reader.notes) == (None, 3, len(data), [])


def test_the_format_of_netsniff_ng() -> None:
    """Its own one (`netsniff-ng -T 0xa1e2cb12`): the file header and the first record of what version 0.6.8 wrote, a SYN on lo."""
    data = (
        bytes.fromhex(
            "12cbe2a1 02000400 00000000 00000000 ffff0000 01000000"
            "29bd0b6b b8ebef13 4a000000 4a000000 0000 0100 0800 04 00"
        )
        + bytes(12)
        + bytes.fromhex("08004500 003c")
        + bytes(56)
    )
    rows, reader, problem = read_packets(data)
    assert [(row[1], row[layout.PACKET_LENGTH]) for row in rows] == [(1_795_931_433_334_490_552, 74)]
    assert (problem, reader.offset) == (None, len(data))


@pytest.mark.parametrize("kind", ["nokiapcap", "rh6_1pcap", "suse6_3pcap", "modpcap"])
def test_variants_without_a_magic_of_their_own(kind: str, samples: Path, tmp_path: Path) -> None:
    """As Wireshark writes them: longer headers of records, under the magic of others. A part of a file has them too."""
    if which("editcap") is None:
        pytest.skip("needs editcap (Debian: wireshark-common)")
    data = unpacked(samples / "throttle.pcap.zst")
    (tmp_path / "plain").write_bytes(data)
    subprocess.run(["editcap", "-F", kind, tmp_path / "plain", tmp_path / "variant"], check=True)
    variant = (tmp_path / "variant").read_bytes()
    expected = read_packets(data)[0]
    found, reader, problem = read_packets(variant)
    assert found == expected and (problem, reader.notes) == (None, [])
    part = open_reader(reader.head)
    matrix = new_matrix(layout.PACKET_COLUMNS, 2000)
    part.feed(reader.head, 0, matrix)
    at = part.guess(variant, 100_000, len(variant))
    part.enter(at)
    rows, end, _ = part.feed(variant, at, matrix)
    assert 100 < rows < len(expected) and end == len(variant)
    assert [matrix[layout.PACKET_TIME, row] for row in range(rows)] == [row[1] for row in expected[-rows:]]


def test_same_packets_as_dpkt(shared: Path) -> None:
    for name in ("shape_nano.pcap.zst", "errors.pcap", "shape_snap96.pcap"):
        data = unpacked(shared / "captures" / "lab" / name)
        theirs = list(dpkt.pcap.Reader(io.BytesIO(data)))
        rows = read_packets(data)[0]
        assert [row[layout.PACKET_OFFSET] for row in rows] == [packet for _, packet in theirs]
        if isinstance(theirs[0][0], float):  # of microseconds, which a float of today's date still holds
            assert [row[layout.PACKET_TIME] for row in rows] == [round(time * 1e6) * 1000 for time, _ in theirs]
        else:
            assert [row[layout.PACKET_TIME] for row in rows] == [int(time * 10**9) for time, _ in theirs]


def test_seconds_are_unsigned_and_microseconds_are_arithmetic() -> None:
    data = pcap_file([b"a", b"b"], times=[(2**32 - 1, 999_999), (5, 4_000_000)])
    assert [row[1] for row in read_packets(data)[0]] == [4_294_967_295_999_999_000, 9_000_000_000]


def test_link_type_field_has_other_bits() -> None:
    fcs = pcap_file([b"a"], network=0x14000001)
    rows, reader, _ = read_packets(fcs)
    assert (rows[0][layout.PACKET_LINK], reader.notes) == (1, [])
    reserved = open_reader(pcap_file([], network=0x00300001))
    assert (reserved.interfaces[0].link, [note.kind for note in reserved.notes]) == (1, ["odd"])


def test_old_versions_swap_the_lengths() -> None:
    packet = b"0123456789"
    for version, first, second in [
        ((2, 2), 60, 10),
        ((543, 0), 60, 10),
        ((2, 3), 60, 10),
        ((2, 3), 10, 60),
        ((2, 4), 10, 60),
    ]:
        data = pcap_file([], version=version) + struct.pack("<IIII", 1, 2, first, second) + packet
        assert facts(read_packets(data)[0]) == [(1, 1_000_002_000, packet, 60)], version


def test_a_claimed_length_below_the_captured_one_is_repaired() -> None:
    assert facts(read_packets(pcap_file([b"12345"], lengths=[2]))[0])[0][2:] == (b"12345", 5)


def test_packets_longer_than_snaplen_are_packets() -> None:
    data = pcap_file([bytes(70_000)], snaplen=96)
    assert len(read_packets(data)[0]) == 1
    assert len(read_packets(pcap_file([bytes(300_000)], snaplen=400_000))[0]) == 1


@pytest.mark.parametrize("captured", [262_145, 2**31, 2**32 - 1])
def test_an_absurd_length_ends_the_file_and_keeps_what_came_before(captured: int) -> None:
    good = pcap_file(PACKETS)
    data = good + struct.pack("<IIII", 1, 2, captured, captured) + bytes(100)
    rows, reader, problem = read_packets(data)
    assert len(rows) == reader.packets == 3
    (note,) = reader.notes
    assert (note.kind, note.offset, note.packet) == ("damaged", len(good), 3)
    assert str(captured) in note.text
    assert reader.stopped
    assert problem is None
    assert reader.offset == len(data)


def test_zero_bytes_at_the_end_are_no_packets() -> None:
    rows, reader, problem = read_packets(pcap_file(PACKETS) + bytes(5000))
    assert len(rows) == 3
    assert [note.kind for note in reader.notes] == ["damaged"]
    assert problem is None


def test_cut_at_every_byte() -> None:
    data = pcap_file(PACKETS)
    whole = read_packets(data)[0]
    ends = [24 + 16 + 12, 24 + 32 + 12, len(data)]
    for size in range(len(data)):
        if size < 24:
            with pytest.raises(DissectError):
                open_reader(data[:size])
            continue
        rows, reader, problem = read_packets(data[:size])
        assert rows == whole[: sum(end <= size for end in ends)]
        before = max([24, *(end for end in ends if end <= size)])
        if size == before:
            assert problem is None
        else:
            assert (problem.kind, problem.offset, problem.packet) == ("cut", before, len(rows))
            assert problem.lost_bytes == size - before
        assert reader.notes == []


@pytest.mark.parametrize("rows", [1, 2, 1000])
@pytest.mark.parametrize("block_bytes", [1, 7, 40, 1 << 20])
def test_blocks_and_batches_do_not_matter(block_bytes: int, rows: int) -> None:
    data = pcap_file(PACKETS * 5)
    assert read_packets(data, block_bytes, rows)[0] == read_packets(data)[0]


def test_the_caller_may_resize_its_buffer_after_a_feed() -> None:
    data = bytearray(pcap_file(PACKETS))
    reader = open_reader(bytes(data[:28]))
    reader.feed(data, 0, new_matrix(layout.PACKET_COLUMNS, 10))
    data += b"more"
    assert len(data) > 4


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6), st.integers(1, 500))
def test_flipped_bytes_never_raise(flips: list[tuple[int, int]], block_bytes: int) -> None:
    data = bytearray(pcap_file(PACKETS * 3))
    for place, value in flips:
        data[place % len(data)] = value
    try:
        rows, reader, problem = read_packets(bytes(data), block_bytes, 4)
    except DissectError:
        return
    assert reader.packets == len(rows)
    assert all(row[layout.PACKET_LENGTH] >= row[layout.PACKET_CAPTURED] for row in rows)
    assert problem is not None or reader.notes or reader.offset == len(data)


@pytest.mark.parametrize(
    ("head", "got"),
    [
        (b"", "an empty file"),
        (b"\x1f\x8b\x08\x00", "gzip data"),
        (b"snoop\x00\x00\x00\x00\x00\x00\x02", "a snoop capture"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\n <!DOCTYPE HTML><title>Sign in", "an HTML page"),
        (b"No such bucket: captures", "text"),
        (bytes(28), "zero bytes"),
        (bytes.fromhex("0123456789abcdef") + bytes([2, 4, 0, 80, 0, 0, 0, 64]), "an ERF capture"),
        (bytes([200, 1, 2, 3, 4]), "unknown data starting with c8 01 02 03"),
        (bytes(257) + b"ustar", "a tar archive"),
    ],
)
def test_what_is_no_capture_gets_a_name(head: bytes, got: str) -> None:
    with pytest.raises(Malformed) as caught:
        open_reader(head)
    assert caught.value.got == got


def test_random_bytes_are_seldom_taken_for_a_capture() -> None:
    chance = random.Random(3)
    found = [describe(chance.randbytes(512)) for _ in range(5_000)]
    assert sum(name == "an ERF capture" for name in found) < len(found) // 50


def test_unreadable_headers() -> None:
    with pytest.raises(Malformed, match=r"version 1\.0"):
        open_reader(pcap_file([], version=(1, 0)))
    with pytest.raises(Truncated):
        open_reader(pcap_file([])[:23])
