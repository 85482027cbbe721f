"""`kanalyze connections`: how did the connections fare?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "connections",
    "connections",
    "All connections, and those that stand out.",
    """Print ways between clients and brokers that stand out (lines that were dead, links that are full, lost packets, windows
    that were waited for), connections that do (never answered, unanswered requests, lost bytes, retransmissions, refused),
    connections whose content is no Kafka or is not decrypted, connections without content (health checks, probes) by host,
    broker and end, then all Kafka connections.

    "in flight" is the most requests that waited for a reply at the same time. "idle" is how long there was no traffic before
    the connection ended.""",
    tables=("exchanges", "errors", "logins"),
)
