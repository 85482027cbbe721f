"""Stories of rules about brokers, networks and whole incidents; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cluster_stories
import hold_out_stories
import limit_stories
import member_stories
import progress_stories
import protocol_stories
import slow_stories
import thread_stories
from close_stories import died
from hold_out_stories import MS_NS
from made_rows import REFUSED, SECOND_NS, START_NS, Rows, connection, exchange

Tables = dict[str, Rows]
FETCH = {"api_key": 1, "api_name": "Fetch", "api_version": 17, "replica_id": -1}
PRODUCE = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all", "acks": -1}


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def stalled(
    seconds: float,
    connections: int = 2,
    resent: int = 0,
    chatter: bool = False,
    asked: dict[str, Any] = PRODUCE,
    in_host: float | None = None,
    queued: bool = False,
    unasked: int | None = None,
) -> Tables:
    """Four requests on so many connections while a broker stands still; `chatter`: it answers another one meanwhile; `in_host`:
    seconds that packets prove to have been its host's; `queued`: all of them waited behind another request; `unasked`: the
    connection of a reply at the end of it, whose request the capture lacks."""
    proved = {"broker_min_ns": None if in_host is None else int(in_host * SECOND_NS)}
    rows = [exchange(n, at_ns=at(n / 10), connection=1 + n % connections, **PRODUCE) for n in range(10)]
    rows += [
        exchange(
            100 + n,
            at_ns=at(1.1),
            latency_ns=int(seconds * SECOND_NS),
            connection=1 + n % connections,
            queue_ns=int((seconds if queued else 0) * SECOND_NS),
            **asked,
            **proved,
        )
        for n in range(4)
    ]
    rows += [exchange(200, at_ns=at(1 + n / 2)) for n in range(int(seconds * 2) if chatter else 0)]
    if unasked:
        rows.append(exchange(300, at_ns=at(1.1 + seconds), connection=unasked, status="orphan_reply"))
    links = [connection(1 + n, client_retransmitted=resent) for n in range(connections)]
    return {"exchanges": rows, "connections": links}


def unfinished(
    seconds: float, asked: dict[str, Any] = PRODUCE, before: bool = True, one_way: str | None = None
) -> Tables:
    """Four requests on two connections, to which no reply has come when the capture ends; `before`: there were replies."""
    rows = [exchange(n, at_ns=at(n / 10), connection=1 + n % 2, **PRODUCE) for n in range(10 if before else 0)]
    rows += [exchange(100 + n, at_ns=at(1.1), connection=1 + n % 2, status="pending", **asked) for n in range(4)]
    open_ones = {"last_time_ns": at(1.1 + seconds), "close": "none", "client_retransmitted": 0, "one_way": one_way}
    return {"exchanges": rows, "connections": [connection(n, **open_ones) for n in (1, 2)]}


def silent_follower(seconds: float, close: str = "none") -> Tables:
    """A follower whose fetches cease, and four Produce requests of a second meanwhile."""
    tables = followed(10, 10, 8)
    tables["exchanges"] += [exchange(200 + n, at_ns=at(1.2), latency_ns=SECOND_NS, **PRODUCE) for n in range(4)]
    tables["connections"][1] = connection(2, role="follower", close=close, last_time_ns=at(1.1 + seconds))
    return tables


def gone(attempts: int, back_s: float | None = None, role: str | None = None, by: str = "broker") -> Tables:
    """A broker that answers until 2 s; then so many attempts are reset, `by` it or the client; back after so many seconds."""
    known = connection(1, last_time_ns=at(2.5), close="none")
    tried = [
        connection(10 + n, closed_by=by, first_time_ns=at(3 + n), last_time_ns=at(3 + n), **REFUSED)
        for n in range(attempts)
    ]
    rows = [exchange(n, at_ns=at(n), role=role) for n in range(3)]
    later = connection(2, first_time_ns=at(399))
    if back_s is not None:
        rows.append(exchange(9, at_ns=at(2 + back_s), connection=2, role=role))
        later |= {"first_time_ns": at(2 + back_s), "replies": 1}
    return {"exchanges": rows, "connections": [known, *tried, later]}


def idle(killed_s: float, survived_s: float, resent: int = 3, answering: bool = True) -> Tables:
    """A connection that survived one silence and died in another; the broker goes on to answer others, or not."""
    last = 1 + survived_s
    rows = [exchange(1, at_ns=at(1)), exchange(2, at_ns=at(last))]
    rows += [exchange(3, at_ns=at(last + killed_s), status="closed")]
    rows += [exchange(4, at_ns=at(last + killed_s + 1), connection=2)] if answering else []
    dead = connection(1, client_retransmitted=resent, requests=3, replies=2)
    return {"exchanges": rows, "connections": [dead, connection(2, client_address="10.0.0.9")]}


def left(interval_s: float, stayed_s: float, **values: Any) -> Tables:
    """A member that joins at 1 s, leaves after so long, and joins again on the same connection 5 s later."""
    base = {"group_id": "g", "group_type": "classic", "error_code": 0, "client_id": "app", "connection": 1}
    base |= {"client_address": "10.0.0.1", "cluster": "c", "rebalance_timeout_ms": int(interval_s * 1000)}
    steps = [("join", 1.0), ("leave", 1.0 + stayed_s), ("join", 6.0 + stayed_s)]
    rows = [
        base | {"exchange": n, "event": event, "begin_ns": at(moment), "time_ns": at(moment)} | values
        for n, (event, moment) in enumerate(steps)
    ]
    return {"group_events": rows, "exchanges": [exchange(n) for n in range(3)], "connections": [connection(1)]}


def far(round_trip_ms: int, requests: int, latency_ms: int, **values: Any) -> Tables:
    """A client that sends one request after the other for ten seconds, so far away from the broker."""
    rows = [
        exchange(n, at_ns=at(10 * n / requests), latency_ns=latency_ms * MS_NS, **(PRODUCE | values))
        for n in range(requests)
    ]
    return {"exchanges": rows, "connections": [connection(1, rtt_ns=round_trip_ms * MS_NS, capture_side="client")]}


def advertised(lasted_s: float, reached: bool = False, also: int = 0, elsewhere_s: float | None = None) -> Tables:
    """A client that is told an address which it tries without an answer, and asks again; `also`: another API that it uses;
    `elsewhere_s`: until when that broker answers at an address of its own."""
    tried = connection(
        2,
        is_kafka=None,
        protocol=None,
        close="none",
        syn_ack_ns=None,
        broker_address="10.9.9.9",
        broker_port=9094,
        client_packets=4,
        first_time_ns=at(1),
        last_time_ns=at(2),
        client_stream_bytes=0,
        broker_stream_bytes=0,
    )
    links = [connection(1, cluster="c", replies=1, last_time_ns=at(elsewhere_s or 10)), tried]
    own = [] if elsewhere_s is None else [{"cluster": "c", "broker_id": 1, "host": "10.0.1.1", "port": 9092}]
    links += [connection(3, broker_address="10.9.9.9", broker_port=9094)] if reached else []
    rows = [exchange(n, at_ns=at(lasted_s * n), api_key=also if n and also else 3) for n in range(2)]
    told = {"cluster": "c", "broker_id": 1, "host": "10.9.9.9", "port": 9094}
    return {"connections": links, "exchanges": rows, "brokers": [told, *own]}


def told_localhost(
    connections: int, client: str = "10.0.0.1", port: int = 9092, also: int = 3, other: int | None = None
) -> Tables:
    """A client that is told to go to its own host, and comes back on so many connections; `also`: what else it asks for; `other`:
    a port of another address that the broker advertises."""
    links = [connection(1 + n, cluster="c", client_address=client) for n in range(connections)]
    rows = [
        exchange(n, at_ns=at(3 * n), connection=1 + n, client_address=client, api_key=also if n == 1 else 3)
        for n in range(connections)
    ]
    told = {"cluster": "c", "broker_id": 1, "host": "localhost", "port": port}
    brokers = [told, *([told | {"host": "10.0.1.1", "port": other}] if other else [])]
    return {"connections": links, "exchanges": rows, "brokers": brokers}


def followed(pause_ms: int, count: int, latency_ms: int) -> Tables:
    """A follower that pauses again and again, and Produce requests with acks=all that wait meanwhile."""
    follower = {"api_key": 1, "api_name": "Fetch", "kind": "fetch_follower", "replica_id": 3, "role": "follower"}
    follower |= {"client_address": "10.0.1.3", "client_id": "broker-3-fetcher-0", "connection": 2}
    rows = [exchange(n, at_ns=at(1 + n * pause_ms / 1000), **follower) for n in range(count + 1)]
    rows += [
        exchange(100 + n, at_ns=at(1.002 + n * pause_ms / 1000), latency_ns=latency_ms * MS_NS, **PRODUCE)
        for n in range(count)
    ]
    return {"exchanges": rows, "connections": [connection(1), connection(2, role="follower")]}


def transferred(rates: list[float], **values: Any) -> Tables:
    """Replies of 1 MB, one after the other, at these rates in MB/s."""
    rows, begin = [], 0.0
    for number, rate in enumerate(rates):
        lasts = int(SECOND_NS / rate)
        rows.append(
            exchange(number, at_ns=at(begin), api_key=1, api_name="Fetch", receive_ns=lasts, response_bytes=1_000_000)
        )
        rows[-1]["response_end_ns"] = rows[-1]["response_time_ns"] + lasts
        begin += 1 / rate
    return {"exchanges": rows, "connections": [connection(1, **values)]}


def queued(packets: int, waited_ms: float = 20, slow_from: int | None = None, gap_ms: float = 1.2112) -> Tables:
    """Full packets of two clients, one after the other, at 10 Mbit/s, each so long in a queue; later ones at half the rate."""
    rows, moment = [], 1.0
    for number in range(packets):
        moment += (gap_ms if slow_from is None or number < slow_from else 2 * gap_ms) / 1000
        rows.append(
            {
                "connection": 1 + number % 2,
                "tap": "1",
                "client_address": f"10.0.0.{1 + number % 2}",
                "broker_address": "10.0.1.1",
                "broker_port": 9092,
                "sender": "broker",
                "time_ns": at(moment),
                "bytes": 1448,
                "waited_ns": int(waited_ms * MS_NS),
            }
        )
    asked = [
        exchange(n, at_ns=at(1.01), latency_ns=20 * MS_NS, connection=n, client_address=f"10.0.0.{n}") for n in (1, 2)
    ]
    return {"exchanges": asked, "connections": [connection(1), connection(2)], "queued_packets": rows}


def in_pieces(held: int, packets: int) -> Tables:
    """A client whose small packets waited so often for a delayed acknowledgement."""
    return {
        "connections": [connection(1, client_held_small=held, client_data_packets=packets)],
        "exchanges": [exchange(0, **PRODUCE)],
    }


def unscaled(full: int, waited_ms: int, scale: int | None = None, **values: Any) -> Tables:
    """A connection whose broker waited so for a full window, beside one with window scaling."""
    narrow = {"client_wscale": scale, "broker_wscale": scale, "mss": 1460, "broker_max_unacked_bytes": 65_535} | values
    narrow = connection(1, broker_full_windows=full, broker_full_window_ns=waited_ms * MS_NS, **narrow)
    wide = connection(2, client_address="10.0.0.2", client_wscale=7, broker_wscale=7, mss=1460)
    return {"connections": [narrow, wide], "exchanges": [exchange(0, **PRODUCE)]}


def out_of_range(asked: int, ends: list[tuple[float, int]], reset: int | None = None) -> Tables:
    """A Fetch from this offset that is refused at 5 s; ends that other Fetches were told; where the client went on."""
    fetch = {"api_key": 1, "api_name": "Fetch", "replica_id": -1}
    rows = [exchange(0, at_ns=at(5), error_code=1, **fetch)]
    place = {"connection": 1, "topic": "t", "partition": 0}
    entries = [place | {"exchange": 0, "side": "request", "offset": asked}]
    for number, (when, end) in enumerate(ends, 1):
        rows.append(exchange(number, at_ns=at(when), client_address="10.0.0.7", **fetch))
        entries.append(place | {"exchange": number, "side": "response", "high_watermark": end})
    if reset is not None:
        rows.append(exchange(90, at_ns=at(6), api_key=2, api_name="ListOffsets"))
        entries.append(place | {"exchange": 90, "side": "response", "offset": reset})
    refused = place | {"exchange": 0, "side": "response", "code": 1, "name": "OFFSET_OUT_OF_RANGE", "expected": False}
    return {"exchanges": rows, "entries": entries, "errors": [refused], "connections": [connection(1, cluster="c")]}


Story = Callable[[], Tables]
STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "broker_stalled": (
        lambda: stalled(3),
        (
            lambda: stalled(0.7),
            lambda: stalled(3, connections=1, asked={"api_key": 35, "api_name": "DescribeLogDirs"}),
            lambda: stalled(3, resent=1),
            lambda: stalled(3, resent=1, in_host=1),
            *(lambda: stalled(3, queued=True), lambda: stalled(3, queued=True, unasked=3)),
            lambda: stalled(1.5, connections=1),
            lambda: stalled(3, chatter=True, asked={}),
        ),
    ),
    "broker_gone": (lambda: gone(3), (lambda: gone(2), lambda: gone(3, role="follower"), lambda: gone(3, by="client"))),
    "idle_killed": (
        lambda: idle(10, 4),
        (
            lambda: idle(4.9, 4),
            lambda: idle(10, 11),
            lambda: idle(10, 4, resent=0),
            lambda: idle(10, 4, answering=False),
        ),
    ),
}
STORIES |= {
    "rate_limited_link": (
        lambda: transferred([0.5, 0.51, 0.49], broker_max_unacked_bytes=80_000, rtt_ns=10 * MS_NS),
        (
            lambda: transferred([0.5, 0.51]),
            lambda: transferred([0.5, 0.8, 0.2]),
            lambda: transferred([2.0, 2.0, 2.0]),
            lambda: transferred([0.5, 0.51, 0.49], client_zero_windows=3),
            lambda: transferred([0.5, 0.51, 0.49], broker_max_unacked_bytes=65_535, rtt_ns=None),
            lambda: transferred([0.5, 0.51, 0.49], broker_max_unacked_bytes=80_000, rtt_ns=130 * MS_NS),
        ),
    ),
    "nagle_delay": (lambda: in_pieces(10, 200), (lambda: in_pieces(9, 100), lambda: in_pieces(10, 201))),
    "window_scale_lost": (
        lambda: unscaled(10, 500),
        (lambda: unscaled(9, 500), lambda: unscaled(10, 499), lambda: unscaled(10, 500, scale=7)),
    ),
    "small_receive_buffer": (
        lambda: unscaled(10, 500, scale=1, rtt_ns=10 * MS_NS),
        (
            lambda: unscaled(9, 500, scale=1, rtt_ns=10 * MS_NS),
            lambda: unscaled(10, 499, scale=1, rtt_ns=10 * MS_NS),
            lambda: unscaled(10, 500, scale=1, rtt_ns=9 * MS_NS),
            lambda: unscaled(10, 500, scale=1, rtt_ns=10 * MS_NS, client_zero_windows=3),
            lambda: unscaled(10, 500, scale=1, rtt_ns=10 * MS_NS, broker_max_unacked_bytes=131_073),
            lambda: unscaled(10, 500, rtt_ns=10 * MS_NS),
        ),
    ),
    "far_broker": (
        lambda: far(80, 100, 82),
        (lambda: far(19, 100, 21), lambda: far(80, 29, 82), lambda: far(80, 100, 500, queue_ns=400 * MS_NS)),
    ),
    "advertised_unreachable": (
        lambda: advertised(11),
        (
            lambda: advertised(9),
            lambda: advertised(9, elsewhere_s=11),
            lambda: advertised(9, elsewhere_s=13, reached=True),
            lambda: advertised(11, reached=True),
            lambda: advertised(11, also=1),
        ),
    ),
}
# More stories of rules that `finding_stories` has one for already.
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = slow_stories.MORE | {
    "advertised_unreachable": (
        (
            *(lambda: told_localhost(5), lambda: advertised(9, elsewhere_s=13)),
            # Ports are translated on the way.
            *(lambda: told_localhost(5, port=9093), lambda: told_localhost(5, port=9093, other=9094)),
        ),
        (
            lambda: told_localhost(4),
            *(lambda: told_localhost(5, client="10.0.1.1"), lambda: told_localhost(5, client="127.0.0.1")),
            lambda: told_localhost(5, port=9093, other=9092),
            lambda: told_localhost(5, also=0),
        ),
    ),
    "broker_stalled": (
        (
            lambda: stalled(3, connections=1),
            lambda: stalled(3, resent=1, in_host=2.9),
            lambda: stalled(3, queued=True, unasked=1),
            lambda: unfinished(1.1),
            lambda: unfinished(3, before=False),
        ),
        (lambda: unfinished(0.7), lambda: unfinished(3, FETCH), lambda: unfinished(3, one_way="client")),
    ),
    "slow_replication": (
        (lambda: followed(200, 10, 190), lambda: silent_follower(2)),
        (
            lambda: followed(90, 10, 88),
            lambda: followed(200, 9, 190),
            lambda: followed(120, 10, 300),
            lambda: silent_follower(2, "fin"),
        ),
    ),
    "poll_gap": (
        (lambda: left(6, 6.5), lambda: left(6, 2, reason="consumer poll timeout has expired.")),
        (lambda: left(6, 5), lambda: left(6, 6.5, reason="the consumer is being closed")),
    ),
    "rate_limited_link": (
        (lambda: queued(200),),
        (
            lambda: queued(100),
            lambda: queued(400, slow_from=200),
            *(lambda: queued(200, waited_ms=2.9), lambda: queued(200, waited_ms=20, gap_ms=19.5)),
        ),
    ),
    # Two members may have one client id; one that joins anew is the same process, started again.
    "session_expired": (
        (lambda: died(11), lambda: died(11, other="app")),
        (
            *(lambda: died(8), lambda: died(30), lambda: died(11, left_first=True)),
            *(lambda: died(11, left_first=True, other="app"), lambda: died(11, other="app", new=True)),
        ),
    ),
}
for _stories in (
    protocol_stories,
    cluster_stories,
    member_stories,
    hold_out_stories,
    limit_stories,
    progress_stories,
    thread_stories,
):
    STORIES |= _stories.STORIES
    for _name, (_fires, _silent) in _stories.MORE.items():
        MORE[_name] = (MORE.get(_name, ((), ()))[0] + _fires, MORE.get(_name, ((), ()))[1] + _silent)
