"""Stories of addresses that lead to another cluster or broker; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, capture, connection, error, exchange
from member_stories import asked_for
from name_stories import asks_meanwhile, never_led_there

Tables = dict[str, Rows]
Story = Callable[[], Tables]
OLD, NEW = "b2xkb2xkb2xkb2xkb2xkbw", "bmV3bmV3bmV3bmV3bmV3bg"
REBOOTSTRAP_REQUIRED, UNKNOWN_MEMBER_ID = 129, 25
API_VERSIONS = {"api_key": 18, "api_name": "ApiVersions", "api_version": 5}
PRODUCE = {
    "api_key": 0,
    "api_name": "Produce",
    "api_version": 13,
    "kind": "produce_acks_all",
    "acks": -1,
    "error_code": 0,
}
JOIN = {"api_key": 11, "api_name": "JoinGroup", "api_version": 9}


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def link(number: int, cluster: str | None, begin_s: float, end_s: float, **values: Any) -> dict[str, Any]:
    return connection(number, cluster=cluster, first_time_ns=at(begin_s), last_time_ns=at(end_s), **values)


def refused(times: int = 1, back_s: float | None = 1, reached: str | None = NEW, **asked: Any) -> Tables:
    """A client of OLD whose next connections, a second apart, are refused so often; `back_s` after the first of them a request
    succeeds on a connection to the cluster that it reached. `asked`: of the refused connections."""
    meant = {"asked_cluster_id": OLD, "asked_node_id": 1}
    links = [link(1, OLD, 0, 10)]
    links += [link(10 + n, reached, 10 + n, 10.5 + n, **(meant | asked)) for n in range(times)]
    rows = [exchange(1, at_ns=at(1), **PRODUCE)]
    code = {"error_code": REBOOTSTRAP_REQUIRED}
    rows += [exchange(10 + n, connection=10 + n, at_ns=at(10 + n), **API_VERSIONS, **code) for n in range(times)]
    if back_s is not None:
        links.append(link(90, reached, 10.6, 400))
        rows.append(exchange(90, connection=90, at_ns=at(10 + back_s), **PRODUCE))
    errors = [error(10 + n, REBOOTSTRAP_REQUIRED, connection=10 + n) for n in range(times)]
    return {"connections": links, "exchanges": rows, "errors": errors}


def sent_away() -> Tables:
    """A broker that answers Metadata with the advice to ask the bootstrap servers, which are of another cluster."""
    rows = [exchange(1, at_ns=at(1), error_code=REBOOTSTRAP_REQUIRED)]
    rows += [exchange(2, connection=2, at_ns=at(3), **PRODUCE)]
    links = [link(1, OLD, 0, 2), link(2, NEW, 2, 400, broker_address="10.0.1.2")]
    return {"connections": links, "exchanges": rows, "errors": [error(1, REBOOTSTRAP_REQUIRED, connection=1)]}


def turned(
    failures: int = 0,
    clusters: tuple[str | None, str | None] = (OLD, NEW),
    who: tuple[str, str] = ("app", "app"),
    overlap_s: float = 0,
    advertised: str | None = None,
    client: str = "10.0.0.1",
    **second: Any,
) -> Tables:
    """A client on a connection to one cluster, and after 10 s (less the overlap) a client on a connection to another one, of whose
    requests so many fail; both advertise an address if one is given. `second`: of the second connection."""
    begin_s = 10 - overlap_s
    links = [link(1, clusters[0], 0, 10), link(2, clusters[1], begin_s, 400, **second)]
    links = [row | {"client_address": client} for row in links]
    rows = [exchange(1, at_ns=at(1), client_id=who[0], **PRODUCE)]
    rows += [exchange(2, connection=2, at_ns=at(begin_s + 20), client_id=who[1], **PRODUCE)]
    rows += [
        exchange(10 + n, connection=2, at_ns=at(begin_s + 1), client_id=who[1], error_code=UNKNOWN_MEMBER_ID, **JOIN)
        for n in range(failures)
    ]
    errors = [error(10 + n, UNKNOWN_MEMBER_ID, connection=2, name="UNKNOWN_MEMBER_ID") for n in range(failures)]
    hosts = [(cluster, advertised or f"{cluster}.example") for cluster in clusters]
    brokers = [{"cluster": cluster, "broker_id": 1, "host": host, "port": 9092} for cluster, host in hosts]
    return {"connections": links, "exchanges": rows, "errors": errors, "brokers": brokers}


ELSEWHERE = {"broker_address": "10.0.1.2"}


def controller_lost(attempts: int, role: str = "raft", again: int | None = None) -> Tables:
    """A port whose only connection ended, and that refused so many attempts since; `again`: then it was back for 2 s, and refused
    so many more."""
    known = connection(1, role=role, replies=1, last_time_ns=START_NS + 2 * SECOND_NS)
    refused = {"is_kafka": None, "role": None, "protocol": None, "close": "rst", "syn_ack_ns": None, "replies": 0}
    refused |= {"client_stream_bytes": 0, "broker_stream_bytes": 0}
    back_ns = START_NS + (4 + attempts) * SECOND_NS
    times = [START_NS + (3 + n) * SECOND_NS for n in range(attempts)]
    times += [back_ns + (3 + n) * SECOND_NS for n in range(again or 0)]
    tried = [connection(10 + n, first_time_ns=at, last_time_ns=at, **refused) for n, at in enumerate(times)]
    if again is not None:
        tried.append(known | {"connection": 2, "first_time_ns": back_ns, "last_time_ns": back_ns + 2 * SECOND_NS})
    return {"connections": [known, *tried]}


def leaderless(lasted_s: float, normal: int = 1, clients: int = 1, first_s: float | None = None) -> Tables:
    """Three replies to so many clients that a partition has no leader, the first of them so normal as an election is; `first_s`:
    the second one comes so long after it."""
    times = (0, lasted_s / 2 if first_s is None else first_s, lasted_s)
    rows = [
        exchange(n, at_ns=START_NS + int(moment * SECOND_NS), client_id=f"app-{n % clients}")
        for n, moment in enumerate(times)
    ]
    told = [error(n, 5, name="LEADER_NOT_AVAILABLE", topic="t", expected=n < normal) for n in range(3)]
    return {"exchanges": rows, "errors": told, "connections": [connection(1)]}


def follower_gone(left_s: float, waiting: int = 0, waited_s: float = 2.1, close: str = "rst") -> Tables:
    """All that a broker opened to two others has ended so long before the end; so many writes wait then, for so long."""
    end_ns = START_NS + int((2 + left_s) * SECOND_NS)
    sent_ns = end_ns - int(waited_s * SECOND_NS)
    rows = [exchange(n, at_ns=sent_ns, status="pending", **PRODUCE) for n in range(waiting)]
    host: dict[str, Any] = {"client_address": "10.0.1.3", "role": "follower", "last_time_ns": START_NS + 2 * SECOND_NS}
    ended = [connection(2, close="rst", **host), connection(3, close=close, broker_address="10.0.1.2", **host)]
    links = [connection(1, close="none", last_time_ns=end_ns), *ended]
    return {"captures": [capture(last_time_ns=end_ns)], "exchanges": [exchange(90), *rows], "connections": links}


def misspelt(times: int, seconds: float, told_s: float | None = None) -> Tables:
    """So many requests in that time for a topic that brokers do not know; from when on they tell of it."""
    rows = [exchange(n, at_ns=at(seconds * n / (times - 1))) for n in range(times)]
    errors = [error(n, 3, name="UNKNOWN_TOPIC_OR_PARTITION", topic="t", expected=False) for n in range(times)]
    known = {"cluster": "c", "topic": "t", "topic_id": NEW, "last_time_ns": at(60)}
    told = [known | {"first_time_ns": at(told_s)}] if told_s is not None else []
    return {"exchanges": rows, "errors": errors, "connections": [connection(1, cluster="c")], "topic_ids": told}


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "controller_gone": (
        lambda: controller_lost(3),
        (lambda: controller_lost(2), lambda: controller_lost(3, role="client")),
    ),
    "wrong_cluster": (
        refused,
        (
            # Two clusters at two addresses, and what two names or two proxies make of one.
            lambda: turned(**ELSEWHERE),
            lambda: turned(failures=3, **ELSEWHERE),
            lambda: turned(tls_server_name="b.example"),
            lambda: turned(opening="socks5"),
            lambda: turned(tap="2"),
            # By turns, each with a client of its own: perhaps two networks with equal addresses.
            lambda: turned(overlap_s=5, who=("app", "other")),
            lambda: turned(overlap_s=5, client="127.0.0.1"),
            lambda: turned(overlap_s=5, advertised="kafka", **ELSEWHERE),
            lambda: turned(advertised="kafka", who=("app", "other"), **ELSEWHERE),
            # One cluster at two addresses (a port forward seen on both sides), or at one; no id is known.
            lambda: turned(clusters=(OLD, OLD), **ELSEWHERE),
            lambda: turned(clusters=(OLD, OLD)),
            lambda: turned(clusters=(OLD, None)),
            lambda: turned(clusters=("a:9092", "b:9092")),
        ),
    ),
}
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    # As many connectors, made one after the other.
    "requested_rebalances": ((), (lambda: asked_for([8 * n for n in range(32)], 0.2),)),
    "broker_gone": (
        (lambda: follower_gone(10.1), lambda: follower_gone(3.1, waiting=3)),
        (
            lambda: follower_gone(9.9),
            lambda: follower_gone(3.1, waiting=2),
            lambda: follower_gone(2.9, waiting=3),
            lambda: follower_gone(3.1, waiting=3, waited_s=1.9),
            lambda: follower_gone(3.1, waiting=3, close="none"),
        ),
    ),
    "missing_topic": (
        (lambda: misspelt(5, 5.1),),
        (
            lambda: misspelt(5, 4.9),
            lambda: misspelt(4, 9),
            lambda: misspelt(5, 5.1, told_s=6),  # made meanwhile
        ),
    ),
    "no_leader": (
        (lambda: leaderless(10.2),),
        (
            lambda: leaderless(9.9),
            lambda: leaderless(10.2, normal=2),
            lambda: leaderless(10.2, clients=2),  # two elections, of which each client meets one
            lambda: leaderless(10.2, first_s=10.1),  # and one client both
            lambda: leaderless(600),
        ),
    ),
    "wrong_cluster": (
        (
            lambda: refused(reached=None),
            lambda: refused(reached=OLD),
            lambda: refused(times=3, back_s=None),
            sent_away,
            turned,
            lambda: turned(failures=1),
            lambda: turned(overlap_s=5),
            lambda: turned(advertised="kafka", **ELSEWHERE),
            lambda: turned(overlap_s=-1, who=("app", "other")),
        ),
        (),
    ),
    "advertised_unreachable": (
        (never_led_there, asks_meanwhile),
        (
            *(lambda: asks_meanwhile(5.9), lambda: asks_meanwhile(packets=9)),
            *(lambda: asks_meanwhile(asks=2), lambda: asks_meanwhile(own=True)),
            lambda: never_led_there(tried_s=2.9),
            lambda: never_led_there(packets=2),
            lambda: never_led_there(alive_s=4),  # nobody answers any more, wherever
            lambda: never_led_there(back=True),
        ),
    ),
}
