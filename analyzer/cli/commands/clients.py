"""`kanalyze clients`: who is there?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "clients",
    "clients",
    "The clients, and what each of them requests.",
    """Print the clients: who they are, what they request, their errors and throttling.

    A client is an address (without port), a user, a client id and a software; brokers are not listed (`kanalyze brokers`).
    For a few clients, APIs and versions are listed too: narrow the list down with --client.""",
    sorts="clients",
    tables=("exchanges", "errors", "entries"),
)
