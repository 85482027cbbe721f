"""Stories of connections that one side closes, or on which a client writes late, and of members that die: who did it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_rows import REFUSED, SECOND_NS, START_NS, Rows, connection, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
PRODUCE = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all", "acks": -1}


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def closed_idle(idle_s: float = 60, later_s: float = 38, *others: dict[str, Any], **values: Any) -> Tables:
    """A broker closes a connection after so long without traffic; a Produce so much later is reset."""
    asked = 2 + idle_s + later_s
    rows = [exchange(1, at_ns=at(2) - 1_000_000, **PRODUCE), exchange(2, at_ns=at(asked), status="closed", **PRODUCE)]
    ended = {"close": "rst", "closed_by": "broker", "close_time_ns": at(2 + idle_s), "last_time_ns": at(asked)}
    return {"exchanges": rows, "connections": [connection(1, **(ended | values)), *others]}


def died(silence_s: float, left_first: bool = False, other: str = "other", new: bool = False) -> Tables:
    """A member whose heartbeats end at 5 s; another one joins a new generation so long after; its session is 10 s.

    `other` is that one's client id, at the same address; `new`: it was not there before.
    """
    base = {"group_id": "g", "group_type": "classic", "error_code": 0, "session_timeout_ms": 10_000, "cluster": "c"}
    one = base | {"client_id": "app", "client_address": "10.0.0.1", "member_id": "m1"}
    two = base | {"client_id": other, "client_address": "10.0.0.1", "member_id": "m2"}
    steps = [(one, "join", 0.0), (two, "join", 5 + silence_s)]
    steps += [] if new else [(two, "join", 0.0)]
    steps += [(one, "leave", 5.5)] if left_first else []
    rows = [
        who | {"exchange": n, "event": event, "begin_ns": at(moment), "time_ns": at(moment)}
        for n, (who, event, moment) in enumerate(steps)
    ]
    beats = [
        exchange(10 + n, at_ns=at(n), api_key=12, group_id="g", client_id="app", member_id="m1", error_code=0)
        for n in range(6)
    ]
    beats += [
        exchange(30 + n, at_ns=at(moment), api_key=12, group_id="g", client_id=other, member_id="m2", error_code=0)
        for n, moment in enumerate([6 + silence_s] if new else [1, 6 + silence_s])
    ]
    made = [exchange(n) for n in range(len(steps))]
    return {"group_events": rows, "exchanges": beats + made, "connections": [connection(1)]}


def refused_then() -> Tables:
    """The same of a broker that refuses another connection a second after it closed this one."""
    return closed_idle(60, 38, connection(2, first_time_ns=at(63), last_time_ns=at(63), **REFUSED))


def stopped_then(idle_s: float = 0.3) -> Tables:
    """The same of a broker that closes within a second another connection, which was idle for so long."""
    other = connection(2, close="fin", closed_by="broker", close_time_ns=at(62.2), last_time_ns=at(62.2))
    tables = closed_idle(60, 38, other)
    tables["exchanges"].append(exchange(3, at_ns=at(62.2 - idle_s) - 1_000_000, connection=2))
    return tables


def hung_up(times: int, after_s: float = 0.001, *others: dict[str, Any], **values: Any) -> Tables:
    """Connections whose first request is answered by a reset."""
    rows, links = [], []
    for number in range(times):
        asked = at(number)
        rows.append(exchange(number, connection=number, at_ns=asked, status="closed"))
        ended = {
            "close": "rst",
            "closed_by": "broker",
            "close_time_ns": asked + int(after_s * SECOND_NS),
            "requests": 1,
        }
        ended |= {"broker_stream_bytes": 0, "broker_framed_bytes": 0, "first_time_ns": asked}
        links.append(connection(number, **(ended | {"last_time_ns": ended["close_time_ns"]} | values)))
    return {"exchanges": rows, "connections": [*links, *others]}


def written_in_two(times: int, send_ms: float = 270, of: int = 100, size: int = 2700, **values: Any) -> Tables:
    """So many requests of `of` whose rest leaves this late, a round trip of 0.4 ms."""
    held = {"send_ns": int(send_ms * 1_000_000), "request_bytes": size}
    rows = [exchange(n, at_ns=at(n), **PRODUCE, **(held if n < times else {"send_ns": 0})) for n in range(of)]
    return {"exchanges": rows, "connections": [connection(1, **({"rtt_ns": 400_000, "requests": of} | values))]}


def answered_in(protocol: str | None, **values: Any) -> Tables:
    """A connection whose first request something else answers."""
    rows = [exchange(1, status="closed", api_key=18, api_name="ApiVersions")]
    return {"exchanges": rows, "connections": [connection(1, **({"broker_speaks": protocol, "requests": 1} | values))]}


def refused_unheard(times: int = 3, after_s: float = 0.001, apart_s: float = 1, acks: int = 0, **values: Any) -> Tables:
    """Connections that the broker closes right after a Produce, which expects a reply or none."""
    rows, links = [], []
    for number in range(times):
        asked = at(number * apart_s)
        status, kind = ("closed", "produce_acks_all") if acks else ("no_reply_expected", "produce_acks_0")
        asks = PRODUCE | {"acks": acks, "kind": kind, "status": status}
        rows.append(exchange(number, connection=number, at_ns=asked, **asks))
        ended = {"close": "fin", "closed_by": "broker", "close_time_ns": asked + int(after_s * SECOND_NS)}
        links.append(connection(number, **(ended | values)))
    return {"exchanges": rows, "connections": links}


def asked_later() -> Tables:
    """The same of connections on which the client asks for something else before their end."""
    tables = refused_unheard(after_s=0.5)
    tables["exchanges"] += [
        exchange(10 + number, connection=number, at_ns=at(number + 0.2), status="closed") for number in range(3)
    ]
    return tables


def stopped(waits_s: float = 0) -> Tables:
    """A broker that is stopped three times: it closes another connection, too, whose last request was sent so long before."""
    tables, others = refused_unheard(apart_s=60), refused_unheard(apart_s=60, acks=1)
    earlier_ns = int(waits_s * SECOND_NS)
    for row in others["exchanges"]:
        sent = {key: row[key] - earlier_ns for key in ("request_time_ns", "request_end_ns")}
        tables["exchanges"].append(
            row | sent | {"exchange": row["exchange"] + 10, "connection": row["connection"] + 10}
        )
    tables["connections"] += [row | {"connection": row["connection"] + 10} for row in others["connections"]]
    return tables


def refused_afterwards() -> Tables:
    """The same, seen beside one client alone: it cannot connect again at once."""
    tables = refused_unheard(apart_s=60)
    nothing = {
        "is_kafka": None,
        "seen_from": "syn",
        "syn_ack_ns": None,
        "client_stream_bytes": 0,
        "broker_stream_bytes": 0,
    }
    tables["connections"] += [connection(10 + n, first_time_ns=at(60 * n + 0.1), **nothing) for n in range(3)]
    return tables


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "acks_0_refused": (
        refused_unheard,
        (
            lambda: refused_unheard(2),
            lambda: refused_unheard(3, 1.1),
            lambda: refused_unheard(3, apart_s=0.1),
            lambda: refused_unheard(3, acks=1),
            lambda: refused_unheard(3, closed_by="client"),
            asked_later,
            stopped,
            refused_afterwards,
        ),
    ),
    "closed_while_idle": (
        closed_idle,
        (
            lambda: closed_idle(60, 0.9),
            lambda: closed_idle(4, 38),
            lambda: closed_idle(60, 38, closed_by="client"),
            refused_then,
            stopped_then,
            lambda: stopped_then(58.9),
        ),
    ),
    "hung_up_at_once": (
        lambda: hung_up(3),
        (
            lambda: hung_up(2),
            lambda: hung_up(3, 1.1),
            lambda: hung_up(3, closed_by="client"),
            lambda: hung_up(3, broker_gaps=1),
            lambda: hung_up(3, 0.001, connection(9)),
            lambda: hung_up(3, 0.001, connection(9), closed_by="client", close="fin"),
        ),
    ),
    "not_kafka_there": (
        lambda: answered_in("http"),
        (lambda: answered_in(None), lambda: answered_in("ssh", is_kafka=False)),
    ),
    "rest_held": (
        lambda: written_in_two(10),
        (
            lambda: written_in_two(9),
            lambda: written_in_two(10, of=201),
            lambda: written_in_two(10, 99),
            lambda: written_in_two(10, size=14_001),
            lambda: written_in_two(10, rtt_ns=14_000_000),
            lambda: written_in_two(10, client_retransmitted=1),
            lambda: written_in_two(10, client_full_windows=1),
        ),
    ),
}
