"""Stories of rules that tell impact of which no rule knows the cause; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, capture, connection, error, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
FETCH = {"api_key": 1, "api_name": "Fetch", "api_version": 17, "replica_id": -1}
HELLO = {"api_key": 18, "api_name": "ApiVersions", "api_version": 3}
LOGIN = {"api_key": 36, "api_name": "SaslAuthenticate", "api_version": 2}


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def waiting(latencies_s: list[float], left_s: float | None = None, **values: Any) -> Tables:
    """CreateTopics requests that took so long, one after the other; `left_s`: one more, so long before the end, had no reply."""
    asked = {"api_key": 19, "api_name": "CreateTopics", "api_version": 7, "kind": "wait"} | values
    rows: Rows = []
    begin = 0.0
    for n, took in enumerate(latencies_s):
        rows.append(exchange(n, at_ns=at(begin), latency_ns=int(took * SECOND_NS), **asked))
        begin += took + 1
    if left_s is not None:
        rows.append(exchange(len(rows), at_ns=at(400 - left_s), **(asked | {"status": "pending"})))
    return {"exchanges": rows}


def waiting_in_the_first(left_s: float, then_s: float = 4000) -> Tables:
    """A request without a reply so long before the end of its file at 400 s; another file begins at `then_s`."""
    files = [capture(last_time_ns=at(400)), capture(file=1, first_time_ns=at(then_s), last_time_ns=at(then_s + 400))]
    return {"captures": files} | waiting([0.1], left_s=left_s)


def beginning(
    steps_s: list[float], asked: dict[str, Any] = LOGIN, syn_s: float = 0, served_s: float | None = None, **values: Any
) -> Tables:
    """A connection whose steps, one a second, took so long; `served_s`: when its first other request was."""
    rows = [exchange(n, at_ns=at(n), latency_ns=int(took * SECOND_NS), **asked) for n, took in enumerate(steps_s)]
    rows += [exchange(len(rows), at_ns=at(served_s))] if served_s is not None else []
    return {"exchanges": rows, "connections": [connection(1, syn_ack_ns=int(syn_s * SECOND_NS), **values)]}


def trying(times: int, apart_s: float = 3, **values: Any) -> Tables:
    """Attempts to connect to a second broker that are not answered, by a client that speaks Kafka to the first one."""
    empty = {"is_kafka": None, "syn_ack_ns": None, "client_stream_bytes": 0, "broker_stream_bytes": 0}
    tried = empty | {"broker_address": "10.0.1.9", "broker_packets": 0, "close": "none"} | values
    links = [connection(1)]
    links += [connection(2 + n, first_time_ns=at(n * apart_s), **tried) for n in range(times)]
    return {"exchanges": [exchange(0)], "connections": links}


def ending(commits: list[bool], **values: Any) -> Tables:
    """Transactions that were committed, or given up."""
    rows = [exchange(n, at_ns=at(n), api_key=26, api_name="EndTxn") for n in range(len(commits))]
    where = {"connection": 1, "event": "end", "client_id": "bank", "transactional_id": "tx", "error_code": 0} | values
    events = [where | {"exchange": n, "time_ns": at(n), "committed": commit} for n, commit in enumerate(commits)]
    return {"exchanges": rows, "transaction_events": events, "connections": [connection(1)]}


def ends(
    marks: list[tuple[float, int]], ids: tuple[str, ...] = (), replica: int = -1, files: int = 1, apart: bool = False
) -> Tables:
    """The high watermarks that Fetch replies of one partition told; `ids` of its topic; `replica`: from which to read instead;
    `apart`: each told by a broker of its own, of which no cluster is known."""
    rows: Rows = []
    entries: Rows = []
    for n, (when, mark) in enumerate(marks):
        broker = f"10.0.1.{n if apart else 1}"
        rows.append(exchange(n, at_ns=at(when), response_file=n % files, broker_address=broker, **FETCH))
        where = {"exchange": n, "connection": 1, "side": "response", "topic": "t", "partition": 0, "error_code": 0}
        entries.append(where | {"high_watermark": mark, "preferred_read_replica": replica})
    named = [
        {"cluster": "c", "topic": "t", "topic_id": name, "first_time_ns": at(-1), "last_time_ns": at(100)}
        for name in ids
    ]
    links = [connection(1, cluster=None if apart else "c")]
    return {"exchanges": rows, "entries": entries, "topic_ids": named, "connections": links}


# acks=0: nobody waits for a reply.
UNASKED = {"status": "no_reply_expected", "acks": 0, "response_time_ns": None, "latency_ns": None}


def in_vain(count: int, served: int = 0, **values: Any) -> Tables:
    """Connections of a host that end without a reply, beside some that are served."""
    ended = {"replies": 0, "broker_stream_bytes": 0, "syn_ack_ns": 1000, "closed_by": "broker"} | values
    links = [connection(n, **ended) for n in range(count)]
    links += [connection(100 + n, replies=1, syn_ack_ns=1000) for n in range(served)]
    return {"exchanges": [exchange(0)], "connections": links}


def other_service(count: int, **values: Any) -> Tables:
    """The same at port 9093 of a host that no message names."""
    story = in_vain(count, served=3, is_kafka=False)
    for row in story["connections"][:count]:
        row |= {"broker_address": "10.0.8.8", "broker_port": 9093} | values
    return story


def asking(count: int, seconds: float, **values: Any) -> Tables:
    """The same request, so often in so many seconds."""
    rows = [exchange(n, at_ns=at(n * seconds / (count - 1)), **values) for n in range(count)]
    return {"exchanges": rows, "connections": [connection(1)]}


def member_asking(lines: int, **values: Any) -> Tables:
    """A member of a group that asks for metadata six times in ten seconds, in turn on so many connections."""
    story = asking(6, 10)
    for row in story["exchanges"]:
        row["connection"] = 1 + row["exchange"] % lines
    beats = [exchange(10 + n, at_ns=at(3 * n), **({"api_key": 12, "api_name": "Heartbeat"} | values)) for n in range(4)]
    return {"exchanges": story["exchanges"] + beats, "connections": [connection(1 + n) for n in range(lines)]}


def on_their_way(times_s: list[float], column: str = "receive_ns", apart_s: float = 1, **values: Any) -> Tables:
    """Fetches whose replies (or requests: `send_ns`) took so long from their first to their last byte."""
    rows = [
        exchange(n, at_ns=at(n * apart_s), **(FETCH | values | {column: int(took * SECOND_NS)}))
        for n, took in enumerate(times_s)
    ]
    return {"exchanges": rows, "connections": [connection(1)]}


def many_waiting(latencies_s: list[float], clients: int = 2, apart_s: float = 30, **values: Any) -> Tables:
    """Metadata requests of clients in turn, which took so long."""
    rows = [
        exchange(n, at_ns=at(n * apart_s), latency_ns=int(took * SECOND_NS), client_id=f"c{n % clients}", **values)
        for n, took in enumerate(latencies_s)
    ]
    return {"exchanges": rows, "connections": [connection(1)]}


def between(
    times: int, apart_s: float = 3, code: int = 42, role: str = "controller", expected: bool = False, **values: Any
) -> Tables:
    """BrokerRegistration that a controller refuses, again and again, with an error that no rule explains."""
    asked = {"api_key": 62, "api_name": "BrokerRegistration", "api_version": 4, "role": role} | values
    rows = [exchange(n, at_ns=at(n * apart_s), **asked) for n in range(times)]
    told = {"name": "INVALID_REQUEST", "expected": expected}
    return {"exchanges": rows, "errors": [error(n, code, **told) for n in range(times)], "connections": [connection(1)]}


def cut_off(times: int, apart_s: float = 3, **values: Any) -> Tables:
    """Requests of clients without a reply when their connections end."""
    unanswered = {"status": "closed", "response_time_ns": None, "latency_ns": None} | values
    rows = [exchange(n, at_ns=at(n * apart_s), connection=n + 1, **unanswered) for n in range(times)]
    return {"exchanges": rows, "connections": [connection(n + 1) for n in range(times)]}


def unasked(times: int, apart_s: float = 3, **values: Any) -> Tables:
    """Replies that no request asked for, on a connection that is there from its beginning."""
    reply = {"api_key": None, "api_name": None, "request_time_ns": None, "request_end_ns": None, "latency_ns": None}
    rows = [exchange(n, at_ns=at(n * apart_s), **reply, status="orphan_reply") for n in range(times)]
    for n, row in enumerate(rows):
        row["response_time_ns"] = at(n * apart_s)
    return {"exchanges": rows, "connections": [connection(1, **{"client_stream_bytes": 100} | values)]}


def served_and_ended(
    times: int, apart_s: float = 3, asked: dict[str, Any] = HELLO, others: int = 0, **values: Any
) -> Tables:
    """Connections that a broker served once, and that ended; `others` of the same client asked for Metadata."""
    links, rows = [], []
    for n in range(times + others):
        whole = {"first_time_ns": at(n * apart_s), "last_time_ns": at(n * apart_s + 1), "syn_ack_ns": 1000}
        whole |= {"requests": 1, "replies": 1, "close": "fin", "closed_by": "client", "client_stream_bytes": 50}
        links.append(connection(n + 1, **whole | values))
        rows.append(exchange(n, at_ns=at(n * apart_s), connection=n + 1, **(asked if n < times else {})))
    return {"exchanges": rows, "connections": links}


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "slow_requests": (
        lambda: waiting([8, 0.1, 2]),
        (
            lambda: waiting([0.4] * 10),
            lambda: waiting([0.9]),
            lambda: waiting([2.5] + [0.01] * 60),  # less than a twentieth of its time
            lambda: waiting([8, 8], throttle_ns=8 * SECOND_NS),
            lambda: waiting([8, 8], kind="join_wait"),
            lambda: waiting([8, 8], role="follower"),
            lambda: waiting([0.1], left_s=0.9),
            lambda: waiting([0.1], left_s=30, **FETCH),  # waits for data by design
            lambda: waiting([0.1], left_s=30, **FETCH, max_wait_ms=21_000),
        ),
    ),
    "came_to_nothing": (
        lambda: in_vain(5, served=3),
        (
            lambda: in_vain(4, served=3),
            lambda: in_vain(5, client_stream_bytes=0, closed_by="client"),  # health checks
            lambda: in_vain(5, client_opening_bytes=4000, closed_by="client"),  # the same behind a PROXY header
            lambda: in_vain(5, client_stream_bytes=0, last_time_ns=at(60)),  # ended after a time without traffic
            lambda: in_vain(5, close="none"),
            lambda: in_vain(5, broker_gaps=1),
            lambda: in_vain(5, is_kafka=None, tls=True, tls_handshake="finished"),
            lambda: in_vain(5, is_kafka=False, broker_port=443),
            # Another service, and one that answers in a language of its own.
            *(lambda: in_vain(5, is_kafka=False, broker_port=9099), lambda: other_service(5, broker_stream_bytes=200)),
            lambda: in_vain(5) | {"exchanges": [exchange(n, connection=n, **UNASKED) for n in range(5)]},
        ),
    ),
    "unexplained": (
        lambda: many_waiting([0.6, 0.6, 0.7, 0.1]),
        (
            lambda: many_waiting([0.6, 0.6, 0.7, 0.1], clients=1),  # slow_requests is about one client
            lambda: many_waiting([0.9, 0.9]),
            lambda: many_waiting([0.4] * 9),
            lambda: many_waiting([0.6, 0.6, 0.7] + [0.1] * 60),
            lambda: between(4),
            lambda: between(5, apart_s=2),
            lambda: between(5, apart_s=2, role="client"),
            lambda: between(5, expected=True),
            lambda: waiting([9] * 9, kind="join_wait"),  # each start of a group waits
            lambda: cut_off(4),
            lambda: cut_off(5, **FETCH),  # held by design
            lambda: unasked(4),
            lambda: unasked(5, broker_gaps=1),
            lambda: unasked(5, seen_from="midstream"),
            lambda: served_and_ended(5, apart_s=2),
            lambda: served_and_ended(5, others=1),  # opened, and then not needed
            lambda: served_and_ended(5, asked={}),
            lambda: served_and_ended(5, asked={}, close="rst"),
        ),
    ),
    "asks_in_vain": (
        lambda: asking(6, 10),
        (
            lambda: member_asking(3),  # at its start
            lambda: member_asking(1, api_key=1, api_name="Fetch"),
            lambda: asking(4, 6),
            lambda: asking(6, 4),
            lambda: asking(6, 20),
            lambda: asking(6, 10, api_key=9, api_name="OffsetFetch"),
            lambda: asking(6, 10, role="controller"),
        ),
    ),
    "repetition": (
        lambda: asking(101, 20),
        (
            lambda: asking(100, 21),
            lambda: asking(101, 9),
            lambda: asking(101, 20, api_key=0, api_name="Produce"),
            lambda: asking(101, 20, role="controller"),
        ),
    ),
    "slow_transfers": (
        lambda: on_their_way([0.6, 0.6, 0.1]),
        (
            lambda: on_their_way([0.4] * 9),
            lambda: on_their_way([0.6, 0.1, 0.1]),
            lambda: on_their_way([0.9, 0.9], apart_s=0),  # together: under way at the same time
            lambda: on_their_way([0.6, 0.6] + [0] * 40),  # less than a twentieth of its time
            lambda: on_their_way([5, 5], role="follower"),
        ),
    ),
    "slow_setup": (
        lambda: beginning([0.5, 1.6]),
        (
            lambda: beginning([0.5, 1.4]),
            lambda: beginning([9], {"api_key": 3}),  # not a step of a login
            lambda: beginning([9], role="follower"),
            lambda: beginning([0.5, 1.6], served_s=0.7),  # a login anew
        ),
    ),
    "unreachable": (
        lambda: trying(5),
        (
            lambda: trying(4, apart_s=9),
            lambda: trying(5, apart_s=2),
            lambda: trying(5, broker_address="10.0.1.1"),  # reached before
            lambda: trying(5, broker_port=443),  # an agent on the same host, perhaps
        ),
    ),
    "aborted_transactions": (
        lambda: ending([False] * 5),
        (
            lambda: ending([False] * 4),
            lambda: ending([False] * 5 + [True] * 100),
            lambda: ending([False] * 5, error_code=47),
        ),
    ),
    "end_moved_back": (
        lambda: ends([(1, 900), (2, 1000), (9, 990)]),
        (
            lambda: ends([(1, 900), (2, 1000), (6, 990)]),  # a new leader may not know better yet
            lambda: ends([(1, 900), (2, 1000), (9, 990), (10, 1000)]),
            lambda: ends([(1, 900), (2, 1000), (9, 10)]),  # perhaps created anew
            lambda: ends([(1, 900), (2, 1000), (9, 990)], ids=("one", "two")),
            lambda: ends([(1, 900), (2, 1000), (9, 990)], replica=3),
            lambda: ends([(1, 1000), (9, 990)], files=2),
            lambda: ends([(1, 1000), (9, 990)], apart=True),  # perhaps of two clusters
        ),
    ),
}
# More stories of the same rules.
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "asks_in_vain": ((lambda: member_asking(1),), ()),
    "unexplained": (
        (
            lambda: many_waiting([8, 8, 8], role="controller", clients=1),
            lambda: between(5),
            lambda: between(5, role="client"),
            lambda: waiting([11], kind="join_wait"),
            lambda: cut_off(5),
            lambda: between(5, apart_s=2.4, role="client", latency_ns=SECOND_NS * 2 // 5),  # from the first request on
            lambda: unasked(5),
            lambda: served_and_ended(5),
            lambda: served_and_ended(5, asked={}, close="rst", closed_by="broker"),
        ),
        (),
    ),
    "slow_requests": (
        (
            lambda: waiting([0.6, 0.6]),
            lambda: waiting([0.1], left_s=30),
            lambda: waiting([0.1], left_s=30, **FETCH, max_wait_ms=19_000),
            lambda: waiting_in_the_first(left_s=0.9, then_s=420),  # files by turns, with a quiet time between
        ),
        (lambda: waiting_in_the_first(left_s=0.9),),
    ),
    "slow_setup": (
        (
            lambda: beginning([2.5], HELLO),
            lambda: beginning([0.5, 1.6], served_s=3),
            lambda: beginning([0.1], HELLO, syn_s=3),
        ),
        (),
    ),
    "came_to_nothing": (
        (
            *(lambda: in_vain(5, is_kafka=False), lambda: other_service(5)),
            lambda: in_vain(5, client_stream_bytes=0),
            lambda: in_vain(5, is_kafka=None, tls=True, tls_handshake="failed"),
        ),
        (),
    ),
    "slow_transfers": ((lambda: on_their_way([0.6, 0.6], "send_ns"),), ()),
    "unreachable": (
        (lambda: trying(5, broker_packets=1, close="rst"), lambda: trying(5, client_address="10.0.0.7")),
        (),
    ),
    "end_moved_back": ((lambda: ends([(2, 1000), (9, 10)], ids=("one",)),), ()),
}
