"""Stories of brokers that are slow at times; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import incident_stories
from hold_out_stories import MS_NS
from made_rows import SECOND_NS, START_NS, Rows, connection, error, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
PRODUCE = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all", "acks": -1}
UNHEARD = {"acks": 0, "kind": "produce_acks_0", "status": "no_reply_expected"}


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def slow_at_times(each_s: float, slow_ms: int, median_ms: int = 1, count: int = 12) -> Tables:
    """Produce requests of one broker alone, of which so many, every so many seconds, take long in its host."""
    rows = [exchange(n, at_ns=at(n / 10), broker_ns=median_ms * MS_NS, **PRODUCE) for n in range(100)]
    rows += [exchange(200 + n, at_ns=at(each_s * n), broker_ns=slow_ms * MS_NS, **PRODUCE) for n in range(count)]
    return {"exchanges": rows, "connections": [connection(1)]}


def seen_twice(tables: Tables) -> Tables:
    """The same, seen by two capture points that have names."""
    again = [row | {"exchange": row["exchange"] + 1000, "connection": 2} for row in tables["exchanges"]]
    links = [connection(1, tap="a"), connection(2, tap="b", client_port=50_001)]
    return {"exchanges": [*tables["exchanges"], *again], "connections": links}


def slow_everywhere(others_slow: int, others: int = 20) -> Tables:
    """The same, while so many of so few requests to another broker take as long."""
    story, other = slow_at_times(0.6, 300), PRODUCE | {"broker_address": "10.0.1.2", "connection": 2}
    story["connections"].append(connection(2, broker_address="10.0.1.2"))
    story["exchanges"] += [
        exchange(400 + n, at_ns=at(n), broker_ns=(300 if n < others_slow else 1) * MS_NS, **other)
        for n in range(others)
    ]
    return story


def unread(
    times: int = 3,
    send_s: float = 1,
    windows: int = 3,
    before_s: float | None = None,
    throttle_ms: int = 0,
    resent: int = 0,
    **earlier: Any,
) -> Tables:
    """Requests that take so long to be sent while the broker's window is closed so often, and so many packets are sent again;
    `before_s`: each is sent so long after another one, which waits for its reply for 3 s, or is as `earlier` says."""
    rows = []
    for n in range(times):
        begin = at(10 * n)
        ends = {"request_end_ns": begin + int(send_s * SECOND_NS), "send_ns": int(send_s * SECOND_NS)}
        rows.append(exchange(2 * n, at_ns=begin, throttle_time_ms=throttle_ms, **PRODUCE, **ends))
        if before_s is not None:
            asked = {"at_ns": begin - int(before_s * SECOND_NS), "latency_ns": 3 * SECOND_NS}
            rows.append(exchange(2 * n + 1, **(PRODUCE | asked | earlier)))
    return {"exchanges": rows, "connections": [connection(1, broker_zero_windows=windows, client_retransmitted=resent)]}


def slower_than_another() -> Tables:
    """Forty requests to each of two brokers of a cluster without a name; another client, which sorts first, asked the slow one."""
    own = PRODUCE | {"client_address": "10.0.0.2"}
    rows = [exchange(n, at_ns=at(n / 5), broker_ns=60 * MS_NS, **own) for n in range(40)]
    own |= {"broker_address": "10.0.1.2", "connection": 2}
    rows += [exchange(100 + n, at_ns=at(n / 5), broker_ns=10 * MS_NS, **own) for n in range(40)]
    links = [connection(1, client_address="10.0.0.2"), connection(3)]
    return {
        "exchanges": rows,
        "connections": [*links, connection(2, client_address="10.0.0.2", broker_address="10.0.1.2")],
    }


def held_up(
    refusals: int = 20, each_ms: int = 100, begun: int = 10, rest_ms: int = 100, key: int = 24, **values: Any
) -> Tables:
    """So many transactions; before each of the first ones two requests are refused, so long apart, up to `refusals` in all."""
    asks: dict[str, Any] = {
        "api_key": key,
        "api_name": "AddPartitionsToTxn",
        "transactional_id": "tx",
        "api_version": 3,
    }
    rows: Rows = []
    clock = 0
    for n in range(begun):
        for _ in range(2 if 2 * n < refusals else 0):
            rows.append(exchange(len(rows), at_ns=at(clock / 1000), error_code=51, **(asks | values)))
            clock += each_ms
        rows.append(exchange(len(rows), at_ns=at(clock / 1000), error_code=0, **(asks | values)))
        clock += rest_ms
    refused = [row for row in rows if row["error_code"] == 51]
    told = [error(row["exchange"], 51, name="CONCURRENT_TRANSACTIONS", expected=True) for row in refused]
    return {"exchanges": rows, "errors": told, "connections": [connection(1)]}


def refused_for_ever(times: int) -> Tables:
    """As KAFKA-19925 has it: each request of a transactional id is refused, and none gets on."""
    refused = held_up(times, begun=times)
    rows = [row for row in refused["exchanges"] if row["error_code"] == 51]
    return refused | {"exchanges": rows}


def both_commit(
    seconds: float = 11, partition: int = 0, key: int | None = None, group: str = "g", apart_s: float = 0
) -> Tables:
    """Two clients that read for so long and commit; `partition` and `group` are of the second one, which begins later; `key`: an
    API by which somebody else speaks for the group."""
    rows: Rows = []
    positions: Rows = []
    entries: Rows = []
    for n, (of, name) in enumerate(((0, "g"), (partition, group))):
        who = {"connection": n, "client_id": f"copy-{n}"}
        for step in range(2):
            moment = at(n * apart_s + step * seconds)
            number = 10 * n + step
            rows.append(
                exchange(number, at_ns=moment, api_key=1, api_name="Fetch", api_version=11, replica_id=-1, **who)
            )
            told = {"fetch_offset": 5 + step, "new_end_offset": 90, "time_ns": moment, "cluster": "c"}
            where = {"exchange": number, "connection": n, "topic": "t", "partition": of}
            positions.append(where | told)
            entries.append(where | {"side": "response"})
            asks = {"api_key": 8, "api_name": "OffsetCommit", "api_version": 7, "group_id": name}
            rows.append(exchange(number + 5, at_ns=moment, **asks, **who))
    if key is not None:
        rows.append(exchange(90, connection=0, api_key=key, api_name="Heartbeat", group_id="g"))
    links = [connection(n, cluster="c") for n in range(2)]
    return {"exchanges": rows, "fetch_positions": positions, "entries": entries, "connections": links}


def alone(
    seconds: float, before: int = 10, api: dict[str, Any] = PRODUCE, resent: int = 0, times: int = 1, **reply: Any
) -> Tables:
    """So many requests of one client, ten a second, and one more that waits for so long, all that `times` times; `resent` segments
    on its connection."""
    late = {"latency_ns": int(seconds * SECOND_NS), "queue_ns": 0}
    rows = []
    for begin in range(0, 10 * times, 10):
        rows += [exchange(10 * begin + n, at_ns=at(begin + 1 - n / 10), **PRODUCE, **reply) for n in range(before)]
        rows.append(exchange(10 * begin + 50, at_ns=at(begin + 1.1), **late, **api, **reply))
    return {"exchanges": rows, "connections": [connection(1, client_retransmitted=resent)]}


def own_cease(seconds: float, followed: int = 10, goes_on: bool = False) -> Tables:
    """`incident_stories.stalled` on one connection, of a broker that had followed another one with so many requests."""
    story = incident_stories.stalled(seconds, connections=1)
    own = {"client_address": "10.0.1.1", "broker_address": "10.0.1.2", "connection": 9, "role": "follower"}
    moments = [n / 20 for n in range(followed)] + [1.1 + seconds / 2] * goes_on
    story["exchanges"] += [exchange(500 + n, at_ns=at(when), **own) for n, when in enumerate(moments)]
    story["connections"].append(connection(9, client_address="10.0.1.1", broker_address="10.0.1.2", role="follower"))
    return story


MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "slow_broker": (
        (
            lambda: slow_at_times(0.6, 300),
            lambda: slow_at_times(0.6, 60, count=20),
            lambda: slow_everywhere(4),
            lambda: slow_everywhere(5, others=25),
            slower_than_another,
        ),
        (
            lambda: slow_at_times(0.6, 300, count=9),
            lambda: slow_at_times(0.2, 300),
            lambda: slow_at_times(0.6, 90),
            lambda: slow_at_times(0.6, 49, count=20),
            lambda: slow_at_times(0.2, 90, count=20),
            lambda: slow_at_times(0.6, 300, median_ms=31),
            lambda: slow_everywhere(5),
        ),
    ),
    "broker_not_reading": ((lambda: unread(before_s=1.1, **UNHEARD),), ()),
}
STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "shared_group_id": (
        both_commit,
        (
            lambda: both_commit(9),
            lambda: both_commit(partition=1),
            lambda: both_commit(key=12),  # a member reports to the group
            lambda: both_commit(group="h"),
            lambda: both_commit(apart_s=5),  # together for 6 s
        ),
    ),
    "transaction_held": (
        held_up,
        (
            lambda: held_up(18),
            lambda: held_up(each_ms=99),  # less than 2 s in all
            lambda: held_up(rest_ms=600),  # less than three tenths
            lambda: held_up(key=22, api_name="InitProducerId"),
            lambda: held_up(role="broker"),
            lambda: refused_for_ever(30),
        ),
    ),
    "broker_not_reading": (
        unread,
        (
            lambda: unread(2),
            lambda: unread(send_s=0.9),
            lambda: unread(windows=2),
            lambda: unread(before_s=1),  # the window closes while the broker is at another request
            lambda: unread(throttle_ms=5),  # muted
            lambda: unread(resent=1),
            lambda: unread(before_s=0.9, **UNHEARD),
        ),
    ),
}
