"""`kanalyze throttle`: who is throttled?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "throttle",
    "throttle",
    "Who is throttled, and by how much.",
    """Print throttling by client and API, as the replies tell it.""",
)
