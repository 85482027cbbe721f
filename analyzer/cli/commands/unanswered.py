"""`kanalyze unanswered`: what was never answered?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "unanswered",
    "unanswered",
    "Requests without a reply.",
    """Print requests without a reply: pending, unanswered when the connection ended, or abandoned by the client.""",
)
