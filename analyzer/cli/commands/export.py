"""`kanalyze export`: the tables as files, or one of them on stdout."""

from __future__ import annotations

import sys
from dataclasses import replace

import click

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.base.text import file_text
from analyzer.cli.added import counted, say_added
from analyzer.cli.common import capture_options, captures, exit_code, opened, say_when_uncompiled
from analyzer.cli.outcome import say
from analyzer.cli.values import UtcTime
from analyzer.query.export import FORMATS, in_files

# A directory of that name would be taken for a file that no program can open.
_OTHER_DATABASES = (".sqlite", ".sqlite3", ".db")


@click.command()
@captures
@click.option(
    "--to",
    "directory",
    metavar="DIR",
    help="A new directory for all tables, or a new DuckDB file NAME.duckdb; here or in object storage (s3://BUCKET/KEY, gs://, "
    "abfss://).",
)
@click.option(
    "--table", type=click.Choice(list(TABLES)), metavar="NAME", help=f"One table, to stdout: {', '.join(TABLES)}."
)
@click.option(
    "--format",
    "form",
    type=click.Choice(FORMATS),
    metavar="FORMAT",
    help=f"{', '.join(FORMATS)}.  [default: parquet; jsonl for --table]",
)
@click.option(
    "--otlp",
    metavar="FILE|URL",
    help="Latency, errors and throttling as OpenTelemetry metrics: to a file (OTLP, JSON lines) or a receiver (OTLP over HTTP).",
)
@click.option(
    "--add",
    is_flag=True,
    help="Make a dataset that grows, or add to it what it has not read yet; connections go on from one run to the next.",
)
@click.option(
    "--replace",
    "replace_from_ns",
    type=UtcTime(),
    metavar="DAY",
    help="With --add: also read again what was captured from this day (UTC) on.",
)
@capture_options(until=("--until",))
def command(
    inputs: tuple[str, ...],
    options: Options,
    directory: str | None,
    table: str | None,
    form: str | None,
    otlp: str | None,
    add: bool,
    replace_from_ns: int | None,
) -> int:
    """Write the tables as Parquet, CSV, JSON lines or DuckDB.

    A directory of Parquet files can then be used in place of the captures: `kanalyze DIR`. With `--add` it can grow every
    day: what is new among the captures is read, and the tables are those of one run over all of them. In CSV and JSON the
    keys `exchange` and `connection` are 16 hex digits; in CSV text that a spreadsheet would take for a formula has an
    apostrophe before it. NAME.duckdb opens in DuckDB 1.1 and newer: it has the tables, as `kanalyze sql` finds
    them, `findings`, and metrics as metrics.NAME. No table contains keys, values or headers of records, nor secrets;
    file permissions follow the umask.
    """
    if otlp is not None:
        if directory is not None or table is not None or form is not None or add or replace_from_ns is not None:
            raise click.UsageError(
                "--otlp writes metrics alone; give it without --to, --table, --format, --add and --replace"
            )
        return _to_otlp(inputs, options, otlp)
    if add or replace_from_ns is not None:
        _check_addition(directory, table, form, add)
        if options.request_logs:
            raise click.UsageError("--request-log joins what one run reads; a directory that grows (--add) has no logs")
        return _add(inputs, options, str(directory), replace_from_ns)
    if table is not None and directory is None:
        return _to_stdout(inputs, options, table, form or "jsonl")
    if directory is not None and table is None:
        if directory.endswith(_OTHER_DATABASES):
            raise click.UsageError(f"{directory}: SQLite is not written; give --to NAME.duckdb, or a new directory")
        if directory.endswith(".duckdb"):
            return _to_duckdb(inputs, options, directory, form)
        return _to_directory(inputs, options, directory, form or "parquet")
    raise click.UsageError("give --to DIR for all tables, --table NAME for one on stdout, or --otlp for metrics")


def _to_stdout(inputs: tuple[str, ...], options: Options, table: str, form: str) -> int:
    from analyzer.cli.row_output import print_rows

    if form == "parquet" and sys.stdout.isatty():
        raise click.UsageError("Parquet cannot be written to a terminal; redirect it to a file, or use --to DIR")
    with opened(inputs, options, (table,), asks="everything", form=form) as dataset:
        print_rows(dataset, in_files(table, form), form)
        return exit_code(dataset)


def _to_directory(inputs: tuple[str, ...], options: Options, directory: str, form: str) -> int:
    from analyzer.query.export_tables import check_free, export

    check_free(directory)
    # Filters, and rows as text, are about texts.
    options = replace(options, numbered=form == "parquet" and not options.filters)
    with opened(inputs, options, None, asks="everything", form=form) as dataset:
        counts = export(dataset, directory, form)
        say(f"{directory}: {counted(counts)}")
        return exit_code(dataset)


def _to_otlp(inputs: tuple[str, ...], options: Options, to: str) -> int:
    from analyzer.cli.target import no_capture_of, output
    from analyzer.query.otlp_metrics import collected_of, lines, request
    from analyzer.query.otlp_receivers import address, check_library, is_address, post
    from analyzer.report.format import things

    check_library()
    target = None
    if is_address(to):
        address(to)
    else:
        target = output(to, inputs, options, private=False, is_text=True)
    with opened(inputs, options, asks="everything", form="jsonl") as dataset:
        found, first_ns, last_ns = collected_of(dataset)
        made = request(found, first_ns, last_ns)
        if target is None:
            post(to, made)
        else:
            with no_capture_of(dataset, target).stream() as sink:
                sink.writelines(line.encode() for line in lines(made))
        say(
            f"{file_text(to)}: {things(len(found.latencies), 'histogram')} of {things(found.sums['requests'].total(), 'request')}"
        )
        return exit_code(dataset)


def _check_addition(directory: str | None, table: str | None, form: str | None, add: bool) -> None:
    if not add:
        raise click.UsageError("--replace goes with --add")
    if directory is None or table is not None or directory.endswith(".duckdb") or form not in (None, "parquet"):
        raise click.UsageError("--add needs --to DIR, all tables, and Parquet")


def _add(inputs: tuple[str, ...], options: Options, directory: str, replace_from_ns: int | None) -> int:
    from analyzer.cli.progress import progress
    from analyzer.run.additions import add

    say_when_uncompiled()
    with progress(inputs) as bar:
        added = add(inputs, directory, options, say, bar, replace_from_ns)
    return say_added(added, directory)


def _to_duckdb(inputs: tuple[str, ...], options: Options, to: str, form: str | None) -> int:
    from analyzer.report.duckdb_file import check_free, export
    from analyzer.report.format import things

    if form is not None:
        raise click.UsageError(f"{to} is a DuckDB file; --format is for --to DIR and --table NAME")
    check_free(to)
    with opened(inputs, options, None, asks="everything", form="jsonl") as dataset:
        counts = export(dataset, to)
        say(f"{to}: {counted(counts.tables)}; {things(counts.metrics, 'metric')}, {things(counts.findings, 'finding')}")
        return exit_code(dataset)
