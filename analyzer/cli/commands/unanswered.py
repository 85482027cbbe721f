"""`kanalyze unanswered`: what was never answered?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "unanswered",
    "unanswered",
    "Requests without a reply.",
    """Print requests without a reply: still pending, cut off, or given up.""",
)
