"""Stories of committed offsets, of what comes late, and of lines that stay dead; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable

from hold_out_stories import MS_NS
from made_rows import SECOND_NS, START_NS, Rows, capture, connection, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def begun_again(
    told: int = -1,
    began: int | None = 0,
    committed: int = 500,
    group: str = "g",
    deletes: bool = False,
    commits: bool = False,
) -> Tables:
    """A group that had `committed` this offset is told so, or commits it, and a minute later is told another one; its client reads
    from `began` on."""
    rows: Rows = []
    entries: Rows = []
    for n, (second, of, offset) in enumerate([(0, "g", committed), (60, group, told)]):
        rows.append(exchange(n, at_ns=at(second), api_key=9, api_name="OffsetFetch", api_version=7, group_id=of))
        where = {"exchange": n, "connection": 1, "topic": "t", "partition": 0}
        entries.append(where | {"side": "response", "offset": offset, "error_code": 0})
    if commits:
        rows[0] |= {"api_key": 8, "api_name": "OffsetCommit", "api_version": 8}
        entries[0] |= {"side": "request"}
    if deletes:
        rows.append(exchange(5, at_ns=at(30), api_key=42, api_name="DeleteGroups", api_version=2, client_id="tool"))
    positions: Rows = []
    if began is not None:
        rows.append(exchange(9, at_ns=at(61), api_key=1, api_name="Fetch", api_version=11, replica_id=-1))
        where = {"exchange": 9, "connection": 1, "topic": "t", "partition": 0, "cluster": "c"}
        positions.append(where | {"time_ns": at(61), "fetch_offset": began, "new_end_offset": 9000})
        entries.append(
            {"exchange": 9, "connection": 1, "topic": "t", "partition": 0, "side": "request", "offset": began}
        )
    return {
        "exchanges": rows,
        "entries": entries,
        "fetch_positions": positions,
        "connections": [connection(1, cluster="c")],
    }


def set_by_a_tool(
    offsets: tuple[int, ...] = (500, 0), by: tuple[str, ...] = ("app", "tool"), told: bool = False
) -> Tables:
    """Clients that commit these offsets of a group, one after the other: "app" reads, as its member; `told`: the first was told."""
    rows: Rows = []
    entries: Rows = []
    for n, (offset, who) in enumerate(zip(offsets, by, strict=True)):
        asks = {"api_key": 8, "api_name": "OffsetCommit", "api_version": 8, "member_id": "m" if who == "app" else ""}
        if told and n == 0:
            asks = {"api_key": 9, "api_name": "OffsetFetch", "api_version": 7}
        rows.append(exchange(n, at_ns=at(10 * n), group_id="g", client_id=who, **asks))
        side = "response" if told and n == 0 else "request"
        entries.append({"exchange": n, "connection": 1, "topic": "t", "partition": 0, "side": side, "offset": offset})
    reads = {"api_key": 1, "api_name": "Fetch", "api_version": 11, "replica_id": -1, "client_id": "app"}
    rows.append(exchange(9, at_ns=at(50), **reads))
    position = {
        "exchange": 9,
        "connection": 1,
        "topic": "t",
        "partition": 0,
        "cluster": "c",
        "time_ns": at(50),
        "fetch_offset": 0,
    }
    links = [connection(1, cluster="c")]
    return {"exchanges": rows, "entries": entries, "fetch_positions": [position], "connections": links}


def late_to_join(
    seconds: float = 40, every_s: float = 3, code: int = 27, joins_at_s: float | None = None, joins_s: float = 0
) -> Tables:
    """A member whose heartbeats are answered with this code for so long; its join at that time waits for so long."""
    where = {
        "cluster": "c",
        "connection": 1,
        "group_id": "g",
        "group_type": "classic",
        "member_id": "m",
        "client_id": "app",
    }
    where |= {"client_address": "10.0.0.1"}
    events: Rows = []
    for n in range(int(seconds / every_s) + 1):
        times = {"exchange": n, "begin_ns": at(n * every_s), "time_ns": at(n * every_s)}
        events.append(where | times | {"event": "heartbeat", "error_code": code})
    if joins_at_s is not None:
        times = {"exchange": 900, "begin_ns": at(joins_at_s), "time_ns": at(joins_at_s + joins_s)}
        events.append(where | times | {"event": "join", "error_code": 0})
    rows = [exchange(row["exchange"], at_ns=row["begin_ns"], api_key=12, api_name="Heartbeat") for row in events]
    link = connection(1, cluster="c", last_time_ns=at(seconds))
    return {
        "exchanges": rows,
        "group_events": events,
        "connections": [link],
        "captures": [capture(last_time_ns=at(60))],
    }


def held_fetches(
    times: int = 3, of: int = 5, wait_ms: int = 5000, late_ms: int = 1, kind: str = "fetch_tail", min_bytes: int = 1_000
) -> Tables:
    """Fetches with records, of which so many are answered when they had waited for as long as they may, and so much longer."""
    asked = {"api_key": 1, "api_name": "Fetch", "api_version": 11, "replica_id": -1}
    asked |= {"max_wait_ms": wait_ms, "min_bytes": min_bytes}
    rows = []
    for n in range(of):
        took_ms = wait_ms + late_ms if n < times else 20
        rows.append(exchange(n, at_ns=at(n * 10), latency_ns=took_ms * MS_NS, kind=kind, **asked))
    return {"exchanges": rows, "connections": [connection(1)]}


def dead_to_the_end(
    waited_s: float = 20,
    idle_s: float = 3,
    others: int = 1,
    resent: int = 4,
    again_s: float | None = None,
    tried_s: float | None = None,
) -> Tables:
    """A host whose last request has no reply for so long, after so long without traffic, while others are answered; `again_s`: when
    a new connection of that host is; `tried_s`: how long after the request its last packet is, None: it tries to the end."""
    last = idle_s + waited_s
    rows = [exchange(0), exchange(1, at_ns=at(idle_s), status="pending")]
    ends = {"close": "none", "first_time_ns": at(-1), "last_time_ns": at(last), "seen_from": "syn"}
    links = [connection(1, client_retransmitted=resent, replies=1, requests=2, **ends)]
    if tried_s is not None:
        links[0]["last_time_ns"] = at(idle_s + tried_s)
    for n in range(others):
        who = {"connection": 2 + n, "client_address": f"10.0.0.{9 + n}", "client_id": "well"}
        rows += [exchange(10 + 100 * n + k, at_ns=at(k), **who) for k in range(int(last))]
        links.append(connection(who["connection"], client_address=who["client_address"], **ends))
    if again_s is not None:
        links.append(connection(50, **(ends | {"first_time_ns": at(again_s)})))
    return {"exchanges": rows, "connections": links, "captures": [capture(last_time_ns=at(last))]}


def elsewhere(story: Tables, number: int, cluster: str | None, **values: str) -> Tables:
    """The story with this exchange on a connection to another cluster."""
    for rows in (story["exchanges"], story["entries"], story["fetch_positions"]):
        for row in rows:
            if row["exchange"] == number:
                row |= {"connection": 2}
    for row in story["fetch_positions"]:
        row |= {"cluster": cluster}
    for row in story["exchanges"]:
        row |= values if row["exchange"] == number else {}
    return story | {"connections": [*story["connections"], connection(2, cluster=cluster, **values)]}


def of_two_unknown() -> Tables:
    """It asks one cluster and then another one, of which neither is known by its id."""
    story = elsewhere(begun_again(), 0, None, broker_address="10.9.0.1")
    return story | {"connections": [row | {"cluster": None} for row in story["connections"]]}


def silent_producer_beside() -> Tables:
    """Another connection of that host goes on, with requests that have no reply (acks=0) and need not be sent again."""
    story = dead_to_the_end()
    ends = {"close": "none", "first_time_ns": at(-1), "last_time_ns": at(23), "seen_from": "syn"}
    story["connections"].append(connection(60, **ends))
    story["exchanges"].append(exchange(9, at_ns=at(10), connection=60, status="no_reply_expected"))
    return story


STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "held_for_bytes": (
        held_fetches,
        (
            lambda: held_fetches(2),
            lambda: held_fetches(3, of=7),
            lambda: held_fetches(wait_ms=1500),
            lambda: held_fetches(kind="fetch_empty"),
            lambda: held_fetches(min_bytes=1),  # somebody writes a record every 5 s
            lambda: held_fetches(late_ms=600),  # the broker is late
            lambda: held_fetches(kind="fetch_backlog"),
        ),
    ),
    "rejoins_late": (
        late_to_join,
        (
            lambda: late_to_join(27),
            lambda: late_to_join(joins_at_s=1, joins_s=45),
            lambda: late_to_join(40, every_s=20.5),
            lambda: late_to_join(code=25),
            lambda: late_to_join(joins_at_s=20.5),
        ),
    ),
    "offsets_set": (set_by_a_tool, (lambda: set_by_a_tool((500, 500)), lambda: set_by_a_tool(by=("tool", "app")))),
    "offsets_forgotten": (
        begun_again,
        (
            lambda: begun_again(told=500),
            lambda: begun_again(committed=-1),
            lambda: begun_again(began=None),  # a tool that looks at offsets
            lambda: begun_again(began=500),
            lambda: begun_again(group="h"),
            lambda: elsewhere(begun_again(), 9, "d"),  # it reads another cluster
            of_two_unknown,
        ),
    ),
}
MORE: dict[str, tuple[tuple[Story, ...], tuple[Story, ...]]] = {
    "offsets_forgotten": (
        (lambda: begun_again(began=9000), lambda: begun_again(deletes=True), lambda: begun_again(commits=True)),
        (lambda: begun_again(commits=True, group="h"), lambda: begun_again(commits=True, began=500)),
    ),
    "offsets_set": (
        (lambda: set_by_a_tool((500, 900)), lambda: set_by_a_tool(told=True)),
        (
            # As one that copies offsets of another cluster does, again and again.
            lambda: set_by_a_tool((500, 900), told=True),
            lambda: set_by_a_tool((500, 900, 1300, 1100), ("tool",) * 4),
        ),
    ),
    "line_dead": (
        (dead_to_the_end, lambda: dead_to_the_end(others=0, resent=5)),
        (
            lambda: dead_to_the_end(waited_s=9),
            lambda: dead_to_the_end(idle_s=31),
            lambda: dead_to_the_end(others=0),
            lambda: dead_to_the_end(resent=2),
            lambda: dead_to_the_end(again_s=15),
            silent_producer_beside,
        ),
    ),
}
