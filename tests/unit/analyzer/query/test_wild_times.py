"""Times of a capture may be any: sums that do not fit end no metric and no rule."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_capture import Conversation, pcap, reply, request
from made_rows import START_NS, connection, dataset, exchange

from analyzer.base.options import Options
from analyzer.query import metrics
from analyzer.query.dataset import Dataset
from analyzer.query.findings import rules
from analyzer.run import local

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
