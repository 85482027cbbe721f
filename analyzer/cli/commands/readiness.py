"""`kanalyze readiness`: will these clients work with Kafka 4?"""

from __future__ import annotations

import click

from analyzer.cli.verb_parts import part_command

RELEASES = ("3.9", "4.0.0", "4.0.1", "4.1", "4.2", "4.3")

command = part_command(
    "readiness",
    {"clients": "readiness", "versions": "readiness"},
    "Will these clients work with Kafka 4?",
    """Judge whether the clients will work with a release of Kafka, by the requests that they sent.

    already failing: the broker refuses a version now. breaks: a version that is gone, though newer ones were offered or the
    client never asks. undetermined: a version that is gone, and the broker had nothing newer to offer. fine as far as seen:
    what is in this capture works. The other formats hold a row per client, API and version.""",
    tables=("exchanges", "errors"),
    options=(
        click.option(
            "--broker-version",
            "release",
            type=click.Choice(RELEASES),
            default=RELEASES[-1],
            metavar="RELEASE",
            help=f"Release to judge for: {', '.join(RELEASES)}.  [default: {RELEASES[-1]}]",
        ),
    ),
    wanted=lambda own: {"release": [own["release"]]},
)
