"""`kanalyze readiness`: will these clients work with Kafka 4?"""

from __future__ import annotations

import click

from analyzer.cli.verb_parts import part_command
from analyzer.query.questions import NEWEST_RELEASE, RELEASES

command = part_command(
    "readiness",
    "Will these clients work with Kafka 4?",
    """Judge whether the clients will work with a release of Kafka, by the requests that they sent.

    already failing: the broker already refuses a version. breaks: a version is removed, although newer ones were offered or
    the client never asks. undetermined: a version is removed, and the broker offered nothing newer. fine as far as seen:
    what is in this capture works. The other formats have a row per client, API and version.""",
    tables=("exchanges", "errors"),
    options=(
        click.option(
            "--broker-version",
            "release",
            type=click.Choice(RELEASES),
            default=NEWEST_RELEASE,
            metavar="RELEASE",
            help=f"Release to judge for: {', '.join(RELEASES)}.  [default: {NEWEST_RELEASE}]",
        ),
    ),
    wanted=lambda own: {"release": [own["release"]]},
)
