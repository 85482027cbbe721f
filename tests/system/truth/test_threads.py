"""What people asked about in public, rebuilt as small captures (tests/data/threads): what must be said of them, and what not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from paths import ROOT

import analyzer

FOLDER = ROOT / "tests" / "data" / "threads"
# A client of Produce v0, as those of these captures are, is told for what it is.
OF_NO_MATTER = {"breaks_on_4", "already_failing", "no_compression", "tiny_batches"}


def read(name: str) -> Any:
    return analyzer.read(FOLDER / f"{name}.pcap.zst")


def told(opened: Any) -> dict[str, str]:
    """Rule -> its sentence."""
    return {each.name: each.sentence for each in opened.findings if each.name not in OF_NO_MATTER}


def test_headers_of_a_balancer_without_content_are_health_checks() -> None:
    with read("proxy_health_check") as opened:
        # Another client's connections end within their first request: that is true.
        ((rule, sentence),) = told(opened).items()
        assert rule == "hung_up_at_once" and 'of "late" at most 2.0 ms after their first request' in sentence
        (coverage,) = opened.metric("coverage").to_pylist()
        (checks,) = opened.metric("empty_connections").to_pylist()
    assert (coverage["health_checks"], coverage["skipped_foreign_bytes"]) == (5, 0)
    assert (checks["client_address"], checks["connections"], checks["opening"], checks["closed_by"]) == (
        "10.30.5.1",
        5,
        "proxy_v2",
        "client",
    )


def test_a_broker_that_closes_what_is_idle_is_no_firewall() -> None:
    with read("broker_closed_idle") as opened:
        found = told(opened)
        (ended,) = (each for each in opened.connections.to_pylist() if each["close"] == "rst")
    assert list(found) == ["closed_while_idle"]
    assert "after 10 min 0 s without traffic (connections.max.idle.ms" in found["closed_while_idle"]
    assert "6 min 26 s later" in found["closed_while_idle"]
    assert (ended["closed_by"], ended["last_time_ns"] - ended["close_time_ns"] >= 386 * 10**9) == ("broker", True)


def test_who_resets_at_the_first_request_is_named() -> None:
    with read("reset_at_first_request") as opened:
        found = told(opened)
    assert (
        '127.0.0.1:9092 resets connections of "sarama" at most 0.50 ms after their first request (Metadata)'
        in found["hung_up_at_once"]
    )
    assert found["hung_up_at_once"].endswith("10 times")


def test_the_last_token_of_kerberos_has_no_answer() -> None:
    with read("gssapi_handshake_v0") as opened:
        assert "unanswered" not in told(opened)
        rows = opened.sql(
            "select kind, api_name, status, latency_ns from exchanges where connection = "
            "(select min(connection) from exchanges) order by request_time_ns limit 5"
        ).to_pylist()
        logins = opened.sql("select outcome, sasl_mechanism, handshake from logins").to_pylist()
    statuses = [(row["kind"] or row["api_name"], row["status"]) for row in rows]
    assert statuses[1:4] == [("sasl_token", "answered")] * 2 + [("sasl_token", "no_reply_expected")]
    assert (rows[4]["api_name"], rows[4]["status"], rows[4]["latency_ns"]) == ("Metadata", "answered", 3_000_000)
    assert logins == [{"outcome": "ok", "sasl_mechanism": "GSSAPI", "handshake": True}] * 2


def test_a_token_without_a_handshake_is_no_request() -> None:
    with read("gssapi_without_handshake") as opened:
        found = told(opened)
        names = {row["api_name"] for row in opened.sql("select api_name from exchanges").to_pylist()}
    assert list(found) == ["authentication_failures"]
    assert "sends a Kerberos token without SaslHandshake" in found["authentication_failures"]
    assert names == {"ApiVersions", None}


def test_a_token_that_expired_is_told_without_the_token() -> None:
    with read("oauthbearer_expired") as opened:
        (failed,) = (each for each in opened.findings if each.name == "authentication_failures")
        everything = json.dumps(
            [opened.sql(f"select * from {name}").to_pylist() for name in ("logins", "exchanges")], default=str
        )
    assert "the broker says invalid_token" in failed.sentence and "2023-11-14" in failed.sentence
    assert "password" not in failed.do and "token" in failed.do
    assert "eyJ" not in everything + failed.sentence


def test_what_a_client_holds_back_is_its_own() -> None:
    with read("second_half_held") as opened:
        found = told(opened)
        first = opened.metric("slowest").to_pylist()[0]
        classes = opened.metric("profile").to_pylist()
    assert "40 times: the rest comes 270 ms (median) after the beginning" in found["rest_held"]
    assert first["send_ns"] == pytest.approx(270_000_000, rel=0.01)
    assert sum(row["waited_ns"] for row in classes) == pytest.approx(11.2e9, rel=0.01)


def test_where_no_body_can_be_read_there_is_no_kafka() -> None:
    """Port 7000: a length, numbers that could be an API key and its version, a correlation id, text."""
    with read("other_protocols") as opened:
        assert told(opened) == {}
        (coverage,) = opened.metric("coverage").to_pylist()
        rows = [row for row in opened.connections.to_pylist() if row["broker_port"] == 7000]
        exchanges = opened.sql("select count(*) as n from exchanges").to_pylist()
    assert (coverage["kafka_connections"], exchanges) == (0, [{"n": 0}])
    assert len(rows) == 3
    for row in rows:
        assert (row["is_kafka"], row["protocol"], row["requests"], row["replies"]) == (False, "other", 0, 0)
        for side in ("client", "broker"):
            assert row[f"{side}_framed_bytes"] == 0
            assert row[f"{side}_skipped_foreign_bytes"] == row[f"{side}_stream_bytes"] > 0


def test_what_is_no_kafka_shows_its_first_bytes() -> None:
    """By the ports of the thread: PostgreSQL (a length), AMQP 0-9-1, Redis, Cassandra's native protocol v4; 7000 and 9090 begin
    with what could be a Kafka header."""
    with read("other_protocols") as opened:
        found = {row["broker_port"]: row["client_begin"] for row in opened.metric("foreign_connections").to_pylist()}
    assert bytes.fromhex(found[5432])[:3] == b"\0\0\0"
    for port in (7000, 9090):
        assert bytes.fromhex(found[port])[:2] == b"\0\0"
    assert bytes.fromhex(found[5672]) == b"AMQP"
    assert bytes.fromhex(found[6379])[:1] == b"*"
    assert bytes.fromhex(found[9042])[:1] == b"\x04"


def test_a_web_server_is_no_broker() -> None:
    with read("kafka_at_http") as opened:
        found = told(opened)
        (coverage,) = opened.metric("coverage").to_pylist()
        rows = opened.connections.to_pylist()
    assert found == {"not_kafka_there": '10.30.0.80:80 answers in HTTP, not Kafka: 12 connections of "rdkafka"'}
    # No reply is missing in the capture: none was sent.
    assert (coverage["reply_lost"], coverage["closed"], coverage["skipped_malformed_bytes"]) == (0, 12, 0)
    for row in rows:
        assert row["broker_speaks"] == "http" and row["broker_skipped_foreign_bytes"] == row["broker_stream_bytes"] > 0
