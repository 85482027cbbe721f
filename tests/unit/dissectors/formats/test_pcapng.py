"""pcapng: blocks, sections, clocks, numbering, damage, and the same rows however the file is cut into blocks."""

from __future__ import annotations

import pickle
import struct
from fractions import Fraction
from pathlib import Path

import pytest
from capture_tools import block, enhanced, interface, option, read_packets, section, unpacked
from hypothesis import given, settings
from hypothesis import strategies as st

from dissectors import layout
from dissectors.errors import DissectError, Malformed, Truncated, Unsupported
from dissectors.formats.format_detection import open_reader
from dissectors.matrix import new_matrix

NUMBER, TIME, BYTES = layout.PACKET_NUMBER, layout.PACKET_TIME, layout.PACKET_OFFSET
CUSTOM = block(0xBAD, struct.pack("<I", 32473) + b"our own data")


def old_packet(packet: bytes, ticks: int, number: int = 0) -> bytes:
    head = struct.pack("<HHIIII", number, 0xFFFF, ticks >> 32, ticks & 0xFFFFFFFF, len(packet), len(packet))
    return block(2, head + packet)


def simple(packet: bytes, length: int) -> bytes:
    return block(3, struct.pack("<I", length) + packet)


def statistics(number: int, received: int, by_interface: int, by_system: int) -> bytes:
    options = option(4, struct.pack("<Q", received)) + option(5, struct.pack("<Q", by_interface))
    return block(5, struct.pack("<III", number, 0, 0) + options + option(7, struct.pack("<Q", by_system)))


def resolution(value: int, order: str = "<") -> bytes:
    return option(9, bytes([value]), order)


@pytest.mark.parametrize("order", "<>")
def test_packets_of_two_interfaces(order: str) -> None:
    data = (
        section(order)
        + interface(1, 96, option(2, b"eth0", order), order)
        + interface(113, 0, resolution(9, order), order)
    )
    data += enhanced(b"one", 5_000_001, 0, order, length=60) + enhanced(b"three", 7, 1, order)
    rows, reader, problem = read_packets(data)
    assert rows == [(1, 5_000_001_000, b"one", 3, 60, 1, 0), (2, 7, b"three", 5, 5, 113, 1)]
    assert [(one.link, one.snaplen_bytes, one.name) for one in reader.interfaces] == [(1, 96, "eth0"), (113, 0, "")]
    assert reader.interfaces[1].ticks_per_second == 1_000_000_000
    assert (problem, reader.notes, reader.packets, reader.offset) == (None, [], 2, len(data))


@settings(max_examples=200, deadline=None)
@given(
    st.integers(0, 255),
    st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 2**62)),
    st.one_of(st.just(0), st.integers(-4_000_000_000, 4_000_000_000), st.integers(-(2**63), 2**63 - 1)),
)
def test_times_are_exact(code: int, ticks: int, offset: int) -> None:
    """Every resolution and offset, against fractions: times from 1970 to April 2262."""
    options = resolution(code) + option(14, struct.pack("<q", offset))
    rows, reader, _ = read_packets(section() + interface(1, 0, options) + enhanced(b"x", ticks))
    exponent = code & 0x7F
    second = Fraction(2 if code & 0x80 else 10) ** exponent
    exact = (ticks / second) * 10**9 // 1 + offset * 10**9
    known = 0 <= exact <= 2**63 - 2**47
    assert rows[0][TIME] == (exact if known else layout.UNKNOWN)
    assert bool(reader.notes) == (not known)


@pytest.mark.parametrize(("snaplen", "length", "captured"), [(0, 6, 6), (4, 6, 4), (100, 6, 6), (0, 2000, 8)])
def test_simple_packets_have_no_time(snaplen: int, length: int, captured: int) -> None:
    """Their captured length is the smallest of length, snaplen and block (8 bytes with padding)."""
    rows, _, _ = read_packets(section() + interface(1, snaplen) + interface(113, 2) + simple(b"abcdef", length))
    assert rows[0][:2] == (1, layout.UNKNOWN)
    assert (len(rows[0][BYTES]), rows[0][layout.PACKET_LENGTH], rows[0][layout.PACKET_LINK]) == (
        captured,
        max(length, captured),
        1,
    )


def test_numbers_are_wireshark_s() -> None:
    """Custom and journal blocks are frames to Wireshark; name, statistics, secrets and unknown blocks are not."""
    data = section() + interface() + enhanced(b"1") + CUSTOM + enhanced(b"3") + block(9, b"__CURSOR=x\n\n")
    data += old_packet(b"5", 9) + block(4, bytes(4)) + statistics(0, 1, 2, 3) + block(0x777, b"?") + simple(b"6", 1)
    data += (
        block(0x40000BAD, bytes(8))
        + interface(101)
        + block(10, struct.pack("<II", 0x544C534B, 3) + b"key")
        + enhanced(b"8")
    )
    rows, reader, _ = read_packets(data)
    assert [(row[NUMBER], row[BYTES][:1]) for row in rows] == [(1, b"1"), (3, b"3"), (5, b"5"), (6, b"6"), (8, b"8")]
    assert reader.packets == 8
    assert reader.secrets == [(0x544C534B, b"key")]
    assert (reader.drops, reader.interfaces[0].received) == (5, 1)
    assert rows[2][TIME] == 9000


def test_no_statistics_means_unknown_drops() -> None:
    assert read_packets(section() + interface())[1].drops is None


def test_sections_start_interfaces_anew() -> None:
    data = (
        section()
        + interface(1)
        + enhanced(b"a", 1)
        + section(">")
        + interface(101, 0, b"", ">")
        + enhanced(b"b", 2, 0, ">")
    )
    rows, reader, _ = read_packets(data)
    assert [(row[NUMBER], row[TIME], row[layout.PACKET_LINK], row[layout.PACKET_INTERFACE]) for row in rows] == [
        (1, 1000, 1, 0),
        (2, 2000, 101, 1),
    ]
    assert len(reader.interfaces) == 2


def test_a_section_of_an_unknown_version_is_passed_over() -> None:
    data = section() + interface() + enhanced(b"a") + section(version=(2, 0)) + interface() + enhanced(b"b")
    data += section() + interface() + enhanced(b"c")
    rows, reader, problem = read_packets(data)
    assert [(row[NUMBER], row[BYTES]) for row in rows] == [(1, b"a"), (2, b"c")]
    assert [note.kind for note in reader.notes] == ["skipped"]
    assert problem is None


def test_a_packet_of_an_undeclared_interface_is_counted_and_told() -> None:
    rows, reader, _ = read_packets(section() + interface() + enhanced(b"a", 5, 7) + simple(b"b", 1) + enhanced(b"c", 5))
    assert rows[0] == (1, layout.UNKNOWN, b"a", 1, 1, layout.UNKNOWN, layout.UNKNOWN)
    assert (rows[2][NUMBER], rows[2][TIME]) == (3, 5000)
    assert "interface 7" in reader.notes[0].text


def test_a_packet_longer_than_its_block_costs_only_itself() -> None:
    bad = bytearray(enhanced(b"bad!"))
    bad[20:24] = struct.pack("<I", 400)
    rows, reader, _ = read_packets(section() + interface() + bytes(bad) + enhanced(b"good"))
    assert [(row[NUMBER], row[BYTES]) for row in rows] == [(2, b"good")]
    assert [note.kind for note in reader.notes] == ["damaged"]


@pytest.mark.parametrize(
    "junk", [bytes(40), b"\x06\x00\x00\x00\x08\x00\x00\x00" + bytes(32), b"\n\r\r\n junk, not a header", b"\xff" * 33]
)
@pytest.mark.parametrize("block_bytes", [1, 50, 1 << 20])
def test_after_damage_the_next_section_is_read(junk: bytes, block_bytes: int) -> None:
    good = section() + interface() + enhanced(b"before", 1)
    data = good + junk + section(">") + interface(101, 0, b"", ">") + enhanced(b"after", 2, 0, ">")
    rows, reader, problem = read_packets(data, block_bytes)
    assert [(row[NUMBER], row[BYTES]) for row in rows] == [(1, b"before"), (2, b"after")]
    (note,) = reader.notes
    assert (note.kind, note.offset, note.packet) == ("damaged", len(good), 1)
    assert problem is None


def test_damage_to_the_end_is_one_note() -> None:
    rows, reader, problem = read_packets(section() + interface() + enhanced(b"a") + b"\xff" * 1000)
    assert (len(rows), len(reader.notes), problem) == (1, 1, None)


def test_block_lengths_without_padding_are_read_like_wireshark_does() -> None:
    odd = struct.pack("<II", 0x777, 13) + b"a\0\0\0" + struct.pack("<I", 13)
    rows, reader, _ = read_packets(section() + interface() + odd + enhanced(b"a"))
    assert (len(rows), reader.notes) == (1, [])


def test_a_huge_block_is_passed_over_without_holding_it() -> None:
    size = 20 * 1024 * 1024
    total = struct.pack("<I", size + 12)
    data = section() + interface() + b"\xad\x0b\0\0" + total + bytes(size) + total + enhanced(b"a")
    reader = open_reader(data[:28])
    out = new_matrix(layout.PACKET_COLUMNS, 10)
    waiting, rows = b"", 0
    for cut in range(0, len(data), 65_536):
        waiting += data[cut : cut + 65_536]
        count, used, _ = reader.feed(waiting, 0, out)
        waiting, rows = waiting[used:], rows + count
        assert len(waiting) < 100
    assert (rows, [note.kind for note in reader.notes]) == (1, ["skipped"])


@pytest.mark.slow
def test_interfaces_beyond_the_limit_are_one_note_and_only_their_packets_are_lost() -> None:
    """Declared alone they damage nothing."""
    data = section() + 70_000 * interface()
    rows, reader, _ = read_packets(data + enhanced(b"a", 5, 65_535))
    assert [note.kind for note in reader.notes] == ["odd"]
    assert rows[0][layout.PACKET_LINK] == 1
    rows, reader, _ = read_packets(data + enhanced(b"a", 5, 65_536))
    assert [note.kind for note in reader.notes] == ["odd", "damaged"]
    assert "interface 65536" in reader.notes[1].text


def test_hostile_interfaces_and_notes_are_bounded() -> None:
    data = section() + interface() * 70_000 + enhanced(b"a", 1, 69_999) * 300
    rows, reader, _ = read_packets(data)
    assert len(reader.interfaces) == 65_536
    assert len(rows) == 300
    assert len(reader.notes) <= 101


def grown(data: bytes) -> int:
    """How much the head grows by the second of two times the same blocks."""
    first, both = (read_packets(section() + data * times)[1].head for times in (1, 2))
    return len(both) - len(first)


@pytest.mark.slow
def test_what_is_kept_for_the_parts_of_a_file_is_bounded() -> None:
    long = option(1, b"c" * 60_000) + option(2, b"n" * 60_000)
    assert grown(block(1, struct.pack("<HHI", 1, 0, 0) + resolution(9) + long)) == 28
    assert grown(section()) == grown(block(1, b"bad")) == 0
    full = section() + interface() * 65_536
    more = (section() + interface()) * 50_000
    assert len(read_packets(full + more)[1].head) <= len(full) + len(section())
    assert len(read_packets((section() + interface()) * 100_000)[1].head) <= 65_537 * 48
    (name,) = [one.name for one in read_packets(section() + interface(1, 0, long))[1].interfaces]
    assert name == "n" * 256


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=12), st.lists(st.integers(0, 9), max_size=8))
def test_a_part_behind_a_head_has_the_rows_of_the_whole(before: list[int], behind: list[int]) -> None:
    """Whatever sections and interfaces come before it; what is kept of what was kept is the same."""
    clock = resolution(9) + option(14, struct.pack("<q", -7)) + resolution(0x8A) + option(2, b"name")
    blocks = [
        section() + interface(1, 96, clock), section(), section(version=(2, 0)), interface(113, 2), block(1, b"bad"),
        enhanced(b"one", 1 << 40), simple(b"two", 3), enhanced(b"other", 5, 1), statistics(0, 1, 2, 3),
        section(">") + interface(1, 9, resolution(3, ">"), ">") + enhanced(b"big", 7, 0, ">") + section(),
    ]  # fmt: skip
    start, rest = section() + b"".join(blocks[n] for n in before), b"".join(blocks[n] for n in behind)
    rows, whole, _ = read_packets(start + rest)
    count = len(read_packets(start)[0])
    head = read_packets(start)[1].head
    part, alone, _ = read_packets(head + rest)
    assert [row[1:] for row in part] == [row[1:] for row in rows[count:]]
    assert alone.head == whole.head and read_packets(head)[1].head == head


def test_a_part_can_be_read_when_the_first_section_was_empty() -> None:
    head = read_packets(section() + section(version=(2, 0)) * 3)[1].head
    assert read_packets(head + section() + interface() + enhanced(b"a"))[0]


FILE = (
    section() + interface(1, 0, resolution(9)) + enhanced(b"one", 1) + CUSTOM + simple(b"two", 3)
    + old_packet(b"old", 4) + statistics(0, 1, 2, 3)
    + section(">") + interface(113, 0, b"", ">") + enhanced(b"three" * 30, 2, 0, ">")
)  # fmt: skip


def test_cut_at_every_byte() -> None:
    whole = read_packets(FILE)[0]
    for size in range(len(FILE)):
        if size < 28:
            with pytest.raises((Truncated, Malformed)):
                open_reader(FILE[:size])
            continue
        rows, reader, problem = read_packets(FILE[:size])
        assert rows == whole[: len(rows)]
        assert reader.notes == []
        assert (problem is None) == (reader.offset == size)


@pytest.mark.parametrize("rows", [1, 1000])
@pytest.mark.parametrize("block_bytes", [1, 13, 1 << 20])
def test_blocks_and_batches_do_not_matter(block_bytes: int, rows: int) -> None:
    assert read_packets(FILE * 4, block_bytes, rows)[0] == read_packets(FILE * 4)[0]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(28, 10_000), st.integers(0, 255)), max_size=6), st.integers(1, 500))
def test_flipped_bytes_never_raise(flips: list[tuple[int, int]], block_bytes: int) -> None:
    data = bytearray(FILE * 2)
    for place, value in flips:
        data[place % len(data)] = value
    try:
        rows, reader, _ = read_packets(bytes(data), block_bytes, 4)
    except DissectError:
        return
    assert rows == read_packets(bytes(data))[0]
    assert reader.packets >= len(rows)


def test_unreadable_headers() -> None:
    with pytest.raises(Unsupported, match=r"version 2\.0"):
        open_reader(section(version=(2, 0)))
    with pytest.raises(Malformed, match="byte-order"):
        open_reader(b"\n\r\r\n" + bytes(24))
    with pytest.raises(Truncated):
        open_reader(section()[:27])


@pytest.mark.parametrize("kind", [Truncated, Malformed, Unsupported])
def test_errors_pass_between_processes(kind: type[DissectError]) -> None:
    error = kind("topics[3].name", 17, "4 bytes", "2")
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is kind and str(again) == str(error) and vars(again) == vars(error)


def test_every_public_capture_in_any_blocks(shared: Path) -> None:
    """Both formats: blocks of a few bytes and of a prime, against the file as a whole."""
    seen = 0
    for path in sorted((shared / "captures" / "public").rglob("*pcap*")):
        if not path.is_file() or path.stat().st_size > 300_000:
            continue
        data = unpacked(path)
        try:
            whole = read_packets(data)
        except DissectError:
            continue
        for block_bytes in (1, 997) if len(data) < 5_000 else (997,):
            rows, reader, problem = read_packets(data, block_bytes)
            assert (rows, problem, reader.notes) == (whole[0], whole[2], whole[1].notes), path.name
        seen += 1
    assert seen > 80
