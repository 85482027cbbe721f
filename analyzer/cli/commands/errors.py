"""`kanalyze errors`: what fails, and for whom?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "errors",
    "errors",
    "Error codes by API, topic and client.",
    """Print error codes, at every depth of the replies, by API, topic and client.

    Those that belong to normal operation are marked and counted apart; so are those that brokers tell each other.
    "burst" is the most of them within one second. A retriable error is one that a client may simply try again.""",
    by=("api", "topic", "partition", "group", "client", "principal", "broker"),
    over_time="errors",
)
