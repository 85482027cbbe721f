"""Who a connection belongs to: cluster, node, role, user and place of the capture, against the broker's log and the README."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import cramjam
import pytest
from agreement import API_VERSIONS, connection_name, match
from oracle import Capture, connection, read_log
from program import Analyse, Analysis, found_capture

# What brokers call the connections that they open themselves, and whose they are.
NAMES = {
    r"broker-\d+-fetcher-\d+": {"follower"},
    r"raft-client-\d+": {"raft"},
    r"broker-\d+-txn-marker-sender": {"txn_coordinator"},
    r"AddPartitionsManager-client-\d+": {"txn_coordinator"},
    r"(Persister|NetworkPartitionMetadataClient)-client-\d+": {"share_coordinator"},
    r"\d+": {"controller", "forwarding"},
    r"(shop|orders|adminclient|console)-.*": {"client"},
}


def analysed(name: str, analyse: Analyse) -> Analysis:
    capture = found_capture(name)
    return analyse(capture.files)


def log_rows(shared: Path, name: str) -> list[dict[str, Any]]:
    packed = (shared / "captures" / "lab" / f"{name}.requests.jsonl.zst").read_bytes()
    return [json.loads(line) for line in bytes(cramjam.zstd.decompress(packed)).splitlines()]


def test_nothing_of_one_cluster_is_told_of_the_other(shared: Path, analyse: Analyse) -> None:
    truth = json.loads((shared / "captures" / "lab" / "TRUTH.json").read_text())["two_clusters"]["clusters"]
    expected = {each["port"]: each["cluster_id"] for each in truth.values()}
    seen = defaultdict(set)
    for row in analysed("two_clusters", analyse).connections:
        if row["is_kafka"]:
            seen[row["broker_port"]].add((row["cluster"], row["broker_id"]))
    for port, cluster in expected.items():
        assert seen.pop(port) == {(cluster, 1)}
    # Nobody told the controllers' connections whose they are: unknown, or their own cluster's.
    controllers = {each["controller_port"]: each["cluster_id"] for each in truth.values()}
    for port, found in seen.items():
        assert {cluster for cluster, _ in found} <= {None, controllers[port]}


@pytest.mark.parametrize("name", ["broker_11", "broker_24", "broker_28", "cluster"])
def test_the_node_is_the_one_whose_log_it_is(name: str, shared: Path, analyse: Analyse) -> None:
    logged = defaultdict(set)
    for row in log_rows(shared, name):
        address, port = re.match(r"(.+?):(\d+)-", row["connection"]).groups()  # type: ignore[union-attr]
        logged[address, int(port)].add(row["broker"])
    told = 0
    for row in analysed(name, analyse).connections:
        if row["is_kafka"] and row["broker_id"] is not None:
            assert logged[row["broker_address"], row["broker_port"]] == {row["broker_id"]}
            told += 1
    assert told > 50


def test_roles_are_those_that_the_names_say(logged: Capture, analyse: Analyse) -> None:
    """Brokers give their own connections names. The rules use them for two kinds only; the sweeps send what they like."""
    if logged.name.startswith("sweep_"):
        pytest.skip("sends every request from one client")
    tables = analyse(logged.files)
    roles = {row["connection"]: row["role"] for row in tables.connections}
    for row in tables.exchanges:
        known = next((found for name, found in NAMES.items() if re.fullmatch(name, row["client_id"] or "")), None)
        role = roles[row["connection"]]
        assert row["role"] == role
        if known and role is not None:
            assert role in known, (row["client_id"], row["api_name"])


@pytest.mark.parametrize("name", ["sasl", "sasl_old", "sasl_token", "basics"])
def test_users_are_those_of_the_log(name: str, analyse: Analyse) -> None:
    capture = found_capture(name)
    found = match(analyse(capture.files).exchanges, read_log(capture.log))
    wrong = [
        (line.principal, row["principal"], row["api_name"])
        for line, row in found.pairs
        if (row["principal"] or "User:ANONYMOUS") != line.principal
    ]
    assert not wrong
    assert {line.principal for line, _ in found.pairs} > {"User:ANONYMOUS"} or name == "basics"


def test_software_is_that_of_the_log(logged: Capture, analyse: Analyse) -> None:
    """Of connections whose beginning is in the capture. A broker knows it from ApiVersions on; before 2.4 it does not log it."""
    tables = analyse(logged.files)
    named = {
        row["connection"]: (row["software_name"], row["software_version"])
        for row in tables.connections
        if row["seen_from"] == "syn"
    }
    pairs = [
        (line, row) for line, row in match(tables.exchanges, read_log(logged.log)).pairs if row["connection"] in named
    ]
    told = {row["connection"]: line.software for line, row in pairs if line.software}
    # Who names another one in mid-connection is that from then on.
    assert not {connection: each for connection, each in told.items() if each != named[connection]}
    # Nor is one told of a connection that goes on without one.
    untold = {row["connection"] for _, row in pairs if row["api_key"] != API_VERSIONS} - told.keys()
    assert not told or {named[connection] for connection in untold} <= {(None, None)}


@pytest.mark.parametrize("name", ["kafka44_clients", "kafka44_failover", "kafka44_mm2", "kafka44_on43"])
def test_the_cluster_that_a_client_means_is_that_of_the_log(name: str, shared: Path, analyse: Analyse) -> None:
    """Brokers before 4.4 log nothing of such a request."""
    told = {
        connection(row["connection"]): (row["request"]["clusterId"], row["request"]["nodeId"])
        for row in log_rows(shared, name)
        if row["requestHeader"]["requestApiKey"] == API_VERSIONS and "clusterId" in row["request"]
    }
    assert told or name == "kafka44_on43"
    for row in analysed(name, analyse).connections:
        node = -1 if row["asked_node_id"] is None else row["asked_node_id"]
        if (expected := told.pop(connection_name(row), None)) is not None:
            assert (row["asked_cluster_id"], node) == expected
    assert not told


@pytest.mark.parametrize(
    ("name", "side"), [("routed_client", "client"), ("routed_broker", "broker"), ("basics", None), ("cluster", None)]
)
def test_where_the_capture_was_taken(name: str, side: str | None, analyse: Analyse) -> None:
    rows = analysed(name, analyse).connections
    assert {row["capture_side"] for row in rows if row["is_kafka"]} == {side}
