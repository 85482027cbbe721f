"""`kanalyze transactions`: how do transactions and idempotent producers fare?"""

from __future__ import annotations

from analyzer.cli.verb_parts import part_command

command = part_command(
    "transactions",
    "Transactions and idempotent producers.",
    """Print transactions by transactional id: begun, committed, aborted, open, how long they last, fenced producers; below
    them idempotent producers with resent batches and gaps in their sequence numbers.

    --part prints one table (list: every transaction), and selects the rows of the other formats.""",
    tables=("exchanges", "errors", "batches", "transaction_events"),
    whole=lambda _options, _wanted: True,
)
