"""Packet numbers, times and segments against tshark, an outside opinion, on every capture of others that we have."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest
from capture_tools import Read, read_capture, tshark, unpacked
from effort import also_long, one_in
from paths import LAB, SHARED

from dissectors import layout
from dissectors.errors import DissectError

FIELDS = [
    "frame.number", "frame.time_epoch", "frame.cap_len", "frame.len", "frame.protocols", "ip.src", "ip.dst", "ip.ttl",
    "ip.id", "ipv6.src", "ipv6.dst", "ipv6.hlim", "tcp.srcport", "tcp.dstport", "tcp.seq_raw", "tcp.ack_raw",
    "tcp.flags", "tcp.window_size_value", "tcp.len", "tcp.checksum", "tcp.checksum.status",
]  # fmt: skip
# IP fragments put together, as we do; the order of TCP segments is not asked for here.
PREFERENCES = ["-o", "ip.defragment:TRUE", "-o", "ipv6.defragment:TRUE", "-o", "tcp.desegment_tcp_streams:FALSE"]
PREFERENCES += ["-o", "tcp.check_checksum:TRUE"]
CHECKSUMS = {layout.CHECKSUM_RIGHT: "1", layout.CHECKSUM_WRONG: "0"}

# Captures that tshark does not open. The value says why we do, or what we say.
NOT_OPENED = {
    "linktype-reserved-field-not-zero.pcap": "read with a note",
    "pcapng-invalid-vers-2.pcapng": "version 1.1 is readable: minor versions only add",
    "shb-option-too-long.pcapng": "damaged at byte 0",
}
# IPv6, cooked packets, clocks of ns, cut packets, two interfaces, secrets; the others have nothing that these have not.
FROM_LAB = also_long(
    ["ipv6.pcap.zst", "shape_any.pcap.zst", "shape_nano.pcap.zst", "shape_snap96.pcap", "shape_two.pcapng.zst",
     "tls13_embedded.pcapng"],
    ["basics.pcap.zst", "errors.pcap", "shape_rot.03.pcap.zst", "routed_client.pcap.zst", "congested.pcap.zst"],
)  # fmt: skip


def captures() -> list[Path]:
    public = sorted(
        path for path in (SHARED / "captures" / "public").rglob("*") if path.is_file() and "pcap" in path.name
    )
    # Of those that tshark reads every sixth one: what they have in common is in the others.
    odd = [path for path in public if path.name in NOT_OPENED]
    public = odd + [path for path in public if path not in odd][:: one_in(6)]
    return public + [LAB / name for name in FROM_LAB if (LAB / name).exists()]


@pytest.mark.parametrize("path", captures(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_same_frames_and_segments_as_tshark(path: Path) -> None:
    theirs = tshark(path, FIELDS, *PREFERENCES)
    try:
        ours = read_capture(unpacked(path))
    except DissectError:
        assert not theirs, "we refuse a capture that tshark opens"
        return
    if path.name in NOT_OPENED:
        assert not theirs
        return
    compare_frames(path.name, ours, theirs)
    compare_segments(path.name, ours, theirs)


def compare_frames(name: str, ours: Read, theirs: list[dict[str, str]]) -> None:
    rows = {row[layout.PACKET_NUMBER]: row for row in ours.packets}
    frames = {int(frame["frame.number"]): frame for frame in theirs}
    for number, frame in frames.items():
        if number not in rows:
            # Custom and journal blocks: frames without a packet. They count, or all later numbers would differ.
            assert frame["frame.protocols"] in ("data", ""), (name, frame)
            continue
        row = rows.pop(number)
        assert row[layout.PACKET_CAPTURED] == int(frame["frame.cap_len"]), (name, number)
        assert row[layout.PACKET_LENGTH] == max(int(frame["frame.len"]), row[layout.PACKET_CAPTURED]), (name, number)
        assert same_time(row[layout.PACKET_TIME], frame["frame.time_epoch"]), (name, number)
    # tshark gives up at a section of a version that it does not know; we go on behind it.
    assert not rows or name == "test901.pcapng", (name, list(rows))


def same_time(ours: int, text: str) -> bool:
    """Whether tshark means our time: its seconds, and nine digits or more of ns even when they exceed a second."""
    if not text:
        return ours == layout.UNKNOWN
    seconds, fraction = map(int, text.split("."))
    theirs = seconds * 1_000_000_000 + fraction
    if theirs >= 2**63:
        return ours == layout.UNKNOWN  # no int64 of ns holds it
    # Microseconds beyond 4.29 s (a broken writer's) overflow tshark's 32 bits of ns; we keep them as they are.
    return ours == theirs or ((ours - theirs) % 2**32 == 0 and ours % 1000 == 0 and fraction < 2**32)


def compare_segments(name: str, ours: Read, theirs: list[dict[str, str]]) -> None:
    rows = {row[layout.SEGMENT_NUMBER]: row for row in ours.segments}
    for frame in theirs:
        number = int(frame["frame.number"])
        row = rows.pop(number, None)
        if row is None:
            assert not is_segment(frame) or (name, number) in OURS_MISSING, (name, frame)
            continue
        assert is_segment(frame), (name, frame)
        assert segment(row) == expected(frame), (name, number)
        verdict = CHECKSUMS.get(row[layout.SEGMENT_CHECKSUM])
        assert verdict in (None, frame["tcp.checksum.status"]), (name, number)
        if (name, number) not in OTHER_LENGTH:
            assert row[layout.SEGMENT_LENGTH] == int(frame["tcp.len"]), (name, number)
    assert not rows, (name, list(rows))


def is_segment(frame: dict[str, str]) -> bool:
    layers = frame["frame.protocols"].split(":")
    return "tcp" in layers and not {"icmp", "icmpv6"} & set(layers[: layers.index("tcp")]) and frame["tcp.len"] != ""


def expected(frame: dict[str, str]) -> tuple:
    layers = frame["frame.protocols"].split(":")
    inner = [layer for layer in layers[: layers.index("tcp")] if layer in ("ip", "ipv6")][-1]
    window = frame["tcp.window_size_value"]
    number = int(frame["ip.id"], 16) if inner == "ip" else 0
    return (
        ipaddress.ip_address(frame[f"{inner}.src"]),
        ipaddress.ip_address(frame[f"{inner}.dst"]),
        int(frame["tcp.srcport"]),
        int(frame["tcp.dstport"]),
        int(frame["tcp.seq_raw"]),
        int(frame["tcp.ack_raw"]),
        int(frame["tcp.flags"], 16) & 0xFF,
        int(window) if window else layout.UNKNOWN,
        int(frame["ip.ttl"] if inner == "ip" else frame["ipv6.hlim"]),
        number or (-1 - int(frame["tcp.checksum"], 16) if frame["tcp.checksum"] else layout.UNKNOWN),
    )


def segment(row: tuple) -> tuple:
    return (
        address(row[layout.SEGMENT_SRC_HIGH], row[layout.SEGMENT_SRC_LOW]),
        address(row[layout.SEGMENT_DST_HIGH], row[layout.SEGMENT_DST_LOW]),
        row[layout.SEGMENT_SRC_PORT],
        row[layout.SEGMENT_DST_PORT],
        row[layout.SEGMENT_SEQ],
        row[layout.SEGMENT_ACK],
        row[layout.SEGMENT_FLAGS],
        row[layout.SEGMENT_WINDOW],
        row[layout.SEGMENT_TTL],
        row[layout.SEGMENT_IP_ID],
    )


def address(high: int, low: int) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    both = ipaddress.IPv6Address((high & 2**64 - 1) << 64 | low & 2**64 - 1)
    return both.ipv4_mapped or both


# (capture, frame) -> who is right. TCP to tshark, no segment to us:
OURS_MISSING: dict[tuple[str, int], str] = {
    ("ip_fragmented_garbage.pcap", number): "a TCP header of 16 bytes: malformed" for number in (313, 1252)
}
# Both see the segment, but not its length:
OTHER_LENGTH: dict[tuple[str, int], str] = {
    ("fuzz-2006-09-29-28586.pcap", 72): "the IP header claims more than the frame: we take it for cut, as with mirrors"
}
