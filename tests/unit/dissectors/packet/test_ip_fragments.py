"""IP fragments put together: what scapy cuts up comes out as the segment it was, within bounds for any input."""

from __future__ import annotations

import random

import pytest
from capture_tools import Read, pcap_file, read_capture
from hypothesis import given, settings
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, fragment6
from scapy.layers.l2 import GRE, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Packet, Raw

from dissectors import layout
from dissectors.packet.ip_fragments import LARGEST_DATAGRAM, LONGEST_NS, Fragments

DATA = random.Random(1).randbytes(3_000)
ENDS = TCP(sport=40000, dport=9092, seq=5, ack=7, flags="PA", window=501) / Raw(DATA)
V4 = IP(src="10.1.2.3", dst="192.0.2.9", ttl=61, id=777) / ENDS
V6 = IPv6(src="2001:db8::1", dst="fe80::2", hlim=62)
ETHER = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
OUTER = IP(src="172.16.0.1", dst="172.16.0.2", id=9)


def cut4(packet: Packet, size: int = 600) -> list[bytes]:
    return [bytes(piece) for piece in fragment(packet, size)]


def cut6(packet: Packet, size: int = 700) -> list[bytes]:
    return [bytes(piece) for piece in fragment6(packet, size)]


def inside(head: Packet, packets: list[bytes]) -> list[bytes]:
    return [bytes(head / Raw(packet)) for packet in packets]


MADE = {
    "ipv4": (101, cut4(V4)),
    "ipv4 in pieces of 8 bytes": (101, cut4(V4, 8)),
    "ipv6": (101, cut6(V6 / IPv6ExtHdrFragment(id=5) / ENDS)),
    "ipv6, headers after the fragment header": (101, cut6(V6 / IPv6ExtHdrFragment(id=5) / IPv6ExtHdrDestOpt() / ENDS)),
    "vlan": (1, inside(ETHER / Dot1Q(vlan=7, type=0x0800), cut4(V4))),
    "4in6": (101, inside(IPv6(nh=4), cut4(V4))),
    "gre around fragments": (101, inside(OUTER / GRE(proto=0x0800), cut4(V4))),
    "fragments around vxlan": (101, cut4(OUTER / UDP(dport=4789) / VXLAN(vni=3, flags=8) / ETHER / V4)),
    "fragments around fragments": (
        101,
        [
            piece
            for n, inner in enumerate(cut4(V4, 1400))
            for piece in cut4(IP(src="9.9.9.9", id=n, proto=4) / Raw(inner), 400)
        ],
    ),
}


def segment(result: Read) -> tuple[object, ...]:
    (row,) = result.segments
    return tuple(
        row[at] for at in (layout.SEGMENT_SRC_PORT, layout.SEGMENT_SEQ, layout.SEGMENT_LENGTH, layout.SEGMENT_OFFSET)
    )


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("order", ["as sent", "backwards", "shuffled", "twice"])
def test_put_together(name: str, order: str) -> None:
    link, pieces = MADE[name]
    assert len(pieces) > 2
    if order == "backwards":
        pieces = pieces[::-1]
    elif order == "shuffled":
        pieces = random.Random(3).sample(pieces, len(pieces))
    elif order == "twice":
        pieces = [piece for one in pieces for piece in (one, one)][:-1]
    result = read_capture(pcap_file(pieces, link, times=[(1_700_000_000, n) for n in range(len(pieces))]))
    assert segment(result) == (40000, 5, len(DATA), DATA)
    assert result.segments[0][layout.SEGMENT_NUMBER] == len(pieces)
    assert result.segments[0][layout.SEGMENT_TIME] == result.packets[-1][layout.PACKET_TIME]
    outcomes = result.stage.outcomes()
    assert sum(outcomes) == len(pieces)
    if name != "fragments around fragments":
        assert outcomes[layout.SEEN_TCP] == len(pieces)
    assert len(result.stage.fragments) == 0 or order == "twice"


@pytest.mark.parametrize("block_bytes", [1, 100, 5_000])
def test_blocks_and_batches_change_nothing(block_bytes: int) -> None:
    small = bytes(IP(src="10.9.9.9", dst="10.0.0.1", id=5) / TCP(sport=1, dport=2) / Raw(b"between"))
    pieces = [packet for piece in cut4(V4) for packet in (piece, small)]
    whole = read_capture(pcap_file(pieces, 101))
    assert len(whole.segments) == 1 + len(pieces) // 2
    assert read_capture(pcap_file(pieces, 101), block_bytes, rows=3).segments == whole.segments


def test_one_that_is_missing_leaves_fragments() -> None:
    pieces = cut4(V4)
    result = read_capture(pcap_file(pieces[:2] + pieces[3:], 101))
    assert result.segments == []
    assert result.stage.outcomes()[layout.SEEN_FRAGMENT] == len(pieces) - 1
    assert len(result.stage.fragments) == 1


def test_datagrams_of_other_ids_hosts_protocols_and_networks_are_not_mixed() -> None:
    one = cut4(V4)
    changes = [
        IP(src="10.1.2.3", dst="192.0.2.9", id=778),
        IP(src="10.1.2.4", dst="192.0.2.9", id=777),
        IP(src="10.1.2.3", dst="192.0.2.8", id=777),
        IP(src="10.1.2.3", dst="192.0.2.9", id=777, proto=17),
    ]
    for head in changes:
        other = [bytes(piece) for piece in fragment(head / Raw(bytes(ENDS)), 600)]
        result = read_capture(pcap_file([other[0], *one[1:]], 101))
        assert result.segments == [], head
    tagged = [bytes(ETHER / Dot1Q(vlan=n % 2 + 1, type=0x0800) / Raw(piece)) for n, piece in enumerate(one)]
    assert read_capture(pcap_file(tagged, 1)).segments == []


def test_cut_by_snaplen_the_bytes_before_the_cut_count() -> None:
    pieces = cut4(V4)
    cut = [piece[:300] for piece in pieces]
    result = read_capture(pcap_file(cut, 101, lengths=[len(piece) for piece in pieces]))
    assert segment(result) == (40000, 5, len(DATA), DATA[: 300 - 20 - 20])


# ---- the store alone: bounds, overlaps, hostile fragments ----


def add(store: Fragments, at: int, data: bytes, more: bool, key: int = 1, time: int = 0) -> bytes | None:
    whole = store.add((key,), 1, time, (at, len(data), more), data, 6)
    return None if whole is None else whole.payload()


def test_of_overlapping_fragments_the_first_copy_counts() -> None:
    store = Fragments()
    assert add(store, 8, b"B" * 16, True) is None
    assert add(store, 0, b"A" * 16, True) is None
    assert add(store, 16, b"C" * 20, False) == b"A" * 8 + b"B" * 16 + b"C" * 12
    assert (store.overlapping, store.given_up, store.held_bytes, len(store)) == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("at", "size", "more"),
    [(0, 9, True), (65_528, 16, True), (65_528, 9, False), (0, 0, True), (64, 8, True), (16, 8, False)],
)
def test_fragments_that_no_datagram_can_have(at: int, size: int, more: bool) -> None:
    store = Fragments()
    add(store, 24, b"x" * 8, False)
    assert add(store, at, bytes(size), more) is None
    assert store.impossible == 1
    assert add(store, 0, b"a" * 24, True) == b"a" * 24 + b"x" * 8


def test_bounds_of_count_bytes_and_age_give_up_the_oldest() -> None:
    store = Fragments(most_bytes=1_000, most_datagrams=10)
    for key in range(12):
        add(store, 0, b"x" * 8, True, key)
    assert (len(store), store.given_up) == (10, 2)
    add(store, 0, b"x" * 960, True, 99)
    assert store.held_bytes <= 1_000
    assert add(store, 960, b"y", False, 99) == b"x" * 960 + b"y"
    store = Fragments()
    add(store, 0, b"x" * 8, True, time=0)
    assert add(store, 8, b"y", False, time=LONGEST_NS) == b"x" * 8 + b"y"
    add(store, 0, b"x" * 8, True, time=0)
    assert add(store, 8, b"y", False, time=LONGEST_NS + 1) is None
    assert store.given_up == 1
    for key in range(70_000):  # no clock at all
        add(store, 0, b"x" * 8, True, key, layout.UNKNOWN)
    assert len(store) <= 1_024


def test_very_many_pieces_are_given_up() -> None:
    store = Fragments()
    for at in range(0, 60_000, 16):  # with a hole behind each: nothing ever joins
        add(store, at, b"12345678", True)
    assert store.given_up >= 1
    assert store.held_bytes < 20_000


PIECES = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 6), st.booleans(), st.integers(0, 2)), max_size=40)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(PIECES)
def test_like_a_map_of_bytes(pieces: list[tuple[int, int, bool, int]]) -> None:
    """A naive model: the first copy of each byte, and an end that nothing may contradict."""
    store = Fragments()
    seen: dict[int, dict[int, int]] = {}
    ends: dict[int, int] = {}
    for number, (at, size, more, key) in enumerate(pieces):
        begin, end = 8 * at, 8 * (at + size)
        got = add(store, begin, bytes([number]) * (end - begin), more, key)
        bytes_of_it = seen.setdefault(key, {})
        highest = max(bytes_of_it, default=-1) + 1
        known = ends.get(key)
        if end > (known if known is not None else LARGEST_DATAGRAM) or (
            not more and (highest > end or known not in (None, end))
        ):
            assert got is None
            continue
        for place in range(begin, end):
            bytes_of_it.setdefault(place, number)
        if not more:
            ends[key] = end
        whole = key in ends and set(range(ends[key])) == set(bytes_of_it)
        assert got == (bytes(bytes_of_it[place] for place in sorted(bytes_of_it)) if whole else None)
        if whole:
            del seen[key], ends[key]
    assert store.held_bytes == sum(map(len, seen.values()))


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(MADE)), st.data())
def test_damaged_fragments_count_once_each_and_never_raise(name: str, data: st.DataObject) -> None:
    link, pieces = MADE[name]
    damaged = []
    for piece in data.draw(st.lists(st.sampled_from(pieces), max_size=30)):
        raw = bytearray(piece)
        for place, value in data.draw(st.lists(st.tuples(st.integers(0, 80), st.integers(0, 255)), max_size=2)):
            raw[place % len(raw)] = value
        damaged.append(bytes(raw))
    result = read_capture(pcap_file(damaged, link))
    assert sum(result.stage.outcomes()) == len(damaged)
    assert min(result.stage.outcomes()) >= 0
    for row in result.segments:
        assert len(row[layout.SEGMENT_OFFSET]) == row[layout.SEGMENT_CAPTURED] <= row[layout.SEGMENT_LENGTH]
