"""`kanalyze latency`: what is slow?"""

from __future__ import annotations

from analyzer.base.settings import NAMES
from analyzer.cli.sections import section_command

command = section_command(
    "latency",
    "latency",
    "What is slow: the client, the network or the broker?",
    """Print latency by API and kind of wait: last byte of the request to first byte of the reply.

    What costs most (p99 x count) comes first. Waits by design (long polls, joins) come last, since they say nothing about the
    broker.

    "Where the time goes" is the time from a request's first byte to its reply's last byte, over all requests of the line:
    sending, queue (behind earlier requests of the same connection), throttle (until the end of a mute), broker (its own
    time), network (what is left of the latency: the round trip, where the capture saw it), receiving. It is "-" where the
    parts of most requests are not known.

    --of service gives percentiles of the broker's own time, --of broker only of requests for which packets prove it,
    --of total of the time from first to last byte. Percentiles are within 0.55 % of the exact values.""",
    by=("api", "version", "error", "client", "app", "principal", "broker", "topic", "group", "connection", *NAMES),
    over_time="latency",
    measures=True,
    sorts="latency",
    tables=("exchanges", "errors", "entries"),
    logs=True,
)
