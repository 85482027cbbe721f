"""`kanalyze diff`: what changed between two captures."""

from __future__ import annotations

import sys

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, exit_code, format_option, opened


@click.command(short_help="What changed between two captures.")
@click.argument("before")
@click.argument("after")
@format_option("table", "json", "jsonl", "csv")
@capture_options()
def command(before: str, after: str, options: Options, form: str) -> int:
    """Print what changed from BEFORE to AFTER, two captures, directories of captures or exported datasets: what got slower
    or faster, which errors are new, which clients appeared or disappeared, which findings are new.

    A difference is reported when it is statistically significant (p < 0.1 %); a latency must also have changed by a fifth
    and by 0.1 ms or more, with at least 30 requests on both sides. Waits by design are left out. The table shows what
    changed, the other formats everything.
    """
    with (
        opened((before,), options, None, asks="everything", form=form, name="BEFORE") as old,
        opened((after,), options, None, asks="everything", form=form, name="AFTER") as new,
    ):
        from analyzer.compare.captures import compare

        found = compare(old, new)
        if form == "table":
            from analyzer.cli.screen import screen
            from analyzer.report.comparison import render
            from analyzer.report.terminal import print_lines

            with screen() as console:
                print_lines(console, lambda width: render(found, width))
        else:
            from analyzer.query.readability import readability
            from analyzer.report.comparison import write
            from analyzer.report.readability_words import as_object

            sides = {"before": as_object(readability(old)), "after": as_object(readability(new))}
            write(found, form, sys.stdout, sides)
        return max(exit_code(old), exit_code(new))
