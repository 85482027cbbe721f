"""`kanalyze errors`: what fails, and for whom?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "errors",
    "errors",
    "Error codes by API, topic and client.",
    """Print error codes by API, topic and client; those that belong to normal operation are marked.""",
)
