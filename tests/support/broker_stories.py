"""Stories of what brokers tell the controller; their form is that of `finding_stories`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from made_rows import SECOND_NS, START_NS, Rows, capture, connection, exchange

Tables = dict[str, Rows]
Story = Callable[[], Tables]
CONTROLLER = {"role": "controller", "broker_address": "10.0.1.9", "broker_port": 9093, "client_id": "3"}
HEARTBEAT = {"api_key": 63, "api_name": "BrokerHeartbeat", "connection": 9, "client_address": "10.0.1.3", **CONTROLLER}


def at(seconds: float) -> int:
    """A moment, so many seconds into the capture."""
    return START_NS + int(seconds * SECOND_NS)


def epochs_of(changes: Sequence[tuple[Any, ...]]) -> list[int]:
    """The epoch of the partition in each change: one more than in its last one, where the change does not say it."""
    known: dict[str, int] = {}
    found = []
    for _, _, partition, _, *epoch in changes:
        known[partition] = epoch[0] if epoch else known.get(partition, 0) + 1
        found.append(known[partition])
    return found


def altered(*changes: tuple[Any, ...], replaced: dict[str, Any] | None = None, **link: Any) -> Tables:
    """Leaders that tell the controller who is in sync: (moment in s, leader, partition, ISR[, epoch])."""
    epochs = epochs_of(changes)
    events = [
        {
            "exchange": n,
            "connection": 9,
            "cluster": "c",
            "event": "isr",
            "begin_ns": at(when),
            "time_ns": at(when),
            "broker_id": leader,
            "client_address": f"10.0.1.{leader}",
            "topic": partition.partition("-")[0],
            "partition": int(partition.partition("-")[2]),
            "isr": isr,
            "partition_epoch": epochs[n],
            "error_code": 0,
        }
        | (replaced or {})
        for n, (when, leader, partition, isr, *_) in enumerate(changes)
    ]
    asked = [
        exchange(n, at_ns=at(when), api_key=56, api_name="AlterPartition", connection=9, **CONTROLLER)
        for n, (when, *_) in enumerate(changes)
    ]
    asked += [
        exchange(900, at_ns=at(0.5), connection=8, kind="fetch_follower", replica_id=3, client_address="10.0.1.3")
        | {"role": "follower", "api_key": 1, "api_name": "Fetch"}
    ]
    links = [
        connection(9, **{"last_time_ns": at(60), "role": "controller", "cluster": "c"} | link),
        connection(8, role="follower", cluster="c"),
    ]
    return {"broker_events": events, "exchanges": asked, "connections": links}


def beating(moments: Sequence[float], **link: Any) -> Tables:
    """A broker that sends the controller heartbeats at these moments (s), each answered within 1 ms."""
    rows = [exchange(n, at_ns=at(when), **HEARTBEAT) for n, when in enumerate(moments)]
    base = {"close": "none", "last_time_ns": at(60), "client_address": "10.0.1.3", "cluster": "c"}
    return {
        "exchanges": rows,
        "connections": [connection(9, **base | link)],
        "captures": [capture(last_time_ns=at(60))],
    }


def late_answer(story: Tables) -> Tables:
    """The heartbeat before the gap, the eleventh, is answered just before the next one."""
    ended = at(35)
    story["exchanges"][10] |= {"response_time_ns": ended, "response_end_ns": ended}
    return story


def unanswered(story: Tables) -> Tables:
    """The last heartbeat has no reply until the capture ends."""
    story["exchanges"][-1] |= {
        "status": "pending",
        "response_time_ns": None,
        "response_end_ns": None,
        "latency_ns": None,
    }
    return story


def refused(story: Tables) -> Tables:
    """The controller answers the eleventh heartbeat with an error, behind which a broker waits longer."""
    story["exchanges"][10] |= {"error_count": 1, "error_code": 77}
    return story


def elsewhere(story: Tables) -> Tables:
    """Meanwhile the same broker sends a heartbeat to another controller."""
    story["exchanges"].append(
        exchange(900, at_ns=at(26), **HEARTBEAT | {"connection": 8, "broker_address": "10.0.1.8"})
    )
    story["connections"].append(connection(8, last_time_ns=at(30), role="controller"))
    return story


def all_at_once(story: Tables) -> Tables:
    """Another broker is silent at the same time."""
    other = {"connection": 7, "client_address": "10.0.1.4", "client_id": "4"}
    story["exchanges"] += [row | other | {"exchange": 500 + n} for n, row in enumerate(story["exchanges"])]
    story["connections"].append(connection(7, close="none", last_time_ns=at(60), client_address="10.0.1.4"))
    return story


def told(
    state: str | None, moments: Sequence[float], granted: bool = False, dirs: int | None = None, error: int | None = 0
) -> Tables:
    """What broker 3 is, in its heartbeats of these moments (s); `granted`: the last one lets it stop."""
    story = beating(moments)
    base = {"connection": 9, "cluster": "c", "event": "heartbeat", "broker_id": 3, "client_address": "10.0.1.3"}
    events = [
        base
        | {"exchange": n, "begin_ns": at(when), "time_ns": at(when), "broker_state": state, "error_code": error}
        | {"offline_log_dirs": dirs}
        for n, when in enumerate(moments)
    ]
    if granted:
        events[-1]["broker_state"] = "shutting_down"
    return story | {"broker_events": events}


def each_2s(begin: float, end: float) -> list[float]:
    """Moments 2 s apart."""
    return [begin + 2 * n for n in range(int((end - begin) / 2) + 1)]


STOPS = "pending_controlled_shutdown"
STORIES: dict[str, tuple[Story, tuple[Story, ...]]] = {
    "out_of_sync": (
        lambda: altered((5, 1, "t-0", "1"), (5, 2, "t-1", "2"), (20, 1, "t-0", "1,3")),
        (
            # Replicas that are added one after the other, as after a restart or in a reassignment.
            lambda: altered((5, 1, "t-0", "1,2"), (9, 1, "t-0", "1,2,3")),
            # The controller refuses.
            lambda: altered((5, 1, "t-0", "1"), (20, 1, "t-0", "1,3"), replaced={"error_code": 6}),
            # The controller took brokers 2 and 3 out, as they stopped, and they come back one after the other.
            lambda: altered((5, 1, "t-0", "1,2,3", 1), (20, 1, "t-0", "1,2", 4), (22, 1, "t-0", "1,2,3", 5)),
            # A reassignment from 1 to 4 ends: the reply has an ISR that nobody asked for.
            lambda: altered((5, 2, "t-0", "1,2,3", 1), (20, 2, "t-0", "2,3,4", 2)),
            # Left alone, by whom is not known.
            lambda: altered((5, 1, "t-0", "1", 1), (20, 1, "t-0", "1,2", 4), (30, 1, "t-0", "1,2,3", 5)),
            # Nobody else is known to hold it.
            lambda: altered((5, 1, "t-0", "1")),
        ),
    ),
    "heartbeats_missed": (
        lambda: beating([*each_2s(0, 20), *each_2s(32, 58)]),
        (
            lambda: beating(each_2s(0, 58)),
            # The connection ended: it may have gone on elsewhere.
            lambda: beating(each_2s(0, 30), close="fin"),
            # Each takes so long.
            lambda: beating([10 * n for n in range(6)]),
            # Too few to know a rhythm.
            lambda: beating([0, 2, 4, 20]),
            # The controller is what is late.
            lambda: late_answer(beating([*each_2s(0, 20), *each_2s(36, 58)])),
            # Heartbeats while it starts, and from then on each 4 s.
            lambda: beating([*(0.01 * n for n in range(60)), *(2.0 + 4 * n for n in range(14))]),
            # The controller refuses one.
            lambda: refused(beating([*each_2s(0, 20), *each_2s(32, 58)])),
            # Another controller took over for some time.
            lambda: elsewhere(beating([*each_2s(0, 20), *each_2s(32, 58)])),
            # Rather the capture, or its host, stood still.
            lambda: all_at_once(beating([*each_2s(0, 20), *each_2s(32, 58)])),
            # The controller owes it an answer.
            lambda: unanswered(beating(each_2s(0, 30))),
            # Packets are missing from the capture.
            lambda: beating([*each_2s(0, 20), *each_2s(32, 58)], client_gap_bytes=90),
        ),
    ),
    "log_dir_offline": (
        # Without replies to tell more, too.
        lambda: told(None, each_2s(10, 30), dirs=1, error=None),
        (
            lambda: told("running", each_2s(10, 30), dirs=0),
            lambda: told("starting", each_2s(10, 30)),
            # Of a broker that the controller does not know.
            lambda: told(None, each_2s(10, 30), dirs=1, error=102),
        ),
    ),
    "not_in_service": (
        lambda: told("fenced", each_2s(10, 20)),
        (
            lambda: told("fenced", each_2s(10, 18)),
            lambda: told("starting", each_2s(0, 58)),
            lambda: told(STOPS, each_2s(0, 70)),
            # Two starts of the same broker.
            lambda: told("fenced", [1, 3, 50, 52]),
        ),
    ),
    "shutdown_held": (
        lambda: told(STOPS, each_2s(10, 46), granted=True),
        (
            lambda: told(STOPS, each_2s(10, 16), granted=True),
            lambda: told("starting", each_2s(10, 46)),
            # It stops twice, a minute apart.
            lambda: told(STOPS, [1, 3, 50, 52]),
        ),
    ),
}
