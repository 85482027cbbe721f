"""`kanalyze zones`: which bytes cross zones?"""

from __future__ import annotations

import click

from analyzer.base.settings import Settings
from analyzer.cli.verb_parts import part_command

command = part_command(
    "zones",
    "Which bytes cross zones, and what they cost.",
    """Print the bytes on the wire of Kafka's connections by the zones of both ends: within a zone, across zones, unknown.

    The zone of a broker is its rack in Metadata (broker.rack), that of a client its client.rack; --names gives both where they
    name none. Bytes are those of IP packets, headers, ACKs and retransmissions included. --part clients says whose they are,
    --part topics which topics have records that cross zones (bytes of records alone). Only connections that are known to be
    Kafka count, and only what the capture holds: a capture at one broker has no traffic of the others.

    --price is what a GB (10^9 bytes) costs that crosses zones; where both sides are billed, their sum.""",
    options=(
        click.option(
            "--price",
            type=click.FloatRange(min=0, max=1e6),
            metavar="AMOUNT",
            help="What a GB that crosses zones costs.",
        ),
    ),
    settings=lambda own: Settings(price=own["price"]),
    tables=("exchanges", "entries"),
)
