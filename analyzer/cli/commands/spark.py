"""`kanalyze spark`: the tables of captures larger than a machine, made on Spark where they lie."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from analyzer.base.options import MIB, Options
from analyzer.cli.common import capture_options, captures, exit_code, say_when_uncompiled, tell_what_was_not_read
from analyzer.cli.outcome import FINE, UNREADABLE, say
from analyzer.cli.values import Size, UtcTime
from analyzer.inputs.sources import InputError
from analyzer.query.readability import EVERYTHING

if TYPE_CHECKING:
    from analyzer.spark.job import Planned


# Of latency, by API.
ROWS = 14


class Setting(click.ParamType):
    """A setting of Spark as its name and its value: `spark.executor.memory=4g`."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, sign, text = value.partition("=")
        if not sign or not name.startswith("spark."):
            self.fail(f"{value!r} is not a property like spark.executor.memory=4g", param, ctx)
        return name, text


@click.command()
@captures
@click.option(
    "--out",
    metavar="DIR",
    help="A new directory for the tables, on shared disks or in storage (s3://...), or a dataset that grows, which gets what it "
    "has not read yet.",
)
@click.option(
    "--add",
    is_flag=True,
    help="Make a dataset that grows, or add to it, as `export --add` does: executors do all but the last step.",
)
@click.option(
    "--replace",
    "replace_from_ns",
    type=UtcTime(),
    metavar="DAY",
    help="Of a dataset that grows: also read again what was captured from this day (UTC) on.",
)
@click.option(
    "--master",
    metavar="URL",
    help="Spark master; sc://HOST is a Spark Connect server.  [default: from spark-submit or SPARK_REMOTE, else local]",
)
@click.option(
    "--conf",
    "settings",
    multiple=True,
    type=Setting(),
    metavar="NAME=VALUE",
    help="A Spark configuration property; may be repeated.",
)
@click.option(
    "--task-size",
    "task_bytes",
    type=Size(),
    default=256 * MIB,
    metavar="SIZE",
    help="How much of the captures one task reads.  [default: 256MiB]",
)
@click.option("--plan", "only_plan", is_flag=True, help="Print which task would read which captures, and stop.")
@click.option("--strict", is_flag=True, help="Fail when any capture is damaged, instead of reading what can be read.")
@capture_options(strict=False, beside=("names",))
def command(
    inputs: tuple[str, ...],
    options: Options,
    out: str | None,
    add: bool,
    replace_from_ns: int | None,
    master: str | None,
    settings: tuple[tuple[str, str], ...],
    task_bytes: int,
    only_plan: bool,
    strict: bool,
) -> int:
    """Write the tables of captures as Parquet, on many machines.

    Captures are read where they lie: on disks that all machines share, or in storage (s3://, gs://, abfss://). Afterwards
    every other command reads the dataset, without Spark: `kanalyze report DIR`. Without a master, all cores of this machine
    are used, or as many as `--jobs` says. A dataset that grows (`--add`) has the tables of one run over all its captures.
    """
    from analyzer.query import growing
    from analyzer.query.dataset_places import place_of
    from analyzer.spark import job

    if not only_plan and out is None:
        raise click.UsageError("give --out DIR for the tables, or --plan to see which task would read which captures")
    grown = out if out is not None and (add or growing.grows(place_of(out))) else None
    if replace_from_ns is not None and grown is None:
        raise click.UsageError("--replace goes with --out DIR of a dataset that grows (--add)")
    if grown is not None and not only_plan:
        return _add(inputs, options, grown, replace_from_ns, master, settings, task_bytes, strict)
    planned = job.planned(inputs, options, task_bytes, grown, replace_from_ns)
    if out is None or only_plan:
        return _show(planned)
    say_when_uncompiled()
    return _run(planned, out, master, settings, strict)


def _show(planned: Planned) -> int:
    from analyzer.base.text import printable

    for line in planned.warnings:
        say(line)
    for line in planned.plan.lines():
        print(printable(line))
    return UNREADABLE if planned.failed else FINE


def _run(planned: Planned, out: str, master: str | None, settings: tuple[tuple[str, str], ...], strict: bool) -> int:
    from analyzer.report.format import size, things
    from analyzer.spark import job, session, sink

    if planned.plan.refusal:
        raise InputError(planned.plan.refusal)
    sink.check_free(out)
    began = monotonic()
    given = planned.options
    with (
        session.opened(master, settings, given.temp_dir, _cores(given), by_row=bool(given.filters)) as spark,
        job.run(spark, planned, strict, say) as tables,
    ):
        for line in tables.warnings:
            say(line)
        counts = sink.write(tables, out, say)
        say(f"{out}: " + ", ".join(f"{rows:,} {table}" for table, rows in counts.items()))
        read = f"{things(len(tables.inputs), 'capture')}, {size(tables.captured_bytes)}"
        say(f"{read}: read and written in {monotonic() - began:,.0f} s; could not be read: {tables.unread:,}")
        failed = tables.failed
    code = _judged(out, planned.options)
    return UNREADABLE if failed else code


def _add(
    inputs: tuple[str, ...],
    options: Options,
    out: str,
    replace_from_ns: int | None,
    master: str | None,
    settings: tuple[tuple[str, str], ...],
    task_bytes: int,
    strict: bool,
) -> int:
    from analyzer.cli.added import say_added
    from analyzer.spark import session
    from analyzer.spark.adding import add

    say_when_uncompiled()
    with session.opened(master, settings, options.temp_dir, _cores(options)) as spark:
        added = add(spark, inputs, out, options, task_bytes, strict, say, replace_from_ns)
    code = say_added(added, out)
    judged = _judged(out, options)
    return code or judged


def _cores(options: Options) -> int | None:
    """As many as the person asked for."""
    given = click.get_current_context().get_parameter_source("jobs") is not ParameterSource.DEFAULT
    return options.jobs if given else None


def _judged(out: str, options: Options) -> int:
    """Says what of the captures could not be read, by the tables that were written, and prints what their hours tell; the exit
    code."""
    from analyzer.cli.screen import screen
    from analyzer.report.terminal import print_section
    from analyzer.run.local import open_dataset

    with open_dataset([out], Options(temp_dir=options.temp_dir)) as written:
        tell_what_was_not_read(written, EVERYTHING, "stderr")
        with screen() as console:
            print_section(written, "totals", console, ROWS)
        return exit_code(written)
