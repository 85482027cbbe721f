"""`kanalyze throttle`: who is throttled?"""

from __future__ import annotations

from analyzer.base.settings import NAMES
from analyzer.cli.sections import section_command

command = section_command(
    "throttle",
    "throttle",
    "Who is throttled, and by how much.",
    """Print throttling by client and API: the throttle times in replies, and their effect on the connections.

    "throttle time" is the sum of throttle_time_ms in replies. Connections are throttled in parallel, so it may exceed the
    elapsed time. "muted" is elapsed time: how long the client's worst connection was muted (overlaps counted once), and its
    share of that connection's lifetime.

    While a connection is muted the broker reads nothing from it. "waited" is how long requests waited for the mute to end;
    "paused" how long clients sent nothing by themselves and resumed when it ended; "sent while muted" counts requests that
    were sent anyway.

    Brokers older than 2.0 do not mute: they delay the throttled reply, so the throttle time is part of the latency
    ("delayed").""",
    by=("api", "client", "app", "principal", "broker", *NAMES),
    over_time="throttle_over_time",
    sorts="throttle",
    tables=("exchanges", "errors", "mutes"),
)
