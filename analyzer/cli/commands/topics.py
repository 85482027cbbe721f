"""`kanalyze topics`: who produces to, who consumes from each topic?"""

from __future__ import annotations

from analyzer.cli.verb_parts import part_command

command = part_command(
    "topics",
    {
        "topics": "topics",
        "producers": "topic_producers",
        "consumers": "topic_consumers",
        "partitions": "topic_partitions",
        "lag": "lag",
        "delivery": "delivery",
    },
    "Who writes and who reads each topic, lag, delivery time.",
    """Print the topics with their producers and consumers, rates, batch sizes, codecs and lag.

    With --topic the table shows everything about those topics: producers, consumers, how long records take from one to
    the other, partitions, lag. --part gives one of these tables for all topics, and says which rows the other formats
    hold. Fetch sessions are rebuilt, and a topic id has its name wherever any message told it.""",
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
