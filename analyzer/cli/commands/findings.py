"""`kanalyze findings`: what is wrong, with evidence and what to do."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, format_option, limit_option, opened


@click.command(short_help="What is wrong, how bad, where to look.")
@captures
@limit_option
@format_option("table", "json", "jsonl", "csv")
@capture_options()
def command(inputs: tuple[str, ...], options: Options, limit: int | None, form: str) -> int:
    """Print what needs attention, the worst first: what is wrong, when, the exchanges that show it (with their packet
    numbers, for Wireshark), and what to do.

    Severity high is worth being woken up for, medium deserves a look, info is good to know.
    """
    # Filters may name any column.
    with opened(inputs, replace(options, seldom=bool(options.filters)), None, asks="findings", form=form) as dataset:
        if form == "table":
            from analyzer.cli.screen import screen
            from analyzer.report.terminal import print_section

            with screen() as console:
                print_section(dataset, "findings", console, limit or None)
        else:
            from analyzer.query.run_findings import find_all
            from analyzer.report.finding_rows import write

            write(find_all(dataset)[: limit or None], form, sys.stdout)
        return exit_code(dataset)
