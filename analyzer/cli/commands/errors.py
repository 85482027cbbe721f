"""`kanalyze errors`: what fails, and for whom?"""

from __future__ import annotations

from analyzer.base.settings import NAMES
from analyzer.cli.sections import section_command

command = section_command(
    "errors",
    "errors",
    "Error codes by API, topic and client.",
    """Print error codes, at every level of the replies, by API, topic and client.

    Codes of normal operation are marked and counted separately; so are those between brokers. "burst" is the most errors
    within one second. An error is retriable when the client may simply send the request again.""",
    by=("api", "topic", "partition", "group", "client", "app", "principal", "broker", *NAMES),
    over_time="errors",
    sorts="errors",
)
