"""`kanalyze connections`: which connections stand out?"""

from __future__ import annotations

from analyzer.cli.sections import section_command

command = section_command(
    "connections",
    "connections_of_note",
    "Connections that stand out.",
    """Print connections that stand out: resets, gaps, retransmissions, refused or short ones.""",
)
