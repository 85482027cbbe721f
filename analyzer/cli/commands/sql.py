"""`kanalyze sql`: a question of one's own."""

from __future__ import annotations

import os
import re
from dataclasses import replace

import click

from analyzer.base.options import Options
from analyzer.base.text import file_text
from analyzer.cli.common import REPORT_TABLES, capture_options, captures, exit_code, format_option, limit_option, opened
from analyzer.cli.outcome import UNREADABLE, say
from analyzer.cli.row_output import write_rows


@click.command(short_help="Run a SELECT over the tables of the captures.")
@captures
@click.argument("statement", metavar="SELECT")
@limit_option
@format_option("table", "json", "jsonl", "csv")
@click.option(
    "--unsafe-sql", is_flag=True, help="Let the SELECT read files of this machine, too (read_csv and others)."
)
@capture_options()
def command(
    inputs: tuple[str, ...], statement: str, options: Options, limit: int | None, form: str, unsafe_sql: bool
) -> int:
    """Run a SELECT (DuckDB's SQL) over the tables of the captures.

    Tables: captures, connections, exchanges, entries, errors and others: "show tables", "describe exchanges", docs/tables.md.
    A point in time is in ns since the epoch (request_time_ns), and as a TIMESTAMP in UTC under its name without the unit
    (request_time). The keys `exchange` and `connection` print as 16 hex digits, and are compared with them:
    where exchange = '00c3...'. Inside SQL they are numbers.

    The SELECT reads these tables and nothing else: no file of this machine, no network, no extension of DuckDB. --unsafe-sql
    lets it read files.
    """
    if file_text(statement) != statement:
        raise click.UsageError("the statement is not UTF-8")
    # Path.is_file raises for a statement that is longer than a name may be.
    if os.path.isfile(statement):  # noqa: PTH113
        raise click.UsageError(f"{file_text(statement)} is a file: the statement comes last, behind the captures")
    from analyzer.base.tables import TABLES
    from analyzer.query.dataset import DatasetError
    from analyzer.query.documented import documented_rows

    # A table that the statement does not name need not be made.
    words = set(re.findall(r"\w+", statement.lower()))
    named = tuple(table for table in TABLES if table in words)
    options = replace(options, unsafe_sql=unsafe_sql)
    with opened(inputs, options, named or REPORT_TABLES, asks="everything", form=form) as dataset:
        try:
            write_rows(documented_rows(dataset, statement), form, limit)
        except DatasetError as error:
            for line in str(error).splitlines():
                say(line)
            return UNREADABLE
        return exit_code(dataset)
