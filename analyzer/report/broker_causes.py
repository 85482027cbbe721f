"""Tables of what brokers tell the controller, and of who waits for them."""

from __future__ import annotations

from analyzer.report.causes import Table
from analyzer.report.cells import clock_of, count_of, duration_of, endpoint_of, text_of
from analyzer.report.text_tables import Column

FOLLOWER_WAITS = Table(
    "waits_for_followers",
    "Produce with acks=all that waits for a follower",
    (
        (Column("follower", least=10, spare=6), text_of("follower")),
        (Column("broker", least=14, spare=4), endpoint_of("broker")),
        (Column("topic", least=10, spare=5), text_of("topic")),
        (Column("longest pause", right=True, spare=3), duration_of("pause_ns")),
        (Column("requests", right=True), count_of("requests")),
        (Column("slowest", right=True), duration_of("worst_ns")),
        (Column("p99 with acks=1", right=True, spare=2), duration_of("one_p99_ns")),
    ),
    "longest pause: in which the follower fetched nothing. requests: with acks=all that took long in these pauses, or "
    "five times the p99 with acks=1.",
)
OUT_OF_SYNC = Table(
    "out_of_sync",
    "Brokers that their leaders dropped from the ISR",
    (
        (Column("broker", least=10), text_of("follower")),
        (Column("of leader", least=10, spare=3), text_of("leader")),
        (Column("brokers", right=True, spare=4), count_of("followers")),
        (Column("of leaders", right=True, spare=5), count_of("leaders")),
        (Column("partitions", right=True), count_of("partitions")),
        (Column("topic", least=10, spare=6), text_of("topic")),
        (Column("times", right=True), count_of("times")),
        (Column("longest", right=True), duration_of("longest_ns")),
        (Column("still out", right=True, spare=2), count_of("away")),
        (Column("first", spare=1), clock_of("first_time_ns")),
    ),
    "times: of the partition that was dropped most often. longest: from there until the broker was in sync again, or the capture "
    "ended. still out: partitions for which it was so at the end. brokers: dropped by one leader, then the likelier cause.",
)
_STATES = {
    "silent": "silent: no heartbeat came; usual: the time from one to the next otherwise.",
    "starting": "starting: it asks not to be in service yet.",
    "fenced": "fenced: it is not in service, though it asks to be.",
    "pending_controlled_shutdown": "pending controlled shutdown: it asks to stop.",
}
BROKER_STATES = Table(
    "broker_states",
    "Brokers that were not at work, as they and the controller told each other",
    (
        (Column("broker", least=10), text_of("node")),
        (Column("state", least=8), lambda row: row["broker_state"].replace("_", " ")),
        (Column("lasted", right=True), duration_of("lasts_ns")),
        (Column("usual", right=True, spare=2), duration_of("usual_ns")),
        (Column("offline log dirs", right=True, spare=4), count_of("offline_log_dirs")),
        (Column("first", spare=1), clock_of("first_time_ns")),
        (Column("last", spare=3), clock_of("last_time_ns")),
    ),
    "lasted: from the first sign to the last.",
    lambda row: _STATES.get(row["broker_state"], ""),
)
