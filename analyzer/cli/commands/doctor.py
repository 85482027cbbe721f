"""`kanalyze doctor`: what does this installation have, and what is missing?"""

from __future__ import annotations

from shutil import get_terminal_size
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from analyzer.cli.outcome import FINE, UNREADABLE

if TYPE_CHECKING:
    from analyzer.cli.environment_checks import Check

MARKS = {"ok": "ok    ", "note": "note  ", "broken": "BROKEN"}
NAME_WIDTH = 17


def lines(check: Check, columns: int) -> list[str]:
    """What was found, and below it what to do, beside the name; paths and versions are never broken."""
    beside = " " * (len(MARKS["ok"]) + 2 + NAME_WIDTH)
    texts = (f"{MARKS[check.state]}  {check.name:<{NAME_WIDTH}}{check.found}", beside + check.advice)
    return [
        line
        for text in texts
        for line in wrap(text, columns, subsequent_indent=beside, break_long_words=False, break_on_hyphens=False)
    ]


@click.command(short_help="Look at this installation: what it has, what is missing.")
@click.option("--format", "form", type=click.Choice(("table", "json")), default="table", help="Default: table.")
def command(form: str) -> int:
    """Look at this installation: whether the stages are compiled, versions of libraries, codecs, Java for Spark, variables
    of object storage (never their values), memory, and space for temporary files.

    Nothing is contacted. A bug report is easier to answer with this beside it. The exit code is 2 when something that every
    run needs does not work.
    """
    from analyzer.cli import environment_checks

    found = list(environment_checks.check_all())
    if form == "json":
        import json

        click.echo(json.dumps({"checks": [check._asdict() for check in found]}, indent=2))
    else:
        for check in found:
            click.echo("\n".join(lines(check, get_terminal_size().columns)))
    return UNREADABLE if any(check.state == environment_checks.BROKEN for check in found) else FINE
