"""Connections captured before and behind a translation of addresses: the rows are those of the leg nearest to the client, once."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import cramjam
import pytest
from effort import also_long
from one_base import Row, base, rows_in, rows_of
from paths import ROOT
from program import run_kanalyze
from tagged_captures import Frame, capture, stretched
from translated_captures import BROKER, CLIENT, NEAR, NODE, SERVICE, TRANSLATED, Leg, Seen, passing, redirected, under

from analyzer.base.options import Options
from analyzer.query.readability import readability
from analyzer.report import between
from analyzer.run.local import open_dataset

PLACES = ("request_packet", "response_packet")
TIMES = ("request_time_ns", "request_end_ns", "response_time_ns", "response_end_ns", "latency_ns", "service_ns")
TIMES += ("total_ns", "send_ns", "receive_ns", "queue_ns")
ENDPOINTS = ("client_address", "client_port", "broker_address", "broker_port")


def without(rows: list[Row], names: tuple[str, ...]) -> list[str]:
    return sorted(str([(name, value) for name, value in row.items() if name not in names]) for row in rows)


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> list[Row]:
    return rows_of(capture(tmp_path_factory.mktemp("once") / "base.pcap", passing([NEAR], 0)))


@pytest.mark.slow
@pytest.mark.parametrize("name", TRANSLATED)
def test_each_request_is_one(name: str, once: list[Row], tmp_path: Path) -> None:
    legs = TRANSLATED[name]
    found = run_kanalyze([capture(tmp_path / "base.pcap", passing(legs, 20_000))])
    assert without(rows_in(found), (*PLACES, *TIMES)) == without(once, (*PLACES, *TIMES))
    assert {row["request_time_ns"] for row in rows_in(found)} == {row["request_time_ns"] for row in once}
    assert {(row["client_address"], row["broker_address"]) for row in found.connections} == {NEAR[:2]}
    assert {row["views"] for row in found.connections} == {len(legs)}
    for row in found.connections:
        clients = {f"{leg.client}:{row['client_port'] + leg.ports}" for leg in legs}
        brokers = {f"{leg.broker}:{row['broker_port']}" for leg in legs}
        assert _told(row, "client") == clients
        assert _told(row, "broker") == brokers


def _told(row: Row, who: str) -> set[str]:
    others = row[f"translated_{who}"]
    return {f"{row[f'{who}_address']}:{row[f'{who}_port']}", *(others.split(", ") if others else [])}


# What of the packets of the first leg and of the second one was captured; together it is all.
IN_PART: dict[str, Seen] = {
    "behind_begins_later": lambda place, n, _: place == 0 or n > 300,
    "before_begins_later": lambda place, n, _: place == 1 or n > 300,
    "behind_ends_earlier": lambda place, n, _: place == 0 or n < 700,
    "replies_pass_it_by": lambda place, _, packet: place == 0 or packet.side == 0,
    "one_packet_more": lambda place, n, _: place == 1 or n > 0,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_PART)
def test_legs_of_which_one_is_whole(name: str, once: list[Row], tmp_path: Path) -> None:
    frames = passing(TRANSLATED["both"], 20_000, IN_PART[name])
    rows = rows_of(capture(tmp_path / "base.pcap", frames))
    # What Metadata names is not the address of the second leg.
    left_out = (*PLACES, *TIMES, *ENDPOINTS, "kind", "broker_id")
    assert without(rows, left_out) == without(once, left_out)


@pytest.mark.slow
def test_what_a_host_redirects_to_its_own_proxy_is_one_connection(once: list[Row], tmp_path: Path) -> None:
    """Two halves under two addresses, and what the proxy carries on: its rows count."""
    path = capture(tmp_path / "base.pcap", redirected(30_000))
    found = run_kanalyze([path])
    left_out = (*PLACES, *TIMES, *ENDPOINTS, "kind", "broker_id")
    assert without(rows_in(found), left_out) == without(once, left_out)
    assert {(row["client_address"], row["broker_address"], row["views"]) for row in found.connections} == {
        (CLIENT, BROKER, 3)
    }
    for row in found.connections:
        port = row["broker_port"]
        assert _told(row, "broker") == {f"{BROKER}:{port}", f"{SERVICE}:{port}", f"127.0.0.1:{port}"}
    with open_dataset([str(path)], Options(jobs=1)) as dataset:
        lines = between.sentences(dataset.metric("between"))
    assert lines[0].startswith(
        f"Address translation: requests to {SERVICE}:9092 are redirected on their own host to a proxy at 127.0.0.1:9092, "
        f"which carries them on to {BROKER}:9092; "
    )


@pytest.mark.slow
def test_what_nftables_redirects_to_a_sidecar_counts_once() -> None:
    """By the brokers' own logs: one of their hosts, and clients of two libraries. The halves have the brokers' own addresses."""
    found = run_kanalyze([ROOT / "tests" / "data" / "incidents" / "redirect_sidecar.pcap.zst"])
    answered = Counter(row["client_id"] for row in found.exchanges if row["status"] == "answered")
    # What a broker logs within the second behind the capture is in its log alone.
    assert answered == {"stock": 133, "checkout": 79, "checkout-java": 50}
    assert {(row["broker_address"], row["translated_broker"], row["views"]) for row in found.connections} == {
        (f"10.20.0.1{number}", "127.0.0.1:15001", 3) for number in (1, 2)
    }


@pytest.mark.slow
def test_what_a_sidecar_takes_to_nowhere_had_no_reply() -> None:
    """Requests are seen under its address, and ACKs and resets under the one to which they were sent: both sides were captured."""
    path = ROOT / "tests" / "data" / "incidents" / "sidecar_nowhere.pcap.zst"
    found = run_kanalyze([path])
    assert {
        (row["broker_address"], row["translated_broker"], row["views"], row["one_way"]) for row in found.connections
    } == {("10.20.0.77", "127.0.0.1:15001", 2, None)}
    ended = Counter((row["close"], row["closed_by"]) for row in found.connections)
    assert ended == {("rst", "broker"): 20, ("none", None): 2}
    assert Counter(row["status"] for row in found.exchanges) == {"closed": 20, "pending": 2}
    with open_dataset([str(path)], Options(jobs=1)) as dataset:
        assert readability(dataset).verdict == "whole"
        assert between.sentences(dataset.metric("between")) == [
            "Address translation: 22 requests to 10.20.0.77:9092 go on to 127.0.0.1:15001, from where no reply came back "
            "(22 connections, captured under both addresses, counted once)."
        ]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ssh_forward", "nat_ipv6", "port_forward"])
def test_each_request_that_brokers_logged_counts_once(name: str) -> None:
    """Clients of Go and Node too, one of which asks for no reply (acks=0) and writes to two brokers by turns."""
    folder = ROOT / "tests" / "data" / "incidents"
    log = bytes(cramjam.zstd.decompress((folder / f"{name}.requests.tsv.zst").read_bytes())).decode()
    rows = csv.DictReader(log.splitlines(), delimiter="\t")
    logged = Counter((row["client_id"], row["api"].replace("_", "")) for row in rows)
    found = run_kanalyze([folder / f"{name}.pcap.zst"])
    ended = [row for row in found.exchanges if row["status"] in ("answered", "no_reply_expected")]
    seen = Counter((row["client_id"] or "", row["api_name"].upper()) for row in ended)
    assert len(ended) > 200
    # What ended in the second behind the capture is in the log alone.
    assert {key: times for key, times in seen.items() if not times <= logged[key] <= times + 8} == {}


@pytest.mark.slow
def test_halves_of_a_host_that_redirects_are_not_joined_with_another_client(once: list[Row], tmp_path: Path) -> None:
    """Its requests are as many and as large, and under other numbers."""
    frames = redirected(30_000)
    halves, whole = frames[::2], passing([Leg(NODE, BROKER)], 0)
    later = [frame._replace(time=frame.time + 3_600_000_000_000) for frame in whole]
    found = run_kanalyze([capture(tmp_path / "base.pcap", [*halves, *later])])
    assert {row["views"] for row in found.connections} == {1}
    assert sum(row["request_time_ns"] is not None for row in found.exchanges) == 2 * len(once)


@pytest.mark.slow
def test_what_only_one_leg_has_counts_too(once: list[Row], tmp_path: Path) -> None:
    """Of each leg other packets were not captured."""
    frames = passing(TRANSLATED["dnat"], 20_000, lambda place, n, _: n < 100 or n % 40 != 12 + 20 * place)
    found, expected = (
        Counter(
            tuple(row[key] for key in ("client_id", "api_name", "correlation_id", "client_port"))
            for row in rows
            if row["request_time_ns"]
        )
        for rows in (rows_of(capture(tmp_path / "base.pcap", frames)), once)
    )
    assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("apart", also_long([1_000], [0, 3_000_000]))
def test_other_clients_that_send_the_same_are_not_joined(apart: int, once: list[Row], tmp_path: Path) -> None:
    """Numbers of their own tell that they are others, and replies that come later too, that no proxy is between."""
    twin = Leg(NODE, BROKER, moved_seq=1_234_567_891)
    frames = [
        Frame(under(packet, leg).ethernet, stretched(packet) + later)
        for packet in base()
        for leg, later in ((NEAR, 0), (twin, apart))
    ]
    found = run_kanalyze([capture(tmp_path / "base.pcap", frames)])
    assert len(found.exchanges) == 2 * len(once)
    assert {row["views"] for row in found.connections} == {1}
    assert {row["translated_broker"] for row in found.connections} == {None}


@pytest.mark.slow
def test_numbers_that_a_writer_of_captures_gave_prove_nothing(once: list[Row], tmp_path: Path) -> None:
    """All connections begin with the same number, and those of a second client come a little later, both ways."""
    first = {}
    for packet in base():
        ports = packet.ip[20:24] if packet.side == 0 else packet.ip[22:24] + packet.ip[20:22]
        first.setdefault((ports, packet.side), int.from_bytes(packet.ip[24:28]))
    frames = []
    for packet in base():
        ports = packet.ip[20:24] if packet.side == 0 else packet.ip[22:24] + packet.ip[20:22]
        own, peer = (first[ports, side] for side in (packet.side, 1 - packet.side))
        for leg, later in ((NEAR, 0), (Leg(NODE, BROKER), 150_000)):
            frames.append(Frame(_made(under(packet, leg).ethernet, own, peer), stretched(packet) + later))
    found = run_kanalyze([capture(tmp_path / "base.pcap", frames)])
    assert len(found.exchanges) == 2 * len(once)
    assert Counter(row["client_address"] for row in found.connections).keys() == {CLIENT, NODE}


def _made(packet: bytes, own: int, peer: int) -> bytes:
    """A frame whose side's first number is 1000; the checksum is left to the network card."""
    tcp = 14 + 20
    seq, ack = (int.from_bytes(packet[at : at + 4]) for at in (tcp + 4, tcp + 8))
    seq = (seq - own + 1000) & 0xFFFFFFFF
    ack = (ack - peer + 1000) & 0xFFFFFFFF if packet[tcp + 13] & 16 else 0
    return (
        packet[: tcp + 4]
        + seq.to_bytes(4)
        + ack.to_bytes(4)
        + packet[tcp + 12 : tcp + 16]
        + b"\0\0"
        + packet[tcp + 18 :]
    )
