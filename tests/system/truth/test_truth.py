"""What kanalyze says of a lab capture against what the broker's own log says of it (expected/, made by write_expected.py).

Every answer must be equal. Left out of ours, by rule: what the log does not have (`not_logged`, Envelopes among
it: their inside is logged in the name of the client), and requests without a reply, which the expectation leaves out as well.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import oracle
import pytest
from effort import LONG
from paths import SAMPLES

import analyzer

HERE = Path(__file__).resolve().parent
EXPECTED = {path.stem: path for path in sorted((HERE / "expected").glob("*.json"))}
# One correlation id is used again and again on one connection there, so exchanges cannot be told apart by it.
AMBIGUOUS = {"errors"}
# What their logs tell of, others tell too, of other releases or on other ways; `make test-all` asks them.
LIKE_OTHERS = {
    "basics", "broker_24", "congested", "groups_share", "ipv6", "routed_broker", "routed_client", "sasl_old", "sweep_39",
    "two_clusters",
}  # fmt: skip
# The log of these brokers is text: nested structs lose error codes and sizes that the frames have (the lab's README).
TEXT_LOGS = {"broker_11", "broker_24"}
Row = dict[str, Any]


def folder_of(name: str, request: pytest.FixtureRequest) -> Path:
    if any(SAMPLES.glob(f"{name}.*pcap*")):
        return SAMPLES
    shared: Path = request.getfixturevalue("shared")
    return shared / "captures" / "lab"


class Told:
    """The answers of one capture, in the form of the expectation."""

    def __init__(self, files: tuple[Path, ...], truth: dict[str, Any]) -> None:
        self.truth = truth
        with analyzer.read(list(files)) as cap:
            names = (
                "exchange, connection, client_address, client_port, broker_address, broker_port, api_key, api_version, "
                "correlation_id, client_id, principal, status, throttle_time_ms"
            )
            rows = cap.sql(f"SELECT {names} FROM exchanges WHERE api_key IS NOT NULL").to_pylist()
            left_out = {tuple(key) for key in truth["not_logged"]}
            self.rows = [
                row
                for row in rows
                if row["status"] == "answered"
                and (address(row), row["correlation_id"], row["api_key"], row["api_version"]) not in left_out
            ]
            counted = {row["exchange"]: row for row in self.rows}
            self.errors = [
                row for row in cap.errors.to_pylist() if row["exchange"] in counted and row["side"] == "response"
            ]
            self.links = cap.connections.to_pylist()
            self.groups = [row for row in cap.group_events.to_pylist() if row["exchange"] in counted]
            self.transactions = [row for row in cap.transaction_events.to_pylist() if row["exchange"] in counted]
            self.entries = [
                row
                for row in cap.sql(
                    "SELECT e.exchange, e.topic, e.record_bytes FROM entries AS e JOIN exchanges AS x USING (exchange) "
                    "WHERE x.api_key = 0 AND e.side = 'request'"
                ).to_pylist()
                if row["exchange"] in counted
            ]
            self.by_exchange = counted


def address(row: Row) -> str:
    sides = ((row[f"{side}_address"], row[f"{side}_port"]) for side in ("broker", "client"))
    return "-".join(f"{host}:{port}" for host, port in sides)


@pytest.fixture(scope="module", params=sorted(set(EXPECTED) - AMBIGUOUS - (set() if LONG else LIKE_OTHERS)))
def told(request: pytest.FixtureRequest) -> Told:
    """One capture at a time: pytest runs all tests of a capture before it goes on to the next."""
    name: str = request.param
    captures = {each.name: each for each in oracle.captures(folder_of(name, request))}
    return Told(captures[name].files, json.loads(EXPECTED[name].read_text(encoding="utf-8")))


def test_requests(told: Told) -> None:
    assert Counter(str(row["api_key"]) for row in told.rows) == told.truth["requests"]


def test_errors(told: Told, request: pytest.FixtureRequest) -> None:
    # Replies that hold the code, not how often each does.
    codes = {(row["exchange"], row["code"]) for row in told.errors}
    found = Counter(f"{told.by_exchange[exchange]['api_key']}:{code}" for exchange, code in codes)
    if any(name in request.node.name for name in TEXT_LOGS):
        assert {pair: n for pair, n in found.items() if pair in told.truth["errors"]} == told.truth["errors"]
    else:
        assert found == told.truth["errors"]


def test_throttling(told: Told) -> None:
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in told.rows:
        if row["throttle_time_ms"]:
            sums = found[row["client_id"]]
            sums[0] += 1
            sums[1] += row["throttle_time_ms"]
    assert found == told.truth["throttled"]


def test_principals(told: Told) -> None:
    found = {address(row): row["principal"] for row in told.links if row["principal"]}
    assert {name: found.get(name) for name in told.truth["principals"]} == told.truth["principals"]


def test_software(told: Told) -> None:
    # On connections that are older than the capture the client told it before.
    found = {
        address(row): f"{row['software_name']} {row['software_version']}"
        for row in told.links
        if row["seen_from"] == "syn"
    }
    assert set(found) & set(told.truth["software"]) or not told.truth["software"]
    assert {name: words for name, words in found.items() if name in told.truth["software"]} == {
        name: words for name, words in told.truth["software"].items() if name in found
    }


def test_groups(told: Told) -> None:
    joins = [
        row
        for row in told.groups
        if row["event"] == "join"
        and row["group_type"] == "classic"
        and row["error_code"] == 0
        and row["generation"] >= 0
    ]
    found = {
        name: {
            "generation": max(row["generation"] for row in joins if row["group_id"] == name),
            "members": len({row["member_id"] for row in joins if row["group_id"] == name}),
        }
        for name in {row["group_id"] for row in joins}
    }
    assert found == told.truth["groups"]


def test_transactions(told: Told) -> None:
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for row in told.transactions:
        if row["event"] == "end" and row["error_code"] == 0:
            found[row["transactional_id"]][0 if row["committed"] else 1] += 1
    assert found == told.truth["transactions"]


def test_produced_bytes(told: Told) -> None:
    found: Counter[str] = Counter()
    for row in told.entries:
        found[row["topic"]] += row["record_bytes"] or 0
    assert {topic: found.get(topic) for topic in told.truth["produced_bytes"]} == told.truth["produced_bytes"]
