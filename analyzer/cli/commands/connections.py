"""`kanalyze connections`: how did the connections fare?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "connections",
    "connections",
    "How each connection fared; what stands out.",
    """Print what stands out (never answered, cut off, bytes lost, sent again, refused), then all Kafka connections.

    "in flight" is the most requests that waited for a reply at once. "idle" is how long a connection was silent before it
    ended.""",
    tables=("exchanges", "errors", "logins"),
)
