"""Times of a capture may be any: sums that do not fit end no metric and no rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_capture import Conversation, pcap, reply, request
from made_rows import SECOND_NS, START_NS, connection, dataset, exchange

from analyzer.base.options import Options
from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.query.findings import rules
from analyzer.run import local
from dissectors import layout

YEAR_US = 365 * 86_400_000_000
METRICS = sorted(path.stem for path in metrics.FOLDER.glob("*.sql"))


def ask_all(found: Dataset) -> None:
    """All metrics, and all rules without the conditions that go before them."""
    for name in METRICS:
        found.metric(name)
    for rule in rules():
        found.query(f"SELECT * FROM ({rule.sql}\n) AS found ORDER BY weight DESC")


@pytest.mark.slow
def test_latencies_of_130_years(tmp_path: Path) -> None:
    """40 requests one behind the other, answered when the clock has jumped: sums of durations would not fit, and none is known."""
    conversation = Conversation(start_us=10_000_000).shake()
    for number in range(40):
        conversation.frame(0, request(number))
    conversation.clock = 130 * YEAR_US
    for number in range(40):
        conversation.frame(1, reply(number))
    path = tmp_path / "jumped.pcap"
    path.write_bytes(pcap(conversation.packets))
    with local.open_dataset([str(path)], Options()) as found:
        ask_all(found)
        (row,) = found.metric("latency")
        assert (row["answered"], row["p50_ns"], row["parts_queue_ns"]) == (0, None, None)
        (total,) = found.query("SELECT count(*) AS rows FROM exchanges WHERE status = 'answered' AND total_ns IS NULL")
        assert total["rows"] == 40


@pytest.mark.slow
def test_durations_of_146_years(tmp_path: Path) -> None:
    """Half of what 64 bits hold, in each duration of each row: two of them have no sum."""
    long_ns = 2**62
    kinds = [("Metadata", 3, None), ("Produce", 0, "produce_acks_1"), ("Produce", 0, "produce_acks_all")]
    rows = [
        exchange(
            30 * place + number,
            api_name=name,
            api_key=key,
            kind=kind,
            latency_ns=long_ns,
            broker_ns=long_ns // (6 if kind == "produce_acks_1" else 1),
            total_ns=long_ns,
            receive_ns=long_ns,
            response_bytes=500_000,
            connection=number % 4,
            throttle_time_ms=2**31 - 1 if name == "Metadata" else 0,
            at_ns=START_NS + number,
        )
        for place, (name, key, kind) in enumerate(kinds)
        for number in range(30)
    ]
    lasting = {"last_time_ns": START_NS + long_ns, "rtt_ns": long_ns, "mss": 1460, "closed_by": "client"}
    windows = dict.fromkeys(("client_full_windows", "broker_full_windows"), 20)
    windows |= dict.fromkeys(("client_full_window_ns", "broker_full_window_ns"), long_ns)
    scales = [{"client_wscale": 7, "broker_wscale": 7}, {"client_wscale": None, "broker_wscale": None}]
    connections = [connection(number, **lasting, **windows, **scales[number // 2]) for number in range(4)]
    entries = [
        {"exchange": row["exchange"], "connection": row["connection"], "side": "request", "topic": "t", "partition": 0}
        for row in rows
    ]
    with dataset(tmp_path, {"connections": connections, "exchanges": rows, "entries": entries}) as found:
        ask_all(found)
        asked = {rule.name: found.query(rule.sql) for rule in rules()}
    for name in ("small_receive_buffer", "window_scale_lost"):
        assert asked[name] and {row["waited_ns"] for row in asked[name]} == {None}, name
    assert asked["slow_replication"]
    # Waits under way together count once.
    assert long_ns <= asked["slow_requests"][0]["waited_ns"] < 2 * long_ns


@pytest.mark.slow
def test_throttle_times_of_24_days(tmp_path: Path) -> None:
    """5,000 replies of a broker that waits before it answers; each claims the longest time there is."""
    longest_ms = 2**31 - 1
    rows = [exchange(number, throttle_time_ms=longest_ms, latency_ns=1_000_000) for number in range(5_000)]
    mutes = [
        {
            "exchange": row["exchange"],
            "connection": 1,
            "begin_ns": START_NS,
            "end_ns": START_NS + 1,
            "throttle_time_ms": longest_ms,
            "applies": False,
        }
        for row in rows
    ]
    with dataset(tmp_path, {"connections": [connection(1)], "exchanges": rows, "mutes": mutes}) as found:
        ask_all(found)
        (rule,) = (rule for rule in rules() if rule.name == "throttled")
        (row,) = found.query(rule.sql)
        # What does not fit 64 bits is not known, and the sentence leaves it out.
        assert (row["replies"], row["muted_share"], row["told_ns"]) == (5_000, 1.0, None)


@pytest.mark.slow
def test_clients_that_escape_throttles_at_the_end_of_time(tmp_path: Path) -> None:
    """A throttle time goes beyond the last moment that there is, and their sum beyond 64 bits."""
    latest = layout.LATEST_TIME
    rows = [
        exchange(number, connection=number % 3, throttle_time_ms=2**31 - 1, at_ns=latest - SECOND_NS + number)
        for number in range(5_000)
    ]
    connections = [
        connection(number, closed_by="client", first_time_ns=latest - SECOND_NS + begun, last_time_ns=latest - ended)
        for number, (begun, ended) in enumerate([(0, 900), (SECOND_NS - 500, 400), (SECOND_NS - 100, 0)])
    ]
    with dataset(tmp_path, {"connections": connections, "exchanges": rows}) as found:
        ask_all(found)
        (rule,) = (rule for rule in rules() if rule.name == "throttle_escaped")
        (row,) = found.query(rule.sql)
        assert (row["replies"], row["told_ns"]) == (5_000, None)
