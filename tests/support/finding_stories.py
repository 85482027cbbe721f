"""For each rule of analyzer/query/findings: rows of tables in which it must fire, and rows close to them in which it must not.

The limits are those of the finding list that operators agreed on (5 % and 1 s of throttling, 30 events behind a rate, 10 s of
an election, ...), not what the SQL does today.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import incident_stories
from made_rows import SECOND_NS, START_NS, Rows, capture, connection, error, exchange
from member_stories import joins

Tables = dict[str, Rows]
MS_NS = 1_000_000
PRODUCE = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all", "acks": -1}
FETCH = {"api_key": 1, "api_name": "Fetch", "api_version": 17, "replica_id": -1}


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def from_two_hosts(rows: Rows) -> Rows:
    """Two clients of one name, in turn."""
    return [row | {"client_address": f"10.0.0.{number % 2 + 1}"} for number, row in enumerate(rows)]


def many(count: int, seconds: float, **values: Any) -> Rows:
    """`count` exchanges, evenly over so many seconds, numbered from `first`."""
    first = values.pop("first", 0)
    return [exchange(first + n, at_ns=at(seconds * n / count), **values) for n in range(count)]


# The broker had no records at first, and no such topic then.
HELD_FETCHES = many(2, 5, **FETCH, latency_ns=SECOND_NS)


def failing(code: int, exchanges: Rows, **values: Any) -> Tables:
    """The exchanges, each with one error of this code."""
    errors = [
        error(row["exchange"], code, connection=row["connection"], **({"name": f"E{code}", "expected": False} | values))
        for row in exchanges
    ]
    return {"exchanges": exchanges, "errors": errors, "connections": [connection(1)]}


def mute(number: int, begin_s: float, seconds: float, **values: Any) -> dict[str, Any]:
    """A throttled reply that mutes connection 1 for so long, held all the time."""
    row = {
        "exchange": number,
        "connection": 1,
        "begin_ns": at(begin_s),
        "end_ns": at(begin_s + seconds),
        "throttle_time_ms": int(seconds * 1000),
        "applies": True,
        "held_ns": int(seconds * SECOND_NS),
        "sent_inside": 0,
    }
    return row | values


def throttled(windows: list[tuple[float, float]], **values: Any) -> Tables:
    """Connection 1 lives ten seconds and is muted in these windows (begin, length in s)."""
    exchanges = [
        exchange(n, at_ns=at(begin), throttle_time_ms=int(length * 1000), **PRODUCE)
        for n, (begin, length) in enumerate(windows)
    ]
    mutes = [mute(n, begin, length, **values) for n, (begin, length) in enumerate(windows)]
    return {"exchanges": exchanges, "mutes": mutes, "connections": [connection(1)]}


def not_known(
    api: dict[str, Any], used_s: tuple[float, ...] = (), used_code: int = 0, count: int = 2, **link: Any
) -> Tables:
    """`count` requests, from 1 s on and 2 s apart, whose topic a broker does not know; Fetches of it with this code at `used_s`."""
    story = failing(3, [exchange(n, at_ns=at(1 + 2 * n), **api) for n in range(count)], topic="t")
    used = [exchange(50 + n, at_ns=at(when), **FETCH) for n, when in enumerate(used_s)]
    entry = {"connection": 1, "side": "response", "topic": "t", "partition": 1, "error_code": used_code}
    batch = {"connection": 1, "side": "request", "topic": "t", "partition": 0, "codec": "none", "records": 1}
    return story | {
        "entries": [entry | {"exchange": row["exchange"]} for row in used],
        "batches": [batch | {"exchange": row["exchange"]} for row in story["exchanges"] if api == PRODUCE],
        "exchanges": story["exchanges"] + used,
        "connections": [connection(1, **link)],
    }


def on_two_brokers(slow_ns: int, fast_ns: int, count: int = 40, **values: Any) -> Tables:
    """Produce requests to two brokers with these service times."""
    rows = many(count, 9, service_ns=slow_ns, **PRODUCE, **values)
    rows += many(count, 9, service_ns=fast_ns, first=1000, broker_address="10.0.1.2", connection=2, **PRODUCE)
    return {"exchanges": rows, "connections": in_clusters("c", "c")}


def in_clusters(one: str, other: str) -> Rows:
    """A connection of one client to a broker of each."""
    return [connection(1, cluster=one), connection(2, cluster=other, broker_address="10.0.1.2")]


def fetched(offsets: list[tuple[float, int, int]], timeout_ms: int | None = None) -> Tables:
    """Fetch replies about one partition: (moment in s, last stable offset, high watermark)."""
    exchanges = [exchange(n, at_ns=at(when), **FETCH) for n, (when, _, _) in enumerate(offsets)]
    entries = [
        {"exchange": n, "connection": 1, "side": "response", "topic": "t", "partition": 0}
        | {"last_stable_offset": stable, "high_watermark": high}
        for n, (_, stable, high) in enumerate(offsets)
    ]
    events = [{"event": "init", "transaction_timeout_ms": timeout_ms, "exchange": 0}] if timeout_ms else []
    return {
        "exchanges": exchanges,
        "entries": entries,
        "transaction_events": events,
        "connections": [connection(1, cluster="c")],
    }


def lagging(lags: list[int], step_s: float) -> Tables:
    """One consumer, one partition: its lag at even steps."""
    exchanges = [exchange(n, at_ns=at(n * step_s), **FETCH) for n in range(len(lags))]
    positions = [
        {
            "exchange": n,
            "connection": 1,
            "cluster": "c",
            "time_ns": at(n * step_s),
            "topic": "t",
            "partition": 0,
            "lag": lag,
        }
        for n, lag in enumerate(lags)
    ]
    return {"exchanges": exchanges, "fetch_positions": positions, "connections": [connection(1)]}


def committing(committed: list[int], ends: list[int], step_s: float = 5) -> Tables:
    """One consumer that has fetched all there is at even steps, and commits these offsets just behind; its group has no other."""
    story = lagging([0] * len(ends), step_s)
    positions = [row | {"new_end_offset": end} for row, end in zip(story["fetch_positions"], ends, strict=True)]
    asks = {"api_key": 8, "api_name": "OffsetCommit", "api_version": 8, "group_id": "g"}
    rows, entries = [], []
    for n, offset in enumerate(committed):
        rows.append(exchange(100 + n, at_ns=at(n * step_s + 1), **asks))
        entries.append(
            {"exchange": 100 + n, "connection": 1, "side": "request", "topic": "t", "partition": 0, "offset": offset}
        )
    told = {"exchanges": story["exchanges"] + rows, "fetch_positions": positions, "entries": entries}
    whole = {"captures": [capture(last_time_ns=at(len(ends) * step_s + 2))]}
    return story | told | whole | {"connections": [connection(1, cluster="c")]}


def small(count: int, records: int) -> Rows:
    """A batch of so many records in each of so many exchanges, packed so well that all are small, and a great one."""
    batch = {"connection": 1, "side": "request", "topic": "t", "partition": 0, "codec": "zstd", "records": records}
    return [batch | {"exchange": n, "bytes": 400} for n in range(count)] + [
        batch | {"exchange": 0, "partition": 1, "bytes": 900_000, "records": 5000}
    ]


def sent(sequences: list[int], **values: Any) -> Tables:
    """Batches of an idempotent producer with these base sequences."""
    exchanges = many(len(sequences), 9, **PRODUCE)
    batch = {"connection": 1, "side": "request", "topic": "t", "partition": 0, "producer_id": 9, "producer_epoch": 0}
    rows = [batch | {"exchange": n, "base_sequence": sequence} | values for n, sequence in enumerate(sequences)]
    return {"exchanges": exchanges, "batches": rows, "connections": [connection(1)]}


def on_two_connections(sequences: list[int], differ_in: str) -> Tables:
    """The same batches on each, which are of two clusters that gave a client one producer id, or seen at two capture points."""
    tables, first = sent(sequences * 2), len(sequences)
    for row in (*tables["exchanges"], *tables["batches"]):
        row["connection"] = 1 if row["exchange"] < first else 2
    return tables | {"connections": [connection(1, **{differ_in: "a"}), connection(2, **{differ_in: "b"})]}


def assigned(fetch_moments: list[float], life_s: float, seen_s: float = 80) -> Tables:
    """A partition assigned at 0 s, given to somebody else at `life_s`, and fetched by both at these moments. The first member
    is seen until `seen_s`."""
    base = {"group_id": "g", "group_type": "classic", "cluster": "c", "client_address": "10.0.0.1", "topic": "t"}
    rows = [
        base
        | {"exchange": 900, "time_ns": at(0), "member_id": "m", "client_id": "app", "generation": 1, "partition": 0},
        base
        | {
            "exchange": 901,
            "time_ns": at(life_s),
            "member_id": "n",
            "client_id": "other",
            "generation": 2,
            "partition": 0,
        },
    ]
    exchanges = [
        exchange(n, at_ns=at(moment), client_id="app" if moment < life_s else "other", **FETCH)
        for n, moment in enumerate(fetch_moments)
    ]
    exchanges += [exchange(900, api_key=14, api_name="SyncGroup", group_id="g")]
    exchanges += [exchange(902, at_ns=at(seen_s), api_key=12, api_name="Heartbeat", group_id="g", client_id="app")]
    positions = [
        {"exchange": n, "connection": 1, "cluster": "c", "time_ns": at(moment), "topic": "t", "partition": 0}
        for n, moment in enumerate(fetch_moments)
    ]
    return {"assignments": rows, "exchanges": exchanges, "fetch_positions": positions, "connections": [connection(1)]}


def polling(gap_s: float, heartbeats: int) -> Tables:
    """Two fetches with a pause between them, with so many heartbeats in it, one a second; the poll interval is 60 s."""
    tables = joins([0.0], rebalance_timeout_ms=60_000)
    fetches = [exchange(1, at_ns=at(1), **FETCH), exchange(2, at_ns=at(1 + gap_s), **FETCH)]
    beats = [
        exchange(10 + n, at_ns=at(2 + n), api_key=12, api_name="Heartbeat", group_id="g", member_id="m")
        for n in range(heartbeats)
    ]
    return tables | {"exchanges": fetches + beats}


def silent_member(silence_s: float, gaps: int = 5) -> Tables:
    """Two heartbeats with a pause; the second one is told that there is no such member. The capture lacks some of 40 packets."""
    beats = [
        exchange(
            n, at_ns=at(n * silence_s), api_key=12, api_name="Heartbeat", group_id="g", member_id="m", error_code=code
        )
        for n, code in enumerate((0, 25))
    ]
    links = [connection(1, client_gaps=gaps, client_data_packets=40)]
    return joins([0.0]) | failing(25, beats[1:]) | {"exchanges": beats, "connections": links}


def opened(times: list[float], life_s: float, **values: Any) -> Tables:
    """Connections of one client, opened at these moments."""
    links = [
        connection(n, first_time_ns=at(moment), last_time_ns=at(moment + life_s), **values)
        for n, moment in enumerate(times)
    ]
    return {"connections": links, "exchanges": [exchange(n, connection=n) for n in range(len(times))]}


def produced(per_partition: list[int], batches: int = 30) -> Tables:
    """So many records in each partition of a topic, in so many batches each."""
    rows = [
        {
            "exchange": batch,
            "connection": 1,
            "side": "request",
            "topic": "t",
            "partition": n,
            "records": records // batches,
        }
        for n, records in enumerate(per_partition)
        for batch in range(batches)
    ]
    return {"batches": rows, "exchanges": many(batches, 9, **PRODUCE), "connections": [connection(1, cluster="c")]}


def lossy(lost: int, packets: int) -> Tables:
    """Two hosts; so many packets between the first and the capture were sent again; the slow requests ran there."""
    rows = many(200, 9, latency_ns=MS_NS)
    rows += many(3, 9, first=500, latency_ns=SECOND_NS)
    links = [connection(1, broker_retransmitted=lost, broker_data_packets=packets)]
    return {"exchanges": rows, "connections": [*links, connection(2, client_address="10.0.0.2")]}


def offers(sent_version: int, newest: int) -> Tables:
    """A Produce of this version after an offer of 3 to `newest`."""
    offer = {"exchange": 0, "connection": 1, "time_ns": at(0), "api_key": 0, "min_version": 3, "max_version": newest}
    return {
        "offered_versions": [offer],
        "exchanges": [exchange(1, at_ns=at(1), **(PRODUCE | {"api_version": sent_version}))],
        "connections": [connection(1)],
    }


def produce_version(version: int, newest_offered: int, status: str = "answered", oldest_offered: int = 0) -> Tables:
    """Produce of this version to a broker that offers so much, asked for its versions before."""
    asked = exchange(0, api_key=18, api_name="ApiVersions", api_version=0)
    sent = exchange(1, at_ns=at(1), status=status, **(PRODUCE | {"api_version": version}))
    span = {"min_version": oldest_offered, "max_version": newest_offered}
    offer = {"exchange": 0, "connection": 1, "time_ns": at(0), "api_key": 0} | span
    return {"offered_versions": [offer], "exchanges": [asked, sent], "connections": [connection(1)]}


def written(kind_ns: dict[str, int], count: int = 40) -> Tables:
    """Produce requests to one topic with these service times by kind."""
    rows: Rows = []
    for kind, service in kind_ns.items():
        rows += many(count, 9, first=len(rows), service_ns=service, **(PRODUCE | {"kind": kind}))
    entries = [
        {"exchange": row["exchange"], "connection": 1, "side": "request", "topic": "t", "partition": 0} for row in rows
    ]
    return {"exchanges": rows, "entries": entries, "connections": [connection(1)]}


def login_failures(count: int) -> Tables:
    """Logins of one host that fail."""
    rows = [
        {
            "exchange": n,
            "connection": 1,
            "time_ns": at(n),
            "outcome": "failed",
            "again": False,
            "sasl_mechanism": "PLAIN",
        }
        for n in range(count)
    ]
    return {"logins": rows, "exchanges": [exchange(n) for n in range(count)], "connections": [connection(1)]}


def refused(syn_ack_ns: int | None) -> Tables:
    """A connection to a known broker that ends in a reset without any data, answered (or not) by a SYN+ACK before."""
    gone = connection(
        2, is_kafka=None, close="rst", syn_ack_ns=syn_ack_ns, client_stream_bytes=0, broker_stream_bytes=0
    )
    return {"connections": [connection(1), gone], "exchanges": [exchange(1)]}


def muted_coordinator(seconds: float) -> Tables:
    """A coordinator connection muted for so long; the session timeout is 10 s."""
    beat = exchange(0, api_key=12, api_name="Heartbeat", group_id="g", throttle_time_ms=1)
    return joins([0.0]) | {"mutes": [mute(0, 1, seconds)], "exchanges": [beat]}


def big(size_bytes: int) -> Tables:
    """One reply of this size."""
    return {"exchanges": [exchange(0, response_bytes=size_bytes)], "connections": [connection(1)]}


def queued(queue_ns: int, latency_ns: int) -> Tables:
    """Forty requests that wait so long behind others, of so long in all."""
    rows = many(40, 9, latency_ns=latency_ns, queue_ns=queue_ns, **PRODUCE)
    return {"exchanges": rows, "connections": [connection(1)]}


def uncompressed(batch_bytes: int, codec: str = "none") -> Tables:
    """Forty batches of this size in nine seconds."""
    tables = sent(list(range(40)), bytes=batch_bytes, codec=codec)
    place = {"side": "request", "topic": "t", "partition": 0}
    return tables | {"entries": [place | {"exchange": n, "connection": 1} for n in range(40)]}


def ended(count: int, status: str, waited_s: float, **values: Any) -> Tables:
    """Requests without a reply on a connection that ends so long after them."""
    rows = [exchange(n, at_ns=at(0), status=status, **values) for n in range(count)]
    return {"exchanges": rows, "connections": [connection(1, last_time_ns=at(waited_s))]}


def outside_role(tables: Tables, role: str) -> Tables:
    """The same, between brokers."""
    return tables | {"exchanges": [row | {"role": role} for row in tables["exchanges"]]}


Story = Callable[[], Tables]

# Rule -> (a story in which it fires, stories in which it must not).
STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "throttled": (
        lambda: throttled([(1, 0.6), (2, 0.6)]),
        (lambda: throttled([(1, 0.3), (2, 0.3)]), lambda: outside_role(throttled([(1, 2.0)]), "follower")),
    ),
    "coordinator_muted": (lambda: muted_coordinator(5.5), (lambda: muted_coordinator(4.5),)),
    "slow_broker": (
        lambda: on_two_brokers(60 * MS_NS, 10 * MS_NS),
        (
            lambda: on_two_brokers(60 * MS_NS, 30 * MS_NS),
            lambda: on_two_brokers(40 * MS_NS, MS_NS),
            lambda: on_two_brokers(60 * MS_NS, 10 * MS_NS, 29),
            lambda: on_two_brokers(60 * MS_NS, 10 * MS_NS, throttle_time_ms=50),
            lambda: on_two_brokers(60 * MS_NS, 10 * MS_NS) | {"connections": in_clusters("c", "d")},
        ),
    ),
    "not_enough_replicas": (lambda: failing(19, many(1, 1, **PRODUCE), topic="t"), (lambda: failing(7, many(1, 1)),)),
    "offset_out_of_range": (
        lambda: failing(1, many(1, 1, **FETCH), topic="t"),
        (
            lambda: outside_role(failing(1, many(1, 1, **(FETCH | {"replica_id": 2})), topic="t"), "follower"),
            # An admin who deletes records that are gone skipped none.
            lambda: failing(1, many(1, 1, api_key=21, api_name="DeleteRecords"), topic="t"),
        ),
    ),
    "no_leader": (
        lambda: failing(5, many(3, 1), topic="t"),
        (
            lambda: failing(5, many(2, 1), topic="t"),
            lambda: failing(5, many(30, 1), topic="t", expected=True),
            lambda: failing(5, many(30, 1)),
        ),
    ),
    "leader_loop": (
        lambda: failing(6, many(20, 12, **PRODUCE), topic="t", partition=0),
        (
            lambda: failing(6, many(20, 9, **PRODUCE), topic="t", partition=0),
            lambda: failing(6, many(2, 4000, **PRODUCE), topic="t", partition=0),
        ),
    ),
    "hanging_transaction": (
        lambda: fetched([(0, 5, 6), (40, 5, 60), (61, 5, 90)]),
        (
            lambda: fetched([(0, 5, 6), (40, 5, 60), (59, 5, 90)]),
            lambda: fetched([(0, 5, 5), (61, 5, 5)]),
            lambda: fetched([(0, 5, 6), (61, 5, 90)], timeout_ms=90_000),
        ),
    ),
    "rebalance_loop": (
        lambda: joins([0, 60, 120, 180]),
        (
            lambda: joins([0, 60]),
            lambda: joins([0, 400, 800, 1200]),
            lambda: joins([0, 60, 120, 180], members=3),
            lambda: joins([0, 60, 120, 180], member_id="m"),  # which asks for each itself
        ),
    ),
    "stuck_member": (
        lambda: joins([11.0], begin_ns=at(0)) | {"exchanges": [exchange(0, api_key=11, latency_ns=11 * SECOND_NS)]},
        (lambda: joins([9.0], begin_ns=at(0)),),
    ),
    "commit_failures": (
        lambda: failing(25, many(1, 1, api_key=8, api_name="OffsetCommit", group_id="g")),
        (lambda: failing(25, many(1, 1, api_key=12, api_name="Heartbeat", group_id="g")),),
    ),
    "fenced_producer": (lambda: failing(90, many(1, 1, **PRODUCE)), (lambda: failing(46, many(1, 1, **PRODUCE)),)),
    "out_of_order": (
        lambda: failing(45, many(1, 1, **PRODUCE), topic="t"),
        (lambda: failing(46, many(1, 1, **PRODUCE), topic="t"),),
    ),
    "authorization": (lambda: failing(29, many(1, 1)), (lambda: failing(28, many(1, 1)),)),
    "authentication_failures": (lambda: login_failures(3), (lambda: login_failures(2),)),
    "sends_while_muted": (
        lambda: throttled([(1, 0.1)], sent_inside=3),
        (lambda: throttled([(1, 0.1)], sent_inside=2), lambda: throttled([(1, 0.1)], sent_inside=5, applies=False)),
    ),
    "head_of_line": (
        lambda: queued(60 * MS_NS, 110 * MS_NS),
        (lambda: queued(50 * MS_NS, 110 * MS_NS), lambda: queued(60 * MS_NS, 90 * MS_NS)),
    ),
    "slow_replication": (
        lambda: written({"produce_acks_all": 50 * MS_NS, "produce_acks_1": 10 * MS_NS}),
        (
            lambda: written({"produce_acks_all": 49 * MS_NS, "produce_acks_1": 10 * MS_NS}),
            lambda: written({"produce_acks_all": 50 * MS_NS, "produce_acks_1": 10 * MS_NS}, 29),
        ),
    ),
    "fetch_spin": (
        lambda: {"exchanges": many(40, 1, kind="fetch_now", **FETCH), "connections": [connection(1)]},
        (
            lambda: {"exchanges": many(40, 4, kind="fetch_now", **FETCH), "connections": [connection(1)]},
            lambda: {"exchanges": many(40, 1, kind="fetch_empty", **FETCH), "connections": [connection(1)]},
        ),
    ),
    "request_timed_out": (lambda: failing(7, many(1, 1, **PRODUCE)), (lambda: failing(6, many(1, 1, **PRODUCE)),)),
    "lag_growing": (
        lambda: lagging([0, 500, 1000, 2000, 3000, 4000], 61),
        (
            lambda: lagging([0, 500, 4000, 100, 3000, 200], 61),
            lambda: lagging([4000] * 6, 61),
            lambda: lagging([0, 10, 20, 30, 40, 50], 61),
        ),
    ),
    "resent_batches": (
        lambda: sent([*range(40), 7]),
        (
            lambda: sent(list(range(40))),
            lambda: sent([*range(20), 7]),
            *(lambda name=name: on_two_connections([*range(40)], name) for name in ("cluster", "tap")),
        ),
    ),
    "assigned_not_fetched": (
        lambda: assigned([70.0], 65),
        (
            lambda: assigned([3.0, 70.0], 65),
            lambda: assigned([60.0], 55),
            lambda: assigned([], 65),
            lambda: assigned([70.0], 65, 30),
        ),
    ),
    "poll_gap": (lambda: polling(61, 5), (lambda: polling(59, 5), lambda: polling(61, 0), lambda: polling(61, 60))),
    "session_expired": (lambda: silent_member(11), (lambda: silent_member(9), lambda: silent_member(11, gaps=6))),
    "missing_topic": (
        lambda: failing(3, many(3, 100), topic="t"),
        (
            lambda: failing(3, many(3, 60), topic="t"),
            lambda: failing(3, many(19, 5), topic="t"),
            lambda: failing(3, many(30, 5), topic="t", expected=None),
            lambda: failing(3, many(2, 5, **FETCH), topic="t"),
            lambda: failing(3, many(1, 5, **FETCH, latency_ns=SECOND_NS), topic="t"),
            lambda: failing(3, many(2, 5, latency_ns=SECOND_NS), topic="t"),
            lambda: not_known(PRODUCE),  # a new topic, which its broker does not know yet
            lambda: not_known(FETCH, (0,), used_code=3),
            lambda: not_known(FETCH, (0, 6)),  # a broker that just started
            lambda: not_known(FETCH | {"latency_ns": SECOND_NS}, (6,)),
            lambda: not_known(FETCH | {"latency_ns": MS_NS * 150}, rtt_ns=MS_NS * 149),  # a far broker
        ),
    ),
    "connection_storm": (
        lambda: opened([n * 0.9 for n in range(40)], 60),
        (
            lambda: opened([n * 0.01 for n in range(40)], 60),
            lambda: opened([n * 0.45 for n in range(23)], 1),
            lambda: opened([n * 0.45 for n in range(24)], 6),
            lambda: opened([n * 2.0 for n in range(40)], 60),
            lambda: opened([n * 0.9 for n in range(40)], 60, role="follower"),
        ),
    ),
    "metadata_storm": (
        lambda: {"exchanges": many(40, 30), "connections": [connection(1)]},
        (
            lambda: {"exchanges": many(40, 60), "connections": [connection(1)]},
            lambda: {"exchanges": many(100, 9), "connections": [connection(1)]},
        ),
    ),
    "refused_connections": (lambda: refused(None), (lambda: refused(50_000),)),
    "unanswered": (
        lambda: ended(3, "closed", 0.1),
        (
            lambda: ended(2, "closed", 0.1),
            lambda: ended(5, "pending", 60),
            lambda: ended(5, "no_reply_expected", 60, **PRODUCE),
        ),
    ),
    "lossy_network": (lambda: lossy(30, 3000), (lambda: lossy(29, 2900), lambda: lossy(30, 3001))),
    "client_not_reading": (
        lambda: {
            "exchanges": [exchange(0, receive_ns=SECOND_NS)],
            "connections": [connection(1, client_zero_windows=2)],
        },
        (
            lambda: {"exchanges": [exchange(0, receive_ns=SECOND_NS)], "connections": [connection(1)]},
            lambda: {"exchanges": [exchange(0, receive_ns=1)], "connections": [connection(1, client_zero_windows=2)]},
        ),
    ),
    "version_outside_offer": (lambda: offers(12, 11), (lambda: offers(11, 11), lambda: offers(3, 11))),
    "already_failing": (
        lambda: produce_version(2, 11, "closed", oldest_offered=3),
        (lambda: produce_version(5, 11, "closed"), lambda: produce_version(2, 11)),
    ),
    "breaks_on_4": (lambda: produce_version(2, 11), (lambda: produce_version(3, 11), lambda: produce_version(2, 2))),
    "failing": (
        lambda: failing(2, many(1, 1)),
        (
            lambda: failing(36, many(2, 1), expected=None),
            lambda: failing(79, many(5, 1), level="message") | {"errors": []},
            lambda: outside_role(failing(2, many(3, 1)), "controller"),
        ),
    ),
    "malformed": (
        lambda: {"exchanges": [exchange(0, request_decoded="malformed")], "connections": [connection(1)]},
        (
            lambda: {"exchanges": [exchange(0, response_decoded="truncated")], "connections": [connection(1)]},
            lambda: {
                "exchanges": [exchange(0, response_decoded="malformed")],
                "connections": [connection(1, broker_gaps=1)],
            },
        ),
    ),
    "acks_0": (
        lambda: {"exchanges": many(1, 1, **(PRODUCE | {"kind": "produce_acks_0"})), "connections": [connection(1)]},
        (lambda: {"exchanges": many(1, 1, **PRODUCE), "connections": [connection(1)]},),
    ),
    "no_compression": (
        lambda: uncompressed(250_000),
        (lambda: uncompressed(200_000), lambda: uncompressed(250_000, "zstd")),
    ),
    "tiny_batches": (
        lambda: {"exchanges": many(240, 2, **PRODUCE), "connections": [connection(1)], "batches": small(240, 9)},
        (
            lambda: {"exchanges": many(180, 2, **PRODUCE), "connections": [connection(1)]},
            lambda: {"exchanges": many(240, 2, request_bytes=1000, **PRODUCE), "connections": [connection(1)]},
            lambda: {"exchanges": many(240, 2, **PRODUCE), "connections": [connection(1)], "batches": small(240, 10)},
            lambda: {"exchanges": many(144, 1, **PRODUCE), "connections": [connection(1)], "batches": small(144, 9)},
            lambda: {"exchanges": from_two_hosts(many(240, 2, **PRODUCE)), "connections": [connection(1)]},
        ),
    ),
    "skewed_partitions": (
        lambda: produced([100, 110, 1200]),
        (
            lambda: produced([300, 310, 1200]),
            lambda: produced([100, 110, 900]),
            lambda: produced([116, 145, 1943], batches=29),
        ),
    ),
    "big_frames": (lambda: big(10_000_001), (lambda: big(10_000_000),)),
}
STORIES |= incident_stories.STORIES
