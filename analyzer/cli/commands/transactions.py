"""`kanalyze transactions`: how do transactions and idempotent producers fare?"""

from __future__ import annotations

from analyzer.cli.verb_parts import part_command

command = part_command(
    "transactions",
    {"transactions": "transactions", "list": "transaction_list", "producers": "producers"},
    "Transactions and idempotent producers.",
    """Print transactions by transactional id: begun, committed, aborted, open, how long they last, fenced producers; below
    them idempotent producers with batches sent again and gaps in their sequences.

    --part gives one table alone (list: every transaction), and says which rows the other formats hold.""",
    tables=("exchanges", "errors", "batches", "transaction_events"),
    whole=lambda _options, _wanted: True,
)
