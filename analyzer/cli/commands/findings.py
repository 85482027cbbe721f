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

    `costs` says how much of the accounts of `kanalyze impact` a finding explains. Each request and each connection is given to
    one finding; others may be the cause of some of them as well. The table at the end shows what no finding explains.

    Severity high is worth being woken up for, medium deserves a look, info is good to know.
    """
    # Filters may name any column, and accounts of impact are made of all.
    with opened(
        inputs, replace(options, seldom=bool(options.filters) or form != "csv"), None, asks="findings", form=form
    ) as dataset:
        if form == "table":
            from analyzer.cli.screen import screen
            from analyzer.report.terminal import print_section

            with screen() as console:
                print_section(dataset, "findings", console, limit or None)
        else:
            from analyzer.query.impact_causes import shares
            from analyzer.query.run_findings import find_all
            from analyzer.report.finding_rows import write

            found = find_all(dataset)
            told = shares(dataset, found) if found and form != "csv" else ()
            write(found[: limit or None], told, form, sys.stdout)
        return exit_code(dataset)
