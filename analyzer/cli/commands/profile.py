"""`kanalyze profile`: on what do clients spend the time they wait?"""

from __future__ import annotations

from analyzer.base.settings import NAMES
from analyzer.cli.sections import section_command

command = section_command(
    "profile",
    "profile",
    "Request classes, by the time that clients waited.",
    """Print request classes, API x client x topic or group, ranked by the time that clients waited for them.

    "time" is the sum of latencies (last byte of the request to first byte of the reply) and of what sending took ("sending": first
    to last byte of the request), without waits by design: what clients would save if these requests took no time; "share" is its
    share of all such time. Concurrent requests are counted separately, so it may exceed the duration of the capture. Waits by
    design follow at the end, without a time.

    "V/M" is variance to mean of the latency in seconds: near 0 for a class that always takes the same, large for one that is
    fast most of the time and slow at times.""",
    by=("api", "version", "client", "app", "principal", "broker", "topic", "group", "subject", "connection", *NAMES),
    by_default=("api", "client", "subject"),
    tables=("exchanges", "errors", "entries"),
    logs=True,
)
