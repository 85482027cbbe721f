"""Variants that we cut from one capture: of each it is known, from the packets alone, which messages are left and when their
bytes came. Exactly those are found: the same times to the ns, the same sizes, and none besides."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import cuts
import pytest
import transform
from agreement import connection_name, frame_row
from cuts import REPLY_HEAD, REQUEST_HEAD, Carriers, Place
from effort import also_long
from oracle import FrameRow, read_frames
from paths import LAB
from program import Analysis, Row, run_kanalyze
from transform import Packet

pytestmark = pytest.mark.skipif(
    not (LAB / "shape_full.pcap.zst").exists(), reason="no lab captures beside the checkout"
)

Orphan = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Whole:
    """The capture that the variants are cut from."""

    header: bytes
    packets: list[Packet]
    places: list[tuple[FrameRow, Place, Place | None]]


@pytest.fixture(scope="module")
def whole() -> Whole:
    header, packets = transform.read_pcap(LAB / "shape_full.pcap.zst")
    return Whole(header, packets, cuts.places(packets, read_frames(LAB / "shape_full.exchanges.tsv.zst")))


def expected(whole: Whole, found: Carriers) -> tuple[Counter[FrameRow], Counter[Orphan]]:
    """Rows and replies without a request that a variant must give."""
    requests = cuts.met(((request, REQUEST_HEAD) for _, request, _ in whole.places), found)
    replies = cuts.met(((reply, REPLY_HEAD) for _, _, reply in whole.places if reply), found)
    rows: Counter[FrameRow] = Counter()
    orphans: Counter[Orphan] = Counter()
    for row, request, reply in whole.places:
        asked, told = requests.get(request), replies.get(reply) if reply else None
        if asked is None and told is not None:
            assert row.response_bytes is not None and told.first_ns is not None and told.last_ns is not None
            orphans[row.connection, row.correlation_id, row.response_bytes, told.first_ns, told.last_ns] += 1
        elif asked is not None:
            assert asked.first_ns is not None and asked.last_ns is not None
            times = replace(row, request_first_ns=asked.first_ns, request_last_ns=asked.last_ns)
            if told is None:
                rows[replace(times, response_bytes=None, response_first_ns=None, response_last_ns=None)] += 1
            else:
                rows[replace(times, response_first_ns=told.first_ns, response_last_ns=told.last_ns)] += 1
    return rows, orphans


def assert_exactly(analysis: Analysis, rows: Counter[FrameRow], orphans: Counter[Orphan]) -> None:
    asked = [row for row in analysis.exchanges if row["request_time_ns"] is not None]
    ours = Counter(map(frame_row, asked))
    assert not list((rows - ours).elements())[:5], "not found"
    assert not list((ours - rows).elements())[:5], "not there"
    alone = Counter(map(_orphan, (row for row in analysis.exchanges if row["request_time_ns"] is None)))
    assert not list((alone - orphans).elements())[:5], "replies that are not there"
    assert not list((orphans - alone).elements())[:5], "replies not found"


def _orphan(row: Row) -> Orphan:
    return (
        connection_name(row),
        row["correlation_id"],
        row["response_bytes"] - 4,
        row["response_time_ns"],
        row["response_end_ns"],
    )


def written(whole: Whole, packets: Iterable[Packet], folder: Path) -> tuple[Path, Carriers]:
    chosen = list(packets)
    return transform.write_pcap(folder / "variant.pcap", whole.header, chosen), cuts.carriers(chosen)


def snapped(packets: Iterable[Packet], snaplen: int) -> Iterator[Packet]:
    return (replace(packet, data=packet.data[:snaplen]) for packet in packets)


@pytest.mark.parametrize("snaplen", also_long([64, 80, 128], [96, 256, 1000]))
def test_snap_length(snaplen: int, whole: Whole, tmp_path: Path) -> None:
    path, found = written(whole, snapped(whole.packets, snaplen), tmp_path)
    rows, orphans = expected(whole, found)
    assert (not rows) == (snaplen < 14 + 20 + 32 + REQUEST_HEAD)  # Ethernet, IPv4, TCP with timestamps
    analysis = run_kanalyze([path], damaged=True)
    assert_exactly(analysis, rows, orphans)
    # What begins in a part that was cut off is lost, and told.
    hidden = rows.total() < len(whole.places)
    assert any(row["kind"] == "boundary_cut" for row in analysis.problems) == (hidden and bool(rows))


@pytest.mark.parametrize("share", also_long([0.13, 0.5, 0.99], [0.0, 0.01, 0.37, 0.61, 0.83]))
def test_begun_late(share: float, whole: Whole, tmp_path: Path) -> None:
    path, found = written(whole, whole.packets[int(share * len(whole.packets)) :], tmp_path)
    assert_exactly(run_kanalyze([path]), *expected(whole, found))


@pytest.mark.parametrize("share", also_long([0.17, 0.77], [0.02, 0.42, 0.5, 0.995]))
def test_stopped_early(share: float, whole: Whole, tmp_path: Path) -> None:
    path, found = written(whole, whole.packets[: int(share * len(whole.packets))], tmp_path)
    assert_exactly(run_kanalyze([path]), *expected(whole, found))


def test_begun_late_stopped_early_and_cut(whole: Whole, tmp_path: Path) -> None:
    path, found = written(whole, snapped(whole.packets[1500:5000], 128), tmp_path)
    assert_exactly(run_kanalyze([path]), *expected(whole, found))


def parts(packets: Sequence[Packet], size: int) -> Iterator[Sequence[Packet]]:
    return (packets[at : at + size] for at in range(0, len(packets), size))


@pytest.mark.parametrize("packets", [700, 3001])
def test_rotated(packets: int, whole: Whole, tmp_path: Path) -> None:
    files = [
        transform.write_pcap(tmp_path / f"rotated.{number:02}.pcap", whole.header, part)
        for number, part in enumerate(parts(whole.packets, packets))
    ]
    assert_exactly(run_kanalyze(files), *expected(whole, cuts.carriers(whole.packets)))


def test_two_interfaces(whole: Whole, tmp_path: Path) -> None:
    """The second interface sees each packet a few microseconds later, and behind the next packet of the first."""
    path = tmp_path / "two.pcapng"
    path.write_bytes(two_interfaces(whole.packets))
    assert_exactly(run_kanalyze([path]), *expected(whole, cuts.carriers(whole.packets)))


def two_interfaces(packets: Sequence[Packet]) -> bytes:
    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    def enhanced(interface: int, packet: Packet, later_us: int) -> bytes:
        ticks = packet.seconds * 1_000_000 + packet.fraction + later_us
        head = struct.pack("<IIIII", interface, ticks >> 32, ticks & 0xFFFFFFFF, len(packet.data), packet.wire_bytes)
        return block(6, head + packet.data)

    interface = block(1, struct.pack("<HHI", 1, 0, 262_144))
    blocks = [block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)), interface, interface]
    for packet, before in zip([*packets, None], [None, *packets], strict=True):
        blocks += [enhanced(0, packet, 0)] if packet else []
        blocks += [enhanced(1, before, 3)] if before else []
    return b"".join(blocks)
