"""What can each API cost, and which account holds that? A request that takes long, is refused, has no reply, or is sent again.

What Produce alone can cost, acknowledged records (account `data`), is in `test_metric_impact`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_rows import SECOND_NS, START_NS, Rows, connection, dataset, error, exchange
from stage_kinds import KEYS, kind

# What is held of an API that is not below.
ANY = frozenset({"time", "refused", "unanswered"})
# They come with each batch, poll or transaction, or report to a group: alike by design. Of brokers everything is.
COME_AGAIN = frozenset(
    [
        "Produce",
        "Fetch",
        "Heartbeat",
        "ConsumerGroupHeartbeat",
        "ShareGroupHeartbeat",
        "StreamsGroupHeartbeat",
        "OffsetCommit",
        "ShareFetch",
        "ShareAcknowledge",
        "AddPartitionsToTxn",
        "AddOffsetsToTxn",
        "EndTxn",
        "TxnOffsetCommit",
        "Envelope",
    ]
)
OTHERS = {
    # Records were there: it should have been given some, and at once. Without any it waits by design, and costs nothing.
    "Fetch": ANY | {"no progress"},
    # How long it may wait for records stands in its session, and whether there were any is told nowhere.
    "ShareFetch": ANY - {"time"},
    # The members of the group are waited for.
    "JoinGroup": ANY - {"time"} | {"rebalance"},
    "SyncGroup": ANY - {"time"} | {"rebalance"},
}
# From a broker: of a client's request that it passes on, whose time is lost for the client; a heartbeat may wait for a stop, which
# the rule `shutdown_held` tells.
PASSED_ON = frozenset({"CreateTopics", "DeleteTopics", "DeleteRecords", "ElectLeaders", "BrokerHeartbeat"})


def held(name: str, is_client: bool) -> set[str]:
    found = set(OTHERS.get(name, ANY))
    if is_client and name not in COME_AGAIN:
        found.add("repeated")
    if not is_client and name in PASSED_ON:
        found.remove("time")
    return found


def everything_goes_wrong(role: str) -> dict[str, Rows]:
    """Of each API: two requests alike that take a second, one that is refused, and one that its client gives up."""
    rows: Rows = []
    for name, key in KEYS.items():
        own: dict[str, Any] = {"connection": key, "client_address": f"10.0.0.{key}", "role": role, "record_bytes": 0}
        own |= {"api_key": key, "api_name": name, "kind": "fetch_backlog" if name == "Fetch" else kind(key)}
        for values in ({}, {}, {"error_count": 1, "error_code": 41}, {"status": "abandoned"}):
            moment = START_NS + len(rows) * SECOND_NS
            rows.append(exchange(len(rows), at_ns=moment, latency_ns=SECOND_NS, **own, **values))
    return {
        "exchanges": rows,
        "errors": [error(row["exchange"], 41, expected=False) for row in rows if row["error_count"]],
        "connections": [connection(key, role=role, client_address=f"10.0.0.{key}") for key in KEYS.values()],
    }


@pytest.mark.parametrize("role", ["client", "controller"])
def test_an_account_holds_what_each_api_can_cost(role: str, tmp_path: Path) -> None:
    found: dict[str, set[str]] = {name: set() for name in KEYS}
    with dataset(tmp_path, everything_goes_wrong(role)) as made:
        for row in made.ask("SELECT DISTINCT api_name, account FROM impacts WHERE api_name IS NOT NULL"):
            found[row["api_name"]].add(row["account"])
    assert found == {name: held(name, role == "client") for name in KEYS}
