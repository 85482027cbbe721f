"""`kanalyze latency`: what is slow?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "latency",
    "latency",
    "Latency by API and kind of wait.",
    """Print latency by API and kind of wait: last byte of the request to first byte of the reply.

    Waits by design (long polls, joins) stand apart, since they say nothing about the broker.""",
)
