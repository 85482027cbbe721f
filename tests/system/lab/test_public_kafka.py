"""Captures that other people published: requests, replies and latencies as the packets show them.

Seen with tshark and by hand; five of the files are whole sessions of a Go client (Linux cooked v2, three connections,
ids that do not grow), the others are one or two packets without a handshake. Two of those were edited by their authors:
their bodies have another shape than their header says, so only frames and times are asked for.
"""

from __future__ import annotations

from collections import Counter

import pytest
from paths import SHARED
from program import Analyse, Analysis

KAFKA = SHARED / "captures" / "public" / "kafka"
GO = KAFKA / "segmentio__kafka-go" / "fixtures"
FLOWS = KAFKA / "deepflowio__deepflow" / "agent" / "resources" / "test" / "flow_generator" / "kafka"

# (api key, version) -> requests in every session of the Go client; the fetches differ.
SESSION = {
    (18, 2): 3, (3, 7): 1, (10, 2): 1, (11, 4): 2, (14, 2): 1, (9, 5): 1, (2, 5): 1, (8, 6): 1, (13, 2): 1,
}  # fmt: skip
FETCH, HEARTBEAT = (1, 10), (12, 2)
SESSIONS = {
    "v1-v1.pcapng": {FETCH: 5},
    "v1c-v1c.pcapng": {FETCH: 5},
    "v2-v2.pcapng": {FETCH: 3},
    "v2c-v2c.pcapng": {FETCH: 3},
    "v2bc-v1.pcapng": {FETCH: 10, HEARTBEAT: 1},
}
# (api key, version), latency in ns.
SINGLE = {
    "00-produce-v2.pcap": ((0, 2), 16_107_000),
    "01-fetch-v12-perf.pcap": ((1, 12), 504_829_000),
    "01-fetch-v12-unknown.pcap": ((1, 12), 13_000_000_000),
    "11-join-group-v7.pcap": ((11, 7), 2_956_000),
    "14-sync-group-v5.pcap": ((14, 5), 2_922_000),
}

pytestmark = pytest.mark.skipif(not KAFKA.is_dir(), reason="no shared captures beside the checkout")


def versions(found: Analysis) -> Counter[tuple[int, int]]:
    return Counter((row["api_key"], row["api_version"]) for row in found.exchanges)


@pytest.mark.parametrize("name", SESSIONS)
def test_session_of_a_go_client(name: str, analyse: Analyse) -> None:
    found = analyse([GO / name])
    assert versions(found) == Counter({**SESSION, **SESSIONS[name]})
    assert {row["status"] for row in found.exchanges} == {"answered"}
    assert {row["response_decoded"] for row in found.exchanges} == {"full"}
    joins = [row["error_code"] for row in found.exchanges if row["api_key"] == 11]
    assert joins == [79, 0]  # MEMBER_ID_REQUIRED, then with the id it was given
    assert len({row["connection"] for row in found.exchanges}) == 3


@pytest.mark.parametrize("name", SINGLE)
def test_single_exchange(name: str, analyse: Analyse) -> None:
    api, latency_ns = SINGLE[name]
    (row,) = analyse([FLOWS / name]).exchanges
    assert (row["api_key"], row["api_version"]) == api
    assert (row["status"], row["latency_ns"]) == ("answered", latency_ns)


def test_unknown_error_code_is_kept(analyse: Analyse) -> None:
    (row,) = analyse([FLOWS / "01-fetch-v12-unknown.pcap"]).exchanges
    assert row["error_code"] == 5120


def test_one_direction_only(analyse: Analyse) -> None:
    (row,) = analyse([FLOWS / "produce-v9.pcap"]).exchanges
    assert (row["api_key"], row["api_version"], row["response_time_ns"]) == (0, 9, None)
    assert row["status"] == "pending"
