"""One run captured in many ways: on any interface, in ns, rotated, twice, at two places, in files that overlap."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median

import pytest
import transform
from agreement import frame_row, requests
from oracle import FrameRow, read_frames
from paths import LAB
from program import Analyse, Analysis, Row, run_kanalyze
from transform import Packet

pytestmark = pytest.mark.skipif(not LAB.is_dir(), reason="no shared captures beside the checkout")

SHAPES = {
    "any": ["shape_any.pcap.zst"],
    "nano": ["shape_nano.pcap.zst"],
    "rotated": [f"shape_rot.0{n}.pcap{'' if n == 7 else '.zst'}" for n in range(8)],
    "rotated, in any order": [f"shape_rot.0{n}.pcap{'' if n == 7 else '.zst'}" for n in (5, 0, 7, 2, 1, 6, 4, 3)],
    "two interfaces": ["shape_two.pcapng.zst"],
    "gzip": ["shape_gzip.pcap.gz"],
}
# Each file came from a tcpdump of its own.
SLACK_NS = 100_000
TIMES = ("request_first_ns", "request_last_ns", "response_first_ns", "response_last_ns")
PLACES = {"request_packet", "response_packet", "request_file", "response_file"}


def of_message(row: FrameRow) -> tuple[object, ...]:
    return row.connection, row.correlation_id, row.api_key, row.api_version, row.request_bytes, row.response_bytes


def moments(row: FrameRow) -> list[int]:
    return [time for time in (getattr(row, name) for name in TIMES) if time is not None]


def differences(found: Analysis, frames: Sequence[FrameRow]) -> Iterator[str]:
    """Rows of the list whose packets are all in the capture and that we have not at their time, and rows of ours alone."""
    first = min(row["first_time_ns"] for row in found.captures)
    last = max(row["last_time_ns"] for row in found.captures)
    ours: dict[tuple[object, ...], list[FrameRow]] = {}
    for row in map(frame_row, requests(found.exchanges)):
        ours.setdefault(of_message(row), []).append(row)
    for row in frames:
        same = ours.get(of_message(row), [])
        near = [
            one for one in same if all(abs(a - b) < SLACK_NS for a, b in zip(moments(one), moments(row), strict=True))
        ]
        if near:
            same.remove(near[0])
        elif first <= min(moments(row)) and max(moments(row)) <= last:
            yield f"missing: {row}, there is {same}"
    yield from (f"invented: {row}" for rows in ours.values() for row in rows)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_message_as_in_the_whole_capture(shape: str, analyse: Analyse) -> None:
    found = analyse([LAB / name for name in SHAPES[shape]])
    frames = read_frames(LAB / "shape_full.exchanges.tsv.zst")
    assert list(differences(found, frames))[:5] == []
    assert len(requests(found.exchanges)) >= len(frames) - 1
    assert {row["tap"] for row in found.connections} == {row["tap"] for row in found.captures} == {"1"}


def test_what_two_interfaces_saw_is_counted_once(analyse: Analyse) -> None:
    (capture,) = (found := analyse([LAB / "shape_two.pcapng.zst"])).captures
    assert (capture["packets"], capture["duplicate_packets"]) == (13_824, 6_912)
    whole = analyse([LAB / "shape_full.pcap.zst"])
    for column in ("client_retransmitted", "broker_retransmitted", "client_gaps", "broker_gaps"):
        assert sum(row[column] for row in found.connections) == sum(row[column] for row in whole.connections), column
    packets = [sum(row["client_packets"] + row["broker_packets"] for row in one.connections) for one in (found, whole)]
    assert packets == [6_912, 6_915]  # as the captures' manifest counts


# ---- a run seen from two places ----

SIDES = ("routed_client.pcap.zst", "routed_broker.pcap.zst")


def told(found: Analysis) -> list[list[tuple[str, object]]]:
    """The exchanges without the names that a second tap changes. Whether a fetch read at the end of a partition (`kind`) is
    known better when more fetches of it were seen."""
    names = PLACES | {"exchange", "connection", "kind"}
    rows = [[(name, value) for name, value in row.items() if name not in names] for row in found.exchanges]
    return sorted(rows, key=str)


@pytest.mark.parametrize("order", [SIDES, SIDES[::-1]])
def test_two_places_are_two_views_of_each_connection(order: Sequence[str], analyse: Analyse) -> None:
    """The rows are those of the place near the client, and the time between both is what their handshakes say."""
    both, near, far = (analyse([LAB / name for name in names]) for names in (order, SIDES[:1], SIDES[1:]))
    assert told(both) == told(near)
    assert {row["views"] for row in both.connections} == {2}
    assert len({row["tap"] for row in both.captures}) == 2
    assert sum(row["duplicate_packets"] for row in both.captures) == 0
    compare_connections(near, both.connections, VIEWS)
    handshakes = [median(row["syn_ack_ns"] for row in one.connections if row["syn_ack_ns"]) for one in (near, far)]
    way_ns = median(row["view_delay_ns"] for row in both.connections if row["view_delay_ns"] is not None)
    assert way_ns == pytest.approx((handshakes[0] - handshakes[1]) / 2, rel=0.5)


VIEWS = ("views", "view_delay_ns")


def compare_connections(alone: Analysis, rows: list[Row], without: Sequence[str] = ()) -> None:
    def plain(row: Row) -> list[tuple[str, object]]:
        return [(name, value) for name, value in row.items() if name not in ("connection", "tap", *without)]

    assert sorted(map(plain, rows), key=str) == sorted(map(plain, alone.connections), key=str)


def test_places_that_were_named(analyse: Analyse) -> None:
    taps = (("at the client", "*client.pcap*"), ("at the broker", "routed_b*"))
    both = run_kanalyze([LAB / name for name in SIDES], taps=taps)
    assert (
        {row["tap"] for row in both.captures} == {row["tap"] for row in both.connections} == {name for name, _ in taps}
    )
    assert len({row["connection"] for row in both.connections}) == len(both.connections)
    assert len({row["exchange"] for row in both.exchanges}) == len(both.exchanges)
    for name, tap in zip(SIDES, taps, strict=True):
        compare_connections(analyse([LAB / name]), [row for row in both.connections if row["tap"] == tap[0]])


# ---- variants that we cut ourselves: not a bit may differ ----

Cut = Callable[[list[Packet]], list[list[Packet]]]


def in_turn(packets: list[Packet], seed: int, files: int) -> list[list[Packet]]:
    """Each packet into any file: a writer for each processor."""
    chance = random.Random(seed)
    cut: list[list[Packet]] = [[] for _ in range(files)]
    for packet in packets:
        chance.choice(cut).append(packet)
    return cut


def by_way(packets: list[Packet]) -> list[list[Packet]]:
    """Each direction in a file of its own, as of a tap with two ports."""
    ways: tuple[list[Packet], list[Packet]] = ([], [])
    for packet in packets:
        way = transform.direction(packet)
        assert way is not None
        ways[way[0][4:] < way[1][4:]].append(packet)
    return list(ways)


def rotated(packets: list[Packet], seed: int, files: int) -> list[list[Packet]]:
    """Rotated at any packet, and the files given in any order."""
    chance = random.Random(seed)
    at = sorted(chance.sample(range(1, len(packets)), files - 1))
    cut = [packets[begin:end] for begin, end in zip([0, *at], [*at, len(packets)], strict=True)]
    return chance.sample(cut, len(cut))


CUTS: dict[str, Cut] = {
    "a writer for each of two processors": lambda packets: in_turn(packets, 1, 2),
    "a writer for each of nine processors": lambda packets: in_turn(packets, 2, 9),
    "a file for each way": by_way,
    "rotated": lambda packets: rotated(packets, 3, 12),
    "given twice": lambda packets: [packets, packets],
    "rotated and given twice": lambda packets: [*rotated(packets, 4, 5), *rotated(packets, 5, 4)],
}


def known(found: Analysis) -> tuple[list[object], list[object]]:
    exchanges = [[(name, value) for name, value in row.items() if name not in PLACES] for row in found.exchanges]
    return sorted(exchanges, key=str), sorted((list(row.items()) for row in found.connections), key=str)


@pytest.mark.parametrize("cut", CUTS)
def test_in_several_files(cut: str, tmp_path: Path) -> None:
    header, packets = transform.read_pcap(LAB / "shape_full.pcap.zst")
    cuts = [chosen for chosen in CUTS[cut](in_time(packets)) if chosen]
    paths = [transform.write_pcap(tmp_path / f"{n}.pcap", header, chosen) for n, chosen in enumerate(cuts)]
    whole = transform.write_pcap(tmp_path / "whole.pcap", header, in_time(packets))
    found, want = run_kanalyze(paths), run_kanalyze([whole])
    assert known(found) == known(want)
    copies = sum(row["duplicate_packets"] for row in found.captures)
    assert copies == sum(map(len, cuts)) - len(packets)


def in_time(packets: list[Packet]) -> list[Packet]:
    """In the order of their times; equal ones would come in the order of their files, so each gets a time of its own."""
    moments = Counter((packet.seconds, packet.fraction) for packet in packets)
    kept = sorted(packets, key=lambda packet: (packet.seconds, packet.fraction))
    if max(moments.values()) == 1:
        return kept
    apart, last = [], 0
    for packet in kept:
        last = max(last + 1, packet.seconds * 10**6 + packet.fraction)
        apart.append(Packet(last // 10**6, last % 10**6, packet.wire_bytes, packet.data))
    return apart
