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
    """Tell what changed from BEFORE to AFTER, two captures, directories of captures or exported datasets: what got slower
    or faster, which errors are new, which clients came and went, which findings appeared.

    A difference is told when it is more than noise: at a level of doubt of 0.1 %, and for latency when it moved by a fifth
    and 0.1 ms or more, of at least 30 requests on both sides. Waits by design are left out. The table shows what changed,
    the other formats everything.
    """
    with opened((before,), options, None) as old, opened((after,), options, None) as new:
        from analyzer.compare.captures import compare

        found = compare(old, new)
        if form == "table":
            from analyzer.cli.screen import screen
            from analyzer.report.comparison import render
            from analyzer.report.terminal import print_lines

            with screen() as console:
                print_lines(console, lambda width: render(found, width))
        else:
            from analyzer.report.comparison import write

            write(found, form, sys.stdout)
        return max(exit_code(old), exit_code(new))
