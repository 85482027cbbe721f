"""`kanalyze export`: the tables as files, or one of them on stdout."""

from __future__ import annotations

import sys

import click

from analyzer.base.options import Options
from analyzer.base.tables import TABLES
from analyzer.cli.common import capture_options, captures, exit_code, opened
from analyzer.cli.outcome import say
from analyzer.query.export import FORMATS


@click.command()
@captures
@click.option(
    "--to",
    "directory",
    metavar="DIR",
    help="A new directory for all tables, here or in object storage (s3://BUCKET/KEY, gs://, abfss://).",
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
@capture_options(until=("--until",))
def command(
    inputs: tuple[str, ...], options: Options, directory: str | None, table: str | None, form: str | None
) -> int:
    """Write the tables as Parquet, CSV or JSON lines.

    A directory of Parquet files can be used in place of the captures from then on: `kanalyze DIR`. In CSV and JSON the
    keys `exchange` and `connection` are 16 hex digits; in CSV text that a spreadsheet would take for a formula has an
    apostrophe before it. No table holds keys, values or headers of records, nor secrets; the files have the
    permissions that the umask leaves.
    """
    if table is not None and directory is None:
        return _to_stdout(inputs, options, table, form or "jsonl")
    if directory is not None and table is None:
        return _to_directory(inputs, options, directory, form or "parquet")
    raise click.UsageError("give --to DIR for all tables, or --table NAME for one on stdout")


def _to_stdout(inputs: tuple[str, ...], options: Options, table: str, form: str) -> int:
    from analyzer.cli.row_output import print_rows

    if form == "parquet" and sys.stdout.isatty():
        raise click.UsageError("Parquet is not for a terminal; redirect it to a file, or use --to DIR")
    with opened(inputs, options, (table,)) as dataset:
        print_rows(dataset, f"select * from {table}", form)
        return exit_code(dataset)


def _to_directory(inputs: tuple[str, ...], options: Options, directory: str, form: str) -> int:
    from analyzer.query.export_tables import check_free, export

    check_free(directory)
    with opened(inputs, options, None) as dataset:
        counts = export(dataset, directory, form)
        say(f"{directory}: " + ", ".join(f"{rows:,} {table}" for table, rows in counts.items()))
        return exit_code(dataset)
