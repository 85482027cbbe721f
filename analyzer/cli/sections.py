"""Verbs that are one section of the report, in full."""

from __future__ import annotations

import click

from analyzer.cli.common import capture_options, captures, exit_code, format_option, limit_option, opened
from analyzer.options import Options


def section_command(section: str, metric: str, short: str, text: str) -> click.Command:
    """A verb that prints `section` of the report as a table, or the rows of `metric` in the other formats."""

    @click.command(short_help=short, help=text)
    @captures
    @limit_option
    @format_option("table", "json", "jsonl", "csv")
    @capture_options()
    def command(inputs: tuple[str, ...], options: Options, limit: int | None, form: str) -> int:
        with opened(inputs, options) as dataset:
            if form == "table":
                from analyzer.cli.screen import screen
                from analyzer.report.terminal import print_section

                with screen() as console:
                    print_section(dataset, section, console, limit or None)
            else:
                from analyzer.cli.rows import print_rows
                from analyzer.metrics import text as sql

                print_rows(dataset, sql(metric), form, limit)
            return exit_code(dataset)

    return command
