"""`kanalyze brokers`: what do the brokers ask of each other?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "brokers",
    "brokers",
    "Traffic between brokers: replication, controller.",
    """Print followers that requests with acks=all wait for, brokers that fell out of the ISR or were not at work, then the traffic
    between brokers: followers' fetches by pair of brokers, controller requests, elections.

    A follower's fetch waits for data, up to max_wait_ms: its latency alone says little. "late" is the most that a reply exceeded
    that time, which is never a wait by design. "gap" is the longest time from a reply to the follower's next fetch.""",
    by=("api", "version", "client", "broker", "topic", "connection"),
    by_default=("api", "client", "broker"),
    sorts="latency",
    tables=("exchanges", "errors", "entries", "broker_events"),
)
