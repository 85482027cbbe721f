"""`kanalyze throttle`: who is throttled?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "throttle",
    "throttle",
    "Who is throttled, and by how much.",
    """Print throttling by client and API: what the replies tell, and what it did to the connections.

    "told" adds up the throttle times of the replies. Connections are throttled side by side, so this sum may exceed the
    time that passed. "muted" is time that passed: how long the client's worst connection was mute (overlaps counted
    once), and which part of its life that is.

    While a connection is mute the broker reads nothing from it. "held" is how long requests waited for that to end; "obeyed" how
    long clients kept silent themselves and went on when it ended; "sent inside" counts requests that were sent nevertheless.

    Brokers older than 2.0 do not mute: they hold the throttled reply back, so the throttle is part of the latency
    ("delayed").""",
    by=("api", "client", "principal", "broker"),
    over_time="throttle_over_time",
    tables=("exchanges", "errors", "mutes"),
)
