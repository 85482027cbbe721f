"""`kanalyze groups`: how are the groups doing, and who made them rebalance?"""

from __future__ import annotations

import click

from analyzer.cli.verb_parts import part_command

command = part_command(
    "groups",
    "Groups: members, rebalances with their causes, commits.",
    """Print the groups, classic, consumer (KIP-848), share and streams: state, members, rebalances, commits, errors, lag.

    With --group, members, rebalances (who started each, why, how long it took, how long nothing was consumed) and the
    timeline of that group follow; `kanalyze show` takes the ids of exchanges. --part prints one of these tables for all
    groups, and selects the rows of the other formats.""",
    tables=("exchanges", "errors", "entries", "fetch_positions", "group_events", "assignments"),
    options=(click.option("--group", "groups", multiple=True, metavar="GLOB", help="Only these groups."),),
    wanted=lambda own: {"group_id": own["groups"]},
    whole=lambda _, wanted: bool(wanted["group_id"]),
)
