"""The same conversations in every encapsulation and on every link: the rows are those of the base, and tshark agrees."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from capture_tools import Read, pcap_file, read_capture
from effort import LONG, one_in
from encapsulations import LINKS, NOT_READ, TUNNELS, Encapsulation, in_udp
from nested_encapsulations import FURTHER
from one_base import Base, Row, Seen, base, encapsulated, rows_of, tshark_counts
from rare_encapsulations import RARE

from dissectors import layout

TABLE = [*TUNNELS, *LINKS, *RARE, *FURTHER]
# Whole captures take seconds each; the other laws are asked of every row.
SOME = TABLE[:: one_in(40)]


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, tuple[list[Row], Seen]]:
    """What the base gives, in IPv4 and in IPv6."""
    found = {}
    for six in (False, True):
        path = encapsulated(tmp_path_factory.mktemp("base") / "base.pcap", lambda packet: packet.ethernet, six=six)
        found[six] = rows_of(path), tshark_counts(path)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("row", SOME, ids=lambda row: row.name)
def test_the_rows_are_those_of_the_base(
    row: Encapsulation, plain: dict[bool, tuple[list[Row], Seen]], tmp_path: Path
) -> None:
    rows, seen = plain[row.six]
    path = encapsulated(tmp_path / "base.pcap", row.wrap, row.link, row.six)
    assert rows_of(path, decode_as=row.decode_as) == rows
    if row.tshark == NOT_READ:
        assert tshark_counts(path).segments == 0
    else:
        assert tshark_counts(path, *row.tshark) == seen


def example(row: Encapsulation) -> Base:
    """A packet of the base with some payload, which is short."""
    return next(packet for packet in base(row.six) if len(packet.ip) in range(90, 200))


def read(data: bytes, row: Encapsulation, length: int | None = None) -> Read:
    made = pcap_file([data], row.link, lengths=[len(data) if length is None else length])
    return read_capture(made, tunnels=row.decode_as)


@pytest.mark.slow
@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_cut_anywhere_it_is_a_segment_or_counted(row: Encapsulation) -> None:
    """With its headers captured a packet is a segment of full length; with less it has an outcome and never raises."""
    packet = example(row)
    data = row.wrap(packet)
    (whole,) = read(data, row).segments
    payload = whole[layout.SEGMENT_OFFSET]
    assert packet.ip.endswith(payload)
    headers_end = data.rindex(payload)
    for size in range(len(data)):
        found = read(data[:size], row, len(data))
        assert sum(found.stage.outcomes()) == 1
        if size < headers_end or row.name.startswith("esp"):
            continue  # a trailer that was cut proves nothing
        (segment,) = found.segments
        assert segment[layout.SEGMENT_LENGTH] == len(payload), size
        assert payload.startswith(segment[layout.SEGMENT_OFFSET])


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.name)
def test_both_directions_have_one_scope(row: Encapsulation) -> None:
    packets = base(row.six)
    both = [next(packet for packet in packets if packet.side == side) for side in (0, 1)]
    made = pcap_file([row.wrap(packet) for packet in both], row.link)
    found = read_capture(made, tunnels=row.decode_as)
    assert len({segment[layout.SEGMENT_SCOPE] for segment in found.segments}) == 1


def test_a_guess_by_content_is_proved() -> None:
    """One wrong bit in the inner IPv4 header, and what has no port or type of its own is no tunnel."""
    guessed = [row for row in TABLE if "elsewhere" in row.name or row.name.startswith(("fou", "esp", "l2tpv3"))]
    guessed = [row for row in guessed if not row.six and not row.decode_as]
    assert len(guessed) >= 14
    for row in guessed:
        packet = example(row)
        data = row.wrap(packet)
        at = data.rindex(packet.ip[20:]) - 12 if packet.ip in data else data.rindex(packet.ip[40:]) - 16
        broken = data[:at] + bytes([data[at] ^ 0x40]) + data[at + 1 :]
        assert len(read(data, row).segments) == 1
        assert read(broken, row).segments == [], row.name


@pytest.mark.parametrize("row", [row for row in TABLE if row.decode_as], ids=lambda row: row.name)
def test_a_name_reads_what_content_does_not_prove(row: Encapsulation) -> None:
    """One wrong bit in the inner IPv4 header."""
    packet = example(row)
    data = row.wrap(packet._replace(ip=packet.ip[:8] + bytes([packet.ip[8] ^ 0x40]) + packet.ip[9:]))
    unnamed = read(data, row._replace(decode_as=()))
    ((port, _),) = row.decode_as
    assert (unnamed.segments, unnamed.stage.udp_ports()) == ([], {port: 1})
    assert len(read(data, row).segments) == 1


@pytest.mark.slow
def test_random_datagrams_are_no_tunnels() -> None:
    """Nor are they on the ports of tunnels that nothing but a header of their own can prove."""
    count = 20_000 if LONG else 2_000
    chance = Random(19)
    packet = base()[0]
    some = [in_udp(packet, chance.choice((9, 443, 5_555, 1_701, 4_500)), chance.randbytes(120)) for _ in range(count)]
    found = read_capture(pcap_file(some))
    assert found.segments == []
    assert sum(found.stage.udp_ports().values()) == found.stage.outcomes()[layout.SEEN_NOT_TCP] > 0.95 * count
