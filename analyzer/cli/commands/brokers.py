"""`kanalyze brokers`: what do the brokers ask of each other?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "brokers",
    "brokers",
    "What brokers ask of each other: replication, controller.",
    """Print the traffic between brokers: followers' fetches by pair of brokers, controller requests, elections.

    A follower's fetch waits for data, up to max_wait_ms: its latency alone says little. "late" is the most that a reply came
    after that time, which no follower waits for by design.""",
    by=("api", "version", "client", "broker", "topic", "connection"),
    by_default=("api", "client", "broker"),
    tables=("exchanges", "errors"),
    with_entries=("topic",),
)
