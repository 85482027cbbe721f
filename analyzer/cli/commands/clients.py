"""`kanalyze clients`: who is there?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "clients",
    "clients",
    "The clients, and what each of them does.",
    """Print the clients: who they are, what they ask for, how they fare.""",
)
