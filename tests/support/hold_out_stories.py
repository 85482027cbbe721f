"""Stories of what captures begun late, cut packets, TLS and names that nobody resolves show; in the form of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, capture, connection, error, exchange
from member_stories import rolled_out
from name_stories import back_for_metadata, first_of_all, told_a_name

Tables = dict[str, Rows]
Story = Callable[[], Tables]
MS_NS = 1_000_000
PRODUCE = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all", "acks": -1}
INVALID_RECORD, INCONSISTENT_GROUP_PROTOCOL, UNKNOWN_SERVER_ERROR = 87, 23, -1


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def coming_and_going(
    stays: int, apart_s: float = 6, others: int = 2, leaves: bool = True, who: str = "app", other: str = "other-{}"
) -> Tables:
    """Members of one client (or of several) that join and leave again, while others join anew each time."""
    base = {"group_id": "g", "group_type": "classic", "cluster": "c", "error_code": 0, "client_address": "10.0.0.1"}
    rows: Rows = []
    made: Rows = []

    def event(name: str, seconds: float, client: str, member: str, link: int, generation: int) -> None:
        number = len(made)
        made.append(exchange(number, at_ns=at(seconds), connection=link, api_key=11, api_name="JoinGroup"))
        told = {"exchange": number, "connection": link, "event": name, "client_id": client, "member_id": member}
        rows.append(base | told | {"generation": generation, "begin_ns": at(seconds), "time_ns": at(seconds)})

    for stay in range(stays):
        begin = apart_s * stay
        client = who.format(stay)
        event("join", begin, client, f"app-{stay}", 10 + stay, stay + 1)
        for link in range(others):
            event("join", begin + 0.1, other.format(link), f"other-{link}", link, stay + 1)
        if leaves:
            event("leave", begin + 3, client, f"app-{stay}", 10 + stay, stay + 1)
    return {"group_events": rows, "exchanges": made, "connections": [connection(n) for n in range(10 + stays)]}


def far_from_the_middle(to_broker_ms: int, to_client_ms: int) -> Tables:
    """As `incident_stories.far`, without the handshake in the capture."""
    rows = [exchange(n, at_ns=at(n / 10), latency_ns=82 * MS_NS, **PRODUCE) for n in range(100)]
    ways = {"to_broker_least_ns": to_broker_ms * MS_NS, "to_client_least_ns": to_client_ms * MS_NS}
    return {"exchanges": rows, "connections": [connection(1, rtt_ns=None, seen_from="midstream", **ways)]}


def sent_again(needless: int = 0, **values: Any) -> Tables:
    """A connection on which 40 of 2,000 packets were sent again, so many of them for nothing."""
    again = {"broker_retransmitted": 40, "broker_needless": needless, "broker_data_packets": 2000}
    return {"exchanges": [exchange(0)], "connections": [connection(1, **(again | values))]}


def full_behind(waited_ms: int, lost: int, megabytes: float = 2, acks: int = 20, packets: int = 2000) -> Tables:
    """Two connections of a host to two brokers, with a queue behind the capture that loses so many of so many packets."""
    told = {
        "to_client_least_ns": 5 * MS_NS,
        "to_client_p50_ns": (5 + waited_ms) * MS_NS,
        "to_client_acks": acks,
        "broker_data_packets": packets // 2,
        "broker_retransmitted": lost // 2,
        "broker_bytes": int(megabytes * 500_000),
    }
    links = [connection(n, broker_address=f"10.0.1.{n}", **told) for n in (1, 2)]
    rows = [exchange(n, connection=n, latency_ns=20 * MS_NS, broker_address=f"10.0.1.{n}") for n in (1, 2)]
    return {"exchanges": rows, "connections": links}


def still_from_the_start(seconds: float, clients: int = 2, **asked: Any) -> Tables:
    """The first reply of a broker comes so late, to requests of so many clients."""
    late = {"latency_ns": int(seconds * SECOND_NS), "queue_ns": 0}
    rows = [
        exchange(n, at_ns=at(0.1), connection=n % 2, client_id=f"app-{n % clients}", **late, **(PRODUCE | asked))
        for n in range(4)
    ]
    return {"exchanges": rows, "connections": [connection(n) for n in range(2)]}


def ended_early(end_s: float) -> Tables:
    """Requests to a broker of whose host no packet comes any more, while the capture of another one goes on."""
    rows = [exchange(n, at_ns=at(n / 10), connection=1 + n % 2, **PRODUCE) for n in range(10)]
    rows += [exchange(100 + n, at_ns=at(1.1), connection=1 + n % 2, status="pending", **PRODUCE) for n in range(4)]
    links = [connection(n, last_time_ns=at(end_s), close="none") for n in (1, 2)]
    return {"exchanges": rows, "connections": [*links, connection(3, broker_address="10.0.1.7", last_time_ns=at(30))]}


def refused_records(code: int, name: str, api: dict[str, Any] = PRODUCE) -> Tables:
    """One request that is refused with this code."""
    row = exchange(0, error_code=code, **api)
    told = error(0, code, name=name, topic="t", expected=None)
    return {"exchanges": [row], "errors": [told], "connections": [connection(1)]}


def tls_alert(alert: str | None) -> Tables:
    """One TLS handshake that ended with this alert."""
    base = {"is_kafka": False, "protocol": "tls", "tls": True, "tls_handshake": "failed", "tls_alert": alert}
    return {"connections": [connection(1, tls_alert_from="broker" if alert else None, **base)]}


def hung_up(attempts: int, ended: bool = True, tls: bool = False) -> Tables:
    """A broker behind a proxy, gone at 2 s: so many connections end without a byte; `ended`: those before them have ended."""
    content: dict[str, Any] = TLS if tls else {}
    known = connection(1, last_time_ns=at(2.5 if ended else 9), close="fin" if ended else "none", **content)
    ends = {"syn_ack_ns": 1, "requests": 1, "replies": 0, "broker_stream_bytes": 0}
    tried = [connection(10 + n, first_time_ns=at(3 + n), last_time_ns=at(3.1 + n), **ends) for n in range(attempts)]
    rows = [] if tls else [exchange(n, at_ns=at(n)) for n in range(3)]
    return {"exchanges": rows, "connections": [known, *tried]}


def never_there(attempts: int, told: int = 3, answered: bool = False) -> Tables:
    """Another broker's port refuses so many connections, and clients hear so many times that a partition has no leader."""
    refused = {"is_kafka": None, "protocol": None, "close": "rst", "syn_ack_ns": None, "broker_address": "10.0.1.2"}
    refused |= {"client_stream_bytes": 0, "broker_stream_bytes": 0}
    links = [connection(10 + n, first_time_ns=at(n), **refused) for n in range(attempts)]
    links += [connection(2, broker_address="10.0.1.2", first_time_ns=at(0))] if answered else []
    rows = [exchange(n, at_ns=at(n), api_key=3, api_name="Metadata", error_code=5) for n in range(told)]
    errors = [error(n, 5, name="LEADER_NOT_AVAILABLE", topic="t", expected=True) for n in range(told)]
    return {"exchanges": rows, "errors": errors, "connections": [connection(1), *links]}


def vanished(silence_s: float, newcomer: bool = False, left: bool = False) -> Tables:
    """A member of a newer group that beats each second until 5 s; the other one gets more partitions so long after."""
    base = {"group_id": "g", "group_type": "consumer", "cluster": "c", "error_code": 0, "event": "heartbeat"}
    beat = {"api_key": 68, "api_name": "ConsumerGroupHeartbeat", "group_id": "g", "error_code": 0}
    rows = [exchange(n, at_ns=at(n), client_id="app", member_id="one", **beat) for n in range(6)]
    other = {"client_id": "other", "client_address": "10.0.0.2", "member_id": "two"}
    grown = 5 + silence_s
    moments = (grown,) if newcomer else (0, 1, 2, 3, grown)
    rows += [exchange(20 + n, at_ns=at(moment), **beat, **other) for n, moment in enumerate(moments)]
    more = {"exchange": 20 + len(moments) - 1, "assigned_partitions": 4, "begin_ns": at(grown), "time_ns": at(grown)}
    events = [base | other | more]
    if left:
        gone = {"exchange": 5, "member_id": "one", "client_id": "app", "event": "leave"}
        events.append(base | gone | {"client_address": "10.0.0.1", "begin_ns": at(5.5), "time_ns": at(5.5)})
    whole = capture(last_time_ns=at(grown + 1))
    return {"group_events": events, "exchanges": rows, "connections": [connection(1)], "captures": [whole]}


def http_at_tls(port: int = 9093, answered: int = 7) -> Tables:
    """A port that serves TLS, and somebody who speaks something else there and gets so many bytes."""
    served = connection(1, broker_port=port, tls_handshake="finished", **TLS)
    probe = {"is_kafka": False, "protocol": "other", "broker_stream_bytes": answered, "client_address": "10.0.0.9"}
    return {"connections": [served, connection(2, broker_port=port, **probe)]}


def silence(number: int, begin_s: float, asked_s: float | None, end_s: float | None) -> dict[str, Any]:
    """A broker sends nothing on this TLS connection from one moment to the next; the client asks meanwhile."""
    row: dict[str, Any] = {"connection": number, "tap": "default", "client_address": "10.0.0.1"}
    row |= {"broker_address": "10.0.1.1", "broker_port": 9092, "packet": number, "file": 0, "begin_ns": at(begin_s)}
    return row | {"asked_time_ns": asked_s and at(asked_s), "end_ns": end_s and at(end_s)}


def still_unread(seconds: float, asking: int = 2, chatter: bool = False, polls: int = 0, late_s: float = 0) -> Tables:
    """`asking` of three TLS connections ask at 5 s and are answered so long after, the last of them `late_s` later; `chatter`: the
    third goes on meanwhile; `polls`: each waited so often before."""
    links = [connection(n, **TLS) for n in (1, 2, 3)]
    rows = [silence(n, 4.9, 5, 5 + seconds + (late_s if n == asking else 0)) for n in range(1, asking + 1)]
    rows += [silence(n, p, p + 0.01, p + 1) for n in (1, 2) for p in range(polls)]
    if not chatter:
        rows += [silence(n, 4.8, None, 6 + seconds) for n in range(asking + 1, 4)]
    return {"connections": links, "unread_silences": rows}


def idle_unread(silence_s: float, resent: int = 2, survived_s: float = 2, goes_on: bool = True) -> Tables:
    """A TLS client asks after so much silence, again and again, and is not answered; others are, after `survived_s`."""
    links = [connection(1, client_retransmitted=resent, close="none", **TLS), connection(2, **TLS)]
    rows = [silence(1, 1, 1 + silence_s, None), silence(2, 1, 1 + survived_s, 1.1 + survived_s)]
    return {"connections": links, "unread_silences": rows + ([silence(2, 9.5, None, None)] if goes_on else [])}


def left_behind(
    silence_s: float, close: str = "none", others: int = 0, side: str = "broker", goes_on: int = -6
) -> Tables:
    """Beside a broker: a client that writes is heard of again on a new connection only, with so many others at its start; the
    number of its request there is so much higher."""
    asks = {"capture_side": side, "requests": 1, "replies": 1}
    old = connection(1, first_time_ns=at(0), last_time_ns=at(1), close=close, **asks)
    new = [
        connection(2 + n, first_time_ns=at(1 + silence_s), last_time_ns=at(40), close="none", **asks)
        for n in range(1 + others)
    ]
    rows = [
        exchange(n, at_ns=at(t), connection=1 + n, client_id="hut", correlation_id=7 + n * goes_on, **PRODUCE)
        for n, t in enumerate((1, 1.1 + silence_s))
    ]
    return {"exchanges": rows, "connections": [old, *new]}


def disk_still(
    seconds: float, writers: int = 2, reads: bool = True, muted_ns: int = 0, pausing: bool = False, code: int = 0
) -> Tables:
    """No write of so many clients is answered for so long, while Fetches are; `pausing`: a follower does not fetch meanwhile."""
    fetch = {"api_key": 1, "api_name": "Fetch", "connection": 9, "kind": "fetch_empty", "latency_ns": 100 * MS_NS}
    follower = fetch | {"kind": "fetch_follower", "connection": 8, "client_address": "10.0.1.2", "role": "follower"}
    wrote = PRODUCE | {"muted_ns": muted_ns, "throttle_time_ms": 0, "error_code": code}
    rows = [exchange(n, at_ns=at(4.9), latency_ns=5 * MS_NS, connection=n, **PRODUCE) for n in range(writers)]
    for n in range(2 * writers):
        came, link = 5 + n / 100, n % writers
        waits = {"latency_ns": int((seconds + 5 - came) * SECOND_NS), "queue_ns": 0 if n < writers else SECOND_NS}
        rows.append(exchange(20 + n, at_ns=at(came), connection=link, client_id=f"app-{link}", **waits, **wrote))
    rows += [exchange(60 + n, at_ns=at(4 + n / 4), **fetch) for n in range(4 + int(4 * seconds) if reads else 4)]
    rows += [exchange(90 + n, at_ns=at(4 + n / 4), **follower) for n in range(3 if pausing else 4 + int(4 * seconds))]
    return {"exchanges": rows, "connections": [connection(n) for n in range(10)]}


def tls_left_behind(silence_s: float, close: str = "none", others: int = 0, beside: bool = False) -> Tables:
    """Beside a broker: a host's TLS connection goes silent, and after so long it begins another, again and again."""
    made = {"capture_side": "broker", "close": close, **TLS}
    begins = [n * (silence_s + 1) for n in range(3)]
    links = [
        connection(3 * n + m, first_time_ns=at(begin), last_time_ns=at(begin + 1), **made)
        for n, begin in enumerate(begins)
        for m in range(1 + others)
    ]
    another = connection(20, client_address="10.0.0.9", **TLS)
    if beside:
        links.append(connection(21, first_time_ns=at(0), last_time_ns=at(100), **made))
    return {"connections": [*links, another], "unread_silences": [silence(20, 90, None, None)]}


def tls_line(seconds: float, resent: int = 4, chatter: bool = False, before_s: float = 0.1) -> Tables:
    """Two TLS connections of a host ask, at 5 s, and hear nothing for so long; `chatter`: only one of them."""
    links = [connection(n, client_retransmitted=resent, **TLS) for n in (1, 2)]
    rows = [silence(n, 5 - before_s, 5, 5 + seconds + n / 10) for n in ((1,) if chatter else (1, 2))]
    return {"connections": links, "unread_silences": rows}


def far_tls(
    packets: int, rtt_ms: int = 100, replies: int | None = None, broker_bytes: int = 8_000, port: int = 9093
) -> Tables:
    """A TLS connection of ten seconds, with so many packets of the client's, and as many of the broker's."""
    counts = {"client_data_packets": packets, "broker_data_packets": packets if replies is None else replies}
    counts |= {"client_stream_bytes": 16_000, "broker_stream_bytes": broker_bytes, "rtt_ns": rtt_ms * MS_NS}
    return {"connections": [connection(1, broker_port=port, **counts, **TLS)]}


TLS = {"is_kafka": False, "protocol": "tls", "tls": True}
STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "unsteady_member": (
        lambda: coming_and_going(4),
        (
            lambda: coming_and_going(3),
            lambda: coming_and_going(4, others=0),
            lambda: coming_and_going(4, leaves=False),
            lambda: coming_and_going(4, who="app-{}"),
            lambda: coming_and_going(4, apart_s=90),
        ),
    ),
    "advertised_no_name": (
        lambda: first_of_all(22, 12),  # a producer's id
        (
            *(lambda: first_of_all(22, 10.9), lambda: first_of_all(3, 12), lambda: first_of_all(22, 12, topics=0)),
            lambda: first_of_all(22, 12, at_ns=at(2)),  # it asks for metadata again, and is well
            lambda: first_of_all(22, 12, api_key=0, client_id="another"),  # somebody moves records there
            lambda: first_of_all(22, 12, api_key=10),  # the member of a group
            lambda: told_a_name(),
        ),
    ),
}
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "unsteady_member": ((lambda: coming_and_going(4, other="app"),), ()),
    "far_broker": (
        (lambda: far_from_the_middle(80, 1), lambda: far_from_the_middle(1, 80), lambda: far_tls(85)),
        (
            lambda: far_from_the_middle(40, 1),
            lambda: far_tls(79),
            lambda: far_tls(110),
            lambda: far_tls(85, replies=60),
            lambda: far_tls(85, broker_bytes=40_000),
            lambda: far_tls(85, port=443),
            lambda: far_tls(500, rtt_ms=19),
        ),
    ),
    "lossy_network": (
        (lambda: sent_again(needless=10), lambda: sent_again(**TLS)),
        (
            lambda: sent_again(needless=11),
            lambda: sent_again(broker_port=443, **TLS),
            lambda: sent_again(is_kafka=False),
        ),
    ),
    "rate_limited_link": (
        (lambda: full_behind(100, 40), lambda: full_behind(100, 10, packets=500, megabytes=0.5)),
        (
            lambda: full_behind(19, 40),
            lambda: full_behind(100, 38, packets=4000),
            lambda: full_behind(100, 18),
            lambda: full_behind(100, 8, packets=400),
            lambda: full_behind(100, 40, megabytes=0.49),
            lambda: full_behind(100, 40, acks=19),
        ),
    ),
    "advertised_no_name": (
        (lambda: back_for_metadata(3), lambda: back_for_metadata(3, port=29092)),
        (lambda: back_for_metadata(2), lambda: back_for_metadata(3, then=0)),
    ),
    "advertised_unreachable": (
        (told_a_name,),
        (
            # A producer's id, and metadata alone, are a guess.
            *(lambda: first_of_all(22, 12), lambda: back_for_metadata(3)),
            lambda: told_a_name("10.0.1.1"),
            lambda: told_a_name("fd00::1"),
            lambda: told_a_name(lasted_s=10.9),
            lambda: told_a_name(then=11),
            lambda: told_a_name(went=True),
        ),
    ),
    "broker_stalled": (
        (
            lambda: still_from_the_start(1.5),
            lambda: still_from_the_start(1.5, throttle_time_ms=None),
            lambda: still_unread(3),
            lambda: still_unread(3, polls=1),
            lambda: disk_still(2),
        ),
        (
            lambda: disk_still(1.4),
            lambda: disk_still(2, writers=1),
            lambda: disk_still(2, pausing=True),
            lambda: disk_still(2, muted_ns=SECOND_NS),
            lambda: disk_still(2, code=7),
            lambda: still_unread(0.9),
            lambda: still_unread(3, asking=1),
            lambda: still_unread(3, chatter=True),
            lambda: still_unread(3, polls=4),
            lambda: still_unread(3, late_s=-0.5),
            lambda: still_from_the_start(0.8),
            lambda: still_from_the_start(1.5, clients=1, throttle_time_ms=None),
            lambda: ended_early(1.5),
        ),
    ),
    "idle_killed": (
        (
            lambda: idle_unread(6),
            lambda: left_behind(8),
            lambda: left_behind(8, others=1, goes_on=2),
            lambda: tls_left_behind(8),
        ),
        (
            lambda: tls_left_behind(4.9),
            lambda: tls_left_behind(8, close="fin"),
            lambda: tls_left_behind(8, others=1),
            lambda: tls_left_behind(8, beside=True),
            lambda: idle_unread(4.9),
            lambda: idle_unread(6, resent=1),
            lambda: idle_unread(6, survived_s=7),
            lambda: idle_unread(6, goes_on=False),
            lambda: left_behind(4.9),
            lambda: left_behind(8, close="fin"),
            *(lambda: left_behind(8, others=1), lambda: left_behind(8, others=1, goes_on=11)),
            lambda: left_behind(8, side="client"),
        ),
    ),
    "line_dead": (
        (lambda: tls_line(4),),
        (
            lambda: tls_line(2.7),
            lambda: tls_line(4, resent=2),
            lambda: tls_line(4, chatter=True),
            lambda: tls_line(4, before_s=2),
        ),
    ),
    "broker_gone": (
        (lambda: hung_up(3), lambda: hung_up(3, tls=True), lambda: never_there(3)),
        (
            lambda: hung_up(2),
            lambda: hung_up(3, ended=False),
            lambda: hung_up(3, ended=False, tls=True),
            lambda: never_there(2),
            lambda: never_there(3, told=2),
            lambda: never_there(3, answered=True),
        ),
    ),
    "session_expired": (
        (lambda: vanished(6),),
        (lambda: vanished(4.5), lambda: vanished(6, newcomer=True), lambda: vanished(6, left=True)),
    ),
    "wrong_protocol": ((http_at_tls,), (lambda: http_at_tls(443), lambda: http_at_tls(answered=200))),
    "rebalance_loop": ((lambda: rolled_out(4, again=True),), (lambda: rolled_out(4),)),
    "failing": (
        (
            lambda: refused_records(INVALID_RECORD, "INVALID_RECORD"),
            # Java's consumers ask once, and end.
            lambda: refused_records(
                INCONSISTENT_GROUP_PROTOCOL, "INCONSISTENT_GROUP_PROTOCOL", {"api_key": 11, "api_name": "JoinGroup"}
            ),
        ),
        (lambda: refused_records(INVALID_RECORD, "INVALID_RECORD", {"api_key": 60, "api_name": "DescribeCluster"}),),
    ),
    "tls_failed": ((lambda: tls_alert("protocol_version"),), (lambda: tls_alert("encrypted"), lambda: tls_alert(None))),
}
