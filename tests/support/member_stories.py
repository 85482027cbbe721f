"""Stories of rules about members of groups, topics and lines; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, capture, connection, error, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
PRODUCE = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all", "acks": -1}
POLL = {"api_key": 1, "api_name": "Fetch", "api_version": 17, "kind": "fetch_tail", "max_wait_ms": 500}
UNKNOWN_TOPIC, OLD, NEW = 3, "b2xkb2xkb2xkb2xkb2xkbw", "bmV3bmV3bmV3bmV3bmV3bg"


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def joins(times: list[float], **values: Any) -> Tables:
    """One member that joins at these moments, generation by generation."""
    base = {"group_id": "g", "group_type": "classic", "event": "join", "error_code": 0, "client_id": "app"}
    base |= {"client_address": "10.0.0.1", "cluster": "c", "session_timeout_ms": 10_000, "members": 1, "connection": 1}
    rows = [
        base
        | {"exchange": n, "generation": n + 1, "member_id": f"m{n}"}
        | {"begin_ns": at(moment) - 1_000_000, "time_ns": at(moment)}
        | values
        for n, moment in enumerate(times)
    ]
    return {"group_events": rows, "exchanges": [exchange(n) for n in range(len(times))], "connections": [connection(1)]}


def rolled_out(members: int, again: bool = False) -> Tables:
    """A release: one member after the other is replaced, on a new connection; `again`: the first one is, each time."""
    base = {
        "group_id": "g",
        "group_type": "classic",
        "event": "join",
        "error_code": 0,
        "client_id": "app",
        "cluster": "c",
    }
    rows = []
    for generation in range(members + 1):
        for member in range(members):
            lives = (generation if member == 0 else 0) if again else int(member < generation)
            came = {"member_id": f"m{member}-{lives}", "connection": 10 * member + lives + 1, "members": members}
            moment = {"begin_ns": at(5 * generation), "time_ns": at(5 * generation + 0.1)}
            own = {"client_address": f"10.0.0.{member + 1}", "generation": generation + 1, "exchange": len(rows)}
            rows.append(base | came | moment | own)
    return {
        "group_events": rows,
        "exchanges": [exchange(row["exchange"]) for row in rows],
        "connections": [connection(number) for number in sorted({row["connection"] for row in rows})],
    }


def asked_for(times: list[float], seconds: float, **values: Any) -> Tables:
    """A member that asks for a rebalance at these moments, each of which takes so long."""
    told: dict[str, Any] = {"member_id": "m", "protocol": "range"}
    made = joins(times, **(told | values))
    syncs = [
        row | {"event": "sync", "exchange": 100 + n, "begin_ns": row["time_ns"], "time_ns": at(times[n] + seconds)}
        for n, row in enumerate(made["group_events"])
    ]
    made["group_events"] += syncs
    made["exchanges"] += [exchange(row["exchange"]) for row in syncs]
    return made


def crashing(
    lives: int, close: str = "rst", leaves: bool = False, together: bool = False, newer: str | None = None
) -> Tables:
    """So many members of one client that join 5 s apart, each on a connection of its own; `leaves`: each says so;
    `together`: all live on until the end; `newer`: they are of the newer protocol, and so much of their heartbeats was read."""
    base = {"group_id": "g", "group_type": "classic", "cluster": "c", "client_id": "app", "client_address": "10.0.0.1"}
    asked = {"api_key": 11, "api_name": "JoinGroup"}
    if newer is not None:
        base["group_type"] = "consumer"
        asked = {"api_key": 68, "api_name": "ConsumerGroupHeartbeat", "request_decoded": newer}
    rows: Rows = []
    made: Rows = []
    links: Rows = []
    for life in range(lives):
        events = [("join", 5.0 * life), ("heartbeat", 60.0 if together else 5.0 * life + 4)]
        events += [("leave", 5.0 * life + 4.5)] if leaves else []
        for event, moment in events:
            number = len(made)
            made.append(exchange(number, at_ns=at(moment), connection=life, **asked))
            told = {"exchange": number, "connection": life, "event": event, "member_id": f"app-{life}", "error_code": 0}
            rows.append(base | told | {"begin_ns": at(moment), "time_ns": at(moment)})
        links.append(connection(life, close=close, last_time_ns=at(60 if together else 5.0 * life + 4.8)))
    return {"group_events": rows, "exchanges": made, "connections": links}


def hesitating(records: int = 10, beats_s: float = 400, asks_s: float = 1, pending: bool = False) -> Tables:
    """A member that fetched once, `asks_s` into the capture, whose heartbeats go on for `beats_s`, while somebody writes so
    many records each four seconds; `pending`: another Fetch waits."""
    own = {"client_id": "app", "connection": 1}
    rows: Rows = [exchange(0, at_ns=at(asks_s), **own, **POLL)]
    beats = range(0, int(beats_s), 3)
    rows += [exchange(1000 + n, at_ns=at(n), api_key=12, api_name="Heartbeat", group_id="g", **own) for n in beats]
    rows += [exchange(2000, at_ns=at(9), status="pending", **own, **POLL)] * pending
    rows += [exchange(100 + n, at_ns=at(4 * n), client_id="writer", connection=2, **PRODUCE) for n in range(99)]
    where = {"topic": "t", "partition": 0, "cluster": "c"}
    sent = {
        "side": "request",
        "position": 0,
        "codec": "none",
        "magic": 2,
        "bytes": 90,
        "records": records,
        "base_offset": 0,
    }
    joined = {"group_id": "g", "group_type": "classic", "event": "join", "error_code": 0, "client_address": "10.0.0.1"}
    read = {
        "exchange": 0,
        "connection": 1,
        "time_ns": at(asks_s),
        "fetch_offset": 0,
        "new_end_offset": 9,
        "next_offset": 9,
    }
    return {
        "exchanges": rows,
        "fetch_positions": [where | read],
        "entries": [
            where | {"exchange": n, "connection": 1 + (n > 0), "side": "request"} for n in (0, *range(100, 199))
        ],
        "batches": [where | sent | {"exchange": 100 + n, "connection": 2} for n in range(99)],
        "group_events": [joined | own | {"exchange": 1000, "cluster": "c", "begin_ns": at(0), "time_ns": at(0)}],
        "connections": [connection(n, cluster="c") for n in (1, 2)],
    }


def busy(pause_s: float = 11, given: int = 40_000, beats: int = 3, rejoins: bool = False, waited_ms: int = 9) -> Tables:
    """A member without a Fetch for so long, with so many heartbeats; then one is answered, so large, after that time."""
    asked = {"api_name": "Fetch", "api_version": 13, "replica_id": -1}
    asks = {"latency_ns": waited_ms * SECOND_NS // 1000, "response_bytes": given}
    rows = [
        exchange(1, at_ns=at(1), api_key=1, **asked),
        exchange(2, at_ns=at(1 + pause_s), api_key=1, **asked, **asks),
    ]
    own = {"group_id": "g", "member_id": "m0"}
    beating = {"api_key": 12, "api_name": "Heartbeat"}
    rows += [exchange(10 + n, at_ns=at(2 + n), **beating, **own) for n in range(beats)]
    rows += [exchange(90, at_ns=at(9), api_key=11, api_name="JoinGroup", **own)] * rejoins
    return joins([0.0]) | {"exchanges": rows, "connections": [connection(1, cluster="c")]}


def recreated(again: bool = True, overlapping: bool = False, failed: int = 5) -> Tables:
    """A topic whose id another one follows; so many requests that were told meanwhile that there is no such topic."""
    ids: Rows = [{"cluster": "c", "topic": "t", "topic_id": OLD, "first_time_ns": at(0), "last_time_ns": at(2)}]
    if again:
        begin = at(1 if overlapping else 5)
        ids.append({"cluster": "c", "topic": "t", "topic_id": NEW, "first_time_ns": begin, "last_time_ns": at(9)})
    rows = [exchange(n, at_ns=at(3 + n / 10), error_code=UNKNOWN_TOPIC) for n in range(failed)]
    errors = [error(n, UNKNOWN_TOPIC, topic="t", expected=False) for n in range(failed)]
    return {"topic_ids": ids, "exchanges": rows, "errors": errors, "connections": [connection(1, cluster="c")]}


def dead_line(seconds: float, resent: int = 3, others: int = 0, chatter: bool = False) -> Tables:
    """Requests of one host on two connections that are answered so late, what was sent having been sent again on so many packets;
    `others`: on a third connection nothing was; `chatter`: that one goes on."""
    rows = [exchange(n, at_ns=at(n / 5), connection=1 + n % 2, **PRODUCE) for n in range(5)]
    late = {"latency_ns": int(seconds * SECOND_NS)}
    rows += [exchange(10 + n, at_ns=at(1.1), connection=1 + n % 2, **late, **PRODUCE) for n in range(4)]
    rows += [exchange(20 + n, at_ns=at(1.1), connection=3, **late, **PRODUCE) for n in range(others)]
    rows += [exchange(30 + n, at_ns=at(1.2 + n / 2), connection=3) for n in range(int(seconds * 2) if chatter else 0)]
    links = [connection(n, client_retransmitted=resent) for n in (1, 2)]
    return {"exchanges": rows, "connections": [*links, connection(3)]}


def unheard(
    silent_s: float,
    resent: int = 5,
    beside: int = 0,
    needless: int = 1,
    before: int = 50,
    burst: int = 30,
    chatter: bool = False,
    missing: tuple[int, int] = (0, 0),
    joined: int = 1,
) -> Tables:
    """Produce requests, ten a second and each answered at once, a silence, and a burst of them; the broker sent so many packets
    again. `beside`: so many on another connection; `chatter`: there the host goes on. `missing`: how often numbers of packets are
    missing on either; `joined`: so many of the burst are in its first packet."""
    moments = [4.9 - n / 10 for n in range(before)] + [
        4.9 + silent_s + max(n + 1 - joined, 0) / 100 for n in range(burst)
    ]
    rows = [exchange(n, at_ns=at(moment), **PRODUCE) for n, moment in enumerate(moments)]
    rows += [exchange(100 + n, at_ns=at(4.9 + n), connection=2) for n in range(1, int(silent_s) if chatter else 0)]
    dead = connection(1, broker_retransmitted=resent, broker_needless=needless, client_missing_ids=missing[0])
    other = connection(2, broker_retransmitted=beside, client_missing_ids=missing[1])
    return {"exchanges": rows, "connections": [dead, other]}


def overdue_poll(seconds: float, max_wait_ms: int = 500, beside: bool = True) -> Tables:
    """A long poll, and (on another connection) one Produce, which a broker answers only after so long."""
    rows: Rows = [exchange(n, at_ns=at(n / 10), **PRODUCE) for n in range(10)]
    late: dict[str, Any] = {"at_ns": at(1.1), "latency_ns": int(seconds * SECOND_NS), "queue_ns": 0}
    rows.append(exchange(20, connection=2, **late, **(POLL | {"max_wait_ms": max_wait_ms})))
    rows += [exchange(21, **late, **PRODUCE)] if beside else []
    return {"exchanges": rows, "connections": [connection(1), connection(2)]}


def asking(per_s: float, seconds: int, rest_s: float = 0) -> Tables:
    """Metadata requests at this rate, and then nothing until the end."""
    rows = [exchange(n, at_ns=at(n / per_s)) for n in range(int(per_s * seconds))]
    return {"exchanges": rows, "connections": [connection(1, last_time_ns=at(seconds + rest_s))]}


def missed(refused: int = 0, waited_s: float = 0) -> Tables:
    """A broker whose connections to other brokers end at 2 s; so many writes that are refused afterwards, or that wait so long."""
    ends = {"client_address": "10.0.1.2", "last_time_ns": at(2), "role": "follower"}
    links = [connection(n, broker_address=f"10.0.1.{1 + 2 * n}", **ends) for n in range(2)]
    rows = [exchange(90, at_ns=at(1))]
    rows += [exchange(n, at_ns=at(3 + n), connection=9, error_code=19, **PRODUCE) for n in range(refused)]
    if waited_s:
        late = {"latency_ns": int(waited_s * SECOND_NS)}
        rows += [exchange(50 + n, at_ns=at(3 + n), connection=9, **late, **PRODUCE) for n in range(3)]
    errors = [error(n, 19, connection=9, topic="t", expected=False) for n in range(refused)]
    return {"exchanges": rows, "errors": errors, "connections": [*links, connection(9, last_time_ns=at(300))]}


def waiting_to_join(seconds: float, protocols: tuple[str, ...] = (), **values: Any) -> Tables:
    """A member whose JoinGroup had no reply when the capture ended, so long after it; `until_s`: another file goes on;
    `protocols`: those of two members that join meanwhile."""
    asked = {"api_key": 11, "api_name": "JoinGroup", "api_version": 7, "status": "pending", "group_id": "g"}
    files = [capture(last_time_ns=at(60))]
    if "until_s" in values:
        files.append(capture(file=1, first_time_ns=at(values["until_s"]), last_time_ns=at(200)))
    rows = [exchange(0, at_ns=at(60 - seconds), **asked)]
    told = {"cluster": "c", "group_id": "g", "group_type": "classic", "event": "join", "error_code": None}
    events = [
        told | {"exchange": 0, "connection": n + 1, "begin_ns": at(60.1 - seconds), "protocol": protocol}
        for n, protocol in enumerate(protocols)
    ]
    links = [connection(1, cluster="c")]
    return {"captures": files, "exchanges": rows, "connections": links, "group_events": events}


def given_again(counts: list[int]) -> Tables:
    """Fetches of a share group with records that were given before: so often by now."""
    base = {"group_id": "jobs", "group_type": "share", "event": "redelivery", "client_id": "app", "member_id": "m"}
    base |= {"connection": 1, "cluster": "c", "topic_id": NEW, "redelivered": 50, "error_code": 0}
    rows = [
        exchange(n, at_ns=at(30 * n), api_key=78, api_name="ShareFetch", group_id="jobs") for n in range(len(counts))
    ]
    events = [
        base | {"exchange": n, "delivery_count": count, "begin_ns": at(30 * n), "time_ns": at(30 * n)}
        for n, count in enumerate(counts)
    ]
    return {"group_events": events, "exchanges": rows, "connections": [connection(1, cluster="c")]}


def kept_from_work(seconds: list[float], said: str | None = "MISSING_SOURCE_TOPICS") -> Tables:
    """A member of a streams group whose heartbeats at these moments are answered with this status."""
    base = {"group_id": "g", "group_type": "streams", "event": "heartbeat", "client_id": "app", "member_id": "m"}
    base |= {"connection": 1, "cluster": "c", "error_code": 0, "generation": 1, "group_status": said}
    events = [base | {"exchange": n, "begin_ns": at(when), "time_ns": at(when)} for n, when in enumerate(seconds)]
    rows = [exchange(n, at_ns=at(when), api_key=88, api_name="StreamsGroupHeartbeat") for n, when in enumerate(seconds)]
    return {"group_events": events, "exchanges": rows, "connections": [connection(1, cluster="c", last_time_ns=at(60))]}


def one_instance(*thrown_out: str, taken_by: str = "mailer-2", took: str = "mate-1", code: int = 82) -> Tables:
    """Each of these clients, which joined as mate-1, is refused a second after another one has joined; `taken_by` by the first."""
    place = {"connection": 1, "cluster": "c", "client_address": "10.0.0.1", "group_id": "g", "group_type": "classic"}

    def event(number: int, name: str, moment: float, said: str, own: str, error_code: int) -> dict[str, Any]:
        times = {"begin_ns": at(moment), "time_ns": at(moment), "member_id": f"m{number}-{name}", "exchange": number}
        return place | times | {"event": said, "client_id": name, "instance_id": own, "error_code": error_code}

    events = [event(n, name, n, "join", "mate-1", 0) for n, name in enumerate(dict.fromkeys(thrown_out))]
    rows = [exchange(row["exchange"], at_ns=row["time_ns"], api_key=11, client_id=row["client_id"]) for row in events]
    errors = []
    for n, name in enumerate(thrown_out):
        number, moment = 100 + 2 * n, 10 * (n + 1)
        other = taken_by if name != taken_by else thrown_out[0]
        events += [event(number, other, moment, "join", took, 0)]
        events += [event(number + 1, name, moment + 1, "heartbeat", "mate-1", code)]
        asked = {"api_key": 12, "api_name": "Heartbeat", "group_id": "g", "client_id": name, "error_code": code}
        rows += [exchange(number, at_ns=at(moment), api_key=11), exchange(number + 1, at_ns=at(moment + 1), **asked)]
        errors.append(error(number + 1, code, name="FENCED_INSTANCE_ID", expected=False))
    tables = {"group_events": events, "exchanges": rows, "errors": errors}
    return tables | {"connections": [connection(1, cluster="c")]}


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "instance_fenced": (lambda: one_instance("one"), (lambda: one_instance("one", code=25),)),
    "not_asking": (
        hesitating,
        (
            lambda: hesitating(records=0),
            lambda: hesitating(beats_s=380),
            lambda: hesitating(asks_s=391),
            lambda: hesitating(pending=True),
        ),
    ),
    "restarting_member": (
        lambda: crashing(4, leaves=True),
        (lambda: crashing(3, leaves=True), lambda: crashing(4, together=True)),
    ),
    "member_crashes": (
        lambda: crashing(4),
        (
            lambda: crashing(3),
            lambda: crashing(4, close="none"),
            lambda: crashing(4, leaves=True),
            lambda: crashing(4, together=True),
        ),
    ),
    "requested_rebalances": (
        lambda: asked_for([0, 10, 20, 30], 4),
        (
            lambda: asked_for([0, 10, 20, 30], 3),
            lambda: asked_for([0, 10, 20], 8),
            lambda: asked_for([0, 400, 800, 1200], 8),
            lambda: joins([0, 60, 120, 180]),  # each time as a new member
        ),
    ),
    # Records of a member that went are given to another one: once, twice.
    "share_redelivered": (
        lambda: given_again([2, 3, 4, 5]),
        (lambda: given_again([2, 3]), lambda: given_again([3] * 9)),
    ),
    # Internal topics are made while an application starts.
    "streams_waiting": (
        lambda: kept_from_work([0, 5, 10]),
        (
            lambda: kept_from_work([0, 5, 9.9]),
            lambda: kept_from_work([0, 5, 40, 45]),  # twice for a moment
            lambda: kept_from_work([0, 5, 10], None),
            lambda: kept_from_work([0, 5, 10], "ASSIGNMENT_DELAYED"),
        ),
    ),
    "topic_recreated": (recreated, (lambda: recreated(again=False), lambda: recreated(overlapping=True))),
    "line_dead": (
        lambda: dead_line(3.5),
        (
            lambda: dead_line(2.9),
            lambda: dead_line(3.5, resent=2),
            lambda: dead_line(3.5, others=1),
            lambda: dead_line(3.5, chatter=True),
        ),
    ),
}
# More stories of rules that other files have one for.
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "member_crashes": (
        (lambda: crashing(4, newer="full"),),
        (
            lambda: crashing(4, newer="full", leaves=True),
            lambda: crashing(4, newer="truncated"),
        ),  # whether they left is not known
    ),
    "line_dead": (
        (
            lambda: unheard(3.1),
            lambda: unheard(6.3, resent=6),
            lambda: unheard(3.1, resent=0, missing=(1, 0), joined=3),
        ),
        (
            lambda: unheard(2.9, resent=0, missing=(1, 0), joined=3),
            lambda: unheard(5.1, resent=0, missing=(1, 0), joined=2),
            lambda: unheard(3.1, resent=0, missing=(2, 0), joined=3),
            lambda: unheard(3.1, resent=0, missing=(1, 1), joined=3),  # the capture lacks packets
            lambda: unheard(3.1, resent=1, missing=(1, 0), joined=3),
            lambda: unheard(2.9),
            lambda: unheard(6.3, resent=4),
            lambda: unheard(6.3, resent=4, beside=5),
            lambda: unheard(6.1, resent=6),  # so many tries of one reply take longer
            lambda: unheard(3.1, needless=3),  # what the client had already
            lambda: unheard(3.1, burst=29),  # it was idle
            lambda: unheard(3.1, before=9),
            lambda: unheard(3.1, chatter=True),
        ),
    ),
    "not_asking": (
        (busy,),
        # At 101 ms nothing was there at first.
        (
            *(lambda: busy(9.8), lambda: busy(given=31_000), lambda: busy(beats=2)),
            *(lambda: busy(rejoins=True), lambda: busy(waited_ms=101)),
        ),
    ),
    "broker_stalled": (
        (lambda: overdue_poll(1.3),),
        (lambda: overdue_poll(0.9), lambda: overdue_poll(1.3, max_wait_ms=900), lambda: overdue_poll(3, beside=False)),
    ),
    "metadata_storm": ((lambda: asking(5, 12),), (lambda: asking(5, 12, rest_s=3), lambda: asking(2.5, 14))),
    "stuck_member": (
        (lambda: waiting_to_join(11), lambda: waiting_to_join(9, until_s=60.5), lambda: waiting_to_join(9, until_s=70)),
        # What follows is another capture: nobody knows what came between.
        (lambda: waiting_to_join(9), lambda: waiting_to_join(9, until_s=100)),
    ),
}
