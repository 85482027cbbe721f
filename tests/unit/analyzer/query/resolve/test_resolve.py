"""Raw rows to final tables: the rules of service times, mutes, fetch sessions and expected errors, each on a few rows."""

from __future__ import annotations

import re
from typing import Any

import pytest
from raw_rows import MS, SECOND, START_NS, dataset, entry, error, exchange, offer, part

from analyzer.ingest.facts.collect import kinds_for
from analyzer.query import resolve

# SYN to SYN+ACK takes long, the last ACK no time: captured at the client, 2 ms from the broker.
AT_CLIENT = {"syn_ack_ns": 2 * MS, "ack_ns": 10_000}
AT_BROKER = {"syn_ack_ns": 10_000, "ack_ns": 2 * MS}


def service(row: dict[str, Any], offered: int | None = 9, **ends: int) -> dict[str, Any]:
    facts = {} if offered is None else offer(offered)
    with dataset([part(**ends)], exchanges=[row], **facts) as found:
        return found.query("select service_ns, muted_ns, role from exchanges")[0]


@pytest.mark.slow
def test_the_way_counts_only_at_the_client_and_only_when_nothing_else_was_waited_for() -> None:
    assert service(exchange(1, 0, 5), **AT_CLIENT)["service_ns"] == 3 * MS
    assert service(exchange(1, 0, 5), **AT_BROKER)["service_ns"] == 5 * MS
    assert service(exchange(1, 0, 1), **AT_CLIENT)["service_ns"] == 0
    assert service(exchange(1, 0, 5, queue_ns=4 * MS), **AT_CLIENT)["service_ns"] == 1 * MS
    assert service(exchange(1, 0, 5, queue_ns=1 * MS, muted_ns=3 * MS), **AT_CLIENT)["service_ns"] == 1 * MS


@pytest.mark.slow
def test_a_mute_counts_for_brokers_that_mute_and_is_unknown_for_unknown_ones() -> None:
    row = exchange(1, 0, 100, muted_ns=90 * MS, api_version=6)
    assert service(row, offered=9) == {"service_ns": 10 * MS, "muted_ns": 90 * MS, "role": "client"}
    assert service(row, offered=5) == {"service_ns": 100 * MS, "muted_ns": 0, "role": "client"}
    assert service(row, offered=None) == {"service_ns": None, "muted_ns": None, "role": "client"}
    assert service(exchange(1, 0, 100), offered=None)["service_ns"] == 100 * MS
    # A version that came with 2.0 or later and was answered proves as much as an offer.
    for key, version in ((0, 6), (1, 8), (2, 4), (3, 7), (8, 6), (10, 3), (42, 2), (43, 0)):
        newer = row | {"api_key": key, "api_version": version}
        assert service(newer, offered=None)["muted_ns"] == 90 * MS
        assert service(newer | {"api_key": min(key, 42), "api_version": version - 1}, offered=None)["muted_ns"] is None


def test_a_lost_reply_leaves_the_next_service_time_unknown() -> None:
    assert service(exchange(1, 0, 5, queue_ns=None, muted_ns=None))["service_ns"] is None


def mutes(*rows: dict[str, Any], offered: int = 9) -> list[dict[str, Any]]:
    with dataset(exchanges=list(rows), **offer(offered)) as found:
        return found.query("select * from mutes order by begin_ns")


@pytest.mark.slow
def test_what_a_client_does_in_a_mute() -> None:
    (row,) = mutes(
        exchange(1, 0, 10, throttle_time_ms=100),
        exchange(2, 30, 111),  # waits for 80 of the 100 ms
        exchange(3, 107, 112),  # 3 ms before the end: within the tolerance, so neither inside ...
    )
    assert (row["begin_ns"], row["end_ns"]) == (START_NS + 10 * MS, START_NS + 110 * MS)
    assert (row["held_ns"], row["sent_inside"], row["resumed_ns"], row["applies"]) == (80 * MS, 1, 0, True)
    (row,) = mutes(exchange(1, 0, 10, throttle_time_ms=100), exchange(2, 150, 151))
    assert (row["held_ns"], row["sent_inside"], row["resumed_ns"]) == (0, 0, 40 * MS)
    (row,) = mutes(exchange(1, 0, 10, throttle_time_ms=100))
    assert (row["held_ns"], row["sent_inside"], row["resumed_ns"]) == (0, 0, None)


def test_a_reply_inside_a_window_shows_that_nothing_waited_longer() -> None:
    (row,) = mutes(exchange(1, 0, 10, throttle_time_ms=100), exchange(2, 20, 25))
    assert row["held_ns"] == 5 * MS


@pytest.mark.parametrize(("sent_ms", "held_ms"), [(105, 80), (109, 80), (112, 80), (209, 80), (211, 0), (60, 50)])
def test_what_the_broker_has_no_room_for_waits_while_it_is_sent(sent_ms: int, held_ms: int) -> None:
    """A request of which the last byte gets through when the mute ends, at 110 ms."""
    (row,) = mutes(
        exchange(1, 0, 10, throttle_time_ms=100), exchange(2, 30, 300, request_end_ns=START_NS + sent_ms * MS)
    )
    assert row["held_ns"] == held_ms * MS


@pytest.mark.parametrize(("close", "ends_ms"), [("none", 4000), ("fin", 60)])
def test_a_mute_lasts_until_its_connection_ends_or_the_capture_does(close: str, ends_ms: int) -> None:
    """The broker reads nothing of a connection that is open and silent, whatever its last packet was."""
    open_until = part(close=close, last_time_ns=START_NS + 60 * MS)
    with dataset([open_until], exchanges=[exchange(1, 0, 10, throttle_time_ms=9000)], **offer(9)) as found:
        (row,) = found.query("select begin_ns, end_ns from mutes")
    assert (row["begin_ns"], row["end_ns"]) == (START_NS + 10 * MS, START_NS + ends_ms * MS)


def test_old_brokers_mute_nothing() -> None:
    (row,) = mutes(
        exchange(1, 0, 110, throttle_time_ms=100, api_version=6), exchange(2, 120, 121, api_version=6), offered=5
    )
    assert (row["applies"], row["held_ns"], row["sent_inside"], row["resumed_ns"]) == (False, None, None, None)


def fetch(number: int, at_ms: float, epoch: int, reply_ms: float | None = None, **values: Any) -> dict[str, Any]:
    ends = at_ms + 1 if reply_ms is None else reply_ms
    said = {
        "api_key": 1,
        "api_version": 12,
        "session_id": 7,
        "session_epoch": epoch,
        "max_wait_ms": 500,
        "replica_id": -1,
    }
    return exchange(number, at_ms, ends, **said | {"record_bytes": 100} | values)


@pytest.mark.slow
def test_a_session_of_many_partitions_knows_one_that_it_does_not_name() -> None:
    """Partition 0 tells of a new end without records: it lies behind from then on, although nobody names it, until it is
    read. A row is written for what a Fetch names, not for each partition of each Fetch."""
    many = range(500)
    entries = [entry(1, "request", number, offset=10) for number in many]
    entries += [entry(1, "response", number, high_watermark=10, record_bytes=0) for number in many]
    # The second: partition 1 gets records, partition 0 only a new end.
    entries += [entry(2, "response", 1, high_watermark=12, record_bytes=50, next_offset=12)]
    entries += [entry(2, "response", 0, high_watermark=15, record_bytes=0)]
    # The third names partition 1 alone, whose records had all been read.
    entries += [
        entry(3, "request", 1, offset=12),
        entry(3, "response", 1, high_watermark=13, record_bytes=50, next_offset=13),
    ]
    # The fourth gets what partition 0 had; the fifth leaves it out of the session; the sixth is up to date again.
    entries += [entry(4, "request", 1, offset=13)]
    entries += [entry(4, "response", 0, high_watermark=15, record_bytes=50, next_offset=14)]
    entries += [entry(5, "request", 0, forgotten=True)]
    entries += [entry(5, "response", 1, high_watermark=14, record_bytes=50, next_offset=14)]
    rows = [fetch(number, 10 * number, number - 1) for number in (1, 2, 3, 4, 5)]
    with dataset(exchanges=rows, entries=entries) as found:
        kinds = [row["kind"] for row in found.query("select kind from exchanges order by exchange")]
        assert kinds == ["fetch_session", "fetch_tail", "fetch_backlog", "fetch_backlog", "fetch_tail"]
        positions = found.query("select * from fetch_positions order by time_ns, partition")
    assert len(positions) == 500 + 2 + 1 + 2 + 1
    last = positions[-1]
    assert (last["fetch_offset"], last["end_offset"], last["new_end_offset"], last["next_offset"]) == (13, 13, 14, 14)
    assert (last["lag"], last["behind"], last["partial"]) == (0, False, False)
    (waiting,) = (row for row in positions if row["exchange"] == 4 and row["partition"] == 0)
    assert (waiting["fetch_offset"], waiting["next_offset"], waiting["lag"], waiting["behind"]) == (10, 14, 1, True)


@pytest.mark.slow
def test_read_committed_reads_to_the_last_stable_offset() -> None:
    ends = {"high_watermark": 20, "last_stable_offset": 10}
    entries = [entry(1, "request", offset=10), entry(1, "response", record_bytes=0, **ends)]
    entries += [entry(2, "response", record_bytes=5, next_offset=12, high_watermark=20, last_stable_offset=12)]
    rows = [fetch(1, 0, 0, isolation_level=1), fetch(2, 10, 1, isolation_level=1)]
    with dataset(exchanges=rows, entries=entries) as found:
        assert found.query("select kind from exchanges where exchange = 2") == [{"kind": "fetch_tail"}]
        assert found.query("select lag from fetch_positions where exchange = 2") == [{"lag": 0}]
    with dataset(exchanges=[row | {"isolation_level": 0} for row in rows], entries=entries) as found:
        assert found.query("select kind from exchanges where exchange = 2") == [{"kind": "fetch_backlog"}]


def test_a_session_that_began_before_the_capture_is_partial_and_what_it_has_not_told_is_unknown() -> None:
    entries = [entry(1, "response", high_watermark=20, record_bytes=5, next_offset=12)]
    entries += [entry(2, "request", offset=12), entry(2, "response", high_watermark=20, record_bytes=5, next_offset=20)]
    with dataset(exchanges=[fetch(1, 0, 41), fetch(2, 10, 42)], entries=entries) as found:
        assert [row["kind"] for row in found.query("select kind from exchanges order by exchange")] == [
            "fetch_unknown",
            "fetch_backlog",
        ]
        assert found.query("select partial, fetch_offset from fetch_positions order by time_ns") == [
            {"partial": True, "fetch_offset": None},
            {"partial": True, "fetch_offset": 12},
        ]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ({"record_bytes": 0, "session_id": 0, "session_epoch": -1}, "fetch_now"),
        ({"record_bytes": 0, "reply_ms": 500}, "fetch_empty"),
        # Cut by the snap length: how long it might wait is not known, or not what the reply held.
        ({"record_bytes": 0, "max_wait_ms": None, "reply_ms": 50}, "fetch_unknown"),
        # At once is no wait at all.
        ({"record_bytes": 0, "max_wait_ms": None}, "fetch_now"),
        ({"record_bytes": 0, "reply_ms": 500, "response_decoded": "truncated"}, "fetch_unknown"),
        ({"record_bytes": 0, "throttle_time_ms": 9}, "fetch_throttled"),
        ({"session_id": 7, "epoch": 0}, "fetch_session"),
        ({"session_id": 7, "epoch": -1}, "fetch_session"),
        ({"error_code": 70}, "fetch_session"),
        ({"error_code": 6}, "fetch_error"),
        ({"replica_id": 2}, "fetch_follower"),
        ({"replica_id": 2, "session_id": 0, "epoch": -1, "min_bytes": 0}, "fetch_raft"),
        ({"session_id": 0, "epoch": -1}, "fetch_unknown"),
    ],
)
def test_kinds_that_need_no_session(values: dict[str, Any], kind: str) -> None:
    said = dict(values)
    row = fetch(1, 0, said.pop("epoch", said.pop("session_epoch", 3)), said.pop("reply_ms", None), **said)
    with dataset(exchanges=[row]) as found:
        assert found.query("select kind from exchanges") == [{"kind": kind}]


@pytest.mark.slow
def test_kinds_that_entries_tell() -> None:
    entries = [entry(1, "response", preferred_read_replica=3, record_bytes=0)]
    with dataset(exchanges=[fetch(1, 0, 3, record_bytes=0)], entries=entries) as found:
        assert found.query("select kind from exchanges") == [{"kind": "fetch_redirect"}]
    entries = [entry(1, "request", topic="__cluster_metadata", offset=5)]
    with dataset(exchanges=[fetch(1, 0, -1, session_id=0)], entries=entries) as found:
        assert found.query("select kind from exchanges") == [{"kind": "fetch_raft"}]


def judged(code: int, api_key: int, *seconds: float, **values: Any) -> list[bool | None]:
    rows = [exchange(number, 1000 * at, 1000 * at, api_key=api_key) for number, at in enumerate(seconds)]
    with dataset(
        exchanges=rows, errors=[error(number, code, api_key, **values) for number in range(len(rows))]
    ) as found:
        return [row["expected"] for row in found.query("select expected from errors order by exchange")]


@pytest.mark.slow
def test_an_expected_error_is_expected_for_its_time() -> None:
    moved = {"topic": "orders", "partition": 1}
    assert judged(6, 0, 0, 4, 9.9, **moved) == [True, True, True]
    assert judged(6, 0, 0, 6, 11, 16, **moved) == [True, True, False, False]
    # Another failover, much later.
    assert judged(6, 0, 0, 100, 105, **moved) == [True, True, True]
    # A topic on its first use: five seconds, and no second first time.
    assert judged(3, 3, 0, 4, 60, topic="new") == [True, True, False]
    assert judged(19, 0, 0) == [False]
    assert judged(3, 0, 0) == [None]


@pytest.mark.slow
def test_an_error_that_a_later_answer_excuses() -> None:
    ask_again_after(35, 18)
    ask_again_after(79, 11)


def ask_again_after(code: int, api_key: int) -> None:
    first = exchange(1, 0, 1, api_key=api_key, error_code=code)
    again = exchange(2, 5, 6, api_key=api_key, error_code=code)
    # Without another attempt, or without its answer, nobody knows what became of it.
    for later, expected in (
        ([exchange(2, 5, 6, api_key=api_key)], [True]),
        ([], [None]),
        ([exchange(2, 5, 6, api_key=api_key, error_code=None)], [None]),
        ([again], [False, None]),
    ):
        refused = [row for row in (first, *later) if row["error_code"] == code]
        errors = [error(row["exchange"], code, api_key) for row in refused]
        with dataset(exchanges=[first, *later], errors=errors) as found:
            told = found.query("select expected from errors order by exchange")
            assert [row["expected"] for row in told] == expected


@pytest.mark.slow
@pytest.mark.parametrize(("succeeds", "expected"), [(True, [True] * 8), (False, [True] * 6 + [False] * 2)])
def test_what_succeeded_in_between_has_not_failed_for_long(succeeds: bool, expected: list[bool]) -> None:
    """A producer whose transactions follow each other closely is refused once each second (code 51), and the capture ends so."""
    rows = [exchange(n, 1000 * n, 1000 * n + 1, api_key=24, error_code=51) for n in range(8)]
    done = [exchange(20 + n, 1000 * n + 200, 1000 * n + 201, api_key=24) for n in range(7)]
    errors = [error(n, 51, 24) for n in range(8)]
    with dataset(exchanges=[*rows, *(done if succeeds else [])], errors=errors) as found:
        assert [row["expected"] for row in found.query("select expected from errors order by exchange")] == expected


@pytest.mark.slow
def test_offset_out_of_range_is_a_failure_of_clients_only() -> None:
    for replica, expected in ((-1, False), (2, None)):
        rows = [fetch(1, 0, 3, replica_id=replica, error_code=1)]
        with dataset(exchanges=rows, errors=[error(1, 1, 1, topic="orders", partition=0)]) as found:
            assert found.query("select expected from errors") == [{"expected": expected}]


def test_clusters_and_nodes_are_told_by_addresses_and_never_guessed() -> None:
    parts = [
        part(1),  # is told the id, and of two nodes
        part(2, broker_address="10.0.1.2"),  # the other node, which said nothing
        part(3, broker_address="10.0.9.9", broker_port=9093),  # nobody advertises it
        part(4, broker_address="10.0.5.1"),  # another cluster, without an id (Metadata v1)
        part(5, broker_address="10.0.5.2"),  # its second node
    ]
    told = [{"exchange": n, "part": n, "body": n, "time_ns": START_NS} for n in (1, 4, 5)]
    nodes = [(1, 1, "10.0.1.1"), (1, 2, "10.0.1.2"), (4, 1, "10.0.5.1"), (4, 2, "10.0.5.2"), (5, 2, "10.0.5.2")]
    facts = {
        "reported": told,
        "cluster_facts": [{"body": 1, "cluster_id": "east"}],
        "broker_facts": [{"body": body, "node_id": node, "host": host, "port": 9092} for body, node, host in nodes],
    }
    with dataset(parts, exchanges=[exchange(1, 0, 1)], **facts) as found:
        rows = found.query("select cluster, broker_id from connection_context order by part")
    ours = "10.0.5.1:9092"
    assert [tuple(row.values()) for row in rows] == [("east", 1), ("east", 2), (None, None), (ours, 1), (ours, 2)]


@pytest.mark.parametrize(
    ("offered", "told", "cluster"),
    [(5, None, "west"), (4, None, "east"), (None, None, "east"), (5, "east", None)],
    ids=("accepted", "a broker that does not look", "refused", "told otherwise"),
)
def test_a_cluster_is_the_one_that_a_client_means_when_its_broker_accepts(
    offered: int | None, told: str | None, cluster: str | None
) -> None:
    """Here at an address at which another client was told of another cluster before."""
    facts = {
        "reported": [{"exchange": n, "part": n, "body": n, "time_ns": START_NS} for n in (1, 2)],
        "cluster_facts": [{"body": 1, "cluster_id": "east"}],
        "asked_facts": [{"body": 2, "asked_cluster_id": "west", "asked_node_id": 7}],
    }
    if offered is not None:
        facts["reported"].append({"exchange": 2, "part": 2, "body": 3, "time_ns": START_NS})
        facts["version_facts"] = [{"body": 3, "api_key": 18, "min_version": 0, "max_version": offered}]
    if told is not None:
        facts["reported"].append({"exchange": 3, "part": 2, "body": 1, "time_ns": START_NS})
    parts = [part(1, broker_address="10.0.2.1" if told else "10.0.1.1"), part(2)]
    with dataset(parts, exchanges=[exchange(n, 0, 1, part=n) for n in (1, 2)], **facts) as found:
        assert found.query("select cluster from connection_context where part = 2") == [{"cluster": cluster}]
        assert found.query("select * from part_asked") == [{"part": 2, "asked_cluster_id": "west", "asked_node_id": 7}]


@pytest.mark.parametrize(("lists_all", "first"), [(True, 1), (False, None)])
def test_host_names_are_matched_by_a_port_that_only_one_node_has(lists_all: bool, first: int | None) -> None:
    """Where a message lists all nodes: one that registers itself, or is a coordinator, tells nothing of the others."""
    nodes = [
        {"body": 1, "node_id": n, "host": f"kafka{n}.example", "port": port, "lists_all": lists_all}
        for n, port in ((1, 9092), (2, 9094), (3, 9094))
    ]
    facts = {
        "reported": [{"exchange": 1, "part": n, "body": 1, "time_ns": START_NS} for n in (1, 2)],
        "cluster_facts": [{"body": 1, "cluster_id": "east"}],
        "broker_facts": nodes,
    }
    with dataset([part(1), part(2, broker_port=9094)], exchanges=[exchange(1, 0, SECOND / MS)], **facts) as found:
        assert found.query("select broker_id from connection_context order by part") == [
            {"broker_id": first},
            {"broker_id": None},
        ]


def test_fact_times_has_every_api_with_facts_of_events() -> None:
    wanted = {kind.key for kind in kinds_for(True, True, True)} - {kind.key for kind in kinds_for(False, False, False)}
    assert {int(number) for number in re.findall(r"\b\d+\b", resolve.sql("fact_times"))} == wanted
