"""Stories of rules about clients and listeners that do not speak the same; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, connection, error, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
ILLEGAL_SASL_STATE, SASL_AUTHENTICATION_FAILED = 34, 58
FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH = 70, 71


def foreign(protocol: str, reply_bytes: int = 0, plain: bool = True) -> Tables:
    """A connection with another protocol to a port where plain Kafka is spoken, or nothing that is known."""
    other = connection(
        2,
        is_kafka=False,
        protocol=protocol,
        tls=protocol == "tls",
        client_stream_bytes=70,
        broker_stream_bytes=reply_bytes,
        replies=0,
    )
    return {"connections": [connection(1, replies=3 if plain else 0, broker_stream_bytes=500), other]}


def plain_at_tls(**values: Any) -> Tables:
    """A connection with a plain request, which is answered by TLS."""
    other = {"tls": True, "tls_decrypted": False, "requests": 1, "replies": 0, "broker_stream_bytes": 7}
    return {"connections": [connection(2, client_stream_bytes=72, **(other | values))], "exchanges": [exchange(1)]}


def tls_ended(count: int, handshake: str = "failed", **values: Any) -> Tables:
    """So many TLS connections whose handshake ended in this way."""
    base = {"is_kafka": False, "protocol": "tls", "tls": True, "tls_handshake": handshake}
    return {"connections": [connection(n, **(base | values)) for n in range(count)]}


def given_up(count: int, host: str = "10.0.0.1", served_ns: int = 1) -> Tables:
    """So many handshakes that ended without an alert, and so long after their beginning one of this host that was finished."""
    base = {"is_kafka": False, "protocol": "tls", "tls": True, "tls_handshake": "finished", "client_address": host}
    served = connection(90, first_time_ns=START_NS + served_ns, last_time_ns=START_NS + SECOND_NS, **base)
    return {"connections": [*tls_ended(count)["connections"], served]}


def seeking(
    found: int = 4,
    newest: int | None = 0,
    later: str = "Metadata",
    idle_s: float = 20,
    offered_to: str = "client",
    apart_s: float = 0,
) -> Tables:
    """A client that finds its coordinator so often, so long apart, asks one thing more, and ends so much later.

    ConsumerGroupHeartbeat is offered up to `newest`, or not at all, on a connection of the role `offered_to`.
    """
    offers = [{"exchange": 0, "connection": 2, "time_ns": START_NS, "api_key": 18, "min_version": 0, "max_version": 4}]
    if newest is not None:
        offers.append(offers[0] | {"api_key": 68, "max_version": newest})
    asked = [
        (18, "ApiVersions"),
        *[(10, "FindCoordinator")] * found,
        ({"Metadata": 3, "JoinGroup": 11, "Fetch": 1}[later], later),
    ]
    rows = [
        exchange(
            n,
            api_key=key,
            api_name=name,
            client_id="app",
            error_code=0,
            at_ns=START_NS + int(n * max(apart_s, 0.001) * SECOND_NS),
        )
        for n, (key, name) in enumerate(asked)
    ]
    last_ns = START_NS + int((idle_s + len(rows) * apart_s) * SECOND_NS)
    ended = connection(1, last_time_ns=last_ns, close="fin", requests=len(rows), replies=len(rows))
    offering = connection(2, role=offered_to, broker_port=9093)
    return {"offered_versions": offers, "exchanges": rows, "connections": [ended, offering]}


def logins_refused(error_code: int = ILLEGAL_SASL_STATE, then: str = "failed") -> Tables:
    """A login that its broker refuses with this error, and how the next one on the same connection ends."""
    base = {"connection": 1, "sasl_mechanism": "PLAIN", "again": False}
    first = base | {"exchange": 1, "outcome": "failed", "error_code": error_code}
    rows = [first, base | {"exchange": 2, "outcome": then, "error_code": 0 if then == "ok" else error_code}]
    asked = {"api_key": 17, "api_name": "SaslHandshake"}
    return {
        "logins": rows,
        "exchanges": [exchange(n, **asked) for n in (1, 2)],
        "connections": [connection(1, requests=2, replies=2, sasl_mechanism="PLAIN")],
    }


def closed_after_versions(count: int, login: bool = False, served: bool = False, status: str = "closed") -> Tables:
    """So many connections on which only ApiVersions is answered; `login`: another one of the port logs in; `served`: another one
    is served without a login."""
    connections = [connection(n, requests=2, replies=1) for n in range(count)]
    rows = [exchange(2 * n, connection=n, api_key=18, api_name="ApiVersions") for n in range(count)]
    rows += [exchange(2 * n + 1, connection=n, status=status) for n in range(count)]
    if login:
        connections.append(connection(90, requests=9, replies=9, sasl_mechanism="PLAIN", principal="User:till"))
        rows.append(exchange(900, connection=90))
    if served:
        connections.append(connection(91, requests=9, replies=9))
        rows.append(exchange(910, connection=91))
    return {"connections": connections, "exchanges": rows}


def silent_to_tls(count: int, **values: Any) -> Tables:
    """So many ClientHellos at a port that never answers one."""
    hello = {"is_kafka": False, "protocol": "tls", "tls": True, "tls_handshake": "failed", "broker_stream_bytes": 0}
    rows = [connection(n, client_stream_bytes=1_500, replies=0, **(hello | values)) for n in range(count)]
    return {"connections": rows}


def sessions_lost(lost: int, kept: int, code: int = FETCH_SESSION_ID_NOT_FOUND, **values: Any) -> Tables:
    """Fetches of a consumer that name a session: one that its broker no longer has, and one that it has."""
    asked = {"api_key": 1, "api_name": "Fetch", "api_version": 12, "replica_id": -1} | values
    rows = [exchange(n, at_ns=START_NS + n * SECOND_NS, connection=1, **asked) for n in range(lost + kept)]
    errors = [error(n, code, expected=True, level="top") for n in range(lost)]
    return {"exchanges": rows, "errors": errors, "connections": [connection(1)]}


def ended_by_join(
    count: int, status: str = "closed", answered_at_s: float = 1, apart_s: float = 1, **values: Any
) -> Tables:
    """So many connections, so long apart, each of which the broker closes at its JoinGroup; a FindCoordinator is answered so long
    after the first of these."""
    join = {"api_key": 11, "api_name": "JoinGroup", "api_version": 0, "status": status, "latency_ns": None}
    times = {n: START_NS + int((n - 1) * apart_s * SECOND_NS) for n in range(1, count + 1)}
    asked = [exchange(n, connection=n, at_ns=at, **(join | values)) for n, at in times.items()]
    closed = [connection(n, closed_by="broker", last_time_ns=at + SECOND_NS) for n, at in times.items()]
    other = exchange(
        90, connection=90, at_ns=START_NS + int(answered_at_s * SECOND_NS), api_key=10, api_name="FindCoordinator"
    )
    return {"exchanges": [*asked, other], "connections": [*closed, connection(90)]}


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "never_joined": (
        seeking,
        (
            lambda: seeking(found=2),
            lambda: seeking(newest=1),
            # What controllers offer tells nothing of brokers.
            lambda: seeking(newest=None, offered_to="raft"),
            lambda: seeking(later="JoinGroup"),
            lambda: seeking(later="Fetch"),
            lambda: seeking(idle_s=9),
            # Who has no group to join asks again now and then.
            lambda: seeking(apart_s=600),
        ),
    ),
    "ends_connection": (
        lambda: ended_by_join(3),
        (
            lambda: ended_by_join(2),
            lambda: ended_by_join(3, "pending"),
            lambda: ended_by_join(3, answered_at_s=-1),
            lambda: ended_by_join(3, apart_s=0.1),
            lambda: ended_by_join(3, role="follower"),
            lambda: ended_by_join(3, api_key=18, api_name="ApiVersions"),
        ),
    ),
    "fetch_sessions_lost": (
        lambda: sessions_lost(10, 100),
        (
            lambda: sessions_lost(9, 9),
            lambda: sessions_lost(10, 191),  # less than one in twenty
            lambda: sessions_lost(10, 10, role="follower"),
        ),
    ),
    "wrong_protocol": (
        lambda: foreign("tls"),
        (lambda: foreign("tls", reply_bytes=900), lambda: foreign("other", plain=False)),
    ),
    "tls_failed": (
        lambda: tls_ended(3, tls_alert="certificate_expired", tls_alert_from="client"),
        (lambda: tls_ended(2), lambda: tls_ended(5, "finished")),
    ),
}
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "never_joined": ((lambda: seeking(newest=None),), ()),
    "fetch_sessions_lost": ((lambda: sessions_lost(10, 100, INVALID_FETCH_SESSION_EPOCH),), ()),
    "tls_failed": (
        # A certificate may have been replaced meanwhile.
        (lambda: given_up(3, "10.0.0.9"), lambda: given_up(3, served_ns=-1)),
        (lambda: given_up(3),),
    ),
    "wrong_protocol": (
        (
            plain_at_tls,
            logins_refused,
            lambda: closed_after_versions(3, login=True),
            lambda: closed_after_versions(5),
            lambda: silent_to_tls(3),
        ),
        (
            lambda: plain_at_tls(tls_decrypted=True),
            lambda: plain_at_tls(tls=False),
            lambda: plain_at_tls(replies=1),
            lambda: logins_refused(SASL_AUTHENTICATION_FAILED),
            lambda: logins_refused(then="ok"),
            lambda: closed_after_versions(2, login=True),
            lambda: closed_after_versions(4),
            lambda: closed_after_versions(9, served=True),
            lambda: closed_after_versions(9, status="abandoned"),
            lambda: silent_to_tls(2),
            lambda: silent_to_tls(9, one_way="client"),
            lambda: silent_to_tls(9, broker_packets=0),
            lambda: silent_to_tls(9, broker_stream_bytes=7),
        ),
    ),
}
