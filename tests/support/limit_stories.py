"""Stories of limits that are met in silence: of connections, sizes, packets, time; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import broker_stories
import close_stories
import slow_stories
from made_rows import REFUSED, SECOND_NS, START_NS, Rows, connection, error, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
PRODUCE = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all", "acks": -1}
INVALID_PRODUCER_EPOCH = 47


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def produced_cut(per_partition: list[int], requests: int = 500, more: int = 60) -> Tables:
    """So many requests to each partition, whose packets are cut behind the size of their records; `more`: bytes beside these."""
    asked = [
        exchange(n * requests + k, at_ns=at(k / 100), request_decoded="truncated", request_bytes=size + more, **PRODUCE)
        for n, size in enumerate(per_partition)
        for k in range(requests)
    ]
    place = {"connection": 1, "side": "request", "topic": "t"}
    entries = [
        place | {"exchange": row["exchange"], "partition": n // requests, "record_bytes": row["request_bytes"] - more}
        for n, row in enumerate(asked)
    ]
    return {"exchanges": asked, "entries": entries, "connections": [connection(1, cluster="c")]}


def hung_up(times: int, served: int = 2, api: int = 18, **values: Any) -> Tables:
    """Connections that a broker ends without a word, while it serves others of the same host."""
    short = {"syn_ack_ns": 1000, "broker_stream_bytes": 0, "requests": 1, "client_stream_bytes": 40} | values
    links = [connection(n, replies=5) for n in range(served)]
    links += [
        connection(100 + n, first_time_ns=at(1 + n / 10), last_time_ns=at(1.01 + n / 10), **short) for n in range(times)
    ]
    asked = [exchange(n, at_ns=at(1 + n / 10), connection=100 + n, status="closed", api_key=api) for n in range(times)]
    return {"connections": links, "exchanges": asked}


def made_to_wait(times: int, served: int = 3, apart_s: float = 0.5, closed_by: str = "broker") -> Tables:
    """Connections that a broker resets a second later without a word, and others of the same host that it serves meanwhile."""
    short = {"syn_ack_ns": 1000, "broker_stream_bytes": 0, "requests": 1, "client_stream_bytes": 40}
    short |= {"closed_by": closed_by, "close": "rst"}
    begins = [1 + n * apart_s for n in range(times)]
    links = [connection(n, first_time_ns=at(1 + n / 10), replies=5) for n in range(served)]
    links += [
        connection(100 + n, first_time_ns=at(begin), last_time_ns=at(begin + 1), **short)
        for n, begin in enumerate(begins)
    ]
    asked = [
        exchange(n, at_ns=at(begin), connection=100 + n, status="closed", api_key=18) for n, begin in enumerate(begins)
    ]
    return {"connections": links, "exchanges": asked}


def broken_off(times: int, size: int = 600_000, answered_bytes: int = 40, **values: Any) -> Tables:
    """Connections that end in the middle of a request of this size, after one that was answered."""
    base = {"requests": 1, "replies": 1, "client_skipped_unfinished_bytes": 70_000, "close": "rst"} | values
    lost = {"time_ns": at(1), "side": "client", "kind": "unfinished_frame", "bytes_lost": size, "file": 0, "packet": 9}
    return {
        "connections": [connection(n, **base) for n in range(times)],
        "exchanges": [exchange(n, connection=n, request_bytes=answered_bytes) for n in range(times)],
        "problems": [lost | {"connection": n} for n in range(times)],
    }


def committing(per_s: int, seconds: int, connections: int = 1, took_ms: float = 0.1) -> Tables:
    """Commits of a consumer, the same number each second, which took so long."""
    asked = {"api_key": 8, "api_name": "OffsetCommit", "group_id": "g"}
    rows = [
        exchange(n, at_ns=at(n / per_s), latency_ns=int(took_ms * 1e6), connection=n % connections, **asked)
        for n in range(per_s * seconds)
    ]
    return {"exchanges": rows, "connections": [connection(n) for n in range(connections)]}


def only_small(large: int = 5000, small: int = 60, resent: int = 4, connections: int = 2) -> Tables:
    """Large requests that are sent again and again on one connection after the other, and small ones that are answered."""
    rows = [exchange(n, at_ns=at(n / 10), request_bytes=large, **PRODUCE) for n in range(5)]
    rows += [
        exchange(10 + n, at_ns=at(1 + 3 * n), request_bytes=large, connection=1 + n, status="pending", **PRODUCE)
        for n in range(connections)
    ]
    rows += [exchange(20 + n, at_ns=at(3.5 + n / 10), request_bytes=small, connection=3) for n in range(3)]
    links = [connection(1 + n, client_retransmitted=resent, close="none") for n in range(connections)]
    return {"exchanges": rows, "connections": [*links, connection(3)]}


def only_small_back(
    size: int = 500_000,
    resent: int = 5,
    waited_s: int = 9,
    small: int = 60,
    came: int = 16_000,
    cut: int = 0,
    **values: Any,
) -> Tables:
    """A reply that a broker sends again and again and does not finish, but for the bytes that `came`, and those that were `cut` off
    its packets; on another connection a later request has a small one."""
    rows = [
        exchange(1, at_ns=at(1), connection=1, status="pending", api_key=1, api_name="Fetch"),
        exchange(2, at_ns=at(4), connection=2, response_bytes=small, **values),
    ]
    held = connection(1, broker_retransmitted=resent, close="none", last_time_ns=at(1 + waited_s))
    held |= {"broker_skipped_unfinished_bytes": came, "broker_cut_bytes": cut}
    begun = {"time_ns": at(9), "side": "broker", "kind": "unfinished_frame", "bytes_lost": size, "file": 0, "packet": 9}
    return {"exchanges": rows, "connections": [held, connection(2)], "problems": [begun | {"connection": 1}]}


def large_after_small(before: int = 2, size: int = 790, others: int = 2) -> Tables:
    """The same after so many small replies of that broker, while another one answers so often."""
    story, other = only_small_back(broker_address="10.0.1.9"), {"connection": 2, "broker_address": "10.0.1.9"}
    story["exchanges"] += [exchange(10 + n, at_ns=at(n / 10), response_bytes=size) for n in range(before)]
    story["exchanges"] += [exchange(20 + n, at_ns=at(5 + n), **other) for n in range(others - 1)]
    return story


def first_reply_lost(size: int = 790, waited_s: int = 6, **values: Any) -> Tables:
    """A new connection over which a broker sends its first reply again and again, and its client not even an acknowledgement."""
    asked = exchange(1, at_ns=at(1), api_key=18, api_name="ApiVersions", response_bytes=size)
    ends = {"requests": 1, "replies": 1, "client_packets": 3, "client_data_packets": 1, "broker_retransmitted": 4}
    lost = connection(1, close="none", last_time_ns=at(1.001 + waited_s), **{**ends, **values})
    return {"exchanges": [asked], "connections": [lost]}


def few_lost(lost: int, packets: int, one_way: str | None = None) -> Tables:
    """So many packets of a host that were sent again; `one_way`: only this side was heard."""
    link = connection(1, broker_retransmitted=lost, broker_data_packets=packets, one_way=one_way)
    return {"exchanges": [exchange(1)], "connections": [link]}


def nobody_there(times: int, host: str = "10.0.9.9", kafka: bool = False, apart_s: float = 1) -> Tables:
    """Attempts at a port of a host that are refused; `kafka`: another client speaks Kafka to 10.0.1.1."""
    refused = {"is_kafka": None, "protocol": None, "syn_ack_ns": None, "close": "rst"} | {"broker_stream_bytes": 0}
    refused |= {"client_stream_bytes": 0, "broker_address": host, "broker_port": 7000, "client_address": "10.0.0.7"}
    tried = [at(n * apart_s) for n in range(times)]
    links = [connection(n, first_time_ns=when, last_time_ns=when, **refused) for n, when in enumerate(tried)]
    return {"connections": [*links, *[connection(100)] * kafka], "exchanges": [exchange(1, connection=100)] * kafka}


def fenced_after(open_s: float, timeout_s: int = 5, taken_s: float | None = None) -> Tables:
    """A producer that is fenced when its transaction has been open for so long; `taken_s`: another begins so late in it."""
    own = {"client_id": "app", "transactional_id": "tx"}
    rows = [exchange(n, at_ns=at(1 + n * open_s), error_code=0, **own, **PRODUCE) for n in range(2)]
    base = {"connection": 1, "cluster": "c", "event": "init", "error_code": 0, "transactional_id": "tx"}
    begun = [base | {"exchange": 5, "client_id": "app", "begin_ns": at(0.5), "time_ns": at(0.5)}]
    if taken_s is not None:
        other = {"exchange": 6, "client_id": "other", "begin_ns": at(1 + taken_s), "time_ns": at(1 + taken_s)}
        begun.append(base | other)
    rows += [exchange(5, at_ns=at(0.5), api_key=22, **own), exchange(6, at_ns=at(1), api_key=22)]
    told = [row | {"transaction_timeout_ms": timeout_s * 1000} for row in begun]
    return {
        "exchanges": rows,
        "errors": [error(1, INVALID_PRODUCER_EPOCH, name="INVALID_PRODUCER_EPOCH", client_id="app")],
        "transaction_events": told,
        "connections": [connection(1)],
    }


def silent_together(missing: int, silences: int = 2, apart_s: float = 0.1, connections: int = 2) -> Tables:
    """TLS connections of a host without keys, seen beside the broker, on which nobody says a word for 1.6 s at a time, and then
    the client, of which so many packets are missing by their numbers."""
    base = {"is_kafka": False, "protocol": "tls", "tls": True, "client_missing_ids": missing, "last_time_ns": at(60)}
    told = {"client_address": "10.0.0.1", "broker_address": "10.0.1.1", "broker_port": 9092, "file": 0, "packet": 1}
    rows = [
        told | {"connection": link, "begin_ns": at(begin), "asked_time_ns": at(begin + 1.6), "end_ns": at(begin + 1.61)}
        for link in range(connections)
        for begin in (6 * n + link * apart_s for n in range(silences))
    ]
    return {"connections": [connection(n, **base) for n in range(connections)], "unread_silences": rows}


def far_away(clocked: bool) -> Tables:
    """A hundred requests to a broker 80 ms away, answered after 82 to 92 ms: one each 100 ms, or each 10 ms after a reply."""
    rows, at_ns = [], START_NS
    for number in range(100):
        latency = (82 + number * 7 % 11) * 1_000_000
        rows.append(exchange(number, at_ns=at_ns, latency_ns=latency, **PRODUCE))
        at_ns += 100_000_000 if clocked else latency + 10_000_000
    return {"exchanges": rows, "connections": [connection(1, rtt_ns=80_000_000)]}


def cut_at_once(waited_ms: float) -> Tables:
    """A Produce whose connection ended so soon after it: a kernel refuses at once what comes for a closed socket."""
    sent = exchange(1, at_ns=at(1), status="closed", **PRODUCE)
    return {"exchanges": [sent], "connections": [connection(1, last_time_ns=at(1 + waited_ms / 1000), close="rst")]}


def left_behind(times: int, waited_ms: float, closed_by: str) -> Tables:
    """Connections of one client, each ended so long after a request that has no reply."""
    ends = [at(n + waited_ms / 1000) for n in range(times)]
    asked = [exchange(n, at_ns=at(n), connection=n, status="closed", api_key=3) for n in range(times)]
    links = [
        connection(n, first_time_ns=at(n), last_time_ns=end, close="rst", closed_by=closed_by)
        for n, end in enumerate(ends)
    ]
    return {"exchanges": asked, "connections": links}


def started_anew(refused_s: float | None) -> Tables:
    """A connection that was idle for ten seconds, and what is sent then is in vain; its broker refused another one at this time."""
    rows = [exchange(1, at_ns=at(1)), exchange(2, at_ns=at(5)), exchange(3, at_ns=at(15), status="closed")]
    rows.append(exchange(4, at_ns=at(16), connection=2))
    links = [connection(1, requests=3, replies=2, client_retransmitted=3), connection(2, client_address="10.0.0.9")]
    if refused_s is not None:
        links.append(connection(3, first_time_ns=at(refused_s), last_time_ns=at(refused_s), **REFUSED))
    return {"exchanges": rows, "connections": links}


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "connection_limit": (
        lambda: hung_up(5),
        (
            lambda: hung_up(4),
            lambda: hung_up(5, served=0),
            lambda: hung_up(5, api=3),
            lambda: hung_up(5, tls=True),
            lambda: hung_up(5, broker_stream_bytes=7),
            lambda: hung_up(5, syn_ack_ns=None),
            lambda: hung_up(5, close="none"),
            lambda: hung_up(5, close="fin", closed_by="broker"),
        ),
    ),
    "request_too_large": (
        lambda: broken_off(3),
        (
            lambda: broken_off(2),
            lambda: broken_off(3, close="none"),
            lambda: broken_off(3, answered_bytes=400_000),
            lambda: broken_off(3, requests=2),
            lambda: broken_off(3, client_gap_bytes=1),
        ),
    ),
    "commit_storm": (
        lambda: committing(40, 6),
        (lambda: committing(19, 20), lambda: committing(60, 4), lambda: committing(60, 6, connections=6)),
    ),
    "mtu_black_hole": (
        only_small,
        (
            lambda: only_small(resent=2),
            lambda: only_small(connections=1),
            lambda: only_small(small=6000),
            lambda: only_small(large=400),
        ),
    ),
}
STORIES |= close_stories.STORIES | slow_stories.STORIES | broker_stories.STORIES
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "acks_0_refused": ((lambda: close_stories.stopped(waits_s=2),), ()),  # an idle one is closed meanwhile
    "lossy_network": (
        (lambda: few_lost(5, 250),),
        (lambda: few_lost(4, 100), lambda: few_lost(5, 251), lambda: few_lost(5, 250, one_way="broker")),
    ),
    "refused_connections": (
        (
            lambda: nobody_there(3),
            lambda: nobody_there(3, host="10.0.1.1", kafka=True),
            lambda: nobody_there(2, host="10.0.1.1", kafka=True, apart_s=5),
        ),
        (
            lambda: nobody_there(2, apart_s=5),
            lambda: nobody_there(1, host="10.0.1.1", kafka=True),
            lambda: nobody_there(2),
            lambda: nobody_there(2, host="10.0.1.1", kafka=True),
            lambda: nobody_there(3, kafka=True),
        ),
    ),
    "commit_storm": (
        (lambda: committing(6, 6, took_ms=100),),
        (
            lambda: committing(4, 10, took_ms=240),
            lambda: committing(6, 10, took_ms=80),
            lambda: committing(6, 4, took_ms=160),
            lambda: committing(6, 10, took_ms=300),  # nobody waits for one before it sends the next
        ),
    ),
    "mtu_black_hole": (
        (only_small_back, large_after_small, first_reply_lost),
        (
            lambda: first_reply_lost(size=400),
            lambda: first_reply_lost(waited_s=4),
            lambda: first_reply_lost(client_packets=4),  # it acknowledged something
            lambda: first_reply_lost(client_retransmitted=1),  # nothing gets there
            lambda: first_reply_lost(broker_retransmitted=3),
            lambda: first_reply_lost(requests=2, client_data_packets=2, client_packets=4),
            lambda: only_small_back(size=400),
            lambda: only_small_back(resent=3),
            lambda: only_small_back(waited_s=4),
            *(lambda: only_small_back(came=300_000), lambda: only_small_back(cut=300_000)),  # it is on its way
            lambda: only_small_back(small=600_000),
            lambda: only_small_back(broker_address="10.0.1.9"),  # another broker's way
            lambda: large_after_small(before=1),
            lambda: large_after_small(size=3000),
            lambda: large_after_small(others=1),
        ),
    ),
    "skewed_partitions": (
        (lambda: produced_cut([200, 220, 6000]),),
        (
            lambda: produced_cut([200, 220, 5000]),
            lambda: produced_cut([200, 6000]),
            lambda: produced_cut([200, 220, 6000], requests=499),
            lambda: produced_cut([200, 220, 6000], more=900),  # they may have other partitions
        ),
    ),
    "fenced_producer": ((lambda: fenced_after(6), lambda: fenced_after(4), lambda: fenced_after(6, taken_s=2)), ()),
    "connection_limit": (
        (lambda: made_to_wait(6),),
        (
            lambda: made_to_wait(4),
            lambda: made_to_wait(6, served=2),
            lambda: made_to_wait(6, apart_s=0.01),  # a broker that ends
            lambda: made_to_wait(6, closed_by="client"),
        ),
    ),
    "idle_killed": (
        (lambda: started_anew(None), lambda: started_anew(3)),
        (lambda: started_anew(9), close_stories.closed_idle),
    ),
    "unanswered": (
        (lambda: cut_at_once(1.5), lambda: left_behind(10, 1, "broker"), lambda: left_behind(10, 101, "client")),
        (lambda: cut_at_once(0.04), lambda: left_behind(9, 1, "broker"), lambda: left_behind(10, 99, "client")),
    ),
    "far_broker": ((lambda: far_away(clocked=False),), (lambda: far_away(clocked=True),)),
    "broker_stalled": (
        (
            *(lambda: slow_stories.alone(3.1), lambda: slow_stories.alone(5.1, resent=1)),
            lambda: slow_stories.alone(3.1, throttle_time_ms=None),
            lambda: slow_stories.own_cease(1.2),
        ),
        (
            lambda: slow_stories.own_cease(1.2, followed=9),
            lambda: slow_stories.own_cease(1.2, goes_on=True),
            lambda: slow_stories.alone(5.1, resent=2),  # a line that is dead
            lambda: slow_stories.alone(3.1, resent=1),
            lambda: slow_stories.alone(2.9),
            lambda: slow_stories.alone(3.1, times=2, throttle_time_ms=None),  # as a quota does
            lambda: slow_stories.alone(5.1, before=9),
            lambda: slow_stories.alone(5.1, api={"api_key": 8, "api_name": "OffsetCommit", "api_version": 8}),
        ),
    ),
    "closed_while_idle": ((lambda: close_stories.stopped_then(59.1),), ()),
    "line_dead": (
        (lambda: silent_together(2),),
        (
            lambda: silent_together(0),
            lambda: silent_together(9),
            lambda: silent_together(2, connections=1),
            lambda: silent_together(2, apart_s=0.7),
            lambda: silent_together(1, silences=1),
        ),
    ),
}
