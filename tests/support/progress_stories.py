"""Stories of rules about clients that get no further; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import impact_stories
import offset_stories
import zone_stories
from made_rows import SECOND_NS, START_NS, Rows, capture, connection, error, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
FETCH = {"api_key": 1, "api_name": "Fetch", "api_version": 17, "replica_id": -1}
PRODUCE = {"api_key": 0, "api_name": "Produce", "api_version": 11, "kind": "produce_acks_all", "acks": -1}
CORRUPT_MESSAGE = 2
MB = 1_000_000


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def reading(offsets: list[int], every_s: float = 0.5, end: int = 10_000, **values: Any) -> Tables:
    """Fetches of these offsets, each answered with records up to `read_to` (None: with none) of a partition that ends there;
    `apart`: each on a connection of its own; `throttle_ms`: of each reply."""
    read_to = values.get("read_to", 50)
    links = range(1, 1 + len(offsets)) if values.get("apart") else [1] * len(offsets)
    rows: Rows = []
    positions: Rows = []
    entries: Rows = []
    for n, (offset, link) in enumerate(zip(offsets, links, strict=True)):
        moment = at(n * every_s)
        where = {"exchange": n, "connection": link, "topic": "t", "partition": 0}
        rows.append(exchange(n, at_ns=moment, connection=link, throttle_time_ms=values.get("throttle_ms", 0), **FETCH))
        told = {"fetch_offset": offset, "new_end_offset": end, "record_bytes": 0 if read_to is None else 500}
        positions.append(where | told | {"time_ns": moment, "cluster": "c"})
        entries.append(where | {"side": "response", "next_offset": read_to})
    made = [connection(link, cluster="c") for link in sorted(set(links))]
    return {"exchanges": rows, "fetch_positions": positions, "entries": entries, "connections": made}


def cut_off(version: int) -> Tables:
    """Fetches of this version whose replies have bytes, and no whole record."""
    story = reading(STUCK)
    story["exchanges"] = [row | {"api_version": version} for row in story["exchanges"]]
    return story | {"entries": [row | {"next_offset": None} for row in story["entries"]]}


def broken_off(count: int, taken: int = 16_000, waited_s: float = 0.1, **values: Any) -> Tables:
    """So many connections that the client closes when it has taken so much of a reply of 21 MB; `served`: each was sent records
    before; `offsets`: it asks for another one each time."""
    rows: Rows = []
    lost: Rows = []
    positions: Rows = []
    links: Rows = []
    for n in range(count):
        where = {"connection": n, "topic": "t", "partition": 0, "cluster": "c"}
        if values.get("served"):
            rows.append(exchange(2 * n, at_ns=at(n), connection=n, **FETCH))
            before = {"exchange": 2 * n, "time_ns": at(n), "fetch_offset": 1, "record_bytes": 900}
            positions.append(where | before)
        rows.append(exchange(2 * n + 1, at_ns=at(n + 0.1), connection=n, status="closed", **FETCH))
        asked = {"exchange": 2 * n + 1, "time_ns": at(n + 0.1), "fetch_offset": n if values.get("offsets") else 7}
        positions.append(where | asked | {"record_bytes": 0})
        told = {"connection": n, "time_ns": at(n + 0.2), "side": "broker", "kind": "unfinished_frame"}
        lost.append(told | {"bytes_lost": 21 * MB, "detail": "-"})
        ends = {"closed_by": values.get("closed_by", "client"), "close_time_ns": at(n + 0.1 + waited_s), "close": "rst"}
        links.append(connection(n, broker_skipped_unfinished_bytes=taken, **ends))
    return {"exchanges": rows, "problems": lost, "fetch_positions": positions, "connections": links}


def answered(order: list[int], **values: Any) -> Tables:
    """Requests 1 ms apart, answered in this order from 10 ms on, 1 ms apart."""
    rows = []
    for n in range(len(order)):
        place = order.index(n)
        latency_ns = (10 + place - n) * 1_000_000
        # Until the reply before.
        queue_ns = latency_ns - 1_000_000 if place else 0
        rows.append(exchange(n, at_ns=at(n / 1000), latency_ns=latency_ns, queue_ns=queue_ns))
    link = {"closed_by": "client", "replies": len(order)} | values
    return {"exchanges": rows, "connections": [connection(1, **link)]}


def no_request(gaps: int = 0, side: str = "client", seen_from: str = "syn", corrupt: bool = True) -> Tables:
    """A connection on which bytes are no request; the frame before them is answered with CORRUPT_MESSAGE."""
    told = {"connection": 1, "time_ns": at(2), "kind": "impossible_length", "packet": 9, "file": 0, "bytes_lost": 0}
    link = connection(1, replies=2, client_gaps=gaps, client_skipped_malformed_bytes=9000, seen_from=seen_from)
    rows = [exchange(n, at_ns=at(n), **PRODUCE) for n in range(2)]
    errors = [error(1, CORRUPT_MESSAGE, topic="t", expected=False)] if corrupt else []
    return {
        "problems": [told | {"side": side, "detail": "-"}],
        "exchanges": rows,
        "errors": errors,
        "connections": [link],
    }


def escaping(count: int, comes_back_s: float = 0.3, throttle_ms: int = 4000, closed_by: str = "client") -> Tables:
    """So many connections of a client, each closed at a reply with a throttle time; the next one begins so much later."""
    rows: Rows = []
    links: Rows = []
    mutes: Rows = []
    for n in range(count):
        begin = n * (comes_back_s + 0.02)
        rows.append(exchange(n, at_ns=at(begin), connection=n, throttle_time_ms=throttle_ms, **FETCH))
        times = {"first_time_ns": at(begin), "last_time_ns": at(begin + 0.02)}
        links.append(connection(n, closed_by=closed_by, **times))
        mutes.append(
            {"exchange": n, "connection": n, "begin_ns": at(begin), "end_ns": at(begin + 0.02), "applies": True}
        )
    return {"exchanges": rows, "mutes": mutes, "connections": links}


TLS: dict[str, Any] = {
    "is_kafka": False,
    "protocol": "tls",
    "tls": True,
    "tls_decrypted": False,
    "tls_handshake": "finished",
}


def queued_beside() -> Tables:
    """A client with a connection on which its requests queue, and another one that carries ten times as many without."""
    slow = {"connection": 1, "latency_ns": 110_000_000, "queue_ns": 60_000_000}
    rows = [exchange(n, at_ns=at(n / 4), **(PRODUCE | slow)) for n in range(40)]
    fast = {"connection": 2, "latency_ns": 50_000_000, "queue_ns": 0}
    rows += [exchange(100 + n, at_ns=at(n / 40), **(PRODUCE | fast)) for n in range(400)]
    return {"exchanges": rows, "connections": [connection(1), connection(2)]}


def opening(seconds: int, rest_s: float = 0, **values: Any) -> Tables:
    """Five connections a second, each with one request (none that can be read, of TLS), and nothing afterwards."""
    moments = [n / 5 for n in range(5 * seconds)]
    links = [connection(n, first_time_ns=at(m), last_time_ns=at(m + 0.01), **values) for n, m in enumerate(moments)]
    file = capture(last_time_ns=at(seconds + rest_s))
    rows = [] if values.get("tls") else [exchange(n, at_ns=at(m), connection=n) for n, m in enumerate(moments)]
    return {"captures": [file], "connections": links, "exchanges": rows}


def written(offsets: list[int], *, apart_s: float = 5, sequences: list[int] | None = None, **values: Any) -> Tables:
    """Produce requests that were given these offsets, a batch of ten records each; `sequences`: those of an idempotent producer;
    `ids`: of the topic, one after the other; `files`: the capture file of each."""
    rows: Rows = []
    entries: Rows = []
    batches: Rows = []
    files = values.get("files", [0] * len(offsets))
    for n, (offset, file) in enumerate(zip(offsets, files, strict=True)):
        broker = {"broker_address": f"10.0.1.{1 + n}", "request_file": file, "response_file": file}
        rows.append(exchange(n, at_ns=at(n * apart_s), connection=1 + n, **PRODUCE, **broker))
        where = {"exchange": n, "connection": 1 + n, "topic": "t", "partition": 0}
        entries.append(where | {"side": "response", "offset": offset, "error_code": 0})
        number = {
            "producer_id": -1 if sequences is None else 7,
            "base_sequence": -1 if sequences is None else sequences[n],
        }
        stored = {"stored_base_offset": offset, "stored_last_offset": offset + 9, "records": 10}
        batches.append(where | {"side": "request", "position": 0, "producer_epoch": 0} | number | stored)
    ids = [
        {"cluster": "c", "topic": "t", "topic_id": name, "first_time_ns": at(-1), "last_time_ns": at(100)}
        for name in values.get("ids", ())
    ]
    links = [connection(1 + n, cluster="c") for n in range(len(offsets))]
    return {"exchanges": rows, "entries": entries, "batches": batches, "connections": links, "topic_ids": ids}


def unread(offsets: list[int], kind: str = "produce_acks_1", gone: tuple[int, ...] = (), back_s: float = 99) -> Tables:
    """The same without the batches, of which the capture has nothing; `gone`: brokers that refuse connections from their reply on,
    to `back_s`."""
    story = written(offsets) | {"batches": []}
    story["exchanges"] = [row | {"kind": kind} for row in story["exchanges"]]
    nothing = {"is_kafka": None, "syn_ack_ns": None, "client_stream_bytes": 0, "broker_stream_bytes": 0}
    for n in gone:
        there = {"broker_address": f"10.0.1.{1 + n}", "last_time_ns": at(back_s), "cluster": "c"}
        tries = [at(5 * n + 1 + number) for number in range(3)]
        story["connections"] += [
            connection(50 + 10 * n + number, **there, **nothing, first_time_ns=moment)
            for number, moment in enumerate(tries)
        ]
        story["connections"].append(connection(59 + 10 * n, **there, first_time_ns=at(back_s), replies=1))
    return story


def starting(offsets: list[int], read_to: int = 1000, partitions: int = 1, **values: Any) -> Tables:
    """Starts, one after the other (`every_s`), with a connection for each partition, that read from such an offset to `read_to`;
    `commits` of its group, None: it is in no group; `refused`: that many more were."""
    rows: Rows = []
    positions: Rows = []
    begins = [(n, offset, partition) for n, offset in enumerate(offsets) for partition in range(partitions)]
    for link, (n, offset, partition) in enumerate(begins):
        middle = (offset + read_to) // 2
        for step, (position, reached) in enumerate(((offset, middle), (middle, read_to))):
            number, moment = 2 * link + step, at(n * values.get("every_s", 10) + 4 * step)
            rows.append(exchange(number, at_ns=moment, connection=link, **FETCH))
            where = {"exchange": number, "connection": link, "cluster": "c", "topic": "t", "partition": partition}
            positions.append(where | {"time_ns": moment, "fetch_offset": position, "next_offset": reached})
    group = {"api_key": 8, "api_name": "OffsetCommit", "api_version": 9, "group_id": "g"}
    rows += [exchange(1000 + n, at_ns=at(n), connection=0, **group) for n in range(values.get("commits") or 0)]
    no = {"error_code": 25, "error_count": 1}
    rows += [exchange(2000 + n, at_ns=at(20 + n), connection=0, **group, **no) for n in range(values.get("refused", 0))]
    joined = {
        "event": "join",
        "group_id": "g",
        "cluster": "c",
        "group_type": "classic",
        "member_id": "m",
        "error_code": 0,
    }
    joined |= {"client_id": "app", "client_address": "10.0.0.1"}
    events = [] if values.get("commits", 0) is None else [joined | {"exchange": 0, "connection": 0, "begin_ns": at(0)}]
    links = [connection(link, cluster="c") for link in range(len(begins))]
    return {"exchanges": rows, "fetch_positions": positions, "group_events": events, "connections": links}


def left_open(
    seconds: float, close: str = "fin", ends_s: float | None = None, offset: int = 5, **values: Any
) -> Tables:
    """A last stable offset that stands for so long at a batch of a producer whose connection ended; `ends_s`: when its transaction
    was ended; `offset`: where the batch is; `goes_on_s`: when its client asks for something over a third connection; `again_s`:
    when it asks for its producer id again."""
    where = {"topic": "t", "partition": 0, "cluster": "c"}
    bank = {"client_id": "bank", "role": values.get("role", "client")}
    rows = [exchange(0, at_ns=at(-1), connection=2, **PRODUCE, **bank)]
    rows += [exchange(1, at_ns=at(ends_s), connection=2, api_key=26, **bank)] if ends_s is not None else []
    if "goes_on_s" in values:
        rows.append(exchange(9, at_ns=at(values["goes_on_s"]), connection=3, **bank))
    rows += [exchange(2 + n, at_ns=at(n * seconds), **FETCH) for n in range(2)]
    marks = {"connection": 1, "side": "response", "last_stable_offset": 5}
    entries: Rows = [where | marks | {"exchange": 2 + n, "high_watermark": 6 + 50 * n} for n in range(2)]
    entries.append(where | {"exchange": 0, "connection": 2, "side": "response", "offset": offset})
    sent = {"exchange": 0, "connection": 2, "side": "request", "producer_id": 7}
    init = {"exchange": 0, "connection": 2, "cluster": "c", "event": "init", "producer_id": 7, "begin_ns": at(-2)}
    events: Rows = [init | {"transactional_id": "tx", "transaction_timeout_ms": 60_000}]
    events += [init | {"exchange": 1, "event": "end", "begin_ns": at(ends_s)}] if ends_s is not None else []
    events += [init | {"exchange": 9, "begin_ns": at(values["again_s"])}] if "again_s" in values else []
    links = [connection(1, cluster="c"), connection(3, cluster="c")]
    forwarded = values.get("forwarded_from")
    links.append(connection(2, cluster="c", close=close, last_time_ns=at(2), forwarded_from=forwarded))
    return {
        "exchanges": rows,
        "entries": entries,
        "batches": [where | sent],
        "transaction_events": events,
        "connections": links,
    }


STUCK, AHEAD = [100] * 20, list(range(100, 300, 10))
STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "no_progress": (
        lambda: reading(STUCK),
        (
            lambda: reading([100] * 9, every_s=1),
            lambda: reading(STUCK, every_s=0.2),
            lambda: reading(STUCK, every_s=6),
            lambda: reading(STUCK, end=101, read_to=101),  # who looks at the newest record
            lambda: reading(AHEAD, read_to=310),
            lambda: reading(
                [100, 200] * 10, read_to=300, end=300, apart=True
            ),  # runs that begin anew and reach the end
            lambda: reading(STUCK, throttle_ms=100, read_to=None),
            lambda: reading(STUCK, every_s=0.4, read_to=None),
        ),
    ),
    "rereads": (
        lambda: starting([0] * 4),
        (
            lambda: starting([0] * 2),
            lambda: starting([0, 900, 900, 900]),  # a little before where they stopped
            lambda: starting([0] * 4, every_s=3),  # at the same time
            lambda: starting([0] * 4, read_to=30),
            lambda: starting([0] * 2, partitions=3),  # one start, a connection to each broker
        ),
    ),
    "acknowledged_lost": (
        lambda: written([100, 200, 190]),
        (
            lambda: written([100, 200, 210]),
            lambda: written([100, 200, 190], apart_s=0.5),  # under way at the same time
            lambda: written([100, 200, 190], files=[0, 0, 1]),  # clocks of two hosts
            lambda: written([100, 200, 0]),  # a topic that was created again, for all that is known
            lambda: written([100, 200, 190], ids=["one", "other"]),
            lambda: written([100, 200, 100], sequences=[0, 10, 0]),  # sent again
            lambda: written([200, 190], sequences=[0, 0]),
        ),
    ),
    "reply_given_up": (
        lambda: broken_off(3),
        (
            lambda: broken_off(2),
            lambda: broken_off(3, taken=6 * MB),
            lambda: broken_off(3, waited_s=6),
            lambda: broken_off(3, served=True),
            lambda: broken_off(3, offsets=True),
            lambda: broken_off(3, closed_by="broker"),
        ),
    ),
    "replies_out_of_order": (
        lambda: answered([3, 2, 1, 0]),
        (
            lambda: answered([0, 1, 2, 3]),
            lambda: answered([2, 0, 1, 3]),
            lambda: answered([3, 2, 1, 0], broker_gaps=1),
            lambda: answered([3, 2, 1, 0], client_reordered=1),
        ),
    ),
    "throttle_escaped": (
        lambda: escaping(3),
        (
            lambda: escaping(2),
            lambda: escaping(3, comes_back_s=5),
            lambda: escaping(3, throttle_ms=300),
            lambda: escaping(3, closed_by="broker"),
        ),
    ),
    "broken_frames": (
        no_request,
        (lambda: no_request(gaps=1), lambda: no_request(side="broker"), lambda: no_request(seen_from="midstream")),
    ),
}
# More stories of rules that other files have one for.
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "acknowledged_lost": (
        (
            lambda: written([100, 200, 190], sequences=[0, 10, 20]),
            lambda: written([100, 200, 0], ids=["one"]),
            lambda: unread([100, 200, 190]),
            lambda: unread([100, 200, 50], gone=(1,)),
        ),
        (
            lambda: unread([100, 200, 190], "produce_acks_all"),  # it may be sent again
            lambda: unread([100, 200, 50]),  # a topic that may be another
            lambda: unread([100, 200, 50], gone=(1,), back_s=9),
            lambda: unread([100, 200, 50], gone=(1, 2)),
            lambda: unread([100, 200, 0], gone=(1,)),
        ),
    ),
    "connection_storm": (
        (lambda: opening(10), lambda: opening(10, **TLS)),
        (
            lambda: opening(10, rest_s=5),
            lambda: opening(6),
            lambda: opening(10, **TLS, tls_alpn="h2"),
            lambda: opening(10, **TLS, broker_port=443),
            lambda: opening(10, **(TLS | {"tls_handshake": "failed"})),
        ),
    ),
    "hanging_transaction": (
        (lambda: left_open(11), lambda: left_open(11, goes_on_s=5, again_s=6)),
        (
            lambda: left_open(9),
            lambda: left_open(11, close="none"),  # a long transaction
            lambda: left_open(11, ends_s=1),
            lambda: left_open(11, ends_s=20),  # behind the last Fetch that was seen
            lambda: left_open(11, goes_on_s=5),
            lambda: left_open(11, role="follower"),
            lambda: left_open(11, forwarded_from=1),
            lambda: left_open(11, offset=4),
        ),
    ),
    "head_of_line": ((queued_beside,), ()),
    "no_progress": (
        (
            lambda: reading(STUCK, read_to=150),  # the same records each time
            lambda: cut_off(2),
            lambda: cut_off(4),
            lambda: reading(STUCK, every_s=0.6, read_to=None),  # none
            lambda: reading(STUCK, apart=True, read_to=150),
            lambda: reading([100, 200, 150] * 10, read_to=300),  # back again and again
        ),
        (lambda: reading([100, 200, 300] * 3, read_to=400),),
    ),
    "rereads": (
        (
            lambda: starting([0] * 4, partitions=3),
            lambda: starting([0] * 4, commits=3),
            lambda: starting([0] * 4, commits=None),
            lambda: starting([0] * 4, commits=0, refused=20),
        ),
        (),
    ),
    "broken_frames": ((lambda: no_request(corrupt=False),), ()),
}
STORIES |= impact_stories.STORIES
MORE |= impact_stories.MORE
STORIES |= offset_stories.STORIES
STORIES |= zone_stories.STORIES
MORE |= offset_stories.MORE
MORE |= zone_stories.MORE
