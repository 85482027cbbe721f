"""`kanalyze diff`: what changed between two captures."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from analyzer.base.options import Options
from analyzer.cli.common import capture_options, exit_code, format_option, opened
from analyzer.cli.values import TimeRange


@click.command(short_help="What changed between two captures.")
@click.argument("inputs", nargs=-1, required=True, metavar="BEFORE [AFTER]")
@click.option("--before", type=TimeRange(), metavar="FROM..TO", help="Of one dataset: the time that is BEFORE (UTC).")
@click.option("--after", type=TimeRange(), metavar="FROM..TO", help="Of one dataset: the time that is AFTER (UTC).")
@click.option(
    "--part",
    type=click.Choice(("latency", "errors", "clients", "findings")),
    metavar="PART",
    help="Compare this alone: latency, errors, clients or findings.",
)
@format_option("table", "json", "jsonl", "csv", "html")
@capture_options()
def command(
    inputs: tuple[str, ...],
    options: Options,
    before: tuple[int, int] | None,
    after: tuple[int, int] | None,
    part: str | None,
    form: str,
) -> int:
    """Print what changed from BEFORE to AFTER, two captures, directories of captures or exported datasets: what got slower
    or faster, which errors are new, which clients appeared or disappeared, which findings are new.

    With --before and --after both are times of one dataset: the first moment of each counts, the last one does not. For --part
    latency and whole hours its sums are read alone, so two months take seconds.

    A difference is reported when it is statistically significant (p < 0.1 %); a latency must also have changed by a fifth
    and by 0.1 ms or more, with at least 30 requests on both sides. Waits by design are left out. The table shows what
    changed, the other formats everything; html is one page, with both captures on the same axes: `--format html > page.html`.
    """
    (first, of_first), (second, of_second) = _sides(inputs, options, before, after)
    asks = part or "everything"
    with (
        opened((first,), of_first, None, asks=asks, form=form, name="BEFORE") as old,
        opened((second,), of_second, None, asks=asks, form=form, name="AFTER") as new,
    ):
        from analyzer.compare.captures import PARTS, compare

        parts = (part,) if part else PARTS
        found = compare(old, new, parts)
        if form == "table":
            from analyzer.cli.screen import screen
            from analyzer.report.comparison import render
            from analyzer.report.terminal import print_lines

            with screen() as console:
                print_lines(console, lambda width: render(found, width, parts))
        elif form == "html":
            from analyzer.page.pair_page import pair_page

            sys.stdout.write(pair_page((old, new), found, parts))
        else:
            from analyzer.query.readability import readability
            from analyzer.report.comparison import write
            from analyzer.report.readability_words import as_object

            sides = {"before": as_object(readability(old, asks)), "after": as_object(readability(new, asks))}
            write(found, form, sys.stdout, sides, parts)
        return max(exit_code(old), exit_code(new))


def _sides(
    inputs: tuple[str, ...], options: Options, before: tuple[int, int] | None, after: tuple[int, int] | None
) -> list[tuple[str, Options]]:
    """The two sides: for each its input, and the options with the time range that is compared. Raises click.UsageError."""
    if before is None and after is None:
        if len(inputs) != 2:
            raise click.UsageError("give two captures, or one dataset with --before FROM..TO and --after FROM..TO")
        return [(path, options) for path in inputs]
    if before is None or after is None or len(inputs) != 1:
        raise click.UsageError("--before and --after go together, with one dataset")
    if options.filters.is_timed:
        raise click.UsageError("--before and --after take the place of --from and --to")
    return [
        (inputs[0], replace(options, filters=replace(options.filters, from_ns=begin, to_ns=end)))
        for begin, end in (before, after)
    ]
