"""`kanalyze report`: what is going on in these captures."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, captures, exit_code, format_option, opened


@click.command(short_help="Print an overview: the default command.")
@captures
@format_option("table", "json", "jsonl")
@capture_options()
def command(inputs: tuple[str, ...], options: Options, form: str) -> int:
    """Print an overview: coverage, findings, latency by API, throttling, errors, connections that stand out.

    `kanalyze CAPTURE...` does the same. From a pipe (`tcpdump ... | kanalyze -`) Ctrl-C ends the capture, and the report of what
    was captured follows; a second Ctrl-C stops.
    """
    # Filters may name any column, and the other forms show them.
    seldom = form != "table" or bool(options.filters)
    with opened(inputs, replace(options, seldom=seldom), None, asks="everything", form=form) as dataset:
        if form == "table":
            from analyzer.report.facts import facts_of_report

            with facts_of_report(dataset) as facts:
                # Loading what draws takes time, in which the engine already answers questions.
                from analyzer.cli.screen import screen
                from analyzer.report.terminal import print_report

                with screen() as console:
                    print_report(facts, console)
        else:
            from analyzer.report.json_report import write_metrics

            write_metrics(dataset, form, sys.stdout)
        return exit_code(dataset)
