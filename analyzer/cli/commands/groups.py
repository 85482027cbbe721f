"""`kanalyze groups`: how are the groups doing, and who made them rebalance?"""

from __future__ import annotations

import click

from analyzer.cli.verb_parts import part_command

command = part_command(
    "groups",
    {"groups": "groups", "rebalances": "rebalances", "members": "group_members", "timeline": "group_timeline"},
    "Groups: members, rebalances with their causes, commits.",
    """Print the groups, classic, consumer (KIP-848), share and streams: state, members, rebalances, commits, errors, lag.

    With --group the table goes on with members, rebalances (who started each, why, how long it took, how long nobody
    read) and the timeline of that group; EXCHANGE is what `kanalyze show` takes. --part gives one of these tables for all
    groups, and says which rows the other formats hold.""",
    tables=("exchanges", "errors", "entries", "fetch_positions", "group_events", "assignments"),
    options=(click.option("--group", "groups", multiple=True, metavar="GLOB", help="Only these groups."),),
    wanted=lambda own: {"group_id": own["groups"]},
    whole=lambda _, wanted: bool(wanted["group_id"]),
)
