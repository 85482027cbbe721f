"""The time that the broker had a request: bounds from evidence made by hand, and the law that parts of a latency add up to it."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from raw_rows import MS, START_NS, dataset, exchange, offer, part

from dissectors import layout
from dissectors.problems import PROBLEM_UNFINISHED_FRAME

# Lags of the broker's packets, modulo the range of timestamps: its clock is anywhere.
LAG = 4_294_967_295_000_000
RANGE = 4_294_967_296_000_000
BESIDE = {"part": 1, "is_beside": True, "is_quiet": True, "to_broker_ns": 0, "broker_lag_ns": LAG, "trusts_ids": True}
BESIDE |= {"sure_to_broker_ns": 0, "byte_ns": 0}
FAR = BESIDE | {"is_beside": False, "to_broker_ns": 10 * MS, "sure_to_broker_ns": 10 * MS}
QUEUE_BEFORE = {"reply_lag_ns": (LAG + 30 * MS) % RANGE}
REPEAT, JUMP, IDLE = layout.MARK_REPEAT, layout.MARK_JUMP, layout.MARK_IDLE
PROMPT, COVERED = layout.MARK_PROMPT, layout.MARK_COVERED


def asked(way: dict[str, Any], offered: int = 9, seen_from: str = "syn", **values: Any) -> dict[str, Any]:
    """The exchange, of 50 ms, with times in ms; the 1 ms that a broker's account may end after the reply left is taken off."""
    row = {"reply_lag_ns": LAG, "marks": 0, "request_bytes": 100, "response_bytes": 100} | values
    connection = part(seen_from=seen_from, first_time_ns=START_NS)
    with dataset([connection], [way], exchanges=[exchange(1, 0, 50, **row)], **offer(offered)) as found:
        columns = f"broker_min_ns, broker_ns, broker_max_ns - {MS} as broker_max_ns, broker_evidence"
        told = found.query(f"select {columns} from exchanges")[0]
    return {name: value / MS if isinstance(value, int) else value for name, value in told.items()}


def bounds(*args: Any, **values: Any) -> tuple[float, float, str]:
    told = asked(*args, **values)
    return told["broker_min_ns"], told["broker_max_ns"], told["broker_evidence"]


def test_beside_the_broker_it_is_the_latency() -> None:
    assert bounds(BESIDE) == (50, 50, "beside")


def test_queues_before_the_capture_are_not_the_brokers() -> None:
    """30 ms in queues: the reply left 30 ms before, but for a tick."""
    assert bounds(BESIDE, **QUEUE_BEFORE) == (20, 21, "beside")


def test_elsewhere_the_arrival_needs_evidence() -> None:
    assert bounds(FAR, marks=IDLE) == (39.5, 40, "idle")
    acked = {"ack_time_ns": START_NS + 25 * MS, "ack_lag_ns": LAG}
    assert bounds(FAR, marks=PROMPT, **acked) == (25, 26, "ack")
    assert bounds(FAR, **acked) == (25, 26, "ack"), "sooner than any host delays it"
    assert bounds(FAR, marks=layout.MARK_ASKED_AGAIN, **acked) == (25, 40, "wide"), "of which copy?"
    silent = layout.MARK_BEHIND_SILENT
    assert bounds(FAR, marks=silent, **acked) == (0, 40, "wide"), "an ACK that was due for a request with acks=0"
    behind = {"queue_ns": 5 * MS, "before_lag_ns": LAG}
    assert bounds(FAR, **acked, **behind) == (25, 40, "wide"), "one that was due for a request whose reply came later"
    assert bounds(FAR, ack_time_ns=START_NS + 49 * MS, ack_lag_ns=LAG) == (1, 40, "wide"), "a late ACK is a bound"
    assert bounds(FAR | {"sure_to_broker_ns": 0}, ack_time_ns=START_NS + 39 * MS, ack_lag_ns=LAG) == (11, 50, "wide")
    assert bounds(FAR) == (0, 40, "wide")


def test_behind_an_ack_that_leaves_out_a_segment_a_request_is_there_soon() -> None:
    """It arrives behind what was acknowledged after 25 ms, as soon as 1,500 bytes can be carried."""
    near = {"marks": layout.MARK_NEAR, "ack_time_ns": START_NS + 25 * MS, "ack_lag_ns": None, "request_bytes": 9000}
    assert bounds(FAR, **near) == (24.5, 25, "ack")
    assert bounds(FAR | {"byte_ns": 1000}, **near) == (23, 25, "ack")
    assert bounds(FAR | {"byte_ns": 10_000}, **near) == (9.5, 25, "wide")
    assert bounds(FAR, **near, reply_lag_ns=(LAG + 5 * MS) % RANGE)[::2] == (19.5, "wide"), (
        "the ACK may have been in a queue"
    )


def test_on_a_slow_link_a_request_arrives_later_than_a_handshake() -> None:
    """100 bytes may take 1 ms at 10 us each, and 10 ms at 100 us."""
    assert bounds(FAR | {"byte_ns": 10_000}, marks=IDLE) == (38.5, 40, "idle")
    assert bounds(FAR | {"byte_ns": 100_000}, marks=IDLE) == (29.5, 40, "wide")


@pytest.mark.parametrize(
    ("late", "marks", "known"),
    [
        (2, IDLE, {"idle", "ack"}),
        (3, IDLE, {"ack", "wide"}),
        (3, IDLE | layout.MARK_BEHIND_SILENT, {"idle", "ack", "wide"}),  # a host delays these
    ],
)
def test_a_way_that_delays_one_small_request_in_thirty_is_not_trusted(late: int, marks: int, known: set[str]) -> None:
    """Forty requests with an early ACK, `late` of them 5 ms after it should have come, and one without an ACK."""
    rows = [exchange(1, 0, 50, reply_lag_ns=LAG, marks=IDLE, request_bytes=100)]
    for number in range(40):
        acked = START_NS + (15 if number < late else 10) * MS
        of_these = {"marks": marks} if number < late else {}
        rows.append(rows[0] | {"exchange": 2 + number, "ack_time_ns": acked, "ack_lag_ns": LAG} | of_these)
    with dataset([part(seen_from="syn")], [FAR | {"is_quiet": False}], exchanges=rows, **offer(9)) as found:
        assert {row["broker_evidence"] for row in found.query("select broker_evidence from exchanges")} == known


def test_a_way_that_no_kernel_answered_may_be_short() -> None:
    assert bounds(FAR | {"sure_to_broker_ns": 0}, marks=IDLE) == (39.5, 50, "wide")


def test_it_begins_when_the_reply_before_has_left() -> None:
    before = {"queue_ns": 45 * MS, "before_lag_ns": (LAG + 20 * MS) % RANGE}
    low, high, why = bounds(BESIDE, **before)
    assert (low, high, why) == (24, 25, "reply")


@pytest.mark.parametrize(("marks", "held"), [(REPEAT, None), (JUMP, None), (0, 10 * MS)])
def test_a_reply_that_was_held_back_has_no_lower_bound(marks: int, held: int | None) -> None:
    assert bounds(BESIDE, marks=marks, reply_held_ns=held, **QUEUE_BEFORE) == (0, 21, "held")
    assert bounds(BESIDE, reply_held_ns=40 * MS, **QUEUE_BEFORE) == (20, 21, "beside"), "it was not so long in queues"
    assert bounds(BESIDE | {"trusts_ids": False}, marks=JUMP) == (50, 50, "beside"), "hosts whose ids say nothing"


@pytest.mark.parametrize("marks", [layout.MARK_SHARED, layout.MARK_BEHIND_HELD])
def test_a_reply_that_shares_a_packet_says_nothing_of_when_the_one_before_was_done(marks: int) -> None:
    """Both waited in the broker's host, where the way is not quiet."""
    behind = {"queue_ns": 50 * MS, "before_lag_ns": LAG, "marks": marks | COVERED}
    assert bounds(FAR | {"is_quiet": False}, **behind)[1:] == (40, "held" if marks == layout.MARK_SHARED else "wide")
    quiet = (0, "reply") if marks == layout.MARK_SHARED else (40, "wide")
    assert bounds(FAR, **behind)[1:] == quiet


def test_without_timestamps_an_ack_and_a_reply_may_have_been_in_queues() -> None:
    """Where the way is not quiet: what they answer may have been there long before they came by."""
    acked = {"marks": PROMPT, "ack_time_ns": START_NS + 49 * MS, "reply_lag_ns": None}
    behind = {"marks": COVERED, "queue_ns": 49 * MS, "reply_lag_ns": None}
    for told in (acked, behind):
        assert bounds(FAR | {"is_quiet": False}, **told)[1:] == (40, "no_timestamps")
        assert bounds(FAR, **told)[1] < 3


@pytest.mark.parametrize(("lost", "side", "why"), [(3001, 0, "wide"), (3000, 0, "idle"), (3001, 1, "idle")])
def test_beside_a_request_that_was_cut_off_none_is_alone(lost: int, side: int, why: str) -> None:
    """Another connection of the host sends a large request until the capture ends; or it is a reply that is large."""
    parts, way = [part(1, seen_from="syn"), part(2, seen_from="syn")], FAR | {"is_quiet": False}
    rows = [exchange(1, 0, 50, reply_lag_ns=LAG, marks=IDLE, request_bytes=100)]
    cut = {
        "part": 2,
        "kind": PROBLEM_UNFINISHED_FRAME,
        "side": side,
        "time_ns": START_NS - 5_000 * MS,
        "bytes_lost": lost,
    }
    with dataset(parts, [way, way | {"part": 2}], exchanges=rows, problems=[cut], **offer(9)) as found:
        assert [row["broker_evidence"] for row in found.query("select broker_evidence from exchanges")] == [why]


def test_without_timestamps_a_way_must_be_quiet() -> None:
    assert bounds(BESIDE, reply_lag_ns=None) == (50, 50, "beside")
    assert bounds(BESIDE | {"is_quiet": False}, reply_lag_ns=None) == (0, 50, "no_timestamps")
    assert bounds(BESIDE | {"is_quiet": False, "broker_lag_ns": None}) == (0, 50, "no_timestamps")


def test_behind_bytes_that_were_sent_before_the_capture_nothing_is_sure() -> None:
    busy = FAR | {"is_quiet": False}
    assert bounds(busy, marks=IDLE, seen_from="midstream") == (0, 40, "held")
    assert bounds(busy, marks=IDLE, seen_from="syn") == (39.5, 40, "idle")
    assert bounds(FAR, marks=IDLE, seen_from="midstream") == (39.5, 40, "idle")


def test_a_clock_that_contradicts_the_packets_is_not_believed() -> None:
    assert bounds(BESIDE, reply_lag_ns=(LAG + 9_000 * MS) % RANGE) == (0, 50, "clock")


def test_brokers_before_2_0_hold_a_throttled_reply() -> None:
    assert bounds(BESIDE, offered=5, throttle_time_ms=30, api_version=6) == (20, 20, "beside")
    assert bounds(BESIDE, offered=9, throttle_time_ms=30) == (50, 50, "beside")


def test_a_large_reply_is_not_done_before_it_has_left() -> None:
    row = {"response_bytes": 1_000_000, "response_end_ns": START_NS + 90 * MS, "reply_end_lag_ns": LAG}
    assert bounds(BESIDE, **row) == (50, 90, "large")


def test_after_a_lost_reply_nothing_is_known() -> None:
    told = asked(BESIDE, queue_ns=None, muted_ns=None)
    assert told == {"broker_min_ns": None, "broker_ns": None, "broker_max_ns": None, "broker_evidence": None}


WAYS = (BESIDE, FAR, FAR | {"is_quiet": False})
KNOWN = {"beside", "idle", "ack", "reply", "held", "wide", "no_timestamps", "clock"}
CASES = list(product(WAYS, (0, REPEAT, IDLE, PROMPT | IDLE, COVERED), (0, 3, 40, 4_000, None), (0, 20, 50)))


@pytest.mark.parametrize("offered", [5, 9])
def test_parts_add_up_to_the_latency(offered: int) -> None:
    """Of every case, each on a connection between hosts of its own."""
    parts, ways, rows, reported = [], [], [], []
    for number, (way, marks, lag, queue) in enumerate(CASES, 1):
        host = f"10.{number // 250}.{number % 250}"
        parts.append(part(number, client_address=f"{host}.1", broker_address=f"{host}.2"))
        ways.append(way | {"part": number})
        told_lag = None if lag is None else (LAG + lag * MS) % RANGE
        row = {"part": number, "marks": marks, "reply_lag_ns": told_lag, "queue_ns": queue * MS}
        rows.append(exchange(number, 0, 50, throttle_time_ms=7, **row))
        reported.append({"exchange": number, "part": number, "body": 1, "time_ns": START_NS})
    with dataset(parts, ways, exchanges=rows, **offer(offered) | {"reported": reported}) as found:
        told = found.query("select * from exchange_parts")
    assert len(told) == len(CASES)
    assert {row["broker_evidence"] for row in told} == KNOWN
    names = ("throttle_part_ns", "broker_part_ns", "queue_part_ns", "network_ns", "unknown_ns")
    for row in told:
        found_parts = [row[name] for name in names]
        assert min(found_parts) >= 0 and sum(found_parts) == row["latency_ns"] == 50 * MS
        assert row["unknown_ns"] == 0 or row["broker_ns"] is None
        assert row["network_ns"] == 0 or row["broker_ns"] is not None
