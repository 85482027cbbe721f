"""Verbs that are one section of the report, in full."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from analyzer.base.options import Options
from analyzer.base.settings import COST, MEASURES, MOST_SLOTS, NAMES, Settings
from analyzer.cli.common import (
    REPORT_TABLES,
    capture_options,
    captures,
    exit_code,
    format_option,
    limit_option,
    opened,
    sort_option,
)
from analyzer.cli.outcome import UNREADABLE, say
from analyzer.cli.values import Span

if TYPE_CHECKING:
    from analyzer.query.dataset import Dataset

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def section_command(
    section: str,
    metric: str,
    short: str,
    text: str,
    *,
    by: Sequence[str] = (),
    by_default: tuple[str, ...] = (),
    over_time: str | None = None,
    measures: bool = False,
    sorts: str = "",
    tables: Collection[str] = REPORT_TABLES,
    with_entries: Collection[str] = (),
    logs: bool = False,
) -> click.Command:
    """A verb that prints `section` of the report as a table, or the rows of `metric` in the other formats.

    `by` are the dimensions that `--by` takes, `by_default` what the metric is given without it; `over_time` is the metric
    that answers `--every` (none: no such option); with `measures` there is `--of`; `sorts`: whose words of SORTS `--sort` takes.
    `tables` are the large tables that it reads, `entries` besides when it groups by one of `with_entries`; with `logs` there is
    `--part log`.
    """

    @click.command(short_help=short, help=text)
    @captures
    @_grouping(by, over_time is not None, measures, sorts)
    @_log_part(logs)
    @limit_option
    @format_option("table", "json", "jsonl", "csv")
    @capture_options()
    def command(
        inputs: tuple[str, ...],
        options: Options,
        limit: int | None,
        form: str,
        by: tuple[str, ...] = (),
        every_ns: int | None = None,
        measure: str = "latency",
        sort: str = COST,
        part: str | None = None,
    ) -> int:
        if len(set(by) & set(NAMES)) > 1:
            raise click.UsageError(f"--by takes one of {', '.join(NAMES)} at a time")
        if part and (by or every_ns or measure != "latency" or sort != COST):
            raise click.UsageError("--part log is by API and broker: it takes no --by, --every, --of or --sort")
        settings = Settings(tuple(dict.fromkeys(by)) or by_default, every_ns, measure, sort=sort)
        from analyzer.cli.table import TABLE_ROWS

        shown = TABLE_ROWS if limit is None else limit
        needed = {*tables, *(("entries",) if set(settings.by) & set(with_entries) else ())}
        with opened(inputs, options, tuple(sorted(needed)), asks=section, form=form) as dataset:
            slots = _slots(dataset, every_ns) if every_ns else 1
            if slots > MOST_SLOTS:
                say(
                    f"--every would give {slots:,} slots, at most {MOST_SLOTS:,} are allowed: use a longer slot, "
                    "or --from and --to"
                )
                return UNREADABLE
            # A table over time shows what comes first in all of its slots.
            most = max(shown // slots, 1) if every_ns and shown and form == "table" and over_time == "latency" else None
            dataset.choose(replace(settings, most=most))
            if form == "table":
                from analyzer.cli.screen import screen
                from analyzer.report.facts import Facts
                from analyzer.report.terminal import print_part, print_section

                with screen() as console:
                    if part:
                        print_part(Facts(dataset), section, part, console, shown or None)
                    else:
                        print_section(dataset, section, console, shown or None)
            else:
                from analyzer.cli.row_output import print_rows
                from analyzer.query.metrics import text as sql
                from analyzer.query.questions import NO_LOG, OF_LOG

                if part and not dataset.is_logged:
                    say(NO_LOG)
                asked = OF_LOG if part else over_time if every_ns and over_time else metric
                print_rows(dataset, sql(asked), form, limit)
            return exit_code(dataset)

    return command


def _grouping(by: Sequence[str], over_time: bool, measures: bool, sorts: str) -> Decorator:
    """`--by`, `--every`, `--of` and `--sort`, where the verb has them."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if sorts:
            function = sort_option(sorts)(function)
        if measures:
            text = f"Percentiles of: {', '.join(MEASURES[:-1])} or {MEASURES[-1]}.  [default: {MEASURES[0]}]"
            function = click.option(
                "--of", "measure", type=click.Choice(MEASURES), default=MEASURES[0], metavar="TIME", help=text
            )(function)
        if over_time:
            function = click.option(
                "--every",
                "every_ns",
                type=Span(),
                metavar="SPAN",
                help="Show values over time, in slots of 500ms, 10s, 1m ...",
            )(function)
        if by:
            text = f"Group by: {', '.join(by[:-1])} or {by[-1]}. Repeatable."
            function = click.option("--by", multiple=True, type=click.Choice(by), metavar="WHAT", help=text)(function)
        return function

    return decorate


def _log_part(logs: bool) -> Decorator:
    """`--part log`, where the verb has it."""
    if not logs:
        return lambda function: function
    text = "log: only where the brokers' time went by --request-log."
    return click.option("--part", type=click.Choice(("log",)), metavar="PART", help=text)


def _slots(dataset: Dataset, every_ns: int) -> int:
    """How many slots of this length the capture has."""
    (row,) = dataset.query("SELECT * FROM time_range")
    return 1 if row["first_time_ns"] is None else int(row["last_time_ns"] - row["first_time_ns"]) // every_ns + 1
