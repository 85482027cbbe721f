"""`kanalyze profile`: on what do clients spend the time they wait?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "profile",
    "profile",
    "Classes of requests, the costliest first.",
    """Print classes of requests, API x client x topic or group, ranked by the time that clients waited for them.

    "time" adds up latencies (request's last byte to reply's first), waits by design left out, so it is what clients
    would win if the class cost nothing; "share" is its part of all such time. Requests that wait side by side all count,
    so it may exceed the length of the capture. Waits by design follow at the end, without a time.

    "V/M" is variance to mean of the latency in seconds: near 0 for a class that always takes the same, large for one that is
    fast most of the time and slow at times.""",
    by=("api", "version", "client", "principal", "broker", "topic", "group", "subject", "connection"),
    by_default=("api", "client", "subject"),
    tables=("exchanges", "errors", "entries"),
)
