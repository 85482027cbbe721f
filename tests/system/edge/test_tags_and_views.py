"""Tags that differ by direction, the same packets seen twice, and equal addresses in two networks: the rows are the base's."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from effort import also_long, one_in
from one_base import Row, base, rows_in, rows_of
from program import run_kanalyze
from scapy.layers.inet import IP, TCP
from tagged_captures import SEEN_TWICE, TAGGED, Frame, capture, stretched, vlan

# Columns that packet numbers and the moment of a view change.
PLACES = ("request_packet", "response_packet")
TIMES = ("request_time_ns", "request_end_ns", "response_time_ns", "response_end_ns", "latency_ns", "service_ns")
TIMES += ("total_ns", "send_ns", "receive_ns", "queue_ns")


def without(rows: Iterable[Row], names: Iterable[str]) -> list[str]:
    return sorted(str([(name, value) for name, value in row.items() if name not in names]) for row in rows)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    frames = [Frame(packet.ethernet, stretched(packet)) for packet in base()]
    return rows_of(capture(tmp_path_factory.mktemp("base") / "base.pcap", frames))


@pytest.mark.slow
@pytest.mark.parametrize("name", list(TAGGED)[:: one_in(2)])
def test_a_tag_does_not_split_a_conversation(name: str, expected: list[Row], tmp_path: Path) -> None:
    frames = [Frame(TAGGED[name](packet, n), stretched(packet)) for n, packet in enumerate(base())]
    assert rows_of(capture(tmp_path / "base.pcap", frames)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEN_TWICE)
def test_the_same_packets_seen_twice_give_the_rows_once(name: str, expected: list[Row], tmp_path: Path) -> None:
    """The rows are those near the client, so their replies are later than the base's by the time between both points."""
    story, apart_ns = SEEN_TWICE[name]
    frames = [frame for n, packet in enumerate(base()) for frame in story(packet, n)]
    found = run_kanalyze([capture(tmp_path / "base.pcap", frames)])
    rows = rows_in(found)
    assert without(rows, (*PLACES, *TIMES)) == without(expected, (*PLACES, *TIMES))
    assert {row["request_time_ns"] for row in rows} == {row["request_time_ns"] for row in expected}
    assert {row["views"] for row in found.connections} == {2}
    delays = {row["view_delay_ns"] for row in found.connections if row["replies"] and row["is_kafka"]}
    assert delays == {apart_ns}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(SEEN_TWICE)[:: one_in(2)])
def test_the_view_with_fewer_gaps_gives_the_rows(name: str, expected: list[Row], tmp_path: Path) -> None:
    """Near the client every fortieth packet is missing."""
    story, _ = SEEN_TWICE[name]
    frames = []
    for n, packet in enumerate(base()):
        seen = story(packet, n)
        # The far view comes second for requests, first for replies.
        frames += [seen[1 - packet.side]] if n > 100 and n % 40 == 12 else seen
    rows = rows_of(capture(tmp_path / "base.pcap", frames))
    assert without(rows, (*PLACES, *TIMES)) == without(expected, (*PLACES, *TIMES))


@pytest.mark.slow
@pytest.mark.parametrize("apart", also_long([1_000], [0]))
def test_two_networks_with_equal_addresses(apart: int, expected: list[Row], tmp_path: Path) -> None:
    """The same conversation with other sequence numbers in another VLAN at the same time: each row twice."""
    frames = []
    for packet in base():
        ip = IP(packet.ip)
        tcp = ip[TCP]
        moved = (1_500_000_000, 3_000_000_000)
        tcp.seq = (tcp.seq + moved[packet.side]) & 0xFFFFFFFF
        if tcp.flags.A:
            tcp.ack = (tcp.ack + moved[1 - packet.side]) & 0xFFFFFFFF
        del tcp.chksum
        other = packet._replace(ip=bytes(ip))
        frames += [
            Frame(vlan(packet.ethernet, 10), stretched(packet)),
            Frame(vlan(other.ethernet, 20), stretched(packet) + apart),
        ]
    path = capture(tmp_path / "base.pcap", frames)
    found = run_kanalyze([path])
    rows = rows_in(found)
    # Whether a fetch read at the end of a partition (`kind`) is known better when more fetches of it were seen.
    names = (*PLACES, *TIMES, "kind")
    assert without(rows, names) == sorted(2 * without(expected, names))
    assert {row["views"] for row in found.connections} == {1}
