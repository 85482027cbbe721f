"""Stories of what people describe in public threads; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, connection, error, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
PRODUCE: dict[str, Any] = {
    "api_key": 0,
    "api_name": "Produce",
    "api_version": 11,
    "kind": "produce_acks_all",
    "acks": -1,
}
FETCH: dict[str, Any] = {"api_key": 1, "api_name": "Fetch", "api_version": 11, "replica_id": -1, "kind": "fetch_wait"}
NOT_LEADER = 6
DUPLICATE_BROKER = 101


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def given_up(waits_s: list[float], back_s: float = 0.2, late_s: float | None = None, **values: Any) -> Tables:
    """Connections with one request each, which the client closes after so long; the next one begins so much later. `late_s`: the
    reply comes so long after that."""
    rows: Rows = []
    links: Rows = []
    begin = 0.0
    asked = PRODUCE | {key: value for key, value in values.items() if key in exchange(0) or key == "max_wait_ms"}
    ends = {key: value for key, value in values.items() if key not in asked}
    for n, waited in enumerate(waits_s):
        if late_s is None:
            rows.append(exchange(n, connection=n, at_ns=at(begin), status="closed", **asked))
        else:
            rows.append(
                exchange(n, connection=n, at_ns=at(begin), latency_ns=int((waited + late_s) * SECOND_NS), **asked)
            )
        closed = {
            "close": "fin",
            "closed_by": "client",
            "close_time_ns": at(begin + waited),
            "first_time_ns": at(begin),
        }
        links.append(connection(n, **(closed | {"last_time_ns": at(begin + waited)} | ends)))
        begin += waited + back_s
    return {"exchanges": rows, "connections": links}


def patient(waited_s: float, took_s: float) -> Tables:
    """A client that gave up three requests after so long, and had another reply after so long."""
    story = given_up([waited_s] * 3)
    story["exchanges"].append(exchange(9, connection=9, at_ns=at(50), latency_ns=int(took_s * SECOND_NS), **PRODUCE))
    story["connections"].append(connection(9))
    return story


def at_one_address(
    first: tuple[str, int], second: tuple[str, int], refused: int, until_s: float = 400, at_port: int = 9092
) -> Tables:
    """Two brokers of a cluster, advertised there, the second one from 10 s on; so many requests to one that does not lead."""
    where = {"broker_address": second[0], "broker_port": at_port}
    rows = [exchange(n, at_ns=at(20 + n), **PRODUCE | where) for n in range(refused)]
    for row in rows:
        row["error_code"] = NOT_LEADER
    told: Rows = []
    for number, (host, port) in enumerate((first, second)):
        times = {"first_time_ns": at(10 * number), "last_time_ns": at(400 if number else until_s)}
        told.append({"cluster": "c", "broker_id": number, "host": host, "port": port} | times)
    errors = [error(n, NOT_LEADER, topic="t", partition=0, expected=False) for n in range(refused)]
    return {"exchanges": rows, "errors": errors, "brokers": told, "connections": [connection(1, cluster="c")]}


def closed_after_login(ages_s: list[float], again: bool = False, asked_s: float = 0.001, **values: Any) -> Tables:
    """Connections that log in at once, which the broker closes at that age, so long after a request that it does not answer."""
    rows: Rows = []
    links: Rows = []
    logins: Rows = []
    begin = 0.0
    for n, age in enumerate(ages_s):
        rows.append(exchange(n, connection=n, at_ns=at(begin + age - asked_s), status="closed", **PRODUCE))
        closed = {"close": "fin", "closed_by": "broker", "close_time_ns": at(begin + age), "first_time_ns": at(begin)}
        links.append(connection(n, **(closed | {"last_time_ns": at(begin + age)} | values)))
        said = {"exchange": 1000 + n, "connection": n, "time_ns": at(begin), "outcome": "ok", "sasl_mechanism": "PLAIN"}
        logins.append(said | {"again": again})
        begin += age + 0.1
    return {"exchanges": rows, "logins": logins, "connections": links}


def unasked(times: int, closes_s: float = 0.01, **values: Any) -> Tables:
    """Connections with an open request and a reply that is none of it, at which the client closes."""
    rows: Rows = []
    links: Rows = []
    for n in range(times):
        rows.append(exchange(2 * n, connection=n, at_ns=at(n), status="closed", **PRODUCE))
        rows.append(exchange(2 * n + 1, connection=n, status="orphan_reply", response_time_ns=at(n + 0.002)))
        closed = {"close": "fin", "closed_by": "client", "close_time_ns": at(n + 0.002 + closes_s)}
        links.append(connection(n, **(closed | {"seen_from": "syn"} | values)))
    return {"exchanges": rows, "connections": links}


def second_syn(times: int, of: int = 20, after_s: float = 1.02, **values: Any) -> Tables:
    """So many connections whose first request comes so long after their first SYN, which was sent again; others at once."""
    rows: Rows = []
    links: Rows = []
    for n in range(of):
        late = n < times
        rows.append(exchange(n, connection=n, at_ns=at(n + (after_s if late else 0.002))))
        again = {
            "syn_ack_ns": None if late else 1_000_000,
            "seen_from": "syn",
            "broker_packets": 9,
            "first_time_ns": at(n),
        }
        links.append(connection(n, **(again | values)))
    return {"exchanges": rows, "connections": links}


def refused_among_brokers(times: int, code: int = DUPLICATE_BROKER, role: str = "controller") -> Tables:
    """Registrations of a broker, one a second, each refused."""
    asked = {"api_key": 62, "api_name": "BrokerRegistration", "role": role, "error_code": code}
    rows = [exchange(n, at_ns=at(n), **asked) for n in range(times)]
    errors = [error(n, code, name=f"E{code}", expected=False) for n in range(times)]
    return {"exchanges": rows, "errors": errors, "connections": [connection(1, role=role)]}


VOTE: dict[str, Any] = {"api_key": 52, "api_name": "Vote", "role": "controller"}


def voting(times: int, every_s: float = 1.0, pause_s: float = 0, candidates: int = 2) -> Tables:
    """Vote requests of so many hosts; in their middle a pause."""
    moments = [n * every_s + (pause_s if n >= times // 2 else 0) for n in range(times)]
    return {
        "exchanges": [
            exchange(n, at_ns=at(moment), client_address=f"10.0.0.{n % candidates}", **VOTE)
            for n, moment in enumerate(moments)
        ],
        "connections": [connection(1, role="controller", cluster="c")],
    }


def electing(elections: int, apart_s: float = 30) -> Tables:
    """So many elections, each of four Vote requests within a second."""
    story = voting(4 * elections)
    for n, row in enumerate(story["exchanges"]):
        row |= exchange(n, at_ns=at(n // 4 * apart_s + n % 4 * 0.3), client_address=row["client_address"], **VOTE)
    return story


def sharing(held: list[int], since_s: float = 0, left: bool = False) -> Tables:
    """Members of a group that got so many partitions; `left`: those without leave at once."""
    news: Rows = []
    for n, partitions in enumerate(held):
        member = {"connection": 1, "group_id": "g", "group_type": "classic", "member_id": f"m{n}", "client_id": f"c{n}"}
        member |= {"client_address": f"10.0.0.{n}", "error_code": 0, "cluster": "c"}
        got = {"event": "sync", "assigned_partitions": partitions, "exchange": n}
        news.append(member | got | {"begin_ns": at(since_s), "time_ns": at(since_s)})
        if left and not partitions:
            later = {"event": "leave", "exchange": 100 + n, "begin_ns": at(since_s + 1), "time_ns": at(since_s + 1)}
            news.append(member | later)
    rows = [exchange(n, at_ns=at(since_s), api_key=14, api_name="SyncGroup") for n in range(len(held))]
    return {"exchanges": [*rows, exchange(200, at_ns=at(60))], "group_events": news, "connections": [connection(1)]}


def nobody_named(times: int, every_s: float = 1.0, named: bool = False, **values: Any) -> Tables:
    """Metadata replies; `named`: one of them names a broker."""
    told = {"cluster": "c", "broker_id": 1, "host": "10.0.1.1", "port": 9092}
    times_told = {"first_time_ns": at(0), "last_time_ns": at(1)}
    return {
        "exchanges": [exchange(n, at_ns=at(n * every_s), **values) for n in range(times)],
        "brokers": [told | times_told] if named else [],
        "connections": [connection(1)],
    }


def waiting_to_sync(waits_s: list[float], leader: str = "m9", **values: Any) -> Tables:
    """SyncGroup requests of the member m1 of a group that were answered after so long."""
    asked = {"api_key": 14, "api_name": "SyncGroup", "group_id": "g", "member_id": "m1"} | values
    rows = [exchange(n, at_ns=at(20 * n), latency_ns=int(took * SECOND_NS), **asked) for n, took in enumerate(waits_s)]
    joined = {
        "event": "join",
        "leader": leader,
        "exchange": 99,
        "connection": 1,
        "group_id": "g",
        "group_type": "classic",
    }
    times = {"error_code": 0, "begin_ns": at(0), "time_ns": at(0), "client_address": "10.0.0.1"}
    rows.append(exchange(99, at_ns=at(0), api_key=11, api_name="JoinGroup"))
    return {"exchanges": rows, "group_events": [joined | times], "connections": [connection(1)]}


def versions_alone(
    times: int, keys: tuple[int, ...] = (1, 18, 62), more: int = 0, every_s: float = 1, **values: Any
) -> Tables:
    """Connections that ask an endpoint which offers these APIs for its versions, and for so much more, and end."""
    rows: Rows = []
    links: Rows = []
    offers: Rows = []
    for n in range(times):
        begin = n * every_s
        rows.append(exchange(10 * n, connection=n, at_ns=at(begin), api_key=18, api_name="ApiVersions"))
        rows += [exchange(10 * n + 1 + each, connection=n, at_ns=at(begin + 0.1)) for each in range(more)]
        closed = {"close": "fin", "closed_by": "client", "first_time_ns": at(begin), "last_time_ns": at(begin + 0.2)}
        links.append(connection(n, **(closed | values)))
        offered = {"exchange": 10 * n, "connection": n, "time_ns": at(begin), "min_version": 0, "max_version": 4}
        offers += [offered | {"api_key": key} for key in keys]
    return {"exchanges": rows, "offered_versions": offers, "connections": links}


def by_turns(pattern: str, every_s: float = 3.0, **values: Any) -> Tables:
    """Attempts to connect: `.` is answered, `x` is not, `r` is refused."""
    links: Rows = []
    for n, sort in enumerate(pattern):
        row = connection(n, first_time_ns=at(n * every_s), last_time_ns=at(n * every_s + 1), seen_from="syn")
        if sort == ".":
            row |= {"syn_ack_ns": 1_000_000, "close": "fin"}
        else:
            row |= {"is_kafka": None, "syn_ack_ns": None, "client_stream_bytes": 0, "broker_stream_bytes": 0}
            row |= {"broker_packets": int(sort == "r"), "close": "rst" if sort == "r" else "none", "protocol": None}
        links.append(row | values)
    return {"exchanges": [exchange(0, connection=0, at_ns=at(0.1))], "connections": links}


def reset_late(times: int, silent_s: float = 20, served: bool = False, **values: Any) -> Tables:
    """Connections with a request that has no reply for so long, and then a reset; `served`: another one is answered."""
    rows: Rows = []
    links: Rows = []
    for n in range(times):
        rows.append(exchange(n, connection=n, at_ns=at(10 + n / 10), status="closed", **PRODUCE))
        rows += [exchange(100 + n, connection=n, at_ns=at(12 + n / 10))] if served else []
        ended = {"close": "rst", "closed_by": "broker", "client_retransmitted": 5}
        times_ended = {"close_time_ns": at(10 + n / 10 + silent_s), "last_time_ns": at(10 + n / 10 + silent_s)}
        links.append(connection(n, **(ended | times_ended | values)))
    return {"exchanges": rows, "connections": links}


HERE, THERE = ("10.0.0.9", 9092), ("10.0.0.9", 9093)
STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "gives_up": (
        lambda: given_up([10.0, 10.1, 9.9]),
        (
            # Too few; of different lengths; nobody comes back; the broker closed several at once, or soon; TCP sent again; a poll.
            lambda: given_up([10.0, 10.1]),
            lambda: given_up([10.0, 7.0, 3.0]),
            lambda: given_up([10.0, 10.1, 9.9], back_s=60),
            lambda: given_up([10.0, 10.1, 9.9], back_s=-9.5, closed_by="broker"),
            lambda: given_up([4.0, 4.0, 4.0], closed_by="broker"),
            lambda: given_up([10.0, 10.1, 9.9], client_retransmitted=1),
            lambda: given_up([1.0, 1.0, 1.0], max_wait_ms=1500, **FETCH),
            lambda: given_up([0.4, 0.4, 0.4]),
        ),
    ),
    "shared_address": (
        lambda: at_one_address(HERE, HERE, 3),
        (
            # Another port; too few; the second one took the address of the first one over; refused elsewhere.
            lambda: at_one_address(HERE, THERE, 3),
            lambda: at_one_address(HERE, HERE, 2),
            lambda: at_one_address(HERE, HERE, 3, until_s=9),
            lambda: at_one_address(HERE, HERE, 3, at_port=9093),
        ),
    ),
    "session_not_renewed": (
        lambda: closed_after_login([60.0, 60.5, 61.0]),
        (
            # Too few; of different ages; too young; logged in again; idle, so that no request met it; the client closed.
            lambda: closed_after_login([60.0, 60.5]),
            lambda: closed_after_login([60.0, 70.0, 80.0]),
            lambda: closed_after_login([20.0, 20.0, 20.0]),
            lambda: closed_after_login([60.0, 60.5, 61.0], again=True),
            lambda: closed_after_login([60.0, 60.5, 61.0], asked_s=5),
            lambda: closed_after_login([60.0, 60.5, 61.0], closed_by="client"),
        ),
    ),
    "unasked_reply": (
        lambda: unasked(3),
        (
            lambda: unasked(2),
            lambda: unasked(3, closes_s=5),
            lambda: unasked(3, closed_by="broker"),
            lambda: unasked(3, seen_from="middle"),
            lambda: unasked(3, client_gaps=1),
        ),
    ),
    "repeated_connects": (
        lambda: second_syn(5),
        (
            lambda: second_syn(4),
            lambda: second_syn(5, of=51),
            # The SYN was not captured twice alone; one side is missing.
            lambda: second_syn(5, after_s=0.5),
            lambda: second_syn(5, one_way="client"),
        ),
    ),
    "refused_broker": (
        lambda: refused_among_brokers(11),
        (
            # Killed and back; by a client; an error of other requests.
            lambda: refused_among_brokers(10),
            lambda: refused_among_brokers(11, role="client"),
            lambda: refused_among_brokers(11, code=NOT_LEADER),
        ),
    ),
    "no_quorum": (
        lambda: voting(20),
        (
            # One alone may be cut off from a quorum that is well.
            lambda: voting(20, candidates=1),
            lambda: voting(19),
            lambda: voting(20, every_s=0.7),
            lambda: voting(24, pause_s=11),
            # A restart of all controllers in turn; one election now and then.
            lambda: electing(4),
            lambda: electing(8, apart_s=130),
        ),
    ),
    "spare_members": (
        lambda: sharing([1, 1, 0]),
        (
            # All work; none does yet; it was so a moment ago; who has none is gone.
            lambda: sharing([1, 1, 1]),
            lambda: sharing([0, 0, 0]),
            lambda: sharing([1, 1, 0], since_s=395),
            lambda: sharing([1, 1, 0], left=True),
        ),
    ),
    "answered_in_part": (
        lambda: by_turns(".x.x.xx."),
        (
            # Two episodes; one outage; refused; too far apart; never answered again.
            lambda: by_turns(".x.xx."),
            lambda: by_turns(".xxxx."),
            lambda: by_turns(".r.r.r."),
            lambda: by_turns(".x.x.x.", every_s=16),
            lambda: by_turns(".x.x.x"),
        ),
    ),
    "silent_then_reset": (
        lambda: reset_late(2),
        (
            lambda: reset_late(1),
            lambda: reset_late(2, silent_s=2),
            lambda: reset_late(2, served=True),
            lambda: reset_late(2, client_retransmitted=0),
            lambda: reset_late(2, closed_by="client"),
        ),
    ),
    "silent_leader": (
        lambda: waiting_to_sync([5.0]),
        (
            # Too short; the leader itself waited as long; no SyncGroup.
            lambda: waiting_to_sync([4.9, 4.9, 4.9]),
            lambda: waiting_to_sync([5.0], leader="m1"),
            lambda: waiting_to_sync([9.0], api_key=11, api_name="JoinGroup"),
        ),
    ),
    "controller_asked": (
        lambda: versions_alone(3),
        (
            # Too few; now and then, as a check of its health; a broker; served there; the other side closed.
            lambda: versions_alone(2),
            lambda: versions_alone(3, every_s=15),
            lambda: versions_alone(3, keys=(0, 1, 3, 18)),
            lambda: versions_alone(3, more=1),
            lambda: versions_alone(3, closed_by="broker"),
        ),
    ),
    "no_brokers_named": (
        lambda: nobody_named(10),
        (
            lambda: nobody_named(9),
            lambda: nobody_named(10, every_s=0.1),
            lambda: nobody_named(10, named=True),
            lambda: nobody_named(10, error_count=1, error_code=3),
        ),
    ),
}
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "gives_up": (
        (
            lambda: given_up([1.0, 1.0, 1.0], late_s=0.5),
            lambda: given_up([10.0, 10.0, 10.0], max_wait_ms=30_000, **FETCH),
            lambda: patient(10.0, 9.0),
            lambda: given_up([10.0, 10.1, 9.9], closed_by="broker"),
        ),
        (lambda: given_up([1.0, 1.0, 1.0], late_s=-0.5), lambda: patient(10.0, 11.0)),
    )
}
