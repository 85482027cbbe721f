"""Clients, connections and brokers: who they are, what they do, against plain computations."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from made_rows import SECOND_NS, START_NS, Rows, capture, connection, dataset, exchange
from paths import LAB

from analyzer.base.filters import Filters
from analyzer.base.options import Options
from analyzer.base.settings import Settings
from analyzer.report.facts import Facts
from analyzer.report.other_traffic import FOREIGN
from analyzer.report.sections import clients
from analyzer.run import local

MS = 1_000_000


def test_a_client_is_address_user_id_and_software(tmp_path: Path) -> None:
    java = {"software_name": "apache-kafka-java", "software_version": "4.1.0"}
    links = [
        connection(1, **java),
        connection(2, **java, client_port=50_999),  # another port of the same client
        connection(3, seen_from="midstream"),  # does not say its software: that of the others
        connection(4, principal="User:alice", **java),
        connection(5, client_address="10.0.0.2", **java),
        connection(6, client_address="10.0.0.3", software_name="a", software_version="1"),
        connection(7, client_address="10.0.0.3", software_name="b", software_version="1"),
        connection(8, client_address="10.0.0.3"),  # which of the two, nobody can tell
        connection(9, role="follower"),
    ]
    address = {link["connection"]: link["client_address"] for link in links}
    rows = [
        exchange(n, connection=n, client_address=address[n], role="follower" if n == 9 else None) for n in range(1, 10)
    ]
    rows.append(exchange(20, connection=1, client_id="other"))
    rows.append(exchange(21, connection=1, client_id=None, kind="sasl_token", api_key=None, api_name=None))
    with dataset(tmp_path, {"exchanges": rows, "connections": links}) as opened:
        got = opened.metric("clients")
        versions = opened.metric("client_versions")
    names = ("client_address", "client_id", "principal", "software_name", "connections")
    assert sorted(tuple(str(row[name]) for name in names) for row in got) == [
        ("10.0.0.1", "app", "None", "apache-kafka-java", "3"),
        ("10.0.0.1", "app", "User:alice", "apache-kafka-java", "1"),
        ("10.0.0.1", "other", "None", "apache-kafka-java", "1"),
        ("10.0.0.2", "app", "None", "apache-kafka-java", "1"),
        ("10.0.0.3", "app", "None", "None", "1"),
        ("10.0.0.3", "app", "None", "a", "1"),
        ("10.0.0.3", "app", "None", "b", "1"),
    ]
    assert sum(row["requests"] for row in got) == sum(row["count"] for row in versions) == 9


def test_bursts_are_counted_by_second_and_connection(tmp_path: Path) -> None:
    spread = [exchange(n, at_ns=START_NS + n * SECOND_NS // 25) for n in range(60)]
    beside = [exchange(100 + n, connection=2) for n in range(19)]
    connects = [connection(n, first_time_ns=START_NS + n * 2 * SECOND_NS) for n in range(1, 41)]
    asked = [exchange(200 + n, connection=n, api_name="ApiVersions") for n in range(3, 41)]
    files = [capture(last_time_ns=START_NS + 90 * SECOND_NS)]
    with dataset(
        tmp_path, {"captures": files, "exchanges": spread + beside + asked, "connections": connects}
    ) as opened:
        (burst,) = opened.metric("client_bursts")
        (client,) = opened.metric("clients")
    assert (burst["api_name"], burst["most_per_s"], burst["count"]) == ("Metadata", 25, 79)
    assert client["connects_per_s"] == 16 / 30  # one each two seconds, both ends of 30 s


def test_bursts_of_a_short_capture_are_over_its_own_length(tmp_path: Path) -> None:
    connects = [connection(n, first_time_ns=START_NS + n * SECOND_NS // 10) for n in range(100)]
    made = {"captures": [capture(last_time_ns=START_NS + 10 * SECOND_NS)], "connections": connects}
    with dataset(tmp_path, made | {"exchanges": [exchange(n, connection=n) for n in range(100)]}) as opened:
        (client,) = opened.metric("clients")
    assert (client["connects_per_s"], client["over_ns"]) == (10, 10 * SECOND_NS)


def test_messages_beyond_ten_megabytes_are_counted(tmp_path: Path) -> None:
    sizes = {"request_bytes": 12_000_000, "response_bytes": 11_000_000}
    rows = [exchange(1, **sizes), exchange(2, response_bytes=10_000_000), exchange(3)]
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1)]}) as opened:
        (row,) = opened.metric("client_versions")
    assert (row["greatest_bytes"], row["large"], row["count"]) == (12_000_000, 1, 3)


def test_what_a_client_does_is_added_up_over_its_connections(tmp_path: Path) -> None:
    produce = {"api_key": 0, "api_name": "Produce"}
    rows = [
        exchange(1, acks=-1, record_bytes=1_000, **produce),
        exchange(2, acks=-1, record_bytes=3_000, connection=2, **produce),
        exchange(3, acks=0, record_bytes=None, status="no_reply_expected", **produce),
        exchange(4, group_id="g", error_count=2),
        exchange(5, group_id="h", throttle_time_ms=5, status="answered"),
        exchange(6, status="abandoned"),
    ]
    entries = [
        {"exchange": n, "connection": 1, "side": "request", "topic": t} for n, t in ((1, "a"), (1, "b"), (3, "a"))
    ]
    batches = [
        {"exchange": 1, "connection": 1, "side": "request", "records": 7, "bytes": 500},
        {"exchange": 2, "connection": 2, "side": "request", "records": 3, "bytes": 300},
        {"exchange": 4, "connection": 1, "side": "response", "records": 99, "bytes": 9_999},
    ]
    tables = {"exchanges": rows, "connections": [connection(1), connection(2)], "entries": entries, "batches": batches}
    with dataset(tmp_path, tables) as opened:
        (row,) = opened.metric("clients")
    assert (row["requests"], row["errors"], row["throttled"], row["unanswered"]) == (6, 1, 1, 1)
    assert (row["acks_all"], row["acks_1"], row["acks_0"]) == (2, 0, 1)
    assert (row["produce_bytes"], row["record_bytes"]) == (2_000, 4_000)
    assert (row["batches"], row["records"], row["batch_bytes"]) == (2, 10, 400)
    assert (row["topics"], row["groups"], row["apis"]) == (2, 2, 2)
    assert row["request_bytes"] == 6 * 40


def test_storms_are_in_the_numbers(tmp_path: Path) -> None:
    links = [connection(n, last_time_ns=START_NS + n * 3 * SECOND_NS) for n in (1, 2, 3)]
    links += [connection(4, close="none"), connection(5, seen_from="midstream", close="fin")]
    rows = [
        exchange(100 + n, connection=2 - n // 8) for n in range(12)
    ]  # Metadata: 8 on the connection of 6 s, 4 on that of 3 s
    rows += [exchange(n, connection=n, api_key=18, api_name="ApiVersions") for n in range(1, 6)]
    with dataset(tmp_path, {"exchanges": rows, "connections": links}) as opened:
        (row,) = opened.metric("clients")
    assert row["metadata_per_s"] == pytest.approx(4 / 3)
    assert (row["connections"], row["connects"]) == (5, 4)
    assert row["median_life_ns"] == 6 * SECOND_NS  # of those seen from beginning to end


def test_in_flight_agrees_with_plain_python(tmp_path: Path) -> None:
    choose = random.Random(2)
    rows = []
    for number in range(300):
        values: dict[str, Any] = {"connection": choose.randrange(3), "at_ns": START_NS + choose.randrange(200) * MS}
        values["status"] = choose.choice(["answered"] * 8 + ["pending", "no_reply_expected"])
        if values["status"] == "answered":
            values["latency_ns"] = choose.randrange(1, 40) * MS
        rows.append(exchange(number, **values))
    with dataset(tmp_path, {"exchanges": rows, "connections": [connection(n) for n in range(3)]}) as opened:
        got = {row["connection"]: row["in_flight"] for row in opened.metric("connections")}
    for link in range(3):
        mine = [row for row in rows if row["connection"] == link and row["status"] != "no_reply_expected"]
        # A request that is sent when the reply to another one comes waits beside it no longer.
        waiting = [
            sum(row["request_time_ns"] <= moment < row.get("response_time_ns", moment + 1) for row in mine)
            for moment in {row["request_time_ns"] for row in mine}
        ]
        assert got[link] == max(waiting)


def test_connections_tell_how_they_fared(tmp_path: Path) -> None:
    links = [
        connection(
            1, client_retransmitted=1, broker_retransmitted=3, rtt_ns=5 * MS, last_time_ns=START_NS + 100 * SECOND_NS
        ),
        connection(2, close="none"),
        connection(3, is_kafka=False),
    ]
    rows = [exchange(1), exchange(2, status="closed"), exchange(3, status="abandoned"), exchange(4, connection=2)]
    logins = [
        {"exchange": 1, "connection": 1, "outcome": "failed"},
        {"exchange": 1, "connection": 1, "outcome": "ok", "again": True},
    ]
    with dataset(tmp_path, {"exchanges": rows, "connections": links, "logins": logins}) as opened:
        first, second = opened.metric("connections")
    assert (first["connection"], second["connection"]) == (1, 2)
    assert (first["unanswered"], first["failed_logins"], first["logins_again"]) == (2, 1, 1)
    assert first["retransmitted_share"] == pytest.approx(0.02)
    assert first["idle_ns"] == 100 * SECOND_NS - MS
    assert second["idle_ns"] is None  # still open


def test_refused_attempts_are_those_that_met_a_reset_or_silence(tmp_path: Path) -> None:
    silent = {"client_stream_bytes": 0, "broker_stream_bytes": 0, "syn_ack_ns": None, "is_kafka": None}
    links = [
        connection(1, close="rst", broker_packets=1, **silent),
        connection(2, close="none", broker_packets=0, **silent),
        connection(3, close="rst", broker_packets=2, **(silent | {"syn_ack_ns": 5})),  # accepted, then closed
        connection(4, close="rst"),
    ]
    with dataset(tmp_path, {"connections": links}) as opened:
        (row,) = opened.metric("refused")
    assert (row["refused"], row["unanswered"]) == (1, 1)


def test_connections_without_kafka_are_counted_by_what_they_look_like(tmp_path: Path) -> None:
    hello = {"is_kafka": False, "protocol": "tls", "tls": True, "client_bytes": 500, "broker_bytes": 7}
    links = [
        connection(1, tls_handshake="failed", **hello),
        connection(2, tls_handshake="failed", **hello),
        connection(3, **hello),
        connection(4, is_kafka=None, protocol=None, client_bytes=0),
        connection(5, protocol="kafka"),
    ]
    with dataset(tmp_path, {"connections": links}) as opened:
        rows = opened.metric("foreign_connections")
    found = [(row["protocol"], row["tls_handshake"], row["connections"], row["client_bytes"]) for row in rows]
    assert found == [("tls", "failed", 2, 1000), ("tls", None, 1, 500)]


def test_first_bytes_of_other_traffic_are_those_of_the_first_connection_that_has_some(tmp_path: Path) -> None:
    other = {"is_kafka": False, "protocol": "other"}
    links = [
        connection(1, first_time_ns=START_NS, broker_begin="2b4f4b", **other),
        connection(2, first_time_ns=START_NS + 1, client_begin="2a330d0a", broker_begin="2d", **other),
        connection(3, first_time_ns=START_NS + 2, client_begin="00", **other),
    ]
    with dataset(tmp_path, {"connections": links}) as opened:
        (row,) = opened.metric("foreign_connections")
    assert (row["connections"], row["client_begin"], row["broker_begin"]) == (3, "2a330d0a", "2b4f4b")
    assert next(cell(row) for column, cell in FOREIGN.columns if column.title == "first bytes") == "*3\\r\\n / +OK"


def test_connections_without_content_are_counted_by_who_and_how_they_end(tmp_path: Path) -> None:
    silent = {"client_stream_bytes": 0, "broker_stream_bytes": 0, "is_kafka": None, "protocol": None, "syn_ack_ns": 5}
    header = silent | {"client_stream_bytes": 28, "client_opening_bytes": 28, "opening": "proxy_v2"}
    links = [
        connection(1, close="rst", closed_by="client", **silent),
        connection(2, close="rst", closed_by="client", **silent),
        connection(3, close="rst", closed_by="broker", **silent),
        connection(4, close="fin", closed_by="client", **header),
        connection(5, close="rst", closed_by="broker", broker_packets=1, **(silent | {"syn_ack_ns": None})),  # refused
        connection(6, close="fin", closed_by="client", **(header | {"client_stream_bytes": 29})),
        connection(7),
    ]
    with dataset(tmp_path, {"connections": links}) as opened:
        rows = opened.metric("empty_connections")
    found = [(row["opening"], row["close"], row["closed_by"], row["connections"]) for row in rows]
    assert found[0] == (None, "rst", "client", 2)
    assert sorted(map(str, found[1:])) == sorted(
        map(str, [(None, "rst", "broker", 1), ("proxy_v2", "fin", "client", 1)])
    )


def follower(number: int, pair: int, **values: Any) -> dict[str, Any]:
    made = {
        "api_key": 1,
        "api_name": "Fetch",
        "kind": "fetch_follower",
        "role": "follower",
        "replica_id": pair,
        "client_id": f"broker-{pair}-fetcher-0",
        "max_wait_ms": 500,
        "connection": pair,
    }
    return exchange(number, **(made | values))


def test_followers_are_told_by_pair_and_late_is_beyond_the_wait(tmp_path: Path) -> None:
    rows: Rows = [follower(n, 1, latency_ns=501 * MS, record_bytes=0) for n in range(10)]
    rows += [follower(20 + n, 2, latency_ns=3 * MS, record_bytes=100) for n in range(5)]
    rows += [follower(30, 2, latency_ns=2_500 * MS, record_bytes=0)]
    rows += [exchange(40, kind="fetch_backlog", api_name="Fetch", latency_ns=9_999 * MS, max_wait_ms=0)]
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        opened.choose(Settings(("api", "client", "broker")))
        got = {row["replica_id"]: row for row in opened.metric("brokers")}
    assert got.keys() == {1, 2}
    assert (got[1]["count"], got[1]["with_data"], got[1]["late_ns"]) == (10, 0, MS)
    assert (got[2]["count"], got[2]["with_data"], got[2]["record_bytes"]) == (6, 5, 500)
    assert (got[2]["late_ns"], got[2]["late_exchange"]) == (2_000 * MS, 30)


def test_the_gap_of_a_follower_is_the_longest_from_a_reply_to_its_next_fetch(tmp_path: Path) -> None:
    asked = [0, 600, 1_000, 2_900]  # ms; each is answered after 500 ms, so it asks nothing for 100, -100 and 1,400 ms
    rows = [
        follower(n, 1, request_time_ns=at * MS, response_time_ns=(at + 500) * MS, response_end_ns=(at + 500) * MS)
        for n, at in enumerate(asked)
    ]
    rows.append(follower(9, 2))  # its only one
    with dataset(tmp_path, {"exchanges": rows}) as opened:
        opened.choose(Settings(("api", "client", "broker")))
        got = {row["replica_id"]: row["gap_ns"] for row in opened.metric("brokers")}
    assert got == {1: 1_400 * MS, 2: None}


def test_choices_name_what_can_be_filtered_by_whatever_the_filter(tmp_path: Path) -> None:
    rows = [exchange(1), exchange(2), exchange(3, client_id=None)]
    entries = [{"exchange": 1, "connection": 1, "side": "request", "topic": "orders"}]
    with dataset(tmp_path, {"exchanges": rows, "entries": entries}, filters=Filters(clients=("nobody",))) as opened:
        got = [(row["sort"], row["name"]) for row in opened.metric("choices")]
    assert got == [
        ("api", "Metadata"),
        ("broker", "10.0.1.1:9092"),
        ("client", "app"),
        ("client", "10.0.0.1"),
        ("topic", "orders"),
    ]


KAFKAJS = {"ApiVersions": 2, "Metadata": 6, "FindCoordinator": 2, "JoinGroup": 5}


@pytest.mark.parametrize(
    ("client_id", "asked", "library"),
    [
        ("web", KAFKAJS, "kafkajs"),
        # Only Metadata tells it from an old Java client.
        ("web", KAFKAJS | {"Metadata": 8}, "apache-kafka-java"),
        ("web", KAFKAJS | {"Metadata": 7}, None),
        ("web", {"ApiVersions": 2, "Metadata": 6}, None),
        ("aiokafka-0.14.0", {"Metadata": 5}, "aiokafka"),
        ("aiokafka-0.14.0", {"Metadata": 9}, None),
        ("kafkajs", {"ApiVersions": 0, "Metadata": 5, "Produce": 7}, "aiokafka"),
        ("sarama", {"Metadata": 1}, "sarama"),
        # brod and librdkafka 1.0 produce alike; so do kafka-python 1.3 and librdkafka with broker.version.fallback=0.9.0.
        ("till", {"ApiVersions": 0, "Metadata": 2, "Produce": 7}, None),
        ("shop", {"Metadata": 0, "Fetch": 1, "JoinGroup": 0, "OffsetFetch": 1}, None),
        (None, {"Metadata": 1}, None),
        # Sarama, told to speak to brokers of 1.0, as watermill tells it; Java's client of 1.0 asks for versions too.
        ("events", {"Metadata": 5, "Fetch": 6, "JoinGroup": 2, "OffsetCommit": 3}, None),
        (
            "events",
            {"ApiVersions": 1, "Metadata": 5, "Fetch": 6, "JoinGroup": 2, "OffsetCommit": 3},
            "apache-kafka-java",
        ),
        # Admin and consumer of kafka-python have one client id.
        ("kafka-python-2.2.3", {"Metadata": 5, "Fetch": 4, "JoinGroup": 2}, "kafka-python"),
    ],
)
def test_a_library_is_known_by_its_habits(
    client_id: str | None, asked: dict[str, int], library: str | None, tmp_path: Path
) -> None:
    def told(**software: str) -> list[str | None]:
        rows = [
            exchange(n, client_id=client_id, api_name=name, api_version=version)
            for n, (name, version) in enumerate(asked.items())
        ]
        with dataset(tmp_path, {"exchanges": rows, "connections": [connection(1, **software)]}) as opened:
            return [row["inferred_library"] for name in ("clients", "top_clients") for row in opened.metric(name)]

    assert told() == [library, library]
    assert told(software_name="another", software_version="1") == [None, None]


@pytest.mark.skipif(not LAB.exists(), reason="needs the captures of the lab")
@pytest.mark.parametrize(
    ("capture", "truth"),
    [
        ("clients", {"shop-aio": "aiokafka", "shop-kjs": "kafkajs"}),
        ("old_java", {"shop-jc-0.10.2.2": "apache-kafka-java", "shop-jc-1.1.1": "apache-kafka-java"}),
        # With broker.version.fallback=0.9.0 librdkafka asks for the same.
        ("old_others", {"shop-kp1.3.5-0.9-c": None}),
    ],
)
def test_libraries_of_real_clients(capture: str, truth: dict[str, str | None]) -> None:
    (path,) = LAB.glob(f"{capture}.pcap*")
    with local.open_dataset([str(path)], Options()) as opened:
        found = {row["client_id"]: row["inferred_library"] for row in opened.metric("clients")}
    assert {name: found[name] for name in truth} == truth


def test_default_client_ids_are_told_once_and_not_those_of_tools(tmp_path: Path) -> None:
    """What lives for less than 10 s is a probe."""
    ids = ["rdkafka", "rdkafka", "shop", "producer-1", "console-consumer", "sarama"]
    links = [
        connection(n, client_address=f"10.0.0.{n}", last_time_ns=START_NS + (9 if name == "sarama" else 11) * 10**9)
        for n, name in enumerate(ids)
    ]
    rows = [exchange(n, connection=n, client_id=name, client_address=f"10.0.0.{n}") for n, name in enumerate(ids)]
    with dataset(tmp_path, {"exchanges": rows, "connections": links}) as found:
        told = [(row["what"], row["who"], row["requests"]) for row in found.metric("clients_of_note")]
        lines = [line.plain for line in clients.page(Facts(found), 200, None)]
    assert told == [("default_id", "producer-1, rdkafka", 3)]
    assert sum("client.id is the library's default (producer-1, rdkafka): 3 clients." in line for line in lines) == 1
