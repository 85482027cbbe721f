"""A proxy with both its legs in the capture: each request is one, as the client sent it; `forwards` has it as it was carried on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from effort import also_long
from one_base import base, rows_in, rows_of
from program import run_kanalyze
from tagged_captures import Frame, capture, stretched
from test_translated import PLACES, TIMES, without
from translated_captures import BEHIND, BROKER, FRONT, NEAR, NODE, PROXIES, TRANSLATED, Leg, Seen, passing, under

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.report import between
from analyzer.run.local import open_dataset

# Tables whose rows are of connections and packets, not of requests.
OF_PACKETS = ("captures", "connections", "problems", "queued_packets", "unread_silences", "forwards", "brokers")
OF_PACKETS += ("offered_versions",)


def counts(path: Path) -> dict[str, Any]:
    with open_dataset([str(path)], Options(jobs=1)) as dataset:
        return {
            table: dataset.query(f"SELECT count(*) AS found FROM {table}")[0]["found"]
            for table in TABLES
            if table not in OF_PACKETS
        }


def forwards(path: Path) -> list[dict[str, Any]]:
    with open_dataset([str(path)], Options(jobs=1)) as dataset:
        return dataset.query(
            "SELECT f.*, x.exchange IS NOT NULL AS is_known "
            "FROM forwards AS f LEFT JOIN exchanges AS x ON x.exchange = f.forwarded_from"
        )


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return capture(tmp_path_factory.mktemp("once") / "base.pcap", passing([FRONT], 0))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROXIES)
def test_each_request_is_one(name: str, once: Path, tmp_path: Path) -> None:
    legs = PROXIES[name]
    path = capture(tmp_path / "base.pcap", passing(legs, 30_000))
    found = run_kanalyze([path])
    expected = rows_of(once)
    # Brokers of two addresses have this port: which of them Metadata names is not known.
    left_out = (*PLACES, *TIMES, "broker_id", "proxy_ns")
    assert without(rows_in(found), left_out) == without(expected, left_out)
    assert counts(path) == counts(once)
    rows = forwards(path)
    asked = sum(row["request_time_ns"] is not None for row in expected)
    assert len(rows) == asked * (len(legs) - 1)
    assert all(row["is_known"] for row in rows)
    assert {row["proxies"] for row in rows} == set(range(1, len(legs)))
    assert {row["proxy_ns"] for row in rows if row["response_time_ns"] and row["proxies"] == 1} == {60_000}
    inner = [row for row in found.connections if row["forwarded_from"] is not None]
    assert {row["client_address"] for row in inner} == {leg.client for leg in legs[1:]}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROXIES)
def test_a_capture_that_tells_milliseconds_alone_has_each_request_once(name: str, once: Path, tmp_path: Path) -> None:
    """Both legs have one time: which came first is told by the order of their packets in the file."""
    frames = sorted(passing(PROXIES[name], 30_000), key=lambda frame: frame.time)
    coarse = [frame._replace(time=frame.time - frame.time % 1_000_000) for frame in frames]
    path = capture(tmp_path / "base.pcap", coarse)
    assert counts(path) == counts(once)
    assert {row["proxies"] for row in forwards(path)} == set(range(1, len(PROXIES[name])))


@pytest.mark.slow
@pytest.mark.parametrize("name", PROXIES)
def test_what_proxies_took_is_a_part_of_the_latency_and_not_the_brokers(name: str, once: Path, tmp_path: Path) -> None:
    took = 60_000 * (len(PROXIES[name]) - 1)
    path = capture(tmp_path / "base.pcap", passing(PROXIES[name], 30_000))
    parts = ("throttle_part_ns", "broker_part_ns", "proxy_part_ns", "queue_part_ns", "network_ns", "unknown_ns")
    asked = f"SELECT latency_ns, {', '.join(parts)} FROM exchange_parts WHERE latency_ns IS NOT NULL"
    with open_dataset([str(path)], Options(jobs=1)) as found, open_dataset([str(once)], Options(jobs=1)) as expected:
        rows, alone = found.query(asked), expected.query(asked)
    assert {row["proxy_part_ns"] for row in rows} == {took}
    assert {row["proxy_part_ns"] for row in alone} == {0}
    assert all(sum(row[each] for each in parts) == row["latency_ns"] for row in rows)
    assert sum(row["broker_part_ns"] for row in rows) <= sum(row["broker_part_ns"] for row in alone)


IN_PART: dict[str, Seen] = {
    "front_begins_later": lambda place, n, _: place == 1 or n > 300,
    "front_ends_earlier": lambda place, n, _: place == 1 or n < 700,
    "behind_begins_later": lambda place, n, _: place == 0 or n > 300,
    "front_has_losses": lambda place, n, _: place == 1 or n < 100 or n % 40 != 12,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", IN_PART)
def test_legs_of_which_one_is_whole(name: str, once: Path, tmp_path: Path) -> None:
    """What only the leg behind has counts by itself."""
    path = capture(tmp_path / "base.pcap", passing(PROXIES["proxy"], 30_000, IN_PART[name]))
    sent = "request_time_ns IS NOT NULL"
    with open_dataset([str(path)], Options(jobs=1)) as found, open_dataset([str(once)], Options(jobs=1)) as expected:
        keys = f"SELECT client_id, api_key, correlation_id, request_bytes FROM exchanges WHERE {sent} ORDER BY ALL"
        assert found.query(keys) == expected.query(keys)


@pytest.mark.slow
def test_one_line_says_what_stands_between(tmp_path: Path) -> None:
    def told(name: str, legs: tuple[Leg, ...]) -> list[str]:
        path = capture(tmp_path / f"{name}.pcap", passing(legs, 30_000))
        with open_dataset([str(path)], Options(jobs=1)) as dataset:
            return between.sentences(dataset.metric("between"))

    assert told("proxy", PROXIES["proxy"])[0].startswith(f"Proxy: {FRONT.broker}:9092 carries ")
    assert told("proxy", PROXIES["proxy"])[0].endswith(
        f" on to {BEHIND.broker}:9092, which takes 60 µs of their latency (median); counted once."
    )
    (line,) = (each for each in told("dnat", TRANSLATED["dnat"]) if ":9092" in each)
    assert line.startswith(f"Address translation: {NEAR.broker}:9092 is {BROKER}:9092 behind it; ")
    assert told("front", (FRONT,)) == []


@pytest.mark.slow
@pytest.mark.parametrize("apart", also_long([1_000], [200_000]))
def test_a_client_on_the_host_of_a_broker_is_no_proxy(apart: int, once: Path, tmp_path: Path) -> None:
    """It sends the same a little later, and is answered a little later."""
    frames = [
        Frame(under(packet, leg).ethernet, stretched(packet) + later)
        for packet in base()
        for leg, later in ((FRONT, 0), (BEHIND, apart))
    ]
    path = capture(tmp_path / "base.pcap", frames)
    assert forwards(path) == []
    assert len(rows_of(path)) == 2 * len(rows_of(once))


@pytest.mark.slow
def test_clients_of_other_hosts_are_not_one_when_only_some_times_fit(once: Path, tmp_path: Path) -> None:
    """Of each second reply the time is that of a proxy behind, of the others that of a client of its own."""
    other = BEHIND._replace(client=NODE)
    frames = passing([FRONT], 0)
    replies = 0
    for packet in base():
        replies += packet.side
        later = -30_000 if packet.side and replies % 2 else 30_000
        frames.append(Frame(under(packet, other).ethernet, stretched(packet) + later))
    path = capture(tmp_path / "base.pcap", frames)
    assert forwards(path) == []
    assert len(rows_of(path)) == 2 * len(rows_of(once))
