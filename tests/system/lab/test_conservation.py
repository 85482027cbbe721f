"""Nothing gets lost: bytes, requests and replies add up on every capture there is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from effort import one_in
from oracle import Capture
from paths import SHARED
from program import Analyse, Analysis, Row

REQUEST_STATUSES = {"answered", "no_reply_expected", "pending", "closed", "abandoned", "reply_lost"}
PACKET_OUTCOMES = (
    "tcp_packets",
    "not_ip_packets",
    "not_tcp_packets",
    "fragment_packets",
    "cut_packets",
    "malformed_packets",
    "unknown_link_packets",
)
PUBLIC = SHARED / "captures" / "public"


def unaccounted(row: Row) -> Iterator[str]:
    """Sides of a connection whose stream bytes, as reassembly counted them, are neither in a frame, nor skipped for a known
    reason, nor what TLS adds."""
    for side in ("client", "broker"):
        skipped = sum(size for column, size in row.items() if column.startswith(f"{side}_skipped_"))
        if row[f"{side}_stream_bytes"] != row[f"{side}_framed_bytes"] + skipped + row[f"{side}_tls_overhead_bytes"]:
            yield side


def assert_conserved(analysis: Analysis) -> None:
    """Design, section 3: stream bytes = framed + skipped; every request and every reply has one of the known ends."""
    for row in analysis.captures:
        assert row["packets"] == sum(row[column] for column in PACKET_OUTCOMES), row
    for row in analysis.connections:
        assert not list(unaccounted(row)), row
    statuses = Counter(row["status"] for row in analysis.exchanges)
    assert set(statuses) <= REQUEST_STATUSES | {"orphan_reply"}, statuses
    asked = (row for row in analysis.exchanges if row["request_time_ns"] is not None and row["kind"] != "sasl_token")
    per_connection = Counter(row["connection"] for row in asked)
    kafka = (row for row in analysis.connections if row["is_kafka"])
    assert per_connection == Counter({row["connection"]: row["requests"] for row in kafka if row["requests"]})
    replies = sum(row["response_time_ns"] is not None for row in analysis.exchanges)
    assert replies == statuses["answered"] + statuses["orphan_reply"]
    identities = Counter(row["exchange"] for row in analysis.exchanges)
    assert all(count == 1 for count in identities.values()), identities.most_common(3)
    failed = {row["exchange"]: row["error_count"] for row in analysis.exchanges if row["error_code"]}
    errors = Counter(row["exchange"] for row in analysis.errors)
    # Of a reply that was cut the number of errors is not known.
    assert errors == {exchange: errors[exchange] if count is None else count for exchange, count in failed.items()}


def test_lab_capture_adds_up(capture: Capture, analyse: Analyse) -> None:
    assert_conserved(analyse(capture.files))


def test_requests_and_replies_are_as_many_as_counted(framed: Capture, analyse: Analyse) -> None:
    rows = [row for row in analyse(framed.files).exchanges if row["kind"] != "sasl_token"]
    assert sum(row["request_time_ns"] is not None for row in rows) == framed.fact("pcap_request_frames")
    assert sum(row["response_time_ns"] is not None for row in rows) == framed.fact("pcap_response_frames")


def test_frames_are_as_many_bytes_as_the_connections_say(framed: Capture, analyse: Analyse) -> None:
    found = analyse(framed.files)
    for side, message in (("client", "request"), ("broker", "response")):
        in_frames = sum(row[f"{message}_bytes"] or 0 for row in found.exchanges)
        assert sum(row[f"{side}_framed_bytes"] for row in found.connections) == in_frames


def public_captures(kind: str) -> list[Path]:
    """Captures that other people published: `kafka`, or `edge`: bad input and odd packets, none of them Kafka."""
    return sorted(path for path in (PUBLIC / kind).rglob("*.*") if path.is_file()) if PUBLIC.is_dir() else []


@pytest.mark.parametrize("path", public_captures("kafka"), ids=lambda path: path.name)
def test_public_capture_adds_up(path: Path, analyse: Analyse) -> None:
    assert_conserved(analyse([path]))


@pytest.mark.parametrize("path", public_captures("edge")[:: one_in(4)], ids=lambda path: path.name)
def test_odd_capture_adds_up_and_is_not_taken_for_kafka(path: Path, analyse: Analyse) -> None:
    found = analyse([path], damaged=True)
    assert_conserved(found)
    assert not found.exchanges
    assert not [row for row in found.connections if row["is_kafka"]]
