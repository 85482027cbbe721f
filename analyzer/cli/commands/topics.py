"""`kanalyze topics`: who produces to, who consumes from each topic?"""

from __future__ import annotations

from analyzer.cli.verb_parts import part_command

command = part_command(
    "topics",
    "Who writes and who reads each topic, lag, delivery time.",
    """Print the topics with their producers and consumers, rates, batch sizes, codecs and lag.

    With --topic the table shows everything about those topics: producers, consumers, how long records take from one to
    the other, partitions, lag. --part prints one of these tables for all topics, and selects the rows of the other
    formats. Fetch sessions are reconstructed, and topic ids are shown as names where the capture has them.""",
    tables=(
        "exchanges",
        "errors",
        "entries",
        "batches",
        "fetch_positions",
        "group_events",
        "assignments",
        "transaction_events",
    ),
    whole=lambda options, _: bool(options.filters.topics),
)
